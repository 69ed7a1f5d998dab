"""Where the kernel cannot confine: programs of the operators run, others are refused or run by choice."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autoindex_pyserini.sandbox import pool
from autoindex_pyserini.sandbox.report import Confinement

OWN = "def represent(doc):\n    yield doc.title + ' ' + doc.text\n"


@pytest.fixture(autouse=True)
def _no_confinement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "capabilities", lambda: Confinement("Old 1.0", seccomp=False, landlock_abi=0))


def test_a_search_with_operators_runs(autoindex: Callable[..., Any], toy: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    knobs = ("--rounds", 1, "--candidates", 2, "--objective", "nDCG@10")
    answer = autoindex("optimize", toy, "--out", run, *knobs)
    assert answer.status == 0, answer.err
    tried = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    assert len(list((run / "programs").iterdir())) > 2
    assert not [event for event in tried if event.get("fault")]
    own = run / "best.py"
    assert autoindex("evaluate", toy, "--program", own).status == 0


@pytest.mark.parametrize("command", ["evaluate", "index"])
@pytest.mark.parametrize("disguised", [False, True])
def test_another_program_is_refused_unless_it_is_wanted(
    command: str, disguised: bool, autoindex: Callable[..., Any], toy: Path, tmp_path: Path
) -> None:
    program = tmp_path / "own.py"
    source = OWN
    if disguised:  # what the operators write, and a line more
        from autoindex_pyserini.agents.recipe import Recipe
        from autoindex_pyserini.agents.render import render

        source = render(Recipe(title_times=3)) + "\nMORE = 1\n"
    program.write_text(source)
    place = ("--index", tmp_path / "index") if command == "index" else ()
    refused = autoindex(command, toy, "--program", program, *place)
    assert refused.status == 1
    assert "--sandbox process" in refused.err
    assert "seccomp" in refused.err
    assert not (tmp_path / "index").exists()
    assert autoindex(command, toy, "--program", program, *place, "--sandbox", "process").status == 0
