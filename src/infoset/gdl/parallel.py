"""Random playouts of a propositional network, 64 of them to a machine word, bit by bit in parallel.

A *row* holds one bit per play for one node.  A gate takes one word operation per input for 64 plays, and rows are
several words long so that the processor's vector units are used.  The uniform choice among legal moves works on words,
too: the number of legal moves is counted into bit planes, a random number below it is drawn by rejection in all plays
at once, and the move at which that number has counted down to zero is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import BudgetError
from infoset.gdl.propnet import AND, GOALS, NEXT, NO_NODE, PLAY, SEES, PropNet
from infoset.gdl.tally import MAX_STEPS, UNFINISHED, WORD, Playouts, Tally, add_length, add_stuck
from infoset.jit import borrowing, count_ones, inner_kernel, kernel, linked_kernel, lowest_one
from infoset.randomness import Words, generators, next_row

MAX_WORDS = 32  # words in a row: 2048 plays in parallel
CACHE_WORDS = 1 << 17  # words of the rows of all nodes together: 1 MiB, as a second-level cache holds
BATCHES = 64
NEVER = np.iinfo(np.int64).max
ONE, FULL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


class Net(NamedTuple):
    """The input of the kernels: see ``PropNet`` for the arrays of the same names."""

    kind: npt.NDArray[np.uint8]
    first_input: IntArray
    inputs: IntArray
    loops: IntArray
    stage_begin: IntArray
    initial: npt.NDArray[np.bool_]
    following: IntArray
    first_move: IntArray
    does: IntArray
    legal: IntArray
    terminal: int
    first_goal: IntArray
    goals: IntArray
    goal_values: IntArray
    sees: IntArray

    @classmethod
    def of(cls, net: PropNet) -> Net:
        return cls(*(getattr(net, name) for name in cls._fields))


@linked_kernel
@borrowing
def _mask(literal):
    """Return all ones for a negated literal, else zero."""
    return np.uint64(0) - np.uint64(literal & 1)


@linked_kernel
@borrowing
def _gate(kind, first_input, inputs, rows, node):
    """Compute the row of one gate."""
    begin, end = first_input[node], first_input[node + 1]
    target, mask, source = rows[node], _mask(inputs[begin]), rows[inputs[begin] >> 1]
    for w in range(len(target)):
        target[w] = source[w] ^ mask
    for k in range(begin + 1, end):
        mask, source = _mask(inputs[k]), rows[inputs[k] >> 1]
        if kind[node] == AND:
            for w in range(len(target)):
                target[w] &= source[w] ^ mask
        else:
            for w in range(len(target)):
                target[w] |= source[w] ^ mask


@kernel
def evaluate_gates(kind, first_input, inputs, loops, rows, begin, end):
    """Compute the rows of the gates from ``begin`` to ``end``; loops rise from all false to their least fixpoint."""
    node, loop = begin, 0
    while node < end:
        while loop < len(loops) and loops[loop, 0] < node:
            loop += 1
        if loop == len(loops) or loops[loop, 0] != node:
            _gate(kind, first_input, inputs, rows, node)
            node += 1
            continue
        node = loops[loop, 1]
        _rise(kind, first_input, inputs, rows, loops[loop, 0], node)


@inner_kernel
def _rise(kind, first_input, inputs, rows, begin, end):
    """Compute the least fixpoint of a loop: all false at first, raised until nothing changes."""
    for node in range(begin, end):
        for w in range(rows.shape[1]):
            rows[node, w] = 0
    before = np.zeros(rows.shape[1], np.uint64)
    grown = True
    while grown:
        grown = False
        for node in range(begin, end):
            for w in range(len(before)):
                before[w] = rows[node, w]
            _gate(kind, first_input, inputs, rows, node)
            for w in range(len(before)):
                grown |= rows[node, w] != before[w]


@linked_kernel
@borrowing
def _empty(row):
    """Return whether no bit of a row is set."""
    found = np.uint64(0)
    for w in range(len(row)):
        found |= row[w]
    return found == 0


@inner_kernel
@borrowing
def _count(legal, rows, active, planes, carry):
    """Count the legal moves in each active play into bit planes, the lowest first; return how many planes are used."""
    planes[0] = 0
    used = 1
    for k in range(len(legal)):
        mask, source = _mask(legal[k]), rows[legal[k] >> 1]
        for w in range(len(carry)):
            carry[w] = (source[w] ^ mask) & active[w]
        for p in range(used):
            plane = planes[p]
            for w in range(len(carry)):
                old = plane[w]
                plane[w] = old ^ carry[w]
                carry[w] &= old
        if not _empty(carry):
            for w in range(len(carry)):
                planes[used, w] = carry[w]
            used += 1
    return used


@linked_kernel
@borrowing
def _bound(planes, limit, masks, none):
    """Write the largest number allowed (the count less one), its mask of all lower bits, and plays with count zero."""
    none[:] = FULL
    for p in range(len(planes)):
        for w in range(len(none)):
            limit[p, w] = planes[p, w] ^ none[w]
            none[w] &= ~planes[p, w]
    for p in range(len(planes) - 1, -1, -1):
        for w in range(len(none)):
            masks[p, w] = limit[p, w] | (masks[p + 1, w] if p + 1 < len(planes) else np.uint64(0))


@inner_kernel
@borrowing
def _draw(limit, masks, drawn, trial, pending, greater, equal, noise, generator):
    """Draw a uniform number up to ``limit`` for every pending play, as bit planes, by rejection.

    Each trial has as many bits as ``limit``, so more than every second one is accepted.
    """
    some = True
    while some:
        greater[:] = 0
        equal[:] = FULL
        for p in range(len(limit) - 1, -1, -1):
            next_row(generator, noise)
            for w in range(len(noise)):
                bit, bound = noise[w] & masks[p, w], limit[p, w]
                trial[p, w] = bit
                greater[w] |= equal[w] & bit & ~bound
                equal[w] &= ~(bit ^ bound)
        for p in range(len(limit)):
            for w in range(len(noise)):
                drawn[p, w] ^= (drawn[p, w] ^ trial[p, w]) & pending[w]
        left = np.uint64(0)
        for w in range(len(noise)):
            pending[w] &= greater[w]
            left |= pending[w]
        some = left != 0


@inner_kernel
@borrowing
def _take(legal, does, rows, active, drawn, line):
    """Make the legal move at which the drawn number has counted down to zero."""
    for k in range(len(legal)):
        mask, source = _mask(legal[k]), rows[legal[k] >> 1]
        line[:] = 0
        for p in range(len(drawn)):
            for w in range(len(line)):
                line[w] |= drawn[p, w]
        if does[k] != NO_NODE:
            target = rows[does[k]]
            for w in range(len(line)):
                target[w] = (source[w] ^ mask) & ~line[w] & active[w]
        for w in range(len(line)):
            line[w] = source[w] ^ mask
        for p in range(len(drawn)):
            plane = drawn[p]
            for w in range(len(line)):
                old = plane[w]
                plane[w] = old ^ line[w]
                line[w] &= ~old


@inner_kernel
@borrowing
def _take_only(legal, does, rows, active):
    """Make the only legal move."""
    for k in range(len(legal)):
        if does[k] != NO_NODE:
            mask, source, target = _mask(legal[k]), rows[legal[k] >> 1], rows[does[k]]
            for w in range(len(active)):
                target[w] = (source[w] ^ mask) & active[w]


@inner_kernel
@borrowing
def _choose(legal, does, rows, active, planes, lines, generator):
    """Make a uniform legal move of one role in every active play; plays without one are stuck and no longer active.

    Return whether any are stuck: their bits are in ``lines[0]``.
    """
    stuck, pending = lines[0], lines[1]
    used = _count(legal, rows, active, planes[0], pending)
    count, limit, masks, trial, drawn = (
        planes[0, :used],
        planes[1, :used],
        planes[2, :used],
        planes[3, :used],
        planes[4, :used],
    )
    _bound(count, limit, masks, stuck)
    left = np.uint64(0)
    for w in range(len(active)):
        stuck[w] &= active[w]
        pending[w] = active[w] ^ stuck[w]
        left |= stuck[w]
    if left:
        for w in range(len(active)):
            active[w] = pending[w]
    if used == 1:
        _take_only(legal, does, rows, active)
        return left != 0
    _draw(limit, masks, drawn, trial, pending, lines[2], lines[3], lines[4], generator)
    _take(legal, does, rows, active, drawn, lines[2])
    return left != 0


@inner_kernel
@borrowing
def _score(first_goal, goals, rows, done, lines, tally):
    """Count the goal values of the plays that are done; of several, the first."""
    found, again = lines[0], lines[1]
    for role in range(len(tally.none)):
        found[:] = 0
        again[:] = 0
        for k in range(first_goal[role], first_goal[role + 1]):
            mask, source = _mask(goals[k]), rows[goals[k] >> 1]
            for w in range(len(done)):
                hit = (source[w] ^ mask) & done[w]
                again[w] |= hit & found[w]
                tally.goals[k] += np.int64(count_ones(hit & ~found[w]))
                found[w] |= hit
        for w in range(len(done)):
            tally.none[role] += np.int64(count_ones(done[w] & ~found[w]))
            tally.several[role] += np.int64(count_ones(again[w]))


@linked_kernel
@borrowing
def _measure(done, began, step, tally):
    """Add the lengths of the plays that are done."""
    for w in range(len(done)):
        bits = done[w]
        while bits:
            add_length(tally, step - began[w * 64 + np.int64(lowest_one(bits))])
            bits &= bits - ONE


@inner_kernel
@borrowing
def _restart(done, running, left, began, step):
    """Begin new plays in place of those that are done, while some are left to begin, and return how many are left then.

    ``done`` keeps the bits of the plays begun, and ``running`` loses the others.
    """
    for w in range(len(done)):
        bits = done[w]
        while bits:
            lane = np.int64(lowest_one(bits))
            if left:
                left -= 1
                began[w * 64 + lane] = step + 1
            else:
                done[w] ^= ONE << np.uint64(lane)
                running[w] ^= ONE << np.uint64(lane)
            bits &= bits - ONE
    return left


@inner_kernel
@borrowing
def _give_up(active, done, began, latest, tally):
    """Give up active plays that began at ``latest`` or before; return when the oldest of the others began."""
    oldest = np.int64(NEVER)
    for lane in range(len(began)):
        w, bit = lane >> 6, ONE << np.uint64(lane & 63)
        if active[w] & bit:
            if began[lane] <= latest:
                active[w] ^= bit
                done[w] |= bit
                tally.lengths[UNFINISHED] += 1
            else:
                oldest = min(oldest, began[lane])
    return oldest


@linked_kernel
@borrowing
def _note_stuck(role, stuck, rows, state, tally):
    """Count the plays in which a role is stuck; ``state`` is scratch space for the words of one state."""
    for w in range(len(stuck)):
        bits = stuck[w]
        while bits:
            lane = np.uint64(lowest_one(bits))
            if tally.stuck[role] == 0:
                _read_state(rows, w, lane, state)
            add_stuck(tally, role, state)
            bits &= bits - ONE


@linked_kernel
@borrowing
def _read_state(rows, w, lane, state):
    """Read the state of one play as words, from the propositions' rows."""
    state[:] = 0
    for k in range(len(rows)):
        state[k >> 6] |= ((rows[k, w] >> lane) & ONE) << np.uint64(k & 63)


