"""Statistics of a raw collection, counted by the retriever's own analyzer.

A program asks for the document frequency of a word as it is written, while the index knows stems. So the
collection is indexed twice, stemmed and unstemmed, and every unstemmed term is given the frequency of its
stem. Both indexes are thrown away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import batched
from pathlib import Path
from typing import Any

from autoindex_pyserini.files import scratch_directory
from autoindex_pyserini.lucene.analyzers import analyzer_config, unstemmed
from autoindex_pyserini.lucene.index import IndexBuilder, IndexOptions, open_reader
from autoindex_pyserini.lucene.jvm import java_class
from autoindex_pyserini.program import CorpusStatistics
from autoindex_pyserini.program.contract import EMPTY_CONTENTS, full_text
from autoindex_pyserini.types import Document, Passage, Represented

_BATCH = 512


def corpus_statistics(documents: Iterable[Document], *, analyzer: str, threads: int = 1) -> CorpusStatistics:
    """Count the documents, their tokens, and the documents that hold each word.

    Args:
        documents: title and text count, other fields do not.
        analyzer: a name from ``java_config/analyzers.toml``.
        threads: threads that index.

    Returns:
        document frequencies by lower-cased surface form; stop words are absent.
    """
    with scratch_directory() as scratch:
        stemmed, surface = scratch / "stemmed", scratch / "surface"
        plain = IndexOptions(analyzer=analyzer, threads=threads)
        bare = IndexOptions(analyzer=unstemmed(analyzer), threads=threads)
        with IndexBuilder(stemmed, plain) as left, IndexBuilder(surface, bare) as right:
            for batch in batched(documents, _BATCH):
                represented = [_as_one_passage(document) for document in batch]
                left.add(represented)
                right.add(represented)
        count, tokens, frequencies = _read(stemmed)
        words = [term for term, _ in _terms(surface)]
    stems = _stems(words, analyzer_config(analyzer).analyzer())
    by_word = {word: frequencies[stem] for word, stem in stems if stem in frequencies}
    return CorpusStatistics(count, tokens / count if count else 0.0, by_word)


def _as_one_passage(document: Document) -> Represented:
    return Represented(document.docid, [Passage(full_text(document) or EMPTY_CONTENTS)])


def _read(directory: Path) -> tuple[int, int, dict[str, int]]:
    reader = open_reader(directory)
    try:
        tokens = max(int(reader.getSumTotalTermFreq("contents")), 0)
        return int(reader.numDocs()), tokens, dict(_terms_of(reader))
    finally:
        reader.close()


def _terms(directory: Path) -> Iterator[tuple[str, int]]:
    reader = open_reader(directory)
    try:
        yield from _terms_of(reader)
    finally:
        reader.close()


def _terms_of(reader: Any) -> Iterator[tuple[str, int]]:
    import jnius

    whole = jnius.cast("org.apache.lucene.index.IndexReader", reader)  # pyjnius picks overloads by the class
    terms = java_class("org.apache.lucene.index.MultiTerms").getTerms(whole, "contents")
    if terms is None:
        return
    cursor = terms.iterator()
    while (term := cursor.next()) is not None:
        yield term.utf8ToString(), int(cursor.docFreq())


def _stems(words: Iterable[str], analyzer: Any) -> Iterator[tuple[str, str]]:
    """Pairs of a word and its stem; words of which the analyzer makes no term, or several, are left out."""
    analyze = java_class("io.anserini.analysis.AnalyzerUtils").analyze
    for batch in batched(words, _BATCH):
        stems = list(analyze(analyzer, " ".join(batch)).toArray())
        if len(stems) == len(batch):
            yield from zip(batch, stems, strict=True)
            continue
        for word in batch:
            own = list(analyze(analyzer, word).toArray())
            if len(own) == 1:
                yield word, own[0]
