"""The built-in programs, called directly: their source is ours."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoindex_pyserini.program import Program, builtin_names
from autoindex_pyserini.program.contract import CorpusStatistics, RawDocument
from autoindex_pyserini.settings import Limits

CORPUS = CorpusStatistics(1000, 50.0, {"common": 900, "quasar": 2})


def represent(name: str, title: str, text: str, **fields: str) -> list[str]:
    program = Program.builtin(name)
    namespace: dict[str, Any] = {}
    exec(program.source, namespace)
    corpus = (CORPUS,) if program.wants_corpus else ()
    return list(namespace["represent"](RawDocument(title, text, fields), *corpus))


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


@pytest.mark.parametrize(
    ("tokens", "windows", "longest"),
    [
        (0, 1, 0),
        (512, 1, 512),
        (513, 2, 512),
        (768, 2, 512),
        (4352, 16, 512),
        (4353, 16, 513),
        (50_000, 16, 3365),
    ],
)
def test_overlapping_windows_share_half_and_lose_nothing(tokens: int, windows: int, longest: int) -> None:
    words = [f"w{n}" for n in range(tokens)]
    bodies = [
        passage.removeprefix("Title\n").split()
        for passage in represent("passages_512_overlap", "Title", " ".join(words))
    ]
    assert len(bodies) == windows
    assert max(map(len, bodies)) == longest
    assert all(left[-256:] == right[:256] for left, right in itertools.pairwise(bodies[:-1]))
    assert bodies[0] + [word for body in bodies[1:] for word in body[256:]] == words


def test_static_rules_count_the_title_and_take_the_fields_in() -> None:
    assert represent("static", "Title", "Text.", notes="N", alias="A") == ["Title Title Title\nText.\nA\nN"]


def test_static_rules_strip_what_there_is_much_of() -> None:
    little, much = "Let $x$ be. " * 10, "Let $x$ be. " * 11
    assert "$x$" in represent("static", "T", little)[0]
    assert "x" not in represent("static", "T", much)[0]
    assert "<b>" in represent("static", "T", "<b>bold</b> " * 5)[0]
    assert "<b>" not in represent("static", "T", "<b>bold</b> " * 6)[0]
    assert "bold" in represent("static", "T", "<b>bold</b> " * 6)[0]
    assert "$a$" in represent("static", "", "$a$ " * 11)[0]  # all of it: nothing else is left


def test_static_rules_add_the_opening_or_the_densest_sentences() -> None:
    assert represent("static", "T", "one\ntwo\n\nthree") == ["T T T\none\ntwo\n\nthree", "T\none\ntwo"]
    dull, telling = "Common words are common.", "A quasar shines."
    text = " ".join([dull, telling, dull, dull, telling, telling, dull])
    whole, gist = represent("static", "T", text)
    assert whole == f"T T T\n{text}"
    assert gist == f"T\n{telling} {telling} {telling}"
    assert len(represent("static", "T", f"{dull} {telling}")) == 1


@given(st.text(), st.text(), st.dictionaries(st.text(), st.text(), max_size=3))
def test_no_word_of_a_document_is_lost(title: str, text: str, fields: dict[str, str]) -> None:
    for name in builtin_names():
        passages = represent(name, title, text, **fields)
        assert len(passages) <= Limits().max_passages
        words = " ".join(passages).split()
        assert set(title.split()) | set(text.split()) <= set(words)
