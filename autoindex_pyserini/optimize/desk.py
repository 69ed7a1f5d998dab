"""What a proposer is given to work with: the brief, and the incumbent's index to look into.

Nothing is computed before it is asked for, so that a resumed run does not diagnose what was answered before,
and a proposer that needs no index has none built.
"""

from __future__ import annotations

from autoindex_pyserini.agents import (
    Brief,
    CollectionProfile,
    FieldEvidence,
    Trial,
    profile,
)
from autoindex_pyserini.collection import SearchView
from autoindex_pyserini.optimize.diagnosis import diagnose
from autoindex_pyserini.optimize.run_directory import RunDirectory
from autoindex_pyserini.pipeline import Pipeline
from autoindex_pyserini.settings import Settings


class Desk:
    """The `Workbench` of a run, and the maker of its briefs. Sees validation alone."""

    def __init__(
        self, view: SearchView, settings: Settings, pipeline: Pipeline, directory: RunDirectory
    ) -> None:
        self._view = view
        self._settings = settings
        self._pipeline = pipeline
        self._directory = directory
        self._profile: CollectionProfile | None = None
        self._diagnosed = ""
        self._evidence: tuple[FieldEvidence, ...] = ()
        self.notes: tuple[str, ...] = ()

    def seat(self, incumbent: Trial, history: tuple[Trial, ...], number: int) -> None:
        """Say who the incumbent of this round is, and what was tried so far."""
        self._incumbent, self._history, self._round = incumbent, history, number

    def brief(self) -> Brief:
        """Everything that is known, in numbers."""
        search = self._settings.search
        if self._profile is None:
            self._profile = profile(self._view.documents())
        program = self._incumbent.program
        if program.id != self._diagnosed:
            outcome = self._directory.evaluation(program.id)
            self._evidence = diagnose(self._pipeline, self._view, program, outcome)
            self._diagnosed = program.id
        return Brief(
            profile=self._profile,
            incumbent=self._incumbent,
            history=self._history,
            round=self._round,
            rounds=search.rounds,
            objective=search.objective,
            measures=search.measures,
            limits=self._settings.limits,
            num_validation_queries=len(self._view.validation.qrels),
            evidence=self._evidence,
            notes=self.notes,
        )
