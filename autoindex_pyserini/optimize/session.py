"""A run by hand: the same loop and the same journal, one step at a time.

Every step replays the journal up to where it ends, which evaluates nothing that was evaluated. So a step
that was killed is completed by the next, whichever it is, and nothing is done twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import msgspec

from autoindex_pyserini.agents import Brief, Case, Tool, Trial
from autoindex_pyserini.agents.by_hand import NAME, HandProposer, Paused
from autoindex_pyserini.collection import SearchView, Split
from autoindex_pyserini.errors import RunDirectoryError
from autoindex_pyserini.evaluation import QueryChange, compare
from autoindex_pyserini.optimize.desk import Desk
from autoindex_pyserini.optimize.events import Finished, JournalEvent, Proposed, Selected, Tried
from autoindex_pyserini.optimize.loop import Listener
from autoindex_pyserini.optimize.run import OpenRun, RunResult
from autoindex_pyserini.optimize.run_directory import RunDirectory, RunSettings
from autoindex_pyserini.pipeline import Outcome, Progress
from autoindex_pyserini.program import Program, check
from autoindex_pyserini.settings import Settings

ENDED = "ended by hand"


class QueryShift(msgspec.Struct, frozen=True):
    """A validation query whose objective changed.

    Attributes:
        query: its text.
        before: the objective under the parent.
        after: the objective under the program.
        ranks: of each relevant document whose rank changed, before and after; None where it is not
            retrieved. The best rank of the two first.
    """

    query: str
    before: float
    after: float
    ranks: tuple[tuple[int | None, int | None], ...]


class Attempt(msgspec.Struct, frozen=True):
    """What came of trying one program.

    Attributes:
        trial: the program, its measures and their changes against its parent.
        again: the program had been tried before this step; nothing was evaluated.
        incumbent: the best program now.
        fixed: queries whose objective rose against the parent, the largest rise first.
        broken: queries whose objective fell, the largest fall first.
    """

    trial: Trial
    again: bool
    incumbent: Trial
    fixed: tuple[QueryShift, ...] = ()
    broken: tuple[QueryShift, ...] = ()


def check_by_hand(directory: RunDirectory, recorded: RunSettings, *, goes_on: bool = True) -> None:
    """Check that a run can be worked on by hand, and that its files are whole; nothing is locked.

    Args:
        directory: the run.
        recorded: its settings.
        goes_on: the search must not have ended.

    Raises:
        RunDirectoryError: another proposer's run, one that has ended, or a damaged one; names the command
            that fits.
    """
    path, who = directory.path, recorded.settings.search.proposer
    if who != NAME:
        raise RunDirectoryError(
            f"{path} is a run of the proposer {who}, not by hand; go on with: "
            f"autoindex optimize {recorded.collection} --out {path} --resume"
        )
    directory.check(recorded)
    if goes_on and directory.has_journal:
        _check_goes_on(directory, directory.history(recorded))


def _check_goes_on(directory: RunDirectory, events: Sequence[JournalEvent]) -> None:
    path = directory.path
    if any(isinstance(event, Finished) for event in events):
        raise RunDirectoryError(
            f"the run in {path} is finished and its test queries are open, so no program can be tried any "
            f"more; look at it with: autoindex show {path}; or start another run"
        )
    if any(isinstance(event, Selected) or (isinstance(event, Proposed) and event.ended) for event in events):
        raise RunDirectoryError(f"the search in {path} has ended; complete it with: autoindex finish {path}")


class Session:
    """A run by hand that this process works on; locked against others. A context manager.

    It holds no reference to the test split.

    Args:
        view: the collection without its test split.
        settings: of the run.
        directory: of the run.
        progress: told about long work.
        listener: told of every event that was not recorded before.

    Raises:
        RunDirectoryError: another process works on this run.
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
        self._listener = listener
        self._to_skip = 0
        self._view = view
        self._directory = directory
        self._run = OpenRun(view, settings, directory, progress=progress, listener=self._told)
        self._desk = Desk(view, settings, self._run.pipeline, directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove what was built to look into, and release the lock."""
        self._desk.close()
        self._run.close()

    def state(self) -> Brief:
        """Where the search stands: incumbent and history, without a look at the documents.

        Completes a step that was killed, and evaluates the first program of a run that has just begun.

        Raises:
            RunDirectoryError: the search has ended.
        """
        return self._go_on(HandProposer())

    def brief(self) -> tuple[Brief, tuple[Case, ...]]:
        """Everything that is known, and cases to look into.

        Raises:
            RunDirectoryError: the search has ended.
        """
        self.state()
        return self._desk.brief(), self._desk.cases()

    @property
    def tools(self) -> Sequence[Tool]:
        """What `ask` can do."""
        return self._desk.tools

    def ask(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Look into the incumbent's index; see `Workbench.call`.

        Raises:
            RunDirectoryError: the search has ended.
        """
        self.state()
        return self._desk.call(tool, arguments)

    def attempt(self, program: Program, because: str) -> Attempt:
        """Try a program: run, index, score on validation, keep it if the objective rises.

        Args:
            program: the program; a program that was tried already is not evaluated again.
            because: why it should be better.

        Raises:
            InvalidProgramError: it breaks a static rule; nothing is recorded.
            RunDirectoryError: the search has ended.
        """
        check(program, self._run.settings.limits)
        tried = {event.program for event in self._run.journal.events if isinstance(event, Tried)}
        brief = self._go_on(HandProposer(program, because))
        trial = next(trial for trial in brief.history if trial.program.id == program.id)
        fixed, broken = self._shifts(trial)
        return Attempt(trial, program.id in tried, brief.incumbent, fixed, broken)

    def finish(self, open_test: Callable[[], Split]) -> RunResult:
        """End the search: publish the best program's index, and score it on the test queries, once.

        Args:
            open_test: gives the test split; called only where the test was not made yet.
        """
        self._to_skip = len(self._run.journal.events)
        winner = self._run.search(HandProposer(ended=ENDED), desk=self._slate())
        self._desk.close()
        return self._run.conclude(winner, open_test)

    def _go_on(self, proposer: HandProposer) -> Brief:
        """Replay the run and let the proposer add to it; the desk then stands where the search does."""
        events = self._run.journal.events
        _check_goes_on(self._directory, events)
        self._to_skip = len(events)
        try:
            self._run.search(proposer, desk=self._slate())
        except Paused as paused:
            brief = paused.brief
            self._desk.seat(brief.incumbent, brief.history, brief.round)
            return brief
        raise self._run.journal.mismatch("the search ended without being told to")

    def _slate(self) -> Desk:
        return _Slate(self._view, self._run.settings, self._run.pipeline, self._directory)

    def _told(self, event: JournalEvent) -> None:
        """Pass on what was not recorded when this step began."""
        if self._to_skip:
            self._to_skip -= 1
        else:
            self._listener(event)

    def _shifts(self, trial: Trial) -> tuple[tuple[QueryShift, ...], tuple[QueryShift, ...]]:
        if trial.fault or trial.parent is None:
            return (), ()
        before = self._directory.evaluation(trial.parent)
        after = self._directory.evaluation(trial.program.id)
        change = compare(before.evaluation, after.evaluation, self._run.settings.search.objective)
        texts = {topic.qid: topic.text for topic in self._view.validation.topics}

        def shift(one: QueryChange) -> QueryShift:
            return QueryShift(texts[one.qid], one.before, one.after, _ranks(one.qid, before, after))

        return tuple(map(shift, change.fixed)), tuple(map(shift, change.broken))


class _Slate(Desk):
    """A desk for replays: its briefs cost nothing, because nobody reads more of them than the history."""

    def brief(self) -> Brief:
        """Where the search stands; profile and evidence are empty."""
        return self.standing()


def _ranks(qid: str, before: Outcome, after: Outcome) -> tuple[tuple[int | None, int | None], ...]:
    old, new = before.ranks.get(qid, {}), after.ranks.get(qid, {})
    pairs = [(old.get(docid), new.get(docid)) for docid in {**old, **new}]
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    return tuple(sorted(changed, key=lambda pair: [rank or 1_000_000 for rank in _best_first(pair)]))


def _best_first(pair: tuple[int | None, int | None]) -> list[int | None]:
    return sorted(pair, key=lambda rank: rank or 1_000_000)
