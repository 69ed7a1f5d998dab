"""The program of a collection's natural fields, called directly: its source is ours."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoindex_pyserini.program import Program, check
from autoindex_pyserini.program.contract import RESERVED_FIELDS, RawDocument
from autoindex_pyserini.program.natural_fields import natural_fields_program
from autoindex_pyserini.settings import Limits
from autoindex_pyserini.types import Passage


class Natural(NamedTuple):
    name: str
    fill_rate: float = 1.0
    kind: str = "text"


def represent(program: Program, title: str, text: str, fields: dict[str, str]) -> Passage:
    namespace: dict[str, Any] = {}
    exec(program.source, namespace)
    (passage,) = namespace["represent"](RawDocument(title, text, fields))
    assert isinstance(passage, Passage)
    return passage


def test_each_natural_field_is_a_field_and_the_contents_are_the_full_text() -> None:
    program = natural_fields_program([Natural("author"), Natural("notes")])
    check(program, Limits())
    assert program.fields == ("title", "text", "author", "notes")
    passage = represent(program, "Title", "Text.", {"notes": "N", "author": "A"})
    assert passage == Passage(
        "Title\nText.", {"title": "Title", "text": "Text.", "author": "A", "notes": "N"}
    )
    assert represent(program, "Title", "", {"notes": " "}) == Passage("Title", {"title": "Title"})


def test_the_fullest_fields_of_words_have_their_own_and_the_rest_is_joined() -> None:
    fields = [
        Natural("seldom", 0.01),
        Natural("brand", 0.9, "label"),
        Natural("price", 1.0, "number"),
        Natural("code", 0.95, "id"),
        Natural("seen", 1.0, "date"),
        Natural("link", 1.0, "url"),
        Natural("new", 1.0, "flag"),
        Natural("body", 0.5, "markup"),
    ]
    program = natural_fields_program(fields, most=5)
    assert program.fields == ("title", "text", "code", "brand", "other")
    assert natural_fields_program(fields[::-1], most=5) == program
    assert natural_fields_program(fields).fields == ("title", "text", "code", "brand", "body", "other")
    passage = represent(program, "T", "", {field.name: f"a {field.name}" for field in fields})
    assert passage.fields == {
        "title": "T",
        "code": "a code",
        "brand": "a brand",
        "other": "a body\na link\na new\na price\na seen\na seldom",
    }


@pytest.mark.parametrize("count", [0, 7, 8, 9, 500])
def test_there_are_ten_fields_at_most(count: int) -> None:
    program = natural_fields_program([Natural(f"f{number}") for number in range(count)])
    assert len(program.fields) == min(count + 2, 10)
    assert ("other" in program.fields) == (count > 8)


def test_names_that_lucene_reserves_or_a_program_may_not_use_are_replaced() -> None:
    awkward = ["contents", "id", "title", "other", "a b", "a-b", "1st", "é", "__class__", 'q"\\', "-"]
    program = natural_fields_program([Natural(name) for name in awkward], most=30)
    check(program, Limits())
    assert not RESERVED_FIELDS & set(program.fields)
    assert len(set(program.fields)) == len(program.fields) == 2 + len(awkward)  # one of them has no own
    passage = represent(program, "T", "", {name: f"value of {name}" for name in awkward})
    assert sorted(passage.fields.values()) == sorted(["T", *(f"value of {name}" for name in awkward)])


@given(
    st.text(),
    st.text(),
    st.dictionaries(st.text(), st.text()),
    st.lists(
        st.builds(Natural, st.text(), st.floats(0, 1), st.sampled_from(["text", "number"])),
        unique_by=lambda field: field.name,
    ),
)
def test_no_word_is_lost_whatever_was_described(
    title: str, text: str, fields: dict[str, str], described: list[Natural]
) -> None:
    program = natural_fields_program(described)
    check(program, Limits())
    passage = represent(program, title, text, fields)
    assert passage.fields.keys() <= set(program.fields)
    words = {word for value in (title, text, *fields.values()) for word in value.split()}
    assert words == {word for value in passage.fields.values() for word in value.split()}
    full = {word for value in (title, text) for word in value.split()}
    assert set(passage.contents.split()) == (full or words)
