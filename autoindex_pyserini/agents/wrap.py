"""Building on a program that is not a recipe: it is kept, under other names, and called from a new entry.

The kept program stands between the module's docstring and the line `MARKER`; the added part follows.
"""

from __future__ import annotations

import ast
import re

from autoindex_pyserini.agents.proposer import ProposerError
from autoindex_pyserini.agents.recipe import OFF, Recipe
from autoindex_pyserini.errors import InvalidProgramError
from autoindex_pyserini.program import Program
from autoindex_pyserini.program.source import ENTRY_POINT, components, positional, top_level
from autoindex_pyserini.program.source import parse as syntax_tree

MARKER = "# What was added to the program above."
PREFIX = "original_"
MOST_PASSAGES = 16


def adopt(source: str, taken: frozenset[str]) -> str:
    """Return the program with `represent`, and every name in `taken`, under names with `PREFIX`.

    Its docstring gives way to a comment with its first line.

    Args:
        source: a program in the contract's form.
        taken: names that the added part is going to use.

    Raises:
        ProposerError: the program has no plain function `represent`, or uses a name in a way that it
            cannot be renamed.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")  # as `ast` counts lines, and no further
    program = Program(source)
    try:
        tree = syntax_tree(source)
        own = components(source)
    except InvalidProgramError as error:
        raise ProposerError(f"the incumbent {program.id} cannot be built upon: {error}") from None
    if not isinstance(top_level(tree, ENTRY_POINT), ast.FunctionDef):
        raise ProposerError(
            f"the incumbent {program.id} has no function 'represent(doc)', and operators can only be applied "
            "around one; rewrite it in that form, or start from 'full_text'"
        )
    renamed = {name for name in own if name in taken} | {ENTRY_POINT}
    lines = _rename(source, tree, renamed, program.id).split("\n")
    first = tree.body[0]
    if ast.get_docstring(tree, clean=False) is not None:
        assert first.end_lineno is not None  # the parser sets it on every statement
        if len(tree.body) > 1 and tree.body[1].lineno == first.end_lineno:
            raise ProposerError(
                f"the incumbent {program.id} has code on the line of its docstring; part them"
            )
        del lines[first.lineno - 1 : first.end_lineno]
    summary_line = program.summary.rstrip(".") or "A program without a description"
    return f"# {summary_line}\n\n" + "\n".join(lines).strip("\n")


def _rename(source: str, tree: ast.Module, names: set[str], program_id: str) -> str:
    """Return the source with the names prefixed wherever they stand as names."""
    edits: list[tuple[int, int, str]] = []
    lines = [line.encode() for line in source.split("\n")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            edits.append((node.lineno - 1, node.col_offset, node.id))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name in names:
            found = re.compile(rb"(?:def|class)\s+(?=" + node.name.encode() + rb"\b)").search(
                lines[node.lineno - 1], node.col_offset
            )
            if found is None:
                raise _cannot(program_id, node.name)
            edits.append((node.lineno - 1, found.end(), node.name))
        elif (
            (isinstance(node, ast.arg | ast.keyword) and node.arg in names)
            or (isinstance(node, ast.alias) and (node.asname or node.name) in names)
            or (isinstance(node, ast.Global | ast.Nonlocal) and names & set(node.names))
        ):
            raise _cannot(program_id, ", ".join(sorted(names)))
    for line, column, name in sorted(edits, reverse=True):
        before, after = lines[line][:column], lines[line][column:]
        if not after.startswith(name.encode()):
            raise _cannot(program_id, name)
        lines[line] = before + PREFIX.encode() + after
    return b"\n".join(lines).decode()


def _cannot(program_id: str, name: str) -> ProposerError:
    return ProposerError(
        f"the incumbent {program_id} uses {name} both as a name of its own and in another way, so it cannot "
        "be renamed; rename it by hand, or start from 'full_text'"
    )


def summary(base: str) -> str:
    """Return the first line of the kept program's docstring, without a full stop and what ends docstrings."""
    line = base.split("\n", 1)[0].removeprefix("#").strip()
    return line.replace("\\", "/").replace('"', "'")


