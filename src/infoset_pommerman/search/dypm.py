"""``dypm``: each of the own six moves is judged on one pessimistic scenario (Osogami & Takahashi 2019).

The others are on every cell that they may have reached, in the step that is judged (or, unless ``early``, only after
it) and in the first ``level`` steps from there.  The value of a move is the agent's own survivability, clipped, times
the share of the teammate's that is left, divided by the enemies' shares; these are computed on the scenario in which
nobody moves, with and without the agent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray
from infoset.jit import inner_kernel, kernel, linked_kernel
from infoset.names import check_range
from infoset.randomness import Words, next_word
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config
from infoset_pommerman.engine import SIZE, Engine
from infoset_pommerman.search.belief import SEEN_STEP, Belief, Seat
from infoset_pommerman.search.cellsets import add, remove
from infoset_pommerman.search.goals import (
    DISCOUNT,
    GoalParameters,
    appraise,
    goals_of,
    places_of,
    wood_in_reach,
    wood_value,
)
from infoset_pommerman.search.hazards import lay_hazards
from infoset_pommerman.search.maker import Maker
from infoset_pommerman.search.repeats import Repeats, empty_repeats, recall, remember, weariness
from infoset_pommerman.search.scenario import (
    MAX_LENGTH,
    Scenario,
    copy,
    empty_scenario,
    gather_crowd,
    lasts,
    play,
    spread_crowd,
    survivable,
    unroll,
)
from infoset_pommerman.state import MOVES

NONE = -1.0

LAST_STEP, LAST_CELL, LAST_MOVE, FAILURES, LAST_FIELDS = range(5)
STUBBORN = 0.3  # penalty of the move that failed last, for each failure in a row


@dataclass(frozen=True)
class Dypm(Maker, GoalParameters):
    """Pommerman: its own actions on a pessimistic scenario.

    The parameters besides its ``GoalParameters``; distances and times are in steps.
    """

    name: ClassVar = "dypm"
    level: int = 3
    """Steps in which the others spread (the paper's pessimism level)."""
    length: int = 11
    """Length of a scenario."""
    threshold: float = 0.9
    """Upper limit of the own survivability that counts, as a part of ``length * (length + 1)``."""
    floor: float = 0.05
    """Least share of its survivability that an enemy is counted with."""
    mate_floor: float = 0.8
    """Share of the teammate's survivability below which the value of a move drops sharply."""
    bomb_gain: float = 0.1
    """Least part of an enemy's share that a bomb must take, unless it burns wood."""
    memory: int = 4
    """For how many steps an agent that went out of view is taken into account."""
    goal_weight: float = 0.5
    """Weight of goals relative to values."""
    bombs: bool = False
    """Whether every enemy in view is assumed to lay a bomb at once."""
    early: bool = True
    """Whether the others spread already in the step that is judged, and not only after it."""

    def __post_init__(self) -> None:
        check_range("length", self.length, 2, MAX_LENGTH)
        check_range("level", self.level, 0, MAX_LENGTH)
        super().__post_init__()

    def empty_room(self, config: Config) -> Workspace:
        return Workspace(empty_scenario(config), empty_buffers(config))

    def move(
        self,
        b: Belief,
        room: Workspace,
        seat: Seat,
        w: FloatArray,
        engine: Engine,
        stream: Words,
        deadline: float | None,
    ) -> int:
        del deadline  # a decision takes too little time to watch the clock
        return int(dypm_move(b, *room, *seat, w, engine, stream))


AT = places_of(Dypm)


class Buffers(NamedTuple):
    """Working memory for a decision."""

    other: Scenario  # the futures that are added to a scenario
    leaf: st.Row
    moves: npt.NDArray[np.int16]  # (agents,)
    own: FloatArray  # (moves,) survivability, NONE where a move is not available
    others: FloatArray  # (moves + 1, agents) the others' survivability; the last row without the agent itself
    value: FloatArray  # (moves,)
    goal_value: FloatArray  # (cells,)
    cell: npt.NDArray[np.int16]  # (moves,) the cell to which each leads
    last: npt.NDArray[np.int64]  # (LAST_FIELDS,) step, cell and move of the last decision, and its failures
    repeats: Repeats


class Workspace(NamedTuple):
    """All working memory of the agent."""

    scenario: Scenario
    buffers: Buffers


def empty_buffers(config: Config) -> Buffers:
    """Allocate the agent's working memory."""
    return Buffers(
        empty_scenario(config),
        st.empty_rows(1, config)[0], np.zeros(MAX_AGENTS, dtype=np.int16), np.zeros(MOVES),
        np.zeros((MOVES + 1, MAX_AGENTS)), np.zeros(MOVES), np.zeros(config.size**2), np.zeros(MOVES, dtype=np.int16),
        np.zeros(LAST_FIELDS, dtype=np.int64), empty_repeats(),
    )  # fmt: skip


@linked_kernel
def remember_failure(d, own, now):
    """Count a move that led nowhere because another agent wanted the same cell."""
    failed = d.last[LAST_STEP] == now - 1 and d.last[LAST_CELL] == own and st.STOP < d.last[LAST_MOVE] < st.LAY
    d.last[FAILURES] = d.last[FAILURES] + 1 if failed else 0


@kernel
def dypm_move(b, s, d, me, enemies, mate, w, engine, stream):
    """Decide on one move.  ``enemies`` and ``mate`` have bit k for agent k."""
    size = engine.settings[SIZE]
    length, level = np.int64(w[AT.length]), np.int64(w[AT.level])
    own = b.guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    remember_failure(d, own, b.guess[st.STEP])
    recall(d.repeats, b.guess, me)
    contact = meets(b, s, d, me, enemies, length, w[AT.memory], engine)
    baseline(b, s, d, me, length, engine)
    for move in range(MOVES):
        d.own[move] = NONE
        if leads_on(b, d, me, move, engine):
            judge_action(
                b, s, d, me, enemies, move, length, level, w[AT.early] > 0.0, w[AT.memory], w[AT.bombs] > 0.0, engine
            )  # fmt: skip
    average_blocked(b, d, me, size)
    clip = w[AT.threshold] * length * (length + 1) if contact else 1.0
    safe = False
    for move in range(MOVES):
        d.value[move] = value_of(d, move, enemies, mate, clip, w)
        safe |= d.own[move] > 0.0
    if safe:
        unroll(s, b.guess, length, b, engine)
        appraise(d.goal_value, b, s.row, me, enemies, goals_of(w), engine.near, size)
        found = choose(b, s, d, me, enemies, w, engine, stream)
    else:
        found = last_resort(b, s, d, me, length, engine, stream)
    d.last[LAST_STEP], d.last[LAST_CELL], d.last[LAST_MOVE] = b.guess[st.STEP], own, found
    remember(d.repeats, found)
    return found


@inner_kernel
def meets(b, s, d, me, enemies, length, memory, engine):
    """Return whether others could reduce the agent's survivability after any of its moves."""
    size, found = engine.settings[SIZE], False
    for move in range(MOVES):
        if not found and leads_on(b, d, me, move, engine):
            unroll(s, d.leaf, length, b, engine)
            crowd_against(b, s, d, me, enemies, memory, size)
            spread_crowd(s, length, 0, size)
            alone = survivable(s, d.cell[move], length, size)
            spread_crowd(s, length, length, size)
            found = survivable(s, d.cell[move], length, size) < alone
    return found


@linked_kernel
def act_on(b, d, me, move, engine):
    """Write the position after a move of ``me`` to ``d.leaf``; the others make the moves that are known."""
    act_from(b.guess, b, d, me, move, engine)


@linked_kernel
def act_from(row, b, d, me, move, engine):
    """Write the position after a move of ``me`` in the position ``row`` to ``d.leaf``."""
    copy(row, d.leaf)
    for k in range(MAX_AGENTS):
        d.moves[k] = b.coming[k]
    d.moves[me] = move
    play(d.leaf, d.moves, b, engine)
    d.cell[move] = d.leaf[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]


@inner_kernel
def leads_on(b, d, me, move, engine):
    """Return whether a move has an effect and its agent survives it; the position after it is left in ``d.leaf``."""
    return leads_from(b.guess, b, d, me, move, engine)


@linked_kernel
def leads_from(row, b, d, me, move, engine):
    """Return what ``leads_on`` does, for a move in the position ``row``."""
    agent = st.AGENTS + me * st.AGENT_FIELDS
    if move == st.LAY and row[agent + st.AMMO] == 0:
        return False
    act_from(row, b, d, me, move, engine)
    if st.STOP < move < st.LAY and d.cell[move] == row[agent + st.CELL]:
        return False
    if move == st.LAY and d.leaf[agent + st.AMMO] >= row[agent + st.AMMO]:
        return False
    return d.leaf[agent + st.ALIVE] != 0


@linked_kernel
def baseline(b, s, d, me, length, engine):
    """Compute what the others survive without the agent."""
    agent = st.AGENTS + me * st.AGENT_FIELDS
    alive = b.guess[agent + st.ALIVE]
    b.guess[agent + st.ALIVE] = 0
    act_on(b, d, me, st.STOP, engine)
    b.guess[agent + st.ALIVE] = alive
    judge_others(b, s, d, me, MOVES, length, engine)


@inner_kernel
def judge_others(b, s, d, me, line, length, engine):
    """Compute the others' survivability where nobody moves and only the agent itself is in their way."""
    size = engine.settings[SIZE]
    unroll(s, d.leaf, length, b, engine)
    for r in range(size):
        s.crowd[0, r] = np.uint32(0)
    agent = st.AGENTS + me * st.AGENT_FIELDS
    if d.leaf[agent + st.ALIVE]:
        add(s.crowd[0], d.leaf[agent + st.CELL], size)
    spread_crowd(s, length, 0, size)
    for k in range(MAX_AGENTS):
        d.others[line, k] = 0.0
        other = st.AGENTS + k * st.AGENT_FIELDS
        if k != me and d.leaf[other + st.ALIVE]:
            d.others[line, k] = survivable(s, d.leaf[other + st.CELL], length, size)


@linked_kernel
def judge_action(b, s, d, me, enemies, move, length, level, early, memory, bombs, engine):
    """Compute all survivabilities after a move; the position after it is in ``d.leaf``."""
    judge_others(b, s, d, me, move, length, engine)
    judge_self(b, s, d, me, enemies, move, length, level, early, memory, bombs, engine)


@linked_kernel
def judge_self(b, s, d, me, enemies, move, length, level, early, memory, bombs, engine):
    """Compute the agent's own survivability after a move; the position after it is in ``d.leaf``.

    Leaves its future in ``s``.
    """
    size = engine.settings[SIZE]
    lay_hazards(b, s, d.other, d.leaf, 0, length, enemies, bombs, d.moves, engine)
    crowd_against(b, s, d, me, enemies, memory, size)
    if early and level > 0:
        spread_at_once(s, d.cell[move], size)
    spread_crowd(s, length, level, size)
    d.own[move] = survivable(s, d.cell[move], length, size)


@linked_kernel
def spread_at_once(s, own, size):
    """Let the others move in the step that is judged, but not onto the agent's ``own`` cell."""
    above = np.uint32(0)
    for r in range(size):
        here, below = s.crowd[0, r], s.crowd[0, r + 1] if r + 1 < size else np.uint32(0)
        word = above | (here << np.uint32(1)) | (here >> np.uint32(1)) | below
        s.crowd[0, r] = here | word & s.open[0, r] & ~s.fire[0, r]
        above = here
    remove(s.crowd[0], own, size)


@linked_kernel
def crowd_against(b, s, d, me, enemies, memory, size):
    """Set the crowd to all others: where they are, or can be if they were in view recently."""
    gather_crowd(s, d.leaf, me, size)
    for k in range(MAX_AGENTS):
        hidden = enemies >> k & 1 and not d.leaf[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE]
        if hidden and b.guess[st.STEP] - b.notes[SEEN_STEP + k] <= memory:
            for r in range(size):
                s.crowd[0, r] |= b.possible[k, r]
    own = d.leaf[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    s.crowd[0, own // size] &= ~(np.uint32(1) << np.uint32(own % size))


@inner_kernel
def average_blocked(b, d, me, size):
    """Average the survivability of a move that a neighbour may block with that of Stop."""
    for move in range(st.STOP + 1, st.LAY):
        if d.own[move] <= 0.0:
            continue
        for k in range(MAX_AGENTS):
            agent = st.AGENTS + k * st.AGENT_FIELDS
            cell = b.guess[agent + st.CELL]
            away = abs(cell // size - d.cell[move] // size) + abs(cell % size - d.cell[move] % size)
            if k != me and b.guess[agent + st.ALIVE] and away == 1:
                d.own[move] = (d.own[move] + max(d.own[st.STOP], 0.0)) / 2.0
                break


@linked_kernel
def share(d, move, k):
    """Return the share of an agent's survivability that a move leaves it."""
    if d.others[MOVES, k] <= 0.0:
        return 1.0
    return min(1.0, d.others[move, k] / d.others[MOVES, k])


@inner_kernel
def value_of(d, move, enemies, mate, clip, w):
    """Return the ratio of products; 0 where the agent does not survive."""
    if d.own[move] <= 0.0:
        return 0.0
    value = min(1.0, d.own[move] / clip)
    for k in range(MAX_AGENTS):
        if enemies >> k & 1:
            value /= max(share(d, move, k), w[AT.floor])
        elif mate >> k & 1:
            left = share(d, move, k)
            value *= left if left >= w[AT.mate_floor] else left * left * 0.01
    return value


@inner_kernel
def choose(b, s, d, me, enemies, w, engine, stream):
    """Return the move with the best value, goals included; ties are broken at random."""
    agent = st.AGENTS + me * st.AGENT_FIELDS
    own = b.guess[agent + st.CELL]
    best, found = -np.inf, st.STOP
    for move in range(MOVES):
        if d.value[move] <= 0.0:
            continue
        score = np.log(d.value[move])
        if move == st.LAY:
            gain = 0.0
            for k in range(MAX_AGENTS):
                if enemies >> k & 1:
                    gain = max(gain, 1.0 - share(d, move, k))
            walls = wood_in_reach(s.row, st.BOARD, engine.near, own, b.guess[agent + st.BLAST])
            if gain < w[AT.bomb_gain] and walls == 0:
                continue
            score += w[AT.goal_weight] * max(wood_value(walls, w[AT.wood]), DISCOUNT * d.goal_value[own])
        elif move == st.STOP:
            score += w[AT.goal_weight] * DISCOUNT * d.goal_value[own]
        else:
            score += w[AT.goal_weight] * d.goal_value[d.cell[move]]
        if move == d.last[LAST_MOVE]:
            score -= STUBBORN * d.last[FAILURES]
        score -= weariness(d.repeats, move, w[AT.tired], w[AT.most_tired])
        score += 1e-4 * (next_word(stream) >> np.uint64(11)) * 2.0**-53
        if score > best:
            best, found = score, move
    return found


@inner_kernel
def last_resort(b, s, d, me, length, engine, stream):
    """Choose a move where none is survivable: judge less pessimistically, and by how long some cell lasts."""
    size = engine.settings[SIZE]
    best, found = -1.0, st.STOP
    for move in range(MOVES):
        if not leads_on(b, d, me, move, engine):
            continue
        unroll(s, d.leaf, length, b, engine)
        score = 0.0
        for pessimism in range(2):
            gather_crowd(s, d.leaf, me, size)
            spread_crowd(s, length, pessimism, size)
            pairs = survivable(s, d.cell[move], length, size)
            score += 100.0 * pairs + lasts(s, length, size)
        if move == st.LAY:
            score *= 0.5  # another bomb seldom helps
        score += (next_word(stream) >> np.uint64(11)) * 2.0**-53
        if score > best:
            best, found = score, move
    return found
