"""``champion``: plans of several own moves, each judged on the pessimistic scenario that follows it.

A plan is played by the rules with the others standing still; then the scenario of its last position is appended, and
the boards of plan and scenario together form one future.  The agent itself must survive it from where the plan ends.
The others are judged from where they are *now*: by what they can still reach in a future in which the plan's bombs lie
and explode and its agent is in the way.  So they answer the plan as well as they can, although their moves are not
searched.

What they could do about the plan's first move is computed exactly, as a pursuit game: see ``risks``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray
from infoset.jit import inner_kernel, kernel, linked_kernel
from infoset.names import check_range
from infoset.randomness import Words, next_word
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config
from infoset_pommerman.engine import SIZE, Engine
from infoset_pommerman.search.belief import Belief, Seat
from infoset_pommerman.search.cellsets import add, contains
from infoset_pommerman.search.dypm import (
    FAILURES,
    LAST_CELL,
    LAST_MOVE,
    LAST_STEP,
    NONE,
    STUBBORN,
    Buffers,
    average_blocked,
    crowd_against,
    empty_buffers,
    judge_self,
    last_resort,
    leads_on,
    meets,
    remember_failure,
)
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
from infoset_pommerman.search.repeats import recall, remember, weariness
from infoset_pommerman.search.risks import Costs, Risks, empty_risks, weigh_risks
from infoset_pommerman.search.scenario import (
    MAX_LENGTH,
    Scenario,
    copy,
    draw,
    empty_scenario,
    go_on,
    play,
    spread_crowd,
    survivable,
    survivable_from,
    unroll,
)
from infoset_pommerman.search.threats import weigh_threats
from infoset_pommerman.state import MOVES

MAX_DEPTH = 8
BY_DEFAULT = {"threshold": (0.5, 0.9), "floor": (0.003, 0.2), "threat": (1.0, 0.0), "late": (0.7, 1.4)}
"""Values in teams and duels, and those among three or four agents without teams.

In the latter, killing one enemy also helps the others, so staying alive matters more.
"""


@dataclass(frozen=True)
class Champion(Maker, GoalParameters):
    """Pommerman: plans of several own actions.

    The parameters besides its ``GoalParameters``; distances and times are in steps, values are logarithms.  Those
    that are ``None`` are taken from ``BY_DEFAULT``.
    """

    name: ClassVar = "champion"
    length: int = 12
    """Steps of plan and scenario together."""
    threshold: float | None = None
    """Upper limit of the own survivability that counts, as a part of ``length * (length + 1)``."""
    floor: float | None = None
    """Least share of its survivability that an enemy is counted with."""
    mate_floor: float = 0.5
    """Share of the teammate's survivability below which a plan gets a penalty."""
    bomb_gain: float = 0.02
    """Least part of an enemy's share that a bomb must take, unless it burns wood."""
    memory: int = 5
    """For how many steps an agent that went out of view is taken into account."""
    goal_weight: float = 0.8
    """Weight of goals relative to values."""
    depth: int = 4
    """Moves of a plan: 4 take two milliseconds a decision, 3 less than one."""
    budget: int = 2000
    """Upper limit of the number of plans for each first move."""
    room: float = 30.0
    """Upper limit of the room that counts: cells where it can end, weighted by how far the path avoids the others."""
    room_weight: float = 1.5
    """Weight of the logarithm of that room."""
    block_risk: float = 6.0
    """Cost of a position in which enemies can trap the agent by standing in its way."""
    bomb_risk: float = 2.0
    """Cost of a position in which an enemy can do so with a bomb or a kick first."""
    mate_risk: float = 2.4
    """Cost of a position in which its teammate can do so by accident."""
    threat: float | None = None
    """Value of a position in which it can trap an enemy by standing in its way, for each enemy."""
    ambush: float = 0.5
    """Weight of such a threat that needs one more bomb first."""
    late: float | None = None
    """Cost of a cell where it may not stay; it falls with the steps that it may, to nothing from ``LATE`` on."""
    radio: bool = True
    """Whether it announces its plan and the enemies it sees by radio, and listens: see ``radio``."""
    chase_age: float = 40.0

    def __post_init__(self) -> None:
        check_range("depth", self.depth, 1, MAX_DEPTH)
        check_range("length", self.length, self.depth + 1, MAX_LENGTH)
        check_range("budget", self.budget, 1, 10**9)
        super().__post_init__()

    def for_game(self, rules: Config) -> Champion:
        alone = not rules.teams and rules.num_agents > 2
        left_open: dict[str, Any] = {n: both[alone] for n, both in BY_DEFAULT.items() if getattr(self, n) is None}
        return replace(self, **left_open)

    def empty_room(self, config: Config) -> Workspace:
        return Workspace(empty_scenario(config), empty_buffers(config), empty_plans(config))

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
        return int(champion_move(b, *room, *seat, w, engine, stream, deadline))

    def speaks(self) -> bool:
        return self.radio

    def action_after(self, room: Any, move: int) -> int:
        return int(room.plans.second[move])


