"""From documents, topics and judgments to a validated collection. Every source ends here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from autoindex_pyserini.collection.judgments import Judgments
from autoindex_pyserini.collection.model import Collection, DocumentSource, LoadReport, Progress, Split
from autoindex_pyserini.collection.scan import Scan
from autoindex_pyserini.collection.splits import (
    DEFAULT_RATIO,
    DEFAULT_SEED,
    TEST,
    VALIDATION,
    normalised,
    split_by_hash,
)
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Qrels, Topic

UNKNOWN_DOCUMENT = "the docid is not in the collection"
UNKNOWN_QUERY = "the qid is not among the queries"
NO_TEXT = "the query has no text"
ALSO_IN_TEST = "the query is in the test split too"


class QuerySet(msgspec.Struct, frozen=True):
    """Queries, and the judgments that belong to them.

    Attributes:
        topics: all queries; two sets may share one list.
        judgments: some of them may name other queries or documents: these are counted and left out.
    """

    topics: list[Topic]
    judgments: Judgments


class Parts(msgspec.Struct, frozen=True):
    """What a source found, before it is checked.

    Attributes:
        name: the collection's name.
        where: the folder or other place to name in messages about queries.
        documents: the documents.
        queries: under ``validation`` and ``test`` where the source has splits of its own; else one set
            under ``""``, to be split by hash.
        notes: for the report.
    """

    name: str
    where: str
    documents: DocumentSource
    queries: dict[str, QuerySet]
    notes: tuple[str, ...] = ()


def assemble(
    parts: Parts,
    *,
    seed: int | None = None,
    ratio: tuple[int, int] = DEFAULT_RATIO,
    progress: Progress | None = None,
) -> Collection:
    """Check everything once and build the collection. Reads the documents once.

    Args:
        parts: what the source found.
        seed: of the split, where the source has none of its own; None is `DEFAULT_SEED`.
        ratio: validation to test, where the source has no split of its own.
        progress: told about documents read.

    Raises:
        CollectionError: a document or an id is unusable, the collection is empty or holds no text, the
            judgments name no document, or a split would have no query with a relevant document.
    """
    judged = {
        docid for each in parts.queries.values() for pairs in each.judgments.qrels.values() for docid in pairs
    }
    scan = Scan(parts.documents, judged, progress)
    if scan.empty == scan.documents and not scan.fields:
        raise CollectionError(
            f"{parts.documents.where}: none of the {scan.documents:,} documents has any text; check which "
            "keys hold title and text"
        )
    counts = _Counts()
    usable = {name: _usable(name, each, scan.unknown, counts) for name, each in parts.queries.items()}
    if not any(split.topics for split in usable.values()):
        raise _nothing_judged(parts, scan.unknown)
    if "" in usable:
        splits = _split_one(usable[""], DEFAULT_SEED if seed is None else seed, ratio)
    else:
        splits = _keep_apart(usable, counts)
    for split in splits.values():
        _require_relevant(split, parts)
    return Collection(
        name=parts.name,
        fingerprint=scan.fingerprint(tuple(splits.values())),
        num_documents=scan.documents,
        validation=splits[VALIDATION],
        report=_report(parts, scan, counts, splits),
        _source=parts.documents,
        _test=splits[TEST],
    )


class _Counts:
    """What is counted between reading the judgments and having the splits."""

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()
        self.unknown_queries: set[str] = set()


def _usable(name: str, queries: QuerySet, unknown: set[str], counts: _Counts) -> Split:
    """Keep the queries that have text and are judged on a known document, and count the others."""
    with_text = {topic.qid for topic in queries.topics if topic.text}
    all_qids = {topic.qid for topic in queries.topics}
    kept: Qrels = {}
    for qid, pairs in queries.judgments.qrels.items():
        if qid not in all_qids:
            counts.unknown_queries.add(qid)
            counts.dropped[UNKNOWN_QUERY] += len(pairs)
            continue
        known = {docid: grade for docid, grade in pairs.items() if docid not in unknown}
        counts.dropped[UNKNOWN_DOCUMENT] += len(pairs) - len(known)
        if qid not in with_text:
            counts.dropped[NO_TEXT] += len(known)
        elif known:
            kept[qid] = known
    return Split(name, tuple(topic for topic in queries.topics if topic.qid in kept), kept)


def _split_one(queries: Split, seed: int, ratio: tuple[int, int]) -> dict[str, Split]:
    sides = split_by_hash(queries.topics, seed=seed, ratio=ratio)
    return {
        name: _part(name, queries, {qid for qid, side in sides.items() if side == name})
        for name in (VALIDATION, TEST)
    }


def _keep_apart(own: Mapping[str, Split], counts: _Counts) -> dict[str, Split]:
    """Take the source's own splits; a query of both, or a near-duplicate, stays in the test split only."""
    tested = {normalised(topic.text) for topic in own[TEST].topics}
    validation = own[VALIDATION]
    apart = {topic.qid for topic in validation.topics if normalised(topic.text) not in tested}
    counts.dropped[ALSO_IN_TEST] += sum(
        len(pairs) for qid, pairs in validation.qrels.items() if qid not in apart
    )
    everything = {topic.qid for topic in own[TEST].topics}
    return {VALIDATION: _part(VALIDATION, validation, apart), TEST: _part(TEST, own[TEST], everything)}


