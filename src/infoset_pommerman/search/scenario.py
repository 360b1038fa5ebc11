"""Pessimistic scenarios (Osogami & Takahashi 2019, Algorithm 2) and what an agent can survive in them.

A scenario is the deterministic future of a position in which nobody moves; for every step it holds the cells that can
be entered and those that burn.  Pessimism enters by *crowds*: others stand on every cell that they may have reached,
all at once.  What an agent can survive is a set of cells for each step, computed forward from where it is and pruned
backward from the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.jit import count_ones, inline_kernel, inner_kernel, linked_kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config
from infoset_pommerman.engine import SIZE, close_in, limits_of
from infoset_pommerman.rules import burn_down, step
from infoset_pommerman.search.cellsets import add, clear, contains, count, remove, row_of_neighbours

MAX_LENGTH = 20
Cells = npt.NDArray[np.uint32]
ONE = np.uint32(1)


class Scenario(NamedTuple):
    """Working memory for one scenario: sets of cells for each moment, 0 to its length."""

    row: st.Row  # (row,) the position as time advances
    open: Cells  # (moments, size) cells that may be entered in the step from this moment
    fire: Cells  # (moments, size) cells that burn, or are walls: no agent can live there
    crowd: Cells  # (moments, size) cells taken by others
    reach: Cells  # (moments, size) cells where the agent in question can be and still survive


def empty_scenario(config: Config) -> Scenario:
    """Return working memory for scenarios of at most ``MAX_LENGTH`` steps.

    Lengths are not checked here; callers that take one as a parameter check it.
    """
    sets = np.zeros((4, MAX_LENGTH + 1, config.size), dtype=np.uint32)
    return Scenario(st.empty_rows(1, config)[0], *sets)


@linked_kernel
def play(row, moves, b, engine):
    """Play one step of the rules in place, without judging the position."""
    settings = engine.settings
    if len(engine.collapses):
        close_in(row, settings, engine.collapses)
    step(row, b.work, engine.near, settings[SIZE], moves, b.silence, limits_of(settings))


@inline_kernel
def copy(source, target):
    """Copy a position or a set of cells."""
    for k in range(len(source)):
        target[k] = source[k]


@linked_kernel
def unroll(s, leaf, length, b, engine):
    """Compute the future of ``leaf`` in which nobody moves: fill ``open`` and ``fire``."""
    copy(leaf, s.row)
    draw(s, 0, engine)
    play(s.row, b.idle, b, engine)
    draw(s, 1, engine)
    go_on(s, 1, length, b, engine)


@linked_kernel
def go_on(s, begin, length, b, engine):
    """Continue a scenario from the moment ``begin``, which is drawn and whose position ``s.row`` a step led to."""
    size = engine.settings[SIZE]
    for t in range(begin + 1, length + 1):
        flames = s.row[st.NUM_FLAMES]
        if not is_calm(s.row, engine):
            play(s.row, b.idle, b, engine)
            draw(s, t, engine)
            continue
        tick(s.row, size)
        if s.row[st.NUM_FLAMES] != flames:
            draw(s, t, engine)
        else:
            copy(s.open[t - 1], s.open[t])
            copy(s.fire[t - 1], s.fire[t])


@inline_kernel
def is_calm(row, engine):
    """Return whether the next step only ages bombs and flames; never in games where walls close in."""
    found = len(engine.collapses) == 0
    for k in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + k * st.BOMB_FIELDS
        found &= (row[bomb + st.LIFE] > 1) & (row[bomb + st.DIRECTION] == st.STOP)
    return found


@inline_kernel
def tick(row, size):
    """Advance a position by a calm step, with the same result as ``step``."""
    if row[st.NUM_FLAMES]:
        burn_down(row, size, st.BOARD + size * size)
    for k in range(row[st.NUM_BOMBS]):
        row[st.BOMBS + k * st.BOMB_FIELDS + st.LIFE] -= 1
    row[st.STEP] += 1


@inline_kernel
def draw(s, t, engine):
    """Draw the position ``s.row`` into the sets of a moment.

    Walls that close in before anyone moves are drawn, and cells with bombs that agents stand on are not open.
    """
    size, cell = engine.settings[SIZE], st.BOARD
    if len(engine.collapses):
        close_in(s.row, engine.settings, engine.collapses)
    for r in range(size):
        free, fire = np.uint32(0), np.uint32(0)
        for c in range(size):
            value = s.row[cell]
            bit = ONE << np.uint32(c)
            if (value == st.FLAMES) | (value == st.RIGID):
                fire |= bit
            if (value != st.RIGID) & (value != st.WOOD) & (value != st.BOMB):
                free |= bit
            cell += 1
        s.open[t, r], s.fire[t, r] = free, fire
    for k in range(s.row[st.NUM_BOMBS]):
        remove(s.open[t], s.row[st.BOMBS + k * st.BOMB_FIELDS + st.BOMB_CELL], size)


@linked_kernel
def spread_crowd(s, length, level, size):
    """Spread the crowd of ``crowd[0]`` over all cells that it may reach in the first ``level`` steps."""
    for t in range(length):
        for r in range(size):
            word = s.crowd[t, r]
            if t < level:
                word |= row_of_neighbours(s.crowd[t], r, size) & s.open[t, r] & ~s.fire[t + 1, r]
            s.crowd[t + 1, r] = word


@linked_kernel
def survivable(s, cell, length, size):
    """Count the pairs of a moment, 1 to ``length``, and a cell that an agent at ``cell`` can reach and survive from.

    The count is 0 where at most one cell is left at the end.  The agent may not enter a cell of ``crowd``, but may stay
    where it was before the crowd came: nobody is pushed.  The pairs are left in ``reach``.
    """
    return survivable_from(s, cell, 0, length, size)


@inner_kernel
def survivable_from(s, cell, begin, length, size):
    """Count like ``survivable`` the pairs of later moments for an agent that is at ``cell`` at the moment ``begin``."""
    for r in range(size):
        s.reach[begin, r] = np.uint32(0)
    if not contains(s.fire[begin], cell, size):
        add(s.reach[begin], cell, size)
    for t in range(begin, length):
        for r in range(size):
            word = row_of_neighbours(s.reach[t], r, size) & s.open[t, r] & ~s.crowd[t + 1, r]
            s.reach[t + 1, r] = (word | s.reach[t, r]) & ~s.fire[t + 1, r]
    last = np.int64(0)
    for r in range(size):
        last += np.int64(count_ones(s.reach[length, r]))
    if last <= 1:
        return 0
    total = last
    for back in range(1, length - begin):
        total += prune(s, length - back, size)
    return total


@inner_kernel
def find_ways(s, begin, length, size):
    """Find for all cells at once, with nobody in the way, from where an agent can survive.

    The pairs of a moment, ``begin`` to ``length``, and such a cell are left in ``reach``; bits beyond the last column
    mean nothing.
    """
    for r in range(size):
        s.reach[length, r] = ~s.fire[length, r]
    for t in range(length - 1, begin - 1, -1):
        above, here = np.uint32(0), s.reach[t + 1, 0] & s.open[t, 0]
        for r in range(size):
            below = s.reach[t + 1, r + 1] & s.open[t, r + 1] if r + 1 < size else np.uint32(0)
            s.reach[t, r] = (s.reach[t + 1, r] | here << ONE | here >> ONE | above | below) & ~s.fire[t, r]
            above, here = here, below


@inner_kernel
def ways_from(s, cell, begin, length, size):
    """Return what ``survivable_from`` counts for an agent at ``cell`` at the moment ``begin``.

    Needs the pairs that ``find_ways`` leaves in ``reach``; works in ``crowd[0]``.
    """
    cells, total, last = s.crowd[0], np.int64(0), np.int64(0)
    clear(cells, size)
    if contains(s.reach[begin], cell, size):
        add(cells, cell, size)
    for t in range(begin, length):
        above, here, last = np.uint32(0), cells[0], np.int64(0)
        for r in range(size):
            below = cells[r + 1] if r + 1 < size else np.uint32(0)
            word = (((here << ONE | here >> ONE | above | below) & s.open[t, r]) | here) & s.reach[t + 1, r]
            cells[r] = word
            last += np.int64(count_ones(word))
            above, here = here, below
        total += last
    return total if last > 1 else 0


@inline_kernel
def prune(s, t, size):
    """Keep the cells of a moment that lead to a cell of the next one; return their number."""
    remaining = np.int64(0)
    above = np.uint32(0)
    for r in range(size):
        word = s.reach[t + 1, r]
        entered = word & s.open[t, r] & ~s.crowd[t + 1, r]
        found = word | (entered << ONE) | (entered >> ONE) | above
        if r + 1 < size:
            found |= s.reach[t + 1, r + 1] & s.open[t, r + 1] & ~s.crowd[t + 1, r + 1]
        above = entered
        s.reach[t, r] &= found
        remaining += np.int64(count_ones(s.reach[t, r]))
    return remaining


@inner_kernel
def survivability(s, cell, length, size):
    """Sum the cells at which an agent at ``cell`` can end, each weighted by how long its path there avoids the others.

    Returns that sum, in cells; the number of cells if nobody spread; and the last moment at which there would be any.

    ``crowd`` holds by when the others may have been where, ``c`` for the first time at moment ``first[c]``.  A path
    that is at ``c`` at a moment ``t >= first[c]`` meets them; its value is the least ``first[c]`` of all its meetings,
    ``length + 1`` without any, divided by ``length + 1``; a cell's value, from 0 to 1, is that of its best path.  Paths
    with a value above ``n / (length + 1)`` are those that are open where the others spread for ``n`` steps, so the
    values are summed as numbers of cells.
    """
    total, alone, lasted = 0, 0, 0
    for level in range(length + 1):
        found, moment = arrivals(s, cell, length, level, size)
        total += found
        if level == 0:
            alone, lasted = found, moment
        if found == 0:
            break
    return total / (length + 1.0), alone, lasted


@inner_kernel
def arrivals(s, cell, length, level, size):
    """Count the cells that an agent can end on if the others spread for ``level`` steps.

    Returns the number and the last moment, 0 to ``length``, at which there are any.
    """
    cells = s.reach[0]
    clear(cells, size)
    if not contains(s.fire[0], cell, size):
        add(cells, cell, size)
    for t in range(length):
        taken, some = min(t + 1, level), np.uint32(0)
        above, here = np.uint32(0), cells[0]
        for r in range(size):
            below = cells[r + 1] if r + 1 < size else np.uint32(0)
            word = above | (here << ONE) | (here >> ONE) | below
            word = ((word & s.open[t, r]) | here) & ~s.fire[t + 1, r] & ~s.crowd[taken, r]
            cells[r] = word
            some |= word
            above, here = here, below
        if some == 0:
            return 0, t
    return count(cells, size), length


@linked_kernel
def lasts(s, length, size):
    """Return the last moment, 0 to ``length``, at which the agent of the last call of ``survivable`` has any cell."""
    for t in range(length + 1):
        some = np.uint32(0)
        for r in range(size):
            some |= s.reach[t, r]
        if some == 0:
            return max(t - 1, 0)
    return length


@linked_kernel
def gather_crowd(s, row, without, size):
    """Set ``crowd[0]`` to the cells of everyone alive in a position except the agent ``without``."""
    for r in range(size):
        s.crowd[0, r] = np.uint32(0)
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if row[agent + st.ALIVE] and k != without:
            add(s.crowd[0], row[agent + st.CELL], size)
