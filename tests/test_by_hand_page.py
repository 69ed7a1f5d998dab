"""What docs/by-hand.md says: its commands exist, its programs keep the contract, and its session runs."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.main import get_command

from autoindex_pyserini.cli.app import app
from autoindex_pyserini.program import Program, check
from autoindex_pyserini.settings import Limits

PAGE = Path(__file__).parent.parent / "docs" / "by-hand.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the page is not beside the tests")


def programs() -> dict[str, str]:
    """Name in the text before -> source, of each program on the page."""
    found = re.findall(
        r"`(\w+\.py)`[^`]*:\n\n```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    return dict(found)


def session() -> list[list[str]]:
    return [
        shlex.split(line)[1:] for line in re.findall(r"^\$ (autoindex .*)", PAGE.read_text(), re.MULTILINE)
    ]


def test_every_command_that_is_named_exists() -> None:
    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"\bautoindex ([a-z]+)", PAGE.read_text()))
    assert {"start", "brief", "ask", "try", "finish", "mcp", "show"} <= named <= known


def test_its_programs_are_programs_and_their_ids_are_those_printed() -> None:
    assert len(programs()) == 3
    for name, source in programs().items():
        program = Program(source)
        check(program, Limits())
        assert f"{program.id} was tried" in PAGE.read_text(), name


def test_its_session_runs_on_another_collection(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(toy, "cranfield")
    for name, source in programs().items():
        Path(name).write_text(source)
    assert [command[0] for command in session()] == [
        "start", "brief", "ask", "ask", "try", "try", "try", "show", "finish"
    ]  # fmt: skip
    for command in session():
        get_command(app)(command, standalone_mode=False)
    assert "index: runs/cranfield/index" in capsys.readouterr().out
    events = [json.loads(line) for line in Path("runs/cranfield/journal.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events].count("tried") == 4


def test_its_server_is_configured_as_the_command_is_typed() -> None:
    [config] = re.findall(r"^```json\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    [server] = json.loads(config)["mcpServers"].values()
    assert (server["command"], server["args"][0]) == ("autoindex", "mcp")
