"""The walk over all paths of cores, depth first, with one list of information states per player, in compiled code.

At a decision, the mover's list is extended by its excursions; the ends that follow form a block of lists and terms;
then each event is followed.  Where room runs short, the kernel reports what it needs, and continues once there is more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import Action, FloatArray, InformationState, IntArray, LongArray, ObservationRecord
from infoset.errors import BudgetError, GameRuleError
from infoset.interning import EMPTY, SPARE, Rows, find_slot, intern, longer, state_key
from infoset.jit import borrowing, inner_kernel, kernel, linked_kernel
from infoset.names import policy_key
from infoset.tree.factored_rules import FactoredRules
from infoset.tree.graph import CHANCE, EVERYBODY, NO_RECORD, TERMINAL
from infoset.tree.quotient_graph import canonical, everything, same_orbit, still_fixing
from infoset.tree.rule_arrays import NOTHING
from infoset.tree.symmetry import Group

NO_ROW = -1
DONE, MORE, BROKEN = range(3)
CORE, PLACE, PHASE, FIXING, LISTS = range(5)  # of a frame; from LISTS on, where each player's list begins and ends
EXTEND, PAY, LEAD = range(3)  # phases
DEPTH, TOP, BLOCKS, WRITTEN = range(4)  # counters; WRITTEN counts lists
STATES, HASHED, PLACES, SEQUENCES = range(4)  # of ``filled``; from SEQUENCES on one for each player
ROOM_STATES, ROOM_PLACES, ROOM_STACK, ROOM_FRAMES, ROOM_LISTS, ROOM_ENTRIES, NEEDS = range(7)
END, TIMES = range(2)  # words of a pattern for each end, before the first list of each player
ROOM = 1.05  # margin for entries, as symmetric paths can have more than their share; unwritten memory is free
MOST_WEIGHTS = np.iinfo(np.uint16).max
ALONE = -1  # an event that is not an end, or an end with no payoffs


class States(NamedTuple):
    """Information states: a tree of records in which player p starts in state p, with one state of each orbit."""

    slots: LongArray  # (a power of two, 2) key and number of the states that are not found through ``successors``
    successors: IntArray  # successors of a state with places here, for each move and each record of that move; 0: none
    place: LongArray  # where a state's places in ``successors`` begin, or NOTHING
    parent: IntArray
    record: IntArray
    fixing: LongArray  # the symmetries that leave the state unchanged, as bits
    first: IntArray  # its first sequence, numbered within its player's, or NO_ROW without a choice
    action_set: IntArray  # the action set of these moves
    sequence_at: IntArray  # the player's sequence that leads to the state
    turn: IntArray  # the element that maps the state's board to that of this sequence
    share: FloatArray  # the state's share of its orbit's realisation weight
    filled: LongArray  # (SEQUENCES + n,)

    @classmethod
    def empty(cls, n: int, group: Group) -> States:
        """Return the initial states of the players only."""
        i, k = np.zeros(0, np.int32), np.zeros(0, np.int64)
        slots, filled = np.full((1, 2), EMPTY, dtype=np.int64), np.ones(SEQUENCES + n, dtype=np.int64)
        filled[STATES] = filled[HASHED] = filled[PLACES] = 0
        states = cls(slots, i, k, i, i, k, i, i, i, i, np.zeros(0), filled).with_room(n, 0)
        for p in range(n):
            states.place[p] = NOTHING
            states.parent[p], states.record[p], states.fixing[p] = EMPTY, p, everything(group)
            states.first[p], states.action_set[p], states.sequence_at[p], states.share[p] = NO_ROW, NOTHING, 0, 1.0
        filled[STATES] = n
        return states

    def walked(self) -> States:
        """Return the states without the tables that only the walk needs."""
        nothing = np.zeros(0, np.int64)
        return self._replace(
            slots=np.full((1, 2), EMPTY, dtype=np.int64), successors=np.zeros(0, np.int32), place=nothing
        )

    def with_room(self, more: int, places: int) -> States:
        """Return the states with capacity for ``more`` states and ``places`` places, doubling it where needed."""
        known, hashed, placed = self.filled[[STATES, HASHED, PLACES]].tolist()
        slots = self.slots
        if (hashed + more) * SPARE > len(slots):
            slots = np.full((1 << int((hashed + more) * SPARE).bit_length(), 2), EMPTY, dtype=np.int64)
            _place_again(self.slots, slots)
        columns = [longer(column, known + more) for column in self[2:-1]]
        return States(slots, longer(self.successors, placed + places), *columns, self.filled)  # type: ignore[arg-type, call-arg]


class Stack(NamedTuple):
    """The paths' frames, and their players' lists one after the other; the mover's list is the last of a frame."""

    frames: LongArray  # (depth, LISTS + 2 n)
    chance: FloatArray  # (depth,) the path's probability times the size of its orbit
    state: IntArray
    element: IntArray  # maps the board of the path to that of the state
    cell: IntArray
    weight: FloatArray  # the contribution of chance to the weight of the list's element


