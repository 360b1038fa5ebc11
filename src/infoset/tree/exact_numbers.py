"""The fractions meant by a game's floating-point numbers: payoffs one by one, the chance probabilities jointly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, lcm, nextafter

from infoset.tree.graph import CHANCE, GameGraph

SMALL = 10**6
"""A denominator up to this is no accident: only one random float in ten thousand rounds such a fraction."""
FAITHFUL = 15
"""Significant digits that every float preserves: a number with no more of them was written as a decimal."""
ULP_OF_ONE = Fraction(1, 2**52)
LEAST_SHARE = 1024
"""A probability is moved by at most this fraction of itself, so that none becomes 0."""


def simplest(value: float) -> Fraction:
    """Return the fraction meant by ``value``, which rounds to it again: 1/3 for 0.333…, 7/10 for 0.7.

    It has a small denominator, else it is the decimal of at most 15 digits, else the shortest fraction within half a
    unit in the last place.
    """
    exact = Fraction(value)
    if exact.denominator == 1:
        return exact
    low, high = ((exact + Fraction(nextafter(value, end))) / 2 for end in (-inf, inf))
    shortest = simplest_between(low, high)
    if float(shortest) != value:  # an end of the interval that rounds to the neighbour
        shortest = simplest_between((exact + low) / 2, (exact + high) / 2)
    if shortest.denominator <= SMALL:
        return shortest
    decimal = Fraction(f"{value:.{FAITHFUL}g}")
    return decimal if float(decimal) == value else shortest


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator from ``low`` to ``high``, by its continued fraction."""
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    quotients: list[int] = []
    while True:
        whole = -(-low.numerator // low.denominator)
        if whole <= high:
            break
        quotients.append(whole - 1)
        low, high = 1 / (high - (whole - 1)), 1 / (low - (whole - 1))
    found = Fraction(whole)
    for quotient in reversed(quotients):
        found = quotient + 1 / found
    return found


def exact_chance_probabilities(probabilities: Sequence[float | Fraction]) -> tuple[Fraction, ...]:
    """Return probabilities that sum to about one as fractions that sum to exactly one.

    Floats are taken as the fractions they stand for (``simplest``).  Where these do not sum to one, all are moved, by
    no more than the missing amount and rounding, to the simplest fractions or decimals that do: 0.7 and 1 - 0.7 are
    7/10 and 3/10, and three times 0.3333333333 are thirds.
    """
    meant = [simplest(one) if isinstance(one, float) else Fraction(one) for one in probabilities]
    missing = 1 - sum(meant, Fraction(0))
    if not missing:
        return tuple(meant)
    slack = abs(missing) + ULP_OF_ONE
    moved = [min(slack, one / LEAST_SHARE) for one in meant]
    near = [simplest_between(one - most, one + most) for one, most in zip(meant, moved, strict=True)]
    decimals = [Fraction(f"{float(one):.{FAITHFUL}f}") for one in meant]
    fitting = [
        found
        for found in (near, decimals)
        if sum(found, Fraction(0)) == 1
        and all((one > 0) == (new > 0) and abs(one - new) <= slack for one, new in zip(meant, found, strict=True))
    ]
    if fitting:
        return tuple(min(fitting, key=lambda found: lcm(*[one.denominator for one in found])))
    largest = meant.index(max(meant))
    return (*meant[:largest], meant[largest] + missing, *meant[largest + 1 :])


def exact_probabilities(graph: GameGraph) -> dict[int, Fraction]:
    """Return the probability of each chance edge; those of a position sum to exactly one."""
    first, probability = graph.first_edge.tolist(), graph.probability.tolist()
    known: dict[tuple[float, ...], tuple[Fraction, ...]] = {}
    found: dict[int, Fraction] = {}
    for position in (graph.player == CHANCE).nonzero()[0].tolist():
        edges = range(first[position], first[position + 1])
        probabilities = tuple(probability[edges.start : edges.stop])
        if probabilities not in known:
            known[probabilities] = exact_chance_probabilities(probabilities)
        found.update(zip(edges, known[probabilities], strict=True))
    return found
