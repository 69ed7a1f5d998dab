"""`autoindex start`, `brief`, `ask`, `try` and `finish`: a run by hand, one step at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autoindex_pyserini.cli import model_options as llm
from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, err, out, print_json
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.settings import Search

if TYPE_CHECKING:
    from autoindex_pyserini.agents import Tool
    from autoindex_pyserini.collection import Collection
    from autoindex_pyserini.optimize import JournalEvent, RunDirectory, RunSettings
    from autoindex_pyserini.optimize.session import Session
    from autoindex_pyserini.pipeline import Progress

RunArgument = Annotated[Path, typer.Argument(metavar="RUN_DIR", help="A run directory that `start` made.")]

SHORT_NAMES = {
    "retrieve": "bm25_retrieve",
    "read": "read_document",
    "grep": "grep_collection",
    "explain": "explain",
    "terms": "term_stats",
    "passages": "passages_of",
    "compare": "compare",
}
"""What `ask` calls the tools."""


def start(
    collection: options.CollectionArgument,
    out_dir: Annotated[
        Path, typer.Option("--out", metavar="RUN_DIR", help="The run directory; must not exist.")
    ],
    objective: llm.Objective = llm.OBJECTIVE,
    threshold: llm.Threshold = llm.THRESHOLD,
    cases: Annotated[int, typer.Option(help="Cases of each kind in a brief.")] = Search().cases,
    seed: Annotated[int, typer.Option(help="Seeds the choice of cases.")] = Search().seed,
    validation: options.Validation = None,
    k1: options.K1 = options.K1_DEFAULT,
    b: options.B = options.B_DEFAULT,
    analyzer: options.Analyzer = options.ANALYZER_DEFAULT,
    workers: options.Workers = 0,
    sandbox: options.Sandbox = options.SANDBOX_DEFAULT,
    json: options.Json = False,
) -> None:
    """Begin a run by hand: check the collection and evaluate the first program on the validation queries."""
    from autoindex_pyserini.collection import load
    from autoindex_pyserini.optimize import RunDirectory, RunSettings, check_settings
    from autoindex_pyserini.optimize.session import Session
    from autoindex_pyserini.report import describe_retriever, event_lines

    RunDirectory.check_unused(out_dir)
    settings = options.make_settings(
        k1=k1,
        b=b,
        analyzer=analyzer,
        workers=workers,
        sandbox=sandbox,
        search=Search(
            rounds=0,
            candidates=1,
            seed=seed,
            objective=objective,
            threshold=threshold,
            measures=tuple(dict.fromkeys((objective, *llm.MEASURES))),
            proposer="hand",
            cases=cases,
        ),
    )
    check_settings(settings)
    with bars() as progress:
        loaded = load(collection, validation=validation, progress=progress)
        recorded = RunSettings(options.absolute(collection), settings, validation=validation or "")
        directory = RunDirectory.create(out_dir, recorded)
        if not json:
            queries = f"{len(loaded.validation.topics):,} validation queries"
            out.print(f"{loaded.name}: {loaded.num_documents:,} documents, {queries}; run in {out_dir}")
            out.print(describe_retriever(settings))

        def told(event: JournalEvent) -> None:
            for line in [] if json else event_lines(event):
                out.print(line)

        view = loaded.for_search()
        with Session(view, settings, directory, progress=progress, listener=told) as session:
            state = session.state()
    if json:
        print_json({"directory": out_dir, "state": state})
    else:
        out.print(f"what is known: autoindex brief {out_dir}")
        out.print(f"try a program: autoindex try {out_dir} program.py --because REASON")


def brief(
    run: RunArgument,
    no_history: Annotated[bool, typer.Option("--no-history", help="Leave out what was tried.")] = False,
    json: options.Json = False,
) -> None:
    """Say all that is known: the contract, the collection, the incumbent, what was tried, and cases."""
    from autoindex_pyserini.agents.briefing import briefing

    with opened(run) as (session, recorded):
        found, cases = session.brief()
    if json:
        print_json({"brief": found, "cases": cases})
    else:
        out.print(briefing(found, cases, recorded.settings.retriever, history=not no_history), end="")


def ask(
    run: RunArgument,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help=f"{', '.join(SHORT_NAMES)}.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGUMENTS",
            help="retrieve QUERY [K]; read REF [CHARS]; grep PATTERN [RESULTS]; explain QUERY REF; "
            "terms WORDS; passages REF; compare QUERY REF REF.",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Look into the incumbent's index and the documents behind it, by their references."""
    from autoindex_pyserini.agents.tools import TOOLS

    named = by_position(TOOLS, tool, arguments or [])
    with opened(run) as (session, _):
        answer = session.ask(SHORT_NAMES.get(tool, tool), named)
    if json:
        print_json({"tool": tool, "arguments": named, "answer": answer})
    else:
        out.print(answer)


