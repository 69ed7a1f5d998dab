"""What travels between the host and a worker, and how it is framed. Both sides import this module.

Every message is a fixed header and a body in MessagePack. The header's length is compared with a bound
that follows from the documents and the limits *before* anything is allocated for the body, and a body is
decoded into typed structs, so a reply of the wrong shape is an error of decoding.

A program shares its process with the harness that answers for it, so it can, in principle, send any
reply that the harness could. The token and the sequence number are there for what it writes by accident
or without having looked; the bounds and the verification on the host's side are there for the rest.
"""

from __future__ import annotations

import struct

import msgspec

from autoindex_pyserini.program.contract import CorpusStatistics
from autoindex_pyserini.settings import Limits

READY, LOADED, RESULTS, FAULT, PROBLEM = range(1, 6)
"""Kinds of reply: confined; program loaded; passages of some documents; the program's fault; no sandbox."""

STARTING, LOADING, IDLE = -3, -2, -1
"""What the progress word holds before and between documents; during one, its position in the batch from 0."""

REQUEST_HEADER = struct.Struct("<QQ")
"""Request: sequence number, bytes of the body."""

REPLY_HEADER = struct.Struct("<16sBQIIQ")
"""Reply: token, kind, sequence number, first document, number of documents, bytes of the body."""

TOKEN_BYTES = 16
MAX_NOTE_BYTES = 1 << 16
"""The most bytes of a reply that carries no passages."""

FREE_BYTES = 4 << 20
"""A reply of passages that is no longer than this needs no bound of its own."""

FRAME_BYTES = 1 << 20
"""A worker sends what it has once the passages in hand hold so many bytes."""

type WirePassage = bytes | tuple[bytes, dict[str, bytes]]
"""A passage in UTF-8: its contents alone, or its contents and its fields. Lone surrogates are kept.

Bytes, because the host looks for what needs mending in the bytes, and then decodes them once.
"""


class Start(msgspec.Struct, frozen=True):
    """The first request: what to run, and under which limits.

    Attributes:
        source: the program's source.
        filename: what tracebacks call it.
        token: opens every reply of this worker.
        fields: the field names that passages may use.
        limits: what the program may do.
        confined: refuse to run the program unless the kernel confines this process.
        corpus: given to a program that asks for it.
    """

    source: str
    filename: str
    token: bytes
    fields: tuple[str, ...]
    limits: Limits
    confined: bool
    corpus: CorpusStatistics | None = None


class Ready(msgspec.Struct, frozen=True):
    """The worker is confined; the program has not been looked at yet.

    Attributes:
        layers: the layers of confinement that took hold, such as ``seccomp``.
    """

    layers: list[str]


class Results(msgspec.Struct, frozen=True, array_like=True):
    """The passages of consecutive documents.

    Attributes:
        documents: for each document its passages; none means that the host falls back to the full text.
        dropped: passages that were None or blank.
    """

    documents: list[list[WirePassage]]
    dropped: int


class Fault(msgspec.Struct, frozen=True):
    """The program failed.

    Attributes:
        kind: ``invalid``, ``crashed`` or ``output``.
        message: one line, without position and line number.
        line: the program's own line, where known.
        index: 0-based position of the document in the batch; None while the program was loaded.
    """

    kind: str
    message: str
    line: int | None
    index: int | None


type Batch = list[tuple[str, str, dict[str, str]]]
"""Documents on the wire: title, text, fields. The docid stays with the host."""


def one_line(text: str, limit: int = 300) -> str:
    """The text as one printable line of at most `limit` characters."""
    flat = "".join(c if c.isprintable() else " " for c in text[: limit + 1])
    flat = " ".join(flat.split())
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."
