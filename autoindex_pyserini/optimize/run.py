"""A whole run: search on validation, test once, publish the index. Resumable at every step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from autoindex_pyserini.agents import Proposer, is_rendered
from autoindex_pyserini.agents.by_hand import NAME as BY_HAND
from autoindex_pyserini.collection import Collection, SearchView, Split
from autoindex_pyserini.errors import IndexDirectoryError, InputError
from autoindex_pyserini.evaluation import check_measures
from autoindex_pyserini.lucene import analyzer_config, read_manifest
from autoindex_pyserini.optimize.desk import Desk
from autoindex_pyserini.optimize.events import Finished, JournalEvent, Started, Tested
from autoindex_pyserini.optimize.journal import Journal
from autoindex_pyserini.optimize.loop import Listener, Loop
from autoindex_pyserini.optimize.proposers import check_proposer, proposer_for
from autoindex_pyserini.optimize.run_directory import RunDirectory, TestResult, settings_hash
from autoindex_pyserini.pipeline import Outcome, Pipeline, Progress
from autoindex_pyserini.program import Program
from autoindex_pyserini.settings import Settings

START = "full_text"


class RunResult(msgspec.Struct, frozen=True):
    """What a finished run hands over.

    Attributes:
        directory: the run directory.
        index: the winner's published index.
        start: the first program.
        winner: the best program on validation.
        validation: outcomes of both on the validation queries.
        test: outcomes of both on the test queries.
    """

    directory: Path
    index: Path
    start: Program
    winner: Program
    validation: TestResult
    test: TestResult


def check_settings(settings: Settings) -> None:
    """Check every knob that a user can set, before any work is done.

    Raises:
        InputError: names the first knob that is out of range.
    """
    search, retriever = settings.search, settings.retriever
    for name, value, least in (
        ("rounds", search.rounds, 0 if search.proposer == BY_HAND else 1),
        ("candidates", search.candidates, 1),
        ("depth", retriever.depth, 1),
        ("workers", settings.execution.workers, 0),
    ):
        if value < least:
            raise InputError(f"illegal {name} value: {value}, must be at least {least}")
    if not 0 <= search.threshold < float("inf"):
        raise InputError(f"illegal threshold value: {search.threshold}, must be a non-negative finite value")
    if settings.execution.sandbox not in ("confined", "process"):
        raise InputError(f"illegal sandbox {settings.execution.sandbox!r}, must be confined or process")
    if not 0 <= retriever.b <= 1:
        raise InputError(f"illegal b value: {retriever.b}, must be between 0 and 1")
    if not 0 <= retriever.k1 < float("inf"):
        raise InputError(f"illegal k1 value: {retriever.k1}, must be a non-negative finite value")
    analyzer_config(retriever.analyzer)
    check_measures(search.measures)
    check_proposer(settings)


class OpenRun:
    """A run directory that this process works on: locked, and cleared of what a killed process left.

    A context manager. It holds no reference to the test split.

    Args:
        view: the collection without its test split.
        settings: every knob.
        directory: from `RunDirectory.create` or `RunDirectory.open`.
        progress: told about long work.
        listener: told of every event, recorded or new.

    Raises:
        InputError: a knob is out of range.
        RunDirectoryError: the directory is in use, or its journal is not one of ours.
    """

    def __init__(
        self,
        view: SearchView,
        settings: Settings,
        directory: RunDirectory,
        *,
        progress: Progress | None = None,
        listener: Listener = lambda event: None,
    ) -> None:
        check_settings(settings)
        self.settings = settings
        self.journal = Journal(directory.path)
        directory.clear_scratch()
        self.pipeline = Pipeline(view, settings, directory.scratch, progress=progress, trusted=is_rendered)
        self._view = view
        self._directory = directory
        self._listener = listener
        self._start = Program.builtin(START)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock."""
        self.journal.close()

    def search(
        self,
        proposer: Proposer,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        desk: Desk | None = None,
    ) -> Program:
        """Replay what is recorded and go on from there; the winner.

        Args:
            proposer: who proposes where the record ends.
            should_stop: as in `Loop`.
            desk: as in `Loop`.

        Raises:
            RunDirectoryError: the journal does not fit.
            StopRequestedError: the user asked to stop; the run can be resumed.
        """
        self.journal.rewind()
        self._record(
            Started(
                collection=self._view.name,
                fingerprint=self._view.fingerprint,
                settings=settings_hash(self.settings),
                proposer=proposer.name,
                version=proposer.version,
            )
        )
        loop = Loop(
            self._view,
            self.settings,
            proposer,
            self.pipeline,
            self._directory,
            self.journal,
            listener=self._listener,
            should_stop=should_stop,
            desk=desk,
        )
        return loop.run(self._start)

    def conclude(self, winner: Program, open_test: Callable[[], Split]) -> RunResult:
        """Publish the index of the program that `search` returned, and test it; what is done stays done.

        Args:
            winner: from `search`.
            open_test: gives the test split; called once in the whole life of a run, after the choice.

        Raises:
            IndexDirectoryError: another index is in the way.
        """
        start, directory = self._start, self._directory
        directory.write_best(winner)
        validation = TestResult(directory.evaluation(start.id), directory.evaluation(winner.id))
        _publish(self.pipeline, winner, directory, validation.winner)
        tested = self.journal.recorded(Tested)
        if tested is None:
            test = _test(self.pipeline, start, winner, directory, open_test())
            means = (test.baseline.evaluation.means, test.winner.evaluation.means)
            tested = Tested(baseline=means[0], winner=means[1], queries=len(test.winner.ranks))
            self.journal.append(tested)
        else:
            test = directory.test()
        self._listener(tested)
        self._record(Finished(program=winner.id, passages=validation.winner.costs.passages))
        directory.clear_scratch()
        return RunResult(directory.path, directory.index, start, winner, validation, test)

    def _record(self, event: JournalEvent) -> None:
        self.journal.once(event)
        self._listener(event)


