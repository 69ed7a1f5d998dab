"""The modules of an installed Python package, read from their sources without importing them."""

from __future__ import annotations

import ast
import gc
import importlib.util
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import msgspec

from autoindex_pyserini.collection.model import Progress
from autoindex_pyserini.collection.python_objects import Definition, Module
from autoindex_pyserini.errors import CollectionError

_SKIPPED = frozenset({"tests", "test", "externals", "_external", "_vendored", "conftest", "setup"})


def read_package(name: str, progress: Progress | None = None) -> dict[str, Module]:
    """Read all modules of an installed top-level package, tests and vendored packages left out.

    Args:
        name: its import name.
        progress: told about source files read.

    Returns:
        Dotted name -> module, in alphabetical order.

    Raises:
        CollectionError: the package is not installed, or has no sources.
    """
    spec = importlib.util.find_spec(name)  # does not import a top-level package
    if spec is None or not spec.submodule_search_locations:
        raise CollectionError(f"the package '{name}' is not installed; install it with pip install {name}")
    root = Path(next(iter(spec.submodule_search_locations)))
    modules: dict[str, Module] = {}
    paths = sorted(root.rglob("*.py"))
    collecting = gc.isenabled()
    gc.disable()  # syntax trees are large and have no cycles: looking for some takes a fifth of the time
    try:
        for number, path in enumerate(paths):
            if progress and number % 50 == 0:
                progress(f"reading {name}", number, len(paths))
            module = _module(name, path.relative_to(root))
            if module is not None:
                _read_module(module, path)
                modules[module.name] = module
    finally:
        if collecting:
            gc.enable()
    if progress:
        progress(f"reading {name}", len(paths), len(paths))
    return modules


def _module(package: str, path: Path) -> Module | None:
    parts = [package, *path.with_suffix("").parts]
    is_package = parts[-1] == "__init__"
    if is_package:
        parts.pop()
    if any(part in _SKIPPED or part.startswith("test_") for part in parts[1:]):
        return None
    return Module(".".join(parts), is_package)


def _read_module(module: Module, path: Path) -> None:
    source = path.read_bytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes in other people's sources
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return  # a template, or written for another Python: it has no objects here
    _Reader(module, source).read(tree.body, "")


