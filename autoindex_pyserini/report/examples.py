"""Queries that a program fixed or broke, with the ranks of their relevant documents."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from autoindex_pyserini.pipeline import Outcome
from autoindex_pyserini.types import Qrels, Topic


class Example(msgspec.Struct, frozen=True):
    """One query before and after.

    Attributes:
        qid: the query.
        query: its text.
        docid: the relevant document whose rank changed most.
        before: its rank under the first program; None if it was not retrieved.
        after: its rank under the second.
        relevant: how many relevant documents the query has.
    """

    qid: str
    query: str
    docid: str
    before: int | None
    after: int | None
    relevant: int


def examples(
    topics: Sequence[Topic], qrels: Qrels, before: Outcome, after: Outcome, *, fixed: int = 3, broken: int = 1
) -> tuple[list[Example], list[Example]]:
    """The queries that rose and fell most, by the measures in their order, then by qid.

    Args:
        topics: queries of the split that both outcomes are over.
        qrels: its judgments.
        before: the first program's outcome.
        after: the second program's outcome.
        fixed: most queries that rose.
        broken: most queries that fell.

    Returns:
        two lists, of queries that rose and of queries that fell; shorter where fewer did.
    """
    values_before, values_after = before.evaluation.per_query, after.evaluation.per_query
    changes = [
        (
            tuple(values_after[name][topic.qid] - values_before[name][topic.qid] for name in values_before),
            topic,
        )
        for topic in topics
    ]
    rose = sorted(
        (row for row in changes if _sign(row[0]) > 0), key=lambda row: (_falling(row[0]), row[1].qid)
    )
    fell = sorted((row for row in changes if _sign(row[0]) < 0), key=lambda row: (row[0], row[1].qid))

    def show(topic: Topic, direction: int) -> Example:
        ranks = (before.ranks.get(topic.qid, {}), after.ranks.get(topic.qid, {}))
        relevant = [docid for docid, grade in qrels[topic.qid].items() if grade > 0]
        docid = max(
            relevant, key=lambda one: direction * (_gain(ranks[1].get(one)) - _gain(ranks[0].get(one)))
        )
        return Example(topic.qid, topic.text, docid, ranks[0].get(docid), ranks[1].get(docid), len(relevant))

    return [show(topic, 1) for _, topic in rose[:fixed]], [show(topic, -1) for _, topic in fell[:broken]]


def _sign(changes: tuple[float, ...]) -> int:
    """The direction of the first measure that changed."""
    first = next((change for change in changes if change), 0.0)
    return (first > 0) - (first < 0)


def _falling(changes: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(-change for change in changes)


def _gain(rank: int | None) -> float:
    """A document's worth at a rank: the reciprocal rank."""
    return 1 / rank if rank else 0.0
