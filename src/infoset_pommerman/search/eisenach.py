"""``eisenach``: a depth-limited search over joint moves, after the runner-up of the 2018 competition.

It makes no pessimistic assumptions: agents out of view are absent, and agents that do not branch stand still.

A node of the tree is a position, a ply one joint move.  The agent itself branches at every ply, the others only while
they are near: its teammate maximises the same score, its enemies answer knowing both moves.  A leaf is played on with
only the agent itself moving, to dodge, so that the bombs on the board take effect; it is scored by deaths, burnt wood
and items taken.  The depth grows until the budget of simulated steps is spent.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray
from infoset.jit import inline_kernel, inner_kernel, kernel, linked_kernel, lowest_one
from infoset.names import check_range
from infoset.randomness import Words, next_word
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, MAX_BOMBS, Config
from infoset_pommerman.engine import BLAST_CAP, FLAME_LIFE_AT_START, SIZE, Engine
from infoset_pommerman.rules import WAYS, bomb_on
from infoset_pommerman.search.belief import Belief, Seat
from infoset_pommerman.search.cellsets import add, clear
from infoset_pommerman.search.goals import (
    GoalWeights,
    appraise,
    blocked,
    check_weights,
    places_of,
    settings_of,
    some_possible,
)
from infoset_pommerman.search.maker import Maker
from infoset_pommerman.search.scenario import ONE, copy, play
from infoset_pommerman.state import MOVES

MAX_DEPTH = 12
RECENT = 16  # number of decisions remembered
CHUNK = 1000  # simulated steps between two looks at the clock, less than half a millisecond
MARGIN = 1e-3  # seconds before the deadline in which no chunk begins: one may take .7 ms on a slow machine


@dataclass(frozen=True)
class Eisenach(Maker):
    """Pommerman: joint actions, depth first.

    The parameters; distances are Manhattan distances, times are in steps, gains in points.
    """

    name: ClassVar = "eisenach"
    discount: float = 0.98
    """Discount of a point for each step until it is gained."""
    horizon: int = 10
    """For how many steps a leaf is played on."""
    near: int = 5
    """Others branch for one ply if they are nearer than this."""
    close: int = 3
    """Others branch for two plies if they are nearer than this."""
    duel_plies: int = 3
    """Plies for which an enemy branches if nobody else is in view and it is ``near``."""
    own_death: float = 10.0
    """Cost of its own death, and of a draw in which nobody is left."""
    mate_death: float = 10.0
    """Cost of the teammate's death."""
    enemy_death: float = 3.0
    """Value of an enemy's death."""
    all_dead: float = 20.0
    """Value that replaces these at the last death of a side."""
    wood: float = 0.4
    """Value of a burnt wall of wood for the side whose bomb burns it."""
    extra_bomb: float = 0.5
    """Value of this item for the side that takes it; likewise the next two, a fifth of it where they are of no use."""
    incr_range: float = 0.5
    kick: float = 0.7
    mean: float = 0.1
    """Weight of the mean over the enemies' replies relative to the worst of them."""
    repeat: float = 0.02
    """Penalty of a move for each recent time that it was chosen on the same cell."""
    goal_weight: float = 0.5
    """Weight of goals relative to points."""
    item_goal: float = 1.0
    """Value of an item as a goal."""
    wood_goal: float = 0.6
    """Upper limit of the value of a cell from which wood can be burnt."""
    chase_goal: float = 0.8
    """Value of the cell at which an enemy was just seen."""
    look_goal: float = 0.4
    """Upper limit of the value of a cell that was not seen for long."""
    look_age: float = 50.0
    """After how many steps that limit is reached."""
    chase_age: float = 25.0
    """For how many steps a cell has a value because an enemy was seen there."""
    budget: int = 4000
    """Simulated steps for one decision."""
    depth: int = 6
    """Own plies, less one for each other agent that branches."""

    def __post_init__(self) -> None:
        check_range("budget", self.budget, 1, 10**9)
        check_range("depth", self.depth, 1, MAX_DEPTH)
        check_range("horizon", self.horizon, 0, 100)
        check_weights(self)

    def settings(self) -> FloatArray:
        """Return the parameters as the kernels read them."""
        return settings_of(self)

    def empty_room(self, config: Config) -> Tree:
        return empty_tree(config)

    def move(
        self, b: Belief, room: Tree, seat: Seat, w: FloatArray, engine: Engine, stream: Words, deadline: float | None
    ) -> int:
        return eisenach_move(b, room, *seat, w, engine, stream, deadline)


