"""Bring a query's best passages from Lucene into Python in one crossing.

Each attribute of a Java object costs a call through JNI, and each stored field a decompression. Lucene sorts
by the doc-value field ``id``, so its answer holds the ids already; Jackson, which Anserini brings, writes the
whole answer as one string.
"""

from __future__ import annotations

from array import array
from typing import Any

import msgspec

from autoindex_pyserini.lucene.jvm import java_class


class _BytesRef(msgspec.Struct, gc=False, rename={"utf8": "bytes"}):
    utf8: bytes
    offset: int
    length: int


class _FieldDoc(msgspec.Struct, gc=False):
    fields: tuple[float, _BytesRef]


class _TopFieldDocs(msgspec.Struct, gc=False):
    scoreDocs: list[_FieldDoc]


class TopPassages:
    """Fetches the best passages of a query, ordered as Anserini orders: score falling, then id rising."""

    def __init__(self) -> None:
        sort_field = java_class("org.apache.lucene.search.SortField")
        kind = java_class("org.apache.lucene.search.SortField$Type")
        self._order = java_class("org.apache.lucene.search.Sort")(
            sort_field.FIELD_SCORE, sort_field("id", kind.STRING_VAL)
        )
        self._json = java_class("com.fasterxml.jackson.databind.ObjectMapper")()
        self._decoder = msgspec.json.Decoder(_TopFieldDocs)

    def fetch(self, searcher: Any, query: Any, count: int) -> list[tuple[str, float]]:
        """The best `count` passages as (passage id, score), fewer if there are fewer hits.

        Scores are float32 values, as Lucene computes them.
        """
        top = searcher.search(query, count, self._order)  # sorted by score, so it is among the sort values
        found = self._decoder.decode(self._json.writeValueAsString(top)).scoreDocs
        scores = array("f", [hit.fields[0] for hit in found])
        return [(_text(hit.fields[1]), score) for hit, score in zip(found, scores, strict=True)]


def _text(ref: _BytesRef) -> str:
    return ref.utf8[ref.offset : ref.offset + ref.length].decode()
