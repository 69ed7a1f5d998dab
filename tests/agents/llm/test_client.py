"""The client against servers that answer well, or say what they do not take."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from autoindex_pyserini.agents.llm.exchanges import Exchanges
from autoindex_pyserini.agents.llm.replies import (
    EmptyReplyError,
    ModelReplyError,
    RefusedReplyError,
    RequestTooLongError,
    ToolCall,
    ToolsRefusedError,
    TruncatedReplyError,
)
from autoindex_pyserini.agents.proposer import BudgetSpentError
from autoindex_pyserini.settings import Model

from .asking import GREP, client, user
from .scripted_server import Play, ScriptedServer, error

UNSUPPORTED = "Unsupported parameter: '{}' is not supported with this model."


def unsupported(name: str) -> Play:
    return error(400, UNSUPPORTED.format(name), param=name)


class TestReplies:
    @pytest.mark.parametrize("refuses", [{}, {"stream": unsupported("stream")}], ids=["stream", "whole"])
    @pytest.mark.parametrize(
        ("play", "text"),
        [
            (Play("a reply of several pieces"), "a reply of several pieces"),
            (Play("<think>so</think>\n\nyes"), "yes"),
            (Play("so it is</think>yes"), "yes"),
            (Play("<think>a</think>no<think>b</think> yes "), "yes"),
            (Play("yes", reasoning="so"), "yes"),
            (Play("yes", reasoning="so", reasoning_name="reasoning"), "yes"),
            (Play("größer 🙂 als"), "größer 🙂 als"),
        ],
    )
    def test_text_comes_without_reasoning(
        self, play: Play, text: str, refuses: dict[str, Play], tmp_path: Path
    ) -> None:
        with ScriptedServer([play], refuses=refuses) as server:
            reply = client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert reply.text == text
        assert reply.finish == "stop"
        assert (reply.prompt_tokens, reply.completion_tokens) == (
            server.prompt_tokens,
            server.completion_tokens,
        )
        assert not reply.estimated
        assert reply.seconds > 0

    @pytest.mark.parametrize("refuses", [{}, {"stream": unsupported("stream")}], ids=["stream", "whole"])
    def test_tool_calls_come_whole_with_the_reasoning_beside_them(
        self, refuses: dict[str, Play], tmp_path: Path
    ) -> None:
        calls = (("grep", '{"q": "a longer text"}'), ("read", '{"broken": '))
        with ScriptedServer([Play("<think>look</think>", tool_calls=calls)], refuses=refuses) as server:
            reply = client(server.base_url, tmp_path).complete(
                user("go"), agent="analysis", round=1, tools=[GREP]
            )
        assert reply.text == ""
        assert reply.tool_calls == (
            ToolCall("id-0", "grep", '{"q": "a longer text"}'),
            ToolCall("id-1", "read", '{"broken": '),
        )
        assert server.bodies[-1]["tools"][0]["function"]["name"] == "grep"

    @pytest.mark.parametrize(
        ("play", "kind", "text", "message"),
        [
            (Play("half a rep", finish="length"), TruncatedReplyError, "half a rep", "cut after .* tokens"),
            (Play("<think>and so on", finish="length"), TruncatedReplyError, "", "all of them reasoning"),
            (Play(""), EmptyReplyError, "", "holds nothing,"),
            (Play("<think>and so on"), EmptyReplyError, "", "nothing but reasoning"),
            (Play("", reasoning="so"), EmptyReplyError, "", "nothing but reasoning"),
            (Play("I", finish="content_filter"), RefusedReplyError, "I", "filtered"),
            (Play("", refusal="I would rather not."), RefusedReplyError, "", "I would rather not"),
            (error(400, "no", code="content_filter"), RefusedReplyError, "", "refused to answer: no"),
        ],
    )
    def test_what_cannot_be_used_is_an_error_with_what_came(
        self, play: Play, kind: type[ModelReplyError], text: str, message: str, tmp_path: Path
    ) -> None:
        with ScriptedServer([play]) as server:
            asked = client(server.base_url, tmp_path)
            with pytest.raises(kind, match=message) as raised:
                asked.complete(user("go"), agent="code", round=1)
        assert type(raised.value) is kind
        assert raised.value.reply.text == text
        assert raised.value.reply.completion_tokens == server.completion_tokens
        assert len(server.asked) == 1
        assert sum(cost.completion_tokens for cost in asked.costs()) == server.completion_tokens

    @pytest.mark.parametrize("usage", [None, {"prompt_tokens": 0, "completion_tokens": 0}, {"total": "?"}])
    def test_tokens_that_nobody_counted_are_estimated(self, usage: Any, tmp_path: Path) -> None:
        with ScriptedServer([Play("x" * 400, reasoning="y" * 400, usage=usage)]) as server:
            server.count = lambda usage: None  # type: ignore[method-assign]
            reply = client(server.base_url, tmp_path).complete(user("z" * 4000), agent="code", round=1)
        assert reply.estimated
        assert reply.completion_tokens == 200
        assert reply.prompt_tokens == pytest.approx(1000, rel=0.02)

    def test_it_works_below_another_event_loop(self, tmp_path: Path) -> None:
        async def within() -> str:
            return client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1).text

        with ScriptedServer(["hello"]) as server:
            assert asyncio.run(within()) == "hello"


class TestParameters:
    def test_a_server_that_takes_all_gets_all(self, tmp_path: Path) -> None:
        with ScriptedServer(["hello"]) as server:
            asked = client(server.base_url, tmp_path, model=Model("m", 0.25, 99))
            asked.complete(user("go"), agent="code", round=1)
        assert server.bodies == [
            {
                "model": "m",
                "messages": user("go"),
                "temperature": 0.25,
                "max_completion_tokens": 99,
                "max_tokens": 99,
                "seed": 7,
                "stream": True,
                "stream_options": {"include_usage": True},
            }
        ]
        assert server.asked[0].path == "/v1/chat/completions"

    def test_samples_have_seeds_of_their_own(self, tmp_path: Path) -> None:
        with ScriptedServer(["one", "two"]) as server:
            asked = client(server.base_url, tmp_path)
            replies = [
                asked.complete(user("go"), agent="code", round=1, sample=sample).text for sample in (0, 1)
            ]
        assert replies == ["one", "two"]
        assert server.bodies[0]["seed"] != server.bodies[1]["seed"]

    @pytest.mark.parametrize("name", ["seed", "temperature", "stream_options", "stream"])
    @pytest.mark.parametrize(
        "refusal",
        [
            lambda name: unsupported(name),
            lambda name: error(400, f"Unrecognized request argument supplied: {name}"),
            lambda name: Play(
                status=422,
                body={"detail": [{"loc": ["body", name], "msg": "Extra inputs", "input": "max_tokens"}]},
            ),
            lambda name: Play(status=400, body={"error": f"{name} is not a thing"}),
        ],
        ids=["param", "message", "pydantic", "text"],
    )
    def test_a_refused_parameter_is_left_out_from_then_on(
        self, name: str, refusal: Any, tmp_path: Path
    ) -> None:
        with ScriptedServer(["one", "two"], refuses={name: refusal(name)}) as server:
            asked = client(server.base_url, tmp_path)
            for number, text in enumerate(("one", "two")):
                assert asked.complete(user(str(number)), agent="code", round=1).text == text
        assert [name in body for body in server.bodies] == [True, False, False]
        assert {"seed", "temperature", "max_completion_tokens"} - {name} <= set(server.bodies[2])

    def test_the_limit_of_tokens_goes_by_its_older_name_where_the_newer_is_refused(
        self, tmp_path: Path
    ) -> None:
        refuses = {"max_completion_tokens": unsupported("max_completion_tokens")}
        with ScriptedServer(["one"], refuses=refuses) as server:
            client(server.base_url, tmp_path, model=Model("m", 0.7, 99)).complete(
                user("go"), agent="code", round=1
            )
        assert server.bodies[1]["max_tokens"] == 99
        assert "max_completion_tokens" not in server.bodies[1]

    def test_several_refused_parameters_are_left_out_one_after_the_other(self, tmp_path: Path) -> None:
        names = ("seed", "temperature", "stream_options", "stream", "max_completion_tokens", "max_tokens")
        with ScriptedServer(["one"], refuses={name: unsupported(name) for name in names}) as server:
            reply = client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert reply.text == "one"
        assert set(server.bodies[-1]) == {"model", "messages"}

    @pytest.mark.parametrize(
        "refusal",
        [
            unsupported("tools"),
            error(400, "registry.ollama.ai/library/gemma:latest does not support tools"),
            error(404, "No endpoints found that support tool use."),
            error(500, "tools param requires --jinja flag"),
            error(400, '"auto" tool choice requires --enable-auto-tool-choice to be set'),
        ],
    )
    def test_a_server_without_tools_says_so_before_anything_is_paid(
        self, refusal: Play, tmp_path: Path
    ) -> None:
        with ScriptedServer(["one"], refuses={"tools": refusal}) as server:
            asked = client(server.base_url, tmp_path)
            assert asked.supports_tools
            for _ in range(2):
                with pytest.raises(ToolsRefusedError, match="ask again without"):
                    asked.complete(user("go"), agent="analysis", round=1, tools=[GREP])
            assert not asked.supports_tools
            assert asked.costs() == ()
            assert asked.complete(user("go"), agent="analysis", round=1).text == "one"
        assert len(server.asked) == 2
        assert not client(server.base_url, tmp_path).supports_tools  # also in a resumed run

    def test_a_request_that_does_not_fit_is_an_error_of_its_own_and_recorded(self, tmp_path: Path) -> None:
        message = "This model's maximum context length is 100 tokens, your messages have 200."
        with ScriptedServer([error(400, message, code="context_length_exceeded")]) as server:
            for _ in range(2):
                asked = client(server.base_url, tmp_path)
                with pytest.raises(RequestTooLongError, match="maximum context length"):
                    asked.complete(user("go"), agent="code", round=1)
                assert [cost.calls for cost in asked.costs()] == [0]
        assert len(server.asked) == 1

    def test_a_reply_that_does_not_fit_with_its_request_is_not_limited(self, tmp_path: Path) -> None:
        message = "maximum context length is 100 tokens: 20 in the messages, 90 in the completion"
        with ScriptedServer([error(400, message), "one", "two"]) as server:
            asked = client(server.base_url, tmp_path)
            assert asked.complete(user("long"), agent="code", round=1).text == "one"
            assert asked.complete(user("short"), agent="code", round=1).text == "two"
        assert ["max_completion_tokens" in body for body in server.bodies] == [True, False, True]


class TestBudget:
    def test_the_reply_that_crosses_a_limit_is_kept_and_the_next_request_not_sent(
        self, tmp_path: Path
    ) -> None:
        with ScriptedServer(lambda body: Play("one two three")) as server:
            asked = client(server.base_url, tmp_path, max_tokens=1)
            assert asked.complete(user("a"), agent="code", round=1).text == "one two three"
            with pytest.raises(BudgetSpentError, match=r"used \d+ tokens, the limit of the run is 1;"):
                asked.complete(user("b"), agent="code", round=1)
            again = client(server.base_url, tmp_path, max_tokens=1)
            assert again.complete(user("a"), agent="code", round=1).text == "one two three"
            with pytest.raises(BudgetSpentError, match="--max-tokens"):
                again.complete(user("b"), agent="code", round=1)
            assert len(server.asked) == 1
            raised = client(server.base_url, tmp_path, max_tokens=10**6)
            raised.complete(user("b"), agent="code", round=1)
        assert len(server.asked) == 2
        assert len(list(tmp_path.iterdir())) == 2

    @pytest.mark.parametrize(
        ("limits", "message"),
        [
            ({"max_money": 0.001, "price_in": 1000.0}, r"0\.\d+ in money.*--max-money"),
            ({"max_money": 0.001, "price_out": 1000.0}, r"0\.\d+ in money.*--max-money"),
            ({"max_seconds": 0.001}, "seconds of waiting.*--max-seconds"),
        ],
    )
    def test_limits_on_money_and_time(self, limits: dict[str, float], message: str, tmp_path: Path) -> None:
        with ScriptedServer(["one", "two"]) as server:
            asked = client(server.base_url, tmp_path, max_tokens=0, **limits)
            asked.complete(user("a"), agent="code", round=1)
            with pytest.raises(BudgetSpentError, match=message):
                asked.complete(user("b"), agent="code", round=1)

    def test_the_ledger_is_what_the_server_counted(self, tmp_path: Path) -> None:
        plays = [
            "one",
            Play("", tool_calls=(("grep", "{}"),)),
            error(500, "later"),
            Play("half", finish="length"),
            error(429, "slowly"),
            Play("<think>a b c</think>"),
            Play("last", reasoning="long thoughts before it"),
        ]
        with ScriptedServer(plays, refuses={"seed": unsupported("seed")}) as server:
            asked = client(server.base_url, tmp_path, price_in=2.0, price_out=10.0)
            for number, agent in enumerate(("analysis", "code", "analysis", "synthesis", "code")):
                try:
                    asked.complete(user("q" * 50 * number), agent=agent, round=1)
                except ModelReplyError:
                    continue
        costs = asked.costs()
        assert [cost.agent for cost in costs] == ["analysis", "code", "synthesis"]
        assert sum(cost.calls for cost in costs) == server.reported == 5
        assert sum(cost.prompt_tokens for cost in costs) == server.prompt_tokens
        assert sum(cost.completion_tokens for cost in costs) == server.completion_tokens
        money = (2 * server.prompt_tokens + 10 * server.completion_tokens) / 1e6
        assert sum(cost.money for cost in costs) == pytest.approx(money)
        recorded = Exchanges(tmp_path).paid
        assert sum(reply.completion_tokens for reply in recorded) == server.completion_tokens
        assert asked.costs(since=asked.mark()) == ()
        assert [cost.calls for cost in asked.costs(since=3)] == [1, 1]
