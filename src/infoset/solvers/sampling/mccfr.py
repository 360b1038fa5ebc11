"""Monte Carlo CFR (Lanctot et al. 2009) on the distinct positions of a game: only sampled sets take memory.

External sampling: every move of the learner, one sampled move of every other player.  Iteration t has weight t in
regrets and average (Linear CFR, Brown & Sandholm 2019).

Moves that are clearly bad need not always be tried (regret-based pruning, Brown & Sandholm 2015): those with a regret
far below zero, relative to the positive regrets of the other moves, which are noise.  Some traversals try all such
moves, the others none (as for Pluribus, Brown & Sandholm 2019), so that positions after several of them are not
forgotten.  Averages are taken on traversals that try all moves: how often a walk reaches a set must not depend on what
the others learn.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import CheckpointError
from infoset.files import DamageError
from infoset.jit import borrowing, inline_kernel, inner_kernel, kernel
from infoset.names import check_share
from infoset.policies.infoset_policy import InfosetPolicy
from infoset.solvers.sampling.infoset_table import InfosetTable, add_row
from infoset.solvers.sampling.sampler import (
    Sampling,
    add_to_average,
    choose,
    follow_edge,
    has_room,
    match_regrets,
    uniform_number,
)  # fmt: skip
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.quotient_graph import (
    CONTENT,
    FIRST,
    MOVES,
    PLAYER,
    QuotientGraph,
    element_of,
    same_orbit,
    state_of,
    view_of,
)  # fmt: skip

POSITION, DEPTH, PRUNE, MET, TURN_OF, WIDEST, LEFT = range(7)  # the state of an iteration
WIDE = 20_000  # positions in a traversal of the first iteration, beyond which not all moves are tried
CLEARLY = 3.0  # a move is clearly bad if its regret is below minus this times the greatest positive one
LOOK = 1_000_000  # positions met between two checks of the clock, where one iteration takes longer
RARE = 0.002  # smaller probabilities are remnants of the first iterations; .02 would cost half a percentage point
EXPLORE = 0.1  # the default for wide traversals; in small games 1 is best


class Frames(NamedTuple):
    """One frame for each open decision of the learner."""

    position: IntArray  # (D,)
    action: IntArray  # (D,) the move being tried
    row: IntArray  # (D,)
    views: LongArray  # (D, n) every player's view
    strategy: FloatArray  # (D, A)
    values: FloatArray  # (D, A)
    share: FloatArray  # (D, A) number of moves, equal by symmetry, for which a move is tried; 0: not tried

    @classmethod
    def empty(cls, depth: int, players: int, actions: int) -> Frames:
        flat, wide = np.zeros(depth, dtype=np.int32), np.zeros((depth, actions))
        views = np.zeros((depth, players), np.int64)
        return cls(flat, flat.copy(), flat.copy(), views, wide, wide.copy(), wide.copy())


@inner_kernel
@borrowing
def _enter(walk, table, frames, depth, position, row, learner, views, prune, stream):
    """Open a decision of the learner: set its strategy, the moves to try, and the first of them."""
    group, content, view = walk.group, walk.position[position, CONTENT], views[learner]
    place = group.first_entry[content]
    size = group.first_entry[content + 1] - place
    strategy = frames.strategy[depth]
    frames.position[depth], frames.row[depth] = position, row
    for p in range(len(views)):
        frames.views[depth, p] = views[p]
    greatest = match_regrets(table, row, group, view, content, size, strategy)
    frames.share[depth, :size] = 1.0
    if table.fixing[state_of(view)] != 1:
        _pick(group, table.fixing[state_of(view)], view, content, size, frames.share[depth], stream)
    for k in range(size):
        bad = table.regret[row + group.entry[element_of(view), place + k]] < -CLEARLY * greatest
        if prune and bad and strategy[k] == 0.0:
            frames.share[depth, k] = 0.0
    frames.action[depth] = _next_tried(frames, depth, 0, size)
    return depth + 1


@inline_kernel
def _next_tried(frames, d, action, size):
    while action < size and frames.share[d, action] == 0.0:
        action += 1
    return action


@inner_kernel
@borrowing
def _pick(group, fixing, view, content, size, share, stream):
    """Pick one of each class of moves that are equal by symmetry, uniformly, since the others cannot know which."""
    element, place = element_of(view), group.first_entry[content]
    action_set = group.action_set[element, content]
    share[:size] = -1.0
    for k in range(size):
        if share[k] < 0.0:
            members, chosen = 0.0, k
            for m in range(k, size):
                if same_orbit(
                    group, fixing, action_set, group.entry[element, place + m], group.entry[element, place + k]
                ):
                    members += 1.0
                    share[m] = 0.0
                    if uniform_number(stream) * members < 1.0:
                        chosen = m
            share[chosen] = members


@inner_kernel
@borrowing
def _learn(walk, table, frames, d, learner, iteration, value):
    """Add to the regrets of an open decision; moves that are equal by symmetry get the same."""
    group, view = walk.group, frames.views[d, learner]
    content, row, element = walk.position[frames.position[d], CONTENT], frames.row[d], element_of(view)
    place, fixing = group.first_entry[content], table.fixing[state_of(view)]
    size = group.first_entry[content + 1] - place
    for k in range(size):
        if frames.share[d, k] > 0.0:
            entry, gain = group.entry[element, place + k], iteration * (frames.values[d, k] - value)
            if fixing == 1:
                table.regret[row + entry] += gain
                continue
            action_set = group.action_set[element, content]
            for other in range(size):
                if same_orbit(group, fixing, action_set, other, entry):
                    table.regret[row + other] += gain


@inner_kernel
@borrowing
def _back_up(walk, table, frames, depth, learner, iteration, value):
    """Pass a value to the last open decision; decisions with no move left to try learn and pass on theirs."""
    while depth > 0:
        d = depth - 1
        size = walk.position[frames.position[d], MOVES]
        frames.values[d, frames.action[d]] = value
        frames.action[d] = _next_tried(frames, d, frames.action[d] + 1, size)
        if frames.action[d] < size:
            return depth, value
        value = 0.0
        for k in range(size):
            if frames.share[d, k] > 0.0:
                value += frames.share[d, k] * frames.strategy[d, k] * frames.values[d, k]
        _learn(walk, table, frames, d, learner, iteration, value)
        depth = d
    return depth, value


@inner_kernel
@borrowing
def _external(walk, table, frames, at, learner, iteration, room, views, strategy, stream):
    """Traverse the game for ``learner``: update its regrets and the average of the next player; return whether done.

    It stops where the table is full or no positions are LEFT to be met, and the next call continues there.
    """
    position, depth, group, n = at[POSITION], at[DEPTH], walk.group, len(views)
    if at[MET] == 0:
        for p in range(len(views)):
            views[p] = view_of(p, 0)
    while at[LEFT] > 0 and has_room(table, room):
        at[MET] += 1
        at[LEFT] -= 1
        mover, action = walk.position[position, PLAYER], 0
        first, content = walk.position[position, FIRST], walk.position[position, CONTENT]
        size = walk.position[position, MOVES]
        if mover == TERMINAL:
            value = walk.payoffs[content, learner]
            depth, value = _back_up(walk, table, frames, depth, learner, iteration, value)
            if depth == 0:
                return True
            for p in range(n):
                views[p] = frames.views[depth - 1, p]
            position, action = frames.position[depth - 1], frames.action[depth - 1]
        elif mover == CHANCE:
            action = choose(walk.probability[first : first + size], size, stream)
        elif size > 1:
            view = views[mover]
            row = add_row(table, state_of(view), group.action_set[element_of(view), content], size)
            if mover == learner:
                depth = _enter(walk, table, frames, depth, position, row, learner, views, at[PRUNE], stream)
                action = frames.action[depth - 1]
                if n == 1:
                    add_to_average(table, row, group, view, content, size, iteration, frames.strategy[depth - 1])
            else:
                match_regrets(table, row, group, view, content, size, strategy)
                if mover == (learner + 1) % n and not at[PRUNE]:
                    add_to_average(table, row, group, view, content, size, iteration, strategy)
                action = choose(strategy, size, stream)
        position = follow_edge(walk, table, position, action, views)
    at[POSITION], at[DEPTH] = position, depth
    return False


@kernel
@borrowing
def _iterate(walk, table, frames, at, explore, begin, count, room, views, strategy, stream):
    """Run up to ``count`` iterations from number ``begin`` on; fewer where ``_external`` stops, possibly inside one."""
    for t in range(begin, begin + count):
        weight = np.float64(t + 1)
        while at[TURN_OF] < len(views):
            learner = at[TURN_OF]
            if at[MET] == 0:
                at[PRUNE] = uniform_number(stream) >= explore
            if not _external(walk, table, frames, at, learner, weight, room, views, strategy, stream):
                return t - begin
            at[TURN_OF] += 1
            at[POSITION], at[DEPTH], at[WIDEST], at[MET] = 0, 0, max(at[WIDEST], at[MET]), 0
        at[TURN_OF] = 0
    return count


class Mccfr(Sampling):
    """External sampling on a game.  The same seed gives the same run, however its iterations are grouped.

    ``explore`` is the probability, from more than 0 to 1, that a traversal tries the moves that are clearly bad; 1 is
    plain external sampling, the default unless traversals are wide.

    External sampling (Lanctot et al. 2009) with linear weights (Brown & Sandholm 2019); ``max_bytes`` bounds its
    table, by default by the free memory.  Raises ``ParameterError`` for ``explore`` out of range.

    >>> from infoset.solvers.sampling.belief_response import evaluate_policy
    >>> from infoset.solvers.sampling.mccfr import Mccfr
    >>> from infoset.tree.graph import explore
    >>> from infoset.tree.quotient_graph import QuotientGraph
    >>> walk = QuotientGraph.of(explore(infoset.load("kuhn_poker")))
    >>> solver = Mccfr(walk, seed=1)
    >>> solver.step(20_000)
    >>> evaluate_policy(walk, solver.policy()).exploitability < 0.03
    True
    """

    def __init__(
        self, walk: QuotientGraph, seed: int = 0, max_bytes: int | None = None, explore: float | None = None
    ) -> None:  # fmt: skip
        super().__init__(walk, seed, max_bytes)
        if explore is not None:
            check_share("explore", explore)
        self.explore = explore
        self.frames = Frames.empty(walk.depth + 1, walk.num_players, walk.most_actions)
        self.at = np.zeros(7, dtype=np.int64)

    def _step(self, iterations: int, until: float) -> None:
        """Run iterations of one traversal per player; the time ``until`` may interrupt one."""
        end = self.iteration + iterations
        while self.iteration < end:
            explore = 1.0 if self.explore is None else self.explore
            count = 1 if self.explore is None else end - self.iteration
            self.at[LEFT] = LOOK
            found = _iterate(
                self.walk, self.table, self.frames, self.at, explore, self.iteration, count, self.room, *self.scratch,
                self.stream,
            )  # fmt: skip
            self.iteration += int(found)
            if found < count and self.at[LEFT] > 0:
                self.table = self._grown()
            elif found < count and time.monotonic() > until:
                break
            if self.explore is None and self.iteration:  # the first iteration decides, however the others are grouped
                self.explore = EXPLORE if self.at[WIDEST] > WIDE else 1.0

    def save(self) -> dict[str, Any]:
        """Return all data that later iterations depend on, as arrays by name."""
        arrays = {f"table.{name}": array for name, array in self.table._asdict().items()}
        arrays |= {f"frames.{name}": array for name, array in self.frames._asdict().items()}
        arrays |= {"views": self.scratch[0], "at": self.at, "stream": self.stream}
        explore = np.array(np.nan if self.explore is None else self.explore)
        return arrays | {"iteration": np.array(self.iteration), "explore": explore}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore the state of ``save``.  Raises ``CheckpointError`` for arrays that do not fit."""
        for name, array in self.save().items():
            if name not in saved or saved[name].dtype != array.dtype or saved[name].ndim != array.ndim:
                raise CheckpointError(f"the checkpoint does not fit: {name} is missing or of another kind")
            if not name.startswith("table.") and saved[name].shape != array.shape:
                raise CheckpointError(f"the checkpoint does not fit: {name} has another shape")
        table = InfosetTable(*[saved[f"table.{name}"] for name in InfosetTable._fields])
        try:
            table.check(self.walk.group)
        except DamageError as error:
            raise CheckpointError(f"the checkpoint does not fit: {error}") from None
        self.table = table
        self.frames = Frames(*[saved[f"frames.{name}"] for name in Frames._fields])
        self.scratch = saved["views"], self.scratch[1]
        self.at, self.stream = saved["at"], saved["stream"]
        self.iteration, explore = int(saved["iteration"]), float(saved["explore"])
        self.explore = None if np.isnan(explore) else explore

    def policy(self, least: float = 0.0) -> InfosetPolicy:
        """Return the average strategies, without probabilities below ``least``."""
        return self.table.policy(self.table.average_behaviour(self.walk.group, least))
