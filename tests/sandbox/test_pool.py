"""`Sandbox` on honest programs: order, flow, faults, endings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from autoindex_pyserini.errors import (
    EnvironmentProblemError,
    InputError,
    InvalidProgramError,
    ProgramCrashedError,
    ProgramFault,
    ProgramTimeoutError,
)
from autoindex_pyserini.program import CorpusStatistics, Program
from autoindex_pyserini.sandbox import Counts, Sandbox, represent_all
from autoindex_pyserini.settings import Execution, Limits
from autoindex_pyserini.types import Document, Passage, Represented

LIMITS = Limits(document_timeout_s=20.0)


def stream(count: int, chars: int = 0) -> list[Document]:
    return [Document(f"d{n}", f"title {n}", f"text {n}" + "x" * chars, {"n": str(n)}) for n in range(count)]


def run(
    source: str, documents: list[Document], execution: Execution, limits: Limits = LIMITS
) -> list[Represented]:
    with Sandbox(Program(source), limits=limits, execution=execution) as sandbox:
        return [one for part in sandbox.represent(documents) for one in part]


@pytest.mark.parametrize(
    "execution",
    [
        Execution(workers=1),
        Execution(workers=3, batch_documents=7),
        Execution(workers=2, batch_documents=1),
        Execution(workers=2, batch_chars=1),
    ],
)
def test_passages_follow_the_stream_whatever_the_batches(execution: Execution) -> None:
    documents = stream(500)
    source = "def represent(doc):\n    return [f'{doc.title} #{n}' for n in range(int(doc.fields['n']) % 3)]"
    expected = [
        Represented(d.docid, [Passage(f"{d.title} #{k}") for k in range(n % 3)])
        if n % 3
        else Represented(d.docid, [Passage(f"{d.title}\n{d.text}")], fallback=True)
        for n, d in enumerate(documents)
    ]
    assert run(source, documents, execution) == expected


def test_an_empty_stream_starts_no_worker() -> None:
    with Sandbox(Program.builtin("full_text"), limits=LIMITS, execution=Execution()) as sandbox:
        assert list(sandbox.represent([])) == []
        assert sandbox.pids == []


def test_a_document_without_text_is_indexed_as_a_mark_that_no_query_matches() -> None:
    documents = [Document("a", "", " \n"), Document("b", "\x00", ""), Document("c", "t", "")]
    counts = Counts()
    source = "def represent(doc):\n    yield doc.text"
    found = [
        one
        for part in represent_all(
            Program(source), documents, limits=LIMITS, execution=Execution(workers=1), counts=counts
        )
        for one in part
    ]
    assert [[p.contents for p in one.passages] for one in found] == [["."], ["."], ["t"]]
    assert all(one.fallback for one in found)
    assert (counts.fallbacks, counts.empty_documents, counts.documents, counts.passages) == (3, 2, 3, 3)


def test_raw_text_that_utf8_cannot_carry_reaches_the_program_mended() -> None:
    documents = [Document("\ud800", "a\ud800", "\ud83d\ude00", {"\udc00": "\x00"})]
    source = "def represent(doc):\n    yield f'{doc.title}{doc.text}{list(doc.fields.items())}'"
    (one,) = run(source, documents, Execution(workers=1))
    assert one.docid == "\ud800"
    assert one.passages[0].contents == "a\ufffd\U0001f600[('\ufffd', '\\x00')]"


def test_fields_and_statistics_reach_the_program() -> None:
    source = """FIELDS = ("df",)
