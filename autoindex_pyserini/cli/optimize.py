"""`autoindex optimize` and `autoindex demo`: search for a better program."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, err, out, print_json
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.settings import Retriever, Search

if TYPE_CHECKING:
    from autoindex_pyserini.collection import Collection
    from autoindex_pyserini.optimize import JournalEvent, RunResult, RunSettings
    from autoindex_pyserini.settings import Settings

DEMO = "pydata-api"
_DEFAULTS = Search()

Rounds = Annotated[int, typer.Option(help="Rounds of proposals.")]
Candidates = Annotated[int, typer.Option(help="Proposals a round.")]
Seed = Annotated[int, typer.Option(help="Seeds every choice of the proposer.")]
Objective = Annotated[str, typer.Option(help="The measure that decides, an ir_measures name.")]


def demo(
    out_dir: Annotated[
        Path | None, typer.Option("--out", metavar="RUN_DIR", help="The run directory; must not exist.")
    ] = None,
    rounds: Rounds = _DEFAULTS.rounds,
    candidates: Candidates = _DEFAULTS.candidates,
    seed: Seed = _DEFAULTS.seed,
    workers: options.Workers = 0,
    json: options.Json = False,
) -> None:
    """Learn a representation of the Python data libraries' documentation, and show what it brings."""
    directory = out_dir or Path("runs") / f"demo-{time.strftime('%Y%m%d-%H%M%S')}"
    optimize(DEMO, directory, rounds=rounds, candidates=candidates, seed=seed, workers=workers, json=json)


def optimize(
    collection: options.CollectionArgument,
    out_dir: Annotated[Path, typer.Option("--out", metavar="RUN_DIR", help="The run directory.")],
    rounds: Rounds = _DEFAULTS.rounds,
    candidates: Candidates = _DEFAULTS.candidates,
    seed: Seed = _DEFAULTS.seed,
    objective: Objective = _DEFAULTS.objective,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with this run directory.")] = False,
    validation: options.Validation = None,
    k1: options.K1 = options.K1_DEFAULT,
    b: options.B = options.B_DEFAULT,
    analyzer: options.Analyzer = options.ANALYZER_DEFAULT,
    workers: options.Workers = 0,
    sandbox: options.Sandbox = options.SANDBOX_DEFAULT,
    json: options.Json = False,
) -> None:
    """Search for a representation that raises the objective, test it once, and build its index."""
    import msgspec

    from autoindex_pyserini.collection import load
    from autoindex_pyserini.optimize import (
        RunDirectory,
        RunSettings,
        StopRequestedError,
        check_settings,
        run,
    )
    from autoindex_pyserini.report import describe_retriever

    measures = tuple(dict.fromkeys((objective, *_DEFAULTS.measures)))
    search = Search(rounds=rounds, candidates=candidates, seed=seed, objective=objective, measures=measures)
    settings = options.make_settings(
        k1=k1, b=b, analyzer=analyzer, workers=workers, sandbox=sandbox, search=search
    )
    if resume:
        directory, recorded = RunDirectory.open(out_dir)
        _check_same(collection, settings, recorded)
        settings = msgspec.structs.replace(recorded.settings, execution=settings.execution)
        collection, validation = recorded.collection, recorded.validation or None
    check_settings(settings)
    with bars() as progress:
        loaded = load(collection, validation=validation, progress=progress)
        if not resume:
            where = str(Path(collection).resolve()) if Path(collection).is_dir() else collection
            directory = RunDirectory.create(
                out_dir, RunSettings(where, settings, validation=validation or "")
            )
        if not json:
            splits = f"{len(loaded.validation.topics):,} validation queries"
            out.print(f"{loaded.name}: {loaded.num_documents:,} documents, {splits}; run in {out_dir}")
            out.print(describe_retriever(settings))
        with _graceful_stop() as should_stop:
            try:
                result = run(
                    loaded,
                    settings,
                    directory,
                    progress=progress,
                    listener=_quiet if json else _printer(settings),
                    should_stop=should_stop,
                )
            except (StopRequestedError, KeyboardInterrupt):
                err.print(f"stopped; go on with: autoindex optimize {collection} --out {out_dir} --resume")
                sys.exit(130)
    if json:
        print_json(result)
        return
    _show(loaded, result)


def _check_same(collection: str, settings: Settings, recorded: RunSettings) -> None:
    """Refuse to resume a run with another collection, or with knobs given that it was not started with."""
    if collection != recorded.collection and str(Path(collection).resolve()) != recorded.collection:
        raise InputError(f"the run to resume is over {recorded.collection}, not {collection}; name that")
    parts = (
        (settings.search, recorded.settings.search, Search()),
        (settings.retriever, recorded.settings.retriever, Retriever()),
    )
    for given, was, default in parts:
        for name in given.__struct_fields__:
            value = getattr(given, name)
            if value not in (getattr(was, name), getattr(default, name)):
                raise InputError(
                    f"the run to resume has {name} {getattr(was, name)}, not {value}; leave the option out"
                )


def _quiet(event: JournalEvent) -> None:
    """Print nothing."""


def _printer(settings: Settings) -> Callable[[JournalEvent], None]:
    """A listener that prints a line for every evaluated program."""
    from autoindex_pyserini.optimize import Selected, Tried
    from autoindex_pyserini.report import journal_row

    def listen(event: JournalEvent) -> None:
        if isinstance(event, Tried):
            out.print(journal_row(event, settings.search.measures))
        elif isinstance(event, Selected):
            out.print(f"selected {event.program}: {event.reason}; the test queries are opened now, once")

    return listen


def _show(collection: Collection, result: RunResult) -> None:
    """Print the result: table, program, examples, index."""
    from autoindex_pyserini.report import examples, run_table

    out.print()
    out.print(run_table(result))
    out.print(f"\nlearned program ({result.directory / 'best.py'}):\n")
    out.print(result.winner.source.rstrip(), markup=False)
    split = collection.open_test()
    fixed, broken = examples(split.topics, split.qrels, result.test.baseline, result.test.winner)
    for label, rows in (("fixed", fixed), ("broke", broken)):
        out.print(f"\n{label}:" if rows else f"\n{label}: no test query")
        for row in rows:
            ranks = f"{row.before or 'not found'} -> {row.after or 'not found'}"
            out.print(f"  {row.query!r}\n    {row.docid}: rank {ranks}", markup=False)
    out.print(f"\nindex: {result.index}")


@contextmanager
def _graceful_stop() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C asks to stop after the present candidate, the second stops now."""
    asked = False

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        err.print("stopping after this candidate; press Ctrl-C again to stop now")

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