class Product(NamedTuple):
    """The output: the lists of all blocks one after the other, ordered by player within each block, and the patterns.

    A pattern holds a path's probability, how many lists each player has and which of them the ends pay.
    """

    entries: npt.NDArray[np.uint32]  # (E,) the player's own sequences
    codes: npt.NDArray[np.uint16]  # (E,) the number of each entry's chance weight, or (0,) where there are no weights
    weights: Rows  # the bits of each weight
    elements: npt.NDArray[np.uint8]  # (E,) elements that map the board of the path to that of the sequence, or (0,)
    list_rows: npt.NDArray[np.uint32]  # (L + 1,)
    blocks: npt.NDArray[np.uint32]  # (B,) the pattern of each block
    patterns: Rows


class EndEdges(NamedTuple):
    """The least and the largest number of edges from a cell of a player to the core of an event, (V, n)."""

    least: IntArray
    most: IntArray

    @classmethod
    def of(cls, rules: FactoredRules) -> EndEdges:
        """Count the edges of all events."""
        r = rules.arrays
        shape = (len(r.event_core), len(rules.players))
        counted = cls(np.full(shape, np.iinfo(np.int32).max, np.int32), np.zeros(shape, np.int32))
        _count_cells_edges(r, rules.first_cell, counted)
        return counted


@kernel
@borrowing
def _count_cells_edges(r, first_cell, counted):
    """Fill in the numbers of an ``EndEdges``."""
    for core in range(len(r.mover)):
        for e in range(r.event_first[core], r.event_first[core + 1]):
            place = e - r.event_first[core] + 1
            for p in range(r.cells.shape[1]):
                for q in range(first_cell[core, p], first_cell[core, p] + r.cells[core, p]):
                    count = r.edge_first[r.slot[q] + place + 1] - r.edge_first[r.slot[q] + place]
                    counted.least[e, p] = min(counted.least[e, p], count)
                    counted.most[e, p] = max(counted.most[e, p], count)


class Scratch(NamedTuple):
    """Scratch space for the ends after one frame, and the pattern of their block, whose first word is ``chance``."""

    ends: IntArray  # (events,)
    times: IntArray
    joinable: npt.NDArray[np.bool_]  # (events,) whether ends with the same payoffs may share the lists of this one
    chance: FloatArray  # (1,)
    pattern: LongArray
    weight: FloatArray  # (1,) a weight, and its bits
    weight_bits: LongArray

    @classmethod
    def of(cls, rules: FactoredRules) -> Scratch:
        """Allocate the space for the core with the most events."""
        n, most = len(rules.players), int(np.diff(rules.arrays.event_first).max(initial=0))
        pattern = np.zeros(1 + n + most * (2 + n), np.int64)
        weight = np.zeros(1)
        return cls(
            np.zeros(most, np.int32), np.zeros(most, np.int32), np.zeros(most, np.bool_),
            pattern[:1].view(np.float64), pattern, weight, weight.view(np.int64),
        )  # fmt: skip


@inner_kernel
@borrowing
def _count_orbits(group, fixing, action_set, end):
    """Return how many orbits the first ``end`` moves of an action set belong to."""
    if fixing == 1:
        return end
    number = 0
    for k in range(end):
        fresh = True
        for j in range(k):
            if same_orbit(group, fixing, action_set, j, k):
                fresh = False
                break
        number += fresh
    return number


@inner_kernel
@borrowing
def class_of(group: Group, fixing: int, action_set: int, action: int | np.int64) -> tuple[int | np.int64, int]:
    """Return the number of the orbit of ``action`` among those of an action set's moves, and the size of the orbit."""
    if fixing == 1:
        return action, 1
    least, size = action, 0
    for k in range(group.first_entry[action_set + 1] - group.first_entry[action_set]):
        if same_orbit(group, fixing, action_set, k, action):
            least = min(least, k)
            size += 1
    return _count_orbits(group, fixing, action_set, least), size


