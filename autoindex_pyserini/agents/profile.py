"""A collection in numbers, from one pass over its documents in bounded memory."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from functools import lru_cache

from autoindex_pyserini.agents.proposer import CollectionProfile, FieldProfile, HeadingProfile
from autoindex_pyserini.program import operators as ops
from autoindex_pyserini.types import Document

TRACKED = 512
"""Names held at once, of fields, of prefixes and of headings each. Beyond twice that the rarest go."""

INSPECTED = 1000
"""Documents looked at closely, text and fields; after them, one in `STRIDE`."""

INSPECTED_CHARS = 20_000
"""Characters of a text that are looked at closely."""

STRIDE = 25
FIELDS_KEPT, GROUPS_KEPT, HEADINGS_KEPT = 64, 16, 24
_MOST_DISTINCT = 64
_SAMPLES, _SAMPLE_CHARS = 3, 80

_URL = re.compile(r"\s*(?:https?://|www\.)\S")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_DATE = re.compile(
    rf"\s*(?:\d{{4}}-\d\d-\d\d|{_MONTH}[., ]{{1,3}}(?:\d{{1,2}}, ?)?\d{{4}}\s*\Z)", re.IGNORECASE
)
_NUMBER = re.compile(r"[\d\s.,:;/x\u00d7%$\u20ac\u00a3+()\-\u2013]+\Z")
_TAGGED = re.compile(r"\s*<[A-Za-z!][^<>]{0,200}>")
_FLAGS = frozenset({"true", "false", "yes", "no", "y", "n", "on", "off"})


def kind_of(value: str) -> str:
    """Return what a field's value looks like; see `FieldProfile.kind`."""
    value = value[:400].strip()
    if value.lower() in _FLAGS:
        return "flag"
    for kind, pattern in (("url", _URL), ("date", _DATE), ("number", _NUMBER), ("markup", _TAGGED)):
        if pattern.match(value):
            return kind
    tokens = [word for word in ops.words(value) if len(word) > 1]
    natural = sum(1 for word in tokens if len(word) > 2 and word.isalpha())
    if 2 * natural <= len(tokens):
        return "id"
    return "text" if len(tokens) > 2 else "label"


class _Tally:
    """What is counted of one name."""

    __slots__ = ("chars", "contained", "distinct", "documents", "kinds", "samples", "words", "words_checked")

    def __init__(self) -> None:
        self.documents = self.chars = self.words = self.contained = self.words_checked = 0
        self.kinds: dict[str, int] = {}
        self.distinct: set[int] = set()
        self.samples: list[str] = []


class _Tallies(dict[str, _Tally]):
    """Tallies by name, the rarest forgotten when there are too many."""

    def __missing__(self, name: str) -> _Tally:
        if len(self) >= 2 * TRACKED:
            rare = sorted(self, key=lambda known: (-self[known].documents, known))[TRACKED:]
            for known in rare:
                del self[known]
        tally = self[name] = _Tally()
        return tally

    def ordered(self) -> list[str]:
        return sorted(self, key=lambda name: (-self[name].documents, name))


@lru_cache(maxsize=4 * TRACKED)
def _prefixes(name: str) -> tuple[str, ...]:
    """Return the name's first one and two segments, the separator included."""
    cuts = [at + 1 for at, char in enumerate(name[:-1]) if char in "_.-" and at > 0]
    return tuple(name[:cut] for cut in cuts[:2])


