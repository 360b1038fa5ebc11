"""Beliefs as arrays: the possible positions, the others' information states there, and their probabilities.

A belief is followed until the player whose belief it is has to move or observes something.  Equal results are merged
into one entry, so a belief has only distinct entries; where the player will have no further choice no entries are
written, since the values from there on are simply summed.

Where another player has only two choices left, its possible states are merged into one entry as well: their *mixture*,
a policy of its own that plays from there on as they do in total.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.interning import longer
from infoset.jit import borrowing, inline_kernel, inner_kernel, kernel, linked_kernel
from infoset.policies.infoset_policy import FEW, NO_ROW, UNKNOWN, InfosetPolicy
from infoset.randomness import FIRST_MIX, SECOND_MIX, STRIDE
from infoset.tree.graph import CHANCE, TERMINAL, topological
from infoset.tree.quotient_graph import (
    CHILD,
    CONTENT,
    ELEMENT_BITS,
    FIRST,
    MOVES,
    PLAYER,
    TOKENS,
    TURN,
    QuotientGraph,
    canonical,
    element_of,
    state_of,
    turned,
    view_of,
)  # fmt: skip

CHOICE = -1  # in place of a record: the player has to move
BEFORE = -1  # in place of a move: the part of the step before the player has to move
NO_ROOM = -1
NO_MOVE = -1
STRANGE = UNKNOWN << ELEMENT_BITS  # the view of all states that are not in the policy
MIXTURE = -(1 << 62)  # in place of a view while the components of the mixture are being collected
OVER, OTHERS, LATER, HERE = range(4)  # who will have a choice: nobody, only others, the player later, the player now
NONE_LEFT, ONE, TWO, LATE, MORE = range(5)  # a player's choices left; LATE: one, but it observes something before it
NO_ACTION_SET = -1
LEFT_BITS = 3
LEFT = (1 << LEFT_BITS) - 1
LEARNT, BY, AMONG = range(3)
SIZE, KINDS, BASE, LAST, EDGES, OUT = range(6)
CHILDREN, SIZES, OWN_RECORD, ROW = range(4)
SLOTS = 4  # initial slots for each entry of a belief that is followed


class Continuations(NamedTuple):
    """The continuation of play from each position and edge, as one player sees it.

    The data of an edge's child are stored with the edge, so that those of all edges of a position are adjacent in
    memory.
    """

    who: LongArray  # (P,) OVER, OTHERS, LATER or HERE
    after_edge: IntArray  # (E, n) own: ``who`` of the child; others': NONE_LEFT to MORE, and the first action set
    uniform_value: FloatArray  # (E,) the value where the player has no choice and all others play uniformly
    second: IntArray  # (P, n, 2) where others' second choices begin and end in ``choices``, for TWO
    choices: IntArray  # (C, 3) the record LEARNT before it, the first move BY which it comes, its action set (AMONG)

    @classmethod
    def of(cls, walk: QuotientGraph, player: int) -> Continuations:
        size, n, child = len(walk.position), walk.num_players, np.ascontiguousarray(walk.edge[:, CHILD])
        order, _ = topological(np.append(walk.position[:, FIRST], len(child)).astype(np.int32), child)
        who, uniform_value = np.zeros(size, dtype=np.int64), np.zeros(size)
        _look_ahead(walk, order, player, who, uniform_value)
        left, action_set = np.zeros((2, size, n), dtype=np.int32)
        second, choices, used = np.zeros((size, n, 2), dtype=np.int32), np.zeros((size, 3), dtype=np.int32), 0
        for p in range(n):
            begin = used
            while (used := _count_choices(walk, order, p, left, action_set, second, choices, begin)) == NO_ROOM:
                choices = longer(choices, len(choices) + FEW)
        after_edge = (action_set << LEFT_BITS | left)[child]
        after_edge[:, player] = who[child]
        return cls(who, after_edge, uniform_value[child], second, choices[:used].copy())


@kernel
@borrowing
def _look_ahead(walk, order, player, who, uniform_value):
    for k in range(len(order) - 1, -1, -1):
        position = order[k]
        mover, first, actions = (
            walk.position[position, PLAYER],
            walk.position[position, FIRST],
            _actions(walk, position),
        )
        who[position], uniform_value[position] = OVER, 0.0
        if mover == TERMINAL:
            uniform_value[position] = walk.payoffs[walk.position[position, CONTENT], player]
        for e in range(first, first + actions):
            below = walk.edge[e, CHILD]
            who[position] = max(who[position], min(who[below], LATER))
            uniform_value[position] += (walk.probability[e] if mover == CHANCE else 1.0 / actions) * uniform_value[
                below
            ]
        if actions > 1 and mover == player:
            who[position] = HERE
        elif actions > 1 and mover != CHANCE:
            who[position] = max(who[position], OTHERS)


@linked_kernel
@borrowing
def _choices_after(walk, e, p, left, action_set):
    """Return the kind of ``p``'s choices from an edge on, and their action set on the board before the edge."""
    below = walk.edge[e, CHILD]
    kind, learns = np.int64(left[below, p]), walk.edge[e, TOKENS + p] >= 0
    if kind == NONE_LEFT or (kind == LATE and not learns):
        return kind, np.int64(NO_ACTION_SET)
    among = (
        np.int64(walk.group.action_set[walk.edge[e, TURN], action_set[below, p]])
        if kind in (ONE, TWO)
        else np.int64(NO_ACTION_SET)
    )
    if among == NO_ACTION_SET or (learns and kind != ONE):
        return np.int64(MORE), among
    return np.int64(LATE) if learns else kind, among