@kernel
def _playouts(net, rows, count, max_steps, generator, tally):
    """Make ``count`` random plays in parallel; one that ends or is stuck makes room for the next."""
    kind, first_input, inputs, loops, stage = net.kind, net.first_input, net.inputs, net.loops, net.stage_begin
    words, size = rows.shape[1], len(net.following)
    running, active, done = np.zeros(words, np.uint64), np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    lines, after = np.zeros((5, words), np.uint64), np.zeros((size, words), np.uint64)
    state = np.zeros(tally.stuck_at.shape[1], np.uint64)
    most = 0
    for role in range(len(net.first_move) - 1):
        most = max(most, net.first_move[role + 1] - net.first_move[role])
    planes = np.zeros((5, _num_planes(most), words), np.uint64)
    began = np.zeros(words * 64, dtype=np.int64)
    left = count
    for lane in range(min(count, words * 64)):
        running[lane >> 6] |= ONE << np.uint64(lane & 63)
        left -= 1
    for k in range(size):
        for w in range(words):
            rows[1 + k, w] = FULL if net.initial[k] else np.uint64(0)
    step, oldest = 0, 0
    while not _empty(running):
        evaluate_gates(kind, first_input, inputs, loops, rows, stage[PLAY], stage[GOALS])
        mask, terminal = _mask(net.terminal), rows[net.terminal >> 1]
        for w in range(words):
            done[w] = (terminal[w] ^ mask) & running[w]
            active[w] = running[w] & ~done[w]
        if not _empty(done):
            evaluate_gates(kind, first_input, inputs, loops, rows, stage[GOALS], stage[NEXT])
            _score(net.first_goal, net.goals, rows, done, lines, tally)
            _measure(done, began, step, tally)
        if step - oldest >= max_steps:
            oldest = min(step, _give_up(active, done, began, step - max_steps, tally))
        left = _restart(done, running, left, began, step)
        for role in range(len(net.first_move) - 1):
            begin, end = net.first_move[role], net.first_move[role + 1]
            own = planes[:, : _num_planes(end - begin)]
            if _choose(net.legal[begin:end], net.does[begin:end], rows, active, own, lines, generator):
                _note_stuck(role, lines[0], rows[1 : 1 + size], state, tally)
                left = _restart(lines[0], running, left, began, step)
                for w in range(words):
                    done[w] |= lines[0, w]
        evaluate_gates(kind, first_input, inputs, loops, rows, stage[NEXT], stage[SEES])
        _latch(net.following, net.initial, rows, active, done, after)
        step += 1


