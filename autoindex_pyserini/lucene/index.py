"""Build a Lucene index from a stream of represented documents, and lose none.

Anserini's ``SimpleIndexer`` reports a document that it could not index only in a count, so the counts are
compared after every chunk and once more against the finished index. It starts a pool of threads for each
call and waits for all of them, so the threads are ours: each gives Lucene one chunk at a time, while the
caller makes the next.
"""

from __future__ import annotations

import contextlib
import shutil
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from autoindex_pyserini.errors import IndexDirectoryError, IndexLossError, LuceneError
from autoindex_pyserini.ids import passage_ids
from autoindex_pyserini.lucene.analyzers import analyzer_config
from autoindex_pyserini.lucene.java import heap_mb, jvm_config
from autoindex_pyserini.lucene.jvm import java_class, java_errors
from autoindex_pyserini.resources import data_dir
from autoindex_pyserini.types import Passage, Represented

_FULL_DISK_MB = 64
_CHUNK_CHARS = 1 << 20  # of JSON in one call of Java


class IndexOptions(msgspec.Struct, frozen=True):
    """What the index keeps beyond the inverted lists of ``contents``.

    Attributes:
        analyzer: a name from ``java_config/analyzers.toml``.
        fields: names of further fields to index.
        threads: threads that write.
        store_raw: keep each passage's JSON, so that `LuceneSearcher.doc(id).raw()` gives it.
        store_docvectors: keep term vectors (relevance feedback reads them).
        store_positions: keep positions (phrase queries read them).
        optimize: merge into one segment at the end.
    """

    analyzer: str = "english"
    fields: tuple[str, ...] = ()
    threads: int = 1
    store_raw: bool = False
    store_docvectors: bool = False
    store_positions: bool = False
    optimize: bool = False


class IndexCounts(msgspec.Struct, frozen=True):
    """What a finished index holds.

    Attributes:
        documents: documents of the collection.
        passages: passages, each one Lucene document.
        size_bytes: size of the directory's files, in bytes.
    """

    documents: int
    passages: int
    size_bytes: int


