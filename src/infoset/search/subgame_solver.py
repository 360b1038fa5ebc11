"""The agent that solves a subgame from its current belief at every move, where all positions are known."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, Protocol

import numpy as np

from infoset.base import Action, FloatArray, Game, Observation, ObservationRecord, own_record
from infoset.clock import uninterrupted
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.names import check_choice, check_range
from infoset.search.belief import BeliefTracker
from infoset.search.belief_statistics import BeliefStatistics, account
from infoset.search.histories import Belief, drawn
from infoset.search.roots import order_two
from infoset.search.subgame import Subgame, Values
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.statistics import draw
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import NO_RECORD
from infoset.tree.plans import behaviour, realisation
from infoset.tree.sequence_form import SequenceForm

MARGIN = 0.6  # share of the clock
MOST_STEPS = 100
OWN, ORDER_TWO, PER_WORLD = ROOTS = ("own", "order-2", "per-world")
"""Where a subgame begins: in the worlds of the player's own information set (``own``); also in those of the others'
beliefs there, so that they do not learn the player's secret (``order-2``, after Zhang & Sandholm 2021: the knowledge
graph cut at distance two); or in each world by itself, with the policies averaged (``per-world``, Partridge &
Thielscher 2022, 3.3: suffers from strategy fusion, for comparison)."""
CHUNK = 25  # iterations between two checks of the clock
AVERAGE, RANDOM = STOPPING = ("average", "random")
"""The profile to play of the iterations that solve a subgame: their average, or that of an iteration drawn at random,
as in the search of ReBeL (Brown et al. 2020); to anybody who has not seen the draw, that is their plain mean."""
HISTORIES_A_SECOND = 400_000  # histories that are built and solved in a second


@dataclass(frozen=True)
class Effort:
    """The size of the search at a move; with a clock, at most."""

    histories: int = 400_000
    """Histories of the largest subgame."""
    sets: int = 20
    """Worlds of the player's own information set; each adds the others' information sets there."""
    others: int = 3
    """Further worlds in each of the others' information sets: depth is better than width."""
    iterations: int = 300
    steps: int = MOST_STEPS
    """Steps that a subgame looks ahead, at most."""
    stopping: str = AVERAGE

    def __post_init__(self) -> None:
        check_range("histories", self.histories, 1, 2**31)
        check_range("sets", self.sets, 1, 1_000_000)
        check_range("others", self.others, 0, 1_000_000)
        check_range("iterations", self.iterations, 1, 2**31)
        check_range("steps", self.steps, 1, MOST_STEPS)
        check_choice("stopping", self.stopping, STOPPING)


class RowSolver(Protocol):
    """A solver that returns move probabilities at information states of its ``ranges``."""

    ranges: BeliefTracker
    root: str
    until: float
    """The time at which a search ends, as of ``time.monotonic``."""

    def allow(self, seconds: float) -> None:
        """Allow ``seconds`` for the next rows."""

    def strategy_at(self, player: int, state: int) -> list[float] | None:
        """Return a probability for each move; ``None`` where none are found."""


class _CachedResult(NamedTuple):
    """The result at an information state, and the histories allowed for it: fewer than the effort's under a clock."""

    row: list[float]
    most: int


