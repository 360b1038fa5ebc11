"""Hat guessing in Hanabi: each hint tells every other player something about its own hand at once (Cox et al. 2015).

All players hold the same table of what each card may be.  Questions about a hand follow from this table alone, so that
everybody asks the same ones; the answers of a hand, which all but its holder can see, are one number below ``M``.  A
hint stands for the sum of all other players' numbers modulo ``M``: each of them takes off what it sees and is left with
its own.  ``M`` is three for each other player: a hint may name the rank or the colour of one certain card of that
player, or leave the card out.

The agent plays cards that are surely playable.  Where another has a playable card and does not know of one, it hints.
Otherwise it discards a useless card, as long as there are turns to spare; that tells those who know of no playable card
that they have none.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from infoset.base import Action, Game, LongArray, Observation, ObservationRecord, own_record
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
from infoset.jit import borrowing, kernel, linked_kernel
from infoset.randomness import Words, streams

KINDS = 3  # of hints to a player
SPARE_TURNS, LATE_SPARE_TURNS, LATE = 3, 4, 7  # of more than so many, one is for a discard; with a deck of few cards
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

    @classmethod
    def of(cls, t: Tables) -> Shared:
        """Return what is known before the deal."""
        n, h, types = t.hand.shape[1], t.hand.shape[2], len(t.copies)
        a, b = np.zeros(types, np.int64), np.zeros(types, np.int64)
        full = np.full((n, h), (1 << types) - 1)
        c, d, e = np.zeros(t.fireworks.shape[1], np.int64), np.zeros(h, np.int64), np.zeros(h, np.int64)
        return cls(full, a, b, c, d, e, np.zeros(n, np.int64))


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
def lowest_type(types: int) -> int:
    """Return the lowest of some types."""
    k = 0
    while types >> k & 1 == 0:
        k += 1
    return k


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
                shared.placed[lowest_type(types)] += 1


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
    for k in range(len(t.copies)):
        if types >> k & 1:
            left = t.copies[k] - shared.placed[k]
            total += left
            if among >> k & 1:
                found += left
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
def ask(t: Tables, g: int, shared: Shared, player: int, playable: int, useless: int, given: int) -> int:
    """Return the answers of a hand as one number; or, where ``given`` is one, rule out what has other answers."""
    left, unit, answer = KINDS * (t.hand.shape[1] - 1), 1, 0
    shared.asked[:] = 0
    while left > 1:
        slot = next_question(t, g, shared, player, playable, useless)
        if slot == EMPTY:
            break
        shared.asked[slot] = 1
        types = shared.known[player, slot]
        answers = divide(t, shared, types, left, playable, useless)
        if given == EMPTY:
            answer += unit * shared.part[t.hand[g, player, slot]]
        else:
            rest = 0
            for k in range(len(t.copies)):
                if types >> k & 1 and shared.part[k] == given // unit % answers:
                    rest |= 1 << k
            if rest:
                shared.known[player, slot] = rest
        unit *= answers
        left //= answers
    return answer


@linked_kernel
@borrowing
def pointed_slot(t: Tables, g: int, shared: Shared, player: int) -> int:
    """Return the slot that hints to a player name or leave out: the one that may be the most types."""
    best, found = 0, 0
    for s in range(t.size[g, player]):
        count = 0
        for k in range(len(t.copies)):
            count += shared.known[player, s] >> k & 1
        if count > best:
            best, found = count, s
    return found


@linked_kernel
@borrowing
def find_hint(t: Tables, g: int, shared: Shared, number: int) -> int:
    """Return the hint that stands for a number; EMPTY where there is none."""
    n, colors, ranks = t.hand.shape[1], t.fireworks.shape[1], t.limits[0]
    other, kind = number // KINDS, number % KINDS
    player = (t.counts[g, MOVER] + 1 + other) % n
    if t.size[g, player] == 0:
        return EMPTY
    card = t.hand[g, player, pointed_slot(t, g, shared, player)]
    by_color = 2 * t.limits[1] + other * colors
    by_rank = 2 * t.limits[1] + (n - 1) * colors + other * ranks
    found: int = EMPTY
    if kind == 0:
        found = by_rank + card % ranks
    elif kind == 1:
        found = by_color + card // ranks
    else:
        for s in range(t.size[g, player]):
            if t.hand[g, player, s] // ranks != card // ranks:
                found = by_color + t.hand[g, player, s] // ranks
        for s in range(t.size[g, player]):
            if t.hand[g, player, s] % ranks != card % ranks:
                found = by_rank + t.hand[g, player, s] % ranks
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
def fits_hint(t: Tables, card: int, is_color: bool, word: int) -> bool:
    """Return whether a card type has a colour or rank."""
    value: int = card // t.limits[0] if is_color else card % t.limits[0]
    return value == word


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
    kind = 2
    if touched >> pointed_slot(t, g, shared, player) & 1:
        kind = 1 if is_color else 0
    total, seen = KINDS * (n - 1), 0
    for p in range(n):
        shared.answers[p] = 0
        if p not in (mover, blind):
            shared.answers[p] = ask(t, g, shared, p, playable, useless, EMPTY)
            seen += shared.answers[p]
    for p in range(n):
        if p != mover:
            given = (KINDS * other + kind - seen) % total if p == blind else shared.answers[p]
            ask(t, g, shared, p, playable, useless, given)
    for s in range(t.size[g, player]):
        rest = 0
        for card in range(len(t.copies)):
            if fits_hint(t, card, is_color, word) == (touched >> s & 1 == 1):
                rest |= 1 << card
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
    if t.counts[g, INFO] == 0:
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
        k = lowest_type(types)
        if shared.placed[k] > t.removed[g, k]:
            return s
        for other in range(t.size[g, mover]):
            if other != s and shared.own[other] == types:
                return s
    return EMPTY


@linked_kernel
@borrowing
def cheapest_slot(t: Tables, g: int, shared: Shared, mover: int, playable: int, useless: int) -> int:
    """Return the slot whose loss is expected to cost least: last copies cost most, of low ranks more than of high."""
    best, found, ranks = np.inf, 0, t.limits[0]
    for s in range(t.size[g, mover]):
        cost = total = 0.0
        for k in range(len(t.copies)):
            if shared.own[s] >> k & 1:
                weight = t.copies[k] - shared.placed[k]
                total += weight
                if useless >> k & 1 == 0:
                    left = t.copies[k] - t.removed[g, k]
                    each = float(ranks - k % ranks) if left == 1 else 0.1 * (ranks - k % ranks) / left
                    cost += weight * (each + (0.3 if playable >> k & 1 else 0.0))
        cost = cost / total if total > 0.0 else 0.0
        if cost < best - 1e-9:
            best, found = cost, s
    return found


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
        following = lowest_type(types) + 1
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
                card = lowest_type(types)
                last += card % t.limits[0] == shared.top[card // t.limits[0]] - 1
            value = play_value(t, g, shared, mover, types)
            if value > best:
                best, slot = value, s
    return slot, count == 1 and last == 1


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
    spare = spare_slot(t, g, shared, mover, useless)
    if info > 0:
        turns = reached + deck + n - reachable
        enough = turns > (SPARE_TURNS if deck > LATE else LATE_SPARE_TURNS) and info < t.limits[2]
        needed = hint_is_needed(t, g, shared, mover, playable)
        if waits or not enough or spare == EMPTY or needed:
            count_placed(t, g, shared)
            total = 0
            for p in range(n):
                if p != mover:
                    total += ask(t, g, shared, p, playable, useless, EMPTY)
            hint = find_hint(t, g, shared, total % (KINDS * (n - 1)))
            if hint != EMPTY:
                return hint
            look_around(t, g, shared, mover)
    if info < t.limits[2] and not needed:  # a discard would say that no hint is needed
        return spare if spare != EMPTY else cheapest_slot(t, g, shared, mover, playable, useless)
    likeliest, slot = -1.0, 0
    for s in range(t.size[g, mover]):
        probability = probability_of(t, shared, shared.own[s], playable)
        if probability > likeliest:
            likeliest, slot = probability, s
    return slots + slot


@linked_kernel
@borrowing
def touched_slots(t: Tables, g: int, action: int) -> int:
    """Return the slots that a hint names, as bits."""
    other, is_color, word = read_hint(t, g, action)
    player, found = (t.counts[g, MOVER] + 1 + other) % t.hand.shape[1], 0
    for s in range(t.size[g, player]):
        if fits_hint(t, t.hand[g, player, s], is_color, word):
            found |= 1 << s
    return found


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
def take_turn(t: Tables, shared: Shared) -> None:
    """Take a turn of a hat-guessing player on the first table."""
    mover, action = t.counts[0, MOVER], choose(t, 0, shared)
    if action >= 2 * t.limits[1]:
        hear_hint(t, 0, shared, action, touched_slots(t, 0, action), EMPTY)
        step(t, 0, action)
    else:
        if action < t.limits[1]:
            hear_discard(t, 0, shared)
        step(t, 0, action)
        drop_slot(t, shared, mover, action % t.limits[1])
    prune(t, 0, shared)


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


class HatGuessing:
    """Hanabi: every hint tells every other player something; all players have to be agents of this kind."""

    name = "hat-guessing"
    made_for = "hanabi"

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

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        return self.names[choose_action(self.tables, self.shared)]

    def report_probabilities(self, legal_actions: tuple[Action, ...]) -> list[float]:
        """Return its action probabilities: it always takes one action."""
        action = self.act(legal_actions, None)
        return [float(legal == action) for legal in legal_actions]

    def end(self, returns: tuple[float, ...]) -> None:
        pass
