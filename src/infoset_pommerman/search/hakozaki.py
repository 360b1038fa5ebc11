"""``hakozaki``: joint moves of all visible agents, judged on pessimistic scenarios (Osogami & Takahashi 2019).

Depth one: every joint move is played by the rules, and each visible agent's survivability is computed on the resulting
position while all the others spread without limit.  The value of a move is the agent's own survivability and its
teammate's, each the least over the others' replies, divided by the enemies', which are averages.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
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
from infoset_pommerman.search.belief import SEEN_STEP, Belief, Seat
from infoset_pommerman.search.dypm import (
    FAILURES,
    LAST_CELL,
    LAST_FIELDS,
    LAST_MOVE,
    LAST_STEP,
    NONE,
    STUBBORN,
    leads_on,
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
from infoset_pommerman.search.maker import Maker
from infoset_pommerman.search.repeats import Repeats, empty_repeats, recall, remember, weariness
from infoset_pommerman.search.scenario import (
    MAX_LENGTH,
    Scenario,
    copy,
    empty_scenario,
    gather_crowd,
    play,
    spread_crowd,
    survivability,
    unroll,
)
from infoset_pommerman.state import MOVES

MAX_REPLIES = MOVES ** (MAX_AGENTS - 1)
CHUNK = 2  # replies between two looks at the clock: a fraction of a millisecond
RESERVE = 0.0003  # seconds for the final choice
HOPELESS = 1e-3  # value that counts where there is no survivability


@dataclass(frozen=True)
class Hakozaki(Maker, GoalParameters):
    """Pommerman: joint actions on pessimistic scenarios.

    Distances and times are in steps, survivabilities in cells.

    The same budget gives the same answer where no deadline cuts it short.
    """

    name: ClassVar = "hakozaki"
    budget: int = 300
    """Upper limit of joint moves judged; all own moves meet the same replies of the others, at least one."""
    length: int = 11
    """Length of a scenario."""
    threshold: float = 30.0
    """Upper limit of the own and the teammate's survivability that counts; an agent with more may well attack."""
    floor: float = 0.1
    """Least survivability that an enemy is counted with."""
    bomb_cost: float = 0.1
    """Cost of having one bomb less, in units of the logarithm of a survivability."""
    memory: int = 4
    """For how many steps an enemy that went out of view is taken into account."""
    goal_weight: float = 0.5
    """Weight of goals relative to logarithms of survivabilities."""
    chase: float = 0.8
    tired: float = 0.0  # its ties come from a lack of openings, not from cycles

    def __post_init__(self) -> None:
        check_range("budget", self.budget, 1, 10**9)
        check_range("length", self.length, 2, MAX_LENGTH)
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
        return int(hakozaki_move(b, *room, *seat, w, engine, stream, deadline))


AT = places_of(Hakozaki)


class Buffers(NamedTuple):
    """Working memory for a decision; survivabilities of a move are over the replies judged so far."""

    leaf: st.Row
    moves: npt.NDArray[np.int16]  # (agents,) a joint move
    cell: npt.NDArray[np.int16]  # (moves,) the cell to which each own move leads
    options: npt.NDArray[np.int16]  # (agents, moves) the moves of each agent
    choices: npt.NDArray[np.int64]  # (agents,) the number of those moves
    replies: npt.NDArray[np.int16]  # (replies, agents) joint moves of the others
    own: FloatArray  # (moves,) the least; NONE where a move is not available
    mean: FloatArray  # (moves,) the sum
    lasted: FloatArray  # (moves,) the sum of the last moments at which the agent lives where nobody spreads
    mate: FloatArray  # (moves, moves) the least, by the own and the teammate's move
    foes: FloatArray  # (moves, agents) sums
    met: npt.NDArray[np.int64]  # (1,) whether anyone gets in the agent's way
    value: FloatArray  # (moves,)
    goal_value: FloatArray  # (cells,)
    last: npt.NDArray[np.int64]  # (LAST_FIELDS,) as ``remember_failure`` keeps them
    repeats: Repeats


class Workspace(NamedTuple):
    """All working memory of the agent."""

    scenario: Scenario
    buffers: Buffers


def empty_buffers(config: Config) -> Buffers:
    """Allocate the agent's working memory."""
    return Buffers(
        st.empty_rows(1, config)[0], np.zeros(MAX_AGENTS, dtype=np.int16), np.zeros(MOVES, dtype=np.int16),
        np.zeros((MAX_AGENTS, MOVES), dtype=np.int16), np.zeros(MAX_AGENTS, dtype=np.int64),
        np.zeros((MAX_REPLIES, MAX_AGENTS), dtype=np.int16), np.zeros(MOVES), np.zeros(MOVES), np.zeros(MOVES),
        np.zeros((MOVES, MOVES)), np.zeros((MOVES, MAX_AGENTS)), np.zeros(1, dtype=np.int64), np.zeros(MOVES),
        np.zeros(config.size**2), np.zeros(LAST_FIELDS, dtype=np.int64), empty_repeats(),
    )  # fmt: skip


