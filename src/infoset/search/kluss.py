"""``kluss``: knowledge-limited unfrozen subgame solving, on a tree that grows while it is solved.

At every move the subgame begins in a sample of the histories that agree with what the player saw, and in others that
the opponent holds possible there (Zhang & Sandholm 2025, arXiv 2506.01242).  The last move's solution is carried over:
what it says below these histories, and what each of the opponent's information sets was worth there, which the opponent
may take instead of entering (the resolving gadget).  Nothing of the player's own strategy is frozen.  The first subgame
is the game itself from its start; where all of it has been expanded, the later moves continue to solve it.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import ClassVar, NamedTuple

import numpy as np

from infoset.base import Action, FloatArray, LongArray, ObservationRecord
from infoset.clock import Clock
from infoset.errors import ClockError
from infoset.interning import distinct, longer
from infoset.names import check_choice, check_range
from infoset.search.belief import Belief, drawn, merged, systematic, whole
from infoset.search.growing_solver import AVERAGE, PLAYED, GrowingSolver, KnownLeaves
from infoset.search.growing_subgame import INFOSETS, LEAF, NONE, SLOTS, evaluate_average
from infoset.search.monte_carlo import Budget, GraphAgent, seed_of
from infoset.search.roots import order_two
from infoset.search.tree_search import RandomPlays
from infoset.tree.lazy_graph import OUTSIDE
from infoset.tree.rules_source import RulesSource

SIDE_BY_SIDE = 16  # random plays of a described game that take hardly longer than one
BEGINNING = 0.4  # share of the first move's clock for a search from the start of the game
FAMILIAR = 0.01  # probability, at least, of the information state of the first move for the search to go on from there
ON_THE_WAY = 1e-300  # the same where the tree has been expanded to its ends: anything but an unknown state
COMMON = 400  # histories, at most, for a subgame to begin in all that are common knowledge
PURE = 0.1  # actions with a smaller share of the likeliest action's probability are not played
DOUBT = 0.1  # share of uniform play in what the others are assumed to have played
CACHED = 64  # searches at earlier decisions that are kept while probabilities are reported


@dataclass(frozen=True)
class Kluss(Budget):
    """Knowledge-limited unfrozen subgame solving (Zhang & Sandholm 2025) on a tree that grows while it is solved."""

    playouts: int = 0
    """Random playouts from each leaf; 0: as many as are made side by side, 16 of described games and 1 of others."""
    worlds: int = 20
    """Number of worlds drawn from the player's belief at each move."""
    others: int = 2
    """Further worlds of each of the others' information sets there, in the mean."""
    exploration: float = 0.5
    """The exploration constant, for payoffs scaled to between 0 and 1."""
    played: str = AVERAGE
    """``average``: the average strategy; ``last``: that of the last iteration."""

    fewest_playouts: ClassVar[int] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("worlds", self.worlds, 1, 100_000)
        check_range("others", self.others, 0, 100_000)
        check_choice("played", self.played, PLAYED)

    def agent(self) -> KlussAgent:
        """Return the agent."""
        return KlussAgent(self)


class _Searched(NamedTuple):
    """What a search leaves for the next move."""

    solver: GrowingSolver
    row_of: LongArray  # (information states,) where the last strategy that was found begins in ``rows``, or NONE
    rows: FloatArray


