"""What a loaded collection is: its documents as a stream, its two splits, and what loading found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from autoindex_pyserini.types import Document, Qrels, Topic

type Progress = Callable[[str, int, int | None], None]
"""Told how far long work has come: what is being done, how many are done, how many there are if known."""


class Tally:
    """Counts of what had to be mended while documents were decoded. The only mutable value here.

    Attributes:
        coerced: values that were not text and were written as text (numbers, booleans, lists, objects).
        nulls: nulls that were dropped.
        mended: values in which NUL or a lone surrogate was replaced.
    """

    __slots__ = ("coerced", "mended", "nulls")

    def __init__(self) -> None:
        """Start with nothing counted."""
        self.coerced = 0
        self.nulls = 0
        self.mended = 0


class DocumentSource(Protocol):
    """Documents of one collection, from wherever they are. Knows nothing of topics or judgments."""

    @property
    def where(self) -> str:
        """The file or the place to name in messages about all documents."""
        ...

    def documents(self, tally: Tally | None = None) -> Iterator[Document]:
        """Stream all documents from the first; each call streams the same documents in the same order.

        Args:
            tally: counts what had to be mended, if given.

        Raises:
            CollectionError: a document cannot be read; names the file and the line.
        """
        ...

    def locate(self, position: int) -> str:
        """Say where the document at a 0-based position of the stream stands (``file:line``)."""
        ...


class Split(msgspec.Struct, frozen=True):
    """Queries with their judgments.

    Attributes:
        name: ``validation`` or ``test``.
        topics: every one has at least one judged pair in `qrels`; ordered as in their source.
        qrels: judgments of exactly these topics.
    """

    name: str
    topics: tuple[Topic, ...]
    qrels: Qrels


class LoadReport(msgspec.Struct, frozen=True):
    """What loading found, counted.

    Attributes:
        documents: documents in all.
        empty_documents: documents whose title and text are both blank.
        coerced_values: values that were not text and were written as text.
        null_values: nulls that were dropped.
        mended_values: values in which NUL became a space or a lone surrogate became U+FFFD.
        fields: field name -> documents in which it is not blank.
        queries: queries in all, before anything was left out.
        queries_without_text: left out, because nothing can be searched.
        queries_without_judgments: left out, because nothing can be measured.
        queries_without_relevant: kept, though no judged document is relevant.
        queries_unknown: qids that have judgments but no text.
        judged_pairs: pairs kept, in both splits.
        pairs_dropped: reason -> pairs left out.
        pairs_repeated: further copies of a pair, with the same grade.
        negative_grades: pairs kept whose grade is below 0; they count as not relevant.
        grades: grade -> pairs kept.
        splits: split name -> its number of queries.
        notes: what else a reader of results should know, one sentence each.
    """

    documents: int
    empty_documents: int
    coerced_values: int
    null_values: int
    mended_values: int
    fields: dict[str, int]
    queries: int
    queries_without_text: int
    queries_without_judgments: int
    queries_without_relevant: int
    queries_unknown: int
    judged_pairs: int
    pairs_dropped: dict[str, int]
    pairs_repeated: int
    negative_grades: int
    grades: dict[int, int]
    splits: dict[str, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchView:
    """The part of a collection that a search may see: no reference leads from here to the test split.

    Attributes:
        name: the collection's name.
        fingerprint: the collection's fingerprint.
        num_documents: how many documents `documents` yields.
        validation: the validation split.
    """

    name: str
    fingerprint: str
    num_documents: int
    validation: Split
    _source: DocumentSource = field(repr=False)

    def documents(self) -> Iterator[Document]:
        """Stream the documents; repeatable, in the same order each time."""
        return self._source.documents()


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, topics and judgments, validated once. Documents are streamed, never held.

    Attributes:
        name: what users call it, such as ``pydata-api`` or the folder's name.
        fingerprint: SHA-256, in hex, over all documents in order and over the topics and judgments of
            both splits. The same content gives the same value on every machine, in whatever files.
        num_documents: how many documents `documents` yields.
        validation: the split that a search may look at.
        report: what loading found.
    """

    name: str
    fingerprint: str
    num_documents: int
    validation: Split
    report: LoadReport
    _source: DocumentSource = field(repr=False)
    _test: Split = field(repr=False)

    def documents(self) -> Iterator[Document]:
        """Stream the documents; repeatable, in the same order each time."""
        return self._source.documents()

    def open_test(self) -> Split:
        """Give the test split. Call it once, after the choice has been made."""
        return self._test

    def for_search(self) -> SearchView:
        """Give what a search may see: everything except the test split."""
        return SearchView(self.name, self.fingerprint, self.num_documents, self.validation, self._source)
