import subprocess
import sys
from pathlib import Path

import pytest

from autoindex_pyserini.errors import RunDirectoryError
from autoindex_pyserini.optimize import Journal, RoundClosed, Selected, Tried, read_events

EVENTS = (
    Tried(program="aaa", kind="start", means={"R@100": 0.5}, accepted=True),
    Tried(program="bbb", parent="aaa", round=1, fault="ProgramTimeoutError: line 3"),
    RoundClosed(round=1, incumbent="aaa", improved=False),
)


def write(directory: Path) -> None:
    with Journal(directory) as journal:
        for event in EVENTS:
            journal.append(event)


def test_events_come_back_in_order(tmp_path: Path) -> None:
    write(tmp_path)
    assert read_events(tmp_path) == EVENTS
    with Journal(tmp_path) as journal:
        assert journal.recorded(Tried) == EVENTS[0]
        assert journal.recorded(Tried) == EVENTS[1]
        assert journal.recorded(RoundClosed) == EVENTS[2]
        assert journal.recorded(Selected) is None
        journal.append(Selected(program="aaa", reason="done"))
    assert read_events(tmp_path) == (*EVENTS, Selected(program="aaa", reason="done"))


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_torn_last_line_is_cut_off_wherever_it_was_torn(cut: int, tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with Journal(tmp_path) as journal:
        assert journal.events == EVENTS[:2]
        for event in EVENTS[:2]:
            assert journal.recorded(Tried) == event
        journal.append(EVENTS[2])
    assert path.read_bytes() == whole


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"bbb"', b"bbb"))
    with pytest.raises(RunDirectoryError, match=r"journal.jsonl:2: not an event"):
        Journal(tmp_path)


def test_another_kind_of_event_than_recorded_is_a_mismatch(tmp_path: Path) -> None:
    write(tmp_path)
    with (
        Journal(tmp_path) as journal,
        pytest.raises(RunDirectoryError, match=r"journal.jsonl:1: Selected comes next"),
    ):
        journal.recorded(Selected)


def test_nothing_is_written_over_events_that_were_not_replayed(tmp_path: Path) -> None:
    write(tmp_path)
    with Journal(tmp_path) as journal, pytest.raises(RunDirectoryError, match="replayed"):
        journal.append(EVENTS[0])
    assert read_events(tmp_path) == EVENTS


def test_a_second_process_is_refused_and_the_lock_dies_with_the_first(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, time\nfrom autoindex_pyserini.optimize import Journal\n"
        "journal = Journal(pathlib.Path(sys.argv[1]))\nprint('locked', flush=True)\ntime.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "locked\n"
            with pytest.raises(RunDirectoryError, match="in use by another process"):
                Journal(tmp_path)
        finally:
            other.kill()
    with Journal(tmp_path):
        pass


def test_no_journal(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="holds no journal"):
        read_events(tmp_path)


def test_what_differs_from_the_record_is_named(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.once(EVENTS[2])
    with Journal(tmp_path) as journal:
        journal.once(EVENTS[2])
    with (
        Journal(tmp_path) as journal,
        pytest.raises(RunDirectoryError, match="incumbent was 'aaa', is 'zzz'"),
    ):
        journal.once(RoundClosed(round=1, incumbent="zzz", improved=False))
    assert read_events(tmp_path) == EVENTS[2:]