def _part(name: str, queries: Split, qids: set[str]) -> Split:
    topics = tuple(topic for topic in queries.topics if topic.qid in qids)
    return Split(name, topics, {topic.qid: queries.qrels[topic.qid] for topic in topics})


def _has_relevant(pairs: Mapping[str, int]) -> bool:
    return any(grade > 0 for grade in pairs.values())


def _require_relevant(split: Split, parts: Parts) -> None:
    if not any(_has_relevant(pairs) for pairs in split.qrels.values()):
        remedy = "add judged queries" + (
            ", or another [split] seed in a collection.toml" if "" in parts.queries else ""
        )
        raise CollectionError(
            f"{parts.where}: the {split.name} split would have no query with a relevant document "
            f"({len(split.topics)} judged queries fall into it); {remedy}"
        )


def _nothing_judged(parts: Parts, unknown: set[str]) -> CollectionError:
    first = next(iter(parts.queries.values())).judgments
    known = {topic.qid for each in parts.queries.values() for topic in each.topics if topic.text}
    judged = {qid for each in parts.queries.values() for qid in each.judgments.qrels}
    if not known:
        return CollectionError(f"{parts.where}: none of its queries has any text; check which key holds it")
    if not known & judged:
        what = f"names no query of {parts.where} (its first is '{next(iter(first.qrels))}')"
    else:
        example = next(docid for pairs in first.qrels.values() for docid in pairs if docid in unknown)
        what = f"names no document of {parts.documents.where} (its first is '{example}')"
    return CollectionError(f"{first.where}: {what}; write the ids as they are written there")


def _report(parts: Parts, scan: Scan, counts: _Counts, splits: Mapping[str, Split]) -> LoadReport:
    kept = [pairs for split in splits.values() for pairs in split.qrels.values()]
    grades = Counter(grade for pairs in kept for grade in pairs.values())
    used = sum(len(split.topics) for split in splits.values())
    lists = {id(each.topics): each.topics for each in parts.queries.values()}.values()
    queries = sum(map(len, lists))
    without_text = sum(not topic.text for topics in lists for topic in topics)
    report: dict[str, Any] = {
        "documents": scan.documents,
        "empty_documents": scan.empty,
        "coerced_values": scan.tally.coerced,
        "null_values": scan.tally.nulls,
        "mended_values": scan.tally.mended,
        "fields": dict(scan.fields.most_common()),
        "queries": queries,
        "queries_without_text": without_text,
        "queries_without_judgments": queries - without_text - used,
        "queries_without_relevant": sum(not _has_relevant(pairs) for pairs in kept),
        "queries_unknown": len(counts.unknown_queries),
        "judged_pairs": grades.total(),
        "pairs_dropped": {reason: count for reason, count in counts.dropped.items() if count},
        "pairs_repeated": sum(each.judgments.repeated for each in parts.queries.values()),
        "negative_grades": sum(count for grade, count in grades.items() if grade < 0),
        "grades": dict(sorted(grades.items())),
        "splits": {name: len(split.topics) for name, split in splits.items()},
        "notes": (*parts.notes, *_without_text(scan)),
    }
    return LoadReport(**report)


def _without_text(scan: Scan) -> tuple[str, ...]:
    if scan.empty < scan.documents:
        return ()
    names = ", ".join(sorted(scan.fields)[:5])
    return (f"no document has a title or a text; only programs that read fields ({names}) find anything",)
