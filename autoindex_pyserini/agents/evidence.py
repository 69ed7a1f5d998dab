"""What the failing validation queries say about the parts of their relevant documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from autoindex_pyserini.agents.proposer import FieldEvidence
from autoindex_pyserini.program import operators as ops
from autoindex_pyserini.types import Document

MOST_PAIRS = 2000
"""Pairs that are looked at; more would not change a ranking of fields."""

LEAD_WORDS = 40
"""Words of the text that count as its lead."""

_MOST_PARTS = 2048
_STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        """a an and are as at be but by can do does for from has have how i if in into is it its me my no
        not of on or should so such that the their then there these they this to use used using was we what
        when where which who why will with you your""",
    )
)
_TOKEN = re.compile(r"\w+(?:\.\w+)*")
_ENDING = re.compile(r"(?:ies|ing|ed|es|s|e)\Z")


def stems(text: str) -> set[str]:
    """Return the words of the text without stop words and common English endings.

    A rough stand-in for the analyzer: it has to rank fields, not to retrieve. As there, a compound
    identifier is one word.
    """
    kept = set(_TOKEN.findall(text.lower())) - _STOP_WORDS
    return {_ENDING.sub("", word) if len(word) > 4 else word for word in kept}


def _parts(document: Document) -> dict[str, str]:
    """Return what a representation can bring forward, by the names that `FieldEvidence` uses."""
    title, text = document.title, document.text
    parts = {"title": title, "text": text, **document.fields}
    paragraphs = ops.paragraphs(text)
    if len(paragraphs) > 1:
        parts["first_paragraph"] = paragraphs[0]
    parts["lead"] = ops.first_words(text, LEAD_WORDS)
    parts["identifier_parts"] = ops.identifier_parts(f"{title}\n{text}")
    for heading, body in ops.sections(text):
        name = f"section:{heading}"
        parts[name] = ops.join(parts.get(name, ""), body)
    return {name: value for name, value in parts.items() if value and not value.isspace()}


def evidence(failures: Iterable[tuple[str, Document, Sequence[str]]]) -> tuple[FieldEvidence, ...]:
    """Return, part by part, which of the failing queries' words the relevant documents hold.

    Only validation queries may be passed. The pairs of most use are those whose document the incumbent
    ranks low or not at all.

    Args:
        failures: query text, a document that is relevant to it, the contents of its present passages.

    Returns:
        One entry for each field and each part that `FieldEvidence.name` lists, by
        `missing` descending, then `present` descending, then name.
    """
    sums: dict[str, list[float]] = {}
    for count, (query, document, passages) in enumerate(failures):
        if count == MOST_PAIRS:
            break
        wanted = stems(query)
        if not wanted:
            continue
        indexed = stems(" ".join(passages))
        for name, value in _parts(document).items():
            if name not in sums and len(sums) >= _MOST_PARTS:
                continue
            held = wanted & stems(value)
            lacking = len(held - indexed) / len(wanted)
            row = sums.setdefault(name, [0.0] * 5)
            additions = (1, len(held) / len(wanted), lacking, lacking > 0, len(value.split()))
            for at, amount in enumerate(additions):
                row[at] += amount
    found = [
        FieldEvidence(name, int(pairs), present / pairs, missing / pairs, int(helped), words / pairs)
        for name, (pairs, present, missing, helped, words) in sums.items()
    ]
    return tuple(sorted(found, key=lambda entry: (-entry.missing, -entry.present, entry.name)))
