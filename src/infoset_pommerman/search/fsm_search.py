"""``fsm-search``: a finite state machine selects what to do, a tree search how (Zhou et al. 2018).

It won the free-for-all of June 3rd 2018 (Resnick et al. 2018).  In every mode each cell has a value: for not burning in
any future, for enemies, items, or wood that can be burnt from it.  Usually the best next cell will do; for evading and
attacking it is easier to state what is wanted than how to get there, so a tree of own moves is searched, with the
others standing still.  The best of all positions found so far is expanded next, which was the best of the selection
rules that the authors compared.  Positions are judged as in ``dypm``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray
from infoset.jit import inline_kernel, inner_kernel, kernel, linked_kernel
from infoset.names import check_range
from infoset.randomness import Words, next_word
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config
from infoset_pommerman.engine import SIZE, Engine
from infoset_pommerman.search.belief import Belief, Seat
from infoset_pommerman.search.cellsets import contains
from infoset_pommerman.search.dypm import (
    FAILURES,
    LAST_CELL,
    LAST_MOVE,
    LAST_STEP,
    NONE,
    STUBBORN,
    Buffers,
    Dypm,
    average_blocked,
    baseline,
    empty_buffers,
    judge_action,
    last_resort,
    leads_from,
    remember_failure,
    share,
    value_of,
)
from infoset_pommerman.search.goals import (
    DISCOUNT,
    GoalWeights,
    appraise,
    goals_of,
    places_of,
    relax,
    wood_in_reach,
    wood_value,
)
from infoset_pommerman.search.repeats import recall, remember, weariness
from infoset_pommerman.search.scenario import Scenario, copy, empty_scenario, unroll
from infoset_pommerman.state import MOVES

EVADE, ATTACK, COLLECT, DIG, SEEK = range(5)  # modes, in the order in which they are considered
MAX_BUDGET = 300
NOBODY = -1
NEVER = -1.0
STAY = 2.0  # steps beyond ``reach`` that an enemy may get before an attack ends
TOO_FREE = 1e6  # no upper limit on survivabilities


@dataclass(frozen=True)
class FsmSearch(Dypm):
    """Pommerman: modes by conditions, and tree search where it is pressing.

    Its parameters follow those of ``dypm``, by which positions are judged.
    """

    name: ClassVar = "fsm-search"
    hit: float = 6.0
    """Value, as a goal, of a bomb that leaves an enemy nothing."""
    alarm: int = 3
    """Steps before its cell burns from which on it evades and does nothing else."""
    reach: int = 5
    """Distance in steps up to which an enemy is attacked."""
    fetch: int = 8
    """Distance in steps up to which an item is fetched."""
    depth: int = 4
    """Depth of the tree search in moves, in the modes that use it."""
    budget: int = 60
    """Upper limit of positions in the tree, except that the last expansion is completed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("alarm", self.alarm, 0, self.length)
        check_range("depth", self.depth, 1, MAX_BUDGET)
        check_range("budget", self.budget, MOVES, MAX_BUDGET)

    def empty_room(self, config: Config) -> Workspace:  # type: ignore[override]
        return Workspace(empty_scenario(config), empty_buffers(config), empty_tree(config))

    def move(  # type: ignore[override]
        self,
        b: Belief,
        room: Workspace,
        seat: Seat,
        w: FloatArray,
        engine: Engine,
        stream: Words,
        deadline: float | None,
    ) -> int:
        del deadline  # the budget is small
        return int(fsm_move(b, *room, *seat, w, engine, stream))


AT = places_of(FsmSearch)


class Tree(NamedTuple):
    """The positions found; the first is the current one."""

    rows: st.Row  # (nodes, row)
    value: FloatArray  # (nodes,)
    own: FloatArray  # (nodes,) the least survivability on the path
    goal: FloatArray  # (nodes,) the best discounted goal on the path
    depth: npt.NDArray[np.int64]  # (nodes,)
    first: npt.NDArray[np.int64]  # (nodes,) the first move of the path
    open: npt.NDArray[np.bool_]  # (nodes,) whether the node was not expanded yet
    best: FloatArray  # (moves,) the best value by the first move
    later: st.Row  # (row,) the position after all bombs have exploded
    mode: npt.NDArray[np.int64]  # (1,) the mode of the last decision


class Workspace(NamedTuple):
    """All working memory of the agent."""

    scenario: Scenario
    buffers: Buffers
    tree: Tree


