from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autoindex_pyserini.program import CorpusStatistics, contract
from autoindex_pyserini.settings import Limits
from autoindex_pyserini.types import Document

# Any code points, lone surrogates included, and many control characters.
anything = st.text(st.characters() | st.characters(categories=["Cc", "Cs"]))


@given(anything)
@example("\ud83d\ude00")
@example("\x85\u2028\x0b")
def test_mended_text_can_be_carried_by_everything(text: str) -> None:
    mended = contract.mend(text)
    assert mended.encode().decode() == mended
    assert json.loads(json.dumps(mended)) == mended
    assert not any((c < " " and c not in "\t\n\v\f\r") or "\x7f" <= c <= "\x9f" for c in mended)
    assert contract.mend(mended) == mended
    assert contract.decode(mended.encode()) == mended


@given(anything)
def test_text_is_mended_only_where_it_must_be(text: str) -> None:
    decoded = contract.decode(text.encode("utf-8", "surrogatepass"))
    mended = contract.mend(text)
    assert decoded == (text if mended == text else None)
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert len(mended) == len(text)


@given(st.binary())
def test_decoding_never_raises(data: bytes) -> None:
    text = contract.decode(data)
    assert text is None or text.encode() == data


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("a\x00b", "a b"),
        ("a\tb\nc\r\v\f", "a\tb\nc\r\v\f"),
        ("\x7f\x80\x85\x9f\xa0", "    \xa0"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud800", "\ufffd"),
    ],
)
def test_what_becomes_of_what(text: str, mended: str) -> None:
    assert contract.mend(text) == mended


def test_limits_follow_the_raw_length() -> None:
    document = Document("d", "12", "345", {"x": "6789", "y": "0"})
    assert contract.raw_length(document) == 10
    limits = Limits(max_growth=2.5, min_growth_chars=20)
    assert contract.max_chars(10, limits) == 25
    assert contract.max_chars(7, limits) == 20


def test_full_text_is_title_then_text() -> None:
    assert contract.full_text(Document("d", "title", "text", {"x": "y"})) == "title\ntext"
    assert contract.full_text(Document("d", "", "text")) == "text"
    assert contract.full_text(Document("d", "", "")) == ""


def test_document_frequencies_ignore_case_and_know_no_stop_words() -> None:
    statistics = CorpusStatistics(num_docs=3, avg_tokens=1.5, document_frequencies={"graph": 2})
    assert statistics.df("Graph") == 2
    assert statistics.df("the") == 0


def test_only_listed_modules_and_what_they_hold_are_allowed() -> None:
    allowed = ("collections", "autoindex_pyserini.program.operators")
    assert contract.is_allowed("collections.abc", allowed)
    assert contract.is_allowed("autoindex_pyserini.program.operators", allowed)
    assert not contract.is_allowed("autoindex_pyserini.program", allowed)
    assert not contract.is_allowed("collections_abc", allowed)
    assert not contract.is_allowed("", allowed)
