"""From what a user types to a collection."""

from __future__ import annotations

from pathlib import Path

from autoindex_pyserini.collection.assemble import Parts, assemble
from autoindex_pyserini.collection.beir import read_beir
from autoindex_pyserini.collection.described import DEFINITION, read_described, read_toml
from autoindex_pyserini.collection.model import Collection, Progress
from autoindex_pyserini.collection.splits import DEFAULT_RATIO
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.resources import data_dir

_IRDS = "irds:"


def builtin_names() -> list[str]:
    """Name the built-in collections, in alphabetical order."""
    return sorted(path.parent.name for path in data_dir("collections").glob(f"*/{DEFINITION}"))


def load(
    name_or_path: str,
    *,
    seed: int | None = None,
    validation: str | None = None,
    progress: Progress | None = None,
) -> Collection:
    """Load and validate a collection; reads its documents once, and keeps none of them.

    Args:
        name_or_path: a built-in name; or ``irds:ID``, a data set of ir_datasets; or the path of a folder
            in BEIR layout, or of a folder with a ``collection.toml``, or of such a file.
        seed: of the split into validation and test, where the collection has none of its own; None takes
            the collection's own seed.
        validation: ``irds:ID`` of the validation queries of a data set of ir_datasets, if it is another.
        progress: told about long work.

    Raises:
        CollectionError: there is no such collection, or it cannot be used; names the file and the line.
        EnvironmentProblemError: data files, a package or a place to write to is missing.
    """
    if name_or_path.startswith(_IRDS):
        return assemble(_irds(name_or_path, validation), seed=seed, progress=progress)
    if validation is not None:
        raise CollectionError(
            f"'{name_or_path}' with validation queries '{validation}': only a collection irds:ID takes them; "
            "for others name the [validation] part in a collection.toml"
        )
    if name_or_path in builtin_names():
        return _load_builtin(name_or_path, seed, progress)
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        if (path / DEFINITION).is_file():
            return _load_described(path / DEFINITION, seed, progress)
        return assemble(read_beir(path), seed=seed, progress=progress)
    if path.is_file() and path.suffix == ".toml":
        return _load_described(path, seed, progress)
    if path.exists():
        raise CollectionError(
            f"{path}: a file, not a folder; give the folder that holds corpus.jsonl, or a collection.toml"
        )
    raise CollectionError(
        f"'{name_or_path}': neither a built-in collection ({', '.join(builtin_names())}) nor an existing "
        "folder; give such a name, or the path of a folder with corpus.jsonl, queries.jsonl and qrels.txt"
    )


def _irds(name: str, validation: str | None) -> Parts:
    from autoindex_pyserini.collection.irds import read_irds  # ir_datasets is needed for nothing else

    if validation is not None and not validation.startswith(_IRDS):
        raise CollectionError(f"'{validation}': validation queries of {name} must be given as irds:ID")
    other = None if validation is None else validation.removeprefix(_IRDS)
    return read_irds(name.removeprefix(_IRDS), validation=other)


def _load_described(path: Path, seed: int | None, progress: Progress | None) -> Collection:
    parts, split = read_described(path)
    return assemble(
        parts,
        seed=split.seed if seed is None else seed,
        ratio=(split.validation, split.test),
        progress=progress,
    )


def _load_builtin(name: str, seed: int | None, progress: Progress | None) -> Collection:
    from autoindex_pyserini.collection import pydata_api  # needed for nothing else

    path = data_dir("collections") / name / DEFINITION
    content = read_toml(path)
    split = content.get("split", {})
    folder = pydata_api.build(pydata_api.definition(content, path), progress=progress)
    return assemble(
        read_beir(folder, name=name),
        seed=split.get("seed") if seed is None else seed,
        ratio=(split.get("validation", DEFAULT_RATIO[0]), split.get("test", DEFAULT_RATIO[1])),
        progress=progress,
    )