@linked_kernel
@borrowing
def _note_choice(choices, begin, end, learnt, by, among):
    """Add a second choice; return the new end, or NO_ROOM where there are too many or two are not told apart."""
    for k in range(begin, end):
        if choices[k, LEARNT] == learnt:
            return end if choices[k, BY] == by and choices[k, AMONG] == among else NO_ROOM
    if end == begin + FEW or among == NO_ACTION_SET:
        return NO_ROOM
    choices[end, LEARNT], choices[end, BY], choices[end, AMONG] = learnt, by, among
    return end + 1


@linked_kernel
@borrowing
def _note_choices(walk, e, p, own, action_set, second, choices, among, begin, end):
    """Add the second choices after an edge, by the move ``own`` where that is the first; return as ``_note_choice``."""
    below, turn, group = walk.edge[e, CHILD], walk.edge[e, TURN], walk.group
    learnt = walk.edge[e, TOKENS + p]
    if learnt >= 0:
        return _note_choice(choices, begin, end, learnt, own, among)
    for k in range(second[below, p, 0], second[below, p, 1]):
        by = np.int64(choices[k, BY])
        by = own if by == NO_MOVE else np.int64(group.entry[turn, group.first_entry[action_set[below, p]] + by])
        learnt, among = group.record[turn, choices[k, LEARNT]], group.action_set[turn, choices[k, AMONG]]
        end = _note_choice(choices, begin, end, learnt, by, np.int64(among))
        if end == NO_ROOM:
            break
    return end


@kernel
@borrowing
def _count_choices(walk, order, p, left, action_set, second, choices, end):
    """Fill in the choices that ``p`` has left; return the end of ``choices``, or NO_ROOM."""
    for k in range(len(order) - 1, -1, -1):
        position = order[k]
        first, actions = walk.position[position, FIRST], _actions(walk, position)
        own = actions > 1 and walk.position[position, PLAYER] == p
        most, among, begin = np.int64(NONE_LEFT), np.int64(NO_ACTION_SET), end
        if end + FEW > len(choices):
            return NO_ROOM
        for e in range(first, first + actions):
            kind, action_set_after = _choices_after(walk, e, p, left, action_set)
            if kind in (TWO, LATE) and most != MORE:
                by = np.int64(e - first if own else NO_MOVE)
                end = _note_choices(walk, e, p, by, action_set, second, choices, action_set_after, begin, end)
                kind = kind if end != NO_ROOM else np.int64(MORE)
            if kind in (ONE, TWO):
                kind = kind if most != LATE and among in (np.int64(NO_ACTION_SET), action_set_after) else np.int64(MORE)
                among = action_set_after
            elif kind == LATE and most in (ONE, TWO):
                kind = np.int64(MORE)
            most = max(most, kind)
        if own:
            most = np.int64(ONE if most == NONE_LEFT else TWO if most == LATE else MORE)
            among = np.int64(walk.position[position, CONTENT])
        if most not in (TWO, LATE):
            end = begin
        left[position, p], action_set[position, p] = most, among
        second[position, p, 0], second[position, p, 1] = begin, end
    return end


