"""Folders in BEIR layout, and what every collection is checked for."""

import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from types import FunctionType, ModuleType

import pytest

from autoindex_pyserini.collection import Collection, builtin_names, load
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Document, Topic

DOCUMENTS = [{"_id": f"d{n}", "title": f"Title {n}", "text": f"text about number {n}"} for n in range(12)]
QUERIES = [{"_id": f"q{n}", "text": f"which is number {n}"} for n in range(12)]
QRELS = [(f"q{n}", f"d{n}", 1) for n in range(12)]


def both(collection: Collection):
    """Topics and judgments of both splits together."""
    splits = collection.validation, collection.open_test()
    topics = {topic.qid: topic.text for split in splits for topic in split.topics}
    qrels = {qid: pairs for split in splits for qid, pairs in split.qrels.items()}
    assert len(topics) == sum(len(split.topics) for split in splits)
    assert topics.keys() == qrels.keys()
    return topics, qrels


def test_a_sound_folder(beir):
    collection = load(str(beir("sound")))
    assert collection.name == "sound"
    assert collection.num_documents == 12
    assert list(collection.documents()) == [Document(d["_id"], d["title"], d["text"], {}) for d in DOCUMENTS]
    topics, qrels = both(collection)
    assert topics == {each["_id"]: each["text"] for each in QUERIES}
    assert qrels == {qid: {docid: grade} for qid, docid, grade in QRELS}
    assert (collection.validation.name, collection.open_test().name) == ("validation", "test")
    assert all(isinstance(topic, Topic) for topic in collection.validation.topics)


def test_documents_can_be_streamed_again(beir):
    collection = load(str(beir()))
    first = collection.documents()
    assert isinstance(first, Iterator)
    next(first)
    assert list(collection.documents()) == list(collection.documents())
    assert len(list(first)) == 11


def test_everything_is_counted(beir):
    collection = load(
        str(
            beir(
                documents=[
                    *DOCUMENTS,
                    {"_id": "blank", "title": " ", "text": "\n", "metadata": {"year": 1999, "x": None}},
                    {"_id": "fields", "text": "t\0", "metadata": {"year": "2000", "empty": ""}},
                ],
                queries=[
                    *QUERIES,
                    {"_id": "unjudged", "text": "nobody judged this"},
                    {"_id": "lost", "text": "judged documents are gone"},
                    {"_id": "silent", "text": "  "},
                    {"_id": "bad", "text": "nothing is relevant"},
                ],
                qrels=[
                    *QRELS,
                    ("q1", "d2", 0),
                    ("q1", "d2", 0),
                    ("q1", "d3", -2),
                    ("q1", "d4", 3),
                    ("bad", "d1", 0),
                    ("lost", "gone1", 1),
                    ("lost", "gone2", 1),
                    ("silent", "d1", 1),
                    ("never", "d1", 1),
                    ("never", "d2", 1),
                ],
            )
        )
    )
    report = collection.report
    topics, qrels = both(collection)
    assert report.documents == 14
    assert report.empty_documents == 1
    assert report.fields == {"year": 2}
    assert (report.coerced_values, report.null_values, report.mended_values) == (1, 1, 1)
    assert report.queries == 16
    assert report.queries_without_text == 1
    assert report.queries_without_judgments == 2
    assert report.queries_without_relevant == 1
    assert report.queries_unknown == 1
    assert report.judged_pairs == sum(map(len, qrels.values())) == 16
    assert report.grades == {-2: 1, 0: 2, 1: 12, 3: 1}
    assert report.negative_grades == 1
    assert report.pairs_repeated == 1
    assert report.pairs_dropped == {
        "the docid is not in the collection": 2,
        "the qid is not among the queries": 2,
        "the query has no text": 1,
    }
    assert sum(report.splits.values()) == len(topics) == 13
    assert not {"unjudged", "lost", "silent", "never"} & topics.keys()
    assert qrels["q1"] == {"d1": 1, "d2": 0, "d3": -2, "d4": 3}


def test_progress_is_told(beir):
    told = []
    load(str(beir()), progress=lambda *what: told.append(what))
    assert told[-1] == ("reading documents", 12, 12)


# Splits


