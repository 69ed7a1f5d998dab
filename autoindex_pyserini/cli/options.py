"""Options that several commands share."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from autoindex_pyserini.cli.console import err
from autoindex_pyserini.errors import InputError, ProgramFault
from autoindex_pyserini.settings import Execution, Retriever, Search, Settings

if TYPE_CHECKING:
    from autoindex_pyserini.collection import LoadReport
    from autoindex_pyserini.pipeline import Costs

CollectionArgument = Annotated[
    str, typer.Argument(metavar="COLLECTION", help="A built-in collection's name, or the path of a folder.")
]
Validation = Annotated[
    str | None,
    typer.Option(metavar="ID", help="irds: another dataset whose queries are the validation split."),
]
K1 = Annotated[float, typer.Option("--k1", help="BM25 k1.")]
B = Annotated[float, typer.Option("--b", help="BM25 b.")]
Analyzer = Annotated[str, typer.Option(help="Analyzer, by its name in java_config/analyzers.toml.")]
Workers = Annotated[int, typer.Option(help="Sandbox processes and Lucene threads; 0: one for each core.")]
Sandbox = Annotated[
    str,
    typer.Option(help="confined (by the kernel), or process (a bare child process, for trusted programs)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
RunOut = Annotated[
    Path | None, typer.Option(help="Write one TREC run file for each program to this directory.")
]

K1_DEFAULT, B_DEFAULT, ANALYZER_DEFAULT = Retriever().k1, Retriever().b, Retriever().analyzer
SANDBOX_DEFAULT = Execution().sandbox


def make_settings(
    *, k1: float, b: float, analyzer: str, workers: int, sandbox: str, search: Search | None = None
) -> Settings:
    """The settings of these options; every other knob at its default."""
    return Settings(
        retriever=msgspec.structs.replace(Retriever(), k1=k1, b=b, analyzer=analyzer),
        execution=msgspec.structs.replace(Execution(), workers=workers, sandbox=sandbox),
        search=search or Search(),
    )


def absolute(collection: str) -> str:
    """A collection as a run remembers it: a folder by its absolute path, any other by its name."""
    return str(Path(collection).resolve()) if Path(collection).is_dir() else collection


def check_split(split: str) -> None:
    """Check the name of a split.

    Raises:
        InputError: it is none.
    """
    if split not in ("validation", "test"):
        raise InputError(f"unknown split {split!r}; use validation or test")


@contextmanager
def naming(program: str) -> Iterator[None]:
    """Say in the message of a program's fault what the user called the program, and which document it was."""
    try:
        yield
    except ProgramFault as fault:
        which = f"; the document is {fault.docid!r}" if fault.docid is not None else ""
        raise type(fault)(f"{program}: {fault}{which}", line=fault.line, position=fault.position) from fault


def notes(costs: Costs) -> list[str]:
    """What happened to documents and passages on their way, one sentence each; empty if nothing did."""
    counts = (
        (
            costs.fallbacks - costs.empty_documents,
            "documents got no passage from the program and are indexed as their full text",
        ),
        (
            costs.empty_documents,
            "documents got no passage from the program and have no text: no query can find them",
        ),
        (costs.mended_passages, "passages held characters that cannot be indexed; they were replaced"),
        (costs.dropped_passages, "passages were blank and are not indexed"),
    )
    return [f"{count:,} {what}" for count, what in counts if count]


def warn(report: LoadReport) -> None:
    """Say on stderr what makes a collection as good as useless, before hours go into it."""
    if report.empty_documents == report.documents:
        err.print(f"warning: {report.notes[-1]}", style="yellow")


def os_problem(error: OSError) -> str:
    """What the system refused, on which file, and what to do; one line."""
    what = f"{error.filename}: " if error.filename is not None else ""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    remedy = "make room there" if full else "check the path and its permissions"
    return f"{what}{error.strerror or error}; {remedy}"
