"""``autoindex.json``: what a published index says of itself.

Lucene ignores the file; it travels with the index directory.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

import msgspec

from autoindex_pyserini import __version__
from autoindex_pyserini.errors import IndexDirectoryError
from autoindex_pyserini.lucene.java import find_jar, find_java
from autoindex_pyserini.publish import MANIFEST
from autoindex_pyserini.settings import Retriever

FILE_NAME = MANIFEST
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


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest into an index directory, flushed to disk."""
    text = msgspec.json.format(msgspec.json.encode(manifest, order="deterministic"), indent=2)
    with (directory / FILE_NAME).open("wb") as file:
        file.write(text + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_manifest(directory: Path) -> Manifest:
    """Read the manifest of an index directory.

    Raises:
        IndexDirectoryError: there is none, or it is not one of this format.
    """
    path = directory / FILE_NAME
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise IndexDirectoryError(
            f"{directory} has no {FILE_NAME}; give an index that `autoindex index` or a run built"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise IndexDirectoryError(f"{path}: {reason}; build the index again") from error
    if manifest.format > FORMAT:
        raise IndexDirectoryError(
            f"{path} has format {manifest.format}, and this version reads up to {FORMAT}; "
            "upgrade autoindex_pyserini"
        )
    return manifest
