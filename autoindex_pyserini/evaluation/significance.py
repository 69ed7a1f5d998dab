"""What the queries can tell two rankings apart by: paired tests, bootstrap intervals, Holm's correction.

Everything here is over per-query values in one order of queries; `assessment` brings them into it. A test
asks whether the queries' differences could have come about by chance, had the two rankings been
interchangeable. numpy and scipy are imported where they are used: `scipy.stats` alone takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from autoindex_pyserini.errors import EvaluationError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    type Floats = npt.NDArray[np.float64]

TIE = 1e-9
"""Two values of a query that are no further apart are equal."""

_CELLS = 2_000_000  # numbers of a random matrix that are held at once: 16 MB
_BOOTSTRAP, _FLIPS = 0, 1  # streams of the seed: one may be drawn from more without changing the other


class Procedure(msgspec.Struct, frozen=True):
    """How differences are judged; with the values, it repeats every interval and every p.

    Attributes:
        resamples: of the queries, for a bootstrap interval.
        flips: random sign flips of a randomisation test (Smucker, Allan, Carterette, CIKM 2007: 100,000).
        exact_up_to: a test in which at most this many queries differ takes every choice of signs instead.
        confidence: of an interval, between 0 and 1.
        level: a corrected p below it is called significant, between 0 and 1.
        seed: of the resamples and the flips, >= 0.

    Raises:
        EvaluationError: a value out of its range.
    """

    resamples: int = 10_000
    flips: int = 100_000
    exact_up_to: int = 16
    confidence: float = 0.95
    level: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least, most in (
            ("resamples", 1, 10_000_000),
            ("flips", 1, 10_000_000),
            ("exact_up_to", 0, 20),
            ("seed", 0, 2**64),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise EvaluationError(f"{name}={value}: must be from {least} to {most}")
        for name in ("confidence", "level"):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise EvaluationError(f"{name}={value}: must lie between 0 and 1, such as 0.95 or 0.05")


class Interval(msgspec.Struct, frozen=True):
    """From low to high, both included."""

    low: float
    high: float


class Randomised(msgspec.Struct, frozen=True):
    """A randomisation test's answer.

    Attributes:
        p: two-sided; 1 where no query differs, never 0.
        exact: every sign flip was taken, so that p is exact; otherwise it is an estimate from random ones.
    """

    p: float
    exact: bool


def resampled_means(values: Floats, procedure: Procedure) -> Floats:
    """Means over queries that are drawn anew, with replacement.

    All rows are seen through the same draws. So the difference of two rows' resampled means is the resampled
    mean of their differences: what is made from this is paired over the queries.

    Args:
        values: float64 [rows, queries].
        procedure: says how many draws, and their seed.

    Returns:
        float64 [resamples, rows].
    """
    import numpy as np

    chance = np.random.default_rng([_BOOTSTRAP, procedure.seed])
    rows, queries = values.shape
    means = np.empty((procedure.resamples, rows))
    for start, many in _chunks(procedure.resamples, queries):
        drawn = chance.integers(0, queries, (many, queries)) + queries * np.arange(many)[:, None]
        times = np.bincount(drawn.ravel(), minlength=many * queries).reshape(many, queries)
        means[start : start + many] = times.astype(np.float64) @ values.T / queries
    return means


def percentile_interval(means: Floats, procedure: Procedure) -> Interval:
    """The percentile bootstrap interval of a mean, from its resamples (Efron and Tibshirani 1993, ch. 13).

    Percentile, and not BCa, which corrects for skew: where queries both win and lose, as they do between two
    rankings, its 95 per cent intervals hold the true difference more often (simulated, 60 per cent ties: 0.93
    against 0.92 of the time for 50 queries, 0.91 against 0.87 for 25). They are also never undefined, and
    negate when two rows are swapped. BCa is better where the few queries that differ all go one way (5 of 50:
    0.95 against 0.93). Both are too narrow for few queries.
    """
    import numpy as np

    tail = (1 - procedure.confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(low), float(high))


def randomisation_tests(differences: Floats, procedure: Procedure) -> list[Randomised]:
    """The paired randomisation test of a mean difference against zero, two-sided, for every row.

    Had the two rankings been interchangeable, each query's difference could as well have had the other sign.
    p is the share of sign flips under which the mean is at least as far from zero as it is (Fisher 1935;
    Smucker, Allan, Carterette, CIKM 2007). Queries that tie do not matter, so all flips are those of the
    queries that differ. Where these are too many, p is (1 + as far) / (1 + flips) of random flips, which
    counts the observation itself and so never claims too much (Phipson and Smyth 2010).

    Args:
        differences: float64 [rows, queries].
        procedure: up to how many differing queries to be exact, how many flips otherwise, and their seed.

    Returns:
        one answer for each row, in their order.
    """
    import numpy as np

    differences = np.where(np.abs(differences) <= TIE, 0.0, differences)
    observed = np.abs(differences.sum(axis=1))
    differing = (differences != 0).sum(axis=1)
    exact = differing <= procedure.exact_up_to
    p = np.ones(len(differences))
    for row in np.flatnonzero(exact & (differing > 0)):
        sums = _all_flips(differences[row][differences[row] != 0])
        p[row] = (np.abs(sums) >= observed[row] - TIE).mean()
    if not exact.all():
        far = _as_far(differences[~exact], observed[~exact], procedure)
        p[~exact] = (1 + far) / (1 + procedure.flips)
    return [Randomised(float(value), bool(whole)) for value, whole in zip(p, exact, strict=True)]


def _all_flips(differences: Floats) -> Floats:
    """The sums under every choice of signs."""
    import numpy as np

    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def _as_far(differences: Floats, observed: Floats, procedure: Procedure) -> Floats:
    """How many of the random flips take each row's sum at least as far from zero as it is."""
    import numpy as np

    chance = np.random.default_rng([_FLIPS, procedure.seed])
    queries = differences.shape[1]
    far = np.zeros(len(differences))
    for _, many in _chunks(procedure.flips, queries):
        bits = np.frombuffer(chance.bytes((many * queries + 7) // 8), np.uint8)
        signs = np.unpackbits(bits, count=many * queries).reshape(many, queries) * 2.0 - 1.0
        far += (np.abs(signs @ differences.T) >= observed - TIE).sum(axis=0)
    return far


def _chunks(total: int, width: int) -> list[tuple[int, int]]:
    """The start and the number of rows of each part of a matrix that is too big to be held at once."""
    step = max(1, _CELLS // width)
    return [(start, min(step, total - start)) for start in range(0, total, step)]


def paired_t_test(differences: Floats) -> float | None:
    """The two-sided p of Student's paired t-test, by scipy.

    Args:
        differences: float64 [queries].

    Returns:
        p; 1 where no query differs; None where there is no such test: a single query, or one and the same
        difference on all, which leaves nothing to estimate its variation from.
    """
    import numpy as np
    from scipy import stats

    if np.all(np.abs(differences) <= TIE):
        return 1.0
    if len(differences) < 2 or np.ptp(differences) <= TIE:
        return None
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction of a family of tests (Holm 1979): each p as its family lets it be read.

    Args:
        p_values: one for each test of the family; 1 for one that could not be made.

    Returns:
        in the same order, none below its p and none above 1.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    corrected = [1.0] * len(p_values)
    reached = 0.0
    for step, place in enumerate(order):
        reached = max(reached, min(1.0, (len(order) - step) * p_values[place]))
        corrected[place] = reached
    return corrected


def wins_ties_losses(differences: Floats) -> tuple[int, int, int]:
    """How many queries rose, stayed equal within `TIE`, and fell."""
    wins, losses = int((differences > TIE).sum()), int((differences < -TIE).sum())
    return wins, len(differences) - wins - losses, losses