AT = places_of(Champion)


class Plans(NamedTuple):
    """Working memory of the search: one position per ply, and the current plan."""

    rows: st.Row  # (MAX_DEPTH + 1, row)
    moves: npt.NDArray[np.int64]  # (MAX_DEPTH,) the plan
    cells: npt.NDArray[np.int64]  # (MAX_DEPTH + 1,) the agent's cells on it
    wood: FloatArray  # (MAX_DEPTH + 1,) value of the wood that its bombs burn so far
    bombed: npt.NDArray[np.int64]  # (MAX_DEPTH + 1,) whether it has laid a bomb
    best: FloatArray  # (MOVES,) the best score by the first move
    second: npt.NDArray[np.int64]  # (MOVES,) the second move of the plan with that score
    risks: Risks
    threat: FloatArray  # (moves,) what the agent threatens after each move, see ``weigh_threats``
    alone: FloatArray  # (agents,) what the others survive without the agent
    now: npt.NDArray[np.int64]  # (agents,) the others' cells, NOBODY where they are out of view
    crowd: npt.NDArray[np.uint32]  # (size,) all others, possible cells included


NEVER = -1
NOBODY = -1
RESERVE = 0.004  # seconds that the plans of one first move and the final choice may take
LATE = 6  # number of steps from which on there is time enough
HOPELESS = 0.02  # least part of the limit that the own survivability counts as
IN_THE_WAY = 0.3  # cost of a plan that crosses a cell on which another agent stands now


class Workspace(NamedTuple):
    """All working memory of the agent."""

    scenario: Scenario
    buffers: Buffers
    plans: Plans


def empty_plans(config: Config) -> Plans:
    """Allocate the agent's working memory."""
    return Plans(
        st.empty_rows(MAX_DEPTH + 1, config), np.zeros(MAX_DEPTH, dtype=np.int64),
        np.zeros(MAX_DEPTH + 1, dtype=np.int64), np.zeros(MAX_DEPTH + 1), np.zeros(MAX_DEPTH + 1, dtype=np.int64),
        np.zeros(MOVES), np.zeros(MOVES, dtype=np.int64), empty_risks(config), np.zeros(MOVES), np.zeros(MAX_AGENTS),
        np.zeros(MAX_AGENTS, dtype=np.int64),
        np.zeros(config.size, dtype=np.uint32),
    )  # fmt: skip


def champion_move(b, s, d, p, me, enemies, mate, w, engine, stream, deadline=None):
    """Decide on one move, at the latest at ``deadline``, a time of ``time.monotonic``.

    If the plans are not finished by then, those of one move count.  ``enemies`` and ``mate`` have bit k for agent k.
    """
    contact = prepare(b, s, d, p, me, enemies, w, engine)
    if deadline is None:
        search(b, s, d, p, me, enemies, mate, 0, MOVES, MAX_DEPTH, w, contact, engine)
    else:
        search(b, s, d, p, me, enemies, mate, 0, MOVES, 1, w, contact, engine)
        short = p.best.copy()
        for move in range(MOVES):
            if monotonic() > deadline - RESERVE:
                p.best[:] = short
                break
            search(b, s, d, p, me, enemies, mate, move, move + 1, MAX_DEPTH, w, contact, engine)
    return choose(b, s, d, p, me, w, engine, stream)


@kernel
def prepare(b, s, d, p, me, enemies, w, engine):
    """Compute everything that does not depend on plans; return whether others matter."""
    size, length = engine.settings[SIZE], np.int64(w[AT.length])
    remember_failure(d, b.guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL], b.guess[st.STEP])
    recall(d.repeats, b.guess, me)
    contact = meets(b, s, d, me, enemies, length, w[AT.memory], engine)
    for move in range(MOVES):
        d.own[move], p.risks.risk[move], p.risks.room[move] = NONE, 0.0, w[AT.room]
        p.threat[move], p.risks.slack[move] = 0.0, LATE
        if leads_on(b, d, me, move, engine):
            unroll(s, d.leaf, length, b, engine)
            judge_self(b, s, d, me, enemies, move, length, 0, False, w[AT.memory], False, engine)
        p.risks.alone[move] = d.own[move]
    if contact:
        costs = Costs(w[AT.block_risk], w[AT.bomb_risk], w[AT.mate_risk])
        weigh_risks(b, s, d, p.risks, me, enemies, length, w[AT.memory], costs, engine)
        if w[AT.threat] > 0.0:
            weigh_threats(p.threat, b, s, d, p.risks.traps, me, enemies, w[AT.ambush], engine)
    average_blocked(b, d, me, size)
    look_at_others(b, s, d, p, me, enemies, length, w, engine)
    unroll(s, b.guess, length, b, engine)
    appraise(d.goal_value, b, s.row, me, enemies, goals_of(w), engine.near, size)
    copy(s.row, d.leaf)  # the position after all bombs have exploded
    return contact


