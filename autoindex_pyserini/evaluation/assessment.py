"""What may be concluded from a comparison: each row beside the reference, measure by measure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from autoindex_pyserini.evaluation.rows import Comparison
from autoindex_pyserini.evaluation.significance import (
    Interval,
    Procedure,
    holm,
    paired_t_test,
    percentile_interval,
    randomisation_tests,
    resampled_means,
    wins_ties_losses,
)

if TYPE_CHECKING:
    from autoindex_pyserini.evaluation.significance import Floats

_FEW = 50  # queries; the percentile interval of fewer was too narrow by more than 0.02 in simulations


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A row minus the reference, on one measure.

    Attributes:
        absolute: of the means.
        relative: divided by the reference's mean; None where that is 0.
        interval: bootstrap interval of the difference; None for a single query.
        p: of the paired randomisation test, two-sided.
        p_holm: the same, corrected for all rows that are compared on this measure.
        exact: the randomisation test took every sign flip.
        t_p: of the paired t-test, two-sided; None where there is no such test (see `paired_t_test`).
        t_p_holm: the same, corrected.
        wins: queries on which the row is better.
        ties: queries on which both are equal, within 1e-9.
        losses: queries on which the row is worse.
    """

    absolute: float
    relative: float | None
    interval: Interval | None
    p: float
    p_holm: float
    exact: bool
    t_p: float | None
    t_p_holm: float | None
    wins: int
    ties: int
    losses: int


class Standing(msgspec.Struct, frozen=True):
    """One row on one measure.

    Attributes:
        row: its name.
        measure: ir_measures name.
        mean: over the queries.
        interval: bootstrap interval of the mean; None for a single query.
        difference: from the reference; None for the reference itself.
    """

    row: str
    measure: str
    mean: float
    interval: Interval | None
    difference: Difference | None


class Assessment(msgspec.Struct, frozen=True):
    """The statistics of a comparison.

    Attributes:
        procedure: how they were made.
        reference: the row that the others are compared with.
        queries: number of queries.
        family: how many rows each correction covers: all but the reference.
        standings: by measure, then by row, each in the comparison's order.
        notes: what a reader has to know about these numbers, one sentence each.
    """

    procedure: Procedure
    reference: str
    queries: int
    family: int
    standings: tuple[Standing, ...]
    notes: tuple[str, ...]

    def significant(self, standing: Standing) -> bool:
        """Whether the corrected p of the randomisation test is below the level; never for the reference."""
        return standing.difference is not None and standing.difference.p_holm < self.procedure.level


def assess(comparison: Comparison) -> Assessment:
    """Set every row beside the reference.

    The order of queries in the rows does not matter. Rows and measures see the same resamples and sign flips.
    """
    import numpy as np

    qids = sorted(comparison.rows[0].evaluation.per_query[comparison.measures[0]])
    values = np.array(
        [
            [row.evaluation.per_query[measure][qid] for qid in qids]
            for measure in comparison.measures
            for row in comparison.rows
        ]
    )
    resampled = resampled_means(values, comparison.procedure)
    many = len(comparison.rows)
    standings: list[Standing] = []
    for place, measure in enumerate(comparison.measures):
        block = slice(place * many, (place + 1) * many)
        standings += _standings(comparison, measure, values[block], resampled[:, block])
    return Assessment(
        comparison.procedure,
        comparison.reference,
        len(qids),
        many - 1,
        tuple(standings),
        tuple(_notes(comparison, standings)),
    )


def _standings(comparison: Comparison, measure: str, values: Floats, resampled: Floats) -> list[Standing]:
    """All rows on one measure; values are [rows, queries], resampled means [resamples, rows]."""
    procedure, names = comparison.procedure, [row.name for row in comparison.rows]
    base = names.index(comparison.reference)
    others = [place for place in range(len(names)) if place != base]
    tests = dict(zip(others, randomisation_tests((values - values[base])[others], procedure), strict=True))
    t_tests = {place: paired_t_test(values[place] - values[base]) for place in others}
    corrected = dict(zip(others, holm([test.p for test in tests.values()]), strict=True))
    t_corrected = dict(zip(others, holm([1.0 if p is None else p for p in t_tests.values()]), strict=True))

    def mean(of: Floats) -> float:
        return math.fsum(of) / len(of)

    def interval(means: Floats) -> Interval | None:
        return percentile_interval(means, procedure) if values.shape[1] > 1 else None

    def difference(place: int) -> Difference:
        each = values[place] - values[base]
        wins, ties, losses = wins_ties_losses(each)
        return Difference(
            absolute=mean(each),
            relative=mean(each) / mean(values[base]) if mean(values[base]) else None,
            interval=interval(resampled[:, place] - resampled[:, base]),
            p=tests[place].p,
            p_holm=corrected[place],
            exact=tests[place].exact,
            t_p=t_tests[place],
            t_p_holm=None if t_tests[place] is None else t_corrected[place],
            wins=wins,
            ties=ties,
            losses=losses,
        )

    return [
        Standing(
            name,
            measure,
            mean(values[place]),
            interval(resampled[:, place]),
            None if place == base else difference(place),
        )
        for place, name in enumerate(names)
    ]


def _notes(comparison: Comparison, standings: list[Standing]) -> Iterator[str]:
    if comparison.queries == 1:
        yield "A single query: there is no interval and no t-test, and nothing can be significant."
    elif comparison.queries < _FEW:
        yield f"{comparison.queries} queries are few: the intervals are too narrow."
    empty = max(row.evaluation.counts.get("without_relevant", 0) for row in comparison.rows)
    if empty:
        yield f"{empty} of the queries have no relevant document and count as 0 in every row."
    for measure in comparison.measures:
        compared = [one.difference for one in standings if one.measure == measure and one.difference]
        if compared and all(one.wins == one.losses == 0 for one in compared):
            yield f"No row differs from {comparison.reference} on any query in {measure}."