def try_(
    run: RunArgument,
    program: Annotated[Path, typer.Argument(metavar="PROGRAM", help="A file with a program.")],
    because: Annotated[str, typer.Option(help="Why it should be better, in one line.")] = "",
    most: Annotated[int, typer.Option(min=0, help="Most queries listed as fixed, and as broken.")] = 10,
    json: options.Json = False,
) -> None:
    """Try a program on the validation queries, and keep it if the objective rises."""
    from autoindex_pyserini.program import Program, check
    from autoindex_pyserini.report import attempt_text

    given = Program.from_file(program)
    _, recorded = by_hand_run(run)
    with options.naming(str(program)):
        check(given, recorded.settings.limits)
    with opened(run, quiet_of=given.id) as (session, recorded):
        attempt = session.attempt(given, because or given.summary)
    if json:
        print_json(attempt)
    else:
        out.print(attempt_text(attempt, recorded.settings.search.objective, most=most))


def finish(run: RunArgument, json: options.Json = False) -> None:
    """End a run by hand: build the best program's index, and open the test queries, once."""
    from autoindex_pyserini.cli.optimize import show_result

    with bars() as progress:
        directory, recorded = by_hand_run(run, goes_on=False)
        loaded = load_recorded(recorded, progress)
        with _session(loaded, directory, recorded, progress) as session:
            result = session.finish(loaded.open_test)
    if json:
        print_json(result)
    else:
        show_result(loaded, result)


@contextmanager
def opened(run: Path, *, quiet_of: str = "") -> Iterator[tuple[Session, RunSettings]]:
    """A run by hand to work on, with its settings; without a reference to the test split.

    Args:
        run: the run directory.
        quiet_of: the id of a program that the caller tells of.

    Raises:
        RunDirectoryError: it is not a run by hand, has ended, is damaged, or is in use.
    """
    directory, recorded = by_hand_run(run)
    with bars() as progress:
        loaded = load_recorded(recorded, progress)
        session = _session(loaded, directory, recorded, progress, quiet_of=quiet_of)
        del loaded
        with session:
            yield session, recorded


def by_position(tools: Sequence[Tool], name: str, values: Sequence[str]) -> Mapping[str, object]:
    """A tool's arguments by their names, in the order of its schema.

    Raises:
        InputError: there is no such tool, or the arguments are too few or too many.
    """
    tool = next((tool for tool in tools if tool.name == SHORT_NAMES.get(name, name)), None)
    if tool is None:
        raise InputError(f"unknown tool {name!r}; use one of: {', '.join(SHORT_NAMES)}")
    names = list(tool.parameters.get("properties", {}))
    required = tool.parameters.get("required", [])
    if not len(required) <= len(values) <= len(names):
        usage = " ".join(one.upper() if one in required else f"[{one.upper()}]" for one in names)
        raise InputError(f"{name} was given {len(values)} arguments; use: ask RUN_DIR {name} {usage}")
    return dict(zip(names, values, strict=False))


def by_hand_run(run: Path, *, goes_on: bool = True) -> tuple[RunDirectory, RunSettings]:
    """A run by hand with its settings; not locked.

    Args:
        run: the run directory.
        goes_on: the search must not have ended.

    Raises:
        RunDirectoryError: it is not a run by hand, has ended, or is damaged.
    """
    from autoindex_pyserini.optimize import RunDirectory
    from autoindex_pyserini.optimize.session import check_by_hand

    directory, recorded = RunDirectory.open(run)
    check_by_hand(directory, recorded, goes_on=goes_on)
    return directory, recorded


def load_recorded(recorded: RunSettings, progress: Progress | None = None) -> Collection:
    """The collection of a run."""
    from autoindex_pyserini.collection import load

    return load(recorded.collection, validation=recorded.validation or None, progress=progress)


def _session(
    loaded: Collection,
    directory: RunDirectory,
    recorded: RunSettings,
    progress: Progress,
    *,
    quiet_of: str = "",
) -> Session:
    from autoindex_pyserini.optimize import Tried
    from autoindex_pyserini.optimize.session import Session
    from autoindex_pyserini.report import event_lines

    def told(event: JournalEvent) -> None:
        """Say on stderr where this step completes one that was killed."""
        if isinstance(event, Tried) and event.program != quiet_of:
            for line in event_lines(event):
                err.print(line)

    return Session(loaded.for_search(), recorded.settings, directory, progress=progress, listener=told)
