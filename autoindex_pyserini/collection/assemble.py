"""From documents, topics and judgments to a validated collection. Every source ends here."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from autoindex_pyserini.collection.judgments import Judgments
from autoindex_pyserini.collection.model import Collection, DocumentSource, LoadReport, Progress, Split, Tally
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

_PROGRESS_EVERY = 1000
_FLUSH_BYTES = 1 << 16
UNKNOWN_DOCUMENT = "the docid is not in the collection"
UNKNOWN_QUERY = "the qid is not among the queries"
ALSO_IN_TEST = "the query is in the test split too"


class Parts(msgspec.Struct, frozen=True):
    """What a source found, before it is checked.

    Attributes:
        name: the collection's name.
        where: the file or folder to name in messages.
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
    scan = _Scan(parts, judged, progress)
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
    for split in splits.values():
        scan.hash_split(split)
    return Collection(
        name=parts.name,
        fingerprint=scan.hasher.hexdigest(),
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


class _Scan:
    """One pass over the documents: count, unique docids, fingerprint, which judged documents exist."""

    def __init__(self, parts: Parts, judged: set[str], progress: Progress | None) -> None:
        self.hasher = hashlib.sha256()
        self.tally = Tally()
        self.documents = 0
        self.empty = 0
        self.fields: Counter[str] = Counter()
        self.unknown = judged
        self._encode = msgspec.json.Encoder(order="deterministic").encode
        self._read(parts, progress)

    def _read(self, parts: Parts, progress: Progress | None) -> None:
        # A hash of eight bytes for each docid: a set of strings would be ten times as large. Equal
        # hashes are only a suspicion, which _refuse_duplicates follows up on the documents themselves.
        hashes = array("q")
        waiting: list[bytes] = []
        size = 0
        unknown = self.unknown
        for document in parts.documents.documents(self.tally):
            hashes.append(hash(document.docid))
            unknown.discard(document.docid)
            if document.fields:
                self.fields.update([name for name, value in document.fields.items() if value])
            if not document.text.strip() and not document.title.strip():
                self.empty += 1
            encoded = self._encode(document)
            waiting.append(encoded)
            size += len(encoded)
            if size > _FLUSH_BYTES:
                self.hasher.update(b"\n".join(waiting) + b"\n")
                waiting, size = [], 0
            if progress and len(hashes) % _PROGRESS_EVERY == 0:
                progress("reading documents", len(hashes), None)
        if waiting:
            self.hasher.update(b"\n".join(waiting) + b"\n")
        self.documents = len(hashes)
        if not hashes:
            raise CollectionError(f"{parts.where}: holds no documents; add at least one")
        if progress:
            progress("reading documents", self.documents, self.documents)
        _refuse_duplicates(parts, hashes)

    def hash_split(self, split: Split) -> None:
        """Put a split into the fingerprint, independent of the order of topics and judgments."""
        topics = sorted(split.topics, key=lambda topic: topic.qid)
        judged = [[topic.qid, topic.text, sorted(split.qrels[topic.qid].items())] for topic in topics]
        self.hasher.update(self._encode([split.name, judged]) + b"\n")


def _refuse_duplicates(parts: Parts, hashes: array[int]) -> None:
    import numpy as np  # 0.1 s, and needed only where documents are read

    ordered = np.sort(np.frombuffer(hashes, dtype=np.int64))
    repeated = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
    if not repeated:
        return
    first: dict[str, int] = {}
    for position, document in enumerate(parts.documents.documents()):
        if hashes[position] in repeated:
            if document.docid in first:
                raise CollectionError(
                    f"{parts.documents.locate(position)}: document id '{document.docid}' is taken already by "
                    f"{parts.documents.locate(first[document.docid])}; every document needs an id of its own"
                )
            first[document.docid] = position


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
        if known and qid in with_text:
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
        raise CollectionError(
            f"{parts.where}: the {split.name} split would have no query with a relevant document "
            f"({len(split.topics)} of {len(parts.topics)} queries fall into it); "
            "add judged queries, or give another seed"
        )


def _nothing_judged(parts: Parts, unknown: set[str]) -> CollectionError:
    judgments = next(iter(parts.judgments.values()))
    qids = {topic.qid for topic in parts.topics if topic.text}
    if not any(qid in qids for each in parts.judgments.values() for qid in each.qrels):
        what = f"names no query of the collection (its first is '{next(iter(judgments.qrels))}')"
    else:
        example = next(docid for pairs in judgments.qrels.values() for docid in pairs if docid in unknown)
        what = f"names no document of the collection (its first is '{example}')"
    return CollectionError(f"{judgments.path}: {what}; check that the ids are written as in {parts.where}")


def _report(parts: Parts, scan: _Scan, counts: _Counts, splits: Mapping[str, Split]) -> LoadReport:
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
