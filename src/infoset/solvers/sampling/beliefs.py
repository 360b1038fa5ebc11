"""Beliefs as arrays: the positions that may be, what the others know there, and how likely that is.

A belief is followed until the player whose belief it is has to move or learns something.  What comes to the same is
one entry again, so a belief has no more of them than what differs; where the player will have no choice any more
nothing is written down, for what play is worth from there on is simply added up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.jit import borrowing, inline_kernel, inner_kernel, kernel, linked_kernel
from infoset.policies.infoset_policy import NO_ROW, UNKNOWN, InfosetPolicy, behind
from infoset.randomness import FIRST_MIX, SECOND_MIX, STRIDE
from infoset.tree.graph import CHANCE, TERMINAL, topological
from infoset.tree.walk import (
    CHILD,
    CONTENT,
    ELEMENT_BITS,
    FIRST,
    MOVES,
    PLAYER,
    TOKENS,
    TURN,
    Walk,
    canonical,
    element_of,
    state_of,
    turned,
    view_of,
)  # fmt: skip

CHOICE = -1  # in place of a token: the player has to move
BEFORE = -1  # in place of a move: what happens before the player has to move
NO_ROOM = -1
STRANGE = UNKNOWN << ELEMENT_BITS  # the view of all states of which the policy knows nothing
OVER, OTHERS, LATER, HERE = range(4)  # who will have a choice: nobody, not the player, it further on, it now
GONE, ONE, MORE = range(3)  # choices that a player has from a position on; ONE: without learning anything before it
NO_MENU = -1
LEFT_BITS = 2
LEFT = (1 << LEFT_BITS) - 1
SIZE, KINDS, BASE, LAST, EDGES = range(5)
SLOTS = 4  # for each entry of a belief that is followed, at first


class Ahead(NamedTuple):
    """What play comes to, as one player sees it.

    What is behind an edge stands with the edge: that of a position's edges is read at one place in memory.
    """

    who: LongArray  # (P,) OVER, OTHERS, LATER or HERE
    behind: (
        IntArray  # (E, n) the player's own: ``who`` behind an edge; others': GONE, ONE or MORE, and for ONE the menu
    )
    worth: FloatArray  # (E,) where the player has no choice and all others move as likely this as that

    @classmethod
    def of(cls, walk: Walk, player: int) -> Ahead:
        size, n, child = len(walk.position), walk.num_players, np.ascontiguousarray(walk.edge[:, CHILD])
        order, _ = topological(np.append(walk.position[:, FIRST], len(child)).astype(np.int32), child)
        who, worth = np.zeros(size, dtype=np.int64), np.zeros(size)
        _look_ahead(walk, order, player, who, worth)
        left, menu = np.zeros((2, size, n), dtype=np.int32)
        for p in range(n):
            _count_choices(walk, order, p, left, menu)
        behind = (menu << LEFT_BITS | left)[child]
        behind[:, player] = who[child]
        return cls(who, behind, worth[child])


@kernel
@borrowing
def _look_ahead(walk, order, player, who, worth):
    for k in range(len(order) - 1, -1, -1):
        position = order[k]
        mover, first, moves = walk.position[position, PLAYER], walk.position[position, FIRST], _moves(walk, position)
        who[position], worth[position] = OVER, 0.0
        if mover == TERMINAL:
            worth[position] = walk.payoffs[walk.position[position, CONTENT], player]
        for e in range(first, first + moves):
            below = walk.edge[e, CHILD]
            who[position] = max(who[position], min(who[below], LATER))
            worth[position] += (walk.probability[e] if mover == CHANCE else 1.0 / moves) * worth[below]
        if moves > 1 and mover == player:
            who[position] = HERE
        elif moves > 1 and mover != CHANCE:
            who[position] = max(who[position], OTHERS)


@linked_kernel
@borrowing
def _choices_behind(walk, e, p, left, menu):
    """What ``p`` has left behind an edge, and as the board is before it, among what."""
    below = walk.edge[e, CHILD]
    if left[below, p] != ONE:
        return np.int64(left[below, p]), np.int64(NO_MENU)
    among = np.int64(walk.group.menu[walk.edge[e, TURN], menu[below, p]])
    return np.int64(MORE if walk.edge[e, TOKENS + p] >= 0 or among == NO_MENU else ONE), among


@kernel
@borrowing
def _count_choices(walk, order, p, left, menu):
    for k in range(len(order) - 1, -1, -1):
        position = order[k]
        first, moves = walk.position[position, FIRST], _moves(walk, position)
        most, among, one = GONE, np.int64(NO_MENU), True
        for e in range(first, first + moves):
            found, behind_it = _choices_behind(walk, e, p, left, menu)
            most = max(most, found)
            if found == ONE:
                one = one and among in (np.int64(NO_MENU), behind_it)
                among = behind_it
        if moves > 1 and walk.position[position, PLAYER] == p:
            most, among = ONE if most == GONE else MORE, walk.position[position, CONTENT]
        elif not one:
            most = MORE
        left[position, p], menu[position, p] = most, among


@kernel
@borrowing
def _find_lively(first_child, row, lively):
    for state in range(len(row) - 1, -1, -1):
        lively[state] = row[state] != NO_ROW
        for child in range(first_child[state], first_child[state + 1]):
            lively[state] |= lively[child]


def pruned(policy: InfosetPolicy, players: int) -> InfosetPolicy:
    """The same policy without states from which on it knows nothing."""
    lively = np.zeros(len(policy.row), dtype=np.bool_)
    _find_lively(policy.first_child, policy.row, lively)
    lively[:players] = True
    kept = np.flatnonzero(lively)
    first = np.cumsum(np.append(0, lively))[policy.first_child[np.append(kept, len(lively))]].astype(np.int32)
    return InfosetPolicy(first, policy.token[kept], policy.fixing[kept], policy.row[kept], policy.behaviour)


class Entries(NamedTuple):
    """What may be: beliefs, one behind the other."""

    position: IntArray  # (C,)
    views: LongArray  # (C, n) what the others know, and how the player sees the board
    weight: FloatArray  # (C,) by chance and by the others' moves
    token: IntArray  # (C,) what the player has just learnt, or CHOICE

    @classmethod
    def empty(cls, size: int, players: int) -> Entries:
        flat = np.zeros(size, dtype=np.int32)
        return cls(flat, np.zeros((size, players), dtype=np.int64), np.zeros(size), flat.copy())


class Scratch(NamedTuple):
    """What following a belief needs; nothing in it outlasts that."""

    fresh: Entries  # what the belief has come to so far, all different
    word: LongArray  # (C,) the hash of each
    slots: LongArray  # (a power of two,) BASE and the number of one of them
    stack: Entries  # what has not been followed to its end
    counts: LongArray  # (tokens + 1,) how many there are with CHOICE, with each token
    kinds: IntArray  # (tokens + 1,) the tokens that there are, CHOICE included
    known: LongArray  # (n,) the views behind an edge
    at: LongArray  # (5,) SIZE of ``fresh``, number of KINDS, BASE, LAST of the slots in use, EDGES followed in all

    @classmethod
    def empty(cls, size: int, players: int, tokens: int) -> Scratch:
        slots = np.zeros(1 << (2 * size + 1).bit_length(), dtype=np.int64)
        count, kinds = np.zeros(tokens + 1, dtype=np.int64), np.zeros(tokens + 1, dtype=np.int32)
        known, at = np.zeros(players, dtype=np.int64), np.zeros(5, dtype=np.int64)
        at[BASE] = 1
        fresh, stack = Entries.empty(size, players), Entries.empty(size, players)
        return cls(fresh, np.zeros(size, dtype=np.int64), slots, stack, count, kinds, known, at)


@inline_kernel
def _last_view(move):
    """The view of a player of whom only the next move counts, numbered as the board is now."""
    return view_of(UNKNOWN - 1 - move, 0)


@inline_kernel
def _last_move(view):
    return UNKNOWN - 1 - state_of(view)


@inline_kernel
def _moves(walk, position):
    return walk.position[position, MOVES]


@linked_kernel
@borrowing
def _copy(source, k, target, j):
    target.position[j], target.weight[j], target.token[j] = source.position[k], source.weight[k], source.token[k]
    for p in range(source.views.shape[1]):
        target.views[j, p] = source.views[k, p]


@linked_kernel
@borrowing
def _push(stack, k, position, weight, known):
    stack.position[k], stack.weight[k] = position, weight
    for p in range(len(known)):
        stack.views[k, p] = known[p]


@linked_kernel
@borrowing
def _recall(entries, k, known):
    for p in range(len(known)):
        known[p] = entries.views[k, p]


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
    """Four times as many; a table that is no larger than what is in it stays in the processor's own memory."""
    at = scratch.at
    at[BASE] += at[SIZE]
    at[LAST] = min(4 * (at[LAST] + 1), len(scratch.slots)) - 1
    for k in range(at[SIZE]):
        _place_word(scratch.slots, at, scratch.word[k], k)


