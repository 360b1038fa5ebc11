"""Enumerate all positions of a ground game by compiled code, as ``tree.graph.explore`` does in plain Python.

The moves of a step are successive decisions, as they are there, and moves of ``random`` with equal outcomes are merged
into one outcome of chance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import Action, Facts, FloatArray, IntArray, LongArray, Positions
from infoset.gdl.scalar import ScalarEvaluator, look, step
from infoset.gdl.tally import no_action
from infoset.interning import Rows, intern, longer
from infoset.jit import inner_kernel, kernel, linked_kernel
from infoset.memory import check_room

NO_ROLE = -1
CHANCE, TERMINAL, SILENT = -1, -2, -1  # as in ``tree.graph``
FIRST_ROOM, ROOM = 1 << 12, 1 << 16  # joint moves, with chance's, between two clock checks: first, most
ROOM_BYTES = 64 << 20  # of memory that is reserved for them beforehand, at most
SHORT, LONG = 0.1, 0.4  # seconds: quicker calls of the kernel get more room, slower ones less
MOST_JOINT = np.int64(1) << 40  # joint moves are not counted beyond this: 64 roles with two moves each overflow a word
SLOT_BYTES = 32  # that a row takes in a table before it is stored
DONE, NO_ROOM, STUCK = range(3)
POSITIONS, EDGES, EXPANDED, ROOM_LEFT, DETAIL = range(5)


class Shape(NamedTuple):
    """The roles of the game."""

    seats: LongArray  # (n,) the roles that are players
    random: int  # chance's role, or NO_ROLE
    open: bool  # everyone sees the joint move
    goal_values: LongArray  # (G,)
    first_percept: LongArray  # (roles + 1,)


class Interned(NamedTuple):
    """The values that are numbered on the way."""

    states: Rows  # words of the state
    action_sets: Rows  # moves
    payoffs: Rows  # one for each player
    percepts: Rows  # of a step, or its joint move in an open game; -1 and an action set where legal moves are seen
    records: Rows  # (own move, percepts)


class Found(NamedTuple):
    """The arrays that grow.

    ``filled`` holds the numbers of positions, edges and expanded states, the number of joint moves for which there is
    room everywhere, and the reason why a call stopped: the size of a step, or the role that has no move.
    """

    position: IntArray  # (states,) of each state
    player: npt.NDArray[np.int8]  # (P,)
    content: IntArray  # (P,)
    source: IntArray  # (E,)
    child: IntArray  # (E,)
    probability: FloatArray  # (E,)
    record: IntArray  # (E, n)
    filled: LongArray  # (5,)


@linked_kernel
def _edge(found, source, child, probability):
    """Add an edge without records and return its number."""
    e = found.filled[EDGES]
    found.source[e], found.child[e], found.probability[e] = source, child, probability
    found.record[e] = SILENT
    found.filled[EDGES] = e + 1
    return e


@kernel
def _place(found, player, content):
    """Add a position and return its number."""
    p = found.filled[POSITIONS]
    found.player[p], found.content[p] = player, content
    found.filled[POSITIONS] = p + 1
    return p


@linked_kernel
def _visit(found, states, words):
    """Return the position of a state, new or known."""
    known = states.size[0]
    state = intern(states, words.view(np.int64))
    if state == known:
        found.position[state] = _place(found, TERMINAL, -1)
    return found.position[state]


@linked_kernel
def _end(shape, net, interned, found, position, holding):
    """Set the payoffs of a terminal position: of several goals that hold the first, 0 where none does."""
    row = np.zeros(len(shape.seats), dtype=np.int64)
    for p in range(len(shape.seats)):
        role = shape.seats[p]
        for k in range(np.int64(net.first_goal[role + 1]) - 1, np.int64(net.first_goal[role]) - 1, -1):
            if holding[k]:
                row[p] = shape.goal_values[k]
    found.content[position] = intern(interned.payoffs, row)


@inner_kernel
def _tell(shape, run, interned, moves, row, records):
    """Write the players' records of the step just made."""
    for p in range(len(shape.seats)):
        role, size = shape.seats[p], 0
        if shape.open:
            for other in range(len(moves)):
                row[other] = moves[other]
            size = len(moves)
        else:
            for k in range(shape.first_percept[role], shape.first_percept[role + 1]):
                row[size] = k
                size += run.seen[k]
        percepts = intern(interned.percepts, row[:size])
        row[0], row[1] = moves[role], percepts
        records[p] = intern(interned.records, row[:2])


