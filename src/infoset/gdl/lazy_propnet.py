"""Positions of a ground game, made on request: states as rows of bits, 64 to a word, as in random playouts.

Edges are asked for in batches.  Each joint move, with each outcome of chance, is one bit of every row of the network.
The states that follow are numbered, and new ones are evaluated in the same way: whether they are terminal, the legal
moves, the payoffs.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from infoset.base import Action, FloatArray, IntArray, LongArray, ObservationRecord
from infoset.gdl.parallel import CACHE_WORDS, MAX_WORDS, Net, all_false, evaluate_gates, playouts_from, set_bits
from infoset.gdl.positions import NO_ROLE, Interned
from infoset.gdl.propnet import NEXT, NO_NODE, PLAY
from infoset.gdl.rules import GdlRules, GdlState
from infoset.gdl.scalar import ScalarEvaluator
from infoset.gdl.tally import WORD, num_words
from infoset.interning import Rows, intern, longer
from infoset.jit import inner_kernel, kernel, linked_kernel, lowest_one
from infoset.randomness import Words
from infoset.tree.graph import CHANCE, NO_RECORD
from infoset.tree.lazy_graph import NO_ACTION_SET, OUTSIDE, PAYOFFS, STATES, LazyGraph, add_position, begin_state

MANY = 64  # outcomes of chance beyond which they are asked for one by one, and equal ones are not merged
ANSWERS = 2000  # outcomes of chance, in all, for edges that are asked for at once
MAX_PLAYOUT = 1000  # steps
ONE = np.uint64(1)


class Shape(NamedTuple):
    """The roles of the game, and the players' observations."""

    seats: LongArray  # (n,) the roles that are players
    random: int  # chance's role, or NO_ROLE
    open: bool  # everyone sees the joint move
    offers: LongArray  # (n,) 1 for players who observe their legal moves
    goal_values: LongArray  # (G,)
    first_percept: LongArray  # (roles + 1,)


@kernel
def _count_answers(g, chance_outcome, interned, edges):
    """Return how many joint moves edges stand for: one for each outcome of chance."""
    count = 0
    for edge in edges:
        p = g.source[edge]
        action_set = chance_outcome[g.state[p]]
        answers = 1
        if g.player[p] != CHANCE and action_set != NO_ACTION_SET:
            answers = interned.action_sets.begin[action_set + 1] - interned.action_sets.begin[action_set]
        count += answers if answers <= MANY else 1
    return count


@kernel
def _deal(g, shape, chance_outcome, action_sets, edges, edge_of, state_of, moves):
    """Write the joint moves of edges, and return how many there are.

    Where chance has too many outcomes, a chance position is made that asks for each, and no joint move.
    """
    count = 0
    joint = np.zeros(moves.shape[1], dtype=np.int32)
    for edge in edges:
        p, e = np.int64(g.source[edge]), np.int64(edge)
        s, last = g.state[p], p
        action_set = chance_outcome[s]
        while True:
            move = action_sets.data[action_sets.begin[g.content[p]] + e - g.first[p]]
            joint[shape.random if g.player[p] == CHANCE else shape.seats[g.player[p]]] = move
            e = np.int64(g.via[p])
            if e == OUTSIDE:
                break
            p = np.int64(g.source[e])
        first, answers = 0, 1
        if action_set != NO_ACTION_SET and g.player[last] != CHANCE:
            first, answers = (
                action_sets.begin[action_set],
                action_sets.begin[action_set + 1] - action_sets.begin[action_set],
            )
        if answers > MANY:
            p = add_position(g, CHANCE, action_set, answers, s, edge)
            for k in range(g.first[p], g.first[p] + answers):
                g.probability[k] = 1.0 / answers
            g.child[edge] = p
            continue
        for a in range(answers):
            edge_of[count], state_of[count] = edge, s
            for role in range(len(joint)):
                moves[count, role] = joint[role]
            if action_set != NO_ACTION_SET and g.player[last] != CHANCE:
                moves[count, shape.random] = action_sets.data[first + a]
            count += 1
    return count


