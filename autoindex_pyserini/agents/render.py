"""A recipe as a program that reads as if a person had written it.

Only what a recipe uses is written down: its numbers and names as module-level constants, each kind of
passage as a function. `agents.parse` reads the constants back.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping

from autoindex_pyserini.agents import wrap
from autoindex_pyserini.agents.recipe import OFF, Recipe, phrases
from autoindex_pyserini.program import Program

MOST_WINDOWS = 8
"""Windows of one document: with every other passage they stay within 16."""

CONSTANTS: Mapping[str, str] = {
    "title_times": "TITLE_TIMES",
    "opening_times": "OPENING_TIMES",
    "text_words": "TEXT_WORDS",
    "added_fields": "ADDED_FIELDS",
    "added_prefixes": "ADDED_PREFIXES",
    "dropped_sections": "DROPPED_SECTIONS",
    "code_above": "CODE_LINES_ALLOWED",
    "latex_above": "LATEX_SPANS_ALLOWED",
    "markup_above": "MARKS_ALLOWED",
    "opening_paragraphs": "OPENING_PARAGRAPHS",
    "lead_words": "LEAD_WORDS",
    "section_passage": "PASSAGE_SECTIONS",
    "summary_fields": "SUMMARY_FIELDS",
    "dense_sentences": "DENSE_SENTENCES",
    "key_words": "KEY_WORDS",
    "window_words": "WINDOW_WORDS",
    "window_overlap": "WINDOW_OVERLAP",
}
"""Attribute of a recipe -> the constant that holds it in a program."""

OPERATORS = (
    "changed",
    "code_lines",
    "count_latex",
    "count_markup",
    "densest_sentences",
    "distinct",
    "drop_code",
    "drop_section",
    "field",
    "fields_text",
    "first_paragraphs",
    "first_words",
    "join",
    "key_words",
    "repeat",
    "section",
    "split_identifiers",
    "strip_latex",
    "strip_markup",
    "windows",
)
"""What a rendered program may import."""

FUNCTIONS = (
    "text_of",
    "full_passage",
    "opening_passage",
    "lead_passage",
    "section_passage",
    "summary_passage",
    "title_passage",
    "dense_passage",
    "key_word_passage",
    "window_passages",
    "prepared",
)
"""What a rendered program may define."""

_EMPTY = Recipe()
_WIDTH = 100


def quote(name: str) -> str:
    """Return the name as a string literal, in double quotes where that needs no escapes."""
    return f'"{name}"' if name.isprintable() and '"' not in name and "\\" not in name else ascii(name)


def _literal(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    if value and isinstance(value[0], tuple):
        items = [f"{quote(name)}: {times}" for name, times in value]
        opening, closing = "{", "}"
    else:
        items = [quote(name) for name in value]
        opening, closing = "(", ",)" if len(items) == 1 else ")"
    line = opening + ", ".join(items) + closing
    if len(line) <= _WIDTH - 25:
        return line
    return "\n".join([opening, *(f"    {item}," for item in items), closing[-1]])


def _summary(recipe: Recipe) -> str:
    """Return the module's docstring: one line that says all, or one that says the most and then all."""
    said = phrases(recipe)
    if recipe.base:
        said.insert(0, wrap.summary(recipe.base) or "another program")
    else:
        said.insert(0, "Full text")
    line = "; ".join(said)
    if len(line) <= _WIDTH:
        return f'"""{line}."""'
    first = textwrap.shorten(line, _WIDTH - 4, placeholder=" ...")
    rest = textwrap.fill("; ".join(said[1:]) + ".", _WIDTH, initial_indent="With: ")
    return f'"""{first}\n\n{rest}\n"""'


def _function(name: str, parameters: str, docstring: str, *body: str) -> str:
    lines = [f"def {name}({parameters}):", f'    """{docstring}"""', *(f"    {line}" for line in body)]
    return "\n".join(lines)


