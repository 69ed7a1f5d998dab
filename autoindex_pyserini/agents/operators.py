"""`OperatorProposer`: proposes by applying operators, and learns from what happened which ones pay."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

import msgspec

from autoindex_pyserini.agents.lessons import Lessons, learn
from autoindex_pyserini.agents.moves import FAMILY_OF, OPERATOR_OF, OPERATORS, Move, fits, moves
from autoindex_pyserini.agents.parse import parse, recipe_of
from autoindex_pyserini.agents.proposer import Answer, Brief, Proposal, Trial, Workbench
from autoindex_pyserini.agents.recipe import Recipe, changed_attributes, merge, phrases
from autoindex_pyserini.agents.render import render
from autoindex_pyserini.program import Program

JITTER = 0.12
"""Standard deviation of the noise on the logarithm of a move's score: seeds look at different candidates."""

TOGETHER = 1.0
"""Score of merging steps that helped a little, each alone too little to be accepted."""

RIVAL = 2.0
"""Factor on the score of a step from a rival of the incumbent; see `Lessons.rival`."""

MOST_RIVALS = 2
"""Steps from a rival in one round."""


class OperatorProposer:
    """Searches the space of recipes: different mechanisms first, then what pays.

    A round takes at most one move of each operator, and at most one of each family of operators in the
    first round and two later; only if that leaves places empty does it take more. A move's score is its
    prior, times what was learned of its operator and family. Later rounds also merge near misses, and
    lead on from a program that nearly equals the incumbent and ranks better.

    Args:
        seed: jitters the scores, so that several runs look at different candidates.
    """

    def __init__(self, seed: int = 0) -> None:
        """Take the seed; nothing else is kept between calls."""
        self.seed = seed

    @property
    def name(self) -> str:
        """The name that settings and journals use."""
        return "operators"

    @property
    def version(self) -> str:
        """Nothing but settings and brief decides."""
        return ""

    def propose(self, brief: Brief, bench: Workbench, count: int) -> Answer:
        """Return up to `count` steps from the incumbent, the most promising first; needs no bench."""
        recipe = recipe_of(brief.incumbent.program.source)
        lessons = learn(brief)
        chance = random.Random(f"{self.seed}:{brief.round}")
        found = [
            (lessons.score(recipe, move), move)
            for move in (*moves(recipe, brief), *_together(recipe, brief, lessons))
        ]
        found += _from_rival(brief, lessons)
        scored = [(score * math.exp(chance.gauss(0, JITTER)), move) for score, move in found]
        scored.sort(key=lambda pair: -pair[0])
        picked = self._pick(recipe, [move for _, move in scored], brief, count)
        return Answer(tuple(picked), ended="" if picked else f"{self.name} has nothing left to propose")

    def _pick(self, recipe: Recipe, ranked: list[Move], brief: Brief, count: int) -> list[Proposal]:
        """Return the first moves that were not tried, variety before rank."""
        known = {trial.program.id for trial in brief.history} | {brief.incumbent.program.id}
        per_family = 1 if brief.round <= 1 else 2
        picked: list[Proposal] = []
        operators: list[str] = []
        for strict in (True, False):
            for move in ranked:
                if len(picked) >= count:
                    return picked
                family = FAMILY_OF.get(move.operator, move.operator)
                taken = sum(1 for name in operators if FAMILY_OF.get(name, name) == family)
                once = move.operator in operators and move.operator != "rival"
                if strict and (once or taken >= (MOST_RIVALS if family == "rival" else per_family)):
                    continue
                program = Program(render(move.recipe))
                if program.id in known:
                    continue
                known.add(program.id)
                operators.append(move.operator)
                parent = brief.incumbent.program.id
                applied = _operators(recipe, move.recipe) if move.operator not in OPERATORS else ()
                picked.append(Proposal(program, move.hypothesis, parent, applied or (move.operator,)))
        return picked

    def combine(self, brief: Brief, passed: Sequence[Trial]) -> Answer:
        """Return the union of the changes, the largest gain deciding where two changed the same thing."""
        known = {trial.program.id: trial.program for trial in [*passed, brief.incumbent, *brief.history]}
        parents = {trial.parent or "" for trial in passed}
        if len(passed) < 2 or len(parents) != 1 or not parents <= set(known):
            return Answer()
        parent = known[parents.pop()]
        base = recipe_of(parent.source)
        others = [name for name in brief.measures if name != brief.objective]
        ordered = sorted(
            passed,
            key=lambda trial: (
                -trial.deltas.get(brief.objective, 0.0),
                -sum(trial.deltas.get(name, 0.0) for name in others),
            ),
        )
        parsed = (parse(trial.program.source) for trial in ordered)
        children = [recipe for recipe in parsed if recipe is not None]
        while len(children) > 1 and not fits(merge(base, children), brief):
            children.pop()
        merged = merge(base, children)
        program = Program(render(merged))
        if len(children) < 2 or program.id in known:
            return Answer()
        hypothesis = "what helped alone may help together: " + "; ".join(phrases(merged))
        return Answer((Proposal(program, hypothesis, parent.id, _operators(base, merged)),))


def _operators(before: Recipe, after: Recipe) -> tuple[str, ...]:
    names = (OPERATOR_OF.get(name, "") for name in changed_attributes(before, after))
    return tuple(dict.fromkeys(name for name in names if name))


def _from_rival(brief: Brief, lessons: Lessons) -> Iterator[tuple[float, Move]]:
    """Yield the scored steps on from the rival that add no passage.

    Short passages sharpen the top of a ranking, and a rival has that already; what it lacks in the
    objective has to come from words, weights and what is left out.
    """
    rival = lessons.rival
    if rival is None:
        return
    for move in moves(rival, brief):
        if FAMILY_OF[move.operator] in ("weight", "words", "identifiers", "removal"):
            score = RIVAL * lessons.score(rival, move)
            yield score, msgspec.structs.replace(move, operator="rival")


def _together(recipe: Recipe, brief: Brief, lessons: Lessons) -> Iterator[Move]:
    """Yield the incumbent with every change that helped a little and was not accepted."""
    merged, used = recipe, 0
    for before, after in lessons.promising:
        reached = merge(before, [merged, after])
        if reached != merged and fits(reached, brief):
            merged, used = reached, used + 1
    if used > 1:
        done = ", ".join(_operators(recipe, merged)).replace("_", " ")
        yield Move("together", merged, TOGETHER, f"each of these helped a little, none was enough: {done}")
