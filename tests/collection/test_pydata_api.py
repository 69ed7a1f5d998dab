"""The built-in collection."""

import re
import sys
import textwrap

import pytest

from autoindex_pyserini.collection import builtin_names, load
from autoindex_pyserini.collection.assemble import assemble
from autoindex_pyserini.collection.beir import read_beir
from autoindex_pyserini.collection.pydata_api import PythonApi, build, definition
from autoindex_pyserini.errors import CollectionError

TOY = '''
    def fft(x):
        """Transform.

        See Also
        --------
        ifft : The inverse of `fft`.
        fftn, rfft : Transform in N dimensions.
        gone : Nothing of this name.
        fft : This one is itself.
        rfft : Too short
        rfft : See %(name)s for more of it.
        """

    def ifft(x):
        """Transform back.

        See Also
        --------
        fft : Compute the ``transform``.
        rfft : compute -- the transform!
        """

    def fftn(x):
        """Many.

        See Also
        --------
        fft: Compute the transform
        """

    def rfft(x):
        """Real."""
    '''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Builds the collection of a package of four functions."""
    monkeypatch.setenv("AUTOINDEX_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1.0")
    package = tmp_path / "packages" / "toyapi"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(textwrap.dedent(TOY))
    return lambda: build(PythonApi("toy", {"toyapi": "toyapi"}))


def test_queries_are_what_others_say(toy):
    parts = read_beir(toy())
    texts = {topic.text: topic.qid for topic in parts.queries[""].topics}
    qrels = parts.queries[""].judgments.qrels
    assert {text: set(qrels[qid]) for text, qid in texts.items()} == {
        "The inverse of fft": {"toyapi.ifft"},
        "Transform in N dimensions": {"toyapi.fftn", "toyapi.rfft"},
        "Compute the transform": {"toyapi.fft", "toyapi.rfft"},  # three ways to write it, two objects
    }
    assert all(grade == 1 for pairs in qrels.values() for grade in pairs.values())
    assert [topic.qid for topic in parts.queries[""].topics] == sorted(texts.values())


def test_documents_hold_no_see_also(toy):
    documents = list(read_beir(toy()).documents.documents())
    assert [(each.docid, each.title, each.text) for each in documents] == [
        ("toyapi.fft", "fft", "Transform."),
        ("toyapi.fftn", "fftn", "Many."),
        ("toyapi.ifft", "ifft", "Transform back."),
        ("toyapi.rfft", "rfft", "Real."),
    ]
    assert documents[0].fields == {"kind": "function", "signature": "fft(x)"}


def test_it_is_built_once_and_again_when_something_changes(toy, monkeypatch):
    first = toy()
    before = (first / "corpus.jsonl").stat().st_mtime_ns
    assert toy() == first
    assert (first / "corpus.jsonl").stat().st_mtime_ns == before
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1.1")
    second = toy()
    assert second != first
    monkeypatch.setattr("autoindex_pyserini.collection.pydata_api._builder", lambda: "another builder")
    assert toy() not in (first, second)


def test_nothing_is_imported(toy):
    toy()
    assert "toyapi" not in sys.modules


def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOINDEX_CACHE", str(tmp_path))
    with pytest.raises(CollectionError, match="pip install no-such-distribution"):
        build(PythonApi("toy", {"nothing": "no-such-distribution"}))
    assert not list(tmp_path.iterdir())


def test_a_definition_that_is_wrong_is_named(tmp_path):
    with pytest.raises(CollectionError, match=r"x\.toml: not a definition"):
        definition({"name": "x", "packages": ["numpy"]}, tmp_path / "x.toml")
    with pytest.raises(CollectionError, match=r"x\.toml: not a definition"):
        definition({"name": "x"}, tmp_path / "x.toml")


# The real one


def test_it_is_built_in():
    assert "pydata-api" in builtin_names()


def test_size(demo):
    """10,206 documents and 2,960 queries with the versions that its README names."""
    assert demo.name == "pydata-api"
    assert 9_000 < demo.num_documents < 12_000
    validation, test = (len(split.topics) for split in (demo.validation, demo.open_test()))
    assert 2_000 < validation + test < 4_000
    assert 1.8 < test / validation < 2.3
    assert demo.report.pairs_dropped == {}
    assert demo.report.empty_documents == demo.report.mended_values == demo.report.coerced_values == 0


def test_objects_have_the_names_that_users_know(demo):
    docids = {document.docid for document in demo.documents()}
    assert docids >= {
        "numpy.average",
        "numpy.ndarray.sort",
        "numpy.ma.MaskedArray.compressed",
        "scipy.signal.convolve",
        "scipy.spatial.KDTree",
        "scipy.stats.norm",
        "sklearn.ensemble.RandomForestClassifier",
        "sklearn.utils.check_array",
        "pandas.DataFrame.merge",
        "pandas.read_csv",
        "matplotlib.axes.Axes.plot",
        "matplotlib.axes.Axes.set_xlim",
    }
    assert not any("tests" in docid.split(".") for docid in docids)


def test_every_document_is_sound(demo):
    names = set()
    heading = re.compile(r"(?im)^\s*see also:?\s*$")
    for document in demo.documents():
        assert document.title == document.docid.rpartition(".")[2]
        assert document.text and document.fields["kind"] in {"function", "class", "method", "property"}
        assert not any(map(heading.search, (document.text, *document.fields.values())))
        names |= document.fields.keys()
    assert names <= {
        *("attributes", "examples", "kind", "methods", "notes", "other_parameters", "parameters", "raises"),
        *("receives", "references", "returns", "signature", "warnings", "warns", "yields"),
    }
    assert {"parameters", "returns", "examples", "notes"} <= names


def test_every_query_is_sound(demo):
    seen = set()
    for split in (demo.validation, demo.open_test()):
        for topic in split.topics:
            assert len(topic.text.split()) >= 3
            assert "`" not in topic.text and "\n" not in topic.text and ":func:" not in topic.text
            assert all(grade == 1 for grade in split.qrels[topic.qid].values())
            seen.add(topic.qid)
    assert len(seen) == len(demo.validation.topics) + len(demo.open_test().topics)


def test_a_known_item(demo):
    for split in (demo.validation, demo.open_test()):
        for topic in split.topics:
            if topic.text == "The inverse of fft":
                assert set(split.qrels[topic.qid]) == {"numpy.fft.ifft", "scipy.fft.ifft"}
                return
    raise AssertionError("the query is not there")


def test_loading_again_takes_the_cache(demo, demo_cache, monkeypatch):
    monkeypatch.setenv("AUTOINDEX_CACHE", str(demo_cache))
    monkeypatch.setattr(
        "autoindex_pyserini.collection.pydata_api.read_package",
        lambda *_: pytest.fail("the packages were read again"),
    )
    again = load("pydata-api")
    assert again.fingerprint == demo.fingerprint
    assert again.validation == demo.validation
    other = load("pydata-api", seed=5)
    assert other.validation != demo.validation
    assert other.num_documents == demo.num_documents


def test_its_folder_is_a_beir_folder(toy):
    """What is cached can be used, and given to others, as any folder."""
    folder = toy()
    assert load(str(folder)).num_documents == 4
    assert assemble(read_beir(folder, name="toy")).name == "toy"
