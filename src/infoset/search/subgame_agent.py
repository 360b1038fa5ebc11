"""Plays by solving, at every move, the game from its belief on."""

from __future__ import annotations

import time

import numpy as np

from infoset.base import Action, FloatArray, Game, Observation
from infoset.clock import Clock, uninterrupted
from infoset.errors import BudgetError
from infoset.names import check_choice, information_key, move_words
from infoset.search.beliefs import CachedSampler, ExactBelief, World, merged, own_token, start_world
from infoset.search.subgame import PlayoutLeaf, Subgame, order_two_root
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.statistics import draw
from infoset.tree.game_tree import GameTree
from infoset.tree.plans import behaviour
from infoset.tree.sequence_form import SequenceForm

MARGIN = 0.6  # of the clock; deeper subgames are begun only before half of that
EDGES_A_SECOND = 15_000  # what is enumerated, unrolled and solved for a while in about a second
ITERATIONS = 25
MOST_ITERATIONS = 1_000
MOST_STEPS = 100
MAX_EXACT = 2_000  # worlds up to which the belief is kept whole


OWN, ORDER_TWO, PER_WORLD = ROOTS = ("own", "order-2", "per-world")
"""Where a subgame begins: in the worlds of one's own information set; also in those that the others hold possible; or
in each world by itself, the policies averaged (Partridge & Thielscher 2022, 3.3: fuses strategies, for comparison)."""


class SubgameAgent:
    """Worlds from its belief, exact while they are few; subgames that grow deeper while the clock runs; PCFR+.

    ``root`` is one of ``ROOTS``; it looks so many ``steps`` ahead at most.  ``faults`` lists what it could not explain:
    then it plays at random among its moves.

    As long as the clock cuts nothing short, its chances follow from ``seed`` and its information state alone.
    """

    def __init__(
        self, worlds: int = 40, seconds_per_move: float = 1.0, root: str = ORDER_TWO, steps: int = MOST_STEPS,
        seed: int = 0,
    ) -> None:  # fmt: skip
        check_choice("root", root, ROOTS)
        self.worlds, self.seconds_per_move, self.root, self.steps = worlds, seconds_per_move, root, steps
        self.seed = seed
        self.name = root
        self.faults: list[str] = []

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.game, self.player, self.rng = game, player, rng
        self.clock = Clock()
        self.first = start_world(game).known[player]
        self.tokens = list(self.first)
        self.waits = len(self.tokens)
        self.belief: ExactBelief | CachedSampler = ExactBelief(game, player, max_worlds=MAX_EXACT, clock=self.clock)
        self.lost = False

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        token = own_token(own_move, observation)
        if self.waits:
            self.waits -= 1
        elif token is not None:
            self.tokens.append(token)
            self.clock.until = time.monotonic() + MARGIN * self.seconds_per_move
            try:
                self.belief.observe(token)
            except BudgetError:
                self._sample()

    def _sample(self) -> None:
        """From now on draw worlds instead of keeping them all."""
        self.belief = CachedSampler(self.game, self.player, self._generator(), clock=self.clock)
        for token in self.tokens[len(self.first) :]:
            self.belief.observe(token)

    @uninterrupted()
    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal) == 1:
            return legal[0]
        row = self.row(legal, deadline)
        return legal[int(self.rng.random() * len(legal))] if row is None else draw(legal, row, self.rng)

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def _generator(self) -> np.random.Generator:
        """Of random numbers for the information state: always the same ones, whatever was searched before."""
        return np.random.default_rng([self.seed, self.player, *information_key(tuple(self.tokens)).encode()])

    def row(self, legal: tuple[Action, ...], deadline: float | None) -> list[float] | None:
        """The chances by the deepest subgame solved before the clock ran out; ``None`` where there is none."""
        now, rng = time.monotonic(), self._generator()
        seconds = MARGIN * (self.seconds_per_move if deadline is None else deadline - now)
        until = now + seconds
        self.leaf = PlayoutLeaf(int(rng.integers(2**31)), clock=self.clock)
        if isinstance(self.belief, CachedSampler):
            self.belief.rng = rng
        self.clock.until = now + seconds / 4
        try:
            worlds = merged(self.belief.worlds(self.worlds))
        except BudgetError:
            return None
        if not worlds:
            if not self.lost:
                self.faults.append(f"no history explains {information_key(tuple(self.tokens))!r}")
            self.lost = True
            return None
        self.clock.until = (now + until) / 2
        roots = self._roots(worlds)
        found, depth, edges = None, 1, int(EDGES_A_SECOND * seconds)
        while (began := time.monotonic()) < until if found is None else began < (now + until) / 2:
            self.clock.until = until if found is not None or len(roots) == 1 else (began + until) / 2
            try:
                found, whole = self._solve(legal, roots, depth, edges)
            except BudgetError:
                if found is not None or len(roots) == 1:
                    break
                roots = roots[: (len(roots) + 1) // 2]  # the likeliest of its own come first
                continue
            if whole or depth == self.steps:
                break
            depth += 1
        return found

    def _roots(self, worlds: list[World]) -> list[World]:
        if self.root != ORDER_TWO:
            return worlds
        try:
            return order_two_root(self.game, self.player, worlds, clock=self.clock)
        except BudgetError:
            return worlds

    def _solve(
        self, legal: tuple[Action, ...], worlds: list[World], depth: int, edges: int
    ) -> tuple[list[float], bool]:
        """The average profile's chances at the own information set, and whether the horizon was never met."""
        before = self.leaf.asked
        subgame = Subgame(self.game, tuple(worlds), depth, self.leaf, self.clock, self.root == PER_WORLD)
        form = SequenceForm.of(GameTree.of(subgame, edges, self.clock))
        solver = pcfr_plus().solver(form)
        solver.step(ITERATIONS)
        while solver.iteration < MOST_ITERATIONS and time.monotonic() < self.clock.until:
            solver.step(ITERATIONS)
        return self._played(legal, subgame, form, solver.average()), self.leaf.asked == before

    def _played(self, legal: tuple[Action, ...], subgame: Subgame, form: SequenceForm, plan: FloatArray) -> list[float]:
        """The chances of a plan at the own information set; where the world was told, their mean over the worlds."""
        strategy, words = behaviour(form, plan), move_words(legal)
        place = {form.keys[k]: k for k in form.player_infosets(self.player)}
        chances = dict.fromkeys(words, 0.0)
        own = tuple(self.tokens)
        mine = [k for k, world in enumerate(subgame.worlds) if world.known[self.player] == own]
        total = sum(subgame.worlds[k].weight for k in mine)
        for k in mine:
            at = place[information_key(((None, subgame.seen(self.player, k)),))]
            first, size = int(form.arrays.first[at]), int(form.arrays.size[at])
            for word, chance in zip(form.actions[at], strategy[first : first + size].tolist(), strict=True):
                chances[word] += chance * subgame.worlds[k].weight / total
        return list(chances.values())
