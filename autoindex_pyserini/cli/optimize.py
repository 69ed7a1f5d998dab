"""`autoindex optimize` and `autoindex demo`: search for a better program."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from autoindex_pyserini.cli import model_options as llm
from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, err, out, print_json
from autoindex_pyserini.errors import EnvironmentProblemError, IndexLossError, InputError, LuceneError
from autoindex_pyserini.settings import Endpoint, Model, Retriever, Search

if TYPE_CHECKING:
    from autoindex_pyserini.collection import Collection
    from autoindex_pyserini.optimize import JournalEvent, RunResult, RunSettings
    from autoindex_pyserini.settings import Settings

DEMO = "pydata-api"


def demo(
    out_dir: Annotated[
        Path | None, typer.Option("--out", metavar="RUN_DIR", help="The run directory; must not exist.")
    ] = None,
    rounds: llm.Rounds = llm.ROUNDS,
    candidates: llm.Candidates = llm.CANDIDATES,
    seed: llm.Seed = llm.SEED,
    workers: options.Workers = 0,
    json: options.Json = False,
) -> None:
    """Learn a representation of the Python data libraries' documentation, and show what it brings."""
    directory = out_dir or Path("runs") / f"demo-{time.strftime('%Y%m%d-%H%M%S')}"
    optimize(DEMO, directory, rounds=rounds, candidates=candidates, seed=seed, workers=workers, json=json)


def optimize(
    collection: options.CollectionArgument,
    out_dir: Annotated[Path, typer.Option("--out", metavar="RUN_DIR", help="The run directory.")],
    rounds: llm.Rounds = llm.ROUNDS,
    candidates: llm.Candidates = llm.CANDIDATES,
    seed: llm.Seed = llm.SEED,
    objective: llm.Objective = llm.OBJECTIVE,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with this run directory.")] = False,
    validation: options.Validation = None,
    threshold: llm.Threshold = llm.THRESHOLD,
    proposer: llm.Proposer = llm.PROPOSER,
    model: llm.ModelName = "",
    base_url: llm.BaseUrl = "",
    temperature: llm.Temperature = llm.TEMPERATURE,
    tool_turns: llm.ToolTurns = llm.TOOL_TURNS,
    completion_tokens: llm.CompletionTokens = llm.COMPLETION_TOKENS,
    no_history: Annotated[
        bool, typer.Option("--no-history", help="llm: tell nothing of earlier tries.")
    ] = False,
    no_analysis: Annotated[bool, typer.Option("--no-analysis", help="llm: no Analysis Agent.")] = False,
    one_shot: Annotated[
        bool, typer.Option("--one-shot", help="llm: one reply, no analysis, no repair, no synthesis.")
    ] = False,
    timeout: llm.Timeout = llm.TIMEOUT,
    price_in: llm.PriceIn = 0.0,
    price_out: llm.PriceOut = 0.0,
    max_tokens: llm.MaxTokens = llm.MAX_TOKENS,
    max_money: llm.MaxMoney = 0.0,
    max_seconds: llm.MaxSeconds = 0.0,
    replay: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN_DIR", help="llm: repeat this run with its recorded replies, without a model."
        ),
    ] = None,
    k1: options.K1 = options.K1_DEFAULT,
    b: options.B = options.B_DEFAULT,
    analyzer: options.Analyzer = options.ANALYZER_DEFAULT,
    workers: options.Workers = 0,
    sandbox: options.Sandbox = options.SANDBOX_DEFAULT,
    json: options.Json = False,
) -> None:
    """Search for a representation that raises the objective, test it once, and build its index."""
    from autoindex_pyserini.agents import ProposerError
    from autoindex_pyserini.collection import load
    from autoindex_pyserini.optimize import (
        RunDirectory,
        RunSettings,
        StopRequestedError,
        check_settings,
        run,
    )
    from autoindex_pyserini.optimize.proposers import by_hand_error
    from autoindex_pyserini.report import describe_retriever

    if not resume:
        RunDirectory.check_unused(out_dir)
    settings = llm.search_settings(
        options.make_settings(k1=k1, b=b, analyzer=analyzer, workers=workers, sandbox=sandbox),
        search=Search(
            rounds=rounds,
            candidates=candidates,
            seed=seed,
            objective=objective,
            threshold=threshold,
            proposer=proposer,
            analysis=not no_analysis,
            history=not no_history,
        ),
        model=Model(model, temperature, completion_tokens, tool_turns),
        endpoint=Endpoint(base_url, timeout, price_in, price_out, max_tokens, max_money, max_seconds),
        one_shot=one_shot,
    )
    if resume or replay:
        known, recorded = RunDirectory.open(out_dir if resume or replay is None else replay)
        _check_same(collection, settings, recorded)
        known.check(recorded)
        settings = msgspec.structs.replace(
            recorded.settings,
            execution=settings.execution,
            endpoint=_given_or(settings.endpoint, recorded.settings.endpoint),
        )
        collection, validation = recorded.collection, recorded.validation or None
        if resume:
            directory = known
            replay = Path(recorded.replay) if recorded.replay else None
    check_settings(settings)
    if settings.search.proposer == "hand":
        raise by_hand_error(out_dir)
    with bars() as progress:
        loaded = load(collection, validation=validation, progress=progress)
        options.warn(loaded.report)
        if not resume:
            where = options.absolute(collection)
            source = str(replay.resolve()) if replay else ""
            directory = RunDirectory.create(
                out_dir, RunSettings(where, settings, validation=validation or "", replay=source)
            )
        if not json:
            splits = f"{len(loaded.validation.topics):,} validation queries"
            out.print(f"{loaded.name}: {loaded.num_documents:,} documents, {splits}; run in {out_dir}")
            out.print(describe_retriever(settings))
            if settings.search.proposer == "llm" and not replay:
                out.print(_estimate(settings))
        how = shlex.join(("autoindex", "optimize", collection, "--out", str(out_dir), "--resume"))
        with graceful_stop() as should_stop, _telling(how):
            try:
                result = run(
                    loaded,
                    settings,
                    directory,
                    progress=progress,
                    listener=_quiet if json else _print,
                    should_stop=should_stop,
                    replay=replay,
                )
            except (StopRequestedError, KeyboardInterrupt):
                err.print(f"stopped; go on with: {how}")
                sys.exit(130)
            except ProposerError as error:
                raise ProposerError(f"{error}; then go on with: {how}") from error
    if json:
        print_json(result)
        return
    show_result(loaded, result)


