"""Dangers from what others may do to bombs at once: the flames of every such future are added to a scenario.

Rolling bombs may stop, and enemies may kick adjacent bombs and lay bombs where they stand.  The union of these futures
contains more than can happen at once, as with crowds.
"""

from __future__ import annotations

from infoset.jit import inline_kernel, inner_kernel, linked_kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, MAX_BOMBS
from infoset_pommerman.engine import FUSE, SIZE
from infoset_pommerman.rules import WAYS, bomb_on
from infoset_pommerman.search.scenario import copy, draw, go_on, play


@inner_kernel
def lay_hazards(b, s, other, leaf, begin, length, enemies, bombs, moves, engine):
    """Add the dangers to ``s``, whose moments from ``begin`` on are the future of ``leaf``.

    ``other`` is a scenario to work in and ``moves`` (agents,) is scratch.  ``bombs`` says whether enemies are assumed
    to lay bombs.
    """
    if stop_bombs(leaf, other.row):
        lay_over(b, s, other, begin, length, engine)
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if enemies >> k & 1 and leaf[agent + st.ALIVE] and leaf[agent + st.CAN_KICK]:
            for direction in range(st.UP, st.RIGHT + 1):
                target = engine.near[leaf[agent + st.CELL] * WAYS + direction]
                if target != leaf[agent + st.CELL] and bomb_on(leaf, target):
                    copy(leaf, other.row)
                    for m in range(MAX_AGENTS):
                        moves[m] = st.STOP
                    moves[k] = direction
                    play(other.row, moves, b, engine)
                    lay_over_from(b, s, other, begin + 1, length, engine)
    if bombs:
        copy(leaf, other.row)
        if lay_bombs(other.row, enemies, engine.settings[FUSE]):
            lay_over(b, s, other, begin, length, engine)


@inline_kernel
def stop_bombs(leaf, row):
    """Write the position in which no bomb rolls into ``row``; return whether any bomb rolled."""
    copy(leaf, row)
    rolled = False
    for k in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + k * st.BOMB_FIELDS
        rolled |= row[bomb + st.DIRECTION] != st.STOP
        row[bomb + st.DIRECTION] = st.STOP
    return rolled


@linked_kernel
def lay_over(b, s, other, begin, length, engine):
    """Add the future of ``other.row``, the position at ``begin``, to the scenario from the next moment on."""
    play(other.row, b.idle, b, engine)
    lay_over_from(b, s, other, begin + 1, length, engine)


@linked_kernel
def lay_over_from(b, s, other, begin, length, engine):
    """Add the future of ``other.row``, the position at ``begin``, to the scenario, including that moment.

    Cells that burn in either future burn, and cells that are closed in either are closed.
    """
    size = engine.settings[SIZE]
    draw(other, begin, engine)
    go_on(other, begin, length, b, engine)
    for t in range(begin, length + 1):
        for r in range(size):
            s.fire[t, r] |= other.fire[t, r]
            s.open[t, r] &= other.open[t, r]


@linked_kernel
def lay_bombs(row, enemies, fuse):
    """Let every enemy that can lay a bomb where it stands; return whether any did."""
    some = False
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if enemies >> k & 1 and row[agent + st.ALIVE] and row[agent + st.AMMO] > 0:
            some |= put_bomb(row, k, fuse)
    return some


@linked_kernel
def put_bomb(row, k, fuse):
    """Add a new bomb of agent ``k`` at its cell; return whether there was room for it."""
    agent = st.AGENTS + k * st.AGENT_FIELDS
    if row[st.NUM_BOMBS] == MAX_BOMBS or bomb_on(row, row[agent + st.CELL]):
        return False
    bomb = st.BOMBS + row[st.NUM_BOMBS] * st.BOMB_FIELDS
    row[bomb + st.BOMB_CELL], row[bomb + st.OWNER] = row[agent + st.CELL], k
    row[bomb + st.LIFE], row[bomb + st.STRENGTH], row[bomb + st.DIRECTION] = fuse, row[agent + st.BLAST], st.STOP
    row[st.NUM_BOMBS] += 1
    return True
