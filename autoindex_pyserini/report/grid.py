"""One table of text in three forms: for the terminal, in Markdown, in LaTeX."""

from __future__ import annotations

import re

import msgspec
from rich.table import Table
from rich.text import Text

MARK = "*"
"""Behind a number: it is one to look at; the caption says why."""

NONE = "-"
"""Instead of a number: there is none."""

_MARKDOWN = re.compile(r"[\\`*\[\]<>|&~#]|(?<!\w)_|_(?!\w)")  # inside a word an underscore is one
_LATEX = {
    "\\": r"\textbackslash{}",
    **{one: "\\" + one for one in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}


class Grid(msgspec.Struct, frozen=True):
    """What a table says, whatever it is rendered as.

    Attributes:
        heads: the columns' names.
        numbers: for each column, whether it holds numbers, which stand to the right.
        groups: lines of cells, one cell a column; something parts each group from the next.
        caption: sentences that stand below.
    """

    heads: tuple[str, ...]
    numbers: tuple[bool, ...]
    groups: list[list[tuple[str, ...]]]
    caption: list[str]


def terminal_table(grid: Grid) -> Table:
    """The table for the terminal. Where room is short, text is broken, and numbers are not."""
    table = Table(box=None, pad_edge=False)
    for head, number in zip(grid.heads, grid.numbers, strict=True):
        table.add_column(Text(head), justify="right" if number else "left", no_wrap=number, overflow="fold")
    for place, group in enumerate(grid.groups):
        if place:
            table.add_row()
        for cells in group:
            table.add_row(*map(Text, cells))
    table.caption = Text("\n".join(grid.caption))
    table.caption_justify = "left"
    return table


def markdown_table(grid: Grid) -> str:
    """The table in GitHub's Markdown, and its caption as a paragraph below it."""
    rule = "|".join("---:" if number else "---" for number in grid.numbers)
    lines = [grid.heads, *(cells for group in grid.groups for cells in group)]
    head, *body = (f"| {' | '.join(map(_markdown, cells))} |" for cells in lines)
    return "\n".join([head, f"|{rule}|", *body, "", _markdown(" ".join(grid.caption))]) + "\n"


def latex_table(grid: Grid) -> str:
    r"""The table as a LaTeX `table` with its caption, for a document that says `\usepackage{booktabs}`."""
    body: list[str] = []
    for group in grid.groups:
        body.append(r"\midrule")
        for cells in group:
            body.append(_latex_line(cells, grid.numbers))
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(' '.join(grid.caption))}}}",
        rf"\begin{{tabular}}{{{''.join('r' if number else 'l' for number in grid.numbers)}}}",
        r"\toprule",
        _latex_line(grid.heads, (False,) * len(grid.heads)),
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _MARKDOWN.sub(lambda found: "\\" + found[0], " ".join(text.split()))


def _latex_line(cells: tuple[str, ...], numbers: tuple[bool, ...]) -> str:
    marked = (
        _latex_number(cell) if number else _latex(cell) for cell, number in zip(cells, numbers, strict=True)
    )
    return " & ".join(marked) + r" \\"


def _latex(text: str) -> str:
    """Text that LaTeX sets as it is, on one line."""
    escaped = _escaped(text)
    return f"{{{escaped}}}" if escaped[:1] in ("[", "*") else escaped  # the line break above would take these


def _latex_number(text: str) -> str:
    """A number with a true minus, and its mark raised."""
    if text == NONE:
        return "--"
    return re.sub(r"-(?=\d)", "$-$", _escaped(text)).replace(MARK, f"$^{{{MARK}}}$")


def _escaped(text: str) -> str:
    plain = "".join(_LATEX.get(one, one) for one in " ".join(text.split()))
    return plain.replace("--", "-{}-")  # two hyphens would become one dash
