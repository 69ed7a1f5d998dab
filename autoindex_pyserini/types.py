"""The values that flow between rooms. All are frozen; none does any work.

They are `msgspec` structs, because documents and passages cross a process boundary and a candidate's
replies must be validated while they are decoded.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Document(msgspec.Struct, frozen=True):
    """One raw document of a collection.

    Attributes:
        docid: unique in its collection; any Unicode.
        title: may be empty.
        text: may be empty; title and text together may be empty too.
        fields: every other natural field by name, as text.
    """

    docid: str
    title: str
    text: str
    fields: Mapping[str, str] = {}


class Passage(msgspec.Struct, frozen=True):
    """One unit that Lucene indexes, and scores, on behalf of its document.

    Attributes:
        contents: the text of the default field; what a single-field retriever sees.
        fields: further fields for fielded retrieval; their names are declared by the program.
    """

    contents: str
    fields: Mapping[str, str] = {}


class Represented(msgspec.Struct, frozen=True):
    """What a program made of one document.

    Attributes:
        docid: the document's docid, unescaped.
        passages: one or more, each with non-blank contents, in the program's order.
        fallback: the program gave no usable passage, so this is the document's full text instead.
    """

    docid: str
    passages: list[Passage]
    fallback: bool = False


class Topic(msgspec.Struct, frozen=True):
    """One query. `qid` is unique in its split."""

    qid: str
    text: str


type Qrels = dict[str, dict[str, int]]
"""Judgments: qid -> docid -> grade. A grade above 0 is relevant."""


class Hit(msgspec.Struct, frozen=True):
    """One retrieved document: its docid and its score under MaxP."""

    docid: str
    score: float


class Run(msgspec.Struct, frozen=True):
    """A ranking for every query of a split.

    Attributes:
        name: the run tag.
        rankings: qid -> hits by (-score, docid); a query without hits has an empty list.
    """

    name: str
    rankings: dict[str, list[Hit]]


class Evaluation(msgspec.Struct, frozen=True):
    """The measures of one run.

    Attributes:
        means: measure name (ir_measures syntax, such as ``R@100``) -> mean over the judged queries.
        per_query: measure name -> qid -> value.
        counts: how many queries were judged, had no hits, had no relevant document, were unjudged.
    """

    means: dict[str, float]
    per_query: dict[str, dict[str, float]]
    counts: dict[str, int] = {}
