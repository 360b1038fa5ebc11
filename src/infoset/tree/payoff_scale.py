"""The scale of a game's payoffs: which differences count, and when payoffs are so far from 0 that these are lost."""

from __future__ import annotations

import numpy as np

from infoset.base import FloatArray

EQUAL = 1e-9
"""As a fraction of a player's payoff range: payoffs that differ by no more are the same."""
LAST_BITS = 8 * float(np.finfo(float).eps)
"""As a fraction of the largest payoff: the effect of its rounding alone, however narrow the range is."""
ROUNDING = 1e-12
"""As a fraction of a player's payoff range: an exploitability of no more consists of rounding errors."""
FAR_FROM_ZERO = 10.0
"""Distance of the middle of the payoffs from 0, in ranges, beyond which solvers subtract an offset from the payoffs."""


def payoff_ranges(payoffs: FloatArray) -> FloatArray:
    """Return (n,) the range of each player's payoffs (K, n); 0 where a player's payoff is constant."""
    return np.asarray(np.ptp(payoffs, axis=0) if len(payoffs) else np.zeros(payoffs.shape[1]), dtype=np.float64)


def payoff_offsets(payoffs: FloatArray) -> FloatArray:
    """Return (n,) the offset to subtract from each player's payoffs (K, n) to preserve differences; 0 if not needed.

    It is the player's lowest payoff, since floats that are so close to each other are subtracted without an error.
    """
    offsets = np.zeros(payoffs.shape[1])
    for player, (low, high) in enumerate(zip(payoffs.min(axis=0), payoffs.max(axis=0), strict=True)):
        span = float(high) - float(low)
        if abs(float(low) / 2 + float(high) / 2) > FAR_FROM_ZERO * span:
            offsets[player] = low
    return offsets


def exploitability_of_rounding(lowest: FloatArray, highest: FloatArray) -> float:
    """Return the exploitability that rounding errors alone amount to, of payoffs (n,) from ``lowest`` to ``highest``.

    It is that of the player with the smallest range of those whose payoffs vary, so larger gains do not hide its own.
    """
    ranges = highest - lowest
    varied = ranges > 0
    sizes = np.maximum(np.abs(lowest), np.abs(highest))
    if not varied.any():
        return float(LAST_BITS * sizes.max(initial=0.0))
    return float(np.maximum(ROUNDING * ranges, LAST_BITS * sizes)[varied].min())


def smallest_range(payoffs: FloatArray) -> float:
    """Return the smallest range of a player's payoffs (K, n) among those that vary; 0 where none do."""
    ranges = payoff_ranges(payoffs)
    return float(ranges[ranges > 0].min(initial=ranges.max(initial=0.0)))


def difference_that_counts(payoffs: FloatArray) -> float:
    """Return the largest difference, between payoffs (K, n) of two players or sums of them, that counts as none.

    It follows the player with the smallest range of those whose payoffs vary at all, and is at least the rounding
    error.
    """
    return max(EQUAL * smallest_range(payoffs), LAST_BITS * float(np.abs(payoffs).max(initial=0.0)))


def constant_sum_of(payoffs: FloatArray) -> float | None:
    """Return the sum of the payoffs (K, n) of every end; ``None`` where it differs between ends."""
    if not len(payoffs):
        return None
    sums = payoffs.sum(axis=1)
    return float(sums[0]) if float(np.ptp(sums)) <= difference_that_counts(payoffs) else None


def are_common(payoffs: FloatArray) -> bool:
    """Return whether all players have equal payoffs (K, n) at each end."""
    return bool(np.ptp(payoffs, axis=1).max(initial=0.0) <= difference_that_counts(payoffs))