def write_qrels_folder(folder, **files):
    (folder / "qrels.txt").unlink()
    (folder / "qrels").mkdir()
    for name, qrels in files.items():
        lines = ["query-id\tcorpus-id\tscore", *("{}\t{}\t{}".format(*each) for each in qrels)]
        (folder / "qrels" / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    return str(folder)


@pytest.mark.parametrize("name", ["dev", "validation"])
def test_own_splits_are_kept(beir, name):
    folder = write_qrels_folder(beir(), test=QRELS[4:], train=QRELS[2:4], **{name: QRELS[:2]})
    collection = load(folder)
    assert [topic.qid for topic in collection.validation.topics] == ["q0", "q1"]
    assert [topic.qid for topic in collection.open_test().topics] == [qid for qid, _, _ in QRELS[4:]]
    assert any("train.tsv is not used" in note for note in collection.report.notes)
    assert collection.report.queries_without_judgments == 2
    assert load(folder, seed=99).fingerprint == collection.fingerprint


def test_train_stands_in_for_a_missing_validation_split(beir):
    collection = load(write_qrels_folder(beir(), test=QRELS[4:], train=QRELS[:4]))
    assert collection.report.splits == {"validation": 4, "test": 8}


def test_a_lone_test_file_is_split(beir):
    collection = load(write_qrels_folder(beir(), test=QRELS))
    assert sum(collection.report.splits.values()) == 12
    assert min(collection.report.splits.values()) > 0


def test_own_splits_that_overlap_keep_the_test_whole(beir):
    queries = [*QUERIES, {"_id": "copy", "text": "Which is NUMBER 5?"}]
    folder = beir(queries=queries)
    overlapping = [*QRELS[:3], ("copy", "d5", 1)]
    collection = load(write_qrels_folder(folder, test=QRELS[2:], dev=overlapping))
    assert [topic.qid for topic in collection.validation.topics] == ["q0", "q1"]
    assert len(collection.open_test().topics) == 10
    assert collection.report.pairs_dropped == {"the query is in the test split too": 2}


def test_near_duplicates_stay_on_one_side(beir):
    queries = [{"_id": f"{n}{end}", "text": f"Number {n}{end}"} for n in range(30) for end in ("", "!", " ?")]
    qrels = [(each["_id"], "d1", 1) for each in queries]
    collection = load(str(beir(queries=queries, qrels=qrels)))
    seen = {topic.qid.rstrip(" !?") for topic in collection.validation.topics}
    unseen = {topic.qid.rstrip(" !?") for topic in collection.open_test().topics}
    assert seen and unseen and not seen & unseen


def test_a_seed_makes_another_split_of_the_same_queries(beir):
    folder = str(beir())
    splits = {seed: load(folder, seed=seed) for seed in (None, 0, 1, 2)}
    assert splits[None].fingerprint == splits[0].fingerprint
    assert len({splits[seed].validation.topics for seed in (0, 1, 2)}) > 1
    assert both(splits[1]) == both(splits[2])


# What a search may see


def reachable(start) -> list[object]:
    """Everything that can be reached from an object by references, code and types left out."""
    found, waiting = {}, [start]
    while waiting:
        item = waiting.pop()
        if id(item) in found or isinstance(item, type | ModuleType):
            continue
        found[id(item)] = item
        if isinstance(item, FunctionType):
            waiting += [cell.cell_contents for cell in item.__closure__ or ()]
            waiting += item.__defaults__ or ()
        else:
            waiting += gc.get_referents(item)
    return list(found.values())


def test_no_way_leads_from_a_view_to_the_test_split(beir):
    collection = load(str(beir()))
    secret = collection.open_test()
    view = collection.for_search()
    stream = view.documents()
    next(stream)
    assert any(item is secret for item in reachable(collection))
    for start in (view, view.documents, stream):
        everything = reachable(start)
        assert not any(item is secret or item is collection for item in everything)
        texts = {item for item in everything if isinstance(item, str)}
        assert not texts & {topic.qid for topic in secret.topics}
        assert not any("qrels" in text or "queries" in text for text in texts)


def test_a_view_has_all_else(beir):
    collection = load(str(beir()))
    view = collection.for_search()
    assert (view.name, view.fingerprint, view.num_documents) == (
        collection.name,
        collection.fingerprint,
        collection.num_documents,
    )
    assert view.validation is collection.validation
    assert list(view.documents()) == list(collection.documents())
    assert not hasattr(view, "open_test")


def test_collections_cannot_be_changed_and_show_no_test_queries(beir):
    collection = load(str(beir()))
    for each in (collection, collection.for_search(), collection.validation):
        with pytest.raises(AttributeError):
            each.name = "other"
    assert not any(topic.text in repr(collection) for topic in collection.open_test().topics)


# Fingerprints


def test_the_fingerprint_does_not_depend_on_how_content_is_written(beir):
    documents = [{**each, "metadata": {"a": "1", "ü": "2"}} for each in DOCUMENTS]
    turned = [dict(reversed({**each, "ü": "2", "a": "1"}.items())) for each in DOCUMENTS]
    written = beir("one", documents=documents)
    again = beir(
        "two",
        documents=turned,
        queries=QUERIES[::-1],
        qrels=["query-id\tcorpus-id\tscore", *(f"{qid}\t{docid}\t1.0" for qid, docid, _ in QRELS[::-1])],
        corpus="corpus.jsonl.gz",
    )
    assert load(str(written)).fingerprint == load(str(again)).fingerprint


def test_the_fingerprint_changes_with_any_content(beir):
    def changed(records, **change):
        return [{**records[0], **change}, *records[1:]]

    variants = [
        {},
        {"documents": DOCUMENTS[::-1]},
        {"documents": DOCUMENTS[:-1], "qrels": QRELS[:-1]},
        {"documents": changed(DOCUMENTS, title="Title 0x")},
        {"documents": changed(DOCUMENTS, title="", text="Title 0text about number 0")},
        {"documents": changed(DOCUMENTS, title="Title 0text about number 0", text="")},
        {"documents": changed(DOCUMENTS, metadata={"a": "b"})},
        {"documents": changed(DOCUMENTS, metadata={"b": "a"})},
        {"documents": changed(DOCUMENTS, metadata={"a": "b", "c": ""})},
        {"documents": [*DOCUMENTS, {"_id": "a", "metadata": {"b": "t", "x": "c", "y": "z"}}]},
        {
            "documents": [
                *(*DOCUMENTS, {"_id": "a"}),
                *({"_id": "b", "title": "t", "text": "x"}, {"_id": "c", "title": "y", "text": "z"}),
            ]
        },
        {"queries": changed(QUERIES, text="which one is number 0")},
        {"qrels": [("q0", "d0", 2), *QRELS[1:]]},
        {"qrels": [*QRELS, ("q0", "d1", 0)]},
        {"qrels": [*QRELS, ("q0", "d2", 0)]},
    ]
    prints = [load(str(beir(f"v{number}", **parts))).fingerprint for number, parts in enumerate(variants)]
    assert len(set(prints)) == len(variants)
    assert all(len(each) == 64 for each in prints)


def test_the_fingerprint_does_not_depend_on_the_process(beir):
    folder = str(beir())
    command = "import sys; from autoindex_pyserini.collection import load; c = load(sys.argv[1])"
    command += "; print(c.fingerprint, [t.qid for t in c.validation.topics])"
    prints = {
        subprocess.run(
            [sys.executable, "-c", command, folder],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(prints) == 1


# Bad input


def test_an_unknown_name_lists_what_there_is():
    assert builtin_names() == sorted(builtin_names())
    with pytest.raises(CollectionError) as caught:
        load("no-such-collection")
    assert "'no-such-collection'" in str(caught.value)
    assert all(name in str(caught.value) for name in ["pydata-api", *builtin_names()])


def test_a_file_is_no_collection(beir):
    with pytest.raises(CollectionError, match="a file, not a folder"):
        load(str(beir() / "corpus.jsonl"))


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        ("corpus.jsonl", "no corpus.jsonl"),
        ("queries.jsonl", "no queries.jsonl"),
        ("qrels.txt", "no qrels.txt and no qrels/"),
    ],
)
def test_a_missing_part(beir, missing, says):
    folder = beir()
    (folder / missing).unlink()
    with pytest.raises(CollectionError, match=says):
        load(str(folder))


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"documents": []}, "corpus.jsonl: holds no documents"),
        ({"documents": [*DOCUMENTS, DOCUMENTS[3]]}, r"corpus\.jsonl:13: document id 'd3' .*corpus\.jsonl:4;"),
        ({"documents": [*DOCUMENTS, "{"]}, r"corpus\.jsonl:13: not valid JSON"),
        ({"queries": []}, "queries.jsonl: no queries"),
        ({"queries": [*QUERIES, QUERIES[2]]}, r"queries\.jsonl:13: query id 'q2' stands in line 3 already"),
        ({"queries": [*QUERIES, {"_id": "x"}]}, r"queries\.jsonl:13: query 'x' has no \"text\""),
        ({"queries": [*QUERIES, {"text": "x"}]}, r"queries\.jsonl:13: no \"_id\""),
        ({"queries": [{"_id": "q1", "text": " "}]}, "none of its queries has any text"),
        ({"qrels": []}, "qrels.txt: no judgments"),
        ({"qrels": [("q1", "D1", 1)]}, r"qrels.txt: names no document .*first is 'D1'"),
        ({"qrels": [("Q1", "d1", 1)]}, r"qrels.txt: names no query .*first is 'Q1'"),
        (
            {"qrels": [("q1", "d1", 1)]},
            r"the (validation|test) split would have no query with a relevant document",
        ),
        ({"qrels": [(qid, docid, 0) for qid, docid, _ in QRELS]}, "no query with a relevant document"),
        ({"qrels": [*QRELS, ("q1", "d1", 2)]}, r"qrels.txt:13: .* grade 2, but grade 1 in line 2"),
    ],
)
def test_bad_content_is_one_clear_line(beir, parts, says):
    folder = beir(**parts)
    with pytest.raises(CollectionError, match=says) as caught:
        load(str(folder))
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert ";" in str(caught.value)


