import pytest
from hypothesis import given
from hypothesis import strategies as some

from autoindex_pyserini.errors import EvaluationError
from autoindex_pyserini.evaluation import reciprocal_rank_fusion
from autoindex_pyserini.types import Hit, Run


def run(*docids: str, qid: str = "q") -> Run:
    return Run("r", {qid: [Hit(docid, 1.0 - place / 100) for place, docid in enumerate(docids)]})


ranking = some.lists(some.sampled_from("abcdefghijklmnop"), unique=True)
rankings = some.lists(some.tuples(some.sampled_from(["q1", "q2"]), ranking), min_size=1, max_size=5)


@given(rankings, some.integers(1, 1000), some.integers(1, 20), some.randoms())
def test_the_score_is_the_sum_of_reciprocal_ranks_in_whatever_order(
    given_runs: list[tuple[str, list[str]]], k: int, depth: int, chance: object
) -> None:
    runs = [run(*docids, qid=qid) for qid, docids in given_runs]
    fused = reciprocal_rank_fusion(runs, k, depth)
    assert set(fused.rankings) == {qid for qid, _ in given_runs}
    for qid, hits in fused.rankings.items():
        own = [docids for other, docids in given_runs if other == qid]
        expected = {
            docid: sum(1 / (k + docids.index(docid) + 1) for docids in own if docid in docids)
            for docid in set().union(*own)
        }
        assert len(hits) == min(depth, len(expected))
        assert {hit.docid: pytest.approx(hit.score) for hit in hits}.items() <= expected.items()
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.docid))
        left_out = set(expected) - {hit.docid for hit in hits}
        assert all(expected[docid] <= hits[-1].score * (1 + 1e-12) for docid in left_out)
    chance.shuffle(runs)  # type: ignore[attr-defined]
    assert reciprocal_rank_fusion(runs, k, depth) == fused


@given(ranking)
def test_one_run_alone_keeps_its_order(docids: list[str]) -> None:
    fused = reciprocal_rank_fusion([run(*docids)])
    assert [hit.docid for hit in fused.rankings["q"]] == docids


def test_golden_scores() -> None:
    fused = reciprocal_rank_fusion([run("a", "b"), run("b", "c")])
    assert [(hit.docid, round(hit.score, 9)) for hit in fused.rankings["q"]] == [
        ("b", round(1 / 62 + 1 / 61, 9)),
        ("a", round(1 / 61, 9)),
        ("c", round(1 / 62, 9)),
    ]


@pytest.mark.parametrize(("runs", "k", "depth"), [([], 60, 10), ([run("a")], 0, 10), ([run("a")], 60, 0)])
def test_what_cannot_be_fused_is_refused(runs: list[Run], k: int, depth: int) -> None:
    with pytest.raises(EvaluationError):
        reciprocal_rank_fusion(runs, k, depth)


def test_a_document_twice_is_named() -> None:
    with pytest.raises(EvaluationError, match="'q'"):
        reciprocal_rank_fusion([run("a", "a")])
