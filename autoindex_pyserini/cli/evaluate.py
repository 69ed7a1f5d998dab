"""`autoindex evaluate`: score programs on a split."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, err, out, print_json
from autoindex_pyserini.errors import InputError


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

    from autoindex_pyserini.collection import load
    from autoindex_pyserini.evaluation import write_run
    from autoindex_pyserini.optimize import check_settings
    from autoindex_pyserini.pipeline import Pipeline
    from autoindex_pyserini.program import Program, check
    from autoindex_pyserini.report import describe_retriever, results_table
    from autoindex_pyserini.settings import Search

    if split not in ("validation", "test"):
        raise InputError(f"unknown split {split!r}; use validation or test")
    search = Search()
    if measure:
        search = msgspec.structs.replace(search, measures=tuple(dict.fromkeys(measure)), objective=measure[0])
    settings = options.make_settings(
        k1=k1, b=b, analyzer=analyzer, workers=workers, sandbox=sandbox, search=search
    )
    check_settings(settings)
    programs = [Program.resolve(one) for one in program]
    for one in programs:
        check(one, settings.limits)
    rows = []
    with bars() as progress, tempfile.TemporaryDirectory(prefix="autoindex-evaluate-") as scratch:
        loaded = load(collection, validation=validation, progress=progress)
        queries = loaded.validation if split == "validation" else loaded.open_test()
        pipeline = Pipeline(loaded, settings, Path(scratch), progress=progress)
        for one in programs:
            outcome, run = pipeline.evaluate(one, queries)
            rows.append((one.name or one.id, outcome))
            if run_out:
                write_run(run_out / f"{run.name}.{split}.txt", run)
    if json:
        print_json({"collection": loaded.name, "settings": settings, "outcomes": [o for _, o in rows]})
        return
    out.print(results_table(rows))
    err.print(describe_retriever(settings), style="dim")
    if run_out:
        err.print(f"runs are in {run_out}", style="dim")
