"""From a decoded record of any source to a document: which values are what, and how they become text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from autoindex_pyserini.collection.model import Tally
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Document


class Columns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which keys of a record are what.

    Attributes:
        id: the first of these that the record has is the docid.
        title: joined by a space.
        text: joined by a blank line.
        fields: the keys that become fields; None takes all that are left over.
    """

    id: tuple[str, ...] = ("_id", "id")
    title: tuple[str, ...] = ("title",)
    text: tuple[str, ...] = ("text",)
    fields: tuple[str, ...] | None = None


BEIR = Columns()
_ID_BYTES = 8_000  # percent-encoded three times as many, and still no more than Lucene takes for a term
SURELY_SHORT = _ID_BYTES // 4
"""An id of so many characters is short enough, whatever they are."""


def document(record: dict[str, Any], where: str, tally: Tally, columns: Columns = BEIR) -> Document:
    """Make a document of a record. Entries of an object ``metadata`` count as keys of the record.

    Args:
        record: as decoded; changed by this function.
        where: ``file:line``, for messages.
        tally: counts what had to be mended.
        columns: which keys are what.

    Raises:
        CollectionError: it has no usable id.
    """
    docid = take_id(record, columns.id, where, tally)
    title = " ".join(_take(record, columns.title, tally))
    text = "\n\n".join(_take(record, columns.text, tally))
    metadata = record.get("metadata")
    if isinstance(metadata, dict):
        del record["metadata"]
        record.update(metadata)
    fields: dict[str, str] = {}
    for name in record if columns.fields is None else columns.fields:
        as_field = as_text(record[name], tally) if name in record else None
        if as_field is not None:
            fields[_mend(name, tally)] = as_field
    return Document(docid, title, text, fields)


def _take(record: dict[str, Any], names: Iterable[str], tally: Tally) -> list[str]:
    found = (as_text(record.pop(name), tally) for name in names if name in record)
    return [text for text in found if text]


def take_id(record: dict[str, Any], names: tuple[str, ...], where: str, tally: Tally) -> str:
    """Take the id out of a record, under the first of several names; a number counts as text.

    Raises:
        CollectionError: there is none, or it is blank or too long, or neither text nor a number.
    """
    key = next((name for name in names if name in record), None)
    if key is None:
        raise CollectionError(f'{where}: no "{names[0]}"; every record needs an id of its own there')
    value = record.pop(key)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise CollectionError(f'{where}: "{key}" is {kind(value)}; it must be text or a number')
    identifier = as_text(value, tally) or ""
    if not identifier or identifier.isspace():
        raise CollectionError(f'{where}: "{key}" is empty; every record needs an id of its own')
    if len(identifier) > SURELY_SHORT and (size := len(identifier.encode())) > _ID_BYTES:
        raise CollectionError(f'{where}: "{key}" has {size:,} bytes; an id may have {_ID_BYTES:,}')
    return identifier


def as_text(value: object, tally: Tally) -> str | None:
    """Turn a value into text; None if it is null.

    Numbers and booleans become what JSON writes for them, lists lines, objects compact JSON. NUL becomes
    a space and a lone surrogate U+FFFD, because neither survives the way into Lucene and back.
    """
    if isinstance(value, str):
        return _mend(value, tally)
    if value is None:
        tally.nulls += 1
        return None
    tally.coerced += 1
    if isinstance(value, list | tuple):
        inner = Tally()  # the list counts once, whatever it holds
        parts = [part for part in (as_text(item, inner) for item in value) if part is not None]
        tally.mended += inner.mended
        tally.nulls += inner.nulls
        return "\n".join(parts)
    if isinstance(value, bytes):
        return _mend(value.decode("utf-8", "replace"), tally)
    if isinstance(value, dict | bool | int | float):
        return _mend(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str), tally)
    return _mend(str(value), tally)


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


def kind(value: object) -> str:
    """Name a value's type as JSON does."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "list", dict: "object"}
    return names.get(type(value), type(value).__name__)
