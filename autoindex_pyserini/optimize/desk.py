"""What a proposer is given to work with: the brief, and the incumbent's index to look into.

Nothing is computed before it is asked for, so that a resumed run does not diagnose what was answered before,
and a proposer that needs no index has none built.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from autoindex_pyserini.agents import (
    Brief,
    Case,
    CollectionProfile,
    FieldEvidence,
    Tool,
    Trial,
    profile,
)
from autoindex_pyserini.agents.tools import TOOLS, Toolbox
from autoindex_pyserini.collection import SearchView
from autoindex_pyserini.optimize.cases import choose, describe
from autoindex_pyserini.optimize.diagnosis import diagnose
from autoindex_pyserini.optimize.run_directory import RunDirectory
from autoindex_pyserini.pipeline import DocumentStore, IndexView, Pipeline
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
        self._store: DocumentStore | None = None
        self._index: IndexView | None = None
        self._indexed = ""

    def seat(self, incumbent: Trial, history: tuple[Trial, ...], number: int) -> None:
        """Say who the incumbent of this round is, and what was tried so far."""
        self._incumbent, self._history, self._round = incumbent, history, number
        if incumbent.program.id != self._indexed:
            self._clear_index()

    def brief(self) -> Brief:
        """Everything that is known, in numbers."""
        if self._profile is None:
            self._profile = profile(self._view.documents())
        program = self._incumbent.program
        if program.id != self._diagnosed:
            outcome = self._directory.evaluation(program.id)
            self._evidence = diagnose(self._pipeline, self._view, program, outcome)
            self._diagnosed = program.id
        return msgspec.structs.replace(self.standing(), profile=self._profile, evidence=self._evidence)

    def standing(self) -> Brief:
        """A brief without a look at the documents: no profile and no evidence."""
        search = self._settings.search
        return Brief(
            profile=CollectionProfile(),
            incumbent=self._incumbent,
            history=self._history,
            round=self._round,
            rounds=search.rounds,
            objective=search.objective,
            measures=search.measures,
            limits=self._settings.limits,
            num_validation_queries=len(self._view.validation.qrels),
            notes=self.notes,
        )

    @property
    def tools(self) -> Sequence[Tool]:
        """What `call` can do."""
        return TOOLS

    def cases(self) -> tuple[Case, ...]:
        """Failures and near misses of the incumbent on validation, at most so many of a kind as set."""
        search, split = self._settings.search, self._view.validation
        first = self._directory.evaluation(self._history[0].program.id)
        present = self._directory.evaluation(self._incumbent.program.id)
        pairs = choose(split, first, present, count=search.cases, seed=search.seed)
        return describe(pairs, split, self._open()) if pairs else ()

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Run a tool over the incumbent's index; see `Toolbox.call`."""
        return Toolbox(self._open()).call(tool, arguments)

    def close(self) -> None:
        """Remove the incumbent's index and the documents beside it; another call builds them again."""
        self._clear_index()
        if self._store is not None:
            self._store.close()
            self._store = None
        shutil.rmtree(self._place, ignore_errors=True)

    def _open(self) -> IndexView:
        """The incumbent's index, built on first use and kept until the incumbent changes."""
        if self._store is None:
            path = self._place / "documents.sqlite"
            view = self._view
            DocumentStore.write(
                path, view.documents(), fingerprint=view.fingerprint, count=view.num_documents
            )
            self._store = DocumentStore(path)
        if self._index is None:
            program = self._incumbent.program
            self._index = IndexView.build(self._pipeline, program, self._store, self._place / "index")
            self._indexed = program.id
        return self._index

    def _clear_index(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    @property
    def _place(self) -> Path:
        return self._directory.scratch / "workbench"
