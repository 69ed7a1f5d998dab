from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from autoindex_pyserini.errors import ProgramNotFoundError
from autoindex_pyserini.program import Program, builtin_names

SOURCE = '''"""Title first.

More about it.
"""

import functools

FIELDS = ("title", "notes")
WEIGHT: int = 3
A, B = 1, 2
UNSET: int


@functools.cache
def helper(x):
    return x


class Table:
    size = 1


def represent(doc, corpus):
    yield doc.title * WEIGHT
'''


def test_everything_is_read_from_the_source() -> None:
    program = Program(SOURCE)
    assert program.summary == "Title first."
    assert program.fields == ("title", "notes")
    assert program.wants_corpus
    assert not program.is_builtin
    assert list(program.components) == ["FIELDS", "WEIGHT", "A", "B", "helper", "Table", "represent"]
    assert program.components["helper"] == "@functools.cache\ndef helper(x):\n    return x"
    assert program.components["WEIGHT"] == "WEIGHT: int = 3"
    assert program.components["B"] == "A, B = 1, 2"


def test_the_id_is_the_sources_hash_whatever_the_line_ends() -> None:
    program = Program(SOURCE)
    assert program.id == hashlib.sha256(SOURCE.encode()).hexdigest()[:12]
    assert Program(SOURCE.replace("\n", "\r\n"), name="x").id == program.id
    assert Program(SOURCE + "\n").id != program.id
    assert len(Program("\ud800").id) == 12


@pytest.mark.parametrize("source", ["def (", "\x00", "\ud800", "(" * 5000, ""])
def test_a_source_that_is_no_program_reads_as_nothing(source: str) -> None:
    program = Program(source)
    assert program.summary == ""
    assert program.components == {}
    assert program.fields == ()
    assert not program.wants_corpus


def test_the_later_definition_counts() -> None:
    program = Program("def represent(doc, corpus): ...\nX = 1\nX = 2\ndef represent(doc): ...\n")
    assert program.components == {"X": "X = 2", "represent": "def represent(doc): ..."}
    assert not program.wants_corpus


def test_nothing_is_executed(tmp_path: Path) -> None:
    target = tmp_path / "executed"
    program = Program(f'open({str(target)!r}, "w")\nFIELDS = tuple([open({str(target)!r}, "w")])\n')
    assert (program.fields, program.summary, list(program.components)) == ((), "", ["FIELDS"])
    assert not target.exists()


def test_programs_are_found_by_name_and_by_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(SOURCE, encoding="utf-8")
    assert Program.resolve(str(file)) == Program(SOURCE, name="mine")
    assert Program.from_file(file).name == "mine"
    assert builtin_names() == [
        "all_fields",
        "first_passage_plus_full",
        "full_text",
        "passages_512",
        "passages_512_overlap",
        "static",
    ]
    for name in builtin_names():
        program = Program.resolve(name)
        assert program.name == name
        assert program.is_builtin


def test_what_is_not_found_is_named_with_what_there_is(tmp_path: Path) -> None:
    latin = tmp_path / "latin.py"
    latin.write_bytes(b"# caf\xe9\n")
    with pytest.raises(
        ProgramNotFoundError, match=r"'fulltext' is neither a built-in program .*full_text.* nor a"
    ):
        Program.resolve("fulltext")
    with pytest.raises(ProgramNotFoundError, match="no built-in program is named 'x': there are all_fields"):
        Program.builtin("x")
    with pytest.raises(ProgramNotFoundError, match=r"not UTF-8 .byte 5."):
        Program.resolve(str(latin))
    with pytest.raises(ProgramNotFoundError, match="No such file"):
        Program.from_file(tmp_path / "absent.py")
    with pytest.raises(ProgramNotFoundError, match="Is a directory"):
        Program.from_file(tmp_path)
    with pytest.raises(ProgramNotFoundError):
        Program.resolve("a\x00b")
