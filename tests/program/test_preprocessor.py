from __future__ import annotations

from typing import Any

import pytest

from autoindex_pyserini.program.contract import RawDocument
from autoindex_pyserini.program.preprocessor import MASKED_ID, Chunk, PreprocessorOutputError, adapt

DOCUMENT = RawDocument("Title", "Text of it.", {"year": "1999", "text": "a field of the same name"})


def run(preprocess: Any) -> list[Any]:
    return list(
        adapt(type("Preprocessor", (), {"preprocess": lambda self, docs: preprocess(docs)}))(DOCUMENT)
    )


@pytest.mark.parametrize(
    "preprocess",
    [
        lambda docs: [Chunk(d.id, d.text) for d in docs],
        lambda docs: [Chunk(doc_id=d["id"], text=d["text"], chunk_id="x-0", metadata={}) for d in docs],
        lambda docs: [{"doc_id": d["_id"], "contents": d["contents"]} for d in docs],
        lambda docs: [{"id": d.get("id"), "text": d.get("text", "")} for d in docs],
        lambda docs: [(d.doc_id, d.text) for d in docs],
        lambda docs: (Chunk(d.docid, d["text"]) for d in docs),
    ],
)
def test_documents_and_chunks_may_be_written_in_many_ways(preprocess: Any) -> None:
    assert run(preprocess) == ["Text of it."]


def test_fields_are_metadata_and_never_hide_the_text() -> None:
    assert run(lambda docs: [Chunk(d.id, d.metadata["year"] + d.year + d["text"]) for d in docs]) == [
        "19991999Text of it."
    ]


def test_order_and_number_are_the_programs_own() -> None:
    assert run(lambda docs: [Chunk(docs[0].id, text) for text in "bab"]) == ["b", "a", "b"]
    assert run(lambda docs: None) == []
    assert run(lambda docs: []) == []


def test_ids_are_masked_and_must_come_back() -> None:
    assert run(lambda docs: [Chunk(MASKED_ID, docs[0].id)]) == [MASKED_ID]
    with pytest.raises(PreprocessorOutputError, match="a document it was not given"):
        run(lambda docs: [Chunk("another", "x")])
    with pytest.raises(PreprocessorOutputError, match="a str without 'doc_id'"):
        run(lambda docs: ["x"])
    with pytest.raises(PreprocessorOutputError, match="a dict without 'text'"):
        run(lambda docs: [{"doc_id": MASKED_ID}])


def test_it_is_made_once() -> None:
    made = []

    class Preprocessor:
        def __init__(self) -> None:
            made.append(1)

        def preprocess(self, docs: Any) -> list[Chunk]:
            return [Chunk(docs[0].id, docs[0].title)]

    represent = adapt(Preprocessor)
    assert list(represent(DOCUMENT)) == list(represent(DOCUMENT)) == ["Title"]
    assert made == [1]
