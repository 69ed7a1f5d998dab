"""`autoindex inspect`: what is in an index, and whether it is sound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import out, print_json


def _count(number: int) -> str:
    """A count, or a dash where Lucene does not store it (terms of several segments)."""
    return f"{'-' if number < 0 else f'{number:,}':>11}"


def inspect(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="The directory of a Lucene index.")],
    source: Annotated[bool, typer.Option("--source", help="Print the program's source too.")] = False,
    json: options.Json = False,
) -> None:
    """Show what is in an index and check it; exit status 1 if it is damaged or contradicts its manifest."""
    from autoindex_pyserini.lucene import inspect_index

    found = inspect_index(index)
    if json:
        print_json(found)
    else:
        out.print(
            f"{index}: {found.passages:,} passages, {found.deleted:,} deleted, {found.segments:,} segments, "
            f"{found.size_bytes / 1e6:.1f} MB"
        )
        for field in found.fields:
            out.print(
                f"  {field.name:16} {field.passages:>11,} passages {_count(field.terms)} terms "
                f"{field.tokens:>13,} tokens"
            )
        manifest = found.manifest
        if manifest is None:
            out.print("no autoindex.json: not built by autoindex, so nothing is known of its program")
        else:
            retriever = manifest.retriever
            scores = ", ".join(f"{name} {value:.4f}" for name, value in manifest.validation.items())
            out.print(
                f"collection {manifest.collection} ({manifest.fingerprint[:12]}), "
                f"{manifest.documents:,} documents"
            )
            out.print(f"program {manifest.program_id}; validation: {scores or 'not measured'}")
            out.print(
                f"analyzer {retriever.analyzer}, k1={retriever.k1} b={retriever.b}, depth {retriever.depth}"
            )
            out.print(", ".join(f"{name} {version}" for name, version in manifest.versions.items()))
            if source:
                out.print(manifest.program)
        for problem in found.problems:
            out.print(f"PROBLEM: {problem}")
        if not found.problems:
            out.print("sound: counts agree, CheckIndex found nothing")
    if found.problems:
        raise typer.Exit(1)
