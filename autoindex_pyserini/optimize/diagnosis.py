"""What the validation queries that fail say about the incumbent."""

from __future__ import annotations

from collections.abc import Iterator

from autoindex_pyserini.agents import FieldEvidence, evidence
from autoindex_pyserini.collection import SearchView
from autoindex_pyserini.pipeline import Outcome, Pipeline
from autoindex_pyserini.program import Program
from autoindex_pyserini.types import Document

TOP = 10
"""A relevant document below this rank is a failure."""

MOST_PAIRS = 500
"""Pairs that are looked at, those not retrieved at all first."""


def failures(view: SearchView, outcome: Outcome) -> list[tuple[str, str]]:
    """Pairs of a qid and a relevant docid that is not in the top 10, the worst ranks first.

    At most `MOST_PAIRS`; equal ranks stand in the order of the topics.
    """
    found = [
        (outcome.ranks.get(topic.qid, {}).get(docid), topic.qid, docid)
        for topic in view.validation.topics
        for docid, grade in view.validation.qrels[topic.qid].items()
        if grade > 0
    ]
    failed = [(rank, qid, docid) for rank, qid, docid in found if rank is None or rank > TOP]
    failed.sort(key=lambda row: (row[0] is not None, -(row[0] or 0)))
    return [(qid, docid) for _, qid, docid in failed[:MOST_PAIRS]]


def diagnose(
    pipeline: Pipeline, view: SearchView, incumbent: Program, outcome: Outcome
) -> tuple[FieldEvidence, ...]:
    """What the failing pairs' documents hold of their queries, and the incumbent's passages do not."""
    pairs = failures(view, outcome)
    wanted = {docid for _, docid in pairs}
    documents = {doc.docid: doc for doc in view.documents() if doc.docid in wanted} if wanted else {}
    passages = {
        represented.docid: [passage.contents for passage in represented.passages]
        for batch in pipeline.represent(incumbent, documents.values())
        for represented in batch
    }
    texts = {topic.qid: topic.text for topic in view.validation.topics}

    def cases() -> Iterator[tuple[str, Document, list[str]]]:
        for qid, docid in pairs:
            yield texts[qid], documents[docid], passages[docid]

    return evidence(cases())