@inner_kernel
def _load_states(states, numbers, rows, size):
    """Load states into the lanes of rows, which are cleared first."""
    for k in range(1, 1 + size):
        for w in range(rows.shape[1]):
            rows[k, w] = 0
    width = states.begin[1] - states.begin[0]
    for lane in range(len(numbers)):
        first = numbers[lane] * width
        set_bits(rows, 1, lane >> 6, lane & 63, states.data[first : first + width].view(np.uint64))


@linked_kernel
def _literal(rows, literal, w, lanes):
    """Return the bits of a literal in a word, limited to ``lanes`` lanes."""
    bits = rows[literal >> 1, w] ^ (np.uint64(0) - np.uint64(literal & 1))
    return bits & ((ONE << np.uint64(lanes)) - ONE) if lanes < 64 else bits


@kernel
def _make_moves(net, states, rows, numbers, moves, after, seen, num_seen):
    """Write the states that follow from joint moves, and everybody's percepts; at most one move for each lane."""
    lanes = len(numbers)
    _load_states(states, numbers, rows, len(net.following))
    for k in range(len(net.does)):
        if net.does[k] != NO_NODE:
            for w in range(rows.shape[1]):
                rows[net.does[k], w] = 0
    for lane in range(lanes):
        for role in range(moves.shape[1]):
            node = net.does[moves[lane, role]]
            if node != NO_NODE:
                rows[node, lane >> 6] |= ONE << np.uint64(lane & 63)
    evaluate_gates(net.kind, net.first_input, net.inputs, net.loops, rows, net.stage_begin[PLAY], len(net.kind))
    after[:] = 0
    for w in range((lanes + 63) >> 6):
        inside = min(64, lanes - (w << 6))
        for k in range(len(net.following)):
            bits = _literal(rows, net.following[k], w, inside)
            while bits:
                after[(w << 6) + np.int64(lowest_one(bits)), k >> 6] |= ONE << np.uint64(k & 63)
                bits &= bits - ONE
        for k in range(len(net.sees)):
            bits = _literal(rows, net.sees[k], w, inside)
            while bits:
                lane = (w << 6) + int(lowest_one(bits))
                seen[lane, num_seen[lane]] = k
                num_seen[lane] += 1
                bits &= bits - ONE


@kernel
def _number_states(states, after, child, fresh):
    """Assign numbers to the states that follow; write new numbers to ``fresh`` and return how many these are."""
    count = 0
    for j in range(len(after)):
        known = states.size[0]
        child[j] = intern(states, after[j].view(np.int64))
        if child[j] == known:
            fresh[count] = known
            count += 1
    return count


@inner_kernel
def _read_action_sets(first_move, legal, rows, w, inside, over, action_sets, content, choices, stuck):
    """Read the action sets of all roles in the lanes of a word that are not ``over``.

    Return these lanes together with those in which somebody has no move.
    """
    most = 0
    for role in range(len(first_move) - 1):
        most = max(most, int(first_move[role + 1] - first_move[role]))
    action_set, size = np.empty((64, most), dtype=np.int64), np.empty(64, np.int64)
    for role in range(len(first_move) - 1):
        size[:] = 0
        for k in range(first_move[role], first_move[role + 1]):
            bits = _literal(rows, legal[k], w, inside)
            while bits:
                lane = int(lowest_one(bits))
                action_set[lane, size[lane]] = k
                size[lane] += 1
                bits &= bits - ONE
        for lane in range(inside):
            if over >> np.uint64(lane) & ONE:
                continue
            if size[lane]:
                content[lane, role] = intern(action_sets, action_set[lane, : size[lane]])
                choices[content[lane, role]] = size[lane]
            else:
                stuck[role] += 1
                over |= ONE << np.uint64(lane)
    return over


