"""Documents from Parquet files. The only importer of pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoindex_pyserini.collection.jsonl import stamp
from autoindex_pyserini.collection.model import Tally
from autoindex_pyserini.collection.records import Columns, document
from autoindex_pyserini.errors import CollectionError, EnvironmentProblemError
from autoindex_pyserini.types import Document

_ROWS_AT_ONCE = 1024


class Parquet:
    """The documents of one Parquet file, a row each. Only the columns that are needed are read."""

    def __init__(self, path: Path, columns: Columns) -> None:
        """Look at the file's schema.

        Raises:
            CollectionError: it is not a Parquet file, or lacks a column that `columns` names.
            EnvironmentProblemError: pyarrow is not installed.
        """
        self.path = path
        self.columns = columns
        self._stamp = stamp(path)
        names = _open(path).schema_arrow.names
        if not set(columns.id) & set(names):
            raise CollectionError(
                f"{path}: has no column {' or '.join(repr(name) for name in columns.id)}, only "
                f"{', '.join(names)}; name the column of ids under [documents] in collection.toml"
            )
        unknown = [name for name in columns.fields or () if name not in names]
        if unknown:
            raise CollectionError(f"{path}: has no column '{unknown[0]}', only {', '.join(names)}")
        wanted = {*columns.id, *columns.title, *columns.text, *(columns.fields or ())}
        self._names = names if columns.fields is None else [name for name in names if name in wanted]

    @property
    def where(self) -> str:
        """The file."""
        return str(self.path)

    def documents(self, tally: Tally | None = None) -> Iterator[Document]:
        """Stream the documents in row order.

        Raises:
            CollectionError: the file cannot be read or has changed, or a row has no id.
        """
        tally = tally or Tally()
        if stamp(self.path) != self._stamp:
            raise CollectionError(f"{self.path}: changed since the collection was loaded; load it again")
        position = 0
        for batch in _batches(self.path, self._names):
            for record in batch.to_pylist():
                yield document(record, self.locate(position), tally, self.columns)
                position += 1

    def locate(self, position: int) -> str:
        """Say where the document at a 0-based position stands."""
        return f"{self.path}, row {position + 1}"


def _open(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise EnvironmentProblemError(f"{path}: Parquet files need pyarrow (pip install pyarrow)") from error
    try:
        return pyarrow.parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise CollectionError(f"{path}: not a Parquet file that can be read ({error})") from error


def _batches(path: Path, names: list[str]) -> Iterator[Any]:
    file = _open(path)
    import pyarrow

    try:
        yield from file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=names)
    except (pyarrow.ArrowException, OSError) as error:
        raise CollectionError(f"{path}: broken ({error})") from error
    finally:
        file.close()