@kernel
def choose(b, s, d, p, me, w, engine, stream):
    """Choose the move with the best plan, its room and risk included; without any plan the one that risks least."""
    found = best_of(d, p, w, stream)
    if found == NEVER:
        for move in range(MOVES):
            p.best[move] = 0.0 if p.risks.alone[move] > 0.0 else -np.inf
        found = best_of(d, p, w, stream)
    if found == NEVER:
        found = last_resort(b, s, d, me, np.int64(w[AT.length]), engine, stream)
    own = b.guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    d.last[LAST_STEP], d.last[LAST_CELL], d.last[LAST_MOVE] = b.guess[st.STEP], own, found
    remember(d.repeats, found)
    return found


@inner_kernel
def best_of(d, p, w, stream):
    """Return the move with the best score, ties broken at random; ``NEVER`` if there is none."""
    best, found = -np.inf, NEVER
    for move in range(MOVES):
        score = p.best[move] + w[AT.threat] * p.threat[move] - price(d, p, move, w)
        score += 1e-4 * (next_word(stream) >> np.uint64(11)) * 2.0**-53
        if score > best:
            best, found = score, move
    return found


@inner_kernel
def price(d, p, move, w):
    """Return the cost of a move: little room after it, risk, little time, earlier failures and repetition."""
    room = min(1.0, (p.risks.room[move] + 0.1) / w[AT.room])
    cost = p.risks.risk[move] - w[AT.room_weight] * np.log(room)
    cost += w[AT.late] * max(0.0, 1.0 - p.risks.slack[move] / LATE)
    cost += weariness(d.repeats, move, w[AT.tired], w[AT.most_tired])
    return cost + (STUBBORN * d.last[FAILURES] if move == d.last[LAST_MOVE] else 0.0)


@inner_kernel
def look_at_others(b, s, d, p, me, enemies, length, w, engine):
    """Compute where the others are, what they survive without the agent, and where they or hidden ones can be."""
    size = engine.settings[SIZE]
    agent = st.AGENTS + me * st.AGENT_FIELDS
    copy(b.guess, d.leaf)
    crowd_against(b, s, d, me, enemies, w[AT.memory], size)
    for r in range(size):
        p.crowd[r] = s.crowd[0, r]
    d.leaf[agent + st.ALIVE] = 0
    unroll(s, d.leaf, length, b, engine)
    for r in range(size):
        s.crowd[0, r] = np.uint32(0)
    spread_crowd(s, length, 0, size)
    for k in range(MAX_AGENTS):
        other = st.AGENTS + k * st.AGENT_FIELDS
        p.now[k], p.alone[k] = NOBODY, 0.0
        if k != me and b.guess[other + st.ALIVE]:
            p.now[k] = b.guess[other + st.CELL]
            p.alone[k] = survivable(s, p.now[k], length, size)


@kernel
def search(b, s, d, p, me, enemies, mate, first, last, deepest, w, contact, engine):
    """Search all plans that begin with a move from ``first`` to before ``last``, depth first.

    Plans have at most ``deepest`` moves; the best score of each first move is kept.
    """
    depth = min(np.int64(w[AT.depth]), deepest)
    if not contact:
        depth = min(depth, 2)
    copy(b.guess, p.rows[0])
    p.cells[0], p.wood[0], p.bombed[0] = b.guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL], 0.0, 0
    see(s, p, 0, engine)
    for move in range(first, last):
        p.best[move], p.second[move] = -np.inf, st.STOP
        if p.risks.alone[move] > 0.0 and advance(b, d, p, me, 0, move, w, engine):
            see(s, p, 1, engine)
            search_from(b, s, d, p, me, enemies, mate, move, depth, w, contact, engine)


@inner_kernel
def search_from(b, s, d, p, me, enemies, mate, first, depth, w, contact, engine):
    """Search all plans that begin with one move, which has been played."""
    ply, left = 1, np.int64(w[AT.budget])
    p.moves[1] = st.STOP if depth > 1 else MOVES
    if depth == 1:
        p.best[first] = judge(b, s, d, p, me, enemies, mate, first, depth, w, contact, engine)
    while ply >= 1:
        if p.moves[ply] == MOVES or left == 0:
            ply -= 1
            p.moves[ply] += 1
        elif not advance(b, d, p, me, ply, p.moves[ply], w, engine):
            p.moves[ply] += 1
        else:
            see(s, p, ply + 1, engine)
            if ply + 1 == depth:
                score = judge(b, s, d, p, me, enemies, mate, first, depth, w, contact, engine)
                if score > p.best[first]:
                    p.best[first], p.second[first] = score, p.moves[1]
                left -= 1
                p.moves[ply] += 1
            else:
                ply += 1
                p.moves[ply] = st.STOP