@inner_kernel
def _read_goals(seats, first_goal, goals, goal_values, rows, w, inside, payoff):
    """Read everybody's payoffs in the lanes of a word: the first of several goals that hold."""
    payoff[:] = 0
    for p in range(len(seats)):
        for k in range(np.int64(first_goal[seats[p] + 1]) - 1, np.int64(first_goal[seats[p]]) - 1, -1):
            bits = _literal(rows, goals[k], w, inside)
            while bits:
                payoff[np.int64(lowest_one(bits)), p] = goal_values[k]
                bits &= bits - ONE


@linked_kernel
def _payoff_row(g, payoffs, row):
    """Return the number of a row of payoffs."""
    found = intern(payoffs, row)
    if found == g.filled[PAYOFFS]:
        for p in range(len(row)):
            g.payoffs[found, p] = row[p]
        g.filled[PAYOFFS] += 1
    return found


@kernel
def _look_at(g, net, shape, chance_outcome, interned, rows, numbers, stuck):
    """Evaluate new states: the payoffs of terminal ones, everybody's action sets in others; at most one for each lane.

    A state that is not terminal but in which somebody has no move is treated as terminal, and counted.
    """
    lanes, roles, n = len(numbers), len(net.first_move) - 1, len(shape.seats)
    _load_states(interned.states, numbers, rows, len(net.following))
    evaluate_gates(net.kind, net.first_input, net.inputs, net.loops, rows, net.stage_begin[PLAY], net.stage_begin[NEXT])
    content, payoff = np.empty((64, roles), np.int64), np.empty((64, n), np.int64)
    for w in range((lanes + 63) >> 6):
        inside = min(64, lanes - (w << 6))
        over = _literal(rows, net.terminal, w, inside)
        over = _read_action_sets(
            net.first_move, net.legal, rows, w, inside, over, interned.action_sets, content, g.choices, stuck
        )
        _read_goals(shape.seats, net.first_goal, net.goals, shape.goal_values, rows, w, inside, payoff)
        for lane in range(inside):
            s = numbers[(w << 6) + lane]
            ends, found = (over >> np.uint64(lane)) & ONE, np.int64(0)
            chance_outcome[s] = NO_ACTION_SET
            for p in range(n):
                g.action_sets[s, p] = NO_ACTION_SET if ends else content[lane, shape.seats[p]]
            if ends:
                found = _payoff_row(g, interned.payoffs, payoff[lane])
            elif shape.random != NO_ROLE:
                chance_outcome[s] = content[lane, shape.random]
            g.at[s] = begin_state(g, s, ends != 0, found, np.int64(0))
            g.filled[STATES] += 1


@kernel
def _tell(g, shape, interned, moves, seen, num_seen, child, record):
    """Write the players' records of joint moves."""
    n = len(shape.seats)
    row, pair = np.empty(seen.shape[1] + moves.shape[1] + 2, dtype=np.int64), np.empty(2, dtype=np.int64)
    for j in range(len(moves)):
        k = 0
        for p in range(n):
            role, size = shape.seats[p], 0
            if shape.open:
                for other in range(moves.shape[1]):
                    row[other] = moves[j, other]
                size = moves.shape[1]
            else:
                while k < num_seen[j] and seen[j, k] < shape.first_percept[role]:
                    k += 1
                while k < num_seen[j] and seen[j, k] < shape.first_percept[role + 1]:
                    row[size] = seen[j, k]
                    size += 1
                    k += 1
            offered = g.action_sets[child[j], p]
            if shape.offers[p] and offered != NO_ACTION_SET:
                row[size], row[size + 1] = -1, offered
                size += 2
            pair[0], pair[1] = moves[j, role], intern(interned.percepts, row[:size])
            record[j, p] = intern(interned.records, pair)


