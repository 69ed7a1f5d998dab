"""A program that gives a collection's natural fields to Lucene as fields, for retrievers that weigh them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from autoindex_pyserini.program.checks import FORBIDDEN_STRINGS
from autoindex_pyserini.program.contract import RESERVED_FIELDS
from autoindex_pyserini.program.program import Program

MOST_FIELDS = 10
"""Lucene fields of a collection, title, text and `OTHER` included: each costs every search, and tuning."""

OTHER = "other"
"""The Lucene field that holds all natural fields without one of their own."""

LEAST_FILL_RATE = 0.05
OWN_FIELD_KINDS = frozenset({"text", "label", "id", "markup"})
"""Kinds of value whose words queries may have; numbers, dates, addresses and flags go to `OTHER`."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]+")


class NaturalField(Protocol):
    """What has to be known of a natural field."""

    @property
    def name(self) -> str:
        """The key in `RawDocument.fields`."""
        ...

    @property
    def fill_rate(self) -> float:
        """Share of documents that have it, 0 to 1."""
        ...

    @property
    def kind(self) -> str:
        """What most of its values look like; see `OWN_FIELD_KINDS`."""
        ...


def natural_fields_program(fields: Iterable[NaturalField], *, most: int = MOST_FIELDS) -> Program:
    """Write the program for a collection.

    Title and text are fields, and so are the natural fields that most documents have, the fullest first, then
    by name; what is left is joined in one field. Each document is one passage. Its contents are the full
    text, so the index serves a single-field search too; a document without title and text has its fields'
    values there.

    Args:
        fields: the natural fields. One that is not described here, but that a document has, is not lost: it
            is joined with what is left, or with the text where nothing else is.
        most: Lucene fields in all, at least 3.

    Returns:
        a program whose ``FIELDS`` are ``title``, ``text``, those with a field of their own, and `OTHER` if
        any is left. The same fields in any order give the same program.
    """
    known = sorted(fields, key=lambda field: (-field.fill_rate, field.name))
    fit = [field.name for field in known if _deserves_its_own(field)]
    own = fit[: max(most, 3) - 2]
    left = len(own) < len(known)
    if left:
        own = fit[: max(most, 3) - 3]
    names = _lucene_names(own)
    declared = ("title", "text", *names, *((OTHER,) if left else ()))
    source = _SOURCE.format(
        fields=_literal(declared),
        natural=_mapping(names),
        rest=OTHER if left else "text",
    )
    return Program(source=source, name="natural_fields")


def _deserves_its_own(field: NaturalField) -> bool:
    return (
        field.fill_rate >= LEAST_FILL_RATE
        and field.kind in OWN_FIELD_KINDS
        and field.name not in FORBIDDEN_STRINGS  # a program that names one of these is refused
    )


def _lucene_names(natural: list[str]) -> dict[str, str]:
    """Names that a program may declare -> the natural names, in their order; no two alike."""
    taken = {*RESERVED_FIELDS, "title", "text", OTHER}
    names: dict[str, str] = {}
    for name in natural:
        plain = _NOT_IN_NAMES.sub("_", name).strip("_")
        base = plain if plain[:1].isalpha() else f"field_{plain}".rstrip("_")
        choice, number = base, 2
        while choice in taken:
            choice, number = f"{base}_{number}", number + 1
        taken.add(choice)
        names[choice] = name
    return names


def _literal(names: tuple[str, ...]) -> str:
    return "(\n" + "".join(f'    "{name}",\n' for name in names) + ")"


def _mapping(names: dict[str, str]) -> str:
    if not names:
        return "{}"
    return "{\n" + "".join(f'    "{name}": {natural!a},\n' for name, natural in names.items()) + "}"


_SOURCE = '''\
"""Natural fields: the title, the text and the collection's own fields, each a field of Lucene.

The contents are the full text, for a search of one field; BM25F and its like search the others.
"""

from autoindex_pyserini.program.operators import Passage, join

FIELDS = {fields}

NATURAL = {natural}

REST = "{rest}"


def rest_of(doc):
    """Return the values of the fields that have no Lucene field of their own, by name."""
    own = set(NATURAL.values())
    return join(*(doc.fields[name] for name in sorted(doc.fields) if name not in own))


def represent(doc):
    """Yield the document as one passage with its fields; those that it lacks are left out."""
    fields = {{"title": doc.title, "text": doc.text}}
    fields |= {{name: doc.fields.get(natural, "") for name, natural in NATURAL.items()}}
    fields[REST] = join(fields.get(REST, ""), rest_of(doc))
    contents = join(doc.title, doc.text) or join(*fields.values())
    yield Passage(contents, {{name: value for name, value in fields.items() if join(value)}})
'''