class SubgameSolver:
    """A solver of subgames, as deep as the effort allows, by PCFR+, which keeps its results.

    The others are assumed to have played uniformly.

    Unless the clock cuts a search short, a row follows from the information state and the seed of the ranges alone, to
    the last bit, whatever was asked before.
    """

    def __init__(
        self, ranges: BeliefTracker, values: Values, root: str = ORDER_TWO, effort: Effort | None = None
    ) -> None:
        check_choice("root", root, ROOTS)
        self.ranges, self.values, self.root, self.effort = ranges, values, root, effort or Effort()
        self.found: dict[int, _CachedResult] = {}
        self.until, self.most, self.cut = inf, self.effort.histories, False

    def allow(self, seconds: float) -> None:
        """Allow ``seconds`` for the next rows."""
        self.cut, self.until = False, time.monotonic() + MARGIN * seconds
        self.most = int(min(self.effort.histories, HISTORIES_A_SECOND * max(seconds, 0.0)))

    def strategy_at(self, player: int, state: int) -> list[float] | None:
        """Return the average profile's row at an information set; ``None`` where no subgame fits or none is reached."""
        cached = self.found.get(state)
        if cached is not None and cached.most >= self.most:
            self.cut |= cached.most < self.effort.histories
            return cached.row
        row = self._search(player, state)
        if time.monotonic() > self.until:  # the result of a search that was cut short is not kept
            self.cut = True
        elif row is not None:
            self.found[state] = _CachedResult(row, self.most if self.cut else self.effort.histories)
        return row

    def _search(self, player: int, state: int) -> list[float] | None:
        rng = self.ranges.generator(state)
        sets, others = self.effort.sets, self.effort.others
        while True:
            worlds = self._worlds(player, state, sets, others, rng)
            if not worlds.size:
                return None
            tree = self._deepest(worlds)
            if tree is not None or sets == 1:
                break
            sets, others = (sets + 1) // 2, others // 2
        return None if tree is None else self._solve(tree, worlds, player, state)

    def _worlds(self, player: int, state: int, sets: int, others: int, rng: np.random.Generator) -> Belief:
        """Return the worlds in which the subgame begins; none if no history leads to the state."""
        if self.root == ORDER_TWO:
            try:
                return order_two(self.ranges, player, state, sets, others, rng, self.until)
            except BudgetError:  # the others' beliefs are too large
                self._too_large()
        return drawn(self.ranges.asked(player, state), sets, rng)

    def _deepest(self, worlds: Belief) -> GameTree | None:
        """Return the deepest subgame that fits; ``None`` where not even one step does."""
        below = Subgame(self.ranges.graph, worlds, self.root == PER_WORLD)
        depth = self._grown(below)
        return GameTree.unroll(below.game(self.values, depth), self.most) if depth else None

    def _grown(self, below: Subgame) -> int:
        """Grow a subgame and return how many of its steps fit."""
        for depth in range(self.effort.steps):
            if depth and (time.monotonic() > self.until or not below.goes_on):
                return depth
            try:
                below.grow(self.most)
            except BudgetError:
                self._too_large()
                return depth
            if below.histories[-1] > self.most:
                self._too_large()
                return depth
        return self.effort.steps

    def _too_large(self) -> None:
        """Note that something does not fit, and whether the clock rather than the effort is the reason."""
        self.cut |= self.most < self.effort.histories

    def _solve(self, tree: GameTree, worlds: Belief, player: int, state: int) -> list[float] | None:
        form = SequenceForm.of(tree)
        solver, mean = pcfr_plus().solver(form), np.zeros(form.num_sequences)
        chunk = CHUNK if self.effort.stopping == AVERAGE else 1
        while solver.iteration < self.effort.iterations and (not solver.iteration or time.monotonic() < self.until):
            solver.step(min(chunk, self.effort.iterations - solver.iteration))
            if self.effort.stopping == RANDOM:
                mean += (behaviour(form, solver.current()) - mean) / solver.iteration
        strategy = behaviour(form, solver.average()) if self.effort.stopping == AVERAGE else mean
        return _played(tree, form, strategy, worlds, player, state)


def _played(
    tree: GameTree, form: SequenceForm, strategy: FloatArray, worlds: Belief, player: int, state: int
) -> list[float] | None:
    """Return the row at the player's information set, or the mean row over worlds that all players knew."""
    mine = np.flatnonzero(worlds.infostate[:, player] == state)
    graph, total = tree.graph, worlds.weight[mine].sum()
    share: dict[int, float] = {}
    for k in mine.tolist():
        record = int(graph.record[k, player])
        share[record] = share.get(record, 0.0) + float(worlds.weight[k] / total)
    probabilities: FloatArray | None = None
    for k in form.player_infosets(player):
        at = form.tree_infoset[k]
        record = tree.states.record[tree.infoset_state[at]]
        if record in share and tree.states.parent[tree.infoset_state[at]] == player:
            first, size = int(form.arrays.first[k]), int(form.arrays.size[k])
            part = share[record] * strategy[first : first + size]
            probabilities = part if probabilities is None else probabilities + part
    return None if probabilities is None else probabilities.tolist()


