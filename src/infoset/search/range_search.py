"""Plays by solving, at every move, the game from its range on."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, Protocol

import numpy as np

from infoset.base import Action, FloatArray, Game, LongArray, Observation, Token, own_token
from infoset.clock import ENDLESS, Clock, uninterrupted
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.names import check_choice, check_range
from infoset.search.beliefs import Beliefs, account
from infoset.search.below import Below, Values
from infoset.search.ranges import Range, Ranges, drawn
from infoset.search.roots import common_root, order_two
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.statistics import draw
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import NO_TOKEN
from infoset.tree.growing import GrowingGraph
from infoset.tree.plans import behaviour, realisation
from infoset.tree.sequence_form import SequenceForm

MARGIN = 0.6  # of the clock
MOST_STEPS = 100
OWN, ORDER_TWO, PER_WORLD = ROOTS = ("own", "order-2", "per-world")
"""Where a subgame begins: in the worlds of one's own information set; also in those that the others hold possible, so
that they are not told one's secret (after Zhang & Sandholm 2021: the knowledge graph cut at distance two); or in each
world by itself, the policies averaged (Partridge & Thielscher 2022, 3.3: fuses strategies, for comparison)."""
CHUNK = 25  # iterations between two looks at the clock
AVERAGE, RANDOM = STOPPING = ("average", "random")
"""What is played of the iterations that solve a subgame: their average; or the profile of one drawn at random, as the
search of ReBeL does (Brown et al. 2020), which is their plain mean to anybody who has not seen the draw."""
COMMON = "common"
"""A root of all worlds that common knowledge allows, where they fit."""
KNOWN_ROOTS = (*ROOTS, COMMON)
TREMBLE = 0.01  # of the others' moves, so that nothing that is seen is impossible
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
    steps: int = MOST_STEPS
    """That a subgame looks ahead."""
    stopping: str = AVERAGE

    def __post_init__(self) -> None:
        check_range("histories", self.histories, 1, 2**31)
        check_range("sets", self.sets, 1, 1_000_000)
        check_range("others", self.others, 0, 1_000_000)
        check_range("iterations", self.iterations, 1, 2**31)
        check_range("steps", self.steps, 1, MOST_STEPS)
        check_choice("stopping", self.stopping, STOPPING)


class RowSolver(Protocol):
    """Finds chances at information states of its ``ranges``."""

    ranges: Ranges
    root: str
    until: float
    """The moment at which a search ends, of ``time.monotonic``."""

    def allow(self, seconds: float) -> None:
        """So long for the next rows."""

    def row(self, player: int, state: int) -> list[float] | None:
        """A chance for each move; ``None`` where nothing is found."""


class _Kept(NamedTuple):
    """What was found at an information state, and in how many histories: less than the effort where a clock said so."""

    row: list[float]
    most: int


class SubgameSolver:
    """Solves subgames as deep as the effort allows, by PCFR+; what was found once it knows from then on.

    ``consistent``: the others are held to play what this solver finds for them, with a tremble, instead of anything
    with equal chances.  That asks for all of their earlier decisions, so it is for games that are not large.

    As long as the clock cuts nothing short, a row follows from the information state and the seed of the ranges alone,
    to the last bit, whatever was asked before.
    """

    def __init__(
        self, ranges: Ranges, values: Values, root: str = ORDER_TWO, effort: Effort | None = None,
        consistent: bool = False,
    ) -> None:  # fmt: skip
        check_choice("root", root, KNOWN_ROOTS)
        self.ranges, self.values, self.root, self.effort = ranges, values, root, effort or Effort()
        self.found: dict[int, _Kept] = {}
        self.until, self.most, self.cut = inf, self.effort.histories, False
        self.consistent = consistent
        if consistent:
            ranges.moves = self.chances

    def allow(self, seconds: float) -> None:
        """So long for the next rows."""
        if self.cut and self.consistent:  # the others may have been held to what was cut short
            self.ranges.forget()
        self.allow_until(time.monotonic() + MARGIN * seconds)

    def allow_until(self, until: float) -> None:
        """The next rows have to be found by then, a moment of ``time.monotonic``."""
        self.cut, self.until = False, until
        seconds = max(until - time.monotonic(), 0.0) / MARGIN
        self.most = int(min(self.effort.histories, HISTORIES_A_SECOND * seconds))

    def row(self, player: int, state: int) -> list[float] | None:
        """The average profile's chances at an information set; ``None`` where no subgame fits, or no history leads."""
        kept = self.found.get(state)
        if kept is not None and kept.most >= self.most:
            self.cut |= kept.most < self.effort.histories
            return kept.row
        row = self._search(player, state)
        if time.monotonic() > self.until:  # what was cut short is not kept
            self.cut = True
        elif row is not None:
            self.found[state] = _Kept(row, self.most if self.cut else self.effort.histories)
        return row

    def chances(self, edges: LongArray, known: LongArray) -> FloatArray:
        """How likely edges are by the rows of those who move there (``ranges.Moves``)."""
        graph = self.ranges.graph
        source = np.searchsorted(graph.first_edge, edges, side="right") - 1
        size = graph.num_edges[source]
        found = 1.0 / size
        for k in np.flatnonzero(size > 1).tolist():
            row = self.row(int(graph.player[source[k]]), int(known[k]))
            if row is not None and len(row) == size[k]:
                chance = row[int(edges[k] - graph.first_edge[source[k]])]
                found[k] = (1 - TREMBLE) * chance + TREMBLE / size[k]
        return np.asarray(found)

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

    def _worlds(self, player: int, state: int, sets: int, others: int, rng: np.random.Generator) -> Range:
        """Where the subgame begins; nowhere if no history leads to the state."""
        if self.root == COMMON and sets == self.effort.sets:
            try:
                return common_root(self.ranges, player, state, self.most)
            except BudgetError:
                self._too_large()
        if self.root in (COMMON, ORDER_TWO):
            try:
                with self._held(1 / 4):
                    return order_two(self.ranges, player, state, sets, others, rng, self.until)
            except BudgetError:  # what others hold possible is too much
                self._too_large()
        with self._held(1 / 2):
            return drawn(self.ranges.asked(player, state), sets, rng)

    def _held(self, share: float) -> AbstractContextManager[None]:
        """A graph that grows, for this thread alone and for that share of the time that is left."""
        graph = self.ranges.graph
        if not isinstance(graph, GrowingGraph):
            return nullcontext()
        now = time.monotonic()
        return graph.held(Clock(now + share * (self.until - now)) if self.until < inf else ENDLESS)

    def _deepest(self, worlds: Range) -> GameTree | None:
        """The deepest subgame that fits; ``None`` where not even one step does."""
        with self._held(1 / 2):
            below = Below(self.ranges.graph, worlds, self.root == PER_WORLD)
            depth = self._grown(below)
            return GameTree.unroll(below.game(self.values, depth), self.most) if depth else None

    def _grown(self, below: Below) -> int:
        """How many steps of a subgame fit, which it has at least then."""
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
        """Something does not fit: the effort allows no more, or it is the clock that does not."""
        self.cut |= self.most < self.effort.histories

    def _solve(self, tree: GameTree, worlds: Range, player: int, state: int) -> list[float] | None:
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
    tree: GameTree, form: SequenceForm, strategy: FloatArray, worlds: Range, player: int, state: int
) -> list[float] | None:
    """The chances at the own information set, where it has a choice; where the world was told, their mean over them."""
    mine = np.flatnonzero(worlds.known[:, player] == state)
    graph, total = tree.graph, worlds.weight[mine].sum()
    share: dict[int, float] = {}
    for k in mine.tolist():
        token = int(graph.token[k, player])
        share[token] = share.get(token, 0.0) + float(worlds.weight[k] / total)
    chances: FloatArray | None = None
    for k in form.player_infosets(player):
        at = form.tree_infoset[k]
        token = tree.states.token[tree.infoset_state[at]]
        if token in share and tree.states.parent[tree.infoset_state[at]] == player:
            first, size = int(form.arrays.first[k]), int(form.arrays.size[k])
            part = share[token] * strategy[first : first + size]
            chances = part if chances is None else chances + part
    return None if chances is None else chances.tolist()