@linked_kernel
@borrowing
def set_bits(rows, first, w, lane, words):
    """Set one lane's bit in the rows, from ``first`` on, of the bits that are set in ``words``."""
    bit = ONE << np.uint64(lane)
    for k in range(len(words)):
        bits, begin = words[k], first + (k << 6)
        while bits:
            rows[begin + np.int64(lowest_one(bits)), w] |= bit
            bits &= bits - ONE


@inner_kernel
@borrowing
def _fill(rows, states, starts, each, queue, running, of, began, step):
    """Begin plays of a queue in free lanes, from its first place on; ``each`` plays share a start."""
    for w in range(len(running)):
        free = ~running[w]
        while free and queue[0] < queue[1]:
            lane = np.int64(lowest_one(free))
            free &= free - ONE
            running[w] |= ONE << np.uint64(lane)
            start = queue[0] // each
            of[(w << 6) + lane], began[(w << 6) + lane] = start, step
            set_bits(rows, 1, w, lane, states[starts[start]])
            queue[0] += 1


@inner_kernel
@borrowing
def _latch_active(following, rows, active, after):
    """Write the next state in active plays, zeros elsewhere."""
    for k in range(len(following)):
        mask, source, target = _mask(following[k]), rows[following[k] >> 1], after[k]
        for w in range(len(active)):
            target[w] = (source[w] ^ mask) & active[w]
    for k in range(len(following)):
        for w in range(len(active)):
            rows[1 + k, w] = after[k, w]


