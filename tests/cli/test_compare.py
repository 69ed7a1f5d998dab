"""`autoindex compare`: rows whose numbers anybody can repeat from their runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pytest

WINDOWS = '''"""The whole, and windows of twelve words."""

from autoindex_pyserini.program.operators import windows


def represent(doc):
    """Yield the whole document and its windows."""
    yield doc.text
    yield from windows(doc.text, 12, 4)
'''
FIELDS = '''"""Openings as a field."""

FIELDS = ("opening",)


def represent(doc):
    """Yield one passage with a field."""
    yield Passage(contents=doc.text, fields={"opening": doc.text[:40]})
'''


@pytest.fixture
def programs(tmp_path: Path) -> list[str]:
    found = []
    for name, source in (("windowed", WINDOWS), ("fielded", FIELDS)):
        (tmp_path / f"{name}.py").write_text(source)
        found += ["--program", str(tmp_path / f"{name}.py")]
    return found


def test_every_row_is_repeated_from_its_run(
    autoindex: Callable[..., Any], beir: Path, programs: list[str], tmp_path: Path
) -> None:
    where = tmp_path / "compared"
    answer = autoindex("compare", beir, "--out", where, *programs, "--feedback", "--searches", 8)
    assert answer.status == 0, answer.err
    made = json.loads((where / "comparison.json").read_text())
    rows = {row["name"]: row for row in made["rows"]}
    assert set(rows) == {
        "full_text", "full_text, k1=0.9 b=0.4", "full_text, tuned",
        "all_fields", "all_fields, k1=0.9 b=0.4", "all_fields, tuned",
        "passages_512", "passages_512_overlap", "BM25F", "field sum", "static",
        "windowed", "windowed, then k1 and b tuned",
        "fielded", "fielded, then k1 and b tuned", "fielded, BM25F",
        "full_text, RM3", "full_text, Rocchio",
    }  # fmt: skip
    assert made["reference"] == "full_text"
    qids = set(rows["full_text"]["evaluation"]["per_query"]["R@100"])
    qrels = [
        ir_measures.Qrel(qid, docid, int(grade))
        for qid, docid, grade in map(str.split, (beir / "qrels" / "test.tsv").read_text().splitlines()[1:])
        if qid in qids
    ]
    measures = [ir_measures.parse_measure(name) for name in made["measures"]]
    for row in rows.values():
        run = ir_measures.read_trec_run(str(where / row["run_file"]))
        found = {str(name): value for name, value in ir_measures.calc_aggregate(measures, qrels, run).items()}
        assert found == pytest.approx(row["evaluation"]["means"]), row["name"]
        assert row["name"] in answer.out
    assert len({row["run_file"] for row in rows.values()}) == len(rows)
    assert rows["full_text, tuned"]["parameters"]["searches"] == 8
    assert rows["windowed"]["costs"]["passages_per_document"] > 2
    for name in ("comparison.csv", "comparison.tex", "comparison.md"):
        assert "windowed" in (where / name).read_text()


def test_tuning_reads_validation_and_the_table_the_test_queries(
    autoindex: Callable[..., Any], beir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autoindex_pyserini.collection import Collection
    from autoindex_pyserini.optimize import baselines

    happened: list[str] = []
    tune, open_test = baselines.tune, Collection.open_test
    monkeypatch.setattr(baselines, "tune", lambda *a, **k: (happened.append("tune"), tune(*a, **k))[1])
    monkeypatch.setattr(Collection, "open_test", lambda self: (happened.append("test"), open_test(self))[1])
    answer = autoindex("compare", beir, "--out", tmp_path / "compared", "--searches", 2, "--json")
    assert answer.status == 0, answer.err
    assert happened == ["tune"] * 4 + ["test"]
    assert json.loads(answer.out)["split"] == "test"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--reference", "nothing"), "nothing"),
        (("--searches", "0"), "searches"),
        (("--program", "static"), "static"),
        (("--measure", "Nonsense@3"), "Nonsense"),
        (("--encoder", "/no/such/model"), "/no/such/model"),
    ],
)
def test_wrong_input(
    more: tuple[str, ...], said: str, autoindex: Callable[..., Any], beir: Path, tmp_path: Path
) -> None:
    answer = autoindex("compare", beir, "--out", tmp_path / "compared", *more)
    assert answer.status == 2, answer.err
    assert said in answer.err
    assert not (tmp_path / "compared").exists()


def test_a_place_that_is_taken(autoindex: Callable[..., Any], beir: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine")
    answer = autoindex("compare", beir, "--out", tmp_path / "taken")
    assert answer.status == 2
    assert "taken" in answer.err
