"""The brief as text: what it says agrees with the settings and the code that it is made from."""

import inspect

import pytest
from msgspec.structs import replace

from autoindex_pyserini.agents import Brief, Case, CollectionProfile, FieldEvidence, FieldProfile, Trial
from autoindex_pyserini.agents.briefing import (
    CASE_KINDS,
    briefing,
    cases_text,
    contract_text,
    fenced,
    history_text,
    profile_text,
    retriever_text,
)
from autoindex_pyserini.program import Program, operators
from autoindex_pyserini.settings import Limits, Retriever

START = Trial(Program.builtin("full_text"), means={"R@100": 0.5, "nDCG@10": 0.3}, accepted=True)
CHILD = Trial(
    Program('"""Twice."""\nTIMES = 2\ndef represent(doc):\n    yield doc.text * TIMES\n'),
    parent=START.program.id,
    round=1,
    hypothesis="more weight",
    means={"R@100": 0.5, "nDCG@10": 0.4},
    deltas={"R@100": 0.0, "nDCG@10": 0.1},
    fixed=3,
    broken=1,
)
FAILED = replace(
    CHILD, program=Program("def represent(doc): 1/0"), fault="line 1: ZeroDivisionError", means={}
)
BRIEF = Brief(
    CollectionProfile(
        num_documents=1234, fields=(FieldProfile("lang", 0.5, 2, 1, 3, "label", 0.1, ("en",)),)
    ),
    START,
    (START, CHILD, FAILED),
    num_validation_queries=40,
    evidence=(FieldEvidence("lang", 7, 0.25, 0.125, 4, 1.0),),
    notes=("program 2 equals an earlier one",),
)
CASES = [Case("anchor", "a query", "D7", None, 3, ("D1", "D2")), Case("small_margin", "other", "D9", 2, 2)]


def test_every_section_is_there_and_history_can_be_left_out() -> None:
    text = briefing(BRIEF, CASES, Retriever())
    for part in ("## The contract", "k1=1.5", "1,234 documents", START.program.source.rstrip(), "`D7`"):
        assert part in text
    assert "program 2 equals an earlier one" in text
    assert "| `lang` | 7 | 25.0% | 12.5% | 4 | 1 |" in text
    assert CHILD.program.id in text
    assert CHILD.program.id not in briefing(BRIEF, CASES, Retriever(), history=False)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(max_passages=3), "From 1 to 3 passages"),
        (Limits(max_growth=2.5), "2.5 times"),
        (Limits(allowed_imports=("json",)), "Imports: `json`."),
        (Limits(document_timeout_s=0.5), "0.5 s for a document"),
    ],
)
def test_the_contract_follows_the_limits(limits: Limits, said: str) -> None:
    assert said in contract_text(limits)


def test_operators_are_all_listed_where_they_may_be_imported() -> None:
    named = [
        name
        for name, value in vars(operators).items()
        if inspect.isfunction(value) and value.__module__ == operators.__name__ and name[0] != "_"
    ]
    text = contract_text(Limits())
    assert len(named) > 20
    for name in named:
        assert f"- `{name}(" in text
    assert "identifier_parts" not in contract_text(Limits(allowed_imports=("re",)))


def test_the_retriever_follows_the_settings() -> None:
    text = retriever_text(replace(BRIEF, measures=("AP",), objective="AP"), Retriever(0.9, 0.4, depth=50))
    assert "k1=0.9 and b=0.4" in text
    assert "best 50 documents" in text
    assert "stemmer porter" in text
    assert "Average Precision" in text
    assert "worth 0.0250" in text


def test_history_tells_what_changed_and_what_came_of_it() -> None:
    text = history_text(BRIEF.history)
    assert "added `TIMES`; changed `represent`" in text
    assert "nDCG@10 0.4000 (+0.1000); 3 queries fixed, 1 broken" in text
    assert "hypothesis: more weight" in text
    assert "failed\n  - fault: line 1: ZeroDivisionError" in text
    assert text.index(START.program.id) < text.index(CHILD.program.id) < text.index(FAILED.program.id)
    assert history_text(()) == ""


def test_cases_stand_by_their_kind() -> None:
    text = cases_text(CASES)
    assert CASE_KINDS["anchor"] in text
    assert CASE_KINDS["recall_violation"] not in text
    assert "'a query': relevant `D7`, not retrieved (first program: rank 3); above it: `D1`, `D2`" in text
    assert cases_text(()) == ""


def test_a_field_is_described() -> None:
    assert "- `lang`: label, in 50.0% of documents" in profile_text(BRIEF.profile)


def test_no_program_closes_its_fence() -> None:
    assert fenced('x = "```"').startswith("````python\n")