@inner_kernel
@borrowing
def _credit(net, seat, rows, done, taken, of, sums):
    """Add the goal values of the plays that are done to the sums of their starts; of several goals, the first."""
    for role in range(len(seat)):
        if seat[role] < 0:
            continue
        taken[:] = 0
        for k in range(net.first_goal[role], net.first_goal[role + 1]):
            mask, source, value = _mask(net.goals[k]), rows[net.goals[k] >> 1], net.goal_values[k]
            for w in range(len(done)):
                hit = (source[w] ^ mask) & done[w] & ~taken[w]
                taken[w] |= hit
                while hit and value:
                    sums[of[(w << 6) + np.int64(lowest_one(hit))], seat[role]] += value
                    hit &= hit - ONE


@inner_kernel
@borrowing
def _choose_all(net, rows, active, stuck, planes, lines, generator):
    """Make a uniform legal move of every role in every active play; plays in which one has none become inactive."""
    stuck[:] = 0
    for role in range(len(net.first_move) - 1):
        begin, end = net.first_move[role], net.first_move[role + 1]
        own = planes[:, : _num_planes(end - begin)]
        if _choose(net.legal[begin:end], net.does[begin:end], rows, active, own, lines, generator):
            for w in range(len(stuck)):
                stuck[w] |= lines[0, w]