class _Profiler:
    def __init__(self) -> None:
        self.documents = self.inspected = 0
        self.fields, self.groups, self.headings = _Tallies(), _Tallies(), _Tallies()
        self.sums: dict[str, float] = {}

    def _add(self, name: str, value: float) -> None:
        self.sums[name] = self.sums.get(name, 0.0) + value

    def rate(self, name: str, of: str | int) -> float:
        """Return one sum over another, 0 where the other is 0."""
        total = self.sums.get(of, 0.0) if isinstance(of, str) else of
        return self.sums.get(name, 0.0) / total if total else 0.0

    def add(self, document: Document) -> None:
        closely = self.documents < INSPECTED or self.documents % STRIDE == 0
        self.documents += 1
        self._add("title", bool(document.title.strip()))
        self._add("text", bool(document.text.strip()))
        self._add("title_chars", len(document.title))
        self._add("text_chars", len(document.text))
        if closely:
            self.inspected += 1
            self._add_fields(document, self._inspect(document))

    def _inspect(self, document: Document) -> set[str]:
        """Look closely at the title and the text, and return their words."""
        title, text = document.title, document.text[:INSPECTED_CHARS]
        tokens, title_words = ops.words(text), set(ops.words(title))
        vocabulary = set(tokens)
        paragraphs = ops.paragraphs(text)
        spans = ops.count_latex(text)
        self._add("text_words", len(tokens))
        self._add("title_words", len(title_words))
        self._add("title_in_text", len(title_words & vocabulary))
        self._add("long", len(tokens) > 300)
        self._add("sentences", len(ops.sentences(text)) > 3)
        self._add("markup", ops.count_markup(text) > 2)
        self._add("latex", spans > 0)
        self._add("latex_spans", spans)
        self._add("code", ops.code_lines(text) > 1)
        in_title = bool(ops.identifier_parts(title))
        self._add("title_identifier", in_title)
        self._add("identifier", in_title or bool(ops.identifier_parts(text)))
        if len(paragraphs) > 1:
            self._add("paragraphs", 1)
            self._add("first_paragraph_words", len(paragraphs[0].split()))
        seen: set[str] = set()
        for name, body in ops.sections(text):
            tally = self.headings[name]
            tally.documents += name not in seen
            tally.chars += len(body)
            seen.add(name)
        return vocabulary | title_words

    def _add_fields(self, document: Document, vocabulary: set[str]) -> None:
        prefixes: dict[str, int] = {}
        for name, value in document.fields.items():
            if not value or value.isspace():
                continue
            tally = self.fields[name]
            tally.documents += 1
            tally.chars += len(value)
            tally.words += len(value.split())
            kind = kind_of(value)
            tally.kinds[kind] = tally.kinds.get(kind, 0) + 1
            if len(tally.distinct) < _MOST_DISTINCT:
                tally.distinct.add(zlib.crc32(value.encode("utf-8", "replace")))
            if len(tally.samples) < _SAMPLES and value[:_SAMPLE_CHARS] not in tally.samples:
                tally.samples.append(value[:_SAMPLE_CHARS])
            checked = ops.words(value[:2000])
            tally.words_checked += len(checked)
            tally.contained += sum(1 for word in checked if word in vocabulary)
            for prefix in _prefixes(name):
                prefixes[prefix] = prefixes.get(prefix, 0) + len(value)
        for prefix, chars in prefixes.items():
            group = self.groups[prefix]
            group.documents += 1
            group.chars += chars

    def _field(self, name: str) -> FieldProfile:
        tally = self.fields[name]
        kinds = sorted(tally.kinds, key=lambda kind: (-tally.kinds[kind], kind))
        return FieldProfile(
            name=name,
            fill_rate=tally.documents / self.inspected,
            mean_chars=tally.chars / tally.documents,
            mean_words=tally.words / tally.documents,
            distinct=len(tally.distinct),
            kind=kinds[0] if kinds else "label",
            contained_rate=tally.contained / tally.words_checked if tally.words_checked else 0.0,
            samples=tuple(tally.samples),
        )

    def _group(self, prefix: str, fields: list[FieldProfile]) -> FieldProfile:
        """Return a prefix as one field, its members weighted by the documents that have them."""
        group = self.groups[prefix]
        weight = sum(member.fill_rate for member in fields)
        kinds: dict[str, float] = {}
        for member in fields:
            kinds[member.kind] = kinds.get(member.kind, 0.0) + member.fill_rate
        return FieldProfile(
            name=prefix + "*",
            fill_rate=group.documents / self.inspected,
            mean_chars=group.chars / group.documents,
            mean_words=sum(member.mean_words * member.fill_rate for member in fields)
            * self.inspected
            / group.documents,
            distinct=max(member.distinct for member in fields),
            kind=max(sorted(kinds), key=lambda kind: kinds[kind]),
            contained_rate=sum(member.contained_rate * member.fill_rate for member in fields) / weight,
            samples=tuple(member.name for member in fields[:_SAMPLES]),
            members=len(fields),
        )

    def result(self) -> CollectionProfile:
        fields = [self._field(name) for name in self.fields.ordered()]
        groups = []
        for prefix in self.groups.ordered():
            members = [member for member in fields if member.name.startswith(prefix)]
            if len(members) > 2:
                groups.append(self._group(prefix, members))
        headings = [
            HeadingProfile(name, tally.documents / self.inspected, tally.chars / tally.documents)
            for name, tally in ((name, self.headings[name]) for name in self.headings.ordered())
            if tally.documents * 50 >= self.inspected
        ]
        n, seen = self.documents, self.inspected
        return CollectionProfile(
            num_documents=n,
            title_fill_rate=self.rate("title", n),
            text_fill_rate=self.rate("text", n),
            mean_title_chars=self.rate("title_chars", n),
            mean_text_chars=self.rate("text_chars", n),
            mean_text_words=self.rate("text_words", seen),
            title_in_text_rate=self.rate("title_in_text", "title_words"),
            multi_paragraph_rate=self.rate("paragraphs", seen),
            multi_sentence_rate=self.rate("sentences", seen),
            long_rate=self.rate("long", seen),
            first_paragraph_words=self.rate("first_paragraph_words", "paragraphs"),
            markup_rate=self.rate("markup", seen),
            latex_rate=self.rate("latex", seen),
            latex_spans=self.rate("latex_spans", "latex"),
            code_rate=self.rate("code", seen),
            identifier_rate=self.rate("identifier", seen),
            title_identifier_rate=self.rate("title_identifier", seen),
            headings=tuple(headings[:HEADINGS_KEPT]),
            fields=tuple(fields[:FIELDS_KEPT]),
            groups=tuple(groups[:GROUPS_KEPT]),
            fields_seen=len(self.fields),
        )


def profile(documents: Iterable[Document]) -> CollectionProfile:
    """Return the collection in numbers.

    One pass; the documents may be a generator. Titles and texts are counted in every document. What needs
    a close look, the fields included, is taken from the first `INSPECTED` documents and from one in
    `STRIDE` after them: a million documents take seconds, not minutes. Fields are tracked for at most
    ``2 * TRACKED`` names; past that the rarest are forgotten.
    """
    profiler = _Profiler()
    for document in documents:
        profiler.add(document)
    return profiler.result()
