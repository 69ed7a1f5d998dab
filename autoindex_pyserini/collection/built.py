"""Collections that are built from something else, once, and kept in the cache in BEIR layout."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from autoindex_pyserini.collection.model import Tally
from autoindex_pyserini.collection.records import as_text
from autoindex_pyserini.errors import EnvironmentProblemError
from autoindex_pyserini.resources import cache_dir

FORMAT_VERSION = 1
_MANIFEST = "manifest.json"
_ABANDONED_AFTER_S = 3600.0


class Built(msgspec.Struct, frozen=True):
    """What a builder made.

    Attributes:
        documents: records with ``_id``, ``title``, ``text`` and ``metadata``.
        queries: records with ``_id`` and ``text``.
        qrels: (qid, docid, grade).
    """

    documents: list[dict[str, Any]]
    queries: list[dict[str, str]]
    qrels: list[tuple[str, str, int]]


def cached(name: str, recipe: dict[str, Any], build: Callable[[], Built]) -> Path:
    """Give the folder that holds what `build` makes, and call it only if the cache does not have it.

    A folder is named after its recipe, written beside its place and moved there in one step: another
    process sees all of it or nothing, and of two that build at once either may win. A folder from
    which something is missing is replaced.

    Args:
        name: the collection's name.
        recipe: everything that the result depends on, as JSON values; also written into the manifest.
        build: makes the content.

    Raises:
        EnvironmentProblemError: the cache folder cannot be written.
    """
    recipe = {"format": FORMAT_VERSION, **recipe}
    key = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:16]
    parent = cache_dir() / "collections" / name
    place = parent / key
    if _is_complete(place, recipe):
        return place
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        workplace = Path(tempfile.mkdtemp(prefix=".building-", dir=parent))
    except OSError as error:
        raise _unwritable(parent, error) from error
    try:
        content = build()
        _write(workplace, recipe, content)
        _publish(workplace, place, recipe)
    except OSError as error:
        raise _unwritable(parent, error) from error
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    return place


def _unwritable(folder: Path, error: OSError) -> EnvironmentProblemError:
    return EnvironmentProblemError(
        f"the cache folder {folder} cannot be written ({error.strerror or error}); "
        "make room there, or set AUTOINDEX_CACHE to another folder"
    )


def _is_complete(place: Path, recipe: dict[str, Any]) -> bool:
    try:
        manifest = json.loads((place / _MANIFEST).read_bytes())
        return manifest["recipe"] == recipe and all(
            (place / file).stat().st_size == facts["bytes"] for file, facts in manifest["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _sweep(parent: Path) -> None:
    """Remove what builders that were killed have left, and leave those alone that may still be at work."""
    for left in parent.glob(".building-*"):
        try:
            abandoned = time.time() - left.stat().st_mtime > _ABANDONED_AFTER_S
        except OSError:
            continue  # another process was quicker
        if abandoned:
            shutil.rmtree(left, ignore_errors=True)


def _write(folder: Path, recipe: dict[str, Any], content: Built) -> None:
    tally = Tally()

    def lines(records: Iterable[dict[str, Any]]) -> Iterable[str]:
        for record in records:
            yield json.dumps(_mended(record, tally), ensure_ascii=False) + "\n"

    files = {
        "corpus.jsonl": _write_file(folder / "corpus.jsonl", lines(content.documents)),
        "queries.jsonl": _write_file(folder / "queries.jsonl", lines(content.queries)),
        "qrels.txt": _write_file(
            folder / "qrels.txt", (f"{qid} 0 {docid} {grade}\n" for qid, docid, grade in content.qrels)
        ),
    }
    digest = hashlib.sha256("".join(facts["sha256"] for facts in files.values()).encode())
    manifest = {
        "recipe": recipe,
        "documents": len(content.documents),
        "queries": len(content.queries),
        "judged_pairs": len(content.qrels),
        "fingerprint": digest.hexdigest(),
        "files": files,
    }
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


def _mended(value: Any, tally: Tally) -> Any:
    if isinstance(value, dict):
        return {key: _mended(each, tally) for key, each in value.items()}
    return as_text(value, tally)


def _write_file(path: Path, lines: Iterable[str]) -> dict[str, Any]:
    digest = hashlib.sha256()
    with path.open("wb") as stream:
        for line in lines:
            data = line.encode()
            digest.update(data)
            stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def _publish(workplace: Path, place: Path, recipe: dict[str, Any]) -> None:
    for _ in range(3):
        try:
            workplace.rename(place)
            return
        except OSError:
            if _is_complete(place, recipe):
                return  # another process was quicker, with the same content
            if not place.exists():
                raise
            shutil.rmtree(place, ignore_errors=True)
    workplace.rename(place)
