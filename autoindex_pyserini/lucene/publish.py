"""Publish Lucene indexes in one step; how is in `autoindex_pyserini.publish`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from autoindex_pyserini import publish
from autoindex_pyserini.lucene.manifest import read_manifest


def check_place(directory: Path, *, overwrite: bool = False) -> None:
    """Check that a Lucene index may be published here; see `publish.check_place`.

    Raises:
        IndexDirectoryError: something is there already, and it is not an index that may be overwritten.
    """
    publish.check_place(directory, read_manifest, overwrite=overwrite)


def publishing(directory: Path, *, overwrite: bool = False) -> AbstractContextManager[Path]:
    """Give a path to build a Lucene index at; see `publish.publishing`.

    Raises:
        IndexDirectoryError: the place is taken, or another process builds the same index.
    """
    return publish.publishing(directory, read_manifest, overwrite=overwrite)
