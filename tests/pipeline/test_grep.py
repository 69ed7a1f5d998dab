"""Patterns: what they find is what Python's own engine finds, and none hangs."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoindex_pyserini.pipeline import PatternError, grep
from autoindex_pyserini.pipeline.grep import grep as search
from autoindex_pyserini.program.contract import RawDocument

DOCUMENTS = [
    ("D-A", RawDocument("Été in Paris", "café café\nthe end", {"kind": "Café", "empty": ""})),
    ("D-B", RawDocument("", "nothing", {})),
    ("D-C", RawDocument("cafeteria", "", {"kind": "none"})),
]


def test_matches_are_counted_by_document_part_and_occurrence() -> None:
    found = search(DOCUMENTS, "(?i)caf", 1)
    assert (found.documents, found.occurrences) == (2, 4)
    assert found.parts == {"text": 1, "kind": 1, "title": 1}
    assert [(one.reference, one.part, one.start) for one in found.first] == [("D-A", "text", 0)]


def test_places_are_characters_not_bytes() -> None:
    found = search(DOCUMENTS, "Paris", 5).first[0]
    assert found.value[found.start :] == "Paris"


@settings(max_examples=60, deadline=None)
@given(
    pattern=st.sampled_from([r"a+b", r"(a|b)*c$", r"^b", r"[^a]c", r"(?i)AB", r"a{2,3}", r"é.", r"\d+x?"]),
    texts=st.lists(st.text("abcé1x\n ", max_size=40), max_size=8),
)
def test_the_same_is_found_as_by_python(pattern: str, texts: list[str]) -> None:
    texts = [text.rstrip("\n") for text in texts]  # Python's $ also stands before a last line feed
    found = search(((str(at), RawDocument("", text, {})) for at, text in enumerate(texts)), pattern, 100)
    wanted = [
        (str(at), match.start()) for at, text in enumerate(texts) if (match := re.search(pattern, text))
    ]
    assert [(one.reference, one.start) for one in found.first] == wanted
    assert found.documents == len(wanted)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("", "empty"),
        ("(a", "cannot be used"),
        ("a(?=b)", "lookaround"),
        (r"(a)\1", "backreferences"),
        ("a" * 301, "301 characters"),
        ("(?:.{0,600})(?:.{0,600})x", "add up"),
        (r"(?:\pL{900}|x)+", "cannot be used"),
    ],
)
def test_patterns_that_cannot_be_used_are_told_why(pattern: str, why: str) -> None:
    with pytest.raises(PatternError, match=why):
        search(DOCUMENTS, pattern, 5)


def test_a_catastrophic_pattern_takes_no_time() -> None:
    """Python's own engine would need longer than the universe has."""
    documents = [("D-A", RawDocument("", "a" * 100_000 + "!", {}))]
    began = time.monotonic()
    assert search(documents, "(a+)+(a+)+$", 5).documents == 0
    assert time.monotonic() - began < 20


def test_a_slow_pattern_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep, "MOST_SECONDS", 0.0)
    with pytest.raises(PatternError, match="too slow"):
        search(DOCUMENTS, "a", 5)
