"""Tuning on landscapes whose best point is known, and on a real index against all settings there are."""

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autoindex_pyserini.collection import Split
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.evaluation import evaluate
from autoindex_pyserini.lucene import BM25, BM25F, FieldSum, IndexBuilder, IndexOptions, Searcher
from autoindex_pyserini.pipeline.tuning import Tuning, even_weights, tune
from autoindex_pyserini.settings import Retriever, Search
from autoindex_pyserini.types import Hit, Passage, Represented, Run, Topic

GOAL = Search(objective="RR", measures=("RR", "nDCG@10"))
SPLIT = Split("validation", (Topic("q", "text"), Topic("r", "text")), {"q": {"d": 1}, "r": {"d": 1}})


class Landscape:
    """Ranks the relevant document where a function of the scoring says, and counts how often it is asked."""

    def __init__(self, *ranks: Callable[[Any], int]) -> None:
        self.ranks, self.asked = ranks, 0

    def search(self, topics: tuple[Topic, ...], *, scoring: Any) -> Run:
        self.asked += 1
        rankings = {}
        for topic, rank in itertools.zip_longest(topics, self.ranks, fillvalue=self.ranks[0]):
            place = max(1, rank(scoring))
            docids = [f"x{n}" for n in range(1, place)] + ["d"]
            rankings[topic.qid] = [Hit(docid, 1000.0 - n) for n, docid in enumerate(docids)]
        return Run("run", rankings)


def distance(wanted: dict[str, float], scoring: Any, steps: tuple[float, ...]) -> int:
    values = {"k1": scoring.k1, "b": scoring.b} | getattr(scoring, "weights", {})
    ladder = [*steps]
    return sum(
        abs(ladder.index(values.get(name, 0.0)) - ladder.index(value)) for name, value in wanted.items()
    )


@pytest.mark.parametrize("kind", [BM25F, FieldSum])
@pytest.mark.parametrize("seed", range(4))
def test_a_single_hill_is_climbed(kind: type, seed: int) -> None:
    levels = (0.0, 0.25, 0.5, 0.75, 1.0)
    tuning = Tuning(k1=levels, weighted_k1=(), b=levels, weights=levels, searches=400, seed=seed)
    wanted = {"k1": 0.25, "b": 1.0, "title": 0.75, "text": 1.0, "notes": 0.25}
    land = Landscape(lambda scoring: 1 + distance(wanted, scoring, levels))
    start = kind({"title": 1.0, "text": 1.0, "notes": 1.0}, k1=1.0, b=0.5)
    found = tune(land, SPLIT, start, goal=GOAL, tuning=tuning)
    assert found.means["RR"] == 1.0
    assert found.scoring == kind({"notes": 0.25, "text": 1.0, "title": 0.75}, k1=0.25, b=1.0)
    assert found.trials[0].scoring == start
    assert found.searches == land.asked <= 400
    best = [trial.means["RR"] for trial in found.trials if trial.best]
    assert best == sorted(best)


def test_k1_and_b_are_tried_in_all_combinations() -> None:
    """Two hills, the higher one out of reach for steps that each help."""
    land = Landscape(lambda s: 1 if (s.k1, s.b) == (3.0, 0.0) else 2 + int(10 * abs(s.k1 - 1.2)))
    found = tune(land, SPLIT, BM25(k1=1.3, b=0.8), goal=GOAL)
    tuning = Tuning()
    assert found.scoring == BM25(3.0, 0.0)
    assert found.searches == land.asked == (len(tuning.k1) + 1) * (len(tuning.b) + 1)
    assert len({(trial.scoring.k1, trial.scoring.b) for trial in found.trials}) == found.searches


def test_where_all_combinations_are_too_many_k1_and_b_are_climbed() -> None:
    land = Landscape(lambda s: 1 + round(10 * abs(s.k1 - 0.4) + 10 * abs(s.b - 0.2)))
    found = tune(land, SPLIT, BM25(), goal=GOAL, tuning=Tuning(searches=60))
    assert found.scoring == BM25(0.4, 0.2)
    assert land.asked <= 60


@pytest.mark.parametrize("searches", [1, 2, 7, 30])
def test_no_more_searches_than_allowed(searches: int) -> None:
    chance = random.Random(0)
    land = Landscape(lambda s: chance.randint(1, 50))
    start = BM25F({"title": 1.0, "text": 1.0})
    found = tune(land, SPLIT, start, goal=GOAL, tuning=Tuning(searches=searches))
    assert found.searches == land.asked == searches
    assert found.means["RR"] == max(trial.means["RR"] for trial in found.trials)


def test_the_second_measure_decides_between_equals() -> None:
    """RR@1 is 0 everywhere but for one place; nDCG@10 leads there."""
    goal = Search(objective="RR@1", measures=("RR@1", "nDCG@10"))

    def ratio(s: Any) -> float:
        return s.weights.get("title", 0.01) / s.weights.get("text", 0.01)

    land = Landscape(lambda s: 1 + round(2 * abs(min(ratio(s), 20.0) - 4.0)))
    start = FieldSum({"title": 1.0, "text": 1.0})
    found = tune(land, SPLIT, start, goal=goal, tuning=Tuning(searches=40, restarts=0))
    assert found.means["RR@1"] == 1.0
    assert ratio(found.scoring) == 4.0


