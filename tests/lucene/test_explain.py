"""What an explanation says must be what search does."""

import math
import random
from pathlib import Path

import pytest

from autoindex_pyserini.errors import InputError
from autoindex_pyserini.lucene import IndexBuilder, IndexOptions
from autoindex_pyserini.lucene.explain import Explainer
from autoindex_pyserini.settings import Retriever
from autoindex_pyserini.types import Passage, Represented, Topic

WORDS = ["index", "search", "lucene", "passage", "field", "weight", "query", "term", "score", "merge"]


def build(directory: Path, documents: list[Represented], *, store_raw: bool = True) -> Path:
    options = IndexOptions(threads=2, store_raw=store_raw, fields=("note",))
    with IndexBuilder(directory, options) as builder:
        builder.add(documents)
    return directory


def collection(most_passages: int) -> list[Represented]:
    chance = random.Random(most_passages)
    return [
        Represented(
            f"d{'# %'[number % 3]}{number}",
            [
                Passage(" ".join(chance.choices(WORDS, k=chance.randint(1, 90))))
                for _ in range(chance.randint(1, most_passages))
            ],
        )
        for number in range(120)
    ]


@pytest.mark.parametrize("most_passages", [1, 5])
def test_an_explanation_adds_up_to_the_score_of_the_search(most_passages: int, tmp_path: Path) -> None:
    index = build(tmp_path / "index", collection(most_passages))
    query = "merging the lucene indexes, lucene fields and zebras"
    with Explainer(index, Retriever(depth=1000)) as explainer:
        hits = explainer.search([Topic("q", query)]).rankings["q"]
        assert len(hits) > 100
        for hit in hits:
            told = explainer.explain(query, hit.docid)
            assert told.score == pytest.approx(hit.score, abs=1e-4)
            assert sum(term.score for term in told.terms) == pytest.approx(hit.score, abs=1e-4)
            for term in told.terms:
                product = term.in_query * term.statistics.idf * term.saturation
                assert term.score == pytest.approx(product, abs=1e-4)
                if term.frequency:
                    norm = 1.5 * told.length_norm
                    assert term.saturation == pytest.approx(
                        term.frequency / (term.frequency + norm), abs=1e-4
                    )


def test_the_best_passage_is_explained(tmp_path: Path) -> None:
    documents = [
        Represented("a", [Passage("index"), Passage("lucene lucene"), Passage("lucene lucene")]),
        Represented("b", [Passage("index of an index")]),
    ]
    with Explainer(build(tmp_path / "index", documents), Retriever()) as explainer:
        told = explainer.explain("lucene", "a")
        assert (told.passage, told.passages, told.length) == (1, 3, 2)
        assert [(term.statistics.term, term.frequency) for term in told.terms] == [("lucen", 2)]
        nothing = explainer.explain("lucene", "b")
        assert (nothing.score, nothing.length, nothing.mean_length) == (0.0, 2, 7 / 4)
        assert [(term.frequency, term.score) for term in nothing.terms] == [(0, 0.0)]
        assert explainer.explain("of the", "b").terms == ()


def test_terms_are_counted_as_the_analyzer_makes_them(tmp_path: Path) -> None:
    documents = [Represented("a", [Passage("Searching searches"), Passage("search")]), *collection(1)[:9]]
    documents[1:] = [Represented(one.docid, [Passage("nothing here")]) for one in documents[1:]]
    with Explainer(build(tmp_path / "index", documents), Retriever()) as explainer:
        assert explainer.terms("The searchers searched") == ["searcher", "search"]
        found = explainer.statistics("search")
        assert (found.passages, found.occurrences) == (2, 3)
        assert found.idf == pytest.approx(math.log(1 + (11 - 2 + 0.5) / 2.5))
        assert explainer.statistics("zebra").passages == 0


def test_passages_are_read_back_as_they_were_indexed(tmp_path: Path) -> None:
    passages = [Passage("one\n\ttwo", {"note": "é"}), Passage("three")]
    index = build(tmp_path / "index", [Represented("a #1", passages)])
    with Explainer(index, Retriever()) as explainer:
        assert explainer.stored("a #1") == passages


def test_unknown_documents_and_bare_indexes_are_named(tmp_path: Path) -> None:
    bare = build(tmp_path / "index", [Represented("a", [Passage("x")])], store_raw=False)
    with Explainer(bare, Retriever()) as explainer:
        with pytest.raises(InputError, match="no document 'b'"):
            explainer.explain("x", "b")
        with pytest.raises(InputError, match="store_raw"):
            explainer.stored("a")


def test_an_empty_index_has_no_lengths(tmp_path: Path) -> None:
    index = build(tmp_path / "index", [Represented("a", [Passage(".")])])
    with Explainer(index, Retriever()) as explainer:
        told = explainer.explain("x", "a")
        assert (told.score, told.length, told.mean_length, told.length_norm) == (0.0, 0, 0.0, 1.0)