@linked_kernel
@borrowing
def _word_of(position, token, known):
    """A hash of an entry."""
    word = (np.uint64(position) << np.uint64(32) ^ np.uint64(token)) * FIRST_MIX
    for p in range(len(known)):
        word = (word ^ (word >> np.uint64(29)) ^ np.uint64(known[p])) * SECOND_MIX + STRIDE
    return np.int64((word ^ (word >> np.uint64(32))) >> np.uint64(1))


@linked_kernel
@borrowing
def _is(fresh, k, position, token, known):
    same = fresh.position[k] == position and fresh.token[k] == token
    for p in range(len(known)):
        same = same and fresh.views[k, p] == known[p]
    return same


@linked_kernel
@borrowing
def _add(scratch, position, token, weight):
    """One thing more that may be, with the views ``known``; whether there was room."""
    fresh, slots, at, known = scratch.fresh, scratch.slots, scratch.at, scratch.known
    word = _word_of(position, token, known)
    slot = word & at[LAST]
    while slots[slot] >= at[BASE]:
        k = slots[slot] - at[BASE]
        if scratch.word[k] == word and _is(fresh, k, position, token, known):
            fresh.weight[k] += weight
            return True
        slot = (slot + 1) & at[LAST]
    k = at[SIZE]
    if k == len(fresh.position):
        return False
    slots[slot] = at[BASE] + k
    fresh.position[k], fresh.token[k], fresh.weight[k], scratch.word[k] = position, token, weight, word
    for p in range(len(known)):
        fresh.views[k, p] = known[p]
    at[SIZE] = k + 1
    if scratch.counts[token + 1] == 0:
        scratch.kinds[at[KINDS]] = token
        at[KINDS] += 1
    scratch.counts[token + 1] += 1
    if 2 * at[SIZE] > at[LAST]:
        _use_more_slots(scratch)
    return True


