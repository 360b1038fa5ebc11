"""Risks: how others could answer the agent's next move, by standing in its way, or by a kick or a bomb first.

A scenario shows what the agent survives if nobody moves; this module computes what it survives whatever one other agent
does (two of them in the next step).  A move is a risk if there is an answer to it after which no escape is certain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray
from infoset.jit import inline_kernel, inner_kernel, linked_kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config
from infoset_pommerman.engine import FUSE, SIZE
from infoset_pommerman.rules import WAYS, bomb_on
from infoset_pommerman.search.cellsets import add, clear, contains
from infoset_pommerman.search.dypm import NONE, act_on, crowd_against
from infoset_pommerman.search.hazards import lay_hazards, put_bomb
from infoset_pommerman.search.scenario import (
    Cells,
    copy,
    gather_crowd,
    play,
    spread_crowd,
    survivability,
    survivable,
    unroll,
)
from infoset_pommerman.search.traps import Traps, empty_traps, lay_traps
from infoset_pommerman.state import MOVES

LENGTH = 13  # steps: a bomb laid in the next step has burnt out by then
NEAR = 6  # Manhattan distance up to which an enemy is assumed to lay a bomb


class Costs(NamedTuple):
    """The costs of being trapped by an agent in the way, by a bomb or kick first, and by the teammate."""

    block: float
    bomb: float
    mate: float


class Risks(NamedTuple):
    """Working memory for the risks of moves."""

    traps: Traps
    doors: Cells  # (size,) cells that others may enter with their next move
    ways: npt.NDArray[np.int64]  # (agents, moves) the cells on which each may be after it
    found: npt.NDArray[np.int64]  # (agents,) the number of those cells
    alone: FloatArray  # (moves,) what the agent survives after each move if the others stand still
    slack: npt.NDArray[np.int64]  # (moves,) for how many steps it may stay there and still survive, alone
    room: FloatArray  # (moves,) its survivability in cells, see ``survivability``
    risk: FloatArray  # (moves,) the cost of the worst answer


def empty_risks(config: Config) -> Risks:
    """Allocate the working memory for risks."""
    return Risks(
        empty_traps(config), np.zeros(config.size, dtype=np.uint32), np.zeros((MAX_AGENTS, MOVES), dtype=np.int64),
        np.zeros(MAX_AGENTS, dtype=np.int64), np.zeros(MOVES), np.zeros(MOVES, dtype=np.int64), np.zeros(MOVES),
        np.zeros(MOVES),
    )  # fmt: skip


@inner_kernel
def weigh_risks(b, s, d, x, me, enemies, length, memory, costs, engine):
    """Fill ``alone``, ``slack``, ``room`` and ``risk`` of ``x`` for each move with a value in ``d.own``."""
    size = engine.settings[SIZE]
    for move in range(MOVES):
        x.alone[move], x.slack[move], x.room[move], x.risk[move] = NONE, 0, 0.0, 0.0
        if d.own[move] > NONE:
            look_ahead(b, s, d, x, me, enemies, move, length, memory, engine)
            x.risk[move] = blocked(b, s, d, x, me, enemies, move, costs, engine)
            if x.risk[move] < costs.bomb and bombed(b, s, d, x, me, enemies, move, engine):
                x.risk[move] = costs.bomb
    own = b.guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    for move in range(st.UP, st.RIGHT + 1):
        target = engine.near[own * WAYS + move]
        kicks = d.own[move] > NONE and target != own and bomb_on(b.guess, target)
        if kicks and wanted(b, me, engine.near[target * WAYS + move], size):  # then the kick may fail
            x.risk[move] = max(x.risk[move], x.risk[st.STOP] if d.own[st.STOP] > NONE else costs.block)


@inner_kernel
def look_ahead(b, s, d, x, me, enemies, move, length, memory, engine):
    """Compute what the agent survives after a move."""
    size = engine.settings[SIZE]
    act_on(b, d, me, move, engine)
    unroll(s, d.leaf, length, b, engine)
    gather_crowd(s, d.leaf, me, size)
    spread_crowd(s, length, 0, size)
    x.alone[move] = survivable(s, d.cell[move], length, size)
    x.slack[move] = stays(s, d.cell[move], length, size)
    lay_hazards(b, s, d.other, d.leaf, 0, length, enemies, False, d.moves, engine)
    crowd_against(b, s, d, me, enemies, memory, size)
    spread_crowd(s, length, length, size)
    x.room[move] = survivability(s, d.cell[move], length, size)[0]


@inline_kernel
def stays(s, cell, length, size):
    """Return for how many steps the agent of the last call of ``survivable`` may stay where it is and still survive."""
    found = length
    for t in range(length, 0, -1):
        if not contains(s.reach[t], cell, size):
            found = t - 1
    return found


@linked_kernel
def wanted(b, me, cell, size):
    """Return whether another agent can be at a cell in the next step."""
    found = False
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        found |= k != me and b.guess[agent + st.ALIVE] and separated(b.guess[agent + st.CELL], cell, size) <= 1
    return found


@inline_kernel
def separated(one, other, size):
    """Return the Manhattan distance between two cells."""
    return abs(one // size - other // size) + abs(one % size - other % size)


@inner_kernel
def blocked(b, s, d, x, me, enemies, move, costs, engine):
    """Return the cost of others being able to stand in the agent's way after a move."""
    size = engine.settings[SIZE]
    act_on(b, d, me, move, engine)
    here, before = d.cell[move], b.guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    unroll(s, d.leaf, LENGTH, b, engine)
    lay_hazards(b, s, d.other, d.leaf, 0, LENGTH, enemies, False, d.moves, engine)
    list_ways(b, s, x, me, here, engine)
    spread_crowd(s, LENGTH, LENGTH, size)
    layer = lay_traps(x.traps, s, 0, LENGTH, engine.near, size)
    safe = x.traps.safe[layer]
    worst = 0.0
    for k in range(MAX_AGENTS):
        cost = costs.block if enemies >> k & 1 else costs.mate
        for at in range(x.found[k]):
            if not contains(safe[x.ways[k, at], 1:], here, size):
                worst = max(worst, cost)
        if k != me and bumps(b, s, k, here, before, safe, size):
            worst = max(worst, cost)
        for j in range(k):
            cost = costs.block if enemies >> k & enemies >> j & 1 else costs.mate
            if worst < cost and caught_between(s, x, 1 - layer, here, k, j, engine):
                worst = cost
    return worst


