"""One pass over the stages of a game from its ends: values, strategies, and what best responses to these attain.

Every stage is solved by itself (``matrix_games``), once all stages that follow it are.  The pass computes three numbers
for each: what the strategies pay, and what a best response of the first and of the second player attains against them
from there on.  Threads share the stages of a level; the numbers do not depend on timing.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from infoset.base import BoolArray, FloatArray, LongArray, Stages
from infoset.jit import kernel, linked_kernel
from infoset.memory import check_room
from infoset.processes import usable_cores
from infoset.tree.matrix_games import TOLERANCE, Workspace, measure, solve_in_fractions, solve_matrix_game, solve_room
from infoset.tree.payoff_scale import LAST_BITS
from infoset.tree.stage_form import Place, StageForm

MOST_THREADS = 8
CELLS_A_BATCH = 1 << 25  # entries of matrices between two looks at the clock
CELLS_A_TASK = 1 << 18  # entries that a thread takes at once
MAX_FAILURES = 4096  # stages of a task that are solved again in fractions
BYTES_PER_VALUE = 24


class Results(NamedTuple):
    """The numbers of all stages in all contexts, each in the place ``begin[context] + place[stage]``."""

    begin: LongArray  # (C,)
    expected: FloatArray  # what the strategies pay the first player
    best: FloatArray  # what a best response of the first player pays it
    worst: FloatArray  # what a best response of the second player leaves it


class Remembered(NamedTuple):
    """The strategies of the turn before, where contexts are turns; of shape (0,) elsewhere."""

    row: LongArray  # (N,) where the strategies of each stage begin
    column: LongArray
    x: FloatArray
    y: FloatArray
    known: BoolArray  # (N,)


@linked_kernel
def fill(s: Stages, stage: int, outcome: int, begin: LongArray, values: FloatArray, r: Workspace) -> None:
    """Write the payoff matrix of a stage after an outcome of chance, given the values of what follows."""
    rows, columns = s.rows[stage], s.columns[stage]
    cell = s.first[stage]
    if len(s.kind) == 0:
        base, gain = begin[s.next[outcome, 0]], s.gain[outcome, 0]
        for i in range(rows):
            for j in range(columns):
                r.matrix[i, j] = gain + values[base + s.child[cell]]
                cell += 1
        return
    for i in range(rows):
        for j in range(columns):
            kind = s.kind[cell]
            r.matrix[i, j] = s.gain[outcome, kind] + values[begin[s.next[outcome, kind]] + s.child[cell]]
            cell += 1


@linked_kernel
def _respond(s: Stages, stage: int, outcome: int, found: Results, r: Workspace) -> tuple[float, float]:
    """Return what best responses of both players attain in a stage, given what they attain in those that follow."""
    rows, columns, cell = s.rows[stage], s.columns[stage], s.first[stage]
    best = -np.inf
    r.sums[:columns] = 0.0
    for i in range(rows):
        total, share = 0.0, r.x[i]
        for j in range(columns):
            kind = s.kind[cell] if len(s.kind) else 0
            at = found.begin[s.next[outcome, kind]] + s.child[cell]
            if r.y[j] > 0.0:
                total += r.y[j] * (s.gain[outcome, kind] + found.best[at])
            if share > 0.0:
                r.sums[j] += share * (s.gain[outcome, kind] + found.worst[at])
            cell += 1
        best = max(best, total)
    worst = np.inf
    for j in range(columns):
        worst = min(worst, r.sums[j])
    return best, worst


@linked_kernel
def _expect(s: Stages, stage: int, outcome: int, found: Results, r: Workspace) -> float:
    """Return what the strategies pay in a stage, given what they pay in those that follow."""
    rows, columns, cell, total = s.rows[stage], s.columns[stage], s.first[stage], 0.0
    for i in range(rows):
        if r.x[i] > 0.0:
            for j in range(columns):
                kind = s.kind[cell + j] if len(s.kind) else 0
                at = found.begin[s.next[outcome, kind]] + s.child[cell + j]
                total += r.x[i] * r.y[j] * (s.gain[outcome, kind] + found.expected[at])
        cell += columns
    return total


@kernel
def _solve_task(
    s: Stages, given_begin: LongArray, given: FloatArray, found: Results, last: Remembered, room: Workspace,
    task: LongArray, solving: bool, tolerance: float, least: float, failed: LongArray,
) -> tuple[float, int]:  # fmt: skip
    """Solve a range of stages in a range of contexts; return the largest gap, and the number of stages left unsolved.

    The matrices are those of the values ``given``, which are those of ``found`` where ``solving``.  A gap is allowed up
    to ``tolerance`` times the range of a matrix, and up to ``least``, the rounding error of the payoffs.
    """
    largest, failures, stages = 0.0, 0, len(s.rows)
    for c in range(task[2], task[3]):
        for t in range(task[0], task[1]):
            if len(s.mirror) and (s.opposite[c] < c or (s.opposite[c] == c and s.mirror[t] < t)):
                continue
            at = found.begin[c] + s.place[t]
            expected = s.final[t] + s.end[c]
            best, worst = expected, expected
            if s.rows[t] > 0 and s.outcome[c + 1] > s.outcome[c]:
                gap, expected, best, worst = _solve_stage(
                    s, t, c, given_begin, given, found, last, room, solving, tolerance, least
                )
                if gap < np.inf:
                    largest = max(largest, gap)
                else:
                    if failures < len(failed):
                        failed[failures] = c * stages + t
                    failures += 1
            found.expected[at], found.best[at], found.worst[at] = expected, best, worst
            if len(s.mirror):
                other = found.begin[s.opposite[c]] + s.place[s.mirror[t]]
                if other == at:
                    found.expected[at] = 0.0
                else:
                    found.expected[other], found.best[other], found.worst[other] = -expected, -worst, -best
    return largest, failures


@linked_kernel
def _solve_stage(
    s: Stages, t: int, c: int, given_begin: LongArray, given: FloatArray, found: Results, last: Remembered,
    room: Workspace, solving: bool, tolerance: float, least: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Solve a stage in a context; return the largest gap of its outcomes, and its three numbers."""
    largest, expected, best, worst = 0.0, 0.0, 0.0, 0.0
    for o in range(s.outcome[c], s.outcome[c + 1]):
        weight = s.chance[o]
        if s.columns[t] == 0:
            for cell in range(s.first[t], s.first[t + 1]):
                below = found.begin[s.next[o, 0]] + s.child[cell]
                share = weight * s.probability[cell]
                expected += share * found.expected[below]
                best += share * found.best[below]
                worst += share * found.worst[below]
            continue
        fill(s, t, o, given_begin, given, room)
        value, gap = _strategies(s, t, last, room, tolerance, least)
        largest = max(largest, gap)
        expected += weight * (value if solving else _expect(s, t, o, found, room))
        upper, lower = _respond(s, t, o, found, room)
        best += weight * upper
        worst += weight * lower
    if len(last.x) and last.known[t] and s.columns[t] > 0:
        before = found.begin[c - 1] + s.place[t]
        if (
            abs(expected - found.expected[before]) <= least
            and abs(best - found.best[before]) <= least
            and abs(worst - found.worst[before]) <= least
        ):
            return largest, found.expected[before], found.best[before], found.worst[before]
    return largest, expected, best, worst


