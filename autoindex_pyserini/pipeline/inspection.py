"""A program's index to look into, read only, with documents known by opaque references alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from autoindex_pyserini.lucene import IndexOptions
from autoindex_pyserini.lucene.explain import Explainer, Explanation, TermStatistics
from autoindex_pyserini.pipeline.document_store import DocumentStore
from autoindex_pyserini.pipeline.grep import Matches, grep
from autoindex_pyserini.pipeline.pipeline import Pipeline
from autoindex_pyserini.program import Program
from autoindex_pyserini.program.contract import RawDocument
from autoindex_pyserini.types import Passage, Topic


class Ranked(msgspec.Struct, frozen=True):
    """One retrieved document: its rank from 1, its reference, its score."""

    rank: int
    reference: str
    score: float


class IndexView:
    """What may be seen of a program's index and of the documents behind it. A context manager.

    No reference leads from here to topics, judgments or a collection's files: it holds a searcher of the
    index and a store of the documents, and gives neither docids nor paths.

    Args:
        store: the documents; stays open when the view is closed.
        explainer: searches the index, which keeps its passages; closed with the view.
        depth: documents that the retriever returns.
        directory: where the index is; removed when the view is closed.
    """

    def __init__(self, store: DocumentStore, explainer: Explainer, depth: int, directory: Path) -> None:
        self._store = store
        self._explainer = explainer
        self._directory = directory
        self.depth = depth
        self.num_documents = store.num_documents
        self.num_passages = explainer.passages

    @classmethod
    def build(cls, pipeline: Pipeline, program: Program, store: DocumentStore, directory: Path) -> IndexView:
        """Index the collection with a program, for looking into.

        Args:
            pipeline: over the collection that `store` was written from.
            program: what represents the documents.
            store: the documents.
            directory: where the index goes; what is there is removed.

        Raises:
            ProgramFault: the program is at fault; nothing is left behind.
        """
        shutil.rmtree(directory, ignore_errors=True)
        pipeline.build(program, directory, IndexOptions(store_raw=True))
        retriever = pipeline.settings.retriever
        return cls(store, Explainer(directory, retriever), retriever.depth, directory)

    def ranking(self, query: str) -> list[Ranked]:
        """The best `depth` documents for a query, as an evaluation ranks them.

        Raises:
            SearchFailedError: Lucene cannot run the query.
        """
        hits = self._explainer.search([Topic("query", query)]).rankings["query"]
        refer = self._store.reference
        return [Ranked(rank, refer(hit.docid), hit.score) for rank, hit in enumerate(hits, 1)]

    def reference(self, docid: str) -> str:
        """The reference of a document; for those who know docids."""
        return self._store.reference(docid)

    def canonical(self, reference: str) -> str:
        """A reference as answers write it; case, space around it and the ``D-`` do not matter.

        Raises:
            UnknownReferenceError: no document has this reference.
        """
        return self._store.canonical(reference)

    def document(self, reference: str) -> RawDocument:
        """The raw document.

        Raises:
            UnknownReferenceError: no document has this reference.
        """
        return self._store.document(reference)

    def grep(self, pattern: str, most: int) -> Matches:
        """Search the raw documents for a regular expression, in the collection's order; see `grep`.

        Raises:
            PatternError: the pattern cannot be used, or is too slow.
        """
        return grep(self._store.documents(), pattern, most)

    def passages(self, reference: str) -> list[Passage]:
        """What the program made of a document, as it was indexed.

        Raises:
            UnknownReferenceError: no document has this reference.
        """
        return self._explainer.stored(self._store.docid(reference))

    def explain(self, query: str, reference: str) -> Explanation:
        """A document's score for a query, term by term.

        Raises:
            UnknownReferenceError: no document has this reference.
            LuceneError: Lucene cannot run the query.
        """
        return self._explainer.explain(query, self._store.docid(reference))

    def terms(self, text: str) -> list[str]:
        """What the analyzer makes of a text."""
        return self._explainer.terms(text)

    def statistics(self, term: str) -> TermStatistics:
        """One term, as `terms` gives it, in the whole index."""
        return self._explainer.statistics(term)

    def close(self) -> None:
        """Release the index and remove it."""
        self._explainer.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
