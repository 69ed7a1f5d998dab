"""Wrong input gets one clear line, exit status 2, and leaves nothing half-written."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

GOOD_RUN = ("--rounds", 1, "--candidates", 1)


def snapshot(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def assert_refused(answer: object, *parts: str) -> None:
    assert answer.status == 2, answer  # type: ignore[attr-defined]
    assert answer.out == ""  # type: ignore[attr-defined]
    lines = answer.err.splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 1, lines
    for part in parts:
        assert part in lines[0]


def missing_file(toy: Path) -> None:
    (toy / "queries.jsonl").unlink()


def broken_json(toy: Path) -> None:
    path = toy / "corpus.jsonl"
    lines = path.read_text().splitlines()
    lines[4] = lines[4][:-3]
    path.write_text("\n".join(lines))


def duplicate_docid(toy: Path) -> None:
    path = toy / "corpus.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[2]]))


def foreign_qrels(toy: Path) -> None:
    (toy / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tnowhere\t1\n")


def empty_collection(toy: Path) -> None:
    (toy / "corpus.jsonl").write_text("")


def no_folder(toy: Path) -> None:
    shutil.rmtree(toy)


CASES = [
    (missing_file, ["queries.jsonl"]),
    (broken_json, ["corpus.jsonl:5"]),
    (duplicate_docid, ["corpus.jsonl:13", "d 2#"]),
    (foreign_qrels, ["qrels"]),
    (empty_collection, ["corpus.jsonl"]),
    (no_folder, ["toy"]),
]


@pytest.mark.parametrize(("spoil", "parts"), CASES, ids=[spoil.__name__ for spoil, _ in CASES])
def test_a_bad_collection(
    spoil: Callable[[Path], None],
    parts: list[str],
    toy: Path,
    tmp_path: Path,
    autoindex: Callable[..., object],
) -> None:
    spoil(toy)
    before = snapshot(tmp_path)
    for command in (
        ("optimize", toy, "--out", tmp_path / "run", *GOOD_RUN),
        ("evaluate", toy, "--program", "full_text", "--run-out", tmp_path / "runs"),
        ("index", toy, "--program", "full_text", "--index", tmp_path / "index"),
    ):
        assert_refused(autoindex(*command), *parts)
        assert snapshot(tmp_path) == before


PROGRAMS = {
    "syntax": ("def represent(doc:\n    yield doc.text\n", ["line 1"]),
    "no_represent": ("x = 1\n", ["represent"]),
    "import": ("import os\ndef represent(doc):\n    yield doc.text\n", ["line 1", "os"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_bad_program(name: str, toy: Path, tmp_path: Path, autoindex: Callable[..., object]) -> None:
    source, parts = PROGRAMS[name]
    program = tmp_path / "program.py"
    program.write_text(source)
    before = snapshot(tmp_path)
    for command in (
        ("evaluate", toy, "--program", program, "--run-out", tmp_path / "runs"),
        ("index", toy, "--program", program, "--index", tmp_path / "index"),
    ):
        assert_refused(autoindex(*command), *parts)
        assert snapshot(tmp_path) == before


def test_a_program_that_does_not_exist(toy: Path, tmp_path: Path, autoindex: Callable[..., object]) -> None:
    assert_refused(autoindex("evaluate", toy, "--program", "full_txt"), "full_txt", "full_text")


def test_a_program_that_fails_while_it_runs(
    toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    program = tmp_path / "program.py"
    program.write_text("def represent(doc):\n    yield doc.text\n    yield 1 / 0\n")
    before = snapshot(tmp_path)
    answer = autoindex("index", toy, "--program", program, "--index", tmp_path / "index")
    assert answer.status == 1  # type: ignore[attr-defined]
    assert "line 3: ZeroDivisionError" in answer.err  # type: ignore[attr-defined]
    assert "(document 0 of the stream); the document is 'd 0#'" in answer.err  # type: ignore[attr-defined]
    assert snapshot(tmp_path) == before


def test_an_index_directory_that_exists(toy: Path, tmp_path: Path, autoindex: Callable[..., object]) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "mine").write_text("x")
    before = snapshot(tmp_path)
    answer = autoindex("index", toy, "--program", "full_text", "--index", tmp_path / "index")
    assert_refused(answer, "index", "exists already")
    assert snapshot(tmp_path) == before


def test_a_run_directory_that_exists(toy: Path, tmp_path: Path, autoindex: Callable[..., object]) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("x")
    assert_refused(autoindex("optimize", toy, "--out", tmp_path / "run", *GOOD_RUN), "exists already")


def test_topics_and_index_that_do_not_exist(tmp_path: Path, autoindex: Callable[..., object]) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text('{"_id": "1", "text": "x"}\n')
    output = tmp_path / "run.txt"
    assert_refused(autoindex("search", tmp_path / "no", "--topics", topics, "--output", output), "no")
    (tmp_path / "other").mkdir()
    assert_refused(
        autoindex("search", tmp_path / "other", "--topics", topics, "--output", output), "autoindex.json"
    )
    assert not output.exists()


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--objective", "R@ten"), "R@ten"),
        (("--rounds", 0), "rounds"),
        (("--candidates", -1), "candidates"),
        (("--b", 1.5), "b value"),
        (("--k1", -1), "k1 value"),
        (("--analyzer", "klingon"), "klingon"),
        (("--workers", -2), "workers"),
        (("--sandbox", "none"), "sandbox"),
        (("--objective", "nDCG@0"), "nDCG@0"),
        (("--objective", "INST"), "INST"),
    ],
)
def test_a_knob_out_of_range(
    options: tuple[object, ...], part: str, toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    assert_refused(autoindex("optimize", toy, "--out", tmp_path / "run", *options), part)
    assert not (tmp_path / "run").exists()


def test_an_unknown_split(toy: Path, autoindex: Callable[..., object]) -> None:
    assert_refused(
        autoindex("evaluate", toy, "--program", "full_text", "--split", "tset"), "tset", "validation"
    )


def test_a_program_that_fails_is_named(toy: Path, tmp_path: Path, autoindex: Callable[..., object]) -> None:
    (tmp_path / "broken.py").write_text("def represent(doc:\n")
    answer = autoindex("evaluate", toy, "--program", "full_text", "--program", tmp_path / "broken.py")
    assert_refused(answer, "broken.py", "line 1")


def test_a_run_is_not_resumed_as_another(toy: Path, tmp_path: Path, autoindex: Callable[..., object]) -> None:
    run = tmp_path / "run"
    assert autoindex("optimize", toy, "--out", run, *GOOD_RUN).status == 0  # type: ignore[attr-defined]
    assert_refused(autoindex("optimize", "pydata-api", "--out", run, "--resume"), "pydata-api", "toy")
    assert_refused(autoindex("optimize", toy, "--out", run, "--resume", "--rounds", 9), "rounds 1, not 9")


def test_a_place_that_cannot_be_written(toy: Path, autoindex: Callable[..., object]) -> None:
    answer = autoindex("index", toy, "--program", "full_text", "--index", "/proc/nowhere/index")
    assert_refused(answer, "/proc/nowhere", "check the path")


def test_a_taken_run_directory_is_refused_before_anything_is_read(
    toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("x")
    shutil.rmtree(toy)
    assert_refused(autoindex("optimize", toy, "--out", tmp_path / "run", *GOOD_RUN), "exists already")


def test_documents_without_text(toy: Path, tmp_path: Path, autoindex: Callable[..., object]) -> None:
    rows = [f'{{"_id": "d {number}#", "note": "{number}"}}\n' for number in range(12)]
    (toy / "corpus.jsonl").write_text("".join(rows))
    answer = autoindex("evaluate", toy, "--program", "full_text")
    assert "warning: no document has a title or a text" in answer.err  # type: ignore[attr-defined]
    assert "full_text: 12 documents got no passage from the program and have no text" in answer.out  # type: ignore[attr-defined]
    assert "full text" not in answer.out  # type: ignore[attr-defined]
    (toy / "corpus.jsonl").write_text('{"_id": "d 0#"}\n')
    assert_refused(
        autoindex("evaluate", toy, "--program", "full_text"), "none of the 1 documents has any text"
    )


def test_a_place_for_results_is_looked_at_before_the_work(
    toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    (tmp_path / "file").write_text("x")
    index = tmp_path / "index"
    assert autoindex("index", toy, "--program", "full_text", "--index", index).status == 0  # type: ignore[attr-defined]
    topics = toy / "queries.jsonl"
    shutil.move(
        toy / "corpus.jsonl", toy / "away.jsonl"
    )  # whoever reads the collection first complains of that
    before = snapshot(tmp_path)
    inside = tmp_path / "file" / "inside"
    for command in (
        ("evaluate", toy, "--program", "full_text", "--run-out", inside),
        ("evaluate", toy, "--program", "full_text", "--run-out", tmp_path / "file"),
        ("index", toy, "--program", "full_text", "--index", inside),
        ("optimize", toy, "--out", inside),
        ("search", index, "--topics", topics, "--output", inside),
    ):
        assert_refused(autoindex(*command), f"{tmp_path / 'file'}: Not a directory; check the path")
    assert snapshot(tmp_path) == before


def test_a_name_that_is_too_long(autoindex: Callable[..., object]) -> None:
    assert_refused(autoindex("evaluate", "x" * 5000, "--program", "full_text"), "File name too long")


def test_a_query_that_fails_costs_the_others_nothing(
    toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    index, topics, output = tmp_path / "index", tmp_path / "topics.tsv", tmp_path / "run.jsonl"
    assert autoindex("index", toy, "--program", "full_text", "--index", index).status == 0  # type: ignore[attr-defined]
    endless = " ".join(f"w{number}" for number in range(1 << 16 | 1))
    topics.write_text(f"long\t{endless}\nlion\tmuch about the lion\n")
    answer = autoindex("search", index, "--topics", topics, "--output", output)
    assert answer.status == 1  # type: ignore[attr-defined]
    assert "1 of 2 queries failed; query 'long'" in answer.err.splitlines()[-1]  # type: ignore[attr-defined]
    assert {line.split('"')[3] for line in output.read_text().splitlines()} == {"lion"}


def test_more_documents_a_query_than_lucene_can_count(
    toy: Path, tmp_path: Path, autoindex: Callable[..., object]
) -> None:
    index, output = tmp_path / "index", tmp_path / "run.jsonl"
    assert autoindex("index", toy, "--program", "full_text", "--index", index).status == 0  # type: ignore[attr-defined]
    command = ("search", index, "--topics", toy / "queries.jsonl", "--output", output, "--depth")
    assert_refused(autoindex(*command, 3_000_000_000), "illegal depth value: 3000000000")
    assert not output.exists()
