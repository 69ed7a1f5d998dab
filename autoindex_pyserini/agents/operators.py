"""`OperatorProposer`: proposes by applying operators, and learns from what happened which ones pay."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import msgspec

from autoindex_pyserini.agents.moves import Move, moves
from autoindex_pyserini.agents.proposer import Brief, Proposal, Trial
from autoindex_pyserini.agents.recipe import Recipe, changed_attributes, merge, phrases
from autoindex_pyserini.agents.render import parse, recipe_of, render
from autoindex_pyserini.program import Program


class OperatorProposer:
    """Searches the space of recipes: diverse mechanisms first, then what pays.

    Args:
        seed: breaks ties and jitters the priors, so that several runs look at different candidates.
    """

    name = "operators"

    def __init__(self, seed: int = 0) -> None:
        """Take the seed; nothing else is kept between calls."""
        self.seed = seed

    def propose(self, brief: Brief, count: int) -> list[Proposal]:
        """Return up to `count` steps from the incumbent, of as many different operators as possible."""
        recipe = recipe_of(brief.incumbent.program.source)
        chance = random.Random(f"{self.seed}:{brief.round}")
        scored = [(self._score(move, brief) * math.exp(chance.gauss(0, 0.15)), move) for move in moves(recipe, brief)]
        scored.sort(key=lambda pair: -pair[0])
        tried = {trial.program.id for trial in brief.history} | {brief.incumbent.program.id}
        chosen: list[Proposal] = []
        used: set[str] = set()
        for fresh in (True, False):
            for _, move in scored:
                if len(chosen) >= count:
                    break
                program = Program(render(move.recipe))
                if program.id in tried or (fresh and move.operator in used):
                    continue
                tried.add(program.id)
                used.add(move.operator)
                chosen.append(Proposal(program, move.hypothesis, brief.incumbent.program.id, (move.operator,)))
        return chosen

    def _score(self, move: Move, brief: Brief) -> float:
        return move.prior

    def combine(self, brief: Brief, passed: Sequence[Trial]) -> Proposal | None:
        """Return the union of the changes, the largest gain deciding where two changed the same thing."""
        sources = {trial.program.id: trial.program.source for trial in [brief.incumbent, *brief.history]}
        parents = {trial.parent for trial in passed}
        if len(passed) < 2 or len(parents) != 1:
            return None
        parent = sources.get(parents.pop() or "", brief.incumbent.program.source)
        base = recipe_of(parent)
        ordered = sorted(passed, key=lambda trial: -trial.deltas.get(brief.objective, 0.0))
        children = [recipe for recipe in (parse(trial.program.source) for trial in ordered) if recipe is not None]
        merged = merge(base, children)
        program = Program(render(merged))
        known = set(sources) | {trial.program.id for trial in passed}
        if len(children) < 2 or program.id in known:
            return None
        gains = "; ".join(phrases(msgspec.structs.replace(merged, base="")))
        changed = tuple(dict.fromkeys(name for child in children for name in changed_attributes(base, child)))
        return Proposal(program, f"what helped alone may help together: {gains}", Program(parent).id, changed)


__all__ = ["OperatorProposer", "Recipe"]