@kernel
@borrowing
def _find_lively(first_child, row, lively):
    for state in range(len(row) - 1, -1, -1):
        lively[state] = row[state] != NO_ROW
        for child in range(first_child[state], first_child[state + 1]):
            lively[state] |= lively[child]


class PolicyArrays(NamedTuple):
    """A policy in the layout that beliefs read: a state's data are adjacent in memory, and so are its children's.

    After its states there is room for mixtures: one for each entry, with as many states as ``choices`` need.
    """

    state: IntArray  # (S, 4) where its CHILDREN begin, twice their number (SIZES; odd: see ``fixing``), OWN_RECORD, ROW
    fixing: LongArray  # (S,) the symmetries that leave a state unchanged
    behaviour: FloatArray
    mixtures: LongArray  # (2,) where mixtures begin, and the number of states of each

    @classmethod
    def of(cls, policy: InfosetPolicy, walk: QuotientGraph, ahead: Continuations) -> PolicyArrays:
        """Build it without states after which the policy has no rows."""
        lively = np.zeros(len(policy.row), dtype=np.bool_)
        _find_lively(policy.first_child, policy.row, lively)
        lively[: walk.num_players] = True
        live = np.flatnonzero(lively)
        first = np.cumsum(np.append(0, lively))[policy.first_child[np.append(live, len(lively))]]
        fixing = policy.fixing[live]
        row, behaviour = _in_order(policy.row[live], policy.behaviour)
        state = np.column_stack([first[:-1], 2 * np.diff(first) + (fixing != 1), policy.record[live], row])
        width = 1 + int((ahead.second[:, :, 1] - ahead.second[:, :, 0]).max(initial=0))
        return cls(state.astype(np.int32), fixing, behaviour, np.array([len(live), width]))

    def with_room(self, room: int, most_actions: int) -> PolicyArrays:
        """Return the policy with room for ``room`` mixtures."""
        begin, width = self.mixtures.tolist()
        more = begin + room * width + 1 - len(self.state)
        state = np.zeros((more, 4), dtype=np.int32)
        state[:, ROW] = len(self.behaviour) + most_actions * np.arange(more)
        behaviour = np.concatenate([self.behaviour, np.zeros(more * most_actions)])
        return self._replace(state=np.concatenate([self.state, state]), behaviour=behaviour)

    def mixed(self, size: int) -> PolicyArrays:
        """Return the first ``size`` mixtures."""
        begin, width = self.mixtures.tolist()
        end = begin + size * width
        behaviour = self.behaviour[self.state[begin, ROW] : self.state[end, ROW]]
        return self._replace(state=self.state[begin:end], fixing=self.fixing[:0], behaviour=behaviour)


