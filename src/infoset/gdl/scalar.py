"""Evaluate one state at a time: a propositional network that is kept settled while propositions flip.

Every gate counts its inputs that hold.  A flipped proposition changes the counts of its readers, and only gates whose
value changes pass it on, in topological order.  A step of a game flips few propositions, so most of the network is
never touched.  A loop is computed anew, from all false, whenever one of its inputs has changed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import Action, IndexArray, IntArray
from infoset.gdl.propnet import AND, NO_NODE, SEES, PropNet
from infoset.gdl.syntax import Term, to_action
from infoset.gdl.tally import MAX_STEPS, UNFINISHED, WORD, Playouts, Tally, add_length, add_stuck, pack, unpack
from infoset.jit import inline_kernel, inner_kernel, kernel, linked_kernel, lowest_one
from infoset.randomness import Words, below, streams

ACTION_SETS = 1 << 14  # action sets cached as moves; large games have a new one in almost every state


ONE, SIX, LOW = np.uint64(1), np.uint64(6), np.uint64(63)  # unsigned indices need no check for negative ones in kernels


class Net(NamedTuple):
    """The input of the kernels: see ``PropNet`` for the arrays of the same names."""

    first_fanout: IndexArray
    fanout: IndexArray
    loop_begin: IntArray  # (N,) first gate of the loop of each gate, or -1; empty where there is no loop
    loop_end: IntArray
    following: IndexArray
    first_move: IndexArray
    does: IntArray
    legal: IndexArray
    terminal: np.uint32
    first_goal: IndexArray
    goals: IndexArray
    sees: IndexArray
    initial: Words


class Run(NamedTuple):
    """The arrays that the kernels write."""

    value: npt.NDArray[np.uint8]  # (N,)
    slack: IntArray  # (N,) inputs that hold, minus those that the gate needs: it holds from 0 on
    pending: Words  # (N / 64,) gates whose value is out of date, and the first gate of every loop to be computed
    current: Words  # (B / 64,) the state
    moves: IntArray  # (roles,) the joint move, -1 where there is none
    action_set: IntArray  # (M,) legal moves of the roles, one after the other
    num_actions: IntArray  # (roles,)
    next: Words  # (B / 64,) the state after the joint move
    seen: npt.NDArray[np.uint8]  # (P,)


# Helpers take single arrays: taking an array out of a tuple inside a loop costs a reference count each time.


@inline_kernel
def _flip(first_fanout, fanout, loop_begin, value, slack, pending, node):
    """Flip a node and update its readers; a reader whose slack crosses zero changes whether it is pending."""
    value[node] ^= np.uint8(1)
    now = np.uint64(value[node])
    for k in range(first_fanout[node], first_fanout[node + ONE]):
        entry = np.uint64(fanout[k])
        reader = entry >> ONE
        falls = np.int32((entry & ONE) == now)
        left = slack[reader] + np.int32(1) - falls - falls
        slack[reader] = left
        if len(loop_begin) > 0 and loop_begin[reader] >= 0:
            begin = np.uint64(loop_begin[reader])
            pending[begin >> SIX] |= ONE << (begin & LOW)
        else:
            pending[reader >> SIX] ^= np.uint64(left + falls == 0) << (reader & LOW)


@inline_kernel
def _settle(first_fanout, fanout, loop_begin, loop_end, value, slack, pending):
    """Update every gate whose inputs have changed."""
    for word in range(np.uint64(len(pending))):
        while pending[word]:
            node = (np.uint64(word) << SIX) + np.uint64(lowest_one(pending[word]))
            pending[word] &= pending[word] - ONE
            if len(loop_begin) > 0 and loop_begin[node] >= 0:
                _settle_loop(first_fanout, fanout, loop_begin, value, slack, pending, loop_begin[node], loop_end[node])
            else:
                _flip(first_fanout, fanout, loop_begin, value, slack, pending, node)


@inner_kernel
def _settle_loop(first_fanout, fanout, loop_begin, value, slack, pending, begin, end):
    """Compute the least fixpoint of a loop; only its changes are passed on to gates outside."""
    before = value[begin:end].copy()
    for node in range(begin, end):
        if value[node]:
            _tell_loop(first_fanout, fanout, slack, node, begin, end, -1)
            value[node] = 0
    grown = True
    while grown:
        grown = False
        for node in range(begin, end):
            if not value[node] and slack[node] >= 0:
                value[node] = 1
                _tell_loop(first_fanout, fanout, slack, node, begin, end, 1)
                grown = True
    for node in range(begin, end):
        if value[node] != before[node - begin]:
            _tell_outside(first_fanout, fanout, loop_begin, value, slack, pending, node, begin, end)


@linked_kernel
def _tell_loop(first_fanout, fanout, slack, node, begin, end, change):
    for k in range(first_fanout[node], first_fanout[node + 1]):
        reader = np.int64(fanout[k] >> 1)
        if begin <= reader < end:
            slack[reader] += change


@inner_kernel
def _tell_outside(first_fanout, fanout, loop_begin, value, slack, pending, node, begin, end):
    """Update the readers outside the loop of a gate that has changed, as ``_flip`` does."""
    for k in range(first_fanout[node], first_fanout[node + 1]):
        entry = np.int64(fanout[k])
        reader = entry >> 1
        if begin <= reader < end:
            continue
        falls = np.int64((entry & 1) == value[node])
        slack[reader] += 1 - 2 * falls
        if loop_begin[reader] >= 0:
            first = loop_begin[reader]
            pending[first >> 6] |= ONE << np.uint64(first & 63)
        else:
            pending[reader >> 6] ^= np.uint64(slack[reader] + falls == 0) << np.uint64(reader & 63)


@inline_kernel
def _holds(value: npt.NDArray[np.uint8], literal: np.uint32) -> np.uint64:
    wide = np.uint64(literal)
    return np.uint64(value[wide >> ONE]) ^ (wide & ONE)


@inline_kernel
def _go_to(first_fanout, fanout, loop_begin, loop_end, value, slack, pending, current, state):
    """Make ``state`` the current one."""
    for word in range(np.uint64(len(state))):
        changed = state[word] ^ current[word]
        current[word] = state[word]
        while changed:
            node = ONE + (np.uint64(word) << SIX) + np.uint64(lowest_one(changed))
            _flip(first_fanout, fanout, loop_begin, value, slack, pending, node)
            changed &= changed - ONE
    _settle(first_fanout, fanout, loop_begin, loop_end, value, slack, pending)


@inline_kernel
def _find_legal(first_move, legal, value, action_set, num_actions):
    """Write the legal moves of every role into ``action_set``, from where the role's moves begin."""
    for role in range(np.uint64(len(num_actions))):
        begin, size = np.uint64(first_move[role]), np.uint64(0)
        for move in range(begin, np.uint64(first_move[role + ONE])):
            action_set[begin + size] = move
            size += _holds(value, legal[move])
        num_actions[role] = size


