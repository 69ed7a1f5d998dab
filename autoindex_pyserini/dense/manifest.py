"""``autoindex.json`` of a dense index: what it says of itself. FAISS and Pyserini ignore the file."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path
from typing import Literal

import msgspec

from autoindex_pyserini import __version__, publish
from autoindex_pyserini.dense.settings import Encoding, FaissOptions

FORMAT = 1


class DenseManifest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything needed to search the index as it was evaluated, and to build it again.

    Attributes:
        kind: ``dense``; a Lucene index has no such entry.
        format: version of this file's layout.
        collection: the collection's name.
        fingerprint: the collection's fingerprint.
        documents: documents of the collection.
        passages: vectors in the index.
        fallbacks: documents whose program gave no passage, encoded as their full text.
        empty_documents: documents without any text; they have no vector.
        program_id: content hash of the program.
        program: its source.
        encoding: the model and its settings.
        identity: the model's commit, or the hash of its files.
        query_prompt: what stood before each query, the task resolved.
        document_prompt: what stood before each passage.
        precision: of the model's weights.
        dimension: components of a vector.
        longest: Euclidean length of the longest vector; 1 up to rounding if vectors are normalised.
        faiss: the kind of index.
        validation: measure -> mean on the validation queries; empty if not measured.
        versions: of the software that built it.
    """

    kind: Literal["dense"]
    format: int = FORMAT
    collection: str
    fingerprint: str
    documents: int
    passages: int
    fallbacks: int
    empty_documents: int
    program_id: str
    program: str
    encoding: Encoding
    identity: str
    query_prompt: str
    document_prompt: str
    precision: str
    dimension: int
    longest: float
    faiss: FaissOptions
    validation: dict[str, float] = {}
    versions: dict[str, str] = {}


def software_versions() -> dict[str, str]:
    """Versions of what makes a dense index."""
    packages = ("sentence-transformers", "transformers", "torch", "faiss-cpu")
    return {
        "autoindex_pyserini": __version__,
        **{package: importlib.metadata.version(package) for package in packages},
        "python": platform.python_version(),
    }


def read_manifest(directory: Path) -> DenseManifest:
    """Read the manifest of a dense index.

    Raises:
        IndexDirectoryError: there is none, or it is not one of a dense index of this format.
    """
    return publish.read_manifest(
        directory, DenseManifest, newest=FORMAT, what="a dense index", made_by="`autoindex dense`"
    )