@inner_kernel
def _answer(shape, net, run, interned, found, state, moves, action_set, scratch):
    """Write the distinct outcomes of the joint ``moves`` and return how many there are.

    ``scratch`` holds a row for each: child, weight, move of chance, records.
    """
    n, count = len(shape.seats), 0
    row = np.empty(max(len(run.seen), len(moves)) + 2, dtype=np.int64)
    for a in range(len(action_set)):
        if shape.random != NO_ROLE:
            moves[shape.random] = action_set[a]
        step(net, run, state, moves)
        mine = scratch[count]
        mine[0], mine[1], mine[2] = _visit(found, interned.states, run.next), 1, action_set[a]
        _tell(shape, run, interned, moves, row, mine[3:])
        known = False
        for other in range(count):
            known = scratch[other, 0] == mine[0]
            for p in range(3, 3 + n):
                known = known and scratch[other, p] == mine[p]
            if known:
                scratch[other, 1] += 1
                break
        if not known:
            count += 1
    return count


@linked_kernel
def _join(interned, found, source, count, answers, scratch):
    """Add the edges of one joint move: directly to the next state, or through a chance position."""
    if count > 1:
        chance = _place(found, CHANCE, intern(interned.action_sets, scratch[:count, 2].copy()))
        _edge(found, source, chance, 1.0)
        source = chance
    for k in range(count):
        e = _edge(found, source, scratch[k, 0], scratch[k, 1] / answers)
        for p in range(found.record.shape[1]):
            found.record[e, p] = scratch[k, 3 + p]


