"""The algebra of the sequence form: three passes of which every solver and metric is composed.

``gradient`` over the terminal rows, values up the sequence tree (expected or best), plans down it.
All arrays are indexed by sequence, with every player's part one after the other (see ``FormArrays``).  Indices are
unsigned, which spares Numba the check for negative ones and halves the time of a pass.
"""

from __future__ import annotations

import numpy as np

from infoset.base import FloatArray
from infoset.jit import borrowing, kernel, linked_kernel
from infoset.tree.sequence_form import FormArrays

ZERO, ONE = np.uint64(0), np.uint64(1)


@linked_kernel
@borrowing
def _list_sum(a: FormArrays, number: np.uint64, base: np.uint32, plan: FloatArray) -> float:
    """Return the total weight of the sequences of a list, whose player's sequences begin at ``base``."""
    total, begin, end = 0.0, a.list_rows[number], a.list_rows[number + ONE]
    if len(a.codes):
        for e in range(begin, end):
            total += a.weights[a.codes[e]] * plan[base + a.entries[e]]
    else:
        for e in range(begin, end):
            total += plan[base + a.entries[e]]
    return total


@linked_kernel
@borrowing
def _list_add(a: FormArrays, number: np.uint64, base: np.uint32, amount: float, values: FloatArray) -> None:
    """Add ``amount`` to each sequence of a list, times its weight."""
    begin, end = a.list_rows[number], a.list_rows[number + ONE]
    if len(a.codes):
        for e in range(begin, end):
            values[base + a.entries[e]] += a.weights[a.codes[e]] * amount
    else:
        for e in range(begin, end):
            values[base + a.entries[e]] += amount


@kernel
def add_blocks(
    a: FormArrays, player: int, plan: FloatArray, values: FloatArray, first: int, last: int, number: int
) -> None:
    """Add to ``values`` the payoffs of the blocks ``first`` to ``last``, of which ``number`` is the first list.

    It is one number for each own list, from sums over the others' lists.  Shares are not applied.
    """
    n = a.pattern_lists.shape[1]
    if first == last:  # no payoff is ever different from 0
        return
    sums = np.empty((n, np.int64(a.pattern_lists.max())))
    here = np.uint64(number)
    for b in range(np.uint64(first), np.uint64(last)):
        pattern = a.blocks[b]
        mine = here
        for p in range(n):
            count, base = a.pattern_lists[pattern, p], a.sequences[p]
            if p == player:
                mine = here
            for k in range(count):
                sums[p, k] = 0.0 if p == player else _list_sum(a, here + k, base, plan)
            here += count
        for t in range(a.terms[pattern], a.terms[pattern + ONE]):
            amount = a.term_paid[player, t]
            for p in range(n):
                if p != player:
                    amount *= sums[p, a.term_lists[p, t]]
            sums[player, a.term_lists[player, t]] += amount
        for k in range(a.pattern_lists[pattern, player]):
            _list_add(a, mine + k, a.sequences[player], sums[player, k], values)


@kernel
def factored_gradient(a: FormArrays, player: int, plan: FloatArray, values: FloatArray) -> None:
    """Write the gradient of a form whose payoffs are stored in blocks."""
    own = slice(a.sequences[player], a.sequences[player + 1])
    values[own] = 0.0
    if len(a.shares):
        add_blocks(a, player, plan * a.shares, values, 0, len(a.blocks), 0)
        values[own] *= a.shares[own]
    else:
        add_blocks(a, player, plan, values, 0, len(a.blocks), 0)


@kernel
@borrowing
def add_in_parallel(a: FormArrays) -> tuple[int, np.int64]:
    """Return the first block after about half of all entries, and the number of its first list."""
    number, half = ZERO, a.list_rows[len(a.list_rows) - 1] // 2
    for b in range(len(a.blocks)):
        if a.list_rows[number] >= half:
            return b, np.int64(number)
        for p in range(a.pattern_lists.shape[1]):
            number += a.pattern_lists[a.blocks[b], p]
    return len(a.blocks), np.int64(number)