AT = places_of(Eisenach)


LEVEL, PLIES, STEPS, ME, FIRST_ENEMY, LIVING, PLACE_FIELDS = range(7)
LOW, TOTAL, REPLIES, PAIR, BEST, SCORE, SUM_FIELDS = range(7)


class Tree(NamedTuple):
    """The state of a search: a stack of positions, and for each agent the move that is tried at each of them."""

    rows: st.Row  # (MAX_DEPTH + 1, row) positions from the root on
    run: st.Row  # (2, row) the position played on from a leaf, and the one a step before
    moves: npt.NDArray[np.int16]  # (MAX_DEPTH, agents, MOVES) the moves of each agent
    choices: npt.NDArray[np.int64]  # (MAX_DEPTH, agents) the number of those moves
    turn: npt.NDArray[np.int64]  # (MAX_DEPTH, agents) the index of the move that is tried
    sums: FloatArray  # (MAX_DEPTH + 1, SUM_FIELDS) bounds of a node's value, and the score on the path to it
    joint: npt.NDArray[np.int16]  # (agents,) the joint move
    order: npt.NDArray[np.int64]  # (agents,) the agent itself, the teammate, enemies
    branch: npt.NDArray[np.int64]  # (agents,) for how many plies each branches
    side: npt.NDArray[np.int64]  # (agents,) 1 for its own side, -1 for enemies
    place: npt.NDArray[np.int64]  # (PLACE_FIELDS,)
    value: FloatArray  # (MOVES,) of the own moves at the root, NaN where unknown
    penalty: FloatArray  # (MOVES,) of the own moves at the root
    goal_value: FloatArray  # (cells,) values of goals
    reach: npt.NDArray[np.uint32]  # (size,) where the agent itself can be while a leaf is played on
    recent: npt.NDArray[np.int64]  # (RECENT,) the last decisions, as cell * MOVES + move


def empty_tree(config: Config) -> Tree:
    """Return working memory for a search."""
    room = (MAX_DEPTH, MAX_AGENTS)
    return Tree(
        st.empty_rows(MAX_DEPTH + 1, config), st.empty_rows(2, config), np.zeros((*room, MOVES), dtype=np.int16),
        np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64), np.zeros((MAX_DEPTH + 1, SUM_FIELDS)),
        np.zeros(MAX_AGENTS, dtype=np.int16), np.zeros(MAX_AGENTS, dtype=np.int64),
        np.zeros(MAX_AGENTS, dtype=np.int64), np.zeros(MAX_AGENTS, dtype=np.int64),
        np.zeros(PLACE_FIELDS, dtype=np.int64), np.zeros(MOVES), np.zeros(MOVES), np.zeros(config.size**2),
        np.zeros(config.size, dtype=np.uint32), np.full(RECENT, -1, dtype=np.int64),
    )  # fmt: skip