class _Reader:
    """Walks the statements of one module. Branches are all taken: which one runs is not known here."""

    def __init__(self, module: Module, source: bytes) -> None:
        self.module = module
        self.lines = source.splitlines()
        self.all_is_computed = False

    def read(self, body: Sequence[ast.stmt], owner: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._function(node, owner)
            elif isinstance(node, ast.ClassDef):
                self._class(node, owner)
            elif isinstance(node, ast.If | ast.Try | ast.With):
                self.read(node.body, owner)
                for handler in getattr(node, "handlers", []):
                    self.read(handler.body, owner)
                self.read(getattr(node, "orelse", []), owner)
            elif not owner:
                self._module_level(node)

    def _add(self, definition: Definition) -> None:
        known = self.module.definitions.get(definition.path)
        if known is None or (definition.docstring and not known.docstring):
            self.module.definitions[definition.path] = definition

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> None:
        decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
        if decorators & {"setter", "deleter", "overload"}:
            return
        is_property = bool(decorators & {"property", "cached_property", "cache_readonly"})
        kind = "property" if is_property else "method" if owner else "function"
        implicit = bool(owner) and "staticmethod" not in decorators
        signature = "" if is_property else node.name + self._parameters(node.args, implicit)
        path = f"{owner}.{node.name}" if owner else node.name
        docstring = ast.get_docstring(node, clean=False) or ""
        self._add(Definition(self.module.name, path, kind, signature, docstring))

    def _class(self, node: ast.ClassDef, owner: str) -> None:
        path = f"{owner}.{node.name}" if owner else node.name
        signature = next(
            (
                node.name + self._parameters(each.args, implicit=True)
                for each in node.body
                if isinstance(each, ast.FunctionDef) and each.name == "__init__"
            ),
            node.name,
        )
        bases = tuple(ast.unparse(base) for base in node.bases if isinstance(base, ast.Name | ast.Attribute))
        docstring = ast.get_docstring(node, clean=False) or ""
        self._add(Definition(self.module.name, path, "class", signature, docstring, bases))
        self.read(node.body, path)

    def _parameters(self, args: ast.arguments, implicit: bool) -> str:
        """Names and defaults as the source writes them: `ast.unparse` differs between Python versions."""
        positional = [*args.posonlyargs, *args.args]
        without = len(positional) - len(args.defaults)
        defaults: list[ast.expr | None] = [*([None] * without), *args.defaults]
        parts = [self._parameter(a, d) for a, d in zip(positional, defaults, strict=True)]
        if args.posonlyargs:
            parts.insert(len(args.posonlyargs), "/")
        if implicit and positional:
            parts = parts[1:] if parts[1:2] != ["/"] else parts[2:]
        if args.vararg:
            parts.append(f"*{args.vararg.arg}")
        elif args.kwonlyargs:
            parts.append("*")
        parts += [self._parameter(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
        if args.kwarg:
            parts.append(f"**{args.kwarg.arg}")
        return f"({', '.join(parts)})"

    def _parameter(self, arg: ast.arg, default: ast.expr | None) -> str:
        return arg.arg if default is None else f"{arg.arg}={self._segment(default)}"

    def _segment(self, node: ast.expr) -> str:
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        lines = self.lines[first : last + 1]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return " ".join(b" ".join(lines).decode("utf-8", "replace").split())

    def _module_level(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ImportFrom):
            self._import_from(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    self.module.imports[alias.asname] = (alias.name, "")
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    self._assign(target.id, node.value, added=isinstance(node, ast.AugAssign))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self._call(node.value)

    def _import_from(self, node: ast.ImportFrom) -> None:
        package = self.module.name.split(".")
        if node.level:
            package = package[: len(package) - node.level + self.module.is_package]
        source = ".".join([*(package if node.level else []), *([node.module] if node.module else [])])
        for alias in node.names:
            if alias.name == "*":
                self.module.stars.append(source)
            elif alias.name == "__all__":
                self.module.exported = ([], [source])
            else:
                self.module.imports[alias.asname or alias.name] = (source, alias.name)

    def _assign(self, name: str, value: ast.expr, added: bool) -> None:
        if name == "__all__":
            names, sources = self.module.exported or ([], []) if added else ([], [])
            more = self._exported(value)
            self.all_is_computed = more is None or (added and self.all_is_computed)
            if more is None or self.all_is_computed:
                self.module.exported = None
            else:
                self.module.exported = names + more[0], sources + more[1]
        elif isinstance(value, ast.Name):
            self.module.imports[name] = (self.module.name, value.id)
        elif _called_name(value).startswith(f"{name}_"):
            # An instance that stands for its class, as in ``norm = norm_gen(name="norm")``.
            self.module.imports[name] = (self.module.name, _called_name(value))

    def _exported(self, value: ast.expr) -> tuple[list[str], list[str]] | None:
        if isinstance(value, ast.List | ast.Tuple):
            return [each.value for each in value.elts if _is_text(each)], []  # type: ignore[attr-defined]
        if isinstance(value, ast.BinOp):
            left, right = self._exported(value.left), self._exported(value.right)
            return (left[0] + right[0], left[1] + right[1]) if left and right else None
        called = value.func if isinstance(value, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr == "copy":
            return self._exported(called.value)
        if isinstance(value, ast.Attribute) and value.attr == "__all__":
            written = ast.unparse(value.value)
            head, _, rest = written.partition(".")
            source, name = self.module.imports.get(head, (self.module.name, head))
            return [], [".".join(part for part in (source, name, rest) if part)]
        return None

    def _call(self, call: ast.Call) -> None:
        """Docstrings of C code: ``add_newdoc(place, name, doc)``, scipy's ``add_newdoc(name, doc)``, ..."""
        called = _called_name(call)
        if called not in ("add_newdoc", "_array_method_doc"):
            return
        arguments = [_constant(each) for each in call.args]
        if not 2 <= len(arguments) <= 3 or None in arguments:
            return
        if called == "_array_method_doc":  # ... and numpy's helper for the methods of arrays
            name, _, doc = arguments
            arguments = ["numpy._core.multiarray", "ndarray", (name, doc)]
        *place, name, doc = arguments
        module = place[0] if place else self.module.name.rpartition(".")[0]
        member, text = doc if isinstance(doc, tuple) and len(doc) == 2 else ("", doc)
        package = self.module.name.partition(".")[0]
        if not isinstance(module, str) or module.partition(".")[0] != package:
            return  # another function of that name
        if isinstance(name, str) and isinstance(text, str):
            self._add_newdoc(module, f"{name}.{member}" if member else name, text)

    def _add_newdoc(self, module: str, path: str, doc: str) -> None:
        """Kept under the module that adds it, with the module it belongs to in the definition."""
        name = path.rpartition(".")[2]
        usage = re.search(rf"^\s*(?:\w+\.)?({re.escape(name)}\s*\([^\n]*\))", doc)
        if "." in path:
            kind = "method" if usage else "property"
        else:
            kind = "class" if name[0].isupper() else "function"
        signature = usage[1] if usage else ""
        definitions = self.module.definitions
        definitions[f"{module}:{path}"] = Definition(module, path, kind, signature, doc)
        owner = definitions.get(f"{module}:{path.rpartition('.')[0]}")
        if owner is not None and owner.kind != "class":  # what has members is a class
            definitions[f"{module}:{owner.path}"] = msgspec.structs.replace(owner, kind="class")


def _called_name(node: ast.expr) -> str:
    """The plain name that a call calls; empty for everything else."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _constant(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
