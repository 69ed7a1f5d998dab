"""The loop's invariants, with a proposer and a pipeline whose answers are known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from autoindex_pyserini.agents import Answer, Brief, Proposal, Trial, Workbench
from autoindex_pyserini.collection import SearchView, Split
from autoindex_pyserini.errors import ProgramTimeoutError, RunDirectoryError
from autoindex_pyserini.optimize import (
    Journal,
    Loop,
    RoundClosed,
    RunDirectory,
    RunSettings,
    Selected,
    StopRequestedError,
    Tried,
)
from autoindex_pyserini.pipeline import Costs, Outcome
from autoindex_pyserini.program import Program
from autoindex_pyserini.settings import Search, Settings
from autoindex_pyserini.types import Document, Evaluation, Represented, Topic

QIDS = ["q1", "q2"]
START = Program('"""start"""\ndef represent(doc):\n    yield doc.text\n')
SETTINGS = Settings(search=Search(rounds=3, candidates=2))


def program(name: str) -> Program:
    return Program(f'"""{name}"""\ndef represent(doc):\n    yield doc.text\n')


class Source:
    def documents(self, tally: object = None) -> Iterator[Document]:
        yield Document("d1", "title", "text")


VIEW = SearchView(
    "toy",
    "f" * 64,
    1,
    Split("validation", tuple(Topic(q, "x") for q in QIDS), {q: {"d1": 1} for q in QIDS}),
    Source(),
)


class Scores:
    """Plays the pipeline: summary -> R@100, or an error. Counts what it was asked for."""

    def __init__(self, scores: dict[str, float | Exception]) -> None:
        self.scores = {"start": 0.5, **scores}
        self.asked: list[str] = []

    def evaluate(self, candidate: Program, split: Split) -> tuple[Outcome, Any]:
        assert split.name == "validation"
        self.asked.append(candidate.summary)
        value = self.scores[candidate.summary]
        if isinstance(value, Exception):
            raise value
        per_query = {"R@100": {"q1": value, "q2": value}, "nDCG@10": {"q1": 0.1, "q2": 0.1}}
        evaluation = Evaluation({"R@100": value, "nDCG@10": 0.1}, per_query)
        ranks: dict[str, dict[str, int]] = {"q1": {"d1": 1}, "q2": {}}
        return Outcome(candidate.id, split.name, evaluation, ranks, Costs(1, 1, 0, 0, 0, 0, 10, 0.1)), None

    def represent(self, candidate: Program, documents: Any) -> Iterator[list[Represented]]:
        from autoindex_pyserini.types import Passage

        yield [Represented(document.docid, [Passage("text")]) for document in documents]


class Script:
    """Proposes what it was told to, round by round, and keeps the briefs it saw."""

    name = "script"
    version = ""

    def __init__(self, rounds: list[list[str]], combined: str | None = None) -> None:
        self.rounds = rounds
        self.combined = combined
        self.briefs: list[Brief] = []

    def propose(self, brief: Brief, bench: Workbench, count: int) -> Answer:
        self.briefs.append(brief)
        names = self.rounds[brief.round - 1] if brief.round <= len(self.rounds) else []
        parent = brief.incumbent.program.id
        proposals = tuple(Proposal(program(name), f"why {name}", parent) for name in names)
        return Answer(proposals, ended="" if names else "nothing is left")

    def combine(self, brief: Brief, passed: Sequence[Trial]) -> Answer:
        assert len(passed) > 1
        assert {trial.program.id for trial in passed} <= {trial.program.id for trial in brief.history}
        if self.combined is None:
            return Answer()
        return Answer((Proposal(program(self.combined), "together", brief.incumbent.program.id),))


def run(path: Path, script: Script, scores: Scores, stop_after: int | None = None) -> Program:
    path.mkdir(exist_ok=True)
    directory = RunDirectory(path)
    with Journal(path) as journal:
        loop = Loop(
            VIEW, SETTINGS, script, scores, directory, journal,  # type: ignore[arg-type]
            should_stop=lambda: stop_after is not None and len(scores.asked) >= stop_after,
        )  # fmt: skip
        return loop.run(START)


def tried(path: Path) -> list[Tried]:
    with Journal(path) as journal:
        return [event for event in journal.events if isinstance(event, Tried)]


def test_the_best_of_a_round_is_kept_and_built_upon(tmp_path: Path) -> None:
    script = Script([["a", "b"], ["c"], ["d"]])
    winner = run(tmp_path, script, Scores({"a": 0.6, "b": 0.7, "c": 0.69, "d": 0.8}))
    assert winner.summary == "d"
    assert [brief.incumbent.program.summary for brief in script.briefs] == ["start", "b", "b"]
    assert [event.accepted for event in tried(tmp_path)] == [True, True, True, False, True]


def test_without_a_gain_the_incumbent_stays(tmp_path: Path) -> None:
    winner = run(tmp_path, Script([["a"], ["b"], ["c"]]), Scores({"a": 0.5, "b": 0.4, "c": 0.500009}))
    assert winner == START


def test_a_gain_of_the_threshold_is_enough(tmp_path: Path) -> None:
    assert run(tmp_path, Script([["a"], [], []]), Scores({"a": 0.50002})).summary == "a"


@pytest.mark.parametrize(("value", "kept"), [(0.9, "both"), (0.7, "b"), (0.65, "b"), (0.3, "b")])
def test_a_combination_is_taken_only_if_it_beats_the_best(value: float, kept: str, tmp_path: Path) -> None:
    scores = Scores({"a": 0.6, "b": 0.7, "both": value})
    assert run(tmp_path, Script([["a", "b"]], combined="both"), scores).summary == kept


def test_no_combination_is_asked_for_where_one_passed(tmp_path: Path) -> None:
    scores = Scores({"a": 0.6, "b": 0.1})
    assert run(tmp_path, Script([["a", "b"]], combined="both"), scores).summary == "a"
    assert "both" not in scores.asked


def test_a_candidates_fault_is_journalled_told_and_survived(tmp_path: Path) -> None:
    fault = ProgramTimeoutError("line 3: document 1 took longer than 10 s", line=3)
    script = Script([["bad", "a"], ["b"]])
    assert run(tmp_path, script, Scores({"bad": fault, "a": 0.6, "b": 0.7})).summary == "b"
    assert "line 3: document 1" in tried(tmp_path)[1].fault
    history = script.briefs[1].history
    assert [trial.fault != "" for trial in history] == [False, True, False]


def test_a_fault_of_the_first_program_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(ProgramTimeoutError):
        run(tmp_path, Script([]), Scores({"start": ProgramTimeoutError("slow")}))


def test_the_search_ends_when_nothing_is_left_to_propose(tmp_path: Path) -> None:
    run(tmp_path, Script([["a"]]), Scores({"a": 0.6}))
    with Journal(tmp_path) as journal:
        last = journal.events[-1]
    assert isinstance(last, Selected)
    assert "nothing is left" in last.reason


def test_fixed_and_broken_queries_are_counted_against_the_parent(tmp_path: Path) -> None:
    run(tmp_path, Script([["a"], ["b"]]), Scores({"a": 0.6, "b": 0.1}))
    assert [(event.fixed, event.broken) for event in tried(tmp_path)] == [(0, 0), (2, 0), (0, 2)]
    assert tried(tmp_path)[2].deltas["R@100"] == pytest.approx(-0.5)


ROUNDS = [["a", "b"], ["bad", "c"], ["d"]]
VALUES: dict[str, float | Exception] = {
    "a": 0.6, "b": 0.7, "both": 0.75, "bad": ProgramTimeoutError("slow"), "c": 0.7, "d": 0.8
}  # fmt: skip


@pytest.mark.parametrize("stop_after", range(1, 7))
def test_a_stopped_run_resumed_equals_an_uninterrupted_one(stop_after: int, tmp_path: Path) -> None:
    whole = Scores(VALUES)
    winner = run(tmp_path / "whole", Script(ROUNDS, "both"), whole)
    first, second = Scores(VALUES), Scores(VALUES)
    with pytest.raises(StopRequestedError):
        run(tmp_path / "cut", Script(ROUNDS, "both"), first, stop_after)
    assert run(tmp_path / "cut", Script(ROUNDS, "both"), second) == winner
    assert first.asked + second.asked == whole.asked
    assert (tmp_path / "cut" / "journal.jsonl").read_bytes() == (
        tmp_path / "whole" / "journal.jsonl"
    ).read_bytes()


def test_a_resumed_run_asks_nobody_for_what_was_answered(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", Script(ROUNDS, "both"), Scores(VALUES))
    with pytest.raises(StopRequestedError):
        run(tmp_path / "cut", Script(ROUNDS, "both"), Scores(VALUES), 4)
    later = Script([[], *ROUNDS[1:]], "both")
    assert run(tmp_path / "cut", later, Scores(VALUES)) == whole
    assert [brief.round for brief in later.briefs] == [2, 3]


def test_a_proposer_may_end_the_search_or_go_on_without_programs(tmp_path: Path) -> None:
    class Tired(Script):
        def propose(self, brief: Brief, bench: Workbench, count: int) -> Answer:
            if brief.round == 2:
                return Answer(notes=("program 1 is not used",))
            return super().propose(brief, bench, count)

    script = Tired([["a"], [], ["b"], []])
    assert run(tmp_path, script, Scores({"a": 0.6, "b": 0.7})).summary == "b"
    assert script.briefs[1].notes == ("program 1 is not used",)
    ended = run(tmp_path / "ended", Script([["a"], []]), Scores({"a": 0.6}))
    with Journal(tmp_path / "ended") as journal:
        assert journal.events[-1] == Selected(program=ended.id, reason="nothing is left")
    again = Script([["c"], ["c"]])
    assert run(tmp_path / "ended", again, Scores({})) == ended
    assert not again.briefs


def test_a_stop_in_the_last_round_selects_nothing_and_goes_on_later(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", Script([["a"], ["b"], ["c"]]), Scores({"a": 0.6, "b": 0.4, "c": 0.7}))
    scores = Scores({"a": 0.6, "b": 0.4, "c": 0.7})
    with pytest.raises(StopRequestedError):
        run(tmp_path / "cut", Script([["a"], ["b"], ["c"]]), scores, stop_after=4)
    with Journal(tmp_path / "cut") as journal:
        assert not any(isinstance(event, Selected) for event in journal.events)
    assert run(tmp_path / "cut", Script([]), Scores({})) == whole
    assert (tmp_path / "cut" / "journal.jsonl").read_bytes() == (
        tmp_path / "whole" / "journal.jsonl"
    ).read_bytes()


def test_every_program_and_evaluation_is_kept(tmp_path: Path) -> None:
    run(tmp_path, Script(ROUNDS, "both"), Scores(VALUES))
    ids = {event.program for event in tried(tmp_path)}
    failed = {event.program for event in tried(tmp_path) if event.fault}
    assert {path.stem for path in (tmp_path / "programs").iterdir()} == ids
    assert {path.stem for path in (tmp_path / "evaluations").iterdir()} == ids - failed
    with Journal(tmp_path) as journal:
        closed = [event for event in journal.events if isinstance(event, RoundClosed)]
    assert [event.improved for event in closed] == [True, False, True]


def test_a_run_directory_is_made_once(tmp_path: Path) -> None:
    settings = RunSettings("toy", SETTINGS)
    RunDirectory.create(tmp_path / "run", settings)
    with pytest.raises(RunDirectoryError, match="exists already"):
        RunDirectory.create(tmp_path / "run", settings)
    _, read = RunDirectory.open(tmp_path / "run")
    assert read == settings
    with pytest.raises(RunDirectoryError, match="not a run directory"):
        RunDirectory.open(tmp_path)


def test_what_a_killed_write_left_is_cleared(tmp_path: Path) -> None:
    for name in (".best.py.abc.part", "programs/.x.py.abc.part", "evaluations/.x.json.abc.part"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "programs" / "x.py").touch()
    RunDirectory(tmp_path).clear_scratch()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["x.py"]
