"""Measures of a run, by ir_measures."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from autoindex_pyserini.errors import EvaluationError
from autoindex_pyserini.types import Evaluation, Qrels, Run


def check_measures(names: Sequence[str]) -> None:
    """Check that ir_measures knows every name and has a provider for it.

    Raises:
        EvaluationError: names the first that it does not know.
    """
    _parse(names)


def describe_measure(name: str) -> str:
    """What a measure is, in the words of ir_measures, on one line.

    Raises:
        EvaluationError: ir_measures does not know it.
    """
    measure = _parse([name])[name]
    about, _, _ = inspect.cleandoc(type(measure).__doc__ or "").partition("\n\n")
    return " ".join(about.split())


def evaluate(run: Run, qrels: Qrels, measures: Sequence[str]) -> Evaluation:
    """Score a run against judgments.

    Means are over every query of `qrels`, as in ir_measures and trec_eval: a query without hits counts as 0,
    and so does one without a relevant document. Queries of the run that have no judgments are left out. The
    counts say how many there were of each.

    Args:
        run: rankings; a docid stands once in a ranking and scores are finite.
        qrels: judgments.
        measures: names in ir_measures syntax, such as ``R@100`` and ``nDCG@10``.

    Raises:
        EvaluationError: an unknown measure, no judged query, a score that is not finite, or a docid twice in
            one ranking.
    """
    if not qrels:
        raise EvaluationError("no judged query to evaluate on; give a split with qrels")
    parsed = _parse(measures)
    import ir_measures

    per_query: dict[str, dict[str, float]] = {name: dict.fromkeys(qrels, 0.0) for name in measures}
    names = {measure: name for name, measure in parsed.items()}
    scored = [hit for hit in _scored_docs(run, qrels)]
    judged = [
        ir_measures.Qrel(qid, docid, grade)
        for qid, grades in qrels.items()
        for docid, grade in grades.items()
    ]
    for metric in ir_measures.iter_calc(list(names), judged, scored):
        per_query[names[metric.measure]][metric.query_id] = float(metric.value)
    means = {name: math.fsum(values.values()) / len(values) for name, values in per_query.items()}
    return Evaluation(means, per_query, _counts(run, qrels))


def _parse(names: Sequence[str]) -> dict[str, Any]:
    import ir_measures

    parsed: dict[str, Any] = {}
    for name in names:
        try:
            parsed[name] = _measure(name)
        except (KeyError, ValueError, SyntaxError, AttributeError, TypeError, AssertionError) as error:
            raise EvaluationError(
                f"unknown measure {name!r}; use ir_measures syntax, such as R@100, nDCG@10, RR@10 or AP"
            ) from error
        if not ir_measures.DefaultPipeline.supports(parsed[name]):
            raise EvaluationError(
                f"no installed provider computes {name!r}; see `pip show ir_measures` for its extras"
            )
        _try(name, parsed[name])
    return parsed


@cache
def _try(name: str, measure: Any) -> None:
    """Compute a measure once on next to nothing: some are accepted, and fail only when they are computed.

    Raises:
        EvaluationError: it fails.
    """
    import ir_measures

    judged, scored = [ir_measures.Qrel("q", "d", 1)], [ir_measures.ScoredDoc("q", "d", 1.0)]
    try:
        list(ir_measures.iter_calc([measure], judged, scored))
    except Exception as error:  # whatever a provider raises, it is this measure that cannot be had
        raise EvaluationError(
            f"{name!r} cannot be computed here ({type(error).__name__}); "
            "choose another measure, such as nDCG@10"
        ) from error


def _measure(name: str) -> Any:
    """The ir_measures object for ``Name``, ``Name@k`` or ``Name(parameter=value)@k``.

    ir_measures 0.4 has a parser of its own, which asks `ast` for classes that Python 3.14 no longer has.
    """
    import ir_measures

    node: ast.expr = ast.parse(name.strip(), mode="eval").body
    cutoff = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        cutoff, node = ast.literal_eval(node.right), node.left
    parameters = {}
    if isinstance(node, ast.Call) and not node.args:
        parameters = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
        node = node.func
    if not isinstance(node, ast.Name):
        raise ValueError(name)
    for value in (cutoff, parameters.get("cutoff")):
        if value is not None and (type(value) is not int or value < 1):
            raise ValueError(name)  # pytrec_eval would abort the process
    measure = ir_measures.measures.registry[node.id](**parameters)
    measure = measure if cutoff is None else measure @ cutoff
    measure.validate_params()
    return measure


def _scored_docs(run: Run, qrels: Qrels) -> Iterator[Any]:
    """The judged queries' hits. Scores become ranks, so that no tool re-orders ties its own way."""
    import ir_measures

    for qid in qrels:
        hits = run.rankings.get(qid, [])
        seen = {hit.docid for hit in hits}
        if len(seen) != len(hits):
            raise EvaluationError(f"query {qid!r} of run {run.name!r} ranks a document twice")
        for rank, hit in enumerate(hits):
            if not math.isfinite(hit.score):
                raise EvaluationError(
                    f"query {qid!r} of run {run.name!r} scores {hit.docid!r} as {hit.score}"
                )
            yield ir_measures.ScoredDoc(qid, hit.docid, float(len(hits) - rank))


def _counts(run: Run, qrels: Qrels) -> dict[str, int]:
    relevant = {qid: any(grade > 0 for grade in grades.values()) for qid, grades in qrels.items()}
    return {
        "queries": len(qrels),
        "without_hits": sum(not run.rankings.get(qid) for qid in qrels),
        "without_relevant": sum(not found for found in relevant.values()),
        "unjudged": sum(qid not in qrels for qid in run.rankings),
    }
