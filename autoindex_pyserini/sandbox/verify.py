"""What the host makes of a reply: decoded into types, compared with every rule again, paired with docids.

A worker shares its process with the program, so none of its checks counts here.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from autoindex_pyserini.errors import ProgramCrashedError, ProgramOutputError
from autoindex_pyserini.program import contract
from autoindex_pyserini.sandbox.process import Reply
from autoindex_pyserini.sandbox.protocol import Results, Text
from autoindex_pyserini.settings import Limits
from autoindex_pyserini.types import Document, Passage, Represented

_PASSAGE_OVERHEAD = 64
_DOCUMENT_OVERHEAD = 64
_UTF8 = 4  # most bytes of a character


class Counts(msgspec.Struct):
    """What happened to the passages of a stream.

    Attributes:
        documents: documents represented.
        passages: passages made, fallbacks included.
        fallbacks: documents without a usable passage, indexed as their full text.
        empty_documents: fallbacks whose full text is blank too: `contract.EMPTY_CONTENTS` stands for them.
        mended_passages: passages, fallbacks included, in which characters were replaced.
        dropped_passages: passages that were None or blank.
    """

    documents: int = 0
    passages: int = 0
    fallbacks: int = 0
    empty_documents: int = 0
    mended_passages: int = 0
    dropped_passages: int = 0

    def add(self, other: Counts) -> None:
        """Add another's counts to these."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Verified(msgspec.Struct, frozen=True):
    """Passages that keep the contract, with what was counted, and their size on the wire in bytes."""

    represented: list[Represented]
    counts: Counts
    size: int


def bounds(documents: Sequence[Document], limits: Limits, fields: tuple[str, ...]) -> list[int]:
    """For each document, the most bytes of its passages on the wire, summed up from the first."""
    names = sum(len(name) + 8 for name in fields)
    parts = 2 if fields else 1  # contents, and fields together, have the same limit
    total, sums = 0, []
    for document in documents:
        chars = contract.max_chars(contract.raw_length(document), limits)
        total += _DOCUMENT_OVERHEAD + limits.max_passages * (
            _UTF8 * parts * chars + names + _PASSAGE_OVERHEAD
        )
        sums.append(total)
    return sums


class Verifier:
    """Turns replies into passages for one program."""

    def __init__(self, limits: Limits, fields: tuple[str, ...]) -> None:
        self._limits = limits
        self._declared = frozenset(fields)
        self._decoder = msgspec.msgpack.Decoder(Results)

    def verify(self, reply: Reply, batch: Sequence[Document], position: int) -> Verified:
        """Decode a reply, check every passage, put the full text where there is none.

        Args:
            reply: what the worker sent.
            batch: the documents it was given.
            position: position in the stream of the batch's first document.

        Raises:
            ProgramOutputError: a passage breaks the contract, and the worker let it through.
            ProgramCrashedError: the reply is not a reply.
        """
        documents = batch[reply.first : reply.first + reply.count]
        try:
            results = self._decoder.decode(reply.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ProgramCrashedError(
                f"the worker sent a malformed message ({error}): the program wrote on the protocol's channel",
                position=position + reply.first,
            ) from None
        if len(results.documents) != len(documents):
            raise ProgramCrashedError(
                f"the worker sent passages of {len(results.documents)} documents for {len(documents)}",
                position=position + reply.first,
            )
        counts = Counts(
            documents=len(documents),
            mended_passages=max(0, results.mended),
            dropped_passages=max(0, results.dropped),
        )
        represented: list[Represented] = []
        texts: list[str] = []
        for index, (document, given) in enumerate(zip(documents, results.documents, strict=True)):
            if given:
                breach = self._check(document, given, texts)
                if breach:
                    where = position + reply.first + index
                    raise ProgramOutputError(f"{breach} (document {where} of the stream)", position=where)
                passages = [Passage(p) if type(p) is str else p for p in given]
                represented.append(Represented(document.docid, passages))  # type: ignore[arg-type]
            else:
                represented.append(Represented(document.docid, [_fallback(document, counts)], True))
            counts.passages += len(given) or 1
        if not contract.is_clean(texts):
            raise ProgramOutputError(
                "the worker sent control characters, which its harness replaces: the program wrote on the "
                "protocol's channel",
                position=position + reply.first,
            )
        return Verified(represented, counts, len(reply.body))

    def _check(self, document: Document, passages: list[Text], texts: list[str]) -> str:
        """The rule that a document's passages break; empty if none. Appends every text to `texts`."""
        limit = contract.max_chars(contract.raw_length(document), self._limits)
        if len(passages) > self._limits.max_passages:
            return f"{len(passages)} passages, and the limit is {self._limits.max_passages}"
        for passage in passages:
            if isinstance(passage, Passage):
                contents = passage.contents
                if not self._declared.issuperset(passage.fields):
                    return (
                        f"the fields {sorted(passage.fields)}, and FIELDS declares {sorted(self._declared)}"
                    )
                values = passage.fields.values()
                if sum(map(len, values)) > limit:
                    return f"fields of more than {limit:,} characters together, which is the limit"
                texts.extend(values)
            else:
                contents = passage
            if len(contents) > limit:
                return f"a passage of {len(contents):,} characters, and the limit is {limit:,}"
            if not contents or contents.isspace():
                return "a blank passage"
            texts.append(contents)
        return ""


def _fallback(document: Document, counts: Counts) -> Passage:
    """The document's full text, or what stands for none."""
    counts.fallbacks += 1
    text = contract.full_text(document)
    if not contract.is_clean((text,)):
        text = contract.mend(text).strip()
        counts.mended_passages += 1
    if not text:
        counts.empty_documents += 1
        text = contract.EMPTY_CONTENTS
    return Passage(text)
