"""MaxP against a brute-force computation, and our index in Pyserini's own searcher."""

import random
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from autoindex_pyserini.dense import DenseSearcher, FaissOptions, Source, publish_index
from autoindex_pyserini.dense.locate import Located
from autoindex_pyserini.errors import IndexDirectoryError, InputError
from autoindex_pyserini.program import Program
from autoindex_pyserini.types import Hit, Passage, Represented, Topic

from .fake_encoder import FakeEncoder, vector


def collection(seed: int, documents: int, most_passages: int, texts: int) -> list[Represented]:
    """Passages out of few texts, so that ties are common."""
    chance = random.Random(seed)
    return [
        Represented(
            f"d{number * 7919 % 1009}#",
            [Passage(f"text {chance.randrange(texts)}") for _ in range(chance.randint(1, most_passages))],
        )
        for number in range(documents)
    ]


def publish(place: Path, documents: list[Represented], kind: str = "flat") -> DenseSearcher:
    source = Source("toy", "f", len(documents), Program.resolve("full_text"))
    options = FaissOptions(kind=kind)
    encoder = FakeEncoder()
    publish_index(place, source, [documents], encoder, options, cache=place.with_name("cache"))
    return DenseSearcher(place, threads=2)


def brute_force(documents: list[Represented], query: npt.NDArray[np.float32], depth: int) -> list[Hit]:
    scores = {
        one.docid: max(
            float((vector(passage.contents).astype(float) * query.astype(float)).sum())
            for passage in one.passages
        )
        for one in documents
    }
    hits = [Hit(docid, float(np.float32(score))) for docid, score in scores.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.docid))[:depth]


@pytest.mark.parametrize(("most_passages", "texts"), [(1, 1000), (5, 1000), (16, 5), (16, 1)])
def test_maxp_equals_brute_force(most_passages: int, texts: int, tmp_path: Path) -> None:
    documents = collection(5, 400, most_passages, texts)
    searcher = publish(tmp_path / "index", documents)
    queries = np.stack([vector(f"query {number}") for number in range(70)])
    for depth in (1, 10, 100, 1000):
        rankings = searcher.rank([str(number) for number in range(70)], queries, depth)
        for number in (0, 1, 63, 64, 69):
            assert rankings[str(number)] == brute_force(documents, queries[number], depth)
        assert searcher.rank(["69"], queries[69:], depth)["69"] == rankings["69"]


def test_a_document_with_many_good_passages_takes_one_place(tmp_path: Path) -> None:
    greedy = [Represented(f"greedy{n}", [Passage("lucene")] * 16) for n in range(50)]
    others = [Represented(f"other{n}", [Passage(f"text {n}")]) for n in range(150)]
    searcher = publish(tmp_path / "index", greedy + others)
    hits = searcher.search([Topic("q", "lucene")], FakeEncoder(), cache=tmp_path / "cache").rankings["q"]
    assert len(hits) == len({hit.docid for hit in hits}) == 100
    assert [hit.docid for hit in hits[:50]] == sorted(document.docid for document in greedy)


def test_hnsw_finds_nearly_the_same(tmp_path: Path) -> None:
    documents = collection(6, 1000, 3, 5000)
    approximate = publish(tmp_path / "hnsw", documents, "hnsw")
    queries = np.stack([vector(f"query {number}") for number in range(20)])
    rankings = approximate.rank([str(number) for number in range(20)], queries, 50)
    found = 0
    for number in range(20):
        hits = rankings[str(number)]
        assert len({hit.docid for hit in hits}) == 50
        exact = brute_force(documents, queries[number], 50)
        found += len({hit.docid for hit in hits} & {hit.docid for hit in exact})
        assert all(hit.score <= best.score for hit, best in zip(hits, exact, strict=True))
    assert found / 1000 > 0.9


def test_blank_queries_have_no_hits_and_known_queries_are_not_encoded_again(tmp_path: Path) -> None:
    searcher = publish(tmp_path / "index", collection(1, 9, 1, 9))
    encoder, topics = (
        FakeEncoder(),
        [Topic("1", "x"), Topic("2", "  "), Topic("3", "x"), Topic("4", "y")],
    )
    run = searcher.search(topics, encoder, depth=5, cache=tmp_path / "cache")
    assert list(run.rankings) == ["1", "2", "3", "4"]
    assert [len(hits) for hits in run.rankings.values()] == [5, 0, 5, 5]
    assert run.rankings["1"] == run.rankings["3"]
    assert searcher.search(topics, encoder, depth=5, cache=tmp_path / "cache") == run
    assert encoder.asked == ["x", "y"]
    assert searcher.search(topics[1:2], encoder, cache=tmp_path / "cache").rankings == {"2": []}


def test_another_model_and_a_contradicting_index_are_refused(tmp_path: Path) -> None:
    searcher = publish(tmp_path / "index", collection(1, 9, 1, 9))
    with pytest.raises(InputError, match="components"):
        searcher.rank(["q"], np.zeros((1, 5), np.float32), 10)
    encoder = FakeEncoder()
    encoder.located = Located(Path("other"), "other")
    with pytest.raises(InputError, match="use one model for both"):
        searcher.search([Topic("q", "x")], encoder, cache=tmp_path / "cache")
    (tmp_path / "index" / "docid").write_text("d1\n")
    with pytest.raises(IndexDirectoryError, match="9 vectors and 1 ids"):
        DenseSearcher(tmp_path / "index")
    (tmp_path / "index" / "index").write_bytes(b"nothing of FAISS's")
    with pytest.raises(IndexDirectoryError, match="build the index again"):
        DenseSearcher(tmp_path / "index")


def test_pyserini_opens_the_index_and_ranks_as_we_do(tmp_path: Path) -> None:
    """Through the real Pyserini, in this process, after our JVM has started."""
    from autoindex_pyserini.lucene import start_jvm

    documents = [Represented(f"d{n}", [Passage(f"text {n}")]) for n in range(200)]
    ours = publish(tmp_path / "index", documents)
    start_jvm()
    from pyserini.search.faiss import FaissSearcher

    class QueryEncoder:
        def encode(self, text: str) -> npt.NDArray[np.float32]:
            return vector(text)  # type: ignore[no-any-return]

    theirs = FaissSearcher(str(tmp_path / "index"), QueryEncoder())
    assert theirs.num_docs == 200
    for text in ("some query", "another"):
        hits = ours.rank(["q"], vector(text)[None], 20)["q"]
        found = theirs.search(text, k=20)
        assert [hit.docid for hit in found] == [hit.docid for hit in hits]
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in hits], abs=1e-6)
