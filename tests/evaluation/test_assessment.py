"""Every row beside the reference: what must hold of the numbers, whatever the values."""

import math
import random
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from autoindex_pyserini.evaluation.assessment import Assessment, Difference, Standing, assess
from autoindex_pyserini.evaluation.rows import Comparison, ComparisonRow
from autoindex_pyserini.evaluation.significance import Interval, Procedure
from autoindex_pyserini.types import Evaluation

QUICK = Procedure(resamples=200, flips=300, exact_up_to=6)
VALUES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])


def row(name: str, values: Sequence[float], qids: Sequence[str] = (), relevant: int = 0) -> ComparisonRow:
    qids = qids or [f"q{number}" for number in range(len(values))]
    means = {"R@100": math.fsum(values) / len(values)}
    counts = {"queries": len(values), "without_relevant": relevant}
    return ComparisonRow(
        name=name, evaluation=Evaluation(means, {"R@100": dict(zip(qids, values, strict=True))}, counts)
    )


def compared(*rows: ComparisonRow, reference: str = "a", procedure: Procedure = QUICK) -> Assessment:
    return assess(
        Comparison(
            collection="c",
            split="test",
            queries=len(rows[0].evaluation.per_query["R@100"]),
            reference=reference,
            measures=("R@100",),
            rows=rows,
            procedure=procedure,
        )
    )


def difference(assessment: Assessment, name: str) -> Difference:
    (found,) = [one.difference for one in assessment.standings if one.row == name]
    assert found is not None
    return found


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    size = draw(st.integers(1, 12))
    lists = st.lists(VALUES, min_size=size, max_size=size)
    return draw(lists), draw(lists)


def test_by_hand() -> None:
    """Differences 1, 0.5, 0, -0.25: of eight choices of signs, four reach a sum of 1.25."""
    assessment = compared(row("a", [0.0, 0.5, 1.0, 0.5]), row("b", [1.0, 1.0, 1.0, 0.25]))
    reference, other = assessment.standings
    assert (reference.mean, reference.difference) == (0.5, None)
    assert other.mean == 0.8125
    found = difference(assessment, "b")
    assert (found.absolute, found.relative) == (0.3125, 0.625)
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)
    assert (found.p, found.p_holm, found.exact) == (4 / 8, 4 / 8, True)
    assert found.t_p == pytest.approx(stats.ttest_rel([1.0, 1.0, 1.0, 0.25], [0.0, 0.5, 1.0, 0.5]).pvalue)
    assert assessment.family == 1


def test_corrected_over_rows_within_a_measure() -> None:
    """Eight, seven and six wins of eight queries: exact p 2/256, 2/128, 2/64; times 3, 2 and 1."""
    zeros = [0.0] * 8
    rows = [row(f"{wins} wins", [1.0] * wins + [0.0] * (8 - wins)) for wins in (6, 8, 7)]
    assessment = compared(row("a", zeros), *rows, procedure=msgspec.structs.replace(QUICK, exact_up_to=8))
    found = {name: difference(assessment, f"{name} wins") for name in (6, 7, 8)}
    assert [found[wins].p for wins in (8, 7, 6)] == [2 / 256, 2 / 128, 2 / 64]
    assert [found[wins].p_holm for wins in (8, 7, 6)] == [6 / 256, 4 / 128, 2 / 64]
    assert assessment.family == 3
    assert [assessment.significant(one) for one in assessment.standings] == [False, True, True, True]
    stricter = msgspec.structs.replace(QUICK, exact_up_to=8, level=0.03)
    assessment = compared(row("a", zeros), *rows, procedure=stricter)
    assert [one.row for one in assessment.standings if assessment.significant(one)] == ["8 wins"]


def test_measures_are_corrected_apart() -> None:
    def both(name: str, first: list[float], second: list[float]) -> ComparisonRow:
        one, two = row(name, first).evaluation, row(name, second).evaluation
        return ComparisonRow(
            name=name,
            evaluation=Evaluation(
                {"R@100": one.means["R@100"], "AP": two.means["R@100"]},
                {"R@100": one.per_query["R@100"], "AP": two.per_query["R@100"]},
            ),
        )

    comparison = Comparison(
        collection="c",
        split="test",
        queries=6,
        reference="a",
        measures=("R@100", "AP"),
        rows=(both("a", [0.0] * 6, [0.5] * 6), both("b", [1.0] * 6, [0.5] * 5 + [0.25])),
        procedure=QUICK,
    )
    standings = assess(comparison).standings
    assert [(one.measure, one.row) for one in standings] == [
        ("R@100", "a"),
        ("R@100", "b"),
        ("AP", "a"),
        ("AP", "b"),
    ]
    assert [one.difference.p_holm for one in standings if one.difference] == [2 / 64, 1.0]
    assert [one.mean for one in standings] == [0.0, 1.0, 0.5, 2.75 / 6]