@linked_kernel
@borrowing
def _followed(walk, policy, view, e, token):
    """What another player knows behind an edge."""
    group, state, element = walk.group, state_of(view), element_of(view)
    if state == UNKNOWN:
        return np.int64(STRANGE)
    if token >= 0 and state > UNKNOWN:
        if policy.fixing[state] == 1:
            token = group.token[element, token]
        else:
            token, element = canonical(group, policy.fixing[state], element, token)
        state = behind(policy.first_child, policy.token, state, token)
        if state == UNKNOWN:
            return np.int64(STRANGE)
    return np.int64(turned(group, view_of(state, element), walk.edge[e, TURN]))


@linked_kernel
@borrowing
def _learn(walk, policy, ahead, player, fixing, views, e, known):
    """Set ``known`` behind edge ``e``; returns what ``player`` has learnt, and whether the policy is strange to all."""
    group, learnt, strange = walk.group, np.int64(CHOICE), True
    for p in range(len(known)):
        token = np.int64(walk.edge[e, TOKENS + p])
        if p != player:
            gone = ahead.behind[e, p] & LEFT == GONE
            known[p] = STRANGE if gone else _followed(walk, policy, views[p], e, token)
            strange = strange and known[p] == STRANGE
            continue
        element = element_of(views[p])
        if token >= 0:
            learnt, element = canonical(group, fixing, element, token)
        known[p] = turned(group, view_of(0, element), walk.edge[e, TURN])
    return learnt, strange


@inline_kernel
def _place(walk, position, view, move):
    """The edge of a move that is numbered as the player sees the board."""
    group = walk.group
    menu = group.menu[element_of(view), walk.position[position, CONTENT]]
    back = group.inverse[element_of(view)]
    return walk.position[position, FIRST] + group.entry[back, group.first_entry[menu] + move]


@linked_kernel
@borrowing
def _chance_of(walk, policy, mover, player, e, row, view, place, moves):
    """How likely an edge is, of a position where the mover has a ``row`` of which it plays what is at ``place``."""
    if mover == CHANCE:
        return walk.probability[e]
    if mover == player or view < STRANGE:
        return 1.0
    if row == NO_ROW:
        return 1.0 / moves
    return policy.behaviour[row + walk.group.entry[element_of(view), place]]


@linked_kernel
@borrowing
def _row_of(policy, view):
    return np.int64(policy.row[state_of(view)]) if view >= 0 else np.int64(NO_ROW)


