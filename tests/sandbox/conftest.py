"""What the sandbox's tests share: tiny documents, and a fixture that runs a program that means harm."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from autoindex_pyserini import errors
from autoindex_pyserini.program import Program
from autoindex_pyserini.sandbox import Sandbox, represent_all
from autoindex_pyserini.settings import Execution, Limits
from autoindex_pyserini.types import Document, Represented

DOCUMENTS = [
    Document(f"secret-docid-{n}", f"title {n}", f"text of document {n}", {"notes": "n"}) for n in range(6)
]
LIMITS = Limits(document_timeout_s=10.0, program_timeout_s=60.0, memory_mb=512)
ONE_WORKER = Execution(workers=1)

# The real built-ins and all loaded modules, by a way that no static check can see. Six lines.
ESCAPE = """import textwrap
_G = getattr(textwrap.dedent, "__glo" + "bals__")
REAL = _G["__built" + "ins__"]
def module(name):
    return REAL["__im" + "port__"](name, fromlist=["*"])
os, sys = module("os"), module("sys")
"""


def workers() -> list[int]:
    """Process ids of all processes that descend from workers of this process, orphans included."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = process.info["cmdline"] or []
        if any(part.endswith("sandbox/worker.py") for part in line) and str(os.getpid()) in line:
            found.append(process.pid)
    return found


def outcome(source: str, **options: Any) -> errors.AutoIndexError | list[Represented]:
    """What `represent_all` makes of a program: the passages, or the error."""
    options = {"limits": LIMITS, "execution": ONE_WORKER} | options
    try:
        return [one for part in represent_all(Program(source), DOCUMENTS, **options) for one in part]
    except errors.AutoIndexError as error:
        return error


@pytest.fixture(scope="session")
def bystander() -> Iterator[Sandbox]:
    """A sandbox with a good program, which has to go on through everything."""
    with Sandbox(Program.builtin("full_text"), limits=LIMITS, execution=ONE_WORKER) as sandbox:
        yield sandbox


type Contain = Callable[..., errors.AutoIndexError | list[Represented]]


@pytest.fixture
def contain(bystander: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Contain:
    """Run a hostile program, and see that nothing is left of it and nothing else suffered."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("SECRET-IN-A-FILE 0 d1 1\n")
    monkeypatch.setenv("SECRET_VARIABLE", "SECRET-IN-THE-ENVIRONMENT")

    def run(
        source: str, expected: str = "", says: str = "", **options: Any
    ) -> errors.AutoIndexError | list[Represented]:
        list(bystander.represent(DOCUMENTS))
        before = set(workers())
        files = {Path(folder): set(os.listdir(folder)) for folder in (tmp_path, "/", "/dev/shm")}
        result = outcome(source, **options)

        assert set(workers()) == before, "a process was left behind"
        assert {folder: set(os.listdir(folder)) for folder in files} == files, "a file was left behind"
        again = [one for part in bystander.represent(DOCUMENTS) for one in part]
        assert [one.docid for one in again] == [one.docid for one in DOCUMENTS]
        assert "SECRET" not in str(result)
        if not expected:
            assert isinstance(result, list), result
            assert len(result) == len(DOCUMENTS)
            return result
        assert type(result).__name__ == expected, result
        assert isinstance(result, errors.ProgramFault)
        message = str(result)
        assert says in message
        assert "\n" not in message
        assert len(message) < 1500
        lines = [number for number, line in enumerate(source.splitlines(), 1) if line.endswith("# HERE")]
        if lines:
            assert result.line == lines[0], message
            assert message.startswith(f"line {lines[0]}: ")
        return result

    return run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The sandbox confines on Linux only; elsewhere its tests have nothing to hold."""
    if sys.platform != "linux":
        for item in items:
            item.add_marker(pytest.mark.skip(reason="kernel confinement needs Linux"))


@pytest.fixture(scope="session")
def escape() -> str:
    """See `ESCAPE`."""
    return ESCAPE
