"""A run by hand as objects: what is replayed, what is refused, and that no way leads to the test queries."""

from __future__ import annotations

import gc
import shutil
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from autoindex_pyserini.agents import Answer, Brief, CollectionProfile, Trial
from autoindex_pyserini.agents.by_hand import HandProposer, Paused
from autoindex_pyserini.collection import Collection, load
from autoindex_pyserini.errors import InvalidProgramError, RunDirectoryError
from autoindex_pyserini.optimize import Journal, JournalEvent, RunDirectory, RunSettings
from autoindex_pyserini.optimize.session import Attempt, Session, check_by_hand
from autoindex_pyserini.pipeline import Pipeline
from autoindex_pyserini.program import Program
from autoindex_pyserini.settings import Execution, Search, Settings

SETTINGS = Settings(
    search=Search(
        rounds=0, candidates=1, proposer="hand", objective="nDCG@10", measures=("nDCG@10", "R@100"), cases=2
    ),
    execution=Execution(workers=1),
)
BETTER = Program(
    '"""The keywords too."""\ndef represent(doc):\n    yield f"{doc.text} {doc.fields[\'keywords\']}"\n'
)
WORSE = Program('"""The title alone."""\ndef represent(doc):\n    yield doc.title\n')
CRASHING = Program("def represent(doc):\n    yield 1 / 0\n")


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory, make_toy: Callable[[Path], Path]) -> Collection:
    return load(str(make_toy(tmp_path_factory.mktemp("session"))))


def begin(collection: Collection, path: Path) -> RunDirectory:
    return RunDirectory.create(path, RunSettings("toy", SETTINGS))


def opened(
    collection: Collection, directory: RunDirectory, told: list[JournalEvent] | None = None
) -> Session:
    listener = (lambda event: None) if told is None else told.append
    return Session(collection.for_search(), SETTINGS, directory, listener=listener)


