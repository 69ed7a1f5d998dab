"""From what OpenAI-compatible servers send to `RawReply`: whole messages, streams of deltas, counts.

Servers differ in what they leave out and where they put reasoning; what can be understood is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autoindex_pyserini.agents.llm.replies import RawReply, ToolCall
from autoindex_pyserini.agents.llm.requests import sound

CHARS_PER_TOKEN = 4
"""Of English and code, for estimates."""

_REASONING = (
    "reasoning_content",
    "reasoning",
    "thinking",
)  # vLLM and DeepSeek; OpenRouter and Ollama; others


class _Call:
    """A tool call while its pieces come in."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = ""


class Assembly:
    """A reply while its pieces come in; a reply that comes whole is one piece."""

    def __init__(self) -> None:
        self.finish = ""
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[_Call] = []
        self._at: dict[object, _Call] = {}  # the server's index -> the call that it means now
        self._usage: dict[str, Any] | None = None
        self._model = ""

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take a chunk of a stream, or a whole completion; choices after the first are not read."""
        if isinstance(usage := chunk.get("usage"), dict):
            self._usage = usage
        if isinstance(model := chunk.get("model"), str):
            self._model = model
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return
        choice = choices[0]
        if choice.get("index") not in (None, 0):
            return
        message = choice.get("delta") or choice.get("message")
        if isinstance(message, dict):
            self._add_message(message)
        if isinstance(finish := choice.get("finish_reason"), str):
            self.finish = finish or self.finish

    def _add_message(self, message: Mapping[str, Any]) -> None:
        self._add_content(message.get("content"))
        for name in _REASONING:  # some servers send the same under two names: the first counts
            if isinstance(value := message.get(name), str) and value:
                self._reasoning.append(value)
                break
        if isinstance(refusal := message.get("refusal"), str):
            self._refusal.append(refusal)
        for call in message.get("tool_calls") or ():
            if isinstance(call, dict):
                self._add_call(call)

    def _add_content(self, content: object) -> None:
        """Text, or a list of parts of which some are reasoning (Mistral)."""
        if isinstance(content, str):
            self._text.append(content)
        elif isinstance(content, list):
            for part in content:
                if isinstance(part, dict) and isinstance(part.get("text"), str):
                    self._text.append(part["text"])
                elif isinstance(part, dict) and "thinking" in part:
                    self._reasoning.append(_plain(part["thinking"]))

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        identifier, name = piece.get("id") or "", function.get("name") or ""
        call = self._call(piece.get("index"), str(identifier), starts=bool(identifier or name))
        call.id = call.id or str(identifier)
        call.name = call.name or str(name)
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.arguments += arguments
        elif arguments is not None:  # an object instead of its JSON text
            call.arguments += json.dumps(arguments)

    def _call(self, index: object, identifier: str, *, starts: bool) -> _Call:
        """The call that a piece belongs to. Some servers give no index, or give each call the index 0."""
        if index is None:
            known = self._calls[-1] if self._calls and not starts else None
        else:
            known = self._at.get(index)
            if known and identifier and known.id and known.id != identifier:
                known = None
        if known is None:
            known = _Call()
            self._calls.append(known)
            self._at[index] = known
        return known

    def reply(self, prompt_chars: int) -> RawReply:
        """Return what has come; `prompt_chars` is for an estimate where the server did not count."""
        calls = tuple(
            ToolCall(sound(call.id) or f"call_{number}", sound(call.name), sound(call.arguments))
            for number, call in enumerate(self._calls)
        )
        text, reasoning = sound("".join(self._text)), sound("".join(self._reasoning))
        received = len(text) + len(reasoning) + sum(len(call.name) + len(call.arguments) for call in calls)
        sent, got, estimated = _counts(self._usage, prompt_chars, received)
        return RawReply(
            text=text,
            reasoning=reasoning,
            tool_calls=calls,
            finish=self.finish,
            refusal=sound("".join(self._refusal)),
            usage=self._usage,
            model=sound(self._model),
            prompt_tokens=sent,
            completion_tokens=got,
            estimated=estimated,
        )


def _plain(value: object) -> str:
    """The text of a part of reasoning, which may itself be a list of parts."""
    if isinstance(value, str):
        return value
    parts: Sequence[object] = value if isinstance(value, list) else ()
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _counts(usage: Mapping[str, Any] | None, prompt_chars: int, reply_chars: int) -> tuple[int, int, bool]:
    """Tokens sent and received, and whether one of them is an estimate: zeros alone say nothing."""
    sent, got = (_count((usage or {}).get(name)) for name in ("prompt_tokens", "completion_tokens"))
    if not sent and not got:
        sent = got = None
    return (
        _estimate(prompt_chars) if sent is None else sent,
        _estimate(reply_chars) if got is None else got,
        sent is None or got is None,
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _estimate(chars: int) -> int:
    return -(-chars // CHARS_PER_TOKEN)