@kernel
def gradient(a: FormArrays, player: int, plan: FloatArray, values: FloatArray) -> None:
    """Write values[q] = sum over the rows that end q of payoff * product of the others' realisation weights."""
    n = a.rows.shape[0]
    if a.rows.shape[1] == 0:
        factored_gradient(a, player, plan, values)
        return
    begin = a.sequences[player]
    rows, paid, other = a.rows[player], a.payoffs[player], a.others[player, 0]
    t = rows[0] * ZERO
    for q in range(a.sequences[player + 1] - begin):
        total = 0.0
        end = rows[q + ONE]
        if n == 2:
            while t < end:
                total += paid[t] * plan[other[t]]
                t += ONE
        else:
            while t < end:
                weight = paid[t] * plan[other[t]]
                for k in range(1, n - 1):
                    weight *= plan[a.others[player, k, t]]
                total += weight
                t += ONE
        values[begin + q] = total


@kernel
def expect_up(a: FormArrays, player: int, strategy: FloatArray, values: FloatArray, infoset_values: FloatArray) -> None:
    """Add to every sequence the value of its continuation when ``strategy`` is played.

    Afterwards values[q] is the counterfactual value of the move q, values[empty] the player's payoff and
    infoset_values[k] the counterfactual value of the information set k.
    """
    top = a.infosets[player + 1] - ONE
    for back in range(a.infosets[player + 1] - a.infosets[player]):
        k = top - back
        total = 0.0
        for q in range(a.first[k], a.first[k] + a.size[k]):
            total += strategy[q] * values[q]
        infoset_values[k] = total
        values[a.parent[k]] += total


@kernel
def best_up(a: FormArrays, player: int, values: FloatArray) -> None:
    """Add to every sequence the value of its continuation when the best move is played everywhere."""
    top = a.infosets[player + 1] - ONE
    for back in range(a.infosets[player + 1] - a.infosets[player]):
        k = top - back
        best = values[a.first[k]]
        for q in range(a.first[k], a.first[k] + a.size[k]):
            best = max(best, values[q])
        values[a.parent[k]] += best


@kernel
def choose_best(a: FormArrays, player: int, values: FloatArray, strategy: FloatArray) -> None:
    """Write the behaviour that plays the first of the best moves everywhere, by the values that ``best_up`` left."""
    for k in range(a.infosets[player], a.infosets[player + 1]):
        best = a.first[k]
        for q in range(a.first[k], a.first[k] + a.size[k]):
            if values[q] > values[best]:
                best = q
            strategy[q] = 0.0
        strategy[best] = 1.0


@kernel
def best_where_free(a: FormArrays, player: int, fixed: FloatArray, values: FloatArray) -> None:
    """Do the same as ``best_up``, but play ``fixed`` (S,) wherever it is not negative."""
    top = a.infosets[player + 1] - ONE
    for back in range(a.infosets[player + 1] - a.infosets[player]):
        k = top - back
        first, last = a.first[k], a.first[k] + a.size[k]
        best = values[first]
        if fixed[first] >= 0.0:
            best = 0.0
            for q in range(first, last):
                best += fixed[q] * values[q]
        else:
            for q in range(first, last):
                best = max(best, values[q])
        values[a.parent[k]] += best


@kernel
def plan_down(a: FormArrays, player: int, strategy: FloatArray, plan: FloatArray) -> None:
    """Write realisation weights from behaviour: plan[q] = plan[parent] * strategy[q]."""
    plan[a.sequences[player]] = 1.0
    for k in range(a.infosets[player], a.infosets[player + 1]):
        for q in range(a.first[k], a.first[k] + a.size[k]):
            plan[q] = plan[a.parent[k]] * strategy[q]


@kernel
def behave(a: FormArrays, plan: FloatArray, strategy: FloatArray) -> None:
    """Write behaviour from realisation weights; uniform where a set is never reached."""
    for k in range(len(a.first)):
        total = 0.0
        for q in range(a.first[k], a.first[k] + a.size[k]):
            total += plan[q]
        for q in range(a.first[k], a.first[k] + a.size[k]):
            strategy[q] = plan[q] / total if total > 0 else 1.0 / a.size[k]


@kernel
def root_values(a: FormArrays, plan: FloatArray, values: FloatArray, expected: FloatArray, best: FloatArray) -> None:
    """Write every player's payoff under ``plan`` and of its best response; ``values`` then has those of best play."""
    for player in range(a.rows.shape[0]):
        gradient(a, player, plan, values)
        begin = a.sequences[player]
        expected[player] = 0.0
        for q in range(begin, a.sequences[player + 1]):
            expected[player] += plan[q] * values[q]
        best_up(a, player, values)
        best[player] = values[begin]
