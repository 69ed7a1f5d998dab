"""The Code Agent: writes complete candidate programs from the summary, the incumbent and the history.

AutoIndex (arXiv 2607.18603), section 3.3; the synthesis of several that passed is section 3.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from autoindex_pyserini.agents.briefing import (
    OPERATORS,
    contract_text,
    fenced,
    history_text,
    incumbent_text,
    notes_text,
    profile_text,
    retriever_text,
)
from autoindex_pyserini.agents.llm.client import ModelClient
from autoindex_pyserini.agents.llm.parsing import Draft, drafts
from autoindex_pyserini.agents.llm.prompts import prompt
from autoindex_pyserini.agents.llm.replies import ModelReplyError, RequestTooLongError
from autoindex_pyserini.agents.proposer import Brief, Proposal, Trial
from autoindex_pyserini.errors import InvalidProgramError
from autoindex_pyserini.program import Program, check
from autoindex_pyserini.program.source import meaning as meaning_of
from autoindex_pyserini.settings import Limits, Retriever, Search

NOTHING_SAID = "(no answer)"
"""Stands for an empty reply: servers refuse messages without content."""

_RECENT = 10  # programs of the history that a short request tells
_SHORT_SUMMARY = 2_000  # characters

type Message = Mapping[str, Any]


class CodeAgent:
    """Writes programs. Keeps no state between calls.

    Args:
        client: answers requests.
        search: threshold, and whether the history is told.
        retriever: what the prompt says of it.
        repairs: requests that may follow on a reply without a program, or on a broken program.
    """

    def __init__(self, client: ModelClient, search: Search, retriever: Retriever, *, repairs: int) -> None:
        self._client = client
        self._search = search
        self._retriever = retriever
        self._repairs = repairs

    def write(self, brief: Brief, summary: str, count: int) -> tuple[list[Proposal], list[str]]:
        """Return up to `count` proposals that were not tried before, and what became of other drafts.

        Raises:
            EndpointError: nobody answers.
            BudgetSpentError: a limit is reached.
        """
        return self._programs(brief, self._tasks(brief, summary, count), "code", count)

    def _tasks(self, brief: Brief, summary: str, count: int) -> Iterator[tuple[Limits, str]]:
        """What is asked, and ever shorter for a model that cannot read it all."""
        told = brief.history if self._search.history else ()
        notes = brief.notes if self._search.history else ()
        bare = replace(
            brief.limits, allowed_imports=tuple(n for n in brief.limits.allowed_imports if n != OPERATORS)
        )
        for limits, profile, history, analysis in (
            (brief.limits, profile_text(brief.profile), told, summary),
            (brief.limits, "", told[-_RECENT:], summary),
            (bare, "", (), summary[:_SHORT_SUMMARY]),
        ):
            task = prompt(
                "code_task",
                profile=profile,
                incumbent=incumbent_text(brief),
                analysis=f"## What the analysis found\n\n{analysis}" if analysis else "",
                history=history_text(history),
                notes=notes_text(notes),
                count=count,
                threshold=f"{self._search.threshold:g}",
            )
            yield limits, task

    def join(self, brief: Brief, passed: Sequence[Trial]) -> tuple[list[Proposal], list[str]]:
        """Return at most one program that joins several of a round, and what became of other drafts.

        Raises:
            EndpointError: nobody answers.
            BudgetSpentError: a limit is reached.
        """
        parts = [_passed_text(number, trial) for number, trial in enumerate(passed, 1)]
        task = prompt("synthesis_task", incumbent=incumbent_text(brief), programs="\n\n".join(parts))
        return self._programs(brief, iter([(brief.limits, task)]), "synthesis", 1)

    def _programs(
        self, brief: Brief, tasks: Iterator[tuple[Limits, str]], agent: str, count: int
    ) -> tuple[list[Proposal], list[str]]:
        notes: list[str] = []
        messages: list[Message] = []
        found: list[Draft] = []
        for limits, task in tasks:
            system = prompt(
                "code_system",
                contract=contract_text(limits),
                retriever=retriever_text(brief, self._retriever),
            )
            messages = [{"role": "system", "content": system}, {"role": "user", "content": task}]
            try:
                found = self._drafts(messages, brief, agent, count, notes)
                break
            except RequestTooLongError as error:
                notes.append(str(error))
        if len(found) > count:
            notes.append(f"{len(found)} programs came, {count} were asked for: the first {count} count")
        known = {meaning_of(trial.program.source): trial.program.id for trial in brief.history}
        proposals: list[Proposal] = []
        for number, draft in enumerate(found[:count], 1):
            checked = self._checked(messages, brief, agent, draft, f"program {number}", notes)
            if checked is None:
                continue
            program = Program(checked.source)
            meaning = meaning_of(program.source)
            if meaning in known:
                notes.append(f"program {number} does what {known[meaning]} did; it is not tried again")
                continue
            known[meaning] = program.id
            hypothesis = checked.hypothesis or draft.hypothesis or program.summary or "no reason was given"
            proposals.append(Proposal(program, hypothesis, brief.incumbent.program.id, (agent,)))
        return proposals, notes

    def _drafts(
        self, messages: list[Message], brief: Brief, agent: str, count: int, notes: list[str]
    ) -> list[Draft]:
        """Ask until there is a program in the reply, or the repairs are used up; `messages` grow.

        Raises:
            RequestTooLongError: the first request is more than the model can read.
        """
        for attempt in range(self._repairs + 1):
            problem = ""
            try:
                text = self._client.complete(messages, agent=agent, round=brief.round).text
            except ModelReplyError as error:
                if isinstance(error, RequestTooLongError) and attempt == 0:
                    raise
                text, problem = error.reply.text, str(error)
            found = drafts(text)
            messages.append({"role": "assistant", "content": text or NOTHING_SAID})
            if problem:
                notes.append(problem)
            if found:
                return found
            problem = problem or "no program was in the reply"
            if attempt < self._repairs:
                wanted = (
                    f"Write up to {count} programs again, shorter if need be: each after one line that "
                    'begins with "Hypothesis:", each complete in a fenced block that starts with ```python.'
                )
                request = prompt("reply_repair", problem=f"That cannot be used: {problem}.", wanted=wanted)
                messages.append({"role": "user", "content": request})
            else:
                notes.append(f"no usable reply: {problem}")
        return []

    def _checked(
        self, messages: Sequence[Message], brief: Brief, agent: str, draft: Draft, name: str, notes: list[str]
    ) -> Draft | None:
        """The draft if it keeps the static rules, else what the model makes of it when told why not."""
        error = _fault(draft, brief.limits)
        for _ in range(self._repairs):
            if error is None:
                return draft
            line = _line(draft.source, error.line)
            request = prompt(
                "code_repair",
                what=f"{name[0].upper()}{name[1:]} cannot be used:",
                error=error,
                line=f"The line is: `{line}`" if line else "",
            )
            # Each repair is a conversation of its own: one broken program must not confuse the next.
            talk = [*messages, {"role": "user", "content": request}]
            try:
                found = drafts(self._client.complete(talk, agent=agent, round=brief.round).text)
            except ModelReplyError as failed:
                found = drafts(failed.reply.text)
            if found:
                draft = found[0]
                error = _fault(draft, brief.limits)
        if error is None:
            return draft
        notes.append(f"{name} is not used: {error}")
        return None


def _fault(draft: Draft, limits: Limits) -> InvalidProgramError | None:
    try:
        check(Program(draft.source), limits)
    except InvalidProgramError as error:
        return error
    return None


def _line(source: str, number: int | None) -> str:
    lines = source.split("\n")
    return lines[number - 1].strip() if number and number <= len(lines) else ""


def _passed_text(number: int, trial: Trial) -> str:
    """A program that passed, with what it changed."""
    changes = ", ".join(f"{name} {delta:+.4f}" for name, delta in trial.deltas.items())
    return (
        f"## Program {number}\n\n{trial.hypothesis}\n\nAgainst the incumbent: {changes}; "
        f"{trial.fixed} queries fixed, {trial.broken} broken.\n\n{fenced(trial.program.source)}"
    )
