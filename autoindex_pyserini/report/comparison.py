"""A comparison as a table: for the terminal, and as CSV, LaTeX and Markdown.

The plain table has one line for each row: its means, how they differ from the reference's, and what it is.
With `details` it has one for each measure and row, with intervals, tests, wins and costs. CSV has all there
is, unrounded.
"""

from __future__ import annotations

import csv
import io

import msgspec
from rich.table import Table

from autoindex_pyserini.evaluation.assessment import Assessment, Standing
from autoindex_pyserini.evaluation.rows import Comparison, ComparisonRow, RowCosts
from autoindex_pyserini.evaluation.significance import Interval
from autoindex_pyserini.report.grid import MARK, NONE, Grid, latex_table, markdown_table, terminal_table


def comparison_table(comparison: Comparison, assessment: Assessment, *, details: bool = False) -> Table:
    """The table for the terminal, with its caption."""
    return terminal_table(_grid(comparison, assessment, details))


def comparison_markdown(comparison: Comparison, assessment: Assessment, *, details: bool = False) -> str:
    """The table in Markdown, with its caption."""
    return markdown_table(_grid(comparison, assessment, details))


def comparison_latex(comparison: Comparison, assessment: Assessment, *, details: bool = False) -> str:
    """The table in LaTeX, with its caption; see `latex_table`."""
    return latex_table(_grid(comparison, assessment, details))


def comparison_csv(comparison: Comparison, assessment: Assessment) -> str:
    """One line for each measure and row, numbers in full; an empty cell where there is none.

    p values are given as the tests give them and, in columns that end in ``_holm``, corrected.
    """
    file = io.StringIO()
    records = [_record(comparison, assessment, standing) for standing in assessment.standings]
    writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return file.getvalue()


def comparison_caption(comparison: Comparison, assessment: Assessment, *, details: bool = False) -> list[str]:
    """What the numbers are and how they were tested, one sentence an item."""
    procedure, reference, family = assessment.procedure, assessment.reference, assessment.family
    queries = f"{assessment.queries:,} queries" if assessment.queries > 1 else "1 query"
    sentences = [f"{comparison.collection}, {comparison.split} split: means over {queries}."]
    if family:
        corrected = f"Holm-corrected over {family} rows for each measure"
        sentences.append(
            f"{MARK} differs from {reference} (p < {procedure.level:g}): two-sided paired randomisation "
            f"test, {_flips(assessment)}, {corrected if family > 1 else 'uncorrected: one row is compared'}."
        )
    if details:
        sentences.append(
            f"Intervals: {100 * procedure.confidence:g}% percentile bootstrap over queries, "
            f"{procedure.resamples:,} resamples, seed {procedure.seed}."
        )
    if details and family:
        sentences.append(
            "p: of that test; p(t): of the paired t-test; both Holm-corrected. "
            f"w/t/l: queries better than, equal to (within 1e-9) and worse than {reference}."
        )
    if details and comparison.seeds:
        sentences.append(
            f"Other seeds: {', '.join(f'{name} {seed}' for name, seed in comparison.seeds.items())}."
        )
    return [*sentences, *assessment.notes]


def describe_row(row: ComparisonRow) -> str:
    """What a row is, in one line, to stand beside its numbers: retriever, parameters, encoder, analyzer."""
    settings = (f"{name}={_value(value)}" for name, value in row.parameters.items())
    parts = (" ".join([row.retriever, *settings]).strip(), row.encoder, row.analyzer)
    return "; ".join(part for part in parts if part)


def _grid(comparison: Comparison, assessment: Assessment, details: bool) -> Grid:
    return _details(comparison, assessment) if details else _plain(comparison, assessment)


def _plain(comparison: Comparison, assessment: Assessment) -> Grid:
    """One line a row."""
    measured = [(measure, "change") for measure in comparison.measures]
    heads = ("row", *(head for pair in measured for head in pair), "retriever")
    lines = []
    for row in comparison.rows:
        own = [one for one in assessment.standings if one.row == row.name]
        cells = (cell for one in own for cell in (_mean(assessment, one), _change(one)))
        lines.append((row.name, *cells, describe_row(row)))
    numbers = tuple(0 < place < len(heads) - 1 for place in range(len(heads)))
    return Grid(heads, numbers, [lines], comparison_caption(comparison, assessment))


