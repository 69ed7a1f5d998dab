import json
from pathlib import Path

import pytest

from autoindex_pyserini.errors import IndexDirectoryError, IndexLossError, InputError
from autoindex_pyserini.lucene import IndexBuilder, IndexOptions, Searcher, corpus_statistics
from autoindex_pyserini.lucene.index import count_passages, open_reader
from autoindex_pyserini.program.contract import EMPTY_CONTENTS
from autoindex_pyserini.settings import Retriever
from autoindex_pyserini.types import Document, Passage, Represented, Topic


def one(docid: str, *contents: str, **fields: str) -> Represented:
    return Represented(docid, [Passage(text, fields) for text in contents])


def search(index: Path, query: str) -> list[str]:
    with Searcher(index, Retriever()) as searcher:
        return [hit.docid for hit in searcher.search([Topic("q", query)]).rankings["q"]]


def test_what_goes_in_is_counted_and_found(tmp_path: Path) -> None:
    with IndexBuilder(tmp_path / "index", IndexOptions(threads=2)) as builder:
        builder.add([one("a", "lucene index", "second passage"), one("b", "other")])
        builder.add([])
        builder.add([one("c 1", "lucene 🦙 é")])
    assert builder.counts is not None
    assert (builder.counts.documents, builder.counts.passages) == (3, 4)
    assert count_passages(tmp_path / "index") == 4
    assert search(tmp_path / "index", "🦙") == ["c 1"]
    assert search(tmp_path / "index", "lucene") == ["a", "c 1"]


def test_the_placeholder_of_an_empty_document_is_indexed_and_never_found(tmp_path: Path) -> None:
    with IndexBuilder(tmp_path / "index", IndexOptions()) as builder:
        builder.add([one("empty", EMPTY_CONTENTS), one("full", "text .")])
    assert count_passages(tmp_path / "index") == 2
    assert search(tmp_path / "index", ". text") == ["full"]


@pytest.mark.parametrize("bad", ["", "  \n"])
def test_blank_contents_which_anserini_drops_are_an_error(bad: str, tmp_path: Path) -> None:
    with (
        pytest.raises(IndexLossError, match="1 of 2 passages"),
        IndexBuilder(tmp_path / "index", IndexOptions()) as builder,
    ):
        builder.add([one("a", "text"), one("b", bad)])
    assert not (tmp_path / "index").exists()


def test_an_error_in_the_stream_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), IndexBuilder(tmp_path / "index", IndexOptions()) as builder:
        builder.add([one("a", "text")])
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_an_existing_directory_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "mine").write_text("x")
    with pytest.raises(IndexDirectoryError, match="exists already"):
        IndexBuilder(tmp_path / "index", IndexOptions())
    assert (tmp_path / "index" / "mine").read_text() == "x"


def test_declared_fields_are_indexed(tmp_path: Path) -> None:
    with IndexBuilder(tmp_path / "index", IndexOptions(fields=("title", "notes"))) as builder:
        builder.add([one("a", "contents here", title="Lucene", notes="remark")])
    reader = open_reader(tmp_path / "index")
    from autoindex_pyserini.lucene.jvm import java_class

    term = java_class("org.apache.lucene.index.Term")
    assert reader.docFreq(term("title", "lucen")) == 1
    assert reader.docFreq(term("notes", "remark")) == 1
    reader.close()


def test_raw_documents_are_stored_when_asked(tmp_path: Path) -> None:
    from autoindex_pyserini.lucene.jvm import java_class

    with IndexBuilder(tmp_path / "index", IndexOptions(store_raw=True)) as builder:
        builder.add([one("a", "contents\nhere")])
    searcher = java_class("io.anserini.search.SimpleSearcher")(str(tmp_path / "index"))
    assert json.loads(searcher.doc_raw("a")) == {"id": "a", "contents": "contents\nhere"}


def test_a_very_long_token_does_not_lose_its_document(tmp_path: Path) -> None:
    with IndexBuilder(tmp_path / "index", IndexOptions()) as builder:
        builder.add([one("a", "x" * 100_000 + " lucene")])
    assert search(tmp_path / "index", "lucene") == ["a"]


def test_not_an_index(tmp_path: Path) -> None:
    with pytest.raises(IndexDirectoryError, match="is not a directory"):
        open_reader(tmp_path / "missing")
    with pytest.raises(IndexDirectoryError, match="holds no Lucene index"):
        open_reader(tmp_path)


def test_an_unknown_analyzer_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown analyzer 'klingon'.*english"):
        IndexBuilder(tmp_path / "index", IndexOptions(analyzer="klingon"))
    assert not (tmp_path / "index").exists()


def test_statistics_are_by_surface_word_with_the_frequency_of_the_stem() -> None:
    documents = [
        Document("1", "Indexing", "the indexes of Lucene"),
        Document("2", "", "an index"),
        Document("3", "Lucene's", "don't"),
        Document("4", "", ""),
    ]
    statistics = corpus_statistics(documents, analyzer="english")
    assert statistics.num_docs == 4
    assert statistics.df("Indexing") == statistics.df("indexes") == statistics.df("index") == 2
    assert statistics.df("lucene") == 2
    assert statistics.df("the") == statistics.df("zebra") == 0
    assert statistics.avg_tokens == pytest.approx((3 + 1 + 2 + 0) / 4)
