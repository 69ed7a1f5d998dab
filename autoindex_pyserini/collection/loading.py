"""From what a user types to a collection."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from autoindex_pyserini.collection.assemble import assemble
from autoindex_pyserini.collection.beir import read_beir
from autoindex_pyserini.collection.model import Collection, Progress
from autoindex_pyserini.collection.splits import DEFAULT_RATIO
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.resources import data_dir

_DEFINITION = "collection.toml"


def builtin_names() -> list[str]:
    """Name the built-in collections, in alphabetical order."""
    return sorted(path.parent.name for path in data_dir("collections").glob(f"*/{_DEFINITION}"))


def load(name_or_path: str, *, seed: int | None = None, progress: Progress | None = None) -> Collection:
    """Load and validate a collection; reads its documents once, and keeps none of them.

    Args:
        name_or_path: a built-in name, or else the path of a folder in BEIR layout.
        seed: of the split into validation and test, where the collection has none of its own; None takes
            the collection's own seed.
        progress: told about long work.

    Raises:
        CollectionError: there is no such collection, or it cannot be used; names the file and the line.
        EnvironmentProblemError: the data files of this package are missing.
    """
    if name_or_path in builtin_names():
        return _load_builtin(name_or_path, seed, progress)
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return assemble(read_beir(path), seed=seed, progress=progress)
    if path.exists():
        raise CollectionError(f"{path}: a file, not a folder; give the folder that holds corpus.jsonl")
    raise CollectionError(
        f"'{name_or_path}': neither a built-in collection ({', '.join(builtin_names())}) nor an existing "
        "folder; give such a name, or the path of a folder with corpus.jsonl, queries.jsonl and qrels.txt"
    )


def _load_builtin(name: str, seed: int | None, progress: Progress | None) -> Collection:
    from autoindex_pyserini.collection import pydata_api

    path = data_dir("collections") / name / _DEFINITION
    definition = _read_definition(path)
    split = definition.get("split", {})
    folder = pydata_api.build(pydata_api.definition(definition, path), progress=progress)
    return assemble(
        read_beir(folder, name=name),
        seed=split.get("seed") if seed is None else seed,
        ratio=(split.get("validation", DEFAULT_RATIO[0]), split.get("test", DEFAULT_RATIO[1])),
        progress=progress,
    )


def _read_definition(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CollectionError(f"{path}: cannot be read as TOML ({error})") from error
