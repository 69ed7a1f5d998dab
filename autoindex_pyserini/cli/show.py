"""`autoindex show`: the history of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import out, print_json


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="A run directory.")],
    json: options.Json = False,
) -> None:
    """Show the history of a run, finished or not: every program tried, and how the objective rose."""
    from autoindex_pyserini.optimize import RunDirectory
    from autoindex_pyserini.report import (
        agent_table,
        describe_retriever,
        event_lines,
        history_plot,
        journal_summary,
    )

    directory, recorded = RunDirectory.open(run)
    events = directory.history(recorded)
    if json:
        print_json({"settings": recorded, "events": events})
        return
    out.print(f"{recorded.collection}; {describe_retriever(recorded.settings)}")
    for event in events:
        for line in event_lines(event):
            out.print(line)
    out.print(history_plot(events, recorded.settings.search.objective))
    out.print(journal_summary(events))
    if (used := agent_table(events)) is not None:
        out.print()
        out.print(used)
