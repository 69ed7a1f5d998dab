"""Scorings of several fields and of expanded queries, against formulas, brute force and Pyserini."""

import math
import random
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autoindex_pyserini.errors import InputError
from autoindex_pyserini.ids import passage_ids
from autoindex_pyserini.lucene import (
    BM25,
    BM25F,
    RM3,
    FieldSum,
    IndexBuilder,
    IndexOptions,
    NoTermVectorsError,
    Rocchio,
    Scoring,
    Searcher,
    UnknownFieldError,
)
from autoindex_pyserini.lucene import search as searching
from autoindex_pyserini.lucene.analyzers import analyzer_config
from autoindex_pyserini.lucene.index import open_reader
from autoindex_pyserini.lucene.queries import Queries
from autoindex_pyserini.lucene.search import SearchFailedError
from autoindex_pyserini.settings import Retriever
from autoindex_pyserini.types import Hit, Passage, Represented, Topic

WORDS = ["index", "search", "lucene", "passage", "field", "weight", "query", "term", "score", "merge"]
FIELDS = ("title", "notes")
SCORINGS: list[Scoring] = [
    BM25(k1=0.9, b=0.4),
    BM25F({"title": 3.0, "contents": 0.5, "notes": 1.0}, k1=1.2, b=0.6),
    FieldSum({"title": 2.0, "contents": 1.0, "notes": 0.3}, k1=1.2, b=0.6),
    RM3(terms=5, passages=4),
    Rocchio(terms=5, passages=4),
]
each_scoring = pytest.mark.parametrize("scoring", SCORINGS, ids=lambda scoring: type(scoring).__name__)


def build(directory: Path, documents: list[Represented], **options: Any) -> Path:
    options = {"threads": 2, "fields": FIELDS, "store_docvectors": True} | options
    with IndexBuilder(directory, IndexOptions(**options)) as builder:
        builder.add(documents)
    return directory


def collection(seed: int, documents: int, most_passages: int) -> list[Represented]:
    """Short passages of few words, so that ties are common; docids on both sides of the delimiter."""
    chance = random.Random(seed)
    marks = ["", "!", " x", "#", "%20", "~"]

    def text(most: int, least: int = 0) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(least, most)))

    def passage() -> Passage:
        fields = {"title": text(2, 1)} | ({"notes": text(3, 1)} if chance.random() < 0.5 else {})
        return Passage(text(4, 1), fields)

    return [
        Represented(
            f"d{number % 97}{marks[number % len(marks)]}{number}",
            [passage() for _ in range(chance.randint(1, most_passages))],
        )
        for number in range(documents)
    ]


def brute_force(
    directory: Path, scoring: Scoring, topic: Topic, documents: list[Represented], depth: int
) -> list[Hit]:
    """Score every passage (a depth beyond all passages), then take the best of each document."""
    from autoindex_pyserini.lucene.jvm import java_class

    reader = open_reader(directory)
    try:
        queries = Queries(reader, analyzer_config("english").analyzer(), scoring)
        found = queries.searcher.search(queries.query(topic.text), 1_000_000)
        scored = java_class("io.anserini.search.ScoredDocs").fromTopDocs(found, queries.searcher)
        scores = dict(zip(scored.docids, scored.scores, strict=True))
    finally:
        reader.close()
    best = {}
    for document in documents:
        own = [scores[one] for one in passage_ids(document.docid, len(document.passages)) if one in scores]
        if own:
            best[document.docid] = max(own)
    ranking = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Hit(docid, score) for docid, score in ranking[:depth]]


@each_scoring
@pytest.mark.parametrize(("seed", "most_passages"), [(1, 1), (2, 5)])
def test_maxp_equals_brute_force(scoring: Scoring, seed: int, most_passages: int, tmp_path: Path) -> None:
    documents = collection(seed, 200, most_passages)
    index = build(tmp_path / "index", documents)
    topics = [Topic(str(number), " ".join(WORDS[number : number + 3])) for number in range(6)]
    for depth in (1, 7, 100):
        with Searcher(index, Retriever(depth=depth), threads=2) as searcher:
            run = searcher.search(topics, scoring=scoring)
        for topic in topics:
            expected = brute_force(index, scoring, topic, documents, depth)
            assert expected
            assert run.rankings[topic.qid] == expected