@linked_kernel
def _strategies(
    s: Stages, t: int, last: Remembered, room: Workspace, tolerance: float, least: float
) -> tuple[float, float]:
    """Write the strategies of a stage to ``room``: those of the turn before, where these are still an equilibrium.

    Return the value and the gap, which is infinite where it is too large.
    """
    rows, columns = s.rows[t], s.columns[t]
    low, high = np.inf, -np.inf
    for i in range(rows):
        for j in range(columns):
            low, high = min(low, room.matrix[i, j]), max(high, room.matrix[i, j])
    allowed = max(tolerance * (high - low), least)
    if len(last.x) and last.known[t]:
        room.x[:rows] = last.x[last.row[t] : last.row[t] + rows]
        room.y[:columns] = last.y[last.column[t] : last.column[t] + columns]
        value, gap = measure(room, rows, columns)
        if gap <= allowed:
            return value, gap
    value, gap = solve_room(room, rows, columns, tolerance)
    if len(last.x):
        last.known[t] = True
        last.x[last.row[t] : last.row[t] + rows] = room.x[:rows]
        last.y[last.column[t] : last.column[t] + columns] = room.y[:columns]
    return (value, gap) if gap <= allowed else (value, np.inf)


@kernel
def _fill_one(s: Stages, stage: int, outcome: int, begin: LongArray, values: FloatArray, r: Workspace) -> None:
    fill(s, stage, outcome, begin, values, r)


@kernel
def _follow_one(s: Stages, stage: int, outcome: int, found: Results, r: Workspace) -> tuple[float, float, float]:
    upper, lower = _respond(s, stage, outcome, found, r)
    return _expect(s, stage, outcome, found, r), upper, lower


