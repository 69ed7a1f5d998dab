"""What a journal holds. Nothing in it depends on machine or clock: equal runs have equal journals."""

from __future__ import annotations

import msgspec

from autoindex_pyserini.agents import AgentCost


class Event(msgspec.Struct, frozen=True, tag_field="event", kw_only=True):
    """One line of a journal."""


class Started(Event, tag="started", frozen=True, kw_only=True):
    """The run began.

    Attributes:
        collection: its name.
        fingerprint: its content's hash; a resumed run must find the same.
        settings: hash of the settings that change results.
        proposer: who proposes.
        version: of the proposer: for a language model, of the prompts.
    """

    collection: str
    fingerprint: str
    settings: str
    proposer: str
    version: str = ""


class ProposedProgram(msgspec.Struct, frozen=True):
    """One program of a round, as in `Proposal`; its source is ``programs/<id>.py``."""

    program: str
    hypothesis: str = ""
    parent: str = ""
    operators: tuple[str, ...] = ()


class Proposed(Event, tag="proposed", frozen=True, kw_only=True):
    """The proposer answered. A resumed run takes the answer from here and asks nobody again.

    Attributes:
        round: the round.
        kind: ``candidate``, or ``combination`` for what was made of several that passed.
        programs: the proposals; empty if there was none.
        costs: what each language-model agent used for this answer.
        notes: what became of drafts that are not among the programs, one line each.
        ended: why the search ends, where it does for want of programs.
    """

    round: int
    kind: str = "candidate"
    programs: tuple[ProposedProgram, ...] = ()
    costs: tuple[AgentCost, ...] = ()
    notes: tuple[str, ...] = ()
    ended: str = ""


class Tried(Event, tag="tried", frozen=True, kw_only=True):
    """One program was evaluated on the validation queries, or failed to be.

    Attributes:
        program: its id; the source is ``programs/<id>.py``.
        parent: the id of the program it was derived from; empty for the first.
        round: 0 for the first program.
        kind: ``start``, ``candidate`` or ``combination``.
        hypothesis: why it was proposed.
        operators: what was applied to the parent.
        means: measure -> mean; empty if it failed.
        deltas: measure -> difference from the parent.
        fixed: queries whose objective rose against the parent.
        broken: queries whose objective fell against the parent.
        passages: passages indexed.
        accepted: the objective rose by the threshold over the incumbent (a combination: over the best of
            the round).
        fault: what stopped it, with the program's own line.
    """

    program: str
    parent: str = ""
    round: int = 0
    kind: str = "candidate"
    hypothesis: str = ""
    operators: tuple[str, ...] = ()
    means: dict[str, float] = {}
    deltas: dict[str, float] = {}
    fixed: int = 0
    broken: int = 0
    passages: int = 0
    accepted: bool = False
    fault: str = ""


class RoundClosed(Event, tag="round_closed", frozen=True, kw_only=True):
    """A round ended with this incumbent."""

    round: int
    incumbent: str
    improved: bool


class Selected(Event, tag="selected", frozen=True, kw_only=True):
    """The search ended; the winner goes to the test queries. `reason` says why it ended."""

    program: str
    reason: str


class Tested(Event, tag="tested", frozen=True, kw_only=True):
    """The test queries were opened, once: means of the first program and of the winner."""

    baseline: dict[str, float]
    winner: dict[str, float]
    queries: int


class Finished(Event, tag="finished", frozen=True, kw_only=True):
    """The winner's index is published."""

    program: str
    passages: int


type JournalEvent = Started | Proposed | Tried | RoundClosed | Selected | Tested | Finished
