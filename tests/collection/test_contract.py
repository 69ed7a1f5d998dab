"""What every source must do. Each writes the same collection in its own way, and is then held to it."""

import gzip
import json
from typing import NamedTuple

import pytest

from autoindex_pyserini.collection import Collection, load
from autoindex_pyserini.types import Document, Topic

DOCIDS = [
    "plain",
    "with space",
    "a#1",
    "a/b",
    "ünïcödé",
    "日本",
    "\U0001f600",
    "50%",
    "a,b",
    "'q'",
    "x\u00a0y",
    "7",
]
DOCUMENTS = [
    Document(
        docid, f"Title {n}", f"Text of number {n},\nin two lines.", {"year": str(1990 + n), "who": "Zoë"}
    )
    for n, docid in enumerate(DOCIDS)
]
TOPICS = [Topic(f"q{n}", f"which one is number {n} & more") for n in range(len(DOCIDS))]
QRELS = {f"q{n}": {docid: 1 + n % 2, DOCIDS[n - 1]: 0} for n, docid in enumerate(DOCIDS)}


def records(text="text"):
    """The documents as JSON objects without ``metadata``."""
    return [{"id": d.docid, "title": d.title, text: d.text, **d.fields} for d in DOCUMENTS]


def dump(path, items):
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_queries(folder, end=""):
    dump(folder / f"queries.jsonl{end}", [{"_id": t.qid, "text": t.text} for t in TOPICS])


def write_qrels(path, form="{qid} 0 {docid} {grade}"):
    path.parent.mkdir(parents=True, exist_ok=True)
    pairs = [(qid, docid, grade) for qid, judged in QRELS.items() for docid, grade in judged.items()]
    lines = [form.format(qid=qid, docid=docid, grade=grade) for qid, docid, grade in pairs]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def beir(folder, monkeypatch):
    dump(
        folder / "corpus.jsonl",
        [{"_id": d.docid, "title": d.title, "text": d.text, "metadata": dict(d.fields)} for d in DOCUMENTS],
    )
    write_queries(folder)
    write_qrels(folder / "qrels.txt")
    return str(folder)


def beir_gzipped_with_extra_keys(folder, monkeypatch):
    dump(folder / "corpus.jsonl.gz", [{**each, "gone": None} for each in records()])
    write_queries(folder, ".gz")
    write_qrels(folder / "qrels" / "test.tsv", "{qid}\t{docid}\t{grade}.0")
    return str(folder)


def json_collection(folder, monkeypatch):
    """Several files, all the ways in which JsonCollection may hold documents; topics as TSV."""
    items = records("contents")
    dump(folder / "docs" / "a.jsonl", items[:3])
    dump(folder / "docs" / "b" / "c.jsonl.gz", items[3:5])
    (folder / "docs" / "d.json").write_text(json.dumps(items[5:8], indent=1), encoding="utf-8")
    (folder / "docs" / "e.json").write_text(json.dumps(items[8], indent=1), encoding="utf-8")
    dump(folder / "docs" / "f.json", items[9:])
    (folder / "docs" / "README.md").write_text("not a document")
    (folder / "topics.tsv").write_text("".join(f"{t.qid}\t{t.text}\n" for t in TOPICS))
    write_qrels(folder / "qrels.txt")
    (folder / "collection.toml").write_text(
        'queries = "topics.tsv"\njudgments = "qrels.txt"\n[documents]\npath = "docs"\n'
    )
    return str(folder)


def described_columns(folder, monkeypatch):
    """Other keys, a field that is not wanted, and TREC topics."""
    dump(
        folder / "docs.jsonl",
        [
            {"key": d.docid, "head": d.title, "body": d.text, "junk": "x", "metadata": dict(d.fields)}
            for d in DOCUMENTS
        ],
    )
    escaped = [(t.qid, t.text.replace("&", "&amp;")) for t in TOPICS]
    (folder / "topics.trec").write_text(
        "".join(
            f"<top>\n<num> Number: {qid}\n<title> {text}\n<desc> Description:\nNot read.\n</top>\n\n"
            for qid, text in escaped
        )
    )
    write_qrels(folder / "qrels.tsv", "{qid}\t0\t{docid}\t{grade}")
    (folder / "mine.toml").write_text(
        'queries = "topics.trec"\njudgments = "qrels.tsv"\n[documents]\npath = ["docs.jsonl"]\n'
        'id = "key"\ntitle = "head"\ntext = "body"\nfields = ["year", "who"]\n'
    )
    return str(folder / "mine.toml")


