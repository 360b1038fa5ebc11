"""Hat guessing in Hanabi: each hint tells every other player something about its own hand at once (Cox et al. 2015).

All players hold the same table of what each card may be.  Questions about a hand follow from this table alone, so that
everybody asks the same ones; the answers of a hand, which all but its holder can see, are one number below ``M``.  A
hint stands for the sum of all other players' numbers modulo ``M``: each of them takes off what it sees and is left with
its own.  ``M`` is three for each other player: a hint may name the rank or the colour of one certain card of that
player, or leave the card out.  Of three players, it matters also whether it leaves the card out by a rank or a colour;
of two, whether it then names a second certain card, which makes six, and the first question is which card is the first
that can be played.  Among hints for the same number the agent gives the one that tells most by itself.

The agent plays cards that are surely playable.  Where another has a playable card and does not know of one, it hints.
Otherwise it discards a useless card, as long as there are turns to spare; of more than two players, that tells those
who know of no playable card that they have none.  Of two, who have fewer hints, it also plays cards that are likely
enough to fit while it has lives to lose, and discards cheap cards rather than give a hint that is not needed.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from infoset.base import Action, FloatArray, Game, LongArray, Observation, ObservationRecord, own_record
from infoset.errors import UnsupportedGameError
from infoset.games.hanabi import NOBODY, UNSEEN, HanabiRules, View, cards, moves_of
from infoset.games.hanabi_tables import (
    DRAWN,
    EMPTY,
    INFO,
    LIVES,
    MOVER,
    Tables,
    begin,
    is_over,
    make_tables,
    score,
    step,
    sum_fireworks,
)
from infoset.jit import borrowing, count_ones, kernel, linked_kernel, lowest_one
from infoset.randomness import Words, streams

PAIR, THREE = 2, 3  # players, whose hints have more meanings
SPARE_TURNS, LATE_SPARE_TURNS, LATE = 3, 4, 7  # of more than so many, one is for a discard; with a deck of few cards
SPARE_TURNS_OF_PAIR, LATE_SPARE_TURNS_OF_PAIR = 0, 2
SURE, SURE_OF_LAST_BUT_ONE = 0.7, 0.8  # probabilities to play a card at; with two lives left
FEW_TOKENS, CHEAP = 4, 0.8  # with so few, a pair discards a card of so low a cost rather than give a needless hint
DUPLICATE, PLAYABLE = 0.15, 0.3  # costs to lose a card of which there is another, beside its ranks; one playable now
FOLLOWED, KNOWN = 1.0, 1.0  # in ranks: another holds the next card, or also knows that it does
PORTION = 1000  # games between two chances to interrupt a series
LAST_CARDS = 1  # of the deck, with which a last card of a firework waits for other turns


class Shared(NamedTuple):
    """What all players know, ``n`` of them with ``h`` slots, of ``T`` card types; and arrays to work in."""

    known: LongArray  # (n, h) the types that each card may have, as bits
    placed: LongArray  # (T,) copies of each type whose place is known
    part: LongArray  # (T,) answers to a question
    top: LongArray  # (c,) ranks of each colour that can still be reached
    asked: LongArray  # (h,) whether a slot was asked about
    own: LongArray  # (h,) the types that the mover's cards may have by all that it sees
    answers: LongArray  # (n,) answers of the others' hands
    rate: FloatArray  # (h,) probabilities that the cards of a hand are playable

    @classmethod
    def of(cls, t: Tables) -> Shared:
        """Return what is known before the deal."""
        n, h, types = t.hand.shape[1], t.hand.shape[2], len(t.copies)
        a, b = np.zeros(types, np.int64), np.zeros(types, np.int64)
        full = np.full((n, h), (1 << types) - 1)
        c, d, e = np.zeros(t.fireworks.shape[1], np.int64), np.zeros(h, np.int64), np.zeros(h, np.int64)
        return cls(full, a, b, c, d, e, np.zeros(n, np.int64), np.zeros(h))


@linked_kernel
@borrowing
def kinds_of(players: int) -> int:
    """Return how many meanings a hint to a player can have."""
    if players == PAIR:
        return 6
    return 4 if players == THREE else 3


@linked_kernel
@borrowing
def find_useful(t: Tables, g: int, shared: Shared) -> tuple[int, int]:
    """Return the types that can be played now, and those of no more use; write which ranks can be reached."""
    ranks, top = t.limits[0], shared.top
    playable, useless = 0, 0
    for color in range(t.fireworks.shape[1]):
        reached = t.fireworks[g, color]
        top[color] = ranks
        for rank in range(reached, ranks):
            if t.removed[g, ranks * color + rank] >= t.copies[ranks * color + rank]:
                top[color] = rank
                break
        for rank in range(ranks):
            if rank < reached or rank >= top[color]:
                useless |= 1 << (ranks * color + rank)
            elif rank == reached:
                playable |= 1 << (ranks * color + rank)
    return playable, useless


@linked_kernel
@borrowing
def count_placed(t: Tables, g: int, shared: Shared) -> None:
    """Count the copies of each type whose place everybody knows."""
    for k in range(len(t.copies)):
        shared.placed[k] = t.removed[g, k]
    for p in range(t.hand.shape[1]):
        for s in range(t.size[g, p]):
            types = shared.known[p, s]
            if types & (types - 1) == 0:
                shared.placed[lowest_one(types)] += 1


@linked_kernel
@borrowing
def prune(t: Tables, g: int, shared: Shared) -> None:
    """Rule out types whose copies are all in known places, as long as that tells anything."""
    changed = True
    while changed:
        changed = False
        count_placed(t, g, shared)
        out = 0
        for k in range(len(t.copies)):
            if shared.placed[k] >= t.copies[k]:
                out |= 1 << k
        for p in range(t.hand.shape[1]):
            for s in range(t.size[g, p]):
                types = shared.known[p, s]
                if types & (types - 1) != 0 and types & out and types & ~out:
                    shared.known[p, s] = types & ~out
                    changed = True


@linked_kernel
@borrowing
def probability_of(t: Tables, shared: Shared, types: int, among: int) -> float:
    """Return the probability that a card of some types is one of others, by the copies that are in no known place."""
    total = found = 0.0
    while types:
        k = lowest_one(types)
        left = t.copies[k] - shared.placed[k]
        total += left
        if among >> k & 1:
            found += left
        types &= types - 1
    return found / total if total > 0.0 else 0.0


@linked_kernel
@borrowing
def divide(t: Tables, shared: Shared, types: int, most: int, playable: int, useless: int) -> int:
    """Divide types into at most ``most`` answers, useless ones together; return how many there are."""
    now = later = first = 0
    for k in range(len(t.copies)):
        if types >> k & 1:
            if useless >> k & 1:
                first = 1
            elif playable >> k & 1:
                now += 1
            else:
                later += 1
    if most == 2 and first + now + later > 2:  # is it playable?  Where none is, is it useless?
        yes = playable if now else useless
        for k in range(len(t.copies)):
            shared.part[k] = yes >> k & 1
        return 2
    room = most - first
    if now + later > room:
        now = min(now, max(1, room - 1)) if later else room
        later = min(later, room - now)
    number_answers(t, shared, types, playable, useless, first, first + now, first + now + later)
    return first + now + later


@linked_kernel
@borrowing
def number_answers(
    t: Tables, shared: Shared, types: int, playable: int, useless: int, first: int, second: int, end: int
) -> None:
    """Give useless types answer 0, playable ones those from ``first``, the others those from ``second`` to ``end``."""
    i = j = 0
    for k in range(len(t.copies)):
        if types >> k & 1:
            if useless >> k & 1:
                shared.part[k] = 0
            elif playable >> k & 1:
                shared.part[k] = first + i % max(second - first, 1)
                i += 1
            else:
                shared.part[k] = second + j % max(end - second, 1)
                j += 1


@linked_kernel
@borrowing
def next_question(t: Tables, g: int, shared: Shared, player: int, playable: int, useless: int) -> int:
    """Return the slot of a hand to ask about: the likeliest to be playable; EMPTY where nothing is to be asked."""
    best, found = -1.0, EMPTY
    for s in range(t.size[g, player]):
        types = shared.known[player, s]
        if shared.asked[s] or types & (types - 1) == 0 or types & ~useless == 0:
            continue
        if types & ~playable == 0:  # it will be played anyway
            value = 0.0005
        else:
            value = probability_of(t, shared, types, playable) + 0.001 * (
                1.0 - probability_of(t, shared, types, useless)
            )
        if value > best:
            best, found = value, s
    return found


@linked_kernel
@borrowing
def rate_slots(t: Tables, g: int, shared: Shared, player: int, playable: int) -> None:
    """Write the probabilities that the cards of a hand are playable, 0 where that is known: they will be played."""
    for s in range(t.size[g, player]):
        types = shared.known[player, s]
        shared.rate[s] = probability_of(t, shared, types, playable) if types & ~playable else 0.0


@linked_kernel
@borrowing
def ask_for_playable(
    t: Tables, g: int, shared: Shared, player: int, playable: int, useless: int, given: int, most: int
) -> tuple[int, int]:
    """Answer as ``ask`` which is the first playable of the likeliest cards; return also how many answers there are."""
    rate_slots(t, g, shared, player, playable)
    count = 0
    while count < most - 1:
        best, slot = 0.0, EMPTY
        for s in range(t.size[g, player]):
            if shared.asked[s] == 0 and shared.rate[s] > best:
                best, slot = shared.rate[s], s
        if slot == EMPTY:
            break
        count += 1
        shared.asked[slot] = count
    first = count + 1
    if given == EMPTY:
        for s in range(t.size[g, player]):
            if shared.asked[s] and playable >> t.hand[g, player, s] & 1:
                first = min(first, shared.asked[s])
        return first % (count + 1), count + 1
    if given % (count + 1):
        first = given % (count + 1)
    for s in range(t.size[g, player]):
        if shared.asked[s] == first:
            shared.known[player, s] &= playable
        elif 0 < shared.asked[s] < first:
            shared.known[player, s] &= ~playable
    return 0, count + 1


@linked_kernel
@borrowing
def ask(t: Tables, g: int, shared: Shared, player: int, playable: int, useless: int, given: int) -> tuple[int, int]:
    """Return the answers of a hand as one number; or, where ``given`` is one, rule out what has other answers."""
    left, unit, answer = kinds_of(t.hand.shape[1]) * (t.hand.shape[1] - 1), 1, 0
    shared.asked[:] = 0
    if t.hand.shape[1] == PAIR:
        answer, unit = ask_for_playable(t, g, shared, player, playable, useless, given, left)
        left //= unit
    while left > 1:
        slot = next_question(t, g, shared, player, playable, useless)
        if slot == EMPTY:
            break
        shared.asked[slot] = 1
        types = shared.known[player, slot]
        answers = divide(t, shared, types, left, playable, useless)
        if given == EMPTY:
            card = t.hand[g, player, slot]
            if types >> card & 1:  # else what is known is false, as after a move that means something else
                answer += unit * shared.part[card]
        else:
            rest = 0
            for k in range(len(t.copies)):
                if types >> k & 1 and shared.part[k] == given // unit % answers:
                    rest |= 1 << k
            if rest:
                shared.known[player, slot] = rest
        unit *= answers
        left //= answers
    return answer, unit


@linked_kernel
@borrowing
def pointed_slot(t: Tables, g: int, shared: Shared, player: int, but: int) -> int:
    """Return the slot that hints to a player name or leave out: but for one, that which may be the most types."""
    best, found = 0, 0
    for s in range(t.size[g, player]):
        count = count_ones(shared.known[player, s]) if s != but else 0
        if count > best:
            best, found = count, s
    return found


@linked_kernel
@borrowing
def types_of_word(t: Tables, is_color: bool, word: int) -> int:
    """Return the types of a colour or rank."""
    ranks: int = t.limits[0]
    if is_color:
        return ((1 << ranks) - 1) << (ranks * word)
    found = 0
    for color in range(t.fireworks.shape[1]):
        found |= 1 << (ranks * color + word)
    return found


@linked_kernel
@borrowing
def slots_with(t: Tables, g: int, player: int, types: int) -> int:
    """Return the slots of the cards of some types, as bits."""
    found = 0
    for s in range(t.size[g, player]):
        found |= (types >> t.hand[g, player, s] & 1) << s
    return found


@linked_kernel
@borrowing
def kind_of(players: int, first: int, second: int, is_color: bool, touched: int) -> int:
    """Return the meaning of a hint that names the slots ``touched``, of which two are pointed ones."""
    if touched >> first & 1:
        return 1 if is_color else 0
    if players > THREE:
        return 2
    if players == THREE:
        return 3 if is_color else 2
    if touched >> second & 1:
        return 4 if is_color else 5
    return 2 if is_color else 3


@linked_kernel
@borrowing
def count_left(t: Tables, g: int, shared: Shared, player: int, types: int, touched: int) -> float:
    """Return how much a hint of some types leaves open: the product of the numbers of types of a hand's cards."""
    product = 1.0
    for s in range(t.size[g, player]):
        product *= max(count_ones(shared.known[player, s] & (types if touched >> s & 1 else ~types)), 1)
    return product


