"""Which queries may be seen."""

from hypothesis import given, settings
from hypothesis import strategies as st

from autoindex_pyserini.collection.splits import TEST, VALIDATION, normalised, split_by_hash
from autoindex_pyserini.types import Topic

TOPICS = [Topic(str(number), f"how is {number} done") for number in range(3000)]


def test_one_to_two():
    sides = list(split_by_hash(TOPICS).values())
    assert 900 < sides.count(VALIDATION) < 1100
    assert sides.count(VALIDATION) + sides.count(TEST) == 3000


def test_the_ratio_is_followed():
    assert 1400 < list(split_by_hash(TOPICS, ratio=(1, 1)).values()).count(VALIDATION) < 1600


def test_another_seed_is_another_split():
    assert split_by_hash(TOPICS, seed=1) == split_by_hash(TOPICS, seed=1)
    assert split_by_hash(TOPICS, seed=1) != split_by_hash(TOPICS, seed=2)


def test_the_split_is_the_same_everywhere():
    """The first digits of ``printf '3\\nalpha' | sha256sum`` and so on; 5555... is a third."""
    few = {"alpha": "304d", "beta": "2fc2", "gamma": "b9ae", "delta": "ffcf", "epsilon": "421e"}
    sides = split_by_hash([Topic(text, text.upper()) for text in few], seed=3)
    assert sides == {text: VALIDATION if digits < "5555" else TEST for text, digits in few.items()}


@settings(max_examples=50)
@given(gone=st.sets(st.integers(0, 99), max_size=40), seed=st.integers())
def test_a_query_does_not_move_when_others_go(gone, seed):
    every = split_by_hash(TOPICS[:100], seed=seed)
    some = split_by_hash([topic for topic in TOPICS[:100] if int(topic.qid) not in gone], seed=seed)
    assert some == {qid: every[qid] for qid in some}


def test_near_duplicates_stay_together():
    variants = ["What is BM25?", "what is bm25", " WHAT  IS\tBM25 !", "what-is: bm25"]
    for seed in range(20):
        sides = split_by_hash([*(Topic(text, text) for text in variants), *TOPICS[:50]], seed=seed)
        assert len({sides[text] for text in variants}) == 1


@given(texts=st.sets(st.text("abc", min_size=1), min_size=2), seed=st.integers(0, 99))
def test_neither_side_is_ever_empty(texts, seed):
    sides = split_by_hash([Topic(text, text) for text in texts], seed=seed)
    assert set(sides.values()) == {VALIDATION, TEST}


def test_normalised():
    assert normalised("  The `FFT`, of\nx_1 -- naïve \uff21\uff22! ") == "the fft of x 1 naïve ab"
    assert normalised("Straße") == normalised("STRASSE")
    assert normalised("???") == "???"
