"""A folder in BEIR's layout: ``corpus.jsonl``, ``queries.jsonl``, and ``qrels.txt`` or ``qrels/``."""

from __future__ import annotations

from pathlib import Path

from autoindex_pyserini.collection.assemble import Parts, QuerySet
from autoindex_pyserini.collection.files import find_file
from autoindex_pyserini.collection.jsonl import JsonLines
from autoindex_pyserini.collection.judgments import Judgments, read_judgments
from autoindex_pyserini.collection.splits import TEST, VALIDATION
from autoindex_pyserini.collection.topics import read_topics
from autoindex_pyserini.errors import CollectionError

_SINGLE_QRELS = ("qrels.txt", "qrels.tsv", "qrels")
_SUFFIXES = (".tsv", ".txt", ".qrels")
_VALIDATION_NAMES = ("dev", "validation", "valid", "val", "train")


def read_beir(folder: Path, *, name: str | None = None) -> Parts:
    """Find and read the parts of a folder in BEIR's layout. Any file may be gzipped.

    Judgments are in one file (``qrels.txt``), or in a folder ``qrels`` with one file a split. There,
    ``test`` is the test split, and ``dev`` or ``validation`` the validation split; ``train`` takes that
    place where neither is there. A single file is left to be split by hash.

    Args:
        folder: the folder.
        name: the collection's name; the folder's own name if None.

    Raises:
        CollectionError: a part is missing or malformed.
    """
    if not folder.is_dir():
        raise CollectionError(f"{folder}: no such folder; give a built-in name or a folder in BEIR layout")
    corpus = find_file(folder, "corpus.jsonl")
    if corpus is None:
        raise CollectionError(f"{folder}: has no corpus.jsonl or corpus.jsonl.gz; a BEIR folder needs one")
    queries = find_file(folder, "queries.jsonl")
    if queries is None:
        raise CollectionError(f"{folder}: has no queries.jsonl or queries.jsonl.gz; a BEIR folder needs one")
    topics = read_topics(queries)
    judgments, notes = _judgments(folder)
    return Parts(
        name=name or folder.resolve().name,
        where=str(folder),
        documents=JsonLines((corpus,)),
        queries={split: QuerySet(topics, each) for split, each in judgments.items()},
        notes=notes,
    )


def _judgments(folder: Path) -> tuple[dict[str, Judgments], tuple[str, ...]]:
    single = find_file(folder, *_SINGLE_QRELS)
    if single is not None:
        return {"": read_judgments(single)}, ()
    files = _split_files(folder / "qrels")
    if not files:
        raise CollectionError(
            f"{folder}: has no qrels.txt and no qrels/*.tsv; add judgments, one 'qid 0 docid grade' a line"
        )
    if len(files) == 1:
        (path,) = files.values()
        return {"": read_judgments(path)}, (f"queries of {path.name} are split by hash: there is no other",)
    validation = next((stem for stem in _VALIDATION_NAMES if stem in files), None)
    if "test" not in files:
        raise CollectionError(
            f"{folder / 'qrels'}: has {', '.join(sorted(files))}, but no test.tsv; "
            "name the test judgments test.tsv"
        )
    if validation is None:
        return {"": read_judgments(files["test"])}, ("queries of the test file are split by hash",)
    notes = [f"validation is {files[validation].name}, test is {files['test'].name}"]
    notes += [f"{files[stem].name} is not used" for stem in sorted(files) if stem not in (validation, "test")]
    return {VALIDATION: read_judgments(files[validation]), TEST: read_judgments(files["test"])}, tuple(notes)


def _split_files(folder: Path) -> dict[str, Path]:
    """Name of the split -> its file. ``test.tsv.gz`` belongs to ``test``."""
    if not folder.is_dir():
        return {}
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        plain = path.with_suffix("") if path.suffix == ".gz" else path
        if path.is_file() and plain.suffix in _SUFFIXES:
            found.setdefault(plain.stem.casefold(), path)
    return found
