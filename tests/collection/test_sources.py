"""What is particular to one source: descriptions, JSON and Parquet files, ir_datasets."""

import json

import pytest

from autoindex_pyserini.collection import load
from autoindex_pyserini.errors import CollectionError

QUERIES = "".join(f"q{n}\tfind number {n}\n" for n in range(9))
QRELS = "".join(f"q{n} 0 d{n} 1\n" for n in range(9))


@pytest.fixture
def described(tmp_path):
    """A function that writes a sound collection with a given ``collection.toml``, and gives its folder."""

    def write(toml: str, **files: str):
        sound = {
            "docs.jsonl": "".join(json.dumps({"id": f"d{n}", "contents": f"t {n}"}) + "\n" for n in range(9)),
            "topics.tsv": QUERIES,
            "qrels.txt": QRELS,
        }
        for name, content in {**sound, **files, "collection.toml": toml}.items():
            (tmp_path / name).write_text(content)
        return tmp_path

    return write


SINGLE = 'queries = "topics.tsv"\njudgments = "qrels.txt"\n'
DOCS = '[documents]\npath = "docs.jsonl"\n'


def test_its_name_seed_and_ratio(described):
    folder = str(described(f'name = "mine"\n{SINGLE}[split]\nseed = 4\nvalidation = 2\ntest = 1\n{DOCS}'))
    collection = load(folder)
    assert collection.name == "mine"
    assert collection.validation == load(folder, seed=4).validation
    assert len({load(folder, seed=seed).validation.topics for seed in (4, 5, 6)}) > 1


def test_named_qids(described):
    folder = described(
        f'{SINGLE}[split]\nvalidation_qids = "dev.txt"\n{DOCS}', **{"dev.txt": "q2\n\nq7 \nq99\n"}
    )
    collection = load(str(folder))
    assert [topic.qid for topic in collection.validation.topics] == ["q2", "q7"]
    assert len(collection.open_test().topics) == 7
    assert collection.report.queries == 9
    assert collection.report.queries_without_judgments == 0


def test_named_files_may_use_the_same_qids_for_other_queries(described):
    folder = described(
        '[validation]\nqueries = "dev.tsv"\njudgments = "dev.txt"\n'
        f'[test]\nqueries = "topics.tsv"\njudgments = "qrels.txt"\n{DOCS}',
        **{"dev.tsv": "q1\tsomething else\nq2\tFIND number 3?\n", "dev.txt": "q1 0 d5 1\nq2 0 d3 1\n"},
    )
    collection = load(str(folder))
    assert [(topic.qid, topic.text) for topic in collection.validation.topics] == [("q1", "something else")]
    assert collection.validation.qrels == {"q1": {"d5": 1}}
    assert collection.open_test().qrels["q1"] == {"d1": 1}
    assert collection.report.queries == 11
    assert collection.report.pairs_dropped == {"the query is in the test split too": 1}


def test_text_and_title_of_several_keys(described):
    lines = "".join(
        json.dumps({"id": f"d{n}", "a": "A", "b": None, "c": "C", "x": "X", "y": 1}) + "\n" for n in range(9)
    )
    folder = described(
        f'{SINGLE}[documents]\npath = "docs.jsonl"\ntitle = ["x", "y"]\ntext = ["a", "b", "c"]\n',
        **{"docs.jsonl": lines},
    )
    document = next(load(str(folder)).documents())
    assert (document.title, document.text, document.fields) == ("X 1", "A\n\nC", {})


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("name = ", "cannot be read as TOML"),
        (SINGLE, "missing required field `documents`"),
        (f"{SINGLE}{DOCS}colour = 3\n", "unknown field `colour`"),
        (f"{SINGLE}{DOCS}[spilt]\nseed = 1\n", "unknown field `spilt`"),
        (f'{SINGLE}{DOCS}[split]\nseed = "x"\n', "Expected `int`"),
        (f"{SINGLE}{DOCS}[split]\ntest = 0\n", "must be 1 or more"),
        (f'queries = "topics.tsv"\n{DOCS}', "name 'queries' and 'judgments'"),
        (DOCS, "name 'queries' and 'judgments'"),
        (
            f'{SINGLE}{DOCS}[test]\nqueries = "a"\njudgments = "b"\n'
            '[validation]\nqueries = "a"\njudgments = "b"\n',
            "or both",
        ),
        (f"{SINGLE}[documents]\npath = []\n", "is empty; name a file or folder"),
        (f'{SINGLE}[documents]\npath = "nowhere"\n', "nowhere does not exist"),
        (f'{SINGLE}[documents]\npath = "empty"\n', "holds no files of documents"),
        (f'queries = "no.tsv"\njudgments = "qrels.txt"\n{DOCS}', "no.tsv: cannot be read"),
        (f'queries = "topics.tsv"\njudgments = "no.txt"\n{DOCS}', "no.txt: cannot be read"),
    ],
)
def test_a_description_that_is_wrong(described, toml, says):
    folder = described(toml)
    (folder / "empty").mkdir()
    with pytest.raises(CollectionError) as caught:
        load(str(folder))
    assert says in str(caught.value)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("docs.json", '[{"id": "1"}, 5]', "item 2: a JSON number, not an object"),
        ("docs.json", '[{"id": "1"}, {"contents": "x"}]', 'item 2: no "id"'),
        ("docs.json", '[{"id": "1"}', "not a valid JSON array"),
        ("docs.json", '{"id": "1",\n"contents": ', "not valid JSON"),
        ("docs.json", '[{"id": "1"}, {"id": "1"}]', "item 2: document id '1' is taken already by"),
        ("docs.jsonl", '{"id": "1"}\n{"id": "2"\n', "docs.jsonl:2: not valid JSON"),
        ("docs.parquet", "not parquet", "not a Parquet file"),
    ],
)
def test_documents_that_are_wrong(described, name, content, says):
    folder = described(f'{SINGLE}[documents]\npath = "{name}"\n', **{name: content})
    with pytest.raises(CollectionError) as caught:
        load(str(folder))
    assert says in str(caught.value)
    assert name in str(caught.value)


