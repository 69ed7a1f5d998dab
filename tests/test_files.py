"""Scratch directories go with their process: at the latest when the next one comes."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from autoindex_pyserini import files
from autoindex_pyserini.files import clear_unfinished, scratch_directory, write_atomically

HOLDER = """
import sys
from autoindex_pyserini.files import scratch_directory
with scratch_directory() as path:
    (path / "index").mkdir()
    (path / "index" / "segments_1").write_text("x")
    print(path, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    tempfile.tempdir = None


def hold() -> tuple[subprocess.Popen[str], Path]:
    """Another process that holds a scratch directory, and the directory."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_it_is_empty_and_gone_afterwards(tmp_path: Path) -> None:
    with scratch_directory() as path:
        assert path.parent == tmp_path
        assert not list(path.iterdir())
        (path / "deep").mkdir()
    with pytest.raises(ZeroDivisionError), scratch_directory() as other:
        (other / "file").write_text("x")
        print(1 / 0)
    assert not list(tmp_path.iterdir())


def test_that_of_a_killed_process_is_cleared_by_the_next(tmp_path: Path) -> None:
    process, path = hold()
    with process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (path / "index" / "segments_1").exists()
        with scratch_directory() as mine:
            assert list(tmp_path.iterdir()) == [mine]


def test_that_of_a_living_process_is_left_alone() -> None:
    process, path = hold()
    with process:
        with scratch_directory() as mine:
            assert mine != path
            assert (path / "index" / "segments_1").exists()
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
    assert not path.exists()


@pytest.mark.parametrize("name", ["autoindex-scratch-mine", "autoindex", "autoindex-scratch-abcdefgh.old"])
def test_what_others_named_alike_stays(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir(mode=0o700)
    with scratch_directory():
        assert (tmp_path / name).exists()


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    aim = tmp_path / "precious"
    aim.mkdir(mode=0o700)
    (aim / "file").write_text("x")
    (tmp_path / "autoindex-scratch-aaaaaaaa").symlink_to(aim)
    (tmp_path / "autoindex-scratch-bbbbbbbb").write_text("a file")
    (tmp_path / "autoindex-scratch-cccccccc").mkdir(mode=0o755)
    with scratch_directory():
        assert (aim / "file").exists()
        assert len(list(tmp_path.iterdir())) == 5


def test_one_taken_between_making_and_locking_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    lock = fcntl.flock

    def late(descriptor: int, how: int) -> None:
        if not taken and how == fcntl.LOCK_EX:  # now another process starts, and sees no lock
            taken.append(descriptor)
            files._clear_abandoned(tmp_path)
            assert not list(tmp_path.iterdir())
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with scratch_directory() as path:
        assert taken
        assert path.is_dir()
        files._clear_abandoned(tmp_path)
        assert path.is_dir()


def test_many_at_once_disturb_nobody(tmp_path: Path) -> None:
    lost: list[Path] = []

    def use() -> None:
        for number in range(40):
            with scratch_directory() as path:
                (path / "file").write_text(str(number))
                files._clear_abandoned(tmp_path)
                if not (path / "file").exists():
                    lost.append(path)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not lost
    assert not list(tmp_path.iterdir())


def test_a_file_is_whole_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "folder" / "file"
    write_atomically(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [one.name for one in path.parent.iterdir()] == ["file"]


def test_unfinished_files_are_cleared(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".x.json.abc.part").write_text("half")
    (tmp_path / "a" / "x.part").write_text("somebody's")
    clear_unfinished(tmp_path)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["x.part"]