class _Writer:
    """Collects the functions of one program."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.functions: list[str] = []
        self.passages: list[str] = []
        self.cleans = (
            recipe.dropped_sections
            or recipe.text_words
            or (max(recipe.code_above, recipe.latex_above, recipe.markup_above) > OFF)
        )
        self.text = "text_of(doc)" if self.cleans else "doc.text"

    def clean_text(self) -> None:
        recipe = self.recipe
        body = ["text = doc.text"]
        if recipe.dropped_sections:
            body.append("text = drop_section(text, *DROPPED_SECTIONS)")
        for threshold, constant, counter, stripper in (
            (recipe.code_above, "CODE_LINES_ALLOWED", "code_lines", "drop_code"),
            (recipe.latex_above, "LATEX_SPANS_ALLOWED", "count_latex", "strip_latex"),
            (recipe.markup_above, "MARKS_ALLOWED", "count_markup", "strip_markup"),
        ):
            if threshold > OFF:
                body += [f"if {counter}(text) > {constant}:", f"    text = {stripper}(text)"]
        if recipe.text_words:
            body.append("text = first_words(text, TEXT_WORDS)")
        # A document that is all code or boilerplate is better found by that than not at all.
        body.append("return join(text) or doc.text")
        docstring = "Return the text without what hides its subject; all of it where nothing else is left."
        self.functions.append(_function("text_of", "doc", docstring, *body))

    def full_passage(self) -> None:
        recipe = self.recipe
        parts = ["doc.title"]
        if recipe.title_times != 1:
            parts = ["repeat(doc.title, TITLE_TIMES)"]
        if recipe.opening_times:
            parts.append(f"repeat(first_paragraphs({self.text}), OPENING_TIMES)")
        parts.append(self.text)
        if recipe.added_fields:
            parts.append("*(repeat(field(doc, name), times) for name, times in ADDED_FIELDS.items())")
        if recipe.added_prefixes:
            parts.append("*(fields_text(doc, prefix) for prefix in ADDED_PREFIXES)")
        body = _call("return ", "join", parts)
        docstring = "Return the whole document as one passage."
        self.functions.append(_function("full_passage", "doc", docstring, *body))
        self.passages.append("full_passage(doc)")

    def one(self, name: str, docstring: str, body: str, parameters: str = "doc") -> None:
        self.functions.append(_function(name, parameters, docstring, *body.split("\n")))
        self.passages.append(f"{name}({parameters})")

    def extra_passages(self) -> None:
        recipe, text = self.recipe, self.text
        if recipe.opening_paragraphs:
            self.one(
                "opening_passage",
                "Return the title with how the text begins: there most writers say what it is about.",
                f"return join(doc.title, first_paragraphs({text}, OPENING_PARAGRAPHS))",
            )
        if recipe.lead_words:
            self.one(
                "lead_passage",
                "Return the title with the first words of the text, paragraphs or not.",
                f"return join(doc.title, first_words({text}, LEAD_WORDS))",
            )
        if recipe.section_passage:
            self.one(
                "section_passage",
                "Return the title with the sections that say the most; nothing where there is none.",
                'body = section(doc.text, *PASSAGE_SECTIONS)\nreturn join(doc.title, body) if body else ""',
            )
        if recipe.summary_fields:
            self.one(
                "summary_passage",
                "Return the title with the fields that describe the document in few words.",
                "return join(doc.title, *(field(doc, name) for name in SUMMARY_FIELDS))",
            )
        if recipe.title_passage:
            docstring = "Return the title alone, which a short query matches best."
            self.one("title_passage", docstring, "return doc.title")
        if recipe.dense_sentences:
            self.one(
                "dense_passage",
                "Return the title with the sentences that hold the rarest words.",
                f"return join(doc.title, densest_sentences({text}, corpus, DENSE_SENTENCES))",
                "doc, corpus",
            )
        if recipe.key_words:
            self.one(
                "key_word_passage",
                "Return the title with the words that tell this text from the others.",
                f"return join(doc.title, key_words({text}, corpus, KEY_WORDS))",
                "doc, corpus",
            )
        if recipe.window_words:
            docstring = "Return the text in overlapping windows, each under the title."
            body = [
                f"found = windows({text}, WINDOW_WORDS, WINDOW_OVERLAP, MOST_WINDOWS)",
                "return [join(doc.title, window) for window in found]",
            ]
            self.functions.append(_function("window_passages", "doc", docstring, *body))
            self.passages.append("*window_passages(doc)")

    def represent(self) -> None:
        recipe = self.recipe
        parameters = "doc, corpus" if recipe.wants_corpus else "doc"
        if recipe.identifiers:
            found = _call("found = ", "", self.passages, brackets="[]")
            body = [*found, "yield from distinct(split_identifiers(passage) for passage in found)"]
            docstring = "Yield the passages of one document, each with the parts of its identifiers."
        elif len(self.passages) == 1:
            body = [f"yield {self.passages[0]}"]
            docstring = "Yield the one passage of a document."
        else:
            body = _call("yield from ", "distinct", ["[" + ", ".join(self.passages) + "]"])
            if len(body[0]) > _WIDTH:
                body = [*_call("found = ", "", self.passages, brackets="[]"), "yield from distinct(found)"]
            docstring = "Yield the passages of one document."
        self.functions.append(_function("represent", parameters, docstring, *body))


def _call(before: str, name: str, parts: list[str], brackets: str = "()") -> list[str]:
    """Return the lines of a call or a list, broken one argument a line where it is long."""
    line = f"{before}{name}{brackets[0]}{', '.join(parts)}{brackets[1]}"
    if len(line) <= _WIDTH - 4 or len(parts) == 1:
        return [line]
    return [f"{before}{name}{brackets[0]}", *(f"    {part}," for part in parts), brackets[1]]


def constants_of(recipe: Recipe) -> list[str]:
    """Return the assignments of the constants that the recipe uses, in the order of its attributes."""
    found = []
    for attribute, constant in CONSTANTS.items():
        value = getattr(recipe, attribute)
        if value != getattr(_EMPTY, attribute) or (attribute == "window_overlap" and recipe.window_words):
            found.append(f"{constant} = {_literal(value)}")
    if recipe.window_words:
        found.append(f"MOST_WINDOWS = {MOST_WINDOWS}")
    if recipe.base:
        found.append(f"MOST_PASSAGES = {wrap.MOST_PASSAGES}")
    return found


def _imports(code: str) -> str:
    """Return the import of the operators that the code calls."""
    named = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    used = [name for name in OPERATORS if name in named]
    line = f"from autoindex_pyserini.program.operators import {', '.join(used)}"
    if len(line) <= _WIDTH:
        return line
    names = "\n".join(f"    {name}," for name in used)
    return f"from autoindex_pyserini.program.operators import (\n{names}\n)"


def render(recipe: Recipe) -> str:
    """Return the program of the recipe. Equal recipes give equal programs."""
    if recipe == _EMPTY:
        return Program.builtin("full_text").source
    if recipe == Recipe(base=recipe.base):
        return recipe.base
    writer = _Writer(recipe)
    if writer.cleans:
        writer.clean_text()
    if recipe.base:
        writer.extra_passages()
        wrap.add_entry(recipe, writer.text, writer.functions, writer.passages)
    else:
        writer.full_passage()
        writer.extra_passages()
        writer.represent()
    code = "\n\n\n".join(writer.functions)
    above = [_summary(recipe), _imports(code), "\n".join(constants_of(recipe))]
    if recipe.base:
        above[1:1] = wrap.embedded(recipe.base)
    return "\n\n".join(piece for piece in above if piece) + f"\n\n\n{code}\n"