@kernel
@borrowing
def _place_again(slots, larger):
    """Copy the content of a table into a larger one."""
    for k in range(len(slots)):
        if slots[k, 0] != EMPTY:
            slot = find_slot(larger, slots[k, 0])
            larger[slot, 0], larger[slot, 1] = slots[k, 0], slots[k, 1]


@linked_kernel
@borrowing
def _add_state(s, group, state, record):
    """Add a state that follows another one."""
    found = s.filled[STATES]
    s.parent[found], s.record[found], s.first[found], s.action_set[found] = state, record, NO_ROW, NOTHING
    s.place[found] = NOTHING
    s.fixing[found] = still_fixing(group, s.fixing[state], record)
    s.sequence_at[found], s.turn[found], s.share[found] = s.sequence_at[state], s.turn[state], s.share[state]
    s.filled[STATES] = found + 1
    return found


@inner_kernel
@borrowing
def _observe(s, group, state, element, record):
    """Return the state that follows by one record, adding new ones, and the element that maps to its board."""
    record, element = canonical(group, s.fixing[state], element, record)
    key = state_key(state, record)
    slot = find_slot(s.slots, key)
    if s.slots[slot, 0] == EMPTY:
        s.slots[slot, 0], s.slots[slot, 1] = key, _add_state(s, group, state, record)
        s.filled[HASHED] += 1
    return s.slots[slot, 1], element


@inner_kernel
@borrowing
def turn_to_least(group, fixing, action_set, action):
    """Return the element that maps a move to the least of its orbit."""
    least = least_of(group, fixing, action_set, action)
    for h in range(len(group.inverse)):
        if fixing >> h & 1 and group.entry[h, group.first_entry[action_set] + action] == least:
            return h
    return 0


@inner_kernel
@borrowing
def least_of(group: Group, fixing: int, action_set: int, action: int) -> int:
    """Return the least move of the orbit of an action set's move."""
    for k in range(action):
        if same_orbit(group, fixing, action_set, k, action):
            return k
    return action


@inner_kernel
@borrowing
def _action(s, group, state, element, action_set, action, record):
    """Return the state that follows by an own move and its record, and the element that maps to its board."""
    place = group.entry[element, group.first_entry[action_set] + action]
    number, size = class_of(group, s.fixing[state], group.action_set[element, action_set], place)
    found, turned = _observe(s, group, state, element, record)
    s.share[found] = s.share[state] / size
    if s.first[state] != NO_ROW:
        s.sequence_at[found] = s.first[state] + number
        place = group.entry[turned, group.first_entry[action_set] + action]
        s.turn[found] = turn_to_least(group, s.fixing[state], group.action_set[turned, action_set], place)
    return found, turned


@linked_kernel
@borrowing
def _move_alone(s, group, rank, state, element, place, record):
    """Return the state after an own move where only the identity fixes the state, by its place in ``successors``."""
    record = group.record[element, record]
    at = s.place[state] + place * (rank[len(rank) - 1] + 1) + rank[record]
    found = np.int64(s.successors[at])
    if found == 0:
        found = _add_state(s, group, state, record)
        s.successors[at] = found
        if s.first[state] != NO_ROW:
            s.sequence_at[found], s.turn[found] = s.first[state] + place, 0
    return found


@linked_kernel
@borrowing
def _choose(s, group, state, element, action_set, action):
    """Return the sequence of a move at a state."""
    if s.first[state] == NO_ROW:
        return np.int64(s.sequence_at[state])
    place: int | np.int64 = np.int64(group.entry[element, group.first_entry[action_set] + action])
    if s.fixing[state] != 1:
        place = class_of(group, s.fixing[state], group.action_set[element, action_set], place)[0]
    return s.first[state] + place


@linked_kernel
@borrowing
def _carry(r, s, group, rank, stack, k, edge, actions, to):
    """Write to ``to`` the successor of stack element ``k`` by an edge; ``actions``: it is its player's own move."""
    state, element, record = np.int64(stack.state[k]), np.int64(stack.element[k]), r.edge_record[edge]
    if record != NO_RECORD:
        if actions:
            action_set, action = r.action_set[stack.cell[k]], r.edge_action[edge]
            if s.fixing[state] == 1:
                place = group.entry[element, group.first_entry[action_set] + action]
                state = _move_alone(s, group, rank, state, element, place, record)
            else:
                state, element = _action(s, group, state, element, action_set, action, record)
        else:
            state, element = _observe(s, group, state, element, record)
    stack.state[to], stack.element[to], stack.cell[to] = state, element, r.edge_cell[edge]
    stack.weight[to] = stack.weight[k] * r.edge_chance[edge]


