"""`Sandbox`: as many workers as allowed, documents in, passages out in the order of the stream.

One thread for each worker starts it, feeds it one batch at a time, verifies its replies, and outlives it
(a worker dies with the thread that started it). The caller's thread reads the documents, and hands out
the results of the oldest batch. What is in flight is bounded twice: in batches, and in bytes of results
that nobody has taken yet, so memory stays flat whoever is slow.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Self

import msgspec

from autoindex_pyserini.errors import EnvironmentProblemError, InputError, InvalidProgramError, ProgramFault
from autoindex_pyserini.program import CorpusStatistics, Program, check, contract
from autoindex_pyserini.sandbox.process import Request, WorkerProcess
from autoindex_pyserini.sandbox.protocol import Batch, Start
from autoindex_pyserini.sandbox.report import Confinement, capabilities
from autoindex_pyserini.sandbox.verify import Counts, Verified, Verifier, bound
from autoindex_pyserini.settings import Execution, Limits
from autoindex_pyserini.types import Document, Represented

_FIRST_BATCH = 16  # batches grow from here, so that a small collection keeps all workers busy
_BATCH_CHARS = 160 << 10  # what stays in a core's cache; a tenth less processor time than with 1 MiB
_UNREAD_BYTES = 8 << 20
_BEGIN_S = 1.0  # for a thread to begin; one that has not by then was never started
_ENCODER = msgspec.msgpack.Encoder()


class Sandbox:
    """Runs one program on streams of documents, in worker processes. A context manager.

    Workers start when there is work for them. After the exit all of them are dead, with their children,
    whatever happened. One stream at a time.

    Attributes:
        program: the program.
        stats: counts over all streams so far.
        layers: the layers of kernel confinement around the workers; empty until one has started.
    """

    def __init__(
        self,
        program: Program,
        *,
        limits: Limits,
        execution: Execution,
        corpus: CorpusStatistics | None = None,
        trusted: Callable[[Program], bool] | None = None,
        kernel: Confinement | None = None,
    ) -> None:
        """Check the program, and that this machine may run it.

        Args:
            program: any program; it is checked statically first.
            limits: what it may do.
            execution: number of workers, size of batches, and the kind of sandbox.
            corpus: statistics for a program that asks for them.
            trusted: tells programs that may run where the kernel cannot confine; the built-in ones may.
            kernel: what the kernel can do, if that is known already.

        Raises:
            InvalidProgramError: the program breaks a static rule, or asks for statistics and there are none.
            EnvironmentProblemError: the kernel cannot confine, and the program is not trusted.
        """
        check(program, limits)
        if program.wants_corpus and corpus is None:
            raise InvalidProgramError(
                "'represent' takes the corpus statistics, and this collection has none; define represent(doc)"
            )
        confined = _must_confine(program, execution, trusted, kernel)
        self.program = program
        self.stats = Counts()
        self.layers: list[str] = []
        self._limits = limits
        self._execution = execution
        self._fields = program.fields
        self._start = Start(
            source=program.source,
            filename=f"<program {program.id}>",
            token=b"",
            fields=self._fields,
            limits=limits,
            confined=confined,
            corpus=corpus if program.wants_corpus else None,
        )
        self._lanes: list[_Lane] = []
        self._work: queue.SimpleQueue[_Ticket | None] = queue.SimpleQueue()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill all workers and wait until they are gone. May be repeated."""
        self._closed = True
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            self._work.put(None)
            lane.stop()
        for lane in lanes:
            lane.wait_until_gone()

    @property
    def pids(self) -> list[int]:
        """Process ids of the living workers."""
        return [pid for lane in self._lanes if (pid := lane.pid) is not None]

    def represent(self, documents: Iterable[Document]) -> Iterator[list[Represented]]:
        """Run the program on every document.

        Args:
            documents: read once, in the calling thread, never far ahead of what is taken.

        Yields:
            Lists of consecutive documents' passages; together they follow the order of the stream. Where
            one list ends and the next begins has no meaning.

        Raises:
            ProgramFault: the first document in the stream that the program failed on decides which; what
                came before it has been yielded.
            EnvironmentProblemError: a worker could not be started or confined.
        """
        if self._closed:
            raise RuntimeError("the sandbox is closed")
        in_flight: deque[_Ticket] = deque()
        most = 2 * self._execution.worker_count
        try:
            for ticket in self._tickets(documents):
                self._submit(ticket, len(in_flight))
                in_flight.append(ticket)
                while len(in_flight) >= most or (in_flight and in_flight[0].is_done):
                    yield from self._results(in_flight[0])
                    in_flight.popleft()
            while in_flight:
                yield from self._results(in_flight[0])
                in_flight.popleft()
        finally:
            if in_flight:  # a fault, or the caller has had enough: nothing may run on
                self._abandon(in_flight)

    def fresh_worker(self, hash_seed: int) -> WorkerProcess:
        """A worker of its own, not started yet, for the caller to start and kill."""
        return WorkerProcess(self._start, hash_seed)

    def verifier(self) -> Verifier:
        """A verifier for this program's replies."""
        return Verifier(self._limits, self._fields)

    def request(self, documents: Sequence[Document], position: int) -> Request:
        """Encode a batch. Text that UTF-8 cannot carry is mended on the way to the program."""
        return Request(
            payload=_encode(documents),
            count=len(documents),
            position=position,
            bound=lambda first, count: bound(documents[first : first + count], self._limits, self._fields),
        )

    def _tickets(self, documents: Iterable[Document]) -> Iterator[_Ticket]:
        """Cut the stream into batches that grow to the full size."""
        position, size = 0, min(_FIRST_BATCH, self._execution.batch_documents)
        most_chars = min(_BATCH_CHARS, self._execution.batch_chars)
        batch: list[Document] = []
        chars = 0
        for document in documents:
            batch.append(document)
            chars += len(document.title) + len(document.text)
            if document.fields:
                chars += sum(map(len, document.fields.values()))
            if len(batch) >= size or chars >= most_chars:
                yield _Ticket(batch, self.request(batch, position))
                position += len(batch)
                batch, chars = [], 0
                size = min(size * 2, self._execution.batch_documents)
        if batch:
            yield _Ticket(batch, self.request(batch, position))

    def _submit(self, ticket: _Ticket, in_flight: int) -> None:
        if len(self._lanes) <= min(in_flight, self._execution.worker_count - 1):
            lane = _Lane(self, self._work)
            self._lanes.append(lane)
            lane.start()
        self._work.put(ticket)

    def _results(self, ticket: _Ticket) -> Iterator[list[Represented]]:
        for verified in ticket.take():
            self.stats.add(verified.counts)
            yield verified.represented

    def _abandon(self, tickets: Iterable[_Ticket]) -> None:
        """Stop everything that works on these tickets. Workers start anew for the next stream."""
        for ticket in tickets:
            ticket.cancel()
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            lane.stop()
            self._work.put(None)
        for lane in lanes:
            lane.wait_until_gone()
        self._work = queue.SimpleQueue()


