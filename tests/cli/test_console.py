"""What is printed is whole where no window limits it, and is printed as it is."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LONG = "a_program_with_a_name_that_is_much_longer_than_any_terminal_is_wide_" * 3


def test_a_table_in_a_pipe_is_whole(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    program = tmp_path / f"{LONG}.py"
    program.write_text("def represent(doc):\n    yield doc.text\n")
    measures = ("R@100", "nDCG@10", "RR@10", "AP", "P@5", "R@10", "Success@1")
    chosen = [part for name in measures for part in ("--measure", name)]
    command = [sys.executable, "-m", "autoindex_pyserini", "evaluate", toy, "--program", program, *chosen]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    head, row = out.splitlines()
    assert head.split()[2:9] == list(measures)
    assert row.split()[0] == LONG
    assert len(row.split()) == 2 + len(measures) + 3
    assert "…" not in out
    assert len(head) < len(LONG) + 120, "padded"


def test_names_are_not_markup(toy: Path, tmp_path: Path, autoindex: Callable[..., Any]) -> None:
    folder = toy.rename(tmp_path / "toy[red]x:smile:")
    out = tmp_path / "run[bold]"
    answer = autoindex("optimize", folder, "--out", out, "--rounds", 1, "--candidates", 1)
    assert answer.status == 0, answer
    assert answer.out.startswith(f"{folder.name}: 12 documents")
    assert f"run in {out}" in answer.out
    assert f"index: {out / 'index'}" in answer.out
    shown = autoindex("show", out)
    assert shown.out.startswith(str(folder))
    found = autoindex("collection", folder)
    assert found.out.startswith(folder.name)


def test_the_incumbent_is_told_after_each_round(
    toy: Path, tmp_path: Path, autoindex: Callable[..., Any]
) -> None:
    knobs = ("--rounds", 2, "--candidates", 3, "--objective", "nDCG@10")
    answer = autoindex("optimize", toy, "--out", tmp_path / "run", *knobs)
    lines = answer.out.splitlines()
    closed = [line for line in lines if "the incumbent" in line]
    assert [line.split()[:2] for line in closed] == [["round", "1"], ["round", "2"]]
    assert closed[0].endswith("is the incumbent now")
    (selected,) = [line for line in lines if line.startswith("selected ")]
    assert closed[-1].split()[2] == selected.split()[1].rstrip(":")
    assert closed == [
        line for line in autoindex("show", tmp_path / "run").out.splitlines() if "the incumbent" in line
    ]
