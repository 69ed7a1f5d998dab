"""The host's handle on one worker: start it, ask it, watch its clock, kill it.

All waiting happens in one place (`_wait`), which also drains what the program prints to standard error
and compares the clock with the limits. So no pipe can fill up unnoticed, and no worker can be waited for
longer than allowed, whatever it does or does not send.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import msgspec

from autoindex_pyserini.errors import (
    EnvironmentProblemError,
    InvalidProgramError,
    ProgramCrashedError,
    ProgramFault,
    ProgramOutputError,
    ProgramTimeoutError,
)
from autoindex_pyserini.sandbox import protocol
from autoindex_pyserini.sandbox.protocol import Fault, Ready, Start

START_TIMEOUT_S = 60.0
"""Seconds for a new interpreter to load its modules; a loaded machine may be slow, no program runs yet."""

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
_WORKER = str(Path(__file__).with_name("worker.py"))
_PIPE_BYTES = 1 << 20
_MALLOC = {"MALLOC_TRIM_THRESHOLD_": str(64 << 20), "MALLOC_MMAP_THRESHOLD_": str(64 << 20)}
"""Has the worker's C library keep the memory of one batch for the next: a page fault costs more."""
_TAIL_BYTES = 8192
_WORD = struct.Struct("=q")
_FAULTS: dict[str, type[ProgramFault]] = {"invalid": InvalidProgramError, "output": ProgramOutputError}


class Request(msgspec.Struct, frozen=True):
    """A batch on its way to a worker.

    Attributes:
        payload: the encoded batch.
        count: documents in it.
        position: position in the stream of its first document.
        bound: from a first document and a number of documents to the most bytes that their passages may
            take on the wire.
    """

    payload: bytes
    count: int
    position: int
    bound: Callable[[int, int], int]


class Reply(msgspec.Struct, frozen=True):
    """Encoded passages of `count` documents from the `first` of the batch on; valid until the next one."""

    first: int
    count: int
    body: memoryview


