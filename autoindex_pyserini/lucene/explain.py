"""Why a document scores as it does: a searcher that also tells the terms, and what the index holds of them.

All numbers are those of Lucene's own explanation (``IndexSearcher.explain``), so their sum is the score that
`Searcher.search` returns, up to the rounding of float32.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from autoindex_pyserini.errors import InputError
from autoindex_pyserini.ids import DELIMITER, encode
from autoindex_pyserini.lucene.jvm import java_class, java_errors
from autoindex_pyserini.lucene.search import CONTENTS, Searcher
from autoindex_pyserini.settings import Retriever
from autoindex_pyserini.types import Passage


class TermStatistics(msgspec.Struct, frozen=True):
    """One term in the whole index, in the field ``contents``.

    Attributes:
        term: as the analyzer makes it.
        passages: passages that hold it (its document frequency, in Lucene's words); 0 if none does.
        occurrences: how often it occurs in all (its collection frequency).
        idf: BM25's, ``ln(1 + (N - n + 0.5) / (n + 0.5))``; of N passages n hold the term.
    """

    term: str
    passages: int
    occurrences: int
    idf: float


class TermScore(msgspec.Struct, frozen=True):
    """What one query term adds to a passage's score: ``in_query * idf * saturation``.

    Attributes:
        statistics: the term in the whole index.
        in_query: how often the query has it.
        frequency: how often the passage has it; 0 if it does not.
        saturation: ``tf / (tf + k1 * length_norm)``, 0 to 1; Lucene calls it tf.
        score: the contribution.
    """

    statistics: TermStatistics
    in_query: int
    frequency: int
    saturation: float
    score: float


class Explanation(msgspec.Struct, frozen=True):
    """A document's best passage for a query.

    Attributes:
        score: of the passage, and so of the document; 0 if no passage has a term of the query.
        passage: its number in its document, from 0; the first of equals.
        passages: how many the document has.
        length: terms of the passage; Lucene keeps lengths above 40 approximately.
        mean_length: terms of a passage, mean over the index.
        length_norm: ``1 - b + b * length / mean_length``: above 1, and every term counts less.
        terms: every term of the query, by score falling, then in the order of the query.
    """

    score: float
    passage: int
    passages: int
    length: int
    mean_length: float
    length_norm: float
    terms: tuple[TermScore, ...]


class Explainer(Searcher):
    """A `Searcher` that explains its scores; `stored` needs an index with `IndexOptions.store_raw`."""

    def __init__(self, directory: Path, retriever: Retriever, *, threads: int = 1) -> None:
        super().__init__(directory, retriever, threads=threads)
        self._b = retriever.b
        documents = int(self._reader.getDocCount(CONTENTS))
        self._mean_length = int(self._reader.getSumTotalTermFreq(CONTENTS)) / documents if documents else 0.0
        self._term = java_class("org.apache.lucene.index.Term")
        self._term_query = java_class("org.apache.lucene.search.TermQuery")

    def terms(self, text: str) -> list[str]:
        """What the analyzer makes of a text: its terms in their order, repeated ones too."""
        analyze = java_class("io.anserini.analysis.AnalyzerUtils").analyze
        with java_errors("the analyzer failed"):
            return [str(term) for term in analyze(self._analyzer, text).toArray()]

    def statistics(self, term: str) -> TermStatistics:
        """A term in the whole index.

        Args:
            term: one of `terms`; it is not analyzed again.
        """
        found = self._term(CONTENTS, term)
        passages = int(self._reader.docFreq(found))
        occurrences = int(self._reader.totalTermFreq(found))
        everything = max(int(self._reader.getDocCount(CONTENTS)), passages)
        idf = math.log(1 + (everything - passages + 0.5) / (passages + 0.5))
        return TermStatistics(term, passages, occurrences, idf)

    def stored(self, docid: str) -> list[Passage]:
        """The passages of a document, as they were indexed.

        Raises:
            InputError: the index has no such document, or does not keep what it indexed.
        """
        stored = self._searcher.storedFields()
        found = []
        for number in self._numbers(docid):
            raw = stored.document(number).get("raw")
            if raw is None:
                raise InputError(
                    "this index keeps no passages to show; build it with IndexOptions(store_raw=True)"
                )
            fields = msgspec.json.decode(raw, type=dict[str, str])
            del fields["id"]
            found.append(Passage(fields.pop(CONTENTS), fields))
        return found

    def explain(self, query: str, docid: str) -> Explanation:
        """Explain the score of a document: its best passage, term by term.

        Raises:
            InputError: the index has no such document.
            LuceneError: Lucene cannot run the query.
        """
        numbers = list(self._numbers(docid))
        with java_errors("the query cannot be explained"):
            whole = self._plain.query(query)
            scores = [_value(self._searcher.explain(whole, number)) for number in numbers]
            best = max(range(len(numbers)), key=scores.__getitem__)
            counts = Counter(self.terms(query))
            terms = [self._term_score(term, count, numbers[best]) for term, count in counts.items()]
        length = self._length(numbers[best])
        mean = self._mean_length
        return Explanation(
            score=scores[best],
            passage=best,
            passages=len(numbers),
            length=length,
            mean_length=mean,
            length_norm=1 - self._b + self._b * length / mean if mean else 1.0,
            terms=tuple(sorted(terms, key=lambda one: -one.score)),
        )

    def _term_score(self, term: str, count: int, number: int) -> TermScore:
        told = self._searcher.explain(self._query_for(CONTENTS, term), number)
        parts = dict(_parts(told))
        return TermScore(
            statistics=self.statistics(term),
            in_query=count,
            frequency=int(parts.get("freq", 0)),
            saturation=parts.get("tf", 0.0),
            score=count * _value(told),
        )

    def _query_for(self, field: str, term: str) -> Any:
        import jnius

        # pyjnius picks overloads by the class
        return jnius.cast("org.apache.lucene.search.Query", self._term_query(self._term(field, term)))

    def _length(self, number: int) -> int:
        """Terms of a passage, as precisely as BM25 knows it."""
        import jnius

        whole = jnius.cast("org.apache.lucene.index.IndexReader", self._reader)
        norms = java_class("org.apache.lucene.index.MultiDocValues").getNormValues(whole, CONTENTS)
        if norms is None or not norms.advanceExact(number):
            return 0
        return int(java_class("org.apache.lucene.util.SmallFloat").byte4ToInt(norms.longValue()))

    def _numbers(self, docid: str) -> Iterator[int]:
        """Lucene's numbers of a document's passages, in the order of the passages.

        Raises:
            InputError: there are none.
        """
        base = encode(docid)
        alone = self._number(base)
        if alone is not None:
            yield alone
            return
        count = 0
        while (number := self._number(f"{base}{DELIMITER}{count}")) is not None:
            yield number
            count += 1
        if not count:
            raise InputError(f"the index has no document {docid!r}; give the docid of one that it has")

    def _number(self, passage_id: str) -> int | None:
        found = self._searcher.search(self._query_for("id", passage_id), 1).scoreDocs
        return int(found[0].doc) if found else None


def _value(explanation: Any) -> float:
    """An explanation's number; 0 where the passage does not match."""
    return float(explanation.getValue().doubleValue())


def _parts(explanation: Any) -> Iterator[tuple[str, float]]:
    """The numbers that a term's score is made of, by Lucene's short names: ``freq``, ``idf``, ``tf``."""
    for detail in explanation.getDetails():
        yield str(detail.getDescription()).partition(",")[0], _value(detail)
        yield from _parts(detail)
