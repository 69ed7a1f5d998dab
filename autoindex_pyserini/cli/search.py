"""`autoindex search`: a TREC run from an index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, err, out, print_json
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.files import nearest_folder

_MOST_DOCUMENTS = 1_000_000_000  # Lucene counts hits in 32 bits


def search(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="An index that `autoindex` built.")],
    topics: Annotated[Path, typer.Option(metavar="FILE", help="Queries: JSON lines, or qid TAB text.")],
    output: Annotated[Path, typer.Option(metavar="RUN", help="TREC run; JSON lines if it ends in .jsonl.")],
    k1: Annotated[float | None, typer.Option("--k1", help="BM25 k1; by default what the index says.")] = None,
    b: Annotated[float | None, typer.Option("--b", help="BM25 b; by default what the index says.")] = None,
    depth: Annotated[
        int | None, typer.Option(help="Documents a query; by default what the index says.")
    ] = None,
    workers: options.Workers = 0,
    json: options.Json = False,
) -> None:
    """Search an index for all topics, as its program was evaluated, and write a run file."""
    import msgspec

    from autoindex_pyserini.collection import read_topics
    from autoindex_pyserini.evaluation import write_run
    from autoindex_pyserini.lucene import Searcher, SearchFailedError, read_manifest
    from autoindex_pyserini.optimize import check_settings
    from autoindex_pyserini.settings import Execution, Settings

    retriever = read_manifest(index).retriever
    given = {"k1": k1, "b": b, "depth": depth}
    retriever = msgspec.structs.replace(retriever, **{k: v for k, v in given.items() if v is not None})
    execution = Execution(workers=workers)
    check_settings(Settings(retriever=retriever, execution=execution))
    if retriever.depth > _MOST_DOCUMENTS:
        raise InputError(f"illegal depth value: {retriever.depth}, must be at most {_MOST_DOCUMENTS}")
    queries = read_topics(topics)
    if output.is_dir():
        raise InputError(f"{output} is a directory; give the name of a file")
    nearest_folder(output.parent)
    done = 0
    with bars() as progress, Searcher(index, retriever, threads=execution.worker_count) as searcher:

        def tick(count: int) -> None:
            nonlocal done
            done += count
            progress("search", done, len(queries))

        try:
            run = searcher.search(queries, progress=tick)
        except SearchFailedError as error:  # the others' rankings are not thrown away
            write_run(output, error.run)
            err.print(f"{output}: the run of all queries but those that failed")
            raise
    write_run(output, run)
    hits = sum(map(len, run.rankings.values()))
    without = sum(not ranking for ranking in run.rankings.values())
    if json:
        print_json({"run": str(output), "queries": len(queries), "hits": hits, "without_hits": without})
        return
    out.print(f"{output}: {len(queries):,} queries, {hits:,} hits, {without:,} queries without a hit")
