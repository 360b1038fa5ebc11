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
from typing import ClassVar, NamedTuple

import numpy as np

from infoset.base import Action, FloatArray, LongArray, ObservationRecord
from infoset.clock import Clock
from infoset.errors import ClockError
from infoset.interning import distinct, sums
from infoset.names import check_choice, check_range
from infoset.search.belief import whole
from infoset.search.growing_solver import AVERAGE, PLAYED, GrowingSolver
from infoset.search.growing_subgame import INFOSETS, LEAF, NONE, SLOTS, evaluate_average
from infoset.search.histories import Belief, drawn, joined, merged
from infoset.search.leaf_values import CachedLeaves
from infoset.search.monte_carlo import Budget, GraphAgent, seed_of
from infoset.search.roots import order_two
from infoset.tree.lazy_graph import OUTSIDE, LazyGraph
from infoset.tree.rules_source import RulesSource

SIDE_BY_SIDE = 4  # random plays of a described game that take hardly longer than one
BEGINNING = 0.4  # share of the first move's clock for a search from the start of the game
LEAST_PROBABILITY = 0.01  # of the first move's information state, for the search to go on from the start of the game
COMMON = 400  # histories, at most, for a subgame to begin in all that are common knowledge
TINY = 1e-12  # smaller sums of weights are rounding errors and count as zero
PURE = 0.1  # actions with a smaller share of the likeliest action's probability are not played
DOUBT = 0.1  # share of uniform play in what the others are assumed to have played
CACHED = 64  # searches at earlier decisions that are kept while probabilities are reported


