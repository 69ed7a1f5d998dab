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
    from autoindex_pyserini.optimize import RunDirectory, Tried, read_events
    from autoindex_pyserini.report import describe_retriever, history_plot, journal_row, journal_summary

    _, recorded = RunDirectory.open(run)
    events = read_events(run)
    if json:
        print_json({"settings": recorded, "events": events})
        return
    search = recorded.settings.search
    out.print(f"{recorded.collection}; {describe_retriever(recorded.settings)}")
    for event in events:
        if isinstance(event, Tried):
            out.print(journal_row(event, search.measures))
    out.print(history_plot(events, search.objective))
    out.print(journal_summary(events))