@inner_kernel
@borrowing
def _merged(stack, first, top):
    """Return whether the top element equals one from ``first`` on, whose weight is then increased by that of the top.

    Only different chance outcomes can lead to equal elements.
    """
    for k in range(first, top):
        same = stack.state[k] == stack.state[top] and stack.element[k] == stack.element[top]
        if same and stack.cell[k] == stack.cell[top]:
            stack.weight[k] += stack.weight[top]
            return True
    return False


@inner_kernel
@borrowing
def _extend(r, s, group, rank, stack, frame, mover, top):
    """Extend the mover's list by all its excursions, and add rows for its states, or for those of all players.

    Returns the new top of the stack; -1 - k for an element ``k`` whose action set does not follow from its information
    state.
    """
    if mover < 0:
        return _add_rows(r, s, group, rank, stack, frame, top) if mover == EVERYBODY else top
    k = frame[LISTS + 2 * mover]
    while k < top:
        q = stack.cell[k]
        if not _add_row(r, s, group, rank, stack, k, mover):
            return -1 - k
        for edge in range(r.edge_first[r.slot[q]], r.edge_first[r.slot[q] + 1]):
            _carry(r, s, group, rank, stack, k, edge, True, top)
            top += 1
        k += 1
    frame[LISTS + 2 * mover + 1] = top
    return top


@inner_kernel
@borrowing
def _add_rows(r, s, group, rank, stack, frame, top):
    """Add rows for the states of all players; return the same as ``_extend``."""
    for p in range(r.cells.shape[1]):
        for k in range(frame[LISTS + 2 * p], frame[LISTS + 2 * p + 1]):
            if not _add_row(r, s, group, rank, stack, k, p):
                return -1 - k
    return top


@linked_kernel
@borrowing
def _acts(r, core, player):
    """Return whether a player moves at a core."""
    return r.mover[core] == player or r.mover[core] == EVERYBODY


@inner_kernel
@borrowing
def _add_row(r, s, group, rank, stack, k, mover):
    """Give a new state of an element places for its successors, and a row if it has several moves.

    Returns whether the element's action set is the one that the state has elsewhere.
    """
    state = stack.state[k]
    action_set = group.action_set[stack.element[k], r.action_set[stack.cell[k]]]
    if s.action_set[state] == NOTHING:
        s.action_set[state] = action_set
        actions = group.first_entry[action_set + 1] - group.first_entry[action_set]
        size = _count_orbits(group, s.fixing[state], action_set, actions)
        if s.fixing[state] == 1:
            s.place[state] = s.filled[PLACES]
            s.filled[PLACES] += size * (rank[len(rank) - 1] + 1)
        if actions > 1:
            s.first[state] = s.filled[SEQUENCES + mover]
            s.filled[SEQUENCES + mover] += size
    return s.action_set[state] == action_set


@linked_kernel
@borrowing
def _lowest(frame, n):
    """Return where the lists of a frame begin."""
    first = frame[LISTS]
    for p in range(1, n):
        first = min(first, frame[LISTS + 2 * p])
    return first


@inner_kernel
@borrowing
def _count_edges(r, stack, begin, end, place):
    count = 0
    for k in range(begin, end):
        slot = r.slot[stack.cell[k]] + place
        count += r.edge_first[slot + 1] - r.edge_first[slot]
    return count


@inner_kernel
@borrowing
def _begin_lists(r, stack, out, number, frame, first, cells, player):
    """Write after row ``number`` where the next entry of each of a player's lists goes; ends have one per cell."""
    rows = out.list_rows
    rows[number + 1 : number + cells + 1] = 0
    rows[number + 1] = rows[number]
    if cells == 1:
        return
    for k in range(frame[LISTS + 2 * player], frame[LISTS + 2 * player + 1]):
        slot = r.slot[stack.cell[k]] + first + 1
        for edge in range(r.edge_first[slot], r.edge_first[slot + 1]):
            kind = r.place[r.edge_cell[edge]]
            if kind < cells - 1:
                rows[number + 2 + kind] += 1
    for kind in range(number + 1, number + cells):
        rows[kind + 1] += rows[kind]


