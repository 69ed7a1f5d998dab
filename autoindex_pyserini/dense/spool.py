"""A program's passages on disk, so that the program is done, and their number known, before encoding begins.

In memory stand 24 bytes for each passage: its key, and where its text is.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from autoindex_pyserini.dense.cache import KEY_BYTES, text_key
from autoindex_pyserini.ids import passage_ids
from autoindex_pyserini.program.contract import EMPTY_CONTENTS
from autoindex_pyserini.types import Represented


class Spool:
    """Passages in their order, one row each. A context manager; leaving it removes the texts, not the ids.

    Args:
        texts: a file for the texts; must not exist.
        ids: a file for the passage ids, one a line, as Lucene has them; must not exist.

    Attributes:
        documents: documents that were added.
        fallbacks: those whose program gave no usable passage.
        empty_documents: those without any text. They have no row: in Lucene no query finds them either.
    """

    def __init__(self, texts: Path, ids: Path) -> None:
        self._path = texts
        self._texts: IO[bytes] = texts.open("x+b")
        self._ids = ids.open("x", encoding="utf-8", newline="\n")
        self._keys = bytearray()
        self._starts = array("Q", [0])
        self.documents = self.fallbacks = self.empty_documents = 0

    def __len__(self) -> int:
        return len(self._starts) - 1

    def add(self, batch: Iterable[Represented]) -> None:
        """Add documents' passages."""
        for one in batch:
            self.documents += 1
            self.fallbacks += one.fallback
            if one.fallback and one.passages[0].contents == EMPTY_CONTENTS:
                self.empty_documents += 1
                continue
            for id, passage in zip(passage_ids(one.docid, len(one.passages)), one.passages, strict=True):
                data = passage.contents.encode()
                self._texts.write(data)
                self._ids.write(f"{id}\n")
                self._keys += text_key(passage.contents)
                self._starts.append(self._starts[-1] + len(data))

    def finish(self) -> None:
        """Write out what is buffered; after this, texts can be read and none added."""
        self._texts.flush()
        self._ids.close()

    def text(self, row: int) -> str:
        """The text of a row."""
        self._texts.seek(self._starts[row])
        return self._texts.read(self._starts[row + 1] - self._starts[row]).decode()

    def key(self, row: int) -> bytes:
        """The key of a row's text."""
        return bytes(self._keys[row * KEY_BYTES : (row + 1) * KEY_BYTES])

    def length(self, row: int) -> int:
        """The length of a row's text, in bytes of UTF-8."""
        return self._starts[row + 1] - self._starts[row]

    def distinct(self) -> list[int]:
        """The first row of each different text, the longest text first; ties by row."""
        first: dict[bytes, int] = {}
        for row in range(len(self)):
            first.setdefault(self.key(row), row)
        return sorted(first.values(), key=lambda row: (-self.length(row), row))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._texts.close()
        self._ids.close()
        self._path.unlink(missing_ok=True)
