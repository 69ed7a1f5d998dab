"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from autoindex_pyserini.lucene import analyzer_config
from autoindex_pyserini.optimize import JournalEvent, RoundClosed, RunResult, Tried
from autoindex_pyserini.optimize.events import Proposed
from autoindex_pyserini.pipeline import Outcome
from autoindex_pyserini.settings import Settings


def results_table(rows: Sequence[tuple[str, Outcome]]) -> Table:
    """One row for each program on one split: measures, passages a document, index size, seconds."""
    table = Table(box=None, pad_edge=False)
    table.add_column("program")
    table.add_column("split")
    measures = list(rows[0][1].evaluation.means)
    for name in (*measures, "passages/doc", "index MB", "seconds"):
        table.add_column(name, justify="right")
    for label, outcome in rows:
        costs = outcome.costs
        table.add_row(
            label,
            outcome.split,
            *(f"{outcome.evaluation.means[name]:.4f}" for name in measures),
            f"{costs.passages / costs.documents:.2f}",
            f"{costs.index_bytes / 1e6:.1f}",
            f"{costs.index_seconds + costs.search_seconds:.1f}",
        )
    return table


def run_table(result: RunResult) -> Table:
    """A run's result: the first program and the learned one, on validation and test, with the gain."""
    validation, test = result.validation, result.test
    rows = [("full text", validation.baseline), ("learned", validation.winner)]
    rows += [("full text", test.baseline), ("learned", test.winner)]
    table = results_table(rows)
    before, after = test.baseline.evaluation.means, test.winner.evaluation.means
    table.add_row("gain", "test", *(gain(before[name], after[name]) for name in before))
    return table


def gain(before: float, after: float) -> str:
    """The relative change, in per cent."""
    return f"{(after - before) / before:+.1%}" if before else f"{after - before:+.4f}"


def journal_row(event: Tried) -> Text:
    """One line about one evaluated program."""
    line = Text(f"{_round(event.round)}{event.program}  ")
    if event.fault:
        return line.append(f"failed  {event.fault}", style="red")
    for name, mean in event.means.items():
        line.append(f"{name} {mean:.4f} ")
        if name in event.deltas:
            line.append(f"({event.deltas[name]:+.4f}) ", style="green" if event.deltas[name] > 0 else "")
    verdict = "" if event.kind == "start" else ("kept   " if event.accepted else "       ")
    what = "together: " if event.kind == "combination" else ""
    return line.append(f" {verdict}{what}", style="bold").append(event.hypothesis)


def event_lines(event: JournalEvent) -> list[Text]:
    """What one step of a search looks like to people; nothing for the steps that frame it."""
    if isinstance(event, Tried):
        return [journal_row(event)]
    if isinstance(event, RoundClosed):
        verb = "is the incumbent now" if event.improved else "stays the incumbent"
        return [Text(f"{_round(event.round)}{event.incumbent}  {verb}", style="bold")]
    if isinstance(event, Proposed):
        return [Text(f"{_round(event.round)}note: {note}", style="dim") for note in event.notes]
    return []


def _round(number: int) -> str:
    return f"{'round ' + str(number) if number else 'start':9}"


def describe_retriever(settings: Settings) -> str:
    """The retriever in one line, to stand beside every number."""
    retriever = settings.retriever
    analysis = analyzer_config(retriever.analyzer).describe()
    return f"BM25 k1={retriever.k1} b={retriever.b}; {analysis}; MaxP over {retriever.depth} documents"