class IndexBuilder:
    """Writes one index into a directory that must not exist yet.

    Use as a context manager. Leaving it normally verifies the index; leaving it by an exception, or failing
    the verification, removes the directory.
    """

    def __init__(self, directory: Path, options: IndexOptions) -> None:
        """Open the writer.

        Raises:
            IndexDirectoryError: the directory exists.
        """
        if directory.exists():
            raise IndexDirectoryError(f"{directory} exists already; give a directory that does not exist")
        self.directory = directory
        self._options = options
        directory.parent.mkdir(parents=True, exist_ok=True)
        indexer = java_class("io.anserini.index.SimpleIndexer")
        arguments = self._args()
        with java_errors(f"cannot write an index in {directory}"):
            self._indexer = indexer(arguments)
        self._writers = ThreadPoolExecutor(options.threads, thread_name_prefix="index-writer")
        self._writing: deque[Future[None]] = deque()
        self._chunk: list[str] = []
        self._chunk_chars = 0
        self._documents = 0
        self._passages = 0
        self.counts: IndexCounts | None = None

    def _args(self) -> list[str]:
        options = self._options
        buffer_mb = int(heap_mb(jvm_config()) * _index_defaults()["buffer_share"])
        flags = {
            "-storeRaw": options.store_raw,
            "-storeDocvectors": options.store_docvectors,
            "-storePositions": options.store_positions,
        }
        return [
            *(
                "-index",
                str(self.directory.absolute()),
                "-collection",
                "JsonCollection",
                "-input",
                "-",
                "-quiet",
            ),
            *("-threads", "1", "-memoryBuffer", str(buffer_mb)),
            *analyzer_config(options.analyzer).arguments(),
            *(flag for flag, wanted in flags.items() if wanted),
            *(("-fields", *options.fields) if options.fields else ()),
        ]

    def add(self, batch: Iterable[Represented]) -> None:
        """Index a batch of documents; it may be written a little later.

        Raises:
            IndexLossError: Lucene took fewer passages than it was given, in this batch or one before.
            LuceneError: Lucene failed on one of them.
        """
        encode = msgspec.json.encode
        for represented in batch:
            self._documents += 1
            passages = represented.passages
            self._passages += len(passages)
            ids = passage_ids(represented.docid, len(passages))
            for id, passage in zip(ids, passages, strict=True):
                line = encode(_json(id, passage)).decode()
                self._chunk.append(line)
                self._chunk_chars += len(line)
            if self._chunk_chars >= _CHUNK_CHARS:
                self._send()

    def _send(self) -> None:
        lines, self._chunk, self._chunk_chars = self._chunk, [], 0
        self._writing.append(self._writers.submit(self._write, lines, self._documents))
        while len(self._writing) > self._options.threads + 1:
            self._writing.popleft().result()

    def _write(self, lines: list[str], documents: int) -> None:
        import jnius

        try:
            with java_errors(f"indexing in {self.directory} failed"):
                added = self._indexer.addRawDocuments(lines)
        finally:
            jnius.detach()  # or the JVM would keep an entry for this thread after its end
        if added != len(lines):
            raise IndexLossError(
                f"Lucene took {added} of {len(lines)} passages (before document {documents})"
                f"{_disk_hint(self.directory)}; nothing is published"
            )

    def _close(self) -> None:
        self._writers.shutdown(cancel_futures=True)
        indexer, self._indexer = self._indexer, None
        if indexer is not None:
            with java_errors(f"the index in {self.directory} could not be finished"):
                indexer.close(self._options.optimize)

    def _finish(self) -> None:
        if self._chunk:
            self._send()
        while self._writing:
            self._writing.popleft().result()
        self._close()
        try:
            found = count_passages(self.directory)
        except IndexDirectoryError as error:  # Anserini logs what stopped Lucene, and goes on
            raise IndexLossError(
                f"Lucene could not finish the index in {self.directory}{_disk_hint(self.directory)}; "
                "nothing is published"
            ) from error
        if found != self._passages:
            raise IndexLossError(
                f"{self.directory} holds {found} passages, {self._passages} were sent"
                f"{_disk_hint(self.directory)}; nothing is published"
            )
        self.counts = IndexCounts(self._documents, self._passages, directory_size(self.directory))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
                return
            with contextlib.suppress(LuceneError):  # the error that brought us here is the one to report
                self._close()
        except BaseException:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise
        shutil.rmtree(self.directory, ignore_errors=True)


def _json(id: str, passage: Passage) -> dict[str, str]:
    """One line of Pyserini's JsonCollection."""
    fields: Mapping[str, str] = passage.fields
    return (
        {"id": id, "contents": passage.contents, **fields}
        if fields
        else {"id": id, "contents": passage.contents}
    )


def _index_defaults() -> dict[str, float]:
    path = data_dir("java_config") / "index.toml"
    return msgspec.toml.decode(path.read_bytes(), type=dict[str, float])


def _disk_hint(directory: Path) -> str:
    """Says so if the disk is as good as full."""
    free = shutil.disk_usage(directory.parent).free >> 20
    return f": only {free} MiB are free on its disk; make room there" if free < _FULL_DISK_MB else ""


def count_passages(directory: Path) -> int:
    """The number of live Lucene documents in an index.

    Raises:
        IndexDirectoryError: the directory holds no index that this Lucene can open.
    """
    reader = open_reader(directory)
    try:
        return int(reader.numDocs())
    finally:
        reader.close()


def open_reader(directory: Path) -> Any:
    """A new ``org.apache.lucene.index.DirectoryReader``; the caller closes it.

    Raises:
        IndexDirectoryError: the directory is missing, or holds no index that this Lucene can open.
    """
    if not directory.is_dir():
        raise IndexDirectoryError(f"{directory} is not a directory; give the directory of a Lucene index")
    path = java_class("java.nio.file.Paths").get(str(directory.absolute()))
    store = java_class("org.apache.lucene.store.FSDirectory").open(path)
    readers = java_class("org.apache.lucene.index.DirectoryReader")
    if not readers.indexExists(store):
        raise IndexDirectoryError(f"{directory} holds no Lucene index; build one with `autoindex index`")
    try:
        with java_errors(f"{directory} cannot be opened"):
            return readers.open(store)
    except LuceneError as error:
        raise IndexDirectoryError(str(error)) from error


def directory_size(directory: Path) -> int:
    """The size of a directory's files, in bytes."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
