"""Search with MaxP: a document scores as its best passage, by inner product.

With a flat index the ranking is exact: ever more passages are fetched until as many distinct documents as
asked for are known and no further passage could take the place of the last of them, or until there are no
more. FAISS sums in an order of its own, which may change with the number of queries, so the last digits of
its scores are not to be relied on: hits are scored again, each alone, in float64. With HNSW the ranking is
exact among the passages that the graph gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autoindex_pyserini.dense.cache import VectorCache, default_folder, text_key
from autoindex_pyserini.dense.embed import Progress, embed_texts
from autoindex_pyserini.dense.encoder import Encoder, Vectors
from autoindex_pyserini.dense.index import DOCID, INDEX
from autoindex_pyserini.dense.manifest import read_manifest
from autoindex_pyserini.errors import IndexDirectoryError, InputError
from autoindex_pyserini.ids import decode
from autoindex_pyserini.types import Hit, Run, Topic

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_QUERIES = 64  # that FAISS searches at once
_MARGIN = 1.5  # passages fetched first, for each document asked for


class DenseSearcher:
    """Inner product over one index. The vectors stay on disk, mapped.

    Args:
        directory: an index that `publish_index` made.
        threads: of FAISS.

    Raises:
        IndexDirectoryError: the directory holds no dense index, or one that contradicts itself.
    """

    def __init__(self, directory: Path, *, threads: int = 1) -> None:
        import faiss
        import numpy as np

        self.manifest = read_manifest(directory)
        self._threads = threads
        try:
            self._index = _untyped(faiss.read_index(str(directory / INDEX), faiss.IO_FLAG_MMAP_IFC))
            passage_ids = (directory / DOCID).read_text("utf-8").split("\n")[:-1]
        except (RuntimeError, OSError) as error:  # FAISS raises the former
            raise IndexDirectoryError(
                f"{directory} cannot be opened: {' '.join(str(error).split())}; build the index again"
            ) from error
        self.passages = int(self._index.ntotal)
        if not self.passages == len(passage_ids) == self.manifest.passages:
            raise IndexDirectoryError(
                f"{directory} holds {self.passages} vectors and {len(passage_ids)} ids, and says that it has "
                f"{self.manifest.passages}; build the index again"
            )
        numbers: dict[str, int] = {}
        documents = (numbers.setdefault(decode(one), len(numbers)) for one in passage_ids)
        self._document_of = np.fromiter(documents, np.int32, len(passage_ids))
        self._docids = list(numbers)
        hnsw = self.manifest.faiss.kind == "hnsw"
        flat = _untyped(faiss.downcast_index(self._index.storage)) if hnsw else self._index
        size = self.passages * self.manifest.dimension
        self._vectors = faiss.rev_swig_ptr(flat.get_xb(), size).reshape(self.passages, -1)

    def search(
        self,
        topics: Sequence[Topic],
        encoder: Encoder,
        *,
        depth: int = 100,
        name: str = "autoindex-dense",
        cache: Path | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Rank the best `depth` documents for every topic.

        Args:
            topics: the queries; qids are distinct.
            encoder: of the same model as the index.
            depth: documents returned for a query.
            name: the run's tag.
            cache: folder of the vectors' caches; by default the user's.
            progress: told about queries searched.

        Returns:
            hits by (-score, docid). A blank query has none.

        Raises:
            InputError: the encoder is of another model than the index.
        """
        if encoder.located.identity != self.manifest.identity:
            raise InputError(
                f"the index was encoded with {self.manifest.encoding.model} ({self.manifest.identity}), the "
                f"queries with {encoder.encoding.model} ({encoder.located.identity}); use one model for both"
            )
        asked = [topic for topic in topics if topic.text.strip()]
        rankings: dict[str, list[Hit]] = {topic.qid: [] for topic in topics}
        with VectorCache(cache or default_folder(), encoder.space("query")) as vectors:
            embed_texts(encoder, vectors, "query", [topic.text for topic in asked])
            queries = vectors.get([text_key(topic.text) for topic in asked]) if asked else None
        if queries is None:
            return Run(name, rankings)
        return Run(name, rankings | self.rank([topic.qid for topic in asked], queries, depth, progress))

    def rank(
        self, qids: Sequence[str], queries: Vectors, depth: int, progress: Progress | None = None
    ) -> dict[str, list[Hit]]:
        """Rank documents by query vectors, float32 [len(qids), dimension]; see `search`."""
        import faiss

        faiss.omp_set_num_threads(self._threads)
        if queries.shape[1] != self.manifest.dimension:
            raise InputError(
                f"query vectors have {queries.shape[1]} components, the index {self.manifest.dimension}; "
                "encode both with the same settings"
            )
        rankings: dict[str, list[Hit]] = {}
        for places in batched(range(len(qids)), _QUERIES):
            for place, hits in zip(places, self._rank(queries[list(places)], depth), strict=True):
                rankings[qids[place]] = hits
            if progress:
                progress("search", len(rankings), len(qids))
        return rankings

    def _rank(self, queries: Vectors, depth: int) -> list[list[Hit]]:
        """Rank some queries; those that need more passages than the others are asked again, alone."""
        page = min(self.passages, 1 + int(_MARGIN * depth))
        found = zip(queries, *self._fetch(queries, page), strict=True)
        return [self._deepened(query, scores, rows, page, depth) for query, scores, rows in found]

    def _fetch(self, queries: Vectors, page: int) -> tuple[Any, Any]:
        """FAISS's scores and rows, each [queries, page], scores falling; -1 where there is no row."""
        if self.manifest.faiss.kind == "hnsw":
            self._index.hnsw.efSearch = max(self.manifest.faiss.ef_search, page)
        return self._index.search(queries, page)  # type: ignore[no-any-return]

    def _deepened(self, query: Vectors, scores: Vectors, rows: Any, page: int, depth: int) -> list[Hit]:
        import numpy as np

        # float32 sums are this close to the true ones, whatever their order (Higham 2002, section 3.1).
        slack = 2 * len(query) * 2.0**-23 * float(np.linalg.norm(query)) * self.manifest.longest
        while True:
            found = rows[rows >= 0]
            ranking = self._maxp(query, found, depth)
            enough = len(ranking) == depth and float(scores[len(found) - 1]) + slack < ranking[-1].score
            if enough or page == self.passages or len(found) < page:
                return ranking
            page = min(self.passages, 2 * page)
            (scores,), (rows,) = self._fetch(query[None], page)

    def _maxp(self, query: Vectors, rows: npt.NDArray[np.int64], depth: int) -> list[Hit]:
        import numpy as np

        scores = (self._vectors[rows].astype(np.float64) * query.astype(np.float64)).sum(axis=1)
        best: dict[int, float] = {}
        for document, score in zip(self._document_of[rows].tolist(), scores.tolist(), strict=True):
            if score > best.get(document, float("-inf")):
                best[document] = score
        hits = [Hit(self._docids[document], float(np.float32(score))) for document, score in best.items()]
        return sorted(hits, key=_by_score_then_docid)[:depth]


def _untyped(value: Any) -> Any:
    """A value whose attributes FAISS's own type hints do not know."""
    return value


def _by_score_then_docid(hit: Hit) -> tuple[float, str]:
    return -hit.score, hit.docid
