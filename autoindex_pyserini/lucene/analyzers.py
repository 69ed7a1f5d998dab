"""Analyzers by name, the same for indexing and for searching."""

from __future__ import annotations

from typing import Any

import msgspec

from autoindex_pyserini.errors import InputError
from autoindex_pyserini.lucene.jvm import java_class
from autoindex_pyserini.resources import data_dir


class AnalyzerConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of ``java_config/analyzers.toml``, in the terms of Anserini's index options.

    Attributes:
        stemmer: ``porter``, ``krovetz`` or ``none`` (English only).
        keep_stopwords: keep Lucene's English stop words.
        pretokenized: the text is tokenised already; split at white space only.
    """

    stemmer: str = "porter"
    keep_stopwords: bool = False
    pretokenized: bool = False

    def arguments(self) -> list[str]:
        """The options in the form that Anserini's indexers read."""
        arguments = ["-stemmer", self.stemmer]
        arguments += ["-keepStopwords"] if self.keep_stopwords else []
        arguments += ["-pretokenized"] if self.pretokenized else []
        return arguments

    def analyzer(self) -> Any:
        """A new ``org.apache.lucene.analysis.Analyzer`` that tokenises as the index did."""
        if self.pretokenized:
            return java_class("org.apache.lucene.analysis.core.WhitespaceAnalyzer")()
        english = java_class("io.anserini.analysis.DefaultEnglishAnalyzer")
        return english.fromArguments(self.stemmer, self.keep_stopwords, None)

    def describe(self) -> str:
        """What the analyzer does, for people."""
        if self.pretokenized:
            return "whitespace tokens"
        stop = "stop words kept" if self.keep_stopwords else "English stop words removed"
        return f"Lucene English, stemmer {self.stemmer}, {stop}"


def analyzer_config(name: str) -> AnalyzerConfig:
    """The analyzer of this name.

    Raises:
        InputError: there is none; the message lists the names.
    """
    known = _known()
    if name not in known:
        raise InputError(f"unknown analyzer {name!r}; use one of: {', '.join(sorted(known))}")
    return known[name]


def _known() -> dict[str, AnalyzerConfig]:
    path = data_dir("java_config") / "analyzers.toml"
    return msgspec.toml.decode(path.read_bytes(), type=dict[str, AnalyzerConfig])


def unstemmed(name: str) -> str:
    """The name of the analyzer that differs from this one by its stemmer alone.

    Raises:
        InputError: ``java_config/analyzers.toml`` has none.
    """
    wanted = msgspec.structs.replace(analyzer_config(name), stemmer="none")
    if wanted.pretokenized:
        return name
    for other, config in _known().items():
        if config == wanted:
            return other
    raise InputError(f"no analyzer like {name!r} without stemming; add one to java_config/analyzers.toml")