@linked_kernel
def see(s, p, ply, engine):
    """Draw the board of a ply into the scenario's sets."""
    copy(p.rows[ply], s.row)
    draw(s, ply, engine)


@inner_kernel
def advance(b, d, p, me, ply, move, w, engine):
    """Play the next move of a plan; return whether it has an effect and its agent survives it."""
    agent = st.AGENTS + me * st.AGENT_FIELDS
    before, after = p.rows[ply], p.rows[ply + 1]
    if move == st.LAY and before[agent + st.AMMO] == 0:
        return False
    copy(before, after)
    for k in range(MAX_AGENTS):
        d.moves[k] = b.coming[k] if ply == 0 else b.idle[k]
    d.moves[me] = move
    play(after, d.moves, b, engine)
    cell = after[agent + st.CELL]
    p.cells[ply + 1], p.wood[ply + 1], p.bombed[ply + 1] = cell, p.wood[ply], p.bombed[ply]
    if move == st.LAY:
        if after[agent + st.AMMO] >= before[agent + st.AMMO]:
            return False
        walls = wood_in_reach(d.leaf, st.BOARD, engine.near, cell, before[agent + st.BLAST])
        p.wood[ply + 1] = max(p.wood[ply], DISCOUNT**ply * wood_value(walls, w[AT.wood]))
        p.bombed[ply + 1] = 1
    elif move != st.STOP and cell == p.cells[ply]:
        return False
    return after[agent + st.ALIVE] != 0


@inner_kernel
def judge(b, s, d, p, me, enemies, mate, first, depth, w, contact, engine):
    """Return the score of a plan: the logarithm of the ratio of products, and goals."""
    size = engine.settings[SIZE]
    length = np.int64(w[AT.length])
    go_on(s, depth, length, b, engine)
    score, gain = squeeze(s, p, enemies, mate, depth, length, w, size)
    if p.bombed[depth] and gain < w[AT.bomb_gain] and p.wood[depth] <= 0.0:
        return -np.inf
    if contact:
        lay_hazards(b, s, d.other, p.rows[depth], depth, length, enemies, False, d.moves, engine)
    for r in range(size):
        s.crowd[0, r] = p.crowd[r]
    spread_crowd(s, length, 0, size)
    own = survivable_from(s, p.cells[depth], depth, length, size)
    if own <= 0.0:
        return -np.inf
    if contact:
        whole = w[AT.threshold] * length * (length + 1)
        rest = w[AT.threshold] * (length * (length + 1) - depth * (depth + 1))
        score += np.log(max(min(1.0, own / rest, d.own[first] / whole), HOPELESS))
    for t in range(1, depth + 1):
        if contains(s.crowd[t], p.cells[t], size):
            score -= IN_THE_WAY
    return score + w[AT.goal_weight] * reached(d, p, depth)


@inner_kernel
def squeeze(s, p, enemies, mate, depth, length, w, size):
    """Return the score of what a plan leaves the others, and the most that it takes from an enemy's share."""
    score, gain = 0.0, 0.0
    stand_in_the_way(s, p, depth, length, size)
    for k in range(MAX_AGENTS):
        if p.now[k] == NOBODY or p.alone[k] <= 0.0:
            continue
        left = min(1.0, survivable(s, p.now[k], length, size) / p.alone[k])
        if enemies >> k & 1:
            score -= np.log(max(left, w[AT.floor]))
            gain = max(gain, 1.0 - left)
        elif mate >> k & 1:
            score += np.log(max(left, 1e-3)) - (3.0 if left < w[AT.mate_floor] else 0.0)
    return score, gain


@linked_kernel
def stand_in_the_way(s, p, depth, length, size):
    """Set the crowd to the agent itself: where the plan leads, and afterwards where it ends."""
    for t in range(length + 1):
        for r in range(size):
            s.crowd[t, r] = np.uint32(0)
        add(s.crowd[t], p.cells[min(t, depth)], size)


@linked_kernel
def reached(d, p, depth):
    """Return the best discounted goal that a plan reaches or approaches."""
    best = p.wood[depth]
    for t in range(1, depth + 1):
        best = max(best, DISCOUNT**t * d.goal_value[p.cells[t]])
    return best