@each_scoring
def test_queries_without_terms_have_no_hits(scoring: Scoring, tmp_path: Path) -> None:
    passage = Passage("to be or not to be, lucene", {"title": "lucene", "notes": "lucene"})
    index = build(tmp_path / "index", [Represented("a", [passage])])
    texts = {"empty": "", "stop": "to be or not", "absent": "zebra", "mark": "?!*~("}
    with Searcher(index, Retriever()) as searcher:
        run = searcher.search([Topic(qid, text) for qid, text in texts.items()], scoring=scoring)
    assert run.rankings == {"empty": [], "stop": [], "absent": [], "mark": []}


@each_scoring
def test_a_query_that_fails_is_named_and_the_others_go_on(
    scoring: Scoring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passage = Passage("lucene", {"title": "lucene", "notes": "lucene"})
    index = build(tmp_path / "index", [Represented("a", [passage])])
    topics = [
        Topic("long", " ".join(f"word{number} lucene" for number in range(9))),
        Topic("short", "lucene"),
    ]
    monkeypatch.setattr(searching, "MAX_CLAUSES", 5)
    try:
        with Searcher(index, Retriever()) as searcher, pytest.raises(SearchFailedError) as caught:
            searcher.search(topics, scoring=scoring)
    finally:
        monkeypatch.undo()
        with Searcher(index, Retriever()):
            pass
    assert list(caught.value.failures) == ["long"]
    assert [hit.docid for hit in caught.value.run.rankings["short"]] == ["a"]


@each_scoring
def test_threads_change_nothing(scoring: Scoring, tmp_path: Path) -> None:
    index = build(tmp_path / "index", collection(5, 200, 3))
    topics = [Topic(str(n), " ".join(random.Random(n).choices(WORDS, k=4))) for n in range(100)]
    with Searcher(index, Retriever()) as alone, Searcher(index, Retriever(), threads=8) as together:
        expected = alone.search(topics, scoring=scoring).rankings
        assert together.search(topics, scoring=scoring).rankings == expected


def test_searches_with_other_scorings_at_the_same_time_do_not_meet(tmp_path: Path) -> None:
    index = build(tmp_path / "index", collection(5, 200, 3))
    topics = [Topic(str(n), " ".join(random.Random(n).choices(WORDS, k=4))) for n in range(100)]
    with Searcher(index, Retriever(), threads=2) as searcher:
        expected = [searcher.search(topics, scoring=scoring).rankings for scoring in SCORINGS]
        found: dict[int, object] = {}

        def search(number: int) -> None:
            found[number] = searcher.search(topics, scoring=SCORINGS[number]).rankings

        threads = [threading.Thread(target=search, args=(number,)) for number in range(len(SCORINGS))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [found[number] for number in range(len(SCORINGS))] == expected


# BM25F, computed from the published formula.

type Texts = dict[str, dict[str, list[str]]]


def kept(length: int) -> int:
    """What Lucene's one byte keeps of a length (SmallFloat): above 24 plus 15, four significant bits."""
    rest = length - 24
    if rest < 16:
        return length
    shift = rest.bit_length() - 4
    return 24 + (rest >> shift << shift)


def texts(seed: int, longest: int, shared: bool) -> Texts:
    """Documents by docid and field; the fields share their words only if `shared`."""
    chance = random.Random(seed)

    def words(field: str) -> list[str]:
        own = WORDS if shared else [word for n, word in enumerate(WORDS) if n % 2 == (field == "title")]
        return chance.choices(own, k=chance.randint(1, longest))

    return {f"d{n}": {field: words(field) for field in FIELDS} for n in range(40)}


def robertson(
    documents: Texts, query: list[str], weights: dict[str, float], k1: float, b: float, *, lucene: bool
) -> dict[str, float]:
    """Score by Robertson, Zaragoza and Taylor (2004), section 3: weighted counts, lengths and their mean.

    Without `lucene` a term is counted in the documents that have it in any field, and lengths are exact. The
    idf is Lucene's, ln(1 + ...), in both.
    """
    lengths, counts = {}, {}
    for docid, fields in documents.items():
        keep = kept if lucene else int
        lengths[docid] = keep(round(sum(weights[name] * keep(len(fields[name])) for name in weights)))
        counts[docid] = {name: Counter(fields[name]) for name in weights}
    exact = [sum(weights[name] * len(fields[name]) for name in weights) for fields in documents.values()]
    mean = sum(exact) / len(documents)
    scores: dict[str, float] = {}
    for term in query:
        by_field = [{docid for docid in documents if counts[docid][name][term]} for name in weights]
        df = max(map(len, by_field)) if lucene else len(set.union(*by_field))
        idf = math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))
        for docid in documents:
            tf = sum(weights[name] * counts[docid][name][term] for name in weights)
            norm = k1 * ((1 - b) + b * lengths[docid] / mean)
            if tf:
                scores[docid] = scores.get(docid, 0.0) + tf * (k1 + 1) / (norm + tf) * idf
    return scores


