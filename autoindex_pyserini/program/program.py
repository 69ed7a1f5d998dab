"""`Program`: the source of a representation program, with what can be read from it without running it."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import msgspec

from autoindex_pyserini.errors import InvalidProgramError, ProgramNotFoundError
from autoindex_pyserini.program import source as reading

_BUILTIN = Path(__file__).with_name("builtin")


def builtin_names() -> list[str]:
    """The names of the built-in programs, sorted."""
    return sorted(file.stem for file in _BUILTIN.glob("*.py") if not file.stem.startswith("_"))


class Program(msgspec.Struct, frozen=True):
    """A representation program: untrusted Python that maps one document to passages.

    Two programs are equal in effect if their `id` is equal; `name` is only for people.

    Attributes:
        source: the Python source. It need not be valid; see `autoindex_pyserini.program.check`.
        name: the built-in's name, the file's stem, or empty for a candidate.
    """

    source: str
    name: str = ""

    @property
    def id(self) -> str:
        """The first 12 hex digits of the SHA-256 of the source, whatever its line ends."""
        text = self.source.replace("\r\n", "\n").replace("\r", "\n")
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    @property
    def summary(self) -> str:
        """The first line of the module's docstring; empty if there is none or the source is invalid."""
        tree = self._tree()
        docstring = ast.get_docstring(tree) if tree else None
        return docstring.strip().split("\n", 1)[0].strip() if docstring else ""

    @property
    def components(self) -> dict[str, str]:
        """Functions, classes and module-level constants: name -> source. Empty if the source is invalid."""
        return reading.components(self.source) if self._tree() else {}

    @property
    def fields(self) -> tuple[str, ...]:
        """The names that the module constant ``FIELDS`` declares; empty if it is absent or not literal."""
        tree = self._tree()
        value = reading.assigned(tree, "FIELDS") if tree else None
        if not isinstance(value, ast.Tuple | ast.List):
            return ()
        names = [item.value for item in value.elts if isinstance(item, ast.Constant)]
        return tuple(name for name in names if isinstance(name, str))

    @property
    def wants_corpus(self) -> bool:
        """True if ``represent`` takes a second parameter, the corpus statistics."""
        tree = self._tree()
        function = reading.top_level(tree, reading.ENTRY_POINT) if tree else None
        return isinstance(function, ast.FunctionDef) and reading.positional(function)[1] >= 2

    @property
    def is_builtin(self) -> bool:
        """True if the source is, to the letter, that of a program shipped with the package."""
        return any(self.id == Program.builtin(name).id for name in builtin_names())

    @staticmethod
    def from_file(path: str | Path) -> Program:
        """Read a program from a file of UTF-8 text; its name is the file's stem.

        Raises:
            ProgramNotFoundError: there is no such file, or it cannot be read as UTF-8.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise ProgramNotFoundError(
                f"'{path}' is not UTF-8 (byte {error.start}): a program is Python in UTF-8; re-encode it"
            ) from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise ProgramNotFoundError(
                f"cannot read the program file '{path}': {reason}; give a Python file or one of the built-in "
                f"programs: {', '.join(builtin_names())}"
            ) from None
        return Program(source=text, name=Path(path).stem)

    @staticmethod
    def builtin(name: str) -> Program:
        """One of the programs shipped with the package.

        Raises:
            ProgramNotFoundError: there is none of this name.
        """
        if name not in builtin_names():
            raise ProgramNotFoundError(
                f"no built-in program is named '{name}': there are {', '.join(builtin_names())}"
            )
        return Program.from_file(_BUILTIN / f"{name}.py")

    @staticmethod
    def resolve(name_or_file: str) -> Program:
        """A built-in program by its name, else a program file by its path.

        Raises:
            ProgramNotFoundError: it is neither.
        """
        if name_or_file in builtin_names():
            return Program.builtin(name_or_file)
        if Path(name_or_file).is_file():
            return Program.from_file(name_or_file)
        raise ProgramNotFoundError(
            f"'{name_or_file}' is neither a built-in program ({', '.join(builtin_names())}) nor a file"
        )

    def _tree(self) -> ast.Module | None:
        """The syntax tree, or None if the source does not parse."""
        try:
            return reading.parse(self.source)
        except InvalidProgramError:
            return None
