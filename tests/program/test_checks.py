from __future__ import annotations

import pytest

from autoindex_pyserini.errors import InvalidProgramError
from autoindex_pyserini.program import Program, builtin_names, check
from autoindex_pyserini.settings import Limits

GOOD = [
    "def represent(doc): ...",
    "def represent(doc, corpus): ...",
    "def represent(doc, corpus=None, *, extra=1): ...",
    "def represent(d, /): ...",
    "class Preprocessor:\n    def preprocess(self, docs): ...",
    "class B:\n    def preprocess(self, docs): ...\nclass Preprocessor(B):\n    def __init__(self, n=3): ...",
    "from __future__ import annotations\nimport re, collections.abc\ndef represent(doc): ...",
    "from autoindex_pyserini.program import operators\ndef represent(doc): ...",
    "from autoindex_pyserini.program.operators import Passage\ndef represent(doc): ...",
    "import re\nX = re.compile('x')\ndef represent(doc): ...",
    "def represent(doc):\n    input = open = 3\n    return str(input + open)",
    "class A:\n    def __init__(self):\n        super().__init__()\ndef represent(doc): ...",
    "if __name__ == '__main__': pass\ndef represent(doc): ...",
    "def represent(doc): return doc.text.replace('__array__', '').replace('__len__', '')",
    "FIELDS = ('title', 'Notes_2')\ndef represent(doc): ...",
    "FIELDS = ['title']\ndef represent(doc): ...",
    "def represent(doc): return '\\d'",
]

BAD = [
    ("def represent(doc)", "line 1: SyntaxError", 1),
    ("x = 1\n  y = 2", "line 2: IndentationError", 2),
    ("def represent(doc): return '\x00'", "null bytes", None),
    ("x = '\ud800'", "cannot be parsed", None),
    ("(" * 5000, "", None),
    ("x = " + "-" * 50_000 + "1", "too deeply", None),
    ("x" * 100_001, "100,001 characters, and the limit is 100,000", None),
    ("x = 1", "neither 'represent' nor 'Preprocessor'", None),
    ("if True:\n    def represent(doc): ...", "at top level", None),
    ("represent = 3", "neither", None),
    ("async def represent(doc): ...", "line 1: 'represent' is asynchronous", 1),
    ("class represent: ...", "line 1: 'represent' is a class", 1),
    ("def represent(): ...", "line 1: 'represent' takes ()", 1),
    ("\ndef represent(a, b, c): ...", "line 2: 'represent' takes (a, b, c)", 2),
    ("def represent(*docs): ...", "takes (*docs)", 1),
    ("def represent(doc=1): ...", "takes (doc=1)", 1),
    ("def represent(doc, *, k): ...", "takes (doc, *, k)", 1),
    ("class Preprocessor: ...", "has no method 'preprocess", 1),
    ("class Preprocessor:\n    def preprocess(self): ...", "line 2: 'preprocess' must take two", 2),
    ("class Preprocessor:\n    def __init__(self, x): ...\n    def preprocess(self, d): ...", "line 2:", 2),
    ("import re\nimport os.path\ndef represent(doc): ...", "line 2: imports 'os.path', and a program may", 2),
    ("def represent(doc):\n    from random import random", "line 2: imports 'random'", 2),
    (
        "from autoindex_pyserini.program import operators, checks\ndef represent(doc): ...",
        "line 1: imports",
        1,
    ),
    ("import autoindex_pyserini\ndef represent(doc): ...", "imports 'autoindex_pyserini'", 1),
    ("from .. import x\ndef represent(doc): ...", "imports '.'", 1),
    ("def represent(doc): return exec('x')", "uses 'exec'", 1),
    ("def represent(doc):\n    breakpoint()", "line 2: uses 'breakpoint'", 2),
    ("def represent(doc): return compile", "uses 'compile'", 1),
    ("def represent(doc): return ().__class__.__bases__", "'__bases__'", 1),
    ("def represent(doc): return (x for x in '').gi_frame", "'gi_frame'", 1),
    ("def represent(doc): return getattr(doc, '__globals__')", "'__globals__'", 1),
    ("FIELDS = 'title'\ndef represent(doc): ...", "FIELDS must be a literal tuple", 1),
    ("FIELDS = tuple('ab')\ndef represent(doc): ...", "FIELDS must be a literal tuple", 1),
    ("FIELDS = ('a', 7)\ndef represent(doc): ...", "FIELDS holds 7", 1),
    ("FIELDS = ('a b',)\ndef represent(doc): ...", "FIELDS holds 'a b'", 1),
    ("FIELDS = ('_x',)\ndef represent(doc): ...", "FIELDS holds '_x'", 1),
    ("FIELDS = ('a\\n',)\ndef represent(doc): ...", "FIELDS holds", 1),
    ("FIELDS = ('\u00e9',)\ndef represent(doc): ...", "FIELDS holds", 1),
    ("FIELDS = ('a', 'contents')\ndef represent(doc): ...", "'contents' which Lucene's", 1),
    ("FIELDS = ('id',)\ndef represent(doc): ...", "'id' which Lucene's", 1),
    ("FIELDS = ('a', 'a')\ndef represent(doc): ...", "'a' twice", 1),
    (
        f"FIELDS = {tuple(f'f{n}' for n in range(33))}\ndef represent(doc): ...",
        "33 fields, and the limit is 32",
        1,
    ),
]


@pytest.mark.parametrize("source", GOOD)
def test_a_good_program_passes(source: str) -> None:
    check(Program(source), Limits())


@pytest.mark.parametrize(("source", "says", "line"), BAD, ids=range(len(BAD)))
def test_a_bad_program_is_refused_in_one_line(source: str, says: str, line: int | None) -> None:
    with pytest.raises(InvalidProgramError) as caught:
        check(Program(source), Limits())
    message = str(caught.value)
    assert says in message
    assert "\n" not in message
    assert len(message) < 1000
    if says:
        assert caught.value.line == line
    if line:
        assert message.startswith(f"line {line}: ")


def test_the_list_of_modules_is_a_setting() -> None:
    program = Program("import random\ndef represent(doc): ...")
    check(program, Limits(allowed_imports=("random",)))
    with pytest.raises(InvalidProgramError, match="may import only bisect; do without it"):
        check(program, Limits(allowed_imports=("bisect",)))


@pytest.mark.parametrize("name", builtin_names())
def test_the_built_in_programs_pass(name: str) -> None:
    check(Program.builtin(name), Limits())