@linked_kernel
@borrowing
def _overdue(active, began, latest):
    """Take plays that began at ``latest`` or before out of the active ones; return whether there were any."""
    found = False
    for lane in range(len(began)):
        bit = ONE << np.uint64(lane & 63)
        if active[lane >> 6] & bit and began[lane] <= latest:
            active[lane >> 6] ^= bit
            found = True
    return found


@kernel
def _playouts_from(net, seat, rows, states, starts, queues, each, max_steps, generator, sums):
    """Make ``each`` random plays from every ``states[starts[k]]``; return how many broke off.

    Goal values are added up in ``sums`` (K, n).  A play that lasts too long, or in which somebody has no move, counts
    with its goal values at that state.  The plays of ``queues[q]`` (q, 2), from one play to another, begin at steps
    whose number has the remainder q: where players take turns, all lanes then have the same player to move, and the
    others cost nothing.
    """
    kind, first_input, inputs, loops, stage = net.kind, net.first_input, net.inputs, net.loops, net.stage_begin
    words, size, turns = rows.shape[1], len(net.following), len(queues)
    lines, after = np.zeros((5, words), np.uint64), np.zeros((size, words), np.uint64)
    running, active, done, stuck = (
        np.zeros(words, np.uint64),
        np.zeros(words, np.uint64),
        np.zeros(words, np.uint64),
        np.zeros(words, np.uint64),
    )
    most = 0
    for role in range(len(net.first_move) - 1):
        most = max(most, net.first_move[role + 1] - net.first_move[role])
    planes = np.zeros((5, _num_planes(most), words), np.uint64)
    of, began = np.zeros(words * 64, dtype=np.int64), np.zeros(words * 64, dtype=np.int64)
    step, idle, broken = 0, 0, 0
    while idle < turns:
        _fill(rows, states, starts, each, queues[step % turns], running, of, began, step)
        if _empty(running):
            step, idle = step + 1, idle + 1
            continue
        idle = 0
        evaluate_gates(kind, first_input, inputs, loops, rows, stage[PLAY], stage[GOALS])
        mask, terminal = _mask(net.terminal), rows[net.terminal >> 1]
        for w in range(words):
            done[w] = (terminal[w] ^ mask) & running[w]
            active[w] = running[w] & ~done[w]
        if step % 64 == 63 and _overdue(active, began, step - max_steps):
            for w in range(words):
                done[w] = running[w] & ~active[w]
        _choose_all(net, rows, active, stuck, planes, lines, generator)
        for w in range(words):
            done[w] |= stuck[w]
            broken += int(count_ones(stuck[w]))
        if not _empty(done):
            evaluate_gates(kind, first_input, inputs, loops, rows, stage[GOALS], stage[NEXT])
            _credit(net, seat, rows, done, lines[0], of, sums)
        evaluate_gates(kind, first_input, inputs, loops, rows, stage[NEXT], stage[SEES])
        _latch_active(net.following, rows, active, after)
        for w in range(words):
            running[w] &= ~done[w]
        step += 1
    return broken