@linked_kernel
@borrowing
def find_hint(t: Tables, g: int, shared: Shared, number: int, unit: int) -> int:
    """Return the hint that stands for a number and tells most; EMPTY where there is none."""
    n, colors, ranks = t.hand.shape[1], t.fireworks.shape[1], t.limits[0]
    kinds = kinds_of(n)
    other = number // kinds
    player = (t.counts[g, MOVER] + 1 + other) % n
    first = pointed_slot(t, g, shared, player, EMPTY)
    second = pointed_slot(t, g, shared, player, first)
    found: int = EMPTY
    fewest = np.inf
    for s in range(t.size[g, player]):
        for is_color in (False, True):
            card = t.hand[g, player, s]
            word = card // ranks if is_color else card % ranks
            types = types_of_word(t, is_color, word)
            touched = slots_with(t, g, player, types)
            if (kinds * other + kind_of(n, first, second, is_color, touched)) % unit == number:
                left = count_left(t, g, shared, player, types, touched)
                if left < fewest:
                    fewest = left
                    if is_color:
                        found = 2 * t.limits[1] + other * colors + word
                    else:
                        found = 2 * t.limits[1] + (n - 1) * colors + other * ranks + word
    return found


@linked_kernel
@borrowing
def read_hint(t: Tables, g: int, action: int) -> tuple[int, bool, int]:
    """Return how many seats behind the next one the player of a hint sits, whether it is of a colour, and of which."""
    colors, ranks = t.fireworks.shape[1], t.limits[0]
    k = action - 2 * t.limits[1]
    by_colors = (t.hand.shape[1] - 1) * colors
    if k < by_colors:
        return k // colors, True, k % colors
    return (k - by_colors) // ranks, False, (k - by_colors) % ranks


