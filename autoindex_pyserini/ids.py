"""Passage ids: what the Lucene field ``id`` and the ``docid`` file of a FAISS index hold.

A document with one passage is indexed under its own docid; one with several under ``docid#0``,
``docid#1``, ... Characters that would break a six-column run file or the delimiter are percent-encoded, so
that `decode` is the exact inverse and ``#`` in an id is always the delimiter.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

DELIMITER = "#"

_UNSAFE = re.compile(r"[%#,\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060\ufeff]")

_OUT_OF_ORDER = re.compile(f'{_UNSAFE.pattern}|[!"$]')


def encode(docid: str) -> str:
    """The docid with every unsafe character percent-encoded as UTF-8."""
    if _UNSAFE.search(docid) is None:
        return docid
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8")), docid)


def passage_ids(docid: str, count: int) -> list[str]:
    """The ids of a document's passages, in their order."""
    base = encode(docid)
    return [base] if count == 1 else [f"{base}{DELIMITER}{number}" for number in range(count)]


def decode(passage_id: str) -> str:
    """The docid of the document that a passage belongs to."""
    base, _, _ = passage_id.partition(DELIMITER)
    return unquote(base, errors="strict") if "%" in base else base


def follows_order(docid: str) -> bool:
    """True if no docid before this one has passages whose ids come after this one's.

    Docids are compared by code points, and so are passage ids; they differ where a character is encoded or
    comes before the ``#`` and ``%`` that `passage_ids` puts in.
    """
    return _OUT_OF_ORDER.search(docid) is None
