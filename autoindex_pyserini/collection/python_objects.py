"""What is known of a Python package's modules and objects, once their sources have been read."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Definition(msgspec.Struct, frozen=True):
    """A function, class or method as its source has it.

    Attributes:
        module: dotted name of the module that defines it.
        path: its name there, dotted for members of a class.
        kind: ``function``, ``class``, ``method`` or ``property``.
        signature: parameters with defaults, without annotations; empty if the source does not say.
        docstring: as written; may be empty.
        bases: a class's bases, as written.
    """

    module: str
    path: str
    kind: str
    signature: str
    docstring: str
    bases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its own name."""
        return self.path.rpartition(".")[2]

    @property
    def owner(self) -> str:
        """The path of the class around it; empty at the module's level."""
        return self.path.rpartition(".")[0]


class Module(msgspec.Struct):
    """One module: what it defines, and which names it takes from where.

    Attributes:
        name: dotted name.
        is_package: it is an ``__init__.py``.
        definitions: path -> definition, members of classes included.
        imports: local name -> (module, name there); the name is empty where it is a module.
        stars: modules of which it takes all public names.
        exported: ``__all__`` as names and as modules whose ``__all__`` is taken over; None if there is
            none or it is computed in a way that the source does not show.
    """

    name: str
    is_package: bool
    definitions: dict[str, Definition] = {}
    imports: dict[str, tuple[str, str]] = {}
    stars: list[str] = []
    exported: tuple[list[str], list[str]] | None = None


def is_public(dotted: str) -> bool:
    """No component of the name begins with an underscore."""
    return not any(part.startswith("_") for part in dotted.split("."))


def walk_documented(modules: dict[str, Module]) -> Iterator[Definition]:
    """Yield every definition that has a docstring and a public name of its own."""
    for module in modules.values():
        for definition in module.definitions.values():
            if definition.docstring.strip() and not definition.name.startswith("_"):
                yield definition
