"""How programs improve: the loop, its journal, the run directory."""

from autoindex_pyserini.optimize.events import (
    Finished,
    JournalEvent,
    RoundClosed,
    Selected,
    Started,
    Tested,
    Tried,
)
from autoindex_pyserini.optimize.journal import Journal, read_events
from autoindex_pyserini.optimize.loop import Listener, Loop, StopRequestedError
from autoindex_pyserini.optimize.run import RunResult, check_settings, proposer_for, run
from autoindex_pyserini.optimize.run_directory import RunDirectory, RunSettings, TestResult

__all__ = [
    "Finished",
    "Journal",
    "JournalEvent",
    "Listener",
    "Loop",
    "RoundClosed",
    "RunDirectory",
    "RunResult",
    "RunSettings",
    "Selected",
    "Started",
    "StopRequestedError",
    "TestResult",
    "Tested",
    "Tried",
    "check_settings",
    "proposer_for",
    "read_events",
    "run",
]