@linked_kernel
def bumps(b, s, k, here, before, safe, size):
    """Return whether the agent is unsafe where it stays because another agent wants the same cell.

    The other agent may have no other move.
    """
    agent = st.AGENTS + k * st.AGENT_FIELDS
    cell = np.int64(b.guess[agent + st.CELL])
    if not b.guess[agent + st.ALIVE] or here == before or separated(cell, here, size) != 1:
        return False
    stands = size * size if contains(s.fire[0], cell, size) else cell  # no blocker once it is burnt
    return contains(safe[stands, 1:], before, size) == 0


@inner_kernel
def list_ways(b, s, x, me, here, engine):
    """List the cells where the others may be after the agent's next move ``here``, and set the crowd to them."""
    size, near = engine.settings[SIZE], engine.near
    clear(s.crowd[0], size)
    for r in range(size):
        x.doors[r] = s.open[0, r] & ~s.fire[0, r]
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        x.found[k] = 0
        if k != me and b.guess[agent + st.ALIVE]:
            cell = np.int64(b.guess[agent + st.CELL])
            if not contains(s.fire[0], cell, size):
                enter_way(s, x, k, cell, size)
            for direction in range(st.UP, st.RIGHT + 1):
                to = np.int64(near[cell * WAYS + direction])
                if to not in (cell, here) and contains(x.doors, to, size):
                    enter_way(s, x, k, to, size)


@inline_kernel
def enter_way(s, x, k, cell, size):
    """Record ``cell`` as a place that agent ``k`` can reach."""
    x.ways[k, x.found[k]] = cell
    x.found[k] += 1
    add(s.crowd[0], cell, size)


@linked_kernel
def caught_between(s, x, later, here, k, j, engine):
    """Return whether two others can be at cells from where they spoil every next move of the agent."""
    for one in range(x.found[k]):
        for two in range(x.found[j]):
            if not escapes(s, x, later, here, x.ways[k, one], x.ways[j, two], engine):
                return True
    return False


