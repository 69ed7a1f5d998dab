"""When a candidate replaces the incumbent."""

from __future__ import annotations

from autoindex_pyserini.types import Evaluation


def accepts(candidate: Evaluation, incumbent: Evaluation, *, objective: str, threshold: float) -> bool:
    """Whether the objective's mean rises by at least `threshold` (AutoIndex, arXiv 2607.18603, section 3).

    Both evaluations are over the same queries.
    """
    return candidate.means[objective] - incumbent.means[objective] >= threshold
