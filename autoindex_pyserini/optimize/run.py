"""A whole run: search on validation, test once, publish the index. Resumable at every step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from autoindex_pyserini.agents import is_rendered
from autoindex_pyserini.collection import Collection, Split
from autoindex_pyserini.errors import IndexDirectoryError, InputError
from autoindex_pyserini.evaluation import check_measures
from autoindex_pyserini.lucene import analyzer_config, read_manifest
from autoindex_pyserini.optimize.events import Finished, Started, Tested
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
        ("rounds", search.rounds, 1),
        ("candidates", search.candidates, 1),
        ("depth", retriever.depth, 1),
        ("workers", settings.execution.workers, 0),
    ):
        if value < least:
            raise InputError(f"illegal {name} value: {value}, must be at least {least}")
    if settings.execution.sandbox not in ("confined", "process"):
        raise InputError(f"illegal sandbox {settings.execution.sandbox!r}, must be confined or process")
    if not 0 <= retriever.b <= 1:
        raise InputError(f"illegal b value: {retriever.b}, must be between 0 and 1")
    if not 0 <= retriever.k1 < float("inf"):
        raise InputError(f"illegal k1 value: {retriever.k1}, must be a non-negative finite value")
    analyzer_config(retriever.analyzer)
    check_measures(search.measures)
    check_proposer(settings)


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
    start = Program.builtin(START)
    view = collection.for_search()
    with Journal(directory.path) as journal:
        directory.clear_scratch()
        began = Started(
            collection=collection.name,
            fingerprint=collection.fingerprint,
            settings=settings_hash(settings),
            proposer=proposer.name,
        )
        journal.once(began)
        listener(began)
        pipeline = Pipeline(view, settings, directory.scratch, progress=progress, trusted=is_rendered)
        loop = Loop(
            view, settings, proposer, pipeline, directory, journal, listener=listener, should_stop=should_stop
        )
        winner = loop.run(start)
        directory.write_best(winner)
        validation = TestResult(directory.evaluation(start.id), directory.evaluation(winner.id))
        _publish(pipeline, winner, directory, validation.winner)
        tested = journal.recorded(Tested)
        if tested is None:
            test = _test(pipeline, start, winner, directory, collection.open_test())
            means = (test.baseline.evaluation.means, test.winner.evaluation.means)
            tested = Tested(baseline=means[0], winner=means[1], queries=len(test.winner.ranks))
            journal.append(tested)
        else:
            test = directory.test()
        listener(tested)
        finished = Finished(program=winner.id, passages=validation.winner.costs.passages)
        journal.once(finished)
        listener(finished)
        directory.clear_scratch()
    return RunResult(directory.path, directory.index, start, winner, validation, test)


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