@inline_kernel
def _follow(following, value, after):
    """Write the next state into ``after``, once the joint move is made and settled."""
    size = np.uint64(len(following))
    for word in range(np.uint64(len(after))):
        bits, begin = np.uint64(0), np.uint64(word) << SIX
        for k in range(begin, min(begin + np.uint64(64), size)):
            bits |= _holds(value, following[k]) << (np.uint64(k) & LOW)
        after[word] = bits


@inline_kernel
def _choose(first_fanout, fanout, loop_begin, value, slack, pending, does, moves, role, move):
    """Make ``role`` do ``move`` instead of its move before; -1 for nothing."""
    before = moves[role]
    if before != move:
        moves[role] = move
        if before >= 0 and does[before] >= 0:
            _flip(first_fanout, fanout, loop_begin, value, slack, pending, np.uint64(does[before]))
        if move >= 0 and does[move] >= 0:
            _flip(first_fanout, fanout, loop_begin, value, slack, pending, np.uint64(does[move]))


@kernel
def look(net: Net, run: Run, state: Words, goals: npt.NDArray[np.uint8]) -> np.uint64:
    """Return whether ``state`` is terminal; write its moves to ``run.action_set``, its goals to ``goals``."""
    first_fanout, fanout, loop_begin, loop_end = net.first_fanout, net.fanout, net.loop_begin, net.loop_end
    value, slack, pending = run.value, run.slack, run.pending
    _go_to(first_fanout, fanout, loop_begin, loop_end, value, slack, pending, run.current, state)
    _find_legal(net.first_move, net.legal, value, run.action_set, run.num_actions)
    for k in range(len(net.goals)):
        goals[k] = _holds(value, net.goals[k])
    return _holds(value, net.terminal)


@kernel
def step(net: Net, run: Run, state: Words, moves: IntArray) -> None:
    """Write the next state into ``run.next`` and the percepts of the step into ``run.seen``."""
    first_fanout, fanout, loop_begin, loop_end = net.first_fanout, net.fanout, net.loop_begin, net.loop_end
    value, slack, pending, does, before = run.value, run.slack, run.pending, net.does, run.moves
    _go_to(first_fanout, fanout, loop_begin, loop_end, value, slack, pending, run.current, state)
    for role in range(len(moves)):
        _choose(first_fanout, fanout, loop_begin, value, slack, pending, does, before, role, moves[role])
    _settle(first_fanout, fanout, loop_begin, loop_end, value, slack, pending)
    _follow(net.following, value, run.next)
    for k in range(len(net.sees)):
        run.seen[k] = _holds(value, net.sees[k])


