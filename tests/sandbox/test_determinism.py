"""The sample that is run again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autoindex_pyserini.sandbox import Sample
from autoindex_pyserini.types import Document, Passage, Represented


def documents(count: int) -> list[Document]:
    return [Document(f"d{n}", f"title {n}", "") for n in range(count)]


def sample(count: int, size: int, step: int, ahead: int = 0, seed: int = 0) -> Sample:
    """A sample of a stream whose results come in lists of `step`, `ahead` documents after they were read."""
    chosen = Sample(size, seed)
    read: list[Document] = []
    noted = 0
    for document in chosen.watch(documents(count)):
        read.append(document)
        if len(read) >= noted + step + ahead:
            chosen.note([Represented(d.docid, [Passage(d.title)]) for d in read[noted : noted + step]])
            noted += step
    chosen.note([Represented(d.docid, [Passage(d.title)]) for d in read[noted:]])
    return chosen


@given(st.integers(0, 300), st.integers(1, 40), st.integers(1, 50), st.integers(0, 100))
def test_the_sample_has_the_right_size_and_pairs_by_position(
    count: int, size: int, step: int, ahead: int
) -> None:
    chosen = sample(count, size, step, ahead).sampled()
    assert len(chosen) == min(count, size)
    positions = [one.position for one in chosen]
    assert positions == sorted(set(positions))
    for one in chosen:
        assert one.document.docid == f"d{one.position}"
        assert one.passages == [Passage(f"title {one.position}")]


@given(st.integers(1, 50), st.integers(0, 100))
def test_the_sample_does_not_depend_on_how_results_arrive(step: int, ahead: int) -> None:
    assert sample(200, 10, step, ahead).sampled() == sample(200, 10, 1).sampled()


def test_every_part_of_the_stream_is_sampled() -> None:
    found = [one.position for seed in range(200) for one in sample(100, 5, 10, seed=seed).sampled()]
    assert all(50 < sum(begin <= p < begin + 10 for p in found) < 150 for begin in range(0, 100, 10))
