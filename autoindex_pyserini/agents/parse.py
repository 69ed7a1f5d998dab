"""The recipe of a program that `agents.render` wrote, and a recipe around any other."""

from __future__ import annotations

import ast

import msgspec

from autoindex_pyserini.agents import wrap
from autoindex_pyserini.agents.recipe import Recipe
from autoindex_pyserini.agents.render import CONSTANTS, FUNCTIONS, OPERATORS, render
from autoindex_pyserini.errors import InvalidProgramError
from autoindex_pyserini.program import Program
from autoindex_pyserini.program.source import assigned, meaning, top_level
from autoindex_pyserini.program.source import parse as syntax_tree

TAKEN = frozenset([*OPERATORS, *FUNCTIONS, *CONSTANTS.values(), "MOST_WINDOWS", "MOST_PASSAGES"])
"""Every module-level name that a rendered program may use."""


def parse(source: str) -> Recipe | None:
    """Return the recipe that renders to this source, or None where there is none.

    The built-in full-text program is the empty recipe, whatever its comments and docstrings say.
    """
    try:
        base, own = wrap.parted(source)
        tree = syntax_tree(own)
    except InvalidProgramError:
        return None
    if not base and meaning(own) == meaning(Program.builtin("full_text").source):
        return Recipe()
    values: dict[str, object] = {"base": base}
    for attribute, constant in CONSTANTS.items():
        node = assigned(tree, constant)
        if node is None:
            continue
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError):
            return None
        values[attribute] = tuple(value.items()) if isinstance(value, dict) else value
    values["identifiers"] = "split_identifiers" in own
    values["title_passage"] = top_level(tree, "title_passage") is not None
    try:
        recipe = msgspec.convert(values, Recipe)
        return recipe if render(recipe) == source else None
    except (msgspec.ValidationError, InvalidProgramError):
        return None


def is_rendered(program: Program) -> bool:
    """True if `agents.render` wrote every character of the program: it calls operators and nothing else."""
    recipe = parse(program.source)
    return recipe is not None and not recipe.base and render(recipe) == program.source


def recipe_of(source: str) -> Recipe:
    """Return the recipe of the program, or one that is applied around it.

    Raises:
        ProposerError: the program is not a recipe and nothing can be put around it.
    """
    return parse(source) or Recipe(base=wrap.adopt(source, TAKEN))
