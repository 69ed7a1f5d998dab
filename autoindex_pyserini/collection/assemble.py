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


class Parts(msgspec.Struct, frozen=True):
    """What a source found, before it is checked.

    Attributes:
        name: the collection's name.
        where: the folder or other place to name in messages about queries and judgments.
        documents: the documents.
        topics: all queries.
        judgments: under ``test`` and ``validation`` where the source has splits of its own; else under
            ``""``, to be split by hash.
        notes: for the report.
    """

    name: str
    where: str
    documents: DocumentSource
    topics: list[Topic]
    judgments: dict[str, Judgments]
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
        CollectionError: a document or an id is unusable, the collection is empty, the judgments name no
            document, or a split would have no query with a relevant document.
    """
    judged = {docid for each in parts.judgments.values() for pairs in each.qrels.values() for docid in pairs}
    scan = Scan(parts.documents, judged, progress)
    counts = _Counts()
    usable = {name: _usable(each, parts, scan.unknown, counts) for name, each in parts.judgments.items()}
    if not any(usable.values()):
        raise _nothing_judged(parts, scan.unknown)
    topics = [topic for topic in parts.topics if topic.text]
    if "" in usable:
        qrels = usable[""]
        sides = split_by_hash(
            [topic for topic in topics if topic.qid in qrels],
            seed=DEFAULT_SEED if seed is None else seed,
            ratio=ratio,
        )
    else:
        qrels, sides = _own_splits(topics, usable, counts)
    splits = {name: _split(name, topics, qrels, sides) for name in (VALIDATION, TEST)}
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


def _usable(judgments: Judgments, parts: Parts, unknown: set[str], counts: _Counts) -> Qrels:
    """Keep the judgments of known queries about known documents, and count the others."""
    with_text = {topic.qid for topic in parts.topics if topic.text}
    all_qids = {topic.qid for topic in parts.topics}
    kept: Qrels = {}
    for qid, pairs in judgments.qrels.items():
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
    return kept


def _own_splits(
    topics: list[Topic], usable: Mapping[str, Qrels], counts: _Counts
) -> tuple[Qrels, dict[str, str]]:
    """Take the source's own splits; a query of both, or a near-duplicate, stays in the test split only."""
    texts = {topic.qid: normalised(topic.text) for topic in topics}
    qrels = dict(usable[TEST])
    sides = dict.fromkeys(qrels, TEST)
    tested = {texts[qid] for qid in qrels}
    for qid, pairs in usable[VALIDATION].items():
        if qid in sides or texts[qid] in tested:
            counts.dropped[ALSO_IN_TEST] += len(pairs)
        else:
            qrels[qid] = pairs
            sides[qid] = VALIDATION
    return qrels, sides


def _split(name: str, topics: list[Topic], qrels: Qrels, sides: Mapping[str, str]) -> Split:
    chosen = tuple(topic for topic in topics if sides.get(topic.qid) == name)
    return Split(name, chosen, {topic.qid: qrels[topic.qid] for topic in chosen})


def _has_relevant(pairs: Mapping[str, int]) -> bool:
    return any(grade > 0 for grade in pairs.values())


def _require_relevant(split: Split, parts: Parts) -> None:
    if not any(_has_relevant(pairs) for pairs in split.qrels.values()):
        remedy = "add judged queries" + (", or give another seed" if "" in parts.judgments else "")
        raise CollectionError(
            f"{parts.where}: the {split.name} split would have no query with a relevant document "
            f"({len(split.topics)} of {len(parts.topics)} queries fall into it); {remedy}"
        )


def _nothing_judged(parts: Parts, unknown: set[str]) -> CollectionError:
    judgments = next(iter(parts.judgments.values()))
    qids = {topic.qid for topic in parts.topics if topic.text}
    if not any(qid in qids for each in parts.judgments.values() for qid in each.qrels):
        what = f"names no query of {parts.where} (its first is '{next(iter(judgments.qrels))}')"
    else:
        example = next(docid for pairs in judgments.qrels.values() for docid in pairs if docid in unknown)
        what = f"names no document of {parts.documents.where} (its first is '{example}')"
    return CollectionError(f"{judgments.path}: {what}; write the ids as they are written there")


def _report(parts: Parts, scan: Scan, counts: _Counts, splits: Mapping[str, Split]) -> LoadReport:
    kept = [pairs for split in splits.values() for pairs in split.qrels.values()]
    grades = Counter(grade for pairs in kept for grade in pairs.values())
    used = sum(len(split.topics) for split in splits.values())
    without_text = sum(not topic.text for topic in parts.topics)
    report: dict[str, Any] = {
        "documents": scan.documents,
        "empty_documents": scan.empty,
        "coerced_values": scan.tally.coerced,
        "null_values": scan.tally.nulls,
        "mended_values": scan.tally.mended,
        "fields": dict(scan.fields.most_common()),
        "queries": len(parts.topics),
        "queries_without_text": without_text,
        "queries_without_judgments": len(parts.topics) - without_text - used,
        "queries_without_relevant": sum(not _has_relevant(pairs) for pairs in kept),
        "queries_unknown": len(counts.unknown_queries),
        "judged_pairs": grades.total(),
        "pairs_dropped": {reason: count for reason, count in counts.dropped.items() if count},
        "pairs_repeated": sum(each.repeated for each in parts.judgments.values()),
        "negative_grades": sum(count for grade, count in grades.items() if grade < 0),
        "grades": dict(sorted(grades.items())),
        "splits": {name: len(split.topics) for name, split in splits.items()},
        "notes": parts.notes,
    }
    return LoadReport(**report)