class KlussAgent(GraphAgent):
    """The agent ``kluss``, which keeps the last move's subgame for the next one."""

    name = "kluss"

    def __init__(self, budget: Kluss) -> None:
        super().__init__(budget)
        self.kluss = budget
        self.cached: OrderedDict[tuple[str, int, tuple[ObservationRecord, ...]], _Searched] = OrderedDict()

    def prepare(self) -> None:
        self.last: _Searched | None = None
        self.ranges.actions = self.model
        playouts = self.kluss.playouts or (1 if isinstance(self.graph.source, RulesSource) else SIDE_BY_SIDE)
        self.evaluation = KnownLeaves(RandomPlays(self.graph, playouts, self.seed), len(self.game.players))

    def report_probabilities(self, legal_actions: tuple[Action, ...]) -> Sequence[float]:
        """Return its move probabilities, after a search at each of its own earlier decisions."""
        pending, path = list(self.heard), list[ObservationRecord]()
        self.heard.clear()
        for record in pending:
            if record[0] is not None:
                self._search_again(tuple(path), None)
            path.append(record)
            self.heard.append(record)
        row = self._search_again(tuple(path), legal_actions)
        return [1.0 / len(legal_actions)] * len(legal_actions) if row is None else row

    def _search_again(
        self, path: tuple[ObservationRecord, ...], legal_actions: tuple[Action, ...] | None
    ) -> list[float] | None:
        """Search at a decision, or return to what was kept of it; return its probabilities where they are asked for."""
        key = self.game.name, self.player, path
        if legal_actions is None and key in self.cached:
            self.last = self.cached[key]
            self.moved += 1
            return None
        if legal_actions is None:
            with self.graph.growing():
                found = self._asked()
            if found is None or not found.size:
                return None
            legal_actions = self.graph.action_set(int(found.position[0]), self.player)
        if len(legal_actions) == 1:
            return [1.0]
        self.began = time.monotonic()
        row = self._row_in_time(legal_actions, self._until(None))
        self.moved += 1
        if self.last is not None:
            self.cached[key] = self.last
            if len(self.cached) > CACHED:
                self.cached.popitem(last=False)
        return row

    def model(self, edges: LongArray, infostate: LongArray) -> FloatArray:
        """Return the probabilities of edges (K,) by what earlier searches found, mixed with uniform play."""
        g = self.graph.arrays
        at = g.source[edges]
        size = g.size[at]
        found = np.asarray(1.0 / size)
        if self.last is None:
            return found
        met = np.flatnonzero(infostate < len(self.last.row_of))
        begin = self.last.row_of[infostate[met]]
        met, begin = met[begin != NONE], begin[begin != NONE]
        found[met] = DOUBT / size[met] + (1 - DOUBT) * self.last.rows[begin + (edges - g.first[at])[met]]
        return found

    def _keep(self, solver: GrowingSolver) -> None:
        """Keep a search, and its average strategies beside those of earlier ones."""
        tree, last = solver.tree, self.last
        row_of = longer(np.zeros(0, np.int64), len(self.graph.states))
        row_of[:] = NONE
        rows = np.zeros(0)
        if last is not None:
            row_of[: len(last.row_of)], rows = last.row_of[: len(row_of)], last.rows
        count, slots = int(tree.filled[INFOSETS]), int(tree.filled[SLOTS])
        sizes = np.diff(tree.begin[: count + 1])
        total = np.add.reduceat(tree.average[:slots], tree.begin[:count]) if count else np.zeros(0)
        good = np.flatnonzero((tree.state[:count] != NONE) & (total > 0))
        row_of[tree.state[good]] = tree.begin[good] + len(rows)
        average = tree.average[:slots] / np.maximum(np.repeat(total, sizes), 1e-300)
        self.last = _Searched(solver, row_of, np.concatenate([rows, average]))

    def search(self, roots: Belief, size: int, until: float) -> FloatArray:
        seed, leaves = seed_of(self.seed, self.moved), self.kluss.nodes
        with self.graph.growing(Clock(until)):
            if self.last is None:
                now = time.monotonic()
                solver = self._new(seed)
                solver.plant(whole(self.graph), np.full(1, NONE), 0, np.zeros(0), None)
                solver.run(leaves // 2, now + BEGINNING * (until - now))
                self._keep(solver)
                needed = ON_THE_WAY if solver.complete else FAMILIAR
            else:
                solver = self.last.solver
                needed = ON_THE_WAY if solver.complete else inf
            if solver.mass(self.state) < needed:
                with suppress(ClockError):  # else the last solution has to do
                    solver = self._continue(self._new(seed + 1), solver, roots)
            solver.run(leaves, until)
        self._keep(solver)
        row = solver.row(self.state, self.kluss.played)
        if row is None or len(row) != size:
            return np.zeros(size)
        row = np.where(self.offered, row, 0.0)
        if not solver.complete:  # small probabilities come from noise, in an equilibrium from a purpose
            row[row < PURE * row.max()] = 0.0
        return row / row.sum() if row.any() else row

    def _new(self, seed: int) -> GrowingSolver:
        return GrowingSolver(self.graph, self.evaluation, self.player, self.kluss.exploration, seed)

    def _continue(self, solver: GrowingSolver, before: GrowingSolver, mine: Belief) -> GrowingSolver:
        """Begin in the present belief and in what else the others hold possible there.  Raises ``ClockError``."""
        b, rng = self.kluss, self.ranges.generator(self.state)
        if len(self.game.players) == 2:
            roots, gate, exits = self._roots_of_two(before, drawn(mine, b.worlds, rng), rng)
        else:
            roots = order_two(self.ranges, self.player, self.state, b.worlds, b.others, rng)
            gate, exits = np.full(roots.size, NONE), np.zeros(0)
        solver.plant(roots, gate, 1 - self.player, exits, before)
        t = solver.tree
        leaves = np.flatnonzero(t.infoset[: solver.nodes] == LEAF)
        solver.expand(leaves[t.infostate[leaves, self.player] == self.state])
        return solver

    def _roots_of_two(
        self, before: GrowingSolver, mine: Belief, rng: np.random.Generator
    ) -> tuple[Belief, LongArray, FloatArray]:
        """Return the worlds of a subgame for two players, and the opponent's choice to enter them.

        Each of the opponent's information sets in the belief has the worlds of the belief, and others that the last
        tree has of it.  Half of the weight is spread over the sets by the belief, half equally.
        """
        owner, state = 1 - self.player, self.state
        t, g = before.tree, self.graph.arrays
        evaluate_average(t, owner)
        nodes = np.flatnonzero(t.position[: before.nodes] != NONE)
        here = t.position[nodes]
        nodes = nodes[(g.via[here] == OUTSIDE) & self.graph.decides(here, self.player)]
        sets, steps, found = distinct(mine.infostate[:, owner])[0], 1, nodes[:0]
        while True:  # two steps of knowledge, or all where few histories are common knowledge
            wider = nodes[np.isin(t.infostate[nodes, owner], sets)]
            if steps > 1 and (len(wider) == len(found) or len(wider) > COMMON):
                break
            found, steps = wider, steps + 1
            confused = nodes[np.isin(t.infostate[nodes, self.player], t.infostate[found, self.player])]
            sets = np.union1d(sets, t.infostate[confused, owner])
        nodes = found
        sets = distinct(np.concatenate([mine.infostate[:, owner], t.infostate[nodes, owner]]))[0]
        order = np.argsort(sets)
        which = order[np.searchsorted(sets, t.infostate[nodes, owner], sorter=order)]
        weight = t.weight[nodes]
        total = np.bincount(which, weight, len(sets))
        value = np.bincount(which, weight * t.found[nodes], len(sets))
        away = t.infostate[nodes, self.player] != state
        share = np.bincount(which[~away], weight[~away], len(sets)) / np.maximum(total, 1e-300)
        share[share == 0] = 0.5
        found = Belief(
            t.position[nodes[away]], t.infostate[nodes[away]], weight[away] / np.maximum(total, 1e-300)[which[away]]
        )
        most = max(self.kluss.worlds * self.kluss.others, COMMON if steps > 2 else 0)
        if found.size > most:
            found = merged(found.take(systematic(found.weight, most, rng))._replace(weight=np.ones(most)))
        else:
            found = merged(found)
        place = order[np.searchsorted(sets, mine.infostate[:, owner], sorter=order)]
        place_away = order[np.searchsorted(sets, found.infostate[:, owner], sorter=order)]
        mass_away = np.bincount(place_away, found.weight, len(sets))
        mass = np.bincount(place, mine.weight, len(sets))
        share[mass_away == 0], share[mass == 0] = 1.0, 0.0
        joint = np.bincount(which, t.weight[nodes] * t.reach[nodes], len(sets))
        if (mass[joint == 0] > 0).any() or not joint.any():
            joint = mass
        prior = 0.5 * joint / joint.sum() + 0.5 / len(sets)
        mine = mine._replace(weight=mine.weight * (prior * share)[place] / mass[place])
        found = found._replace(weight=found.weight * (prior * (1 - share) / np.maximum(mass_away, 1e-300))[place_away])
        roots = Belief(*[np.concatenate(parts) for parts in zip(mine, found, strict=True)])
        roots = roots._replace(weight=roots.weight / roots.weight.sum())
        has = total > 1e-12
        gate = np.where(has, np.cumsum(has) - 1, NONE)[np.concatenate([place, place_away])]
        return roots, gate.astype(np.int64), value[has] / total[has]