def embedded(base: str) -> tuple[str, str]:
    """Return the kept program and the line that ends it."""
    return base, f"\n{MARKER}"


def parted(source: str) -> tuple[str, str]:
    """Return the kept program, empty where there is none, and the source without it."""
    if f"\n\n\n{MARKER}\n" not in source:
        return "", source
    head, added = source.rsplit(f"\n\n\n{MARKER}\n", 1)
    tree = syntax_tree(head)
    if ast.get_docstring(tree) is None:
        return "", source
    lines = head.split("\n")
    return "\n".join(lines[tree.body[0].end_lineno :]).strip("\n"), added


def add_entry(recipe: Recipe, text: str, functions: list[str], passages: list[str]) -> None:
    """Append the functions that show the kept program another document and add the new passages.

    Args:
        recipe: with a base.
        text: the expression of the text, cleaned where the recipe says so.
        functions: sources of the program's functions; added to.
        passages: expressions of the added passages.
    """
    entry = top_level(syntax_tree(recipe.base), PREFIX + ENTRY_POINT)
    wants_corpus = isinstance(entry, ast.FunctionDef) and positional(entry)[1] > 1
    corpus = ", corpus" if recipe.wants_corpus or wants_corpus else ""
    seen = "doc"
    if _changes_document(recipe):
        seen = "prepared(doc)"
        functions.append(_prepared(recipe, text))
    original = f"*{PREFIX}{ENTRY_POINT}({seen}{', corpus' if wants_corpus else ''})"
    lines = ["added = [", *(f"    {passage}," for passage in passages), "]"] if passages else []
    added = "*map(split_identifiers, added)" if recipe.identifiers else "*added"
    everything = f"[{original}, {added}]" if passages else f"[{original}]"
    docstring = "Yield the passages of the program above, then those added to them."
    if seen != "doc":
        docstring = "Yield the passages that the program above makes of the prepared document"
        docstring += ", then those added to them." if passages else "."
    body = [
        f"def {ENTRY_POINT}(doc{corpus}):",
        f'    """{docstring}"""',
        *(f"    {line}" for line in lines),
        f"    yield from list(distinct({everything}))[:MOST_PASSAGES]",
    ]
    functions.append("\n".join(body))


def _changes_document(recipe: Recipe) -> bool:
    cleans = recipe.text_words or recipe.dropped_sections or recipe.identifiers
    adds = recipe.opening_times or recipe.added_fields or recipe.added_prefixes or recipe.title_times != 1
    return bool(cleans or adds or max(recipe.code_above, recipe.latex_above, recipe.markup_above) > OFF)


def _prepared(recipe: Recipe, text: str) -> str:
    parts = []
    if recipe.opening_times:
        parts.append(f"repeat(first_paragraphs({text}), OPENING_TIMES)")
    parts.append(text)
    if recipe.added_fields:
        parts.append("*(repeat(field(doc, name), times) for name, times in ADDED_FIELDS.items())")
    if recipe.added_prefixes:
        parts.append("*(fields_text(doc, prefix) for prefix in ADDED_PREFIXES)")
    title, body = "doc.title", parts[0]
    if len(parts) > 1:
        body = "join(\n        " + ",\n        ".join(parts) + ",\n    )"
    if recipe.identifiers:
        title, body = f"split_identifiers({title})", f"split_identifiers({body})"
    if recipe.title_times != 1:
        title = f"repeat({title}, TITLE_TIMES)"
    return "\n".join(
        [
            "def prepared(doc):",
            '    """Return the document as the program above is to see it."""',
            f"    text = {body}",
            f"    return changed(doc, title={title}, text=text)",
        ]
    )
