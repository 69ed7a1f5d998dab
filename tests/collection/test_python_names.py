"""Objects of a package read from its sources: which there are, and what they are called."""

import sys
import textwrap

import pytest

from autoindex_pyserini.collection.python_names import Names
from autoindex_pyserini.collection.python_source import read_package
from autoindex_pyserini.errors import CollectionError

SOURCES = {
    "__init__.py": """
        raise ImportError("this package is read, never imported")
        from ._impl import average, _hidden, Shape as Form
        from .tools import *
        from ._dist import *
        from . import sub
        """,
    "_impl.py": '''
        from .tools import helper
        alias = None

        def average(a, /, axis: int = None, *args, weights=[1,
                2], **kwargs) -> float:
            """Average."""
            def inner():
                """Not to be seen."""

        def _hidden():
            """Not to be seen."""

        def undocumented():
            pass

        class Shape:
            """A shape."""

            def __init__(self, sides=3):
                """Not to be seen."""

            def area(self, unit="m"):
                """Area."""

            @property
            def name(self):
                """Name."""

            @name.setter
            def name(self, value):
                """Not to be seen."""

            @property
            def bare(self):
                return 1

            @bare.setter
            def bare(self, value):
                """Not to be seen."""

            @staticmethod
            def make(kind):
                """Make."""

            class Corner:
                """Corner."""

            def _private(self):
                """Not to be seen."""
        ''',
    "tools.py": '''
        __all__ = ["clean"]
        __all__ += ["tidy"]

        def clean(x):
            """Clean."""

        tidy = clean

        def helper():
            """Helper, public by its place though not in __all__."""

        if True:
            def conditional():
                """Conditional."""
        else:
            def conditional():
                """Another."""

        try:
            import nothing
        except ImportError:
            def fallback():
                """Fallback."""
        ''',
    "_dist.py": '''
        __all__ = [name for name in ()]
        __all__ += ["more"]

        class norm_gen:
            """Normal."""

            def pdf(self, x):
                """Density."""

        norm = norm_gen(name="norm")
        ''',
    "sub/__init__.py": "from ._base import Public",
    "sub/_base.py": '''
        from .. import _impl

        class _Base:
            """Not to be seen."""

            def draw(self):
                """Draw."""

            def shared(self):
                """Shared of the base."""

        class Public(_Base, _impl.Shape):
            """Public."""

            def shared(self):
                """Shared."""
        ''',
    "_internal/__init__.py": "",
    "_internal/util.py": '''
        def secret():
            """Not to be seen: internal, and nothing passes it on."""
        ''',
    "_docs.py": '''
        add_newdoc("toy._c", "ufunc", """
            ufunc(x, out=None)

            A function in C.
            """)
        add_newdoc("toy._c", "cls", "A class in C.")
        add_newdoc("toy._c", "cls", ("run", """a.run(n=1)

            Run."""))
        add_newdoc("other", "thing", "Not to be seen: of another package.")
        add_newdoc("toy._c", f"{1}", "Not to be seen: no literal.")
        ''',
    "tests/test_toy.py": '''
        def test():
            """Not to be seen."""
        ''',
    "externals/vendored.py": '''
        def vendored():
            """Not to be seen."""
        ''',
    "broken.py": "def broken(:",
}


@pytest.fixture
def toy(tmp_path, monkeypatch):
    for name, source in SOURCES.items():
        path = tmp_path / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))
    monkeypatch.syspath_prepend(tmp_path)
    names = Names("toy", read_package("toy"))
    assert "toy" not in sys.modules
    return names


