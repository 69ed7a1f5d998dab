"""The client against servers that fail, and the keys that they must not give away."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from autoindex_pyserini.agents.llm.endpoint import (
    EndpointError,
    base_url_of,
    key_for,
)
from autoindex_pyserini.agents.llm.transport import Patience
from autoindex_pyserini.agents.proposer import RequestCancelledError
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.settings import Endpoint

from .asking import client, user
from .scripted_server import Play, ScriptedServer, error

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    yield


class TestFailuresThatPass:
    @pytest.mark.parametrize(
        "play",
        [
            error(429, "slowly", {"Retry-After": "0"}),
            error(500, "oops"),
            error(503, "overloaded"),
            Play(status=502, body="<html>bad gateway</html>"),
            Play("never mind this reply", cut_after=2),
            Play("never mind this reply", cut_after=0),
            Play("never mind this reply", finish=""),
            Play("never mind this reply", stall_s=30, stall_after=2),
            Play("never mind this reply", stall_s=30),
            Play(body={"error": {"message": "provider is down", "code": 502}}),
        ],
        ids=["429", "500", "503", "502", "cut", "cut at once", "no end", "stall", "silence", "error as 200"],
    )
    def test_it_is_asked_again(self, play: Play, tmp_path: Path) -> None:
        with ScriptedServer([play, "hello"]) as server:
            reply = client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert reply.text == "hello"
        assert len(server.asked) == 2
        assert server.bodies[0] == server.bodies[1]

    def test_it_is_given_up_after_a_while(self, tmp_path: Path) -> None:
        with (
            ScriptedServer(lambda body: error(503, "overloaded")) as server,
            pytest.raises(EndpointError, match=r"503 \(overloaded\).*asked 3 times") as raised,
        ):
            client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert raised.value.status == 503
        assert len(server.asked) == 3

    @pytest.mark.parametrize("wanted", [lambda: "1", lambda: formatdate(time.time() + 2, usegmt=True)])
    def test_a_server_is_left_alone_as_long_as_it_wants(self, wanted: object, tmp_path: Path) -> None:
        assert callable(wanted)
        with ScriptedServer([error(429, "slowly", {"Retry-After": wanted()}), "hello"]) as server:
            started = time.monotonic()
            reply = client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert time.monotonic() - started >= 0.95
        assert reply.seconds >= 0.95

    def test_but_not_for_hours(self, tmp_path: Path) -> None:
        with (
            ScriptedServer([error(429, "slowly", {"Retry-After": "3600"})]) as server,
            pytest.raises(EndpointError, match="wants a pause of 3,600 s") as raised,
        ):
            client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert raised.value.status == 429
        assert len(server.asked) == 1

    def test_comments_keep_a_silent_stream_alive(self, tmp_path: Path) -> None:
        with ScriptedServer([Play("hello", stall_s=1.0, stall_after=1, comments=True)]) as server:
            reply = client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert reply.text == "hello"
        assert len(server.asked) == 1

    def test_a_reply_whose_counts_alone_were_cut_off_is_used(self, tmp_path: Path) -> None:
        with ScriptedServer([Play("hello", cut_after=3)]) as server:  # the role, the text, the end
            reply = client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert reply.text == "hello"
        assert reply.estimated


class TestFailuresThatDoNotPass:
    @pytest.mark.parametrize(
        ("play", "status", "message"),
        [
            (error(401, "who?"), 401, "OPENAI_API_KEY"),
            (error(403, "not you"), 403, "OPENAI_API_KEY"),
            (error(404, "model played not found"), 404, "check --model played and --base-url"),
            (error(402, "pay"), 402, "add credit"),
            (error(429, "pay", code="insufficient_quota"), 429, "add credit"),
            (error(400, "messages is wrong", param="messages"), 400, "cannot read the request"),
        ],
    )
    def test_it_is_not_asked_again(self, play: Play, status: int, message: str, tmp_path: Path) -> None:
        with ScriptedServer([play]) as server, pytest.raises(EndpointError, match=message) as raised:
            client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert raised.value.status == status
        assert len(server.asked) == 1

    @pytest.mark.parametrize("body", ["<html>welcome</html>", {"hello": 1}, {"choices": []}, [1]])
    def test_an_answer_that_is_no_completion(self, body: object, tmp_path: Path) -> None:
        with (
            ScriptedServer([Play(body=body)]) as server,
            pytest.raises(EndpointError, match="other than a chat completion; check --base-url"),
        ):
            client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert len(server.asked) == 1

    def test_nobody_there(self, tmp_path: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
            with pytest.raises(EndpointError, match=r"no connection to .*asked 3 times"):
                client(url, tmp_path).complete(user("go"), agent="code", round=1)

    @pytest.mark.parametrize("whole", [False, True])
    def test_a_timeout_ends_the_request(self, whole: bool, tmp_path: Path) -> None:
        play = Play("hello", stall_s=30, stall_after=0 if whole else 2, comments=not whole)
        refuses = {"stream": error(400, "no", param="stream")} if whole else {}
        patience = Patience(attempts=3, stall_s=20)
        with ScriptedServer([play], refuses=refuses) as server:
            asked = client(server.base_url, tmp_path, timeout_s=0.7, patience=patience)
            started = time.monotonic()
            with pytest.raises(EndpointError, match=r"no whole reply in 0\.7 s"):
                asked.complete(user("go"), agent="code", round=1)
            assert time.monotonic() - started < 5
            assert server.dropped.wait(5)
        assert len(server.played) == 1


class TestCancelling:
    @pytest.mark.parametrize(
        ("play", "patience"),
        [
            (Play("hello", stall_s=30), Patience()),
            (Play("hello", stall_s=30, stall_after=2, comments=True), Patience()),
            (error(500, "oops"), Patience(first_delay_s=60)),
            (error(429, "slowly", {"Retry-After": "60"}), Patience()),
        ],
        ids=["silence", "stream", "pause", "retry-after"],
    )
    def test_the_request_ends_within_a_second(self, play: Play, patience: Patience, tmp_path: Path) -> None:
        since: list[float] = []

        def cancelled() -> bool:
            if server.played:
                since.append(time.monotonic())
            return len(since) > 2

        with ScriptedServer([play, "hello"]) as server:
            asked = client(server.base_url, tmp_path, cancelled=cancelled, patience=patience)
            with pytest.raises(RequestCancelledError, match="resume"):
                asked.complete(user("go"), agent="code", round=1)
            assert time.monotonic() - since[-1] < 1
            if play.stall_s:
                assert server.dropped.wait(2)
            assert asked.costs() == ()
            # What was not answered is asked again, and keeps its place in the record.
            reply = client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert reply.text == "hello"
        assert [path.name for path in tmp_path.iterdir()] == ["1.json"]


class TestKeys:
    def test_the_key_is_sent_and_is_nowhere_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        caplog.set_level(logging.DEBUG)
        echo = Play(f"your key is {KEY}", reasoning=KEY)
        with ScriptedServer([error(500, f"{KEY} is unlucky"), echo], key=KEY) as server:
            asked = client(server.base_url, tmp_path)
            asked.complete(user("go"), agent="code", round=1)
            assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert (tmp_path / "1.json").exists()
        for path in tmp_path.rglob("*"):
            assert KEY not in path.read_text()
        assert KEY not in caplog.text
        assert KEY not in repr(asked) + repr(vars(asked))

    def test_a_server_that_echoes_a_wrong_key_does_not_give_it_away(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        with ScriptedServer(["hello"], key="another") as server, pytest.raises(EndpointError) as raised:
            client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert "[key]" in str(raised.value)
        seen: BaseException | None = raised.value
        while seen is not None:  # what a traceback could show
            assert KEY not in str(seen) + repr(seen)
            seen = seen.__cause__ or seen.__context__
        assert all(KEY not in path.read_text() for path in tmp_path.iterdir())

    def test_a_local_server_needs_none(self, tmp_path: Path) -> None:
        with ScriptedServer(["hello"]) as server:
            client(server.base_url, tmp_path).complete(user("go"), agent="code", round=1)
        assert server.asked[0].headers["authorization"] == "Bearer none"

    def test_hosts_have_keys_of_their_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert key_for("https://api.openai.com/v1") == KEY
        with pytest.raises(EndpointError, match="OPENROUTER_API_KEY is not set"):
            key_for("https://openrouter.ai/api/v1")
        monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-0123456789")
        assert key_for("https://openrouter.ai/api/v1") == "sk-or-0123456789"

    def test_a_key_that_cannot_be_sent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-\u201cquoted\u201d")
        with pytest.raises(EndpointError, match="characters that no key has") as raised:
            key_for("https://api.openai.com/v1")
        assert "quoted" not in str(raised.value)


class TestAddress:
    @pytest.mark.parametrize(
        "url",
        [
            "https://me:hunter2secret@host/v1",
            "me:hunter2secret@host/v1",
            "https://host/v1?api_key=hunter2secret",
            "https://host/v1#hunter2secret",
            "ftp://host/v1",
            "host:8000/v1",
            "/v1",
            "http://[::1/v1",
            "http://host:port/v1",
        ],
    )
    def test_what_is_refused_does_not_show_what_it_holds(self, url: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="must look like") as raised:
            client(url, tmp_path)
        assert "hunter2secret" not in str(raised.value)

    def test_where_it_comes_from(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert base_url_of(Endpoint()) == "https://api.openai.com/v1"
        monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1/")
        assert base_url_of(Endpoint()) == "http://localhost:8000/v1"
        assert base_url_of(Endpoint(base_url="http://other/v1")) == "http://other/v1"
