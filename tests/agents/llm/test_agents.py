"""The two agents over real HTTP, from the command line: good, bad and ugly models; the search ends well."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from autoindex_pyserini.cli import main

from .scripted_server import Play, ScriptedServer, error

KEYWORDS = """Hypothesis: the keywords name what the text does not
```python
\"\"\"Text and keywords.\"\"\"


def represent(doc):
    \"\"\"Yield both.\"\"\"
    yield doc.title + " " + doc.text + " " + doc.fields.get("keywords", "")
```
"""
TITLES = """Hypothesis: titles
```python
\"\"\"Title twice.\"\"\"


def represent(doc):
    \"\"\"Yield.\"\"\"
    yield doc.title + " " + doc.title + " " + doc.text
```
"""
ALONE = """Hypothesis: keywords as a passage of their own
```python
\"\"\"Keywords apart.\"\"\"


def represent(doc):
    \"\"\"Yield text, then keywords.\"\"\"
    yield doc.text
    yield doc.fields.get("keywords", "")
```
"""
BROKEN = KEYWORDS.replace("doc.text +", "doc.text +)")
FORBIDDEN = KEYWORDS.replace("def represent", "import os\n\n\ndef represent", 1)
SUMMARY = "The keywords are not indexed (three examples). " * 20
KNOBS = (
    "--rounds",
    "2",
    "--candidates",
    "2",
    "--objective",
    "nDCG@10",
    "--proposer",
    "llm",
    "--model",
    "played",
)

type Script = Callable[[str, int, dict[str, Any]], Play | str]


def who(body: Mapping[str, Any]) -> str:
    """Which agent asks."""
    first = body["messages"][0]["content"]
    if first.startswith("You are a search engineer"):
        return "analysis"
    return "synthesis" if "Several programs of this round" in body["messages"][1]["content"] else "code"


class Model:
    """Plays an agent's replies in turn; the last one again and again."""

    def __init__(self, **replies: Sequence[Play | str]) -> None:
        self.replies = {"analysis": [SUMMARY], "code": [KEYWORDS], "synthesis": [ALONE], **replies}
        self.counts = dict.fromkeys(self.replies, 0)

    def __call__(self, body: dict[str, Any]) -> Play | str:
        agent = who(body)
        found = self.replies[agent]
        number = min(self.counts[agent], len(found) - 1)
        self.counts[agent] += 1
        return found[number]


