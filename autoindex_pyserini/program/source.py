"""Reading a program's source without running it: the syntax tree and what can be named in it."""

from __future__ import annotations

import ast
import copy
import functools
import warnings

from autoindex_pyserini.errors import InvalidProgramError

ENTRY_POINT = "represent"
PREPROCESSOR = "Preprocessor"


@functools.lru_cache(maxsize=256)
def parse(source: str) -> ast.Module:
    """Parse the source; nothing of it is executed.

    Raises:
        InvalidProgramError: it is not Python. `line` is set where the parser names one.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a candidate's odd escapes are not our user's business
            return ast.parse(source)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise InvalidProgramError(
            f"{where}{type(error).__name__}: {error.msg}; a program must be valid Python",
            line=error.lineno,
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:  # NUL, surrogates, nesting too deep to parse
        reason = "it is nested too deeply" if not isinstance(error, ValueError) else str(error)[:200]
        raise InvalidProgramError(f"the source cannot be parsed: {reason}; write it more plainly") from None


def meaning(source: str) -> str:
    """The program without its comments, docstrings and layout: equal for programs that do the same.

    Raises:
        InvalidProgramError: it is not Python.
    """
    return ast.dump(_Bare().visit(copy.deepcopy(parse(source))))


class _Bare(ast.NodeTransformer):
    """Takes docstrings away."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Drop expressions that are constants: docstrings, and others without effect."""
        return None if isinstance(node.value, ast.Constant) else node


def top_level(tree: ast.Module, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
    """The last function or class of this name in the module's body, the one that Python would keep."""
    found = None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            found = node
    return found


def constants(node: ast.stmt) -> list[str]:
    """The names that a module-level statement assigns, in order; empty for any other statement."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = list(node.targets)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    names: list[str] = []
    for target in targets:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        names += [part.id for part in parts if isinstance(part, ast.Name)]
    return names


def assigned(tree: ast.Module, name: str) -> ast.expr | None:
    """The expression last assigned to a module-level name, or None."""
    found: ast.expr | None = None
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in constants(node):
            found = node.value
    return found


def components(source: str) -> dict[str, str]:
    """Functions, classes and module-level constants: name -> source, decorators included.

    A name that is defined twice keeps the later definition.

    Raises:
        InvalidProgramError: the source does not parse.
    """
    lines = source.splitlines(keepends=True)
    found: dict[str, str] = {}
    for node in parse(source).body:
        first = node.lineno
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
            first = min([first, *(decorator.lineno for decorator in node.decorator_list)])
        else:
            names = constants(node)
        text = "".join(lines[first - 1 : node.end_lineno]).rstrip() if names else ""
        for name in names:
            found.pop(name, None)
            found[name] = text
    return found


def positional(function: ast.FunctionDef) -> tuple[int, int]:
    """How many positional arguments a function needs, and how many it takes at most."""
    parameters = function.args.posonlyargs + function.args.args
    return len(parameters) - len(function.args.defaults), len(parameters)
