"""Java keeps the working directory that it was started in; Python's may change."""

from pathlib import Path

import pytest

from autoindex_pyserini.lucene import IndexBuilder, IndexOptions, Searcher, inspect_index
from autoindex_pyserini.lucene.jvm import start
from autoindex_pyserini.settings import Retriever
from autoindex_pyserini.types import Passage, Represented, Topic


def test_relative_paths_are_of_the_present_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    monkeypatch.chdir(tmp_path)
    index = Path("made/here")
    with IndexBuilder(index, IndexOptions()) as builder:
        builder.add([Represented("a", [Passage("lucene")])])
    assert (tmp_path / index).is_dir()
    with Searcher(index, Retriever()) as searcher:
        assert [hit.docid for hit in searcher.search([Topic("q", "lucene")]).rankings["q"]] == ["a"]
    assert inspect_index(index).passages == 1