def test_an_own_split_that_is_empty(beir):
    folder = write_qrels_folder(beir(), test=QRELS[:3], dev=[("q9", "gone", 1)])
    with pytest.raises(CollectionError, match=r"the validation split would .*; add judged queries$"):
        load(folder)


def test_own_splits_without_a_test_part(beir):
    folder = write_qrels_folder(beir(), train=QRELS[:3], dev=QRELS[3:])
    with pytest.raises(CollectionError, match=r"has dev, train, but no test\.tsv"):
        load(folder)


# Size


def test_documents_are_never_all_in_memory(beir):
    """13 MB of documents; a hash a document and some chunks of the file may stand in memory."""
    documents = ({"_id": str(n), "title": f"Title {n}", "text": f"{n} text " * 60} for n in range(20_000))
    folder = str(beir(documents=documents, qrels=[(f"q{n}", str(n), 1) for n in range(12)]))
    load(folder)  # imports
    tracemalloc.start()
    try:
        collection = load(folder)
        assert sum(1 for _ in collection.documents()) == 20_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


# Real ones

COUNTS = {  # documents, queries, judged pairs: as the READMEs of the shared collections count them
    "cacm": (3204, 52, 796),
    "cosqa": (6267, 500, 500),
    "cranfield": (1400, 225, 1837),
    "icecat_products": (19406, 116, 3320),
    "manpages_nl2bash": (3612, 617, 1013),
    "medquad": (17908, 96, 2147),
    "nfcorpus_processed_SUBSET": (3395, 323, 12334),
    "npl": (11429, 93, 2083),
    "scifact": (5183, 300, 339),
    "se_quantum_mathed_answers": (2567, 947, 2559),
}


