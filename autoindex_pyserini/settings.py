"""Every knob, typed, with its default and where the default comes from."""

from __future__ import annotations

import os

import msgspec

ALLOWED_IMPORTS: tuple[str, ...] = (
    "autoindex_pyserini.program.operators",
    "bisect",
    "collections",
    "dataclasses",
    "functools",
    "heapq",
    "html",
    "itertools",
    "json",
    "math",
    "operator",
    "re",
    "string",
    "textwrap",
    "typing",
    "unicodedata",
)
"""Pure modules of the standard library, and the operator library, that a program may import."""


class Retriever(msgspec.Struct, frozen=True):
    """The fixed retriever.

    Attributes:
        k1: BM25 term-frequency saturation, >= 0 (AutoIndex, arXiv 2607.18603: 1.5; Pyserini: 0.9).
        b: BM25 length normalisation, 0 to 1 (AutoIndex: 0.75; Pyserini: 0.4).
        analyzer: a name from ``java_config/analyzers.toml``.
        depth: documents returned for a query.
    """

    k1: float = 1.5
    b: float = 0.75
    analyzer: str = "english"
    depth: int = 100


class Limits(msgspec.Struct, frozen=True):
    """What a program may do with one document, and with a collection.

    Attributes:
        max_passages: passages a document.
        max_growth: characters of one passage's contents, in multiples of the raw document's length.
        min_growth_chars: floor under that limit, in characters, for very short documents.
        document_timeout_s: wall-clock seconds for one document.
        program_timeout_s: wall-clock seconds for the whole collection (AutoIndex: 15 minutes).
        memory_mb: address space of one worker, in MiB.
        allowed_imports: modules that a program may import.
    """

    max_passages: int = 16
    max_growth: float = 10.0
    min_growth_chars: int = 1000
    document_timeout_s: float = 10.0
    program_timeout_s: float = 900.0
    memory_mb: int = 1024
    allowed_imports: tuple[str, ...] = ALLOWED_IMPORTS


class Execution(msgspec.Struct, frozen=True):
    """How the work is spread over this machine. Nothing here changes a result.

    Attributes:
        workers: sandbox processes, and threads of Lucene; 0 means one for each core.
        batch_documents: most documents in one message to a worker.
        batch_chars: most characters in one message, whichever is reached first.
        sandbox: ``confined`` (kernel confinement required) or ``process`` (a bare child process).
    """

    workers: int = 0
    batch_documents: int = 256
    batch_chars: int = 1 << 20
    sandbox: str = "confined"

    @property
    def worker_count(self) -> int:
        """The number of workers, with 0 resolved to the cores this process may use."""
        return (
            self.workers or len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else (self.workers or os.cpu_count() or 1)
        )


class Search(msgspec.Struct, frozen=True):
    """The search for a better program (defaults: AutoIndex, arXiv 2607.18603).

    Attributes:
        rounds: rounds of proposals.
        candidates: proposals in a round.
        seed: seeds every choice of the proposer.
        objective: the measure that decides, in ir_measures syntax.
        threshold: a candidate is kept if the objective rises by at least this much.
        measures: all measures computed for every evaluation; the objective is among them.
        proposer: who proposes: ``operators``.
    """

    rounds: int = 5
    candidates: int = 4
    seed: int = 0
    objective: str = "R@100"
    threshold: float = 1e-5
    measures: tuple[str, ...] = ("R@100", "nDCG@10")
    proposer: str = "operators"


class Settings(msgspec.Struct, frozen=True):
    """Everything needed to repeat a run, apart from the collection itself."""

    retriever: Retriever = Retriever()
    limits: Limits = Limits()
    execution: Execution = Execution()
    search: Search = Search()