@given(pairs(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_queries_changes_nothing(
    values: tuple[list[float], list[float]], chance: random.Random
) -> None:
    qids = [f"q{number}" for number in range(len(values[0]))]
    order = list(range(len(qids)))
    chance.shuffle(order)
    shuffled = row("b", [values[1][place] for place in order], [qids[place] for place in order])
    assert compared(row("a", values[0]), row("b", values[1])) == compared(row("a", values[0]), shuffled)


@given(pairs())
@settings(max_examples=40, deadline=None)
def test_swapped_rows_negate_differences(values: tuple[list[float], list[float]]) -> None:
    rows = row("a", values[0]), row("b", values[1])
    there = difference(compared(*rows), "b")
    back = difference(compared(*rows, reference="b"), "a")
    assert back.absolute == -there.absolute
    assert (back.wins, back.ties, back.losses) == (there.losses, there.ties, there.wins)
    assert (back.p, back.p_holm, back.exact) == (there.p, there.p_holm, there.exact)
    assert back.t_p == pytest.approx(there.t_p)
    if len(values[0]) > 1:
        assert there.interval is not None
        assert back.interval is not None
        assert (back.interval.low, back.interval.high) == pytest.approx(
            (-there.interval.high, -there.interval.low), abs=1e-12
        )


@given(st.lists(pairs(), min_size=2, max_size=4))
@settings(max_examples=25, deadline=None)
def test_nothing_is_out_of_bounds(several: list[tuple[list[float], list[float]]]) -> None:
    size = min(len(values) for pair in several for values in pair)
    rows = [row(f"r{number}", pair[0][:size]) for number, pair in enumerate(several)]
    assessment = compared(*rows, reference="r0")
    for one in assessment.standings:
        assert (one.interval is None) == (size == 1)
        if one.interval:
            assert 0 <= one.interval.low <= one.interval.high <= 1
        found = one.difference
        if found is None:
            assert one.row == "r0"
            continue
        assert 0 < found.p <= found.p_holm <= 1
        assert found.wins + found.ties + found.losses == size
        assert (found.t_p is None) == (found.t_p_holm is None)
        if found.t_p is not None and found.t_p_holm is not None:
            assert 0 <= found.t_p <= found.t_p_holm <= 1


def test_rows_that_are_alike() -> None:
    values = [0.1 * (number % 7) for number in range(60)]
    assessment = compared(row("a", values), row("b", values))
    found = difference(assessment, "b")
    assert found == Difference(
        absolute=0.0,
        relative=0.0,
        interval=Interval(0.0, 0.0),
        p=1.0,
        p_holm=1.0,
        exact=True,
        t_p=1.0,
        t_p_holm=1.0,
        wins=0,
        ties=60,
        losses=0,
    )
    assert assessment.notes == ("No row differs from a on any query in R@100.",)


def test_a_single_query() -> None:
    assessment = compared(row("a", [0.2]), row("b", [1.0]))
    found = difference(assessment, "b")
    assert (found.p, found.t_p, found.t_p_holm, found.interval) == (1.0, None, None, None)
    assert (found.absolute, found.wins) == (0.8, 1)
    assert assessment.notes[0].startswith("A single query: there is no interval and no t-test")


def test_a_t_test_that_cannot_be_made_counts_in_the_family() -> None:
    """Row b's differences do not vary; c's p is doubled all the same."""
    base, spread = [0.0, 0.0, 0.0, 0.0], [0.1, 0.2, 0.3, 0.5]
    assessment = compared(row("a", base), row("b", [0.5] * 4), row("c", spread))
    assert difference(assessment, "b").t_p is difference(assessment, "b").t_p_holm is None
    golden = stats.ttest_rel(spread, base).pvalue
    assert difference(assessment, "c").t_p_holm == pytest.approx(2 * golden)


def test_no_relative_difference_from_nothing() -> None:
    assert difference(compared(row("a", [0.0, 0.0]), row("b", [0.0, 1.0])), "b").relative is None


def test_a_reference_alone() -> None:
    assessment = compared(row("a", [0.0, 1.0] * 40))
    (only,) = assessment.standings
    assert (only.row, only.mean, only.difference) == ("a", 0.5, None)
    assert (assessment.family, assessment.notes) == (0, ())


def test_few_queries_and_hopeless_ones_are_told() -> None:
    assessment = compared(row("a", [0.0, 1.0, 0.5], relevant=1), row("b", [0.0, 0.0, 0.5], relevant=1))
    assert assessment.notes == (
        "3 queries are few: the intervals are too narrow.",
        "1 of the queries have no relevant document and count as 0 in every row.",
    )


def test_the_interval_of_the_difference_is_paired() -> None:
    """Two rows that move together: their difference is known much better than either mean."""
    chance = np.random.default_rng(0)
    base = chance.random(80) * 0.9
    assessment = compared(row("a", list(base)), row("b", list(base + 0.05 + chance.normal(0, 0.01, 80))))
    found = difference(assessment, "b")
    assert found.interval is not None
    mean: Standing = assessment.standings[1]
    assert mean.interval is not None
    assert found.interval.low > 0.04
    assert found.interval.high - found.interval.low < (mean.interval.high - mean.interval.low) / 10
