"""The cache of built collections: all or nothing, whoever builds and whatever happens."""

import json
import os
import subprocess
import sys
import time

import pytest

from autoindex_pyserini.collection import load
from autoindex_pyserini.collection.built import Built, cached
from autoindex_pyserini.errors import EnvironmentProblemError

CONTENT = Built(
    documents=[
        {"_id": f"d{n}", "title": "", "text": f"t\0{n}", "metadata": {"x": "\ud800"}} for n in range(9)
    ],
    queries=[{"_id": f"q{n}", "text": f"find {n}"} for n in range(9)],
    qrels=[(f"q{n}", f"d{n}", 1) for n in range(9)],
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOINDEX_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "collections" / "small"


def never():
    raise AssertionError("built again")


def test_built_once_and_loadable(cache):
    folder = cached("small", {"version": 1}, lambda: CONTENT)
    assert cached("small", {"version": 1}, never) == folder
    assert sorted(path.name for path in folder.iterdir()) == [
        "corpus.jsonl",
        "manifest.json",
        "qrels.txt",
        "queries.jsonl",
    ]
    collection = load(str(folder))
    assert collection.num_documents == 9
    assert collection.report.mended_values == 0  # mended when it was written
    assert list(cache.iterdir()) == [folder]


def test_the_manifest_says_what_it_is():
    folder = cached("small", {"packages": {"numpy": "1.0"}}, lambda: CONTENT)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["recipe"] == {"format": 1, "packages": {"numpy": "1.0"}}
    assert (manifest["documents"], manifest["queries"], manifest["judged_pairs"]) == (9, 9, 9)
    assert len(manifest["fingerprint"]) == 64
    assert manifest["files"]["corpus.jsonl"]["bytes"] == (folder / "corpus.jsonl").stat().st_size


def test_another_recipe_is_another_folder():
    assert cached("small", {"v": 1}, lambda: CONTENT) != cached("small", {"v": 2}, lambda: CONTENT)


@pytest.mark.parametrize("damage", ["cut", "lost", "manifest lost", "manifest broken", "manifest odd"])
def test_a_damaged_folder_is_built_again(damage):
    folder = cached("small", {"v": 1}, lambda: CONTENT)
    whole = (folder / "corpus.jsonl").read_bytes()
    if damage == "cut":
        (folder / "corpus.jsonl").write_bytes(whole[:-5])
    elif damage == "lost":
        (folder / "qrels.txt").unlink()
    elif damage == "manifest lost":
        (folder / "manifest.json").unlink()
    else:
        (folder / "manifest.json").write_text("{" if damage == "manifest broken" else "[]")
    assert cached("small", {"v": 1}, lambda: CONTENT) == folder
    assert (folder / "corpus.jsonl").read_bytes() == whole
    assert cached("small", {"v": 1}, never) == folder


def test_a_build_that_fails_leaves_nothing(cache):
    with pytest.raises(ZeroDivisionError):
        cached("small", {"v": 1}, lambda: 1 // 0)
    assert list(cache.iterdir()) == []


def test_a_builder_that_finds_the_place_taken_uses_it(cache):
    def build():
        cached("small", {"v": 1}, lambda: CONTENT)  # another process, quicker
        return CONTENT

    folder = cached("small", {"v": 1}, build)
    assert load(str(folder)).num_documents == 9
    assert list(cache.iterdir()) == [folder]


def test_what_killed_builders_left_is_swept(cache):
    old, new = cache / ".building-old", cache / ".building-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "corpus.jsonl").write_text("{}")
    os.utime(old, (time.time() - 9000, time.time() - 9000))
    cached("small", {"v": 1}, lambda: CONTENT)
    assert not old.exists()
    assert new.exists()


def test_processes_that_build_at_once(tmp_path, cache):
    script = tmp_path / "build.py"
    script.write_text(
        "import time\n"
        "from autoindex_pyserini.collection.built import Built, cached\n"
        "def build():\n"
        "    time.sleep(0.3)\n"
        "    docs = [{'_id': str(n), 'text': 'x' * 500} for n in range(2000)]\n"
        "    return Built(docs, [{'_id': 'q', 'text': 'a b c'}], [('q', '1', 1)])\n"
        "for version in range(2):\n"
        "    folder = cached('small', {'v': version}, build)\n"
        "    assert sum(1 for _ in open(folder / 'corpus.jsonl')) == 2000\n"
        "print(folder)\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    outputs = [(*process.communicate(timeout=60), process.returncode) for process in running]
    assert [code for _, _, code in outputs] == [0, 0, 0, 0], outputs
    assert len({out for out, _, _ in outputs}) == 1
    assert len(list(cache.iterdir())) == 2


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTOINDEX_CACHE", str(tmp_path / "file"))
    with pytest.raises(EnvironmentProblemError, match="AUTOINDEX_CACHE"):
        cached("small", {"v": 1}, lambda: CONTENT)
