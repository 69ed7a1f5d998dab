"""What changed between two evaluations of the same queries."""

from __future__ import annotations

import msgspec

from autoindex_pyserini.errors import EvaluationError
from autoindex_pyserini.types import Evaluation


class QueryChange(msgspec.Struct, frozen=True):
    """One query's values before and after."""

    qid: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


class MeasureChange(msgspec.Struct, frozen=True):
    """A measure's change over the queries.

    Attributes:
        measure: its ir_measures name.
        change: of the mean.
        fixed: queries that rose, the largest rise first, then by qid.
        broken: queries that fell, the largest fall first, then by qid.
    """

    measure: str
    change: float
    fixed: tuple[QueryChange, ...]
    broken: tuple[QueryChange, ...]


def compare(before: Evaluation, after: Evaluation, measure: str) -> MeasureChange:
    """Compare two evaluations on one measure.

    Raises:
        EvaluationError: they are not over the same queries.
    """
    old, new = before.per_query[measure], after.per_query[measure]
    if old.keys() != new.keys():
        raise EvaluationError(f"{measure}: the two evaluations are over different queries")
    changes = [QueryChange(qid, old[qid], new[qid]) for qid in old]
    return MeasureChange(
        measure,
        after.means[measure] - before.means[measure],
        tuple(sorted((c for c in changes if c.change > 0), key=lambda c: (-c.change, c.qid))),
        tuple(sorted((c for c in changes if c.change < 0), key=lambda c: (c.change, c.qid))),
    )
