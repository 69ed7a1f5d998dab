"""The collection in numbers, and the evidence of failing queries."""

from __future__ import annotations

import msgspec
import pytest

from autoindex_pyserini.agents import CollectionProfile, evidence, profile
from autoindex_pyserini.agents import profile as function
from autoindex_pyserini.agents.evidence import stems
from autoindex_pyserini.agents.profile import TRACKED, kind_of
from autoindex_pyserini.types import Document

from .proposer_contract import DOCUMENTS


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("orders a list without a copy", "text"),
        ("Perlis, A. J.; Samelson,K.", "label"),
        ("Notebook", "label"),
        ("dv7-1211ea", "id"),
        ("CACM-0043 CACM-0053", "id"),
        ("CA581203 JB March 22, 1978 8:28 PM", "id"),
        ("12.5 x 3", "number"),
        ("2018-03-12", "date"),
        ("December, 1958", "date"),
        ("https://example.org/a", "url"),
        ("<p>Some words</p>", "markup"),
        ("True", "flag"),
        ("", "number"),
    ],
)
def test_kinds_of_values(value: str, kind: str) -> None:
    if value:
        assert kind_of(value) == kind
    else:
        assert kind_of(value)


def test_a_small_collection() -> None:
    found = profile(iter(DOCUMENTS))
    assert found.num_documents == len(DOCUMENTS)
    assert found.title_fill_rate == found.text_fill_rate == found.latex_rate == found.markup_rate == 1.0
    assert found.multi_paragraph_rate == found.title_identifier_rate == 1.0
    assert found.latex_spans == 1.0
    assert {heading.name for heading in found.headings} == {"Parameters", "SEE ALSO"}
    fields = {field.name: field for field in found.fields}
    assert fields["summary"].kind == "text" and fields["summary"].contained_rate < 0.5
    assert fields["date"].kind == "date" and fields["date"].distinct == 1
    assert [(group.name, group.members, group.fill_rate) for group in found.groups] == [
        ("attr_*", 3, 1.0),
        ("attr_t_*", 3, 1.0),
    ]
    assert found.fields_seen == 5


def test_an_empty_collection_is_the_default_profile() -> None:
    assert profile([]) == CollectionProfile()


def test_blank_values_do_not_fill_a_field() -> None:
    documents = [Document("a", "t", "x", {"f": " ", "g": "word"}), Document("b", "", "", {"g": ""})]
    found = profile(documents)
    assert [(field.name, field.fill_rate) for field in found.fields] == [("g", 0.5)]
    assert found.title_fill_rate == 0.5


def test_memory_stays_bounded_and_common_fields_are_kept() -> None:
    documents = (
        Document(str(at), "t", "x", {"common": "a few words here", f"rare{at}": "v"})
        for at in range(5 * TRACKED)
    )
    found = profile(documents)
    assert found.fields_seen <= 2 * TRACKED
    assert found.fields[0].name == "common" and found.fields[0].fill_rate == 1.0


def test_the_profile_does_not_hold_the_documents_apart_by_hash() -> None:
    assert function(DOCUMENTS) == function(DOCUMENTS)
    assert msgspec.json.decode(msgspec.json.encode(function(DOCUMENTS)), type=CollectionProfile) == function(
        DOCUMENTS
    )


def test_evidence_tells_what_a_field_would_add() -> None:
    doc = Document("d", "sort_values", "Orders rows.\n\nIn place.", {"tags": "sorting tables", "other": "x"})
    found = {
        entry.name: entry for entry in evidence([("sort the tables", doc, ["sort_values", "Orders rows."])])
    }
    assert found["tags"].missing == 1.0
    assert found["tags"].helped == 1
    assert found["title"].present == 0.0
    assert found["identifier_parts"].missing == 0.5
    assert found["other"].present == found["other"].missing == 0.0
    assert found["first_paragraph"].mean_words == 2


def test_evidence_is_ordered_and_means_are_over_the_pairs_that_have_the_part() -> None:
    docs = [Document("a", "", "alpha", {"f": "beta"}), Document("b", "", "alpha", {})]
    found = evidence([("alpha beta", doc, [doc.text]) for doc in docs])
    assert [entry.name for entry in found] == ["f", "lead", "text"]
    assert (found[0].pairs, found[0].missing) == (1, 0.5)
    assert (found[2].pairs, found[2].present, found[2].missing) == (2, 0.5, 0.0)


def test_evidence_of_nothing() -> None:
    assert evidence([]) == ()
    assert evidence([("the of", DOCUMENTS[0], [])]) == ()


def test_stems_match_across_endings() -> None:
    assert stems("Sorting sorted sorts") == stems("sort") | {"sort"}
    assert stems("the of") == set()
    assert stems("np.sort read_csv") == {"np.sort", "read_csv"}