def test_public_objects_under_their_shortest_public_names(toy):
    assert {docid: each.kind for docid, each in toy.documented.items()} == {
        "toy.average": "function",
        "toy.Form": "class",
        "toy.Form.area": "method",
        "toy.Form.name": "property",
        "toy.Form.make": "method",
        "toy.Form.Corner": "class",
        "toy.tidy": "function",
        "toy.tools.helper": "function",
        "toy.tools.conditional": "function",
        "toy.tools.fallback": "function",
        "toy.norm": "class",
        "toy.norm.pdf": "method",
        "toy.sub.Public": "class",
        "toy.sub.Public.draw": "method",
        "toy.sub.Public.shared": "method",
        "toy.ufunc": "function",
        "toy.cls": "class",
        "toy.cls.run": "method",
    }
    assert list(toy.documented) == sorted(toy.documented)
    assert not any("Not to be seen" in each.docstring for each in toy.documented.values())
    assert toy.documented["toy.sub.Public.shared"].docstring == "Shared."
    assert toy.documented["toy.tools.conditional"].docstring == "Conditional."


def test_signatures(toy):
    signatures = {docid: each.signature for docid, each in toy.documented.items()}
    assert signatures["toy.average"] == "average(a, /, axis=None, *args, weights=[1, 2], **kwargs)"
    assert signatures["toy.Form"] == "Shape(sides=3)"
    assert signatures["toy.Form.area"] == 'area(unit="m")'
    assert signatures["toy.Form.make"] == "make(kind)"
    assert signatures["toy.Form.name"] == ""
    assert signatures["toy.ufunc"] == "ufunc(x, out=None)"
    assert signatures["toy.cls.run"] == "run(n=1)"


@pytest.mark.parametrize(
    ("name", "stands_in", "means"),
    [
        ("toy.average", "toy.norm", "toy.average"),
        ("average", "toy.sub.Public", "toy.average"),
        ("toy.tools.clean", "toy.norm", "toy.tidy"),  # another name for the same
        ("area", "toy.Form.name", "toy.Form.area"),  # in the same class
        ("Form.area", "toy.norm", "toy.Form.area"),
        ("Shape.area", "toy.average", "toy.Form.area"),  # as its own module calls it
        ("Public.area", "toy.sub.Public", "toy.Form.area"),  # inherited
        ("area", "toy.sub.Public.draw", "toy.Form.area"),
        ("Public.draw", "toy.average", "toy.sub.Public.draw"),  # the end of one docid
        ("shared", "toy.norm", "toy.sub.Public.shared"),
        ("helper", "toy.average", "toy.tools.helper"),  # imported where it stands
        ("nothing", "toy.norm", None),
        ("toy.sub", "toy.norm", None),  # a module
        ("Form.nothing", "toy.norm", None),
    ],
)
def test_names_in_docstrings(toy, name, stands_in, means):
    assert toy.resolve(name, toy.documented[stands_in], stands_in) == means


def test_an_ambiguous_ending_means_nothing(toy, tmp_path, monkeypatch):
    for module in ("one", "two"):
        (tmp_path / "toy" / f"{module}.py").write_text('def double():\n    """D."""\n')
    names = Names("toy", read_package("toy"))
    assert names.resolve("double", names.documented["toy.norm"], "toy.norm") is None
    assert names.resolve("double", names.documented["toy.one.double"], "toy.one.double") == "toy.one.double"
    assert (
        names.resolve("two.double", names.documented["toy.one.double"], "toy.one.double") == "toy.two.double"
    )


def test_imports_in_a_circle_end(tmp_path, monkeypatch):
    package = tmp_path / "circle"
    package.mkdir()
    (package / "__init__.py").write_text("from .a import *\nfrom .b import x\n")
    (package / "a.py").write_text("from .b import *\nfrom .b import x\ny = x\n")
    (package / "b.py").write_text(
        'from .a import *\nfrom .a import x\nx = y\nclass C(D):\n    """C."""\nD = C\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    names = Names("circle", read_package("circle"))
    assert list(names.documented) == ["circle.C"] or list(names.documented) == ["circle.D"]
    assert names.resolve("x", next(iter(names.documented.values())), "circle.C") is None


def test_a_package_that_is_not_there():
    with pytest.raises(CollectionError, match="'no_such_package_here' is not installed"):
        read_package("no_such_package_here")
