"""`autoindex compare`: learned programs beside the strongest simple alternatives, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autoindex_pyserini.cli import evaluate as evaluate_command
from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, err, out, print_json
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.files import nearest_folder, scratch_directory, write_atomically
from autoindex_pyserini.settings import Search

if TYPE_CHECKING:
    from autoindex_pyserini.collection import Split
    from autoindex_pyserini.dense import Encoder
    from autoindex_pyserini.evaluation.assessment import Assessment
    from autoindex_pyserini.evaluation.rows import Comparison, ComparisonRow
    from autoindex_pyserini.optimize.baselines import Baselines, Ready
    from autoindex_pyserini.program import Program
    from autoindex_pyserini.types import Run


def compare(
    collection: options.CollectionArgument,
    out_dir: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Gets the table in every form, and a TREC run a row.")
    ],
    program: Annotated[
        list[str] | None, typer.Option(metavar="NAME_OR_FILE", help="A learned program; may be repeated.")
    ] = None,
    encoder: Annotated[
        str, typer.Option(metavar="MODEL", help="Dense rows too: a sentence-transformers model.")
    ] = "",
    task: Annotated[
        str,
        typer.Option(help="The instruction of encoders that take one; else the collection's own."),
    ] = "",
    feedback: Annotated[bool, typer.Option("--feedback", help="Rows of RM3 and Rocchio too.")] = False,
    reference: Annotated[
        str, typer.Option(metavar="ROW", help="The row that the others are tested against.")
    ] = "full_text",
    measure: Annotated[list[str] | None, typer.Option(help="An ir_measures name; the first decides.")] = None,
    searches: Annotated[
        int, typer.Option(help="Most searches of the validation queries in which a row is tuned.")
    ] = 100,
    seed: Annotated[int, typer.Option(help="Seeds tuning, bootstrap and tests.")] = 0,
    validation: options.Validation = None,
    details: Annotated[bool, typer.Option("--details", help="Intervals, p values, costs as well.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV on stdout.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX on stdout.")] = False,
    json: options.Json = False,
    k1: options.K1 = options.K1_DEFAULT,
    b: options.B = options.B_DEFAULT,
    analyzer: options.Analyzer = options.ANALYZER_DEFAULT,
    workers: options.Workers = 0,
    sandbox: options.Sandbox = options.SANDBOX_DEFAULT,
) -> None:
    """Compare programs with full text, tuned BM25, passages, BM25F, static rules and dense retrieval.

    Whatever is chosen is chosen on the validation queries; then the test queries are opened, once.
    """
    import msgspec

    from autoindex_pyserini.agents import is_rendered
    from autoindex_pyserini.collection import load
    from autoindex_pyserini.dense import Encoder, Encoding, Machine
    from autoindex_pyserini.evaluation.assessment import assess
    from autoindex_pyserini.optimize import check_settings
    from autoindex_pyserini.optimize.baselines import Baselines, lexical_plans
    from autoindex_pyserini.pipeline import Tuning
    from autoindex_pyserini.program import Program, check

    measures = tuple(dict.fromkeys(measure or Search().measures))
    search = msgspec.structs.replace(Search(), measures=measures, objective=measures[0], seed=seed)
    settings = options.make_settings(
        k1=k1, b=b, analyzer=analyzer, workers=workers, sandbox=sandbox, search=search
    )
    check_settings(settings)
    if searches < 1:
        raise InputError(f"illegal searches value: {searches}, must be at least 1")
    if out_dir.exists() and any(out_dir.iterdir()):
        raise InputError(f"{out_dir} holds something already; give a directory that does not exist")
    nearest_folder(out_dir)
    learned = _learned(program or [])
    for name, one in learned:
        with options.naming(name):
            check(one, settings.limits)
    model = None
    with bars() as progress, scratch_directory() as scratch:
        loaded = load(collection, validation=validation, progress=progress)
        options.warn(loaded.report)
        if encoder:
            model = Encoder(Encoding(model=encoder, task=task), Machine(), collection=loaded.name)
        baselines = Baselines(
            loaded.for_search(),
            settings,
            scratch,
            tuning=Tuning(searches=searches, seed=seed),
            trusted=is_rendered,
            progress=progress,
        )
        plans = lexical_plans(settings, baselines.natural_fields(), learned, feedback=feedback)
        names = [plan.name for plan in plans]
        for name, _ in learned:
            if names.count(name) > 1:
                raise InputError(f"{name} is a row already; give learned programs alone")
        if reference not in names:
            raise InputError(f"there is no row {reference!r} among the lexical ones: {', '.join(names)}")
        settled: list[Ready] = []
        for ready in baselines.settle(plans):
            settled.append(ready)
            if not json:
                err.print(f"{ready.plan.name}: {ready.scoring.describe()}", style="dim", markup=False)
        dense = [(name, Program.builtin(name)) for name in ("full_text", "passages_512")] + learned
        if model:
            baselines.encode([one for _, one in dense], model)
        split = loaded.open_test()
        found = list(baselines.rows(settled, split))
        if model:
            found += _dense_rows(baselines, dense, [name for name, _ in learned], model, split, found)
    rows = []
    for row, run in found:
        path = evaluate_command.write(out_dir / "runs" / f"{run.name}.test.txt", run)
        rows.append(msgspec.structs.replace(row, run_file=str(path.relative_to(out_dir))))
    made = _comparison(loaded.name, split, reference, measures, rows, seed)
    assessed = assess(made)
    _save(out_dir, made, assessed)
    if json:
        print_json(made)
        return
    _print(made, assessed, details=details, csv=csv, latex=latex)
    err.print(f"the table in every form, and the runs, are in {out_dir}", style="dim", markup=False)


def _learned(arguments: list[str]) -> list[tuple[str, Program]]:
    """Names and programs; every run calls its winner `best`, so equal names get the program's id."""
    from autoindex_pyserini.program import Program

    programs = [Program.resolve(one) for one in arguments]
    labels = evaluate_command.labels_of(programs)
    return list(zip(labels, programs, strict=True))