@pytest.fixture
def search(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """`autoindex optimize` in this process; its status and all that it printed."""

    def call(server: ScriptedServer | None, *more: str, out: str = "run") -> tuple[int, str]:
        url = ("--base-url", server.base_url) if server else ()
        arguments = ["autoindex", "optimize", str(toy), "--out", str(tmp_path / out), *more, *url]
        monkeypatch.setattr(sys, "argv", arguments)
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return call


def events(run: Path, kind: str) -> list[dict[str, Any]]:
    lines = (run / "journal.jsonl").read_text().splitlines()
    return [found for found in map(json.loads, lines) if found["event"] == kind]


def spent(run: Path) -> tuple[int, int]:
    """Tokens of the journal."""
    costs = [cost for event in events(run, "proposed") for cost in event.get("costs", [])]
    return sum(c["prompt_tokens"] for c in costs), sum(c["completion_tokens"] for c in costs)


def programs(run: Path) -> list[int]:
    """How many programs came in each round."""
    found = [event for event in events(run, "proposed") if event.get("kind", "candidate") == "candidate"]
    return [len(event.get("programs", [])) for event in found]


def notes(run: Path) -> str:
    return " | ".join(note for event in events(run, "proposed") for note in event.get("notes", []))


def test_a_good_model_wins_and_the_table_says_what_it_cost(search: Any, tmp_path: Path) -> None:
    tools = (("bm25_retrieve", '{"query": "where does the lion live", "k": 3}'),)
    model = Model(analysis=[Play(tool_calls=tools), SUMMARY], code=[TITLES + ALONE, KEYWORDS])
    with ScriptedServer(model) as server:
        status, printed = search(server, *KNOBS)
    run = tmp_path / "run"
    assert status == 0, printed
    assert programs(run) == [2, 1]
    assert (run / "test.json").exists()
    test = json.loads((run / "test.json").read_text())
    means = [test[one]["evaluation"]["means"]["nDCG@10"] for one in ("baseline", "winner")]
    assert means[1] > 0.5 > means[0]
    assert spent(run) == (server.prompt_tokens, server.completion_tokens)
    assert len(list((run / "llm").iterdir())) == len(server.bodies)
    assert "the model's work" in printed
    total = next(line for line in printed.splitlines() if line.startswith("all"))
    assert f"{server.prompt_tokens:,}" in total
    told = [body for body in server.bodies if who(body) == "analysis"][1]["messages"]
    assert [message["role"] for message in told] == ["system", "user", "assistant", "tool"]
    assert re.search(r"D-\w+", told[-1]["content"])


def test_several_that_pass_are_joined(search: Any, tmp_path: Path) -> None:
    model = Model(code=[ALONE + KEYWORDS], synthesis=[KEYWORDS.replace("Yield both", "Yield all")])
    with ScriptedServer(model) as server:
        status, printed = search(server, *KNOBS, "--rounds", "1")
    assert status == 0, printed
    run = tmp_path / "run"
    assert [event.get("kind", "candidate") for event in events(run, "proposed")] == [
        "candidate",
        "combination",
    ]
    assert "does what" in notes(run)
    asked = next(body for body in server.bodies if who(body) == "synthesis")["messages"][1]["content"]
    assert asked.count("def represent") == 3


CALLS = (("bm25_retrieve", '{"query": "lion"'), ("nothing", "{}"), ("read_document", '{"ref": 5}'))
ENDLESS = Play(tool_calls=(("bm25_retrieve", '{"query": "lion", "k": 2}'),))
THINKING = "<think>def represent(doc): no\n```python\nx\n```\n</think>"
UGLY: dict[str, Model] = {
    "prose": Model(code=["I would index the keywords."]),
    "broken code, mended": Model(code=[BROKEN, KEYWORDS]),
    "broken code, for ever": Model(code=[BROKEN]),
    "forbidden import, mended": Model(code=[FORBIDDEN, KEYWORDS]),
    "half a reply": Model(code=[Play(KEYWORDS[:-60], finish="length"), KEYWORDS]),
    "half a reply, a whole program": Model(code=[Play(KEYWORDS + TITLES[:60], finish="length")]),
    "thinks": Model(analysis=[THINKING + SUMMARY], code=["no opening</think>" + KEYWORDS]),
    "thinks for ever": Model(code=["<think>" + KEYWORDS], analysis=["<think>hmm"]),
    "thinks apart": Model(code=[Play(KEYWORDS, reasoning="hmm " * 50)]),
    "wrong arguments": Model(analysis=[Play(tool_calls=CALLS), SUMMARY]),
    "calls for ever": Model(analysis=[ENDLESS] * 5 + [SUMMARY]),
    "calls for ever, even at the end": Model(analysis=[ENDLESS]),
    "busy": Model(analysis=[error(429, "slow down", {"Retry-After": "0"}), SUMMARY]),
    "fails": Model(code=[error(500, "oops"), KEYWORDS]),
    "cut": Model(code=[Play(KEYWORDS, cut_after=5), KEYWORDS]),
    "no usage": Model(code=[Play(KEYWORDS, usage=None)]),
    "usage of zeros": Model(code=[Play(KEYWORDS, usage={"prompt_tokens": 0, "completion_tokens": 0})]),
    "empty": Model(code=["", KEYWORDS]),
    "refuses": Model(code=[Play(refusal="I cannot."), KEYWORDS]),
    "the same again": Model(code=[TITLES]),
    "tools as text": Model(
        analysis=['```tool\n{"name": "term_stats", "arguments": {"term": "lion"}}\n```', SUMMARY]
    ),
}
LOSE = {"prose", "broken code, for ever", "thinks for ever", "the same again"}


@pytest.mark.parametrize("name", UGLY)
def test_the_search_ends_well_whatever_the_model_does(name: str, search: Any, tmp_path: Path) -> None:
    with ScriptedServer(UGLY[name]) as server:
        status, printed = search(server, *KNOBS)
    assert status == 0, printed
    run = tmp_path / "run"
    selected = events(run, "selected")[0]
    start, won = events(run, "tried")[0]["program"], selected["program"]
    assert (won == start) == (name in LOSE), notes(run)
    if name not in ("no usage", "usage of zeros"):
        assert spent(run) == (server.prompt_tokens, server.completion_tokens)
    else:
        assert min(spent(run)) > 0
        assert "~" in printed
    for body in server.bodies:
        text = json.dumps(body)
        assert "d 0#" not in text, "a docid"
        assert not re.search(r"\bq\d+\b", text), "a qid"


def test_the_model_is_told_what_became_of_its_reply(search: Any) -> None:
    with ScriptedServer(Model(code=[TITLES, TITLES, BROKEN, BROKEN])) as server:
        search(server, *KNOBS, "--rounds", "3")
    code = [body["messages"] for body in server.bodies if who(body) == "code"]
    assert "does what" in code[2][1]["content"]
    assert "titles" in code[1][1]["content"]
    repair = code[3][-1]["content"]
    assert "SyntaxError" in repair
    assert "doc.text +)" in repair


def test_parts_can_be_left_out(search: Any, tmp_path: Path) -> None:
    with ScriptedServer(Model(code=[TITLES, KEYWORDS])) as server:
        assert search(server, *KNOBS, "--no-history", "--no-analysis")[0] == 0
    assert {who(body) for body in server.bodies} == {"code"}
    assert "titles" not in json.dumps([body["messages"] for body in server.bodies])
    with ScriptedServer(Model(code=["prose"])) as server:
        assert search(server, *KNOBS, "--one-shot", out="one")[0] == 0
    assert len(server.bodies) == 1


def test_a_spent_budget_ends_the_search_well(search: Any, tmp_path: Path) -> None:
    with ScriptedServer(Model()) as server:
        status, printed = search(server, *KNOBS, "--max-tokens", "1000")
    assert status == 0, printed
    assert "--max-tokens" in events(tmp_path / "run", "selected")[0]["reason"]
    assert len(server.bodies) == 1
    assert spent(tmp_path / "run") == (server.prompt_tokens, server.completion_tokens)


def test_a_server_that_is_not_there_and_then_is(search: Any, tmp_path: Path) -> None:
    with ScriptedServer([error(401, "no such key", code="invalid_api_key")]) as server:
        status, printed = search(server, *KNOBS)
    assert status == 1
    assert "--resume" in printed
    assert "OPENAI_API_KEY" in printed
    with ScriptedServer(Model()) as server:
        status, printed = search(server, "--resume")
    assert status == 0, printed


def test_a_run_is_repeated_without_an_endpoint(search: Any, tmp_path: Path, toy: Path) -> None:
    with ScriptedServer(Model(code=[TITLES + ALONE, KEYWORDS])) as server:
        assert search(server, *KNOBS)[0] == 0
    status, printed = search(None, "--replay", str(tmp_path / "run"), out="again")
    assert status == 0, printed
    assert (tmp_path / "again" / "journal.jsonl").read_bytes() == (
        tmp_path / "run" / "journal.jsonl"
    ).read_bytes()


def test_a_model_without_tools_gets_them_as_text(search: Any, tmp_path: Path) -> None:
    call = '```tool\n{"name": "bm25_retrieve", "arguments": {"query": "lion", "k": 2}}\n```'
    refuses = {"tools": error(400, "this model does not support tools")}
    with ScriptedServer(Model(analysis=[call, SUMMARY]), refuses=refuses) as server:
        assert search(server, *KNOBS, "--rounds", "1")[0] == 0
    talks = [body["messages"] for body in server.bodies if who(body) == "analysis" and "tools" not in body]
    assert "```tool" in talks[0][1]["content"]
    assert talks[1][-1]["content"].startswith("bm25_retrieve:")


@pytest.mark.parametrize("moment", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_a_killed_run_pays_nothing_twice(moment: int, toy: Path, tmp_path: Path) -> None:
    """Killed while a reply of the model is on its way, or just after; resumed to the same end."""
    command = [sys.executable, "-m", "autoindex_pyserini", "optimize", str(toy)]
    tools = Play(tool_calls=(("bm25_retrieve", '{"query": "where does the lion live", "k": 3}'),))
    replies = {"analysis": [tools, SUMMARY], "code": [TITLES, KEYWORDS]}
    with ScriptedServer(Model(**replies)) as server:
        whole = tmp_path / "whole"
        url = ("--base-url", server.base_url)
        subprocess.run([*command, "--out", whole, *KNOBS, *url], check=True, capture_output=True)
        asked = len(server.bodies)
    run = tmp_path / "run"
    stalls = Model(**replies)
    seen = 0

    def script(body: dict[str, Any]) -> Play | str:
        nonlocal seen
        seen += 1
        return Play("late", stall_s=60) if seen == 2 + moment else stalls(body)

    with ScriptedServer(script) as server:
        url = ("--base-url", server.base_url)
        with subprocess.Popen(
            [*command, "--out", str(run), *KNOBS, *url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            deadline = time.monotonic() + 60
            while seen < 2 + moment and time.monotonic() < deadline:
                time.sleep(0.05)
            os.kill(process.pid, signal.SIGKILL)
        subprocess.run([*command, "--out", run, "--resume", *url], check=True, capture_output=True)
        assert len(server.bodies) == asked + 1  # the one that was never answered is sent again
        assert spent(run) == (server.prompt_tokens, server.completion_tokens)
    costless = [json.dumps(strip(event)) for event in all_events(run)]
    assert costless == [json.dumps(strip(event)) for event in all_events(whole)]


def test_ctrl_c_while_a_model_is_waited_for_stops_and_says_how_to_go_on(toy: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "autoindex_pyserini",
        "optimize",
        str(toy),
        "--out",
        str(tmp_path / "run"),
    ]
    with (
        ScriptedServer(lambda body: Play("late", stall_s=60)) as server,
        subprocess.Popen(
            [*command, *KNOBS, "--base-url", server.base_url], stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        deadline = time.monotonic() + 60
        while not server.bodies and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "--resume" in err
    assert not events(tmp_path / "run", "proposed")
    assert not events(tmp_path / "run", "selected")


def all_events(run: Path) -> Iterator[dict[str, Any]]:
    for line in (run / "journal.jsonl").read_text().splitlines():
        yield json.loads(line)


def strip(event: dict[str, Any]) -> dict[str, Any]:
    """Without the seconds, which no two runs share."""
    costs = [{**cost, "seconds": 0} for cost in event.get("costs", [])]
    return {**event, "costs": costs} if costs else event


def test_no_key_is_written_anywhere(search: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    with ScriptedServer(Model(), key="sk-very-secret-0123456789") as server:
        status, printed = search(server, *KNOBS, "--rounds", "1")
    assert status == 0, printed
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-secret-0123456789")
    with ScriptedServer(Model(), key="sk-very-secret-0123456789") as server:
        status, more = search(server, *KNOBS, out="refused")
    assert status == 1
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or b"secret-0123456789" not in path.read_bytes(), path
    assert "secret-0123456789" not in printed + more


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--model", ""), "--model"),
        (("--temperature", "-1"), "temperature"),
        (("--max-money", "1"), "--price-in"),
        (("--proposer", "oracle"), "oracle"),
        (("--base-url", "ftp://x"), "ftp://x"),
    ],
)
def test_wrong_knobs(more: tuple[str, ...], said: str, search: Any, tmp_path: Path) -> None:
    status, printed = search(None, *KNOBS, *more)
    assert status == 2, printed
    assert said in printed
