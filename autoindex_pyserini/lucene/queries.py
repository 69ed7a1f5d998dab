"""Query texts as Lucene queries, one kind for each scoring.

Whatever the scoring, a query is one Lucene query that one searcher runs, so that ranking by the best
passage, ties, depth and failures are the same for all of them.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from autoindex_pyserini.errors import InputError
from autoindex_pyserini.lucene.jvm import java_class
from autoindex_pyserini.lucene.scoring import BM25, BM25F, CONTENTS, RM3, FieldSum, Rocchio, Scoring

_building = threading.Lock()
"""Held while Java objects are made and changed that belong to one thread.

Looking up a method of a Java object binds it for all threads (pyjnius's ``JavaMethod.__get__``): a second
thread that looks up the same method of its own object, before the first one calls it, takes the call. So
what is looked up must be called at once, with arguments that are there already.
"""


class UnknownFieldError(InputError):
    """A field to be searched is not in the index; Lucene would find nothing, and not say why."""


class NoTermVectorsError(InputError):
    """Relevance feedback was asked of an index that keeps no term vectors."""


class Queries:
    """Makes Lucene queries for one index and one scoring. May be used from several threads.

    Args:
        reader: of the index; stays open as long as this is used.
        analyzer: that the index was made with.
        scoring: how passages are scored.

    Attributes:
        searcher: an ``IndexSearcher`` that scores what `query` makes as the scoring says.

    Raises:
        UnknownFieldError: the index does not have a field of the scoring.
        NoTermVectorsError: the scoring needs term vectors, and the index has none.
    """

    def __init__(self, reader: Any, analyzer: Any, scoring: Scoring) -> None:
        with _building:
            _check_fields(reader, scoring)
            similarity = java_class("org.apache.lucene.search.similarities.BM25Similarity")
            bm25 = similarity(_k1(scoring), scoring.b)
            self.searcher = java_class("org.apache.lucene.search.IndexSearcher")(reader.getContext())
            self.searcher.setSimilarity(bm25)
            self._analyzer = analyzer
            self._bag_of_words = java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
            self._build = self._builder(scoring)

    def query(self, text: str) -> Any:
        """The ``org.apache.lucene.search.Query`` of a text; one without terms matches nothing.

        Raises:
            jnius.JavaException: Lucene refuses the query.
        """
        return self._build(text)

    def _builder(self, scoring: Scoring) -> Callable[[str], Any]:
        if isinstance(scoring, BM25):
            return self._plain
        if isinstance(scoring, BM25F):
            least = _least(scoring.weights)
            weights = {field: scoring.weights[field] / least for field in scoring.fields}
            return _one_at_a_time(lambda text: self._combined(text, weights))
        if isinstance(scoring, FieldSum):
            boosts = _floats({field: scoring.weights[field] for field in scoring.fields})
            return lambda text: self._bag_of_words.buildQuery(boosts, self._analyzer, text)
        reranker = _reranker(scoring, self._analyzer)
        return _one_at_a_time(lambda text: self._expanded(text, reranker, scoring.passages))

    def _plain(self, text: str) -> Any:
        return self._bag_of_words.buildQuery(CONTENTS, self._analyzer, text)

    def _combined(self, text: str, weights: dict[str, float]) -> Any:
        """One ``CombinedFieldQuery`` for each term: several terms in one of them would be synonyms."""
        import jnius

        combined = java_class("org.apache.lucene.search.CombinedFieldQuery$Builder")
        boosted = java_class("org.apache.lucene.search.BoostQuery")
        should = java_class("org.apache.lucene.search.BooleanClause$Occur").SHOULD
        clauses = java_class("org.apache.lucene.search.BooleanQuery$Builder")()
        analyze = java_class("io.anserini.analysis.AnalyzerUtils").analyze
        terms = Counter(str(term) for term in analyze(self._analyzer, text).toArray())
        for term, count in terms.items():
            builder = combined(term)
            for field, weight in weights.items():
                builder.addField(field, weight)
            query = builder.build()
            if count > 1:
                query = boosted(query, float(count))
            clauses.add(query, should)
        return jnius.cast("org.apache.lucene.search.Query", clauses.build())

    def _expanded(self, text: str, reranker: Any, passages: int) -> Any:
        """The query that Anserini's reranker expands this one to.

        The reranker runs it too, and keeps the terms in its context; one hit is all that is asked of it here.
        """
        ties = java_class("io.anserini.search.SearchCollection").BREAK_SCORE_TIES_BY_DOCID
        arguments = java_class("io.anserini.search.SearchCollection$Args")()
        arguments.hits = 1
        query = self._plain(text)
        top = self.searcher.search(query, passages, ties, True)
        if not top.scoreDocs:
            return query
        found = java_class("io.anserini.search.ScoredDocs").fromTopDocs(top, self.searcher)
        tokens = java_class("io.anserini.analysis.AnalyzerUtils").analyze(self._analyzer, text)
        context = java_class("io.anserini.rerank.RerankerContext")(
            self.searcher, None, query, None, text, tokens, None, arguments
        )
        reranker.rerank(found, context)
        return self._bag_of_words.buildQuery(CONTENTS, context.feedbackTerms)


def _one_at_a_time(build: Callable[[str], Any]) -> Callable[[str], Any]:
    def alone(text: str) -> Any:
        with _building:
            return build(text)

    return alone


def searchable_fields(reader: Any) -> tuple[str, ...]:
    """The fields of an index that queries can be matched with, by name; ``id`` is none of them."""
    import jnius

    whole = jnius.cast("org.apache.lucene.index.IndexReader", reader)
    names = java_class("org.apache.lucene.index.FieldInfos").getIndexedFields(whole).toArray()
    return tuple(sorted({str(name) for name in names} - {"id"}))


def _check_fields(reader: Any, scoring: Scoring) -> None:
    known = searchable_fields(reader)
    unknown = [field for field in scoring.fields if field not in known]
    # An index without any passage has no field, not even ``contents``.
    if unknown and known:
        raise UnknownFieldError(
            f"the index has no field {unknown[0]!r}; it has {', '.join(known)}: search one of these, "
            "or build the index with a program that declares the field in FIELDS"
        )
    if known and isinstance(scoring, RM3 | Rocchio) and not _has_vectors(reader):
        raise NoTermVectorsError(
            "the index keeps no term vectors, and relevance feedback reads them; build it with "
            "IndexOptions(store_docvectors=True)"
        )


def _has_vectors(reader: Any) -> bool:
    import jnius

    whole = jnius.cast("org.apache.lucene.index.IndexReader", reader)
    found = java_class("org.apache.lucene.index.FieldInfos").getMergedFieldInfos(whole).fieldInfo(CONTENTS)
    return bool(found is not None and found.hasTermVectors())


def _k1(scoring: Scoring) -> float:
    """The k1 that Lucene is given; see `BM25F` for why it moves with the weights."""
    return scoring.k1 / _least(scoring.weights) if isinstance(scoring, BM25F) else scoring.k1


def _least(weights: dict[str, float]) -> float:
    return min(weight for weight in weights.values() if weight > 0)


def _floats(values: dict[str, float]) -> Any:
    """A ``Map<String, Float>``, in the order of its keys."""
    found = java_class("java.util.TreeMap")()
    boxed = java_class("java.lang.Float")
    for name, value in values.items():
        found.put(name, boxed(value))
    return found


def _reranker(scoring: RM3 | Rocchio, analyzer: Any) -> Any:
    if isinstance(scoring, RM3):
        return java_class("io.anserini.rerank.lib.Rm3Reranker")(
            analyzer, None, CONTENTS, scoring.terms, scoring.passages, scoring.original_weight, False, True
        )
    return java_class("io.anserini.rerank.lib.RocchioReranker")(
        *(analyzer, None, CONTENTS, scoring.terms, scoring.passages, scoring.terms, scoring.passages),
        *(scoring.alpha, scoring.beta, 0.0, False, False),
    )
