"""Means and shares with their 95 % intervals, and sampling by weights."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from infoset.base import Action

NORMAL_95 = 1.959963984540054  # 95 % of a normal distribution lie within this many standard deviations


def student_95(count: int) -> float:
    """Return the half-width of a 95 % interval of a mean in standard errors, for ``count`` figures, at least two.

    The deviation is estimated from the same figures (Student 1908).

    >>> from infoset.statistics import student_95
    >>> round(student_95(2), 3), round(student_95(10), 3), round(student_95(10_000), 3)
    (12.706, 2.262, 1.96)
    """
    from scipy.special import stdtrit  # slow to load, and not needed to draw

    return float(stdtrit(count - 1, 0.975))


def margin(count: int, deviations: float) -> float | None:
    """Return half the width of the 95 % interval of a mean of ``count`` figures; ``None`` with fewer than two.

    ``deviations`` is the sum of their squared deviations from it.
    """
    if count < 2:
        return None
    return student_95(count) * sqrt(max(deviations, 0.0) / (count - 1) / count)


@dataclass(frozen=True)
class Mean:
    """A mean with half the width of its 95 % interval; ``None`` where there are too few figures for either."""

    value: float | None
    margin: float | None

    @classmethod
    def of(cls, count: int, total: float, squares: float) -> Mean:
        """Create it from the sum and the sum of squares of ``count`` figures."""
        if not count:
            return cls(None, None)
        return cls(total / count, margin(count, squares - total * total / count))

    def __str__(self) -> str:
        if self.value is None:
            return "unknown"
        return f"{self.value:.4g}" + ("" if self.margin is None else f" ± {self.margin:.2g}")


@dataclass(frozen=True)
class Share:
    """The mean of ``count`` figures between 0 and 1 with its 95 % interval (Wilson 1927).

    The interval is too wide, if anything, where some figures are neither 0 nor 1, and its width is never zero.
    """

    value: float
    count: int

    @classmethod
    def of(cls, figures: Sequence[float]) -> Share:
        """Create it from at least one figure."""
        return cls(sum(figures) / len(figures), len(figures))

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval, from 0 to 1."""
        scale = 1 + NORMAL_95**2 / self.count
        middle = (self.value + NORMAL_95**2 / (2 * self.count)) / scale
        half = (
            sqrt(self.value * (1 - self.value) / self.count + (NORMAL_95 / (2 * self.count)) ** 2) * NORMAL_95 / scale
        )
        return max(min(middle - half, self.value), 0.0), min(max(middle + half, self.value), 1.0)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{100 * self.value:.1f} % ({100 * low:.0f} to {100 * high:.0f})"


def draw(actions: tuple[Action, ...], weights: list[float], rng: np.random.Generator) -> Action:
    """Return one of ``actions`` by weights that are at least 0 and sum to about 1."""
    left = float(rng.random()) * sum(weights)
    chosen = actions[0]
    for action, weight in zip(actions, weights, strict=True):
        if weight > 0.0:  # rounding may leave a rest; it must not fall to a move that is never played
            chosen = action
            left -= weight
            if left < 0.0:
                break
    return chosen
