"""Which cases are chosen: kinds, grades, different queries first, the same each time."""

from __future__ import annotations

import random

from autoindex_pyserini.collection import Split
from autoindex_pyserini.optimize.cases import KINDS, Pair, choose
from autoindex_pyserini.pipeline import Costs, Outcome
from autoindex_pyserini.types import Evaluation, Qrels, Topic

COSTS = Costs(1, 1, 0, 0, 0, 0, 10, 0.1)


def split(qrels: Qrels) -> Split:
    return Split("validation", tuple(Topic(qid, f"text of {qid}") for qid in qrels), qrels)


def outcome(program: str, ranks: dict[str, dict[str, int]]) -> Outcome:
    return Outcome(program, "validation", Evaluation({}, {}), ranks, COSTS)


def test_every_kind_is_what_it_says() -> None:
    judged = split({"q": {"lost": 1, "never": 2, "close": 1, "first": 3, "bad": 0, "worse": -1}})
    before = outcome("a", {"q": {"lost": 40, "close": 1, "first": 2, "bad": 3}})
    after = outcome("b", {"q": {"close": 2, "first": 1, "bad": 5, "worse": 7}})
    assert choose(judged, before, after, count=5, seed=0) == [
        Pair("anchor", "q", "lost", None, 40),
        Pair("recall_violation", "q", "never", None, None),
        Pair("small_margin", "q", "close", 2, 1),
    ]


def test_the_first_program_has_no_anchors() -> None:
    judged = split({"q": {"a": 1, "b": 1}})
    same = outcome("a", {"q": {"a": 3}})
    assert [pair.kind for pair in choose(judged, same, same, count=5, seed=0)] == [
        "recall_violation",
        "small_margin",
    ]
    assert choose(judged, same, same, count=0, seed=0) == []


def many() -> tuple[Split, Outcome, Outcome]:
    """Twelve queries with twenty relevant documents each, ranked by chance."""
    chance = random.Random(3)
    qrels = {f"q{q}": {f"d{d}": 1 for d in range(20)} for q in range(12)}

    def ranks() -> dict[str, dict[str, int]]:
        return {
            q: {d: chance.randint(1, 9) for d in row if chance.random() < 0.5} for q, row in qrels.items()
        }

    return split(qrels), outcome("a", ranks()), outcome("b", ranks())


def test_so_many_of_each_kind_and_different_queries_first() -> None:
    chosen = choose(*many(), count=4, seed=0)
    assert [pair.kind for pair in chosen] == [kind for kind in KINDS for _ in range(4)]
    assert len({pair.qid for pair in chosen}) == 12
    assert len({(pair.qid, pair.docid) for pair in choose(*many(), count=9, seed=0)}) == 27


def test_the_choice_depends_on_the_seed_and_the_incumbent_alone() -> None:
    judged, before, after = many()
    again = choose(*many(), count=4, seed=0)
    assert again == choose(judged, before, after, count=4, seed=0)
    assert again != choose(judged, before, after, count=4, seed=1)
    other = outcome("c", after.ranks)
    assert again != choose(judged, before, other, count=4, seed=0)
