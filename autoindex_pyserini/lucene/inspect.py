"""What is in an index, and whether it is sound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from autoindex_pyserini.lucene.index import directory_size, open_reader
from autoindex_pyserini.lucene.jvm import java_class, java_errors
from autoindex_pyserini.lucene.manifest import Manifest, read_manifest
from autoindex_pyserini.publish import MANIFEST


class FieldStatistics(msgspec.Struct, frozen=True):
    """One indexed field.

    Attributes:
        name: its name.
        passages: passages that have it.
        terms: different terms; -1 if Lucene does not store the number.
        tokens: terms in all.
    """

    name: str
    passages: int
    terms: int
    tokens: int


class Inspection(msgspec.Struct, frozen=True):
    """What `inspect_index` found.

    Attributes:
        directory: the index.
        manifest: what it says of itself; None if it is not one of ours.
        passages: live Lucene documents.
        deleted: deleted Lucene documents that are still on disk.
        segments: number of segments.
        size_bytes: size of the files, in bytes.
        fields: indexed fields with statistics, by name.
        problems: what is wrong, one sentence each; empty if the index is sound.
    """

    directory: str
    manifest: Manifest | None
    passages: int
    deleted: int
    segments: int
    size_bytes: int
    fields: tuple[FieldStatistics, ...]
    problems: tuple[str, ...]


def inspect_index(directory: Path) -> Inspection:
    """Read an index's own account, compare it with its files, and run Lucene's CheckIndex over all of them.

    Raises:
        IndexDirectoryError: the directory holds no index that can be opened.
    """
    manifest = read_manifest(directory) if (directory / MANIFEST).exists() else None
    reader = open_reader(directory)
    try:
        found = Inspection(
            directory=str(directory),
            manifest=manifest,
            passages=int(reader.numDocs()),
            deleted=int(reader.numDeletedDocs()),
            segments=int(reader.leaves().size()),
            size_bytes=directory_size(directory),
            fields=tuple(_fields(reader)),
            problems=(),
        )
    finally:
        reader.close()
    return msgspec.structs.replace(found, problems=(*_contradictions(found), *_damage(directory)))


def _fields(reader: Any) -> list[FieldStatistics]:
    import jnius

    whole = jnius.cast("org.apache.lucene.index.IndexReader", reader)
    infos = java_class("org.apache.lucene.index.FieldInfos")
    multi = java_class("org.apache.lucene.index.MultiTerms")
    names = sorted(infos.getIndexedFields(whole).toArray())
    found = []
    for name in names:
        terms = multi.getTerms(whole, name)
        if terms is not None:
            counts = (terms.getDocCount(), terms.size(), terms.getSumTotalTermFreq())
            found.append(FieldStatistics(name, *map(int, counts)))
    return found


def _contradictions(found: Inspection) -> list[str]:
    """Where the manifest says other than the files."""
    manifest = found.manifest
    if manifest is None:
        return []
    problems = []
    if manifest.passages != found.passages:
        problems.append(f"{MANIFEST} says {manifest.passages} passages, the index holds {found.passages}")
    missing = {"contents", *manifest.fields} - {field.name for field in found.fields}
    if missing and found.passages:
        problems.append(f"{MANIFEST} names fields that no passage has: {', '.join(sorted(missing))}")
    return problems


def _damage(directory: Path) -> list[str]:
    """What Lucene's CheckIndex says."""
    path = java_class("java.nio.file.Paths").get(str(directory.absolute()))
    store = java_class("org.apache.lucene.store.FSDirectory").open(path)
    with java_errors(f"{directory} cannot be checked"):
        checker = java_class("org.apache.lucene.index.CheckIndex")(store)
        try:
            status = checker.checkIndex()
        finally:
            checker.close()
            store.close()
    if status.clean:
        return []
    return [f"CheckIndex: {status.numBadSegments} bad segments, {status.totLoseDocCount} documents lost"]