@linked_kernel
@borrowing
def hear_hint(t: Tables, g: int, shared: Shared, action: int, touched: int, blind: int) -> None:
    """Rule out what a hint rules out in all hands.

    ``touched`` are the slots that it names, as bits; ``blind`` is the player whose hand is not in the tables, or EMPTY.
    """
    n, mover = t.hand.shape[1], t.counts[g, MOVER]
    playable, useless = find_useful(t, g, shared)
    count_placed(t, g, shared)
    other, is_color, word = read_hint(t, g, action)
    player = (mover + 1 + other) % n
    first = pointed_slot(t, g, shared, player, EMPTY)
    second = pointed_slot(t, g, shared, player, first)
    total, shift = kinds_of(n) * (n - 1), kinds_of(n) * other + kind_of(n, first, second, is_color, touched)
    for p in range(n):
        shared.answers[p] = 0
        if p not in (mover, blind) and n > PAIR:
            shared.answers[p] = ask(t, g, shared, p, playable, useless, EMPTY)[0]
            shift -= shared.answers[p]
    for p in range(n):
        if p != mover:
            given = shared.answers[p] + (shift if n == PAIR or blind in (EMPTY, mover, p) else 0)
            ask(t, g, shared, p, playable, useless, given % total)
    full, named = (1 << len(t.copies)) - 1, types_of_word(t, is_color, word)
    for s in range(t.size[g, player]):
        rest = named if touched >> s & 1 else full & ~named
        types = shared.known[player, s] & rest  # none where another agent meant something else by its hints
        shared.known[player, s] = types if types else rest


