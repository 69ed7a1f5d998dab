"""A run directory that something else changed: `show` and `--resume` say what, and change nothing."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autoindex_pyserini.optimize import RunDirectory

KNOBS = ("--rounds", "1", "--candidates", "2", "--objective", "nDCG@10")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, make_toy: Callable[[Path], Path]) -> Path:
    """A folder with a collection, `toy`, and a finished run over it, `run`."""
    folder = tmp_path_factory.mktemp("finished")
    toy = make_toy(folder)
    command = [sys.executable, "-m", "autoindex_pyserini", "optimize", toy, "--out", folder / "run", *KNOBS]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished / "run", tmp_path / "run")
    return tmp_path / "run"


def journal_is_a_directory(run: Path) -> None:
    (run / "journal.jsonl").unlink()
    (run / "journal.jsonl").mkdir()


def journal_is_binary(run: Path) -> None:
    (run / "journal.jsonl").write_bytes(bytes(range(256)) * 8)


def journal_is_binary_without_a_line_end(run: Path) -> None:
    (run / "journal.jsonl").write_bytes(b"\x00\xff\xfe" * 100)


def journal_has_a_foreign_tail(run: Path) -> None:
    with (run / "journal.jsonl").open("ab") as file:
        file.write(b"\x89PNG")


def journal_is_not_utf8(run: Path) -> None:
    data = (run / "journal.jsonl").read_bytes()
    (run / "journal.jsonl").write_bytes(data.replace(b'"hypothesis":"', b'"hypothesis":"\xff', 1))


def journal_is_unreadable(run: Path) -> None:
    (run / "journal.jsonl").unlink()
    (run / "journal.jsonl").symlink_to("/proc/self/mem")


def settings_are_missing(run: Path) -> None:
    (run / "settings.toml").unlink()


def settings_are_cut_in_a_value(run: Path) -> None:
    data = (run / "settings.toml").read_bytes()
    (run / "settings.toml").write_bytes(data[: data.index(b"objective") + 12])


def settings_are_cut_between_lines(run: Path) -> None:
    data = (run / "settings.toml").read_bytes()
    (run / "settings.toml").write_bytes(data[: data.index(b"objective")])


def settings_are_binary(run: Path) -> None:
    (run / "settings.toml").write_bytes(b"\xff\xfe\x00")


def settings_are_a_directory(run: Path) -> None:
    (run / "settings.toml").unlink()
    (run / "settings.toml").mkdir()


EVERY_COMMAND = [
    (journal_is_a_directory, "journal.jsonl"),
    (journal_is_binary, "journal.jsonl:1: "),
    (journal_is_binary_without_a_line_end, "journal.jsonl:1: "),
    (journal_has_a_foreign_tail, "journal.jsonl:"),
    (journal_is_not_utf8, "journal.jsonl:"),
    (journal_is_unreadable, "journal.jsonl"),
    (settings_are_missing, "settings.toml"),
    (settings_are_cut_in_a_value, "settings.toml"),
    (settings_are_cut_between_lines, "settings.toml"),
    (settings_are_binary, "settings.toml"),
    (settings_are_a_directory, "settings.toml"),
]


def journal_is_missing(run: Path) -> None:
    (run / "journal.jsonl").unlink()


def evaluations_are_missing(run: Path) -> None:
    shutil.rmtree(run / "evaluations")


def an_evaluation_is_cut(run: Path) -> None:
    file = next((run / "evaluations").iterdir())
    file.write_bytes(file.read_bytes()[:100])


def an_evaluation_is_anothers(run: Path) -> None:
    one, other, *_ = sorted((run / "evaluations").iterdir())
    shutil.copyfile(one, other)


def a_program_is_missing(run: Path) -> None:
    next((run / "programs").iterdir()).unlink()


def a_program_is_changed(run: Path) -> None:
    with next((run / "programs").iterdir()).open("a") as file:
        file.write("# a note of mine\n")


def a_program_is_binary(run: Path) -> None:
    next((run / "programs").iterdir()).write_bytes(b"\xff\xfe")


def the_test_is_cut(run: Path) -> None:
    data = (run / "test.json").read_bytes()
    (run / "test.json").write_bytes(data[: len(data) // 2])


def the_test_is_missing(run: Path) -> None:
    (run / "test.json").unlink()


def the_index_is_not_one(run: Path) -> None:
    shutil.rmtree(run / "index")
    (run / "index").mkdir()


RESUME = [
    (journal_is_missing, "journal.jsonl"),
    (evaluations_are_missing, "evaluations"),
    (an_evaluation_is_cut, "evaluations"),
    (an_evaluation_is_anothers, "evaluations"),
    (a_program_is_missing, "programs"),
    (a_program_is_changed, "programs"),
    (a_program_is_binary, "programs"),
    (the_test_is_cut, "test.json"),
    (the_test_is_missing, "test.json"),
    (the_index_is_not_one, "index"),
]


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in folder.rglob("*")
        if path.name != ".lock"
    }


def assert_said(answer: Any, part: str) -> None:
    assert answer.status == 2, answer
    assert answer.out == ""
    (line,) = answer.err.splitlines()
    assert part in line
    assert ";" in line, "no remedy"
    assert "Errno" not in line


@pytest.mark.parametrize(("spoil", "part"), EVERY_COMMAND, ids=[spoil.__name__ for spoil, _ in EVERY_COMMAND])
def test_show_and_resume_name_what_is_damaged(
    spoil: Callable[[Path], None], part: str, run: Path, finished: Path, autoindex: Callable[..., Any]
) -> None:
    spoil(run)
    before = contents(run)
    assert_said(autoindex("show", run), part)
    assert_said(autoindex("show", run, "--json"), part)
    assert_said(autoindex("optimize", finished / "toy", "--out", run, "--resume"), part)
    assert contents(run) == before


@pytest.mark.parametrize(("spoil", "part"), RESUME, ids=[spoil.__name__ for spoil, _ in RESUME])
def test_resume_names_what_is_damaged_before_it_does_anything(
    spoil: Callable[[Path], None], part: str, run: Path, finished: Path, autoindex: Callable[..., Any]
) -> None:
    spoil(run)
    before = contents(run)
    assert_said(autoindex("optimize", finished / "toy", "--out", run, "--resume"), part)
    assert contents(run) == before


def test_what_can_be_made_again_is_made_again(
    run: Path, finished: Path, autoindex: Callable[..., Any]
) -> None:
    shutil.rmtree(run / "index")
    (run / "best.py").unlink()
    answer = autoindex("optimize", finished / "toy", "--out", run, "--resume")
    assert answer.status == 0, answer
    assert (run / "best.py").read_bytes() == (finished / "run" / "best.py").read_bytes()
    assert (run / "index" / "autoindex.json").exists()


def test_a_sound_run_passes_the_check(run: Path) -> None:
    directory, recorded = RunDirectory.open(run)
    directory.check(recorded)
    assert directory.history(recorded)
