"""The workbench of a run: one index at a time, removed in the end; its tools lead to no judgments."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from autoindex_pyserini.agents import Trial
from autoindex_pyserini.agents.tools import Toolbox
from autoindex_pyserini.collection import Collection, load
from autoindex_pyserini.optimize import RunDirectory
from autoindex_pyserini.optimize.desk import Desk
from autoindex_pyserini.pipeline import Pipeline
from autoindex_pyserini.program import Program
from autoindex_pyserini.settings import Execution, Settings

START = Program.builtin("full_text")
TITLES = Program(
    '"""Titles alone, twice."""\ndef represent(doc):\n    yield doc.title\n    yield doc.title\n'
)
SETTINGS = Settings(execution=Execution(workers=1))


class Counting(Pipeline):
    """Keeps the ids of the programs that were indexed."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.built: list[str] = []

    def build(self, program: Program, *arguments: object, **options: object) -> object:
        self.built.append(program.id)
        return super().build(program, *arguments, **options)  # type: ignore[arg-type]


@pytest.fixture
def collection(toy: Path) -> Collection:
    return load(str(toy))


class Office:
    """A desk with two evaluated programs, and what it works on."""

    def __init__(self, collection: Collection, path: Path) -> None:
        view = collection.for_search()
        path.mkdir()
        self.directory = RunDirectory(path)
        self.pipeline = Counting(view, SETTINGS, self.directory.scratch)
        self.trials = []
        for program in (START, TITLES):
            outcome, _ = self.pipeline.evaluate(program, view.validation)
            self.directory.write_evaluation(outcome)
            self.trials.append(Trial(program, means=outcome.evaluation.means))
        self.pipeline.built.clear()
        self.desk = Desk(view, SETTINGS, self.pipeline, self.directory)
        self.seat(0)

    def seat(self, incumbent: int) -> None:
        self.desk.seat(self.trials[incumbent], tuple(self.trials), 1)

    def left(self) -> set[str]:
        return {path.name for path in self.directory.scratch.rglob("*")}


@pytest.fixture
def office(collection: Collection, tmp_path: Path) -> Iterator[Office]:
    office = Office(collection, tmp_path / "run")
    with closing(office.desk):
        yield office


def test_an_index_is_built_once_for_each_incumbent_and_removed(office: Office) -> None:
    assert office.pipeline.built == []
    assert "1 passage;" in office.desk.call("passages_of", {"ref": office.desk.cases()[0].relevant})
    office.seat(0)
    office.desk.call("bm25_retrieve", {"query": "lion"})
    assert office.pipeline.built == [START.id]
    office.seat(1)
    assert "index" not in office.left()
    assert "2 passages;" in office.desk.call("passages_of", {"ref": office.desk.cases()[0].relevant})
    assert office.pipeline.built == [START.id, TITLES.id]
    office.desk.close()
    assert office.left() == set()
    assert office.desk.call("term_stats", {"term": "entry"}).startswith("'entry' becomes: entri")


def test_cases_are_of_the_incumbent_and_judged(office: Office, collection: Collection) -> None:
    office.seat(1)
    cases = office.desk.cases()
    assert office.desk.cases() == cases
    assert cases
    split = collection.validation
    first, present = (office.directory.evaluation(program.id) for program in (START, TITLES))
    texts = {topic.text: topic.qid for topic in split.topics}
    for case in cases:
        qid = texts[case.query]
        docid = next(docid for docid, grade in split.qrels[qid].items() if grade > 0)
        assert (case.rank, case.first_rank) == (present.ranks[qid].get(docid), first.ranks[qid].get(docid))
        raw = office.desk.call("read_document", {"ref": case.relevant})
        assert f"keywords: {case.query.split()[-2]} habitat" in raw
        assert case.relevant not in case.above
        assert docid not in repr(case)
    kinds = [case.kind for case in cases]
    assert all(kinds.count(kind) <= SETTINGS.search.cases for kind in kinds)


def test_wrong_documents_stand_above_the_relevant_one(office: Office) -> None:
    case = next(case for case in office.desk.cases() if case.kind == "recall_violation")
    ranking = office.desk.call("bm25_retrieve", {"query": case.query})
    assert list(case.above) == [line.split()[1] for line in ranking.splitlines() if ". D-" in line][:3]


def test_another_desk_shows_the_same(office: Office, collection: Collection, tmp_path: Path) -> None:
    other = Office(collection, tmp_path / "other")
    with closing(other.desk):
        assert other.desk.cases() == office.desk.cases()
        asked = {"query": "where does the lion live"}
        assert other.desk.call("bm25_retrieve", asked) == office.desk.call("bm25_retrieve", asked)


def reachable(start: object) -> list[object]:
    """Everything that can be reached from an object by references, code and types left out."""
    found: dict[int, object] = {}
    waiting = [start]
    while waiting:
        item = waiting.pop()
        if id(item) in found or isinstance(item, type | ModuleType):
            continue
        found[id(item)] = item
        if isinstance(item, FunctionType):
            waiting += [cell.cell_contents for cell in item.__closure__ or ()]
            waiting += item.__defaults__ or ()
        else:
            waiting += gc.get_referents(item)
    return list(found.values())


def test_no_way_leads_from_the_tools_to_topics_judgments_or_files(
    office: Office, collection: Collection, toy: Path
) -> None:
    office.desk.call("bm25_retrieve", {"query": "lion"})
    toolbox = Toolbox(office.desk._open())
    everything = [each for start in (toolbox, toolbox.call) for each in reachable(start)]
    assert len(everything) > 20
    secret, shown = collection.open_test(), collection.validation
    assert not any(item is secret or item is shown or item is shown.qrels for item in everything)
    texts = {str(item) for item in everything if isinstance(item, str | Path)}
    for topic in (*secret.topics, *shown.topics):
        assert not texts & {topic.qid, topic.text}
    assert not any(str(toy) in text or "qrels" in text or "queries" in text for text in texts)
    assert not any(docid in text for text in texts for grades in shown.qrels.values() for docid in grades)
    assert any(item is shown for item in reachable(office.desk))  # the walk finds what can be found
