"""What came of a program that was tried by hand, as text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from autoindex_pyserini.agents.briefing import change_text, scores_text
from autoindex_pyserini.optimize.session import Attempt, QueryShift

_QUERY_CHARS = 100
_MOST_RANKS = 5


def attempt_text(attempt: Attempt, objective: str, *, most: int = 10) -> str:
    """What came of an attempt: verdict, measures, the queries that it fixed and broke, the incumbent.

    Args:
        attempt: what was tried.
        objective: the measure that decided.
        most: most queries that are listed of either kind; the largest changes come first.
    """
    trial, incumbent = attempt.trial, attempt.incumbent
    when = f"was tried in round {trial.round}" if trial.round else "is the first program"
    again = "; it is not evaluated again" if attempt.again else ""
    lines = [f"{trial.program.id} {when}{again}"]
    if trial.fault:
        lines.append(f"failed: {trial.fault}")
    else:
        against = f", against {trial.parent}" if trial.parent else ""
        verdict = "accepted" if trial.accepted else "not accepted"
        lines.append(f"{verdict}{against}: {change_text(trial)}")
        lines += _shift_lines("fixed", attempt.fixed, objective, most)
        lines += _shift_lines("broken", attempt.broken, objective, most)
    lines += ["", f"incumbent: {incumbent.program.id}, {scores_text(incumbent)}"]
    return "\n".join(lines)


def _shift_lines(label: str, shifts: Sequence[QueryShift], objective: str, most: int) -> list[str]:
    if not shifts or not most:
        return []
    lines = ["", f"{label}:"]
    for shift in shifts[:most]:
        ranks = "; ".join(
            f"{old or 'not found'} -> {new or 'not found'}" for old, new in shift.ranks[:_MOST_RANKS]
        )
        more = f"; {len(shift.ranks) - _MOST_RANKS} more" if len(shift.ranks) > _MOST_RANKS else ""
        lines += [
            f"  {textwrap.shorten(shift.query, _QUERY_CHARS, placeholder=' ...')!r}",
            f"    {objective} {shift.before:.4f} -> {shift.after:.4f}; ranks of relevant documents: "
            f"{ranks}{more}",
        ]
    if len(shifts) > most:
        lines.append(f"  and {len(shifts) - most} more")
    return lines
