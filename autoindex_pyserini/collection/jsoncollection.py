"""Folders of JSON files, as Pyserini's and Anserini's JsonCollection reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoindex_pyserini.collection.files import chunks
from autoindex_pyserini.collection.jsonl import JsonLines, read_object, stamp
from autoindex_pyserini.collection.model import DocumentSource, Tally
from autoindex_pyserini.collection.records import Columns, document, kind
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Document

SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
DEFAULT_COLUMNS = Columns(id=("id", "_id", "docid"), text=("text", "contents"))


class JsonFile:
    """The documents of one file that holds a JSON array of objects, or a single object.

    Such a file is decoded as a whole; put many documents into JSON lines instead.
    """

    def __init__(self, path: Path, columns: Columns) -> None:
        """Remember the file, and how large and how old it is."""
        self.path = path
        self.columns = columns
        self._stamp = stamp(path)

    @property
    def where(self) -> str:
        """The file."""
        return str(self.path)

    def documents(self, tally: Tally | None = None) -> Iterator[Document]:
        """Stream the documents in file order.

        Raises:
            CollectionError: the file cannot be read or has changed, or an item is not a document.
        """
        tally = tally or Tally()
        if stamp(self.path) != self._stamp:
            raise CollectionError(f"{self.path}: changed since the collection was loaded; load it again")
        for position, record in enumerate(self._records()):
            yield document(record, self.locate(position), tally, self.columns)

    def _records(self) -> Iterator[dict[str, Any]]:
        content = b"".join(chunks(self.path))
        if content.lstrip()[:1] != b"[":
            yield read_object(self.path, 1, content)
            return
        try:
            items = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise CollectionError(f"{self.path}: not a valid JSON array ({error})") from error
        for position, item in enumerate(items):
            if not isinstance(item, dict):
                raise CollectionError(f"{self.locate(position)}: a JSON {kind(item)}, not an object")
            yield item

    def locate(self, position: int) -> str:
        """Say where the document at a 0-based position stands."""
        return f"{self.path}, item {position + 1}"


class Concatenated:
    """The documents of several sources, one after the other."""

    def __init__(self, sources: tuple[DocumentSource, ...]) -> None:
        """Put the sources in this order."""
        self.sources = sources

    @property
    def where(self) -> str:
        """All places."""
        return ", ".join(source.where for source in self.sources)

    def documents(self, tally: Tally | None = None) -> Iterator[Document]:
        """Stream the documents of every source in turn."""
        for source in self.sources:
            yield from source.documents(tally)

    def locate(self, position: int) -> str:
        """Say where a document stands; reads the sources again, so it is for error messages only."""
        for source in self.sources:
            count = sum(1 for _ in source.documents())
            if position < count:
                return source.locate(position)
            position -= count
        raise IndexError("position beyond the last document")


def json_source(path: Path, columns: Columns) -> DocumentSource:
    """Choose how to read a file: by lines, or as one array or object (which only ``.json`` may hold)."""
    if path.name.removesuffix(".gz").endswith(".json") and not _holds_lines(path):
        return JsonFile(path, columns)
    return JsonLines((path,), columns)


def _holds_lines(path: Path) -> bool:
    """Whether the first line that is not blank is a whole object; Anserini takes ``.json`` either way."""
    pending = b""
    for chunk in chunks(path):
        pending += chunk
        first, newline, _ = pending.lstrip().partition(b"\n")
        if newline or len(pending) > len(chunk):
            break
    else:
        first = pending.strip()
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False
