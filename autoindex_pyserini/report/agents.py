"""What the language model used, and what leaving a part of the search out costs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from rich.table import Table

from autoindex_pyserini.agents import AgentCost
from autoindex_pyserini.optimize import AblationRun, JournalEvent, Proposed


def agent_table(events: Iterable[JournalEvent]) -> Table | None:
    """Tokens, seconds and money per round and agent, and their sum; None where no model was asked."""
    rows = [
        (str(event.round), cost) for event in events if isinstance(event, Proposed) for cost in event.costs
    ]
    if not rows:
        return None
    table = Table(box=None, pad_edge=False)
    for name in ("round", "agent"):
        table.add_column(name)
    for name in ("calls", "tokens sent", "received", "seconds", "money"):
        table.add_column(name, justify="right")
    for number, cost in rows:
        _add(table, number, cost)
    _add(table, "all", total(cost for _, cost in rows))
    if any(cost.estimated for _, cost in rows):
        table.caption = "~ estimated: the endpoint did not say"
        table.caption_justify = "left"
    return table


def total(costs: Iterable[AgentCost]) -> AgentCost:
    """The sum of costs."""
    found = list(costs)
    return AgentCost(
        agent="",
        calls=sum(cost.calls for cost in found),
        prompt_tokens=sum(cost.prompt_tokens for cost in found),
        completion_tokens=sum(cost.completion_tokens for cost in found),
        estimated=any(cost.estimated for cost in found),
        seconds=sum(cost.seconds for cost in found),
        money=sum(cost.money for cost in found),
    )


def _add(table: Table, number: str, cost: AgentCost) -> None:
    mark = "~" if cost.estimated else ""
    table.add_row(
        number,
        cost.agent,
        str(cost.calls),
        f"{mark}{cost.prompt_tokens:,}",
        f"{mark}{cost.completion_tokens:,}",
        f"{cost.seconds:.1f}",
        f"{cost.money:.4f}" if cost.money else "-",
    )


def ablation_table(runs: Sequence[AblationRun]) -> Table:
    """One row a condition: mean and deviation of the relative change on test, and how many collections rose.

    The change is against the first program, full-text BM25, in per cent; runs whose baseline is 0 are left
    out of it and counted. A collection rose if the mean of its seeds did.
    """
    table = Table(box=None, pad_edge=False)
    table.add_column("condition")
    measures = list(runs[0].baseline)
    for name in measures:
        table.add_column(name, justify="right")
        table.add_column("rose", justify="right")
    table.add_column("runs", justify="right")
    skipped = 0
    for condition in dict.fromkeys(run.condition for run in runs):
        own = [run for run in runs if run.condition == condition]
        cells = []
        for name in measures:
            changes: dict[str, list[float]] = {}
            for run in own:
                if run.baseline[name]:
                    change = run.winner[name] / run.baseline[name] - 1
                    changes.setdefault(run.collection, []).append(change)
                else:
                    skipped += 1
            every = [change for some in changes.values() for change in some]
            deviation = f" ± {100 * statistics.stdev(every):.1f}" if len(every) > 1 else ""
            rose = sum(1 for some in changes.values() if statistics.fmean(some) > 0)
            cells.append(f"{100 * statistics.fmean(every):+.1f}%{deviation}" if every else "-")
            cells.append(f"{rose}/{len(changes)}")
        table.add_row(condition, *cells, str(len(own)))
    if skipped:
        table.caption = f"{skipped} values left out: their baseline is 0"
        table.caption_justify = "left"
    return table