def test_between_equals_in_all_measures_the_simplest_is_taken() -> None:
    flat = Landscape(lambda s: 2)
    assert tune(flat, SPLIT, BM25(0.9, 0.4), goal=GOAL).scoring == BM25(0.9, 0.4)
    found = tune(flat, SPLIT, BM25F({"a": 1.0, "b": 1.0, "c": 1.0}, k1=0.9, b=0.4), goal=GOAL)
    assert len(found.scoring.weights) == 1
    assert (found.scoring.k1, found.scoring.b, *found.scoring.weights.values()) == (0.9, 0.4, 1.0)


def test_settings_that_rank_alike_are_searched_once() -> None:
    seen = set()

    def rank(s: Any) -> int:
        least = min(s.weights.values())
        key = (s.k1 / least, s.b, *sorted((name, weight / least) for name, weight in s.weights.items()))
        assert key not in seen
        return seen.add(key) or len(seen)

    topic = Split("validation", SPLIT.topics[:1], {"q": {"d": 1}})
    tune(Landscape(rank), topic, BM25F({"title": 1.0, "text": 1.0}), goal=GOAL)
    assert len(seen) > 20


def test_the_same_seed_takes_the_same_way() -> None:
    def found(seed: int) -> Any:
        land = Landscape(
            lambda s: int(97 * (s.k1 + 3 * s.b + sum(s.weights.values()))) % 41,
            lambda s: int(89 * (s.k1 + s.b) * s.weights.get("a", 0.3)) % 37,
        )
        start = BM25F({"a": 1.0, "b": 1.0, "c": 1.0})
        return tune(land, SPLIT, start, goal=GOAL, tuning=Tuning(seed=seed, searches=120))

    assert found(1) == found(1)
    assert found(1).trials != found(2).trials


def test_the_test_queries_are_refused() -> None:
    land = Landscape(lambda s: 1)
    with pytest.raises(InputError, match="not on 'test'"):
        tune(land, Split("test", SPLIT.topics, SPLIT.qrels), BM25(), goal=GOAL)
    with pytest.raises(InputError, match="0 searches"):
        tune(land, SPLIT, BM25(), goal=GOAL, tuning=Tuning(searches=0))
    assert land.asked == 0


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Topics are in the title of one document, and in the notes, again and again, of many others."""
    chance = random.Random(1)
    words = [f"w{n}" for n in range(30)]
    documents = []
    for n, word in enumerate(words):
        notes = " ".join(chance.choices(words, k=chance.randint(5, 60)))
        fields = {
            "title": f"{word} {chance.choice(words)}",
            "notes": f"{notes} {words[n - 1]} {words[n - 1]}",
        }
        documents.append(Represented(word, [Passage(f"{fields['title']} {fields['notes']}", fields)]))
    directory = tmp_path_factory.mktemp("tuning") / "index"
    with IndexBuilder(directory, IndexOptions(fields=("title", "notes"))) as builder:
        builder.add(documents)
    return directory


@pytest.fixture(scope="module")
def judged() -> Split:
    topics = tuple(Topic(f"q{n}", f"w{n} w{n + 1}") for n in range(0, 30, 2))
    return Split("validation", topics, {topic.qid: {topic.text.split()[0]: 1} for topic in topics})


def test_the_best_of_all_combinations_is_found_on_an_index(index: Path, judged: Split) -> None:
    tuning = Tuning(k1=(0.0, 0.5, 2.0), b=(0.0, 0.5, 1.0))
    with Searcher(index, Retriever(), threads=2) as searcher:
        found = tune(searcher, judged, BM25(0.5, 0.5), goal=GOAL, tuning=tuning)
        means = [
            evaluate(searcher.search(judged.topics, scoring=BM25(k1, b)), judged.qrels, ("RR",)).means["RR"]
            for k1, b in itertools.product(tuning.k1, tuning.b)
        ]
    assert found.means["RR"] == max(means) > min(means)
    assert found.searches == 9


@pytest.mark.parametrize("kind", [BM25F, FieldSum])
def test_the_field_that_tells_documents_apart_gets_the_weight(kind: type, index: Path, judged: Split) -> None:
    with Searcher(index, Retriever(), threads=2) as searcher:
        start = kind(even_weights(searcher))
        ticks: list[int] = []
        found = tune(searcher, judged, start, goal=GOAL, tuning=Tuning(searches=60), progress=ticks.append)
    assert start.weights == {"title": 1.0, "notes": 1.0}
    assert found.means["RR"] > found.trials[0].means["RR"]
    assert found.scoring.weights["title"] > found.scoring.weights.get("notes", 0.0)
    assert sum(ticks) == found.searches <= 60


def test_an_index_of_one_field_has_no_weights(tmp_path: Path) -> None:
    with IndexBuilder(tmp_path / "index", IndexOptions()) as builder:
        builder.add([Represented("d", [Passage("text")])])
    with (
        Searcher(tmp_path / "index", Retriever()) as searcher,
        pytest.raises(InputError, match="no field beside 'contents'"),
    ):
        even_weights(searcher)