class _Ticket:
    """A batch, and what has come of it so far; passes between the caller's thread and a worker's."""

    def __init__(self, documents: list[Document], request: Request) -> None:
        self.documents = documents
        self.request = request
        self._parts: deque[Verified] = deque()
        self._unread = 0
        self._ended = False
        self._cancelled = False
        self._error: BaseException | None = None
        self._changed = threading.Condition()

    @property
    def is_done(self) -> bool:
        """True if nothing more will come."""
        return self._ended

    def put(self, part: Verified) -> bool:
        """Add results, and wait while too many are unread. False if nobody wants them any more."""
        with self._changed:
            self._parts.append(part)
            self._unread += part.size
            self._changed.notify_all()
            while self._unread > _UNREAD_BYTES and not self._cancelled:
                self._changed.wait()
            return not self._cancelled

    def end(self, error: BaseException | None = None) -> None:
        """Say that nothing more will come, because of an error or because all has come."""
        with self._changed:
            self._ended, self._error = True, error
            self._changed.notify_all()

    def cancel(self) -> None:
        """Say that nobody wants the results any more."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    @property
    def is_cancelled(self) -> bool:
        """True if nobody wants the results any more."""
        return self._cancelled

    def take(self) -> Iterator[Verified]:
        """Yield the results as they come; then raise the error, if there is one."""
        while True:
            with self._changed:
                while not self._parts and not self._ended:
                    self._changed.wait()
                if not self._parts:
                    break
                part = self._parts.popleft()
                self._unread -= part.size
                self._changed.notify_all()
            yield part
        if self._error is not None:
            raise self._error


class _Lane(threading.Thread):
    """One worker's thread. Takes tickets until it is given None or stopped."""

    def __init__(self, sandbox: Sandbox, work: queue.SimpleQueue[_Ticket | None]) -> None:
        super().__init__(name="sandbox", daemon=True)
        self._sandbox = sandbox
        self._work = work
        self._worker = sandbox.fresh_worker(0)
        self._loaded = False
        self._verifier = sandbox.verifier()
        self._running = threading.Event()

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is one."""
        return self._worker.pid

    def stop(self) -> None:
        """Kill the worker, from any thread. What it is at ends with an error."""
        self._worker.kill()

    def wait_until_gone(self) -> None:
        """Wait until a stopped lane has ended; where Ctrl-C came before it could begin, there is none."""
        if self._running.wait(_BEGIN_S):
            self.join()

    def run(self) -> None:
        """Work until there is no more, or something fails."""
        self._running.set()
        ticket: _Ticket | None = None
        try:
            while (ticket := self._work.get()) is not None:
                self._process(ticket)
                ticket.end()
        except BaseException as error:  # whatever it is, the caller's thread must see it
            if ticket is not None:
                if isinstance(error, ProgramFault):
                    _name_document(error, ticket)
                ticket.end(error)
        finally:
            self._worker.close()

    def _process(self, ticket: _Ticket) -> None:
        if ticket.is_cancelled:
            return
        if not self._loaded:
            self._worker.start()
            self._loaded = True
            self._sandbox.layers = self._worker.layers
        for reply in self._worker.ask(ticket.request):
            verified = self._verifier.verify(reply, ticket.documents, ticket.request.position)
            if not ticket.put(verified):
                return


def _name_document(fault: ProgramFault, ticket: _Ticket) -> None:
    """Note which document it was; the worker knows its place alone, and may lie about it."""
    if fault.position is not None:
        index = fault.position - ticket.request.position
        if 0 <= index < len(ticket.documents):
            fault.docid = ticket.documents[index].docid


def _must_confine(
    program: Program,
    execution: Execution,
    trusted: Callable[[Program], bool] | None,
    kernel: Confinement | None,
) -> bool:
    """Whether the worker must be confined by the kernel.

    Raises:
        EnvironmentProblemError: it must be and cannot be.
    """
    if execution.sandbox == "process":
        return False
    if execution.sandbox != "confined":
        raise InputError(f"illegal sandbox '{execution.sandbox}', must be 'confined' or 'process'")
    able = kernel if kernel is not None else capabilities()
    if able.is_sufficient:
        return True
    if program.is_builtin or (trusted is not None and trusted(program)):
        return False
    raise EnvironmentProblemError(
        f"the kernel lacks {able.missing}, so '{program.name or program.id}' cannot be confined; run it on "
        "Linux with seccomp, or use --sandbox process if you trust its source"
    )


def _encode(documents: Sequence[Document]) -> bytes:
    batch: Batch = [
        (d.title, d.text, d.fields if type(d.fields) is dict else dict(d.fields)) for d in documents
    ]
    try:
        return _ENCODER.encode(batch)
    except UnicodeEncodeError:
        return _ENCODER.encode(
            [(_mended(t), _mended(x), {_mended(k): _mended(v) for k, v in f.items()}) for t, x, f in batch]
        )


def _mended(text: str) -> str:
    """The text without lone surrogates; control characters stay, the program may have a use for them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return contract.mend(text)
    return text
