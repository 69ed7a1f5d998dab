"""The built-in programs, called directly: their source is ours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoindex_pyserini.program import Program, builtin_names
from autoindex_pyserini.program.contract import RawDocument
from autoindex_pyserini.settings import Limits


def represent(name: str, title: str, text: str, **fields: str) -> list[str]:
    namespace: dict[str, Any] = {}
    exec(Program.builtin(name).source, namespace)
    return list(namespace["represent"](RawDocument(title, text, fields)))


def test_full_text_is_title_and_text() -> None:
    assert represent("full_text", "Title", "Text.", notes="N") == ["Title\nText."]


def test_all_fields_adds_the_values_in_the_order_of_their_names() -> None:
    assert represent("all_fields", "Title", "Text.", notes="N", alias="A") == ["Title\nText.\nA\nN"]


def test_first_passage_stands_beside_the_full_text_where_there_is_more() -> None:
    assert represent("first_passage_plus_full", "T", "one\ntwo\n \nthree\n\nfour") == [
        "T\none\ntwo\n \nthree\n\nfour",
        "T\none\ntwo",
    ]
    assert represent("first_passage_plus_full", "T", "\n\none only\n") == ["T\n\n\none only\n"]


@pytest.mark.parametrize(
    ("tokens", "windows", "longest"),
    [
        (0, 1, 0),
        (1, 1, 1),
        (512, 1, 512),
        (513, 2, 512),
        (8192, 16, 512),
        (8193, 16, 513),
        (100_000, 16, 6250),
    ],
)
def test_windows_grow_rather_than_lose_text(tokens: int, windows: int, longest: int) -> None:
    words = [f"w{n}" for n in range(tokens)]
    passages = represent("passages_512", "Title", " ".join(words))
    assert len(passages) == windows
    bodies = [passage.removeprefix("Title\n").split() for passage in passages]
    assert max(map(len, bodies)) == longest
    assert [word for body in bodies for word in body] == words


@given(st.text(), st.text(), st.dictionaries(st.text(), st.text(), max_size=3))
def test_no_word_of_a_document_is_lost(title: str, text: str, fields: dict[str, str]) -> None:
    for name in builtin_names():
        namespace: dict[str, Any] = {}
        exec(Program.builtin(name).source, namespace)
        passages = list(namespace["represent"](RawDocument(title, text, fields)))
        assert len(passages) <= Limits().max_passages
        words = " ".join(passages).split()
        assert set(title.split()) | set(text.split()) <= set(words)
