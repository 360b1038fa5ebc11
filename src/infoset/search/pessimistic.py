"""Search with pessimistic scenarios, for any game (after Osogami & Takahashi 2019).

A *scenario* is one sequence of moves of all others, and of chance, from now on, whatever the searcher does.  It leaves
a tree of the searcher's own moves alone, in which paths to the same position are merged, so that it is cheap to search
deeply.  It is pessimistic: of several alternatives for the others in a step, it uses the one with the lowest mean value
for the searcher, over all positions that may be reached.  The value of a move is mostly that of the best sequence of
moves after it, with a small share of the mean of all: many good continuations are better than one.

Scenarios are begun, each in a world drawn from the searcher's belief, as long as the clock runs; their values are
averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from infoset.base import Action, FloatArray, LongArray
from infoset.clock import Clock
from infoset.errors import BudgetError, ClockError
from infoset.interning import distinct
from infoset.names import check_range
from infoset.search.histories import Belief, drawn
from infoset.search.monte_carlo import Budget, GraphAgent, seed_of
from infoset.tree.graph import CHANCE, TERMINAL, spread

ROOM = 0.1  # share of the mean over the moves in a position's value; the rest is their maximum
LONGEST_SCENARIO = 1000  # steps
WIDEST = 1000  # greatest number of positions of a layer; a scenario ends before a larger one


@dataclass(frozen=True)
class Pessimistic(Budget):
    """A tree of its own moves over sequences of the others' that leave it little."""

    steps: int = 10
    """Number of steps of a scenario."""
    pessimism: int = 4
    """Number of alternatives for the others in a step, drawn at random, of which the worst is used; 1: just one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("steps", self.steps, 1, LONGEST_SCENARIO)
        check_range("pessimism", self.pessimism, 1, 1000)

    def agent(self) -> GraphAgent:
        """Return the agent."""
        return PessimisticAgent(self)


class _Step(NamedTuple):
    """The result of one step of a scenario from the positions of a layer."""

    reached: LongArray  # (K,) the distinct positions reached
    reached_values: FloatArray  # (K,) the searcher's payoffs at terminal positions, else means of random playouts
    source: LongArray  # (E,) for each of its moves: the row of the layer that it leaves
    target: LongArray  # (E,) the row of ``reached`` that it reaches


class _Doings:
    """The moves of the others and of chance in a step: the same in every position, where they are legal there."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.point = rng, float(rng.random())
        self.rank: dict[tuple[int, Action], float] = {}

    def action(self, mover: int, actions: tuple[Action, ...]) -> int:
        """Return which of the moves is made; all are equally likely."""
        for action in actions:
            if (mover, action) not in self.rank:
                self.rank[mover, action] = float(self.rng.random())
        return max(range(len(actions)), key=lambda k: self.rank[mover, actions[k]])

    def answer(self, probabilities: FloatArray) -> int:
        """Return which of chance's outcomes occurs, by their probabilities."""
        return int(np.searchsorted(np.cumsum(probabilities[:-1]), self.point, side="right"))


class PessimisticAgent(GraphAgent):
    """The agent ``pessimistic``, which averages scenarios."""

    name = "pessimistic"

    def __init__(self, budget: Pessimistic) -> None:
        super().__init__(budget)
        self.steps, self.pessimism = budget.steps, budget.pessimism

    def search(self, roots: Belief, size: int, until: float) -> FloatArray:
        rng = np.random.default_rng(seed_of(self.seed, self.moved))
        total, self.valued, scenarios = np.zeros(size), 0, 0
        while not self.valued or not self.budget.nodes or self.valued < self.budget.nodes:
            world = drawn(roots, 1, rng).position
            try:
                with self.graph.growing(Clock(until)):
                    scenarios += 1  # the first ones are short, so that there is a result early
                    total += self._scenario(world, min(scenarios, self.steps), rng)
            except ClockError:
                break
            except BudgetError:
                if not total.any():  # a graph begun at this move may have room
                    raise
                break
        row = np.zeros(size)
        row[int(np.argmax(total))] = float(total.any())
        return row

    def _scenario(self, world: LongArray, steps: int, rng: np.random.Generator) -> FloatArray:
        """Return the values of its moves in one scenario, scaled to the payoffs' range and shifted to be above 0."""
        step, reached_values = self._look(world, steps, rng)
        low, high = self.graph.source.bounds
        return 1e-6 + (reached_values[step.target] - low) / (high - low if high > low else 1.0)

    def _look(self, layer: LongArray, steps: int, rng: np.random.Generator) -> tuple[_Step, FloatArray]:
        """Return the worst of several steps for a layer, and the values of the positions that it reaches."""
        step = min(
            (self._step(layer, rng) for _ in range(self.pessimism)), key=lambda each: float(each.reached_values.mean())
        )
        alive = np.flatnonzero(self.graph.player[step.reached] != TERMINAL)
        if steps > 1 and 0 < len(alive) <= WIDEST:
            step.reached_values[alive] = _best(*self._look(step.reached[alive], steps - 1, rng), len(alive))
        return step, step.reached_values

    def _step(self, layer: LongArray, rng: np.random.Generator) -> _Step:
        """Make one step of a scenario: all own moves, with one choice of the others' and of chance's moves."""
        graph, doings = self.graph, _Doings(rng)
        now, source = layer, np.arange(len(layer))
        ended, sources = [], []
        while len(now):
            edges, at = self._edges(now, doings)
            graph.ask(edges)
            over, child = graph.ends(edges), graph.child[edges].astype(np.int64)
            ended.append(child[over])
            sources.append(source[at[over]])
            now, source = child[~over], source[at[~over]]
        reached, target = distinct(np.concatenate(ended))
        reached_values = graph.estimate_values(reached, self.budget.playouts, int(rng.integers(2**31)))[:, self.player]
        self.valued += len(reached)
        return _Step(reached, reached_values, np.concatenate(sources), target)

    def _edges(self, now: LongArray, doings: _Doings) -> tuple[LongArray, LongArray]:
        """Return the edges out of positions (all at own moves, else one), and the rows of ``now`` that they leave."""
        graph = self.graph
        mover, content = graph.player[now], graph.content[now]
        first, size = graph.first[now].astype(np.int64), graph.num_edges[now]
        chosen = np.zeros(len(now), dtype=np.int64)
        for k in np.flatnonzero((mover == CHANCE) & (size > 1)).tolist():
            chosen[k] = doings.answer(graph.probability[first[k] : first[k] + size[k]])
        action_sets, action_set = distinct(content.astype(np.int64) * (len(graph.players) + 1) + mover)
        for number in range(len(action_sets)):
            alike = np.flatnonzero(action_set == number)
            at = int(alike[0])
            if mover[at] not in (CHANCE, self.player) and size[at] > 1:
                chosen[alike] = doings.action(int(mover[at]), graph.actions(int(now[at])))
        own = mover == self.player
        edges, source = spread(graph, now)
        remaining = own[source] | (edges == (first + chosen)[source])
        return edges[remaining], source[remaining]


def _best(step: _Step, reached_values: FloatArray, size: int) -> FloatArray:
    """Return the values (size,) of the positions of a layer from those of their successors."""
    found, best = reached_values[step.target], np.full(size, -np.inf)
    np.maximum.at(best, step.source, found)
    mean = np.bincount(step.source, found, size) / np.bincount(step.source, minlength=size)
    return np.asarray((1 - ROOM) * best + ROOM * mean)
