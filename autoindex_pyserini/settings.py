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
        rounds: rounds of proposals; 0 for no end but the proposer's.
        candidates: proposals in a round.
        seed: seeds every choice of the proposer.
        objective: the measure that decides, in ir_measures syntax.
        threshold: a candidate is kept if the objective rises by at least this much.
        measures: all measures computed for every evaluation; the objective is among them.
        proposer: who proposes: ``operators``, ``llm``, or ``hand``.
        analysis: ``llm``: the Analysis Agent looks into the index before the Code Agent writes.
        history: ``llm``: the Code Agent is told what was tried before.
        synthesis: ``llm``: where several candidates of a round pass, one that joins them is asked for.
        cases: ``llm`` and ``hand``: validation queries shown of each kind.
    """

    rounds: int = 5
    candidates: int = 4
    seed: int = 0
    objective: str = "R@100"
    threshold: float = 1e-5
    measures: tuple[str, ...] = ("R@100", "nDCG@10")
    proposer: str = "operators"
    analysis: bool = True
    history: bool = True
    synthesis: bool = True
    cases: int = 5


class Model(msgspec.Struct, frozen=True):
    """The language model of the two agents: what can change its answers.

    Attributes:
        name: as the endpoint calls it; empty without one.
        temperature: of sampling, >= 0.
        max_completion_tokens: most tokens of one reply, those of reasoning among them.
        tool_turns: turns with tools that the Analysis Agent has (AutoIndex: 5).
        repairs: requests that may follow on a reply without a program, and on each broken program.
    """

    name: str = ""
    temperature: float = 0.7
    max_completion_tokens: int = 16_384
    tool_turns: int = 5
    repairs: int = 1


class Endpoint(msgspec.Struct, frozen=True):
    """Where the model is, and what it may use. Keys are never here: they stay in the environment.

    Attributes:
        base_url: of an OpenAI-compatible API; empty for ``OPENAI_BASE_URL`` or OpenAI's own.
        timeout_s: wall-clock seconds until one request is given up.
        price_in: money for a million prompt tokens.
        price_out: money for a million completion tokens.
        max_tokens: tokens of a whole run, prompts and completions; 0 for no limit.
        max_money: money of a whole run; 0 for no limit.
        max_seconds: seconds of waiting for the model in a whole run; 0 for no limit.
    """

    base_url: str = ""
    timeout_s: float = 600.0
    price_in: float = 0.0
    price_out: float = 0.0
    max_tokens: int = 2_000_000
    max_money: float = 0.0
    max_seconds: float = 0.0


class Settings(msgspec.Struct, frozen=True):
    """Everything needed to repeat a run, apart from the collection itself."""

    retriever: Retriever = Retriever()
    limits: Limits = Limits()
    execution: Execution = Execution()
    search: Search = Search()
    model: Model = Model()
    endpoint: Endpoint = Endpoint()
