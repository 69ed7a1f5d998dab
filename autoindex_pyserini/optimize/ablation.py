"""The paper's conditions: the same search with a part left out (AutoIndex, arXiv 2607.18603)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from autoindex_pyserini.collection import Collection
from autoindex_pyserini.errors import InputError, RunDirectoryError
from autoindex_pyserini.optimize.loop import Listener
from autoindex_pyserini.optimize.run import run
from autoindex_pyserini.optimize.run_directory import RunDirectory, RunSettings
from autoindex_pyserini.pipeline import Progress
from autoindex_pyserini.settings import Settings


def _full(settings: Settings) -> Settings:
    return settings


def _one_round(settings: Settings) -> Settings:
    return replace(settings, search=replace(settings.search, rounds=1))


def _no_history(settings: Settings) -> Settings:
    return replace(settings, search=replace(settings.search, history=False))


def _no_analysis(settings: Settings) -> Settings:
    return replace(settings, search=replace(settings.search, analysis=False))


def _one_shot(settings: Settings) -> Settings:
    """One reply of the Code Agent and nothing else: no analysis, no repair, no synthesis, no second round."""
    search = replace(settings.search, rounds=1, analysis=False, synthesis=False)
    return replace(settings, search=search, model=replace(settings.model, repairs=0))


CONDITIONS: dict[str, Callable[[Settings], Settings]] = {
    "full": _full,
    "one-round": _one_round,
    "no-history": _no_history,
    "no-analysis": _no_analysis,
    "one-shot": _one_shot,
}
"""What is left out, by name. Those about history and analysis say something of the proposer ``llm`` alone."""


class AblationRun(msgspec.Struct, frozen=True):
    """One run of the grid.

    Attributes:
        collection: its name.
        condition: a key of `CONDITIONS`.
        seed: of the proposer.
        baseline: means of the first program on the test queries.
        winner: means of the learned program on them.
    """

    collection: str
    condition: str
    seed: int
    baseline: dict[str, float]
    winner: dict[str, float]


def check_conditions(names: Sequence[str], settings: Settings) -> None:
    """Check that these conditions exist and mean something for this proposer.

    Raises:
        InputError: names the first that does not.
    """
    for name in names:
        if name not in CONDITIONS:
            raise InputError(f"unknown condition {name!r}; use: {', '.join(CONDITIONS)}")
        changed = CONDITIONS[name](settings)
        if settings.search.proposer != "llm" and changed != _one_round(settings) and name != "full":
            raise InputError(
                f"the condition {name} leaves out a part of the proposer llm; "
                f"{settings.search.proposer} has none, so use full or one-round"
            )


def ablate(
    collections: Sequence[tuple[str, Collection]],
    settings: Settings,
    out: Path,
    *,
    conditions: Sequence[str],
    seeds: int,
    progress: Progress | None = None,
    listener: Callable[[AblationRun], None] = lambda run: None,
    event_listener: Listener = lambda event: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[AblationRun]:
    """Run the grid: every collection under every condition with every seed.

    Each run has a directory of its own, ``out/<collection>/<condition>-<seed>``; those that are finished are
    read, one that was stopped is resumed.

    Args:
        collections: what the user called each, and the collection.
        settings: every knob; seeds count up from the one in it.
        out: where the run directories are.
        conditions: keys of `CONDITIONS`.
        seeds: how many.
        progress: told about long work.
        listener: told of every run that is finished.
        event_listener: told of every event of every run.
        should_stop: as for `run`.

    Raises:
        InputError: an unknown condition, or runs in `out` that were made with other settings.
        StopRequestedError: the user asked to stop; the grid can be gone on with.
    """
    check_conditions(conditions, settings)
    found = []
    for (named, collection), condition, seed in _grid(collections, conditions, seeds, settings.search.seed):
        chosen = CONDITIONS[condition](settings)
        chosen = replace(chosen, search=replace(chosen.search, seed=seed))
        directory = _directory(out / collection.name / f"{condition}-{seed}", RunSettings(named, chosen))
        result = run(
            collection,
            chosen,
            directory,
            progress=progress,
            listener=event_listener,
            should_stop=should_stop,
        )
        test = result.test
        done = AblationRun(
            collection.name, condition, seed, test.baseline.evaluation.means, test.winner.evaluation.means
        )
        listener(done)
        found.append(done)
    return found


def _grid(
    collections: Sequence[tuple[str, Collection]], conditions: Sequence[str], seeds: int, first: int
) -> Iterator[tuple[tuple[str, Collection], str, int]]:
    for collection in collections:
        for condition in conditions:
            for seed in range(first, first + seeds):
                yield collection, condition, seed


def _directory(path: Path, wanted: RunSettings) -> RunDirectory:
    """The run directory, new or as it is found if it was made with the same settings."""
    if not path.exists():
        return RunDirectory.create(path, wanted)
    directory, recorded = RunDirectory.open(path)
    same = replace(recorded.settings, execution=wanted.settings.execution, endpoint=wanted.settings.endpoint)
    if recorded.collection != wanted.collection or same != wanted.settings:
        raise RunDirectoryError(
            f"{path} was made with other settings or on another collection; give another --out"
        )
    return directory
