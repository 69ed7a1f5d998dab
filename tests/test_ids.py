import re

from hypothesis import given
from hypothesis import strategies as st

from autoindex_pyserini.ids import DELIMITER, decode, encode, follows_order, passage_ids

DOCIDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(DOCIDS)
def test_every_docid_comes_back(docid: str) -> None:
    assert decode(encode(docid)) == docid
    assert all(decode(one) == docid for one in passage_ids(docid, 3))


@given(DOCIDS)
def test_an_id_breaks_no_run_file_and_holds_the_delimiter_only_as_one(docid: str) -> None:
    encoded = encode(docid)
    assert not re.search(r"[\s,]", encoded)
    assert DELIMITER not in encoded
    assert encoded.split() == [encoded]
    assert all(one.count(DELIMITER) == 1 for one in passage_ids(docid, 2))


@given(DOCIDS, DOCIDS)
def test_different_docids_have_different_ids(left: str, right: str) -> None:
    assert (encode(left) == encode(right)) == (left == right)


def test_plain_docids_stay_as_they_are() -> None:
    assert passage_ids("CACM-0001", 1) == ["CACM-0001"]
    assert passage_ids("a/b é", 2) == ["a/b%20é#0", "a/b%20é#1"]


NEAR = st.text(st.sampled_from("\x00 !\"#$%&',-0Aa~\x7f\u200b\u00e4"), min_size=1, max_size=4)


@given(NEAR, NEAR, st.sampled_from([1, 2]), st.sampled_from([1, 2]))
def test_a_docid_that_follows_the_order_comes_after_no_later_passage(
    early: str, late: str, some: int, others: int
) -> None:
    early, late = sorted((early, late))
    if follows_order(late) and early != late:
        assert max(passage_ids(early, some)) < min(passage_ids(late, others))
