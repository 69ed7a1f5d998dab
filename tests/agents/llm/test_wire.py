"""What servers of one API send differently, put together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoindex_pyserini.agents.llm.endpoint import is_openai
from autoindex_pyserini.agents.llm.refusals import parameters, refused_parameter
from autoindex_pyserini.agents.llm.replies import RawReply, ToolCall, without_reasoning
from autoindex_pyserini.agents.llm.wire import Assembly


def assembled(*chunks: dict[str, Any], prompt_chars: int = 40) -> RawReply:
    assembly = Assembly()
    for chunk in chunks:
        assembly.add(chunk)
    return assembly.reply(prompt_chars)


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def call(name: str | None = None, arguments: Any = "", **fields: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **fields}


class TestToolCalls:
    def test_pieces_of_several_calls_that_take_turns(self) -> None:
        reply = assembled(
            delta(tool_calls=[call("one", '{"a', index=0, id="x"), call("two", "{", index=1, id="y")]),
            delta(tool_calls=[call(None, "}", index=1)]),
            delta(tool_calls=[call(None, '": 1}', index=0)]),
        )
        assert reply.tool_calls == (ToolCall("x", "one", '{"a": 1}'), ToolCall("y", "two", "{}"))

    def test_calls_that_all_have_the_index_0(self) -> None:
        reply = assembled(
            delta(tool_calls=[call("one", "{}", index=0, id="x")]),
            delta(tool_calls=[call("two", "{}", index=0, id="y")]),
        )
        assert [found.name for found in reply.tool_calls] == ["one", "two"]

    def test_calls_without_index_or_id_and_with_an_object_for_arguments(self) -> None:
        reply = assembled(delta(tool_calls=[call("one", {"a": 1}), call("two", None)]))
        assert reply.tool_calls == (ToolCall("call_0", "one", '{"a": 1}'), ToolCall("call_1", "two", ""))

    def test_a_name_and_an_id_that_come_with_every_piece(self) -> None:
        piece = [call("one", "{", index=0, id="x"), call("one", "}", index=0, id="x")]
        reply = assembled(*(delta(tool_calls=[part]) for part in piece))
        assert reply.tool_calls == (ToolCall("x", "one", "{}"),)


class TestText:
    def test_parts_of_content_some_of_them_reasoning(self) -> None:
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "so"}]}
        reply = assembled(delta(content=[thinking, {"type": "text", "text": "yes"}]))
        assert (reply.text, reply.reasoning) == ("yes", "so")

    def test_the_same_reasoning_under_two_names_counts_once(self) -> None:
        reply = assembled(delta(reasoning="so", reasoning_content="so"))
        assert reply.reasoning == "so"

    def test_other_choices_and_odd_chunks_are_not_read(self) -> None:
        other = {"choices": [{"index": 1, "delta": {"content": "no"}}]}
        odd: list[dict[str, Any]] = [{}, {"choices": []}, {"choices": None}, {"choices": [{"delta": None}]}]
        assert assembled(*odd, other, delta(content="yes")).text == "yes"

    @given(st.text(), st.text(alphabet=st.characters(exclude_characters="<")))
    def test_whatever_was_reasoned_the_answer_is_what_follows(self, reasoning: str, answer: str) -> None:
        assert without_reasoning(f"<think>{reasoning}</think>{answer}") == answer.strip()


class TestCounts:
    @pytest.mark.parametrize(
        ("usage", "expected"),
        [
            ({"prompt_tokens": 5, "completion_tokens": 7}, (5, 7, False)),
            ({"prompt_tokens": 5, "completion_tokens": 0}, (5, 0, False)),
            ({"prompt_tokens": 5}, (5, 2, True)),
            ({"prompt_tokens": 0, "completion_tokens": 0}, (10, 2, True)),
            ({"prompt_tokens": -1, "completion_tokens": "7"}, (10, 2, True)),
            ({}, (10, 2, True)),
            (None, (10, 2, True)),
        ],
    )
    def test_what_the_server_counted_or_an_estimate(
        self, usage: dict[str, object] | None, expected: tuple[int, int, bool]
    ) -> None:
        reply = assembled(delta(content="8 chars."), {"choices": [], "usage": usage})
        assert (reply.prompt_tokens, reply.completion_tokens, reply.estimated) == expected

    def test_of_counts_that_grow_the_last_one_counts(self) -> None:
        chunks = [
            {**delta(content="x"), "usage": {"prompt_tokens": 5, "completion_tokens": number}}
            for number in (1, 2, 3)
        ]
        assert assembled(*chunks, delta(), {**delta(), "usage": None}).completion_tokens == 3


@pytest.mark.parametrize(
    ("status", "message", "param", "refused"),
    [
        (400, "Unsupported value: 'temperature' does not support 0.7", "temperature", "temperature"),
        (400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.", "max_tokens", ""),
        (400, "stream_options is only allowed with stream", None, "stream_options"),
        (400, "Your organization must be verified to stream this model.", "stream", "stream"),
        (400, "streaming is not supported", None, "stream"),
        (400, "Invalid 'tools[0].function.name'", "tools[0].function.name", "tools"),
        (400, "a message of the role 'tool' must follow one with 'tool_calls'", None, ""),
        (400, "wrong seed", "messages", ""),
        (401, "no temperature for you", None, ""),
        (404, "no model called seed", None, ""),
        (500, "the seed does not grow", None, ""),
        (429, "too many tools, unsupported", None, ""),
    ],
)
def test_which_parameter_a_server_refuses(status: int, message: str, param: str | None, refused: str) -> None:
    sent = ("temperature", "max_completion_tokens", "seed", "stream", "stream_options", "tools")
    body = {"error": {"message": message, "param": param}}
    assert refused_parameter(status, body, sent) == refused


@pytest.mark.parametrize(
    ("base_url", "names"),
    [
        ("https://api.openai.com/v1", {"max_completion_tokens"}),
        ("https://x.openai.azure.com/openai/v1", {"max_completion_tokens"}),
        ("http://localhost:11434/v1", {"max_completion_tokens", "max_tokens"}),
        ("https://openai.com.example.org/v1", {"max_completion_tokens", "max_tokens"}),
    ],
)
def test_servers_that_may_ignore_one_name_of_the_limit_get_both(base_url: str, names: set[str]) -> None:
    wanted = {"model": "m", "max_completion_tokens": 5}
    sent = parameters(wanted, (), by_both_names=not is_openai(base_url))
    assert {name for name, value in sent.items() if value == 5} == names
    assert set(parameters(wanted, {"max_completion_tokens", "max_tokens"}, by_both_names=True)) == {"model"}
