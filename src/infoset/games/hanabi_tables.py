"""Games of Hanabi side by side in arrays, stepped by kernels.

Actions have the numbers of the Hanabi Learning Environment (Bard et al. 2020): discards by slot, plays by slot, hints
of colours and hints of ranks by the seats after the mover's own.  A card type is ``ranks * colour + rank``, from 0 up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import LongArray
from infoset.games.hanabi import copies as copies_of
from infoset.jit import borrowing, kernel, linked_kernel
from infoset.randomness import Words, below

Small = npt.NDArray[np.int8]
EMPTY = NOT_DEALT = -1
MOVER, INFO, LIVES, DRAWN, TURNS, PLAYS = range(6)


class Tables(NamedTuple):
    """``G`` games of ``n`` players with ``h`` slots, ``c`` colours and ``r`` ranks."""

    deck: Small  # (G, cards) card types in the order in which they are drawn
    hand: Small  # (G, n, h) card types, oldest first; EMPTY beyond the hand's end
    size: Small  # (G, n) cards in hand
    fireworks: Small  # (G, c) ranks played
    removed: Small  # (G, c * r) copies discarded or played
    counts: npt.NDArray[np.int64]  # (G, 6) mover, information and life tokens, cards drawn, turns left, turns played
    # or NOT_DEALT
    copies: Small  # (c * r,)
    limits: LongArray  # (4,) ranks, largest hand, information tokens, life tokens at the start


def make_tables(games: int, players: int, colors: int, ranks: int, hand: int, info: int, lives: int) -> Tables:
    """Return tables on which nothing was dealt."""
    copies = np.array(copies_of(colors, ranks), dtype=np.int8)
    cards, counts = int(copies.sum()), np.zeros((games, 6), np.int64)
    counts[:, PLAYS] = NOT_DEALT
    return Tables(
        np.zeros((games, cards), np.int8), np.full((games, players, hand), EMPTY, np.int8),
        np.zeros((games, players), np.int8), np.zeros((games, colors), np.int8),
        np.zeros((games, colors * ranks), np.int8), counts, copies,
        np.array([ranks, hand, info, lives]),
    )  # fmt: skip


@linked_kernel
@borrowing
def draw(t: Tables, g: int, player: int) -> None:
    """Let a player draw the next card, if there is one."""
    place = t.counts[g, DRAWN]
    if place < t.deck.shape[1]:
        t.hand[g, player, t.size[g, player]] = t.deck[g, place]
        t.size[g, player] += 1
        t.counts[g, DRAWN] = place + 1


@linked_kernel
@borrowing
def begin(t: Tables, g: int, stream: Words) -> None:
    """Shuffle the deck and deal a new game."""
    k = 0
    for card in range(len(t.copies)):
        for _ in range(t.copies[card]):
            t.deck[g, k] = card
            k += 1
    for k in range(t.deck.shape[1] - 1, 0, -1):
        j = below(stream, k + 1)
        t.deck[g, k], t.deck[g, j] = t.deck[g, j], t.deck[g, k]
    deal(t, g)


@linked_kernel
@borrowing
def deal(t: Tables, g: int) -> None:
    """Deal a game from its deck."""
    n = t.hand.shape[1]
    t.hand[g], t.size[g], t.fireworks[g], t.removed[g] = EMPTY, 0, 0, 0
    t.counts[g, MOVER], t.counts[g, DRAWN], t.counts[g, PLAYS] = 0, 0, 0
    t.counts[g, INFO], t.counts[g, LIVES], t.counts[g, TURNS] = t.limits[2], t.limits[3], n
    for player in range(n):
        for _ in range(t.limits[1]):
            draw(t, g, player)


@linked_kernel
@borrowing
def sum_fireworks(t: Tables, g: int) -> int:
    """Return the sum of the fireworks."""
    total = 0
    for color in range(t.fireworks.shape[1]):
        total += t.fireworks[g, color]
    return total


@linked_kernel
@borrowing
def score(t: Tables, g: int) -> int:
    """Return the sum of the fireworks; 0 where no life token is left."""
    return sum_fireworks(t, g) if t.counts[g, LIVES] > 0 else 0


@linked_kernel
@borrowing
def is_over(t: Tables, g: int) -> bool:
    """Return whether a game is over."""
    return t.counts[g, LIVES] <= 0 or t.counts[g, TURNS] <= 0 or sum_fireworks(t, g) == len(t.copies)


@linked_kernel
@borrowing
def remove(t: Tables, g: int, player: int, slot: int) -> int:
    """Take a card out of a hand; return its type."""
    card = int(t.hand[g, player, slot])
    last = t.size[g, player] - 1
    for k in range(slot, last):
        t.hand[g, player, k] = t.hand[g, player, k + 1]
    t.hand[g, player, last] = EMPTY
    t.size[g, player] = last
    t.removed[g, card] += 1
    return card


@linked_kernel
@borrowing
def step(t: Tables, g: int, action: int) -> None:
    """Make a legal action of the mover, draw, and pass the turn."""
    mover, n, slots = t.counts[g, MOVER], t.hand.shape[1], t.limits[1]
    ranks = t.limits[0]
    dealt_out = t.counts[g, DRAWN] == t.deck.shape[1]
    if action < slots:
        remove(t, g, mover, action)
        t.counts[g, INFO] += 1
        draw(t, g, mover)
    elif action < 2 * slots:
        card = remove(t, g, mover, action - slots)
        color = card // ranks
        if t.fireworks[g, color] == card % ranks:
            t.fireworks[g, color] += 1
            if t.fireworks[g, color] == ranks and t.counts[g, INFO] < t.limits[2]:
                t.counts[g, INFO] += 1
        else:
            t.counts[g, LIVES] -= 1
        draw(t, g, mover)
    else:
        t.counts[g, INFO] -= 1
    if dealt_out:
        t.counts[g, TURNS] -= 1
    t.counts[g, MOVER] = (mover + 1) % n
    t.counts[g, PLAYS] += 1


@linked_kernel
@borrowing
def list_legal(t: Tables, g: int, legal: LongArray) -> int:
    """Write the mover's legal actions and return their number."""
    mover, n, slots = t.counts[g, MOVER], t.hand.shape[1], t.limits[1]
    colors, ranks = t.fireworks.shape[1], t.limits[0]
    count, size = 0, t.size[g, mover]
    if t.counts[g, INFO] < t.limits[2]:
        for k in range(size):
            legal[count] = k
            count += 1
    for k in range(size):
        legal[count] = slots + k
        count += 1
    if t.counts[g, INFO] <= 0:
        return count
    by_rank = 0
    for other in range(n - 1):
        player, in_colors = (mover + 1 + other) % n, 0
        for k in range(t.size[g, player]):
            card = t.hand[g, player, k]
            in_colors |= 1 << (card // ranks)
            by_rank |= 1 << (ranks * other + card % ranks)
        for color in range(colors):
            if in_colors >> color & 1:
                legal[count] = 2 * slots + other * colors + color
                count += 1
    for k in range((n - 1) * ranks):
        if by_rank >> k & 1:
            legal[count] = 2 * slots + (n - 1) * colors + k
            count += 1
    return count


@kernel
@borrowing
def play_randomly(t: Tables, steps: int, stream: Words, legal: LongArray) -> int:
    """Make ``steps`` uniformly random legal actions in the games in turn, beginning anew where one is over.

    Returns how many games ended.  ``legal`` has room for all actions.
    """
    ended, games = 0, len(t.size)
    for k in range(steps):
        g = k % games
        if t.counts[g, PLAYS] == NOT_DEALT or is_over(t, g):
            ended += t.counts[g, PLAYS] > 0
            begin(t, g, stream)
        step(t, g, legal[below(stream, list_legal(t, g, legal))])
    return ended
