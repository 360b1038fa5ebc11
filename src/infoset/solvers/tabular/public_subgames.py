"""Games solved piece by piece: every public position's subgame once, the last first, each ending in those behind it.

With two players and a constant sum the profile is an equilibrium of the whole game, since a subgame has one value; with
more it is a subgame-perfect choice of equilibria, and ``evaluate`` says how good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, IntArray
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.metrics import Evaluation, evaluate, expected_values
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.solvers.tabular.linear_program import linear_program
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import GameGraph
from infoset.tree.sequence_form import SequenceForm
from infoset.tree.subgames import cut, public_positions

ITERATIONS = 2000

Mask: TypeAlias = npt.NDArray[np.bool_]

Oracle: TypeAlias = Callable[[GameTree, SequenceForm], FloatArray]
"""From a game to realisation weights (S,)."""


@dataclass(frozen=True, eq=False)
class PublicSolution:
    """A profile as one table for each public position: keys are what a player did and saw since it was there."""

    graph: GameGraph
    roots: IntArray  # (R,) public positions that are no ends, in topological order
    policies: tuple[TabularPolicy, ...] = field(repr=False)  # (R,)
    worth: FloatArray = field(repr=False)  # (P, n) every player's payoff from each root on; 0 elsewhere

    @property
    def values(self) -> tuple[float, ...]:
        """Every player's payoff of the whole game."""
        return tuple(self.worth[0].tolist())

    @property
    def num_infosets(self) -> int:
        return sum(policy.num_infosets for policy in self.policies)


def solve_public(
    graph: GameGraph,
    oracle: Oracle | None = None,
    max_histories: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PublicSolution:
    """Solve every public subgame: by linear programming where it is zero-sum, else by PCFR+, or by ``oracle``.

    ``progress`` is told how many subgames of how many are solved.  Raises ``BudgetError`` for one too large.

    >>> from infoset.solvers.tabular.public_subgames import solve_public
    >>> from infoset.tree.graph import explore
    >>> solution = solve_public(explore(infoset.load("gdl:meier")))
    >>> round(solution.values[0], 6)
    64.793901
    """
    roots, public = _roots(graph)
    worth = np.zeros((len(graph.player), len(graph.players)))
    policies: list[TabularPolicy] = []
    for done, root in enumerate(roots[::-1].tolist()):
        tree, form = _piece(graph, root, public, worth, max_histories)
        plan = (oracle or equilibrium)(tree, form)
        worth[root] = expected_values(form, plan)
        policies.append(TabularPolicy.from_plan(form, plan, {"method": "public-subgames"}))
        if progress:
            progress(done + 1, len(roots))
    return PublicSolution(graph, roots, tuple(policies[::-1]), worth)


def evaluate_public(solution: PublicSolution) -> Evaluation:
    """Exact figures of the whole profile: best responses, too, are found piece by piece.

    >>> from infoset.solvers.tabular.public_subgames import evaluate_public, solve_public
    >>> from infoset.tree.graph import explore
    >>> evaluate_public(solve_public(explore(infoset.load("gdl:meier")))).nash_conv < 1e-9
    True
    """
    graph, public = solution.graph, np.zeros(len(solution.graph.player), dtype=np.bool_)
    public[solution.roots] = True
    best, n = np.zeros_like(solution.worth), len(graph.players)
    values = np.zeros_like(solution.worth)
    for root, policy in zip(solution.roots[::-1].tolist(), solution.policies[::-1], strict=True):
        _, form = _piece(graph, root, public, best)
        best[root] = evaluate(form, policy.plan(form)).best_response_values
        _, form = _piece(graph, root, public, values)
        values[root] = expected_values(form, policy.plan(form))
    gains = np.maximum(best[0] - values[0], 0.0)
    total = float(gains.sum())
    return Evaluation(total, total / n, float(gains.max()), tuple(values[0].tolist()), tuple(best[0].tolist()))


def equilibrium(tree: GameTree, form: SequenceForm) -> FloatArray:
    """Exact where a linear program finds it, else the average of ``ITERATIONS`` iterations."""
    if form.zero_sum:
        return linear_program(form)
    solver = pcfr_plus().solver(form)
    solver.step(ITERATIONS)
    return solver.average()


def _roots(graph: GameGraph) -> tuple[IntArray, Mask]:
    positions = public_positions(graph)
    positions = positions[graph.num_edges[positions] > 0]  # ends say themselves what they are worth
    public = np.zeros(len(graph.player), dtype=np.bool_)
    public[positions] = True
    return positions, public


def _piece(
    graph: GameGraph, root: int, public: Mask, worth: FloatArray, max_histories: int | None = None
) -> tuple[GameTree, SequenceForm]:
    tree = GameTree.unroll(cut(graph, root, public, worth), max_histories)
    return tree, SequenceForm.of(tree)
