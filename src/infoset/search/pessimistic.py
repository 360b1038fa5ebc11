"""Search with pessimistic scenarios, for any game (after Osogami & Takahashi 2019).

A *scenario* is one sequence of what all others, and nature, do from now on, whatever the searcher does: below it lies a
tree of the searcher's own moves alone, in which ways that come to the same place are one, so that it is cheap to go
deep.  It is pessimistic: of several things that the others may do in a step, they do the one that leaves the searcher
the least, by the mean over all places where it may be.  A move is worth what the best sequence of moves behind it comes
to, and a little of what all of them do: who has many ways out is better off than who has one.

Scenarios are begun, each in a world that the searcher holds possible, as long as the clock runs; their values are
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
from infoset.search.monte_carlo import Budget, GraphAgent, seed_of
from infoset.search.ranges import Range, drawn
from infoset.tree.graph import CHANCE, TERMINAL, spread

ROOM = 0.1  # of a place's worth is the mean over the moves there; the rest is the best of them
WIDEST = 1000  # places of a layer; before one that is wider a scenario ends


@dataclass(frozen=True)
class Pessimistic(Budget):
    """A tree of its own moves over sequences of the others' that leave it little."""

    steps: int = 10
    """Of a scenario."""
    pessimism: int = 4
    """Of so many things that the others may do in a step, drawn at random, they do the worst; 1: of one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("steps", self.steps, 1, 1000)
        check_range("pessimism", self.pessimism, 1, 1000)

    def agent(self) -> GraphAgent:
        """The agent."""
        return PessimisticAgent(self)


class _Step(NamedTuple):
    """What one step of a scenario makes of the places of a layer."""

    behind: LongArray  # (K,) positions that differ
    worth: FloatArray  # (K,) to the searcher: of ends what they pay, else what random plays do
    source: LongArray  # (E,) by way of each of its moves: from this row of the layer
    target: LongArray  # (E,) to this row of ``behind``


class _Doings:
    """What the others and nature do in a step: the same in every position, as far as it can be done there."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.point = rng, float(rng.random())
        self.rank: dict[tuple[int, Action], float] = {}

    def move(self, mover: int, moves: tuple[Action, ...]) -> int:
        """Which of the moves: every one is as likely."""
        for move in moves:
            if (mover, move) not in self.rank:
                self.rank[mover, move] = float(self.rng.random())
        return max(range(len(moves)), key=lambda k: self.rank[mover, moves[k]])

    def answer(self, chances: FloatArray) -> int:
        """Which of nature's answers: each as likely as it is."""
        return int(np.searchsorted(np.cumsum(chances[:-1]), self.point, side="right"))


class PessimisticAgent(GraphAgent):
    """Averages scenarios."""

    name = "pessimistic"

    def __init__(self, budget: Pessimistic) -> None:
        super().__init__(budget)
        self.steps, self.pessimism = budget.steps, budget.pessimism

    def search(self, roots: Range, size: int, until: float) -> FloatArray:
        rng = np.random.default_rng(seed_of(self.seed, self.moved))
        total, self.valued, scenarios = np.zeros(size), 0, 0
        while not self.valued or not self.budget.nodes or self.valued < self.budget.nodes:
            world = drawn(roots, 1, rng).position
            try:
                with self.graph.held(Clock(until)):
                    scenarios += 1  # the first ones are short, so that there is something to go by
                    total += self._scenario(world, min(scenarios, self.steps), rng)
            except ClockError:
                break
            except BudgetError:
                if not total.any():  # on a graph begun at this move there may be room
                    raise
                break
        row = np.zeros(size)
        row[int(np.argmax(total))] = float(total.any())
        return row

    def _scenario(self, world: LongArray, steps: int, rng: np.random.Generator) -> FloatArray:
        """What each of its moves is worth, as shares of the payoffs' range, all more than 0."""
        step, worth = self._look(world, steps, rng)
        low, high = self.graph.source.bounds
        return 1e-6 + (worth[step.target] - low) / (high - low if high > low else 1.0)

    def _look(self, layer: LongArray, steps: int, rng: np.random.Generator) -> tuple[_Step, FloatArray]:
        """The step that the others make of a layer, and what the places behind it are worth."""
        step = min((self._step(layer, rng) for _ in range(self.pessimism)), key=lambda each: float(each.worth.mean()))
        alive = np.flatnonzero(self.graph.player[step.behind] != TERMINAL)
        if steps > 1 and 0 < len(alive) <= WIDEST:
            step.worth[alive] = _best(*self._look(step.behind[alive], steps - 1, rng), len(alive))
        return step, step.worth

    def _step(self, layer: LongArray, rng: np.random.Generator) -> _Step:
        """All of its own moves, beside something that the others do."""
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
        behind, target = distinct(np.concatenate(ended))
        worth = graph.worth(behind, self.budget.playouts, int(rng.integers(2**31)))[:, self.player]
        self.valued += len(behind)
        return _Step(behind, worth, np.concatenate(sources), target)

    def _edges(self, now: LongArray, doings: _Doings) -> tuple[LongArray, LongArray]:
        """Out of positions: all edges where it moves itself, else one; and the rows of ``now`` that they leave."""
        graph = self.graph
        mover, content = graph.player[now], graph.content[now]
        first, size = graph.first[now].astype(np.int64), graph.num_edges[now]
        chosen = np.zeros(len(now), dtype=np.int64)
        for k in np.flatnonzero((mover == CHANCE) & (size > 1)).tolist():
            chosen[k] = doings.answer(graph.probability[first[k] : first[k] + size[k]])
        menus, menu = distinct(content.astype(np.int64) * (len(graph.players) + 1) + mover)
        for number in range(len(menus)):
            alike = np.flatnonzero(menu == number)
            at = int(alike[0])
            if mover[at] not in (CHANCE, self.player) and size[at] > 1:
                chosen[alike] = doings.move(int(mover[at]), graph.moves(int(now[at])))
        own = mover == self.player
        edges, source = spread(graph, now)
        kept = own[source] | (edges == (first + chosen)[source])
        return edges[kept], source[kept]


def _best(step: _Step, worth: FloatArray, size: int) -> FloatArray:
    """(size,) what the places of a layer are worth by what those behind them are."""
    found, best = worth[step.target], np.full(size, -np.inf)
    np.maximum.at(best, step.source, found)
    mean = np.bincount(step.source, found, size) / np.bincount(step.source, minlength=size)
    return np.asarray((1 - ROOM) * best + ROOM * mean)
