"""Documents from JSON lines."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoindex_pyserini.collection.jsonl import JsonLines
from autoindex_pyserini.collection.model import Tally
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Document


def read(path, tally=None):
    return list(JsonLines((path,)).documents(tally))


@pytest.fixture
def corpus(tmp_path, lines):
    return lambda *records, name="corpus.jsonl": lines(tmp_path / name, records)


def test_plain_line(corpus):
    path = corpus({"_id": "1", "title": "A", "text": "b", "metadata": {"year": "1999"}})
    assert read(path) == [Document("1", "A", "b", {"year": "1999"})]


def test_only_the_id_is_needed(corpus):
    assert read(corpus({"_id": "1"}, {"id": "2"})) == [Document("1", "", "", {}), Document("2", "", "", {})]


def test_other_keys_become_fields_and_metadata_wins(corpus):
    path = corpus({"_id": "1", "year": "1", "url": "u", "id": "other", "metadata": {"year": "2"}})
    assert read(path) == [Document("1", "", "", {"year": "2", "url": "u", "id": "other"})]


def test_values_become_text_and_are_counted(corpus):
    tally = Tally()
    path = corpus(
        {
            "_id": 7,
            "title": None,
            "text": ["one", 2, None],
            "metadata": {"price": 4.5, "new": True, "size": {"w": 1, "ü": [2]}, "gone": None},
        }
    )
    assert read(path, tally) == [
        Document("7", "", "one\n2", {"price": "4.5", "new": "true", "size": '{"w":1,"ü":[2]}'})
    ]
    # the id, the list, and three fields; the title, an item of the list, and a field
    assert (tally.coerced, tally.nulls, tally.mended) == (5, 3, 0)


def test_metadata_that_is_no_object_is_a_field(corpus):
    assert read(corpus({"_id": "1", "metadata": "m"}))[0].fields == {"metadata": "m"}


def test_nul_and_lone_surrogates_are_mended(corpus):
    tally = Tally()
    path = corpus(
        '{"_id": "1", "text": "a\\u0000b"}',
        '{"_id": "2", "text": "a\\ud800b", "metadata": {"x\\udfff": "\\udc00"}}',
        '{"_id": "3", "text": "\\ud83d\\ude00"}',
    )
    assert read(path, tally) == [
        Document("1", "", "a b", {}),
        Document("2", "", "a\ufffdb", {"x\ufffd": "\ufffd"}),
        Document("3", "", "\U0001f600", {}),
    ]
    assert tally.mended == 4


def test_nul_alone_is_mended_too(corpus):
    tally = Tally()
    path = corpus({"_id": "1", "text": "a"}, '{"_id": "2\\u0000", "text": "b"}')
    assert [document.docid for document in read(path, tally)] == ["1", "2 "]
    assert tally.mended == 1


def test_line_ends_blank_lines_and_byte_order_mark(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"_id": "1"}\r\n\n   \n{"_id": "2"}\r\n{"_id": "3"}')
    assert [document.docid for document in read(path)] == ["1", "2", "3"]


def test_a_line_longer_than_any_chunk(corpus):
    long = "x" * 1_000_000
    path = corpus({"_id": "1", "text": "a"}, {"_id": "2", "text": long}, {"_id": "3", "text": "b"})
    assert [len(document.text) for document in read(path)] == [1, 1_000_000, 1]


def test_an_odd_line_among_many_chunks_changes_no_other(corpus):
    records = [{"_id": str(number), "text": f"{number} " * 50} for number in range(5000)]
    expected = [Document(each["_id"], "", each["text"], {}) for each in records]
    records[3210] = {"_id": "3210", "text": records[3210]["text"], "extra": 1}
    expected[3210] = Document("3210", "", records[3210]["text"], {"extra": "1"})
    assert read(corpus(*records)) == expected
    assert read(corpus(*records, name="corpus.jsonl.gz")) == expected


_json_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@settings(max_examples=40)
@given(
    records=st.lists(
        st.tuples(
            _json_text.filter(lambda text: text.strip() and not text.isspace()),
            _json_text,
            _json_text,
            st.dictionaries(_json_text, _json_text, max_size=3),
        ),
        min_size=1,
    ),
    ascii_only=st.booleans(),
)
def test_any_text_comes_back_unchanged(tmp_path_factory, records, ascii_only):
    path = tmp_path_factory.mktemp("any") / "corpus.jsonl"
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for docid, title, text, fields in records:
            record = {"_id": docid, "title": title, "text": text, "metadata": fields}
            stream.write(json.dumps(record, ensure_ascii=ascii_only) + "\n")
    assert read(path) == [Document(*record) for record in records]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"_id": "2", "text": "cut', "not valid JSON"),
        ("{'_id': '2'}", "not valid JSON"),
        ('["2"]', "list, not an object"),
        ("null", "null, not an object"),
        ('{"title": "t"}', 'no "_id"'),
        ('{"_id": ""}', '"_id" is empty'),
        ('{"_id": " \\t"}', '"_id" is empty'),
        ('{"_id": null}', '"_id" is null'),
        ('{"_id": true}', '"_id" is boolean'),
        ('{"_id": {"a": 1}}', '"_id" is object'),
        ('{"_id": "2", "n": ' + "1" * 5000 + "}", "cannot be read as JSON"),
        ('{"_id": "2", "n": ' + "[" * 100_000 + "}", "JSON"),
    ],
)
def test_a_bad_line_is_named(corpus, line, says):
    path = corpus({"_id": "1"}, "", line, {"_id": "3"})
    with pytest.raises(CollectionError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_line_is_counted_over_chunks(corpus):
    records = [{"_id": str(number), "text": "x" * 1000} for number in range(3000)]
    path = corpus(*records, "{", name="corpus.jsonl")
    with pytest.raises(CollectionError, match=r"corpus\.jsonl:3001: "):
        read(path)


def test_an_object_over_several_lines_is_refused(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "1",\n "text": "a"}\n')
    with pytest.raises(CollectionError, match=r"corpus\.jsonl:1: not valid JSON"):
        read(path)


def test_bytes_that_are_not_utf8(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b'{"_id": "1"}\n{"_id": "2", "text": "caf\xe9"}\n')
    with pytest.raises(CollectionError, match=r"corpus\.jsonl:2: byte 26 is not UTF-8"):
        read(path)


@pytest.mark.parametrize("content", [b"not gzip", gzip.compress(b'{"_id": "1"}\n' * 9000)[:-20]])
def test_a_bad_gzip_file(tmp_path, content):
    path = tmp_path / "corpus.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(CollectionError, match="not a complete gzip file"):
        read(path)


def test_a_file_that_changes_after_loading_is_refused(corpus):
    source = JsonLines((corpus({"_id": "1"}),))
    assert len(list(source.documents())) == 1
    corpus({"_id": "1"}, {"_id": "2"})
    with pytest.raises(CollectionError, match="changed since"):
        list(source.documents())


def test_a_file_that_vanishes_is_named(corpus):
    path = corpus({"_id": "1"})
    source = JsonLines((path,))
    path.unlink()
    with pytest.raises(CollectionError, match="cannot be read"):
        list(source.documents())


def test_locate_counts_documents_not_lines(tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text('{"_id": "1"}\n\n{"_id": "2"}\n')
    second.write_text('\n{"_id": "3"}\n')
    source = JsonLines((first, second))
    assert [source.locate(position) for position in range(3)] == [f"{first}:1", f"{first}:3", f"{second}:2"]
