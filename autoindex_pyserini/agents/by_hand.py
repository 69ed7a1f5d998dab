"""The proposer of a run by hand: a person's program, or another software's, one at a time."""

from __future__ import annotations

from collections.abc import Sequence

from autoindex_pyserini.agents.proposer import Answer, Brief, Proposal, Trial, Workbench
from autoindex_pyserini.program import Program

NAME = "hand"


class Paused(Exception):
    """The search waits for the next program; everything before it is recorded.

    Attributes:
        brief: as the loop has it.
        bench: the incumbent's, as the loop has it.
    """

    def __init__(self, brief: Brief, bench: Workbench) -> None:
        super().__init__("the search waits for a program")
        self.brief = brief
        self.bench = bench


class HandProposer:
    """Proposes one program that it was given, then pauses the search or ends it.

    Args:
        program: what to try; None to try nothing. A program that was tried already is not proposed again.
        because: the hypothesis, in one line.
        ended: why the search ends when the program was tried; empty to raise `Paused` instead.
    """

    name = NAME

    def __init__(self, program: Program | None = None, because: str = "", *, ended: str = "") -> None:
        self._program = program
        self._because = " ".join(because.split())
        self._ended = ended

    @property
    def version(self) -> str:
        """Nothing but settings and brief decides."""
        return ""

    def propose(self, brief: Brief, bench: Workbench, count: int) -> Answer:
        """Return the program where it is new, and otherwise why the search ends.

        Raises:
            Paused: the program was tried, and the search goes on.
        """
        known = {trial.program.id for trial in brief.history}
        if self._program is not None and self._program.id not in known:
            return Answer((Proposal(self._program, self._because, brief.incumbent.program.id),))
        if self._ended:
            return Answer(ended=self._ended)
        raise Paused(brief, bench)

    def combine(self, brief: Brief, passed: Sequence[Trial]) -> Answer:
        """Return nothing: a round by hand has one program."""
        return Answer()
