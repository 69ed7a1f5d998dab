"""The side of the sandbox that is inside: loads the program, feeds it documents, checks what it gives.

Everything here runs in a worker, in the same process as the program, so its checks serve the honest
program: they give early, exact faults with the program's own line. The host verifies the replies again
(`autoindex_pyserini.sandbox.verify`) and does not rely on them.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from autoindex_pyserini.program import contract, preprocessor
from autoindex_pyserini.sandbox.protocol import Fault, Start, WirePassage, one_line
from autoindex_pyserini.types import Passage

MODULE_NAME = "representation_program"

_ENCODINGS = (
    "ascii", "cp1252", "idna", "iso8859_15", "latin_1", "punycode", "raw_unicode_escape", "unicode_escape",
    "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "utf_7", "utf_8_sig",
)  # fmt: skip
_LAZY = ("copy", "html.entities", "json.decoder", "json.encoder", "warnings")
"""Modules that the allowed ones load late: nothing can be read any more by then."""


_MOST_BLANK = 1000  # a generator that yields nothing for ever is told so, with its line
_NO_FIELDS: Mapping[str, str] = types.MappingProxyType({})


class ProgramFailure(Exception):
    """Carries a `Fault` out of the harness."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class ContractBreach(Exception):
    """A passage breaks the contract; the message says how."""


def preload(allowed: Iterable[str]) -> None:
    """Import all modules that a program may import, while files can still be read.

    Raises:
        ImportError: one of them does not exist; its `name` says which.
    """
    for name in [*allowed, *_LAZY, *(f"encodings.{name}" for name in _ENCODINGS)]:
        importlib.import_module(name)


class Harness:
    """A loaded program.

    Raises:
        ProgramFailure: from the constructor, if the program cannot be loaded; from `passages`, if it fails.
    """

    def __init__(self, start: Start) -> None:
        self._filename = start.filename
        self._most = start.limits.max_passages
        self._floor = start.limits.min_growth_chars
        self._growth = start.limits.max_growth
        self._declared = frozenset(start.fields)
        self._reserve: bytearray | None = bytearray(1 << 20)  # given back to report a lack of memory
        self.dropped = 0
        try:
            namespace = self._load(start)
            self._represent, self._line = self._entry(namespace, start)
        except BaseException as error:
            raise self._failure(error, None) from None

    def passages(self, index: int, document: tuple[str, str, dict[str, str]]) -> list[WirePassage]:
        """The usable passages of one document, as they travel; empty if there are none.

        Args:
            index: position in the batch, for the fault.
            document: title, text and fields.
        """
        title, text, fields = document
        length = len(title) + len(text)
        if fields:
            length += sum(map(len, fields.values()))
        raw = contract.RawDocument(title, text, types.MappingProxyType(fields) if fields else _NO_FIELDS)
        result: Any = None
        try:
            result = self._represent(raw)
            return self._collect(result, max(self._floor, int(self._growth * length)))
        except (ContractBreach, preprocessor.PreprocessorOutputError) as breach:
            frame = getattr(result, "gi_frame", None) if isinstance(result, types.GeneratorType) else None
            inside = frame is not None and frame.f_code.co_filename == self._filename
            line = frame.f_lineno if frame is not None and inside else self._line
            raise ProgramFailure(Fault("output", one_line(str(breach)), line, index)) from None
        except BaseException as error:
            raise self._failure(error, index) from None

    def _load(self, start: Start) -> dict[str, Any]:
        """Run the program's module body in a namespace of its own."""
        module = types.ModuleType(MODULE_NAME)
        module.__dict__.update({"__builtins__": _builtins(start.limits.allowed_imports), "Passage": Passage})
        module.__dict__["Chunk"] = preprocessor.Chunk
        sys.modules[MODULE_NAME] = module  # dataclasses and typing look a class's module up there
        exec(compile(start.source, start.filename, "exec", dont_inherit=True), module.__dict__)
        return module.__dict__

    def _entry(self, namespace: dict[str, Any], start: Start) -> tuple[Callable[[Any], Any], int | None]:
        """The function to call for each document, and the line where it is defined."""
        function = namespace.get("represent")
        if function is None and isinstance(namespace.get("Preprocessor"), type):
            cls = namespace["Preprocessor"]
            return preprocessor.adapt(cls), _first_line(getattr(cls, "preprocess", None))
        if not callable(function):
            raise ContractBreach("the program defines no function 'represent'; add 'def represent(doc):'")
        line = _first_line(function)
        if start.corpus is None:
            return function, line
        corpus = start.corpus
        return (lambda raw: function(raw, corpus)), line

    def _collect(self, result: Any, limit: int) -> list[WirePassage]:
        kind = type(result)
        if kind is not types.GeneratorType and kind is not list:
            result = _iterable(result)
        passages: list[WirePassage] = []
        blank = 0
        for item in result:
            if type(item) is str:
                contents, fields = item, None
            else:
                contents, fields = self._parts(item, limit)
            if not contents or contents.isspace():
                blank += 1
                if blank > _MOST_BLANK:
                    raise ContractBreach(f"more than {_MOST_BLANK} blank passages for one document")
                continue
            if len(contents) > limit:
                raise ContractBreach(
                    f"a passage has {len(contents):,} characters, and this document's limit is {limit:,}; "
                    "repeat or add less"
                )
            if len(passages) == self._most:
                raise ContractBreach(
                    f"more than {self._most} passages for one document, and the limit is {self._most}; "
                    "merge some, or widen the windows of long documents"
                )
            utf8 = contents.encode("utf-8", "surrogatepass")
            passages.append((utf8, fields) if fields else utf8)
        self.dropped += blank
        return passages

    def _parts(self, item: Any, limit: int) -> tuple[str, dict[str, bytes] | None]:
        """Contents and fields of a passage that is not exactly a str; blank contents for None."""
        if item is None:
            return "", None
        if isinstance(item, str):
            return str.__str__(item), None
        if not isinstance(item, Passage):
            raise ContractBreach(f"a passage is {_type_name(item)}; it must be str or Passage")
        contents, fields = item.contents, item.fields
        if not isinstance(contents, str):
            raise ContractBreach(f"Passage.contents is {_type_name(contents)}; it must be str")
        if not isinstance(fields, Mapping):
            raise ContractBreach(f"Passage.fields is {_type_name(fields)}; it must map field names to str")
        checked: dict[str, bytes] = {}
        left = limit
        for name, value in fields.items():
            if name not in self._declared:
                raise ContractBreach(
                    f"Passage.fields has the field {_name(name)}, and FIELDS declares "
                    f"{', '.join(sorted(self._declared)) or 'none'}; declare it: FIELDS = (...)"
                )
            if not isinstance(value, str):
                raise ContractBreach(f"the field {_name(name)} is {_type_name(value)}; it must be str")
            left -= len(str.__str__(value))
            if left < 0:
                raise ContractBreach(
                    f"a passage's fields have more than {limit:,} characters together; add less"
                )
            checked[str.__str__(name)] = str.__str__(value).encode("utf-8", "surrogatepass")
        return str.__str__(contents), checked

    def _failure(self, error: BaseException, index: int | None) -> ProgramFailure:
        """The fault that an exception amounts to. Never raises, whatever the exception is."""
        self._reserve = None
        try:
            return ProgramFailure(self._fault(error, index))
        except BaseException:  # the exception's own attributes raise
            return ProgramFailure(Fault("crashed", describe(error), None, index))

    def _fault(self, error: BaseException, index: int | None) -> Fault:
        if isinstance(error, ContractBreach | preprocessor.PreprocessorOutputError):
            return Fault("output", one_line(str(error)), None, index)
        if index is None and isinstance(error, SyntaxError) and error.filename == self._filename:
            return Fault("invalid", f"SyntaxError: {one_line(str(error.msg))}", error.lineno, None)
        line, cause = _line_of(error, self._filename), error
        for _ in range(8):  # a generator's StopIteration, for one, is raised again without its frames
            if line is not None or (cause := cause.__cause__ or cause.__context__) is None:  # type: ignore[assignment]
                break
            line = _line_of(cause, self._filename)
        error.__traceback__ = None  # frees what the frames hold, for a lack of memory
        return Fault("crashed", describe(error), line, index)