class WorkerProcess:
    """One worker and its pipes, for one thread. Only `kill` may be called from another.

    Attributes:
        layers: the layers of kernel confinement around it; empty before `start` and without confinement.
        busy_s: seconds that the host has waited for the program, over all batches.
    """

    def __init__(self, start: Start, hash_seed: int = 0) -> None:
        self._start = msgspec.structs.replace(start, token=secrets.token_bytes(protocol.TOKEN_BYTES))
        self._limits = start.limits
        self._hash_seed = hash_seed
        self._sequence = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._fds: list[int] = []
        self._requests = self._replies = self._errors = self._progress = -1
        self._tail = b""
        self._buffer = bytearray(protocol.REPLY_HEADER.size)
        self._lock = threading.Lock()
        self._killed = False
        self._ready = False
        self._watched: tuple[int, float] | None = None  # progress word, since when
        self._position = 0  # of the present batch
        self.layers: list[str] = []
        self.busy_s = 0.0

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is one."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the interpreter, confine it, load the program.

        Raises:
            EnvironmentProblemError: the worker cannot be started or confined.
            ProgramFault: the program cannot be loaded.
        """
        try:
            self._spawn()
        except OSError as error:
            raise EnvironmentProblemError(f"cannot start a sandbox process: {error}") from error
        self._sequence = 0
        self._send(msgspec.msgpack.encode(self._start))
        kind, _, _, body = self._receive()
        if kind != protocol.READY:
            self._broken("a program's reply before it was loaded")
        self.layers = self._decode(body, Ready).layers
        self._ready = True  # from here on, what comes may be the program's word
        kind, _, _, _ = self._receive()
        if kind != protocol.LOADED:
            self._broken("no word that the program is loaded")

    def ask(self, request: Request) -> Iterator[Reply]:
        """Send a batch and yield the replies, which cover it without gap or overlap.

        Raises:
            ProgramFault: the program failed; the worker must be killed.
        """
        self._position = request.position
        self._sequence += 1
        self._watched = None
        self._send(request.payload)
        done = 0
        while done < request.count:
            kind, first, count, body = self._receive(request)
            if kind != protocol.RESULTS or first != done or not 0 < count <= request.count - done:
                self._broken("passages of documents that were not asked for")
            done += count
            self._watched = None  # time that the caller takes is not the program's
            yield Reply(first, count, body)

    def kill(self) -> None:
        """End the worker and everything in its process group; whoever waits for it is told. Thread-safe."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                _kill_group(self._process.pid)

    def close(self) -> None:
        """Kill, wait until the worker is gone, release its pipes. For the owning thread; may be repeated."""
        self.kill()
        with self._lock:  # the worker is reaped only here, so its process id means nobody else until then
            process, self._process = self._process, None
            if process is not None:
                process.wait()
            fds, self._fds = self._fds, []
            for fd in fds:
                os.close(fd)

    def _spawn(self) -> None:
        """Start the interpreter in a session of its own, with nothing of ours but three descriptors."""
        with self._lock:
            if self._killed:
                raise EnvironmentProblemError("the sandbox is closed")
            theirs: list[int] = []
            try:
                request_end, self._requests = os.pipe()
                theirs.append(request_end)
                self._fds.append(self._requests)
                self._replies, reply_end = os.pipe()
                theirs.append(reply_end)
                self._fds.append(self._replies)
                self._errors, error_end = os.pipe()
                theirs.append(error_end)
                self._fds.append(self._errors)
                self._progress = _shared_page()
                self._fds.append(self._progress)
                for fd in (self._requests, self._replies, self._errors):
                    os.set_blocking(fd, False)
                for fd in (self._requests, self._replies):
                    _enlarge(fd)
                passed = (request_end, reply_end, self._progress)
                self._process = subprocess.Popen(
                    [
                        sys.executable,
                        "-s",
                        "-S",
                        "-P",
                        _WORKER,
                        *map(str, passed),
                        str(os.getpid()),
                        *_paths(),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=error_end,
                    pass_fds=passed,
                    env={"PYTHONHASHSEED": str(self._hash_seed)} | _MALLOC,
                    cwd="/",
                    start_new_session=True,
                )
            finally:
                for fd in theirs:
                    os.close(fd)

    def _send(self, payload: bytes) -> None:
        for part in (protocol.REQUEST_HEADER.pack(self._sequence, len(payload)), payload):
            left = memoryview(part)
            while left:
                try:
                    left = left[os.write(self._requests, left) :]
                except BlockingIOError:
                    self._wait(self._requests, select.POLLOUT)
                except OSError:
                    self._died()

    def _receive(self, request: Request | None = None) -> tuple[int, int, int, memoryview]:
        """The next reply: kind, first document, number of documents, body.

        Args:
            request: what was asked; None where no passages are expected.
        """
        header = self._read(protocol.REPLY_HEADER.size)
        token, kind, sequence, first, count, length = protocol.REPLY_HEADER.unpack(header)
        if token != self._start.token or sequence != self._sequence:
            self._broken("something else")
        bound = protocol.MAX_NOTE_BYTES
        if kind == protocol.RESULTS:
            if request is None or first + count > request.count:
                self._broken("passages of documents that were not asked for")
            bound = protocol.FREE_BYTES if length <= protocol.FREE_BYTES else request.bound(first, count)
        if length > bound:
            raise ProgramOutputError(
                f"the worker announces {length:,} bytes, and {bound:,} are the most that the limits allow; "
                "make fewer or shorter passages"
            )
        body = self._read(length)
        if kind == protocol.FAULT:
            raise self._fault(self._decode(body, Fault))
        if kind == protocol.PROBLEM and not self._ready:
            raise EnvironmentProblemError(
                f"no sandbox: {self._decode(body, str)}; run 'autoindex doctor', or use --sandbox process"
            )
        return kind, first, count, body

    def _read(self, length: int) -> memoryview:
        """So many bytes of the reply pipe, valid until the next call."""
        if length > protocol.FREE_BYTES:
            whole = memoryview(bytearray(length))
        else:
            if length > len(self._buffer):
                self._buffer = bytearray(length)  # kept: fresh memory costs more than the copy into it
            whole = memoryview(self._buffer)[:length]
        left = whole
        while left:
            try:
                got = os.readv(self._replies, [left])
            except BlockingIOError:
                self._wait(self._replies, select.POLLIN)
                continue
            except OSError:
                got = 0
            if not got:
                self._died()
            left = left[got:]
        return whole

    def _wait(self, fd: int, event: int) -> None:
        """Wait until the descriptor is ready, or the tick of the clock; then look at the clock."""
        tick = min(0.5, self._limits.document_timeout_s / 4)
        poll = select.poll()
        poll.register(fd, event)
        poll.register(self._errors, select.POLLIN)
        began = time.monotonic()
        try:
            ready = poll.poll(tick * 1000)
        finally:
            now = time.monotonic()
            self.busy_s += now - began
        if any(source == self._errors for source, _ in ready):
            self._drain()
        self._check_clock(now)

    def _check_clock(self, now: float) -> None:
        word = self._word()
        # Only a step forward counts, so that a program that writes the word itself gains little by it.
        if self._watched is None or word > self._watched[0]:
            self._watched = (word, now)
        allowed = START_TIMEOUT_S if word == protocol.STARTING else self._limits.document_timeout_s
        if now - self._watched[1] >= allowed:
            if word == protocol.STARTING:
                raise EnvironmentProblemError(f"a sandbox process did not start within {allowed:g} s")
            self._timed_out(f"still running after {allowed:g} s", "document_timeout_s")
        if self.busy_s >= self._limits.program_timeout_s:
            allowed = self._limits.program_timeout_s
            self._timed_out(f"the program has run for {allowed:g} s in all", "program_timeout_s")

    def _timed_out(self, what: str, limit: str) -> NoReturn:
        line = self._ask_line()
        raise ProgramTimeoutError(
            self._where(f"{what}; the limit is {limit}; do less work for one document", line, self._index()),
            line=line,
            position=self._stream_position(self._index()),
        )

    def _ask_line(self) -> int | None:
        """Have the worker print where the program stands, which works in C code too, and read the line."""
        if self._process is None or not hasattr(signal, "SIGUSR1"):
            return None
        self._tail = b""
        try:
            os.kill(self._process.pid, signal.SIGUSR1)
        except OSError:
            return None
        poll = select.poll()
        poll.register(self._errors, select.POLLIN)
        until = time.monotonic() + 0.3
        while (line := self._line_in_tail()) is None and (left := until - time.monotonic()) > 0:
            poll.poll(left * 1000)
            self._drain()
        return line

    def _line_in_tail(self) -> int | None:
        """The program's line in what faulthandler printed: the innermost frame comes first."""
        pattern = rf'File "{re.escape(self._start.filename)}", line (\d{{1,9}}) in '
        found = re.search(pattern.encode(), self._tail)
        return int(found[1]) if found else None

    def _drain(self) -> None:
        """Read what the program has printed, and keep the end of it."""
        try:
            data = os.read(self._errors, 1 << 16)
        except BlockingIOError:
            return
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        if not data:
            time.sleep(0.001)  # its end is closed; the reply pipe tells the rest

    def _died(self) -> NoReturn:
        """The pipe is closed: say how the worker ended, and where, as far as it can be known."""
        if self._killed or self._process is None:
            raise ProgramCrashedError("the sandbox was closed while the program ran")
        status = _exit_status(self._process)
        if status is None:
            self._broken("nothing: it closed its pipe")
        while True:
            before = self._tail
            self._drain()
            if self._tail == before:
                break
        if self._word() == protocol.STARTING:
            raise EnvironmentProblemError(
                f"a sandbox process ended before it was ready ({_status(status)}): {_last_line(self._tail)}"
            )
        line = self._line_in_tail()
        index = self._index()
        said = f"; last printed: {_last_line(self._tail)}" if line is None and self._tail.strip() else ""
        raise ProgramCrashedError(
            self._where(f"the program's process ended: {_status(status)}{said}", line, index),
            line=line,
            position=self._stream_position(index),
        )

    def _broken(self, what: str) -> NoReturn:
        index = self._index()
        raise ProgramCrashedError(
            self._where(f"the worker sent {what}: the program wrote on the protocol's channel", None, index),
            position=self._stream_position(index),
        )

    def _fault(self, fault: Fault) -> ProgramFault:
        kind = _FAULTS.get(fault.kind, ProgramCrashedError)
        message = protocol.one_line(fault.message, 600)
        return kind(
            self._where(message, fault.line, fault.index),
            line=fault.line,
            position=self._stream_position(fault.index),
        )

    def _where(self, message: str, line: int | None, index: int | None) -> str:
        """The message with the program's line before it, and the document's position behind it."""
        position = self._stream_position(index)
        if position is not None:
            place = f"document {position} of the stream"
        else:
            place = "between documents" if self._sequence else "while the program was loaded"
        return f"line {line}: {message} ({place})" if line else f"{message} ({place})"

    def _stream_position(self, index: int | None) -> int | None:
        return None if index is None else self._position + index

    def _index(self) -> int | None:
        """The document in hand, by the progress word, which the program may have written: bounded."""
        word = self._word()
        return word if 0 <= word < 1 << 31 else None

    def _word(self) -> int:
        data = os.pread(self._progress, _WORD.size, 0)
        word: int = _WORD.unpack(data)[0] if len(data) == _WORD.size else protocol.IDLE
        return word

    def _decode[T](self, body: memoryview, kind: type[T]) -> T:
        try:
            return msgspec.msgpack.decode(body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self._broken("a malformed message")


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except OSError:  # gone already, or not yet in a session of its own
            continue


def _exit_status(process: subprocess.Popen[bytes]) -> int | None:
    """How the process ended, negative for a signal; None if it has not. It is not reaped where possible."""
    for _ in range(100):
        if hasattr(os, "waitid"):
            ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None:
                return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        elif process.poll() is not None:
            return process.returncode
        time.sleep(0.01)
    return None


def _paths() -> list[str]:
    """Where the worker finds this package, msgspec, and what else the settings let a program import."""
    return [
        _PACKAGE_ROOT,
        *(path for path in sys.path if path and path != _PACKAGE_ROOT and os.path.isdir(path)),
    ]


def _shared_page() -> int:
    """A descriptor of one page of memory that holds the progress word, and that no one can shrink."""
    page = os.sysconf("SC_PAGE_SIZE")
    if sys.platform == "linux":
        fd = os.memfd_create("progress", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, page)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
        os.ftruncate(fd, page)
    os.pwrite(fd, _WORD.pack(protocol.STARTING), 0)
    return fd


def _enlarge(fd: int) -> None:
    """Let a whole batch fit into the pipe, where the system allows it."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):  # the user's quota of pipe memory is used up: slower, not wrong
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _status(status: int) -> str:
    if status >= 0:
        return f"it exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = " (a lack of memory ends a process so)" if name == "SIGKILL" else ""
    return f"it was killed by {name}{hint}"


def _last_line(tail: bytes) -> str:
    lines = tail.decode("utf-8", "replace").strip().splitlines()
    return protocol.one_line(lines[-1]) if lines else "no message"
