"""The worker's life: start, confine, load, then one batch after another."""

from __future__ import annotations

import faulthandler
import gc
import mmap
import os
import signal
import sys

import msgspec

from autoindex_pyserini.sandbox import confine, protocol
from autoindex_pyserini.sandbox.harness import Harness, ProgramFailure, describe, preload
from autoindex_pyserini.sandbox.protocol import Batch, Fault, Ready, Results, Start, WirePassage


class Channel:
    """The worker's ends of the two pipes and the progress word."""

    def __init__(self, requests: int, replies: int, progress: int) -> None:
        self._requests = requests
        self._replies = replies
        self._encoder = msgspec.msgpack.Encoder()
        self._token = bytes(protocol.TOKEN_BYTES)
        self._sequence = 0
        self._buffer = bytearray(protocol.REQUEST_HEADER.size)
        self.progress = memoryview(mmap.mmap(progress, mmap.PAGESIZE)).cast("q")
        os.close(progress)

    def receive(self) -> memoryview | None:
        """The body of the next request, valid until the one after; None once the host has closed the pipe."""
        header = self._read(protocol.REQUEST_HEADER.size)
        if header is None:
            return None
        self._sequence, length = protocol.REQUEST_HEADER.unpack(header)
        return self._read(length)

    def send(self, kind: int, body: object, first: int = 0, count: int = 0) -> None:
        """Answer the last request. A reply of passages says which documents they are of."""
        data = self._encoder.encode(body)
        header = protocol.REPLY_HEADER.pack(self._token, kind, self._sequence, first, count, len(data))
        os.write(self._replies, header)  # far below what a pipe takes at once
        left = memoryview(data)
        while left:
            left = left[os.write(self._replies, left) :]

    def sign(self, token: bytes) -> None:
        """Use this token from now on."""
        self._token = token

    def _read(self, length: int) -> memoryview | None:
        if length > len(self._buffer):
            self._buffer = bytearray(length)  # kept: fresh memory costs more than the copy into it
        whole = memoryview(self._buffer)[:length]
        left = whole
        while left:
            got = os.readv(self._requests, [left])
            if not got:
                return None
            left = left[got:]
        return whole


def serve(requests: int, replies: int, progress: int, host: int) -> None:
    """Run one program for the host until the pipe closes or the program fails.

    Args:
        requests: descriptor to read requests from.
        replies: descriptor to write replies to.
        progress: descriptor of the shared page that holds the progress word.
        host: the host's process id.
    """
    confine.die_with(host)
    faulthandler.enable(file=2, all_threads=False)
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, file=2, all_threads=False)  # the host asks: which line?
    channel = Channel(requests, replies, progress)
    body = channel.receive()
    if body is None:
        return
    start = msgspec.msgpack.decode(body, type=Start)
    del body
    channel.sign(start.token)
    layers = _prepare(start, channel)
    if layers is None:
        return
    channel.send(protocol.READY, Ready(layers))
    channel.progress[0] = protocol.LOADING
    try:
        harness = Harness(start)
    except ProgramFailure as failure:
        channel.send(protocol.FAULT, failure.fault)
        return
    del start
    channel.progress[0] = protocol.IDLE
    channel.send(protocol.LOADED, None)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # a batch alone makes some thousand objects, none of them in a cycle
    _answer(harness, channel)


def _prepare(start: Start, channel: Channel) -> list[str] | None:
    """Load the allowed modules and confine the process; None if that is impossible, and was said."""
    try:
        preload(start.limits.allowed_imports)
    except Exception as error:  # any module of the user's list may fail in any way
        channel.send(protocol.PROBLEM, f"cannot import a module of allowed_imports: {error}"[:1000])
        return None
    sys.path.clear()
    sys.argv[:] = [""]
    os.environ.clear()  # it holds the hash seed, which differs between workers
    if not start.confined:
        confine.limit_resources(start.limits, max_files=64)
        return []
    layers = confine.apply(start.limits)
    if "seccomp" not in layers:
        channel.send(protocol.PROBLEM, "the kernel refused to filter system calls")
        return None
    return layers


def _answer(harness: Harness, channel: Channel) -> None:
    """Answer batches until the pipe closes or the program fails."""
    decoder = msgspec.msgpack.Decoder(Batch)
    while (body := channel.receive()) is not None:
        batch = decoder.decode(body)
        del body
        try:
            fault = _batch(harness, channel, batch)
        except BaseException as error:  # sending passages that the program made large may lack memory
            fault = Fault("crashed", f"{describe(error)}, while passages were sent", None, None)
        if fault is not None:
            channel.send(protocol.FAULT, fault)
            return


def _batch(harness: Harness, channel: Channel, batch: Batch) -> Fault | None:
    """Run the program on a batch and send its passages, in several replies if they are many."""
    progress = channel.progress
    ready: list[list[WirePassage]] = []
    first, size, fault = 0, 0, None

    def flush() -> None:
        progress[0] = protocol.IDLE
        channel.send(protocol.RESULTS, Results(ready, harness.dropped), first, len(ready))
        harness.dropped = 0

    for index, document in enumerate(batch):
        progress[0] = index
        try:
            passages = harness.passages(index, document)
        except ProgramFailure as failure:
            fault = failure.fault
            break
        ready.append(passages)
        for passage in passages:
            size += len(passage) if type(passage) is bytes else _size(passage)
        if size > protocol.FRAME_BYTES:
            flush()
            ready, first, size = [], index + 1, 0
    if ready:
        flush()
    progress[0] = protocol.IDLE
    return fault


def _size(passage: WirePassage) -> int:
    if isinstance(passage, bytes):
        return len(passage)
    return len(passage[0]) + sum(map(len, passage[1].values()))