class StagePass:
    """A pass over all stages, in batches that take about a second each.

    Without ``given`` it solves the game.  With ``given``, where each context begins among values, it evaluates the
    strategies that solve the matrices of these values.  Raises ``BudgetError`` where the numbers do not fit.
    """

    def __init__(
        self, form: StageForm, given: tuple[LongArray, FloatArray] | None = None, tolerance: float = TOLERANCE
    ) -> None:
        arrays, size = form.arrays, form.size
        if given is not None:  # nothing says that these values, or the choice among equilibria, are symmetric
            nobody = np.zeros(0, dtype=np.int32)
            arrays = arrays._replace(mirror=nobody, opposite=nobody)
        check_room(f"{form.name} has {size:,} states; their values take", size * BYTES_PER_VALUE)
        self.form, self.arrays, self.tolerance = form, arrays, tolerance
        self.found = Results(arrays.begin.copy(), *(np.empty(size) for _ in range(3)))
        self.given = given
        self.gaps = np.zeros(len(arrays.levels))
        """(L,) the largest gap of a matrix game of each level, of both players together."""
        self.solved_again = 0
        self.last = self._remembered()
        self.batches = list(self._batches())
        self.done = 0
        self.least = LAST_BITS * form.largest
        widest = (max(int(arrays.rows.max()), 1), max(int(arrays.columns.max()), 1))
        self.rooms = [Workspace.of(*widest) for _ in range(min(usable_cores(), MOST_THREADS))]
        self.threads = ThreadPoolExecutor(len(self.rooms))

    def _remembered(self) -> Remembered:
        arrays = self.arrays
        if not self.form.is_repeated:
            none = np.zeros(0, dtype=np.int64)
            return Remembered(none, none, np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_))
        rows, columns = (np.concatenate([[0], np.cumsum(some, dtype=np.int64)]) for some in arrays[:2])
        known = np.zeros(len(arrays.rows), dtype=np.bool_)
        return Remembered(rows[:-1], columns[:-1], np.zeros(int(rows[-1])), np.zeros(int(columns[-1])), known)

    def _batches(self) -> Iterator[tuple[int, list[LongArray]]]:
        """Yield each batch: its level, and its tasks, each of which is a range of stages and of contexts."""
        arrays = self.arrays
        for level, (first, last, begin, end) in enumerate(arrays.levels.tolist()):
            cells = np.diff(arrays.first[first : last + 1]) + 1
            outcomes = np.maximum(np.diff(arrays.outcome[begin : end + 1]), 1)
            if begin + 1 == end:
                cuts = first + _cuts(cells, CELLS_A_TASK)
                tasks = [np.array([a, b, begin, end]) for a, b in pairwise(cuts.tolist())]
            else:
                cuts = begin + _cuts(outcomes * int(cells.sum()), CELLS_A_TASK)
                tasks = [np.array([first, last, a, b]) for a, b in pairwise(cuts.tolist())]
            sizes = [
                int(cells[a - first : b - first].sum()) * int(outcomes[c - begin : d - begin].sum())
                for a, b, c, d in (task.tolist() for task in tasks)
            ]
            for a, b in pairwise(_cuts(np.array(sizes), CELLS_A_BATCH).tolist()):
                yield level, tasks[a:b]

    @property
    def over(self) -> bool:
        """Whether the values of the start are known."""
        return self.done >= len(self.batches)

    @property
    def level(self) -> int:
        """The level of the next batch."""
        return self.batches[min(self.done, len(self.batches) - 1)][0]

    def step(self) -> None:
        """Solve the next batch."""
        level, tasks = self.batches[self.done]
        begin, values = self.given or (self.found.begin, self.found.expected)
        free: SimpleQueue[Workspace] = SimpleQueue()
        for room in self.rooms:
            free.put(room)

        def solve(task: LongArray) -> tuple[float, int, LongArray]:
            room, failed = free.get(), np.empty(MAX_FAILURES, dtype=np.int64)
            try:
                found = _solve_task(
                    self.arrays, begin, values, self.found, self.last, room, task, self.given is None,
                    self.tolerance, self.least, failed,
                )  # fmt: skip
                return (*found, failed)
            finally:
                free.put(room)

        for task, (gap, failures, failed) in zip(tasks, list(self.threads.map(solve, tasks)), strict=True):
            self.gaps[level] = max(self.gaps[level], gap)
            stages = len(self.arrays.rows)
            if failures <= len(failed):
                again = failed[:failures].tolist()
            else:
                again = [c * stages + t for c in range(*task[2:].tolist()) for t in range(*task[:2].tolist())]
            for number in again:
                self.gaps[level] = max(self.gaps[level], self._solve_again(number % stages, number // stages))
        self.done += 1
        if self.form.is_repeated and (self.done == len(self.batches) or self.batches[self.done][0] > level):
            self._skip_repetitions(level)

    def _solve_again(self, stage: int, context: int) -> float:
        """Solve a stage in fractions and return its gap."""
        s, room, found = self.arrays, self.rooms[0], self.found
        begin, values = self.given or (found.begin, found.expected)
        rows, columns, numbers, largest = int(s.rows[stage]), int(s.columns[stage]), np.zeros(3), 0.0
        for o in range(int(s.outcome[context]), int(s.outcome[context + 1])):
            _fill_one(s, stage, o, begin, values, room)
            matrix = room.matrix[:rows, :columns]
            room.x[:rows], room.y[:columns] = solve_in_fractions(matrix)
            gap = float((matrix @ room.y[:columns]).max() - (room.x[:rows] @ matrix).min())
            largest = max(largest, gap)
            numbers += s.chance[o] * np.array(_follow_one(s, stage, o, found, room))
        self._write(stage, context, *numbers.tolist())
        if len(s.mirror) and (int(s.mirror[stage]), int(s.opposite[context])) != (stage, context):
            expected, best, worst = numbers.tolist()
            self._write(int(s.mirror[stage]), int(s.opposite[context]), -expected, -worst, -best)
        self.solved_again += 1
        return largest

    def _write(self, stage: int, context: int, expected: float, best: float, worst: float) -> None:
        at = int(self.found.begin[context]) + int(self.arrays.place[stage])
        self.found.expected[at], self.found.best[at], self.found.worst[at] = expected, best, worst

    def _skip_repetitions(self, level: int) -> None:
        """End the pass after a turn that changed nothing: with more turns left, all numbers are the same."""
        if not level or not self._is_like_last(level):
            return
        if self.given is not None and (self.given[0][level:] != self.given[0][level - 1]).any():
            return
        self.found.begin[level:] = self.found.begin[level - 1]
        self.done = len(self.batches)

    def _is_like_last(self, level: int) -> bool:
        begin, width = self.found.begin, int(self.form.widths[level])
        return all(
            np.array_equal(some[begin[level] : begin[level] + width], some[begin[level - 1] : begin[level - 1] + width])
            for some in self.found[1:]
        )

    @property
    def used(self) -> int:
        """The number of values up to the last one that is known, once the pass is over."""
        return int((self.found.begin + self.form.widths).max())

    def state_arrays(self) -> dict[str, np.typing.NDArray[Any]]:
        """Return all arrays that change, by name, up to the last value that is known."""
        started = self.batches[: self.done]
        last = max([int(tasks[-1][3]) for _, tasks in started], default=0)
        used = int((self.arrays.begin + self.form.widths)[:last].max(initial=0))
        arrays = {name: getattr(self.found, name)[:used] for name in ("expected", "best", "worst")}
        return {"begin": self.found.begin, "gaps": self.gaps, **arrays, **self.last._asdict()}

    def at_start(self) -> tuple[float, float, float]:
        """Return the three numbers of the start, once the pass is over."""
        s = self.arrays
        at = int(self.found.begin[s.start[1]]) + int(s.place[s.start[0]])
        return float(self.found.expected[at]), float(self.found.best[at]), float(self.found.worst[at])


def stage_strategies(
    form: StageForm, begin: LongArray, values: FloatArray, place: Place
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return both players' strategies (rows,) and (columns,) at a place, given the values of all states."""
    s = form.arrays
    rows, columns = int(s.rows[place.stage]), int(s.columns[place.stage])
    room = Workspace.of(rows, columns)
    _fill_one(s, place.stage, int(s.outcome[place.context]) + place.outcome, begin, values, room)
    found = solve_matrix_game(room.matrix)
    return found.rows, found.columns


def _cuts(sizes: LongArray, most: int) -> LongArray:
    """Return where to cut a list into parts of consecutive entries of about ``most`` in total, its ends included."""
    total = np.cumsum(sizes)
    parts = (total - sizes) // most
    return np.concatenate([[0], np.flatnonzero(np.diff(parts)) + 1, [len(sizes)]])