def parquet(folder, monkeypatch):
    """Two files of several row groups, numbers and lists and nulls in columns, and XML topics."""
    pyarrow = pytest.importorskip("pyarrow")
    write_table = pytest.importorskip("pyarrow.parquet").write_table
    folder.mkdir()
    rows = [{**each, "year": int(each["year"]), "none": None, "unwanted": [1]} for each in records("body")]
    for name, part in (("0.parquet", rows[:7]), ("1.parquet", rows[7:])):
        write_table(pyarrow.Table.from_pylist(part), folder / name, row_group_size=2)
    (folder / "topics.xml").write_text(
        "<topics>\n"
        + "".join(
            f'<topic number="{t.qid}">\n<query>{t.text.replace("&", "&amp;")}</query>\n</topic>\n'
            for t in TOPICS
        )
        + "</topics>"
    )
    write_qrels(folder / "qrels.txt")
    (folder / "collection.toml").write_text(
        'queries = "topics.xml"\njudgments = "qrels.txt"\n'
        '[documents]\npath = "."\ntext = "body"\nfields = ["year", "who", "none"]\n'
    )
    return str(folder)


class IrdsDoc(NamedTuple):
    doc_id: str
    title: str
    body: str
    year: str
    who: str
    marked_up_doc: bytes


class IrdsQuery(NamedTuple):
    query_id: str
    title: str
    narrative: str

    def default_text(self):
        return self.title


class IrdsQrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


def irds(folder, monkeypatch):
    """A small data set in ir_datasets' own registry."""
    pytest.importorskip("ir_datasets")
    import ir_datasets
    from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries

    class Docs(BaseDocs):
        def docs_iter(self):
            return (IrdsDoc(d.docid, d.title, d.text, *d.fields.values(), b"<raw>") for d in DOCUMENTS)

        def docs_cls(self):
            return IrdsDoc

    class Queries(BaseQueries):
        def queries_iter(self):
            return (IrdsQuery(t.qid, t.text, "not read") for t in TOPICS)

    class Qrels(BaseQrels):
        def qrels_iter(self):
            return (IrdsQrel(q, d, grade, "0") for q, judged in QRELS.items() for d, grade in judged.items())

    registered = dict(ir_datasets.registry._registered)
    monkeypatch.setattr(ir_datasets.registry, "_registered", registered)
    ir_datasets.registry.register("contract", ir_datasets.Dataset(Docs(), Queries(), Qrels()))
    ir_datasets.registry.register("contract/docs", ir_datasets.Dataset(Docs()))
    return "irds:contract"


SOURCES = [beir, beir_gzipped_with_extra_keys, json_collection, described_columns, parquet, irds]


@pytest.fixture(params=SOURCES, ids=lambda source: source.__name__)
def collection(request, tmp_path, monkeypatch) -> Collection:
    return load(request.param(tmp_path / "contract", monkeypatch))


def test_documents_come_back_unchanged(collection):
    assert list(collection.documents()) == DOCUMENTS
    assert collection.num_documents == collection.report.documents == len(DOCUMENTS)
    assert collection.report.fields == {"year": len(DOCUMENTS), "who": len(DOCUMENTS)}
    assert all(type(document) is Document for document in collection.documents())


def test_documents_stream_again_and_side_by_side(collection):
    one, two = collection.documents(), collection.documents()
    assert [next(one), next(two), next(one)] == [DOCUMENTS[0], DOCUMENTS[0], DOCUMENTS[1]]
    assert list(collection.for_search().documents()) == DOCUMENTS
    assert list(one) == DOCUMENTS[2:]


def test_every_query_is_in_one_split_with_its_judgments(collection):
    validation, test = collection.validation, collection.open_test()
    assert (validation.name, test.name) == ("validation", "test")
    assert validation.topics and test.topics
    assert sorted(validation.topics + test.topics, key=lambda t: int(t.qid[1:])) == TOPICS
    assert {**validation.qrels, **test.qrels} == QRELS
    for split in (validation, test):
        assert [topic.qid for topic in split.topics] == list(split.qrels)


def test_the_report_counts(collection):
    report = collection.report
    assert report.queries == len(TOPICS) == sum(report.splits.values())
    assert report.judged_pairs == 2 * len(TOPICS)
    assert report.grades == {0: 12, 1: 6, 2: 6}
    assert report.pairs_dropped == {}
    assert (report.mended_values, report.empty_documents, report.queries_without_judgments) == (0, 0, 0)


def test_a_seed_decides(tmp_path, monkeypatch):
    for source in SOURCES:
        name = source(tmp_path / source.__name__, monkeypatch)
        assert len({load(name, seed=seed).validation.topics for seed in range(4)}) > 1


def test_the_same_content_has_the_same_fingerprint_in_whatever_files(tmp_path, monkeypatch):
    prints = {
        source.__name__: load(source(tmp_path / source.__name__, monkeypatch)).fingerprint
        for source in SOURCES
    }
    assert len(set(prints.values())) == 1, prints


def test_places_of_documents(tmp_path, monkeypatch):
    for source in SOURCES:
        collection = load(source(tmp_path / source.__name__, monkeypatch))
        places = [collection._source.locate(position) for position in range(len(DOCUMENTS))]
        assert len(set(places)) == len(DOCUMENTS)
        assert all(any(char.isdigit() for char in place) for place in places)