@inner_kernel
@borrowing
def _write_lists(r, s, group, stack, out, scratch, number, frame, first, ends, player, actions):
    """Write lists of the sequences that lead to each of the player's cells of an end; return the new number of lists.

    The ends that ``ends`` joins to the first of them lead to the same cells.
    """
    rows, begin, until, core = out.list_rows, frame[LISTS + 2 * player], frame[LISTS + 2 * player + 1], frame[CORE]
    cells = r.cells[r.event_core[r.event_first[core] + first], player]
    _begin_lists(r, stack, out, number, frame, first, cells, player)
    for place in range(first, len(ends) if actions else first + 1):
        if ends[place] != first:
            continue
        for k in range(begin, until):
            state = stack.state[k]
            slot, chosen = r.slot[stack.cell[k]] + place + 1, s.sequence_at[state]
            for edge in range(r.edge_first[slot], r.edge_first[slot + 1]):
                kind = number + 1 + r.place[r.edge_cell[edge]]
                if actions:
                    chosen = _choose(
                        s, group, state, stack.element[k], r.action_set[stack.cell[k]], r.edge_action[edge]
                    )
                out.entries[rows[kind]] = chosen
                if len(out.elements):
                    out.elements[rows[kind]] = _leads(r, s, group, stack, k, edge, actions)
                if len(out.codes) and out.weights.size[0] < MOST_WEIGHTS:
                    scratch.weight[0] = stack.weight[k] * r.edge_chance[edge]
                    out.codes[rows[kind]] = intern(out.weights, scratch.weight_bits)
                rows[kind] += 1  # which finally holds its end
    return number + cells


@inner_kernel
@borrowing
def _leads(r, s, group, stack, k, edge, actions):
    """Return the element that maps the board of the path to that of the sequence of a list's entry."""
    state, element = stack.state[k], stack.element[k]
    if not actions or s.first[state] == NO_ROW:
        return group.product[s.turn[state], element]
    if s.fixing[state] == 1:
        return element
    action_set, action = r.action_set[stack.cell[k]], r.edge_action[edge]
    place = group.entry[element, group.first_entry[action_set] + action]
    return group.product[turn_to_least(group, s.fixing[state], group.action_set[element, action_set], place), element]


@inner_kernel
@borrowing
def _in_common(r, counted, stack, frame, e, player):
    """Return whether all elements of a player's list lead to one cell, each once, so that ends can share the list."""
    place, begin, until = e - r.event_first[frame[CORE]] + 1, frame[LISTS + 2 * player], frame[LISTS + 2 * player + 1]
    if r.cells[r.event_core[e], player] > 1 or counted.most[e, player] > 1:
        return False
    return counted.least[e, player] > 0 or _count_edges(r, stack, begin, until, place) == until - begin


@inner_kernel
@borrowing
def _find_ends(r, counted, image, stack, frame, ends, times, joinable):
    """Find which of a core's events are ends, and return whether there are any.

    ``ends`` gets for each the first end with which it shares its lists, ``times`` the number of events that are equal
    to it by symmetry.  Two ends share lists only where *both* have the same payoffs whatever the private states of the
    other players: the lists of the first are used for the second.
    """
    core, mover, found = frame[CORE], r.mover[frame[CORE]], False
    for k in range(len(ends)):
        e = r.event_first[core] + k
        end = r.event_core[e]
        ends[k] = ALONE
        if r.mover[end] != TERMINAL or r.term_first[end + 1] == r.term_first[end]:
            continue
        times[k] = _orbit(image, frame[FIXING], e)
        if times[k] == 0:
            continue
        found, ends[k], joinable[k] = True, k, mover >= 0 and r.cells[end, mover] == 1
        for p in range(r.cells.shape[1] if joinable[k] else 0):
            joinable[k] &= p == mover or _in_common(r, counted, stack, frame, e, p)
        for j in range(k if joinable[k] else 0):
            same = r.event_core[r.event_first[core] + j] == end and times[j] == times[k]
            if ends[j] == j and joinable[j] and same:
                ends[k] = j
                break
    return found