def _in_order(row: IntArray, behaviour: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the rows of a behaviour in the order of the states that they belong to."""
    chosen = row != NO_ROW
    distinct, number = np.unique(row[chosen], return_inverse=True)
    size = np.diff(np.append(distinct, len(behaviour)))[number]
    begin = np.cumsum(size) - size
    moved = np.full(len(row), NO_ROW)
    moved[chosen] = begin
    return moved.astype(np.int32), behaviour[np.repeat(row[chosen] - begin, size) + np.arange(size.sum())]


class Entries(NamedTuple):
    """The entries of beliefs, one belief after the other."""

    position: IntArray  # (C,)
    views: LongArray  # (C, n) the others' views, and the player's view of the board
    weight: FloatArray  # (C,) probability by chance and by the others' moves
    record: IntArray  # (C,) the player's latest record, or CHOICE

    @classmethod
    def empty(cls, size: int, players: int) -> Entries:
        flat = np.zeros(size, dtype=np.int32)
        return cls(flat, np.zeros((size, players), dtype=np.int64), np.zeros(size), flat.copy())


class Scratch(NamedTuple):
    """Temporary data for following one belief."""

    fresh: Entries  # the entries found so far, all distinct
    word: LongArray  # (C,) the hash of each entry
    slots: LongArray  # (a power of two,) BASE plus the number of an entry in ``fresh``
    stack: Entries  # entries that have not been followed to their end
    counts: LongArray  # (records + 1,) number of entries with CHOICE, and with each record
    kinds: IntArray  # (records + 1,) the records that occur, CHOICE included
    infostate: LongArray  # (n,) the views after an edge
    at: LongArray  # (6,) SIZE of ``fresh``, number of KINDS, BASE, LAST of the slots in use, EDGES followed in all, OUT

    @classmethod
    def empty(cls, size: int, players: int, records: int) -> Scratch:
        slots = np.zeros(1 << (2 * size + 1).bit_length(), dtype=np.int64)
        count, kinds = np.zeros(records + 1, dtype=np.int64), np.zeros(records + 1, dtype=np.int32)
        infostate, at = np.zeros(players, dtype=np.int64), np.zeros(6, dtype=np.int64)
        at[BASE] = 1
        fresh, stack = Entries.empty(size, players), Entries.empty(size, players)
        return cls(fresh, np.zeros(size, dtype=np.int64), slots, stack, count, kinds, infostate, at)


@inline_kernel
def _last_view(action):
    """Return the view of a player of whom only the next move matters, numbered on the present board."""
    return view_of(UNKNOWN - 1 - action, 0)


@inline_kernel
def _last_move(view):
    return UNKNOWN - 1 - state_of(view)


@inline_kernel
def _actions(walk, position):
    return walk.position[position, MOVES]


@linked_kernel
@borrowing
def _copy(source, k, target, j):
    target.position[j], target.weight[j], target.record[j] = source.position[k], source.weight[k], source.record[k]
    for p in range(source.views.shape[1]):
        target.views[j, p] = source.views[k, p]


@linked_kernel
@borrowing
def _push(stack, k, position, weight, infostate):
    stack.position[k], stack.weight[k] = position, weight
    for p in range(len(infostate)):
        stack.views[k, p] = infostate[p]


@linked_kernel
@borrowing
def _recall(entries, k, infostate):
    for p in range(len(infostate)):
        infostate[p] = entries.views[k, p]


@linked_kernel
@borrowing
def _place_word(slots, at, word, number):
    last = at[LAST]
    slot = word & last
    while slots[slot] >= at[BASE]:
        slot = (slot + 1) & last
    slots[slot] = at[BASE] + number


@linked_kernel
@borrowing
def _use_more_slots(scratch):
    """Use four times as many slots; a table no larger than needed stays in the processor's cache."""
    at = scratch.at
    at[BASE] += at[SIZE]
    at[LAST] = min(4 * (at[LAST] + 1), len(scratch.slots)) - 1
    for k in range(at[SIZE]):
        _place_word(scratch.slots, at, scratch.word[k], k)


@linked_kernel
@borrowing
def _word_of(position, record, infostate):
    """Return a hash of an entry."""
    word = (np.uint64(position) << np.uint64(32) ^ np.uint64(record)) * FIRST_MIX
    for p in range(len(infostate)):
        word = (word ^ (word >> np.uint64(29)) ^ np.uint64(infostate[p])) * SECOND_MIX + STRIDE
    return np.int64((word ^ (word >> np.uint64(32))) >> np.uint64(1))


@linked_kernel
@borrowing
def _is(fresh, k, position, record, infostate):
    same = fresh.position[k] == position and fresh.record[k] == record
    for p in range(len(infostate)):
        same = same and fresh.views[k, p] == infostate[p]
    return same


@linked_kernel
@borrowing
def _add(scratch, position, record, weight):
    """Add an entry with the views ``infostate``, merging equal ones; return its place in ``fresh``, or NO_ROOM."""
    fresh, slots, at, infostate = scratch.fresh, scratch.slots, scratch.at, scratch.infostate
    word = _word_of(position, record, infostate)
    slot = word & at[LAST]
    while slots[slot] >= at[BASE]:
        k = slots[slot] - at[BASE]
        if scratch.word[k] == word and _is(fresh, k, position, record, infostate):
            fresh.weight[k] += weight
            return k
        slot = (slot + 1) & at[LAST]
    k = at[SIZE]
    if at[OUT] + k == len(fresh.position):  # it would be written there, and its mixture is stored by that place
        return np.int64(NO_ROOM)
    slots[slot] = at[BASE] + k
    fresh.position[k], fresh.record[k], fresh.weight[k], scratch.word[k] = position, record, weight, word
    for p in range(len(infostate)):
        fresh.views[k, p] = infostate[p]
    at[SIZE] = k + 1
    if scratch.counts[record + 1] == 0:
        scratch.kinds[at[KINDS]] = record
        at[KINDS] += 1
    scratch.counts[record + 1] += 1
    if 2 * at[SIZE] > at[LAST]:
        _use_more_slots(scratch)
    return k


@linked_kernel
@borrowing
def successor_state(policy, state, record):
    """Return the state that follows by one record, or UNKNOWN."""
    begin = policy.state[state, CHILDREN]
    end = begin + (policy.state[state, SIZES] >> 1)
    while end - begin > FEW:
        middle = (begin + end) // 2
        if policy.state[middle, OWN_RECORD] <= record:
            begin = middle
        else:
            end = middle
    for k in range(begin, end):
        if policy.state[k, OWN_RECORD] == record:
            return np.int64(k)
    return np.int64(UNKNOWN)


@linked_kernel
@borrowing
def _successor_view(walk, policy, state, element, record):
    """Return the state that follows by one record of the present board, and the element that maps to it."""
    if state == UNKNOWN:
        return np.int64(UNKNOWN), element
    if policy.state[state, SIZES] & 1:
        own, element = canonical(walk.group, policy.fixing[state], element, record)
        return successor_state(policy, state, own), element
    return successor_state(policy, state, walk.group.record[element, record]), element


@linked_kernel
@borrowing
def _followed(walk, policy, view, e, record):
    """Return another player's view after an edge."""
    state, element = state_of(view), element_of(view)
    if record >= 0 and state > UNKNOWN:
        state, element = _successor_view(walk, policy, state, element, record)
    if state == UNKNOWN:
        return np.int64(STRANGE)
    return np.int64(turned(walk.group, view_of(state, element), walk.edge[e, TURN]))


@linked_kernel
@borrowing
def _learn(walk, policy, ahead, player, fixing, views, e, infostate):
    """Set ``infostate`` after edge ``e``; return ``player``'s record, and whether no view is in the policy any more."""
    learnt: int | np.int64
    group, learnt, strange = walk.group, np.int64(CHOICE), True
    for p in range(len(infostate)):
        record = np.int64(walk.edge[e, TOKENS + p])
        if p != player:
            none_left = ahead.after_edge[e, p] & LEFT == NONE_LEFT
            infostate[p] = STRANGE if none_left else _followed(walk, policy, views[p], e, record)
            strange = strange and infostate[p] == STRANGE
            continue
        element = element_of(views[p])
        if record >= 0:
            learnt, element = canonical(group, fixing, element, record)
        infostate[p] = turned(group, view_of(0, element), walk.edge[e, TURN])
    return learnt, strange


@inline_kernel
def _place(walk, position, view, action):
    """Return the edge of a move that is numbered on the board as the player sees it."""
    group = walk.group
    action_set = group.action_set[element_of(view), walk.position[position, CONTENT]]
    back = group.inverse[element_of(view)]
    return walk.position[position, FIRST] + group.entry[back, group.first_entry[action_set] + action]


@linked_kernel
@borrowing
def _chance_of(walk, policy, mover, player, e, row, view, place, actions):
    """Return the probability of an edge at ``place``, of a position where the mover has a ``action_probabilities``."""
    if mover == CHANCE:
        return walk.probability[e]
    if mover == player or view < STRANGE:
        return 1.0
    if row == NO_ROW:
        return 1.0 / actions
    return policy.behaviour[row + walk.group.entry[element_of(view), place]]


@linked_kernel
@borrowing
def _row_of(policy, view):
    return np.int64(policy.state[state_of(view), ROW]) if view >= 0 else np.int64(NO_ROW)


@linked_kernel
@borrowing
def _mix_row(group, policy, state, element, action_set, weight, target):
    """Add a state's behaviour to the mixture's state ``target``."""
    row, own = policy.state[state, ROW] if state != UNKNOWN else NO_ROW, policy.state[target, ROW]
    first, end = group.first_entry[action_set], group.first_entry[action_set + 1]
    for k in range(first, end):
        chance = policy.behaviour[row + group.entry[element, k]] if row != NO_ROW else 1.0 / (end - first)
        policy.behaviour[own + k - first] += weight * chance


@linked_kernel
@borrowing
def _clear_mixture(policy, ahead, begin, end, root):
    policy.state[root, CHILDREN], policy.state[root, SIZES] = root + 1, 2 * (end - begin)
    for k in range(policy.state[root, ROW], policy.state[root + end - begin + 1, ROW]):
        policy.behaviour[k] = 0.0
    for k in range(begin, end):
        policy.state[root + 1 + k - begin, OWN_RECORD] = ahead.choices[k, LEARNT]


@linked_kernel
@borrowing
def _mix(walk, policy, ahead, e, p, view, weight, root, anew):
    """Add the view of ``p`` after an edge, where it has TWO choices, to a mixture."""
    group, state, element = walk.group, state_of(view), element_of(view)
    position, action_set = walk.edge[e, CHILD], ahead.after_edge[e, p] >> LEFT_BITS
    begin, end = ahead.second[position, p, 0], ahead.second[position, p, 1]
    if anew:
        _clear_mixture(policy, ahead, begin, end, root)
    _mix_row(group, policy, state, element, action_set, weight, root)
    row, first = policy.state[state, ROW], group.first_entry[action_set]
    for k in range(begin, end):
        place = first + ahead.choices[k, BY]
        chance = policy.behaviour[row + group.entry[element, place]]
        if chance > 0.0:
            below, by = _successor_view(walk, policy, state, element, ahead.choices[k, LEARNT])
            _mix_row(group, policy, below, by, ahead.choices[k, AMONG], weight * chance, root + 1 + k - begin)


@linked_kernel
@borrowing
def _finish_mixtures(policy, scratch):
    """Normalise the weights of the mixtures to probabilities."""
    views, behaviour = scratch.fresh.views, policy.behaviour
    for k in range(scratch.at[SIZE]):
        for p in range(views.shape[1]):
            if views[k, p] != MIXTURE:
                continue
            root = policy.mixtures[0] + (scratch.at[OUT] + k) * policy.mixtures[1]
            views[k, p] = view_of(root, 0)
            for state in range(root, root + 1 + (policy.state[root, SIZES] >> 1)):
                total, begin, end = 0.0, policy.state[state, ROW], policy.state[state + 1, ROW]
                for j in range(begin, end):
                    total += behaviour[j]
                if total > 0.0:
                    for j in range(begin, end):
                        behaviour[j] /= total


@linked_kernel
@borrowing
def _add_all(walk, policy, ahead, player, scratch, e, record, weight):
    """Add the position that edge ``e`` leads to, one entry per move where another player's next move is its last.

    Such a player's information state no longer matters then, so that many entries are equal.  Returns whether there was
    room.
    """
    infostate, mover, mixed, position = scratch.infostate, player, player, walk.edge[e, CHILD]
    for p in range(len(infostate)):
        left = ahead.after_edge[e, p] & LEFT
        if p == player or infostate[p] < 0 or left not in (ONE, TWO):
            continue
        if left == TWO:
            mixed = p if _row_of(policy, infostate[p]) != NO_ROW else mixed
        elif _row_of(policy, infostate[p]) == NO_ROW:
            infostate[p] = STRANGE
        elif mover == player:  # of two such players one at a time, since all pairs would be many
            mover = p
    if mover == player and mixed == player:
        return _add(scratch, position, record, weight) != NO_ROOM
    if mover == player:
        view, size, infostate[mixed] = infostate[mixed], scratch.at[SIZE], MIXTURE
        k = _add(scratch, position, record, weight)
        if k != NO_ROOM:
            root = policy.mixtures[0] + (scratch.at[OUT] + k) * policy.mixtures[1]
            _mix(walk, policy, ahead, e, mixed, view, weight, root, k == size)
        return k != NO_ROOM
    view, action_set = infostate[mover], ahead.after_edge[e, mover] >> LEFT_BITS
    row, first = _row_of(policy, view), walk.group.first_entry[action_set]
    for action in range(walk.group.first_entry[action_set + 1] - first):
        share = weight * policy.behaviour[row + walk.group.entry[element_of(view), first + action]]
        infostate[mover] = _last_view(action)
        if share > 0.0 and _add(scratch, position, record, share) == NO_ROOM:
            return False
    return True


@linked_kernel
@borrowing
def _spread(walk, policy, ahead, player, fixing, entries, source, action, scratch):
    """Follow one entry, by ``action`` if given; return whether there was room, and the value without entries."""
    stack, infostate, value, size = scratch.stack, scratch.infostate, 0.0, 1
    if action == BEFORE and ahead.who[entries.position[source]] == HERE:
        _recall(entries, source, infostate)
        return _add(scratch, entries.position[source], CHOICE, entries.weight[source]) != NO_ROOM, 0.0
    _copy(entries, source, stack, 0)
    while size > 0:
        size -= 1
        position, weight = stack.position[size], stack.weight[size]
        mover, actions = walk.position[position, PLAYER], _actions(walk, position)
        first = walk.position[position, FIRST]
        begin, end = first, first + actions
        view = stack.views[size, mover] if mover not in (CHANCE, player) and actions > 1 else np.int64(STRANGE)
        row = _row_of(policy, view)
        if mover == player and action != BEFORE:
            begin = _place(walk, position, stack.views[size, player], action)
            end, action = begin + 1, BEFORE
        elif view < STRANGE:
            begin = _place(walk, position, view, _last_move(view))
            end = begin + 1
        place = walk.group.first_entry[walk.position[position, CONTENT]] - first if row != NO_ROW else 0
        if size + end - begin >= len(stack.position):
            return False, 0.0
        scratch.at[EDGES] += end - begin
        top = size + end - begin
        _copy(stack, size, stack, top)
        for e in range(begin, end):
            share = weight * _chance_of(walk, policy, mover, player, e, row, view, place + e, actions)
            who = ahead.after_edge[e, player]
            if share == 0.0 or who == OVER:
                value += share * ahead.uniform_value[e]
                continue
            record, strange = _learn(walk, policy, ahead, player, fixing, stack.views[top], e, infostate)
            if who == OTHERS and strange:
                value += share * ahead.uniform_value[e]
            elif who == HERE or (who == LATER and record >= 0):
                if not _add_all(walk, policy, ahead, player, scratch, e, record, share):
                    return False, 0.0
            else:
                _push(stack, size, walk.edge[e, CHILD], share, infostate)
                size += 1
    return True, value


@linked_kernel
@borrowing
def _sort(records, size):
    """Sort a few, or nearly sorted, records."""
    for k in range(1, size):
        record, j = records[k], k
        while j > 0 and records[j - 1] > record:
            records[j] = records[j - 1]
            j -= 1
        records[j] = record


@linked_kernel
@borrowing
def _group(scratch, entries, out):
    """Write the entries grouped by record from ``out`` on, in order of appearance; return their end."""
    fresh, count, at = scratch.fresh, scratch.counts, scratch.at
    _sort(scratch.kinds, at[KINDS])
    for j in range(at[KINDS]):
        record = scratch.kinds[j]
        out, count[record + 1] = out + count[record + 1], out
    for k in range(at[SIZE]):
        record = fresh.record[k]
        _copy(fresh, k, entries, count[record + 1])
        count[record + 1] += 1
    for j in range(at[KINDS]):
        count[scratch.kinds[j] + 1] = 0
    return out


@inner_kernel
@borrowing
def spread_all(walk, policy, ahead, player, fixing, entries, begin, end, action, out, scratch):
    """Follow a belief until ``player`` has to move or observes something, by ``action`` if given.

    The resulting entries are written by record from ``out`` on.  Returns their end, or NO_ROOM, after which the scratch
    space has to be made anew; and the value of play that leaves the player no choice.
    """
    at, value, slots = scratch.at, 0.0, 64
    at[BASE] += at[SIZE]
    at[SIZE] = at[KINDS] = 0
    at[OUT] = out
    while slots < SLOTS * (end - begin):
        slots *= 2
    at[LAST] = min(slots, len(scratch.slots)) - 1
    for k in range(begin, end):
        room, uniform_value = _spread(walk, policy, ahead, player, fixing, entries, k, action, scratch)
        if not room:
            return NO_ROOM, 0.0
        value += uniform_value
    _finish_mixtures(policy, scratch)
    return (_group(scratch, entries, out) if at[SIZE] > 0 else out), value