def _line_of(error: BaseException, filename: str) -> int | None:
    """The program's innermost line in the exception's traceback."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _builtins(allowed: tuple[str, ...]) -> dict[str, Any]:
    """Python's built-in names without those that a program may not use; `__import__` knows the list."""
    names = {name: value for name, value in vars(builtins).items() if name not in contract.FORBIDDEN_NAMES}
    real = builtins.__import__

    def guarded(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        listed = name == "__future__" or contract.is_allowed(name, allowed)
        # `from package import module`, where only the module is on the list
        parts = fromlist and all(contract.is_allowed(f"{name}.{part}", allowed) for part in fromlist)
        if level or not (listed or parts):
            raise ImportError(f"a program may not import '{name}'")
        return real(name, globals, locals, fromlist, level)

    names["__import__"] = guarded
    return names


def describe(error: BaseException) -> str:
    """Type and message of an exception on one line, even where its own methods raise."""
    try:
        name = one_line(str.__str__(type(error).__name__), 80)
    except BaseException:
        name = "an exception"
    try:
        text = one_line(str.__getitem__(str(error), slice(0, 400)))
    except BaseException:
        text = "(its message cannot be read)"
    return f"{name}: {text}" if text else name


def _type_name(value: object) -> str:
    try:
        return one_line(str.__str__(type(value).__name__), 80)
    except BaseException:
        return "of an unnamed type"


def _name(name: object) -> str:
    """A field's name as a program gave it, which may be anything."""
    return f"'{one_line(str.__str__(name), 80)}'" if isinstance(name, str) else _type_name(name)


def _iterable(result: Any) -> Iterable[Any]:
    """What represent returned, as something to go through."""
    if result is None:
        return ()
    if isinstance(result, str | Passage):
        return (result,)
    kind = type(result)
    if isinstance(result, bytes | bytearray | Mapping) or not (
        hasattr(kind, "__iter__") or hasattr(kind, "__getitem__")
    ):
        raise ContractBreach(
            f"represent returned {_type_name(result)}; it must yield, or return a list of, str or Passage"
        )
    return cast(Iterable[Any], result)


def _first_line(function: Any) -> int | None:
    line = getattr(getattr(function, "__code__", None), "co_firstlineno", None)
    return line if isinstance(line, int) else None
