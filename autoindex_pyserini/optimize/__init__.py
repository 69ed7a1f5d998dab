"""How programs improve: the loop, its journal, the run directory."""

from autoindex_pyserini.optimize.ablation import CONDITIONS, AblationRun, ablate, check_conditions
from autoindex_pyserini.optimize.events import (
    Finished,
    JournalEvent,
    Proposed,
    RoundClosed,
    Selected,
    Started,
    Tested,
    Tried,
)
from autoindex_pyserini.optimize.journal import Journal, read_events
from autoindex_pyserini.optimize.loop import Listener, Loop, StopRequestedError
from autoindex_pyserini.optimize.run import RunResult, check_settings, run
from autoindex_pyserini.optimize.run_directory import RunDirectory, RunSettings, TestResult

__all__ = [
    "CONDITIONS",
    "AblationRun",
    "Finished",
    "Journal",
    "JournalEvent",
    "Listener",
    "Loop",
    "Proposed",
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
    "ablate",
    "check_conditions",
    "check_settings",
    "read_events",
    "run",
]
