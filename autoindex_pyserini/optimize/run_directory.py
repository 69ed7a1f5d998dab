"""The layout of a run directory: where each thing lies, how it is written and read."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import msgspec
import tomli_w

from autoindex_pyserini import __version__
from autoindex_pyserini.agents.by_hand import NAME as BY_HAND
from autoindex_pyserini.errors import IndexDirectoryError, RunDirectoryError
from autoindex_pyserini.files import clear_unfinished, nearest_folder, write_atomically
from autoindex_pyserini.lucene import read_manifest
from autoindex_pyserini.optimize.events import JournalEvent, Proposed, Started, Tested, Tried
from autoindex_pyserini.optimize.journal import FILE_NAME as JOURNAL
from autoindex_pyserini.optimize.journal import read_events
from autoindex_pyserini.pipeline import Outcome, read_outcome, write_outcome
from autoindex_pyserini.program import Program
from autoindex_pyserini.settings import Settings

INDEX = "index"
SETTINGS = "settings.toml"


class RunSettings(msgspec.Struct, frozen=True):
    """``settings.toml``: everything needed to repeat the run.

    Attributes:
        collection: what the user named: a built-in name, or an absolute path.
        settings: every knob.
        validation: the dataset whose queries are the validation split, where the user named one.
        version: of this package.
        replay: the run directory whose recorded replies answer instead of a model, if one does.
    """

    collection: str
    settings: Settings
    validation: str = ""
    version: str = __version__
    replay: str = ""


class TestResult(msgspec.Struct, frozen=True):
    """``test.json``: the first program and the winner on the test queries, opened once."""

    __test__ = False

    baseline: Outcome
    winner: Outcome


class RunDirectory:
    """Paths and files of one run.

    Args:
        path: the directory; see `create` and `open`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, run: RunSettings) -> RunDirectory:
        """Make a new run directory and write its settings.

        Raises:
            RunDirectoryError: the path exists and is not an empty directory.
        """
        cls.check_unused(path)
        path.mkdir(parents=True, exist_ok=True)
        directory = cls(path)
        write_atomically(path / SETTINGS, tomli_w.dumps(msgspec.to_builtins(run)).encode())
        return directory

    @staticmethod
    def check_unused(path: Path) -> None:
        """Check that a run directory may be made here, without making it.

        Raises:
            RunDirectoryError: the path exists and is not an empty directory.
            OSError: no directory can be made there.
        """
        if path.exists() and not _is_unused(path):
            raise RunDirectoryError(
                f"{path} exists already; {_going_on(path)}give a directory that does not exist"
            )
        nearest_folder(path)

    @classmethod
    def open(cls, path: Path) -> tuple[RunDirectory, RunSettings]:
        """Open a run directory that exists, and read its settings.

        Raises:
            RunDirectoryError: it is not a run directory, or its settings cannot be read.
        """
        file = path / SETTINGS
        try:
            run = msgspec.toml.decode(file.read_bytes(), type=RunSettings)
        except (FileNotFoundError, NotADirectoryError):
            raise RunDirectoryError(f"{path} is not a run directory; there is no {SETTINGS} in it") from None
        except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
            raise _damaged(file, error) from error
        return cls(path), run

    @property
    def has_journal(self) -> bool:
        """Whether anything was recorded yet."""
        return (self.path / JOURNAL).exists()

    def history(self, run: RunSettings) -> tuple[JournalEvent, ...]:
        """The events so far, after a look whether these are the settings that they were made with.

        Raises:
            RunDirectoryError: there is no journal, it cannot be read, or the settings are others.
        """
        events = read_events(self.path)
        began = next((event for event in events if isinstance(event, Started)), None)
        same = began is None or began.settings == settings_hash(run.settings)
        if not same and run.version == __version__:
            raise _damaged(self.path / SETTINGS, "not the settings that the run began with")
        return events

    def check(self, run: RunSettings) -> None:
        """Check, before a run is resumed, that everything its journal speaks of is there and whole.

        What can be made again (``best.py``, the index) may be missing.

        Raises:
            RunDirectoryError: names the first file that is missing or was changed.
        """
        if not self.has_journal:
            if any(self.path.glob("programs/*.py")):
                raise _damaged(self.path / JOURNAL, "missing, and programs were tried already")
            return
        for event in self.history(run):
            if isinstance(event, Proposed):
                for proposed in event.programs:
                    self.program(proposed.program)
            elif isinstance(event, Tried):
                self.program(event.program)
                if not event.fault:
                    self.evaluation(event.program)
            elif isinstance(event, Tested):
                self.test()
        if self.index.exists():
            try:
                read_manifest(self.index)
            except IndexDirectoryError as error:
                raise RunDirectoryError(f"{error}; or move {self.index} away: it is built again") from error

    @property
    def scratch(self) -> Path:
        """Indexes and other things that live only while a program is evaluated."""
        return self.path / "scratch"

    @property
    def index(self) -> Path:
        """The winner's published index."""
        return self.path / INDEX

    def clear_scratch(self) -> None:
        """Remove what an interrupted evaluation or publication left; only for the holder of the journal."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        for leftover in self.path.glob(f".{INDEX}.*"):
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)
        clear_unfinished(self.path)

    def write_program(self, program: Program) -> None:
        """Keep a program under its id."""
        write_atomically(self.path / "programs" / f"{program.id}.py", program.source.encode())

    def program(self, program_id: str) -> Program:
        """The program of this id.

        Raises:
            RunDirectoryError: it is missing, or is not that program any more.
        """
        file = self.path / "programs" / f"{program_id}.py"
        try:
            program = Program(file.read_bytes().decode(), name=program_id)
        except (OSError, UnicodeDecodeError) as error:
            raise _damaged(file, error) from error
        if program.id != program_id:
            raise _damaged(file, f"changed: its content has the id {program.id}")
        return program

    def write_best(self, program: Program) -> None:
        """Write the winner to ``best.py``."""
        write_atomically(self.path / "best.py", program.source.encode())

    def write_evaluation(self, outcome: Outcome) -> None:
        """Keep an outcome on the validation queries."""
        write_outcome(self.path / "evaluations" / f"{outcome.program_id}.json", outcome)

    def evaluation(self, program_id: str) -> Outcome:
        """The outcome of this program on the validation queries.

        Raises:
            RunDirectoryError: it is missing or damaged.
        """
        file = self.path / "evaluations" / f"{program_id}.json"
        try:
            outcome = read_outcome(file)
        except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
            raise _damaged(file, error) from error
        if outcome.program_id != program_id:
            raise _damaged(file, f"changed: it is of program {outcome.program_id}")
        return outcome

    def write_test(self, result: TestResult) -> None:
        """Write the outcomes on the test queries to ``test.json``."""
        data = msgspec.json.encode(result, order="deterministic")
        write_atomically(self.path / "test.json", data + b"\n")

    def test(self) -> TestResult:
        """What `write_test` wrote.

        Raises:
            RunDirectoryError: it is missing or damaged.
        """
        file = self.path / "test.json"
        try:
            return msgspec.json.decode(file.read_bytes(), type=TestResult)
        except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
            raise _damaged(file, error) from error


def _damaged(file: Path, why: Exception | str) -> RunDirectoryError:
    """The error for a file of a run that is not as the run wrote it."""
    reason = why.strerror if isinstance(why, OSError) and why.strerror else str(why)
    return RunDirectoryError(
        f"{file}: {reason}; put the file back as the run wrote it, or start a new run directory"
    )


def _going_on(path: Path) -> str:
    """How to go on with what may be a run, as the beginning of a remedy; empty if it is none."""
    try:
        _, run = RunDirectory.open(path)
    except RunDirectoryError:
        return ""
    if run.settings.search.proposer == BY_HAND:
        return f"go on with `autoindex brief {path}`, or "
    return "go on with `autoindex optimize ... --resume`, or "


def _is_unused(path: Path) -> bool:
    """Whether a path is a directory with nothing in it but what a killed `create` left."""
    return path.is_dir() and all(entry.name.startswith(f".{SETTINGS}.") for entry in path.iterdir())


def settings_hash(settings: Settings) -> str:
    """Hash of the settings that can change a result: not how the work is spread, or where a model is."""
    relevant = (settings.retriever, settings.limits, settings.search, settings.model)
    return hashlib.sha256(msgspec.json.encode(relevant, order="deterministic")).hexdigest()[:16]
