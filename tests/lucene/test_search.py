"""MaxP against a brute-force computation, and our ranking against Pyserini's own searcher."""

import random
import shutil
from pathlib import Path

import pytest

from autoindex_pyserini.lucene import IndexBuilder, IndexOptions, Searcher
from autoindex_pyserini.lucene.search import SearchFailedError
from autoindex_pyserini.settings import Retriever
from autoindex_pyserini.types import Hit, Passage, Represented, Topic

WORDS = ["index", "search", "lucene", "passage", "field", "weight", "query", "term", "score", "merge"]


def build(directory: Path, documents: list[Represented], **options: object) -> Path:
    with IndexBuilder(directory, IndexOptions(threads=2, **options)) as builder:  # type: ignore[arg-type]
        builder.add(documents)
    return directory


def collection(seed: int, documents: int, most_passages: int) -> list[Represented]:
    """Short passages of few words, so that ties are common; docids on both sides of the delimiter."""
    chance = random.Random(seed)
    marks = ["", "!", " x", "#", "%20", "~"]
    return [
        Represented(
            f"d{number % 97}{marks[number % len(marks)]}{number}",
            [
                Passage(" ".join(chance.choices(WORDS, k=chance.randint(1, 4))))
                for _ in range(chance.randint(1, most_passages))
            ],
        )
        for number in range(documents)
    ]


def brute_force(directory: Path, topic: Topic, documents: list[Represented], depth: int) -> list[Hit]:
    """Score every passage (a depth beyond all passages), then take the best of each document."""
    from autoindex_pyserini.ids import passage_ids
    from autoindex_pyserini.lucene.jvm import java_class

    searcher = java_class("io.anserini.search.SimpleSearcher")(str(directory))
    searcher.set_bm25(1.5, 0.75)
    query = java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
    scored = java_class("io.anserini.search.ScoredDocs")
    from autoindex_pyserini.lucene.index import open_reader

    reader = open_reader(directory)
    try:
        inner = java_class("org.apache.lucene.search.IndexSearcher")(reader.getContext())
        inner.setSimilarity(java_class("org.apache.lucene.search.similarities.BM25Similarity")(1.5, 0.75))
        built = query.buildQuery("contents", searcher.get_analyzer(), topic.text)
        found = scored.fromTopDocs(inner.search(built, 1_000_000), inner)
        scores = dict(zip(found.docids, found.scores, strict=True))
    finally:
        reader.close()
    best = {}
    for document in documents:
        own = [scores[one] for one in passage_ids(document.docid, len(document.passages)) if one in scores]
        if own:
            best[document.docid] = max(own)
    ranking = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Hit(docid, pytest.approx(score)) for docid, score in ranking[:depth]]


@pytest.mark.parametrize(("seed", "most_passages"), [(1, 1), (2, 2), (3, 5), (4, 16)])
def test_maxp_equals_brute_force(seed: int, most_passages: int, tmp_path: Path) -> None:
    documents = collection(seed, 400, most_passages)
    index = build(tmp_path / "index", documents)
    topics = [Topic(str(number), " ".join(WORDS[number : number + 3])) for number in range(8)]
    for depth in (1, 7, 100):
        with Searcher(index, Retriever(depth=depth), threads=2) as searcher:
            run = searcher.search(topics)
        for topic in topics:
            assert run.rankings[topic.qid] == brute_force(index, topic, documents, depth)


def test_a_document_with_many_good_passages_takes_one_place(tmp_path: Path) -> None:
    """A fixed number of passages would fill with the first document alone and return fewer documents."""
    greedy = [Represented(f"greedy{n}", [Passage("lucene lucene")] * 16) for n in range(50)]
    others = [
        Represented(f"other{n}", [Passage("lucene among several other words here")]) for n in range(150)
    ]
    index = build(tmp_path / "index", greedy + others)
    with Searcher(index, Retriever(depth=100)) as searcher:
        hits = searcher.search([Topic("q", "lucene")]).rankings["q"]
    assert len(hits) == len({hit.docid for hit in hits}) == 100
    assert {hit.docid for hit in hits[:50]} == {document.docid for document in greedy}


def test_ties_come_in_the_order_of_docids(tmp_path: Path) -> None:
    documents = [Represented(docid, [Passage("lucene")]) for docid in ("b", "a!", "a", "a#1", "ä", "a 0")]
    documents.append(Represented("aa", [Passage("lucene"), Passage("index")]))
    index = build(tmp_path / "index", documents)
    for depth in range(1, 8):
        with Searcher(index, Retriever(depth=depth)) as searcher:
            hits = searcher.search([Topic("q", "lucene")]).rankings["q"]
        assert [hit.docid for hit in hits] == sorted(document.docid for document in documents)[:depth]


