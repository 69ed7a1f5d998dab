"""A comparison holds together, or is refused; its file is read back as it was."""

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autoindex_pyserini.errors import EvaluationError
from autoindex_pyserini.evaluation.rows import (
    Comparison,
    ComparisonRow,
    RowCosts,
    read_comparison,
    write_comparison,
)
from autoindex_pyserini.evaluation.significance import Procedure
from autoindex_pyserini.types import Evaluation


def row(name: str, values: dict[str, float], **more: Any) -> ComparisonRow:
    mean = math.fsum(values.values()) / len(values) if values else 0.0
    return ComparisonRow(name=name, evaluation=Evaluation({"R@100": mean}, {"R@100": values}), **more)


def comparison(*rows: ComparisonRow, **more: Any) -> Comparison:
    fixed = {"collection": "c", "split": "test", "queries": 2, "reference": "a", "measures": ("R@100",)}
    return Comparison(rows=rows, **{**fixed, **more})


FULL = comparison(
    row(
        "a",
        {"q2": 0.1, "q10": 1 / 3},
        program="bcb6c50f232b",
        retriever="BM25F",
        parameters={"k1": 1.2, "b": 0.75, "title": 2, "operator": "or", "rm3": False},
        analyzer="Lucene English",
        costs=RowCosts(index_bytes=12, index_seconds=0.1, search_seconds=2.0, passages_per_document=1.5),
        run_file="a.test.txt",
    ),
    row("b", {"q10": 0.0, "q2": 1.0}, encoder="all-MiniLM-L6-v2"),
    procedure=Procedure(resamples=17, seed=3),
    seeds={"tuning": 4},
    versions={"python": "3.12"},
)


def test_read_back_as_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "comparison.json"
    write_comparison(path, FULL)
    again = read_comparison(path)
    assert again == FULL
    assert list(again.row("a").parameters) == ["k1", "b", "title", "operator", "rm3"]
    assert [type(one) for one in again.row("a").parameters.values()] == [float, float, int, str, bool]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"q2": 1.0},
            r"row 'b', R@100: not the same queries as 'a' \(1 and 2; 'q10' is in one of them only\)",
        ),
        ({"q2": 1.0, "q10": 0.0, "q3": 0.0}, "'q3' is in one of them only"),
        ({"q2": 1.0, "q10": math.nan}, "query 'q10' has the value nan; values are finite numbers"),
        ({"q2": math.inf, "q10": 0.0}, "query 'q2' has the value inf"),
    ],
)
def test_values_that_cannot_be_compared(values: dict[str, float], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        comparison(FULL.row("a"), row("b", values))


@pytest.mark.parametrize("first", ["a", "b"])
def test_a_mean_must_be_its_values(first: str) -> None:
    """Wherever the row stands; a mean that is not a number is none either."""
    for mean in (0.6, math.nan):
        wrong = Evaluation({"R@100": mean}, {"R@100": {"q": 0.0, "r": 1.0}})
        good = row("b" if first == "a" else "a", {"q": 0.0, "r": 1.0})
        with pytest.raises(EvaluationError, match=f"the mean is given as {mean}, and .* have the mean 0.5"):
            comparison(ComparisonRow(name=first, evaluation=wrong), good)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"reference": "c"}, "no row 'c' to compare with; the reference is one of a, b"),
        ({"measures": ()}, "nothing to compare"),
        ({"measures": ("R@100", "AP")}, "row 'a', AP: not measured"),
        ({"measures": ("R@100", "R@100")}, "'R@100' stands twice"),
        ({"queries": 3}, "2 queries, and the comparison is said to have 3"),
    ],
)
def test_what_does_not_fit_together(more: dict[str, Any], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        comparison(*FULL.rows, **more)


def test_rows_have_names_of_their_own() -> None:
    with pytest.raises(EvaluationError, match="'a' stands twice"):
        comparison(FULL.row("a"), FULL.row("a"))
    with pytest.raises(EvaluationError, match="nothing to compare"):
        comparison()
    with pytest.raises(EvaluationError, match="no row 'z'; there are a, b"):
        FULL.row("z")


def test_rows_without_queries() -> None:
    with pytest.raises(EvaluationError, match="0 queries"):
        comparison(row("a", {}), queries=0)


def test_another_reference_is_checked_too() -> None:
    assert msgspec.structs.replace(FULL, reference="b").reference == "b"
    with pytest.raises(EvaluationError, match="no row 'z'"):
        msgspec.structs.replace(FULL, reference="z")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "comparison.json"
    with pytest.raises(EvaluationError, match=r"comparison.json does not exist"):
        read_comparison(path)
    with pytest.raises(EvaluationError, match=r"Is a directory.*make the comparison again"):
        read_comparison(tmp_path)
    write_comparison(path, FULL)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(EvaluationError, match=r"comparison.json: .*make the comparison again"):
        read_comparison(path)
    path.write_bytes(b'{"format": 2, "somewhere": "else"}')
    with pytest.raises(EvaluationError, match="has format 2, and this version reads up to 1; upgrade"):
        read_comparison(path)
    path.write_bytes(whole.replace(b'"q10":0.0', b'"q11":0.0'))
    with pytest.raises(EvaluationError, match="not the same queries"):
        read_comparison(path)
    path.write_bytes(b'{"collection": "c"}')
    with pytest.raises(EvaluationError, match="format"):
        read_comparison(path)