@pytest.mark.parametrize("name", COUNTS)
def test_shared_collections(shared, name):
    collection = load(str(shared / name))
    topics, qrels = both(collection)
    documents, queries, pairs = COUNTS[name]
    assert collection.num_documents == documents == sum(1 for _ in collection.documents())
    assert len(topics) == queries
    assert sum(map(len, qrels.values())) == pairs
    assert collection.report.pairs_dropped == {}
    assert collection.report.splits["validation"] > 10


def test_documents_without_any_text_are_refused(beir):
    documents = [{"_id": f"d{n}", "title": " ", "text": "", "metadata": {"note": "\n"}} for n in range(12)]
    with pytest.raises(CollectionError, match=r"corpus\.jsonl.*none of the 12 documents has any text; check"):
        load(str(beir(documents=documents)))


def test_documents_with_text_in_fields_alone_are_taken_with_a_warning(beir):
    documents = [{"_id": f"d{n}", "body": f"number {n}"} for n in range(12)]
    report = load(str(beir(documents=documents))).report
    assert report.empty_documents == 12
    assert "only programs that read fields (body)" in report.notes[-1]


def test_an_id_that_lucene_could_not_hold_is_refused(beir):
    lines = [{"_id": "\u00fc" * 4000, "text": "the longest"}, {"_id": "\u00fc" * 4001, "text": "too long"}]
    with pytest.raises(
        CollectionError, match=r"corpus\.jsonl:2: \"_id\" has 8,002 bytes; an id may have 8,000"
    ):
        load(str(beir(documents=lines)))


def test_queries_without_any_text_are_refused(beir):
    queries = [{"_id": f"q{n}", "text": None} for n in range(12)]
    with pytest.raises(CollectionError, match="none of its queries has any text"):
        load(str(beir(queries=queries)))
