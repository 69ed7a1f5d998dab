"""Run files: six-column TREC for every other tool, JSON lines where a docid does not fit in a column."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec

from autoindex_pyserini.errors import InputError
from autoindex_pyserini.files import write_atomically
from autoindex_pyserini.types import Run

_BLANK = re.compile(r"\s|^$")


class RunFormatError(InputError):
    """A run holds an id that the format of the file cannot carry."""


def write_run(path: Path, run: Run) -> None:
    """Write a run: JSON lines if the name ends in ``.jsonl``, else the six columns of TREC.

    Ranks count from 1. Scores fall strictly within a query, also as float32: tools that sort by score, each
    with its own order of ties, then all see our order. A tied score is lowered by the least that float32 can
    hold.

    Raises:
        RunFormatError: a qid or docid with white space, or an empty one, in a TREC run; names it.
    """
    lines = _json_lines(run) if path.suffix == ".jsonl" else _trec_lines(run, path)
    write_atomically(path, "".join(lines).encode())


def _trec_lines(run: Run, path: Path) -> Iterator[str]:
    for qid, docid, rank, score in _rows(run):
        for kind, value in (("qid", qid), ("docid", docid)):
            if _BLANK.search(value):
                raise RunFormatError(
                    f"{path}: {kind} {value!r} has white space, which a TREC run cannot carry; "
                    "give an output name that ends in .jsonl"
                )
        yield f"{qid} Q0 {docid} {rank} {score:.9g} {run.name}\n"


def _json_lines(run: Run) -> Iterator[str]:
    for qid, docid, rank, score in _rows(run):
        row = {"qid": qid, "docid": docid, "rank": rank, "score": score, "run": run.name}
        yield msgspec.json.encode(row).decode() + "\n"


def _rows(run: Run) -> Iterator[tuple[str, str, int, float]]:
    for qid, hits in run.rankings.items():
        last = float("inf")
        for rank, hit in enumerate(hits, 1):
            last = min(_float32(hit.score), _below(last))
            yield qid, hit.docid, rank, last


def _float32(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _below(value: float) -> float:
    """The next smaller float32."""
    if value == float("inf"):
        return value
    if value == 0:
        return -struct.unpack("f", struct.pack("I", 1))[0]  # type: ignore[no-any-return]
    bits = struct.unpack("I", struct.pack("f", value))[0]
    return float(struct.unpack("f", struct.pack("I", bits - 1 if value > 0 else bits + 1))[0])
