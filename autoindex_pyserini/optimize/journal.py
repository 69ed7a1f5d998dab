"""The journal: append-only, one event a line, on disk before the next step begins.

It is the truth about a run. A resumed run asks for the same events again, in the same order, and gets those
that are recorded instead of computing them; so it ends as an uninterrupted run would have.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from autoindex_pyserini.errors import RunDirectoryError
from autoindex_pyserini.files import naming, sync_directory
from autoindex_pyserini.optimize.events import JournalEvent

FILE_NAME = "journal.jsonl"
_LOCK_NAME = ".lock"
_OPENING = b'{"event":"'
_REMEDY = "put the file back as the run wrote it, or start a new run directory"
_decoder = msgspec.json.Decoder(JournalEvent)


class Journal:
    """The journal of one run directory, locked against other processes. A context manager.

    Args:
        directory: the run directory; must exist.

    Raises:
        RunDirectoryError: another process works on this run, or the journal is not one of ours.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE_NAME
        self._lock = _lock(directory)
        try:
            self._recorded, length = _read(self.path)
            self._file: BinaryIO = self.path.open("r+b" if self.path.exists() else "x+b", buffering=0)
            self._file.truncate(length)
            self._file.seek(length)
        except BaseException:
            self._lock.close()
            raise
        self._next = 0
        sync_directory(directory)

    @property
    def events(self) -> tuple[JournalEvent, ...]:
        """All events recorded so far."""
        return tuple(self._recorded)

    @property
    def at_end(self) -> bool:
        """Whether every recorded event has been replayed: what comes next is new."""
        return self._next == len(self._recorded)

    def recorded[E: msgspec.Struct](self, kind: type[E]) -> E | None:
        """The next recorded event, which must be of this kind; None where the record ends.

        Raises:
            RunDirectoryError: the next recorded event is of another kind.
        """
        if self._next == len(self._recorded):
            return None
        event = self._recorded[self._next]
        if not isinstance(event, kind):
            raise self.mismatch(f"{kind.__name__} comes next, the journal has {type(event).__name__}")
        self._next += 1
        return event

    def append(self, event: JournalEvent) -> None:
        """Write an event and flush it to disk.

        Raises:
            OSError: it could not be written; what was written of it is cut off again when resumed.
        """
        if self._next != len(self._recorded):
            raise self.mismatch("an event would be written before the recorded ones are replayed")
        line = msgspec.json.encode(event) + b"\n"
        written = 0
        with naming(self.path):
            while written < len(line):
                written += self._file.write(line[written:])
            os.fsync(self._file.fileno())
        self._recorded.append(event)
        self._next += 1

    def rewind(self) -> None:
        """Begin again with the first recorded event; for who replays a run more than once."""
        self._next = 0

    def once(self, event: JournalEvent) -> None:
        """Write an event, or check that the recorded one equals it.

        Raises:
            RunDirectoryError: another event is recorded here; names what differs.
        """
        found = self.recorded(type(event))
        if found is None:
            self.append(event)
        elif found != event:
            names = event.__struct_fields__
            pairs = ((name, getattr(found, name), getattr(event, name)) for name in names)
            different = "; ".join(f"{name} was {was!r}, is {now!r}" for name, was, now in pairs if was != now)
            self._next -= 1
            raise self.mismatch(f"{type(event).__name__}: {different}")

    def mismatch(self, what: str) -> RunDirectoryError:
        """The error for a record that this software would not have written."""
        return RunDirectoryError(
            f"{self.path}:{self._next + 1}: {what}; the run was made by another version, with other settings "
            "or on another state of the collection; start a new run directory"
        )

    def close(self) -> None:
        """Close the file and release the lock."""
        self._file.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_events(directory: Path) -> tuple[JournalEvent, ...]:
    """The events of a run directory, without locking it.

    Raises:
        RunDirectoryError: there is no journal, or it is not one of ours.
    """
    path = directory / FILE_NAME
    if not path.exists():
        raise RunDirectoryError(f"{directory} holds no {FILE_NAME}; give a directory that `optimize` made")
    return tuple(_read(path)[0])


def _read(path: Path) -> tuple[list[JournalEvent], int]:
    """Events, and the length in bytes of the whole lines; a torn last line is left out."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise RunDirectoryError(f"{path}: cannot be read: {error.strerror}; {_REMEDY}") from error
    length = data.rfind(b"\n") + 1
    events: list[JournalEvent] = []
    for number, line in enumerate(data[:length].splitlines(), 1):
        try:
            events.append(_decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RunDirectoryError(
                f"{path}:{number}: not an event of this version: {error}; {_REMEDY}"
            ) from error
    if not _is_torn(data[length:]):
        raise RunDirectoryError(f"{path}:{len(events) + 1}: not the beginning of an event; {_REMEDY}")
    return events, length


def _is_torn(tail: bytes) -> bool:
    """Whether bytes after the last whole line may be ours: a line's beginning, or what a crash left of it.

    A file system may give a file its new length before its new bytes, and show NULs in their place.
    """
    written = tail.rstrip(b"\0")
    return written.startswith(_OPENING[: len(written)])


def _lock(directory: Path) -> BinaryIO:
    """An exclusive lock that the kernel releases when this process ends, however it ends."""
    file = (directory / _LOCK_NAME).open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise RunDirectoryError(
            f"{directory} is in use by another process; wait for it, or choose another directory"
        ) from None
    return file
