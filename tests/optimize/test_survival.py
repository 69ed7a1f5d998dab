"""`kill -9` at random moments, then --resume: the run ends as an uninterrupted one would have."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "autoindex_pyserini", "optimize")
KNOBS = ("--rounds", "2", "--candidates", "2", "--objective", "nDCG@10")


def leaves(run: Path) -> dict[str, object]:
    """Everything that must be equal: the journal's bytes, the winner, the test result without its costs."""
    test = json.loads((run / "test.json").read_text())
    return {
        "journal": (run / "journal.jsonl").read_bytes(),
        "best": (run / "best.py").read_bytes(),
        "test": {who: {**outcome, "costs": None} for who, outcome in test.items()},
        "programs": sorted(path.name for path in (run / "programs").iterdir()),
        "evaluations": sorted(path.name for path in (run / "evaluations").iterdir()),
        "files": sorted(path.name for path in run.iterdir()),
    }


def finish(toy: Path, run: Path) -> float:
    """Run to the end, anew or resumed; the seconds it took."""
    began = time.monotonic()
    resume = ["--resume"] if (run / "settings.toml").exists() else []
    subprocess.run([*COMMAND, toy, "--out", run, *KNOBS, *resume], check=True, capture_output=True)
    return time.monotonic() - began


def kill_after(seconds: float, toy: Path, run: Path) -> bool:
    """Start or resume the run, kill it after some seconds; True if it was still running."""
    resume = ["--resume"] if (run / "settings.toml").exists() else []
    command = [*map(str, COMMAND), str(toy), "--out", str(run), *KNOBS, *resume]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            return True
    return False


def survive(kills: int, toy: Path, tmp_path: Path) -> None:
    chance = random.Random(20_26)
    took = finish(toy, tmp_path / "whole")
    expected = leaves(tmp_path / "whole")
    done = number = 0
    while done < kills:
        run = tmp_path / f"killed-{number}"
        number += 1
        # Several kills of one run, so that resumed runs are killed too; then it is left to end.
        for _ in range(chance.randint(1, 4)):
            if done == kills or not kill_after(chance.uniform(0.05, took), toy, run):
                break
            done += 1
        finish(toy, run)
        assert leaves(run) == expected, f"run {number}, after {done} kills"


def test_a_killed_run_resumed_equals_an_uninterrupted_one(toy: Path, tmp_path: Path) -> None:
    survive(3, toy, tmp_path)


@pytest.mark.slow
def test_fifty_kills(toy: Path, tmp_path: Path) -> None:
    survive(50, toy, tmp_path)


def test_ctrl_c_stops_after_the_present_candidate_and_says_how_to_go_on(toy: Path, tmp_path: Path) -> None:
    finish(toy, tmp_path / "whole")
    run = tmp_path / "run"
    command = [*map(str, COMMAND), str(toy), "--out", str(run), *KNOBS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("start"):
            pass
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert "stopping after this candidate" in errors
    assert f"--out {run} --resume" in errors
    finish(toy, run)
    assert leaves(run) == leaves(tmp_path / "whole")


def test_runs_at_once_do_not_disturb_each_other(toy: Path, tmp_path: Path) -> None:
    finish(toy, tmp_path / "alone")
    commands = [[*COMMAND, toy, "--out", tmp_path / f"run{n}", *KNOBS] for n in range(2)]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    assert [process.wait() for process in running] == [0, 0]
    for number in range(2):
        assert leaves(tmp_path / f"run{number}") == leaves(tmp_path / "alone")


def test_a_second_process_in_the_same_directory_is_refused(toy: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [*map(str, COMMAND), str(toy), "--out", str(run), *KNOBS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("start"):
            pass
        second = subprocess.run([*command, "--resume"], capture_output=True, text=True)
        process.kill()
    assert second.returncode == 2
    assert "in use by another process" in second.stderr