@kernel
def _link(g, chance_outcome, edge, state, child, record):
    """Connect the edges of joint moves to the states that follow.

    They lead there directly, or through a chance position, in which equal outcomes are merged.
    """
    n, j = record.shape[1], 0
    while j < len(edge):
        last = j
        while last < len(edge) and edge[last] == edge[j]:
            last += 1
        count = 0  # the first of each set of equal outcomes, moved to the front
        weight = np.zeros(last - j)
        place = np.zeros(last - j, dtype=np.int64)
        for k in range(j, last):
            found = -1
            for other in range(count):
                same = child[place[other]] == child[k]
                for p in range(n):
                    same = same and record[place[other], p] == record[k, p]
                if same:
                    found = other
                    break
            if found < 0:
                place[count] = k
                found = count
                count += 1
            weight[found] += 1.0
        e = edge[j]
        if count > 1:
            chance = add_position(g, CHANCE, chance_outcome[state[j]], count, state[j], e)
            g.child[e] = chance
            e = g.first[chance]
        for k in range(count):
            g.child[e + k] = g.at[child[place[k]]]
            if count > 1:
                g.probability[e + k] = weight[k] / (last - j)
            for p in range(n):
                g.record[e + k, p] = record[place[k], p]
        j = last


def _offers(percept: object) -> bool:
    """Return whether a percept tells the legal moves."""
    return isinstance(percept, tuple) and len(percept) > 1 and percept[0] == "offered"