def empty_tree(config: Config) -> Tree:
    """Allocate the agent's search tree."""
    nodes = MAX_BUDGET + MOVES + 1
    return Tree(
        st.empty_rows(nodes, config), np.zeros(nodes), np.zeros(nodes), np.zeros(nodes),
        np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.bool_),
        np.zeros(MOVES), st.empty_rows(1, config)[0], np.full(1, SEEK, dtype=np.int64),
    )  # fmt: skip


@kernel
def fsm_move(b, s, d, t, me, enemies, mate, w, engine, stream):
    """Decide on one move.  ``enemies`` and ``mate`` have bit k for agent k."""
    length = np.int64(w[AT.length])
    own = b.guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    remember_failure(d, own, b.guess[st.STEP])
    recall(d.repeats, b.guess, me)
    mode = t.mode[0] = next_mode(b, s, d, t, me, enemies, w, engine)
    baseline(b, s, d, me, length, engine)
    grow(b, s, d, t, me, enemies, mate, mode, w, engine)
    found = best_of(d, t, w, stream)
    if found == NOBODY:
        found = last_resort(b, s, d, me, length, engine, stream)
    d.last[LAST_STEP], d.last[LAST_CELL], d.last[LAST_MOVE] = b.guess[st.STEP], own, found
    remember(d.repeats, found)
    return found


# ---- the state machine


@inner_kernel
def next_mode(b, s, d, t, me, enemies, w, engine):
    """Return the first mode whose condition holds; the values of cells in it are left in ``d.goal_value``."""
    size, own = engine.settings[SIZE], b.guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    unroll(s, b.guess, np.int64(w[AT.length]), b, engine)
    copy(s.row, t.later)
    if burns(s, own, np.int64(w[AT.alarm]), size):
        seek_shelter(b, s, d, np.int64(w[AT.length]), engine)
        return EVADE
    for mode in range(ATTACK, SEEK):
        goals = goals_in(mode, w)
        appraise(d.goal_value, b, t.later, me, enemies, goals, engine.near, size)
        highest, reach = goals.item + goals.wood + goals.chase, reach_in(b, t, me, mode, w, size)
        if d.goal_value[own] > highest * DISCOUNT ** (reach + 0.5):
            return mode
    appraise(d.goal_value, b, t.later, me, enemies, goals_of(w), engine.near, size)
    return SEEK


@inline_kernel
def goals_in(mode, w):
    """Return the values of goals in a mode, 0 for all but those it pursues."""
    return GoalWeights(
        w[AT.item] if mode == COLLECT else 0.0, w[AT.wood] if mode == DIG else 0.0,
        w[AT.chase] if mode == ATTACK else 0.0, 0.0, w[AT.look_age], w[AT.chase_age],
    )  # fmt: skip


@inline_kernel
def reach_in(b, t, me, mode, w, size):
    """Return the distance in steps up to which a mode pursues goals.

    An agent without bombs does not attack, and an attack is not given up as soon as the enemy is beyond reach.
    """
    if mode == ATTACK:
        armed = b.guess[st.AGENTS + me * st.AGENT_FIELDS + st.AMMO] > 0
        return w[AT.reach] + (STAY if t.mode[0] == ATTACK else 0.0) if armed else NEVER
    return w[AT.fetch] if mode == COLLECT else 1.0 * size * size


@inline_kernel
def burns(s, cell, length, size):
    """Return whether a cell will burn within ``length`` steps if nobody moves."""
    found = False
    for moment in range(length + 1):
        found |= contains(s.fire[moment], cell, size) != 0
    return found


@linked_kernel
def seek_shelter(b, s, d, length, engine):
    """Set the value of cells that do not burn to 1, and of others to that of the nearest such cell, discounted."""
    size = engine.settings[SIZE]
    for cell in range(size * size):
        d.goal_value[cell] = 0.0 if burns(s, cell, length, size) else 1.0
    relax(d.goal_value, b.guess, engine.near, size * size)


# ---- the tree search


@inner_kernel
def grow(b, s, d, t, me, enemies, mate, mode, w, engine):
    """Expand the best position not expanded yet, until the depth or the budget is used up."""
    depth, budget = np.int64(w[AT.depth]) if mode <= ATTACK else 1, np.int64(w[AT.budget])
    plant(b, t)
    count, node = 1, 0
    while node != NOBODY and count < budget:
        count = look_at(b, s, d, t, me, enemies, mate, mode, node, count, w, engine)
        node = NOBODY
        for k in range(1, count):
            if t.open[k] and t.depth[k] < depth and (node == NOBODY or t.value[k] > t.value[node]):
                node = k