def test_a_program_is_tried_once(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated: list[str] = []
    evaluate = Pipeline.evaluate

    def counting(self: Pipeline, program: Program, split: object) -> object:
        evaluated.append(program.id)
        return evaluate(self, program, split)  # type: ignore[arg-type]

    monkeypatch.setattr(Pipeline, "evaluate", counting)
    directory = begin(collection, tmp_path / "run")
    with opened(collection, directory) as session:
        first = session.attempt(BETTER, "the keywords\nname the animal")
        assert (first.again, first.trial.accepted, first.incumbent.program.id) == (False, True, BETTER.id)
        assert first.trial.hypothesis == "the keywords name the animal"
        assert len(first.fixed) == first.trial.fixed > 0
        assert all(shift.after > shift.before for shift in first.fixed)
        assert all("where does the" in shift.query and shift.ranks for shift in first.fixed)
    with opened(collection, directory) as session:
        again = session.attempt(BETTER, "other words")
        assert (again.again, again.trial, again.fixed) == (True, first.trial, first.fixed)
        second = session.attempt(WORSE, "less is more")
        assert (second.trial.accepted, second.incumbent.program.id) == (False, BETTER.id)
        assert second.trial.parent == BETTER.id
    assert len(evaluated) == len(set(evaluated)) == 3


def test_a_fault_is_recorded_and_a_broken_program_is_not(collection: Collection, tmp_path: Path) -> None:
    directory = begin(collection, tmp_path / "run")
    with opened(collection, directory) as session:
        session.state()
        before = (directory.path / "journal.jsonl").read_bytes()
        with pytest.raises(InvalidProgramError, match="import"):
            session.attempt(Program("import os\ndef represent(doc):\n    yield doc.text\n"), "")
        assert (directory.path / "journal.jsonl").read_bytes() == before
        failed = session.attempt(CRASHING, "")
        assert "ZeroDivisionError" in failed.trial.fault
        assert not failed.trial.accepted
        assert [trial.fault != "" for trial in session.state().history] == [False, True]


def test_what_was_evaluated_is_replayed_without_a_look_at_the_documents(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = begin(collection, tmp_path / "run")
    with opened(collection, directory) as session:
        session.attempt(BETTER, "")
        session.attempt(WORSE, "")
    told: list[JournalEvent] = []
    monkeypatch.setattr(type(collection.for_search()), "documents", lambda self: pytest.fail("a pass"))
    with opened(collection, directory, told) as session:
        assert [trial.program.id for trial in session.state().history][1:] == [BETTER.id, WORSE.id]
        assert session.attempt(WORSE, "").again
    assert not told


def test_the_brief_and_the_tools_follow_the_incumbent(collection: Collection, tmp_path: Path) -> None:
    with opened(collection, begin(collection, tmp_path / "run")) as session:
        brief, cases = session.brief()
        assert brief.profile.num_documents == 12
        assert brief.evidence
        assert 0 < len(cases) <= 6
        reference = cases[0].relevant
        assert "habitat" not in session.ask("passages_of", {"ref": reference})
        session.attempt(BETTER, "")
        assert "habitat" in session.ask("passages_of", {"ref": reference})
        assert session.brief()[0].incumbent.program.id == BETTER.id


def test_after_the_end_nothing_is_tried_and_the_test_is_opened_once(
    collection: Collection, tmp_path: Path
) -> None:
    directory = begin(collection, tmp_path / "run")
    opened_test: list[int] = []

    def open_test() -> object:
        opened_test.append(1)
        return collection.open_test()

    with opened(collection, directory) as session:
        session.attempt(BETTER, "")
        assert not opened_test
        result = session.finish(open_test)  # type: ignore[arg-type]
        assert (result.winner.id, len(opened_test)) == (BETTER.id, 1)
        assert (
            result.test.winner.evaluation.means["nDCG@10"] > result.test.baseline.evaluation.means["nDCG@10"]
        )
        for refused in (lambda: session.attempt(WORSE, ""), session.brief, lambda: session.ask("x", {})):
            with pytest.raises(RunDirectoryError, match="finished"):
                refused()
    with opened(collection, directory) as session:
        assert session.finish(open_test).test == result.test  # type: ignore[arg-type]
    assert len(opened_test) == 1
    with pytest.raises(RunDirectoryError, match="autoindex show"):
        check_by_hand(directory, RunSettings("toy", SETTINGS))


class Whole(NamedTuple):
    """A run from its beginning to its end, and what its steps answered."""

    path: Path
    attempt: Attempt
    winner: Program


@pytest.fixture(scope="module")
def whole(collection: Collection, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    directory = begin(collection, tmp_path_factory.mktemp("whole") / "run")
    with opened(collection, directory) as session:
        attempt = session.attempt(BETTER, "why")
        return Whole(directory.path, attempt, session.finish(collection.open_test).winner)


@pytest.mark.parametrize("kept", range(1, 9))
def test_a_step_cut_anywhere_is_completed_by_the_same_step(
    kept: int, whole: Whole, collection: Collection, tmp_path: Path
) -> None:
    """The journal as a kill leaves it: so many events, and the files of later ones already there."""
    journal = Path(shutil.copytree(whole.path, tmp_path / "run")) / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 9
    journal.write_bytes(b"".join(lines[:kept]) + lines[kept][:7])
    with opened(collection, RunDirectory(journal.parent)) as session:
        if kept < 6:  # the search had not ended
            again = kept >= 4  # the program had been evaluated
            assert session.attempt(BETTER, "why") == replace(whole.attempt, again=again)
        else:
            with pytest.raises(RunDirectoryError, match="autoindex finish"):
                session.attempt(BETTER, "why")
        assert session.finish(collection.open_test).winner == whole.winner
    assert journal.read_bytes() == b"".join(lines)


def test_a_second_process_is_refused(collection: Collection, tmp_path: Path) -> None:
    directory = begin(collection, tmp_path / "run")
    with opened(collection, directory), pytest.raises(RunDirectoryError, match="in use by another process"):
        opened(collection, directory)
    opened(collection, directory).close()


def test_a_run_of_another_proposer_is_refused(tmp_path: Path) -> None:
    recorded = RunSettings("toy", Settings())
    with pytest.raises(RunDirectoryError, match=r"autoindex optimize toy --out .* --resume"):
        check_by_hand(RunDirectory.create(tmp_path / "run", recorded), recorded)


def reachable(root: object) -> Iterator[object]:
    """Everything that references lead to, but for modules, classes and code, which lead to everything."""
    seen, left = {id(root)}, [root]
    while left:
        thing = left.pop()
        yield thing
        for found in gc.get_referents(thing):
            stop = isinstance(found, types.ModuleType | type | types.CodeType)
            globals_ = isinstance(found, dict) and "__builtins__" in found
            if id(found) not in seen and not stop and not globals_:
                seen.add(id(found))
                left.append(found)


def test_no_reference_and_no_answer_leads_to_the_test_queries(collection: Collection, tmp_path: Path) -> None:
    test = collection.open_test()
    secret = {topic.qid for topic in test.topics} | {topic.text for topic in test.topics}
    directory = begin(collection, tmp_path / "run")
    with opened(collection, directory) as session:
        answers = [session.attempt(BETTER, ""), session.brief(), session.state()]
        answers += [session.ask(tool.name, {"query": "where", "pattern": "."}) for tool in session.tools]
        things = list(reachable(session))
        assert any(thing is collection.validation for thing in things), "the walk sees what is there"
        for root in (session, answers):
            for thing in reachable(root):
                assert thing is not collection and thing is not test and thing is not test.qrels
                assert not (isinstance(thing, str) and thing in secret), thing
    for file in directory.path.rglob("*"):
        if file.is_file():
            text = file.read_text("utf-8", "replace")
            assert not [one for one in secret if f'"{one}"' in text], file


def test_the_proposer_gives_its_program_until_it_was_tried() -> None:
    start = Trial(Program.builtin("full_text"), accepted=True)
    brief = Brief(CollectionProfile(), start, (start,))
    after = Brief(CollectionProfile(), start, (start, Trial(BETTER, parent=start.program.id)))
    proposer = HandProposer(BETTER, "why")
    for _ in range(2):
        [proposal] = proposer.propose(brief, None, 1).proposals  # type: ignore[arg-type]
        assert (proposal.program, proposal.parent, proposal.hypothesis) == (BETTER, start.program.id, "why")
    with pytest.raises(Paused) as paused:
        proposer.propose(after, None, 1)  # type: ignore[arg-type]
    assert paused.value.brief is after
    assert HandProposer(BETTER, ended="done").propose(after, None, 1) == Answer(ended="done")  # type: ignore[arg-type]


def test_the_journal_tells_who_proposed_and_that_the_test_came_last(
    collection: Collection, tmp_path: Path
) -> None:
    directory = begin(collection, tmp_path / "run")
    with opened(collection, directory) as session:
        session.attempt(WORSE, "")
        session.finish(collection.open_test)
    with Journal(directory.path) as journal:
        kinds = [type(event).__name__ for event in journal.events]
        assert kinds.index("Tested") > max(number for number, kind in enumerate(kinds) if kind == "Tried")
        assert journal.events[0].proposer == "hand"  # type: ignore[union-attr]