@kernel
def prepare(b, d, me, engine):
    """Reset the tables and list everyone's moves and the others' replies; return the number of replies.

    The replies are in the order in which they are judged.
    """
    d.met[0] = 0
    for k in range(MAX_AGENTS):
        d.choices[k] = 0
        if b.guess[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE]:
            list_options(b, d, k, engine)
    for move in range(MOVES):
        d.own[move], d.mean[move], d.lasted[move] = NONE, 0.0, 0.0
        for other in range(MOVES):
            d.mate[move, other] = np.inf
        for k in range(MAX_AGENTS):
            d.foes[move, k] = 0.0
    for at in range(d.choices[me]):
        d.own[d.options[me, at]] = np.inf
        leads_on(b, d, me, d.options[me, at], engine)
    return list_replies(b, d, me, engine.settings[SIZE])


@linked_kernel
def list_options(b, d, k, engine):
    """List the moves of an agent that have an effect and do not kill it at once; only Stop if there is none."""
    for move in range(MOVES):
        if leads_on(b, d, k, move, engine):
            d.options[k, d.choices[k]] = move
            d.choices[k] += 1
    if d.choices[k] == 0:
        d.options[k, 0], d.choices[k] = st.STOP, 1


@inner_kernel
def list_replies(b, d, me, size):
    """List the joint moves of the others in ``replies``; return their number.

    First come those in which few agents deviate from their first move, and among these those in which the nearest do.
    """
    order = np.zeros(MAX_AGENTS, dtype=np.int64)
    others = 0
    for away in range(2 * size):
        for k in range(MAX_AGENTS):
            if k != me and d.choices[k] and distance(b.guess, me, k, size) == away:
                order[others] = k
                others += 1
    total = 1
    for at in range(others):
        total *= d.choices[order[at]]
    found = 0
    for busy in range(others + 1):
        for code in range(total):
            rest, active = code, 0
            for at in range(others):
                k = order[at]
                choice = rest % d.choices[k]
                rest //= d.choices[k]
                active += choice != 0
                d.replies[found, k] = d.options[k, choice]
            found += active == busy
            if found == total:
                break
    return found


