"""One program's life: checked, run in the sandbox, indexed, searched, scored.

The loop, the baselines and the commands all come through here, so a number means the same wherever it is
printed.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from autoindex_pyserini.collection import Split
from autoindex_pyserini.errors import IndexLossError
from autoindex_pyserini.evaluation import evaluate
from autoindex_pyserini.lucene import (
    IndexBuilder,
    IndexOptions,
    Manifest,
    Scoring,
    Searcher,
    corpus_statistics,
    publishing,
    software_versions,
    write_manifest,
)
from autoindex_pyserini.pipeline.outcome import Costs, Outcome, relevant_ranks
from autoindex_pyserini.program import CorpusStatistics, Program, check
from autoindex_pyserini.sandbox import Counts, Sandbox, represent_all
from autoindex_pyserini.settings import Settings
from autoindex_pyserini.types import Document, Represented, Run, Topic

type Progress = Callable[[str, int, int | None], None]
"""Told how far long work has come: what is being done, how many are done, how many there are."""


class Documents(Protocol):
    """What the pipeline needs of a collection: its documents and its identity, no queries."""

    @property
    def name(self) -> str:
        """The collection's name."""
        ...

    @property
    def fingerprint(self) -> str:
        """The hash of its content."""
        ...

    @property
    def num_documents(self) -> int:
        """How many documents `documents` yields."""
        ...

    def documents(self) -> Iterator[Document]:
        """Stream the documents; repeatable, in the same order each time."""
        ...


