import json
import struct
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoindex_pyserini.evaluation import RunFormatError, write_run
from autoindex_pyserini.types import Hit, Run


def read(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


def test_six_columns(tmp_path: Path) -> None:
    write_run(tmp_path / "run.txt", Run("tag", {"q1": [Hit("b", 2.5), Hit("a", 1.0)], "q2": []}))
    assert (tmp_path / "run.txt").read_text() == "q1 Q0 b 1 2.5 tag\nq1 Q0 a 2 1 tag\n"


@given(st.lists(st.floats(-(2.0**90), 2.0**90, width=32), max_size=30), st.integers(1, 20))
def test_scores_fall_strictly_even_as_float32(scores: list[float], copies: int) -> None:
    import tempfile

    ordered = sorted(scores * copies, reverse=True)
    hits = [Hit(f"d{number:03}", score) for number, score in enumerate(ordered)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.txt"
        write_run(path, Run("t", {"q": hits}))
        rows = read(path)
    written = [struct.unpack("f", struct.pack("f", float(row[4])))[0] for row in rows]
    assert all(left > right for left, right in pairwise(written))
    assert [row[2] for row in rows] == [hit.docid for hit in hits]
    assert [int(row[3]) for row in rows] == list(range(1, len(hits) + 1))


def test_another_tool_sees_our_order_of_ties(tmp_path: Path) -> None:
    import ir_measures

    hits = [Hit("a", 100.0), Hit("b", 100.0), Hit("c", 100.0)]
    write_run(tmp_path / "run.txt", Run("t", {"q": hits}))
    run = list(ir_measures.read_trec_run(str(tmp_path / "run.txt")))
    assert (
        ir_measures.calc_aggregate([ir_measures.RR], [ir_measures.Qrel("q", "a", 1)], run)[ir_measures.RR]
        == 1.0
    )


@pytest.mark.parametrize("docid", ["a b", "a\tb", "a\u3000b", ""])
def test_a_docid_that_trec_cannot_carry_is_named_and_nothing_is_written(docid: str, tmp_path: Path) -> None:
    with pytest.raises(RunFormatError, match=r"docid .* has white space"):
        write_run(tmp_path / "run.txt", Run("t", {"q": [Hit("fine", 2.0), Hit(docid, 1.0)]}))
    assert list(tmp_path.iterdir()) == []


def test_json_lines_carry_every_docid(tmp_path: Path) -> None:
    docids = ["a b", "#", "é/%20", "\u2028"]
    run = Run("t", {"q 1": [Hit(docid, 9.0 - n) for n, docid in enumerate(docids)]})
    write_run(tmp_path / "run.jsonl", run)
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().split("\n") if line]
    assert [(row["qid"], row["docid"], row["rank"]) for row in rows] == [
        ("q 1", docid, rank) for rank, docid in enumerate(docids, 1)
    ]