@dataclass(frozen=True)
class Kluss(Budget):
    """Knowledge-limited unfrozen subgame solving (Zhang & Sandholm 2025) on a tree that grows while it is solved.

    >>> from infoset.search.kluss import Kluss
    >>> infoset.evaluate("kuhn_poker", Kluss(nodes=200).agent()).exploitability < .02
    True
    """

    playouts: int = 0
    """Random playouts from each leaf; 0: as many as are made side by side, 4 of described games and 1 of others."""
    worlds: int = 20
    """Number of worlds drawn from the player's belief at each move."""
    others: int = 2
    """Further worlds of each of the others' information sets there, in the mean."""
    exploration: float = 0.5
    """The exploration constant, for values scaled to between the least and the greatest of the subgame."""
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
        self.cached: OrderedDict[tuple[int, int, tuple[ObservationRecord, ...]], tuple[_Searched, CachedLeaves]] = (
            OrderedDict()
        )
        self.cached_on: LazyGraph | None = None

    def prepare(self) -> None:
        self.last: _Searched | None = None
        self.ranges.actions = self.probabilities
        playouts = self.kluss.playouts or (1 if isinstance(self.graph.source, RulesSource) else SIDE_BY_SIDE)
        self.evaluation = CachedLeaves(self.evaluation_by(playouts, self.seed), len(self.game.players))

    def report_probabilities(self, legal_actions: tuple[Action, ...]) -> Sequence[float]:
        """Return its move probabilities, after a search at each of its own earlier decisions."""
        pending, path = list(self.heard), list[ObservationRecord]()
        self.heard.clear()
        for record in pending:
            if record[0] is not None:
                self._decide_again(tuple(path))
            path.append(record)
            self.heard.append(record)
        if len(legal_actions) == 1:
            return [1.0]
        row = self._search_now(legal_actions)
        return [1.0 / len(legal_actions)] * len(legal_actions) if row is None else row

    def _decide_again(self, path: tuple[ObservationRecord, ...]) -> None:
        """Search as it did at an earlier decision, unless what that left is cached."""
        with self.graph.growing():
            found = self._asked()  # also where it is cached: beliefs advance by what was known then
        if found is None or not found.size:
            return
        if self.cached_on is not self.graph:
            self.cached.clear()
            self.cached_on = self.graph
        key = self.seed, self.player, path
        if key in self.cached:
            self.last, evaluation = self.cached[key]
            self.evaluation = evaluation.copy()
            self.moved += 1
            return
        legal_actions = self.graph.action_set(int(found.position[0]), self.player)
        if len(legal_actions) > 1:
            self._search_now(legal_actions)
            if self.last is not None and self.cached_on is self.graph:  # which it replaces when it is full
                self.cached[key] = self.last, self.evaluation.copy()
                if len(self.cached) > CACHED:
                    self.cached.popitem(last=False)

    def _search_now(self, legal_actions: tuple[Action, ...]) -> list[float] | None:
        """Return the probabilities that it would play; ``None`` where it would move at random."""
        self.began = time.monotonic()
        row = self._row_in_time(legal_actions, self._until(None))
        self.moved += 1
        return row

    def probabilities(self, edges: LongArray, infostate: LongArray) -> FloatArray:
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

    def _remember(self, solver: GrowingSolver) -> None:
        """Remember a search, and its average strategies beside those of earlier ones."""
        tree, last = solver.tree, self.last
        row_of, rows = np.full(len(self.graph.states), NONE, dtype=np.int64), np.zeros(0)
        if last is not None:
            row_of[: len(last.row_of)], rows = last.row_of, last.rows
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
                solver = self._make_solver(seed)
                solver.begin(whole(self.graph), np.full(1, NONE), 0, np.zeros(0), None)
                solver.run(-(-leaves // 2), now + BEGINNING * (until - now))
                self._remember(solver)
                goes_on = solver.complete or solver.probability(self.state) >= LEAST_PROBABILITY
            else:
                solver = self.last.solver.copy()
                goes_on = solver.complete
            if not goes_on or solver.row(self.state, AVERAGE) is None:
                with suppress(ClockError):  # else the last solution has to do
                    solver = self._begin_subgame(self._make_solver(seed + 1), solver, roots)
            solver.run(leaves, until)
        self._remember(solver)
        row = solver.row(self.state, self.kluss.played)
        if row is None or len(row) != size:
            return np.zeros(size)
        row = np.where(self.offered, row, 0.0)
        if not solver.complete:  # small probabilities come from noise, in an equilibrium from a purpose
            row[row < PURE * row.max()] = 0.0
        return row / row.sum() if row.any() else row

    def _make_solver(self, seed: int) -> GrowingSolver:
        return GrowingSolver(self.graph, self.evaluation, self.player, self.kluss.exploration, seed)

    def _begin_subgame(self, solver: GrowingSolver, before: GrowingSolver, mine: Belief) -> GrowingSolver:
        """Begin in the present belief and in what else the others hold possible there.  Raises ``ClockError``."""
        b, rng = self.kluss, self.ranges.generator(self.state)
        if len(self.game.players) == 2:
            roots, gadget, alternatives = self._roots_of_two(before, drawn(mine, b.worlds, rng), rng)
        else:
            roots = order_two(self.ranges, self.player, self.state, b.worlds, b.others, rng)
            gadget, alternatives = np.full(roots.size, NONE), np.zeros(0)
        solver.begin(roots, gadget, 1 - self.player, alternatives, before)
        t = solver.tree
        leaves = np.flatnonzero(t.infoset[: solver.nodes] == LEAF)
        solver.expand(leaves[t.infostate[leaves, self.player] == self.state])
        return solver

    def _find_confused(self, before: GrowingSolver, mine: Belief) -> tuple[LongArray, bool]:
        """Return the last tree's nodes in the opponent's information sets of a belief, and whether these are all.

        The nodes are those at which the player decides: two steps of knowledge.  Where at most ``COMMON`` of them are
        common knowledge, all of these are returned, and True.
        """
        t, opponent = before.tree, 1 - self.player
        nodes = np.flatnonzero(t.position[: before.nodes] != NONE)
        here = t.position[nodes]
        nodes = nodes[(self.graph.arrays.via[here] == OUTSIDE) & self.graph.decides(here, self.player)]
        known, opponents = t.infostate[nodes, self.player], t.infostate[nodes, opponent]
        found = near = np.isin(opponents, mine.infostate[:, opponent])
        while found.sum() <= COMMON:
            wider = np.isin(opponents, opponents[np.isin(known, known[found])]) | found
            if wider.sum() == found.sum():
                return nodes[found], True
            found = wider
        return nodes[near], False

    def _roots_of_two(
        self, before: GrowingSolver, mine: Belief, rng: np.random.Generator
    ) -> tuple[Belief, LongArray, FloatArray]:
        """Return the worlds of a subgame for two players, and the opponent's choices to enter them.

        Each of the opponent's information sets has the worlds of the belief that are in it, and others that the last
        tree has.  The first have the share of it that they have in that tree, half where there are none; half of all
        weight is spread over the sets by their probabilities in that tree (by the belief where they have none), and
        half equally.
        """
        opponent = 1 - self.player
        t = before.tree
        evaluate_average(t, opponent)
        nodes, closed = self._find_confused(before, mine)
        # By first appearance: sums, to the last bit, do not depend on the numbers that the graph gives to states.
        sets, _ = distinct(np.concatenate([mine.infostate[:, opponent], t.infostate[nodes, opponent]]))
        order = np.argsort(sets)

        def place_of(belief: LongArray) -> LongArray:
            return order[np.searchsorted(sets, belief[:, opponent], sorter=order)]

        def sum_up(belief: LongArray, weight: FloatArray) -> FloatArray:
            return sums(place_of(belief), weight, len(sets))

        infostate, weight = t.infostate[nodes], t.weight[nodes]
        total, value = sum_up(infostate, weight), sum_up(infostate, weight * t.found[nodes])
        away = infostate[:, self.player] != self.state
        share = sum_up(infostate[~away], weight[~away]) / np.maximum(total, TINY)
        share[share == 0.0] = 0.5
        most = COMMON if closed else self.kluss.worlds * self.kluss.others
        part = weight / np.maximum(total, TINY)[place_of(infostate)]
        found = merged(drawn(Belief(t.position[nodes], infostate, part).take(np.flatnonzero(away)), most, rng))
        here, there = sum_up(mine.infostate, mine.weight), sum_up(found.infostate, found.weight)
        share[there == 0.0], share[here == 0.0] = 1.0, 0.0
        joint = sum_up(infostate, weight * t.reach[nodes])
        if not (joint[here > 0.0] > 0.0).all():
            joint = here
        prior = 0.5 * joint / joint.sum() + 0.5 / len(sets)
        parts, places = [], []
        for belief, all_of, shares in ((mine, here, share), (found, there, 1.0 - share)):
            place = place_of(belief.infostate)
            parts.append(belief._replace(weight=belief.weight * (prior * shares / np.maximum(all_of, TINY))[place]))
            places.append(place)
        roots = joined(parts)
        roots = roots._replace(weight=roots.weight / roots.weight.sum())
        valued = total > TINY
        gadget = np.where(valued, np.cumsum(valued) - 1, NONE)[np.concatenate(places)]
        return roots, gadget.astype(np.int64), value[valued] / total[valued]