@linked_kernel
@borrowing
def look_around(t: Tables, g: int, shared: Shared, mover: int) -> None:
    """Write the types that the mover's cards may have by all that it sees, and count all copies that it sees."""
    out = 0
    for k in range(len(t.copies)):
        shared.placed[k] = t.removed[g, k]
    for p in range(t.hand.shape[1]):
        for s in range(t.size[g, p] if p != mover else 0):
            shared.placed[t.hand[g, p, s]] += 1
    for k in range(len(t.copies)):
        if shared.placed[k] >= t.copies[k]:
            out |= 1 << k
    for s in range(t.size[g, mover]):
        types = shared.known[mover, s]
        shared.own[s] = types & ~out if types & ~out else types


@linked_kernel
@borrowing
def knows_play(t: Tables, g: int, shared: Shared, player: int, playable: int) -> bool:
    """Return whether everybody knows that a player knows of a card that can be played."""
    found = False
    for s in range(t.size[g, player]):
        found |= shared.known[player, s] & ~playable == 0
    return found


@linked_kernel
@borrowing
def hint_is_needed(t: Tables, g: int, shared: Shared, mover: int, playable: int) -> bool:
    """Return whether one of the others has a playable card and does not know of any."""
    for p in range(t.hand.shape[1]):
        if p != mover and not knows_play(t, g, shared, p, playable):
            for s in range(t.size[g, p]):
                if playable >> t.hand[g, p, s] & 1:
                    return True
    return False