def test_queries_without_terms_have_no_hits(tmp_path: Path) -> None:
    index = build(tmp_path / "index", [Represented("a", [Passage("to be or not to be, lucene")])])
    topics = [
        Topic("empty", ""),
        Topic("stop", "to be or not"),
        Topic("absent", "zebra"),
        Topic("mark", "?!*~("),
    ]
    with Searcher(index, Retriever()) as searcher:
        run = searcher.search(topics)
    assert run.rankings == {"empty": [], "stop": [], "absent": [], "mark": []}


def test_a_query_of_five_thousand_terms_is_searched(tmp_path: Path) -> None:
    index = build(
        tmp_path / "index", [Represented("a", [Passage("term4999")]), Represented("b", [Passage("x")])]
    )
    with Searcher(index, Retriever()) as searcher:
        run = searcher.search([Topic("long", " ".join(f"term{number}" for number in range(5000)))])
    assert [hit.docid for hit in run.rankings["long"]] == ["a"]


def test_a_query_that_fails_is_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autoindex_pyserini.lucene import search

    monkeypatch.setattr(search, "MAX_CLAUSES", 3)
    index = build(tmp_path / "index", [Represented("a", [Passage("lucene")])])
    topics = [Topic("long", "one two three four lucene"), Topic("short", "lucene")]
    try:
        with (
            Searcher(index, Retriever()) as searcher,
            pytest.raises(SearchFailedError, match="'long'") as caught,
        ):
            searcher.search(topics)
    finally:
        monkeypatch.undo()
        with Searcher(index, Retriever()):
            pass
    assert list(caught.value.failures) == ["long"]
    assert [hit.docid for hit in caught.value.run.rankings["short"]] == ["a"]


def test_pyserini_returns_our_documents_in_our_order(tmp_path: Path) -> None:
    """Through the real Pyserini, in this process, after our JVM has started."""
    documents = [one for one in collection(7, 300, 1) if "#" not in one.docid and " " not in one.docid]
    documents = [one for one in documents if "%" not in one.docid]
    index = build(tmp_path / "index", documents)
    topics = [Topic(str(number), " ".join(WORDS[number : number + 3])) for number in range(8)]
    with Searcher(index, Retriever(depth=100)) as searcher:
        run = searcher.search(topics)

    from pyserini.search.lucene import LuceneSearcher

    theirs = LuceneSearcher(str(index))
    theirs.set_bm25(1.5, 0.75)
    assert theirs.num_docs == len(documents)
    for topic in topics:
        hits = theirs.search(topic.text, k=100)
        assert [hit.docid for hit in hits] == [hit.docid for hit in run.rankings[topic.qid]]
        for ours, other in zip(run.rankings[topic.qid], hits, strict=True):
            assert ours.score == pytest.approx(other.score, abs=1e-3)


def test_an_old_reader_keeps_its_snapshot_when_the_directory_goes(tmp_path: Path) -> None:
    index = build(tmp_path / "index", [Represented("a", [Passage("lucene")])])
    with Searcher(index, Retriever()) as searcher:
        shutil.rmtree(index)
        assert searcher.search([Topic("q", "lucene")]).rankings["q"]


def test_progress_is_told_in_the_callers_thread(tmp_path: Path) -> None:
    """Progress bars are not made for several threads."""
    import threading

    index = build(tmp_path / "index", collection(9, 50, 2))
    seen = []
    with Searcher(index, Retriever(), threads=4) as searcher:
        searcher.search(
            [Topic(str(number), WORDS[number % 10]) for number in range(200)],
            progress=lambda count: seen.append((count, threading.current_thread())),
        )
    assert sum(count for count, _ in seen) == 200
    assert {thread for _, thread in seen} == {threading.main_thread()}


def test_threads_leave_the_jvm_when_they_end(tmp_path: Path) -> None:
    from autoindex_pyserini.lucene.jvm import java_class

    index = build(tmp_path / "index", collection(9, 50, 2))
    topics = [Topic(str(number), WORDS[number % 10]) for number in range(64)]

    def search() -> int:
        with Searcher(index, Retriever(), threads=4) as searcher:
            searcher.search(topics)
        return int(java_class("java.lang.Thread").activeCount())

    before = search()
    after = [search() for _ in range(10)][-1]
    assert after <= before
