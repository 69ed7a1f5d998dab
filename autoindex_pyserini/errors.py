"""One tree of errors. Every message says what was given, what the rule is, and what to do."""

from __future__ import annotations


class AutoIndexError(Exception):
    """The root: anything this package raises on purpose."""


class InputError(AutoIndexError):
    """The user's input cannot be used. Commands print it as one line and exit with status 2."""


class CollectionError(InputError):
    """A collection is missing, malformed, empty or inconsistent. Names the file and the line."""


class ProgramNotFoundError(InputError):
    """A program was named that is neither built in nor a readable file."""


class IndexDirectoryError(InputError):
    """An index directory exists already, or is not an index."""


class RunDirectoryError(InputError):
    """A run directory exists already, is in use, or does not hold a run."""


class ProgramFault(AutoIndexError):
    """A representation program is at fault: journalled, fed back, and the search goes on.

    Attributes:
        line: line of the program's source, where known.
        position: 0-based position in the stream of the document it failed on, where known.
        docid: that document's docid, where known. The message does not hold it: it is for the user alone, and
            messages go to those who write programs.
    """

    def __init__(self, message: str, *, line: int | None = None, position: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.position = position
        self.docid: str | None = None


class InvalidProgramError(ProgramFault, InputError):
    """The source breaks the contract before it is run: syntax, imports, no `represent`."""


class ProgramCrashedError(ProgramFault):
    """The program raised, exited, or was killed by a limit."""


class ProgramTimeoutError(ProgramFault):
    """The program ran longer than allowed."""


class ProgramOutputError(ProgramFault):
    """The program's passages break the contract: wrong type, too many, too long, undeclared fields."""


class NondeterministicProgramError(ProgramFault):
    """The same document gave different passages in another process, order or hash seed."""


class EnvironmentProblemError(AutoIndexError):
    """The machine lacks something: Java, the Anserini jar, kernel confinement, disk space."""


class IndexLossError(AutoIndexError):
    """Lucene holds another number of passages than were sent to it. Nothing is published."""


class LuceneError(AutoIndexError):
    """Lucene stopped: disk full, a damaged index, a limit of its own. Carries Lucene's message."""


class EvaluationError(InputError):
    """Run and judgments cannot be scored together, or a measure is unknown."""