def eisenach_move(
    b: Belief, tree: Tree, me: int, enemies: int, mate: int, w: FloatArray, engine: Engine, stream: Words,
    deadline: float | None,
) -> int:  # fmt: skip
    """Decide on a move from 0 to 5; ``enemies`` and ``mate`` have bit k for agent k.

    ``deadline`` is a time of ``time.monotonic``; None means no deadline.

    The tree is searched for one own ply in which nobody else moves, then for one ply, two, and so on.  A search that is
    cut off counts for the moves that it has judged, if the previously best one is among them; the others keep their
    previous values, except those of the first search, which knows no danger.
    """
    branching = prepare(tree, b, me, enemies, mate, w, engine)
    best, left = np.full(MOVES, np.nan), int(w[AT.budget])
    for depth in range(max(1, int(w[AT.depth]) - branching) + 1):
        open_tree(tree, b, depth, best, engine)
        done = False
        while not done and left > 0 and not (deadline is not None and monotonic() + MARGIN > deadline):
            done = grow(tree, b, w, engine, min(left, CHUNK))
            left -= int(tree.place[STEPS])
        if not np.isnan(tree.value[tree.moves[0, me, 0]]):  # the value of the previously best move is known again
            best = np.where(np.isnan(tree.value), best, tree.value) if depth > 1 else tree.value.copy()
        if not done:
            break
    return int(decide(tree, best, stream))


@kernel
def decide(tree, best, stream):
    """Return the move with the best value, ties broken at random, and remember it."""
    found, top = st.STOP, -np.inf
    for move in range(MOVES):
        value = best[move] + 1e-4 * (next_word(stream) >> np.uint64(11)) * 2.0**-53
        if value > top:
            found, top = move, value
    cell = tree.rows[0, st.AGENTS + tree.place[ME] * st.AGENT_FIELDS + st.CELL]
    tree.recent[tree.rows[0, st.STEP] % RECENT] = cell * MOVES + found
    return found


@kernel
def prepare(tree, b, me, enemies, mate, w, engine):
    """Set up who branches for how long, the values of goals and the penalties; return how many others branch."""
    size, guess = engine.settings[SIZE], b.guess
    place = tree.place
    place[ME], place[LIVING] = me, 0
    place[FIRST_ENEMY] = 2 if mate else 1
    tree.order[0] = me
    at = np.int64(place[FIRST_ENEMY])
    for k in range(MAX_AGENTS):
        tree.side[k] = -1
        if k == me or mate >> k & 1:
            tree.side[k] = 1
        if mate >> k & 1:
            tree.order[1] = k
        elif k != me:
            tree.order[at] = k
            at += 1
        if not guess[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE] and k != me and some_possible(b, k, size):
            place[LIVING] |= 1 << k  # alive, but out of view
    branching = set_branches(tree, guess, me, enemies, w, size)
    copy(guess, tree.rows[1])
    pass_time(tree.rows[1], b, 10, engine)
    goals = GoalWeights(
        w[AT.item_goal], w[AT.wood_goal], w[AT.chase_goal], w[AT.look_goal], w[AT.look_age], w[AT.chase_age]
    )  # fmt: skip
    appraise(tree.goal_value, b, tree.rows[1], me, enemies, goals, engine.near, size)
    own = guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL]
    for move in range(MOVES):
        tree.penalty[move] = 0.0
        for k in range(RECENT):
            if tree.recent[k] == own * MOVES + move:
                tree.penalty[move] += w[AT.repeat]
    return branching


