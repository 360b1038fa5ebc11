"""Monte Carlo CFR (Lanctot et al. 2009) on the distinct positions of a game: only what it samples takes memory.

External sampling: every move of the player who learns, one move of everybody else.  Iteration t weighs t in regrets and
average (Linear CFR, Brown & Sandholm 2019).

Moves that are clearly bad need not be tried always (regret-based pruning, Brown & Sandholm 2015): where a regret is far
below zero, as measured by the regrets above zero beside it, which are noise.  All of them are tried on some traversals
and none on the others (as for Pluribus, Brown & Sandholm 2019), so that what lies behind several is not forgotten.
Averages are taken where all are tried: how often a walk comes by must not depend on what the others learn.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from math import inf
from typing import Any, NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import BudgetError, CheckpointError
from infoset.jit import inline_kernel, kernel
from infoset.randomness import next_word, streams
from infoset.solvers.infoset_policy import InfosetPolicy
from infoset.solvers.infoset_table import ENTRIES, STATES, InfosetTable, add_row, add_state
from infoset.solvers.updates import normalise
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.walk import (
    CHILD,
    CONTENT,
    FIRST,
    MOVES,
    PLAYER,
    TOKENS,
    TURN,
    Walk,
    canonical,
    element_of,
    same_orbit,
    state_of,
    turned,
    view_of,
)  # fmt: skip

POSITION, DEPTH, PRUNE, MET, TURN_OF, WIDEST, LEFT = range(7)  # where an iteration is
UNIT = 1.0 / (1 << 53)
SHIFT = np.uint64(11)
CHUNK_SECONDS = 0.2
WIDE = 20_000  # positions that a traversal of the first iteration meets, beyond which not all moves are tried
CLEARLY = 3.0  # times the greatest regret above zero: as far below it a move is clearly bad
LOOK = 1_000_000  # positions met between two looks at the clock, where one iteration takes longer
RARE = 0.002  # chances below are what is left of the first iterations; .02 would cost half a point in a hundred
EXPLORE = 0.1  # then; in small games 1 is best


class Frames(NamedTuple):
    """One frame for each open decision of the player who learns."""

    position: IntArray  # (D,)
    move: IntArray  # (D,) the one being tried
    row: IntArray  # (D,)
    views: LongArray  # (D, n) what everybody knows there
    strategy: FloatArray  # (D, A)
    values: FloatArray  # (D, A)
    share: FloatArray  # (D, A) for how many moves that are equal by symmetry a move is tried; 0: it is not

    @classmethod
    def empty(cls, depth: int, players: int, moves: int) -> Frames:
        flat, wide = np.zeros(depth, dtype=np.int32), np.zeros((depth, moves))
        views = np.zeros((depth, players), np.int64)
        return cls(flat, flat.copy(), flat.copy(), views, wide, wide.copy(), wide.copy())


@inline_kernel
def uniform_number(stream):
    """In [0, 1)."""
    return np.float64(next_word(stream) >> SHIFT) * UNIT


@kernel
def match_regrets(table, row, group, view, content, size, strategy):
    """Regret matching: positive regrets in proportion, uniform without any; by the moves as the walk has them.

    Returns the greatest of them, or 0.
    """
    total, greatest, place = 0.0, 0.0, group.first_entry[content]
    for k in range(size):
        strategy[k] = max(table.regret[row + group.entry[element_of(view), place + k]], 0.0)
        total += strategy[k]
        greatest = max(greatest, strategy[k])
    normalise(0, size, total, strategy)
    return greatest


@kernel
def choose(weights, size, stream):
    """An index by weights that sum to one."""
    left = uniform_number(stream)
    last = 0
    for k in range(size):
        if weights[k] > 0.0:
            last = k
            left -= weights[k]
            if left < 0.0:
                break
    return last


@kernel
def follow_edge(walk, table, position, move, views):
    """Take an edge: everybody learns what they see of it, unless all is over."""
    e = walk.position[position, FIRST] + move
    below, group = walk.edge[e, CHILD], walk.group
    if walk.position[below, PLAYER] != TERMINAL:
        for p in range(len(views)):
            token = walk.edge[e, TOKENS + p]
            if token >= 0:
                state, element = state_of(views[p]), element_of(views[p])
                token, element = canonical(group, table.fixing[state], element, token)
                views[p] = view_of(add_state(table, group, state, token), element)
            views[p] = turned(group, views[p], walk.edge[e, TURN])
    return below


@kernel
def _enter(walk, table, frames, depth, position, row, learner, views, prune, stream):
    """Open a decision of the player who learns: its strategy, which moves to try, and the first of them."""
    group, content, view = walk.group, walk.position[position, CONTENT], views[learner]
    place = group.first_entry[content]
    size = group.first_entry[content + 1] - place
    strategy = frames.strategy[depth]
    frames.position[depth], frames.row[depth] = position, row
    frames.views[depth] = views
    greatest = match_regrets(table, row, group, view, content, size, strategy)
    frames.share[depth, :size] = 1.0
    if table.fixing[state_of(view)] != 1:
        _pick(group, table.fixing[state_of(view)], view, content, size, frames.share[depth], stream)
    for k in range(size):
        bad = table.regret[row + group.entry[element_of(view), place + k]] < -CLEARLY * greatest
        if prune and bad and strategy[k] == 0.0:
            frames.share[depth, k] = 0.0
    frames.move[depth] = _next_tried(frames, depth, 0, size)
    return depth + 1


@inline_kernel
def _next_tried(frames, d, move, size):
    while move < size and frames.share[d, move] == 0.0:
        move += 1
    return move


@kernel
def _pick(group, fixing, view, content, size, share, stream):
    """Of the moves that are equal by symmetry one is tried for all, each as likely: the others do not know which."""
    element, place = element_of(view), group.first_entry[content]
    menu = group.menu[element, content]
    share[:size] = -1.0
    for k in range(size):
        if share[k] < 0.0:
            members, chosen = 0.0, k
            for m in range(k, size):
                if same_orbit(group, fixing, menu, group.entry[element, place + m], group.entry[element, place + k]):
                    members += 1.0
                    share[m] = 0.0
                    if uniform_number(stream) * members < 1.0:
                        chosen = m
            share[chosen] = members


@kernel
def _learn(walk, table, frames, d, learner, iteration, value):
    """Add to the regrets of an open decision; moves that are equal by symmetry learn the same."""
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
            menu = group.menu[element, content]
            for other in range(size):
                if same_orbit(group, fixing, menu, other, entry):
                    table.regret[row + other] += gain


@kernel
def _back_up(walk, table, frames, depth, learner, iteration, value):
    """Hand a value to the last open decision; those whose moves are all tried learn and hand on theirs."""
    while depth > 0:
        d = depth - 1
        size = walk.position[frames.position[d], MOVES]
        frames.values[d, frames.move[d]] = value
        frames.move[d] = _next_tried(frames, d, frames.move[d] + 1, size)
        if frames.move[d] < size:
            return depth, value
        value = 0.0
        for k in range(size):
            if frames.share[d, k] > 0.0:
                value += frames.share[d, k] * frames.strategy[d, k] * frames.values[d, k]
        _learn(walk, table, frames, d, learner, iteration, value)
        depth = d
    return depth, value


@kernel
def add_to_average(table, row, group, view, content, size, weight, strategy):
    """Add a strategy to the average."""
    place = group.first_entry[content]
    for k in range(size):
        table.average[row + group.entry[element_of(view), place + k]] += weight * strategy[k]


@kernel
def has_room(table, room):
    """Whether the table has room for what one walk from the start to an end can add."""
    states = len(table.parent) - table.filled[STATES]
    return states >= room[STATES] and len(table.regret) - table.filled[ENTRIES] >= room[ENTRIES]


@kernel
def _external(walk, table, frames, at, learner, iteration, room, views, strategy, stream):
    """One traversal for ``learner``: updates its regrets and the average of the player after it; whether it is over.

    Where the table is full, or so many positions were met as are left, it stops, and goes on where it was with the
    next call.
    """
    position, depth, group, n = at[POSITION], at[DEPTH], walk.group, len(views)
    if at[MET] == 0:
        for p in range(len(views)):
            views[p] = view_of(p, 0)
    while at[LEFT] > 0 and has_room(table, room):
        at[MET] += 1
        at[LEFT] -= 1
        mover, move = walk.position[position, PLAYER], 0
        first, content = walk.position[position, FIRST], walk.position[position, CONTENT]
        size = walk.position[position, MOVES]
        if mover == TERMINAL:
            value = walk.payoffs[content, learner]
            depth, value = _back_up(walk, table, frames, depth, learner, iteration, value)
            if depth == 0:
                return True
            views[:] = frames.views[depth - 1]
            position, move = frames.position[depth - 1], frames.move[depth - 1]
        elif mover == CHANCE:
            move = choose(walk.probability[first : first + size], size, stream)
        elif size > 1:
            view = views[mover]
            row = add_row(table, state_of(view), group.menu[element_of(view), content], size)
            if mover == learner:
                depth = _enter(walk, table, frames, depth, position, row, learner, views, at[PRUNE], stream)
                move = frames.move[depth - 1]
                if n == 1:
                    add_to_average(table, row, group, view, content, size, iteration, frames.strategy[depth - 1])
            else:
                match_regrets(table, row, group, view, content, size, strategy)
                if mover == (learner + 1) % n and not at[PRUNE]:
                    add_to_average(table, row, group, view, content, size, iteration, strategy)
                move = choose(strategy, size, stream)
        position = follow_edge(walk, table, position, move, views)
    at[POSITION], at[DEPTH] = position, depth
    return False


@kernel
def _iterate(walk, table, frames, at, explore, begin, count, room, views, strategy, stream):
    """Up to ``count`` iterations from number ``begin`` on; fewer where ``_external`` stops, in the midst of one."""
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


class Sampling(ABC):
    """What samples a game into a table that grows."""

    def __init__(self, walk: Walk, seed: int = 0, max_bytes: int | None = None) -> None:
        self.walk, self.seed, self.max_bytes = walk, seed, max_bytes
        self.stream = streams(seed, 1)
        self.iteration = 0
        n, depth, moves = walk.num_players, walk.depth, walk.most_moves
        self.table = InfosetTable.empty(n, walk.group)
        self.room = np.array([n * (depth + 1), moves * (depth + 1)], dtype=np.int64)
        self.scratch = np.zeros(n, dtype=np.int64), np.zeros(moves)

    @property
    def num_infosets(self) -> int:
        return self.table.num_infosets

    @property
    def nbytes(self) -> int:
        """Of the table, which is all that grows."""
        return self.table.nbytes

    @abstractmethod
    def step(self, iterations: int, until: float = inf) -> None:
        """So many iterations more.  Raises ``BudgetError`` when memory is used up.

        From the moment ``until`` on it stops, and goes on there the next time.
        """

    def run(self, iterations: int | None, seconds: float) -> None:
        """So many iterations, or as many as ``seconds`` allow where ``iterations`` is ``None``, and memory."""
        if iterations is not None:
            return self.step(iterations)
        end, chunk = time.monotonic() + seconds, 1
        while (began := time.monotonic()) < end:
            try:
                self.step(chunk, end)
            except BudgetError:
                break
            spent = time.monotonic() - began
            if spent < CHUNK_SECONDS:
                chunk *= 2
            chunk = max(1, min(chunk, int(chunk * (end - time.monotonic()) / max(spent, 1e-9))))
        return None

    def _grown(self) -> InfosetTable:
        states, entries = self.room.tolist()
        grown = self.table.with_room(states, entries)
        if self.max_bytes is not None and grown.nbytes > self.max_bytes:
            raise BudgetError(
                f"{self.table.num_infosets:,} information sets after {self.iteration:,} iterations "
                f"take {grown.nbytes:,} bytes, more than max_bytes={self.max_bytes:,}"
            )
        return grown


class Mccfr(Sampling):
    """Sampling at work on a game.  The same seed gives the same run, however its iterations are grouped.

    ``explore`` is the chance, from more than 0 to 1, that a traversal tries the moves that are clearly bad; 1 is plain
    external sampling, the default unless traversals are wide.
    """

    def __init__(
        self, walk: Walk, seed: int = 0, max_bytes: int | None = None, explore: float | None = None
    ) -> None:  # fmt: skip
        super().__init__(walk, seed, max_bytes)
        self.explore = explore
        self.frames = Frames.empty(walk.depth + 1, walk.num_players, walk.most_moves)
        self.at = np.zeros(7, dtype=np.int64)

    def step(self, iterations: int, until: float = inf) -> None:
        """So many iterations more, each with one traversal a player.  Raises ``BudgetError`` when memory is used up.

        From the moment ``until`` on it stops, if need be in the midst of one, and goes on there the next time.
        """
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
            if self.explore is None and self.iteration:  # the first decides, however the others are grouped
                self.explore = EXPLORE if self.at[WIDEST] > WIDE else 1.0

    def save(self) -> dict[str, Any]:
        """All that the iterations to come depend on, as arrays by name."""
        arrays = {f"table.{name}": array for name, array in self.table._asdict().items()}
        arrays |= {f"frames.{name}": array for name, array in self.frames._asdict().items()}
        arrays |= {"views": self.scratch[0], "at": self.at, "stream": self.stream}
        explore = np.array(np.nan if self.explore is None else self.explore)
        return arrays | {"iteration": np.array(self.iteration), "explore": explore}

    def restore(self, saved: dict[str, Any]) -> None:
        """As it was when ``save`` was called.  Raises ``CheckpointError`` for arrays that do not fit."""
        for name, array in self.save().items():
            if name not in saved or saved[name].dtype != array.dtype or saved[name].ndim != array.ndim:
                raise CheckpointError(f"the checkpoint does not fit: {name} is missing or of another kind")
            if not name.startswith("table.") and saved[name].shape != array.shape:
                raise CheckpointError(f"the checkpoint does not fit: {name} has another shape")
        self.table = InfosetTable(*[saved[f"table.{name}"] for name in InfosetTable._fields])
        self.frames = Frames(*[saved[f"frames.{name}"] for name in Frames._fields])
        self.scratch = saved["views"], self.scratch[1]
        self.at, self.stream = saved["at"], saved["stream"]
        self.iteration, explore = int(saved["iteration"]), float(saved["explore"])
        self.explore = None if np.isnan(explore) else explore

    def policy(self, least: float = 0.0) -> InfosetPolicy:
        """The average strategies without chances below ``least``."""
        return InfosetPolicy.of(self.table, self.table.average_behaviour(self.walk.group, least))
