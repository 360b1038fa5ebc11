"""Compute the value of every position by a simple rule, exactly and backward: the values at a search's horizon."""

from __future__ import annotations

import numpy as np

from infoset.base import BoolArray, FloatArray, IntArray, LongArray
from infoset.jit import inner_kernel, kernel, linked_kernel
from infoset.search.belief import Movers
from infoset.solvers.tabular.updates import normalise
from infoset.tree.graph import CHANCE, TERMINAL, GameGraph

MATCHINGS = 100  # iterations of regret matching in a step where several players move


def random_values(graph: GameGraph) -> FloatArray:
    """Return the exact values (P, n) of all positions when everybody moves uniformly at random from there on.

    >>> from infoset.tree.graph import explore
    >>> from infoset.search.state_values import random_values
    >>> round(float(random_values(explore(infoset.load("gdl:monty_hall")))[0, 0]), 6)
    50.0
    """
    position_values = np.zeros((len(graph.player), len(graph.players)))
    ends = graph.player == TERMINAL
    position_values[ends] = graph.payoffs[graph.content[ends]]
    _average_up(graph.order, graph.player, graph.first_edge, graph.child, graph.probability, position_values)
    return position_values


@kernel
def _average_up(
    order: IntArray,
    player: Movers,
    first_edge: IntArray,
    child: IntArray,
    probability: FloatArray,
    position_values: FloatArray,
) -> None:
    for k in range(len(order) - 1, -1, -1):
        p = order[k]
        if player[p] != TERMINAL:
            size = first_edge[p + 1] - first_edge[p]
            for e in range(first_edge[p], first_edge[p + 1]):
                share = probability[e] if player[p] == CHANCE else 1.0 / size
                for i in range(position_values.shape[1]):
                    position_values[p, i] += share * position_values[child[e], i]


def informed_values(graph: GameGraph) -> FloatArray:
    """Return the values (P, n) of all positions when everybody learns everything before each step from there on.

    Steps in which several players move at once are solved by regret matching+ (to about a hundredth of the payoffs).
    Solutions of single worlds have these values where they look ahead to the end of the game.

    >>> from infoset.tree.graph import explore
    >>> from infoset.search.state_values import informed_values
    >>> round(float(informed_values(explore(infoset.load("gdl:monty_hall")))[0, 0]), 6)
    100.0
    """
    position_values = np.zeros((len(graph.player), len(graph.players)))
    ends = graph.player == TERMINAL
    position_values[ends] = graph.payoffs[graph.content[ends]]
    begins = np.zeros(len(graph.player), dtype=np.bool_)
    begins[0] = True
    begins[graph.child[graph.completes]] = True
    arrays = graph.player, graph.first_edge, graph.child, graph.probability, graph.completes
    _solve_up(graph.order, *arrays, begins, position_values)
    return position_values


@kernel
def _solve_up(
    order: IntArray,
    player: Movers,
    first_edge: IntArray,
    child: IntArray,
    probability: FloatArray,
    completes: BoolArray,
    begins: BoolArray,
    position_values: FloatArray,
) -> None:
    n = position_values.shape[1]
    sizes, movers = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for k in range(len(order) - 1, -1, -1):
        p = order[k]
        if player[p] == TERMINAL:
            continue
        if player[p] == CHANCE:
            for e in range(first_edge[p], first_edge[p + 1]):
                for i in range(n):
                    position_values[p, i] += probability[e] * position_values[child[e], i]
            continue
        count = _movers(player, first_edge, child, completes, p, sizes, movers)
        if count == 1 or not begins[p]:
            _choose_best(first_edge, child, p, player[p], position_values)
        else:
            _match(first_edge, child, p, count, sizes, movers, position_values)


