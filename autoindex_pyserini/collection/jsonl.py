"""Documents from JSON lines: ``_id``, ``title``, ``text``, ``metadata``, and whatever else is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from autoindex_pyserini.collection.files import chunks
from autoindex_pyserini.collection.model import Tally
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Document

_ID_KEYS = ("_id", "id")


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


class JsonLines:
    """The documents of one or more files of JSON lines, plain or gzipped.

    A line is an object with ``_id`` (or ``id``), and optionally ``title``, ``text`` and ``metadata``.
    Entries of ``metadata`` and all other keys become fields under their own names; ``metadata`` wins
    where both have one. Values that are not text become text: numbers and booleans as JSON writes them,
    lists joined by newlines, objects as compact JSON; null is dropped. NUL becomes a space and a lone
    surrogate U+FFFD, because neither survives the way into Lucene and back.

    Attributes:
        paths: the files, in the order in which they are read.
    """

    def __init__(self, paths: tuple[Path, ...]) -> None:
        """Remember the files, and how large and how old they are."""
        self.paths = paths
        self._stamps = [_stamp(path) for path in paths]

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
        for path, stamp in zip(self.paths, self._stamps, strict=True):
            if _stamp(path) != stamp:
                raise CollectionError(f"{path}: changed since the collection was loaded; load it again")
            yield from _documents(path, tally)

    def locate(self, position: int) -> str:
        """Say where a document stands; reads the files again, so it is for error messages only."""
        for path in self.paths:
            for number, line in _numbered(path):
                if line.strip():
                    if not position:
                        return f"{path}:{number}"
                    position -= 1
        raise IndexError("position beyond the last document")


def _stamp(path: Path) -> tuple[int, int]:
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


def _documents(path: Path, tally: Tally) -> Iterator[Document]:
    """Decode whole chunks at once, which is about three times as fast as line by line."""
    decode = msgspec.json.Decoder(_PlainLine).decode_lines
    before = 0
    for chunk in chunks(path):
        lines = chunk.count(b"\n")
        plain: list[_PlainLine] | None = None
        if b"\\u0000" not in chunk:
            try:
                plain = decode(chunk)
            except msgspec.DecodeError:
                plain = None  # at least one line is odd or broken: the careful way finds out which
        # As many as there are lines: or else there are blank lines, or objects over several lines.
        if (
            plain is not None
            and len(plain) == lines + (not chunk.endswith(b"\n"))
            and all(line.docid and not line.docid.isspace() for line in plain)
        ):
            for line in plain:
                yield Document(line.docid, line.title, line.text, line.fields)
        else:
            for number, raw in enumerate(chunk.split(b"\n"), before + 1):
                if raw and not raw.isspace():
                    yield _careful(path, number, raw, tally)
        before += lines


_decode_plain = msgspec.json.Decoder(_PlainLine).decode


def _careful(path: Path, number: int, raw: bytes, tally: Tally) -> Document:
    if b"\\u0000" not in raw:
        try:
            line = _decode_plain(raw)
        except msgspec.DecodeError:
            pass
        else:
            if line.docid and not line.docid.isspace():
                return Document(line.docid, line.title, line.text, line.fields)
    return document(read_object(path, number, raw), f"{path}:{number}", tally)


def read_object(path: Path, number: int, raw: bytes) -> dict[str, Any]:
    """Decode one line that must hold a JSON object; the standard library also takes lone surrogates.

    Raises:
        CollectionError: it is not JSON, not UTF-8, or not an object.
    """
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
            f"{path}:{number}: a JSON {_kind(value)}, not an object; "
            'every line must be an object such as {"_id": "1", "title": "...", "text": "..."}'
        )
    return value


def document(record: dict[str, Any], where: str, tally: Tally) -> Document:
    """Make a document of any decoded record, turning values into text.

    Args:
        record: as decoded; changed by this function.
        where: ``file:line``, for messages.
        tally: counts what had to be mended.

    Raises:
        CollectionError: it has no usable id.
    """
    docid = take_id(record, where, tally)
    title = as_text(record.pop("title", ""), tally) or ""
    text = as_text(record.pop("text", ""), tally) or ""
    metadata = record.get("metadata")
    if isinstance(metadata, dict):
        del record["metadata"]
        record.update(metadata)
    fields: dict[str, str] = {}
    for name, value in record.items():
        as_field = as_text(value, tally)
        if as_field is not None:
            fields[_mend(name, tally)] = as_field
    return Document(docid, title, text, fields)


def take_id(record: dict[str, Any], where: str, tally: Tally) -> str:
    """Take the id out of a record: ``_id``, or else ``id``; a number counts as text.

    Raises:
        CollectionError: there is none, or it is blank, or neither text nor a number.
    """
    key = next((key for key in _ID_KEYS if key in record), None)
    if key is None:
        raise CollectionError(f'{where}: no "_id"; every line needs an "_id" (or "id") of its own')
    value = record.pop(key)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise CollectionError(f'{where}: "{key}" is {_kind(value)}; it must be text or a number')
    identifier = as_text(value, tally) or ""
    if not identifier or identifier.isspace():
        raise CollectionError(f'{where}: "{key}" is empty; every line needs an id of its own')
    return identifier


def as_text(value: object, tally: Tally) -> str | None:
    """Turn a JSON value into text; None if it is null."""
    if isinstance(value, str):
        return _mend(value, tally)
    if value is None:
        tally.nulls += 1
        return None
    tally.coerced += 1
    if isinstance(value, list):
        inner = Tally()  # the list counts once, whatever it holds
        parts = [part for part in (as_text(item, inner) for item in value) if part is not None]
        tally.mended += inner.mended
        tally.nulls += inner.nulls
        return "\n".join(parts)
    if isinstance(value, dict):
        return _mend(json.dumps(value, ensure_ascii=False, separators=(",", ":")), tally)
    return json.dumps(value) if isinstance(value, bool | int | float) else _mend(str(value), tally)


def _mend(text: str, tally: Tally) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = False
    else:
        whole = "\x00" not in text
    if whole:
        return text
    tally.mended += 1
    return text.replace("\x00", " ").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "list", dict: "object"}
    return names.get(type(value), type(value).__name__)
