"""The record of every request to a model and of every reply: one file each, so that none is paid twice.

A request is on disk before it is sent, and its reply before it is used.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path

import msgspec

from autoindex_pyserini.agents.llm.endpoint import scrubbed
from autoindex_pyserini.agents.llm.replies import RawReply
from autoindex_pyserini.agents.llm.requests import Request, nearest_difference
from autoindex_pyserini.agents.proposer import ProposerError
from autoindex_pyserini.errors import RunDirectoryError
from autoindex_pyserini.files import write_atomically

_NAME = re.compile(r"[1-9][0-9]*\.json")


class UnrecordedRequestError(ProposerError):
    """A run that repeats another one asks something that was not asked there."""


class Exchange(msgspec.Struct, frozen=True):
    """A request and what became of it.

    Attributes:
        number: from 1, in the order of the first sending; the file's name.
        request: what was asked.
        key: the request's, for finding it again.
        endpoint: the base URL; empty for a reply that was taken from another run.
        omitted: parameters that were left out because the server had refused them.
        failures: attempts that brought no reply, one line each.
        tools_refused: the server takes no tools; there is no reply then.
        reply: None while it is waited for, and where none came.
    """

    number: int
    request: Request
    key: str
    endpoint: str = ""
    omitted: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    tools_refused: bool = False
    reply: RawReply | None = None


class Exchanges:
    """The exchanges of one run, on disk.

    Equal requests (same agent, round, sample, model and content) get the recorded replies in their order,
    each once; the record is read when this object is made.

    Args:
        directory: where the files are: ``<n>.json``.
        replay: the same of another run: replies then come from there alone, and are copied.

    Raises:
        RunDirectoryError: a file cannot be read, or there is nothing to replay.
    """

    def __init__(self, directory: Path, *, replay: Path | None = None) -> None:
        self._directory = directory
        self._replayed = replay
        self._own = _read(directory)
        self._source = self._own if replay is None else _read(replay)
        if replay is not None and not any(exchange.reply for exchange in self._source):
            raise RunDirectoryError(f"{replay} holds no replies of a model; replay a run that asked one")
        self._replies: dict[str, deque[Exchange]] = defaultdict(deque)
        self._unanswered: dict[str, deque[Exchange]] = defaultdict(deque)
        for exchange in self._source:
            self._sort_in(exchange)
        self._count = 0 if replay is not None else max((found.number for found in self._own), default=0)

    @property
    def is_replay(self) -> bool:
        """Whether replies come from another run alone."""
        return self._replayed is not None

    @property
    def tools_refused(self) -> bool:
        """Whether a recorded server took no tools."""
        return any(exchange.tools_refused for exchange in self._source)

    @property
    def paid(self) -> Sequence[RawReply]:
        """The replies that this run had recorded when this object was made, by number."""
        return [] if self.is_replay else [found.reply for found in self._own if found.reply is not None]

    def recorded(self, request: Request) -> RawReply | None:
        """Return the next recorded reply to this request, or None if it has to be sent.

        Raises:
            UnrecordedRequestError: replies come from another run, and it has none to this request.
        """
        if self._replies[request.key]:
            found = self._replies[request.key].popleft()
            if self.is_replay:
                self._count += 1
                self._write(msgspec.structs.replace(found, number=self._count, endpoint=""))
            return found.reply
        if self._replayed is not None:
            recorded = [found.request for found in self._source if found.reply is not None]
            raise UnrecordedRequestError(
                f"{self._replayed} holds no reply to this request: {nearest_difference(request, recorded)}; "
                "replay with the same settings and version, or run without the replay"
            )
        return None

    def begin(self, request: Request, endpoint: str) -> Exchange:
        """Write a request down that is about to be sent; one that was never answered keeps its number."""
        if self._unanswered[request.key]:
            exchange = self._unanswered[request.key].popleft()
        else:
            self._count += 1
            exchange = Exchange(self._count, request, request.key)
        exchange = msgspec.structs.replace(exchange, endpoint=endpoint)
        self._write(exchange)
        return exchange

    def close(self, exchange: Exchange) -> None:
        """Write down what became of a request; without a reply, the next equal one takes its place."""
        self._write(exchange)
        if exchange.reply is None:
            self._sort_in(exchange)

    def _sort_in(self, exchange: Exchange) -> None:
        if exchange.reply is not None:
            self._replies[exchange.key].append(exchange)
        elif not exchange.tools_refused:
            self._unanswered[exchange.key].append(exchange)

    def _write(self, exchange: Exchange) -> None:
        data = msgspec.json.format(msgspec.json.encode(exchange), indent=1)
        safe = scrubbed(data.decode())
        write_atomically(self._directory / f"{exchange.number}.json", safe.encode() + b"\n")


def _read(directory: Path) -> list[Exchange]:
    """The exchanges of a folder by number; none if there is no folder.

    Raises:
        RunDirectoryError: a file is not what was written.
    """
    if not directory.is_dir():
        return []
    found = []
    for path in directory.iterdir():
        if not _NAME.fullmatch(path.name):
            continue
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=Exchange))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RunDirectoryError(
                f"{path} is damaged ({error}); restore it, or remove it to ask and pay again"
            ) from None
    return sorted(found, key=lambda exchange: exchange.number)
