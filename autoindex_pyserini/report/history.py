"""A run's history: the objective over the trials, and where the run stands."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from autoindex_pyserini.agents.by_hand import NAME as BY_HAND
from autoindex_pyserini.optimize import Finished, JournalEvent, Selected, Started, Tested, Tried

_HEIGHT = 8


def history_plot(events: Sequence[JournalEvent], objective: str) -> Text:
    """A plot of characters: ``.`` for every trial's objective, ``o`` for the incumbent after it.

    Trials stand from left to right in the order of evaluation; a failed trial is an ``x`` on the base line.
    """
    trials = [event for event in events if isinstance(event, Tried)]
    values = [trial.means.get(objective) for trial in trials]
    known = [value for value in values if value is not None]
    if not known:
        return Text("no program was evaluated yet")
    low, high = min(known), max(known)

    def row_of(value: float) -> int:
        return round((value - low) / (high - low) * (_HEIGHT - 1)) if high > low else 0

    grid = [[" "] * len(trials) for _ in range(_HEIGHT)]
    best = float("-inf")
    for column, (trial, value) in enumerate(zip(trials, values, strict=True)):
        if value is None:
            grid[0][column] = "x"
            continue
        grid[row_of(value)][column] = "."
        if trial.accepted:
            best = max(best, value)
        if best > float("-inf"):
            grid[row_of(best)][column] = "o"
    lines = []
    for number in reversed(range(_HEIGHT)):
        label = low + (high - low) * number / (_HEIGHT - 1)
        lines.append(f"{label:8.4f} |{' '.join(grid[number])}")
    lines.append(
        f"{'':8} +{'-' * (2 * len(trials) - 1)}  {objective}, trials in order; o best so far, x failed"
    )
    return Text("\n".join(lines))


def journal_summary(events: Sequence[JournalEvent]) -> str:
    """One line: what was selected and what the test said, or that the run has not ended."""
    selected = next((event for event in events if isinstance(event, Selected)), None)
    tested = next((event for event in events if isinstance(event, Tested)), None)
    trials = [event for event in events if isinstance(event, Tried)]
    counts = f"{len(trials)} programs tried, {sum(bool(trial.fault) for trial in trials)} failed"
    by_hand = any(isinstance(event, Started) and event.proposer == BY_HAND for event in events)
    if selected is None:
        goes_on = "autoindex try ..." if by_hand else "autoindex optimize ... --resume"
        return f"{counts}; the search has not ended: go on with `{goes_on}`"
    line = f"{counts}; selected {selected.program} ({selected.reason})"
    if tested is not None:
        scores = (
            f"{name} {tested.baseline[name]:.4f} -> {tested.winner[name]:.4f}" for name in tested.winner
        )
        line += f"; test, {tested.queries} queries: {', '.join(scores)}"
    if not any(isinstance(event, Finished) for event in events):
        goes_on = "autoindex finish ..." if by_hand else "autoindex optimize ... --resume"
        line += f"; not finished: go on with `{goes_on}`"
    return line
