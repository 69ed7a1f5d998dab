from __future__ import annotations

import msgspec
import pytest

from autoindex_pyserini.agents import (
    Brief,
    OperatorProposer,
    Proposer,
    ProposerError,
    Trial,
    evidence,
    profile,
)
from autoindex_pyserini.agents.moves import FAMILY_OF, OPERATORS, moves
from autoindex_pyserini.agents.parse import parse, recipe_of
from autoindex_pyserini.agents.recipe import Recipe
from autoindex_pyserini.agents.render import render
from autoindex_pyserini.program import Program
from autoindex_pyserini.program.contract import RawDocument
from autoindex_pyserini.settings import Limits
from autoindex_pyserini.types import Document

from .proposer_contract import DOCUMENTS, ODD_DOCUMENTS, ProposerContract, brief_after, proposed, run


class TestOperatorProposer(ProposerContract):
    @pytest.fixture(params=[0, 7])
    def proposer(self, request: pytest.FixtureRequest) -> Proposer:
        return OperatorProposer(request.param)


def first_brief(documents: list[Document] = DOCUMENTS) -> Brief:
    return brief_after(OperatorProposer(), 0, profile(documents))


def after(brief: Brief, recipe: Recipe, **deltas: float) -> Trial:
    named = {name.replace("_at_", "@"): value for name, value in deltas.items()}
    return Trial(
        Program(render(recipe)),
        brief.incumbent.program.id,
        1,
        means={name: brief.incumbent.means[name] + delta for name, delta in named.items()},
        deltas=named,
        accepted=named.get("R@100", 0.0) > 0,
    )


def test_every_operator_has_a_move_on_a_collection_that_has_everything() -> None:
    long = [msgspec.structs.replace(doc, text=f"{doc.text}\n{'word ' * 600}") for doc in DOCUMENTS]
    telling = [msgspec.structs.replace(doc, text=f"{doc.text}\nDESCRIPTION\nIt sorts.\n") for doc in long]
    found = {move.operator for move in moves(Recipe(title_times=3, lead_words=20), first_brief(telling))}
    assert found == set(OPERATORS)


def test_moves_are_single_steps_within_the_limits() -> None:
    brief = first_brief()
    start = Recipe(title_times=3, added_fields=(("summary", 1),))
    narrow = msgspec.structs.replace(brief, limits=Limits(max_passages=2))
    for move in moves(start, narrow):
        assert move.recipe != start
        assert move.prior > 0
        assert move.recipe.single_passages <= 2
        assert not move.recipe.window_words


def test_a_plain_collection_gets_no_operator_for_what_it_lacks() -> None:
    plain = [Document(str(at), "", f"some words about matter {at} and more of it " * 8) for at in range(20)]
    found = {move.operator for move in moves(Recipe(), first_brief(plain))}
    assert not found & {
        "repeat_title",
        "add_field",
        "strip_latex",
        "drop_code",
        "strip_markup",
        "split_identifiers",
    }
    assert not found & {"title_passage", "summary_passage", "drop_section", "opening_passage"}


def test_dates_flags_and_constants_are_not_proposed_as_fields() -> None:
    documents = [
        msgspec.structs.replace(
            doc, fields={"date": "2024-01-02", "flag": "yes", "language": "python", "url": f"http://a.b/{at}"}
        )
        for at, doc in enumerate(DOCUMENTS)
    ]
    assert not {"add_field", "summary_passage"} & {
        move.operator for move in moves(Recipe(), first_brief(documents))
    }


def test_the_first_round_takes_one_of_each_family() -> None:
    proposals = proposed(OperatorProposer(), first_brief(), 4)
    families = [FAMILY_OF[proposal.operators[0]] for proposal in proposals]
    assert len(proposals) == len(set(families)) == 4


def test_evidence_puts_the_field_that_helps_first() -> None:
    failures = [("without copy", doc, [doc.title, doc.text]) for doc in DOCUMENTS]
    brief = msgspec.structs.replace(first_brief(), evidence=evidence(failures))
    fields = [move for move in moves(Recipe(), brief) if move.operator == "add_field"]
    best = max(fields, key=lambda move: move.prior)
    assert best.recipe.added_fields == (("summary", 1),)
    assert "11 failing queries" in best.hypothesis