@inline_kernel
def _score(first_goal, goals, value, counts, none, several):
    """Count the goal values that hold; of several, the first."""
    for role in range(len(none)):
        found = 0
        for k in range(first_goal[role], first_goal[role + 1]):
            if _holds(value, goals[k]):
                counts[k] += found == 0
                found += 1
        none[role] += found == 0
        several[role] += found > 1


@kernel
def _playouts(net, run, count, max_steps, stream, tally):
    """Make random plays from the initial state."""
    first_fanout, fanout, loop_begin, loop_end = net.first_fanout, net.fanout, net.loop_begin, net.loop_end
    following, first_move, does, legal, initial = net.following, net.first_move, net.does, net.legal, net.initial
    value, slack, pending, current, after = run.value, run.slack, run.pending, run.current, run.next
    moves, action_set, num_actions = run.moves, run.action_set, run.num_actions
    for _ in range(count):
        _go_to(first_fanout, fanout, loop_begin, loop_end, value, slack, pending, current, initial)
        length, stuck = 0, -1
        while not _holds(value, net.terminal) and length < max_steps:
            _find_legal(first_move, legal, value, action_set, num_actions)
            stuck = _stuck(num_actions)
            if stuck >= 0:
                break
            for role in range(np.uint64(len(moves))):
                move = action_set[np.uint64(first_move[role]) + np.uint64(below(stream, num_actions[role]))]
                _choose(first_fanout, fanout, loop_begin, value, slack, pending, does, moves, role, move)
            _settle(first_fanout, fanout, loop_begin, loop_end, value, slack, pending)
            _follow(following, value, after)
            _go_to(first_fanout, fanout, loop_begin, loop_end, value, slack, pending, current, after)
            length += 1
        if stuck >= 0:
            add_stuck(tally, stuck, current)
        elif _holds(value, net.terminal):
            add_length(tally, length)
            _score(net.first_goal, net.goals, value, tally.goals, tally.none, tally.several)
        else:
            tally.lengths[UNFINISHED] += 1


@linked_kernel
def _stuck(num_actions):
    """Return the first role without a legal move; -1 where each has one."""
    for role in range(len(num_actions)):
        if num_actions[role] == 0:
            return role
    return -1


def compile_net(net: PropNet, percepts: bool = True) -> Net:
    """Return the arrays of ``Net``; gates that only percepts need are left out unless ``percepts``."""
    size = len(net) if percepts else int(net.stage_begin[SEES])
    loop_begin, loop_end = np.full((2, size if len(net.loops) else 0), -1, dtype=np.int32)
    for begin, end in net.loops:
        loop_begin[begin:end], loop_end[begin:end] = begin, end
    first_fanout, fanout = net.fanout
    inside_net = fanout >> 1 < size
    first_fanout = np.concatenate([[0], np.cumsum(inside_net)])[first_fanout[: size + 1]]
    return Net(
        first_fanout.astype(np.uint32), fanout[inside_net].astype(np.uint32), loop_begin, loop_end,
        net.following.astype(np.uint32), net.first_move.astype(np.uint32), net.does, net.legal.astype(np.uint32),
        np.uint32(net.terminal), net.first_goal.astype(np.uint32), net.goals.astype(np.uint32),
        (net.sees if percepts else net.sees[:0]).astype(np.uint32), pack(net.initial),
    )  # fmt: skip


