"""An OpenAI-compatible server on loopback that plays models, good, bad and ugly, from a script.

Real HTTP and real server-sent events. It writes down every request, and counts the tokens that it reports.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

COUNTED = "counted"


@dataclass(frozen=True)
class Play:
    """One answer.

    Attributes:
        text: of the reply, sent in pieces where the client wants a stream.
        reasoning: sent apart from the text, under `reasoning_name`.
        tool_calls: names and arguments (JSON text), sent in pieces.
        finish: the finish_reason; None for what fits.
        usage: `COUNTED` for counts that grow with the texts, a dictionary as it is, None for none.
        refusal: sent as the message's refusal.
        status: of HTTP; others than 200 send `body` alone.
        headers: more of HTTP's.
        body: sent in place of a completion, as JSON or, if it is a text, as it is.
        stall_s: seconds of silence before the end; after `stall_after` pieces of a stream.
        stall_after: pieces that come before the silence; 0 to be silent from the request on.
        cut_after: pieces after which the connection is cut; None for never.
        comments: comments of the stream's protocol sent during a stall, which keep it alive.
    """

    text: str = ""
    reasoning: str = ""
    reasoning_name: str = "reasoning_content"
    tool_calls: tuple[tuple[str, str], ...] = ()
    finish: str | None = None
    usage: str | Mapping[str, object] | None = COUNTED
    refusal: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    stall_s: float = 0.0
    stall_after: int = 0
    cut_after: int | None = None
    comments: bool = False


def error(status: int, message: str, headers: Mapping[str, str] | None = None, **fields: object) -> Play:
    """An error in OpenAI's form."""
    return Play(
        status=status, headers=headers or {}, body={"error": {"message": message, "param": None, **fields}}
    )


