"""What is asked of a model, whatever a server takes of it, and where two such requests differ."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec

from autoindex_pyserini.agents.llm.refusals import TOKENS

_NEAR = 40  # characters shown on either side of a difference
_SEEDS = 1_000_003  # a sample's seed is far from another run's


class Request(msgspec.Struct, frozen=True, dict=True):
    """A request as the agents mean it. Equal requests have equal keys, on every server.

    Attributes:
        agent: who asks.
        round: in which round.
        sample: tells several answers to one question apart.
        model: as the endpoint calls it.
        temperature: of sampling.
        max_completion_tokens: most tokens of the reply.
        seed: of the run.
        messages: in the form of the OpenAI API.
        tools: in the same form.
    """

    agent: str
    round: int
    sample: int
    model: str
    temperature: float
    max_completion_tokens: int
    seed: int
    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] = ()

    @cached_property
    def key(self) -> str:
        """Hash of everything in it, whatever the order of names in its objects."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()[:24]

    def body(self) -> dict[str, Any]:
        """Everything that is sent to a server that takes it all."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(self.messages),
            "temperature": self.temperature,
            TOKENS: self.max_completion_tokens,
            "seed": (self.seed + self.sample * _SEEDS) % 2**31,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self.tools:
            body["tools"] = list(self.tools)
        return body


def sound(value: Any) -> Any:
    """Return a JSON value whose texts can be sent: halves of surrogate pairs are joined, or replaced."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {sound(name): sound(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [sound(item) for item in value]
    return value


def nearest_difference(request: Request, recorded: Sequence[Request]) -> str:
    """Say where a request leaves the recorded one that is most like it: of its agent and round, if any."""
    similar = [other for other in recorded if (other.agent, other.round) == (request.agent, request.round)]
    if not similar:
        asked = ", ".join(sorted({f"{other.agent} in round {other.round}" for other in recorded}))
        return f"{request.agent} in round {request.round} was not asked there, only {asked}"
    nearest = max(similar, key=lambda other: _likeness(request, other))
    for name in ("model", "temperature", "max_completion_tokens", "seed", "sample"):
        here, there = getattr(request, name), getattr(nearest, name)
        if here != there:
            return f"{name} is {here!r}, recorded was {there!r}"
    alike = _common(request.messages, nearest.messages)
    if alike < min(len(request.messages), len(nearest.messages)):
        return f"message {alike + 1} differs: " + _text_difference(
            request.messages[alike], nearest.messages[alike]
        )
    if len(request.messages) != len(nearest.messages):
        return f"it has {len(request.messages)} messages, recorded were {len(nearest.messages)}"
    if request.tools != nearest.tools:
        return "its tools differ"
    return (
        f"it was asked {sum(other.key == request.key for other in similar)} times there, and more often here"
    )


def _likeness(request: Request, other: Request) -> tuple[int, int, int]:
    """Larger for requests that part later."""
    alike = _common(request.messages, other.messages)
    within = 0
    if alike < min(len(request.messages), len(other.messages)):
        here, there = _plain(request.messages[alike]), _plain(other.messages[alike])
        within = _common(here, there)
    return alike, within, -abs(len(request.messages) - len(other.messages))


def _common(here: Sequence[object], there: Sequence[object]) -> int:
    """How many elements at the beginning are equal."""
    pairs = enumerate(zip(here, there, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(here), len(there)))


def _text_difference(here: dict[str, Any], there: dict[str, Any]) -> str:
    if here.get("role") != there.get("role"):
        return f"it is of the role {here.get('role')}, recorded was {there.get('role')}"
    one, other = _plain(here), _plain(there)
    at = _common(one, other)
    near = slice(max(0, at - _NEAR), at + _NEAR)
    return f"at character {at} it says {one[near]!r}, recorded was {other[near]!r}"


def _plain(message: dict[str, Any]) -> str:
    """A message's text, or all of it where it is more than text."""
    content = message.get("content")
    if isinstance(content, str) and set(message) <= {"role", "content"}:
        return content
    return msgspec.json.encode(message, order="sorted").decode()