@inner_kernel
@borrowing
def _pay(r, s, counted, group, stack, out, scratch, frame, counters, ends, times):
    """Write a block with the ends that follow one frame; the first word of its pattern is already set."""
    pattern = scratch.pattern
    core, n, number = frame[CORE], r.cells.shape[1], counters[WRITTEN]
    for p in range(n):
        first, whole, word = number, -1, 1 + n
        for k in range(len(ends)):
            if ends[k] != k:
                continue
            pattern[word + END], pattern[word + TIMES] = r.event_core[r.event_first[core] + k], times[k]
            common = not _acts(r, core, p) and _in_common(r, counted, stack, frame, r.event_first[core] + k, p)
            at = whole if common and whole >= 0 else number - first
            pattern[word + 2 + p] = at
            if at == number - first:
                number = _write_lists(r, s, group, stack, out, scratch, number, frame, k, ends, p, _acts(r, core, p))
            if common:
                whole = at
            word += 2 + n
        pattern[1 + p] = number - first
    out.blocks[counters[BLOCKS]] = intern(out.patterns, pattern[:word])
    counters[BLOCKS] += 1
    counters[WRITTEN] = number


@inner_kernel
@borrowing
def _orbit(image, fixing, event):
    """Return the number of events that are equal to this one by symmetry if it is the least of them, else 0."""
    if fixing == 1:
        return 1
    fixed, order = 0, 0
    for g in range(image.shape[0]):
        if fixing >> g & 1:
            if image[g, event] < event:
                return 0
            order += 1
            fixed += image[g, event] == event
    return order // fixed


@inner_kernel
@borrowing
def _room_for_states(s, stack, need):
    return (
        need[ROOM_STACK] <= len(stack.state)
        and s.filled[STATES] + need[ROOM_STATES] <= len(s.parent)
        and (s.filled[HASHED] + need[ROOM_STATES]) * SPARE <= len(s.slots)
        and s.filled[PLACES] + need[ROOM_PLACES] <= len(s.successors)
    )


@inner_kernel
@borrowing
def _can_extend(r, s, stack, frame, mover, top, need, widest):
    """Return whether there is room for the excursions of a frame; else ``need`` says for what more is needed."""
    if mover < 0 and mover != EVERYBODY:
        return True
    first = frame[LISTS + 2 * mover] if mover >= 0 else _lowest(frame, r.cells.shape[1])
    for k in range(first, top):
        need[ROOM_STATES] += r.below[stack.cell[k]]
    need[ROOM_STACK] = top + need[ROOM_STATES]
    need[ROOM_PLACES] = (need[ROOM_STACK] - first) * widest
    return _room_for_states(s, stack, need)


@inner_kernel
@borrowing
def _can_pay(r, counted, out, frame, counters, need, ends):
    """Return whether there is room for the ends after a frame; else ``need`` says for what more is needed."""
    number, words = counters[WRITTEN], 1 + r.cells.shape[1]
    for k in range(len(ends)):
        if ends[k] != ALONE:
            e = r.event_first[frame[CORE]] + k
            words += 2 + r.cells.shape[1]
            for p in range(r.cells.shape[1]):
                here = frame[LISTS + 2 * p + 1] - frame[LISTS + 2 * p]
                need[ROOM_ENTRIES] += here * counted.most[e, p]
                need[ROOM_LISTS] += r.cells[r.event_core[e], p]
    patterns = out.patterns.size[0]
    return (
        number + need[ROOM_LISTS] + 1 < len(out.list_rows)
        and out.list_rows[number] + need[ROOM_ENTRIES] <= len(out.entries)
        and counters[BLOCKS] < len(out.blocks)
        and (patterns + 1) * SPARE <= len(out.patterns.slots)
        and patterns + 1 < len(out.patterns.begin)
        and out.patterns.begin[patterns] + words <= len(out.patterns.data)
    )


@inner_kernel
@borrowing
def _can_lead(r, s, counted, stack, frame, event, depth, top, need):
    """Return whether there is room for the frame after an event, and whether every player has a cell there."""
    everybody, place = True, event - r.event_first[frame[CORE]] + 1
    for p in range(r.cells.shape[1]):
        begin, until = frame[LISTS + 2 * p], frame[LISTS + 2 * p + 1]
        if counted.least[event, p] == 0:
            everybody &= _count_edges(r, stack, begin, until, place) > 0
        need[ROOM_STATES] += (until - begin) * counted.most[event, p]
    need[ROOM_STACK], need[ROOM_FRAMES] = top + need[ROOM_STATES], depth + 1
    return depth < len(stack.frames) and _room_for_states(s, stack, need), everybody


