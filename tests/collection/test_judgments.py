"""Qrels files."""

import gzip

import pytest

from autoindex_pyserini.collection.judgments import read_judgments
from autoindex_pyserini.errors import CollectionError


@pytest.fixture
def qrels(tmp_path):
    def write(content: str, name: str = "qrels.txt"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        "1 0 a 2\n1 0 b 0\n2 0 a -1\n",
        "1\t0\ta\t2\n1\t0\tb\t0\n2\t0\ta\t-1\n",
        "1  Q0  a  2.0\r\n\r\n1 Q0 b 0.0\r\n2 Q0 a -1.0",
        "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n2\ta\t-1\n",
        "1\ta\t2\n1\tb\t0\n2\ta\t-1\n",
        "1 a 2\n1 b 0\n2 a -1\n",
        "\ufeffquery_id iteration doc_id relevance\n1 0 a 2\n1 0 b 0\n2 0 a -1\n",
    ],
    ids=["trec", "trec-tabs", "trec-floats", "beir", "beir-no-header", "three-words", "trec-header"],
)
def test_every_form_reads_the_same(qrels, content):
    assert read_judgments(qrels(content)).qrels == {"1": {"a": 2, "b": 0}, "2": {"a": -1}}


def test_gzipped(tmp_path):
    path = tmp_path / "qrels.tsv.gz"
    path.write_bytes(gzip.compress(b"query-id\tcorpus-id\tscore\nq\td\t1\n"))
    assert read_judgments(path).qrels == {"q": {"d": 1}}


@pytest.mark.parametrize(
    "content", ["1\t0\ta b/c#1 \u00fc\t1\n", "1 0 a b/c#1 \u00fc 1\n", "1\ta b/c#1 \u00fc\t1\n"]
)
def test_docids_may_hold_spaces(qrels, content):
    assert read_judgments(qrels(content)).qrels == {"1": {"a b/c#1 \u00fc": 1}}


def test_a_pair_repeated_with_its_grade_is_counted(qrels):
    judgments = read_judgments(qrels("1 0 a 1\n1 0 a 1\n1 0 a 1.0\n"))
    assert judgments.qrels == {"1": {"a": 1}}
    assert judgments.repeated == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("1 0 a 0.5", "grade '0.5' is not a whole number"),
        ("1 0 a 1_0", "grade '1_0' is not a whole number"),
        ("1 0 a 3000000000", "grade 3e+09 is out of range; grades are whole numbers from -10,000 to 10,000"),
        ("1 0 a 1e300", "grade 1e+300 is out of range"),
        ("1 0 a -10001", "grade -1e+04 is out of range"),
        ("1 0 a yes", "grade 'yes' is not a whole number"),
        ("1 0 a nan", "grade 'nan' is not a whole number"),
        ("1 0 a inf", "grade 'inf' is not a whole number"),
        ("1 0 a", "has 3 columns, expected are 4; write 'qid 0 docid grade'"),
        ("1", "has 1 column, expected are 4; write 'qid 0 docid grade'"),
        ("1\t0\t\t1", "has 3 columns, expected are 4; write 'qid 0 docid grade'"),
        ("9 0 z 2", "has grade 2, but grade 1 in line 1"),
    ],
)
def test_a_bad_line_is_named(qrels, line, says):
    path = qrels(f"9 0 z 1\n\n{line}\n")
    with pytest.raises(CollectionError) as caught:
        read_judgments(path)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert says in str(caught.value)


@pytest.mark.parametrize("content", ["", "\n\n", "query-id\tcorpus-id\tscore\n"])
def test_a_file_without_judgments(qrels, content):
    with pytest.raises(CollectionError, match="no judgments"):
        read_judgments(qrels(content))


def test_a_missing_file(tmp_path):
    with pytest.raises(CollectionError, match="cannot be read"):
        read_judgments(tmp_path / "qrels.txt")
