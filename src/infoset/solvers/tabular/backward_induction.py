"""Backward induction for games of perfect information, in fractions.

Where both players of a zero-sum game act at once, ``stages`` solves every state as a matrix game instead.

It goes from the terminal positions up (Zermelo 1913; Kuhn 1953) and yields an equilibrium of every subgame.  Among
equally good moves the first legal one is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from infoset import status
from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.compiled import Compiled
from infoset.errors import UnsupportedGameError
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Job, Limits
from infoset.solvers.method import Checked
from infoset.solvers.tabular.solver import OneShotProfile
from infoset.solvers.tabular.stages import StageJob
from infoset.tree.exact_numbers import exact_probabilities, simplest
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, TERMINAL, GameGraph
from infoset.tree.sequence_form import SequenceForm
from infoset.tree.stage_form import who_misses_something

Values = tuple[Fraction, ...]


def perfect_information(tree: GameTree) -> bool:
    """Return whether each information set with a choice has a single history.

    >>> from infoset.solvers.tabular.backward_induction import perfect_information
    >>> perfect_information(infoset.GameTree.of(infoset.load("kuhn_poker")))
    False
    """
    inside = tree.infoset >= 0
    choice = tree.graph.num_edges[tree.position[inside]] > 1
    return bool((np.bincount(tree.infoset[inside][choice]) < 2).all()) if choice.any() else True


@checks_arguments
def backward_induction(tree: GameTree, form: SequenceForm) -> tuple[FloatArray, Values]:
    """Return behaviour (S,) that is optimal in every subgame, and each player's payoff.

    Raises ``UnsupportedGameError`` where information is not perfect.

    >>> tree = infoset.GameTree.of(infoset.load("gdl:tic_tac_toe"))
    >>> print(*infoset.backward_induction(tree, infoset.SequenceForm.of(tree))[1])
    50 50
    """
    _check(tree)
    with status.during("going back from the ends of the game"):
        values, best = _induce(tree.graph)
    strategy = np.zeros(form.num_sequences)
    strategy[form.arrays.sequences[:-1]] = 1.0
    at = tree.position[tree.infoset_node[form.tree_infoset]]
    actions = np.array([best[position] for position in at.tolist()], dtype=np.int64)
    strategy[form.arrays.first.astype(np.int64) + actions] = 1.0
    return strategy, values


def _check(tree: GameTree) -> None:
    if not perfect_information(tree):
        inside = np.flatnonzero(tree.infoset >= 0)
        inside = inside[tree.graph.num_edges[tree.position[inside]] > 1]
        unsure = int(np.bincount(tree.infoset[inside]).argmax())
        raise UnsupportedGameError(
            f"{tree.name}: {tree.players[int(tree.infoset_player[unsure])]} cannot tell histories apart at "
            f"{tree.key(unsure)!r}; backward-induction needs perfect information. Try --method auto"
        )


def _induce(graph: GameGraph) -> tuple[Values, dict[int, int]]:
    """Return the values of the initial position and the best move of each position, counted from 0."""
    paid = [tuple(map(simplest, row)) for row in graph.payoffs.tolist()]
    probabilities = exact_probabilities(graph)
    values: dict[int, Values] = {}
    best: dict[int, int] = {}
    for position in _from_the_ends(graph):
        mover, edges = int(graph.player[position]), range(*graph.first_edge[position : position + 2].tolist())
        if mover == TERMINAL:
            values[position] = paid[int(graph.content[position])]
            continue
        after = [values[int(graph.child[edge])] for edge in edges]
        if mover == CHANCE:
            weights = [probabilities[edge] for edge in edges]
            mixed = [sum(w * one[p] for w, one in zip(weights, after, strict=True)) for p in range(len(graph.players))]
            values[position] = tuple(map(Fraction, mixed))
            continue
        best[position] = max(range(len(after)), key=lambda k: after[k][mover])  # the first of equals
        values[position] = after[best[position]]
    return values[0], best


def _from_the_ends(graph: GameGraph) -> Iterator[int]:
    """Yield every position once, after all its successors."""
    first, child = graph.first_edge.tolist(), graph.child.tolist()
    seen, stack = {0}, [(0, first[0])]
    while stack:
        position, edge = stack.pop()
        if edge == first[position + 1]:
            yield position
            continue
        stack.append((position, edge + 1))
        if (below := child[edge]) not in seen:
            seen.add(below)
            stack.append((below, first[below]))


@dataclass(frozen=True)
class BackwardInduction(Checked):
    """Perfect information: best in every subgame, in fractions; of two players also with simultaneous actions."""

    takes: ClassVar[frozenset[str]] = frozenset({"target", "seconds"})
    default: ClassVar[Limits] = Limits()

    name: ClassVar[str] = "backward-induction"

    def job(self, compiled: Compiled, config: SolveConfig) -> Job:
        """Return the work on a game, over its stages where it describes them or its players act at once.

        Raises ``UnsupportedGameError`` where information is not perfect.
        """
        if compiled.only_form or (not compiled.describes_stages and compiled.fits()):
            if perfect_information(compiled.tree):
                return BackwardInductionJob(compiled)
            if who_misses_something(compiled.tree.graph) is not None:
                _check(compiled.tree)
        return StageJob(compiled.stages, self.name)


class BackwardInductionJob(OneShotProfile):
    """Backward induction at work on a game."""

    def __init__(self, compiled: Compiled) -> None:
        super().__init__(compiled.form, BackwardInduction.name, lambda: self._find(compiled))
        self.values: Values = ()

    def _find(self, compiled: Compiled) -> FloatArray:
        strategy, self.values = backward_induction(compiled.tree, compiled.form)
        return strategy

    def notes(self) -> dict[str, Any]:
        """Return the payoffs as fractions."""
        return {"exact_values": [str(value) for value in self.values]} if self.values else {}
