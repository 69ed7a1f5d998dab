"""Build a FAISS index from a stream of represented documents, in the layout that Pyserini opens.

The folder holds ``index`` (FAISS) and ``docid`` (passage ids, one a line, in the order of the vectors), and
beside them ``autoindex.json``. Texts and vectors wait on disk; the index itself stands in memory once while
it is built: 4 bytes for each component, that is 1.5 GB for a million passages of 384 components.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from autoindex_pyserini import publish
from autoindex_pyserini.dense.cache import VectorCache, default_folder
from autoindex_pyserini.dense.embed import Progress, embed
from autoindex_pyserini.dense.encoder import Encoder
from autoindex_pyserini.dense.manifest import (
    DenseManifest,
    read_manifest,
    software_versions,
)
from autoindex_pyserini.dense.settings import FaissOptions
from autoindex_pyserini.dense.spool import Spool
from autoindex_pyserini.errors import IndexLossError
from autoindex_pyserini.program import Program
from autoindex_pyserini.types import Represented

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

INDEX, DOCID = "index", "docid"
_TEXTS, _VECTORS = ".texts", ".vectors"
_ROWS = 16_384  # vectors that are moved at once


def check_place(directory: Path, *, overwrite: bool = False) -> None:
    """Check that a dense index may be published here; see `publish.check_place`.

    Raises:
        IndexDirectoryError: something is there already, and it is not a dense index that may be overwritten.
    """
    publish.check_place(directory, read_manifest, overwrite=overwrite)


class Source(msgspec.Struct, frozen=True):
    """What an index is made of, for its manifest and for the last check.

    Attributes:
        collection: the collection's name.
        fingerprint: the collection's fingerprint.
        documents: how many documents it has.
        program: what represents them.
    """

    collection: str
    fingerprint: str
    documents: int
    program: Program


class DenseCounts(msgspec.Struct, frozen=True):
    """What a finished index holds, and what it took.

    Attributes:
        documents: documents of the collection.
        passages: vectors.
        fallbacks: documents whose program gave no passage, encoded as their full text.
        empty_documents: documents without any text; they have no vector.
        encoded: different texts that were encoded now; all others came from the cache.
        dimension: components of a vector.
        longest: Euclidean length of the longest vector.
        size_bytes: of ``index`` and ``docid``.
    """

    documents: int
    passages: int
    fallbacks: int
    empty_documents: int
    encoded: int
    dimension: int
    longest: float
    size_bytes: int


def publish_index(
    directory: Path,
    source: Source,
    represented: Iterable[list[Represented]],
    encoder: Encoder,
    options: FaissOptions | None = None,
    *,
    cache: Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> tuple[DenseManifest, DenseCounts]:
    """Build a dense index beside its place, verified and described, then switch it into it.

    What was encoded stays in the cache, whatever stops the process: a second try encodes only the rest.

    Args:
        directory: where the index will be.
        source: the collection and the program.
        represented: the program's passages of every document, in the order of the collection; read once.
        encoder: makes vectors of them.
        options: the kind of index.
        cache: folder of the vectors' caches; by default the user's.
        overwrite: replace a dense index that autoindex built.
        progress: told about passages encoded and vectors collected.

    Raises:
        IndexDirectoryError: the place is taken, or another process builds the same index.
        IndexLossError: documents are missing; nothing is published.
        ProgramFault: from `represented`; nothing is published.
    """
    options = options or FaissOptions()
    options.check()
    with publish.publishing(directory, read_manifest, overwrite=overwrite) as building:
        counts = build_index(building, represented, encoder, options, cache=cache, progress=progress)
        if counts.documents != source.documents:
            raise IndexLossError(
                f"{counts.documents} documents were represented, {source.collection} has {source.documents}; "
                "nothing is published; has the collection changed on disk?"
            )
        manifest = DenseManifest(
            kind="dense",
            collection=source.collection,
            fingerprint=source.fingerprint,
            documents=counts.documents,
            passages=counts.passages,
            fallbacks=counts.fallbacks,
            empty_documents=counts.empty_documents,
            program_id=source.program.id,
            program=source.program.source,
            encoding=encoder.encoding,
            identity=encoder.located.identity,
            query_prompt=encoder.prompts["query"],
            document_prompt=encoder.prompts["document"],
            precision=encoder.precision,
            dimension=counts.dimension,
            longest=counts.longest,
            faiss=options,
            versions=software_versions(),
        )
        publish.write_manifest(building, manifest)
    return manifest, counts


def build_index(
    directory: Path,
    represented: Iterable[list[Represented]],
    encoder: Encoder,
    options: FaissOptions,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> DenseCounts:
    """Encode passages and write ``index`` and ``docid`` into a directory, which is made.

    Raises:
        IndexLossError: no document has any text, or FAISS holds another number of vectors than it was given.
    """
    directory.mkdir(parents=True)
    with (
        VectorCache(cache or default_folder(), encoder.space("document")) as vectors,
        Spool(directory / _TEXTS, directory / DOCID) as spool,
    ):
        for batch in represented:
            spool.add(batch)
        spool.finish()
        if not len(spool):
            raise IndexLossError(
                "no document has any text, so there is nothing to encode; nothing is published"
            )
        rows = spool.distinct()
        encoded = embed(
            encoder,
            vectors,
            "document",
            [spool.key(row) for row in rows],
            lambda place: spool.text(rows[place]),
            progress,
        )
        matrix = _collect(directory / _VECTORS, spool, vectors, progress)
        longest = _write(directory / INDEX, matrix, options, encoder.threads)
        (directory / _VECTORS).unlink()
        return DenseCounts(
            documents=spool.documents,
            passages=len(spool),
            fallbacks=spool.fallbacks,
            empty_documents=spool.empty_documents,
            encoded=encoded,
            dimension=matrix.shape[1],
            longest=longest,
            size_bytes=sum((directory / name).stat().st_size for name in (INDEX, DOCID)),
        )


def _collect(
    path: Path, spool: Spool, cache: VectorCache, progress: Progress | None
) -> npt.NDArray[np.float32]:
    """Every row's vector, float32 [rows, dimension], mapped from a file."""
    import numpy as np

    matrix: npt.NDArray[np.float32] | None = None
    for start in range(0, len(spool), _ROWS):
        end = min(start + _ROWS, len(spool))
        part = cache.get([spool.key(row) for row in range(start, end)])
        if matrix is None:
            matrix = np.memmap(path, np.float32, "w+", shape=(len(spool), part.shape[1]))
        matrix[start:end] = part
        if progress:
            progress("collect vectors", end, len(spool))
    if matrix is None:
        raise IndexLossError("there are no vectors to index; nothing is published")
    return matrix


def _write(path: Path, matrix: npt.NDArray[np.float32], options: FaissOptions, threads: int) -> float:
    """Write the FAISS index; gives the length of the longest vector."""
    import faiss
    import numpy as np

    faiss.omp_set_num_threads(threads)
    dimension = matrix.shape[1]
    if options.kind == "hnsw":
        index: Any = faiss.IndexHNSWFlat(dimension, options.m, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = options.ef_construction
        index.hnsw.efSearch = options.ef_search
    else:
        index = faiss.IndexFlatIP(dimension)
    index.add(matrix)
    if index.ntotal != len(matrix):
        raise IndexLossError(
            f"FAISS holds {index.ntotal} vectors, {len(matrix)} were given; nothing is published"
        )
    faiss.write_index(index, str(path))
    return max(
        float(np.linalg.norm(matrix[start : start + _ROWS], axis=1).max())
        for start in range(0, len(matrix), _ROWS)
    )
