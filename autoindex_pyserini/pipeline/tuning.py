"""Choose k1, b and the weights of fields on the validation queries.

The index is built once and only searched. What is tried is bounded by a number of searches, and is the same
for the same seed, so a table can say what a tuned number cost.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence

import msgspec

from autoindex_pyserini.collection import Split
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.evaluation import evaluate
from autoindex_pyserini.lucene import BM25, BM25F, FieldSum, Searcher
from autoindex_pyserini.settings import Search

type Tunable = BM25 | BM25F | FieldSum

_DIGITS = 12  # means that differ by less differ by the rounding of their sum
_LONGEST_JUMP = 2


class Tuning(msgspec.Struct, frozen=True):
    """What is tried.

    Attributes:
        k1: values of k1, rising.
        weighted_k1: further values for BM25F, where k1 is compared with weighted counts.
        b: values of b, rising.
        weights: values of a field's weight, rising; 0 leaves the field out.
        searches: most searches of all validation queries, at least 1.
        restarts: how often the ascent begins again beside the best setting, once it has come to an end.
        seed: of the order in which parameters are tried, and of where the ascent begins again.
    """

    k1: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.9, 1.2, 1.5, 2.0, 3.0)
    weighted_k1: tuple[float, ...] = (4.5, 7.0, 10.0, 15.0)
    b: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
    weights: tuple[float, ...] = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    searches: int = 200
    restarts: int = 3
    seed: int = 0


class Trial(msgspec.Struct, frozen=True):
    """One search of all validation queries.

    Attributes:
        scoring: what was tried.
        means: measure -> mean.
        best: it was better than all trials before it.
    """

    scoring: Tunable
    means: dict[str, float]
    best: bool


class Tuned(msgspec.Struct, frozen=True):
    """What `tune` found.

    Attributes:
        scoring: the best setting.
        means: its means on the validation queries, by measure.
        trials: every search, in its order; the first is the setting that was begun with.
    """

    scoring: Tunable
    means: dict[str, float]
    trials: tuple[Trial, ...]

    @property
    def searches(self) -> int:
        """How often the validation queries were searched."""
        return len(self.trials)


def even_weights(searcher: Searcher) -> dict[str, float]:
    """Weight 1 for each field of the index beside ``contents``: where the tuning of weights begins.

    Raises:
        InputError: the index has no other field.
    """
    weights = {field: 1.0 for field in searcher.fields if field != "contents"}
    if not weights:
        raise InputError(
            "the index has no field beside 'contents', so there are no weights to tune; build it with a "
            "program that declares FIELDS, such as natural_fields_program writes"
        )
    return weights


def tune(
    searcher: Searcher,
    validation: Split,
    start: Tunable,
    *,
    goal: Search,
    tuning: Tuning | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tuned:
    """Look for the setting with the best mean of the objective on the validation queries.

    k1 and b alone are tried in all combinations, if these are few enough. Otherwise, and where there are
    weights, one parameter is changed at a time: stepwise up and down, as long as it helps, all parameters in
    a seeded order, until none helps any more; then again from a seeded place beside the best.

    Of settings with the same objective the one with the better next measure wins (`goal.measures`, in their
    order), then the one that searches fewer fields, then the one nearest to `start`.

    Args:
        searcher: of the finished index.
        validation: its topics are searched, and judged by its qrels.
        start: what is begun with; says too what is tuned. Its values are tried beside those of `tuning`.
        goal: the objective and the measures.
        tuning: what is tried.
        progress: called with 1 after each search.

    Raises:
        InputError: another split than validation, or no search allowed.
        SearchFailedError: a query failed.
        UnknownFieldError: the index does not have a field of `start`.
    """
    tuning = tuning or Tuning()
    if validation.name != "validation":
        raise InputError(f"parameters are tuned on the validation queries, not on '{validation.name}'")
    if tuning.searches < 1:
        raise InputError(f"tuning with {tuning.searches} searches is none; allow at least 1")
    space = _Space(start, tuning)
    trials = _Trials(searcher, validation, goal, space, tuning.searches, progress)
    trials.try_point(space.start)
    if len(space.ladders) == 2 and space.size <= tuning.searches:
        for point in space.points():
            trials.try_point(point)
    else:
        _ascend(trials, space, tuning)
    return trials.result()


type _Point = tuple[int, ...]
"""A setting: the position of each parameter's value on its ladder."""


