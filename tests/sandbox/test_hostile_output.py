"""Programs whose passages break the contract, or depend on more than the document."""

from __future__ import annotations

from typing import Any

import pytest

from autoindex_pyserini.sandbox import Counts
from autoindex_pyserini.settings import Limits

CASES: dict[str, tuple[str, str, str]] = {
    "a number": (
        "ProgramOutputError",
        "a passage is int",
        """
def represent(doc):
    yield doc.text
    yield 7  # HERE""",
    ),
    "bytes": (
        "ProgramOutputError",
        "represent returned bytes",
        """
def represent(doc):  # HERE
    return doc.text.encode()""",
    ),
    "a dictionary": (
        "ProgramOutputError",
        "represent returned dict",
        """
def represent(doc):  # HERE
    return {"contents": doc.text}""",
    ),
    "a number instead of a list": (
        "ProgramOutputError",
        "represent returned int",
        """
def represent(doc):  # HERE
    return 7""",
    ),
    "lists in a list": (
        "ProgramOutputError",
        "a passage is list",
        """
def represent(doc):
    yield [doc.text]  # HERE""",
    ),
    "contents that are a number": (
        "ProgramOutputError",
        "Passage.contents is int",
        """
def represent(doc):
    yield Passage(7)  # HERE""",
    ),
    "a field that was not declared": (
        "ProgramOutputError",
        "the field 'title', and FIELDS declares none",
        """
def represent(doc):
    yield Passage(doc.text, {"title": doc.title})  # HERE""",
    ),
    "a field that is a number": (
        "ProgramOutputError",
        "the field 'year' is int",
        """
FIELDS = ("year",)
def represent(doc):
    yield Passage(doc.text, {"year": 1999})  # HERE""",
    ),
    "fields that are no dictionary": (
        "ProgramOutputError",
        "Passage.fields is list",
        """
FIELDS = ("year",)
def represent(doc):
    yield Passage(doc.text, ["year"])  # HERE""",
    ),
    "a long field": (
        "ProgramOutputError",
        "fields have more than 1,000 characters",
        """
FIELDS = ("x",)
def represent(doc):
    yield Passage(doc.text, {"x": "x" * 1001})  # HERE""",
    ),
    "a million passages": (
        "ProgramOutputError",
        "more than 16 passages",
        """
def represent(doc):  # HERE
    return [doc.text] * 1_000_000""",
    ),
    "seventeen passages": (
        "ProgramOutputError",
        "more than 16 passages for one document, and the limit is 16",
        """
def represent(doc):
    for n in range(17):
        yield f"{n}"  # HERE""",
    ),
    "a passage of a quarter of a gigabyte": (
        "ProgramOutputError",
        "a passage has 250,000,000 characters, and this document's limit is 1,000",
        """
def represent(doc):
    yield "x" * 250_000_000  # HERE""",
    ),
    "an exception whose message raises": (
        "ProgramCrashedError",
        "Sly: (its message cannot be read)",
        """
class Sly(Exception):
    def __str__(self): raise self
def represent(doc):
    raise Sly()  # HERE""",
    ),
    "an exception whose message never ends": (
        "ProgramTimeoutError",
        "still running",
        """
class Sly(Exception):
    def __str__(self):
        while True: pass  # HERE
def represent(doc):
    raise Sly()""",
    ),
    "an exception without a readable type": (
        "ProgramCrashedError",
        "",
        """
class Meta(type):
    @property
    def __name__(cls): raise ValueError
class Sly(Exception, metaclass=Meta): pass
def represent(doc):
    raise Sly("x")  # HERE""",
    ),
    "an exception with a huge message of many lines": (
        "ProgramCrashedError",
        "ValueError: a b a b",
        """
def represent(doc):
    raise ValueError("a\\nb\\r\\n" * 1_000_000)  # HERE""",
    ),
    "an exception with a string of another kind": (
        "ProgramCrashedError",
        "Worse: real",
        """
class Sly(str):
    def __getitem__(self, key): raise OSError
    def __str__(self): return self
class Worse(ValueError):
    def __str__(self): return Sly("real")
def represent(doc):
    raise Worse()  # HERE""",
    ),
    "an exception whose traceback raises": (
        "ProgramCrashedError",
        "Sly: x",
        """
class Sly(Exception):
    __traceback__ = property(lambda self: 1 / 0)
def represent(doc):
    raise Sly("x")""",
    ),
    "no exception at all": (
        "ProgramCrashedError",
        "KeyboardInterrupt",
        """
def represent(doc):
    raise KeyboardInterrupt  # HERE""",
    ),
    "StopIteration": (
        "ProgramCrashedError",
        "RuntimeError",
        """
def represent(doc):
    yield doc.text
    next(iter(()))  # HERE""",
    ),
    "an exception at import": (
        "ProgramCrashedError",
        "KeyError: 'x' (while the program was loaded)",
        """
TABLE = {}["x"]  # HERE
def represent(doc): ...""",
    ),
    "represent taken away": (
        "ProgramOutputError",
        "defines no function 'represent'",
        """
def represent(doc): ...
del represent""",
    ),
    "what only the compiler sees": (
        "InvalidProgramError",
        "SyntaxError: 'return' outside function",
        """
return 3  # HERE
def represent(doc): ...""",
    ),
    "changing the document": (
        "ProgramCrashedError",
        "AttributeError",
        """
def represent(doc):
    doc.text = "another"  # HERE""",
    ),
    "changing the document's fields": (
        "ProgramCrashedError",
        "TypeError",
        """
def represent(doc):
    doc.fields["notes"] = "another"  # HERE""",
    ),
    "asking for the docid": (
        "ProgramCrashedError",
        "AttributeError",
        """
def represent(doc):
    yield doc.docid  # HERE""",
    ),
    "state carried from one document to the next": (
        "NondeterministicProgramError",
        "document 0 of the stream: passage 0 '1', then '6'",
        """
seen = []
def represent(doc):
    seen.append(doc)
    yield str(len(seen))""",
    ),
    "the previous document": (
        "NondeterministicProgramError",
        "6 of 6 documents",
        """
last = [""]
def represent(doc):
    yield last[0] + doc.text
    last[0] = doc.text""",
    ),
    "a fault in another order only": (
        "NondeterministicProgramError",
        "a fault when run again",
        """
seen = []
def represent(doc):
    seen.append(doc.title)
    assert seen[0] == "title 0"
    yield doc.text""",
    ),
    "the hash seed": (
        "NondeterministicProgramError",
        "other passages",
        """
def represent(doc):
    yield str(hash(doc.text))""",
    ),
    "the order of a set": (
        "NondeterministicProgramError",
        "other passages",
        """
def represent(doc):
    yield " ".join(set((doc.text + " some more words than there were before").split()))""",
    ),
    "the time": (
        "NondeterministicProgramError",
        "other passages",
        """ESCAPE
def represent(doc):
    yield str(module("time").time_ns())""",
    ),
    "an address": (
        "NondeterministicProgramError",
        "other passages",
        """
def represent(doc):
    yield str(object())""",
    ),
    "another number of passages each time": (
        "NondeterministicProgramError",
        "passages, then",
        """
count = [0]
def represent(doc):
    count[0] += 1
    return [doc.text] * count[0]""",
    ),
    "a Preprocessor that names another document": (
        "ProgramOutputError",
        "a document it was not given",
        """
class Preprocessor:
    def preprocess(self, docs):  # HERE
        return [Chunk("d7", doc.text) for doc in docs]""",
    ),
    "a Preprocessor that gives numbers": (
        "ProgramOutputError",
        "a passage is int",
        """
class Preprocessor:
    def preprocess(self, docs):  # HERE
        return [Chunk(doc.id, 7) for doc in docs]""",
    ),
    "a Preprocessor that gives chunks without text": (
        "ProgramOutputError",
        "without 'text'",
        """
class Preprocessor:
    def preprocess(self, docs):  # HERE
        return [{"doc_id": doc["id"]} for doc in docs]""",
    ),
    "a Preprocessor that cannot be made": (
        "ProgramCrashedError",
        "ZeroDivisionError",
        """
class Preprocessor:
    def __init__(self):
        1 / 0  # HERE
    def preprocess(self, docs): ...""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_is_named_in_one_line(name: str, contain: Any, escape: str) -> None:
    expected, says, source = CASES[name]
    limits = Limits(document_timeout_s=0.5 if expected == "ProgramTimeoutError" else 20.0)
    contain(source.replace("ESCAPE\n", escape), expected, says, limits=limits)


MENDED: dict[str, tuple[str, list[str]]] = {
    "surrogates and noughts": (r"yield '\ud800a\x00b\udfff\ud83d\ude00'", ["\ufffda b\ufffd\U0001f600"]),
    "all control characters": (
        "yield '.' + ''.join(map(chr, range(0xa0))) + '.'",
        ["." + "".join(chr(n) if 0x20 <= n < 0x7F or 9 <= n <= 13 else " " for n in range(0xA0)) + "."],
    ),
    "control characters alone": (r"yield '\x00\x01'; yield doc.title", ["title 0"]),
    "blank and None": ("yield None; yield ''; yield ' \\n\\u3000'; yield doc.title", ["title 0"]),
    "a string of another kind": (
        "yield type('S', (str,), {'__len__': lambda s: 0, 'encode': None, 'isspace': None})('abc')",
        ["abc"],
    ),
    "a string and nothing else": ("return doc.title", ["title 0"]),
    "a passage and nothing else": ("return Passage(doc.title)", ["title 0"]),
    "a tuple": ("return doc.title, doc.text", ["title 0", "text of document 0"]),
    "sixteen passages": ("return ['x'] * 16", ["x"] * 16),
    "sixteen passages among blank ones": ("return ['', 'x', None] * 16", ["x"] * 16),
    "exactly the longest passage": ("yield 'x' * 1000", ["x" * 1000]),
    "unassigned and private characters": (r"yield '\uffff\ue000\U0010ffff'", ["\uffff\ue000\U0010ffff"]),
}


@pytest.mark.parametrize("name", MENDED)
def test_is_mended(name: str, contain: Any) -> None:
    body, passages = MENDED[name]
    result = contain("def represent(doc):\n    " + body + "\n")
    assert [p.contents for p in result[0].passages] == passages
    assert not result[0].fallback


def test_what_gives_nothing_falls_back_and_is_counted(contain: Any) -> None:
    counts = Counts()
    result = contain("def represent(doc):\n    yield ' '\n    yield '\\x00'\n", counts=counts)
    assert [p.contents for p in result[0].passages] == ["title 0\ntext of document 0"]
    assert result[0].fallback
    assert counts == Counts(documents=6, passages=6, fallbacks=6, mended_passages=6, dropped_passages=12)