@inner_kernel
def set_branches(tree, guess, me, enemies, w, size):
    """Set the others' numbers of plies by their distance; return how many of them branch."""
    own, seen, branching = guess[st.AGENTS + me * st.AGENT_FIELDS + st.CELL], 0, 0
    for k in range(MAX_AGENTS):
        seen += k != me and guess[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE] != 0
    for k in range(MAX_AGENTS):
        tree.branch[k] = 0
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if k != me and guess[agent + st.ALIVE]:
            cell = guess[agent + st.CELL]
            away = abs(cell // size - own // size) + abs(cell % size - own % size)
            if away < w[AT.near]:
                tree.branch[k] = 2 if away < w[AT.close] else 1
                if seen == 1 and enemies >> k & 1:
                    tree.branch[k] = np.int64(w[AT.duel_plies])
                branching += 1
    tree.branch[me] = MAX_DEPTH
    return branching


@kernel
def open_tree(tree, b, depth, best, engine):
    """Begin a search of ``depth`` plies at the root; 0 stands for one own ply in which nobody else moves."""
    me = tree.place[ME]
    tree.place[LEVEL], tree.place[PLIES] = 0, max(depth, 1)
    copy(b.guess, tree.rows[0])
    tree.sums[0, SCORE] = 0.0
    enter(tree, 0, engine)
    if depth == 0:
        for k in range(1, MAX_AGENTS):
            tree.moves[0, tree.order[k], 0] = st.STOP
            tree.choices[0, tree.order[k]] = 1
    for k in range(1, tree.choices[0, me]):  # the best move of the previous search comes first
        move = tree.moves[0, me, k]
        at = k
        while at > 0 and best[tree.moves[0, me, at - 1]] < best[move]:
            tree.moves[0, me, at] = tree.moves[0, me, at - 1]
            at -= 1
        tree.moves[0, me, at] = move
    for move in range(MOVES):
        tree.value[move] = np.nan


@inner_kernel
def enter(tree, level, engine):
    """Begin a node: list the moves of every agent."""
    row, size = tree.rows[level], engine.settings[SIZE]
    for k in range(MAX_AGENTS):
        tree.turn[level, k] = 0
        tree.moves[level, k, 0] = st.STOP
        tree.choices[level, k] = 1
        if level < tree.branch[k] and row[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE]:
            tree.choices[level, k] = options(row, k, tree.moves[level, k], engine.near, size)
    sums = tree.sums[level]
    sums[LOW], sums[TOTAL], sums[REPLIES], sums[PAIR], sums[BEST] = np.inf, 0.0, 0.0, -np.inf, -np.inf


@inner_kernel
def options(row, k, found, near, size):
    """List in ``found`` the moves that an agent may try, Stop first; return their number."""
    agent, count = st.AGENTS + k * st.AGENT_FIELDS, 1
    cell = row[agent + st.CELL]
    for move in range(st.STOP + 1, st.LAY):
        target = near[cell * WAYS + move]
        value = row[st.BOARD + target]
        free = (target != cell) & (value != st.RIGID) & (value != st.WOOD)
        free &= value != st.FLAMES or burnt_out(row, target, size)
        if free and (row[agent + st.CAN_KICK] or not bomb_on(row, target)):
            found[count] = move
            count += 1
    if row[agent + st.AMMO] > 0 and row[st.NUM_BOMBS] < MAX_BOMBS and not bomb_on(row, cell):
        found[count] = st.LAY
        count += 1
    return count


@inline_kernel
def burnt_out(row, cell, size):
    """Return whether the flames on a cell vanish in the next step."""
    out = True
    start = st.flames_at(size)
    for flame in range(start, start + row[st.NUM_FLAMES] * st.FLAME_FIELDS, st.FLAME_FIELDS):
        out &= row[flame + st.FLAME_CELL] != cell or row[flame + st.FLAME_LIFE] == 0
    return out


@kernel
def grow(tree, b, w, engine, steps):
    """Continue the search for about ``steps`` simulated steps; return whether it is finished.

    ``place[STEPS]`` is set to the number of steps simulated.
    """
    rows, sums, moves, turn, joint = tree.rows, tree.sums, tree.moves, tree.turn, tree.joint
    place, side, discount = tree.place, tree.side, w[AT.discount]
    place[STEPS] = 0
    while place[LEVEL] >= 0 and place[STEPS] < steps:
        level = place[LEVEL]
        for k in range(MAX_AGENTS):
            joint[k] = moves[level, k, turn[level, k]]
        before, after = rows[level], rows[level + 1]
        copy(before, after)
        play(after, joint, b, engine)
        place[STEPS] += 1
        score = sums[level, SCORE]
        score += discount ** (level + 1) * points(before, after, side, place, w, engine.settings)
        if level == 0:
            score -= tree.penalty[joint[place[ME]]]
        sums[level + 1, SCORE] = score
        if level + 1 < place[PLIES] and not over(after, side, place):
            place[LEVEL] = level + 1
            enter(tree, level + 1, engine)
        else:
            hand_back(tree, level, run_on(tree, b, level + 1, w, engine), w)
    return place[LEVEL] < 0


@inline_kernel
def over(row, side, place):
    """Return whether the agent itself is dead or no enemy is alive."""
    return not row[st.AGENTS + place[ME] * st.AGENT_FIELDS + st.ALIVE] or left_of(row, side, place, -1) == 0


@inline_kernel
def left_of(row, side, place, which):
    """Return how many agents of a side are alive, including those out of view."""
    left, hidden = 0, place[LIVING]
    for k in range(MAX_AGENTS):
        lives = (row[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE] != 0) | (hidden >> k & 1 != 0)
        left += (side[k] == which) & lives
    return left


@linked_kernel
def hand_back(tree, level, value, w):
    """Take in the value of a node's child; finished nodes pass their value to their parent in turn."""
    while take_in(tree, level, value, w):
        value = tree.sums[level, BEST]
        level -= 1
        if level < 0:
            break
    tree.place[LEVEL] = level


@inner_kernel
def take_in(tree, level, value, w):
    """Take in a reply's value; return whether all moves of the node have been tried.

    A pair of own moves has the weighted mean of the worst and the average reply; the teammate's move is the best for
    each own move, and the own move is the best.
    """
    sums, first, order = tree.sums[level], tree.place[FIRST_ENEMY], tree.order
    turn, choices, weight = tree.turn[level], tree.choices[level], w[AT.mean]
    sums[LOW] = min(sums[LOW], value)
    sums[TOTAL] += value
    sums[REPLIES] += 1.0
    if next_turn(turn, choices, order, first, MAX_AGENTS):
        replies = 1
        for k in range(first, MAX_AGENTS):
            replies *= choices[order[k]]
        bound = sums[PAIR] if level == 0 else max(sums[PAIR], sums[BEST])
        if most_of(sums, replies, w) > bound:
            return False
    for k in range(first, MAX_AGENTS):
        turn[order[k]] = 0
    sums[PAIR] = max(sums[PAIR], (sums[LOW] + weight * sums[TOTAL] / sums[REPLIES]) / (1.0 + weight))
    sums[LOW], sums[TOTAL], sums[REPLIES] = np.inf, 0.0, 0.0
    if next_turn(turn, choices, order, 1, first):
        return False
    sums[BEST] = max(sums[BEST], sums[PAIR])
    if level == 0:
        me = tree.place[ME]
        tree.value[tree.moves[0, me, turn[me]]] = sums[PAIR]
    sums[PAIR] = -np.inf
    return not next_turn(turn, choices, order, 0, 1)


@inline_kernel
def next_turn(turn, choices, order, first, last):
    """Advance to the next combination of moves of some agents; return whether there was one."""
    found = False
    for k in range(first, last):
        agent = order[k]
        if not found:
            turn[agent] += 1
            found = turn[agent] < choices[agent]
            if not found:
                turn[agent] = 0
    return found


@inline_kernel
def most_of(sums, replies, w):
    """Return an upper bound of the value of a pair of moves, whatever its untried replies are."""
    most = sums[SCORE] + 2.0 * w[AT.all_dead]
    mean = (sums[TOTAL] + most * (replies - sums[REPLIES])) / replies
    return (sums[LOW] + w[AT.mean] * mean) / (1.0 + w[AT.mean])


@inner_kernel
def run_on(tree, b, level, w, engine):
    """Return the value of a leaf: its score, and the points that follow if only the agent itself moves, to dodge.

    The others stay on the board; the agent itself becomes the set of cells on which it can be, and is dead once the set
    is empty.
    """
    row, before, side, place, reach = tree.run[0], tree.run[1], tree.side, tree.place, tree.reach
    game, own, discount = engine.settings, st.AGENTS + tree.place[ME] * st.AGENT_FIELDS, w[AT.discount]
    copy(tree.rows[level], row)
    value = tree.sums[level, SCORE]
    left = np.int64(w[AT.horizon])
    weight = discount**level
    clear(reach, game[SIZE])
    if row[own + st.ALIVE]:
        value += weight * w[AT.goal_weight] * tree.goal_value[row[own + st.CELL]]
        row[st.BOARD + row[own + st.CELL]] = st.BOMB if bomb_on(row, row[own + st.CELL]) else st.PASSAGE
        add(reach, row[own + st.CELL], game[SIZE])
    while left > 0 and left_of(row, side, place, -1) > 0 and left_of(row, side, place, 1) > 0:
        passed = skip(row, 1 if row[st.NUM_FLAMES] else left, engine.collapses, game[SIZE])
        left -= passed
        weight *= discount**passed
        if passed:
            if left > 0:
                dodge(reach, row, row, passed, game[SIZE])
            continue
        copy(row, before)
        row[own + st.ALIVE] = 0
        play(row, b.idle, b, engine)
        row[own + st.ALIVE] = dodge(reach, before, row, 1, game[SIZE])
        place[STEPS] += 1
        left -= 1
        weight *= discount
        value += weight * points(before, row, side, place, w, game)
    return value


@inner_kernel
def dodge(reach, before, after, steps, size):
    """Update the cells where an agent can be after ``steps`` steps; return whether there are any.

    The agent enters cells that are open in ``before`` and do not burn in ``after``.
    """
    board = np.uint32((1 << size) - 1)
    some = np.uint32(0)
    for _ in range(steps):
        above, some, changed = np.uint32(0), np.uint32(0), np.uint32(0)
        for r in range(size):
            here = reach[r]
            word = here | (here << ONE) | (here >> ONE) | above
            if r + 1 < size:
                word |= reach[r + 1]
            above = here
            left, remaining = word & board, np.uint32(0)
            while left:
                c = lowest_one(left)
                bit, cell = ONE << c, st.BOARD + r * size + c
                left ^= bit
                burns = (after[cell] == st.FLAMES) | (after[cell] == st.RIGID)
                if not burns and (here & bit or not blocked(before[cell])):
                    remaining |= bit
            reach[r] = remaining
            changed |= remaining ^ here
            some |= remaining
        if not changed:
            break
    return some != 0


@linked_kernel
def pass_time(row, b, steps, engine):
    """Pass ``steps`` steps in which nobody moves."""
    while steps > 0:
        steps -= skip(row, steps, engine.collapses, engine.settings[SIZE])
        if steps > 0:
            play(row, b.idle, b, engine)
            steps -= 1


@inner_kernel
def skip(row, most, collapses, size):
    """Pass up to ``most`` steps in which nobody moves and only bombs and flames age; return how many."""
    passed = most
    for ring in range(len(collapses)):
        if collapses[ring] >= row[st.STEP]:
            passed = min(passed, collapses[ring] - row[st.STEP])
    for k in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + k * st.BOMB_FIELDS
        passed = 0 if row[bomb + st.DIRECTION] != st.STOP else min(passed, row[bomb + st.LIFE] - 1)
    if passed <= 0:
        return 0
    for k in range(row[st.NUM_BOMBS]):
        row[st.BOMBS + k * st.BOMB_FIELDS + st.LIFE] -= passed
    cool(row, passed, size)
    row[st.STEP] += passed
    return passed


@inline_kernel
def cool(row, passed, size):
    """Age the flames by ``passed`` steps."""
    hidden = st.BOARD + size * size
    start = left = st.flames_at(size)
    end = start + row[st.NUM_FLAMES] * st.FLAME_FIELDS
    for flame in range(start, end, st.FLAME_FIELDS):
        cell, life = row[flame + st.FLAME_CELL], row[flame + st.FLAME_LIFE] - passed
        if life < 0:
            row[st.BOARD + cell] = row[hidden + cell]
            row[hidden + cell] = st.PASSAGE
        else:
            row[left + st.FLAME_CELL], row[left + st.FLAME_LIFE] = cell, life
            left += st.FLAME_FIELDS
    for flame in range(start, left, st.FLAME_FIELDS):
        row[st.BOARD + row[flame + st.FLAME_CELL]] = st.FLAMES
    for k in range(left, end):
        row[k] = 0
    row[st.NUM_FLAMES] = (left - start) // st.FLAME_FIELDS


@inner_kernel
def points(before, after, side, place, w, game):
    """Return the points of one step: for deaths, items taken and wood burnt."""
    total, deaths, kills = 0.0, 0, 0
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if not before[agent + st.ALIVE]:
            continue
        if not after[agent + st.ALIVE]:
            if side[k] < 0:
                kills += 1
                total += w[AT.enemy_death]
            else:
                deaths += 1
                total -= w[AT.own_death] if k == place[ME] else w[AT.mate_death]
        elif after[agent + st.CELL] != before[agent + st.CELL]:
            total += side[k] * item_points(before, agent, before[st.BOARD + after[agent + st.CELL]], w, game)
    if deaths and left_of(after, side, place, 1) == 0:
        total = -w[AT.all_dead]
        if kills and left_of(after, side, place, -1) == 0:
            total = -w[AT.own_death]  # a draw
    elif kills and left_of(after, side, place, -1) == 0:
        total += w[AT.all_dead] - kills * w[AT.enemy_death]
    return total + wood_points(before, after, side, w, game)


@inline_kernel
def item_points(before, agent, item, w, game):
    """Return the points of an item for an agent; few for one that it cannot use."""
    gain = 0.0
    if item == st.EXTRA_BOMB:
        gain = w[AT.extra_bomb]
    elif item == st.INCR_RANGE:
        gain = w[AT.incr_range] * (1.0 if before[agent + st.BLAST] < game[BLAST_CAP] else 0.2)
    elif item == st.KICK:
        gain = w[AT.kick] * (0.2 if before[agent + st.CAN_KICK] else 1.0)
    return gain


@inline_kernel
def wood_points(before, after, side, w, game):
    """Return the points for wood under new flames, which go to the owner of a bomb in line with it."""
    size, burnt = game[SIZE], 0
    flame = st.flames_at(size) + (after[st.NUM_FLAMES] - 1) * st.FLAME_FIELDS  # new ones are last
    for _ in range(after[st.NUM_FLAMES]):
        if after[flame + st.FLAME_LIFE] != game[FLAME_LIFE_AT_START]:
            break
        cell = after[flame + st.FLAME_CELL]
        if before[st.BOARD + cell] == st.WOOD:
            burnt += whose_wood(before, cell, side, size)
        flame -= st.FLAME_FIELDS
    return w[AT.wood] * burnt


@inline_kernel
def whose_wood(before, cell, side, size):
    """Return 1 if the first bomb that may have burnt the wood is of its own side, -1 if an enemy's, 0 if nobody's."""
    found = 0
    for k in range(before[st.NUM_BOMBS]):
        bomb = st.BOMBS + k * st.BOMB_FIELDS
        at, owner = before[bomb + st.BOMB_CELL], before[bomb + st.OWNER]
        down, right = abs(at // size - cell // size), abs(at % size - cell % size)
        if found == 0 and min(down, right) == 0 and max(down, right) < before[bomb + st.STRENGTH] and owner >= 0:
            found = side[owner]
    return found