@linked_kernel
@borrowing
def hear_discard(t: Tables, g: int, shared: Shared) -> None:
    """Rule out playable cards of those who know of none, where the mover discards instead of a hint."""
    if t.counts[g, INFO] == 0 or t.hand.shape[1] == PAIR:
        return
    playable, _ = find_useful(t, g, shared)
    for p in range(t.hand.shape[1]):
        if p != t.counts[g, MOVER] and not knows_play(t, g, shared, p, playable):
            for s in range(t.size[g, p]):
                if shared.known[p, s] & ~playable:
                    shared.known[p, s] &= ~playable


@linked_kernel
@borrowing
def spare_slot(t: Tables, g: int, shared: Shared, mover: int, useless: int) -> int:
    """Return a slot of a card that is surely of no use, or of which there is another in a hand; EMPTY without one."""
    for s in range(t.size[g, mover]):
        if shared.own[s] & ~useless == 0:
            return s
    for s in range(t.size[g, mover]):
        types = shared.own[s]
        if types & (types - 1) != 0:
            continue
        k = lowest_one(types)
        if shared.placed[k] > t.removed[g, k]:
            return s
        for other in range(t.size[g, mover]):
            if other != s and shared.own[other] == types:
                return s
    return EMPTY


@linked_kernel
@borrowing
def cheapest_slot(t: Tables, g: int, shared: Shared, mover: int, playable: int, useless: int) -> tuple[int, float]:
    """Return the slot whose loss is expected to cost least: last copies cost most, of low ranks more than of high."""
    best, found, ranks = np.inf, 0, t.limits[0]
    for s in range(t.size[g, mover]):
        cost, total, types = 0.0, 0.0, shared.own[s]
        while types:
            k = lowest_one(types)
            types &= types - 1
            weight = t.copies[k] - shared.placed[k]
            total += weight
            if useless >> k & 1 == 0:
                left = t.copies[k] - t.removed[g, k]
                each = float(ranks - k % ranks) if left == 1 else DUPLICATE * (ranks - k % ranks) / left
                cost += weight * (each + (PLAYABLE if playable >> k & 1 else 0.0))
        cost = cost / total if total > 0.0 else 0.0
        if cost < best - 1e-9:
            best, found = cost, s
    return found, best


