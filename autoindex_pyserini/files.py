"""Files that are whole or absent, and scratch directories that do not stay, whatever stops the process."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_UNFINISHED = ".part"
_SCRATCH = "autoindex-scratch-"
_SCRATCH_NAME = re.compile(rf"{_SCRATCH}[a-z0-9_]{{8}}")  # what `mkdtemp` makes of it


def clear_unfinished(folder: Path) -> None:
    """Remove, below a folder that nobody else writes to, what killed calls of `write_atomically` left."""
    for leftover in folder.rglob(f".*{_UNFINISHED}"):
        leftover.unlink(missing_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file, flush it to disk, and only then give it its name. Missing folders are made.

    Raises:
        OSError: the disk is full or not writable, with the file's name; an earlier file of that name stays as
            it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path):
        _write(path, data)
        sync_directory(path.parent)


def _write(path: Path, data: bytes) -> None:
    handle, scratch = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_UNFINISHED, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), 0o666 & ~_umask())
            os.fsync(file.fileno())
        Path(scratch).replace(path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put a file's name into an `OSError` of the block; writing knows a descriptor alone."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def sync_directory(path: Path) -> None:
    """Flush a directory's entries, so that a rename survives a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def nearest_folder(path: Path) -> Path:
    """The folder, existing and writable, in which this path is or would be made with what leads to it.

    Raises:
        NotADirectoryError: something that is no folder stands in the way; names it.
        PermissionError: the folder may not be written to.
    """
    found = next(one for one in (path, *path.absolute().parents) if one.exists() or one.is_symlink())
    if not found.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(found))
    if not os.access(found, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(found))
    return found


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """Give an empty directory in the folder for temporary files; it is removed when the block ends.

    A process that is killed leaves its directory behind: the next one to come here, of the same user, removes
    it. A lock on the directory, which the kernel releases with the process, tells the living from the dead.

    Raises:
        OSError: no directory can be made.
    """
    folder = Path(tempfile.gettempdir())
    _clear_abandoned(folder)
    path, descriptor = _held_directory(folder)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def _held_directory(folder: Path) -> tuple[Path, int]:
    """A new directory, and a descriptor of it that holds its lock.

    Another process may take it for abandoned between its making and its locking; then there is nothing in it
    yet, and another one is made.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=folder))
        try:
            descriptor = _open_directory(path)
        except FileNotFoundError:
            continue
        with contextlib.suppress(OSError):  # a file system without locks: nobody clears there, either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is_at(path, descriptor):
            return path, descriptor
        os.close(descriptor)


def _clear_abandoned(folder: Path) -> None:
    """Remove the scratch directories of this user that no living process holds."""
    for entry in os.scandir(folder):
        if not _SCRATCH_NAME.fullmatch(entry.name):
            continue
        try:
            descriptor = _open_directory(Path(entry.path))
        except OSError:  # another user's, or gone, or not a directory
            continue
        try:
            found = os.fstat(descriptor)
            if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) != 0o700:
                continue
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(Path(entry.path), descriptor):
                shutil.rmtree(entry.path, ignore_errors=True)
        except OSError:  # in use, or on a file system without locks
            continue
        finally:
            os.close(descriptor)


def _open_directory(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether this path still leads to the directory that is open."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False