def _dense_rows(
    baselines: Baselines,
    dense: list[tuple[str, Program]],
    learned: list[str],
    model: Encoder,
    split: Split,
    lexical: list[tuple[ComparisonRow, Run]],
) -> list[tuple[ComparisonRow, Run]]:
    """Dense retrieval of each program, and each learned one's fused with its BM25."""
    found = []
    runs = {row.name: run for row, run in lexical}
    for name, program in dense:
        row, run = baselines.dense_row(f"{name}, dense", program, model, split)
        found.append((row, run))
        if name in learned:
            found.append(baselines.fused_row(f"{name}, BM25 and dense", [runs[name], run], split))
    return found


def _comparison(
    name: str,
    split: Split,
    reference: str,
    measures: tuple[str, ...],
    rows: list[ComparisonRow],
    seed: int,
) -> Comparison:
    from autoindex_pyserini.evaluation.rows import Comparison
    from autoindex_pyserini.evaluation.significance import Procedure
    from autoindex_pyserini.lucene import software_versions

    return Comparison(
        collection=name,
        split=split.name,
        queries=len(split.topics),
        reference=reference,
        measures=measures,
        rows=tuple(rows),
        procedure=Procedure(seed=seed),
        seeds={"tuning": seed},
        versions=software_versions(),
    )


def _save(folder: Path, comparison: Comparison, assessed: Assessment) -> None:
    """Write the comparison, and its table in every form."""
    from autoindex_pyserini.evaluation.rows import write_comparison
    from autoindex_pyserini.report.comparison import (
        comparison_csv,
        comparison_latex,
        comparison_markdown,
    )

    write_comparison(folder / "comparison.json", comparison)
    for name, text in (
        ("comparison.csv", comparison_csv(comparison, assessed)),
        ("comparison.tex", comparison_latex(comparison, assessed, details=True)),
        ("comparison.md", comparison_markdown(comparison, assessed, details=True)),
    ):
        write_atomically(folder / name, text.encode())


def _print(comparison: Comparison, assessed: Assessment, *, details: bool, csv: bool, latex: bool) -> None:
    from autoindex_pyserini.report.comparison import (
        comparison_csv,
        comparison_latex,
        comparison_table,
    )

    if csv or latex:
        text = comparison_csv(comparison, assessed) if csv else comparison_latex(comparison, assessed)
        out.print(text.rstrip("\n"), markup=False)
        return
    out.print(comparison_table(comparison, assessed, details=details))
