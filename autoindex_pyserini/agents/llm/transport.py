"""One request to an endpoint: sent until it is answered, without the parameters that the server refuses."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

import msgspec
import openai

from autoindex_pyserini.agents.llm.endpoint import EndpointError, base_url_of, is_openai, key_for
from autoindex_pyserini.agents.llm.refusals import (
    OLD_TOKENS,
    TOKENS,
    counts_reply,
    explained,
    is_filtered,
    is_passing,
    is_too_long,
    message_of,
    parameters,
    refused_parameter,
)
from autoindex_pyserini.agents.llm.replies import TOO_LONG, RawReply
from autoindex_pyserini.agents.llm.wire import Assembly
from autoindex_pyserini.settings import Endpoint

_CONNECT_S = 20.0


class Patience(msgspec.Struct, frozen=True):
    """How long an endpoint that fails is asked again. Nothing here changes a reply.

    Attributes:
        attempts: requests until an endpoint that fails in a passing way is given up.
        first_delay_s: most seconds between the first two; doubled each time, and jittered.
        longest_delay_s: most seconds between two.
        longest_retry_after_s: a server that wants a longer pause than this is given up.
        stall_s: seconds without a byte until a stream counts as dead. Long, since servers are silent while
            they load a model, read a prompt or reason.
    """

    attempts: int = 6
    first_delay_s: float = 2.0
    longest_delay_s: float = 60.0
    longest_retry_after_s: float = 300.0
    stall_s: float = 300.0


class _Failure(msgspec.Struct, frozen=True):
    """Why an attempt brought no reply.

    Attributes:
        message: for people; without keys.
        passing: waiting may help.
        status: of HTTP; None without an answer.
        retry_after_s: seconds that the server wants to be left alone; None if it does not say.
        refused: the parameter that the server does not take; empty for another reason.
        too_generous: the request and the reply that it allows do not fit into the context together.
    """

    message: str
    passing: bool
    status: int | None = None
    retry_after_s: float | None = None
    refused: str = ""
    too_generous: bool = False


class Line:
    """The line to one endpoint. Remembers what it refused.

    Args:
        endpoint: address and timeout.
        patience: with one that fails.
    """

    def __init__(self, endpoint: Endpoint, patience: Patience) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self.refused: set[str] = set()

    async def ask(self, wanted: Mapping[str, Any], failures: list[str]) -> RawReply | None:
        """Return the reply to a request, or None if the server takes no tools and the request has some.

        Args:
            wanted: the whole body; what the server refuses is left out of it.
            failures: grows by one line for each attempt that brought no reply.

        Raises:
            EndpointError: no reply came, and asking again would not help or did not.
        """
        base_url = base_url_of(self._endpoint)
        async with openai.AsyncOpenAI(api_key=key_for(base_url), base_url=base_url, max_retries=0) as line:
            return await self._persist(line, base_url, wanted, failures)

    async def _persist(
        self, line: openai.AsyncOpenAI, base_url: str, wanted: Mapping[str, Any], failures: list[str]
    ) -> RawReply | None:
        attempts = 0
        unlimited: set[str] = set()
        both = not is_openai(base_url)  # which refuses to be given both
        while True:
            body = parameters(wanted, self.refused | unlimited, by_both_names=both)
            outcome = await self._attempt(line, base_url, body)
            if isinstance(outcome, RawReply):
                return outcome
            failures.append(outcome.message)
            if outcome.too_generous:
                unlimited = {TOKENS, OLD_TOKENS}  # for this request: the server then allows what is left
                continue
            if outcome.refused:
                self.refused.add(outcome.refused)
                if outcome.refused == "tools":
                    return None
                continue
            attempts += 1
            await asyncio.sleep(self._pause(outcome, attempts))

    def _pause(self, failure: _Failure, attempts: int) -> float:
        """Seconds until the next attempt.

        Raises:
            EndpointError: there is no next one.
        """
        patience = self._patience
        if not failure.passing:
            raise EndpointError(failure.message, status=failure.status)
        if attempts >= patience.attempts:
            raise EndpointError(f"{failure.message} (asked {attempts} times)", status=failure.status)
        wanted = failure.retry_after_s
        if wanted is not None and wanted > patience.longest_retry_after_s:
            raise EndpointError(
                f"{failure.message} (the server wants a pause of {wanted:,.0f} s)", status=failure.status
            )
        most = min(patience.longest_delay_s, patience.first_delay_s * 2 ** (attempts - 1))
        delay: float = most * random.uniform(0.5, 1.0)
        return delay if wanted is None else wanted + delay / 10

    async def _attempt(
        self, line: openai.AsyncOpenAI, base_url: str, body: dict[str, Any]
    ) -> RawReply | _Failure:
        """Send one request. Whatever way it ends, its connection is closed by then."""
        assembly = Assembly()
        limit = self._endpoint.timeout_s
        stall = min(limit, self._patience.stall_s) if body.get("stream") else limit
        silence = openai.Timeout(limit, connect=min(_CONNECT_S, limit), read=stall)
        try:
            async with asyncio.timeout(limit):
                problem = await _receive(line.with_options(timeout=silence), body, assembly)
        except TimeoutError:
            return _Failure(
                f"{base_url} sent no whole reply in {limit:g} s; raise --timeout, lower --completion-tokens",
                passing=False,
            )
        except openai.APIStatusError as error:
            return self._said(error.status_code, error.body, base_url, body, error.response.headers)
        except openai.APITimeoutError as error:
            if not assembly.finish:
                what = "cannot be reached" if "Connect" in type(error.__cause__).__name__ else "is silent"
                return _Failure(f"{base_url} {what}; check that it runs, then resume", passing=True)
            problem = None
        except openai.APIConnectionError as error:
            if not assembly.finish:  # else all but the counts have come
                why = str(error.__cause__) or type(error.__cause__).__name__
                return _Failure(
                    f"no connection to {base_url} ({why}); check --base-url and that the server runs",
                    passing=True,
                )
            problem = None
        except openai.APIError as error:  # sent in the middle of a stream
            problem = error.body or {"message": error.message}
        if problem is not None:
            return self._reported(problem, base_url, body)
        return assembly.reply(_characters(body))

    def _reported(self, problem: object, base_url: str, body: dict[str, Any]) -> RawReply | _Failure:
        """What an error means that came with the status 200; the true one is in it, or none."""
        if isinstance(problem, str):
            return _Failure(f"{base_url} {problem}", passing=problem == _CUT)
        inner = problem.get("error", problem) if isinstance(problem, Mapping) else None
        code = str(inner.get("code", "")) if isinstance(inner, Mapping) else ""
        if code.isdecimal() and 400 <= int(code) < 600:
            return self._said(int(code), problem, base_url, body, {})
        return _Failure(f"{base_url} broke off ({message_of(problem)}); resume later", passing=True)

    def _said(
        self, status: int, said: object, base_url: str, body: dict[str, Any], headers: Mapping[str, str]
    ) -> RawReply | _Failure:
        if is_filtered(said):
            return RawReply(finish="content_filter", refusal=message_of(said))
        message = explained(status, said, base_url=base_url, model=str(body["model"]))
        if is_too_long(status, said):
            if counts_reply(said) and {TOKENS, OLD_TOKENS} & set(body):
                return _Failure(message, passing=False, status=status, too_generous=True)
            return RawReply(finish=TOO_LONG, refusal=message_of(said))
        return _Failure(
            message,
            passing=is_passing(status, said),
            status=status,
            retry_after_s=_retry_after(headers),
            refused=refused_parameter(status, said, body),
        )


_CUT = "cut its reply short; resume later"
_FOREIGN = "answered with something other than a chat completion; check --base-url (it usually ends with /v1)"


async def _receive(line: openai.AsyncOpenAI, body: dict[str, Any], assembly: Assembly) -> object:
    """Fill in the reply, streamed or whole. Return None, or what came in its place."""
    create = line.chat.completions.with_streaming_response.create
    async with cast(Any, create)(**body) as response:
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            return _take_whole(await response.read(), assembly)
        try:
            async for chunk in await response.parse():
                assembly.add(chunk.to_dict(warnings=False))
        except ValueError:  # a chunk that is not JSON
            return _CUT
        return None if assembly.finish else _CUT


def _take_whole(data: bytes, assembly: Assembly) -> object:
    try:
        value = json.loads(data)
    except ValueError:
        return _FOREIGN
    if isinstance(value, dict) and value.get("choices"):
        assembly.add(value)
        return None
    return value if isinstance(value, dict) and value.get("error") else _FOREIGN


def _characters(body: Mapping[str, Any]) -> int:
    """Characters of a request that are counted as tokens."""
    parts = (body["messages"], body.get("tools"))
    return sum(len(json.dumps(part, ensure_ascii=False)) for part in parts if part)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server wants to be left alone, from a number or a date; None if it does not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            return max(0.0, float(value) * unit)
        except ValueError:
            continue
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
