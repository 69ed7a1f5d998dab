"""The same document must give the same passages: in another process, order and hash seed.

A program that breaks this rule cannot be judged, since its next index would be another one. The check
reruns a sample of documents in a fresh worker, with another hash seed, in reverse order, and compares.
It finds randomness, use of hashes and of the order of sets, time, and state carried from one document to
the next, wherever they show in the sample.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from autoindex_pyserini.errors import NondeterministicProgramError, ProgramFault
from autoindex_pyserini.sandbox.pool import Sandbox
from autoindex_pyserini.sandbox.protocol import one_line
from autoindex_pyserini.types import Document, Passage, Represented

SAMPLE_SIZE = 32
_OTHER_HASH_SEED = 4_242_424_242


class Sampled(msgspec.Struct, frozen=True):
    """A document of the stream, and what the program made of it."""

    position: int
    document: Document
    passages: list[Passage]


class Sample:
    """A seeded reservoir: every document of a stream is equally likely to be in it."""

    def __init__(self, size: int = SAMPLE_SIZE, seed: int = 0) -> None:
        self._size = size
        self._random = random.Random(seed)
        self._seen = 0
        self._slots: dict[int, tuple[int, Document]] = {}
        self._waiting: dict[int, Document] = {}
        self._chosen: dict[int, Sampled] = {}

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Pass the stream through, and choose from it."""
        for position, document in enumerate(documents):
            slot = position if position < self._size else self._random.randrange(position + 1)
            if slot < self._size:
                old = self._slots.get(slot)
                if old is not None:
                    self._waiting.pop(old[0], None)
                    self._chosen.pop(old[0], None)
                self._slots[slot] = (position, document)
                self._waiting[position] = document
            yield document

    def note(self, represented: Sequence[Represented]) -> None:
        """Note what the next documents of the stream became."""
        begin, self._seen = self._seen, self._seen + len(represented)
        for position in [p for p in self._waiting if p < self._seen]:
            document = self._waiting.pop(position)
            self._chosen[position] = Sampled(position, document, represented[position - begin].passages)

    def sampled(self) -> list[Sampled]:
        """The chosen documents whose passages are known, in the order of the stream."""
        return [self._chosen[position] for position in sorted(self._chosen)]


def verify_determinism(sandbox: Sandbox, sample: Sequence[Sampled]) -> None:
    """Rerun a sample in a fresh worker, in reverse order, and compare.

    Raises:
        NondeterministicProgramError: a document gave other passages, or a fault. Names the first one's
            position in the stream.
    """
    if not sample:
        return
    reverse = sorted(sample, key=lambda one: one.position, reverse=True)
    documents = [one.document for one in reverse]
    again: list[Represented] = []
    verifier = sandbox.verifier()
    worker = sandbox.fresh_worker(_OTHER_HASH_SEED)
    try:
        worker.start()
        for reply in worker.ask(sandbox.request(documents, 0)):
            again += verifier.verify(reply, documents, 0).represented
    except ProgramFault as fault:
        at = reverse[min(len(again), len(reverse) - 1)]
        error = NondeterministicProgramError(
            f"document {at.position} of the stream gave passages, and a fault when run again in another "
            f"process and order: {fault}; {_RULE}",
            line=fault.line,
            position=at.position,
        )
        error.docid = at.document.docid
        raise error from None
    finally:
        worker.close()
    different = [(a, b) for a, b in zip(reverse, again, strict=True) if a.passages != b.passages]
    if different:
        first, other = different[-1]
        error = NondeterministicProgramError(
            f"{len(different)} of {len(sample)} documents gave other passages when run again in another "
            f"process, order and hash seed, the first of them document {first.position} of the stream: "
            f"{_difference(first.passages, other.passages)}; {_RULE}",
            position=first.position,
        )
        error.docid = first.document.docid
        raise error


_RULE = (
    "a program's passages must depend on the document alone: no state, sets' order, hashes, time or chance"
)


def _difference(before: list[Passage], after: list[Passage]) -> str:
    """Where two lists of passages first differ, on one line."""
    for number, (a, b) in enumerate(zip(before, after, strict=False)):
        if a != b:
            x, y = (a.contents, b.contents) if a.contents != b.contents else (str(a.fields), str(b.fields))
            begin = next(
                (i for i, (c, d) in enumerate(zip(x, y, strict=False)) if c != d), min(len(x), len(y))
            )
            begin = max(0, begin - 20)
            return f"passage {number} '{one_line(x[begin:], 50)}', then '{one_line(y[begin:], 50)}'"
    return f"{len(before)} passages, then {len(after)}"
