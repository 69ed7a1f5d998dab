"""Reading files of lines, plain or gzipped, with errors that name the file and the line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from autoindex_pyserini.errors import CollectionError

_CHUNK_BYTES = 1 << 18
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, unpacked if its name ends in ``.gz``.

    Raises:
        CollectionError: it cannot be opened, read or unpacked, here or later inside the ``with`` block.
    """
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rb") as stream:
                yield cast(BinaryIO, stream)
        else:
            with path.open("rb", buffering=0) as raw:
                yield cast(BinaryIO, raw)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise CollectionError(
            f"{path}: not a complete gzip file ({error}); make it again with gzip, "
            "or take .gz off its name if it is not packed"
        ) from error
    except OSError as error:
        raise CollectionError(f"{path}: cannot be read ({error.strerror or error})") from error


def chunks(path: Path) -> Iterator[bytes]:
    """Yield the file's bytes in pieces of whole lines, each about 256 KiB or one longer line.

    A byte order mark at the start is taken off. The last piece may lack the final newline.
    """
    with opened(path) as stream:
        pending: list[bytes] = []
        piece = stream.read(_CHUNK_BYTES).removeprefix(_BYTE_ORDER_MARK)
        while piece:
            end = piece.rfind(b"\n") + 1
            if end:
                pending.append(piece[:end])
                yield b"".join(pending)
                pending = []
            if end < len(piece):
                pending.append(piece[end:])
            piece = stream.read(_CHUNK_BYTES)
        if pending:
            yield b"".join(pending)


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (1-based line number, line without its end) for every line that is not blank.

    Raises:
        CollectionError: the file cannot be read, or a line is not UTF-8.
    """
    number = 0
    for chunk in chunks(path):
        for line in chunk.removesuffix(b"\n").split(b"\n"):
            number += 1
            try:
                text = line.decode("utf-8").rstrip("\r")
            except UnicodeDecodeError as error:
                raise CollectionError(
                    f"{path}:{number}: byte {error.start + 1} is not UTF-8; convert the file to UTF-8"
                ) from error
            if text and not text.isspace():
                yield number, text


def find_file(folder: Path, *names: str) -> Path | None:
    """Find the first of `names` in `folder`, as it is or with ``.gz`` behind it."""
    for name in names:
        for candidate in (folder / name, folder / f"{name}.gz"):
            if candidate.is_file():
                return candidate
    return None
