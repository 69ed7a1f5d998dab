"""``autoindex.json``: what a published index says of itself.

Lucene ignores the file; it travels with the index directory.
"""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path

import msgspec

from autoindex_pyserini import __version__, publish
from autoindex_pyserini.lucene.java import find_jar, find_java
from autoindex_pyserini.settings import Retriever

FORMAT = 1


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything needed to search the index as it was evaluated, and to build it again.

    Attributes:
        format: version of this file's layout.
        collection: the collection's name.
        fingerprint: the collection's fingerprint.
        documents: documents of the collection.
        passages: Lucene documents; the index's ``numDocs``.
        fallbacks: documents whose program gave no passage, indexed as their full text.
        empty_documents: documents without any text, indexed as a placeholder that no query matches.
        program_id: content hash of the program.
        program: its source.
        fields: indexed fields beside ``contents``.
        weights: field -> weight; ``contents`` alone for a single-field index.
        retriever: k1, b, analyzer and depth that the scores below were measured with.
        validation: measure -> mean on the validation queries; empty if not measured.
        versions: of the software that built it.
    """

    format: int = FORMAT
    collection: str
    fingerprint: str
    documents: int
    passages: int
    fallbacks: int = 0
    empty_documents: int = 0
    program_id: str
    program: str
    fields: tuple[str, ...] = ()
    weights: dict[str, float] = msgspec.field(default_factory=lambda: {"contents": 1.0})
    retriever: Retriever = Retriever()
    validation: dict[str, float] = {}
    versions: dict[str, str] = {}


def software_versions() -> dict[str, str]:
    """Versions of what makes an index: this package, Pyserini, Anserini, Java, Python."""
    return {
        "autoindex_pyserini": __version__,
        "pyserini": importlib.metadata.version("pyserini"),
        "anserini": find_jar().name.removeprefix("anserini-").removesuffix("-fatjar.jar"),
        "java": str(find_java().version),
        "python": platform.python_version(),
    }


def read_manifest(directory: Path) -> Manifest:
    """Read the manifest of an index directory.

    Raises:
        IndexDirectoryError: there is none, or it is not one of this format.
    """
    return publish.read_manifest(
        directory, Manifest, newest=FORMAT, what="a Lucene index", made_by="`autoindex index` or a run"
    )