def test_duplicates_across_files_name_both(described):
    folder = described(
        f'{SINGLE}[documents]\npath = ["docs.jsonl", "more.jsonl"]\n', **{"more.jsonl": '{"id": "d4"}\n'}
    )
    with pytest.raises(CollectionError, match=r"more\.jsonl:1: document id 'd4' .*docs\.jsonl:5;"):
        load(str(folder))


def test_parquet_columns_that_are_missing(described, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    write_table = pytest.importorskip("pyarrow.parquet").write_table
    write_table(pyarrow.table({"key": ["d1"], "text": ["t"]}), tmp_path / "docs.parquet")
    folder = described(f'{SINGLE}[documents]\npath = "docs.parquet"\n')
    with pytest.raises(CollectionError, match="has no column 'id' or '_id' or 'docid', only key, text"):
        load(str(folder))
    folder = described(f'{SINGLE}[documents]\npath = "docs.parquet"\nid = "key"\nfields = ["no"]\n')
    with pytest.raises(CollectionError, match="has no column 'no'"):
        load(str(folder))


def test_a_row_without_an_id_is_named(described, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    write_table = pytest.importorskip("pyarrow.parquet").write_table
    write_table(pyarrow.table({"id": ["d1", None]}), tmp_path / "docs.parquet")
    with pytest.raises(CollectionError, match=r"docs\.parquet, row 2: \"id\" is null"):
        load(str(described(f'{SINGLE}[documents]\npath = "docs.parquet"\n')))


# ir_datasets


@pytest.fixture
def dataset(monkeypatch):
    """A function that registers a data set of nine documents under a name."""
    ir_datasets = pytest.importorskip("ir_datasets")
    from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericDoc, GenericQrel, GenericQuery

    monkeypatch.setattr(ir_datasets.registry, "_registered", dict(ir_datasets.registry._registered))

    class Docs(BaseDocs):
        def docs_iter(self):
            return (GenericDoc(f"d{n}", f"text {n}") for n in range(9))

    class Queries(BaseQueries):
        def __init__(self, items):
            self.items = items

        def queries_iter(self):
            return (GenericQuery(*item) for item in self.items)

    class Qrels(BaseQrels):
        def __init__(self, items):
            self.items = items

        def qrels_iter(self):
            return (GenericQrel(*item) for item in self.items)

    def register(name, queries=None, qrels=None, docs=True):
        parts = [Docs()] if docs else []
        parts += [Queries(queries)] if queries is not None else []
        parts += [Qrels(qrels)] if qrels is not None else []
        ir_datasets.registry.register(name, ir_datasets.Dataset(*parts))
        return f"irds:{name}"

    return register


MANY = [(f"q{n}", f"find number {n}") for n in range(9)]
JUDGED = [(f"q{n}", f"d{n}", 1) for n in range(9)]


def test_validation_from_another_data_set(dataset):
    test = dataset("mini/test", MANY, JUDGED)
    dev = dataset("mini/dev", [("x", "other"), ("y", "Find: number 2")], [("x", "d1", 2), ("y", "d2", 1)])
    collection = load(test, validation=dev)
    assert collection.name == "irds:mini/test"
    assert collection.validation.qrels == {"x": {"d1": 2}}
    assert len(collection.open_test().topics) == 9
    assert collection.report.pairs_dropped == {"the query is in the test split too": 1}


def test_grades_that_are_floats_are_cast(dataset):
    collection = load(dataset("floats", MANY, [(q, d, 1.0) for q, d, _ in JUDGED]))
    assert collection.report.grades == {1: 9}
    assert all(type(g) is int for pairs in collection.validation.qrels.values() for g in pairs.values())


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"docs": False}, "has no documents"),
        ({}, "has no queries"),
        ({"queries": MANY}, "has no judgments"),
        ({"queries": [], "qrels": JUDGED}, "holds no queries"),
        ({"queries": MANY, "qrels": []}, "holds no judgments"),
        ({"queries": [*MANY, MANY[0]], "qrels": JUDGED}, "two queries share an id"),
        ({"queries": MANY, "qrels": [("q1", "d1", 0.5)]}, "grade 0.5 is not a whole number"),
        ({"queries": MANY, "qrels": [*JUDGED, ("q1", "d1", 2)]}, "has grade 2, and also 1"),
    ],
)
def test_a_data_set_that_will_not_do(dataset, parts, says):
    name = dataset("poor", **parts)
    with pytest.raises(CollectionError, match=says) as caught:
        load(name)
    assert "irds:poor" in str(caught.value)


def test_an_unknown_data_set():
    pytest.importorskip("ir_datasets")
    with pytest.raises(CollectionError, match="irds:no/such/thing: ir_datasets knows no such data set"):
        load("irds:no/such/thing")


def test_validation_queries_go_with_data_sets_only(dataset, tmp_path):
    name = dataset("mini", MANY, JUDGED)
    with pytest.raises(CollectionError, match="must be given as irds:ID"):
        load(name, validation="dev.jsonl")
    with pytest.raises(CollectionError, match="only a collection irds:ID takes them"):
        load(str(tmp_path), validation="irds:x")
