"""The tools with which a proposer looks into the incumbent's index: read only, bounded, and never raising.

Each tool is a struct: its docstring and its fields are what a model is told, its `answer` is what it does.
Arguments are validated against it; a mistake is answered with one line that says what would be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from autoindex_pyserini.agents import answers
from autoindex_pyserini.agents.proposer import Tool
from autoindex_pyserini.lucene import SearchFailedError
from autoindex_pyserini.pipeline import IndexView, PatternError, UnknownReferenceError
from autoindex_pyserini.program.contract import mend

Query = Annotated[str, Meta(min_length=1, max_length=20_000, description="The query's text.")]
Reference = Annotated[str, Meta(max_length=100, description="A document's reference, like D-7GQ2MX.")]


class _Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of one tool with its arguments."""

    name: ClassVar[str]

    def answer(self, view: IndexView) -> list[str]:
        """The lines of the answer, not bounded yet."""
        raise NotImplementedError


class _Retrieve(_Call, frozen=True):
    """Search the present index.

    Gives rank, reference, score and title of the best documents, which query terms their best passage holds,
    and how their text begins.
    """

    name = "bm25_retrieve"

    query: Query
    k: Annotated[int, Meta(ge=1, le=50, description="How many documents.")] = 10

    def answer(self, view: IndexView) -> list[str]:
        return answers.retrieved(view, self.query, self.k)


class _Read(_Call, frozen=True):
    """Read a raw document as a program receives it: title, text and fields, all that can be indexed."""

    name = "read_document"

    ref: Reference
    max_chars: Annotated[int, Meta(ge=300, le=answers.MOST_CHARS, description="About how much is shown.")] = (
        3000
    )
    start: Annotated[int, Meta(ge=0, description="Character of the text to begin at, to read on.")] = 0

    def answer(self, view: IndexView) -> list[str]:
        return answers.document(view, self.ref, self.max_chars, self.start)


class _Grep(_Call, frozen=True):
    """Find a regular expression in the raw title, text and fields of all documents, and count the matches.

    Tells how common a pattern is. Case counts unless the pattern begins with (?i). There is no lookaround and
    there are no backreferences.
    """

    name = "grep_collection"

    pattern: Annotated[str, Meta(description="A regular expression in Python's (and RE2's) syntax.")]
    max_results: Annotated[int, Meta(ge=0, le=50, description="Documents shown; all are counted.")] = 10

    def answer(self, view: IndexView) -> list[str]:
        return answers.grepped(view, self.pattern, self.max_results)


class _Explain(_Call, frozen=True):
    """Tell why a document scores as it does for a query.

    Gives its rank, the score of its best passage term by term, and where in the raw document the terms are
    that the passage lacks.
    """

    name = "explain"

    query: Query
    ref: Reference

    def answer(self, view: IndexView) -> list[str]:
        return answers.explained(view, self.query, self.ref)


class _TermStats(_Call, frozen=True):
    """Tell what the analyzer makes of a word, and how many passages of the present index hold it.

    A term that few passages have counts much, one that most have counts little.
    """

    name = "term_stats"

    term: Annotated[str, Meta(min_length=1, max_length=1000, description="A word, or several.")]

    def answer(self, view: IndexView) -> list[str]:
        return answers.term_statistics(view, self.term)


class _Passages(_Call, frozen=True):
    """Show what the present program made of a document: its passages, as they are indexed."""

    name = "passages_of"

    ref: Reference

    def answer(self, view: IndexView) -> list[str]:
        return answers.passages(view, self.ref)


class _Compare(_Call, frozen=True):
    """Compare two documents for one query: which terms each gets its score from, and how long they are."""

    name = "compare"

    query: Query
    ref_a: Reference
    ref_b: Reference

    def answer(self, view: IndexView) -> list[str]:
        return answers.compared(view, self.query, self.ref_a, self.ref_b)


_CALLS: dict[str, type[_Call]] = {
    call.name: call for call in (_Retrieve, _Read, _Grep, _Explain, _TermStats, _Passages, _Compare)
}


def _tool(call: type[_Call]) -> Tool:
    _, components = msgspec.json.schema_components([call])
    schema: dict[str, Any] = {
        key: value for key, value in components[call.__name__].items() if key != "title"
    }
    return Tool(call.name, " ".join(schema.pop("description").split()), schema)


TOOLS: tuple[Tool, ...] = tuple(map(_tool, _CALLS.values()))
"""What a `Toolbox` can do."""


class Toolbox:
    """Runs the tools over one index. No way leads from here to topics, judgments or files.

    Args:
        view: the index; the toolbox does not close it.
    """

    def __init__(self, view: IndexView) -> None:
        self._view = view

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Run a tool: the same text for the same arguments, at most `answers.MOST_CHARS` characters.

        Args:
            tool: a name from `TOOLS`.
            arguments: by the tool's schema; numbers may be text, and None counts as left out.

        Returns:
            the answer; one line that says what would be right where the name or the arguments are wrong.
        """
        kind = _CALLS.get(tool)
        if kind is None:
            return answers.bounded([f"unknown tool {str(tool)[:40]!r}; use one of: {', '.join(_CALLS)}"])
        try:
            call = msgspec.convert(_cleaned(arguments), kind, strict=False)
        except msgspec.ValidationError as error:
            return answers.bounded([f"{error}; use {_signature(kind)}"])
        try:
            return answers.bounded(call.answer(self._view))
        except (UnknownReferenceError, PatternError, SearchFailedError) as error:
            return answers.bounded([" ".join(str(error).split())])


def _cleaned(arguments: object) -> object:
    """The arguments that were given, with texts that Java and Lucene can carry."""
    if not isinstance(arguments, Mapping):
        return arguments
    return {
        key: mend(value) if isinstance(value, str) else value
        for key, value in arguments.items()
        if value is not None
    }


def _signature(kind: type[_Call]) -> str:
    """How the tool is called, in one line."""
    parts = [
        f"{field.name}: {'int' if isinstance(field.default, int) else 'str'}"
        + ("" if field.required else f" = {field.default}")
        for field in msgspec.structs.fields(kind)
    ]
    return f"{kind.name}({', '.join(parts)})"
