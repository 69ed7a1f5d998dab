"""The collection ``pydata-api``: documented Python objects, and what other docstrings call them.

Documents are public functions, classes and methods. Queries are the descriptions in See Also sections:
a person wrote, beside another object's name, what that object is for. That object is relevant. This is
known-item search by anchor text; the See Also sections themselves are in no document.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from autoindex_pyserini.collection.built import Built, cached
from autoindex_pyserini.collection.model import Progress
from autoindex_pyserini.collection.numpydoc import Docstring, parse
from autoindex_pyserini.collection.python_names import Names
from autoindex_pyserini.collection.python_objects import Definition
from autoindex_pyserini.collection.python_source import read_package
from autoindex_pyserini.collection.splits import normalised
from autoindex_pyserini.errors import CollectionError

KIND = "python-api"
_BUILDER = (
    "numpydoc.py",
    "pydata_api.py",
    "python_names.py",
    "python_objects.py",
    "python_source.py",
    "splits.py",
)
_PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w*\}")
_HAS_LETTER_OR_DIGIT = re.compile(r"\w")


class PythonApi(msgspec.Struct, frozen=True):
    """What to read.

    Attributes:
        name: the collection's name.
        packages: import name -> name of the distribution.
        minimum_words: fewest words of a description that makes a query.
    """

    name: str
    packages: dict[str, str]
    minimum_words: int = 3


def definition(content: Mapping[str, Any], path: Path) -> PythonApi:
    """Read what to build out of a ``collection.toml``.

    Raises:
        CollectionError: a value is missing or of the wrong type.
    """
    try:
        queries = content.get("queries", {})
        return msgspec.convert(
            {"name": content["name"], "packages": content["packages"], **queries}, PythonApi
        )
    except (KeyError, msgspec.ValidationError) as error:
        raise CollectionError(f"{path}: not a definition of kind {KIND} ({error})") from error


def build(wanted: PythonApi, *, progress: Progress | None = None) -> Path:
    """Give the folder in BEIR layout that holds the collection, built now or taken from the cache.

    It is built anew when a package's version, the definition or the builder has changed. Packages are
    read, not imported.

    Raises:
        CollectionError: a package is not installed.
        EnvironmentProblemError: the cache folder cannot be written.
    """
    versions = {name: _version(name, distribution) for name, distribution in sorted(wanted.packages.items())}
    recipe = {"builder": _builder(), "definition": msgspec.to_builtins(wanted), "packages": versions}
    return cached(wanted.name, recipe, lambda: _read(wanted, progress))


def _builder() -> str:
    """A hash of the sources that decide what is built: a cache can then never be older than they are."""
    here = Path(__file__).parent
    return hashlib.sha256(b"".join((here / name).read_bytes() for name in _BUILDER)).hexdigest()


def _version(package: str, distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError as error:
        raise CollectionError(
            f"the package '{package}' is not installed; install it with: pip install {distribution}"
        ) from error


def _read(wanted: PythonApi, progress: Progress | None) -> Built:
    packages = {name: Names(name, read_package(name, progress)) for name in sorted(wanted.packages)}
    parsed = {
        docid: (names, each, parse(each.docstring))
        for names in packages.values()
        for docid, each in names.documented.items()
    }
    queries = list(_queries(_references(parsed, packages), wanted.minimum_words))
    return Built(
        documents=[_document(docid, each, parts) for docid, (_, each, parts) in sorted(parsed.items())],
        queries=[{"_id": qid, "text": text} for qid, text, _ in queries],
        qrels=[(qid, docid, 1) for qid, _, docids in queries for docid in docids],
    )


def _document(docid: str, each: Definition, docstring: Docstring) -> dict[str, Any]:
    fields = {"kind": each.kind, "signature": each.signature, **docstring.sections}
    return {
        "_id": docid,
        "title": docid.rpartition(".")[2],
        "text": docstring.text,
        "metadata": {name: value for name, value in fields.items() if value},
    }


def _references(
    parsed: Mapping[str, tuple[Names, Definition, Docstring]], packages: Mapping[str, Names]
) -> Iterator[tuple[str, list[str]]]:
    """Yield (description, docids): what one entry of See Also says about which other documents.

    An entry may name several objects; what it says holds for each of them, so all must be found. One
    that names its own object describes nothing else, and is left out.
    """
    for docid, (names, each, docstring) in parsed.items():
        for entry in docstring.see_also:
            found = [_resolve(name, each, docid, names, packages) for name in entry.names]
            docids = [target for target in found if target is not None]
            if len(docids) == len(entry.names) and docid not in docids:
                yield entry.description, docids


def _resolve(
    name: str, each: Definition, docid: str, names: Names, packages: Mapping[str, Names]
) -> str | None:
    found = names.resolve(name, each, docid)
    other = packages.get(name.partition(".")[0])
    return other.absolute(name) if found is None and other is not None else found


def _queries(
    references: Iterable[tuple[str, list[str]]], minimum_words: int
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (qid, text, relevant docids), ordered by qid. Equal descriptions make one query.

    Equal means equal after `normalised`; of several ways to write it, the most frequent is the text.
    """
    writings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    relevant: defaultdict[str, set[str]] = defaultdict(set)
    for description, docids in references:
        text = description.rstrip(" .;:,")
        words = [word for word in text.split() if _HAS_LETTER_OR_DIGIT.search(word)]
        if len(words) >= minimum_words and not _PLACEHOLDER.search(text):
            key = normalised(text)
            writings[key][text] += 1
            relevant[key].update(docids)
    keys = {f"q{hashlib.sha256(key.encode()).hexdigest()[:12]}": key for key in writings}
    for qid, key in sorted(keys.items()):
        text = min(writings[key], key=lambda each: (-writings[key][each], each))
        yield qid, text, sorted(relevant[key])
