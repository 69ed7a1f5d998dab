"""Small collections on disk, and the shared real ones where there are any."""

import gzip
import json
from pathlib import Path

import pytest

from autoindex_pyserini.collection import Collection, load

SHARED = Path(__file__).resolve().parents[3] / "shared" / "collections"

DOCUMENTS = [
    {"_id": f"d{number}", "title": f"Title {number}", "text": f"text about number {number}"}
    for number in range(12)
]
QUERIES = [{"_id": f"q{number}", "text": f"which is number {number}"} for number in range(12)]
QRELS = [(f"q{number}", f"d{number}", 1) for number in range(12)]


def write_lines(path: Path, records) -> Path:
    """Write records as JSON lines (a str is written as it is), gzipped if the name says so."""
    lines = "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in records)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
    return path


def write_beir(
    folder: Path, documents=DOCUMENTS, queries=QUERIES, qrels=QRELS, corpus="corpus.jsonl"
) -> Path:
    """Write a folder in BEIR layout; `qrels` are triples or whole lines."""
    write_lines(folder / corpus, documents)
    write_lines(folder / "queries.jsonl", queries)
    lines = [each if isinstance(each, str) else "{} 0 {} {}".format(*each) for each in qrels]
    (folder / "qrels.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


@pytest.fixture
def beir(tmp_path):
    """A function that writes a BEIR folder, sound unless told otherwise, and gives its path."""

    def write(name: str = "small", **parts) -> Path:
        return write_beir(tmp_path / name, **parts)

    return write


@pytest.fixture
def lines():
    """A function that writes JSON lines."""
    return write_lines


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared collections."""
    if not SHARED.is_dir():
        pytest.skip(f"no shared collections: {SHARED} does not exist")
    return SHARED


@pytest.fixture(scope="session")
def demo_cache(request) -> Path:
    """A cache folder that lasts from one test run to the next; what is in it is built anew when due."""
    return request.config.cache.mkdir("autoindex-collections")


@pytest.fixture(scope="session")
def demo(demo_cache) -> Collection:
    """The built-in collection."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOINDEX_CACHE", str(demo_cache))
        return load("pydata-api")
