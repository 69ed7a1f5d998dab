"""`autoindex dense` and `autoindex vectors`: the same passages under a dense retriever, and its cache."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autoindex_pyserini.cli import evaluate as evaluate_command
from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, err, out, print_json
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.files import nearest_folder, scratch_directory

if TYPE_CHECKING:
    from autoindex_pyserini.dense import DenseCounts, Encoder
    from autoindex_pyserini.pipeline import Costs
    from autoindex_pyserini.sandbox import Counts

Max = Annotated[int, typer.Option(help="Tokens of a text; 0: the model's own limit, at most 8192.")]
Dimension = Annotated[int, typer.Option(help="Components of a vector that are kept; 0: all.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps; auto: the best there is.")]
Precision = Annotated[str, typer.Option(help="Of the weights: float32, bfloat16, float16 or auto.")]


def dense(
    collection: options.CollectionArgument,
    program: Annotated[str, typer.Option(metavar="NAME_OR_FILE", help="What represents the documents.")],
    encoder: Annotated[
        str,
        typer.Option(metavar="MODEL", help="A sentence-transformers model: a folder, or a name on the hub."),
    ],
    index: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Publish the FAISS index here; else it does not stay.")
    ] = None,
    split: Annotated[str, typer.Option(help="validation or test.")] = "validation",
    measure: Annotated[list[str] | None, typer.Option(help="An ir_measures name; may be repeated.")] = None,
    depth: Annotated[int, typer.Option(help="Documents a query.")] = 100,
    run_out: options.RunOut = None,
    validation: options.Validation = None,
    revision: Annotated[str, typer.Option(help="Branch, tag or commit of a model on the hub.")] = "",
    task: Annotated[
        str, typer.Option(help="One sentence for models that take an instruction; else the collection's own.")
    ] = "",
    query_prompt: Annotated[
        str | None, typer.Option(help="Put before each query, instead of the model's own.")
    ] = None,
    document_prompt: Annotated[
        str | None, typer.Option(help="Put before each passage, instead of the model's own.")
    ] = None,
    max_length: Max = 0,
    dimension: Dimension = 0,
    normalize: Annotated[
        bool | None, typer.Option(help="Vectors of length 1; by default as the model compares.")
    ] = None,
    precision: Precision = "auto",
    device: Device = "auto",
    batch_size: Annotated[int, typer.Option(help="Passages at once; 0: by length and memory.")] = 0,
    threads: Annotated[int, typer.Option(help="Threads of the CPU; 0: one for each core.")] = 0,
    hnsw: Annotated[
        bool, typer.Option("--hnsw", help="An approximate index, instead of a flat one.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a dense index that autoindex built.")
    ] = False,
    workers: options.Workers = 0,
    sandbox: options.Sandbox = options.SANDBOX_DEFAULT,
    json: options.Json = False,
) -> None:
    """Encode a program's passages, search them with a dense retriever, and score it on a split.

    Vectors are kept: what was encoded once, also by a command that was killed, is not encoded again.
    """
    from autoindex_pyserini.agents import is_rendered
    from autoindex_pyserini.collection import load
    from autoindex_pyserini.dense import (
        DenseSearcher,
        Encoder,
        Encoding,
        FaissOptions,
        Machine,
        Source,
        check_place,
        publish_index,
    )
    from autoindex_pyserini.evaluation import check_measures, evaluate
    from autoindex_pyserini.pipeline import Outcome, Pipeline
    from autoindex_pyserini.pipeline.outcome import relevant_ranks
    from autoindex_pyserini.program import Program, check
    from autoindex_pyserini.report import results_table
    from autoindex_pyserini.sandbox import Counts
    from autoindex_pyserini.settings import Execution, Search, Settings

    options.check_split(split)
    if depth < 1:
        raise InputError(f"depth is {depth}; give a number of at least 1")
    measures = tuple(dict.fromkeys(measure or Search().measures))
    check_measures(measures)
    encoding = Encoding(
        model=encoder,
        revision=revision,
        task=task,
        query_prompt=query_prompt,
        document_prompt=document_prompt,
        max_length=max_length,
        dimension=dimension,
        normalize=normalize,
        precision=precision,
    )
    machine = Machine(device=device, batch_size=batch_size, threads=threads)
    settings = Settings(execution=Execution(workers=workers, sandbox=sandbox))
    chosen = Program.resolve(program)
    with options.naming(program):
        check(chosen, settings.limits)
    if index:
        check_place(index, overwrite=overwrite)
    if run_out:
        nearest_folder(run_out)
    with bars() as progress, scratch_directory() as scratch:
        loaded = load(collection, validation=validation, progress=progress)
        options.warn(loaded.report)
        queries = loaded.validation if split == "validation" else loaded.open_test()
        model = Encoder(encoding, machine, collection=loaded.name)
        made = Counts()
        started = time.perf_counter()
        place = index or scratch / "index"
        pipeline = Pipeline(loaded, settings, scratch, progress=progress, trusted=is_rendered)
        represented = pipeline.represent_collection(chosen, made)
        with options.naming(program):
            manifest, counts = publish_index(
                place,
                Source(loaded.name, loaded.fingerprint, loaded.num_documents, chosen),
                represented,
                model,
                FaissOptions(kind="hnsw" if hnsw else "flat"),
                overwrite=overwrite,
                progress=progress,
            )
        built = time.perf_counter()
        label = f"{chosen.name or chosen.id}-dense"
        searcher = DenseSearcher(place, threads=model.threads)
        run = searcher.search(queries.topics, model, depth=depth, name=label, progress=progress)
    costs = _costs(made, counts, built - started, time.perf_counter() - built)
    outcome = Outcome(
        chosen.id, split, evaluate(run, queries.qrels, measures), relevant_ranks(run, queries.qrels), costs
    )
    if run_out:
        evaluate_command.write(run_out / f"{label}.{split}.txt", run)
    if json:
        print_json(
            {
                "collection": loaded.name,
                "index": index,
                "manifest": manifest,
                "encoded": counts.encoded,
                "depth": depth,
                "outcome": outcome,
            }
        )
        return
    out.print(results_table([(label, outcome)]))
    out.print(f"{counts.passages:,} passages, {counts.encoded:,} encoded now, the rest from the cache")
    for note in options.notes(costs):
        out.print(note)
    err.print(_describe(model, counts, hnsw, depth), style="dim")


def vectors(
    clear: Annotated[
        str | None, typer.Option(metavar="NAME", help="Delete this cache; `all` deletes every one.")
    ] = None,
    json: options.Json = False,
) -> None:
    """List the vectors that `autoindex dense` keeps, or delete them."""
    from autoindex_pyserini.dense import clear_cache, default_folder, list_caches

    folder = default_folder()
    if clear is not None:
        freed = clear_cache(folder, clear)
        out.print(f"{freed / 1e6:.1f} MB are free again")
        return
    caches = list_caches(folder)
    if json:
        print_json({"folder": folder, "caches": caches})
        return
    for cache in caches:
        space = cache.space
        out.print(
            f"{cache.name}  {cache.vectors:,} vectors, {cache.size_bytes / 1e6:.1f} MB  {space['side']}  "
            f"{space['precision']}  {space['model']}"
        )
    out.print(f"{folder}: {len(caches)} caches, {sum(one.size_bytes for one in caches) / 1e6:.1f} MB")


def _costs(made: Counts, counts: DenseCounts, index_seconds: float, search_seconds: float) -> Costs:
    from autoindex_pyserini.pipeline import Costs

    return Costs(
        documents=counts.documents,
        passages=counts.passages,
        fallbacks=counts.fallbacks,
        empty_documents=counts.empty_documents,
        mended_passages=made.mended_passages,
        dropped_passages=made.dropped_passages,
        index_bytes=counts.size_bytes,
        index_seconds=index_seconds,
        search_seconds=search_seconds,
    )


def _describe(model: Encoder, counts: DenseCounts, hnsw: bool, depth: int) -> str:
    """The retriever in one line, to stand beside every number."""
    prompt = f"queries after {model.prompts['query']!r}" if model.prompts["query"] else "queries as they are"
    return (
        f"{model.encoding.model} ({model.located.identity[:19]}), {model.precision} on {model.device}, "
        f"{counts.dimension} dimensions, {prompt}; FAISS {'HNSW' if hnsw else 'flat'}, inner product; "
        f"MaxP over {depth} documents"
    )