def fresh_run(propnet: PropNet, net: Net) -> Run:
    """Return settled arrays in which no proposition holds and no move is made."""
    size, words, roles = len(net.first_fanout) - 1, len(net.initial), len(propnet.roles)
    run = Run(
        value=np.zeros(size, dtype=np.uint8),
        slack=-np.where(propnet.kind == AND, np.diff(propnet.first_input), 1)[:size].astype(np.int32),
        pending=np.zeros(-(-size // WORD), dtype=np.uint64),
        current=np.zeros(words, dtype=np.uint64),
        moves=np.full(roles, NO_NODE, dtype=np.int32),
        action_set=np.zeros(len(net.legal) + 1, dtype=np.int32),
        num_actions=np.zeros(roles, dtype=np.int32),
        next=np.zeros(words, dtype=np.uint64),
        seen=np.zeros(len(net.sees), dtype=np.uint8),
    )
    run.slack[0] = 0  # node 0 always holds
    _wake(net, run)
    return run


@kernel
def _wake(net, run):
    """Count the negated inputs of gates whose sources do not hold, then settle."""
    for node in range(len(run.value)):
        for k in range(net.first_fanout[node], net.first_fanout[node + 1]):
            run.slack[net.fanout[k] >> 1] += np.int64(net.fanout[k] & 1)
    for node in range(len(run.value)):
        if len(net.loop_begin) > 0 and net.loop_begin[node] >= 0:
            first = net.loop_begin[node]
            run.pending[first >> 6] |= ONE << np.uint64(first & 63)
        elif run.slack[node] >= 0:
            run.pending[node >> 6] |= ONE << np.uint64(node & 63)
    _settle(net.first_fanout, net.fanout, net.loop_begin, net.loop_end, run.value, run.slack, run.pending)


class _Place(threading.local):
    """One thread's state of the network: several threads may query the same rules at once."""

    def __init__(self, net: PropNet, small: Net) -> None:
        self.run = fresh_run(net, small)
        self.holding = np.zeros(len(net.goals), dtype=np.uint8)
        self.looked: bytes | None = None
        self.is_terminal = False


class ScalarEvaluator:
    """A game's rules, evaluated by its network; moves are numbered, states are bytes.

    States are hashable values.  The evaluator remembers each thread's current state, so queries about one state, or
    about states near each other, cost little.
    """

    def __init__(self, net: PropNet) -> None:
        self.propnet = net
        self.roles = net.roles
        self.net = compile_net(net)
        self.place = _Place(net, self.net)
        self.actions = tuple(map(to_action, net.moves))
        self.percepts = tuple(map(to_action, net.percepts))
        first = net.first_move
        self.number = [
            {self.actions[k]: k for k in range(first[r], first[r + 1])} for r in range(len(self.roles))
        ]  # fmt: skip
        self._action_set = lru_cache(ACTION_SETS)(self._actions_of)

    def start(self) -> bytes:
        return self.net.initial.tobytes()

    def facts(self, state: bytes) -> frozenset[Term]:
        bits = unpack(np.frombuffer(state, dtype=np.uint64), len(self.propnet.base))
        return frozenset(self.propnet.base[k] for k in np.flatnonzero(bits))

    def state(self, facts: frozenset[Term]) -> bytes:
        return pack(np.array([term in facts for term in self.propnet.base], dtype=np.bool_)).tobytes()

    def _look(self, state: bytes) -> _Place:
        place = self.place
        if place.looked != state:
            place.is_terminal = bool(look(self.net, place.run, _words(state), place.holding))
            place.looked = state
        return place

    def terminal(self, state: bytes) -> bool:
        return self._look(state).is_terminal

    def legal_actions(self, state: bytes, role: int) -> tuple[Action, ...]:
        run, begin = self._look(state).run, self.net.first_move[role]
        return self._action_set(run.action_set[begin : begin + run.num_actions[role]].tobytes())

    def _actions_of(self, numbers: bytes) -> tuple[Action, ...]:
        return tuple([self.actions[k] for k in np.frombuffer(numbers, dtype=np.int32)])

    def goals(self, state: bytes, role: int) -> tuple[int, ...]:
        holding, first = self._look(state).holding, self.net.first_goal
        return tuple([int(self.propnet.goal_values[k]) for k in range(first[role], first[role + 1]) if holding[k]])

    def step(self, state: bytes, moves: Sequence[Action]) -> tuple[bytes, tuple[tuple[Action, ...], ...]]:
        place = self.place
        place.looked = None
        numbers = np.array([self.number[r].get(m, NO_NODE) for r, m in enumerate(moves)], dtype=np.int32)
        step(self.net, place.run, _words(state), numbers)
        seen, first = np.flatnonzero(place.run.seen), self.propnet.first_percept
        percepts: list[list[Action]] = [[] for _ in self.roles]
        role = 0
        for k in seen:
            while k >= first[role + 1]:
                role += 1
            percepts[role].append(self.percepts[k])
        return place.run.next.tobytes(), tuple(map(tuple, percepts))


def playouts(net: PropNet, count: int, seed: int = 0, max_steps: int = MAX_STEPS) -> Playouts:
    """Make random plays, one after the other."""
    small = compile_net(net, percepts=False)
    run, tally = fresh_run(net, small), Tally.empty(len(net.roles), len(net.goals), len(net.base))
    _playouts(small, run, count, max_steps, streams(seed, 1), tally)
    return Playouts.of_net(net, tally, seed)


def _words(state: bytes) -> Words:
    """Return a state as words that are not read-only, so that one kernel serves these and the rows of an array."""
    return np.frombuffer(bytearray(state), dtype=np.uint64)