def run(
    collection: Collection,
    settings: Settings,
    directory: RunDirectory,
    *,
    progress: Progress | None = None,
    listener: Listener = lambda event: None,
    should_stop: Callable[[], bool] = lambda: False,
    replay: Path | None = None,
) -> RunResult:
    """Search for a better program, test it once and publish its index; or go on with a run that did not end.

    Args:
        collection: what to search; the loop gets its `SearchView`.
        settings: every knob.
        directory: from `RunDirectory.create` or `RunDirectory.open`.
        progress: told about long work.
        listener: told of every event.
        should_stop: asked before each evaluation, and while a model is waited for.
        replay: a run directory whose model answers this run, instead of an endpoint.

    Raises:
        RunDirectoryError: the directory is in use, or its journal does not fit.
        StopRequestedError: the user asked to stop; the run can be resumed.
    """
    check_settings(settings)
    proposer = proposer_for(settings, directory.path, replay=replay, should_stop=should_stop)
    view = collection.for_search()
    with OpenRun(view, settings, directory, progress=progress, listener=listener) as opened:
        winner = opened.search(proposer, should_stop=should_stop)
        return opened.conclude(winner, collection.open_test)


def _publish(pipeline: Pipeline, winner: Program, directory: RunDirectory, outcome: Outcome) -> None:
    """Publish the winner's index, unless an interrupted run did."""
    if directory.index.exists():
        found = read_manifest(directory.index)
        if found.program_id != winner.id:
            raise IndexDirectoryError(
                f"{directory.index} holds program {found.program_id}, the winner is {winner.id}; move it away"
            )
        return
    pipeline.publish(winner, directory.index, validation=outcome.evaluation.means)


def _test(
    pipeline: Pipeline, start: Program, winner: Program, directory: RunDirectory, split: Split
) -> TestResult:
    """Score the first program and the winner on the test queries."""
    baseline, _ = pipeline.evaluate(start, split)
    won = baseline
    if winner.id != start.id:
        costs = directory.evaluation(winner.id).costs
        won, _ = pipeline.score(winner, directory.index, costs, split)
    result = TestResult(baseline, won)
    directory.write_test(result)
    return result
