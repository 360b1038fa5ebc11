"""The local updates, which change the behaviour at one information set, given the values of its moves.

An update is a plain function ``update(root, parent, first, last, value, values, strategy, memory, parameters)``
that the loop compiles into itself.  The moves of the set are the sequences ``first`` to ``last - 1``;
``parent`` is the sequence that leads there and ``root`` the player's empty one.  ``values[q]`` is the
counterfactual value of move ``q``, ``value`` that of the set (``values[root]`` is the player's payoff),
``strategy[q]`` the behaviour to replace, ``memory[k, q]`` what the update keeps from one iteration to the
next, ``parameters`` this iteration's row of the method's schedule; its first entry is the discount of the
average and belongs to the loop.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

from infoset.base import FloatArray
from infoset.jit import inline_kernel

NOISE = 1e-15  # a sum of regrets that is zero in exact arithmetic must not become a pure strategy


@inline_kernel
def normalise(first: int, last: int, total: float, strategy: FloatArray) -> None:
    """Scale nonnegative weights to sum to one; uniform where their sum is only rounding noise."""
    if total > NOISE:
        scale = 1.0 / total
        for q in range(first, last):
            strategy[q] *= scale
    else:
        for q in range(first, last):
            strategy[q] = 1.0 / (last - first)


@inline_kernel
def softmax(first: int, last: int, logits: FloatArray, strategy: FloatArray) -> None:
    """Set ``strategy`` to the softmax of ``logits[0]`` and shift these so that the largest is zero."""
    largest = logits[0, first]
    for q in range(first, last):
        largest = max(largest, logits[0, q])
    total = 0.0
    for q in range(first, last):
        logits[0, q] -= largest
        strategy[q] = exp(logits[0, q])
        total += strategy[q]
    normalise(first, last, total, strategy)


def regret_matching(
    root: int, parent: int, first: int, last: int, value: float,
    values: FloatArray, strategy: FloatArray, memory: FloatArray, parameters: FloatArray,
) -> None:  # fmt: skip
    """Apply regret matching with discounts after each iteration (Brown & Sandholm 2019): most of the CFR family.

    ``parameters[1]`` multiplies regrets above zero and ``parameters[2]`` those below (0: regret matching+).
    """
    total = 0.0
    for q in range(first, last):
        regret = memory[0, q] + values[q] - value
        regret *= parameters[1] if regret > 0 else parameters[2]
        memory[0, q] = regret
        strategy[q] = max(regret, 0.0)
        total += strategy[q]
    normalise(first, last, total, strategy)


def predictive(
    root: int, parent: int, first: int, last: int, value: float,
    values: FloatArray, strategy: FloatArray, memory: FloatArray, parameters: FloatArray,
) -> None:  # fmt: skip
    """Apply predictive regret matching+ (Farina et al. 2021), which predicts that the last regrets recur.

    ``parameters[1]`` multiplies the regrets after each iteration.
    """
    total = 0.0
    for q in range(first, last):
        regret = values[q] - value
        memory[0, q] = max(memory[0, q] + regret, 0.0) * parameters[1]
        strategy[q] = max(memory[0, q] + regret, 0.0)
        total += strategy[q]
    normalise(first, last, total, strategy)


@inline_kernel
def _largest(first: int, last: int, value: float, values: FloatArray) -> float:
    """Return the largest magnitude of this iteration's regrets at a set."""
    largest = 0.0
    for q in range(first, last):
        largest = max(largest, abs(values[q] - value))
    return largest


def volatility_adaptive(
    root: int, parent: int, first: int, last: int, value: float,
    values: FloatArray, strategy: FloatArray, memory: FloatArray, parameters: FloatArray,
) -> None:  # fmt: skip
    """Apply VAD-CFR's update (Li et al. 2026, listing 5).

    Regrets are discounted faster where they were large recently, positive ones are boosted, and behaviour is optimistic
    about them.

    ``memory[1, first]`` is the moving mean of their magnitudes, ``parameters[1]`` the number of iterations so far and
    ``parameters[2]`` the largest magnitude expected.
    """
    done, expected = parameters[1], parameters[2]
    magnitude = _largest(first, last, value, values)
    memory[1, first] = magnitude if done == 0 else 0.1 * magnitude + 0.9 * memory[1, first]
    volatility = min(1.0, memory[1, first] / expected)
    alpha = max(0.1, 1.5 - 0.5 * volatility)
    positive, negative = (done + 1) ** alpha, (done + 1) ** min(alpha, -0.1 - 0.5 * volatility)
    positive, negative = positive / (positive + 1), negative / (negative + 1)
    optimism = (1.0 - 0.5 * volatility) / (1.0 + done / 100.0)
    total = 0.0
    for q in range(first, last):
        regret, summed = values[q] - value, memory[0, q]
        if regret > 0:
            regret *= 1.1
        summed = max(summed * (positive if summed >= 0 else negative) + regret, -10.0 * expected)
        memory[0, q] = summed
        strategy[q] = max(summed * (positive if summed >= 0 else negative) + optimism * regret, 0.0) ** 1.5
        total += strategy[q]
    for q in range(first, last):
        strategy[q] = strategy[q] / total if total > 0 else 1.0 / (last - first)


def by_magnitude(
    first: int, last: int, value: float, values: FloatArray, memory: FloatArray, parameters: FloatArray
) -> float:  # fmt: skip
    """Return the weight of VAD-CFR's behaviour in the average.

    It is 0 for ``parameters[3]`` iterations; later it depends on the iteration and on the magnitude of the regrets.
    """
    done, expected = parameters[1], parameters[2]
    if done < parameters[3]:
        return 0.0
    magnitude = _largest(first, last, value, values)
    exponent = min(4.0, 2.0 + 1.5 * min(1.0, magnitude / expected))
    return float((done + 1) ** exponent / (1.0 + magnitude**1.5) * (1.0 + magnitude / expected) ** 0.5)


def hedge(
    root: int, parent: int, first: int, last: int, value: float,
    values: FloatArray, strategy: FloatArray, memory: FloatArray, parameters: FloatArray,
) -> None:  # fmt: skip
    """Apply exponential weights (Freund & Schapire 1997) to counterfactual values, learning rate ``parameters[1]``."""
    for q in range(first, last):
        memory[0, q] += parameters[1] * values[q]
    softmax(first, last, memory, strategy)


def replicator(
    root: int, parent: int, first: int, last: int, value: float,
    values: FloatArray, strategy: FloatArray, memory: FloatArray, parameters: FloatArray,
) -> None:  # fmt: skip
    """Apply discrete sequence-form replicator dynamics (Lanctot 2014, eq. 3); ``parameters[1]`` is the shift c.

    An iteration takes O(tree).  ``memory[1, q]`` is W(q) - u - c, with W(q) the shifted payoff of playing to make the
    choice q and u the payoff of the current profile; eq. 3 divided by the parent's eq. 3 multiplies strategy[q] by
    W(q)/W(parent).  Weights are kept as logarithms: plain doubles underflow to a pure profile that never changes again.
    """
    above = memory[1, parent]
    payoff = values[root] + parameters[1]
    for q in range(first, last):
        memory[1, q] = above + values[q] - value
        memory[0, q] += log((memory[1, q] + payoff) / (above + payoff))
    softmax(first, last, memory, strategy)


Update = Any
"""The type of the functions above; Numba's index types differ from Python's."""
