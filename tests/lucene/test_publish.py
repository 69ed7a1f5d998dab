"""A place holds a whole index or none, whatever stops the process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autoindex_pyserini import publish
from autoindex_pyserini.errors import IndexDirectoryError
from autoindex_pyserini.lucene import (
    IndexBuilder,
    IndexOptions,
    Manifest,
    Searcher,
    inspect_index,
    publishing,
    write_manifest,
)
from autoindex_pyserini.settings import Retriever
from autoindex_pyserini.types import Passage, Represented, Topic


def publish_index(directory: Path, word: str, overwrite: bool = False) -> None:
    with publishing(directory, overwrite=overwrite) as building:
        with IndexBuilder(building, IndexOptions()) as builder:
            builder.add([Represented("a", [Passage(word)])])
        manifest = Manifest(
            collection="toy", fingerprint="f", documents=1, passages=1, program_id="p", program="source"
        )
        write_manifest(building, manifest)


def found(directory: Path, word: str) -> bool:
    with Searcher(directory, Retriever()) as searcher:
        return bool(searcher.search([Topic("q", word)]).rankings["q"])


def test_a_published_index_is_alone_in_its_folder(tmp_path: Path) -> None:
    publish_index(tmp_path / "index", "lucene")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert inspect_index(tmp_path / "index").problems == ()


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), publishing(tmp_path / "index") as building:
        building.mkdir()
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_an_index_is_replaced_only_when_asked(tmp_path: Path) -> None:
    publish_index(tmp_path / "index", "old")
    with pytest.raises(IndexDirectoryError, match="exists already"):
        publish_index(tmp_path / "index", "new")
    assert found(tmp_path / "index", "old")
    publish_index(tmp_path / "index", "new", overwrite=True)
    assert found(tmp_path / "index", "new")
    assert not found(tmp_path / "index", "old")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_reader_keeps_its_snapshot_while_the_index_is_replaced(tmp_path: Path) -> None:
    publish_index(tmp_path / "index", "old")
    with Searcher(tmp_path / "index", Retriever()) as searcher:
        publish_index(tmp_path / "index", "new", overwrite=True)
        assert searcher.search([Topic("q", "old")]).rankings["q"]


def test_a_folder_that_is_not_ours_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "thesis.tex").write_text("x")
    with pytest.raises(IndexDirectoryError, match=r"has no autoindex\.json"):
        publish_index(tmp_path / "index", "new", overwrite=True)
    assert (tmp_path / "index" / "thesis.tex").read_text() == "x"


def test_where_names_cannot_be_exchanged_the_index_is_replaced_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(left: Path, right: Path) -> None:
        raise OSError(22, "Invalid argument")

    publish_index(tmp_path / "index", "old")
    monkeypatch.setattr(publish, "_exchange", refuse)
    publish_index(tmp_path / "index", "new", overwrite=True)
    assert found(tmp_path / "index", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


HOLD = """
import sys, time
from pathlib import Path
from autoindex_pyserini.lucene import IndexBuilder, IndexOptions, publishing
from autoindex_pyserini.types import Passage, Represented
with publishing(Path(sys.argv[1]), overwrite=True) as building:
    with IndexBuilder(building, IndexOptions()) as builder:
        builder.add([Represented("a", [Passage("half")])])
        print("building", flush=True)
        time.sleep(60)
"""


def test_after_kill_9_the_old_index_serves_and_no_lock_has_to_be_cleared(tmp_path: Path) -> None:
    publish_index(tmp_path / "index", "old")
    command = [sys.executable, "-c", HOLD, str(tmp_path / "index")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "building\n"
        with pytest.raises(IndexDirectoryError, match="built by another process"):
            publish_index(tmp_path / "index", "new", overwrite=True)
        os.kill(process.pid, signal.SIGKILL)
    assert found(tmp_path / "index", "old")
    publish_index(tmp_path / "index", "new", overwrite=True)
    assert found(tmp_path / "index", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_inspection_sees_damage_and_contradiction(tmp_path: Path) -> None:
    publish_index(tmp_path / "index", "lucene")
    text = (tmp_path / "index" / "autoindex.json").read_text()
    (tmp_path / "index" / "autoindex.json").write_text(text.replace('"passages": 1', '"passages": 7'))
    assert "says 7 passages, the index holds 1" in inspect_index(tmp_path / "index").problems[0]
    (tmp_path / "index" / "autoindex.json").write_text(text)
    postings = next((tmp_path / "index").glob("*.doc"))
    damaged = bytearray(postings.read_bytes())
    damaged[-1] ^= 0xFF  # the checksum
    postings.write_bytes(damaged)
    assert any("CheckIndex" in problem for problem in inspect_index(tmp_path / "index").problems)
