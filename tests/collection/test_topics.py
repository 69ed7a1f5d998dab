"""Files of queries."""

import gzip

import pytest

from autoindex_pyserini.collection.topics import read_topics
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Topic


@pytest.fixture
def topics(tmp_path):
    def write(content: str):
        path = tmp_path / "topics"
        path.write_text(content, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        '{"_id": "1", "text": "one & two", "metadata": {}}\n\n{"_id": "q 2", "text": " three "}',
        '{"qid": 1, "query": "one & two"}\n{"id": "q 2", "title": "three"}\n',
        "1\tone & two\nq 2\tthree\n",
        "qid\tquery\n1\tone & two\r\n\r\nq 2\t three\n",
    ],
    ids=["json", "json-other-keys", "tsv", "tsv-header"],
)
def test_forms(topics, content):
    assert read_topics(topics(content)) == [Topic("1", "one & two"), Topic("q 2", "three")]


@pytest.mark.parametrize(
    "content",
    [
        "<top>\n<num> Number: 301 \n<title> one &amp;\ntwo\n\n<desc> Description: \nno\n</top>\n"
        "<top>\n\n<num> Number: 302\n<title>\nthree\n<narr> no </top>",
        "<top><num>301</num><title>one & two</title></top><top><num>302</num><title>three</title></top>",
        "<top>\n<num>301\n<title>Topic: one & two\n<top>\n<num>302\n<title>Topic: three",
        '<?xml version="1.0"?>\n<topics><topic number="301" type="x"><query> one &amp; two</query>'
        "<question>no</question></topic>\n<topic number='302'><title>three</title></topic></topics>",
    ],
    ids=["sgml", "closed", "unclosed", "xml"],
)
def test_trec_topics(topics, content):
    assert read_topics(topics(content)) == [Topic("301", "one & two"), Topic("302", "three")]


def test_gzipped(tmp_path):
    path = tmp_path / "topics.tsv.gz"
    path.write_bytes(gzip.compress(b"1\tone\n"))
    assert read_topics(path) == [Topic("1", "one")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "no queries"),
        ("<topics></topics>", "no queries"),
        ("1\tone\ntwo words\n", ":2: 'two words' is no query"),
        ("1\tone\n\n1\ttwo\n", ":3: query id '1' stands in line 1 already"),
        ('{"_id": "1", "text": "a"}\n{"_id": "2"}', ":2: query '2' has no \"text\""),
        ('{"_id": "1", "text": "a"}\n{"text": "b"}', ':2: no "_id"'),
        ("<top>\n<num> 1\n<title> a\n</top>\n<top>\n<title> b\n</top>", ":5: a topic without <num>"),
        ("<top>\n<num> 1\n<title> a\n</top>\n\n<top>\n<num> 2\n</top>", ":6: a topic without <title>"),
    ],
)
def test_what_is_wrong_is_named(topics, content, says):
    with pytest.raises(CollectionError) as caught:
        read_topics(topics(content))
    assert says in str(caught.value)