@inner_kernel
@borrowing
def _lead(r, s, group, rank, image, stack, depth, event, times, top):
    """Add the frame after an event and return the new top of the stack."""
    frame, after, n = stack.frames[depth - 1], stack.frames[depth], r.cells.shape[1]
    mover, place, reached = r.mover[frame[CORE]], event - r.event_first[frame[CORE]] + 1, r.event_core[event]
    after[CORE], after[PHASE], after[FIXING] = reached, EXTEND, frame[FIXING]
    if frame[FIXING] != 1:
        after[FIXING] = 0
        for g in range(image.shape[0]):
            if frame[FIXING] >> g & 1 and image[g, event] == event:
                after[FIXING] |= np.int64(1) << g
    stack.chance[depth] = stack.chance[depth - 1] * times * r.event_chance[event]
    for turn in range(n):  # the mover of the reached core comes last
        p = (max(r.mover[reached], 0) + 1 + turn) % n
        after[LISTS + 2 * p] = top
        for k in range(frame[LISTS + 2 * p], frame[LISTS + 2 * p + 1]):
            slot = r.slot[stack.cell[k]] + place
            for edge in range(r.edge_first[slot], r.edge_first[slot + 1]):
                _carry(r, s, group, rank, stack, k, edge, _acts(r, frame[CORE], p), top)
                if mover != CHANCE or not _merged(stack, after[LISTS + 2 * p], top):
                    top += 1
        after[LISTS + 2 * p + 1] = top
    return top


@kernel
@borrowing
def walk_paths(r, counted, group, rank, image, s, stack, out, counters, need, scratch, widest):
    """Walk until all paths are done or room runs short: then ``need`` says of what, and the walk can be resumed.

    ``widest``: the most places that a state can need for its successors.
    """
    while counters[DEPTH] > 0:
        depth, top = counters[DEPTH], counters[TOP]
        frame = stack.frames[depth - 1]
        core, mover = frame[CORE], r.mover[frame[CORE]]
        need[:] = 0
        if frame[PHASE] == EXTEND:
            if not _can_extend(r, s, stack, frame, mover, top, need, widest):
                return MORE
            top = _extend(r, s, group, rank, stack, frame, mover, top)
            if top < 0:
                need[0] = stack.state[-1 - top]
                return BROKEN
            counters[TOP], frame[PHASE] = top, PAY
        elif frame[PHASE] == PAY:
            count = r.event_first[core + 1] - r.event_first[core]
            ends, times = scratch.ends[:count], scratch.times[:count]
            if _find_ends(r, counted, image, stack, frame, ends, times, scratch.joinable[:count]):
                if not _can_pay(r, counted, out, frame, counters, need, ends):
                    return MORE
                scratch.chance[0] = stack.chance[depth - 1]
                _pay(r, s, counted, group, stack, out, scratch, frame, counters, ends, times)
            frame[PHASE], frame[PLACE] = LEAD, 1
        elif r.event_first[core] + frame[PLACE] > r.event_first[core + 1]:
            counters[TOP], counters[DEPTH] = _lowest(frame, r.cells.shape[1]), depth - 1
        else:
            event = r.event_first[core] + frame[PLACE] - 1
            times = _orbit(image, frame[FIXING], event)
            if times > 0 and r.mover[r.event_core[event]] != TERMINAL:
                room, everybody = _can_lead(r, s, counted, stack, frame, event, depth, top, need)
                if not room:
                    return MORE
                if everybody:
                    top = _lead(r, s, group, rank, image, stack, depth, event, times, top)
                    counters[TOP], counters[DEPTH] = top, depth + 1
            frame[PLACE] += 1
    return DONE


def _ranks(records: list[ObservationRecord]) -> IntArray:
    """Return (T + 1,) each record's number among those with the same move, followed by the largest of these numbers."""
    met: dict[Action, int] = {}
    ranks = []
    for action, _ in records:
        ranks.append(0 if action is None else met.get(action, 0))
        if action is not None:
            met[action] = ranks[-1] + 1
    return np.array([*ranks, max(ranks, default=0)], dtype=np.int32)


