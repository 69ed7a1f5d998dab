"""The operator library: what each function does, and what holds for all of them on any text."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoindex_pyserini.program import operators as ops
from autoindex_pyserini.program.contract import CorpusStatistics, RawDocument

CORPUS = CorpusStatistics(
    num_docs=100, avg_tokens=50.0, document_frequencies={"common": 90, "rare": 1, "usual": 20, "word": 40}
)

ON_TEXT: dict[str, Callable[[str], object]] = {
    "code_lines": ops.code_lines,
    "count_latex": ops.count_latex,
    "count_markup": ops.count_markup,
    "densest_sentences": lambda text: ops.densest_sentences(text, CORPUS, 3),
    "distinct": lambda text: list(ops.distinct([text, text])),
    "drop_code": ops.drop_code,
    "drop_fenced_code": ops.drop_fenced_code,
    "drop_section": lambda text: ops.drop_section(text, "SEE ALSO", "Notes"),
    "first_paragraphs": lambda text: ops.first_paragraphs(text, 2),
    "first_words": lambda text: ops.first_words(text, 40),
    "has_section": lambda text: ops.has_section(text, "Notes"),
    "headings": ops.headings,
    "identifier_parts": ops.identifier_parts,
    "join": lambda text: ops.join(text, "", text),
    "key_words": lambda text: ops.key_words(text, CORPUS, 10),
    "paragraphs": ops.paragraphs,
    "repeat": lambda text: ops.repeat(text, 3),
    "section": lambda text: ops.section(text, "Notes"),
    "sections": ops.sections,
    "sentences": ops.sentences,
    "split_identifiers": ops.split_identifiers,
    "strip_code_prompts": ops.strip_code_prompts,
    "strip_latex": ops.strip_latex,
    "strip_markup": ops.strip_markup,
    "windows": lambda text: ops.windows(text, 20, 5),
    "words": ops.words,
}
ON_DOCUMENTS = {"changed", "field", "fields_text"}

FRAGMENTS = [
    "word",
    "camelCase",
    "snake_case",
    "a.b.c",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\x0c",
    "\u2028",
    "\ud800",
    "\x00",
    "$",
    "$$",
    "\\[",
    "\\]",
    "\\(",
    "\\)",
    "\\begin{a}",
    "\\end{a}",
    "\\begin{",
    "\\end{",
    ">>> ",
    "... ",
    "In [1]:",
    "Out[1]:",
    "```",
    "~~~",
    "<",
    ">",
    "<a ",
    "</p>",
    "<!--",
    "-->",
    "&#",
    "&amp;",
    "&#9999999;",
    "&#xD800;",
    "](",
    ")",
    ":class:`",
    "`",
    "**",
    "# ",
    "----",
    "====",
    "NAME",
    "SEE ALSO",
    "Notes",
    ".",
    "!",
    "?",
    "'",
    '"',
    "é",
    "日本語",
    "İ",
    "ß",
    "12",
    "3.5",
    "&",
    ";",
]
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join),
)


def _names() -> set[str]:
    found = inspect.getmembers(ops, inspect.isfunction)
    return {
        name for name, function in found if function.__module__ == ops.__name__ and not name.startswith("_")
    }


def test_every_public_function_is_covered_here_and_documented() -> None:
    assert _names() == set(ON_TEXT) | ON_DOCUMENTS
    for name in _names():
        assert inspect.getdoc(getattr(ops, name)), name


@pytest.mark.parametrize("name", sorted(ON_TEXT))
@given(text=TEXTS)
@settings(max_examples=40, deadline=None)
def test_total_and_deterministic_on_any_text(name: str, text: str) -> None:
    assert ON_TEXT[name](text) == ON_TEXT[name](text)


ADVERSARIAL = [
    "word ",
    "a",
    " ",
    "\n",
    "\n ",
    "$",
    "$ a",
    "$$",
    "$$a ",
    "\\[",
    "\\[a",
    "\\(\\[",
    "\\begin{",
    "\\end{",
    "<",
    "<a",
    "<a ",
    "<!--",
    "&",
    "&#",
    "&#1",
    "](",
    "](a",
    ":a:",
    ":a:`",
    "`",
    "*",
    "#",
    "# a\n",
    "-",
    "=\n=",
    "A",
    "AA\n",
    "Aa",
    "aA",
    "a_",
    "a.",
    "_",
    ".",
    ". ",
    '."',
    "!?",
    ">>>",
    ">>> a\n",
    "...",
    "... ",
    "In [1]:",
    "```",
    "```\n",
    "~~~ \n\n",
    "1",
    "1a",
    "é",
    "\u0301",
]


@pytest.mark.parametrize("name", sorted(ON_TEXT))
def test_time_grows_in_proportion_to_the_text(name: str) -> None:
    """Sixteen times the text may take at most 90 times as long: a quadratic function takes 256 times."""
    function = ON_TEXT[name]

    def seconds(unit: str, length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        start = time.process_time()
        function(text)
        return time.process_time() - start

    for unit in ADVERSARIAL:
        # Below some milliseconds there is nothing to prove, and the clock is too coarse to divide by.
        if seconds(unit, 40_000) > 0.01:
            long = min(seconds(unit, 40_000) for _ in range(3))
            short = min(seconds(unit, 2_500) for _ in range(3))
            assert long <= 90 * short, unit


@given(text=TEXTS)
def test_nothing_is_lost_by_cutting(text: str) -> None:
    tokens = text.split()
    assert " ".join(ops.paragraphs(text)).split() == tokens
    assert " ".join(ops.sentences(text)).split() == tokens


@given(
    tokens=st.lists(st.integers(0, 10_000).map(str), max_size=400),
    size=st.integers(-2, 60),
    overlap=st.integers(-2, 70),
    at_most=st.integers(-1, 12),
)
def test_windows_cover_the_text_within_their_bound(
    tokens: list[str], size: int, overlap: int, at_most: int
) -> None:
    found = [window.split() for window in ops.windows(" ".join(tokens), size, overlap, at_most)]
    assert len(found) <= max(at_most, 1)
    shared = min(max(overlap, 0), max(size, 1) - 1)
    covered = list(found[0]) if found else []
    for before, window in itertools.pairwise(found):
        assert before[len(before) - shared :] == window[:shared]
        covered += window[shared:]
    assert covered == tokens


def test_windows_overlap() -> None:
    assert ops.windows("a b c d e", 3, 1) == ["a b c", "c d e"]
    assert ops.windows("a b", 3, 1) == ["a b"]
    assert ops.windows("", 3) == []


def test_joining_and_repeating() -> None:
    assert ops.join("a", "", " \n", "b") == "a\nb"
    assert ops.repeat("a b", 3) == "a b a b a b"
    assert ops.repeat("a", 0) == ops.repeat("a", -1) == ops.repeat("", 5) == ""
    assert ops.first_words("  a  b\nc ", 2) == "a b"
    assert ops.first_words("a b", 0) == ""


def test_documents() -> None:
    doc = RawDocument(title="T", text="x", fields={"b": "2", "ab": "1", "ac": " "})
    assert [ops.field(doc, name) for name in ("title", "text", "b", "none")] == ["T", "x", "2", ""]
    assert ops.fields_text(doc, "a") == "1"
    assert ops.fields_text(doc) == "1\n2"
    changed = ops.changed(doc, title="U")
    assert (changed.title, changed.text, changed.fields) == ("U", "x", doc.fields)


def test_distinct_keeps_the_first_of_what_differs_in_white_space_only() -> None:
    passage = ops.Passage("a b", {"title": "t"})
    assert list(ops.distinct(["a b", "", " \n", "a\nb", passage, passage])) == ["a b", passage]


def test_paragraphs_and_sentences() -> None:
    text = "One. Two?\nThree\n\n \n\nFour! (Five.) Six"
    assert ops.paragraphs(text) == ["One. Two?\nThree", "Four! (Five.) Six"]
    assert ops.first_paragraphs(text) == "One. Two?\nThree"
    assert ops.sentences(text) == ["One.", "Two?", "Three", "Four!", "(Five.)", "Six"]


NUMPYDOC = "Sum.\n\nParameters\n----------\na : int\n\nReturns\n-------\nb\n"
MAN = "NAME\nls - list\n\nSEE ALSO\ndir(1)\n\nEXIT STATUS\n0\n"
MARKDOWN = "Intro\n# Use\ntext\n## Notes ##\nmore\n"


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (NUMPYDOC, ["Parameters", "Returns"]),
        (MAN, ["NAME", "SEE ALSO", "EXIT STATUS"]),
        (MARKDOWN, ["Use", "Notes"]),
        ("no heading here\nA sentence.", []),
    ],
)
def test_headings(text: str, headings: list[str]) -> None:
    assert ops.headings(text) == headings
    assert [name for name, _ in ops.sections(text)] == headings


def test_sections() -> None:
    assert ops.has_section(NUMPYDOC, "returns") and not ops.has_section(NUMPYDOC, "raises")
    assert ops.section(NUMPYDOC, "parameters", "returns") == "a : int\nb"
    assert ops.section(MAN, "name") == "ls - list"
    assert ops.drop_section(MAN, "See also") == "NAME\nls - list\n\nEXIT STATUS\n0"
    assert ops.drop_section(NUMPYDOC, "Parameters") == "Sum.\n\nReturns\n-------\nb"
    assert ops.drop_section(MARKDOWN, "Use") == "Intro\n## Notes ##\nmore"
    assert ops.drop_section(MAN, "none") == MAN


def test_markup() -> None:
    text = "<p>See :class:`Index` &amp; [docs](http://x.y) at ``read_csv`` **now**</p>"
    assert ops.strip_markup(text).split() == ["See", "Index", "&", "[docs", "at", "read_csv", "now"]
    assert ops.count_markup(text) == 4
    assert ops.strip_markup("a < b and c > d") == "a < b and c > d"


def test_latex() -> None:
    text = r"For $x^2$ and $$\int f$$ see \(a\), \[b\] \begin{align}c\end{align} or pay $5 to $10."
    assert ops.count_latex(text) == 5
    assert " ".join(ops.strip_latex(text).split()) == "For and see , or pay $5 to $10."
    assert ops.strip_latex(r"open \[ for ever") == r"open \[ for ever"


def test_code() -> None:
    text = "Adds.\n\n>>> a = 1\n>>> a\n1\n\nThen\n```py\nx()\n```\nmore\n```\nopen"
    assert ops.code_lines(text) == 5
    assert ops.drop_code(text).split() == ["Adds.", "Then", "more", "```", "open"]
    assert ops.drop_fenced_code("a\n```\nb\n```\nc") == "a\nc"
    assert ops.strip_code_prompts(">>> a\n... b\nIn [12]: c\nOut[12]: d\n$ ls") == "a\nb\nc\nd\nls"
    assert ops.strip_code_prompts("costs $5") == "costs $5"


def test_identifiers() -> None:
    text = "read_csv readCSVFile numpy.linalg.norm plain Title dv7-1211ea float32 mRNA"
    assert ops.identifier_parts(text) == "read csv read CSV File numpy linalg norm RNA"
    assert ops.split_identifiers("read_csv") == "read_csv\nread csv"
    assert ops.split_identifiers("plain") == "plain"


def test_statistics_of_the_collection() -> None:
    text = "Common word common. A rare usual word. Unknown things here."
    assert ops.densest_sentences(text, CORPUS, 1) == "A rare usual word."
    assert ops.densest_sentences(text, CORPUS, 2) == "Common word common. A rare usual word."
    assert ops.key_words(text, CORPUS, 2) == "rare usual"
    assert ops.key_words("unknown", CORPUS, 5) == ops.densest_sentences("", CORPUS, 3) == ""


def test_an_empty_collection_divides_by_nothing() -> None:
    empty = CorpusStatistics(num_docs=0, avg_tokens=0.0, document_frequencies={"a": 1})
    assert ops.densest_sentences("a b. c", empty, 1)
    assert ops.key_words("a b", empty, 1) == "a"


def test_the_answer_does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from autoindex_pyserini.program import operators as o\n"
        "from autoindex_pyserini.program.contract import CorpusStatistics as C, RawDocument as D\n"
        "c = C(num_docs=9, avg_tokens=1.0, document_frequencies={w: 2 for w in 'abcdefgh'})\n"
        "t = 'a b c. d e f. g h a. b d g.'\n"
        "d = D(title='', text='', fields={k: k for k in 'zyxw'})\n"
        "print(o.key_words(t, c, 4), o.densest_sentences(t, c, 2), o.fields_text(d))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
