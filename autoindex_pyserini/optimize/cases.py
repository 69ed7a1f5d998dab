"""Validation queries to look into: what the incumbent lost, what it does not find, what it almost has first.

The three kinds are AutoIndex's (arXiv 2607.18603, section 3). The choice is seeded, so that a resumed run
shows the same cases.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec

from autoindex_pyserini.agents import Case
from autoindex_pyserini.collection import Split
from autoindex_pyserini.pipeline import IndexView, Outcome

ABOVE = 3
"""Wrong documents that are shown with a case."""

KINDS = ("anchor", "recall_violation", "small_margin")


class Pair(msgspec.Struct, frozen=True):
    """A query and one of its relevant documents, as the two programs rank it.

    Attributes:
        kind: one of `KINDS`.
        qid: the query.
        docid: the document.
        rank: under the incumbent, from 1; None if it is not retrieved.
        first_rank: under the first program.
    """

    kind: str
    qid: str
    docid: str
    rank: int | None
    first_rank: int | None


def choose(split: Split, first: Outcome, incumbent: Outcome, *, count: int, seed: int) -> list[Pair]:
    """Choose pairs to show: at most `count` of each kind, of as many different queries as there are.

    Args:
        split: the queries, and their judgments; a grade above 0 is relevant.
        first: the first program on these queries.
        incumbent: the present one.
        count: most pairs of a kind.
        seed: seeds the choice, together with the incumbent's id.

    Returns:
        pairs by kind, in the order of `KINDS`; within a kind as they were drawn.
    """
    chance = random.Random(f"{seed} {incumbent.program_id}")
    pairs = list(_pairs(split, first, incumbent))
    chance.shuffle(pairs)
    chosen: list[Pair] = []
    shown: dict[str, int] = {}
    for kind in KINDS:
        left = [pair for pair in pairs if pair.kind == kind]
        for _ in range(min(count, len(left))):
            pair = min(left, key=lambda one: shown.get(one.qid, 0))  # the first drawn of equals
            left.remove(pair)
            shown[pair.qid] = shown.get(pair.qid, 0) + 1
            chosen.append(pair)
    return chosen


def _pairs(split: Split, first: Outcome, incumbent: Outcome) -> Iterator[Pair]:
    for topic in split.topics:
        ranks, first_ranks = incumbent.ranks.get(topic.qid, {}), first.ranks.get(topic.qid, {})
        for docid, grade in sorted(split.qrels[topic.qid].items()):
            rank, first_rank = ranks.get(docid), first_ranks.get(docid)
            if grade > 0 and rank != 1:
                yield Pair(_kind(rank, first_rank), topic.qid, docid, rank, first_rank)


def _kind(rank: int | None, first_rank: int | None) -> str:
    if rank is not None:
        return "small_margin"
    return "recall_violation" if first_rank is None else "anchor"


def describe(pairs: list[Pair], split: Split, view: IndexView) -> tuple[Case, ...]:
    """Make cases of pairs: texts and references for qids and docids, and what the incumbent ranks above.

    Args:
        pairs: from `choose`.
        split: the queries, and their judgments.
        view: the incumbent's index.
    """
    texts = {topic.qid: topic.text for topic in split.topics}

    def case(pair: Pair) -> Case:
        relevant = {view.reference(docid) for docid, grade in split.qrels[pair.qid].items() if grade > 0}
        ranking = view.ranking(texts[pair.qid])
        before = ranking if pair.rank is None else ranking[: pair.rank - 1]
        above = [hit.reference for hit in before if hit.reference not in relevant]
        return Case(
            kind=pair.kind,
            query=texts[pair.qid],
            relevant=view.reference(pair.docid),
            rank=pair.rank,
            first_rank=pair.first_rank,
            above=tuple(above[:ABOVE]),
        )

    return tuple(map(case, pairs))