@inner_kernel
def escapes(s, x, later, here, one, two, engine):
    """Return whether the agent has a move that others at two cells cannot spoil together now, nor one of them later."""
    size, after, near = engine.settings[SIZE], x.traps.safe[later], engine.near
    for move in range(st.STOP, st.RIGHT + 1):
        to = near[here * WAYS + move] if move != st.STOP else np.int16(here)
        if move != st.STOP and (to == here or not contains(s.open[0], to, size)):
            continue
        good = contains(s.fire[1], to, size) == 0
        if good and move != st.STOP and (may_enter(s, one, to, engine) or may_enter(s, two, to, engine)):
            good = contains(after[one, 1:], here, size) != 0 and contains(after[two, 1:], here, size) != 0
            good &= contains(s.fire[1], here, size) == 0
        if good and lasts_against(s, after, to, one, engine) and lasts_against(s, after, to, two, engine):
            return True
    return False


@inline_kernel
def may_enter(s, other, cell, engine):
    """Return whether an agent at ``other`` may be at a cell in the next step."""
    size = engine.settings[SIZE]
    away = separated(other, cell, size)
    return (away == 0) | ((away == 1) & (contains(s.open[0], cell, size) != 0))


@linked_kernel
def lasts_against(s, after, to, other, engine):
    """Return whether the agent at ``to`` is safe at the next moment wherever an agent at ``other`` goes."""
    size, good = engine.settings[SIZE], True
    for way in range(st.STOP, st.RIGHT + 1):
        at = engine.near[other * WAYS + way] if way != st.STOP else np.int16(other)
        goes = way == st.STOP or (at != other and contains(s.open[0], at, size))
        if goes and at != to and not contains(s.fire[1], at, size):
            good &= contains(after[at, 1:], to, size) != 0
    return good


@inner_kernel
def bombed(b, s, d, x, me, enemies, move, engine):
    """Return whether an enemy can trap the agent after its move with a kick or a bomb.

    The enemy kicks a bomb meanwhile, lays one where it is, or moves one step and lays one there.  An enemy that is not
    known to kick is assumed to be able to.
    """
    size, near, here = engine.settings[SIZE], engine.near, d.cell[move]
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if not (enemies >> k & 1 and b.guess[agent + st.ALIVE]):
            continue
        cell, kicks = b.guess[agent + st.CELL], b.guess[agent + st.CAN_KICK]
        for direction in range(st.UP, st.RIGHT + 1):
            to = near[cell * WAYS + direction]
            if to != cell and bomb_on(b.guess, to):
                b.guess[agent + st.CAN_KICK] = 1
                act_both(b, d, me, move, k, direction, engine)
                b.guess[agent + st.CAN_KICK] = kicks
                if may_trap(b, s, d, x, me, enemies, engine):
                    return True
        if b.guess[agent + st.AMMO] > 0 and separated(cell, here, size) <= NEAR:
            for at in range(x.found[k]):
                act_on(b, d, me, move, engine)
                if d.leaf[agent + st.ALIVE]:
                    d.leaf[agent + st.CELL] = x.ways[k, at]
                    put_bomb(d.leaf, k, engine.settings[FUSE])
                    if may_trap(b, s, d, x, me, 1 << k, engine):
                        return True
    return False


@linked_kernel
def act_both(b, d, me, move, other, action, engine):
    """Write the position after a move of the agent and one of another agent to ``d.leaf``."""
    copy(b.guess, d.leaf)
    for k in range(MAX_AGENTS):
        d.moves[k] = b.coming[k]
    d.moves[me], d.moves[other] = move, action
    play(d.leaf, d.moves, b, engine)


@inner_kernel
def may_trap(b, s, d, x, me, others, engine):
    """Return whether one of the ``others`` can trap the agent from the position in ``d.leaf``."""
    size, own = engine.settings[SIZE], st.AGENTS + me * st.AGENT_FIELDS
    if not d.leaf[own + st.ALIVE]:
        return True
    here, found = d.leaf[own + st.CELL], False
    unroll(s, d.leaf, LENGTH, b, engine)
    clear(s.crowd[0], size)
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if others >> k & 1 and d.leaf[agent + st.ALIVE]:
            add(s.crowd[0], d.leaf[agent + st.CELL], size)
    spread_crowd(s, LENGTH, LENGTH, size)
    safe = x.traps.safe[lay_traps(x.traps, s, 0, LENGTH, engine.near, size)]
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        there = others >> k & 1 and d.leaf[agent + st.ALIVE]
        found |= there and not contains(safe[d.leaf[agent + st.CELL], 1:], here, size)
    return found
