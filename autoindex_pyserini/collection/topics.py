"""Queries (topics): JSON lines, TSV, and TREC's tagged topics."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from autoindex_pyserini.collection.files import chunks, text_lines
from autoindex_pyserini.collection.jsonl import read_object
from autoindex_pyserini.collection.model import Tally
from autoindex_pyserini.collection.records import as_text, take_id
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Topic

_ID_KEYS = ("_id", "id", "qid", "query_id")
_TEXT_KEYS = ("text", "query", "title")
_TSV_HEADER = frozenset({"qid", "query-id", "query_id", "id", "_id", "topic"})
_BLOCK = re.compile(r"<(top|topic)\b([^>]*)>(.*?)(?=</\1\s*>|<\1\b|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num(?:ber)?\s*>\s*(?:Number\s*:)?\s*([^\s<]+)", re.IGNORECASE)
_NUMBER_ATTRIBUTE = re.compile(r"""\b(?:number|id)\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
_TITLE = re.compile(r"<(?:title|query)\s*>\s*(?:Topic\s*:)?(.*?)(?=<|\Z)", re.DOTALL | re.IGNORECASE)


def read_topics(path: Path) -> list[Topic]:
    """Read all queries of a file, in file order. What is in it decides how it is read.

    - JSON lines: ``_id`` (or ``id``, ``qid``, ``query_id``) and ``text`` (or ``query``, ``title``).
    - TREC: ``<top>`` with ``<num>`` and ``<title>``, closed or not, or ``<topic number="...">`` with
      ``<query>`` or ``<title>``. Description and narrative are not read.
    - TSV: the qid, a tab, the text; a header is skipped.

    A query without words is kept, with its empty text, so that it can be counted.

    Raises:
        CollectionError: the file cannot be read, holds no queries or something else, or two share a qid.
    """
    topics: list[Topic] = []
    lines: dict[str, int] = {}
    for number, topic in _read(path):
        if topic.qid in lines:
            raise CollectionError(
                f"{path}:{number}: query id '{topic.qid}' stands in line {lines[topic.qid]} already; "
                "every query needs an id of its own"
            )
        lines[topic.qid] = number
        topics.append(topic)
    if not topics:
        raise CollectionError(
            f'{path}: no queries; a line is {{"_id": "1", "text": "..."}}, or a qid, a tab and the text'
        )
    return topics


def _read(path: Path) -> Iterator[tuple[int, Topic]]:
    start = next(chunks(path), b"").lstrip()[:1]
    if start in (b"{", b"["):
        return _json_lines(path)
    if start == b"<":
        return _trec(path)
    return _tsv(path)


def _json_lines(path: Path) -> Iterator[tuple[int, Topic]]:
    tally = Tally()
    number = 0
    for chunk in chunks(path):
        for raw in chunk.removesuffix(b"\n").split(b"\n"):
            number += 1
            if not raw or raw.isspace():
                continue
            record = read_object(path, number, raw)
            qid = take_id(record, _ID_KEYS, f"{path}:{number}", tally)
            key = next((key for key in _TEXT_KEYS if key in record), None)
            if key is None:
                raise CollectionError(f"{path}:{number}: query '{qid}' has no \"text\"; add it")
            yield number, Topic(qid, (as_text(record[key], tally) or "").strip())


def _tsv(path: Path) -> Iterator[tuple[int, Topic]]:
    for number, line in text_lines(path):
        qid, tab, text = line.partition("\t")
        if not tab or not qid.strip():
            raise CollectionError(
                f"{path}:{number}: {line[:80]!r} is no query; write the qid, a tab and the text, "
                'or JSON lines such as {"_id": "1", "text": "..."}'
            )
        if number > 1 or qid.strip().casefold() not in _TSV_HEADER:
            yield number, Topic(qid.strip(), as_text(text.strip(), Tally()) or "")


def _trec(path: Path) -> Iterator[tuple[int, Topic]]:
    content = "\n".join(_all_lines(path))
    for block in _BLOCK.finditer(content):
        number = content.count("\n", 0, block.start()) + 1
        qid = _NUMBER.search(block[3]) or _NUMBER_ATTRIBUTE.search(block[2])
        title = _TITLE.search(block[3])
        if qid is None or title is None:
            missing = "<num>" if qid is None else "<title>"
            raise CollectionError(f"{path}:{number}: a topic without {missing}; add it")
        text = " ".join(html.unescape(title[1]).split())
        yield number, Topic(qid[1], as_text(text, Tally()) or "")


def _all_lines(path: Path) -> list[str]:
    """All lines at their places, blank ones too, so that positions give line numbers."""
    lines: list[str] = []
    for number, line in text_lines(path):
        lines += [""] * (number - 1 - len(lines))
        lines.append(line)
    return lines
