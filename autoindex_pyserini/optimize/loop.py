"""The paper's controller: rounds of proposals, each kept if the objective rises (AutoIndex, section 3).

The loop sees the validation queries alone. It is a function of the collection, the settings and the proposer,
and asks its journal before it asks the proposer or computes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import count

from msgspec.structs import replace

from autoindex_pyserini.agents import Answer, Proposal, Proposer, RequestCancelledError, Trial
from autoindex_pyserini.collection import SearchView
from autoindex_pyserini.errors import ProgramFault
from autoindex_pyserini.evaluation import accepts, compare
from autoindex_pyserini.optimize.desk import Desk
from autoindex_pyserini.optimize.events import (
    JournalEvent,
    Proposed,
    ProposedProgram,
    RoundClosed,
    Selected,
    Tried,
)
from autoindex_pyserini.optimize.journal import Journal
from autoindex_pyserini.optimize.run_directory import RunDirectory
from autoindex_pyserini.pipeline import Outcome, Pipeline
from autoindex_pyserini.program import Program
from autoindex_pyserini.settings import Settings
from autoindex_pyserini.types import Evaluation

type Listener = Callable[[JournalEvent], None]
"""Told of every event when it is known, recorded or new."""


class StopRequestedError(Exception):
    """The user asked to stop; what was finished is in the journal."""


class Loop:
    """Searches for a better program.

    Args:
        view: the collection without its test split.
        settings: every knob.
        proposer: who proposes.
        pipeline: evaluates programs over the view.
        directory: keeps programs and evaluations.
        journal: keeps events; locked by this process.
        listener: told of every event.
        should_stop: asked before each evaluation; True raises `StopRequestedError`.
        desk: makes briefs and is the proposer's workbench; a new one by default.
    """

    def __init__(
        self,
        view: SearchView,
        settings: Settings,
        proposer: Proposer,
        pipeline: Pipeline,
        directory: RunDirectory,
        journal: Journal,
        *,
        listener: Listener = lambda event: None,
        should_stop: Callable[[], bool] = lambda: False,
        desk: Desk | None = None,
    ) -> None:
        self._view = view
        self._settings = settings
        self._proposer = proposer
        self._pipeline = pipeline
        self._directory = directory
        self._journal = journal
        self._listener = listener
        self._should_stop = should_stop
        self._trials: list[Trial] = []
        self._desk = desk or Desk(view, settings, pipeline, directory)

    def run(self, start: Program) -> Program:
        """Search, and return the best program on the validation queries.

        Args:
            start: the first incumbent.

        Raises:
            ProgramFault: `start` itself is at fault; a candidate's fault is journalled instead.
            ProposerError: the proposer cannot go on; what was finished is in the journal.
            StopRequestedError: the user asked to stop.
        """
        with closing(self._desk):
            return self._search(start)

    def _search(self, start: Program) -> Program:
        incumbent = self._try(Proposal(start, start.summary, ""), 0, "start", None, None)
        rounds = self._settings.search.rounds
        reason = f"{rounds} {'round is' if rounds == 1 else 'rounds are'} done"
        for number in count(1):
            if rounds and number > rounds:
                break
            self._desk.seat(incumbent, tuple(self._trials), number)
            proposals, ended = self._answer(number, "candidate", self._propose)
            if ended and not proposals:
                reason = ended
                break
            best = self._round(number, incumbent, proposals)
            leader = (best or incumbent).program.id
            self._record(RoundClosed(round=number, incumbent=leader, improved=best is not None))
            incumbent = best or incumbent
        if self._journal.at_end and self._should_stop():  # asked for in the last round
            raise StopRequestedError
        self._record(Selected(program=incumbent.program.id, reason=reason))
        return incumbent.program

    def _propose(self) -> Answer:
        return self._proposer.propose(self._desk.brief(), self._desk, self._settings.search.candidates)

    def _answer(self, number: int, kind: str, ask: Callable[[], Answer]) -> tuple[list[Proposal], str]:
        """What the proposer answered, or answers now; the programs are on disk before the record is.

        The second value says why the search ends, if it does.
        """
        event = self._journal.recorded(Proposed)
        if event is None:
            if self._should_stop():
                raise StopRequestedError
            try:
                answer = ask()
            except RequestCancelledError:
                raise StopRequestedError from None
            for proposal in answer.proposals:
                self._directory.write_program(proposal.program)
            event = Proposed(
                round=number,
                kind=kind,
                programs=tuple(
                    ProposedProgram(one.program.id, one.hypothesis, one.parent, one.operators)
                    for one in answer.proposals
                ),
                costs=answer.costs,
                notes=answer.notes,
                ended=answer.ended,
            )
            self._journal.append(event)
        self._listener(event)
        self._desk.notes = event.notes if kind == "candidate" else (*self._desk.notes, *event.notes)
        proposals = [
            Proposal(self._directory.program(one.program), one.hypothesis, one.parent, one.operators)
            for one in event.programs
        ]
        return proposals, event.ended

    def _round(self, number: int, incumbent: Trial, proposals: Sequence[Proposal]) -> Trial | None:
        """Evaluate a round's proposals; the best accepted one, or the combination that beats it."""
        tried = [self._try(proposal, number, "candidate", incumbent, incumbent) for proposal in proposals]
        passed = [trial for trial in tried if trial.accepted]
        if not passed:
            return None
        best = max(passed, key=self._merit)
        if len(passed) == 1:
            return best
        self._desk.seat(incumbent, tuple(self._trials), number)
        combined, _ = self._answer(
            number, "combination", lambda: self._proposer.combine(self._desk.brief(), passed)
        )
        if not combined:
            return best
        trial = self._try(combined[0], number, "combination", incumbent, best)
        return trial if trial.accepted else best

    def _merit(self, trial: Trial) -> tuple[float, ...]:
        """The objective first, then the other measures; `max` keeps the earlier of equals."""
        search = self._settings.search
        others = [trial.means[name] for name in search.measures if name != search.objective]
        return (trial.means[search.objective], *others)

    def _try(
        self, proposal: Proposal, number: int, kind: str, parent: Trial | None, rival: Trial | None
    ) -> Trial:
        """Evaluate one program, or take the record of it.

        Args:
            proposal: what to evaluate.
            number: the round.
            kind: as in `Tried`.
            parent: what changes are counted against; None for the first program.
            rival: what it must beat to be accepted; None for the first program.
        """
        program = proposal.program
        event = self._journal.recorded(Tried)
        if event is not None:
            if event.program != program.id:
                raise self._journal.mismatch(
                    f"program {program.id} comes next, the journal has {event.program}"
                )
            self._listener(event)
        else:
            if self._should_stop():
                raise StopRequestedError
            event = self._evaluate(proposal, number, kind, parent, rival)
            self._journal.append(event)
            self._listener(event)
        trial = Trial(
            program=program,
            parent=parent.program.id if parent else None,
            round=number,
            hypothesis=event.hypothesis,
            means=event.means,
            deltas=event.deltas,
            fixed=event.fixed,
            broken=event.broken,
            accepted=event.accepted,
            fault=event.fault,
        )
        self._trials.append(trial)
        return trial

    def _evaluate(
        self, proposal: Proposal, number: int, kind: str, parent: Trial | None, rival: Trial | None
    ) -> Tried:
        program, search = proposal.program, self._settings.search
        if parent is None:
            self._directory.write_program(program)  # others were written when they were proposed
        tried = Tried(
            program=program.id,
            parent=parent.program.id if parent else "",
            round=number,
            kind=kind,
            hypothesis=proposal.hypothesis,
            operators=proposal.operators,
        )
        try:
            outcome, _ = self._pipeline.evaluate(program, self._view.validation)
        except ProgramFault as fault:
            if parent is None:
                raise
            return replace(tried, fault=_describe(fault))
        self._directory.write_evaluation(outcome)
        means = outcome.evaluation.means
        tried = replace(tried, means=means, passages=outcome.costs.passages)
        if parent is None or rival is None:
            return replace(tried, accepted=True)
        before = self._outcome(parent).evaluation
        change = compare(before, outcome.evaluation, search.objective)
        return replace(
            tried,
            deltas={name: means[name] - before.means[name] for name in means},
            fixed=len(change.fixed),
            broken=len(change.broken),
            accepted=self._beats(outcome.evaluation, rival),
        )

    def _beats(self, evaluation: Evaluation, rival: Trial) -> bool:
        search = self._settings.search
        held = self._outcome(rival).evaluation
        return accepts(evaluation, held, objective=search.objective, threshold=search.threshold)

    def _outcome(self, trial: Trial) -> Outcome:
        return self._directory.evaluation(trial.program.id)

    def _record(self, event: JournalEvent) -> None:
        self._journal.once(event)
        self._listener(event)


def _describe(fault: ProgramFault) -> str:
    """The fault on one line."""
    return " ".join(f"{type(fault).__name__}: {fault}".split())
