"""The agent that solves a subgame from its current belief at every move, where a game has too many positions.

Subgames are those of ``subgame_solver``, on a lazy graph; random playouts evaluate the positions at their horizon.
"""

from __future__ import annotations

from math import inf

from infoset.base import Action, FloatArray, LongArray
from infoset.errors import ClockError
from infoset.search.monte_carlo import Budget, GraphAgent
from infoset.search.subgame_solver import Effort, SubgameSolver


class SubgameAgent(GraphAgent):
    """An agent that solves subgames by PCFR+, ever deeper while the clock runs; ``root`` says where they begin.

    Unless the clock cuts a search short, its probabilities follow from the budget's seed and its information state
    alone.
    """

    def __init__(self, budget: Budget, root: str, effort: Effort) -> None:
        super().__init__(budget)
        self.name, self.root, self.effort = root, root, effort

    def prepare(self) -> None:
        self.ranges.seed = self.budget.seed
        self.solver = SubgameSolver(self.ranges, self._leaf_values, self.root, self.effort)

    def compute_probabilities(self, legal_actions: tuple[Action, ...], until: float) -> list[float] | None:
        """Return the probabilities of the deepest subgame that was solved in time."""
        roots = self.roots(legal_actions, until)
        if roots is None or self.graph.action_set(int(roots.position[0]), self.player) != legal_actions:
            return None
        if self.state in self.ranges.near:  # histories with different action sets have no common subgame
            return None
        self.plays = int(self.ranges.generator(self.state).integers(2**31))
        if until < inf:
            self.solver.allow_until(until)
        row = self.solver.strategy_at(self.player, self.state)
        if row is None:
            raise ClockError(
                f"the time limit was reached before the first subgame was solved, after {self.moved} moves"
            )
        return row

    def _leaf_values(self, positions: LongArray) -> FloatArray:
        """Return values by random playouts, while the graph's clock runs."""
        return self.graph.estimate_values(positions, self.budget.playouts, self.plays)