class SubgameSearch:
    """An agent that plays the rows of a solver of subgames.

    ``faults`` lists where no history explained what it saw: from there on it plays at random.  ``unknown`` counts the
    moves for which nothing was found.
    """

    def __init__(self, solver: RowSolver, seconds_per_move: float = 1.0) -> None:
        self.solver, self.seconds_per_move = solver, seconds_per_move
        self.graph, self.name = solver.ranges.graph, solver.root
        self.number = {record: k for k, record in enumerate(self.graph.records)}
        self.unknown = 0
        self.faults: list[str] = []
        self.beliefs = BeliefStatistics()

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        if game.players != self.graph.players:
            raise UnsupportedGameError(f"{self.name} was made for {self.graph.name}, not for {game.name}")
        self.player, self.rng = player, rng
        self.waits = self.graph.start_records[player] != NO_RECORD
        self.state = self.before = player
        self.last: ObservationRecord = (None, None)
        self.lost = False

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        record = own_record(own_action, observation)
        if self.waits:  # the initial observation is always the same
            self.waits = False
        elif record is not None and self.state != NO_RECORD:
            self.before, self.last = self.state, (own_action, observation)
            number = self.number.get(record, NO_RECORD)
            self.state = NO_RECORD if number == NO_RECORD else self.solver.ranges.successor(self.state, number)

    @uninterrupted()
    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal_actions) == 1:
            return legal_actions[0]
        self.solver.allow(self.seconds_per_move if deadline is None else deadline - time.monotonic())
        row = self.compute_probabilities(legal_actions)
        if row is None:
            self.unknown += 1
            row = [1.0] * len(legal_actions)
        return draw(legal_actions, row, self.rng)

    def report_probabilities(self, legal_actions: tuple[Action, ...]) -> list[float]:
        """Return its move probabilities, without a limit on time."""
        self.solver.allow(self.seconds_per_move)
        self.solver.until = inf
        return (self.compute_probabilities(legal_actions) if len(legal_actions) > 1 else None) or [
            1 / len(legal_actions)
        ] * len(legal_actions)

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def account(self) -> str:
        """Return a line on the beliefs with which it moved, and on its random moves."""
        return account(self.beliefs, self.unknown, self.faults)

    def compute_probabilities(self, legal_actions: tuple[Action, ...]) -> list[float] | None:
        """Return the probabilities of the moves; ``None`` where none are found."""
        found = self.solver.ranges.of(self.player, self.state) if self.state != NO_RECORD else None
        if found is None or not found.size:
            self.beliefs.lose()
            if not self.lost:
                key = self.solver.ranges.key(self.before)
                self.faults.append(f"no history explains {self.last!r} after {key!r}")
            self.lost = True
            return None
        self.beliefs.note(found, self.state not in self.solver.ranges.thinned)
        row = self.solver.strategy_at(self.player, self.state)
        return row if row is not None and len(row) == len(legal_actions) else None


def induced_policy(
    solver: RowSolver, tree: GameTree, form: SequenceForm, progress: Callable[[int], None] | None = None
) -> FloatArray:
    """Return the realisation weights (S,) of the solver's rows at every information set of the whole game.

    ``progress`` is called with the number of information sets done.
    """
    strategy = np.ones(form.num_sequences)
    for k, at in enumerate(form.tree_infoset.tolist()):
        player, state = int(tree.infoset_player[at]), int(tree.infoset_state[at])
        found, path = tree.states.path(state)
        for record in path:
            found = solver.ranges.successor(found, record)
        first, size = int(form.arrays.first[k]), int(form.arrays.size[k])
        row = solver.strategy_at(player, found)
        strategy[first : first + size] = row if row is not None and len(row) == size else 1 / size
        if progress:
            progress(k + 1)
    return realisation(form, strategy)
