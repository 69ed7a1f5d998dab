"""Programs that take what they can get: time, memory, processes, depth."""

from __future__ import annotations

from typing import Any

import pytest

from autoindex_pyserini.settings import Limits

# conftest.ESCAPE, which is six lines long, stands before the programs that begin with "ESCAPE".
CASES: dict[str, tuple[str, str, str]] = {
    "endless loop": (
        "ProgramTimeoutError",
        "still running after 0.5 s",
        """
def represent(doc):
    while True:  # HERE
        pass""",
    ),
    "endless loop at import": (
        "ProgramTimeoutError",
        "(while the program was loaded)",
        """
while True: pass  # HERE
def represent(doc):
    yield doc.text""",
    ),
    "endless loop in the third document": (
        "ProgramTimeoutError",
        "(document 2 of the stream)",
        """
def represent(doc):
    while doc.title == "title 2": pass  # HERE
    yield doc.text""",
    ),
    "endless loop inside C": (
        "ProgramTimeoutError",
        "still running",
        """
import itertools
def represent(doc):
    yield str(sum(itertools.repeat(1)))  # HERE""",
    ),
    "endless sleep": (
        "ProgramTimeoutError",
        "still running",
        """ESCAPE
def represent(doc):
    module("time").sleep(1000)  # HERE""",
    ),
    "endless generator": (
        "ProgramOutputError",
        "more than 16 passages",
        """
def represent(doc):
    while True:
        yield doc.text  # HERE""",
    ),
    "endless generator that will not be closed": (
        "ProgramOutputError",
        "more than 16 passages",
        """
def represent(doc):
    while True:
        try:
            yield doc.text  # HERE
        except GeneratorExit:
            pass""",
    ),
    "endless generator of nothing": (
        "ProgramOutputError",
        "more than 1000 blank passages",
        """
def represent(doc):
    while True:
        yield None  # HERE""",
    ),
    "endless loop when it is thrown away": (
        "ProgramTimeoutError",
        "still running",
        """
class Sticky(list):
    def __del__(self):
        while True: pass  # HERE
def represent(doc):
    return Sticky([doc.text])""",
    ),
    "endless loop that swallows every exception": (
        "ProgramTimeoutError",
        "still running",
        """
def represent(doc):
    while True:
        try:
            while True: pass  # HERE
        except BaseException:
            pass""",
    ),
    "catastrophic regular expression": (
        "ProgramTimeoutError",
        "still running",
        """
import re
def represent(doc):
    yield str(re.match(r"(a|a)*$", "a" * 60 + "b"))  # HERE""",
    ),
    "power tower": (
        "ProgramTimeoutError",
        "still running",
        """
def represent(doc):
    yield str(len(bin(7 ** 10 ** 9)))  # HERE""",
    ),
    "slow in small steps": (
        "ProgramTimeoutError",
        "has run for 1 s in all",
        """ESCAPE
def represent(doc):
    module("time").sleep(0.4)
    yield doc.text""",
    ),
    "a clock that it winds itself": (
        "ProgramTimeoutError",
        "",
        """ESCAPE
def progress():
    frame = sys._getframe()
    while "progress" not in getattr(frame, "f_" + "locals"):
        frame = getattr(frame, "f_" + "back")
    return getattr(frame, "f_" + "locals")["progress"]
def represent(doc):
    word = progress()
    while True:
        for number in (3, 1, 2, 0, -1):
            word[0] = number""",
    ),
    "a signal handler that refuses": (
        "ProgramTimeoutError",
        "still running",
        """ESCAPE
signal = module("signal")
def represent(doc):
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True: pass""",
    ),
    "ten gigabytes": (
        "ProgramCrashedError",
        "MemoryError",
        """
def represent(doc):
    yield str(len(bytearray(10 << 30)))  # HERE""",
    ),
    "gigabytes in small pieces": (
        "ProgramCrashedError",
        "MemoryError",
        """
def represent(doc):
    hoard = []
    while True:
        hoard.append(" " * 100 + str(len(hoard)))  # HERE""",
    ),
    "gigabytes at import": (
        "ProgramCrashedError",
        "MemoryError",
        """
HOARD = [0] * (1 << 40)  # HERE
def represent(doc):
    yield doc.text""",
    ),
    "a memory limit that it lifts": (
        "ProgramCrashedError",
        "",
        """ESCAPE
def represent(doc):
    resource = module("resource")
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))  # HERE""",
    ),
    "recursion": (
        "ProgramCrashedError",
        "RecursionError",
        """
def represent(doc):
    return represent(doc)  # HERE""",
    ),
    "recursion that overflows the stack": (
        "ProgramCrashedError",
        "",
        """ESCAPE
sys.setrecursionlimit(10 ** 8)
class Deep:
    def __repr__(self):
        return repr(self) + repr([self])
def represent(doc):
    yield repr(Deep())""",
    ),
    "fork bomb": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    while True: os.fork()  # HERE""",
    ),
    "a thread left running": (
        "ProgramCrashedError",
        "can't start new thread",
        """ESCAPE
def spin():
    while True: pass
def represent(doc):
    module("_thread").start_new_thread(spin, ())  # HERE
    yield doc.text""",
    ),
    "exit": (
        "ProgramCrashedError",
        "SystemExit: 3",
        """
def represent(doc):
    raise SystemExit(3)  # HERE""",
    ),
    "exit without a word": (
        "ProgramCrashedError",
        "exited with status 7 (document 0 of the stream)",
        """ESCAPE
def represent(doc):
    os._exit(7)""",
    ),
    "exit at import, status 0": (
        "ProgramCrashedError",
        "exited with status 0 (while the program was loaded)",
        """ESCAPE
os._exit(0)
def represent(doc): ...""",
    ),
    "a crash in C": (
        "ProgramCrashedError",
        "SIGSEGV",
        """ESCAPE
def represent(doc):
    module("ctypes").string_at(0)  # HERE""",
    ),
    "abort": (
        "ProgramCrashedError",
        "killed by",
        """ESCAPE
def represent(doc):
    os.abort()  # HERE""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_is_contained(name: str, contain: Any, escape: str) -> None:
    expected, says, source = CASES[name]
    slow = expected == "ProgramTimeoutError"
    limits = Limits(
        document_timeout_s=0.5 if slow else 20.0,
        program_timeout_s=1.0 if name == "slow in small steps" else 60.0,
        memory_mb=256,
    )
    contain(source.replace("ESCAPE\n", escape), expected, says, limits=limits)
