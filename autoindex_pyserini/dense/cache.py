"""Vectors that were computed once, on disk: by the text's hash, one SQLite file for each space of vectors.

SQLite in write-ahead mode gives what a cache that outlives its writers needs: what was committed survives a
kill, what was torn is rolled back on opening, and several processes may read and write at once. A vector is
float32, little-endian, as it was computed.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import batched
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from autoindex_pyserini.errors import EnvironmentProblemError, InputError
from autoindex_pyserini.resources import cache_dir

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

KEY_BYTES = 16
_AT_ONCE = 1000  # keys in one query; SQLite allows 32,766
_PATIENCE_S = 120.0  # for another process's transaction
_FORMAT = 1
_SUFFIX = ".sqlite"
_SCHEMA = """
create table if not exists space (description text not null);
create table if not exists vectors (key blob not null unique, vector blob not null);
"""


def text_key(text: str) -> bytes:
    """The key of a text: 16 bytes of BLAKE2b over its UTF-8."""
    return hashlib.blake2b(text.encode(), digest_size=KEY_BYTES).digest()


def default_folder() -> Path:
    """Where caches are, by default; need not exist."""
    return cache_dir() / "vectors"


class VectorCache:
    """The vectors of one space. A context manager; for one thread, beside any number of processes.

    Args:
        folder: of all caches; made if missing.
        space: everything that decides what vector a text gets. ``model``, a name for people, does not.

    Raises:
        EnvironmentProblemError: the file is damaged, or cannot be opened.
    """

    def __init__(self, folder: Path, space: Mapping[str, str | int | bool]) -> None:
        description = msgspec.json.encode(space).decode()
        deciding = {"format": _FORMAT, **{key: value for key, value in space.items() if key != "model"}}
        name = hashlib.sha256(msgspec.json.encode(deciding, order="sorted")).hexdigest()[:16]
        self.path = folder / f"{name}{_SUFFIX}"
        folder.mkdir(parents=True, exist_ok=True)
        with _explained(self.path):
            self._database = sqlite3.connect(self.path, timeout=_PATIENCE_S, isolation_level=None)
            # Pages that hold several vectors; set before the first table, and ignored after.
            self._database.execute("pragma page_size = 16384")
            self._database.execute("pragma journal_mode = wal")
            self._database.execute("pragma synchronous = normal")  # a power cut may cost the last vectors
            with self._transaction():
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    self._database.execute(statement)
                self._database.execute(
                    "insert into space select ? where not exists (select 1 from space)", (description,)
                )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._database.execute("rollback")
            raise
        self._database.execute("commit")

    def missing(self, keys: Sequence[bytes]) -> list[int]:
        """The places in `keys` of those that have no vector yet, in their order."""
        known: set[bytes] = set()
        for some in batched(keys, _AT_ONCE):
            known.update(key for (key,) in self._select("key", some))
        return [place for place, key in enumerate(keys) if key not in known]

    def put(self, keys: Sequence[bytes], vectors: npt.NDArray[np.float32]) -> None:
        """Keep vectors, all of them or none; those that are there already stay as they are."""
        rows = ((key, vector.astype("<f4").tobytes()) for key, vector in zip(keys, vectors, strict=True))
        with _explained(self.path), self._transaction():
            self._database.executemany("insert or ignore into vectors values (?, ?)", rows)

    def get(self, keys: Sequence[bytes]) -> npt.NDArray[np.float32]:
        """The vectors of these keys, float32 [len(keys), dimension], in the order of the keys.

        Raises:
            EnvironmentProblemError: some have none, so the cache was cleared or damaged meanwhile.
        """
        import numpy as np

        found: dict[bytes, bytes] = {}
        for some in batched(dict.fromkeys(keys), _AT_ONCE):
            found.update(self._select("key, vector", some))
        size = len(next(iter(found.values()), b""))
        if any(len(found.get(key, b"")) != size or not size for key in keys):
            raise EnvironmentProblemError(
                f"{self.path} lacks vectors that were in it, or holds damaged ones: was it cleared? "
                "Run the command again; if that does not help, delete the file"
            )
        joined = b"".join([found[key] for key in keys])
        return np.frombuffer(joined, "<f4").reshape(len(keys), -1).astype(np.float32)

    def _select(self, columns: str, keys: Sequence[bytes]) -> list[Any]:
        marks = ",".join("?" * len(keys))
        with _explained(self.path):
            query = f"select {columns} from vectors where key in ({marks})"
            return self._database.execute(query, keys).fetchall()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()


class CacheFile(msgspec.Struct, frozen=True):
    """One space's file.

    Attributes:
        name: of the file, without its ending; `clear_cache` takes it.
        space: what `VectorCache` was given.
        vectors: how many it holds.
        size_bytes: of its files.
    """

    name: str
    space: dict[str, Any]
    vectors: int
    size_bytes: int


def list_caches(folder: Path) -> list[CacheFile]:
    """All caches of a folder, by name.

    Raises:
        EnvironmentProblemError: one is damaged; names the file.
    """
    listed = []
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        with _explained(path), contextlib.closing(sqlite3.connect(path, timeout=_PATIENCE_S)) as database:
            described = database.execute("select description from space").fetchone()
            (count,) = database.execute("select count(*) from vectors").fetchone()
        space = msgspec.json.decode(described[0]) if described else {}
        size = sum(one.stat().st_size for one in folder.glob(f"{path.name}*"))
        listed.append(CacheFile(path.stem, space, count, size))
    return listed


def clear_cache(folder: Path, name: str) -> int:
    """Delete a cache, or with ``all`` every cache, damaged ones too. Not while something is encoded.

    Returns:
        bytes that are free again.

    Raises:
        InputError: there is no cache of this name.
    """
    paths = [path for path in folder.glob(f"*{_SUFFIX}") if name in ("all", path.stem)]
    if not paths and name != "all":
        raise InputError(f"no cache of vectors is named {name!r} in {folder}; list them to see their names")
    freed = 0
    for path in paths:
        for one in folder.glob(f"{path.name}*"):  # SQLite's journal and its shared memory, too
            freed += one.stat().st_size
            one.unlink(missing_ok=True)
    return freed


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise EnvironmentProblemError(
            f"{path}: {error}; make sure that its disk has room and can be written to; "
            "if the file is damaged, delete it: its vectors are computed anew"
        ) from error
