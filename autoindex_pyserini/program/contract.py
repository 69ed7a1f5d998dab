"""The contract between a representation program and its host, as values and pure functions.

What a program receives (`RawDocument`, and `CorpusStatistics` if it asks for it), what its passages may
hold, and what the host does where they hold something else. Both sides of the sandbox import this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from autoindex_pyserini.settings import Limits
from autoindex_pyserini.types import Document

EMPTY_CONTENTS = "."
"""Contents of a document that has no text at all.

Anserini drops a document whose contents are blank, and every document must be counted. A full stop is
not blank, and the analyzers that split text into words make no term of it, so no query can match it.
"""

RESERVED_FIELDS = frozenset({"id", "contents", "raw"})
"""Field names that Anserini gives a meaning of its own."""

FORBIDDEN_NAMES = frozenset(
    {"exec", "eval", "compile", "open", "__import__", "input", "breakpoint", "__builtins__", "__loader__"}
)
"""Built-in names that reach outside a program, or run text as code."""

_CONTROL_BYTES = bytes(sorted({*range(0x20), 0x7F} - set(b"\t\n\v\f\r")))
_CONTROL_TO_NUL = bytes.maketrans(_CONTROL_BYTES, bytes(len(_CONTROL_BYTES)))
_C1_BYTES = re.compile(rb"\xc2[\x80-\x9f]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class RawDocument(msgspec.Struct, frozen=True):
    """What a program sees of a document: everything but its docid.

    Attributes:
        title: may be empty.
        text: may be empty.
        fields: every other natural field by name; read-only.
    """

    title: str
    text: str
    fields: Mapping[str, str]


class CorpusStatistics(msgspec.Struct, frozen=True):
    """Statistics of the raw collection, counted once with the retriever's own analyzer.

    Attributes:
        num_docs: documents in the collection.
        avg_tokens: mean number of tokens of a document.
        document_frequencies: surface term in lower case -> number of documents that contain it.
    """

    num_docs: int
    avg_tokens: float
    document_frequencies: dict[str, int] = {}

    def df(self, term: str) -> int:
        """Documents that contain the term, in any case; 0 for a stop word or an unknown term."""
        return self.document_frequencies.get(term.lower(), 0)


def is_allowed(module: str, allowed: tuple[str, ...]) -> bool:
    """True if the module, or a package that holds it, is on the list."""
    parts = module.split(".")
    return any(".".join(parts[:end]) in allowed for end in range(1, len(parts) + 1))


def max_chars(raw_chars: int, limits: Limits) -> int:
    """The most characters that one passage's contents, or its fields together, may hold.

    Args:
        raw_chars: characters of the raw document, see `raw_length`.
        limits: gives the growth factor and the floor under it.
    """
    return max(limits.min_growth_chars, int(limits.max_growth * raw_chars))


def raw_length(document: Document | RawDocument) -> int:
    """Characters of a document's title, text and fields, names not counted."""
    length = len(document.title) + len(document.text)
    if document.fields:
        length += sum(map(len, document.fields.values()))
    return length


def full_text(document: Document | RawDocument) -> str:
    """The title and the text on lines of their own: what is indexed if a program gives nothing."""
    return f"{document.title}\n{document.text}".strip()


def decode(utf8: bytes) -> str | None:
    """The text, or None if it needs mending.

    This runs on every character that is indexed, so it must cost a nanosecond for each, not the five that
    a regular expression takes: that is why it looks at the bytes.
    """
    if 0 in utf8.translate(_CONTROL_TO_NUL) or not (utf8.isascii() or _C1_BYTES.search(utf8) is None):
        return None
    try:
        return utf8.decode()
    except UnicodeDecodeError:
        return None


def mend(text: str) -> str:
    """The text without what JSON, UTF-8 or Lucene cannot carry.

    Surrogate pairs become the character they stand for, lone surrogates U+FFFD, and control characters
    other than tab, line feed, vertical tab, form feed and carriage return become a space.
    """
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _CONTROL.sub(" ", text)
