"""`ModelClient`: asks a language model, remembers every answer, and never pays for one twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from autoindex_pyserini.agents.llm.endpoint import base_url_of
from autoindex_pyserini.agents.llm.exchanges import Exchanges
from autoindex_pyserini.agents.llm.meter import Meter
from autoindex_pyserini.agents.llm.replies import RawReply, Reply, ToolsRefusedError, usable
from autoindex_pyserini.agents.llm.requests import Request, sound
from autoindex_pyserini.agents.llm.transport import Line, Patience
from autoindex_pyserini.agents.llm.waiting import wait_for
from autoindex_pyserini.agents.proposer import AgentCost, Tool
from autoindex_pyserini.settings import Endpoint, Model


class ModelClient:
    """Asks the model behind any OpenAI-compatible endpoint, one request at a time.

    Replies that are recorded are not asked for again. The key comes from the environment
    (``OPENROUTER_API_KEY`` for OpenRouter, else ``OPENAI_API_KEY``) when a request is sent.

    Args:
        model: what can change its answers.
        endpoint: where it is, and what it may use.
        exchanges: the record of the run.
        seed: of the run; sent where the server takes one.
        cancelled: asked ten times a second while the model is waited for; True ends the request.
        patience: with an endpoint that fails.
    """

    def __init__(
        self,
        model: Model,
        endpoint: Endpoint,
        exchanges: Exchanges,
        *,
        seed: int = 0,
        cancelled: Callable[[], bool] = lambda: False,
        patience: Patience = Patience(),  # noqa: B008 - frozen
    ) -> None:
        self._model = model
        self._base_url = "" if exchanges.is_replay else base_url_of(endpoint)
        self._exchanges = exchanges
        self._seed = seed
        self._cancelled = cancelled
        self._line = Line(endpoint, patience)
        self._meter = Meter(endpoint, exchanges.paid)
        self._takes_tools = not exchanges.tools_refused

    @property
    def supports_tools(self) -> bool:
        """False once the server, now or in the record, has refused the parameter ``tools``."""
        return self._takes_tools

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        agent: str,
        round: int,
        tools: Sequence[Tool] = (),
        sample: int = 0,
    ) -> Reply:
        """Return the model's answer, or the recorded one.

        Args:
            messages: in the form of the OpenAI API.
            agent: who asks, for the record and the costs.
            round: in which round, for the record.
            tools: that the model may call.
            sample: tells apart several answers that are wanted to one question.

        Raises:
            ToolsRefusedError: the server takes no tools; nothing was paid, ask again without.
            ModelReplyError: the reply is cut, empty or a refusal; it is paid, and is in the error.
            BudgetSpentError: a limit of the run is reached; nothing was sent.
            EndpointError: nobody answers.
            RequestCancelledError: `cancelled` said so.
            UnrecordedRequestError: replies come from another run, which has none to this.
        """
        if tools and not self._takes_tools:
            raise _no_tools()
        request = Request(
            agent=agent,
            round=round,
            sample=sample,
            model=self._model.name,
            temperature=float(self._model.temperature),
            max_completion_tokens=self._model.max_completion_tokens,
            seed=self._seed,
            messages=tuple(sound(dict(message)) for message in messages),
            tools=tuple(sound(_described(tool)) for tool in tools),
        )
        raw = self._exchanges.recorded(request) or self._send(request)
        self._meter.use(agent, raw)
        return usable(raw, request.max_completion_tokens)

    def costs(self, since: int = 0) -> tuple[AgentCost, ...]:
        """What each agent used since a mark, by first use; recorded replies count as paid ones."""
        return self._meter.costs(since)

    def mark(self) -> int:
        """A place in the sequence of replies, for `costs`."""
        return self._meter.mark()

    def _send(self, request: Request) -> RawReply:
        """Ask the model, with the request on disk before it is sent and the reply before it is used."""
        self._meter.check()
        exchange = self._exchanges.begin(request, self._base_url)
        failures = list(exchange.failures)
        raw: RawReply | None = None
        answered = False
        started = time.monotonic()
        try:
            raw = wait_for(self._line.ask(request.body(), failures), self._cancelled)
            answered = True
        finally:
            if raw is not None:
                raw = msgspec.structs.replace(raw, seconds=round(time.monotonic() - started, 3))
            exchange = msgspec.structs.replace(
                exchange,
                omitted=tuple(sorted(self._line.refused)),
                failures=tuple(failures),
                tools_refused=answered and raw is None,
                reply=raw,
            )
            self._exchanges.close(exchange)
        if raw is None:
            self._takes_tools = False
            raise _no_tools()
        self._meter.pay(raw)
        return raw


def _no_tools() -> ToolsRefusedError:
    return ToolsRefusedError("the server takes no tools; ask again without them", Reply(""))


def _described(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
