"""Join rankings of the same queries into one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from autoindex_pyserini.errors import EvaluationError
from autoindex_pyserini.types import Hit, Run


def reciprocal_rank_fusion(runs: Sequence[Run], k: float = 60, depth: int = 100, *, name: str = "rrf") -> Run:
    """Fuse runs by the sum of 1 / (k + rank) over those that rank a document (Cormack et al., SIGIR 2009).

    Ranks count from 1. Scores of the runs do not matter, so runs of different retrievers may be joined.

    Args:
        runs: one or more; each query of any of them is in the result.
        k: what is added to each rank, > 0; the larger, the less the first ranks stand out.
        depth: most documents of a query, >= 1.
        name: the tag of the new run.

    Returns:
        hits by (-score, docid), the score being the sum. The order of `runs` does not matter.

    Raises:
        EvaluationError: no run, k or depth out of range, or a document twice in one ranking.
    """
    if not runs:
        raise EvaluationError("no run to fuse; give at least one")
    if not k > 0 or depth < 1:
        raise EvaluationError(f"k is {k} and depth is {depth}; k must be above 0, and depth at least 1")
    shares: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for qid, hits in run.rankings.items():
            documents = shares.setdefault(qid, defaultdict(list))
            if len({hit.docid for hit in hits}) != len(hits):
                raise EvaluationError(f"query {qid!r} of run {run.name!r} ranks a document twice")
            for rank, hit in enumerate(hits, 1):
                documents[hit.docid].append(1 / (k + rank))
    return Run(name, {qid: _ranked(documents)[:depth] for qid, documents in shares.items()})


def _ranked(documents: dict[str, list[float]]) -> list[Hit]:
    # Sorted before they are added: floating-point sums must not depend on the order of the runs.
    hits = [Hit(docid, sum(sorted(shares))) for docid, shares in documents.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.docid))
