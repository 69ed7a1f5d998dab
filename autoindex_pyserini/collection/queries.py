"""Queries from JSON lines, as BEIR has them."""

from __future__ import annotations

from pathlib import Path

from autoindex_pyserini.collection.files import chunks
from autoindex_pyserini.collection.jsonl import as_text, read_object, take_id
from autoindex_pyserini.collection.model import Tally
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Topic


def read_queries(path: Path) -> list[Topic]:
    """Read all queries of a file of JSON lines (``_id`` and ``text``), in file order.

    A query without words is kept here, with its empty text, so that it can be counted.

    Raises:
        CollectionError: the file cannot be read, a line is not a query, or two share a qid.
    """
    topics: list[Topic] = []
    lines: dict[str, int] = {}
    tally = Tally()
    number = 0
    for chunk in chunks(path):
        for raw in chunk.removesuffix(b"\n").split(b"\n"):
            number += 1
            if not raw or raw.isspace():
                continue
            record = read_object(path, number, raw)
            qid = take_id(record, f"{path}:{number}", tally)
            if "text" not in record:
                raise CollectionError(f"{path}:{number}: query '{qid}' has no \"text\"; add it")
            if qid in lines:
                raise CollectionError(
                    f"{path}:{number}: query id '{qid}' stands in line {lines[qid]} already; "
                    "every query needs an id of its own"
                )
            lines[qid] = number
            topics.append(Topic(qid, (as_text(record["text"], tally) or "").strip()))
    if not topics:
        raise CollectionError(
            f'{path}: no queries; every line is an object such as {{"_id": "1", "text": "..."}}'
        )
    return topics
