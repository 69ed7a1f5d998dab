"""One call for the usual case: a program, a stream, all checks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

from autoindex_pyserini.program import CorpusStatistics, Program
from autoindex_pyserini.sandbox.determinism import SAMPLE_SIZE, Sample, verify_determinism
from autoindex_pyserini.sandbox.pool import Sandbox
from autoindex_pyserini.sandbox.verify import Counts
from autoindex_pyserini.settings import Execution, Limits
from autoindex_pyserini.types import Document, Represented


def represent_all(
    program: Program,
    documents: Iterable[Document],
    *,
    limits: Limits,
    execution: Execution,
    corpus: CorpusStatistics | None = None,
    trusted: Callable[[Program], bool] | None = None,
    counts: Counts | None = None,
    sample_size: int = SAMPLE_SIZE,
) -> Generator[list[Represented]]:
    """Run a program on every document in a sandbox of its own, and check that it is deterministic.

    The check comes after the last document, on a sample that does not depend on how the work was spread.

    Args:
        program: any program.
        documents: read once.
        limits: what the program may do.
        execution: number of workers, size of batches, and the kind of sandbox.
        corpus: statistics for a program that asks for them.
        trusted: tells programs that may run where the kernel cannot confine.
        counts: if given, what was counted is added to it as the stream goes on.
        sample_size: documents to run again; 0 for no check.

    Yields:
        Lists of consecutive documents' passages, in the order of the stream.

    Raises:
        ProgramFault: see `Sandbox.represent`; `NondeterministicProgramError` at the very end.
        EnvironmentProblemError: the kernel cannot confine, and the program is not trusted.
    """
    sample = Sample(sample_size)
    with Sandbox(program, limits=limits, execution=execution, corpus=corpus, trusted=trusted) as sandbox:
        if counts is not None:
            sandbox.stats = counts
        for represented in sandbox.represent(sample.watch(documents) if sample_size else documents):
            if sample_size:
                sample.note(represented)
            yield represented
        verify_determinism(sandbox, sample.sampled())
