"""Files that are whole or absent, whatever stops the process."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_UNFINISHED = ".part"


def clear_unfinished(folder: Path) -> None:
    """Remove, below a folder that nobody else writes to, what killed calls of `write_atomically` left."""
    for leftover in folder.rglob(f".*{_UNFINISHED}"):
        leftover.unlink(missing_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file, flush it to disk, and only then give it its name. Missing folders are made.

    Raises:
        OSError: the disk is full or not writable; an earlier file of that name stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
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
    sync_directory(path.parent)


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