def test_what_paid_is_refined_and_what_failed_gives_way() -> None:
    brief = first_brief()
    good = after(brief, Recipe(opening_paragraphs=1), R_at_100=0.02)
    bad = [after(brief, Recipe(title_times=times), R_at_100=-0.02) for times in (2, 3)]
    later = msgspec.structs.replace(brief, incumbent=good, history=(brief.incumbent, good, *bad), round=2)
    operators = [proposal.operators[0] for proposal in proposed(OperatorProposer(), later, 6)]
    assert "opening_passage" in operators
    assert "repeat_title" not in operators


def test_near_misses_are_tried_together() -> None:
    brief = first_brief()
    misses = [
        after(brief, Recipe(title_times=3), R_at_100=0.0, nDCG_at_10=0.008),
        after(brief, Recipe(added_fields=(("summary", 1),)), R_at_100=0.0, nDCG_at_10=0.009),
    ]
    later = msgspec.structs.replace(brief, history=(brief.incumbent, *misses), round=2)
    proposals = proposed(OperatorProposer(), later, 4)
    assert Recipe(title_times=3, added_fields=(("summary", 1),)) in [
        parse(p.program.source) for p in proposals
    ]
    assert ("repeat_title", "add_field") in [p.operators for p in proposals]


def test_a_rival_is_led_on_by_other_mechanisms() -> None:
    brief = first_brief()
    best = after(brief, Recipe(identifiers=True), R_at_100=0.01, nDCG_at_10=0.0)
    rival = after(brief, Recipe(opening_paragraphs=1), R_at_100=0.009, nDCG_at_10=0.05)
    later = msgspec.structs.replace(brief, incumbent=best, history=(brief.incumbent, best, rival), round=2)
    found = [parse(proposal.program.source) for proposal in proposed(OperatorProposer(), later, 4)]
    led_on = [recipe for recipe in found if recipe and recipe.opening_paragraphs and not recipe.identifiers]
    assert 1 <= len(led_on) <= 2
    assert all(recipe.single_passages == 2 for recipe in led_on)


def test_combination_unites_and_the_larger_gain_decides() -> None:
    brief = first_brief()
    passed = [
        after(brief, Recipe(title_times=2, opening_paragraphs=1), R_at_100=0.01),
        after(brief, Recipe(title_times=5, added_fields=(("summary", 1),)), R_at_100=0.02),
    ]
    (merged,) = OperatorProposer().combine(brief, passed).proposals
    assert parse(merged.program.source) == Recipe(
        title_times=5, opening_paragraphs=1, added_fields=(("summary", 1),)
    )
    assert set(merged.operators) == {"repeat_title", "opening_passage", "add_field"}


def test_combining_what_is_the_same_gives_nothing() -> None:
    brief = first_brief()
    passed = [
        after(brief, Recipe(title_times=2), R_at_100=0.01),
        after(brief, Recipe(title_times=3), R_at_100=0.02),
    ]
    assert not OperatorProposer().combine(brief, passed).proposals


def test_a_foreign_incumbent_is_built_upon() -> None:
    brief = brief_after(OperatorProposer(), 2, profile(DOCUMENTS), first="first_passage_plus_full")
    proposals = proposed(OperatorProposer(), brief, 6)
    assert proposals
    for proposal in proposals:
        assert "original_represent" in proposal.program.source
        for doc in ODD_DOCUMENTS:
            run(proposal.program.source, doc)


def test_what_is_built_upon_gives_its_passages_first() -> None:
    original = Program.builtin("first_passage_plus_full").source
    wrapped = render(msgspec.structs.replace(recipe_of(original), title_passage=True))
    doc = RawDocument(title="a title", text="One.\n\nTwo.", fields={})
    assert run(wrapped, doc) == [*run(original, doc), "a title"]


def test_an_incumbent_that_cannot_be_wrapped_is_a_named_error() -> None:
    source = "class Preprocessor:\n    def preprocess(self, docs):\n        return []\n"
    brief = msgspec.structs.replace(first_brief(), incumbent=Trial(Program(source)))
    with pytest.raises(ProposerError, match="no function 'represent"):
        proposed(OperatorProposer(), brief, 4)


def test_seeds_differ() -> None:
    brief = first_brief()
    chosen = {tuple(p.program.id for p in proposed(OperatorProposer(seed), brief, 4)) for seed in range(8)}
    assert len(chosen) > 1
