"""Threats: what the agent's next move could do to the others, as the game of ``traps`` with the agent as the blocker.

``risks`` asks whether others can trap the agent after a move; this module computes on which share of the cells where an
enemy may be next the agent can trap it, with the bombs on the board or with one more that it lays a step later.
"""

from __future__ import annotations

import numpy as np

from infoset.jit import inner_kernel, linked_kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS
from infoset_pommerman.engine import FUSE, SIZE
from infoset_pommerman.rules import WAYS
from infoset_pommerman.search.cellsets import add, clear, contains
from infoset_pommerman.search.dypm import NONE, act_on
from infoset_pommerman.search.hazards import put_bomb
from infoset_pommerman.search.risks import LENGTH, separated
from infoset_pommerman.search.scenario import spread_crowd, unroll
from infoset_pommerman.search.traps import lay_traps
from infoset_pommerman.state import MOVES

REACH = 8  # Manhattan distance up to which an enemy is considered


@inner_kernel
def weigh_threats(threat, b, s, d, traps, me, enemies, later, engine):
    """Fill ``threat`` (moves,) for each move with a value in ``d.own``.

    ``later`` is the weight of a threat that needs one more bomb, laid in the step after.
    """
    ammo = st.AGENTS + me * st.AGENT_FIELDS + st.AMMO
    for move in range(MOVES):
        threat[move] = 0.0
        if d.own[move] > NONE and in_reach(b.guess, me, enemies, engine.settings[SIZE]):
            act_on(b, d, me, move, engine)
            threat[move] = threat_of(b, s, d.leaf, traps, me, enemies, engine)
            if later > 0.0 and move != st.LAY and d.leaf[ammo] > 0 and put_bomb(d.leaf, me, engine.settings[FUSE]):
                threat[move] = max(threat[move], later * threat_of(b, s, d.leaf, traps, me, enemies, engine))


@linked_kernel
def in_reach(row, me, enemies, size):
    """Return whether an enemy is within ``REACH``; bit k of ``enemies`` says that agent k is one."""
    found, here = False, row[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        found |= enemies >> k & 1 and row[agent + st.ALIVE] and separated(row[agent + st.CELL], here, size) <= REACH
    return found


@inner_kernel
def threat_of(b, s, leaf, traps, me, enemies, engine):
    """Return the sum over enemies of the share of their next cells on which the agent can trap them.

    Counted are the cells that an enemy can reach from the position ``leaf`` and on which it survives if nobody is in
    its way; an enemy that can be trapped on all of them counts one more.
    """
    size = engine.settings[SIZE]
    here = leaf[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    unroll(s, leaf, LENGTH, b, engine)
    clear(s.crowd[0], size)
    add(s.crowd[0], here, size)
    spread_crowd(s, LENGTH, LENGTH, size)
    safe, total = traps.safe[lay_traps(traps, s, 0, LENGTH, engine.near, size)], 0.0
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if enemies >> k & 1 and leaf[agent + st.ALIVE] and separated(leaf[agent + st.CELL], here, size) <= REACH:
            total += part_caught(s, safe, np.int64(leaf[agent + st.CELL]), here, engine)
    return total


@linked_kernel
def part_caught(s, safe, cell, here, engine):
    """Return the term of ``threat_of`` for an enemy at a cell; the agent is ``here``."""
    size, nobody, ways, caught = engine.settings[SIZE], engine.settings[SIZE] ** 2, 0, 0
    for way in range(st.STOP, st.RIGHT + 1):
        to = np.int64(engine.near[cell * WAYS + way]) if way != st.STOP else cell
        free = way == st.STOP or (to not in (cell, here) and contains(s.open[0], to, size))
        if free and contains(safe[nobody, 1:], to, size):
            ways += 1
            caught += contains(safe[here, 1:], to, size) == 0
    return caught / ways + (caught == ways) if ways else 0.0