def represent(doc, corpus):
    numbers = corpus.df("Text"), corpus.df("the"), corpus.num_docs, corpus.avg_tokens
    yield Passage(doc.text, {"df": str(numbers)})"""
    statistics = CorpusStatistics(num_docs=9, avg_tokens=2.5, document_frequencies={"text": 7})
    with Sandbox(
        Program(source), limits=LIMITS, execution=Execution(workers=1), corpus=statistics
    ) as sandbox:
        found = [one for part in sandbox.represent(stream(1)) for one in part]
    assert found[0].passages == [Passage("text 0", {"df": "(7, 0, 9, 2.5)"})]
    with pytest.raises(InvalidProgramError, match="has none; define represent\\(doc\\)"):
        Sandbox(Program(source), limits=LIMITS, execution=Execution())


def test_the_first_fault_of_the_stream_is_raised_after_what_came_before() -> None:
    # The later document fails at once, the earlier one after a while, in another worker.
    source = """def represent(doc):
    n = int(doc.fields["n"])
    if n == 11: sum(range(10_000_000))
    if n >= 11: raise ValueError(n)
    yield doc.text"""
    taken = []
    with Sandbox(
        Program(source), limits=LIMITS, execution=Execution(workers=2, batch_documents=4)
    ) as sandbox:
        with pytest.raises(
            ProgramCrashedError, match=r"^line 4: ValueError: 11 .document 11 of the stream.$"
        ) as caught:
            for part in sandbox.represent(stream(100)):
                taken += part
        assert caught.value.position == 11
        assert [one.docid for one in taken] == [f"d{n}" for n in range(11)]
        # The sandbox starts anew for the next stream.
        assert sum(map(len, sandbox.represent(stream(10)))) == 10


def test_documents_are_not_read_far_ahead_of_what_is_taken() -> None:
    read = 0

    def documents() -> Iterator[Document]:
        nonlocal read
        for document in stream(10_000):
            read += 1
            yield document

    execution = Execution(workers=2, batch_documents=10)
    with Sandbox(Program.builtin("full_text"), limits=LIMITS, execution=execution) as sandbox:
        parts = sandbox.represent(documents())
        taken = len(next(parts))
        time.sleep(0.3)
        assert read <= taken + 10 * 2 * 2
        while taken < 5000:
            taken += len(next(parts))
        assert read <= taken + 10 * 2 * 2


def test_large_results_wait_for_the_reader_and_arrive_whole() -> None:
    documents = stream(60, chars=100_000)
    source = "def represent(doc):\n    return [doc.text * 9] * 8"
    size = 60 * 8 * 9 * len(documents[0].text)
    before = psutil.Process().memory_info().rss
    most = 0
    with Sandbox(Program(source), limits=LIMITS, execution=Execution(workers=2)) as sandbox:
        total = 0
        for part in sandbox.represent(documents):
            total += sum(len(p.contents) for one in part for p in one.passages)
            most = max(most, psutil.Process().memory_info().rss - before)
    assert total >= size  # 430 MB
    assert most < 200 << 20


def test_leaving_early_ends_the_workers_work() -> None:
    with Sandbox(Program.builtin("full_text"), limits=LIMITS, execution=Execution(workers=2)) as sandbox:
        parts = sandbox.represent(stream(5000))
        next(parts)
        pids = sandbox.pids
        assert pids
        parts.close()  # type: ignore[attr-defined]
        assert not any(map(psutil.pid_exists, pids))
        assert sum(map(len, sandbox.represent(stream(100)))) == 100


def test_an_error_of_the_collection_passes_through() -> None:
    def documents() -> Iterator[Document]:
        yield from stream(300)
        raise InputError("line 7 is broken")

    with Sandbox(Program.builtin("full_text"), limits=LIMITS, execution=Execution(workers=2)) as sandbox:
        with pytest.raises(InputError, match="line 7"):
            list(sandbox.represent(documents()))
        pids = sandbox.pids
    assert not any(map(psutil.pid_exists, pids))


def test_a_worker_that_is_killed_from_outside_is_a_crash() -> None:
    source = "def represent(doc):\n    while doc.title != 'title 0': pass\n    yield doc.text"
    with Sandbox(
        Program(source), limits=LIMITS, execution=Execution(workers=1, batch_documents=1)
    ) as sandbox:
        parts = sandbox.represent(stream(3))
        next(parts)
        threading.Timer(0.3, os.kill, (sandbox.pids[0], signal.SIGKILL)).start()
        with pytest.raises(
            ProgramCrashedError, match=r"killed by SIGKILL .a lack of memory ends a process so"
        ):
            list(parts)


def test_the_time_for_all_documents_does_not_count_the_readers_time() -> None:
    limits = Limits(document_timeout_s=5.0, program_timeout_s=1.0)
    execution = Execution(workers=1, batch_documents=1)
    with Sandbox(Program.builtin("full_text"), limits=limits, execution=execution) as sandbox:
        for part in sandbox.represent(stream(4)):
            assert part
            time.sleep(0.4)
    source = "def represent(doc):\n    sum(range(10_000_000))\n    yield doc.text"
    with pytest.raises(ProgramTimeoutError, match="the program has run for 1 s in all"):
        run(source, stream(100), execution, limits)


def test_closing_ends_everything_whatever_is_going_on() -> None:
    source = "def represent(doc):\n    while True: pass"
    sandbox = Sandbox(Program(source), limits=LIMITS, execution=Execution(workers=2))
    failed: list[BaseException] = []

    def consume() -> None:
        try:
            list(sandbox.represent(stream(1000)))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=consume)
    thread.start()
    while not sandbox.pids:
        time.sleep(0.01)
    pids = sandbox.pids
    sandbox.close()
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert isinstance(failed[0], ProgramCrashedError | EnvironmentProblemError)
    assert not any(map(psutil.pid_exists, pids))
    sandbox.close()
    with pytest.raises(RuntimeError, match="closed"):
        list(sandbox.represent(stream(1)))


def test_workers_die_with_a_host_that_is_killed() -> None:
    host = """
