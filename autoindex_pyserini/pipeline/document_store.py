"""A collection's documents by opaque references, on disk: written once from the stream, then only read."""

from __future__ import annotations

import base64
import contextlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import batched
from pathlib import Path
from typing import Any

import msgspec

from autoindex_pyserini.errors import CollectionError, InputError
from autoindex_pyserini.program.contract import RawDocument
from autoindex_pyserini.types import Document

_BATCH = 512
_RISK = 1000  # one collection in so many has to take longer references than its size asks for
_SHORTEST = 6
_LONGEST = 26


class UnknownReferenceError(InputError):
    """No document has the reference that was given."""


class DocumentStore:
    """Documents without their docids, by references like ``D-7GQ2MX``.

    A reference is a keyed hash of the collection's fingerprint and the docid, so it is the same in every
    process, and nothing of the docid can be read from it. Large collections have longer ones.

    Args:
        path: what `write` wrote.
    """

    def __init__(self, path: Path) -> None:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        self._rows = sqlite3.connect(uri, uri=True, check_same_thread=False)
        key, chars, count = self._rows.execute("SELECT key, chars, documents FROM about").fetchone()
        self._key, self._chars = bytes(key), int(chars)
        self.num_documents = int(count)

    @classmethod
    def write(cls, path: Path, documents: Iterable[Document], *, fingerprint: str, count: int) -> None:
        """Write a store. A file at `path` is replaced.

        Args:
            path: the file; its folder is made if missing.
            documents: all documents, in their order.
            fingerprint: the collection's.
            count: how many documents are expected; decides how long references are.

        Raises:
            CollectionError: two documents have the same docid.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        key = fingerprint.encode()[: blake2b.MAX_KEY_SIZE]
        with contextlib.closing(sqlite3.connect(path)) as rows:
            rows.execute("PRAGMA journal_mode = OFF")  # a store that was not finished is not opened
            rows.execute("PRAGMA synchronous = OFF")
            rows.execute("CREATE TABLE documents (place INTEGER PRIMARY KEY, docid TEXT, body BLOB)")
            rows.execute("CREATE TABLE refs (ref TEXT PRIMARY KEY, place INTEGER) WITHOUT ROWID")
            rows.execute("CREATE TABLE about (key BLOB, chars INTEGER, documents INTEGER)")
            written = 0
            for batch in batched(documents, _BATCH):
                rows.executemany("INSERT INTO documents (docid, body) VALUES (?, ?)", map(_row, batch))
                written += len(batch)
            chars = _refer(rows, key, _chars_for(count))
            rows.execute("INSERT INTO about VALUES (?, ?, ?)", (key, chars, written))
            rows.commit()

    def reference(self, docid: str) -> str:
        """The reference of a document of the collection."""
        return _reference(self._key, self._chars, docid)

    def canonical(self, reference: str) -> str:
        """A reference as it is written here; case, space around it and the ``D-`` do not matter.

        Raises:
            UnknownReferenceError: no document has this reference.
        """
        return str(self._one("ref", reference))

    def docid(self, reference: str) -> str:
        """The docid behind a reference.

        Raises:
            UnknownReferenceError: no document has this reference.
        """
        return str(self._one("docid", reference))

    def document(self, reference: str) -> RawDocument:
        """The document of a reference.

        Raises:
            UnknownReferenceError: no document has this reference.
        """
        return _document(self._one("body", reference))

    def documents(self) -> Iterator[tuple[str, RawDocument]]:
        """Stream references and documents, in the collection's order."""
        for docid, body in self._rows.execute("SELECT docid, body FROM documents ORDER BY place"):
            yield self.reference(docid), _document(body)

    def close(self) -> None:
        """Release the file."""
        self._rows.close()

    def _one(self, column: str, reference: str) -> Any:
        query = f"SELECT {column} FROM documents NATURAL JOIN refs WHERE ref = ?"
        row = self._rows.execute(query, (f"D-{reference.strip().upper().removeprefix('D-')}",)).fetchone()
        if row is None:
            raise UnknownReferenceError(
                f"no document has the reference {reference[:40]!r}; "
                "give one from a case or from another answer"
            )
        return row[0]


def _row(document: Document) -> tuple[str, bytes]:
    raw = RawDocument(document.title, document.text, document.fields)
    return document.docid, zlib.compress(msgspec.msgpack.encode(raw), level=1)


def _document(body: bytes) -> RawDocument:
    return msgspec.msgpack.decode(zlib.decompress(body), type=RawDocument)


def _reference(key: bytes, chars: int, docid: str) -> str:
    digest = blake2b(docid.encode(), key=key, digest_size=20).digest()
    return f"D-{base64.b32encode(digest).decode()[:chars]}"


def _chars_for(count: int) -> int:
    """How many characters of five bits make two equal references unlikely."""
    pairs = count * count // 2 * _RISK
    return max(_SHORTEST, -(-pairs.bit_length() // 5))


def _refer(rows: sqlite3.Connection, key: bytes, chars: int) -> int:
    """Fill the table of references, with as many characters as it takes to tell all apart."""
    for length in range(chars, _LONGEST + 1):
        docids = rows.execute("SELECT docid, place FROM documents")
        pairs = ((_reference(key, length, docid), place) for docid, place in docids)
        try:
            rows.executemany("INSERT INTO refs VALUES (?, ?)", pairs)
        except sqlite3.IntegrityError:
            rows.execute("DELETE FROM refs")
        else:
            return length
    raise CollectionError("two documents have the same docid; docids must be unique in a collection")
