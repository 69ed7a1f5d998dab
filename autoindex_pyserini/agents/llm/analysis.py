"""The Analysis Agent: looks into the incumbent's index with tools, and writes down why it fails and works.

AutoIndex (arXiv 2607.18603), section 3.2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autoindex_pyserini.agents.briefing import (
    cases_text,
    evidence_text,
    incumbent_text,
    profile_text,
    retriever_text,
)
from autoindex_pyserini.agents.llm.client import ModelClient
from autoindex_pyserini.agents.llm.code import NOTHING_SAID
from autoindex_pyserini.agents.llm.parsing import text_calls
from autoindex_pyserini.agents.llm.prompts import prompt
from autoindex_pyserini.agents.llm.replies import ModelReplyError, Reply, RequestTooLongError, ToolCall
from autoindex_pyserini.agents.proposer import Brief, Tool, Workbench
from autoindex_pyserini.settings import Model, Retriever

AGENT = "analysis"
MOST_CALLS = 4
"""Tool calls that are answered in one turn."""

_SHORTEST_SUMMARY = 400  # characters; less than that after a turn without calls is chatter

_LEFT_OUT = "(left out: the conversation is too long for the model)"
_LEFT_OUT_FROM = 1_500  # characters; what is shorter is not worth leaving out

type Message = Mapping[str, Any]


class AnalysisAgent:
    """Investigates one incumbent. Keeps no state between calls.

    Args:
        client: answers requests.
        model: turns with tools.
        retriever: what the prompt says of it.
    """

    def __init__(self, client: ModelClient, model: Model, retriever: Retriever) -> None:
        self._client = client
        self._turns = model.tool_turns
        self._retriever = retriever

    def investigate(self, brief: Brief, bench: Workbench) -> str:
        """Return a grounded summary: failure patterns, what works, what to do differently.

        Raises:
            ModelReplyError: no summary came, after one more request for it.
            EndpointError: nobody answers.
            BudgetSpentError: a limit is reached.
        """
        native = self._client.supports_tools
        messages = self._opening(brief, bench, native=native)
        turn = 0
        while turn < self._turns:
            reply = self._ask(messages, brief, bench.tools if native else ())
            if native and not self._client.supports_tools:  # refused just now: start again with text
                native = False
                messages = self._opening(brief, bench, native=False)
                continue
            turn += 1
            wanted = _calls(reply)
            if not wanted:
                if len(reply.text) >= _SHORTEST_SUMMARY:
                    return reply.text
                messages.append(_said(reply.text))
                break
            messages += _answered(reply, wanted, bench, native=native and bool(reply.tool_calls))
        return self._summary(messages, brief)

    def _opening(self, brief: Brief, bench: Workbench, *, native: bool) -> list[Message]:
        system = prompt("analysis_system", retriever=retriever_text(brief, self._retriever))
        task = prompt(
            "analysis_task",
            profile=profile_text(brief.profile),
            incumbent=incumbent_text(brief),
            evidence=evidence_text(brief.evidence),
            cases=cases_text(bench.cases()),
            turns=self._turns,
            tools=", ".join(tool.name for tool in bench.tools),
            calls=MOST_CALLS,
        )
        if not native:
            task += "\n\n" + _tools_as_text(bench.tools)
        return [{"role": "system", "content": system}, {"role": "user", "content": task}]

    def _ask(self, messages: list[Message], brief: Brief, tools: Sequence[Tool]) -> Reply:
        """One turn with tools; a reply that was cut or empty is worth what is in it."""
        try:
            return self._complete(messages, brief, tools)
        except RequestTooLongError:
            raise
        except ModelReplyError as error:
            return error.reply

    def _complete(self, messages: list[Message], brief: Brief, tools: Sequence[Tool] = ()) -> Reply:
        """Ask; where it is more than the model can read, the oldest answers of tools are left out."""
        while True:
            try:
                return self._client.complete(messages, agent=AGENT, round=brief.round, tools=tools)
            except RequestTooLongError:
                if not _shortened(messages):
                    raise

    def _summary(self, messages: list[Message], brief: Brief) -> str:
        messages.append({"role": "user", "content": prompt("analysis_finish")})
        try:
            return self._last(messages, brief)
        except ModelReplyError as error:
            if error.reply.text:
                messages.append(_said(error.reply.text))
            problem = f"That reply could not be used: {error}"
            wanted = "Write the summary, in at most 300 words, and nothing else."
            messages.append(
                {"role": "user", "content": prompt("reply_repair", problem=problem, wanted=wanted)}
            )
            try:
                return self._last(messages, brief)
            except ModelReplyError as again:
                text = again.reply.text or error.reply.text
                if not text:
                    raise
                return text + "\n\n(The summary was cut off here.)"

    def _last(self, messages: list[Message], brief: Brief) -> str:
        return self._complete(messages, brief).text


def _shortened(messages: list[Message]) -> bool:
    """Leave out the oldest long answer of a tool, or half of the opening; False if nothing is left to cut."""
    for at, message in enumerate(messages[2:], 2):
        if message["role"] in ("tool", "user") and len(message["content"]) > _LEFT_OUT_FROM:
            messages[at] = {**message, "content": _LEFT_OUT}
            return True
    opening = messages[1]["content"]
    if len(opening) <= _LEFT_OUT_FROM:
        return False
    # What stands last, the cases and the tools, is needed most.
    messages[1] = {**messages[1], "content": _LEFT_OUT + "\n\n" + opening[len(opening) // 2 :]}
    return True


def _calls(reply: Reply) -> list[tuple[str, dict[str, object] | None]]:
    """What the model wants called: name, and arguments or None where they cannot be read."""
    if reply.tool_calls:
        return [(call.name, _arguments(call)) for call in reply.tool_calls]
    return [(call.name, call.arguments) for call in text_calls(reply.text)]


def _arguments(call: ToolCall) -> dict[str, object] | None:
    try:
        value = json.loads(call.arguments or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _answered(
    reply: Reply, wanted: Sequence[tuple[str, dict[str, object] | None]], bench: Workbench, *, native: bool
) -> list[Message]:
    """The model's turn and the answers to its calls, as messages."""
    answers = []
    for number, (name, arguments) in enumerate(wanted):
        if number >= MOST_CALLS:
            answers.append(f"not run: at most {MOST_CALLS} calls a turn; call it in the next turn")
        elif arguments is None:
            answers.append("not run: the arguments are not a JSON object")
        else:
            answers.append(bench.call(name, arguments))
    if not native:
        found = [f"{name}:\n{answer}" for (name, _), answer in zip(wanted, answers, strict=True)]
        return [_said(reply.text), {"role": "user", "content": "\n\n".join(found)}]
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.tool_calls
    ]
    return [
        {"role": "assistant", "content": reply.text or None, "tool_calls": calls},
        *(
            {"role": "tool", "tool_call_id": call.id, "content": answer}
            for call, answer in zip(reply.tool_calls, answers, strict=True)
        ),
    ]


def _tools_as_text(tools: Sequence[Tool]) -> str:
    lines = []
    for tool in tools:
        names = ", ".join(
            f"{name}: {schema.get('type', 'any')}" for name, schema in tool.parameters["properties"].items()
        )
        lines.append(f"- {tool.name}({names}): {tool.description}")
    first = tools[0]
    example = {
        name: "..." if schema.get("type") == "string" else 10
        for name, schema in first.parameters["properties"].items()
    }
    return prompt(
        "analysis_tools_as_text", example=first.name, arguments=json.dumps(example), tools="\n".join(lines)
    )


def _said(text: str) -> Message:
    return {"role": "assistant", "content": text or NOTHING_SAID}