import sys, time
from autoindex_pyserini.program import Program
from autoindex_pyserini.sandbox import Sandbox
from autoindex_pyserini.settings import Execution, Limits
from autoindex_pyserini.types import Document
program = Program("def represent(doc):\\n    while doc.title: pass\\n    yield doc.text")
execution = Execution(workers=1, batch_documents=1)
sandbox = Sandbox(program, limits=Limits(document_timeout_s=60), execution=execution)
parts = sandbox.represent([Document("a", "", "x"), Document("b", "loop", "x")])
next(parts)
print(sandbox.pids[0], flush=True)
next(parts)
"""
    with subprocess.Popen([sys.executable, "-c", host], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        worker = psutil.Process(pid)
        assert worker.is_running()
        process.kill()
    psutil.wait_procs([worker], timeout=5)
    assert not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE  # of init, which reaps it


def test_no_descriptor_and_no_thread_is_left() -> None:
    def count() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    run("def represent(doc): ...", stream(10), Execution(workers=2))
    before = count()
    for _ in range(3):
        run("def represent(doc): ...", stream(100), Execution(workers=2, batch_documents=10))
        with pytest.raises(ProgramCrashedError):
            run("def represent(doc):\n    1 / 0", stream(100), Execution(workers=2, batch_documents=10))
    assert count() == before


@pytest.mark.parametrize(
    "body",
    [
        "yield doc.title\n    if doc.fields['n'] == '57': raise ValueError(doc.title)",
        "yield doc.title\n    if doc.fields['n'] == '57':\n        while True: pass",
        "if doc.fields['n'] == '57': yield 'x' * 10**6\n    yield doc.title",
        "if doc.fields['n'] == '57': yield str(id(object())) + str(id(doc))\n    yield doc.title",
    ],
    ids=["crash", "timeout", "output", "nondeterministic"],
)
def test_the_user_is_told_the_docid_and_the_program_is_not(body: str) -> None:
    limits = Limits(document_timeout_s=1.0)
    execution = Execution(workers=2, batch_documents=8)
    documents = stream(100)
    with pytest.raises(ProgramFault) as caught:
        for _ in represent_all(
            Program(f"def represent(doc):\n    {body}\n"),
            documents,
            limits=limits,
            execution=execution,
            sample_size=100,
        ):
            pass
    assert caught.value.position == 57
    assert caught.value.docid == "d57"
    assert "d57" not in str(caught.value)


@pytest.mark.parametrize("begun", [False, True], ids=["before it starts", "before that is known"])
def test_ctrl_c_while_a_worker_starts_leaves_none(begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from autoindex_pyserini.sandbox import pool

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def start(lane: threading.Thread) -> None:
        if begun:  # the thread is made, and `start` waits for it
            monkeypatch.setattr(lane._started, "wait", interrupt)  # type: ignore[attr-defined]
            threading.Thread.start(lane)
        raise KeyboardInterrupt

    before = set(threading.enumerate())
    monkeypatch.setattr(pool._Lane, "start", start)
    with (
        Sandbox(Program.builtin("full_text"), limits=LIMITS, execution=Execution(workers=1)) as sandbox,
        pytest.raises(KeyboardInterrupt),
    ):
        list(sandbox.represent(stream(10)))
    assert sandbox.pids == []
    assert not [
        thread for thread in threading.enumerate() if thread.name == "sandbox" and thread not in before
    ]
