"""`autoindex evaluate`: score programs on a split."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, err, out, print_json
from autoindex_pyserini.files import nearest_folder, scratch_directory

if TYPE_CHECKING:
    from autoindex_pyserini.program import Program
    from autoindex_pyserini.types import Run


def evaluate(
    collection: options.CollectionArgument,
    program: Annotated[
        list[str], typer.Option(metavar="NAME_OR_FILE", help="A program; may be given several times.")
    ],
    split: Annotated[str, typer.Option(help="validation or test.")] = "validation",
    measure: Annotated[list[str] | None, typer.Option(help="An ir_measures name; may be repeated.")] = None,
    run_out: options.RunOut = None,
    validation: options.Validation = None,
    k1: options.K1 = options.K1_DEFAULT,
    b: options.B = options.B_DEFAULT,
    analyzer: options.Analyzer = options.ANALYZER_DEFAULT,
    workers: options.Workers = 0,
    sandbox: options.Sandbox = options.SANDBOX_DEFAULT,
    json: options.Json = False,
) -> None:
    """Score programs on the validation or the test queries of a collection."""
    import msgspec

    from autoindex_pyserini.agents import is_rendered
    from autoindex_pyserini.collection import load
    from autoindex_pyserini.optimize import check_settings
    from autoindex_pyserini.pipeline import Pipeline
    from autoindex_pyserini.program import Program, check
    from autoindex_pyserini.report import describe_retriever, results_table
    from autoindex_pyserini.settings import Search

    options.check_split(split)
    search = Search()
    if measure:
        search = msgspec.structs.replace(search, measures=tuple(dict.fromkeys(measure)), objective=measure[0])
    settings = options.make_settings(
        k1=k1, b=b, analyzer=analyzer, workers=workers, sandbox=sandbox, search=search
    )
    check_settings(settings)
    if run_out:
        nearest_folder(run_out)
    programs = [Program.resolve(one) for one in program]
    for argument, one in zip(program, programs, strict=True):
        with options.naming(argument):
            check(one, settings.limits)
    labels = labels_of(programs)
    rows = []
    with bars() as progress, scratch_directory() as scratch:
        loaded = load(collection, validation=validation, progress=progress)
        options.warn(loaded.report)
        queries = loaded.validation if split == "validation" else loaded.open_test()
        pipeline = Pipeline(loaded, settings, scratch, progress=progress, trusted=is_rendered)
        for argument, label, one in zip(program, labels, programs, strict=True):
            with options.naming(argument):
                outcome, run = pipeline.evaluate(one, queries)
            rows.append((label, outcome))
            if run_out:
                write(run_out / f"{label}.{split}.txt", msgspec.structs.replace(run, name=label))
    if json:
        print_json({"collection": loaded.name, "settings": settings, "outcomes": [o for _, o in rows]})
        return
    out.print(results_table(rows))
    for label, outcome in rows:
        for note in options.notes(outcome.costs):
            out.print(f"{label}: {note}")
    err.print(describe_retriever(settings), style="dim")
    if run_out:
        err.print(f"runs are in {run_out}", style="dim")


def labels_of(programs: list[Program]) -> list[str]:
    """A name for each program, which no two different ones share: every run calls its winner `best`."""
    names = [program.name or program.id for program in programs]
    return [
        name if names.count(name) == 1 else f"{name}-{program.id}"
        for name, program in zip(names, programs, strict=True)
    ]


def write(path: Path, run: Run) -> Path:
    """Write a TREC run, or JSON lines where an id does not fit into one, and say so; the file's path."""
    from autoindex_pyserini.evaluation import RunFormatError, write_run

    try:
        write_run(path, run)
    except RunFormatError as error:
        other = path.with_suffix(".jsonl")
        write_run(other, run)
        err.print(f"{error}; written to {other} instead")
        return other
    return path
