"""What the host makes of a reply: decoded into types, checked again, mended, paired with docids.

A worker shares its process with the program, so none of its checks counts here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from autoindex_pyserini.errors import ProgramCrashedError, ProgramOutputError
from autoindex_pyserini.program import contract
from autoindex_pyserini.sandbox.process import Reply
from autoindex_pyserini.sandbox.protocol import Results, WirePassage
from autoindex_pyserini.settings import Limits
from autoindex_pyserini.types import Document, Passage, Represented

_OVERHEAD = 64  # bytes of framing for a passage, and for a document
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


def bound(documents: Sequence[Document], limits: Limits, fields: tuple[str, ...]) -> int:
    """The most bytes that these documents' passages may take on the wire."""
    names = sum(len(name) + 8 for name in fields)
    parts = 2 if fields else 1  # contents, and fields together, have the same limit
    total = 0
    for document in documents:
        chars = contract.max_chars(contract.raw_length(document), limits)
        passage = _UTF8 * parts * chars + names + _OVERHEAD
        total += limits.max_passages * passage + _OVERHEAD
    return total


class Verifier:
    """Turns replies into passages for one program."""

    def __init__(self, limits: Limits, fields: tuple[str, ...]) -> None:
        self._limits = limits
        self._floor = limits.min_growth_chars
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
        counts = Counts(documents=len(documents), dropped_passages=max(0, results.dropped))
        represented: list[Represented] = []
        for index, (document, given) in enumerate(zip(documents, results.documents, strict=True)):
            try:
                passages = self._passages(document, given, counts) if given else []
            except _Breach as breach:
                where = position + reply.first + index
                raise ProgramOutputError(
                    f"{breach} (document {where} of the stream)", position=where
                ) from None
            if passages:
                represented.append(Represented(document.docid, passages))
                counts.passages += len(passages)
            else:
                represented.append(Represented(document.docid, [_fallback(document, counts)], True))
                counts.passages += 1
        return Verified(represented, counts, len(reply.body))

    def _passages(self, document: Document, given: list[WirePassage], counts: Counts) -> list[Passage]:
        """Decode, mend and check a document's passages; blank ones are dropped."""
        if len(given) > self._limits.max_passages:
            raise _Breach(f"{len(given)} passages, and the limit is {self._limits.max_passages}")
        passages: list[Passage] = []
        for item in given:
            if type(item) is bytes:
                contents = contract.decode(item)
                passage = Passage(contents) if contents is not None else self._mended(item, {}, counts)
            else:
                passage = self._with_fields(item, document, counts)  # type: ignore[arg-type]
            contents = passage.contents
            if not contents or contents.isspace():
                counts.dropped_passages += 1
                continue
            if len(contents) > self._floor:
                self._check_length(document, contents)
            passages.append(passage)
        return passages

    def _check_length(self, document: Document, text: str, what: str = "a passage") -> None:
        limit = contract.max_chars(contract.raw_length(document), self._limits)
        if len(text) > limit:
            raise _Breach(f"{what} of {len(text):,} characters, and the limit is {limit:,}")

    def _with_fields(
        self, item: tuple[bytes, dict[str, bytes]], document: Document, counts: Counts
    ) -> Passage:
        utf8, encoded = item
        if not self._declared.issuperset(encoded):
            raise _Breach(f"the fields {sorted(encoded)}, and FIELDS declares {sorted(self._declared)}")
        contents = contract.decode(utf8)
        fields = {name: contract.decode(value) for name, value in encoded.items()}
        if contents is None or None in fields.values():
            passage = self._mended(utf8, encoded, counts)
        else:
            passage = Passage(contents, cast(dict[str, str], fields))
        self._check_length(document, "".join(passage.fields.values()), "fields together")
        return passage

    def _mended(self, contents: bytes, fields: dict[str, bytes], counts: Counts) -> Passage:
        """The passage with what cannot be indexed replaced."""
        counts.mended_passages += 1
        try:
            return Passage(
                contract.mend(contents.decode("utf-8", "surrogatepass")),
                {
                    name: contract.mend(value.decode("utf-8", "surrogatepass"))
                    for name, value in fields.items()
                },
            )
        except UnicodeDecodeError:
            raise _Breach("a passage that is not UTF-8") from None


class _Breach(Exception):
    """A passage that the worker should not have let through; the message says why."""


def _fallback(document: Document, counts: Counts) -> Passage:
    """The document's full text, or what stands for none."""
    counts.fallbacks += 1
    text = contract.full_text(document)
    mended = contract.mend(text).strip()
    if mended != text:
        text = mended
        counts.mended_passages += 1
    if not text:
        counts.empty_documents += 1
        text = contract.EMPTY_CONTENTS
    return Passage(text)