class PathWalk:
    """The walk over all paths, with growing capacity."""

    def __init__(
        self,
        rules: FactoredRules,
        group: Group,
        image: IntArray,
        elements: bool,
        progress: Callable[[int], object] | None,
    ) -> None:
        n = len(rules.players)
        self.n, self.rules, self.group, self.image, self.progress = n, rules, group, image, progress
        self.states, self.rank = States.empty(n, group), _ranks(rules.records)
        self.counted, self.scratch = EndEdges.of(rules), Scratch.of(rules)
        self.stack = Stack(
            np.zeros((1, LISTS + 2 * n), np.int64), np.ones(1), np.arange(n, dtype=np.int32), np.zeros(n, np.int32),
            np.array(rules.start_cells, np.int32), np.ones(n),
        )  # fmt: skip
        numbers, entries = np.zeros(1, np.uint32), int(rules.sizes.entries / group.order * ROOM)
        self.out = Product(
            np.zeros(entries, np.uint32), np.zeros(entries if rules.weighted else 0, np.uint16),
            Rows.empty().with_room(MOST_WEIGHTS, MOST_WEIGHTS),
            np.zeros(entries if elements else 0, np.uint8), numbers, numbers, Rows.empty(),
        )  # fmt: skip
        self.counters = np.zeros(4, np.int64)
        self._begin()

    def _begin(self) -> None:
        """Write the first frame: every player at the start, the mover last."""
        frame, r = self.stack.frames[0], self.rules.arrays
        frame[CORE] = 0
        frame[FIXING] = everything(self.group)
        mover = max(int(r.mover[0]), 0)
        for turn in range(self.n):
            p = (mover + 1 + turn) % self.n
            self.stack.state[turn], self.stack.cell[turn] = p, self.rules.start_cells[p]
            frame[LISTS + 2 * p], frame[LISTS + 2 * p + 1] = turn, turn + 1
        self.counters[DEPTH], self.counters[TOP] = 1, self.n

    def run(self) -> None:
        need = np.zeros(NEEDS, np.int64)
        while (found := self._walk(need)) == MORE:
            self._grow(need)
        if int(self.out.weights.size[0]) == MOST_WEIGHTS:
            raise BudgetError(
                f"{self.rules.name}: chance weighs sequences in more than {MOST_WEIGHTS:,} ways, too many for the "
                "factored form"
            )
        if found == BROKEN:
            s, state, records = self.states, int(need[0]), self.rules.records
            known = known_at(known_first(self.rules), records, s.parent.tolist(), s.record.tolist(), state)
            raise GameRuleError(
                f"{self.rules.name}: moves must follow from the information state; after {policy_key(known, '')!r} "
                f"they are {self.rules.action_sets[s.action_set[state]]!r} in one place and others in another"
            )

    def _walk(self, need: LongArray) -> int:
        r, group, rank, stack = self.rules.arrays, self.group, self.rank, self.stack
        widest = int(np.diff(group.first_entry).max(initial=0)) * (int(rank[-1]) + 1)
        s, out, counters = self.states, self.out, self.counters
        counted, scratch = self.counted, self.scratch
        return int(walk_paths(r, counted, group, rank, self.image, s, stack, out, counters, need, scratch, widest))

    def _grow(self, need: LongArray) -> None:
        states, places, stack, frames, lists, entries = need.tolist()
        self.states = self.states.with_room(states, places)
        s, o, written = self.stack, self.out, int(self.counters[WRITTEN])
        self.stack = Stack(longer(s.frames, frames), longer(s.chance, frames), *[longer(c, stack) for c in s[2:]])  # type: ignore[arg-type]
        used = int(o.list_rows[written])
        self.out = Product(
            longer(o.entries, used + entries),
            longer(o.codes, used + entries) if self.rules.weighted else o.codes,
            o.weights,
            longer(o.elements, used + entries) if len(o.elements) else o.elements,
            longer(o.list_rows, written + lists + 2),
            longer(o.blocks, int(self.counters[BLOCKS]) + 1),
            o.patterns.with_room(1, len(self.scratch.pattern)),
        )
        if self.progress is not None:
            self.progress(used)


def known_first(rules: FactoredRules) -> list[InformationState]:
    """Return what each player observes before the first move."""
    return [() if record == NO_RECORD else (rules.records[record],) for record in rules.start_records]


def known_at(
    start: list[InformationState], records: list[ObservationRecord], parent: list[int], record: list[int], state: int
) -> InformationState:
    """Return the information state with a given number, from the tables of parents and last records."""
    known = []
    while state >= len(start):
        known.append(records[record[state]])
        state = parent[state]
    return (*start[state], *known[::-1])