def index_of(directory: Path, documents: Texts) -> Path:
    return build(
        directory,
        [
            Represented(docid, [Passage(".", {name: " ".join(words) for name, words in fields.items()})])
            for docid, fields in documents.items()
        ],
        store_docvectors=False,
        analyzer="whitespace",
    )


def bm25f(index: Path, query: list[str], weights: dict[str, float], k1: float, b: float) -> dict[str, float]:
    retriever = Retriever(analyzer="whitespace")
    with Searcher(index, retriever) as searcher:
        run = searcher.search([Topic("q", " ".join(query))], scoring=BM25F(weights, k1=k1, b=b))
    return {hit.docid: hit.score * (k1 + 1) for hit in run.rankings["q"]}


@pytest.mark.parametrize(
    ("title", "k1", "b"), [(1.0, 1.2, 0.75), (3.0, 1.5, 0.4), (2.0, 4.0, 1.0), (5.0, 0.7, 0.0)]
)
def test_bm25f_is_the_published_formula(title: float, k1: float, b: float, tmp_path: Path) -> None:
    """Where no length is rounded and no term stands in two fields, nothing but (k1 + 1) and idf differ."""
    documents = texts(1, 6, shared=False)
    weights = {"title": title, "notes": 1.0}
    query = ["index", "search", "lucene", "search"]
    found = bm25f(index_of(tmp_path / "index", documents), query, weights, k1, b)
    expected = robertson(documents, query, weights, k1, b, lucene=False)
    assert len(found) > 20
    assert found == pytest.approx(expected, rel=1e-5)


def test_bm25f_differs_from_the_formula_only_as_it_says(tmp_path: Path) -> None:
    """Lengths of one byte, and a term counted in the documents of one field."""
    documents = texts(2, 90, shared=True)
    weights = {"title": 3.0, "notes": 1.0}
    query = ["index", "search"]
    found = bm25f(index_of(tmp_path / "index", documents), query, weights, 1.2, 0.75)
    as_lucene = robertson(documents, query, weights, 1.2, 0.75, lucene=True)
    assert found == pytest.approx(as_lucene, rel=1e-5)
    assert found != pytest.approx(robertson(documents, query, weights, 1.2, 0.75, lucene=False), rel=1e-3)


def test_weights_below_1_mean_what_the_formula_says(tmp_path: Path) -> None:
    """Lucene refuses them; scaled, they need another k1."""
    documents = texts(3, 6, shared=False)
    weights = {"title": 0.75, "notes": 0.25}
    query = ["index", "search", "lucene"]
    found = bm25f(index_of(tmp_path / "index", documents), query, weights, 0.9, 0.5)
    scaled = robertson(documents, query, {"title": 3.0, "notes": 1.0}, 0.9 * 4, 0.5, lucene=False)
    assert found == pytest.approx({docid: score * 1.9 / 4.6 for docid, score in scaled.items()}, rel=1e-5)


def test_bm25f_of_one_field_is_bm25(tmp_path: Path) -> None:
    index = build(tmp_path / "index", collection(4, 100, 3))
    topics = [Topic(str(n), " ".join(random.Random(n).choices(WORDS, k=4))) for n in range(20)]
    with Searcher(index, Retriever()) as searcher:
        plain = searcher.search(topics, scoring=BM25(k1=0.9, b=0.4)).rankings
        assert searcher.search(topics, scoring=BM25F({"contents": 1}, k1=0.9, b=0.4)).rankings == plain
        assert searcher.search(topics, scoring=FieldSum({"contents": 1}, k1=0.9, b=0.4)).rankings == plain
        other = searcher.search(topics, scoring=BM25(k1=2.0, b=0.9)).rankings
        assert other != plain
        assert searcher.search(topics, scoring=BM25(k1=0.9, b=0.4)).rankings == plain


def test_the_retriever_is_the_scoring_where_none_is_given(tmp_path: Path) -> None:
    index = build(tmp_path / "index", collection(4, 100, 3))
    topics = [Topic("q", "index search")]
    with Searcher(index, Retriever(k1=0.9, b=0.4)) as searcher:
        assert searcher.search(topics) == searcher.search(topics, scoring=BM25(k1=0.9, b=0.4))


