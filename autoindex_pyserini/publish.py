"""Put a finished index in its place in one step; whatever stops the process, a whole index is there.

The index is built beside its place under a name of its own. A lock, which the kernel releases when the
process ends, keeps a second build of the same index out; what a dead build left is cleared by the next one.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from autoindex_pyserini.errors import IndexDirectoryError
from autoindex_pyserini.files import sync_directory

MANIFEST = "autoindex.json"
"""What an index says of itself, in the words of its room; a folder without it is never overwritten."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


class HasFormat(Protocol):
    """A manifest that says which version of its layout it has."""

    @property
    def format(self) -> int:
        """The version."""
        ...


def write_manifest(directory: Path, manifest: msgspec.Struct) -> None:
    """Write a manifest into an index directory, flushed to disk."""
    text = msgspec.json.format(msgspec.json.encode(manifest, order="deterministic"), indent=2)
    with (directory / MANIFEST).open("wb") as file:
        file.write(text + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_manifest[M: HasFormat](directory: Path, kind: type[M], *, newest: int, what: str, made_by: str) -> M:
    """Read the manifest of an index directory.

    Args:
        directory: the index.
        kind: of manifest.
        newest: the newest version of its layout that can be read.
        what: such an index is, for messages.
        made_by: what builds one, for messages.

    Raises:
        IndexDirectoryError: there is none, or it is not one of this kind and version.
    """
    path = directory / MANIFEST
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        raise IndexDirectoryError(
            f"{directory} has no {MANIFEST}; give an index that {made_by} built"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise IndexDirectoryError(f"{path} is not of {what}: {reason}; build the index again") from error
    if manifest.format > newest:
        raise IndexDirectoryError(
            f"{path} has format {manifest.format}, and this version reads up to {newest}; "
            "upgrade autoindex_pyserini"
        )
    return manifest


def check_place(directory: Path, read: Callable[[Path], object], *, overwrite: bool = False) -> None:
    """Check that an index may be published here.

    Args:
        directory: where the index will be.
        read: reads the manifest of an index that may be replaced; raises where it is not of its kind.
        overwrite: replace an index that autoindex built.

    Raises:
        IndexDirectoryError: something is there already, and it is not an index that may be overwritten.
    """
    if not directory.exists():
        return
    if not overwrite:
        raise IndexDirectoryError(
            f"{directory} exists already; give a directory that does not exist, "
            "or --overwrite to replace an index"
        )
    if not (directory / MANIFEST).is_file():
        raise IndexDirectoryError(
            f"{directory} exists and has no {MANIFEST}: only an index that autoindex built is overwritten"
        )
    read(directory)


@contextmanager
def publishing(directory: Path, read: Callable[[Path], object], *, overwrite: bool = False) -> Iterator[Path]:
    """Give a path to build an index at; when the block ends well, the index is moved into its place.

    Readers of an index that is replaced keep their snapshot; new ones find the new index.

    Args:
        directory: where the index will be.
        read: see `check_place`.
        overwrite: replace an index that autoindex built.

    Raises:
        IndexDirectoryError: the place is taken, or another process builds the same index.
    """
    check_place(directory, read, overwrite=overwrite)
    directory.parent.mkdir(parents=True, exist_ok=True)
    building = directory.with_name(f".{directory.name}.building")
    lock = directory.with_name(f".{directory.name}.lock")
    with lock.open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise IndexDirectoryError(
                f"{directory} is being built by another process; wait for it, or give another directory"
            ) from None
        try:
            shutil.rmtree(building, ignore_errors=True)
            yield building
            check_place(directory, read, overwrite=overwrite)
            _switch(building, directory)
            sync_directory(directory.parent)
        finally:
            shutil.rmtree(building, ignore_errors=True)
            lock.unlink(missing_ok=True)


def _switch(building: Path, directory: Path) -> None:
    """Move the new index into its place; the old one, if there is one, takes the new one's name."""
    if not directory.exists():
        building.rename(directory)
        return
    try:
        _exchange(building, directory)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            raise
        # This system cannot exchange two names: for a moment there is no index, never half of one.
        old = directory.with_name(f".{directory.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        directory.rename(old)
        building.rename(directory)
        shutil.rmtree(old, ignore_errors=True)


def _exchange(left: Path, right: Path) -> None:
    """Exchange two names atomically (Linux `renameat2`).

    Raises:
        OSError: with `errno.ENOSYS` where the system has no such call.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    rename = getattr(libc, "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if rename(_AT_FDCWD, os.fsencode(left), _AT_FDCWD, os.fsencode(right), ctypes.c_uint(_RENAME_EXCHANGE)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(left))
