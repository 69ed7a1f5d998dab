"""Search with MaxP: a document scores as its best passage.

The ranking is exact. Ever more passages are fetched until as many distinct documents as asked for are known
and no further passage could take the place of the last of them, or until there are no more hits; a fixed
number of passages would return fewer documents where documents have many passages. A query starts with what
the queries before it needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import batched
from pathlib import Path
from types import TracebackType
from typing import Self

from autoindex_pyserini.errors import AutoIndexError
from autoindex_pyserini.ids import decode, follows_order
from autoindex_pyserini.lucene.analyzers import analyzer_config
from autoindex_pyserini.lucene.index import open_reader
from autoindex_pyserini.lucene.jvm import java_class, java_error
from autoindex_pyserini.lucene.queries import Queries, searchable_fields
from autoindex_pyserini.lucene.scoring import BM25, Scoring
from autoindex_pyserini.lucene.scoring import CONTENTS as CONTENTS
from autoindex_pyserini.lucene.top_passages import TopPassages
from autoindex_pyserini.settings import Retriever
from autoindex_pyserini.types import Hit, Run, Topic

_BATCH = 16  # queries that a thread takes at once
_MARGIN = 1.5  # one search with more hits costs less than two
_MEMORY = 8  # queries that the need is smoothed over
MAX_CLAUSES = 1 << 16
"""Most distinct terms of one query; Lucene's own default of 1,024 fails on long queries."""


class SearchFailedError(AutoIndexError):
    """Lucene could not run a query; names the qid. The other queries' rankings are kept.

    Attributes:
        failures: qid -> Lucene's message.
        run: the rankings of all queries, empty for those that failed.
    """

    def __init__(self, failures: dict[str, str], run: Run) -> None:
        first, message = next(iter(failures.items()))
        super().__init__(f"{len(failures)} of {len(run.rankings)} queries failed; query {first!r}: {message}")
        self.failures = failures
        self.run = run


class Searcher:
    """Searches one index. A context manager; may be used from several threads.

    Args:
        directory: a Lucene index with the fields ``id`` and ``contents``.
        retriever: k1, b, analyzer and depth.
        threads: queries searched at once.

    Attributes:
        fields: the fields that can be searched, by name.
        passages: passages in the index.

    Raises:
        IndexDirectoryError: the directory holds no index.
    """

    def __init__(self, directory: Path, retriever: Retriever, *, threads: int = 1) -> None:
        self._reader = open_reader(directory)
        java_class("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(MAX_CLAUSES)
        self._analyzer = analyzer_config(retriever.analyzer).analyzer()
        self._plain = Queries(self._reader, self._analyzer, BM25(retriever.k1, retriever.b))
        self._searcher = self._plain.searcher
        self._top = TopPassages()
        self._depth = retriever.depth
        self._beyond = 0.0  # passages that a query needed beyond one for each document, smoothed
        self._threads = threads
        self.passages = int(self._reader.numDocs())
        self.fields = searchable_fields(self._reader)

    def search(
        self,
        topics: Sequence[Topic],
        *,
        scoring: Scoring | None = None,
        name: str = "autoindex",
        progress: Callable[[int], None] | None = None,
    ) -> Run:
        """Rank the best `depth` documents for every topic.

        Args:
            topics: the queries; qids are distinct.
            scoring: how passages are scored; BM25 with the retriever's k1 and b if None.
            name: the run's tag.
            progress: called in this thread with the number of queries finished since the last call.

        Returns:
            hits by (-score, docid). A query without a term in the index has none.

        Raises:
            SearchFailedError: some queries failed; carries the run of all others.
            UnknownFieldError: the index does not have a field of the scoring.
            NoTermVectorsError: the scoring needs term vectors, and the index has none.
        """
        queries = Queries(self._reader, self._analyzer, scoring) if scoring else self._plain
        failures: dict[str, str] = {}

        def rank(batch: Sequence[Topic]) -> list[list[Hit]]:
            import jnius

            ranked = []
            for topic in batch:
                try:
                    ranked.append(self._rank(queries, topic.text))
                except jnius.JavaException as error:
                    failures[topic.qid] = java_error(error)
                    ranked.append([])
            jnius.detach()  # or the JVM would keep an entry for this thread after its end
            return ranked

        rankings: dict[str, list[Hit]] = {}
        batches = list(batched(topics, _BATCH))
        with ThreadPoolExecutor(self._threads) as pool:
            for batch, ranked in zip(batches, pool.map(rank, batches), strict=True):
                rankings.update(zip((topic.qid for topic in batch), ranked, strict=True))
                if progress:
                    progress(len(batch))
        run = Run(name, rankings)
        if failures:
            raise SearchFailedError(failures, run)
        return run

    def _rank(self, queries: Queries, text: str) -> list[Hit]:
        query = queries.query(text)
        page = self._depth + 1 + int(_MARGIN * self._beyond)
        while True:
            passages = self._top.fetch(queries.searcher, query, page)
            best: dict[str, float] = {}
            needed = 0
            for place, (passage_id, score) in enumerate(passages, 1):
                docid = decode(passage_id)
                if docid not in best:
                    best[docid] = score
                    if len(best) <= self._depth:
                        needed = place
            ranking = sorted(best.items(), key=_by_score_then_docid)[: self._depth]
            if len(passages) < page:
                break
            if len(ranking) == self._depth:
                # Passages that tie are fetched in the order of their ids, so what is left comes later.
                docid, score = ranking[-1]
                if passages[-1][1] < score or follows_order(docid):
                    break
            page *= 2
        self._beyond += (max(0, needed - self._depth) - self._beyond) / _MEMORY
        return [Hit(docid, score) for docid, score in ranking]

    def close(self) -> None:
        """Release the index's files."""
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _by_score_then_docid(pair: tuple[str, float]) -> tuple[float, str]:
    return -pair[1], pair[0]
