"""Walks over a vector form, in two threads where it is large: values of all hands, and exact figures of a profile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import BoolArray, FloatArray, LongArray
from infoset.tree.public_form import PublicForm
from infoset.tree.public_tree import PLAYERS
from infoset.tree.vector_walk import EXPECT, RESPOND, Learnt, Scratch, VectorArrays, walk_boards

THREADS = 2
ROWS_A_TASK = 100_000
"""Walks over fewer rows are not worth handing over to a thread."""
MOST_TASKS = 32
NOTHING = np.zeros(0)
NO_SCALES = np.zeros((0, 2))
FIRST = np.zeros(1, np.int64)
"""The route to the first board."""
NO_LOCK = np.zeros(0, np.bool_)


class Figures(NamedTuple):
    """For each player the expected payoff of a profile, and that of its best response to the other."""

    values: tuple[float, float]
    responses: tuple[float, float]


class Walker:
    """The memory for walks over a form in one precision.  The order of additions does not depend on the threads."""

    def __init__(self, form: PublicForm, dtype: npt.DTypeLike) -> None:
        self.form, self.dtype = form, np.dtype(dtype)
        self.arrays: VectorArrays = form.arrays_in(dtype)
        self.reach = form.first_reach.astype(dtype)
        a = form.arrays
        below = np.flatnonzero(a.above == 0)
        self.starts = np.zeros((PLAYERS, len(a.kind)), np.int64)
        leaves = len(form.streets[0].leaves)
        for player in range(PLAYERS):
            self.starts[player, below] = np.arange(len(below)) * leaves * int(a.hands[player, 0])
        self.out = np.zeros(len(below) * leaves * int(a.hands[:, 0].max()), dtype)
        self.tasks = _tasks(form, below)
        self.scratch = form.scratch(dtype)

    @cached_property
    def _others(self) -> list[Scratch]:
        """The memory of each thread that walks boards below the first one."""
        return [self.form.scratch(self.dtype) for _ in range(THREADS)]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS)

    def walk(
        self, player: int, mode: int, state: Learnt, source: npt.NDArray[Any], ahead: FloatArray, parameters: FloatArray
    ) -> FloatArray:
        """Return (hands of the first board,) the values of a player's hands; ``state`` changes where it trains.

        ``source`` holds what strategies are proportional to: regrets, or the sums of strategies.
        """
        a, x, starts = self.arrays, self.scratch, self.starts[player]
        given = (a, state, source, ahead, self.reach, player, mode, parameters)
        boards = len(a.kind)
        if len(self.tasks) < 2:
            walk_boards(*given, x, FIRST, 1, boards, True, self.out, starts)
        else:
            todo = iter(self.tasks)

            def work(scratch: Scratch) -> None:
                for first, until in todo:  # the interpreter's lock makes sure that no two threads get the same task
                    walk_boards(*given, scratch, FIRST, first, until, False, self.out, starts)

            for done in [self._pool.submit(work, scratch) for scratch in self._others]:
                done.result()
            walk_boards(*given, x, FIRST, boards, boards, True, self.out, starts)
        at, count = int(x.values_at[0]), int(a.hands[player, 0])
        return x.values[at : at + count]

    def look_at(
        self, board: int, player: int, source: npt.NDArray[Any]
    ) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
        """Return the values (nodes, hands) of a player at all nodes of a board, and both players' reach (slots, hands).

        Both are those of the profile that is proportional to ``source`` (rows,): a value is the payoff of a hand, times
        the probability of chance and of the other player's actions, summed over the other player's hands.
        """
        form, a, x, route = self.form, self.arrays, self.scratch, [board]
        while a.above[route[-1]] >= 0:
            route.append(int(a.above[route[-1]]))
        state = Learnt(NOTHING, NOTHING, NOTHING, NO_SCALES, NO_LOCK)
        walk_boards(
            a, state, source, NOTHING, self.reach, player, EXPECT, NOTHING, x, np.array(route[::-1]), board + 1,
            int(a.until[board]), True, self.out, self.starts[player],
        )  # fmt: skip
        street, depth = form.streets[int(a.kind[board])], int(a.depth[board])
        at, count = int(x.values_at[depth]), int(a.hands[player, board])
        values = x.values[at : at + len(street.nodes) * count].reshape(-1, count).copy()
        reach = []
        for p in range(PLAYERS):
            at, count = int(x.reach_at[p, depth]), int(a.hands[p, board])
            reach.append(x.reach[at : at + street.slots[p] * count].reshape(-1, count).copy())
        return values, (reach[0], reach[1])


def _tasks(form: PublicForm, below: LongArray) -> list[tuple[int, int]]:
    """Return ranges of boards that may be walked independently: whole parts below the first board."""
    if not len(below) or not form.streets[0].leaves:
        return []
    count = int(np.clip(form.num_rows // ROWS_A_TASK, 1, min(MOST_TASKS, len(below))))
    parts = np.array_split(below, count)
    until = form.arrays.until
    return [(int(part[0]), int(until[part[-1]])) for part in parts]


def exact_figures(walker: Walker, source: npt.NDArray[Any], locked: BoolArray = NO_LOCK) -> Figures:
    """Return the figures of the profile that is proportional to ``source`` (rows,), in the walker's precision.

    Best responses keep to the strategy in ``locked`` rows.
    """
    form = walker.form
    state = Learnt(NOTHING, NOTHING, NOTHING, NO_SCALES, locked)

    def payoff(player: int, mode: int) -> float:
        values = walker.walk(player, mode, state, source, NOTHING, NOTHING)
        return float(form.first_weights(player) @ values) / form.together

    first, total = payoff(0, EXPECT), form.constant_sum
    second = payoff(1, EXPECT) if total is None else total - first
    return Figures((first, second), (payoff(0, RESPOND), payoff(1, RESPOND)))
