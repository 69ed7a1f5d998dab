"""Documents from JSON lines: ``_id``, ``title``, ``text``, ``metadata``, and whatever else is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from autoindex_pyserini.collection.files import chunks
from autoindex_pyserini.collection.model import Tally
from autoindex_pyserini.collection.records import BEIR, SURELY_SHORT, Columns, document, kind
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Document


class _PlainLine(
    msgspec.Struct,
    forbid_unknown_fields=True,
    rename={"docid": "_id", "fields": "metadata"},
):
    """A line that needs no mending: text throughout, and no key that would have to become a field."""

    docid: str
    title: str = ""
    text: str = ""
    fields: dict[str, str] = {}


_PLAIN = ("_id", ("title",), ("text",), None)
"""What `Columns` must say for a `_PlainLine` to be read right."""


class JsonLines:
    """The documents of one or more files of JSON lines, plain or gzipped.

    A line is an object with ``_id`` (or ``id``), and optionally ``title``, ``text`` and ``metadata``, unless
    `columns` says otherwise. Entries of ``metadata`` and all other keys become fields under their own
    names; ``metadata`` wins where both have one. Values that are not text become text, see `as_text`.

    Attributes:
        paths: the files, in the order in which they are read.
        columns: which keys are what.
    """

    def __init__(self, paths: tuple[Path, ...], columns: Columns = BEIR) -> None:
        """Remember the files, and how large and how old they are."""
        self.paths = paths
        self.columns = columns
        self._stamps = [stamp(path) for path in paths]

    @property
    def where(self) -> str:
        """The files."""
        return ", ".join(map(str, self.paths))

    def documents(self, tally: Tally | None = None) -> Iterator[Document]:
        """Stream the documents in file order.

        Raises:
            CollectionError: a file cannot be read or has changed since this object was made, or a line
                is not a document; names the file and the line.
        """
        tally = tally or Tally()
        for path, known in zip(self.paths, self._stamps, strict=True):
            if stamp(path) != known:
                raise CollectionError(f"{path}: changed since the collection was loaded; load it again")
            yield from documents_of(path, tally, self.columns)

    def locate(self, position: int) -> str:
        """Say where a document stands; reads the files again, so it is for error messages only."""
        for path in self.paths:
            for number, line in _numbered(path):
                if line.strip():
                    if not position:
                        return f"{path}:{number}"
                    position -= 1
        raise IndexError("position beyond the last document")


def stamp(path: Path) -> tuple[int, int]:
    """Size and time of a file, by which a change shows.

    Raises:
        CollectionError: it cannot be read.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise CollectionError(f"{path}: cannot be read ({error.strerror})") from error
    return status.st_size, status.st_mtime_ns


def _numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    for chunk in chunks(path):
        for line in chunk.removesuffix(b"\n").split(b"\n"):
            number += 1
            yield number, line


def documents_of(path: Path, tally: Tally, columns: Columns) -> Iterator[Document]:
    """Decode one file. Whole chunks at once are about three times as fast as line by line.

    Raises:
        CollectionError: the file cannot be read, or a line is not a document.
    """
    plain_is_right = (columns.id[0], columns.title, columns.text[:1], columns.fields) == _PLAIN
    decode = msgspec.json.Decoder(_PlainLine).decode_lines
    before = 0
    for chunk in chunks(path):
        lines = chunk.count(b"\n")
        plain: list[_PlainLine] | None = None
        if plain_is_right and b"\\u0000" not in chunk:
            try:
                plain = decode(chunk)
            except msgspec.DecodeError:
                plain = None  # at least one line is odd or broken: the careful way finds out which
        # As many as there are lines: or else there are blank lines, or objects over several lines.
        if (
            plain is not None
            and len(plain) == lines + (not chunk.endswith(b"\n"))
            and all(
                line.docid and not line.docid.isspace() and len(line.docid) <= SURELY_SHORT for line in plain
            )
        ):
            for line in plain:
                yield Document(line.docid, line.title, line.text, line.fields)
        else:
            for number, raw in enumerate(chunk.split(b"\n"), before + 1):
                if raw and not raw.isspace():
                    yield document(read_object(path, number, raw), f"{path}:{number}", tally, columns)
        before += lines


_decode_any = msgspec.json.Decoder(dict[str, Any]).decode


def read_object(path: Path, number: int, raw: bytes) -> dict[str, Any]:
    """Decode one line that must hold a JSON object; lone surrogates are taken too.

    Raises:
        CollectionError: it is not JSON, not UTF-8, or not an object.
    """
    try:
        return _decode_any(raw)
    except (msgspec.DecodeError, RecursionError):
        pass  # the standard library takes more, and says better what is wrong with the rest
    try:
        value = json.loads(raw)
    except UnicodeDecodeError as error:
        raise CollectionError(
            f"{path}:{number}: byte {error.start + 1} is not UTF-8; convert the file to UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        raise CollectionError(
            f"{path}:{number}: not valid JSON ({error.msg}, column {error.colno}); "
            "every line must be one complete JSON object"
        ) from error
    except (ValueError, RecursionError) as error:  # an endless number, or endless nesting
        raise CollectionError(f"{path}:{number}: cannot be read as JSON ({error})") from error
    if not isinstance(value, dict):
        raise CollectionError(
            f"{path}:{number}: a JSON {kind(value)}, not an object; "
            'every line must be an object such as {"_id": "1", "title": "...", "text": "..."}'
        )
    return value
