"""Tests and intervals against scipy, by hand, and in simulations of what they promise."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from autoindex_pyserini.errors import EvaluationError
from autoindex_pyserini.evaluation.significance import (
    Interval,
    Procedure,
    Randomised,
    holm,
    paired_t_test,
    percentile_interval,
    randomisation_tests,
    resampled_means,
    wins_ties_losses,
)

# Halves and quarters, so that sums tie often and exactly.
COARSE = st.lists(st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=8)
FINE = st.lists(st.integers(-1000, 1000).map(lambda one: one / 1000), min_size=1, max_size=8)
PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def answer_to(differences: list[float], **settings: int) -> Randomised:
    (answer,) = randomisation_tests(np.array([differences]), Procedure(**settings))
    return answer


def gains(chance: np.random.Generator, queries: int) -> np.ndarray:
    """Differences of nDCG@10 as between two rankings: 60 per cent ties, gains more often than losses."""
    apart = chance.beta(0.6, 0.6, queries) - chance.beta(0.5, 0.7, queries)
    return np.where(chance.random(queries) < 0.6, 0.0, apart)


def interval_of(values: np.ndarray, procedure: Procedure) -> Interval:
    return percentile_interval(resampled_means(values[None, :], procedure)[:, 0], procedure)


def test_randomisation_by_hand() -> None:
    """Two of eight choices of signs, all plus and all minus, reach a sum of 6."""
    assert answer_to([1.0, 2.0, 3.0]) == Randomised(2 / 8, exact=True)
    assert answer_to([1.0, 2.0, -3.0]) == Randomised(1.0, exact=True)
    assert answer_to([1.0, 2.0, 0.0, 3.0, 1e-12]) == Randomised(2 / 8, exact=True)


@given(COARSE | FINE)
def test_the_exact_test_is_full_enumeration(differences: list[float]) -> None:
    """Of all queries, those that tie included."""
    seen = [0.0 if abs(one) <= 1e-9 else one for one in differences]
    far = [
        abs(math.fsum(sign * one for sign, one in zip(signs, seen, strict=True)))
        >= abs(math.fsum(seen)) - 1e-9
        for signs in itertools.product((1, -1), repeat=len(seen))
    ]
    answer = answer_to(differences)
    assert answer.exact
    assert answer.p == pytest.approx(sum(far) / len(far), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_exact_test_is_scipys(seed: int) -> None:
    chance = np.random.default_rng(seed)
    ours, theirs = chance.random(11), chance.random(11) * 0.8
    golden = stats.permutation_test(
        (ours, theirs),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert answer_to(list(ours - theirs)).p == pytest.approx(golden.pvalue)


@pytest.mark.parametrize("seed", range(5))
def test_random_flips_come_near_the_exact_test(seed: int) -> None:
    differences = list(np.random.default_rng(seed).normal(0.3, 1, 14))
    exact = answer_to(differences).p
    estimate = answer_to(differences, exact_up_to=0, flips=20_000, seed=seed)
    assert not estimate.exact
    assert abs(estimate.p - exact) < 4 * math.sqrt(exact * (1 - exact) / 20_000) + 1 / 20_000


def test_random_flips_count_the_observation_itself() -> None:
    """No flip of forty wins is as far from zero: p is one in a thousand, not 0."""
    assert answer_to([1.0] * 40, flips=999) == Randomised(1 / 1000, exact=False)


def test_flips_are_drawn_in_parts_as_a_whole() -> None:
    """A wide matrix is drawn in several parts; each counts."""
    differences = np.zeros((1, 30_000))
    differences[0, :20] = [1.0, -1.0] * 10
    (answer,) = randomisation_tests(differences, Procedure(flips=200))
    assert answer == Randomised(1.0, exact=False)


def test_rows_do_not_touch_each_other() -> None:
    chance = np.random.default_rng(1)
    rows = np.stack([gains(chance, 60), gains(chance, 60), np.zeros(60)])
    together = randomisation_tests(rows, Procedure(flips=500))
    assert together == [randomisation_tests(row[None, :], Procedure(flips=500))[0] for row in rows]
    assert together[2] == Randomised(1.0, exact=True)


def test_no_difference_is_found_as_often_as_promised() -> None:
    """Where rankings are interchangeable, p < 0.05 comes up in 5 per cent of the tests (400 of them here)."""
    chance = np.random.default_rng(7)
    rows = np.stack([gains(chance, 50) * chance.choice([-1, 1], 50) for _ in range(400)])
    found = np.mean([answer.p < 0.05 for answer in randomisation_tests(rows, Procedure(flips=2_000))])
    assert 0.025 < found < 0.08


@pytest.mark.parametrize("seed", range(5))
def test_the_t_test_is_scipys(seed: int) -> None:
    chance = np.random.default_rng(seed)
    ours, theirs = chance.random(20), chance.random(20)
    assert paired_t_test(ours - theirs) == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)


def test_the_t_test_by_hand() -> None:
    """Mean 0.5, standard error 0.5: t is 1 with one degree of freedom, whose p is exactly a half."""
    assert paired_t_test(np.array([0.0, 1.0])) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("differences", "p"), [([0.0, 0.0], 1.0), ([0.0], 1.0), ([0.5], None), ([0.5, 0.5, 0.5], None)]
)
def test_where_there_is_no_t_test(differences: list[float], p: float | None) -> None:
    assert paired_t_test(np.array(differences)) == p


def test_holm_by_hand() -> None:
    """R: p.adjust(c(0.04, 0.01, 0.03, 0.005), "holm") gives 0.06 0.03 0.06 0.02."""
    assert holm([0.04, 0.01, 0.03, 0.005]) == pytest.approx([0.06, 0.03, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


@given(PROBABILITIES)
def test_holm_raises_keeps_order_and_lies_below_bonferroni(p_values: list[float]) -> None:
    corrected = holm(p_values)
    for before, after in zip(p_values, corrected, strict=True):
        assert before <= after <= min(1.0, len(p_values) * before)
    by_p = sorted(zip(p_values, corrected, strict=True))
    assert [after for _, after in by_p] == sorted(corrected)
    assert min(corrected) == min(1.0, len(p_values) * min(p_values))


@given(PROBABILITIES, st.randoms(use_true_random=False))
def test_holm_knows_no_order(p_values: list[float], chance: object) -> None:
    order = list(range(len(p_values)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    corrected = holm(p_values)
    assert holm([p_values[place] for place in order]) == [corrected[place] for place in order]


def test_a_tie_is_within_a_billionth() -> None:
    assert wins_ties_losses(np.array([1e-8, 1e-9, 0.0, -1e-10, -1e-8, -1.0])) == (1, 3, 2)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_interval_is_scipys(confidence: float) -> None:
    """scipy draws other resamples: its bounds differ by their own noise."""
    values = gains(np.random.default_rng(2), 80)
    golden = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=20_000,
        confidence_level=confidence,
        method="percentile",
        rng=np.random.default_rng(3),
    ).confidence_interval
    ours = interval_of(values, Procedure(resamples=20_000, confidence=confidence))
    assert (ours.low, ours.high) == pytest.approx((golden.low, golden.high), abs=0.003)


def test_resamples_are_the_draws_there_are() -> None:
    """Three queries have ten multisets of draws; their means come up as often as they should."""
    means = resampled_means(np.array([[0.0, 1.0, 10.0]]), Procedure(resamples=27_000))[:, 0]
    drawn = [sum(draw) / 3 for draw in itertools.product((0.0, 1.0, 10.0), repeat=3)]
    for value in set(drawn):
        expected = 1000 * drawn.count(value)
        assert abs(np.isclose(means, value).sum() - expected) < 5 * math.sqrt(expected)


def test_resamples_are_paired_over_rows() -> None:
    chance = np.random.default_rng(4)
    rows = chance.random((2, 30))
    procedure = Procedure(resamples=50)
    apart = resampled_means(rows, procedure)
    assert apart[:, 1] - apart[:, 0] == pytest.approx(
        resampled_means((rows[1] - rows[0])[None, :], procedure)[:, 0]
    )


def test_resamples_drawn_in_parts_are_all_there() -> None:
    means = resampled_means(np.full((1, 30_000), 0.5), Procedure(resamples=150))
    assert means == pytest.approx(np.full((150, 1), 0.5))


@pytest.mark.parametrize(("confidence", "least", "most"), [(0.95, 0.92, 0.97), (0.5, 0.44, 0.56)])
def test_intervals_hold_the_truth_as_often_as_they_say(confidence: float, least: float, most: float) -> None:
    """Of 600 samples of 80 queries. Both distributions of `gains` have known means: 0.5 and 5/12."""
    truth = 0.4 * (0.5 - 5 / 12)
    chance, held = np.random.default_rng(11), 0
    for seed in range(600):
        procedure = Procedure(resamples=400, confidence=confidence, seed=seed)
        interval = interval_of(gains(chance, 80), procedure)
        held += interval.low <= truth <= interval.high
    assert least < held / 600 < most


def test_the_seed_decides() -> None:
    values = gains(np.random.default_rng(5), 60)
    one, same, other = (interval_of(values, Procedure(resamples=200, seed=seed)) for seed in (1, 1, 2))
    assert one == same != other
    one_p, same_p, other_p = (answer_to(list(values), flips=500, seed=seed).p for seed in (1, 1, 2))
    assert one_p == same_p != other_p


@pytest.mark.parametrize(
    "wrong",
    [
        {"resamples": 0},
        {"flips": -1},
        {"exact_up_to": 40},
        {"seed": -1},
        {"confidence": 1.0},
        {"level": 0.0},
        {"confidence": math.nan},
    ],
)
def test_a_procedure_that_makes_no_sense(wrong: dict[str, float]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(EvaluationError, match=f"{name}={value}: must"):
        Procedure(**wrong)  # type: ignore[arg-type]