def _check_same(collection: str, settings: Settings, recorded: RunSettings) -> None:
    """Refuse to resume a run with another collection, or with knobs given that it was not started with."""
    if collection != recorded.collection and str(Path(collection).resolve()) != recorded.collection:
        raise InputError(f"the run to resume is over {recorded.collection}, not {collection}; name that")
    parts = (
        (settings.search, recorded.settings.search, Search()),
        (settings.retriever, recorded.settings.retriever, Retriever()),
        (settings.model, recorded.settings.model, Model()),
    )
    for given, was, default in parts:
        for name in given.__struct_fields__:
            value = getattr(given, name)
            if value not in (getattr(was, name), getattr(default, name)):
                raise InputError(
                    f"the run to resume has {name} {getattr(was, name)}, not {value}; leave the option out"
                )


def _given_or(given: Endpoint, recorded: Endpoint) -> Endpoint:
    """The recorded endpoint with what the user gives anew: another address, or more budget."""
    changed = {
        name: getattr(given, name)
        for name in given.__struct_fields__
        if getattr(given, name) != getattr(Endpoint(), name)
    }
    return msgspec.structs.replace(recorded, **changed)


def _estimate(settings: Settings) -> str:
    """A line that says what the model may use, before it uses anything."""
    from autoindex_pyserini.agents.llm import estimate

    sent, received, money = estimate(settings)
    price = f", {money:,.2f} in money" if money else ""
    limit = settings.endpoint.max_tokens
    bound = f"; it ends at {limit:,} tokens" if limit else "; no limit on tokens is set"
    return f"model {settings.model.name}: up to about {sent + received:,} tokens{price}{bound}"


def _quiet(event: JournalEvent) -> None:
    """Print nothing."""


def _print(event: JournalEvent) -> None:
    """Print a line for every evaluated program, every round's end, and the choice."""
    from autoindex_pyserini.optimize import Selected
    from autoindex_pyserini.report import event_lines

    for line in event_lines(event):
        out.print(line)
    if isinstance(event, Selected):
        out.print(f"selected {event.program}: {event.reason}; the test queries are opened now, once")


def show_result(collection: Collection, result: RunResult) -> None:
    """Print the result: table, program, examples, index."""
    from autoindex_pyserini.optimize import read_events
    from autoindex_pyserini.report import agent_table, examples, run_table

    out.print()
    out.print(run_table(result))
    out.print(f"\nlearned program ({result.directory / 'best.py'}):\n")
    out.print(result.winner.source.rstrip())
    split = collection.open_test()
    fixed, broken = examples(split.topics, split.qrels, result.test.baseline, result.test.winner)
    for label, rows in (("fixed", fixed), ("broke", broken)):
        out.print(f"\n{label}:" if rows else f"\n{label}: no test query")
        for row in rows:
            ranks = f"{row.before or 'not found'} -> {row.after or 'not found'}"
            out.print(f"  {row.query!r}\n    {row.docid}: rank {ranks}")
    if (used := agent_table(read_events(result.directory))) is not None:
        out.print("\nthe model's work:\n")
        out.print(used)
    out.print(f"\nindex: {result.index}")


@contextmanager
def _telling(how: str) -> Iterator[None]:
    """Add to an error that lies in the machine how the run goes on once that is mended."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise EnvironmentProblemError(f"{options.os_problem(error)}; then go on with: {how}") from error
    except (EnvironmentProblemError, IndexLossError, LuceneError) as error:
        raise type(error)(f"{error}; then go on with: {how}") from error


@contextmanager
def graceful_stop() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C asks to stop after the present candidate, the second stops now."""
    asked = False

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        os.write(
            2, b"stopping after this candidate; press Ctrl-C again to stop now\n"
        )  # safe wherever we are

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
