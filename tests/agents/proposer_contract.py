"""What every proposer keeps: a suite to inherit from.

A test module subclasses `ProposerContract` and gives the fixture `proposer`. The search that it is put
through is made up: a program's measures are drawn from its id, so that every kind of trial occurs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import msgspec
import pytest

from autoindex_pyserini.agents import (
    Brief,
    Case,
    CollectionProfile,
    FieldEvidence,
    Proposal,
    Proposer,
    Trial,
    evidence,
    profile,
)
from autoindex_pyserini.program import Program, check
from autoindex_pyserini.program.contract import CorpusStatistics, RawDocument, max_chars, raw_length
from autoindex_pyserini.settings import Limits
from autoindex_pyserini.types import Document, Passage

LIMITS = Limits()
CORPUS = CorpusStatistics(
    num_docs=50, avg_tokens=80.0, document_frequencies={"sorts": 2, "array": 9, "the": 0, "value": 30}
)


class NoBench:
    """A workbench for proposers that need none."""

    tools = ()

    def cases(self) -> tuple[Case, ...]:
        raise AssertionError("this proposer looks into no index")

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        raise AssertionError("this proposer looks into no index")


def proposed(proposer: Proposer, brief: Brief, count: int) -> tuple[Proposal, ...]:
    """What it proposes; the contract runs without an index."""
    return proposer.propose(brief, NoBench(), count).proposals


_TEXT = """Sorts the array_of_values in place. It is stable, and needs $n \\log n$ steps. It is fast. It ends.