class Pipeline:
    """Takes programs over one collection, with one fixed retriever.

    Args:
        collection: its documents; `SearchView` and `Collection` both fit.
        settings: retriever, limits, execution and measures.
        scratch: a directory for indexes that live only as long as an evaluation; made if missing.
        progress: told about documents represented and queries searched.
        trusted: tells programs that may run where the kernel cannot confine; the built-in ones may.
    """

    def __init__(
        self,
        collection: Documents,
        settings: Settings,
        scratch: Path,
        *,
        progress: Progress | None = None,
        trusted: Callable[[Program], bool] | None = None,
    ) -> None:
        self.collection = collection
        self.settings = settings
        self._scratch = scratch
        self._progress = progress or (lambda stage, done, total: None)
        self._trusted = trusted
        self._corpus: CorpusStatistics | None = None

    def corpus(self) -> CorpusStatistics:
        """The collection's statistics for programs that ask for them; counted on first use."""
        if self._corpus is None:
            self._corpus = corpus_statistics(
                self._counted("statistics", self.collection.documents()),
                analyzer=self.settings.retriever.analyzer,
                threads=self.settings.execution.worker_count,
            )
        return self._corpus

    def represent(self, program: Program, documents: Iterable[Document]) -> Iterator[list[Represented]]:
        """Run a program over some documents, in their order, without indexing them.

        Raises:
            ProgramFault: the program is at fault.
        """
        execution = msgspec.structs.replace(self.settings.execution, workers=1)
        with Sandbox(
            program,
            limits=self.settings.limits,
            execution=execution,
            corpus=self._corpus_for(program),
            trusted=self._trusted,
        ) as sandbox:
            yield from sandbox.represent(documents)

    def represent_collection(self, program: Program, counts: Counts) -> Generator[list[Represented]]:
        """Run a program over the whole collection and check that it is deterministic; to be closed.

        Args:
            program: checked by the caller.
            counts: grows with what happened to documents and passages.

        Raises:
            ProgramFault: the program is at fault.
        """
        return represent_all(
            program,
            self._counted("represent and index", self.collection.documents()),
            limits=self.settings.limits,
            execution=self.settings.execution,
            corpus=self._corpus_for(program),
            trusted=self._trusted,
            counts=counts,
        )

    def build(self, program: Program, directory: Path, options: IndexOptions | None = None) -> Costs:
        """Run a program over the collection and index what it gives.

        Args:
            program: checked here before it runs.
            directory: where the index goes; must not exist.
            options: what the index keeps; analyzer, fields and threads are set from the settings and the
                program.

        Returns:
            counts, bytes and seconds; the index is complete and verified.

        Raises:
            ProgramFault: the program is at fault; the directory is gone.
            IndexLossError: the index lacks documents; the directory is gone.
        """
        check(program, self.settings.limits)
        threads = self.settings.execution.worker_count
        options = msgspec.structs.replace(
            options or IndexOptions(),
            analyzer=self.settings.retriever.analyzer,
            fields=program.fields,
            threads=threads,
        )
        started = time.perf_counter()
        made = Counts()
        represented = self.represent_collection(program, made)
        with contextlib.closing(represented), IndexBuilder(directory, options) as builder:
            for batch in represented:
                builder.add(batch)
        counts = builder.counts
        if counts is None or counts.documents != self.collection.num_documents:
            shutil.rmtree(directory, ignore_errors=True)
            raise IndexLossError(
                f"{counts.documents if counts else 0} documents were indexed, {self.collection.name} has "
                f"{self.collection.num_documents}; nothing is published; has the collection changed on disk?"
            )
        return Costs(
            documents=counts.documents,
            passages=counts.passages,
            fallbacks=made.fallbacks,
            empty_documents=made.empty_documents,
            mended_passages=made.mended_passages,
            dropped_passages=made.dropped_passages,
            index_bytes=counts.size_bytes,
            index_seconds=time.perf_counter() - started,
        )

    def searcher(self, directory: Path) -> Searcher:
        """Open an index with the retriever and threads of the settings; to be closed."""
        return Searcher(directory, self.settings.retriever, threads=self.settings.execution.worker_count)

    def ticker(self, stage: str, total: int) -> Callable[[int], None]:
        """A counter that is told how many more are done, and tells `progress` how many are."""
        done = 0

        def tick(count: int) -> None:
            nonlocal done
            done += count
            self._progress(stage, done, total)

        return tick

    def search(
        self, directory: Path, topics: Sequence[Topic], *, name: str, scoring: Scoring | None = None
    ) -> Run:
        """Search an index for all topics.

        Args:
            directory: the index.
            topics: the queries.
            name: the run's tag.
            scoring: how passages are scored; BM25 with the retriever's k1 and b if None.

        Raises:
            SearchFailedError: some queries failed.
        """
        with self.searcher(directory) as searcher:
            tick = self.ticker("search", len(topics))
            return searcher.search(topics, scoring=scoring, name=name, progress=tick)

    def score(self, program: Program, directory: Path, costs: Costs, split: Split) -> tuple[Outcome, Run]:
        """Search an index that `build` made and score the run on a split."""
        started = time.perf_counter()
        run = self.search(directory, split.topics, name=program.name or program.id)
        seconds = time.perf_counter() - started
        evaluation = evaluate(run, split.qrels, self.settings.search.measures)
        ranks = relevant_ranks(run, split.qrels)
        costs = msgspec.structs.replace(costs, search_seconds=seconds)
        return Outcome(program.id, split.name, evaluation, ranks, costs), run

    def evaluate(self, program: Program, split: Split) -> tuple[Outcome, Run]:
        """Build an index, score it on a split, and throw the index away.

        Raises:
            ProgramFault: the program is at fault.
        """
        directory = self._scratch / f"index-{program.id}"
        shutil.rmtree(directory, ignore_errors=True)
        try:
            costs = self.build(program, directory)
            return self.score(program, directory, costs, split)
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def publish(
        self,
        program: Program,
        directory: Path,
        *,
        options: IndexOptions | None = None,
        validation: dict[str, float] | None = None,
        overwrite: bool = False,
    ) -> tuple[Manifest, Costs]:
        """Build an index for others to open: beside its place, verified, described, then switched into it.

        Args:
            program: what represents the documents.
            directory: where the index will be; must not exist.
            options: what the index keeps.
            validation: the program's means on the validation queries, for the manifest.
            overwrite: replace an index that autoindex built; it serves until the new one is complete.

        Raises:
            IndexDirectoryError: the directory exists, or another process builds the same index.
            ProgramFault: the program is at fault; nothing is left behind.
        """
        with publishing(directory, overwrite=overwrite) as building:
            costs = self.build(program, building, options)
            manifest = Manifest(
                collection=self.collection.name,
                fingerprint=self.collection.fingerprint,
                documents=costs.documents,
                passages=costs.passages,
                fallbacks=costs.fallbacks,
                empty_documents=costs.empty_documents,
                program_id=program.id,
                program=program.source,
                fields=program.fields,
                retriever=self.settings.retriever,
                validation=validation or {},
                versions=software_versions(),
            )
            write_manifest(building, manifest)
        return manifest, costs

    def _corpus_for(self, program: Program) -> CorpusStatistics | None:
        return self.corpus() if program.wants_corpus else None

    def _counted(self, stage: str, documents: Iterable[Document]) -> Iterator[Document]:
        total = self.collection.num_documents
        for count, document in enumerate(documents, 1):
            yield document
            if count % 256 == 0 or count == total:
                self._progress(stage, count, total)