class GroundSource:
    """The rules of a described game that grounds.

    ``stuck`` counts, by role, the states that are not terminal but in which it has no move; they are treated as
    terminal.
    """

    bounded = True

    def __init__(self, rules: GdlRules) -> None:
        assert isinstance(rules.evaluator, ScalarEvaluator)
        self.rules, self.evaluator, self.propnet = rules, rules.evaluator, rules.evaluator.propnet
        self.open = rules.open
        net = self.propnet
        self.net = Net.of(net)
        self.shape = Shape(
            np.array(rules.seats, dtype=np.int64),
            NO_ROLE if rules.random is None else rules.random,
            rules.open,
            np.array(rules.offers, dtype=np.int64),
            net.goal_values.astype(np.int64),
            net.first_percept.astype(np.int64),
        )
        self.width = num_words(len(net.base))
        self.most_words = max(1, min(MAX_WORDS, CACHE_WORDS // len(net)))
        self.rows = {words: all_false(net, words) for words in {1, self.most_words}}
        self.interned = Interned(*[Rows.empty() for _ in Interned._fields])
        self.chance_outcome: IntArray = np.zeros(0, dtype=np.int32)
        self.stuck = np.zeros(len(net.roles), dtype=np.int64)
        self.broken = 0

    def start(self, graph: LazyGraph) -> tuple[int, ...]:
        """Make the initial state and return everybody's records: nobody observes anything before the first move."""
        self._room(graph, 1)
        intern(self.interned.states, self.evaluator.net.initial.view(np.int64))
        self._look(graph, np.zeros(1, dtype=np.int64))
        return (NO_RECORD,) * len(self.shape.seats)

    @property
    def offered(self) -> Rows:
        """The moves of all action sets, as the network numbers them."""
        return self.interned.action_sets

    def _room(self, graph: LazyGraph, joint: int) -> None:
        """Make room for ``joint`` more joint moves and the states after them."""
        i, roles, n = self.interned, len(self.propnet.roles), len(self.shape.seats)
        percepts = max(int(np.diff(self.shape.first_percept).max(initial=0)), roles) + 2
        moves = int(np.diff(self.net.first_move).max(initial=1))
        self.interned = Interned(
            states=i.states.with_room(joint, joint * self.width),
            action_sets=i.action_sets.with_room(joint * roles, joint * roles * min(moves, 4 * graph.widest() + 16)),
            payoffs=i.payoffs.with_room(joint, joint * n),
            percepts=i.percepts.with_room(joint * n, joint * n * percepts),
            records=i.records.with_room(joint * n, joint * n * 2),
        )
        self.chance_outcome = longer(self.chance_outcome, int(i.states.size[0]) + joint)

    def ask(self, graph: LazyGraph, edges: LongArray) -> None:
        lanes = WORD * self.most_words
        parts = [edges[begin : begin + lanes] for begin in range(0, len(edges), lanes)]
        while parts:
            graph.clock()
            part = parts.pop(0)
            count = int(_count_answers(graph.arrays, self.chance_outcome, self.interned, part))
            if count > ANSWERS and len(part) > 1:  # so that earlier results are kept where the clock ends the rest
                half = len(part) // 2
                parts[:0] = [part[:half], part[half:]]
            else:
                self._ask(graph, part, count)

    def _ask(self, graph: LazyGraph, edges: LongArray, count: int) -> None:
        """Ask for a few edges, whose outcomes number ``count`` at most."""
        answers = max(graph.widest(), MANY) if self.shape.random != NO_ROLE else 1
        g = graph.room(len(edges), len(edges) * answers)
        edge, state = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        moves = np.zeros((count, len(self.propnet.roles)), dtype=np.int32)
        count = int(_deal(g, self.shape, self.chance_outcome, self.interned.action_sets, edges, edge, state, moves))
        edge, state, moves = edge[:count], state[:count], moves[:count]
        if not count:
            return
        self._room(graph, count)
        after = np.zeros((count, self.width), dtype=np.uint64)
        seen = np.zeros((count, len(self.net.sees)), dtype=np.int32)
        num_seen = np.zeros(count, dtype=np.int32)
        lanes = WORD * self.most_words
        for begin in range(0, count, lanes):
            part = slice(begin, begin + lanes)
            rows = self._rows(min(lanes, count - begin))
            graph.clock()
            made = after[part], seen[part], num_seen[part]
            _make_moves(self.net, self.interned.states, rows, state[part], moves[part], *made)
        child = self._number(graph, after)
        record = np.zeros((count, len(self.shape.seats)), dtype=np.int64)
        g = graph.room(len(edges), count)
        _tell(g, self.shape, self.interned, moves, seen, num_seen, child, record)
        _link(g, self.chance_outcome, edge, state, child, record)

    def _number(self, graph: LazyGraph, words: Words) -> LongArray:
        """Return the numbers of states, after evaluating new ones; states that could not be evaluated are not kept."""
        numbers, fresh = np.zeros(len(words), dtype=np.int64), np.zeros(len(words), dtype=np.int64)
        try:
            self._look(graph, fresh[: _number_states(self.interned.states, words, numbers, fresh)])
        except BaseException:
            self.interned.states.cut(int(graph.arrays.filled[STATES]))
            raise
        return numbers

    def take_over(self, graph: LazyGraph, other: Any, states: LongArray) -> LongArray:
        """Return the positions at which steps begin in states (K,) that another source of the game has numbered."""
        self._room(graph, len(states))
        numbers = self._number(graph, other.interned.states.table(self.width)[states].view(np.uint64))
        return graph.arrays.at[numbers].astype(np.int64)

    @property
    def nbytes(self) -> int:
        """The bytes in use."""
        return sum(rows.nbytes for rows in self.interned) + 4 * int(self.interned.states.size[0])

    def _rows(self, lanes: int) -> Words:
        return self.rows[1 if lanes <= WORD else self.most_words]

    def _look(self, graph: LazyGraph, numbers: LongArray) -> None:
        lanes = WORD * self.most_words
        for begin in range(0, len(numbers), lanes):
            graph.clock()
            part = numbers[begin : begin + lanes]
            widest = int(np.diff(self.net.first_move).max(initial=1))
            action_sets = int(self.interned.action_sets.size[0]) + len(part) * len(self.propnet.roles)
            g = graph.room(len(part), len(part) * widest, len(part), action_sets)
            _look_at(
                g, self.net, self.shape, self.chance_outcome, self.interned, self._rows(len(part)), part, self.stuck
            )

    def action_set(self, number: int) -> tuple[Action, ...]:
        """Return the moves of an action set."""
        action_sets = self.interned.action_sets
        return tuple(
            [
                self.evaluator.actions[k]
                for k in action_sets.data[action_sets.begin[number] : action_sets.begin[number + 1]]
            ]
        )

    def state(self, number: int) -> GdlState:
        """Return the state of a number."""
        words = self.interned.states.data[number * self.width : (number + 1) * self.width]
        return GdlState(self.rules, words.tobytes())

    def record(self, number: int) -> ObservationRecord:
        """Return the record of a number."""
        move, row = self.interned.records.data[2 * number : 2 * number + 2].tolist()
        return self.evaluator.actions[move], self._seen(row)

    def record_number(self, player: int, record: ObservationRecord) -> int:
        """Return the number of a player's record; ``NO_RECORD`` where it is not possible."""
        # make room for a record that was observed
        words = len(self.propnet.roles) + 2 + len(self.propnet.percepts)
        i = self.interned
        self.interned = i._replace(
            action_sets=i.action_sets.with_room(1, len(self.propnet.moves)),
            percepts=i.percepts.with_room(1, words),
            records=i.records.with_room(1, 2),
        )
        role = int(self.shape.seats[player])
        move = self.evaluator.number[role].get(record[0])  # type: ignore[arg-type]
        row = self._row_of(role, record[1])
        if move is None or row is None:
            return NO_RECORD
        percepts = int(intern(self.interned.percepts, np.array(row, dtype=np.int64)))
        return int(intern(self.interned.records, np.array([move, percepts], dtype=np.int64)))

    def _row_of(self, role: int, seen: Any) -> list[int] | None:
        """Return percepts, or a joint move, as their numbers."""
        if not isinstance(seen, tuple):
            return None
        if self.shape.open:
            found = [number.get(move) for number, move in zip(self.evaluator.number, seen, strict=False)]
            return None if None in found or len(found) != len(self.evaluator.roles) else found  # type: ignore[return-value]
        percepts = [self.percept_number[role].get(each) for each in seen if not _offers(each)]
        if None in percepts:
            return None
        for each in filter(_offers, seen):
            action_set = [self.evaluator.number[role].get(move) for move in each[1:]]
            if None in action_set:
                return None
            percepts += [-1, int(intern(self.interned.action_sets, np.array(action_set, dtype=np.int64)))]
        return percepts  # type: ignore[return-value]

    @cached_property
    def percept_number(self) -> list[dict[Action, int]]:
        """The numbers of every role's percepts."""
        first, words = self.shape.first_percept.tolist(), self.evaluator.percepts
        return [{words[k]: k for k in range(begin, end)} for begin, end in pairwise(first)]

    def _seen(self, row: int) -> tuple[Action, ...]:
        rows = self.interned.percepts
        numbers = rows.data[rows.begin[row] : rows.begin[row + 1]].tolist()
        words = self.evaluator.actions if self.shape.open else self.evaluator.percepts
        if len(numbers) > 1 and numbers[-2] == -1:
            return (*[words[k] for k in numbers[:-2]], ("offered", *self.action_set(numbers[-1])))
        return tuple([words[k] for k in numbers])

    def playouts(self, graph: LazyGraph, positions: LongArray, each: int, seed: int) -> FloatArray:
        """Return mean payoffs (K, n) of ``each`` random playouts from positions (K,) at which a step begins."""
        states = self.interned.states
        words = states.data[: int(states.size[0]) * self.width].view(np.uint64).reshape(-1, self.width)
        starts, g = graph.arrays.state[positions].astype(np.int64), graph.arrays
        action_sets = g.action_sets[starts]
        turns = np.argmax(np.where(action_sets == NO_ACTION_SET, 0, g.choices[action_sets]) > 1, axis=1)
        found, broken = playouts_from(self.propnet, self.rules.seats, words, starts, turns, each, seed, MAX_PLAYOUT)
        self.broken += broken
        return found

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest possible payoff."""
        values = self.propnet.goal_values
        return float(min(0, values.min(initial=0))), float(values.max(initial=0))
