"""Each command as a user types it, on a toy collection with awkward docids."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest


def test_optimize_finds_the_field_that_decides(
    toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    run = tmp_path / "run"
    answer = autoindex(
        "optimize", toy, "--out", run, "--rounds", 2, "--candidates", 4, "--objective", "nDCG@10", "--json"
    )
    assert answer.status == 0, answer
    result = json.loads(answer.out)
    before, after = (result["test"][who]["evaluation"]["means"]["nDCG@10"] for who in ("baseline", "winner"))
    assert after > before
    assert "keywords" in result["winner"]["source"]
    assert (run / "best.py").read_text() == result["winner"]["source"]
    assert (
        json.loads((run / "test.json").read_text())["winner"]["program_id"]
        == result["test"]["winner"]["program_id"]
    )
    events = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events].count("round_closed") == 2
    assert events[-1]["event"] == "finished"
    assert not (run / "scratch").exists()
    manifest = json.loads((run / "index" / "autoindex.json").read_text())
    assert manifest["documents"] == 12
    again = autoindex("optimize", toy, "--out", run, "--resume", "--json")
    assert json.loads(again.out)["test"]["winner"]["evaluation"] == result["test"]["winner"]["evaluation"]


def test_optimize_tells_what_it_does(toy: Path, tmp_path: Path, autoindex: Callable[..., object]) -> None:
    answer = autoindex("optimize", toy, "--out", tmp_path / "run", "--rounds", 1, "--candidates", 2)
    assert answer.status == 0, answer
    for part in (
        "12 documents",
        "round 1",
        "selected",
        "learned program",
        "passages/doc",
        "index MB",
        "seconds",
    ):
        assert part in answer.out
    assert str(tmp_path / "run" / "index") in answer.out
    assert "\x1b" not in answer.out + answer.err


def test_evaluate_index_and_search_give_the_same_run(
    toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    program = "first_passage_plus_full"
    answer = autoindex("evaluate", toy, "--program", program, "--split", "test", "--json")
    evaluated = json.loads(answer.out)["outcomes"][0]
    index, run = tmp_path / "index", tmp_path / "run.jsonl"
    assert autoindex("index", toy, "--program", program, "--index", index).status == 0
    topics = toy / "queries.jsonl"
    answer = autoindex("search", index, "--topics", topics, "--output", run, "--json")
    rows = [json.loads(line) for line in run.read_text().splitlines()]
    ranks = {(row["qid"], row["docid"]): row["rank"] for row in rows}
    without = 12 - len({row["qid"] for row in rows})
    assert json.loads(answer.out) == {
        "hits": len(rows),
        "queries": 12,
        "run": str(run),
        "without_hits": without,
    }
    for qid, relevant in evaluated["ranks"].items():
        for docid, rank in relevant.items():
            assert ranks[qid, docid] == rank


def test_a_docid_with_a_space_does_not_fit_a_trec_run(
    toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    answer = autoindex("evaluate", toy, "--program", "full_text", "--run-out", tmp_path / "runs")
    assert answer.status == 0
    assert "white space" in answer.err
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["full_text.validation.jsonl"]


def test_programs_of_one_name_have_runs_of_their_own(
    toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    for folder, text in (("a", "doc.text"), ("b", "doc.title")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "best.py").write_text(f"def represent(doc):\n    yield {text}\n")
    programs = ["--program", tmp_path / "a" / "best.py", "--program", tmp_path / "b" / "best.py"]
    assert autoindex("evaluate", toy, *programs, "--run-out", tmp_path / "runs").status == 0
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_evaluate_says_what_the_program_left_out(
    toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    program = tmp_path / "nothing.py"
    program.write_text("def represent(doc):\n    return []\n")
    answer = autoindex("evaluate", toy, "--program", program)
    assert "nothing: 12 documents got no passage" in answer.out


def test_collection_shows_counts(toy: Path, autoindex: Callable[..., object]) -> None:
    answer = autoindex("collection", toy, "--json")
    report = json.loads(answer.out)["report"]
    assert (report["documents"], report["queries"], report["grades"]) == (12, 12, {"1": 12})
    assert "documents  12" in autoindex("collection", toy).out


def test_show_and_inspect(toy: Path, tmp_path: Path, autoindex: Callable[..., object]) -> None:
    run = tmp_path / "run"
    autoindex("optimize", toy, "--out", run, "--rounds", 1, "--candidates", 2)
    shown = autoindex("show", run)
    assert shown.status == 0
    assert "o best so far" in shown.out
    assert json.loads(autoindex("show", run, "--json").out)["events"][0]["event"] == "started"
    inspected = autoindex("inspect", run / "index")
    assert inspected.status == 0
    assert "sound" in inspected.out
    assert json.loads(autoindex("inspect", run / "index", "--json").out)["problems"] == []


def test_evaluate_prints_a_table_with_the_retriever(toy: Path, autoindex: Callable[..., object]) -> None:
    answer = autoindex(
        "evaluate", toy, "--program", "full_text", "--program", "all_fields", "--measure", "RR@10"
    )
    assert answer.status == 0
    assert "RR@10" in answer.out
    assert "all_fields" in answer.out
    assert "k1=1.5 b=0.75" in answer.err


def test_doctor_finds_everything_here(autoindex: Callable[..., object]) -> None:
    answer = autoindex("doctor", "--json")
    findings = {finding["what"]: finding for finding in json.loads(answer.out)}
    assert set(findings) == {"Python", "Java", "Anserini jar", "JVM", "sandbox", "memory", "disk"}
    assert findings["JVM"]["ok"]
    assert answer.status == (0 if all(finding["ok"] for finding in findings.values()) else 1)


def test_doctor_says_what_is_missing(
    autoindex: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSERINI_CLASSPATH", str(tmp_path))
    answer = autoindex("doctor")
    assert answer.status == 1
    assert "NO  Anserini jar" in answer.out
    assert "reinstall pyserini" in answer.out


def test_importing_the_package_is_quick_and_starts_nothing() -> None:
    code = (
        "import sys, time; began = time.perf_counter(); import autoindex_pyserini; "
        "print(time.perf_counter() - began, "
        "[m for m in ('jnius', 'torch', 'numpy', 'typer') if m in sys.modules])"
    )
    output = min(subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(3))
    seconds, loaded = output.split(maxsplit=1)
    assert float(seconds) < 0.3
    assert loaded.strip() == "[]"


def test_help_is_quick() -> None:
    began = time.perf_counter()
    output = subprocess.check_output([sys.executable, "-m", "autoindex_pyserini", "--help"], text=True)
    assert "optimize" in output
    assert time.perf_counter() - began < 5
