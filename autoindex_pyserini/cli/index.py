"""`autoindex index`: publish a Lucene index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, err, out, print_json
from autoindex_pyserini.files import nearest_folder, scratch_directory


def index(
    collection: options.CollectionArgument,
    program: Annotated[str, typer.Option(metavar="NAME_OR_FILE", help="What represents the documents.")],
    index: Annotated[Path, typer.Option(metavar="DIR", help="Where the index will be.")],
    validation: options.Validation = None,
    k1: options.K1 = options.K1_DEFAULT,
    b: options.B = options.B_DEFAULT,
    analyzer: options.Analyzer = options.ANALYZER_DEFAULT,
    store_raw: Annotated[bool, typer.Option("--store-raw", help="Keep each passage's JSON.")] = False,
    store_docvectors: Annotated[bool, typer.Option("--store-docvectors", help="Keep term vectors.")] = False,
    store_positions: Annotated[bool, typer.Option("--store-positions", help="Keep positions.")] = False,
    optimize: Annotated[bool, typer.Option("--optimize", help="Merge into one segment.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an index that autoindex built.")
    ] = False,
    workers: options.Workers = 0,
    sandbox: options.Sandbox = options.SANDBOX_DEFAULT,
    json: options.Json = False,
) -> None:
    """Build a Lucene index that Pyserini, Anserini and Lucene open as usual."""
    from autoindex_pyserini.agents import is_rendered
    from autoindex_pyserini.collection import load
    from autoindex_pyserini.lucene import IndexOptions, check_place
    from autoindex_pyserini.optimize import check_settings
    from autoindex_pyserini.pipeline import Pipeline
    from autoindex_pyserini.program import Program, check
    from autoindex_pyserini.report import describe_retriever

    settings = options.make_settings(k1=k1, b=b, analyzer=analyzer, workers=workers, sandbox=sandbox)
    check_settings(settings)
    chosen = Program.resolve(program)
    with options.naming(program):
        check(chosen, settings.limits)
    check_place(index, overwrite=overwrite)
    nearest_folder(index.parent)
    keep = IndexOptions(
        store_raw=store_raw,
        store_docvectors=store_docvectors,
        store_positions=store_positions,
        optimize=optimize,
    )
    with bars() as progress, scratch_directory() as scratch:
        loaded = load(collection, validation=validation, progress=progress)
        options.warn(loaded.report)
        pipeline = Pipeline(loaded, settings, scratch, progress=progress, trusted=is_rendered)
        with options.naming(program):
            manifest, costs = pipeline.publish(chosen, index, options=keep, overwrite=overwrite)
    if json:
        print_json({"index": str(index), "manifest": manifest, "costs": costs})
        return
    out.print(
        f"{index}: {costs.documents:,} documents, {costs.passages:,} passages, "
        f"{costs.index_bytes / 1e6:.1f} MB, {costs.index_seconds:.1f} s"
    )
    for note in options.notes(costs):
        out.print(note)
    err.print(describe_retriever(settings), style="dim")