@inner_kernel
def _expand(shape, net, run, interned, found, position, state):
    """Add the decisions of one state, one player after the other, and the outcomes of every joint move."""
    n = len(shape.seats)
    base, joint = position, 1
    chance_outcome = np.zeros(1, dtype=np.int32)
    if shape.random != NO_ROLE:
        first = net.first_move[shape.random]
        chance_outcome = run.action_set[first : first + np.uint32(run.num_actions[shape.random])].copy()
    scratch = np.zeros((len(chance_outcome) + 1, 3 + n), dtype=np.int64)
    sizes, firsts = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    action_set = run.action_set.copy()
    for p in range(n):
        role = shape.seats[p]
        sizes[p], firsts[p] = run.num_actions[role], net.first_move[role]
    for p in range(n):
        content = intern(interned.action_sets, action_set[firsts[p] : firsts[p] + sizes[p]].astype(np.int64))
        if p > 0:
            above, base = base, found.filled[POSITIONS]
            for k in range(joint):
                _place(found, p, content)
                _edge(found, above + k // sizes[p - 1], base + k, 1.0)
        else:
            found.player[base], found.content[base] = 0, content
        joint *= sizes[p]
    moves = np.zeros(len(run.num_actions), dtype=np.int32)
    for j in range(joint):
        rest = j
        for p in range(n - 1, -1, -1):
            moves[shape.seats[p]] = action_set[firsts[p] + rest % sizes[p]]
            rest //= sizes[p]
        count = _answer(shape, net, run, interned, found, state, moves, chance_outcome, scratch)
        _join(interned, found, base + j // sizes[n - 1], count, len(chance_outcome), scratch)


@kernel
def _explore(shape, net, run, interned, found):
    """Expand states while there is room; return why it ended."""
    holding = np.zeros(len(net.goals), dtype=np.uint8)
    words = len(run.current)
    while found.filled[EXPANDED] < interned.states.size[0]:
        number = found.filled[EXPANDED]
        state = interned.states.data[number * words : (number + 1) * words].view(np.uint64).copy()
        terminal, joint = look(net, run, state, holding), 1
        if not terminal:
            for role in range(len(run.num_actions)):
                found.filled[DETAIL] = role
                if run.num_actions[role] == 0:
                    return STUCK
                joint = min(joint * run.num_actions[role], MOST_JOINT)
        found.filled[DETAIL] = joint
        if joint > found.filled[ROOM_LEFT]:
            return NO_ROOM
        found.filled[ROOM_LEFT] -= joint
        if terminal:
            _end(shape, net, interned, found, found.position[number], holding)
        else:
            _expand(shape, net, run, interned, found, found.position[number], state)
        found.filled[EXPANDED] = number + 1
    return DONE


class Explorer:
    """The work of ``positions``: the arrays, extended between the calls of the kernel."""

    def __init__(
        self, evaluator: ScalarEvaluator, seats: Sequence[int], random: int | None, open_: bool, file: str
    ) -> None:
        net = evaluator.propnet
        self.evaluator, self.file = evaluator, file
        self.shape = Shape(
            np.array(seats, dtype=np.int64),
            NO_ROLE if random is None else random,
            open_,
            net.goal_values.astype(np.int64),
            net.first_percept.astype(np.int64),
        )
        n = len(seats)
        self.interned = Interned(*[Rows.empty() for _ in Interned._fields])
        none: IntArray = np.zeros(0, dtype=np.int32)
        self.found = Found(
            none, none.astype(np.int8), none, none, none, np.zeros(0), np.zeros((0, n), np.int32), np.zeros(5, np.int64)
        )
        self.room = self._most_room()
        self.make_room(min(FIRST_ROOM, self.room))
        self.found.position[0] = _place(self.found, TERMINAL, -1)
        intern(self.interned.states, evaluator.net.initial.view(np.int64))

    @property
    def _widths(self) -> tuple[int, int, int]:
        """The number of players, the words of a state and the most percepts of a step."""
        percepts = max(int(np.diff(self.shape.first_percept).max(initial=0)), len(self.evaluator.roles))
        return len(self.shape.seats), len(self.evaluator.net.initial), percepts

    def _most_room(self) -> int:
        """Return the greatest number of joint moves for which room may be made beforehand."""
        n, words, percepts = self._widths
        return max(1, min(ROOM, ROOM_BYTES // (self._least_bytes() + 8 * (words + n * percepts))))

    def _least_bytes(self) -> int:
        """Return the bytes that a joint move takes at least: its decisions, its edges and its places in the tables."""
        n, _, _ = self._widths
        return (n + 2) * (21 + 4 * n) + SLOT_BYTES * (3 * n + 3)

    def make_room(self, joint: int) -> None:
        """Make room for ``joint`` more joint moves."""
        i, f = self.interned, self.found
        n, words, percepts = self._widths
        self.interned = Interned(
            states=i.states.with_room(joint + 1, (joint + 1) * words),
            action_sets=i.action_sets.with_room(joint * (n + 1), joint * (n + 2)),
            payoffs=i.payoffs.with_room(joint, joint * n),
            percepts=i.percepts.with_room(joint * n, joint * n * percepts),
            records=i.records.with_room(joint * n, joint * n * 2),
        )
        positions, edges, _, _, _ = f.filled.tolist()
        more = (n + 2) * joint + 1
        self.found = Found(
            longer(f.position, int(i.states.size[0]) + joint + 1),
            longer(f.player, positions + more),
            longer(f.content, positions + more),
            longer(f.source, edges + more),
            longer(f.child, edges + more),
            longer(f.probability, edges + more),
            longer(f.record, edges + more),
            f.filled,
        )
        f.filled[ROOM_LEFT] = joint

    def run(self, check: Callable[[int, int], None]) -> Positions:
        """Enumerate the positions; ``check`` is called with positions and edges now and then, and may raise.

        Raises ``GameRuleError``.
        """
        room = min(FIRST_ROOM, self.room)
        while True:
            began = time.monotonic()
            ended = _explore(self.shape, self.evaluator.net, self.evaluator.place.run, self.interned, self.found)
            self.evaluator.place.looked = None
            positions, edges, expanded, _, detail = self.found.filled.tolist()
            if ended == DONE:
                check(positions, edges)
                return self.positions()
            if ended == STUCK:
                words = len(self.evaluator.net.initial)
                state = self.interned.states.data[expanded * words : (expanded + 1) * words].tobytes()
                raise no_action(self.file, self.evaluator.roles[detail], self.evaluator.facts(state))
            check(positions, edges + detail)
            spent = time.monotonic() - began
            room = min(2 * room, self.room) if spent < SHORT else max(room // 2, 1) if spent > LONG else room
            if detail > room:
                check_room(
                    f"{self.file}: one state has {detail:,} joint moves, which take", detail * self._least_bytes()
                )
            self.make_room(max(room, detail))

    def positions(self) -> Positions:
        """Return what was found, with edges sorted by their source."""
        f, i, actions = self.found, self.interned, self.evaluator.actions
        positions, edges, _, _, _ = f.filled.tolist()
        order = np.argsort(f.source[:edges], kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(f.source[:edges], minlength=positions))])
        action_sets = [tuple([actions[move] for move in row]) for row in i.action_sets.lists()]
        words = self.evaluator.actions if self.shape.open else self.evaluator.percepts
        seen = [tuple([words[k] for k in row]) for row in i.percepts.lists()]
        records: dict[tuple[Action, tuple[Action, ...]], int] = {}
        number = [records.setdefault((actions[move], seen[row]), len(records)) for move, row in i.records.lists()]
        record = np.array([*number, SILENT], dtype=np.int32)[f.record[:edges][order]]
        payoffs = i.payoffs.table(len(self.shape.seats)).astype(np.float64)
        return Positions(
            f.player[:positions].copy(), f.content[:positions].copy(), first.astype(np.int32), f.child[:edges][order],
            f.probability[:edges][order], record, action_sets, payoffs, list(records), self.facts(),
        )  # fmt: skip

    def facts(self) -> Facts:
        """Return the propositions of every state."""
        states, words = int(self.interned.states.size[0]), len(self.evaluator.net.initial)
        data = self.interned.states.data[: states * words].view(np.uint8).reshape(states, 8 * words)
        return Facts(self.found.position[:states].copy(), data.copy())
