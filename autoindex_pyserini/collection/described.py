"""A ``collection.toml`` that says where documents, queries and judgments are."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec

from autoindex_pyserini.collection.assemble import Parts, QuerySet
from autoindex_pyserini.collection.files import text_lines
from autoindex_pyserini.collection.jsoncollection import DEFAULT_COLUMNS, SUFFIXES, Concatenated, json_source
from autoindex_pyserini.collection.judgments import read_judgments
from autoindex_pyserini.collection.model import DocumentSource
from autoindex_pyserini.collection.parquet import Parquet
from autoindex_pyserini.collection.records import Columns
from autoindex_pyserini.collection.splits import DEFAULT_RATIO, DEFAULT_SEED, TEST, VALIDATION
from autoindex_pyserini.collection.topics import read_topics
from autoindex_pyserini.errors import CollectionError

DEFINITION = "collection.toml"

type _Names = str | list[str]


class _Documents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: _Names
    id: _Names | None = None
    title: _Names | None = None
    text: _Names | None = None
    fields: list[str] | None = None


class _Queries(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    queries: str
    judgments: str


class _Split(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seed: int = DEFAULT_SEED
    validation: int = DEFAULT_RATIO[0]
    test: int = DEFAULT_RATIO[1]
    validation_qids: str | None = None


class Description(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A collection as its ``collection.toml`` describes it. Paths are relative to that file.

    Attributes:
        documents: ``path`` (a file or folder, or several: JSON, JSON lines, Parquet), and which keys are
            ``id``, ``title``, ``text`` and ``fields``.
        queries: a file of queries, together with `judgments`, to be split.
        judgments: their judgments.
        validation: ``queries`` and ``judgments`` of a split of its own; then `test` is needed as well.
        test: the same for the test split.
        split: ``seed``, and the ratio ``validation`` to ``test``; or ``validation_qids``, a file with the
            qids of the validation split, one a line.
        name: the collection's name; else its folder's.
    """

    documents: _Documents
    queries: str | None = None
    judgments: str | None = None
    validation: _Queries | None = None
    test: _Queries | None = None
    split: _Split = _Split()
    name: str | None = None

    def __post_init__(self) -> None:
        """Refuse descriptions that name queries twice, or not at all."""
        single = self.queries is not None and self.judgments is not None
        own = self.validation is not None and self.test is not None
        if single == own or (own and (self.queries or self.judgments)):
            raise ValueError("name 'queries' and 'judgments', or both [validation] and [test]")
        if min(self.split.validation, self.split.test) < 1:
            raise ValueError("the parts 'validation' and 'test' of [split] must be 1 or more")


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        CollectionError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CollectionError(f"{path}: cannot be read as TOML ({error})") from error


def read_described(path: Path) -> tuple[Parts, _Split]:
    """Read the parts that a ``collection.toml`` names, and how it wants them split.

    Raises:
        CollectionError: the description is wrong, or a part is missing or malformed.
    """
    try:
        description = msgspec.convert(read_toml(path), Description)
    except msgspec.ValidationError as error:
        raise CollectionError(f"{path}: {error}; see the documentation of collection.toml") from error
    folder = path.parent
    return (
        Parts(
            name=description.name or folder.resolve().name,
            where=str(path),
            documents=_documents(folder, description.documents, path),
            queries=_queries(folder, description),
        ),
        description.split,
    )


def _documents(folder: Path, wanted: _Documents, definition: Path) -> DocumentSource:
    default = DEFAULT_COLUMNS
    columns = Columns(
        id=default.id if wanted.id is None else _tuple(wanted.id),
        title=default.title if wanted.title is None else _tuple(wanted.title),
        text=default.text if wanted.text is None else _tuple(wanted.text),
        fields=None if wanted.fields is None else tuple(wanted.fields),
    )
    if not wanted.path:
        raise CollectionError(
            f"{definition}: 'path' of [documents] is empty; name a file or folder, or several"
        )
    paths = [found for name in _tuple(wanted.path) for found in _files(folder / name, definition)]
    sources = tuple(
        Parquet(path, columns) if path.suffix == ".parquet" else json_source(path, columns) for path in paths
    )
    return sources[0] if len(sources) == 1 else Concatenated(sources)


def _tuple(names: _Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _files(path: Path, definition: Path) -> list[Path]:
    """The file itself, or all files of documents in the folder and below it, in the order of their names."""
    suffixes = (*SUFFIXES, ".parquet")
    if path.is_dir():
        found = sorted(each for each in path.rglob("*") if each.name.endswith(suffixes) and each.is_file())
        if not found:
            raise CollectionError(f"{path}: holds no files of documents ({', '.join(suffixes)})")
        return found
    if not path.exists():
        raise CollectionError(f"{definition}: the path of documents {path} does not exist; mend 'path'")
    return [path]


def _queries(folder: Path, description: Description) -> dict[str, QuerySet]:
    if description.validation is not None and description.test is not None:
        parts = {VALIDATION: description.validation, TEST: description.test}
        return {
            name: QuerySet(read_topics(folder / part.queries), read_judgments(folder / part.judgments))
            for name, part in parts.items()
        }
    topics = read_topics(folder / (description.queries or ""))
    judgments = read_judgments(folder / (description.judgments or ""))
    if description.split.validation_qids is None:
        return {"": QuerySet(topics, judgments)}
    listed = {line.strip() for _, line in text_lines(folder / description.split.validation_qids)}
    sides: dict[str, dict[str, dict[str, int]]] = {VALIDATION: {}, TEST: {}}
    for qid, pairs in judgments.qrels.items():
        sides[VALIDATION if qid in listed else TEST][qid] = pairs
    return {
        name: QuerySet(topics, msgspec.structs.replace(judgments, qrels=qrels, repeated=0))
        for name, qrels in sides.items()
    }
