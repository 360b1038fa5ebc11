"""Solve the pursuit game of a runner that must survive a scenario and a blocker that stands in its way.

In a deterministic future of the board both move, the runner first and without knowing the blocker's move.  The game is
solved backward for all pairs of cells at once: for each cell of the blocker it yields the set of cells from which the
runner survives for certain.  Two agents that want the same cell stay where they are, as in the rules; where two want
each other's cell they stay as well, and the runner must also survive if they had swapped, which is slightly stricter
than the rules.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.jit import inline_kernel, inner_kernel, lowest_one
from infoset_pommerman.config import Config
from infoset_pommerman.rules import WAYS
from infoset_pommerman.search.cellsets import ONE, contains
from infoset_pommerman.search.scenario import Cells
from infoset_pommerman.state import RIGHT, UP

FULL = np.uint32(0xFFFFFFFF)


class Traps(NamedTuple):
    """Working memory for the sets of two moments.  The board has an empty row above and below."""

    safe: Cells  # (2, cells + 2, size + 2) by the blocker's cell; then without a blocker; then all cells
    open: Cells  # (size + 2,)
    way: Cells  # (size + 2,) cells to which the blocker may move
    free: Cells  # (size + 2,) cells that the runner may enter and survive on, whatever the blocker does
    met: Cells  # (size + 2,) those of them that the blocker may take


def empty_traps(config: Config) -> Traps:
    """Allocate the working memory for traps."""
    size = config.size
    safe = np.zeros((2, size * size + 2, size + 2), dtype=np.uint32)
    safe[:, -1] = FULL
    return Traps(safe, *np.zeros((4, size + 2), dtype=np.uint32))


@inner_kernel
def lay_traps(x, s, begin, length, near, size):
    """Solve the game from the end of the scenario ``s`` back to the moment ``begin``, for blockers on ``s.crowd``.

    Returns which of the two layers of ``x.safe`` holds the moment ``begin``.
    """
    nobody = size * size
    layer = length & 1
    for at in range(nobody + 1):
        for r in range(size):
            x.safe[layer, at, r + 1] = ~s.fire[length, r]
        if at < nobody:
            x.safe[layer, at, at // size + 1] |= ONE << np.uint32(at % size)
    for t in range(length - 1, begin - 1, -1):
        later, layer = layer, t & 1
        for r in range(size):
            x.open[r + 1] = s.open[t, r]
        runs_alone(x, s, later, layer, t, size)
        for r in range(size):
            left = s.crowd[t, r] & ~s.fire[t, r]
            while left:
                c = lowest_one(left)
                left ^= ONE << c
                meet(x, s, later, layer, t, r * size + np.int64(c), near, size)
    return layer


@inline_kernel
def runs_alone(x, s, later, layer, t, size):
    """Compute the runner's safe cells of a moment with nobody in its way."""
    nobody = size * size
    after, now = x.safe[later, nobody], x.safe[layer, nobody]
    for r in range(1, size + 1):
        x.free[r] = after[r] & x.open[r]
    for r in range(1, size + 1):
        here = x.free[r]
        now[r] = (after[r] | (here << ONE) | (here >> ONE) | x.free[r - 1] | x.free[r + 1]) & ~s.fire[t, r - 1]


@inline_kernel
def meet(x, s, later, layer, t, at, near, size):
    """Compute the runner's cells that are safe after each move of a blocker at ``at``."""
    nobody, every = size * size, size * size + 1
    after, now, row = x.safe[later], x.safe[layer, at], at // size + 1
    burns = contains(s.fire[t + 1], at, size) != 0
    stay = nobody if burns else at
    a, b, c, d = every, every, every, every
    if not burns:
        x.way[row] |= ONE << np.uint32(at % size)
    for direction in range(UP, RIGHT + 1):
        to = near[at * WAYS + direction]
        if to != at and contains(s.open[t], to, size) and not contains(s.fire[t + 1], to, size):
            x.way[to // size + 1] |= ONE << np.uint32(to % size)
            a, b, c, d = to, a, b, c
    for r in range(1, size + 1):
        word = after[stay, r] & after[a, r] & after[b, r] & after[c, r] & after[d, r]
        now[r] = word
        word &= x.open[r]
        x.free[r] = word & ~x.way[r]
        x.met[r] = word & x.way[r]
    for r in range(1, size + 1):
        free, met = x.free[r], x.met[r]
        entered = free << ONE | free >> ONE | x.free[r - 1] | x.free[r + 1]
        tried = (met << ONE | met >> ONE | x.met[r - 1] | x.met[r + 1]) & after[stay, r]
        now[r] = (now[r] | entered | tried) & ~s.fire[t, r - 1]
    now[row] |= ONE << np.uint32(at % size)
    for r in range(max(row - 1, 1), min(row + 1, size) + 1):
        x.way[r] = np.uint32(0)