@linked_kernel
def _movers(
    player: Movers,
    first_edge: IntArray,
    child: IntArray,
    completes: BoolArray,
    p: int,
    sizes: LongArray,
    movers: LongArray,
) -> int:
    """Write the movers of the step that begins at a position, and their numbers of moves; return how many they are."""
    count = 0
    while player[p] >= 0:
        sizes[count], movers[count] = first_edge[p + 1] - first_edge[p], player[p]
        count += 1
        if completes[first_edge[p]] or count == len(sizes):
            break
        p = child[first_edge[p]]
    return count


@linked_kernel
def _choose_best(first_edge: IntArray, child: IntArray, p: int, mover: int, position_values: FloatArray) -> None:
    best = first_edge[p]
    for e in range(first_edge[p], first_edge[p + 1]):
        if position_values[child[e], mover] > position_values[child[best], mover]:
            best = e
    position_values[p] = position_values[child[best]]


@linked_kernel
def _end_of(first_edge: IntArray, child: IntArray, p: int, count: int, sizes: LongArray, joint: int) -> int:
    """Return the position after a joint move, numbered in the order of its movers."""
    total = 1
    for m in range(count):
        total *= sizes[m]
    for m in range(count):
        total //= sizes[m]
        p = child[first_edge[p] + joint // total % sizes[m]]
    return p


@inner_kernel
def _match(
    first_edge: IntArray,
    child: IntArray,
    p: int,
    count: int,
    sizes: LongArray,
    movers: LongArray,
    position_values: FloatArray,
) -> None:
    """Write the mean payoffs of regret matching+ with linear weights in the matrix game of one step."""
    joints, widest = 1, 0
    for m in range(count):
        joints *= sizes[m]
        widest = max(widest, sizes[m])
    ends = np.empty(joints, dtype=np.int64)
    for j in range(joints):
        ends[j] = _end_of(first_edge, child, p, count, sizes, j)
    regret, strategy = np.zeros((count, widest)), np.zeros((count, widest))
    average, gain = np.zeros((count, widest)), np.zeros((count, widest))
    for t in range(MATCHINGS):
        for m in range(count):
            total = 0.0
            for a in range(sizes[m]):
                strategy[m, a] = max(regret[m, a], 0.0)
                total += strategy[m, a]
            normalise(0, sizes[m], total, strategy[m])
        gain[:] = 0.0
        for j in range(joints):
            _add_gains(j, count, sizes, movers, strategy, position_values[ends[j]], gain)
        for m in range(count):
            expected = 0.0
            for a in range(sizes[m]):
                expected += strategy[m, a] * gain[m, a]
            for a in range(sizes[m]):
                regret[m, a] = max(regret[m, a] + gain[m, a] - expected, 0.0)
                average[m, a] += (t + 1) * strategy[m, a]
    for m in range(count):
        average[m] /= average[m].sum()
    for j in range(joints):
        _add_values(j, count, sizes, average, position_values[ends[j]], position_values[p])


@linked_kernel
def _add_values(
    joint: int, count: int, sizes: LongArray, strategy: FloatArray, paid: FloatArray, total: FloatArray
) -> None:
    """Add a joint move's share of the expected payoffs to ``total``."""
    weight = 1.0
    for m in range(count - 1, -1, -1):
        weight *= strategy[m, joint % sizes[m]]
        joint //= sizes[m]
    for i in range(len(total)):
        total[i] += weight * paid[i]


@inner_kernel
def _add_gains(
    joint: int,
    count: int,
    sizes: LongArray,
    movers: LongArray,
    strategy: FloatArray,
    paid: FloatArray,
    gain: FloatArray,
) -> None:
    """Add a joint move's share of the expected payoff of each of its moves to ``gain``."""
    for m in range(count):
        weight, rest, own = 1.0, joint, 0
        for other in range(count - 1, -1, -1):
            action = rest % sizes[other]
            rest //= sizes[other]
            if other == m:
                own = action
            else:
                weight *= strategy[other, action]
        gain[m, own] += weight * paid[movers[m]]
