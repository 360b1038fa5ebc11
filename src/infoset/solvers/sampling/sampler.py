"""The common parts of all sampling solvers: draws, steps along the walk, a growing table, a clock."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from math import inf

import numpy as np

from infoset.base import FloatArray, LongArray
from infoset.errors import BudgetError
from infoset.jit import borrowing, inline_kernel, inner_kernel, linked_kernel
from infoset.memory import free_memory
from infoset.names import MAX_COUNT, check_range
from infoset.randomness import Words, next_word, streams
from infoset.solvers.sampling.infoset_table import ENTRIES, STATES, InfosetTable, add_state
from infoset.solvers.tabular.updates import normalise
from infoset.tree.graph import TERMINAL
from infoset.tree.quotient_graph import (
    CHILD,
    FIRST,
    PLAYER,
    TOKENS,
    TURN,
    QuotientGraph,
    canonical,
    element_of,
    state_of,
    turned,
    view_of,
)
from infoset.tree.symmetry import Group

UNIT = 1.0 / (1 << 53)
SHIFT = np.uint64(11)
CHUNK_SECONDS = 0.2


@inline_kernel
def uniform_number(stream: Words) -> np.float64:
    """Return a random number in [0, 1)."""
    return np.float64(next_word(stream) >> SHIFT) * UNIT


@linked_kernel
@borrowing
def match_regrets(
    table: InfosetTable, row: int, group: Group, view: int, content: int, size: int, strategy: FloatArray
) -> float:
    """Write the regret-matching strategy: proportional to positive regrets, else uniform; moves ordered as in the walk.

    Returns the greatest regret, or 0.
    """
    total, greatest, place = 0.0, 0.0, group.first_entry[content]
    for k in range(size):
        strategy[k] = max(table.regret[row + group.entry[element_of(view), place + k]], 0.0)
        total += strategy[k]
        greatest = max(greatest, strategy[k])
    normalise(0, size, total, strategy)
    return greatest


@linked_kernel
@borrowing
def choose(weights: FloatArray, size: int, stream: Words) -> int:
    """Return an index drawn by weights that sum to one."""
    left = uniform_number(stream)
    last = 0
    for k in range(size):
        if weights[k] > 0.0:
            last = k
            left -= weights[k]
            if left < 0.0:
                break
    return last


@inner_kernel
@borrowing
def follow_edge(walk: QuotientGraph, table: InfosetTable, position: int, action: int, views: LongArray) -> int:
    """Take an edge and return the next position; the players' views are updated unless it is terminal."""
    e = walk.position[position, FIRST] + action
    below: int
    below, group = walk.edge[e, CHILD], walk.group
    if walk.position[below, PLAYER] != TERMINAL:
        for p in range(len(views)):
            record = walk.edge[e, TOKENS + p]
            if record >= 0:
                state, element = state_of(views[p]), element_of(views[p])
                record, element = canonical(group, table.fixing[state], element, record)
                views[p] = view_of(add_state(table, group, state, record), element)
            views[p] = turned(group, views[p], walk.edge[e, TURN])
    return below


@linked_kernel
@borrowing
def add_to_average(
    table: InfosetTable, row: int, group: Group, view: int, content: int, size: int, weight: float, strategy: FloatArray
) -> None:
    """Add a strategy to the average."""
    place = group.first_entry[content]
    for k in range(size):
        table.average[row + group.entry[element_of(view), place + k]] += weight * strategy[k]


@linked_kernel
@borrowing
def has_room(table: InfosetTable, room: LongArray) -> bool:
    """Return whether the table has room for the additions of one walk from the start to an end."""
    states = len(table.parent) - table.filled[STATES]
    return states >= room[STATES] and len(table.regret) - table.filled[ENTRIES] >= room[ENTRIES]  # type: ignore[no-any-return]


class Sampling(ABC):
    """A solver that samples a game into a growing table.

    The table grows up to ``max_bytes``, by default as long as it fits into half of the free memory.
    """

    def __init__(self, walk: QuotientGraph, seed: int = 0, max_bytes: int | None = None) -> None:
        self.walk, self.seed, self.max_bytes = walk, seed, max_bytes
        self.stream = streams(seed, 1)
        self.iteration = 0
        n, depth, actions = walk.num_players, walk.depth, walk.most_actions
        self.table = InfosetTable.empty(n, walk.group)
        self.room = np.array([n * (depth + 1), actions * (depth + 1)], dtype=np.int64)
        self.scratch = np.zeros(n, dtype=np.int64), np.zeros(actions)

    @property
    def num_infosets(self) -> int:
        return self.table.num_infosets

    @property
    def nbytes(self) -> int:
        """The size in bytes of the table, the only part that grows."""
        return self.table.nbytes

    def step(self, iterations: int, until: float = inf) -> None:
        """Run ``iterations`` more, 0 to ``MAX_COUNT``.  Raises ``BudgetError`` when memory is used up.

        It stops at the time ``until``, and the next call continues there.
        """
        check_range("iterations", iterations, 0, MAX_COUNT)
        self._step(iterations, until)

    @abstractmethod
    def _step(self, iterations: int, until: float) -> None:
        """Do the work of ``step``."""

    def run(self, iterations: int | None, seconds: float) -> None:
        """Run ``iterations``, or if ``None`` as many as ``seconds`` and memory allow."""
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
        """Return the table with more capacity; the old one stays in memory until the new one is filled."""
        most = free_memory() // 2 if self.max_bytes is None else self.max_bytes
        if (grown := 2 * self.nbytes) > most:
            bound = "half of the free memory" if self.max_bytes is None else f"max_bytes={most:,}"
            raise BudgetError(
                f"{self.table.num_infosets:,} information sets after {self.iteration:,} iterations "
                f"take {grown:,} bytes, more than {bound}"
            )
        return self.table.with_room(*self.room.tolist())
