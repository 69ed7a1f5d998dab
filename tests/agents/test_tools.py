"""Tools: bounded, the same each time, without docids, and never an exception for a model's mistake."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autoindex_pyserini.agents.answers import MOST_CHARS, bounded
from autoindex_pyserini.agents.tools import TOOLS, Toolbox
from autoindex_pyserini.lucene import IndexBuilder, IndexOptions
from autoindex_pyserini.lucene.explain import Explainer
from autoindex_pyserini.pipeline import DocumentStore, IndexView
from autoindex_pyserini.settings import Retriever
from autoindex_pyserini.types import Document, Passage, Represented

WORDS = ["index", "search", "lucene", "passage", "field", "weight", "query", "term", "score", "merge"]
LONG = "word after word " * 2000


def made_up() -> list[Document]:
    chance = random.Random(5)
    documents = [
        Document(
            f"secret{number}#/x y",
            f"Title {number} {chance.choice(WORDS)}",
            " ".join(chance.choices(WORDS, k=60)) + "\n\nEnd",
            {"keywords": f"zebra{number}", "note": "to be"},
        )
        for number in range(40)
    ]
    documents.append(Document("secret-long", "A long one", LONG, {f"f{n}": "value " * 90 for n in range(80)}))
    documents.append(Document("secret-content", "Own name", "I am secret-content, I say", {}))
    documents.append(Document("secret-empty", "", "", {}))
    return documents


def build(folder: Path) -> IndexView:
    """Two passages of each document: everything but the fields, and the title."""
    documents = made_up()
    DocumentStore.write(folder / "store", documents, fingerprint="ab" * 32, count=len(documents))
    with IndexBuilder(folder / "index", IndexOptions(store_raw=True)) as builder:
        builder.add(
            Represented(
                one.docid, [Passage(f"{one.title}\n{one.text}".strip() or "."), Passage(one.title or ".")]
            )
            for one in documents
        )
    store = DocumentStore(folder / "store")
    retriever = Retriever(depth=20)
    return IndexView(store, Explainer(folder / "index", retriever), retriever.depth, folder / "index")


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexView]:
    with build(tmp_path_factory.mktemp("view")) as view:
        yield view


def ask(view: IndexView, tool: str, **arguments: object) -> str:
    return Toolbox(view).call(tool, arguments)


def example(view: IndexView) -> dict[str, dict[str, object]]:
    """A call of every tool."""
    refs = [view.reference("secret3#/x y"), view.reference("secret4#/x y")]
    return {
        "bm25_retrieve": {"query": "merging lucene", "k": 12},
        "read_document": {"ref": refs[0]},
        "grep_collection": {"pattern": "zebra1"},
        "explain": {"query": "merging the lucene zebra3 title", "ref": refs[0]},
        "term_stats": {"term": "the searching"},
        "passages_of": {"ref": refs[0]},
        "compare": {"query": "merging lucene zebra3", "ref_a": refs[0], "ref_b": refs[1]},
    }


def test_every_tool_is_described_and_answers(view: IndexView) -> None:
    calls = example(view)
    assert [tool.name for tool in TOOLS] == list(calls)
    for tool in TOOLS:
        assert tool.description
        assert tool.parameters["type"] == "object"
        assert set(tool.parameters["required"]) <= set(calls[tool.name]) <= set(tool.parameters["properties"])
        assert all(schema["description"] for schema in tool.parameters["properties"].values())
        answer = ask(view, tool.name, **calls[tool.name])
        assert len(answer.splitlines()) > 1, answer
        assert answer == ask(view, tool.name, **calls[tool.name])


def test_a_ranking_shows_documents_and_what_matched(view: IndexView) -> None:
    answer = ask(view, "bm25_retrieve", query="merging lucene zebra", k=12)
    ranks = re.findall(r"^ *(\d+)\. (D-\w+)  ([\d.]+)  (.*)$", answer, re.MULTILINE)
    wanted = view.ranking("merging lucene zebra")[:12]
    assert [(int(rank), ref, score) for rank, ref, score, _ in ranks] == [
        (hit.rank, hit.reference, f"{hit.score:.4f}") for hit in wanted
    ]
    assert [title for *_, title in ranks] == [view.document(hit.reference).title for hit in wanted]
    assert "query terms: merg lucen zebra" in answer
    assert re.search(r"2 of 3 terms: \w+ \w+; passage 0 of 2", answer)


def test_an_explanation_adds_up_and_finds_what_is_not_indexed(view: IndexView) -> None:
    reference = view.reference("secret3#/x y")
    answer = ask(view, "explain", query="lucene zebra3 unheard", ref=reference.lower())
    score = float(re.search(r"score ([\d.]+)", answer)[1])  # type: ignore[index]
    rows = re.findall(r"^lucen .* ([\d.]+)$", answer, re.MULTILINE)
    assert score == pytest.approx(sum(map(float, rows)), abs=2e-4)
    assert re.search(r"zebra3 \(idf [\d.]+, in no passage of the index\): in field keywords", answer)
    assert re.search(r"unheard \(.*\): nowhere in the raw document", answer)


def test_an_explanation_says_what_the_last_of_the_retrieved_scores(view: IndexView) -> None:
    ranking = view.ranking("lucene")
    refs = {view.reference(document.docid) for document in made_up()[:40]} - {
        hit.reference for hit in ranking
    }
    answer = ask(view, "explain", query="lucene", ref=min(refs))
    assert f"not among the first 20; the last of them scores {ranking[-1].score:.4f}" in answer
    assert f"rank 7 of {len(ranking)}" in ask(view, "explain", query="lucene", ref=ranking[6].reference)


def test_a_comparison_adds_up(view: IndexView) -> None:
    first, second = view.ranking("merge lucene index")[:2]
    answer = ask(
        view, "compare", query="merge lucene index zebra", ref_a=first.reference, ref_b=second.reference
    )
    found = re.search(r"^sum +([\d.]+) +([\d.]+) +([+-][\d.]+)$", answer, re.MULTILINE)
    assert found
    assert float(found[1]) == pytest.approx(first.score, abs=1e-3)
    assert float(found[2]) == pytest.approx(second.score, abs=1e-3)
    rows = re.findall(r"^(?:merg|lucen|index) .* ([+-][\d.]+)$", answer, re.MULTILINE)
    assert sum(map(float, rows)) == pytest.approx(float(found[3]), abs=1e-3)
    assert "in neither: zebra" in answer


def test_terms_are_told_as_the_index_has_them(view: IndexView) -> None:
    answer = ask(view, "term_stats", term="the searching zebras")
    assert "becomes: search zebra" in answer
    assert re.search(
        r"^search: in \d+ passages \([\d.]+%\), \d+ occurrences, idf [\d.]+$", answer, re.MULTILINE
    )
    assert "zebra: in no passage" in answer
    for text in ("the", "?!", " "):
        assert "makes no term of" in ask(view, "term_stats", term=text)
        assert "makes no term of" in ask(view, "bm25_retrieve", query=text)


def test_a_long_document_is_read_piece_by_piece(view: IndexView) -> None:
    reference, text, start = view.reference("secret-long"), "", 0
    for _ in range(100):
        answer = ask(view, "read_document", ref=reference, max_chars=6000, start=start)
        assert len(answer) <= MOST_CHARS
        text += re.search(r"^text: (.*?)\n(?:\[cut here|fields:)", answer, re.DOTALL | re.MULTILINE)[1]  # type: ignore[index]
        more = re.search(r"read on with start=(\d+)", answer)
        if more is None or int(more[1]) == start or int(more[1]) >= len(LONG):
            break
        start = int(more[1])
    assert text == LONG
    assert "lines do not fit" in answer


def test_passages_are_shown_and_cut(view: IndexView) -> None:
    answer = ask(view, "passages_of", ref=view.reference("secret-long"))
    assert "2 passages" in answer
    assert "--- passage 1: 2 terms, 10 characters\nA long one" in answer
    assert re.search(r"\[cut here: [\d,]+ more characters\]", answer)


def test_all_matches_are_counted_and_some_shown(view: IndexView) -> None:
    answer = ask(view, "grep_collection", pattern="zebra1", max_results=2)
    assert "11 of 43 documents match (25.58%), 11 matches in all" in answer
    assert "documents by part: keywords 11" in answer
    assert answer.count("»zebra1") == 2
    assert "[shown: the first 2 documents of 11]" in answer
    assert "no match in 43 documents" in ask(view, "grep_collection", pattern="Zebra")


@pytest.mark.parametrize(
    ("tool", "arguments", "hint"),
    [
        ("grep", {}, "use one of: bm25_retrieve, read_document"),
        ("", {}, "unknown tool"),
        ("x" * 9000, {}, "unknown tool"),
        ("bm25_retrieve", {}, "missing required field `query`; use bm25_retrieve(query: str, k: int = 10)"),
        ("bm25_retrieve", {"query": ""}, "length >= 1"),
        ("bm25_retrieve", {"query": ["a"]}, "Expected `str`, got `array` - at `$.query`"),
        ("bm25_retrieve", {"query": "a", "k": 0}, "`int` >= 1 - at `$.k`"),
        ("bm25_retrieve", {"query": "a", "k": 10**30}, "at `$.k`"),
        ("bm25_retrieve", {"query": "a", "k": "many"}, "Expected `int`"),
        ("bm25_retrieve", {"query": "a", "limit": 3}, "unknown field `limit`"),
        ("bm25_retrieve", {3: "a"}, "use bm25_retrieve("),
        ("bm25_retrieve", "query", "use bm25_retrieve("),
        ("bm25_retrieve", None, "use bm25_retrieve("),
        ("explain", {"query": "lucene", "ref": "D-AAAAAA"}, "no document has the reference 'D-AAAAAA'"),
        ("explain", {"query": "lucene", "ref": "secret3#/x y"}, "no document has the reference"),
        ("compare", {"query": "lucene", "ref_a": "D-AAAAAA", "ref_b": "x"}, "no document has the reference"),
        ("read_document", {"ref": "../../etc/passwd"}, "no document has the reference"),
        ("passages_of", {"ref": "\ud800\x00"}, "no document has the reference"),
        ("grep_collection", {"pattern": "(a"}, "the pattern cannot be used"),
        ("term_stats", {"term": None}, "missing required field `term`"),
    ],
)
def test_mistakes_are_answered_in_one_line(tool: str, arguments: object, hint: str, view: IndexView) -> None:
    answer = Toolbox(view).call(tool, arguments)  # type: ignore[arg-type]
    assert hint in answer
    assert "\n" not in answer
    assert len(answer) < 400


def test_numbers_may_be_texts_and_none_counts_as_left_out(view: IndexView) -> None:
    whole = ask(view, "bm25_retrieve", query="lucene", k=10)
    assert ask(view, "bm25_retrieve", query="lucene", k="10") == whole
    assert ask(view, "bm25_retrieve", query="lucene", k=None) == whole
    assert ask(view, "bm25_retrieve", query="lucene", k=10.0) == whole


def test_a_query_that_lucene_refuses_is_answered(view: IndexView) -> None:
    from autoindex_pyserini.lucene.jvm import java_class
    from autoindex_pyserini.lucene.search import MAX_CLAUSES

    searchers = java_class("org.apache.lucene.search.IndexSearcher")
    searchers.setMaxClauseCount(2)
    try:
        answers = [
            ask(view, "bm25_retrieve", query="one two three"),
            ask(view, "explain", query="one two three", ref=view.reference("secret-empty")),
            ask(
                view, "compare", query="one two three", ref_a=view.reference("secret-empty"),
                ref_b=view.reference("secret-long"),
            ),
        ]  # fmt: skip
    finally:
        searchers.setMaxClauseCount(MAX_CLAUSES)
    for answer in answers:
        assert "queries failed" in answer
        assert "\n" not in answer


VALUES = st.one_of(
    st.text(max_size=60),
    st.integers(),
    st.none(),
    st.floats(),
    st.booleans(),
    st.lists(st.integers(), max_size=2),
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_nothing_raises_and_everything_is_bounded(data: st.DataObject, view: IndexView) -> None:
    tool = data.draw(st.sampled_from(TOOLS))
    refs = st.sampled_from([view.reference(one.docid) for one in made_up()[-5:]])
    drawn: dict[str, object] = {}
    for name in tool.parameters["properties"]:
        good = refs if name.startswith("ref") else VALUES
        if data.draw(st.integers(0, 9)):
            drawn[name] = data.draw(st.one_of(good, st.sampled_from(["lucene index", "a.*", 5]), VALUES))
    answer = Toolbox(view).call(tool.name, drawn)
    assert 0 < len(answer) <= MOST_CHARS
    answer.encode()
    assert not re.search(r"secret\d", answer.replace(str(drawn.get("query")), ""))


def test_no_docid_appears_but_as_content(view: IndexView) -> None:
    for document in made_up():
        reference = view.reference(document.docid)
        for tool, arguments in example(view).items():
            given = {
                name: reference if name.startswith("ref") else value for name, value in arguments.items()
            }
            answer = ask(view, tool, **given)
            assert "#/x y" not in answer
            assert "%23" not in answer
            assert "secret-long" not in answer
            if document.docid == "secret-content" and tool == "read_document":
                assert "I am secret-content, I say" in answer


def test_another_process_answers_the_same(view: IndexView, tmp_path: Path) -> None:
    code = (
        "import sys, json; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "import test_tools as t\n"
        "view = t.build(Path(sys.argv[2]))\n"
        "print(json.dumps([t.ask(view, tool, **given) for tool, given in t.example(view).items()]))"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path / "view")]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(told.stdout) == [ask(view, tool, **given) for tool, given in example(view).items()]


def test_lines_that_do_not_fit_are_counted() -> None:
    assert bounded(["a", "b"]) == "a\nb"
    cut = bounded([f"line {number}" for number in range(2000)])
    assert len(cut) <= MOST_CHARS
    shown = cut.splitlines()
    assert shown[-1] == f"[cut here: {2000 - len(shown) + 1} of 2000 lines do not fit in 6,000 characters]"
    assert len(bounded(["x" * 10_000, "y"])) <= MOST_CHARS
