"""Payoffs of two players' hands as few products, whatever they are paid for: blocks that pay alike, less exceptions.

Sorted by what they win on average, hands of a showdown pay alike in large blocks, of which a block is one list of hands
times another (sparse factors of the payoff matrix, Farina & Sandholm, Fast payoff matrix sparsification techniques for
structured extensive-form games, AAAI 2022).  Where a block has few exceptions, such as hands that share a card, it is
paid whole, and they are put right one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray

A_TERM = 3  # entries' worth of an exception
SMALLEST = 3  # a block with no longer side is not cut
UNPAID = 0  # the number of no payoffs
GAIN = 0.9  # of the cost, at most, that a cut leaves


class Blocks(NamedTuple):
    """Lists of hands for each player, and terms that pay every pair of one list's and another's."""

    lists: tuple[list[LongArray], ...]
    place: IntArray  # (T, n) a list of each player
    paid: FloatArray  # (T, n)


def constant_blocks(paid: FloatArray) -> Blocks:
    """What joint hands pay, (hands of the first player, …, n), as terms; those of more than two players one by one.

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
    if len(single) > 2 or len(index) <= sum(paid.shape[:-1]):
        return plain
    found = _Cutting(paid).run()
    return min(plain, found, key=_cost)


def _cost(blocks: Blocks) -> int:
    return len(blocks.place) + sum(len(some) for own in blocks.lists for some in own)


class _Block(NamedTuple):
    """Rows and columns paid as most of them are, the cost of that in entries of lists and terms, and exceptions."""

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
        self.rows = np.argsort(paid[..., 0].mean(axis=1), kind="stable")
        self.columns = np.argsort(-paid[..., 0].mean(axis=0), kind="stable")

    def run(self) -> Blocks:
        """The terms; equal lists are one."""
        lists: tuple[list[LongArray], list[LongArray]] = ([], [])
        known: tuple[dict[bytes, int], dict[bytes, int]] = ({}, {})
        place, paid = [], []
        for rows, columns, value in self._paid(self._block(self.rows, self.columns)):
            at = []
            for own, numbers, some in zip(lists, known, (rows, columns), strict=True):
                key = np.sort(some).tobytes()
                if key not in numbers:
                    numbers[key] = len(own)
                    own.append(some)
                at.append(numbers[key])
            place.append(at)
            paid.append(value)
        return Blocks(lists, np.array(place, np.int32).reshape(-1, 2), np.array(paid).reshape(-1, self.values.shape[1]))

    def _block(self, rows: LongArray, columns: LongArray) -> _Block:
        here = self.kind[rows[:, None], columns]
        kinds, place = np.unique(here, return_inverse=True)
        most = int(kinds[np.bincount(place.ravel()).argmax()])
        wrong = (here != most).nonzero()
        whole = 0 if most == UNPAID else len(rows) + len(columns) + 1
        return _Block(rows, columns, most, whole + A_TERM * len(wrong[0]), wrong)

    def _paid(self, block: _Block) -> Iterator[tuple[LongArray, LongArray, FloatArray]]:
        """Lists that are paid together, and what: cut in half both ways as long as that costs less, then put right."""
        rows, columns, kind, cost, (i, j) = block
        if len(i) and max(len(rows), len(columns)) > SMALLEST:
            parts = [self._block(one, two) for one in _halves(rows) for two in _halves(columns)]
            if sum(part.cost for part in parts) < GAIN * cost:
                for part in parts:
                    yield from self._paid(part)
                return
        if kind != UNPAID:
            yield rows, columns, self.values[kind]
        paid = self.values[self.kind[rows[i], columns[j]]] - self.values[kind]
        yield from zip(rows[i, None], columns[j, None], paid, strict=True)


def _halves(some: LongArray) -> list[LongArray]:
    return [part for part in (some[: len(some) // 2], some[len(some) // 2 :]) if len(part)]