@dataclass(frozen=True)
class Asked:
    """One request as it came in, the names of its headers in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


Script = Sequence[Play | str] | Callable[[dict[str, Any]], Play | str]


class ScriptedServer:
    """Answers each request with the next of a script, or with what a function makes of its body.

    Args:
        script: answers; a text is a reply. After the last one the server answers 403.
        refuses: parameter -> the error for requests that have it; these use up no answer.
        key: answers 401, with the wrong key in it, to requests with another.
    """

    def __init__(
        self, script: Script = (), *, refuses: Mapping[str, Play] | None = None, key: str | None = None
    ) -> None:
        self.asked: list[Asked] = []
        self.played: list[Play] = []
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.reported = 0
        self.dropped = threading.Event()
        self._script = script
        self._refuses = dict(refuses or {})
        self._key = key
        self._next = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def base_url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What was asked, refused requests among it."""
        return [asked.body for asked in self.asked]

    def answer(self, asked: Asked) -> Play:
        """The answer to a request."""
        with self._lock:
            self.asked.append(asked)
            sent = asked.headers.get("authorization", "").removeprefix("Bearer ")
            if self._key is not None and sent != self._key:
                return error(401, f"Incorrect API key provided: {sent}.", code="invalid_api_key")
            for name, refusal in self._refuses.items():
                if name in asked.body:
                    return refusal
            if callable(self._script):
                found = self._script(asked.body)
            elif self._next < len(self._script):
                found = self._script[self._next]
                self._next += 1
            else:
                found = error(403, "the script is over")
            play = Play(found) if isinstance(found, str) else found
            self.played.append(play)
            return play

    def usage(self, play: Play, body: Mapping[str, Any]) -> object:
        """What is reported as used."""
        if play.usage != COUNTED:
            return play.usage
        received = [play.text, play.reasoning, *(arguments for _, arguments in play.tool_calls)]
        return {
            "prompt_tokens": len(json.dumps(body["messages"])) // 3,
            "completion_tokens": sum(len(text.split()) for text in received) + 1,
        }

    def count(self, usage: object) -> None:
        """Add what was reported to the sums."""
        if isinstance(usage, Mapping):
            with self._lock:
                self.prompt_tokens += usage["prompt_tokens"]
                self.completion_tokens += usage["completion_tokens"]
                self.reported += 1

    def stall(self, play: Play, connection: socket.socket, comment: Callable[[], None]) -> None:
        """Be silent for the time, or until the server closes.

        Raises:
            ConnectionResetError: the client has gone.
        """
        end = time.monotonic() + play.stall_s
        while time.monotonic() < end and not self._closing.is_set():
            if select.select([connection], [], [], 0.02)[0] and not connection.recv(1, socket.MSG_PEEK):
                raise ConnectionResetError
            if play.comments:
                comment()


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            play = server.answer(
                Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            )
            try:
                self._play(play, body)
            except (BrokenPipeError, ConnectionResetError):
                server.dropped.set()
                self.close_connection = True

        def _play(self, play: Play, body: dict[str, Any]) -> None:
            if play.stall_s and not play.stall_after:
                server.stall(play, self.connection, lambda: None)
            if play.status != 200 or play.body is not None:
                self._whole(play.status, play.body, play.headers)
                return
            usage = server.usage(play, body)
            if not body.get("stream"):
                server.count(usage)
                self._whole(200, _completion(play, usage), play.headers)
                return
            wants_usage = body.get("stream_options", {}).get("include_usage")
            self._stream(play, usage if wants_usage else None)

        def _whole(self, status: int, body: object, headers: Mapping[str, str]) -> None:
            text = isinstance(body, str)
            data = body.encode() if text else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if text else "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, play: Play, usage: object) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            chunks = list(_chunks(play))
            for number, chunk in enumerate(chunks):
                if number == play.cut_after:
                    self._cut()
                    return
                if play.stall_s and play.stall_after == number:
                    server.stall(play, self.connection, lambda: self._piece(": alive"))
                self._piece("data: " + json.dumps(chunk))
            if play.cut_after == len(chunks):
                self._cut()
                return
            if usage is not None:
                server.count(usage)
                self._piece("data: " + json.dumps({**_envelope(), "choices": [], "usage": usage}))
            self._piece("data: [DONE]")
            self.wfile.write(b"0\r\n\r\n")

        def _cut(self) -> None:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

        def _piece(self, line: str) -> None:
            data = f"{line}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    return Handler


def _envelope() -> dict[str, object]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "played"}


def _finish(play: Play) -> str:
    return play.finish if play.finish is not None else "tool_calls" if play.tool_calls else "stop"


def _completion(play: Play, usage: object) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": play.text or None}
    if play.reasoning:
        message[play.reasoning_name] = play.reasoning
    if play.refusal:
        message["refusal"] = play.refusal
    if play.tool_calls:
        message["tool_calls"] = [
            {"id": f"id-{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(play.tool_calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish(play)}
    whole = {**_envelope(), "object": "chat.completion", "choices": [choice]}
    return whole if usage is None else {**whole, "usage": usage}


def _chunks(play: Play) -> Iterator[dict[str, object]]:
    """The chunks of a stream, as OpenAI cuts them: the role first, the finish_reason alone at the end."""
    yield _chunk({"role": "assistant", "content": ""})
    for piece in _pieces(play.reasoning):
        yield _chunk({play.reasoning_name: piece})
    for piece in _pieces(play.text):
        yield _chunk({"content": piece})
    if play.refusal:
        yield _chunk({"refusal": play.refusal})
    for number, (name, arguments) in enumerate(play.tool_calls):
        function = {"name": name, "arguments": ""}
        start = {"index": number, "id": f"id-{number}", "type": "function", "function": function}
        yield _chunk({"tool_calls": [start]})
        for piece in _pieces(arguments):
            yield _chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    yield _chunk({}, _finish(play) or None)


def _chunk(delta: dict[str, object], finish: str | None = None) -> dict[str, object]:
    return {**_envelope(), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _pieces(text: str) -> Iterator[str]:
    for at in range(0, len(text), 7):
        yield text[at : at + 7]
