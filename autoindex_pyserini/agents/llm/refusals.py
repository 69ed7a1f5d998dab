"""What a server said against a request: which parameter it does not take, or why it did not answer.

Servers of one API take different parameters and say so in different words: a request goes on without what
was refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from autoindex_pyserini.agents.llm.endpoint import key_name, scrubbed

TOKENS = "max_completion_tokens"
OLD_TOKENS = "max_tokens"
"""What `TOKENS` was called before, and still is on many servers."""

DROPPABLE = (TOKENS, OLD_TOKENS, "stream_options", "temperature", "seed", "tools", "stream")
"""Parameters that a request can do without; where several are named, the first here goes first."""

RETRIED = frozenset({408, 409, 425, 429})
"""Statuses, with those from 500 on, that may pass by waiting."""

_UNPAID = frozenset({"insufficient_quota", "billing_hard_limit_reached"})  # 429 that does not pass by waiting
_BAD_REQUEST = frozenset({400, 404, 422, 500, 501})  # OpenRouter says 404 of tools, llama.cpp 500
_OVERFLOW = re.compile(
    r"context[ _](?:length|size|window)|exceeds? .{0,40}\bcontext|too many (?:input |prompt )?tokens"
    r"|prompt (?:is|was) too long|input (?:is|was) too (?:long|large)",
    re.IGNORECASE,
)
_WITH_REPLY = re.compile(r"completion|max_tokens|output", re.IGNORECASE)
_REFUSING = re.compile(
    r"support|requires?\b|unknown|unrecognized|unexpected|not (?:permitted|allowed|available|enabled)|extra",
    re.IGNORECASE,
)
_TOOLS = re.compile(r"\btools?\b|\btool[_ -](?:choice|use|call\w*)|\bfunction[_ -]call\w*", re.IGNORECASE)
_ECHOES = frozenset({"input", "ctx", "url"})  # where pydantic's errors repeat the request
_LONGEST = 400  # characters of a server's message in ours

_MEANING = {
    400: "the server cannot read the request",
    401: "the key is missing or wrong",
    402: "the account has no credit",
    403: "the key may not use this model, or this place may not use the server",
    404: "no such model or address",
    405: "the address takes no such requests",
    413: "the request is too long",
    422: "the server cannot read the request",
    429: "too many requests, or the quota is used up",
}


def refused_parameter(status: int, body: object, sent: Collection[str]) -> str:
    """Return the parameter among those sent that an answer names as not taken; empty if it names none."""
    if status not in _BAD_REQUEST:
        return ""
    named = _parameter(body)
    if named:
        return named if named in sent and named in DROPPABLE else ""
    text = message_of(body)
    if status in (400, 422):
        for name in DROPPABLE:
            if name in sent and re.search(rf"\b{name}(?:ing)?\b", text, re.IGNORECASE):
                return name
    if "tools" in sent and _TOOLS.search(text) and _REFUSING.search(text):
        return "tools"
    return ""


def _parameter(body: object) -> str:
    """The field of OpenAI's errors that names a parameter, without what follows its first part."""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    value = error.get("param") if isinstance(error, Mapping) else None
    first = re.split(r"[.\[]", value)[0] if isinstance(value, str) else ""
    return {"tool_choice": "tools", "functions": "tools"}.get(first, first)


def error_code(body: object) -> str:
    """The code in an error's body, for example ``insufficient_quota``; empty without one."""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) else None
    return str(code) if isinstance(code, str | int) else ""


def message_of(body: object) -> str:
    """Return what an error's body says, as one line without keys and without echoes of the request."""
    return " ".join(scrubbed(" ".join(_texts(body))).split())


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if name not in _ECHOES:
                yield from _texts(item)


def is_passing(status: int, body: object) -> bool:
    """Whether waiting may help."""
    return (status in RETRIED or status >= 500) and error_code(body) not in _UNPAID


def is_too_long(status: int, body: object) -> bool:
    """Whether the request, or what it allows for the reply, is more than the model's context."""
    return status == 413 or (status in _BAD_REQUEST and bool(_OVERFLOW.search(message_of(body))))


def counts_reply(body: object) -> bool:
    """Whether a request that is too long is so with the reply that it allows."""
    return bool(_WITH_REPLY.search(message_of(body)))


def is_filtered(body: object) -> bool:
    """Whether a filter declined the request's content (Azure answers 400 then)."""
    return error_code(body) == "content_filter"


def explained(status: int, body: object, *, base_url: str, model: str) -> str:
    """Return a message for people: who said what, what it means, and what to do."""
    text = message_of(body)
    said = f" ({text[:_LONGEST]}{'...' if len(text) > _LONGEST else ''})" if text else ""
    meaning = _MEANING.get(status, "the server fails" if status >= 500 else "the server refuses")
    return f"{base_url} answered {status}{said}: {meaning}; {_remedy(status, body, base_url, model)}"


def _remedy(status: int, body: object, base_url: str, model: str) -> str:
    if status in (401, 403):
        return f"check {key_name(base_url)} in the environment"
    if status == 402 or error_code(body) in _UNPAID:
        return "add credit, then resume"
    if status in (404, 405):
        return f"check --model {model} and --base-url (it usually ends with /v1)"
    if is_passing(status, body):
        return "resume later"
    return f"see what {model} takes, shorten the request or choose another model"


def parameters(
    wanted: Mapping[str, Any], refused: Collection[str], *, by_both_names: bool = False
) -> dict[str, Any]:
    """Return the parameters of a request without those that were refused.

    Args:
        wanted: all parameters.
        refused: names of those to leave out; where `TOKENS` is among them, its older name takes its place.
        by_both_names: limit the tokens by both names. Servers that know one of them alone often ignore the
            other without a word, and then write until their context is full.
    """
    left = {name: value for name, value in wanted.items() if name not in refused}
    if (by_both_names or TOKENS in refused) and TOKENS in wanted and OLD_TOKENS not in refused:
        left[OLD_TOKENS] = wanted[TOKENS]
    if "stream" in refused:
        left.pop("stream_options", None)
    return left