@linked_kernel
def plant(b, t):
    """Make the current position the root."""
    copy(b.guess, t.rows[0])
    t.own[0], t.goal[0], t.depth[0], t.open[0] = np.inf, 0.0, 0, True
    for move in range(MOVES):
        t.best[move] = -np.inf


@inner_kernel
def look_at(b, s, d, t, me, enemies, mate, mode, node, count, w, engine):
    """Add the positions after one more move; return the number of positions then."""
    length, level = np.int64(w[AT.length]), np.int64(w[AT.level])
    t.open[node] = False
    for move in range(MOVES):
        d.own[move] = NONE
        if leads_from(t.rows[node], b, d, me, move, engine):
            copy(d.leaf, t.rows[count + move])
            judge_action(
                b, s, d, me, enemies, move, length, level, w[AT.early] > 0.0, w[AT.memory], w[AT.bombs] > 0.0, engine
            )
    average_blocked(b, d, me, engine.settings[SIZE])
    bomb, remaining = bomb_value(d, t, me, enemies, mode, node, w, engine), count
    for move in range(MOVES):
        if d.own[move] > 0.0 and (move != st.LAY or bomb > 0.0):
            copy(t.rows[count + move], t.rows[remaining])
            enter(d, t, enemies, mate, mode, node, move, remaining, bomb, w)
            remaining += 1
    return remaining


@inner_kernel
def bomb_value(d, t, me, enemies, mode, node, w, engine):
    """Return the value of a bomb in a mode: against enemies in attacks, to burn wood where that is the goal, else 0."""
    if mode == DIG:
        return wood_value(opened(t, me, node, engine), w[AT.wood])
    gain = 0.0
    for k in range(MAX_AGENTS):
        if mode == ATTACK and enemies >> k & 1:
            gain = max(gain, 1.0 - share(d, st.LAY, k))
    return w[AT.hit] * gain if gain >= w[AT.bomb_gain] else 0.0


@linked_kernel
def opened(t, me, node, engine):
    """Return how many walls of wood a bomb of the agent burns that no other bomb burns before."""
    agent = st.AGENTS + me * st.AGENT_FIELDS
    row = t.rows[node]
    return wood_in_reach(t.later, st.BOARD, engine.near, row[agent + st.CELL], row[agent + st.BLAST])


@inner_kernel
def enter(d, t, enemies, mate, mode, node, move, child, bomb, w):
    """Add a position with its value in a mode; ``bomb`` is the value of the bomb if that leads to it."""
    t.depth[child], t.open[child] = t.depth[node] + 1, True
    t.first[child] = move if node == 0 else t.first[node]
    t.own[child] = d.own[move] = min(t.own[node], d.own[move])
    goal = max(DISCOUNT * d.goal_value[d.cell[move]], bomb if move == st.LAY else 0.0)
    t.goal[child] = max(t.goal[node], DISCOUNT ** t.depth[node] * goal)
    length = w[AT.length]
    clip = TOO_FREE if mode == EVADE else w[AT.threshold] * length * (length + 1) if mode == ATTACK else 1.0
    value = np.log(value_of(d, move, 0, mate, clip, w))
    if mode == ATTACK:  # gains against enemies count less the later they are, as enemies will not stand still
        value += DISCOUNT ** t.depth[node] * (np.log(value_of(d, move, enemies, mate, clip, w)) - value)
    t.value[child] = value + w[AT.goal_weight] * t.goal[child]
    t.best[t.first[child]] = max(t.best[t.first[child]], t.value[child])


@inner_kernel
def best_of(d, t, w, stream):
    """Return the first move on the path to the best position, ties broken at random; ``NOBODY`` if there is none."""
    best, found = -np.inf, NOBODY
    for move in range(MOVES):
        score = t.best[move] + 1e-4 * (next_word(stream) >> np.uint64(11)) * 2.0**-53
        if move == d.last[LAST_MOVE]:
            score -= STUBBORN * d.last[FAILURES]
        score -= weariness(d.repeats, move, w[AT.tired], w[AT.most_tired])
        if score > best:
            best, found = score, move
    return found
