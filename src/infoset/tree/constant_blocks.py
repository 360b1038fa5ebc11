"""The payoffs of the players' hands as sums of few products: blocks of equal payoffs, less exceptions.

Sorted by average payoff, the hands of a showdown have equal payoffs in large blocks, each of which is the product of
two lists of hands (sparse factors of the payoff matrix, Farina & Sandholm, Fast payoff matrix sparsification techniques
for structured extensive-form games, AAAI 2022).  A block with few exceptions, such as hands that share a card, is paid
as a whole, and the exceptions are corrected one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray

PLAYERS = 2  # whose hands are rows and columns
A_TERM = 3  # the cost of an exception, in entries of lists
SMALLEST = 3  # a block is not split if no side is longer
UNPAID = 0  # the number of zero payoffs
GAIN = 0.9  # a split must reduce the cost below this fraction


class Blocks(NamedTuple):
    """Lists of hands for each player, and terms with one payoff for all combinations of one list of each player."""

    lists: tuple[list[LongArray], ...]
    place: IntArray  # (T, n) a list of each player
    paid: FloatArray  # (T, n)


class _Term(NamedTuple):
    lists: tuple[LongArray, ...]  # hands of each player, each list sorted
    paid: FloatArray  # (n,)

    @property
    def key(self) -> bytes:
        return b"|".join([some.tobytes() for some in (*self.lists, self.paid)])


def constant_blocks(paid: FloatArray) -> Blocks:
    """Return the payoffs of joint hands, (hands of the first player, …, n), as terms.

    With more than two players, the table of the last two is split for each combination of the others' hands; terms that
    are equal for several of these are merged.

    >>> import numpy as np
    >>> from infoset.tree.constant_blocks import constant_blocks
    >>> high = np.sign(np.arange(16)[:, None] - np.arange(16))                    # the higher card wins
    >>> found = constant_blocks(np.stack([high, -high], axis=-1).astype(float))
    >>> len(found.place), int((high != 0).sum())                                  # terms, where there were pairs
    (30, 240)
    """
    single = tuple([[np.array([k]) for k in range(size)] for size in paid.shape[:-1]])
    index = np.argwhere((paid != 0).any(axis=-1))
    plain = Blocks(single, index.astype(np.int32), paid[tuple(index.T)])
    if len(index) <= sum(paid.shape[:-1]):
        return plain
    return min(plain, _blocks(_terms(paid), len(single)), key=_cost)


def _cost(blocks: Blocks) -> int:
    return len(blocks.place) + sum(len(some) for own in blocks.lists for some in own)


def _terms(paid: FloatArray) -> list[_Term]:
    if paid.ndim == PLAYERS + 1:
        return list(_Cutting(paid).terms())
    found: dict[bytes, tuple[_Term, list[int]]] = {}
    for hand, beside in enumerate(paid):
        for term in _terms(beside):
            found.setdefault(term.key, (term, []))[1].append(hand)
    return [_Term((np.array(hands), *term.lists), term.paid) for term, hands in found.values()]


def _blocks(terms: list[_Term], players: int) -> Blocks:
    """Merge equal lists and return the terms with the lists' numbers."""
    known: list[dict[bytes, int]] = [{} for _ in range(players)]
    lists: list[list[LongArray]] = [[] for _ in range(players)]
    place = np.zeros((len(terms), players), np.int32)
    for at, term in zip(place, terms, strict=True):
        for p, some in enumerate(term.lists):
            at[p] = known[p].setdefault(some.tobytes(), len(lists[p]))
            if at[p] == len(lists[p]):
                lists[p].append(some)
    return Blocks(tuple(lists), place, np.array([term.paid for term in terms]).reshape(-1, players))


class _Block(NamedTuple):
    """Rows and columns with their most frequent payoff, its cost in entries of lists and terms, and the exceptions."""

    rows: LongArray
    columns: LongArray
    kind: int
    cost: int
    wrong: tuple[LongArray, LongArray]


class _Cutting:
    def __init__(self, paid: FloatArray) -> None:
        k, m, _ = paid.shape
        found, kind = np.unique(paid.reshape(k * m, -1), axis=0, return_inverse=True)
        self.values = np.concatenate([np.zeros((1, found.shape[1])), found])
        numbers = np.where((found == 0).all(axis=1), UNPAID, np.arange(1, len(found) + 1))
        self.kind = numbers[kind.ravel()].reshape(k, m)
        own, other = (paid[..., p - PLAYERS] for p in range(PLAYERS))
        self.rows = np.argsort(own.mean(axis=1), kind="stable")
        self.columns = np.argsort(other.mean(axis=0), kind="stable")

    def terms(self) -> Iterator[_Term]:
        for rows, columns, value in self._paid(self._block(self.rows, self.columns)):
            yield _Term((np.sort(rows), np.sort(columns)), value)

    def _block(self, rows: LongArray, columns: LongArray) -> _Block:
        here = self.kind[rows[:, None], columns]
        kinds, place = np.unique(here, return_inverse=True)
        most = int(kinds[np.bincount(place.ravel()).argmax()])
        wrong = (here != most).nonzero()
        whole = 0 if most == UNPAID else len(rows) + len(columns) + 1
        return _Block(rows, columns, most, whole + A_TERM * len(wrong[0]), wrong)

    def _paid(self, block: _Block) -> Iterator[tuple[LongArray, LongArray, FloatArray]]:
        """Yield lists and their payoffs: the block in quarters while that costs less, else whole and then corrected."""
        rows, columns, kind, cost, (i, j) = block
        if len(i) and max(len(rows), len(columns)) > SMALLEST:
            parts = [self._block(one, two) for one in _split_halfway(rows) for two in _split_halfway(columns)]
            if sum(part.cost for part in parts) < GAIN * cost:
                for part in parts:
                    yield from self._paid(part)
                return
        if kind != UNPAID:
            yield rows, columns, self.values[kind]
        paid = self.values[self.kind[rows[i], columns[j]]] - self.values[kind]
        yield from zip(rows[i, None], columns[j, None], paid, strict=True)


def _split_halfway(some: LongArray) -> list[LongArray]:
    return [part for part in (some[: len(some) // 2], some[len(some) // 2 :]) if len(part)]
