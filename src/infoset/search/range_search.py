"""Plays by solving, at every move, the game from its range on; for games whose positions were all found before.

As ``SubgameAgent``, of which it is the faster twin: beliefs, subgames and what lies behind their horizon come from
arrays, some hundred times as many edges a second.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from infoset.base import Action, FloatArray, Observation
from infoset.errors import BudgetError
from infoset.names import check_choice, check_range
from infoset.search.followers import Follower
from infoset.search.ranges import Range, Ranges, drawn, order_two
from infoset.search.subgame_agent import MARGIN, ORDER_TWO, PER_WORLD, ROOTS
from infoset.search.subgraph import Values, subgraph
from infoset.solvers.cfr import pcfr_plus
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import NO_TOKEN
from infoset.tree.plans import behaviour
from infoset.tree.sequence_form import SequenceForm

CHUNK = 25  # iterations between two looks at the clock
MOST_DEPTH = 100
HISTORIES_A_SECOND = 400_000  # built and solved


@dataclass(frozen=True)
class Effort:
    """How much is searched at a move; with a clock, at most."""

    histories: int = 400_000
    """Of the largest subgame."""
    sets: int = 20
    """Worlds of one's own; with them the information sets of the others."""
    others: int = 3
    """Further worlds in each of those: deep is better than wide."""
    iterations: int = 300

    def __post_init__(self) -> None:
        check_range("histories", self.histories, 1, 2**31)
        check_range("sets", self.sets, 1, 1_000_000)
        check_range("others", self.others, 0, 1_000_000)
        check_range("iterations", self.iterations, 1, 2**31)


class RangeSearch(Follower):
    """Subgames as deep as the effort allows, solved by PCFR+; what it found it knows in later games too.

    ``faults`` lists where no history explained what it saw: from there on it plays at random.
    """

    def __init__(
        self, ranges: Ranges, values: Values, root: str = ORDER_TWO, effort: Effort | None = None,
        seconds_per_move: float = 1.0,
    ) -> None:  # fmt: skip
        check_choice("root", root, ROOTS)
        super().__init__(ranges.graph, root)
        self.ranges, self.values, self.root = ranges, values, root
        self.effort, self.seconds_per_move = effort or Effort(), seconds_per_move
        self.found: dict[int, list[float]] = {}
        self.faults: list[str] = []

    def reset(self) -> None:
        self.state = self.player

    def advance(self, token: int, own_move: Action | None, observation: Observation) -> None:
        if self.state == NO_TOKEN:
            return
        before, self.state = self.state, NO_TOKEN if token == NO_TOKEN else self.ranges.behind(self.state, token)
        if self.state == NO_TOKEN or not self.ranges.of(self.player, self.state).size:
            known = self.ranges.states.key(before)
            self.faults.append(f"no history explains {observation!r} after {known!r} and the own move {own_move!r}")
            self.state = NO_TOKEN

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        self.allow(self.seconds_per_move if deadline is None else deadline - time.monotonic())
        return super().act(legal, deadline)

    def allow(self, seconds: float) -> None:
        """So long for the next move."""
        self.until = time.monotonic() + MARGIN * seconds
        self.most = int(min(self.effort.histories, HISTORIES_A_SECOND * max(seconds, 0.0)))

    def row(self, legal: tuple[Action, ...]) -> list[float] | None:
        """The average profile's chances at the own information set; ``None`` where no history explains it."""
        if self.state == NO_TOKEN:
            return None
        if self.state not in self.found:
            self.found[self.state] = self._search()
        row = self.found[self.state]
        return row if len(row) == len(legal) else None

    def _search(self) -> list[float]:
        own = self.ranges.asked(self.player, self.state)
        rng = np.random.default_rng([self.player, self.state])
        sets, others = self.effort.sets, self.effort.others
        while True:
            if self.root == ORDER_TWO:
                worlds = order_two(self.ranges, self.player, self.state, sets, others, rng)
            else:
                worlds = drawn(own, sets, rng)
            tree = self._deepest(worlds)
            if tree is not None or sets == 1:
                break
            sets, others = (sets + 1) // 2, others // 2
        return [] if tree is None else self._solve(tree, worlds)

    def _deepest(self, worlds: Range) -> GameTree | None:
        """The deepest subgame that fits; ``None`` where not even one step does."""
        found, told, most = None, self.root == PER_WORLD, self.most
        for depth in range(1, MOST_DEPTH):
            if found is not None and time.monotonic() > self.until:
                break
            try:
                graph = subgraph(self.ranges.graph, worlds, depth, self.values, told, most)
                tree = GameTree.unroll(graph, most)
            except BudgetError:
                break
            if found is not None and len(tree.parent) == len(found.parent):
                break  # the horizon was never met
            found = tree
        return found

    def _solve(self, tree: GameTree, worlds: Range) -> list[float]:
        form = SequenceForm.of(tree)
        solver = pcfr_plus().solver(form)
        for _ in range(0, self.effort.iterations, CHUNK):
            solver.step(CHUNK)
            if time.monotonic() > self.until:
                break
        return self._played(tree, form, behaviour(form, solver.average()), worlds)

    def _played(self, tree: GameTree, form: SequenceForm, strategy: FloatArray, worlds: Range) -> list[float]:
        """The chances at the own information set; where the world was told, their mean over the worlds."""
        mine = np.flatnonzero(worlds.known[:, self.player] == self.state)
        graph, total = tree.graph, worlds.weight[mine].sum()
        share: dict[int, float] = {}
        for k in mine.tolist():
            token = int(graph.token[k, self.player])
            share[token] = share.get(token, 0.0) + float(worlds.weight[k] / total)
        chances: FloatArray = np.zeros(0)
        for k in form.player_infosets(self.player):
            at = form.tree_infoset[k]
            token = tree.states.token[tree.infoset_state[at]]
            if token in share and tree.states.parent[tree.infoset_state[at]] == self.player:
                first, size = int(form.arrays.first[k]), int(form.arrays.size[k])
                part = share[token] * strategy[first : first + size]
                chances = chances + part if len(chances) else part
        row: list[float] = chances.tolist()
        return row
