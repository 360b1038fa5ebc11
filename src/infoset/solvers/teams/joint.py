"""Public states with simultaneous moves of both players, solved by enumeration of prescriptions.

A *prescription* gives a move to every type of one player, the leader.  For a fixed prescription the replier's move b
has a value W_b(T) for the set T of its types that choose it: the sum, over the leader's moves a, of the table of the
successor of (a, b), at the leader's types that choose a.  The best reply is then the best partition of the replier's
types among its moves, and the value is the largest over all prescriptions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from infoset.base import LongArray
from infoset.solvers.teams.sets import Table, convolutions, divide, elements, subset_sums

BATCH = 1 << 15  # entries of a table over prescriptions and the replier's sets or gains, so that it fits the cache
SPLITS_PER_NUMBER = 10.0  # measured: the number of splits of a convolution that take as long as gathering one number,
SPLITS_PER_SET = 1e6  # and as the work in Python for one of the leader's sets


class JointActions:
    """The A moves of a leader and the B moves of a replier at a state, for their ``types`` numbers of types.

    ``successors`` (A, B): where the game ends, the number of a table (the leader's types, the replier's) in ``ends``,
    else a name.
    """

    def __init__(
        self,
        types: tuple[int, int],
        successors: Sequence[Sequence[Hashable]],
        ends: Sequence[Table],
        dtype: np.dtype[Any],
    ) -> None:
        self.types = types
        self.columns = list(zip(*successors, strict=True))
        self.twins = [self.columns.index(column) for column in self.columns]  # the first reply with equal followers
        self.followers = {f for column in self.columns for f in column if not isinstance(f, int)}
        ending = np.array([[isinstance(f, int) for f in row] for row in successors])
        self.goes_on: list[int] = np.flatnonzero(~ending.all(axis=0)).tolist()  # replies after which the game may go on
        self.stops: list[int] = np.flatnonzero(ending.all(axis=0)).tolist()  # and those that always end the game
        self.gains = np.zeros((types[0], *ending.shape, types[1]), dtype=dtype)  # where the game ends, else 0
        for a, row in enumerate(successors):
            for b, end in enumerate(row):
                if isinstance(end, int):
                    self.gains[:, a, b] = ends[end]
        last = np.asarray(ending.all(axis=1))
        self.action_sets = [_may_improve(gains, last) for gains in self.gains]

    @property
    def splits(self) -> float:
        """The work of ``table``, in splits of a convolution."""
        mine, others = self.types
        _, actions, replies, _ = self.gains.shape
        sums = (actions + 2) * len({self.twins[b] for b in self.goes_on}) + 1
        numbers = sums * 2.0**others + mine * replies * others
        splits = (len(self.goes_on) - (not self.stops)) * 3.0**others
        prescriptions = prod(
            1.0 + len(action_set) for action_set in self.action_sets
        )  # for all sets of the leader's types together
        return float(prescriptions * (splits + SPLITS_PER_NUMBER * numbers) + SPLITS_PER_SET * 2.0**mine)

    def table(self, follow: Mapping[Hashable, Table], pool: ThreadPoolExecutor) -> tuple[Table, LongArray]:
        """Return V (2**k, 2**l) and the number of the best prescription for the leader's set.

        ``follow`` (2**l, 2**k) are the tables of the successors, from the replier's point of view.
        """
        values = np.zeros([1 << count for count in self.types], dtype=self.gains.dtype)
        best = np.zeros(values.shape, dtype=np.int64)

        def fill(mine: int) -> None:
            for numbers in self._numbers(mine):
                found = convolutions(self._parts(follow, mine, numbers)[0])[-1]
                places = found.argmax(axis=1)
                top = found[np.arange(len(found)), places]
                better = (top > values[mine]) | (numbers[0] == 0)  # the first batch has nothing to be compared with
                values[mine, better], best[mine, better] = top[better], numbers[places[better]]

        list(pool.map(fill, range(len(values) - 1, 0, -1)))  # the largest first; the empty set earns nothing
        return values, best

    def choose(self, follow: Mapping[Hashable, Table], number: int, mine: int, others: int) -> tuple[list[int], ...]:
        """Return the move of each of the leader's types under a prescription and the best reply of each replier's type.

        Types that are not in the sets ``mine`` and ``others`` make their first move.
        """
        chosen, reply = [0] * self.types[0], [0] * self.types[1]
        numbers = np.array([number])
        for m, actions in zip(elements(mine), self._prescribed(mine, numbers), strict=True):
            chosen[m] = int(actions[0])
        parts, best = self._parts(follow, mine, numbers)
        for k, share in enumerate(divide(others, parts)):
            for t in elements(share):
                reply[t] = self.goes_on[k] if k < len(self.goes_on) else self.stops[int(best[0, t])]
        return chosen, reply

    def _numbers(self, mine: int) -> Iterator[LongArray]:
        """Yield the numbers of all prescriptions for a set of the leader's types, in batches."""
        count = prod(len(self.action_sets[m]) for m in elements(mine))
        batch = max(1, BATCH // max(1 << self.types[1], self.gains[0, 0].size))
        return (np.arange(begin, min(begin + batch, count)) for begin in range(0, count, batch))

    def _prescribed(self, mine: int, numbers: LongArray) -> list[LongArray]:
        """Return the moves (L,) of each of the leader's types under prescriptions ``numbers`` (L,)."""
        action_sets = [self.action_sets[m] for m in elements(mine)]
        digits = np.unravel_index(numbers, [len(action_set) for action_set in action_sets])
        return [action_set[digit] for action_set, digit in zip(action_sets, digits, strict=True)]

    def _parts(self, follow: Mapping[Hashable, Table], mine: int, numbers: LongArray) -> tuple[list[Table], LongArray]:
        """Return the values of replies for every set of the replier's types, (2**l, L) for each that may go on.

        All other replies are one part, the last; the second result is the best of them for each type, (L, l).
        """
        actions = self._prescribed(mine, numbers)
        gains = np.zeros((len(numbers), len(self.columns), self.types[1]), dtype=self.gains.dtype)
        masks = np.zeros((len(self.columns[0]), len(numbers)), dtype=np.int64)  # who chooses each of the leader's moves
        for m, chosen in zip(elements(mine), actions, strict=True):
            gains += self.gains[m, chosen]
            masks[chosen, np.arange(len(numbers))] |= 1 << m
        sums = {}
        for b in {self.twins[b] for b in self.goes_on}:
            sums[b] = subset_sums(gains[:, b].T)
            for follower, mask in zip(self.columns[b], masks, strict=True):
                if not isinstance(follower, int):
                    sums[b] += follow[follower][:, mask]
        parts = [sums[self.twins[b]] for b in self.goes_on]
        if not self.stops:
            return parts, np.zeros((len(numbers), self.types[1]), dtype=np.int64)
        last = gains[:, self.stops]
        return [*parts, subset_sums(last.max(axis=1).T)], last.argmax(axis=1)


def _may_improve(gains: Table, stops: npt.NDArray[np.bool_]) -> LongArray:
    """Return the moves (A,) of one of the leader's types, without those that another move weakly dominates.

    Only moves that end the game, by ``stops`` (A,), are compared, by their gains (A, B, l).
    """
    rows = gains.reshape(len(gains), -1)
    retained = ~stops
    for a in np.flatnonzero(stops):
        as_good = stops & (rows >= rows[a]).all(axis=1)
        retained[a] = as_good.argmax() == a and not (rows[as_good] > rows[a]).any()  # the first among equals
    return np.flatnonzero(retained)