@linked_kernel
@borrowing
def _num_planes(number):
    """Return how many bits a number has; at least one."""
    bits = 1
    while (1 << bits) <= number:
        bits += 1
    return bits


@linked_kernel
@borrowing
def _latch(following, initial, rows, active, fresh, after):
    """Write the next state in active plays, the initial state in fresh ones, zeros elsewhere."""
    for k in range(len(following)):
        mask, source, target = _mask(following[k]), rows[following[k] >> 1], after[k]
        begin = FULL if initial[k] else np.uint64(0)
        for w in range(len(active)):
            target[w] = (source[w] ^ mask) & active[w] | begin & fresh[w]
    for k in range(len(following)):
        for w in range(len(active)):
            rows[1 + k, w] = after[k, w]


def playouts(
    net: PropNet, count: int, seed: int = 0, max_steps: int = MAX_STEPS, clock: Callable[[], None] | None = None
) -> Playouts:
    """Make random plays, up to ``64 * MAX_WORDS`` in parallel.  The same arguments give the same figures.

    A ``clock`` (see ``infoset.clock.Clock``) is checked between batches of ``BATCHES`` plays a lane.
    """
    words = row_words(net, count)
    rows, tally = all_false(net, words), Tally.empty(len(net.roles), len(net.goals), len(net.base))
    arrays, streams = Net.of(net), generators(seed, words)
    batch = count if clock is None else BATCHES * WORD * words
    for done in range(0, count, batch):
        try:
            if clock is not None:
                clock()
        except BudgetError as error:
            return Playouts.of_net(net, tally, seed, str(error))
        _playouts(arrays, rows, min(batch, count - done), max_steps, streams, tally)
    return Playouts.of_net(net, tally, seed)


def playouts_from(
    net: PropNet, seats: tuple[int, ...], states: Words, starts: LongArray, turns: LongArray, each: int, seed: int,
    max_steps: int,
) -> tuple[FloatArray, int]:  # fmt: skip
    """Return the mean goal values (K, n) of ``seats`` over ``each`` random plays from ``states[starts]`` (K, B / 64).

    Also return how many plays came to a state in which somebody has no legal move; these count with their goal values
    there, and so do plays longer than about ``max_steps``.  The same arguments give the same figures.  The player to
    move at each start, ``turns`` (K,), only makes plays faster in games in which players take turns.
    """
    order = np.argsort(turns, kind="stable")
    words = row_words(net, len(starts) * each)
    rows, sums = all_false(net, words), np.zeros((len(starts), len(seats)))
    seat = np.full(len(net.roles), -1, dtype=np.int64)
    seat[list(seats)] = np.arange(len(seats))
    ends = each * np.searchsorted(turns[order], np.arange(len(seats) + 1))
    queues = np.column_stack([ends[:-1], ends[1:]]).astype(np.int64)
    streams = generators(seed, words)
    broken = _playouts_from(Net.of(net), seat, rows, states, starts[order], queues, each, max_steps, streams, sums)
    found = np.empty_like(sums)
    found[order] = sums / each
    return found, int(broken)


def row_words(net: PropNet, plays: int) -> int:
    """Return the length of rows for ``plays`` plays in parallel, as far as a cache holds the rows that are read."""
    return max(1, min(MAX_WORDS, CACHE_WORDS // int(net.stage_begin[SEES]), -(-plays // WORD)))


def all_false(net: PropNet, words: int) -> Words:
    """Return (N, words) rows in which only node 0 holds."""
    rows = np.zeros((len(net), words), dtype=np.uint64)
    rows[0] = FULL
    return rows