class _Space:
    """The settings that can be tried: a ladder of values for k1, for b, and for each weight."""

    def __init__(self, start: Tunable, tuning: Tuning) -> None:
        self._kind = start
        self._fields = () if isinstance(start, BM25) else tuple(sorted(start.weights))
        weights = () if isinstance(start, BM25) else tuple(start.weights[field] for field in self._fields)
        values = (start.k1, start.b, *weights)
        k1 = (*tuning.k1, *tuning.weighted_k1) if isinstance(start, BM25F) else tuning.k1
        offered = (k1, tuning.b, *(tuning.weights for _ in self._fields))
        self.ladders = tuple(
            tuple(sorted({*ladder, value})) for ladder, value in zip(offered, values, strict=True)
        )
        self.start = tuple(ladder.index(value) for ladder, value in zip(self.ladders, values, strict=True))
        self.size = math.prod(map(len, self.ladders))

    def points(self) -> Iterator[_Point]:
        """All settings."""
        return itertools.product(*(range(len(ladder)) for ladder in self.ladders))

    def scoring(self, point: _Point) -> Tunable | None:
        """The setting as a scoring; None if it searches no field."""
        k1, b, *weights = (ladder[place] for ladder, place in zip(self.ladders, point, strict=True))
        if isinstance(self._kind, BM25):
            return BM25(k1, b)
        searched = {field: weight for field, weight in zip(self._fields, weights, strict=True) if weight > 0}
        return type(self._kind)(searched, k1, b) if searched else None

    def simplicity(self, point: _Point) -> tuple[float, ...]:
        """Larger for fewer fields, then for fewer steps away from the start; no two settings are equal."""
        fields = sum(ladder[place] > 0 for ladder, place in zip(self.ladders[2:], point[2:], strict=True))
        steps = sum(abs(place - start) for place, start in zip(point, self.start, strict=True))
        return (-fields, -steps, *(-place for place in point))

    def beside(self, point: _Point, chance: random.Random) -> _Point:
        """A setting a few steps away, on about half of the ladders."""
        return tuple(
            min(max(place + chance.choice(_JUMPS), 0), len(ladder) - 1)
            for ladder, place in zip(self.ladders, point, strict=True)
        )


_JUMPS = [step for step in range(-_LONGEST_JUMP, _LONGEST_JUMP + 1) if step] + [0] * (2 * _LONGEST_JUMP)

type _Rank = tuple[float, ...]


class _Trials:
    """Searches settings, each once, until the searches that are allowed are spent."""

    def __init__(
        self,
        searcher: Searcher,
        validation: Split,
        goal: Search,
        space: _Space,
        most: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._searcher, self._validation, self._space = searcher, validation, space
        self._measures = tuple(dict.fromkeys((goal.objective, *goal.measures)))
        self._most, self._progress = most, progress
        self._means: dict[object, dict[str, float]] = {}
        self._trials: list[Trial] = []
        self.best: tuple[_Rank, _Point] | None = None

    @property
    def spent(self) -> bool:
        return len(self._trials) >= self._most

    def try_point(self, point: _Point) -> _Rank | None:
        """How good a setting is, larger is better; None if it is no setting, or no search is left for it."""
        scoring = self._space.scoring(point)
        if scoring is None:
            return None
        key = _equivalent(scoring)
        known = key in self._means
        if not known:
            if self.spent:
                return None
            run = self._searcher.search(self._validation.topics, scoring=scoring)
            self._means[key] = evaluate(run, self._validation.qrels, self._measures).means
        means = self._means[key]
        rank = (
            *(round(means[measure], _DIGITS) for measure in self._measures),
            *self._space.simplicity(point),
        )
        best = self.best is None or rank > self.best[0]
        if best:
            self.best = (rank, point)
        if not known:
            self._trials.append(Trial(scoring, means, best))
            if self._progress:
                self._progress(1)
        return rank

    def result(self) -> Tuned:
        """The best of all; the start is among them, so there is one."""
        point = self.best[1] if self.best else self._space.start
        scoring = self._space.scoring(point)
        if scoring is None:
            raise InputError("no setting was tried; give a start that searches a field")
        return Tuned(scoring, self._means[_equivalent(scoring)], tuple(self._trials))


def _equivalent(scoring: Tunable) -> object:
    """The same for settings that rank alike: weights count by their ratios, BM25F's k1 moves with them."""
    if isinstance(scoring, BM25):
        return (scoring.k1, scoring.b)
    least = min(scoring.weights.values())
    ratios = tuple(sorted((field, weight / least) for field, weight in scoring.weights.items()))
    k1 = scoring.k1 / least if isinstance(scoring, BM25F) else scoring.k1
    return (ratios, k1, scoring.b)


def _ascend(trials: _Trials, space: _Space, tuning: Tuning) -> None:
    """Climb from the start, then from beside the best setting that is known."""
    chance = random.Random(tuning.seed)
    parameters = list(range(len(space.ladders)))
    point = space.start
    for _ in range(tuning.restarts + 1):
        _climb(trials, space, point, parameters, chance)
        if trials.spent or trials.best is None:
            return
        point = space.beside(trials.best[1], chance)


def _climb(
    trials: _Trials, space: _Space, point: _Point, parameters: Sequence[int], chance: random.Random
) -> None:
    """Change one parameter after the other until no single change helps, or no search is left."""
    rank = trials.try_point(point)
    before = None
    while rank is not None and rank != before and not trials.spent:
        before = rank
        for parameter in chance.sample(parameters, len(parameters)):
            point, rank = _along(trials, space, point, rank, parameter)


def _along(
    trials: _Trials, space: _Space, point: _Point, rank: _Rank, parameter: int
) -> tuple[_Point, _Rank]:
    """Go up one ladder as long as it helps, then down; a field is left out at once, not step by step."""
    top = len(space.ladders[parameter]) - 1
    place = point[parameter]
    walks = [range(place + 1, top + 1), range(place - 1, -1, -1), *([range(1)] if parameter > 1 else [])]
    for walk in walks:
        for place in walk:
            other = (*point[:parameter], place, *point[parameter + 1 :])
            found = trials.try_point(other)
            if found is None or found <= rank:
                break
            point, rank = other, found
    return point, rank