<b>More</b> about :class:`numpy.ndarray` and [links](http://a.b). {filler}

Parameters
----------
array_of_values : list

>>> values = [2, 1]
>>> sortInPlace(values)
[1, 2]

SEE ALSO
sorted(1), heapq(3)
"""

DOCUMENTS = [
    Document(
        docid=f"d{at}",
        title=f"sortInPlace{at} of the array",
        text=_TEXT.format(filler=" ".join(f"filler{at * word}" for word in range(40 * at))),
        fields={
            "summary": f"orders number {at} without a copy",
            "date": "2024-01-02",
            "attr_t_colour": f"dark green {at}",
            "attr_t_material": f"old copper {at}",
            "attr_t_purpose": f"quick look {at}",
        },
    )
    for at in range(1, 12)
]
"""A collection in which every operator of the built-in proposer has something to do."""

ODD_DOCUMENTS = [
    RawDocument(title="", text="", fields={}),
    RawDocument(title="only a title", text="", fields={}),
    RawDocument(title="", text="only a text", fields={}),
    RawDocument(title=" \n ", text="\n\n\n", fields={"summary": " "}),
    RawDocument(title="aB_cD" * 400, text="", fields={}),
    RawDocument(title="", text="abCd.efGh_" * 4000, fields={}),
    RawDocument(
        title="$" * 50, text="$ \\[ \\begin{ ``` >>> <b <!-- &# ]( :a:`" * 50, fields={"summary": "\ud800"}
    ),
    RawDocument(title="İ\x00\u2028", text="\x0c日本語。" * 300, fields={"attr_t_x": "y"}),
    RawDocument(title="WORDS", text="SEE ALSO\n" * 300, fields={}),
    RawDocument(title="long", text="word " * 20_000, fields={}),
]


def run(source: str, doc: RawDocument, corpus: CorpusStatistics = CORPUS) -> list[str]:
    """Return the contents of a document's passages; the source is trusted, it is our own."""
    space: dict[str, Callable[..., Sequence[str | Passage]]] = {}
    exec(compile(source, "<program>", "exec"), space)
    arguments = (doc, corpus) if Program(source).wants_corpus else (doc,)
    found = list(space["represent"](*arguments))
    return [passage if isinstance(passage, str) else passage.contents for passage in found]


def brief_after(
    proposer: Proposer,
    rounds: int,
    about: CollectionProfile,
    found: tuple[FieldEvidence, ...] = (),
    first: str = "full_text",
) -> Brief:
    """Return the brief of the round after so many made-up rounds of four candidates."""
    start = Trial(Program.builtin(first), means={"R@100": 0.5, "nDCG@10": 0.3})
    brief = Brief(about, start, (start,), 1, rounds + 1, num_validation_queries=50, evidence=found)
    for number in range(1, rounds + 1):
        trials = [tried(proposal, brief) for proposal in proposed(proposer, brief, 4)]
        best = max(trials, key=lambda trial: trial.deltas.get("R@100", -1.0), default=brief.incumbent)
        brief = msgspec.structs.replace(
            brief,
            incumbent=best if best.accepted else brief.incumbent,
            history=(*brief.history, *trials),
            round=number + 1,
        )
    return brief


def tried(proposal: Proposal, brief: Brief) -> Trial:
    """Return a proposal's trial with measures drawn from the program's id."""
    chance = random.Random(proposal.program.id)
    if chance.random() < 0.1:
        return Trial(proposal.program, proposal.parent, brief.round, proposal.hypothesis, fault="it crashed")
    deltas = {"R@100": chance.choice([-0.02, 0.0, 0.01, 0.03]), "nDCG@10": chance.uniform(-0.02, 0.03)}
    means = {name: brief.incumbent.means[name] + delta for name, delta in deltas.items()}
    return Trial(
        proposal.program,
        proposal.parent,
        brief.round,
        proposal.hypothesis,
        means,
        deltas,
        accepted=deltas["R@100"] > 0,
    )


class ProposerContract:
    """Subclass this, and give the fixture `proposer`."""

    @pytest.fixture
    def proposer(self) -> Proposer:
        raise NotImplementedError

    @pytest.fixture(params=[0, 1, 3])
    def brief(self, request: pytest.FixtureRequest, proposer: Proposer) -> Brief:
        failures = [("sort without a copy in green", doc, [doc.title]) for doc in DOCUMENTS]
        return brief_after(proposer, request.param, profile(DOCUMENTS), evidence(failures))

    def test_proposals_keep_the_contract_of_programs(self, proposer: Proposer, brief: Brief) -> None:
        proposals = proposed(proposer, brief, 6)
        assert proposals
        for proposal in proposals:
            check(proposal.program, brief.limits)
            assert proposal.program.summary
            assert "represent" in proposal.program.components

    def test_proposals_say_why_and_from_where(self, proposer: Proposer, brief: Brief) -> None:
        for proposal in proposed(proposer, brief, 6):
            assert proposal.hypothesis.strip()
            assert "\n" not in proposal.hypothesis
            assert proposal.parent == brief.incumbent.program.id
            assert proposal.operators

    @pytest.mark.parametrize("count", [0, 1, 4, 200])
    def test_at_most_as_many_as_asked_for(self, proposer: Proposer, brief: Brief, count: int) -> None:
        assert len(proposed(proposer, brief, count)) <= count

    def test_nothing_is_proposed_twice(self, proposer: Proposer, brief: Brief) -> None:
        ids = [proposal.program.id for proposal in proposed(proposer, brief, 50)]
        assert len(set(ids)) == len(ids)
        assert not set(ids) & {trial.program.id for trial in brief.history}

    def test_the_brief_decides_alone(self, proposer: Proposer, brief: Brief) -> None:
        before = proposed(proposer, brief, 4)
        proposed(proposer, msgspec.structs.replace(brief, round=brief.round + 7), 4)
        assert proposed(proposer, brief, 4) == before

    def test_no_document_stops_a_proposed_program(self, proposer: Proposer, brief: Brief) -> None:
        for proposal in proposed(proposer, brief, 12):
            for doc in ODD_DOCUMENTS:
                found = run(proposal.program.source, doc)
                assert len(found) <= LIMITS.max_passages
                assert all(len(contents) <= max_chars(raw_length(doc), LIMITS) for contents in found)
                assert found == run(proposal.program.source, doc)

    def test_an_empty_collection_is_no_error(self, proposer: Proposer) -> None:
        brief = brief_after(proposer, 0, CollectionProfile())
        assert isinstance(proposed(proposer, brief, 4), tuple)

    def test_few_passages_allowed(self, proposer: Proposer, brief: Brief) -> None:
        narrow = msgspec.structs.replace(brief, limits=Limits(max_passages=1))
        if brief.round > 1:
            pytest.skip("the incumbent has more passages already")
        for proposal in proposed(proposer, narrow, 20):
            assert all(len(run(proposal.program.source, doc)) <= 1 for doc in ODD_DOCUMENTS)

    def test_what_passed_is_combined(self, proposer: Proposer, brief: Brief) -> None:
        passed = [
            msgspec.structs.replace(tried(proposal, brief), fault="", accepted=True, deltas={"R@100": 0.01})
            for proposal in proposed(proposer, brief, 3)
        ]
        later = msgspec.structs.replace(brief, history=(*brief.history, *passed))
        for merged in (proposer.combine(brief, passed), proposer.combine(later, passed)):
            assert merged == proposer.combine(brief, passed)
            assert len(merged.proposals) <= 1
            for proposal in merged.proposals:
                check(proposal.program, brief.limits)
                assert proposal.parent == brief.incumbent.program.id
                assert proposal.program.id not in {trial.program.id for trial in later.history}
                for doc in ODD_DOCUMENTS:
                    run(proposal.program.source, doc)

    def test_one_or_none_is_not_combined(self, proposer: Proposer, brief: Brief) -> None:
        one = tried(proposed(proposer, brief, 1)[0], brief)
        assert not proposer.combine(brief, []).proposals
        assert not proposer.combine(brief, [one]).proposals
