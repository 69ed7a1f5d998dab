"""The record: nothing is paid twice, and a run can be repeated without a model."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoindex_pyserini.agents.llm.client import ModelClient
from autoindex_pyserini.agents.llm.exchanges import Exchange, Exchanges, UnrecordedRequestError
from autoindex_pyserini.agents.llm.replies import ModelReplyError, ToolsRefusedError, TruncatedReplyError
from autoindex_pyserini.agents.llm.requests import Request, sound
from autoindex_pyserini.errors import RunDirectoryError
from autoindex_pyserini.settings import Model

from .asking import GREP, client, user
from .scripted_server import Play, ScriptedServer, error

NOWHERE = "http://127.0.0.1:1/v1"


def record(directory: Path, number: int) -> Exchange:
    return msgspec.json.decode((directory / f"{number}.json").read_bytes(), type=Exchange)


def conversation(asked: ModelClient, texts: Sequence[str]) -> list[str]:
    """Ask one thing after the other; an unusable reply counts as what came of it."""
    answers = []
    for text in texts:
        try:
            answers.append(asked.complete(user(text), agent="code", round=1).text)
        except ModelReplyError as failed:
            answers.append(f"{type(failed).__name__}: {failed.reply.text}")
    return answers


class TestRecord:
    def test_a_request_is_on_disk_before_it_is_sent_and_its_reply_before_it_is_used(
        self, tmp_path: Path
    ) -> None:
        found: list[Exchange] = []

        def answer(body: object) -> str:
            found.append(record(tmp_path, 1))
            return "<think>so</think>yes"

        with ScriptedServer(answer) as server:
            client(server.base_url, tmp_path).complete(user("go"), agent="code", round=3)
        assert found[0].reply is None
        assert found[0].request.messages == ({"role": "user", "content": "go"},)
        after = record(tmp_path, 1)
        assert after.reply is not None
        assert after.reply.text == "<think>so</think>yes"
        assert after.reply.usage is not None
        assert after.endpoint == server.base_url
        assert (after.request.agent, after.request.round) == ("code", 3)
        assert msgspec.structs.replace(after, reply=None) == found[0]

    def test_attempts_that_failed_are_told(self, tmp_path: Path) -> None:
        refuses = {"seed": error(400, "no seed", param="seed")}
        with ScriptedServer([error(500, "oops"), "hello"], refuses=refuses) as server:
            client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        found = record(tmp_path, 1)
        assert [("no seed" in line, "oops" in line) for line in found.failures] == [
            (True, False),
            (False, True),
        ]
        assert found.omitted == ("seed",)
        assert found.request.seed == 7

    @pytest.mark.parametrize("content", [b"", b"{", b'{"number": "one"}', b"\xff\xfe"])
    def test_a_damaged_file_is_named(self, content: bytes, tmp_path: Path) -> None:
        (tmp_path / "7.json").write_bytes(content)
        with pytest.raises(RunDirectoryError, match=r"7\.json is damaged"):
            Exchanges(tmp_path)

    def test_other_files_are_left_alone(self, tmp_path: Path) -> None:
        for name in (".1.json.abc.part", "notes.txt", "01.json"):
            (tmp_path / name).write_text("not an exchange")
        assert Exchanges(tmp_path).paid == []

    @given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner)))
    def test_what_is_sound_can_be_written(self, value: object) -> None:
        assert msgspec.json.decode(msgspec.json.encode(sound(value))) == sound(value) == value

    def test_half_a_character_does_not_stop_a_run(self, tmp_path: Path) -> None:
        with ScriptedServer([Play("a \ud83d\ude00 \ud83d b")]) as server:
            reply = client(server.base_url, tmp_path).complete(user("x \udc00 y"), agent="code", round=1)
        assert reply.text == "a \U0001f600 \ufffd b"
        assert server.bodies[0]["messages"][0]["content"] == "x \ufffd y"


class TestResuming:
    def test_the_same_requests_get_the_same_replies_and_costs_for_nothing(self, tmp_path: Path) -> None:
        plays = ["one", Play("half", finish="length"), "three", "four", Play("")]
        texts = ["a", "b", "a", "c", "d"]  # equal ones are answered in their order
        with ScriptedServer(plays) as server:
            first = client(server.base_url, tmp_path, price_in=1.0, price_out=2.0)
            answers = conversation(first, texts)
            again = client(server.base_url, tmp_path, price_in=1.0, price_out=2.0)
            assert conversation(again, texts) == answers
            assert len(server.asked) == len(plays)
            assert again.costs() == first.costs()
            assert again.costs(2) == first.costs(2)
            sums = (server.prompt_tokens, server.completion_tokens)
        assert answers == ["one", "TruncatedReplyError: half", "three", "four", "EmptyReplyError: "]
        (cost,) = again.costs()
        assert (cost.prompt_tokens, cost.completion_tokens) == sums

    def test_a_request_of_another_round_agent_or_sample_is_another(self, tmp_path: Path) -> None:
        asks = [("code", 1, 0), ("code", 2, 0), ("analysis", 1, 0), ("code", 1, 1)]
        with ScriptedServer(["0", "1", "2", "3"]) as server:
            for order in (asks, asks[::-1]):
                asked = client(server.base_url, tmp_path)
                for agent, round, sample in order:
                    reply = asked.complete(user("go"), agent=agent, round=round, sample=sample)
                    assert reply.text == str(asks.index((agent, round, sample)))
        assert len(server.asked) == len(asks)

    def test_where_a_record_ends_the_model_is_asked(self, tmp_path: Path) -> None:
        with ScriptedServer(["one", "two", "three"]) as server:
            conversation(client(server.base_url, tmp_path), ["a", "b"])
            (tmp_path / "2.json").unlink()
            assert conversation(client(server.base_url, tmp_path), ["a", "b"]) == ["one", "three"]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["1.json", "2.json"]

    def test_a_request_that_failed_before_is_sent_again_whatever_came_after_it(self, tmp_path: Path) -> None:
        fails = error(401, "not yet")
        with ScriptedServer([fails, "one", "two"]) as server:
            asked = client(server.base_url, tmp_path)
            with pytest.raises(Exception, match="not yet"):
                asked.complete(user("a"), agent="code", round=1)
            assert conversation(asked, ["a", "b"]) == ["one", "two"]
            assert conversation(client(server.base_url, tmp_path), ["a", "b"]) == ["one", "two"]
        assert len(server.asked) == 3
        assert "not yet" in record(tmp_path, 1).failures[0]

    def test_a_run_that_is_killed_pays_nothing_twice(self, tmp_path: Path) -> None:
        code = (
            "import sys; from pathlib import Path\n"
            "from autoindex_pyserini.agents.llm.client import ModelClient\n"
            "from autoindex_pyserini.agents.llm.exchanges import Exchanges\n"
            "from autoindex_pyserini.settings import Endpoint, Model\n"
            "asked = ModelClient(Model('played'), Endpoint(base_url=sys.argv[1]), "
            "Exchanges(Path(sys.argv[2])), seed=7)\n"
            "for text in 'abc':\n"
            "    message = {'role': 'user', 'content': text}\n"
            "    print(asked.complete([message], agent='code', round=1).text, flush=True)\n"
        )
        with ScriptedServer(["one", "two", Play("lost", stall_s=60, stall_after=2), "three"]) as server:
            arguments = [sys.executable, "-c", code, server.base_url, str(tmp_path)]
            child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
            end = time.monotonic() + 60
            while len(server.played) < 3 and time.monotonic() < end:
                time.sleep(0.05)
            child.send_signal(signal.SIGKILL)
            assert child.communicate()[0].split() == ["one", "two"]
            assert record(tmp_path, 3).reply is None
            resumed = client(server.base_url, tmp_path)
            assert conversation(resumed, ["a", "b", "c"]) == ["one", "two", "three"]
        asked = [body["messages"][0]["content"] for body in server.bodies]
        assert asked == ["a", "b", "c", "c"]
        (cost,) = resumed.costs()
        assert cost.completion_tokens == server.completion_tokens
        assert sorted(path.name for path in tmp_path.iterdir()) == ["1.json", "2.json", "3.json"]


class TestReplay:
    @pytest.fixture
    def recorded(self, tmp_path: Path) -> Path:
        folder = tmp_path / "recorded"
        plays = ["one", Play("half", finish="length"), "three"]
        refuses = {"tools": error(400, "does not support tools")}
        with ScriptedServer(plays, refuses=refuses) as server:
            asked = client(server.base_url, folder)
            with pytest.raises(ToolsRefusedError):
                asked.complete(user("a"), agent="analysis", round=1, tools=[GREP])
            conversation(asked, ["a", "b", "a"])
        return folder

    def replayed(self, recorded: Path, into: Path, model: Model = Model("played")) -> ModelClient:  # noqa: B008
        return client("", into, replay=recorded, model=model)

    def test_it_needs_no_endpoint_and_costs_the_same(
        self, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", NOWHERE)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        asked = self.replayed(recorded, tmp_path / "new")
        assert not asked.supports_tools
        answers = conversation(asked, ["a", "b", "a"])
        assert answers == ["one", "TruncatedReplyError: half", "three"]
        assert asked.costs()[0].completion_tokens > 0
        # Stopped and gone on with, and a replay of the replay: the same.
        for source, into in ((recorded, "new"), (tmp_path / "new", "newer")):
            again = self.replayed(source, tmp_path / into)
            assert conversation(again, ["a", "b", "a"]) == answers
            assert again.costs() == asked.costs()

    @pytest.mark.parametrize(
        ("messages", "message"),
        [
            (user("a\n" + "x" * 999 + "?"), r"message 1 differs: at character 1 it says .*recorded was 'a'"),
            ([*user("a"), *user("b")], "it has 2 messages, recorded were 1"),
            ([{"role": "system", "content": "a"}], "of the role system, recorded was user"),
        ],
    )
    def test_a_request_without_a_reply_says_what_differs(
        self, messages: list[dict[str, str]], message: str, recorded: Path, tmp_path: Path
    ) -> None:
        asked = self.replayed(recorded, tmp_path / "new")
        with pytest.raises(UnrecordedRequestError, match=message) as raised:
            asked.complete(messages, agent="code", round=1)
        assert len(str(raised.value)) < 500

    def test_other_differences(self, recorded: Path, tmp_path: Path) -> None:
        new = tmp_path / "new"
        asked = self.replayed(recorded, new)
        with pytest.raises(UnrecordedRequestError, match=r"code in round 2 was not asked.*code in round 1"):
            asked.complete(user("a"), agent="code", round=2)
        with pytest.raises(TruncatedReplyError):
            asked.complete(user("b"), agent="code", round=1)
        with pytest.raises(UnrecordedRequestError, match="was asked 1 times there"):
            asked.complete(user("b"), agent="code", round=1)
        other = self.replayed(recorded, new, Model("other"))
        with pytest.raises(UnrecordedRequestError, match="model is 'other', recorded was 'played'"):
            other.complete(user("a"), agent="code", round=1)

    def test_there_must_be_something_to_replay(self, tmp_path: Path) -> None:
        with pytest.raises(RunDirectoryError, match="holds no replies"):
            self.replayed(tmp_path / "nothing", tmp_path / "new")


def test_the_key_of_a_request_is_kept_from_version_to_version() -> None:
    request = Request("code", 1, 0, "m", 0.5, 99, 7, ({"role": "user", "content": "go"},))
    turned = msgspec.structs.replace(request, messages=({"content": "go", "role": "user"},))
    assert request.key == turned.key
    assert request.key == "b2af225c6d26c28cdd6e62a9"
