"""Docstrings in numpydoc form: their sections, and the entries of See Also."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import msgspec

_SECTIONS = frozenset(
    {
        "attributes",
        "examples",
        "methods",
        "notes",
        "other parameters",
        "parameters",
        "raises",
        "receives",
        "references",
        "returns",
        "warnings",
        "warns",
        "yields",
    }
)
_SINGULAR = {"example": "examples", "note": "notes", "return": "returns", "warning": "warnings"}
_SEE_ALSO = "see also"
_UNDERLINE = re.compile(r"^\s*(-{3,}|={3,}|~{3,})\s*$")
_BARE_SEE_ALSO = re.compile(r"^\s*(\.\.\s+seealso::.*|see\s+also:?)\s*$", re.IGNORECASE)

_ROLE = re.compile(r":(?:\w+:)*\w+(?::\w+)*:`([^`]*)`")
_NAME = r"(?::(?:\w+:)*\w+:)?`[^`]+`|[A-Za-z_~.][\w.]*(?:\(\))?"
_ENTRY = re.compile(
    rf"(?P<names>(?:{_NAME})(?:\s*,\s*(?:{_NAME}))*)\s*,?\s*(?:$|(?:(?<=\s):|:(?=\s|$))\s*(?P<rest>.*)$)"
)


class SeeAlso(msgspec.Struct, frozen=True):
    """One entry of a See Also section.

    Attributes:
        names: the objects it names, as they are written there, markup taken off.
        description: what it says about them, in one line, markup taken off; may be empty.
    """

    names: tuple[str, ...]
    description: str


class Docstring(msgspec.Struct, frozen=True):
    """A docstring taken apart.

    Attributes:
        text: the docstring with its indentation mended and without See Also.
        sections: snake_case name -> the body of a section of numpydoc; See Also is not among them.
        see_also: the entries of See Also, in order.
    """

    text: str
    sections: dict[str, str]
    see_also: tuple[SeeAlso, ...]


def parse(docstring: str) -> Docstring:
    """Take a docstring apart. Anything that is not understood stays in the text."""
    kept: list[str] = []
    sections: dict[str, str] = {}
    see_also: list[SeeAlso] = []
    for heading, lines in _blocks(inspect.cleandoc(docstring).split("\n")):
        if heading == _SEE_ALSO:
            see_also.extend(_entries(lines))
            continue
        kept.extend(lines)
        if heading in _SECTIONS:
            name = heading.replace(" ", "_")
            body = inspect.cleandoc("\n" + "\n".join(lines[2:])).strip()
            if body:
                sections[name] = f"{sections[name]}\n\n{body}" if name in sections else body
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in kept)).strip()
    return Docstring(text, sections, tuple(see_also))


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Cut a docstring at its underlined headings: (heading in lower case, its lines, heading included).

    See Also comes without its heading. A heading that numpydoc does not know does not end the section
    around it, because examples print underlined tables; but it does end See Also.
    """
    heading, block = "", list[str]()
    at = 0
    while at < len(lines):
        title = _heading(lines, at)
        if title in _SECTIONS or title == _SEE_ALSO or (title and heading == _SEE_ALSO):
            yield heading, block
            heading, block = title, [] if title == _SEE_ALSO else lines[at : at + 2]
            at += 2
        elif _BARE_SEE_ALSO.match(lines[at]):  # not underlined: the indented block below belongs to it
            end = _end_of_block(lines, at)
            yield heading, block
            yield _SEE_ALSO, lines[at + 1 : end]
            heading, block = "", []
            at = end
        else:
            block.append(lines[at])
            at += 1
    yield heading, block


def _heading(lines: list[str], at: int) -> str:
    title = lines[at].strip()
    if not title or len(title) > 40 or at + 1 >= len(lines) or not _UNDERLINE.match(lines[at + 1]):
        return ""
    folded = " ".join(title.rstrip(":").casefold().split())
    return _SINGULAR.get(folded, folded)


def _end_of_block(lines: list[str], at: int) -> int:
    indent = _indent(lines[at])
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > indent):
        end += 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _entries(lines: list[str]) -> Iterator[SeeAlso]:
    """Read ``name : description``, ``a, b : description`` and descriptions on the lines below."""
    names: tuple[str, ...] = ()
    description: list[str] = []
    filled = [line for line in lines if line.strip()]
    indent = min((_indent(line) for line in filled), default=0)
    for line in filled:
        entry = _ENTRY.match(line.strip()) if _indent(line) == indent else None
        if entry:
            if names:
                yield SeeAlso(names, plain(" ".join(description)))
            names = tuple(_bare_name(name) for name in re.findall(_NAME, entry["names"]))
            description = [entry["rest"] or ""]
        else:
            description.append(line.strip())
    if names:
        yield SeeAlso(names, plain(" ".join(description)))


def _bare_name(name: str) -> str:
    return re.sub(r"^:[\w:]+:", "", name).strip("`").removesuffix("()").lstrip("~.")


def plain(markup: str) -> str:
    """Take reStructuredText's inline markup off, and put the text into one line."""
    text = _ROLE.sub(lambda match: _reference(match[1]), markup)
    text = re.sub(r"`([^`<]+)\s+<[^`>]*>`_{0,2}", r"\1", text)  # a link: its text without its address
    text = re.sub(r"``(.+?)``", r"\1", text)
    text = re.sub(r"`([^`]*)`_{0,2}", lambda match: _reference(match[1]), text)
    text = re.sub(r"\s*\[\w+\]_", "", text)  # a citation
    text = re.sub(r"(?<![\w*])(\*\*?)(?=\S)(.+?)(?<=\S)\1(?![\w*])", r"\2", text)
    text = re.sub(r"\\([*_`|\\])", r"\1", text)
    return " ".join(text.split())


def _reference(target: str) -> str:
    """What a cross reference shows: ``~numpy.linalg.norm`` is norm; ``text <target>`` is text."""
    shown = re.sub(r"\s*<[^>]*>$", "", target)
    return shown.rsplit(".", 1)[-1] if shown.startswith("~") else shown.lstrip("!.")
