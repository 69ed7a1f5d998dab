"""Indexes hold every passage, are whole or absent, and encode nothing twice."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autoindex_pyserini.dense import FaissOptions, Source, publish_index, read_manifest
from autoindex_pyserini.errors import IndexDirectoryError, IndexLossError, InputError
from autoindex_pyserini.program import Program
from autoindex_pyserini.types import Passage, Represented

from .fake_encoder import FakeEncoder, vector

DOCUMENTS = [
    Represented("b 1", [Passage("one"), Passage("two " * 9)]),
    Represented("a#", [Passage("three")]),
    Represented("ä", [Passage("."), Passage("one")]),
    Represented("blank", [Passage(".")], fallback=True),
    Represented("short", [Passage("four")], fallback=True),
]


def publish(place: Path, documents: list[Represented], **options: object) -> tuple[object, object, object]:
    encoder = FakeEncoder()
    program = Program.resolve("full_text")
    source = Source("toy", "f", options.pop("promised", len(documents)), program)  # type: ignore[arg-type]
    batches = [documents[:2], documents[2:]]
    cache = place.with_name("cache")
    manifest, counts = publish_index(place, source, batches, encoder, cache=cache, **options)  # type: ignore[arg-type]
    return manifest, counts, encoder


def test_rows_are_passages_in_their_order_under_lucenes_ids(tmp_path: Path) -> None:
    import faiss

    manifest, counts, encoder = publish(tmp_path / "index", DOCUMENTS)
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == [
        "autoindex.json",
        "docid",
        "index",
    ]
    ids = (tmp_path / "index" / "docid").read_text("utf-8").splitlines()
    assert ids == ["b%201#0", "b%201#1", "a%23", "ä#0", "ä#1", "short"]
    index = faiss.read_index(str(tmp_path / "index" / "index"))
    assert isinstance(index, faiss.IndexFlatIP)
    texts = ["one", "two " * 9, "three", ".", "one", "four"]
    assert (index.reconstruct_n(0, 6) == np.stack([vector(text) for text in texts])).all()
    assert (counts.documents, counts.passages, counts.fallbacks, counts.empty_documents) == (5, 6, 2, 1)
    assert counts.encoded == 5
    assert encoder.asked[0] == "two " * 9
    assert read_manifest(tmp_path / "index") == manifest
    assert manifest.longest == pytest.approx(1)


def test_a_second_program_encodes_only_what_it_changed(tmp_path: Path) -> None:
    publish(tmp_path / "first", DOCUMENTS)
    changed = [*DOCUMENTS[1:], Represented("new", [Passage("one"), Passage("five")])]
    _, counts, encoder = publish(tmp_path / "second", changed)
    assert encoder.asked == ["five"]
    assert (counts.encoded, counts.passages) == (1, 6)


def test_an_error_on_the_way_leaves_no_index(tmp_path: Path) -> None:
    with pytest.raises(IndexLossError, match="5 documents were represented, toy has 6"):
        publish(tmp_path / "index", DOCUMENTS, promised=6)
    with pytest.raises(IndexLossError, match="no document has any text"):
        publish(tmp_path / "index", [DOCUMENTS[3]])
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_only_a_dense_index_is_replaced_and_only_when_asked(tmp_path: Path) -> None:
    place = tmp_path / "index"
    publish(place, DOCUMENTS)
    with pytest.raises(IndexDirectoryError, match="exists already"):
        publish(place, DOCUMENTS)
    manifest, _, _ = publish(place, DOCUMENTS[:1], overwrite=True)
    assert read_manifest(place) == manifest
    described = json.loads((place / "autoindex.json").read_text())
    (place / "autoindex.json").write_text(json.dumps({**described, "kind": None}))
    with pytest.raises(IndexDirectoryError, match="not of a dense index"):
        publish(place, DOCUMENTS, overwrite=True)
    (place / "autoindex.json").write_text(json.dumps({**described, "format": 99}))
    with pytest.raises(IndexDirectoryError, match="format 99"):
        read_manifest(place)


def test_an_unknown_kind_of_index_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'ivf'"):
        publish(tmp_path / "index", DOCUMENTS, options=FaissOptions(kind="ivf"))


SLOW = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from fake_encoder import FakeEncoder
from autoindex_pyserini.dense import FaissOptions, build_index
from autoindex_pyserini.types import Passage, Represented
class Slow(FakeEncoder):
    def encode(self, texts, side):
        if len(self.asked) >= 24:
            print("stuck", flush=True)
            time.sleep(600)
        return super().encode(texts, side)
place = Path(sys.argv[1])
documents = [Represented(f"d{n}", [Passage(f"text {n:02}")]) for n in range(60)]
build_index(place / "index", [documents], Slow(), FaissOptions(), cache=place / "cache")
"""


def test_a_killed_encoding_goes_on_where_it_stopped(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SLOW, str(tmp_path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stuck\n"
        os.kill(process.pid, signal.SIGKILL)
    documents = [Represented(f"d{n}", [Passage(f"text {n:02}")]) for n in range(60)]
    _, counts, encoder = publish(tmp_path / "again", documents)
    assert sorted(encoder.asked) == [f"text {n:02}" for n in range(24, 60)]
    assert counts.passages == 60