def test_a_field_of_weight_0_is_not_searched(tmp_path: Path) -> None:
    index = build(tmp_path / "index", collection(4, 100, 3))
    topics = [Topic("q", "index search")]
    with Searcher(index, Retriever()) as searcher:
        for kind in (BM25F, FieldSum):
            without = searcher.search(topics, scoring=kind({"title": 2.0}))
            assert searcher.search(topics, scoring=kind({"title": 2.0, "notes": 0.0})) == without
            assert searcher.search(topics, scoring=kind({"title": 2.0, "notes": 1.0})) != without


def test_pyserini_computes_the_same(tmp_path: Path) -> None:
    """Its `fields=`, RM3 and Rocchio; it rounds scores, so only documents and their order are compared."""
    chance = random.Random(8)
    words = WORDS + [f"word{number}" for number in range(200)]

    def text(most: int) -> str:
        return " ".join(chance.choices(words, k=chance.randint(1, most)))

    documents = [
        Represented(f"d{number}", [Passage(text(60), {"title": text(5), "notes": text(30)})])
        for number in range(300)
    ]
    index = build(tmp_path / "index", documents)
    topics = [Topic(str(number), text(5)) for number in range(20)]

    from pyserini.search.lucene import LuceneSearcher

    theirs = LuceneSearcher(str(index))
    theirs.set_bm25(1.5, 0.75)
    boosts = {"title": 2.0, "notes": 0.5}
    with Searcher(index, Retriever(depth=50)) as searcher:

        def compare(scoring: Scoring, **arguments: Any) -> None:
            run = searcher.search(topics, scoring=scoring)
            for topic in topics:
                hits = theirs.search(topic.text, k=50, **arguments)
                assert [hit.docid for hit in hits] == [hit.docid for hit in run.rankings[topic.qid]]
                for ours, other in zip(run.rankings[topic.qid], hits, strict=True):
                    assert ours.score == pytest.approx(other.score, abs=1e-3)

        compare(FieldSum(boosts), fields=boosts)
        theirs.set_rm3()
        compare(RM3())
        theirs.unset_rm3()
        theirs.set_rocchio()
        compare(Rocchio())


# What is refused.


@pytest.mark.parametrize("kind", [BM25F, FieldSum])
def test_an_unknown_field_is_named(kind: type, tmp_path: Path) -> None:
    index = build(tmp_path / "index", collection(4, 10, 1))
    with Searcher(index, Retriever()) as searcher:
        assert searcher.fields == ("contents", "notes", "title")
        for field in ("body", "id", "raw"):
            with pytest.raises(UnknownFieldError, match=f"no field '{field}'; it has contents, notes, title"):
                searcher.search([Topic("q", "index")], scoring=kind({"title": 1.0, field: 1.0}))
        assert searcher.search([Topic("q", "index")], scoring=kind({"title": 1.0, "body": 0.0})).rankings["q"]


@pytest.mark.parametrize("scoring", [RM3(), Rocchio()])
def test_feedback_needs_term_vectors(scoring: Scoring, tmp_path: Path) -> None:
    index = build(tmp_path / "index", collection(4, 10, 1), store_docvectors=False)
    with (
        Searcher(index, Retriever()) as searcher,
        pytest.raises(NoTermVectorsError, match="store_docvectors=True"),
    ):
        searcher.search([Topic("q", "index")], scoring=scoring)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BM25(k1=-0.1), "k1 is -0.1"),
        (lambda: BM25(k1=math.inf), "k1 is inf"),
        (lambda: BM25(b=1.1), "b is 1.1"),
        (lambda: RM3(b=math.nan), "b is nan"),
        (lambda: BM25F({}), "no field to search"),
        (lambda: BM25F({"title": 0.0}), "no field to search"),
        (lambda: BM25F({"title": -1.0}), "field 'title' is -1.0"),
        (lambda: FieldSum({"title": math.inf}), "field 'title' is inf"),
        (lambda: FieldSum({"title": 1.0}, b=-1.0), "b is -1"),
        (lambda: RM3(terms=0), "feedback of 0 terms"),
        (lambda: RM3(original_weight=1.5), "weight is 1.5"),
        (lambda: Rocchio(passages=0), "from 0 passages"),
        (lambda: Rocchio(beta=-1.0), "beta is -1.0"),
    ],
)
def test_values_that_mean_nothing_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@each_scoring
def test_a_scoring_is_read_back_as_what_it_was(scoring: Scoring) -> None:
    assert msgspec.json.decode(msgspec.json.encode(scoring), type=Scoring.__value__) == scoring
    assert f"k1={scoring.k1:g}" in scoring.describe()
