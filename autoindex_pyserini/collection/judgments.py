"""Judgments (qrels) from TREC files of four columns and BEIR files of three."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from autoindex_pyserini.collection.files import text_lines
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Qrels

_HEADER_NAMES = frozenset({"query-id", "query_id", "queryid", "qid", "query", "topic", "topic-id"})

MOST_GRADE = 10_000
"""The largest grade, and with a minus sign the smallest: trec_eval keeps a count for each grade up to it."""


class Judgments(msgspec.Struct, frozen=True):
    """The judgments of one source, before they meet documents and topics.

    Attributes:
        where: the file or other place to name in messages.
        qrels: qid -> docid -> grade, in file order.
        repeated: further copies of a pair, with the same grade.
    """

    where: str
    qrels: Qrels
    repeated: int


def read_judgments(path: Path) -> Judgments:
    """Read a qrels file; columns are told apart by tabs if there are any, else by white space.

    Four columns are TREC (``qid iteration docid grade``), three are BEIR (``qid docid grade``), with or
    without a header. A docid may hold spaces. Grades may be written as floats if they are whole.

    Raises:
        CollectionError: the file cannot be read, a line has too few columns, a grade is not a whole
            number or out of range, a pair has two different grades, or there is no judgment at all.
    """
    qrels: Qrels = {}
    lines: dict[tuple[str, str], int] = {}
    repeated = 0
    columns = 0
    for number, line in text_lines(path):
        if not columns:
            columns = _count_columns(line)
            if _is_header(line):
                continue
        qid, docid, grade = _parse(line, columns, f"{path}:{number}")
        judged = qrels.setdefault(qid, {})
        if docid in judged:
            if judged[docid] != grade:
                raise CollectionError(
                    f"{path}:{number}: query '{qid}', document '{docid}' has grade {grade}, but grade "
                    f"{judged[docid]} in line {lines[qid, docid]}; keep one of the two"
                )
            repeated += 1
        else:
            judged[docid] = grade
            lines[qid, docid] = number
    if not qrels:
        raise CollectionError(
            f"{path}: no judgments; a line is 'qid 0 docid grade' or 'qid<TAB>docid<TAB>grade'"
        )
    return Judgments(str(path), qrels, repeated)


def _split(line: str) -> list[str]:
    return [part.strip() for part in line.split("\t")] if "\t" in line.strip() else line.split()


def _count_columns(line: str) -> int:
    """Three or four columns, judged by the first line; further words belong to a docid with spaces."""
    return 3 if len(_split(line)) <= 3 else 4


def _is_header(line: str) -> bool:
    return _split(line)[0].casefold() in _HEADER_NAMES and _whole_number(_split(line)[-1]) is None


def _parse(line: str, columns: int, where: str) -> tuple[str, str, int]:
    if "\t" in line.strip():
        parts = _split(line)
    else:  # all but the docid are single words, so what is left over between them is the docid
        left = line.split(None, columns - 2)
        parts = left[:-1] + left[-1].rsplit(None, 1)
    if len(parts) != columns or not all(parts):
        form = "qid 0 docid grade" if columns == 4 else "qid docid grade"
        found = len([part for part in parts if part])
        raise CollectionError(
            f"{where}: {line.strip()[:80]!r} has {found} {'column' if found == 1 else 'columns'}, "
            f"expected are {columns}; write '{form}'"
        )
    grade = _whole_number(parts[-1])
    if grade is None:
        raise CollectionError(
            f"{where}: grade {parts[-1]!r} is not a whole number; grades are 0, 1, 2, ... (1.0 is accepted)"
        )
    check_grade(grade, where)
    return parts[0], parts[-2], grade


def check_grade(grade: int, where: str) -> None:
    """Check that a grade is one that can be computed with.

    Raises:
        CollectionError: it is too large, or too small.
    """
    if abs(grade) > MOST_GRADE:
        raise CollectionError(
            f"{where}: grade {grade:.4g} is out of range; grades are whole numbers from {-MOST_GRADE:,} to "
            f"{MOST_GRADE:,}, mostly 0, 1, 2, ..."
        )


def _whole_number(text: str) -> int | None:
    if "_" in text:  # digits may be grouped so in Python, and nowhere else
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if math.isfinite(value) and value.is_integer() else None
