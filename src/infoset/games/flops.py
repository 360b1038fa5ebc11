"""The 1,755 flops that differ in more than the names of the suits, and small weighted subsets that represent them.

A flop is named by its greatest image under permutations of the suits, such as ``AsKhQd`` (``suits.canonical_cards``).

The subsets are chosen by kernel herding (Chen, Welling & Smola, Super-samples from kernel herding, 2010): one flop
after the other is added that brings the average of a kernel over the subset closest to its average over all 22,100
flops.  So a smaller subset is the beginning of each larger one, and a report can be extended.  Of two flops the kernel
compares the three ranks, suits and pairs together, and once more each of these alone: so the proportions of high cards,
of each rank, of suits, pairs and connected flops are matched one by one, and their combinations as far as the size
allows.  The weights are then adjusted to the same end, as little as possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, LongArray
from infoset.errors import ParameterError
from infoset.games.suits import ALL_PERMUTATIONS, DECK, canonical_cards, permute_hand

FLOP = 3
SIZES = (25, 49, 85, 184)
"""The customary sizes of subsets; every other one is possible as well."""
STRAIGHTS = [{12, 0, 1, 2, 3}, *[set(range(low, low + 5)) for low in range(9)]]
RANKS_ALIKE = 3.0
"""The distance of ranks at which flops resemble each other e times less."""
KIND_ALIKE = 1 / 3
"""How much flops resemble each other that differ in suits, or in pairs, but not in ranks."""
EACH_ALONE = 0.5
"""The weight of each feature alone, beside the combination of all."""
STIFFNESS = 0.3
"""How strongly the weights of a subset are drawn towards equal ones."""
DIGITS = 9
"""The digits of scores that count, so that the choice is the same on every machine."""


class Features(NamedTuple):
    """What distinguishes flops, each of shape (F,) but for the ranks (F, 3), high first."""

    ranks: LongArray
    suits: LongArray
    """The number of suits: 1 monotone, 2 two-tone, 3 rainbow."""
    pairs: LongArray
    """The number of equal neighbours in rank: 0, 1 paired, 2 trips."""
    straights: LongArray
    """The number of straights that two more cards can make, 0 to 3."""


def flop_class(cards: Iterable[int]) -> tuple[int, ...]:
    """Return the flop that stands for all that differ from this one in the names of the suits alone.

    Raises ``ParameterError`` unless these are three distinct cards.
    """
    flop = tuple(cards)
    if len(flop) != FLOP or len({*flop}) < FLOP or not {*flop} <= {*range(DECK)}:
        raise ParameterError(f"flop={flop}: not a flop; allowed: three distinct cards, numbers from 0 to {DECK - 1}")
    return canonical_cards(flop)


@cache
def flop_counts() -> Mapping[tuple[int, ...], int]:
    """Return the 1,755 flops from AAA down, each with the number of the 22,100 flops that it stands for (4, 12 or 24).

    >>> from infoset.games.flops import flop_counts
    >>> len(flop_counts()), sum(flop_counts().values())
    (1755, 22100)
    """
    found: dict[tuple[int, ...], int] = {}
    seen: set[tuple[int, ...]] = set()
    for flop in combinations(range(DECK - 1, -1, -1), FLOP):
        if flop not in seen:
            images = {permute_hand(flop, permutation) for permutation in ALL_PERMUTATIONS}
            seen |= images
            found[flop] = len(images)
    return MappingProxyType(found)


def flop_features(flops: Sequence[Sequence[int]]) -> Features:
    """Return what distinguishes flops (F, 3), each with the high card first."""
    cards = np.array(flops, np.int64).reshape(-1, FLOP)
    ranks = cards // 4
    suits = [len({*some}) for some in (cards % 4).tolist()]
    straights = [sum({*some} <= straight for straight in STRAIGHTS) * (len({*some}) == FLOP) for some in ranks.tolist()]
    return Features(ranks, np.array(suits), (ranks[:, 1:] == ranks[:, :-1]).sum(axis=1), np.array(straights))


@cache
def flop_subset(size: int) -> Mapping[tuple[int, ...], float]:
    """Return a subset of the flops that represents all of them, with weights that sum to 1, in the order of choice.

    Averages over all flops are estimated by weighted sums over the subset.  Raises ``ParameterError`` for sizes below 1
    and above 1,755; the whole set has exact weights.

    >>> from infoset.games.flops import flop_subset
    >>> from infoset.games.poker_hands import hand_name
    >>> [hand_name(flop) for flop in flop_subset(3)]
    ['As9s4h', 'Ks6h3d', 'QsJs7h']
    """
    flops = list(flop_counts())
    if not 1 <= size <= len(flops):
        raise ParameterError(f"size={size}; allowed: numbers of flops from 1 to {len(flops)}, such as {SIZES}")
    frequencies = np.array(list(flop_counts().values()), np.float64)
    frequencies /= frequencies.sum()
    if size == len(flops):
        return MappingProxyType(dict(zip(flops, frequencies.tolist(), strict=True)))
    kernel = _kernel(flop_features(flops))
    average = kernel @ frequencies
    chosen = _herd(kernel, average, size)
    weights = _adjusted_weights(kernel[np.ix_(chosen, chosen)], average[chosen])
    return MappingProxyType(dict(zip([flops[k] for k in chosen], weights.tolist(), strict=True)))


def _kernel(features: Features) -> FloatArray:
    """Return (F, F) how much flops resemble each other."""
    distance = sum(np.abs(np.subtract.outer(ranks, ranks)) for ranks in features.ranks.T)
    each = (features.ranks[:, 0], features.suits, features.pairs, features.straights)
    high, suits, pairs, straights = [np.equal.outer(own, own).astype(np.float64) for own in each]
    cards = (features.ranks[:, :, None] == np.arange(DECK // 4)).sum(axis=1)  # (F, 13) cards of each rank
    other_kinds = KIND_ALIKE ** (2 - suits - pairs)
    return np.asarray(
        np.exp(-distance / RANKS_ALIKE) * other_kinds
        + EACH_ALONE * (cards @ cards.T + high + suits + pairs + straights)
    )


def _herd(kernel: FloatArray, average: FloatArray, size: int) -> LongArray:
    """Return (size,) the flops that keep the kernel's average over the chosen ones closest to the average over all."""
    chosen = np.zeros(size, np.int64)
    total, free = np.zeros(len(kernel)), np.ones(len(kernel), np.bool_)
    for k in range(size):
        score = np.where(free, average - total / (k + 1), -np.inf)
        chosen[k] = np.argmax(score.round(DIGITS))
        free[chosen[k]] = False
        total += kernel[chosen[k]]
    return chosen


def _adjusted_weights(kernel: FloatArray, average: FloatArray) -> FloatArray:
    """Return (n,) weights that sum to 1: the closest ones in the kernel's distance, drawn towards equal ones."""
    size = len(kernel)
    sides = np.column_stack([average + STIFFNESS / size, np.ones(size)])
    weights, by_sum = np.linalg.solve(kernel + STIFFNESS * np.eye(size), sides).T
    return np.asarray(weights + by_sum * (1 - weights.sum()) / by_sum.sum())
