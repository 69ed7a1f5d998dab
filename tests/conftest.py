import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

# Tests start many JVMs for a few seconds each: the optimising compiler would cost more than it saves.
os.environ.setdefault("AUTOINDEX_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")

ANIMALS = [
    "lion",
    "tiger",
    "zebra",
    "horse",
    "otter",
    "eagle",
    "shark",
    "whale",
    "mouse",
    "camel",
    "panda",
    "koala",
]


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """See `_toy`."""
    return _toy(tmp_path)


@pytest.fixture(scope="session")
def make_toy() -> Callable[[Path], Path]:
    """See `_toy`."""
    return _toy


def _toy(place: Path) -> Path:
    """A BEIR folder: every animal's text speaks of the next one, so that its keywords field decides."""
    folder = place / "toy"
    folder.mkdir()
    rows, queries, qrels = [], [], []
    for number, animal in enumerate(ANIMALS):
        other = ANIMALS[(number + 1) % len(ANIMALS)]
        row = {"_id": f"d {number}#", "title": f"Entry {number}", "text": f"Much about {other}. " * 3}
        rows.append({**row, "metadata": {"keywords": f"{animal} habitat"}})
        queries.append({"_id": f"q{number}", "text": f"where does the {animal} live"})
        qrels.append(f"q{number}\t0\td {number}#\t1")
    write_lines(folder / "corpus.jsonl", rows)
    write_lines(folder / "queries.jsonl", queries)
    (folder / "qrels").mkdir()
    lines = ["query-id\tcorpus-id\tscore", *(f"q{n}\td {n}#\t1" for n in range(len(ANIMALS)))]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n")
    return folder


def write_lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
