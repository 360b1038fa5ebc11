"""Monte Carlo CFR (Lanctot et al. 2009) on the distinct positions of a game: only what it samples takes memory.

External sampling: every move of the player who learns, one move of everybody else.  Iteration t weighs t in regrets and
average (Linear CFR, Brown & Sandholm 2019).
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray
from infoset.errors import BudgetError
from infoset.jit import inline_kernel, kernel
from infoset.randomness import next_word, streams
from infoset.solvers.infoset_table import ENTRIES, STATES, InfosetTable, add_row, add_state
from infoset.tree.graph import CHANCE, TERMINAL, GameGraph

UNIT = 1.0 / (1 << 53)
SHIFT = np.uint64(11)
CHUNK_SECONDS = 0.2


class Walk(NamedTuple):
    """The arrays of a graph that a walk reads."""

    player: IntArray  # (P,)
    content: IntArray  # (P,)
    first_edge: IntArray  # (P + 1,)
    child: IntArray  # (E,)
    probability: FloatArray  # (E,)
    token: IntArray  # (E, n)
    payoffs: FloatArray

    @classmethod
    def of(cls, graph: GameGraph) -> Walk:
        return cls(
            graph.player.astype(np.int32), graph.content, graph.first_edge, graph.child, graph.probability,
            np.ascontiguousarray(graph.token), graph.payoffs,
        )  # fmt: skip


class Frames(NamedTuple):
    """One frame for each open decision of the player who learns."""

    position: IntArray  # (D,)
    move: IntArray  # (D,) the one being tried
    row: IntArray  # (D,)
    states: IntArray  # (D, n) what everybody knows there
    strategy: FloatArray  # (D, A)
    values: FloatArray  # (D, A)

    @classmethod
    def empty(cls, depth: int, players: int, moves: int) -> Frames:
        flat, wide = np.zeros(depth, dtype=np.int32), np.zeros((depth, moves))
        return cls(flat, flat.copy(), flat.copy(), np.zeros((depth, players), np.int32), wide, wide.copy())


@inline_kernel
def uniform_number(stream):
    """In [0, 1)."""
    return np.float64(next_word(stream) >> SHIFT) * UNIT


@kernel
def match_regrets(regret, row, size, strategy):
    """Regret matching: positive regrets in proportion, uniform where there are none."""
    total = 0.0
    for k in range(size):
        strategy[k] = max(regret[row + k], 0.0)
        total += strategy[k]
    for k in range(size):
        strategy[k] = strategy[k] / total if total > 0.0 else 1.0 / size


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
def _follow(walk, table, position, move, states):
    """Take an edge: everybody learns what they see of it, unless all is over."""
    e = walk.first_edge[position] + move
    below = walk.child[e]
    if walk.player[below] != TERMINAL:
        for p in range(len(states)):
            if walk.token[e, p] >= 0:
                states[p] = add_state(table, states[p], walk.token[e, p])
    return below


@kernel
def _enter(frames, depth, position, row, states):
    """Open a decision of the player who learns, with its strategy already there."""
    frames.position[depth], frames.move[depth], frames.row[depth] = position, 0, row
    frames.states[depth] = states
    return depth + 1


@kernel
def _back_up(walk, table, frames, depth, weight, value):
    """Hand a value to the last open decision; those whose moves are all tried learn and hand on theirs."""
    while depth > 0:
        d, row = depth - 1, frames.row[depth - 1]
        size = walk.first_edge[frames.position[d] + 1] - walk.first_edge[frames.position[d]]
        frames.values[d, frames.move[d]] = value
        frames.move[d] += 1
        if frames.move[d] < size:
            return depth, value
        value = 0.0
        for k in range(size):
            value += frames.strategy[d, k] * frames.values[d, k]
        for k in range(size):
            table.regret[row + k] += weight * (frames.values[d, k] - value)
        depth = d
    return depth, value


@inline_kernel
def _add(sums, row, size, weight, strategy):
    for k in range(size):
        sums[row + k] += weight * strategy[k]


@kernel
def _external(walk, table, frames, learner, weight, states, strategy, stream):
    """One traversal for ``learner``: its payoff; updates its regrets and the average of the player after it."""
    n, depth, position = len(states), 0, 0
    for p in range(n):
        states[p] = p
    while True:
        mover, move = walk.player[position], 0
        first = walk.first_edge[position]
        size = walk.first_edge[position + 1] - first
        if mover == TERMINAL:
            value = walk.payoffs[walk.content[position], learner]
            depth, value = _back_up(walk, table, frames, depth, weight, value)
            if depth == 0:
                return value
            states[:] = frames.states[depth - 1]
            position, move = frames.position[depth - 1], frames.move[depth - 1]
        elif mover == CHANCE:
            move = choose(walk.probability[first : first + size], size, stream)
        elif size > 1:
            row = add_row(table, states[mover], size)
            if mover == learner:
                match_regrets(table.regret, row, size, frames.strategy[depth])
                if n == 1:
                    _add(table.average, row, size, weight, frames.strategy[depth])
                depth = _enter(frames, depth, position, row, states)
            else:
                match_regrets(table.regret, row, size, strategy)
                if mover == (learner + 1) % n:
                    _add(table.average, row, size, weight, strategy)
                move = choose(strategy, size, stream)
        position = _follow(walk, table, position, move, states)


@kernel
def _iterate(walk, table, frames, begin, count, stream, reserve, states, strategy):
    """Up to ``count`` iterations from number ``begin`` on; fewer where the table has no room for another traversal."""
    n = len(states)
    for t in range(begin, begin + count):
        room = len(table.parent) - table.filled[STATES] >= n * reserve[STATES]
        if not room or len(table.regret) - table.filled[ENTRIES] < n * reserve[ENTRIES]:
            return t - begin
        for learner in range(n):
            _external(walk, table, frames, learner, np.float64(t + 1), states, strategy, stream)
    return count


@kernel
def _measure(walk, order, learner, most):
    """(3, P) for each position: the most states and entries that one traversal meets behind it, and its depth."""
    for k in range(len(order) - 1, -1, -1):
        p = order[k]
        first, last = walk.first_edge[p], walk.first_edge[p + 1]
        for e in range(first, last):
            for j in range(3):
                below = most[j, walk.child[e]]
                if j == STATES:
                    for q in range(walk.token.shape[1]):
                        below += walk.token[e, q] >= 0 and walk.player[walk.child[e]] != TERMINAL
                every = walk.player[p] == learner and j < 2
                most[j, p] = most[j, p] + below if every else max(most[j, p], below)
        if walk.player[p] >= 0 and last - first > 1:
            most[ENTRIES, p] += last - first
            most[2, p] += 1


class Mccfr:
    """Sampling at work on a game.  The same seed gives the same run, however its iterations are grouped."""

    def __init__(self, graph: GameGraph, seed: int = 0, max_bytes: int | None = None) -> None:
        self.graph, self.seed, self.max_bytes = graph, seed, max_bytes
        self.walk = Walk.of(graph)
        self.stream = streams(seed, 1)
        self.iteration = 0
        n = len(graph.players)
        self.table = InfosetTable.empty(n)
        self.reserve, depth = self._bounds()
        moves = int(graph.num_edges.max(initial=1))
        self.frames = Frames.empty(depth + 1, n, moves)
        self.scratch = np.zeros(n, dtype=np.int32), np.zeros(moves)

    def _bounds(self) -> tuple[FloatArray, int]:
        """What one traversal can add to the table at most, and how deep it can go."""
        order = self.graph.order
        most = np.zeros((3, len(order)))
        bounds = np.zeros(3)
        for learner in range(len(self.graph.players)):
            most[:] = 0.0
            _measure(self.walk, order, learner, most)
            bounds = np.maximum(bounds, most[:, 0])
        return bounds[:2], int(bounds[2])

    def step(self, iterations: int) -> None:
        """So many iterations more, each with one traversal a player.  Raises ``BudgetError`` when memory is used up."""
        done, n = 0, len(self.graph.players)
        while done < iterations:
            done += _iterate(
                self.walk, self.table, self.frames, self.iteration + done, iterations - done, self.stream,
                self.reserve, *self.scratch,
            )  # fmt: skip
            if done < iterations:
                self.table = self._grown(int(n * self.reserve[STATES]), int(n * self.reserve[ENTRIES]))
        self.iteration += done

    def run(self, iterations: int | None, seconds: float) -> None:
        """So many iterations, or as many as ``seconds`` allow where ``iterations`` is ``None``, and memory."""
        if iterations is not None:
            return self.step(iterations)
        end, chunk = time.monotonic() + seconds, 1
        while (began := time.monotonic()) < end:
            try:
                self.step(chunk)
            except BudgetError:
                break
            spent = time.monotonic() - began
            if spent < CHUNK_SECONDS:
                chunk *= 2
            chunk = max(1, min(chunk, int(chunk * (end - time.monotonic()) / max(spent, 1e-9))))
        return None

    def _grown(self, states: int, entries: int) -> InfosetTable:
        grown = self.table.with_room(states, entries)
        if self.max_bytes is not None and grown.nbytes > self.max_bytes:
            raise BudgetError(
                f"{self.graph.name}: {self.table.num_infosets:,} information sets after {self.iteration:,} iterations "
                f"take {grown.nbytes:,} bytes, more than max_bytes={self.max_bytes:,}"
            )
        return grown
