"""Static checks: early, named errors for what cannot work.

They are a courtesy, not a wall. Python can be written so that no reading of the source tells what it
does, so nothing here keeps a hostile program in; the kernel confinement of `autoindex_pyserini.sandbox`
does. What a check gives is a clear line with a line number, before a worker is started.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from autoindex_pyserini.errors import InvalidProgramError
from autoindex_pyserini.program import source as reading
from autoindex_pyserini.program.contract import FORBIDDEN_NAMES, RESERVED_FIELDS, is_allowed
from autoindex_pyserini.program.program import Program
from autoindex_pyserini.settings import Limits

MAX_SOURCE_CHARS = 100_000
MAX_FIELDS = 32

_HARMLESS = (
    "annotations", "call", "contains", "doc", "enter", "eq", "exit", "getitem", "hash", "init", "iter", "len",
    "lt", "name", "next", "post_init", "repr", "str",
)  # fmt: skip
HARMLESS_DUNDERS = frozenset(f"__{word}__" for word in _HARMLESS)
"""Double-underscore attributes that lead nowhere; all others are refused."""

_LEADING_OUT = (
    "base", "bases", "builtins", "class", "closure", "code", "dict", "getattribute", "globals", "import",
    "loader", "mro", "reduce", "reduce_ex", "self", "spec", "subclasses",
)  # fmt: skip
FORBIDDEN_STRINGS = frozenset(f"__{word}__" for word in _LEADING_OUT) | {"f_back", "f_globals", "tb_frame"}
"""What `getattr` would be given to get around the rule on attributes. Other such words are just text."""

_INTERNALS = re.compile(r"(__\w+__|f_(code|globals|locals|builtins|back)|(gi|tb|cr|ag)_(frame|code))\Z")
_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


def check(program: Program, limits: Limits) -> None:
    """Refuse a program that cannot keep the contract, without running it.

    Checks that it parses, is not too long, defines ``represent(doc)``, ``represent(doc, corpus)`` or a
    class ``Preprocessor`` at top level, imports only what `limits` allow, names no built-in or attribute
    that leads out of it, and declares ``FIELDS`` as literal field names.

    Raises:
        InvalidProgramError: the first rule that it breaks, with `line` where there is one.
    """
    if len(program.source) > MAX_SOURCE_CHARS:
        raise InvalidProgramError(
            f"the source has {len(program.source):,} characters, and the limit is {MAX_SOURCE_CHARS:,}; "
            "shorten it, or move tables into rules"
        )
    tree = reading.parse(program.source)
    _check_entry(tree)
    _check_fields(tree)
    _check_imports(tree, limits.allowed_imports)
    _check_names(tree)


def _fail(node: ast.AST | None, message: str) -> InvalidProgramError:
    line: int | None = getattr(node, "lineno", None)
    return InvalidProgramError(f"line {line}: {message}" if line else message, line=line)


def _check_entry(tree: ast.Module) -> None:
    function = reading.top_level(tree, reading.ENTRY_POINT)
    if function is None:
        adapted = reading.top_level(tree, reading.PREPROCESSOR)
        if isinstance(adapted, ast.ClassDef):
            _check_preprocessor(adapted)
            return
        raise InvalidProgramError(
            "the program defines neither 'represent' nor 'Preprocessor' at top level; "
            "add 'def represent(doc):' that yields the passages of one document"
        )
    if not isinstance(function, ast.FunctionDef):
        kind = "a class" if isinstance(function, ast.ClassDef) else "asynchronous"
        raise _fail(function, f"'represent' is {kind}; define it with a plain 'def represent(doc):'")
    needed, most = reading.positional(function)
    if most not in (1, 2) or needed < 1 or _needs_keywords(function):
        raise _fail(
            function,
            f"'represent' takes ({ast.unparse(function.args)}); it must take one parameter, the document, "
            "or two, the document and the corpus statistics",
        )


def _check_preprocessor(node: ast.ClassDef) -> None:
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    preprocess, init = methods.get("preprocess"), methods.get("__init__")
    if preprocess is None and not node.bases:
        raise _fail(node, "class 'Preprocessor' has no method 'preprocess(self, docs)'; define it")
    if preprocess and (reading.positional(preprocess)[0] > 2 or reading.positional(preprocess)[1] < 2):
        raise _fail(preprocess, "'preprocess' must take two parameters, self and docs")
    if init and (reading.positional(init)[0] > 1 or _needs_keywords(init)):
        raise _fail(init, "'Preprocessor.__init__' is called without arguments; give all of them defaults")


def _needs_keywords(function: ast.FunctionDef) -> bool:
    return any(default is None for default in function.args.kw_defaults)


def _check_fields(tree: ast.Module) -> None:
    value = reading.assigned(tree, "FIELDS")
    if value is None:
        return
    if not isinstance(value, ast.Tuple | ast.List):
        raise _fail(value, 'FIELDS must be a literal tuple of names, such as FIELDS = ("title", "notes")')
    seen: set[str] = set()
    for item in value.elts:
        name = item.value if isinstance(item, ast.Constant) else None
        if not isinstance(name, str) or not _FIELD_NAME.match(name):
            raise _fail(
                item,
                f"FIELDS holds {ast.unparse(item)[:80]}; a field name is a literal string of letters, digits "
                "and underscores that begins with a letter",
            )
        if name in RESERVED_FIELDS or name in seen:
            reason = "twice" if name in seen else "which Lucene's documents reserve"
            raise _fail(item, f"FIELDS holds '{name}' {reason}; use another name")
        seen.add(name)
    if len(seen) > MAX_FIELDS:
        raise _fail(value, f"FIELDS declares {len(seen)} fields, and the limit is {MAX_FIELDS}; merge some")


def _imported(node: ast.AST) -> Iterator[str]:
    """The modules that an import statement names; '' for a relative import."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module if node.module and not node.level else ""


def _check_imports(tree: ast.Module, allowed: tuple[str, ...]) -> None:
    for node in ast.walk(tree):
        for module in _imported(node):
            if module == "__future__" or is_allowed(module, allowed):
                continue
            # `from package import module`, where only the module is on the list
            if isinstance(node, ast.ImportFrom) and all(
                is_allowed(f"{module}.{alias.name}", allowed) for alias in node.names
            ):
                continue
            raise _fail(
                node,
                f"imports '{module or '.'}', and a program may import only {', '.join(allowed)}; "
                "do without it",
            )


def _bound(tree: ast.Module) -> set[str]:
    """Names that the program binds itself somewhere, so that using them is not using a built-in."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return names


def _check_names(tree: ast.Module) -> None:
    own = _bound(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in FORBIDDEN_NAMES - own:
            raise _fail(node, f"uses '{node.id}', which a program may not; work on the document's text only")
        inner = ""
        if isinstance(node, ast.Attribute) and node.attr not in HARMLESS_DUNDERS:
            inner = node.attr if _INTERNALS.match(node.attr) else ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # for getattr(x, "__globals__")
            inner = node.value if node.value in FORBIDDEN_STRINGS else ""
        if inner:
            raise _fail(node, f"names '{inner}', an attribute of Python's internals; do without it")
