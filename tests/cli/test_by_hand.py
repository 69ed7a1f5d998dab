"""A run by hand as a user types it, killed anywhere, and as an assistant drives it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from autoindex_pyserini.cli.mcp import Served
from autoindex_pyserini.optimize import RunDirectory

COMMAND = (sys.executable, "-m", "autoindex_pyserini")
BETTER = (
    '"""The keywords too."""\n\n\ndef represent(doc):\n    yield f"{doc.text} {doc.fields[\'keywords\']}"\n'
)
WORSE = '"""The title."""\n\n\ndef represent(doc):\n    yield doc.title\n'
Call = Callable[..., Any]


@pytest.fixture
def run(toy: Path, tmp_path: Path, autoindex: Call) -> Path:
    """A run by hand that has begun, and two programs beside it."""
    (tmp_path / "better.py").write_text(BETTER)
    (tmp_path / "worse.py").write_text(WORSE)
    answer = autoindex("start", toy, "--out", tmp_path / "run", "--objective", "nDCG@10", "--workers", 1)
    assert answer.status == 0, answer
    assert "start    bcb6c50f232b" in answer.out
    return tmp_path / "run"


def test_a_session_from_start_to_finish(run: Path, autoindex: Call) -> None:
    brief = autoindex("brief", run)
    assert brief.status == 0, brief
    for part in ("The contract", "k1=1.5", "12 documents", "The incumbent: `bcb6c50f232b`", "Cases"):
        assert part in brief.out
    assert "What was tried" not in autoindex("brief", run, "--no-history").out

    case = json.loads(autoindex("brief", run, "--json").out)["cases"][0]
    assert "Entry" in autoindex("ask", run, "read", case["relevant"]).out
    found = json.loads(autoindex("ask", run, "retrieve", case["query"], "2", "--json").out)
    assert found["arguments"] == {"query": case["query"], "k": "2"}
    assert "D-" in found["answer"]

    tried = autoindex("try", run, run.parent / "better.py", "--because", "they name the animal")
    assert tried.status == 0, tried
    assert "accepted, against bcb6c50f232b" in tried.out
    assert "not found -> 2" in tried.out
    assert "is not evaluated again" in autoindex("try", run, run.parent / "better.py").out
    answer = json.loads(autoindex("try", run, run.parent / "worse.py", "--json").out)
    assert (answer["trial"]["accepted"], answer["again"]) == (False, False)
    assert answer["incumbent"]["hypothesis"] == "they name the animal"

    shown = autoindex("show", run)
    assert "they name the animal" in shown.out
    assert "go on with `autoindex try ...`" in shown.out
    done = autoindex("finish", run)
    assert done.status == 0, done
    assert f"index: {run / 'index'}" in done.out
    assert (run / "best.py").read_text() == BETTER
    assert json.loads(autoindex("finish", run, "--json").out)["winner"]["source"] == BETTER
    assert "ended by hand" in autoindex("show", run).out


def test_what_cannot_be_done_names_what_can(run: Path, toy: Path, tmp_path: Path, autoindex: Call) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import os\ndef represent(doc):\n    yield doc.text\n")
    before = (run / "journal.jsonl").read_bytes()
    for arguments, said in (
        (("try", run, broken), "line 1: imports 'os'"),
        (("try", run, tmp_path / "missing.py"), "missing.py"),
        (("ask", run, "read"), "use: ask RUN_DIR read REF [MAX_CHARS] [START]"),
        (("ask", run, "write", "x"), "use one of: retrieve, read, grep"),
        (("start", toy, "--out", run), f"autoindex brief {run}"),
        (("optimize", toy, "--out", run), f"autoindex brief {run}"),
        (("optimize", toy, "--out", run, "--resume"), f"autoindex try {run} program.py"),
        (("optimize", toy, "--out", tmp_path / "new", "--proposer", "hand"), "autoindex start"),
        (("brief", tmp_path / "nothing"), "not a run directory"),
    ):
        answer = autoindex(*arguments)
        assert answer.status == 2, arguments
        assert said in answer.err, arguments
    assert (run / "journal.jsonl").read_bytes() == before
    assert not (tmp_path / "new").exists()


def test_a_run_of_another_proposer_is_not_worked_on_by_hand(
    run: Path, toy: Path, tmp_path: Path, autoindex: Call
) -> None:
    other = tmp_path / "other"
    autoindex("optimize", toy, "--out", other, "--rounds", 1, "--candidates", 1)
    for arguments in (
        ("brief", other),
        ("ask", other, "terms", "lion"),
        ("try", other, tmp_path / "better.py"),
        ("finish", other),
        ("mcp", other),
    ):
        answer = autoindex(*arguments)
        assert answer.status == 2, arguments
        assert f"autoindex optimize {toy} --out {other} --resume" in answer.err


def test_after_the_end_no_program_is_tried(run: Path, tmp_path: Path, autoindex: Call) -> None:
    assert autoindex("finish", run).status == 0
    before = (run / "journal.jsonl").read_bytes()
    for arguments in (("try", run, tmp_path / "better.py"), ("brief", run), ("mcp", run)):
        answer = autoindex(*arguments)
        assert (answer.status, f"autoindex show {run}" in answer.err) == (2, True), arguments
    assert (run / "journal.jsonl").read_bytes() == before


def test_before_the_end_no_output_and_no_file_holds_a_test_query(
    run: Path, toy: Path, autoindex: Call
) -> None:
    from autoindex_pyserini.collection import load

    test = load(str(toy)).open_test()
    outputs = [autoindex("brief", run), autoindex("brief", run, "--json"), autoindex("show", run, "--json")]
    outputs += [autoindex("try", run, run.parent / "better.py", "--json")]
    texts = [answer.out + answer.err for answer in outputs]
    texts += [file.read_text("utf-8", "replace") for file in run.rglob("*") if file.is_file()]
    for topic in test.topics:
        assert not [text for text in texts if topic.text in text or f'"{topic.qid}"' in text], topic


@pytest.mark.parametrize("step", ["try", "finish"])
def test_a_killed_step_typed_again_loses_and_repeats_nothing(step: str, run: Path, autoindex: Call) -> None:
    program = run.parent / "better.py"
    steps: dict[str, list[str]] = {
        "try": ["try", str(run), str(program), "--because", "why"],
        "finish": ["finish", str(run)],
    }
    if step == "finish":
        assert autoindex(*steps["try"]).status == 0
    kills = 0
    for delay in (0.0, 0.3, 1.0):  # seconds after the step began to write
        with subprocess.Popen(
            [*COMMAND, *steps[step]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as done:
            size = (run / "journal.jsonl").stat().st_size
            while done.poll() is None and (run / "journal.jsonl").stat().st_size == size:
                time.sleep(0.005)
            time.sleep(delay)
            if done.poll() is None:
                os.kill(done.pid, signal.SIGKILL)
                kills += 1
    assert kills
    assert autoindex(*steps[step]).status == 0
    assert autoindex(*steps["finish"]).status == 0
    events = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == [
        "started", "tried", "proposed", "tried", "round_closed", "proposed", "selected", "tested", "finished"
    ]  # fmt: skip
    assert (run / "best.py").read_text() == BETTER
    assert sorted(path.name for path in run.iterdir() if path.name[0] != ".") == sorted(
        ["best.py", "evaluations", "index", "journal.jsonl", "programs", "settings.toml", "test.json"]
    )


def test_an_assistant_drives_it(run: Path) -> None:
    _, recorded = RunDirectory.open(run)

    async def drive() -> None:
        with Served(run, recorded) as served:
            async with Client(served.server()) as client:
                assert {tool.name for tool in await client.list_tools()} == {"brief", "ask", "try", "finish"}

                async def call(name: str, **arguments: object) -> str:
                    answer = await client.call_tool(name, arguments, raise_on_error=False)
                    text: str = answer.content[0].text  # type: ignore[union-attr]
                    return f"error: {text}" if answer.is_error else text

                assert "The incumbent: `bcb6c50f232b`" in await call("brief")
                assert "D-" in await call("ask", tool="retrieve", arguments={"query": "lion", "k": 1})
                assert "use one of" in await call("ask", tool="write", arguments={})
                assert "accepted" in await call("try", program=BETTER, because="the keywords")
                assert "not evaluated again" in await call("try", program=BETTER, because="")
                assert (await call("try", program="def f(", because="")).startswith("error: line 1")
                assert "the keywords" in await call("brief")
                assert str(run / "index") in await call("finish")
                assert "finished" in await call("try", program=WORSE, because="")
                assert str(run / "index") in await call("finish")

    asyncio.run(drive())
    assert (run / "best.py").read_text() == BETTER


def test_the_server_writes_nothing_but_the_protocol_and_locks_the_run(run: Path, autoindex: Call) -> None:
    requests = [
        {"id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-03-26", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "try", "arguments": {
            "program": BETTER, "because": "why"}}},
        {"id": 3, "method": "tools/call", "params": {"name": "ask", "arguments": {
            "tool": "terms", "arguments": {"term": "lion"}}}},
    ]  # fmt: skip
    with subprocess.Popen(
        [*COMMAND, "mcp", str(run)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for request in requests:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n")
            server.stdin.flush()
        lines = [json.loads(server.stdout.readline()) for _ in range(3)]
        refused = autoindex("brief", run)
        server.stdin.close()
        lines += map(json.loads, server.stdout.read().splitlines())
    assert server.returncode == 0
    assert [line["id"] for line in lines] == [1, 2, 3]
    assert "accepted" in lines[1]["result"]["content"][0]["text"]
    assert "in use by another process" in refused.err