def _details(comparison: Comparison, assessment: Assessment) -> Grid:
    """One line a measure and row, measure by measure."""
    about = ("measure", "row")
    numbers = ("mean", "interval", "change", "interval", "relative", "p", "p(t)", "w/t/l")
    costs = ("passages/doc", "index MB", "seconds")
    groups = [
        [
            (
                measure,
                one.row,
                *_numbers(assessment, one),
                *_costs(comparison.row(one.row).costs),
                comparison.row(one.row).program or NONE,
                describe_row(comparison.row(one.row)),
            )
            for one in assessment.standings
            if one.measure == measure
        ]
        for measure in comparison.measures
    ]
    caption = comparison_caption(comparison, assessment, details=True)
    heads = (*about, *numbers, *costs, "program", "retriever")
    return Grid(heads, tuple(head in numbers + costs for head in heads), groups, caption)


def _numbers(assessment: Assessment, one: Standing) -> tuple[str, ...]:
    """A row's statistics on one measure."""
    found = one.difference
    mean = (_mean(assessment, one), _interval(one.interval, ".4f"))
    if found is None:
        return (*mean, _change(one), *[NONE] * 5)
    relative = NONE if found.relative is None else f"{found.relative:+.1%}"
    counts = f"{found.wins}/{found.ties}/{found.losses}"
    tests = (_p(found.p_holm), _p(found.t_p_holm))
    return (*mean, _change(one), _interval(found.interval, "+.4f"), relative, *tests, counts)


def _costs(costs: RowCosts) -> tuple[str, ...]:
    passages, size, seconds = costs.passages_per_document, costs.index_bytes, _seconds(costs)
    return (
        NONE if passages is None else f"{passages:.2f}",
        NONE if size is None else f"{size / 1e6:.1f}",
        NONE if seconds is None else f"{seconds:.1f}",
    )


def _seconds(costs: RowCosts) -> float | None:
    """Those of indexing and searching together; None where neither was measured."""
    known = [one for one in (costs.index_seconds, costs.search_seconds) if one is not None]
    return sum(known) if known else None


def _record(comparison: Comparison, assessment: Assessment, one: Standing) -> dict[str, object]:
    """One line of the CSV. Column names are those of the structs."""
    row, found = comparison.row(one.row), one.difference
    own = found.interval if found else None
    record: dict[str, object] = {
        "collection": comparison.collection,
        "split": comparison.split,
        "queries": assessment.queries,
        "measure": one.measure,
        "row": one.row,
        "reference": assessment.reference,
        "mean": one.mean,
        "mean_low": one.interval.low if one.interval else None,
        "mean_high": one.interval.high if one.interval else None,
        "difference": found.absolute if found else None,
        "difference_low": own.low if own else None,
        "difference_high": own.high if own else None,
    }
    for name in ("relative", "p", "p_holm", "exact", "t_p", "t_p_holm", "wins", "ties", "losses"):
        record[name] = getattr(found, name) if found else None
    record["family"] = assessment.family
    for name in ("program", "retriever", "analyzer", "encoder", "run_file"):
        record[name] = getattr(row, name)
    record["parameters"] = " ".join(f"{name}={value}" for name, value in row.parameters.items())
    return record | msgspec.structs.asdict(row.costs) | msgspec.structs.asdict(assessment.procedure)


def _mean(assessment: Assessment, one: Standing) -> str:
    """The mean, and a mark if it differs; without one, a blank, so that the digits stand below each other."""
    return f"{one.mean:.4f}{MARK if assessment.significant(one) else ' '}"


def _change(one: Standing) -> str:
    return f"{one.difference.absolute:+.4f}" if one.difference else "reference"


def _interval(interval: Interval | None, form: str) -> str:
    return f"[{interval.low:{form}}, {interval.high:{form}}]" if interval else NONE


def _p(p: float | None) -> str:
    if p is None:
        return NONE
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"


def _value(value: str | int | float | bool) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _flips(assessment: Assessment) -> str:
    """Which sign flips the tests took."""
    procedure = assessment.procedure
    exact = {one.difference.exact for one in assessment.standings if one.difference}
    chance = f"{procedure.flips:,} random sign flips, seed {procedure.seed}"
    if exact == {True}:
        return "exact (all sign flips)"
    return (
        chance
        if exact == {False}
        else f"{chance} (all of them where {procedure.exact_up_to} or fewer queries differ)"
    )