@linked_kernel
@borrowing
def _add_all(walk, policy, ahead, player, scratch, e, token, weight):
    """What edge ``e`` leads to may be; where somebody's next move is the last, that is one thing for each such move.

    What else a player knows then no longer matters, so that much comes to the same.  Whether there was room.
    """
    known, mover, position = scratch.known, player, walk.edge[e, CHILD]
    for p in range(len(known)):
        if p == player or known[p] < 0 or ahead.behind[e, p] & LEFT != ONE:
            continue
        if _row_of(policy, known[p]) == NO_ROW:
            known[p] = STRANGE
        elif mover == player:  # of two, one at a time: all pairs would be many
            mover = p
    if mover == player:
        return _add(scratch, position, token, weight)
    view, menu = known[mover], ahead.behind[e, mover] >> LEFT_BITS
    row, first = _row_of(policy, view), walk.group.first_entry[menu]
    for move in range(walk.group.first_entry[menu + 1] - first):
        share = weight * policy.behaviour[row + walk.group.entry[element_of(view), first + move]]
        known[mover] = _last_view(move)
        if share > 0.0 and not _add(scratch, position, token, share):
            return False
    return True


@linked_kernel
@borrowing
def _spread(walk, policy, ahead, player, fixing, entries, source, move, scratch):
    """Follow one entry, by ``move`` where one is given.  Whether there was room, and what that is worth which ends."""
    stack, known, value, size = scratch.stack, scratch.known, 0.0, 1
    if move == BEFORE and ahead.who[entries.position[source]] == HERE:
        _recall(entries, source, known)
        return _add(scratch, entries.position[source], CHOICE, entries.weight[source]), 0.0
    _copy(entries, source, stack, 0)
    while size > 0:
        size -= 1
        position, weight = stack.position[size], stack.weight[size]
        mover, moves = walk.position[position, PLAYER], _moves(walk, position)
        first = walk.position[position, FIRST]
        begin, end = first, first + moves
        view = stack.views[size, mover] if mover not in (CHANCE, player) and moves > 1 else np.int64(STRANGE)
        row = _row_of(policy, view)
        if mover == player and move != BEFORE:
            begin = _place(walk, position, stack.views[size, player], move)
            end, move = begin + 1, BEFORE
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
            share = weight * _chance_of(walk, policy, mover, player, e, row, view, place + e, moves)
            who = ahead.behind[e, player]
            if share == 0.0 or who == OVER:
                value += share * ahead.worth[e]
                continue
            token, strange = _learn(walk, policy, ahead, player, fixing, stack.views[top], e, known)
            if who == OTHERS and strange:
                value += share * ahead.worth[e]
            elif who == HERE or (who == LATER and token >= 0):
                if not _add_all(walk, policy, ahead, player, scratch, e, token, share):
                    return False, 0.0
            else:
                _push(stack, size, walk.edge[e, CHILD], share, known)
                size += 1
    return True, value


@linked_kernel
@borrowing
def _sort(tokens, size):
    """Few, or nearly sorted."""
    for k in range(1, size):
        token, j = tokens[k], k
        while j > 0 and tokens[j - 1] > token:
            tokens[j] = tokens[j - 1]
            j -= 1
        tokens[j] = token


@linked_kernel
@borrowing
def _group(scratch, entries, out):
    """Write what there is by token from ``out`` on, in order of appearance; returns its end, or NO_ROOM."""
    fresh, count, at = scratch.fresh, scratch.counts, scratch.at
    if out + at[SIZE] > len(entries.position):
        return NO_ROOM
    _sort(scratch.kinds, at[KINDS])
    for j in range(at[KINDS]):
        token = scratch.kinds[j]
        out, count[token + 1] = out + count[token + 1], out
    for k in range(at[SIZE]):
        token = fresh.token[k]
        _copy(fresh, k, entries, count[token + 1])
        count[token + 1] += 1
    for j in range(at[KINDS]):
        count[scratch.kinds[j] + 1] = 0
    return out


@inner_kernel
@borrowing
def spread_all(walk, policy, ahead, player, fixing, entries, begin, end, move, out, scratch):
    """Follow a belief until ``player`` has to move or learns something, by ``move`` where one is given.

    What it comes to is written by token from ``out`` on.  Returns its end, or NO_ROOM: then the scratch has to be made
    anew; and what is worth that which leaves the player no choice.
    """
    at, value, slots = scratch.at, 0.0, 64
    at[BASE] += at[SIZE]
    at[SIZE] = at[KINDS] = 0
    while slots < SLOTS * (end - begin):
        slots *= 2
    at[LAST] = min(slots, len(scratch.slots)) - 1
    for k in range(begin, end):
        room, worth = _spread(walk, policy, ahead, player, fixing, entries, k, move, scratch)
        if not room:
            return NO_ROOM, 0.0
        value += worth
    return (_group(scratch, entries, out) if at[SIZE] > 0 else out), value
