"""Golden values by hand and by trec_eval's definitions; one row against pytrec_eval itself."""

import math
import random

import pytest

from autoindex_pyserini.errors import EvaluationError
from autoindex_pyserini.evaluation import accepts, check_measures, compare, evaluate
from autoindex_pyserini.types import Evaluation, Hit, Qrels, Run

MEASURES = ("R@100", "nDCG@10")


def run(**rankings: list[str]) -> Run:
    return Run(
        "t",
        {
            qid: [Hit(docid, 1.0 / rank) for rank, docid in enumerate(docids, 1)]
            for qid, docids in rankings.items()
        },
    )


def test_values_by_hand() -> None:
    qrels: Qrels = {"q": {"a": 2, "b": 1, "x": 0}}
    evaluation = evaluate(run(q=["x", "b", "a"]), qrels, MEASURES)
    ideal = 2 / math.log2(2) + 1 / math.log2(3)
    assert evaluation.per_query["R@100"]["q"] == 1.0
    assert evaluation.per_query["nDCG@10"]["q"] == pytest.approx(
        (1 / math.log2(3) + 2 / math.log2(4)) / ideal
    )


def test_what_is_missing_counts_as_zero_and_is_counted() -> None:
    qrels: Qrels = {"hit": {"a": 1}, "silent": {"a": 1}, "absent": {"a": 1}, "hopeless": {"a": 0}}
    evaluation = evaluate(run(hit=["a"], silent=[], hopeless=["a"], stranger=["a"]), qrels, MEASURES)
    assert evaluation.means["R@100"] == pytest.approx(1 / 4)
    assert evaluation.per_query["nDCG@10"] == {"hit": 1.0, "silent": 0.0, "absent": 0.0, "hopeless": 0.0}
    assert evaluation.counts == {"queries": 4, "without_hits": 2, "without_relevant": 1, "unjudged": 1}


def test_the_order_of_tied_scores_is_ours_not_trec_evals() -> None:
    """trec_eval would put the later docid first."""
    tied = Run("t", {"q": [Hit("a", 1.0), Hit("b", 1.0)]})
    assert evaluate(tied, {"q": {"a": 1}}, ["RR"]).means["RR"] == 1.0


def test_equal_to_pytrec_eval() -> None:
    import pytrec_eval

    chance = random.Random(5)
    docids = [f"d{n}" for n in range(300)]
    qrels = {
        f"q{n}": {docid: chance.choice([0, 1, 2, 3]) for docid in chance.sample(docids, 40)}
        for n in range(20)
    }
    ours = Run(
        "t", {qid: [Hit(d, 300.0 - i) for i, d in enumerate(chance.sample(docids, 100))] for qid in qrels}
    )
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recall.100", "ndcg_cut.10"}).evaluate(
        {qid: {hit.docid: hit.score for hit in hits} for qid, hits in ours.rankings.items()}
    )
    evaluation = evaluate(ours, qrels, MEASURES)
    for qid in qrels:
        assert evaluation.per_query["R@100"][qid] == pytest.approx(theirs[qid]["recall_100"])
        assert evaluation.per_query["nDCG@10"][qid] == pytest.approx(theirs[qid]["ndcg_cut_10"])


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_scores_that_are_not_finite_are_refused(score: float) -> None:
    with pytest.raises(EvaluationError, match=r"query 'q' of run 't' scores 'a'"):
        evaluate(Run("t", {"q": [Hit("a", score)]}), {"q": {"a": 1}}, MEASURES)


def test_a_document_twice_in_a_ranking_is_refused() -> None:
    with pytest.raises(EvaluationError, match="ranks a document twice"):
        evaluate(run(q=["a", "a"]), {"q": {"a": 1}}, MEASURES)


def test_nothing_to_evaluate_on() -> None:
    with pytest.raises(EvaluationError, match="no judged query"):
        evaluate(run(q=["a"]), {}, MEASURES)


@pytest.mark.parametrize(
    "name",
    [
        "Recal",
        "nDCG@",
        "nDCG(gains=open)@10",
        "nDCG@10@5",
        "R(100)",
        "nDCG@0",
        "R@-1",
        "R@True",
        "nDCG(cutoff=0)",
        "R@x",
        "__import__('os')",
        "",
    ],
)
def test_an_unknown_measure_is_named(name: str) -> None:
    with pytest.raises(EvaluationError, match="unknown measure"):
        check_measures([name])


def evaluation(**values: float) -> Evaluation:
    return Evaluation({"R@100": sum(values.values()) / len(values)}, {"R@100": dict(values)})


def test_comparison_orders_by_size_then_qid() -> None:
    change = compare(
        evaluation(a=0.0, b=1.0, c=0.5, d=0.2, e=0.5), evaluation(a=1.0, b=0.0, c=1.0, d=0.2, e=1.0), "R@100"
    )
    assert [query.qid for query in change.fixed] == ["a", "c", "e"]
    assert [query.qid for query in change.broken] == ["b"]
    assert change.change == pytest.approx(0.2)


def test_comparison_needs_the_same_queries() -> None:
    with pytest.raises(EvaluationError, match="different queries"):
        compare(evaluation(a=1.0), evaluation(b=1.0), "R@100")


@pytest.mark.parametrize(
    ("gain", "kept"), [(1e-5, True), (2e-5, True), (9e-6, False), (0.0, False), (-1.0, False)]
)
def test_acceptance_is_at_the_threshold(gain: float, kept: bool) -> None:
    assert accepts(evaluation(a=gain), evaluation(a=0.0), objective="R@100", threshold=1e-5) is kept


def test_names_are_read_as_ir_measures_writes_them() -> None:
    from ir_measures import AP, RR, P, R, nDCG

    from autoindex_pyserini.evaluation.measures import _measure

    for measure in (R @ 100, nDCG @ 10, AP, RR @ 10, P(rel=2) @ 5, nDCG(dcg="exp-log2") @ 10, AP(rel=2)):
        assert _measure(str(measure)) == measure
