"""`autoindex ablate`: the grid of conditions and seeds, each run in a directory of its own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

KNOBS = ("--proposer", "operators", "--candidates", "2", "--rounds", "2", "--objective", "nDCG@10")


def test_the_grid_runs_and_goes_on(autoindex: Callable[..., Any], toy: Path, tmp_path: Path) -> None:
    grid = ("ablate", toy, "--out", tmp_path / "grid", *KNOBS, "--conditions", "full,one-round", "--seeds", 2)
    answer = autoindex(*grid)
    assert answer.status == 0, answer.err
    lines = answer.out.splitlines()
    assert [line.split()[:2] for line in lines[:4]] == [["toy", "full"]] * 2 + [["toy", "one-round"]] * 2
    rows = {line.split()[0]: line for line in lines[4:] if line.startswith(("full", "one-round"))}
    assert set(rows) == {"full", "one-round"}
    runs = sorted(path.name for path in (tmp_path / "grid" / "toy").iterdir())
    assert runs == ["full-0", "full-1", "one-round-0", "one-round-1"]
    results = {path: path.stat().st_mtime_ns for path in (tmp_path / "grid").rglob("test.json")}
    assert len(results) == 4
    again = autoindex(*grid, "--json")
    assert {path: path.stat().st_mtime_ns for path in results} == results  # nothing was tested twice
    found = json.loads(again.out)["runs"]
    assert [(run["condition"], run["seed"]) for run in found] == [
        ("full", 0),
        ("full", 1),
        ("one-round", 0),
        ("one-round", 1),
    ]
    rounds = [json.loads(line) for line in (tmp_path / "grid/toy/one-round-0/journal.jsonl").open()]
    assert max(event.get("round", 0) for event in rounds) == 1
    other = autoindex("ablate", toy, "--out", tmp_path / "grid", *KNOBS, "--threshold", "0.5", "--seeds", 1,
                      "--conditions", "full")  # fmt: skip
    assert other.status == 2
    assert "other settings" in other.err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--conditions", "no-history"), "no-history"),
        (("--conditions", "nothing"), "one-round"),
        (("--conditions", ","), "--conditions"),
        (("--seeds", "0"), "seeds"),
        (("--proposer", "llm"), "--model"),
    ],
)
def test_wrong_input(
    more: tuple[str, ...], said: str, autoindex: Callable[..., Any], toy: Path, tmp_path: Path
) -> None:
    conditions = () if "--conditions" in more else ("--conditions", "full")
    answer = autoindex("ablate", toy, "--out", tmp_path / "grid", *KNOBS, *conditions, *more)
    assert answer.status == 2, answer.err
    assert said in answer.err
    assert not (tmp_path / "grid").exists()


def test_two_collections_of_one_name(
    autoindex: Callable[..., Any], toy: Path, make_toy: Callable[[Path], Path], tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    second = make_toy(tmp_path / "other")
    answer = autoindex("ablate", toy, second, "--out", tmp_path / "grid", *KNOBS, "--conditions", "full")
    assert answer.status == 2
    assert "toy" in answer.err