class RangeSearch:
    """Plays what a solver of subgames finds.

    ``faults`` lists where no history explained what it saw: from there on it plays at random.  ``unknown`` counts the
    moves for which nothing was found.
    """

    def __init__(self, solver: RowSolver, seconds_per_move: float = 1.0) -> None:
        self.solver, self.seconds_per_move = solver, seconds_per_move
        self.graph, self.name = solver.ranges.graph, solver.root
        self.number = {token: k for k, token in enumerate(self.graph.tokens)}
        self.unknown = 0
        self.faults: list[str] = []
        self.beliefs = Beliefs()

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        if game.players != self.graph.players:
            raise UnsupportedGameError(f"{self.name} was made for {self.graph.name}, not for {game.name}")
        self.player, self.rng = player, rng
        self.waits = self.graph.start_tokens[player] != NO_TOKEN
        self.state = self.before = player
        self.last: Token = (None, None)
        self.lost = False

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        token = own_token(own_move, observation)
        if self.waits:  # what is seen of the start is always the same
            self.waits = False
        elif token is not None and self.state != NO_TOKEN:
            self.before, self.last = self.state, (own_move, observation)
            number = self.number.get(token, NO_TOKEN)
            self.state = NO_TOKEN if number == NO_TOKEN else self.solver.ranges.behind(self.state, number)

    @uninterrupted()
    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal) == 1:
            return legal[0]
        self.solver.allow(self.seconds_per_move if deadline is None else deadline - time.monotonic())
        row = self.move_chances(legal)
        if row is None:
            self.unknown += 1
            row = [1.0] * len(legal)
        return draw(legal, row, self.rng)

    def chances(self, legal: tuple[Action, ...]) -> list[float]:
        """With what chances it would move now, had it all the time that it takes."""
        self.solver.allow(self.seconds_per_move)
        self.solver.until = inf
        return (self.move_chances(legal) if len(legal) > 1 else None) or [1 / len(legal)] * len(legal)

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def account(self) -> str:
        """With which beliefs it moved, and how often at random."""
        return account(self.beliefs, self.unknown, self.faults)

    def move_chances(self, legal: tuple[Action, ...]) -> list[float] | None:
        """The chances of the moves, ``None`` where nothing is found."""
        found = self.solver.ranges.of(self.player, self.state) if self.state != NO_TOKEN else None
        if found is None or not found.size:
            self.beliefs.lose()
            if not self.lost:
                known = self.solver.ranges.key(self.before)
                self.faults.append(f"no history explains {self.last!r} after {known!r}")
            self.lost = True
            return None
        self.beliefs.note(found, self.state not in self.solver.ranges.thinned)
        row = self.solver.row(self.player, self.state)
        return row if row is not None and len(row) == len(legal) else None


def induced_policy(
    solver: RowSolver, tree: GameTree, form: SequenceForm, progress: Callable[[int], None] | None = None
) -> FloatArray:
    """Realisation weights (S,) of asking the solver at every information set of the whole game.

    ``progress`` is told how many were asked.
    """
    strategy = np.ones(form.num_sequences)
    for k, at in enumerate(form.tree_infoset.tolist()):
        player, state = int(tree.infoset_player[at]), int(tree.infoset_state[at])
        found, path = tree.states.path(state)
        for token in path:
            found = solver.ranges.behind(found, token)
        first, size = int(form.arrays.first[k]), int(form.arrays.size[k])
        row = solver.row(player, found)
        strategy[first : first + size] = row if row is not None and len(row) == size else 1 / size
        if progress:
            progress(k + 1)
    return realisation(form, strategy)
