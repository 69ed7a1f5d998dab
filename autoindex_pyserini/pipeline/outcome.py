"""What came of one program: its evaluation, where the relevant documents stand, and what it cost."""

from __future__ import annotations

from pathlib import Path

import msgspec

from autoindex_pyserini.files import write_atomically
from autoindex_pyserini.types import Evaluation, Qrels, Run


class Costs(msgspec.Struct, frozen=True):
    """What an evaluation took. Seconds are wall-clock and differ from machine to machine.

    Attributes:
        documents: documents of the collection.
        passages: passages indexed.
        fallbacks: documents whose program gave nothing, indexed as their full text.
        empty_documents: documents without any text, indexed as a placeholder that no query matches.
        mended_passages: passages in which a character that cannot be indexed was replaced.
        dropped_passages: passages that were None or blank, and are not indexed.
        index_bytes: size of the index on disk, in bytes.
        index_seconds: running the program and indexing its passages.
        search_seconds: searching all topics.
    """

    documents: int
    passages: int
    fallbacks: int
    empty_documents: int
    mended_passages: int
    dropped_passages: int
    index_bytes: int
    index_seconds: float
    search_seconds: float = 0.0


class Outcome(msgspec.Struct, frozen=True):
    """One program on one split.

    Attributes:
        program_id: content hash of the program.
        split: ``validation`` or ``test``.
        evaluation: measures, mean and per query.
        ranks: qid -> docid of each relevant document that was retrieved -> its rank, from 1.
        costs: counts, bytes and seconds.
    """

    program_id: str
    split: str
    evaluation: Evaluation
    ranks: dict[str, dict[str, int]]
    costs: Costs


def relevant_ranks(run: Run, qrels: Qrels) -> dict[str, dict[str, int]]:
    """The ranks, from 1, of every query's relevant documents; a document that was not retrieved is absent."""
    return {
        qid: {
            hit.docid: rank
            for rank, hit in enumerate(run.rankings.get(qid, []), 1)
            if grades.get(hit.docid, 0) > 0
        }
        for qid, grades in qrels.items()
    }


def write_outcome(path: Path, outcome: Outcome) -> None:
    """Write an outcome as JSON, in one step: the file is whole or absent."""
    write_atomically(path, msgspec.json.encode(outcome, order="deterministic") + b"\n")


def read_outcome(path: Path) -> Outcome:
    """Read what `write_outcome` wrote."""
    return msgspec.json.decode(path.read_bytes(), type=Outcome)
