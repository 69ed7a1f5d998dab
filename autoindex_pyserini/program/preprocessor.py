"""The paper's form of a program, adapted: `class Preprocessor` with `preprocess(docs) -> list[Chunk]`.

AutoIndex (arXiv 2607.18603) has programs take a list of documents and return chunks that name their
document. Here such a program is called with one document at a time, whose id is masked: the same opaque
word for every document. So it cannot use an id, and what it makes of a document does not depend on which
documents happen to stand beside it. Chunks are matched by that id, and an unknown one is a fault.

Documents can be read as objects (`doc.text`) or as dictionaries (`doc["text"]`), chunks may be `Chunk`,
dictionaries, objects with the same attributes, or `(id, text)` pairs, for the same reason: programs in
the wild are written in all of these ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from autoindex_pyserini.program.contract import RawDocument

MASKED_ID = "document"
"""The id of every document that a `Preprocessor` sees."""

_ID_NAMES = ("doc_id", "docid", "document_id", "parent_id", "id", "_id")
_TEXT_NAMES = ("text", "contents", "content")


class PreprocessorOutputError(Exception):
    """The chunks break the contract; the message says how. Turned into a program's fault by the sandbox."""


class Chunk:
    """One passage, as the paper's programs make it. Injected into their namespace.

    Attributes:
        doc_id: the id of the document that it comes from.
        text: what is indexed.
        metadata: anything; not indexed.
    """

    def __init__(
        self, doc_id: str, text: str, chunk_id: Any = None, metadata: Any = None, **more: Any
    ) -> None:
        self.doc_id, self.text, self.chunk_id, self.metadata = doc_id, text, chunk_id, metadata
        self.__dict__.update(more)


class MaskedDocument(Mapping[str, Any]):
    """A document without its id, to be read as an object or as a dictionary."""

    def __init__(self, raw: RawDocument) -> None:
        fields = dict(raw.fields)
        values = {"title": raw.title, "text": raw.text, "contents": raw.text, "metadata": fields}
        self.__dict__.update(fields | values | dict.fromkeys(("id", "_id", "doc_id", "docid"), MASKED_ID))

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)


def adapt(preprocessor: type) -> Callable[[RawDocument], Iterable[Any]]:
    """Make `represent` of a `Preprocessor` class. It is instantiated once, without arguments.

    Returns:
        A function from a document to the texts of its chunks, in the program's order.
    """
    instance = preprocessor()

    def represent(raw: RawDocument) -> Iterator[Any]:
        chunks = instance.preprocess([MaskedDocument(raw)])
        for chunk in chunks if chunks is not None else ():
            yield _text(chunk)

    return represent


def _text(chunk: Any) -> Any:
    """The text of a chunk that belongs to the document; its type is checked with every other passage's."""
    if isinstance(chunk, tuple | list) and len(chunk) == 2:
        docid, text = chunk
    else:
        docid, text = _value(chunk, _ID_NAMES), _value(chunk, _TEXT_NAMES)
    if docid != MASKED_ID:
        raise PreprocessorOutputError(
            f"preprocess returned a {type(chunk).__name__} for a document it was not given; a chunk must "
            "carry the id of its document unchanged, as doc_id"
        )
    return text


def _value(chunk: Any, names: tuple[str, ...]) -> Any:
    """The value under the first of the names that the chunk has."""
    for name in names:
        if isinstance(chunk, Mapping):
            if name in chunk:
                return chunk[name]
        elif hasattr(chunk, name):
            return getattr(chunk, name)
    raise PreprocessorOutputError(
        f"preprocess returned a {type(chunk).__name__} without '{names[0]}'; return Chunk(doc_id, text)"
    )
