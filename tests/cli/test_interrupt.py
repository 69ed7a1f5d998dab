"""Ctrl-C, as a terminal sends it: one line, status 130, and nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

SLOW = """def represent(doc):
    for _ in range(30_000_000):
        pass
    yield doc.text
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds a folder for temporary files, `tmp`, and a slow program, `slow.py`."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "slow.py").write_text(SLOW)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    return tmp_path


def contents(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*") if "hsperfdata" not in str(path)}


@contextmanager
def started(*command: object) -> Iterator[subprocess.Popen[str]]:
    """The command, in a process group of its own, as a shell starts it."""
    arguments = [sys.executable, "-m", "autoindex_pyserini", *map(str, command)]
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def wait_for_worker(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The worker processes, once there are some that run the program."""
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        workers = [
            child
            for child in psutil.Process(process.pid).children(recursive=True)
            if any(part.endswith("worker.py") for part in child.cmdline()) and child.cpu_times().user > 0.5
        ]
        if workers:
            return workers
        time.sleep(0.05)
    raise AssertionError(f"no worker: {process.communicate()}")


def press_ctrl_c(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGINT)


def assert_interrupted(process: subprocess.Popen[str], seconds: float = 5) -> None:
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - began < seconds
    # Where it arrives in the import of some extension modules, Python ends by the signal: 130 to a shell.
    assert process.returncode in (130, -signal.SIGINT), err
    assert err == "autoindex: interrupted\n"
    assert out == ""


@pytest.mark.parametrize("command", ["evaluate", "index"])
def test_while_a_program_runs(command: str, toy: Path, place: Path) -> None:
    options = ("--index", place / "index") if command == "index" else ("--run-out", place / "runs")
    before = contents(place)
    with started(command, toy, "--program", place / "slow.py", *options) as process:
        workers = wait_for_worker(process)
        press_ctrl_c(process)
        assert_interrupted(process)
    assert not any(worker.is_running() for worker in workers)
    assert contents(place) == before


def test_while_an_index_is_replaced(toy: Path, place: Path, autoindex) -> None:  # type: ignore[no-untyped-def]
    assert autoindex("index", toy, "--program", "full_text", "--index", place / "index").status == 0
    before = contents(place)
    options = ("--index", place / "index", "--overwrite")
    with started("index", toy, "--program", place / "slow.py", *options) as process:
        wait_for_worker(process)
        press_ctrl_c(process)
        assert_interrupted(process)
    assert contents(place) == before
    assert autoindex("inspect", place / "index").status == 0


def test_while_queries_are_searched(toy: Path, place: Path, autoindex) -> None:  # type: ignore[no-untyped-def]
    assert autoindex("index", toy, "--program", "full_text", "--index", place / "index").status == 0
    topics = place / "topics.jsonl"
    words = "entry much about lion tiger zebra horse otter eagle shark whale mouse camel panda koala " * 5
    with topics.open("w") as file:
        for number in range(60_000):
            file.write(json.dumps({"_id": str(number), "text": words}) + "\n")
    before = contents(place)
    with started("search", place / "index", "--topics", topics, "--output", place / "run.txt") as process:
        maps = Path(f"/proc/{process.pid}/maps")
        while process.poll() is None and "libjvm" not in maps.read_text():
            time.sleep(0.05)
        time.sleep(2)
        press_ctrl_c(process)
        assert_interrupted(process)
    assert contents(place) == before


@pytest.mark.parametrize("delay", [0.0, 0.2, 0.4, 0.6, 0.8, 1.2])
def test_while_it_starts(delay: float, toy: Path, place: Path) -> None:
    before = contents(place)
    with started("evaluate", toy, "--program", place / "slow.py") as process:
        while "python" not in Path(f"/proc/{process.pid}/cmdline").read_text():
            time.sleep(0.01)
        time.sleep(0.15 + delay)  # the interpreter itself takes a while until it minds signals
        press_ctrl_c(process)
        assert_interrupted(process)
    assert contents(place) == before


KNOBS = ("--rounds", "2", "--candidates", "2", "--objective", "nDCG@10")


def test_twice_stops_a_search_now_and_says_how_to_go_on(toy: Path, place: Path) -> None:
    run = place / "run"
    with started("optimize", toy, "--out", run, *KNOBS) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while not process.stdout.readline().startswith("start"):
            pass
        workers = psutil.Process(process.pid).children(recursive=True)
        press_ctrl_c(process)
        assert "press Ctrl-C again" in process.stderr.readline()
        press_ctrl_c(process)
        began = time.monotonic()
        _, err = process.communicate(timeout=60)
        assert time.monotonic() - began < 5
    assert process.returncode == 130, err
    assert err == f"stopped; go on with: autoindex optimize {toy} --out {run} --resume\n"
    assert not any(worker.is_running() for worker in workers)
    assert not [name for name in contents(place) if name.startswith("tmp/")]
    with started("optimize", toy, "--out", run, "--resume") as process:
        _, err = process.communicate()
        assert process.returncode == 0, err
    with started("optimize", toy, "--out", place / "whole", *KNOBS) as process:
        process.communicate()
    for name in ("journal.jsonl", "best.py"):
        assert (run / name).read_bytes() == (place / "whole" / name).read_bytes()