@linked_kernel
@borrowing
def play_value(t: Tables, g: int, shared: Shared, mover: int, types: int) -> float:
    """Return how good it is to play one of some playable types now: low ranks, and what others can follow."""
    ranks = t.limits[0]
    low = ranks
    for k in range(len(t.copies)):
        if types >> k & 1:
            low = min(low, k % ranks)
    found = float(ranks - low)
    if types & (types - 1) == 0 and low < ranks - 1:
        following = lowest_one(types) + 1
        for p in range(t.hand.shape[1]):
            for s in range(t.size[g, p] if p != mover else 0):
                if t.hand[g, p, s] == following:
                    found += FOLLOWED + (KNOWN if shared.known[p, s] == 1 << following else 0.0)
    return found


@linked_kernel
@borrowing
def best_play(t: Tables, g: int, shared: Shared, mover: int, playable: int) -> tuple[int, bool]:
    """Return the slot to play from, or EMPTY, and whether the only playable card is the last of its firework."""
    best, slot, count, last = -np.inf, EMPTY, 0, 0
    for s in range(t.size[g, mover]):
        types = shared.own[s]
        if types & ~playable == 0:
            count += 1
            if types & (types - 1) == 0:
                card = lowest_one(types)
                last += card % t.limits[0] == shared.top[card // t.limits[0]] - 1
            value = play_value(t, g, shared, mover, types)
            if value > best:
                best, slot = value, s
    return slot, count == 1 and last == 1


@linked_kernel
@borrowing
def likeliest_slot(t: Tables, g: int, shared: Shared, mover: int, playable: int) -> tuple[int, float]:
    """Return the slot of the mover that is likeliest to be playable, and the probability."""
    likeliest, slot = -1.0, 0
    for s in range(t.size[g, mover]):
        probability = probability_of(t, shared, shared.own[s], playable)
        if probability > likeliest:
            likeliest, slot = probability, s
    return slot, likeliest


@linked_kernel
@borrowing
def turns_to_spare(players: int, deck: int) -> int:
    """Return how many turns more than cards to play are to be left after a discard."""
    if players == PAIR:
        return SPARE_TURNS_OF_PAIR if deck > LATE else LATE_SPARE_TURNS_OF_PAIR
    return SPARE_TURNS if deck > LATE else LATE_SPARE_TURNS


@linked_kernel
@borrowing
def choose(t: Tables, g: int, shared: Shared) -> int:
    """Return the mover's action, which does not depend on its own cards in the tables."""
    n, mover = t.hand.shape[1], t.counts[g, MOVER]
    slots: int = t.limits[1]
    playable, useless = find_useful(t, g, shared)
    look_around(t, g, shared, mover)
    reached, reachable = sum_fireworks(t, g), shared.top.sum()
    needed = False
    info, deck = t.counts[g, INFO], t.deck.shape[1] - t.counts[g, DRAWN]
    slot, is_last = best_play(t, g, shared, mover, playable)
    waits = is_last and 0 < deck <= LAST_CARDS and info > 0 and reachable - reached > 1
    if slot != EMPTY and not waits:
        return slots + slot
    likeliest, probability = likeliest_slot(t, g, shared, mover, playable)
    lives = t.counts[g, LIVES]
    if n == PAIR and lives > 1 and deck > 0 and probability >= (SURE if lives > 2 else SURE_OF_LAST_BUT_ONE):
        return slots + likeliest
    spare = spare_slot(t, g, shared, mover, useless)
    if info > 0:
        turns = reached + deck + n - reachable
        enough = turns > turns_to_spare(n, deck) and info < t.limits[2]
        needed = hint_is_needed(t, g, shared, mover, playable)
        hints = waits or needed or not enough
        if not hints and spare == EMPTY:
            hints = n > PAIR or info > FEW_TOKENS or cheapest_slot(t, g, shared, mover, playable, useless)[1] >= CHEAP
        if hints:
            count_placed(t, g, shared)
            number, unit = 0, 0
            for p in range(n):
                if p != mover:
                    answer, unit = ask(t, g, shared, p, playable, useless, EMPTY)
                    number += answer
            total = kinds_of(n) * (n - 1)
            hint = find_hint(t, g, shared, number % total, unit if n == PAIR else total)
            if hint != EMPTY:
                return hint
            look_around(t, g, shared, mover)
    if info < t.limits[2] and (n == PAIR or not needed):  # elsewhere a discard says that no hint is needed
        return spare if spare != EMPTY else cheapest_slot(t, g, shared, mover, playable, useless)[0]
    return slots + likeliest_slot(t, g, shared, mover, playable)[0]


@linked_kernel
@borrowing
def touched_slots(t: Tables, g: int, action: int) -> int:
    """Return the slots that a hint names, as bits."""
    other, is_color, word = read_hint(t, g, action)
    player = (t.counts[g, MOVER] + 1 + other) % t.hand.shape[1]
    return slots_with(t, g, player, types_of_word(t, is_color, word))


@linked_kernel
@borrowing
def drop_slot(t: Tables, shared: Shared, player: int, slot: int) -> None:
    """Let what is known follow the cards of a hand that lost one; of the card drawn at its end nothing is known."""
    last = t.limits[1] - 1
    for s in range(slot, last):
        shared.known[player, s] = shared.known[player, s + 1]
    shared.known[player, last] = (1 << len(t.copies)) - 1


@linked_kernel
@borrowing
def make_move(t: Tables, shared: Shared, action: int) -> None:
    """Make any legal move on the first table, which all others take for one of a hat-guessing player."""
    mover = t.counts[0, MOVER]
    if action >= 2 * t.limits[1]:
        hear_hint(t, 0, shared, action, touched_slots(t, 0, action), EMPTY)
        step(t, 0, action)
    else:
        if action < t.limits[1]:
            hear_discard(t, 0, shared)
        step(t, 0, action)
        drop_slot(t, shared, mover, action % t.limits[1])
    prune(t, 0, shared)


@linked_kernel
@borrowing
def take_turn(t: Tables, shared: Shared) -> None:
    """Take a turn of a hat-guessing player on the first table."""
    make_move(t, shared, choose(t, 0, shared))


@kernel
def play_series(t: Tables, shared: Shared, stream: Words, scores: LongArray) -> None:
    """Play games of hat-guessing players on the first table, one for each entry of ``scores``, which are written."""
    for k in range(len(scores)):
        begin(t, 0, stream)
        shared.known[:] = (1 << len(t.copies)) - 1
        while not is_over(t, 0):
            take_turn(t, shared)
        scores[k] = score(t, 0)


@kernel
def choose_action(t: Tables, shared: Shared) -> int:
    """Return the mover's action on the first table."""
    return choose(t, 0, shared)


@kernel
def follow_hint(t: Tables, shared: Shared, action: int, touched: int, blind: int) -> None:
    """Rule out what a hint on the first table rules out."""
    hear_hint(t, 0, shared, action, touched, blind)


@kernel
def follow_discard(t: Tables, shared: Shared) -> None:
    """Rule out what a discard on the first table rules out."""
    hear_discard(t, 0, shared)


@kernel
def follow_loss(t: Tables, shared: Shared, player: int, slot: int) -> None:
    """Let what is known follow the cards of a hand that lost one."""
    drop_slot(t, shared, player, slot)


@kernel
def rule_out(t: Tables, shared: Shared) -> None:
    """Rule out types whose copies are all in known places on the first table."""
    prune(t, 0, shared)


@cache
def compile_kernels() -> None:
    """Compile, or read from the cache, what an agent calls, so that no move's clock runs meanwhile."""
    t = make_tables(1, 2, 1, 2, 1, 1, 1)
    shared = Shared.of(t)
    rule_out(t, shared)
    choose_action(t, shared)
    follow_hint(t, shared, 2, 0, 1)
    follow_discard(t, shared)
    follow_loss(t, shared, 0, 0)


def score_series(game: HanabiRules, games: int, seed: int) -> LongArray:
    """Return the scores (games,) of hat-guessing players among themselves.

    >>> from infoset.games.hat_guessing import score_series
    >>> bool(score_series(infoset.load("hanabi(players=5)"), 100, seed=1).mean() > 24.5)
    True
    """
    t, stream, scores = make_tables(1, *game.setting), streams(seed, 1), np.zeros(games, dtype=np.int64)
    shared = Shared.of(t)
    for first in range(0, games, PORTION):  # Ctrl-C does not interrupt a kernel
        play_series(t, shared, stream, scores[first : first + PORTION])
    return scores


class Follower:
    """An agent that follows a game of Hanabi by the convention, whatever it plays."""

    name = "follower"

    def __init__(self) -> None:
        compile_kernels()

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Begin a game.  Raises ``UnsupportedGameError`` for a game that is not Hanabi."""
        if not isinstance(game, HanabiRules):
            raise UnsupportedGameError(f"{self.name} plays hanabi, not {game.name}")
        self.setting, self.player, self.view = game.setting, player, View.first(game.setting)
        moves = moves_of(self.setting)
        self.names = [*moves.discards, *moves.plays, *[name for name, _, _ in moves.hints]]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.type_of = {card: k for k, card in enumerate(cards(self.setting.colors, self.setting.ranks))}
        self.tables = make_tables(1, *self.setting)
        self.shared = Shared.of(self.tables)

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        if (record := own_record(own_action, observation)) is not None:
            self._hear(record)

    def _hear(self, record: ObservationRecord) -> None:
        """Follow a card that was drawn or an action that was taken; at every turn the tables show the view."""
        draws = self.view.drawer(self.setting) != NOBODY
        mover = self.view.mover
        self.view = self.view.after(self.setting, record)
        if not draws:
            turn = self.view.last
            assert turn is not None
            number = self.numbers[turn.action]
            if isinstance(turn.shown, tuple):
                follow_hint(self.tables, self.shared, number, sum(1 << (k - 1) for k in turn.shown), self.player)
            else:
                if number < self.setting.hand:
                    follow_discard(self.tables, self.shared)
                follow_loss(self.tables, self.shared, mover, number % self.setting.hand)
        if self.view.drawer(self.setting) == NOBODY:
            self._set_tables()
            rule_out(self.tables, self.shared)

    def _set_tables(self) -> None:
        """Write the view into the tables, with nothing in place of the own cards."""
        t, view = self.tables, self.view
        for p, hand in enumerate(view.hands):
            t.size[0, p] = len(hand)
            t.hand[0, p] = EMPTY
            for k, card in enumerate(hand):
                t.hand[0, p, k] = EMPTY if card == UNSEEN else self.type_of[card]
        t.fireworks[0] = view.board.fireworks
        t.removed[0] = view.discards
        for color, reached in enumerate(view.board.fireworks):
            t.removed[0, color * self.setting.ranks : color * self.setting.ranks + reached] += 1
        t.counts[0, [MOVER, INFO, LIVES]] = view.mover, view.board.tokens, view.board.lives
        t.counts[0, DRAWN] = t.deck.shape[1] - view.deck

    def end(self, returns: tuple[float, ...]) -> None:
        pass


class HatGuessing(Follower):
    """Hanabi: every hint tells every other player something; all players have to be agents of this kind."""

    name = "hat-guessing"
    made_for = "hanabi"

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        return self.names[choose_action(self.tables, self.shared)]

    def report_probabilities(self, legal_actions: tuple[Action, ...]) -> list[float]:
        """Return its action probabilities: it always takes one action."""
        action = self.act(legal_actions, None)
        return [float(legal == action) for legal in legal_actions]
