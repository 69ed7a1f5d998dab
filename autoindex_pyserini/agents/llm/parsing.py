"""What is in a model's reply: programs with their hypotheses, or calls of tools written as text.

Models fence, name and order things as they like; whatever can be understood without guessing is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec

from autoindex_pyserini.errors import InvalidProgramError
from autoindex_pyserini.program.source import parse

_OPENING = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n`]*$")
_HYPOTHESIS = re.compile(
    r"^[\s#>*_\-\d.)]*hypothesis(?:\s*\d+)?[*_\s]*[:\-\u2013\u2014][*_\s]*", re.IGNORECASE
)
_ENTRY = re.compile(r"^(?:def represent\b|class Preprocessor\b)", re.MULTILINE)
_TAGGED_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_LONGEST = 300


class Draft(msgspec.Struct, frozen=True):
    """A program as a model wrote it, unchecked.

    Attributes:
        source: the Python source.
        hypothesis: why it should be better, in one line; empty if the model gave no reason.
    """

    source: str
    hypothesis: str


class TextCall(msgspec.Struct, frozen=True):
    """A tool call written as text: the name, and the arguments or None where they are not an object."""

    name: str
    arguments: dict[str, object] | None


class _Block(msgspec.Struct, frozen=True):
    language: str
    text: str
    before: str  # what stands between the block before and this one


def drafts(reply: str) -> list[Draft]:
    """Return the programs of a reply in their order, the same one once.

    A program is a fenced block that defines ``represent`` (or ``class Preprocessor``); a reply without
    fences is one program if it parses as one. A fence that is never closed holds what follows it.
    """
    found: dict[str, Draft] = {}
    blocks = list(_blocks(reply))
    for block in blocks:
        if block.language.lower() in ("", "python", "py", "python3") and _ENTRY.search(block.text):
            found.setdefault(block.text, Draft(block.text, _hypothesis(block.before, block.text)))
    if not blocks and (entry := _unfenced(reply)):
        found[entry] = Draft(entry, _hypothesis("", entry))
    return list(found.values())


def text_calls(reply: str) -> list[TextCall]:
    """Return the tool calls that a reply holds as text: fenced ``tool`` blocks, or ``<tool_call>`` tags."""
    texts = [
        block.text for block in _blocks(reply) if block.language.lower() in ("tool", "tool_call", "json")
    ]
    texts += _TAGGED_CALL.findall(reply)
    calls = []
    for text in texts:
        for value in _json_values(text):
            if isinstance(value, dict) and isinstance(value.get("name"), str):
                arguments = value.get("arguments", value.get("parameters"))
                calls.append(TextCall(value["name"], arguments if isinstance(arguments, dict) else None))
    return calls


def _json_values(text: str) -> Iterator[object]:
    """The JSON values of a text, one after the other or in a list; nothing where it is none."""
    decoder, at = json.JSONDecoder(), 0
    while (at := _next_value(text, at)) < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield from value if isinstance(value, list) else [value]


def _next_value(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n,;":
        at += 1
    return at


def _blocks(reply: str) -> Iterator[_Block]:
    fence, language = "", ""
    inside: list[str] = []
    before: list[str] = []
    for line in reply.replace("\r\n", "\n").split("\n"):
        opening = _OPENING.match(line)
        if fence:
            if opening and opening[1].startswith(fence) and not opening[2]:
                yield _Block(language, "\n".join(inside).strip("\n") + "\n", "\n".join(before))
                fence, inside, before = "", [], []
            else:
                inside.append(line)
        elif opening:
            fence, language = opening[1], opening[2]
        else:
            before.append(line)
    if fence and inside:
        yield _Block(language, "\n".join(inside).strip("\n") + "\n", "\n".join(before))


def _unfenced(reply: str) -> str:
    """A reply that is nothing but a program."""
    text = reply.strip("\n") + "\n"
    if not _ENTRY.search(text):
        return ""
    try:
        parse(text)
    except InvalidProgramError:
        return ""
    return text


def _hypothesis(before: str, source: str) -> str:
    """The line that says so, before the block or first in it; else the last words before it."""
    lines = [line.strip() for line in before.split("\n") if line.strip()]
    for line in (*reversed(lines), *source.split("\n")[:5]):
        if _HYPOTHESIS.match(line):
            return _one_line(_HYPOTHESIS.sub("", line))
    return _one_line(lines[-1].lstrip("#>*_- ")) if lines else ""


def _one_line(text: str) -> str:
    clean = " ".join(text.strip(" *_`\"'").split())
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 3] + "..."
