"""What a language model answered: the reply as it came, as it is used, and what cannot be used."""

from __future__ import annotations

from typing import Any

import msgspec

from autoindex_pyserini.agents.proposer import ProposerError

TOO_LONG = "request_too_long"
"""In place of a finish_reason, where the server says that the request is more than the model can read."""

_OPENING = "<think>"
_CLOSING = "</think>"


class ToolCall(msgspec.Struct, frozen=True):
    """A tool that the model wants called.

    Attributes:
        id: the server's, or made up where it sent none; the answer to the call names it.
        name: the tool's.
        arguments: as the model sent them: JSON text, perhaps broken.
    """

    id: str
    name: str
    arguments: str


class Reply(msgspec.Struct, frozen=True):
    """An answer of a model.

    Attributes:
        text: without reasoning.
        tool_calls: in the model's order.
        finish: the server's finish_reason; empty where it gave none.
        prompt_tokens: tokens sent.
        completion_tokens: tokens received, those of reasoning among them.
        estimated: the counts are estimates, at least one of them, because the server sent none.
        seconds: of waiting for the model, retries among them.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    seconds: float = 0.0


class RawReply(msgspec.Struct, frozen=True):
    """An answer as the server sent it, for the record.

    Attributes:
        text: with whatever reasoning the model wrote into it.
        reasoning: what the server sent apart from the text.
        tool_calls: in the model's order.
        finish: the server's finish_reason; empty where it gave none.
        refusal: why the model refuses, in its own words or the server's; empty if it does not.
        usage: the server's counts, untouched; None where it sent none.
        model: the model's name in the answer.
        prompt_tokens: tokens sent, estimated where the server did not count.
        completion_tokens: tokens received, estimated where the server did not count.
        estimated: at least one of the two is an estimate.
        seconds: of waiting for the model, retries among them.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = ""
    refusal: str = ""
    usage: dict[str, Any] | None = None
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    seconds: float = 0.0


class ModelReplyError(ProposerError):
    """The answer to a request cannot be used as it is. What was paid for it is recorded, as it is itself.

    Attributes:
        reply: what came, as far as it came.
    """

    def __init__(self, message: str, reply: Reply) -> None:
        super().__init__(message)
        self.reply = reply


class TruncatedReplyError(ModelReplyError):
    """The reply reached the most tokens it may have, and ends somewhere."""


class EmptyReplyError(ModelReplyError):
    """The reply has neither text nor tool calls; perhaps it was all reasoning."""


class RefusedReplyError(ModelReplyError):
    """The model, or a filter before it, declines to answer."""


class RequestTooLongError(ModelReplyError):
    """The request is more than the model can read. Nothing was answered or paid: ask with less."""


class ToolsRefusedError(ModelReplyError):
    """The server takes no tools. Nothing was answered or paid: ask again without them."""


def without_reasoning(text: str) -> str:
    """Return what follows the last ``</think>``; of reasoning that is never closed, nothing."""
    answer = text.rpartition(_CLOSING)[2].strip()
    return "" if answer.startswith(_OPENING) else answer


def usable(raw: RawReply, most_tokens: int) -> Reply:
    """Return the reply without its reasoning.

    Args:
        raw: as the server sent it.
        most_tokens: what the request allowed, for the message.

    Raises:
        RequestTooLongError: the server cannot read so much.
        RefusedReplyError: the model or a filter declines.
        TruncatedReplyError: the server cut the reply.
        EmptyReplyError: nothing but reasoning, or nothing at all.
    """
    reply = Reply(
        text=without_reasoning(raw.text),
        tool_calls=raw.tool_calls,
        finish=raw.finish,
        prompt_tokens=raw.prompt_tokens,
        completion_tokens=raw.completion_tokens,
        estimated=raw.estimated,
        seconds=raw.seconds,
    )
    if raw.finish == TOO_LONG:
        raise RequestTooLongError(
            f"the request is more than the model can read ({raw.refusal}); shorten it", reply
        )
    if raw.refusal or raw.finish == "content_filter":
        reason = raw.refusal or "the server filtered the content"
        raise RefusedReplyError(f"the model refused to answer: {reason}; ask for it in other words", reply)
    if raw.finish == "length":
        where = "" if reply.text or reply.tool_calls else ", all of them reasoning"
        raise TruncatedReplyError(
            f"the reply was cut after {raw.completion_tokens:,} tokens{where} (allowed: {most_tokens:,}); "
            "ask for less, or raise --completion-tokens",
            reply,
        )
    if not reply.text and not reply.tool_calls:
        what = "nothing but reasoning" if raw.text or raw.reasoning else "nothing"
        raise EmptyReplyError(f"the reply holds {what}, and must hold text or tool calls; ask again", reply)
    return reply
