"""What the trials so far teach about operators.

The objective decides what is accepted, but on a few dozen queries it moves in steps; the other measures
say in which direction a change that did not move it was going.
"""

from __future__ import annotations

import math

import msgspec

from autoindex_pyserini.agents.moves import FAMILY_OF, OPERATOR_OF, Move
from autoindex_pyserini.agents.parse import recipe_of
from autoindex_pyserini.agents.proposer import Brief, ProposerError, Trial
from autoindex_pyserini.agents.recipe import Recipe, changed_attributes
from autoindex_pyserini.program import Program

SIDE_WEIGHT = 0.25
"""What a change of the other measures counts beside one of the objective."""

UNIT = 0.01
"""The change of the objective that counts as one."""

MOST = 2.0
"""Units beyond which a trial says no more: one lucky trial must not drown the priors."""

COST = 0.4
"""Units that a trial must gain to speak for its operator: each takes a place in a round."""

OPERATOR_RATE, FAMILY_RATE = 0.5, 0.2
"""How strongly a unit changes the score of the operator, and of its family."""

FAULT = -MOST

RIVAL_QUERIES, RIVAL_MOST = 3, 0.005
"""A rival's objective is less than so many queries below the incumbent's, and less than so much."""

RIVAL_GAIN = 0.01
"""How much better a rival's other measures must be, on average."""


class Lessons(msgspec.Struct, frozen=True):
    """What was learned.

    Attributes:
        operators: operator -> units gained by its trials, each less its cost.
        families: the same by family.
        changes: (attribute, value) -> the worst units that it gained in any trial.
        promising: (parent, child) recipes of trials that gained without being accepted, best first.
        rival: a program about as good as the incumbent by the objective and clearly better by the other
            measures, or None. What leads on from it may beat both.
    """

    operators: dict[str, float]
    families: dict[str, float]
    changes: dict[tuple[str, object], float]
    promising: tuple[tuple[Recipe, Recipe], ...]
    rival: Recipe | None = None

    def score(self, recipe: Recipe, move: Move) -> float:
        """Return the move's prior, corrected by what was learned."""
        family = FAMILY_OF.get(move.operator, move.operator)
        learned = OPERATOR_RATE * self.operators.get(move.operator, 0.0)
        learned += FAMILY_RATE * self.families.get(family, 0.0)
        for name in changed_attributes(recipe, move.recipe):
            units = self.changes.get((name, getattr(move.recipe, name)))
            if units is not None and units <= 0:
                # The same change failed from another program already.
                learned -= 0.7
        return move.prior * math.exp(max(-3.0, min(1.5, learned)))


def units(trial: Trial, brief: Brief) -> float:
    """Return what a trial gained over its parent, in units, within ±`MOST`."""
    if trial.fault:
        return FAULT
    others = [delta for name, delta in trial.deltas.items() if name != brief.objective]
    side = sum(others) / len(others) if others else 0.0
    gained = (trial.deltas.get(brief.objective, 0.0) + SIDE_WEIGHT * side) / UNIT
    return max(-MOST, min(MOST, gained))


def learn(brief: Brief) -> Lessons:
    """Return what the brief's trials teach. Trials whose parent is unknown teach nothing."""
    programs = [trial.program for trial in (*brief.history, brief.incumbent)]
    recipes = {program.id: recipe for program in programs if (recipe := _readable(program)) is not None}
    lessons = Lessons({}, {}, {}, ())
    promising: list[tuple[float, Recipe, Recipe]] = []
    for trial in brief.history:
        before, after = recipes.get(trial.parent or ""), recipes.get(trial.program.id)
        if before is None or after is None:
            continue
        gained = units(trial, brief)
        changed = [name for name in changed_attributes(before, after) if name in OPERATOR_OF]
        for name in changed:
            operator, share = OPERATOR_OF[name], (gained - COST) / len(changed)
            family, change = FAMILY_OF[operator], (name, getattr(after, name))
            lessons.operators[operator] = lessons.operators.get(operator, 0.0) + share
            lessons.families[family] = lessons.families.get(family, 0.0) + share
            lessons.changes[change] = min(gained, lessons.changes.get(change, gained))
        if gained > 0 and not trial.accepted and trial.deltas.get(brief.objective, 0.0) >= 0:
            promising.append((gained, before, after))
    promising.sort(key=lambda item: -item[0])
    pairs = tuple((before, after) for _, before, after in promising)
    return msgspec.structs.replace(lessons, promising=pairs, rival=_rival(brief, recipes))


def _side(trial: Trial, brief: Brief) -> float:
    others = [mean for name, mean in trial.means.items() if name != brief.objective]
    return sum(others) / len(others) if others else 0.0


def _rival(brief: Brief, recipes: dict[str, Recipe]) -> Recipe | None:
    incumbent = brief.incumbent
    allowed = min(RIVAL_MOST, RIVAL_QUERIES / max(brief.num_validation_queries, 1))
    least = incumbent.means.get(brief.objective, 0.0) - allowed
    rivals = [
        trial
        for trial in brief.history
        if trial.program.id in recipes
        and trial.means.get(brief.objective, -1.0) >= least
        and _side(trial, brief) >= _side(incumbent, brief) + RIVAL_GAIN
    ]
    if not rivals:
        return None
    best = max(rivals, key=lambda trial: trial.means[brief.objective] + SIDE_WEIGHT * _side(trial, brief))
    return recipes[best.program.id]


def _readable(program: Program) -> Recipe | None:
    """Return the recipe of a program that was tried, whoever proposed it; None where it has none."""
    try:
        return recipe_of(program.source)
    except ProposerError:
        return None