@inline_kernel
def distance(row, one, other, size):
    """Return the Manhattan distance between two agents."""
    here, there = row[st.AGENTS + one * st.AGENT_FIELDS + st.CELL], row[st.AGENTS + other * st.AGENT_FIELDS + st.CELL]
    return abs(here // size - there // size) + abs(here % size - there % size)


@kernel
def search(b, s, d, me, enemies, mate, first, last, w, engine):
    """Judge the own moves against the replies from ``first`` to before ``last``."""
    for reply in range(first, last):
        for at in range(d.choices[me]):
            move = d.options[me, at]
            copy(b.guess, d.leaf)
            for k in range(MAX_AGENTS):
                d.moves[k] = d.replies[reply, k]
            d.moves[me] = move
            play(d.leaf, d.moves, b, engine)
            judge(b, s, d, me, enemies, mate, move, w, engine)


@inner_kernel
def judge(b, s, d, me, enemies, mate, move, w, engine):
    """Enter the survivabilities of all agents in ``d.leaf``, the position that a joint move led to."""
    size, length = engine.settings[SIZE], np.int64(w[AT.length])
    unroll(s, d.leaf, length, b, engine)
    for k in range(MAX_AGENTS):
        if d.choices[k] == 0:
            continue
        found, alone, lasted = 0.0, 0, 0
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if d.leaf[agent + st.ALIVE]:
            crowd_against(b, s, d, k, 0 if enemies >> k & 1 else enemies, w[AT.memory], size)
            spread_crowd(s, length, length, size)
            found, alone, lasted = survivability(s, d.leaf[agent + st.CELL], length, size)
        if k == me:
            d.met[0] |= found < alone
            d.own[move] = min(d.own[move], found)
            d.mean[move] += found
            d.lasted[move] += lasted
        elif mate >> k & 1:
            d.mate[move, d.moves[k]] = min(d.mate[move, d.moves[k]], found)
        else:
            d.foes[move, k] += found


@linked_kernel
def crowd_against(b, s, d, k, enemies, memory, size):
    """Set the crowd to all others, and the cells where enemies that were in view recently may be."""
    gather_crowd(s, d.leaf, k, size)
    for other in range(MAX_AGENTS):
        if enemies >> other & 1 and not d.choices[other] and b.guess[st.STEP] - b.notes[SEEN_STEP + other] <= memory:
            for r in range(size):
                s.crowd[0, r] |= b.possible[other, r]
    own = d.leaf[st.AGENTS + k * st.AGENT_FIELDS + st.CELL]
    s.crowd[0, own // size] &= ~(np.uint32(1) << np.uint32(own % size))


@kernel
def choose(b, s, d, me, enemies, mate, replies, w, engine, stream):
    """Return the best move after ``replies`` replies to each."""
    size, length = engine.settings[SIZE], np.int64(w[AT.length])
    own = b.guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    remember_failure(d, own, b.guess[st.STEP])
    recall(d.repeats, b.guess, me)
    unroll(s, b.guess, length, b, engine)
    appraise(d.goal_value, b, s.row, me, enemies, goals_of(w), engine.near, size)
    safe = False
    for move in range(MOVES):
        safe |= d.own[move] > 0.0
    best, found = -np.inf, st.STOP
    for move in range(MOVES):
        if d.own[move] == NONE or (safe and d.own[move] <= 0.0):
            continue
        score = contest(d, move, enemies, mate, replies, w)
        if safe:
            score += own_value(d, move, w) + aim(b, s, d, me, move, w, engine)
            score -= weariness(d.repeats, move, w[AT.tired], w[AT.most_tired])
        else:
            score += np.log(d.mean[move] / replies + HOPELESS) + d.lasted[move] / replies
        score += 1e-4 * (next_word(stream) >> np.uint64(11)) * 2.0**-53
        if score > best:
            best, found = score, move
    d.last[LAST_STEP], d.last[LAST_CELL], d.last[LAST_MOVE] = b.guess[st.STEP], own, found
    remember(d.repeats, found)
    return found


@linked_kernel
def own_value(d, move, w):
    """Return the logarithm of the least own survivability, or 0 where nobody is near."""
    return np.log(min(1.0, d.own[move] / w[AT.threshold])) if d.met[0] else 0.0


@inner_kernel
def contest(d, move, enemies, mate, replies, w):
    """Return the logarithm of the teammate's survivability over the enemies' after a move.

    The teammate is assumed to choose its own best move against the worst of the others' replies.
    """
    score = 0.0
    for k in range(MAX_AGENTS):
        if d.choices[k] == 0:
            continue
        if mate >> k & 1:
            left = 0.0
            for other in range(MOVES):
                if d.mate[move, other] != np.inf:
                    left = max(left, d.mate[move, other])
            score += np.log(max(min(1.0, left / w[AT.threshold]), HOPELESS))
        elif enemies >> k & 1:
            score -= np.log(max(d.foes[move, k] / replies, w[AT.floor]))
    return score


@inner_kernel
def aim(b, s, d, me, move, w, engine):
    """Return the value of a move for goals; ``s.row`` is the position after all bombs have exploded."""
    agent = st.AGENTS + me * st.AGENT_FIELDS
    own = b.guess[agent + st.CELL]
    goal_value, cost = d.goal_value[d.cell[move]], 0.0
    if move == st.LAY:
        walls = wood_in_reach(s.row, st.BOARD, engine.near, own, b.guess[agent + st.BLAST])
        goal_value = max(wood_value(walls, w[AT.wood]), DISCOUNT * d.goal_value[own])
        cost = w[AT.bomb_cost] if walls == 0 else 0.0
    elif move == st.STOP:
        goal_value = DISCOUNT * d.goal_value[own]
    if move == d.last[LAST_MOVE]:
        cost += STUBBORN * d.last[FAILURES]
    return w[AT.goal_weight] * goal_value - cost


def hakozaki_move(b, s, d, me, enemies, mate, w, engine, stream, deadline=None):
    """Decide on one move, at the latest at ``deadline``, a time of ``time.monotonic``.

    ``enemies`` and ``mate`` have bit k for agent k.
    """
    replies = prepare(b, d, me, engine)
    allowed = min(replies, max(1, int(w[AT.budget]) // int(d.choices[me])))
    done, step = 0, allowed if deadline is None else CHUNK
    while done < allowed and (done == 0 or deadline is None or monotonic() < deadline - RESERVE):
        last = min(done + step, allowed)
        search(b, s, d, me, enemies, mate, done, last, w, engine)
        done = last
    return choose(b, s, d, me, enemies, mate, done, w, engine, stream)
