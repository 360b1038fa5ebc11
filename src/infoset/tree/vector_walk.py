"""The walk over a public tree with a vector of hands at each node: one pass computes a player's values of all hands.

Nodes between two public chance events share a *board* and therefore their hands.  Boards are visited depth first: on
the way down each player's reach is computed at all nodes of the board, on the way up the traversing player's values.
The ends of a board are evaluated together, ``LANES`` of them side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import BoolArray, FloatArray, IntArray, LongArray
from infoset.jit import borrowing, inline_kernel, kernel, linked_kernel
from infoset.lanes import (
    LANES,
    add_difference,
    add_product,
    add_row,
    add_whole_product,
    gather_rows,
    scatter_rows,
    write_combination,
    write_combinations,
    write_difference,
)

DECK = 52
ALL, WON, TIED, LOST, SAME = range(DECK + 1, DECK + 6)
"""Rows of ``sums``: the reach of all hands, then factors of the reach of weaker, not stronger, all, and equal hands."""
LARGEST = 32767
"""The largest number of 16 bits."""
TRAIN, EXPECT, RESPOND = 0, 1, 2
"""What a walk does at the traversing player's nodes: update, expect the payoff of the strategy, respond best."""
CHANCE_NODE, END_NODE = -1, -2


class VectorArrays(NamedTuple):
    """The arrays of a vector form.  B boards, K kinds of boards with the same nodes, N nodes, two players.

    Boards are in depth-first order, the nodes of a kind in preorder.
    """

    depth: IntArray  # (B,) number of public chance events before
    above: IntArray  # (B,) the board before
    until: IntArray  # (B,) where the boards below end
    kind: IntArray  # (B,)
    hands: IntArray  # (2, B) number of a player's hands
    first_hand: LongArray  # (2, B) into the arrays by hand
    first_row: LongArray  # (2, B) into the rows of a player's strategies
    first_scale: LongArray  # (2, B) number of a player's nodes at boards before
    first_up: LongArray  # (2, B) into ``up``
    after: IntArray  # (B,) the first of the leaves of the board before that its roots follow
    copies: IntArray  # (B,) number of chance outcomes that this board stands for
    first_matrix: LongArray  # (B,) into ``matrix``, -1 for none
    cards: IntArray  # (hands, 2) the two cards of a hand; 52 for none
    strength: IntArray  # (hands,)
    same: IntArray  # (hands,) the place of the same hand among those of the other player, -1 for none
    up: IntArray  # (…,) by copy and hand: its place among the hands of the board before
    matrix: IntArray  # (…,) wins less losses of the first player's hands (rows) over all boards below
    first_node: IntArray  # (K + 1,)
    mover: IntArray  # (N,) the player, CHANCE_NODE or END_NODE
    actions: IntArray  # (N,)
    first_child: IntArray  # (N,) into ``children``
    children: IntArray  # nodes, numbered within their kind
    row: IntArray  # (N,) actions of the mover at the nodes before, within its kind
    order: IntArray  # (N,) number of the mover's nodes before, within its kind
    slot: IntArray  # (2, N) number of a player's reach vector within its kind
    next_slot: IntArray  # (N,) the mover's reach vector after its first action
    first_leaf: IntArray  # (K + 1,) into ``leaves``
    leaves: IntArray  # the chance nodes, in order
    first_root: IntArray  # (K + 1,) into ``roots``
    roots: IntArray  # the nodes that follow leaves of the board before, from ``after`` on in the same order
    first_lane: IntArray  # (K + 1,) into ``lanes``
    showdowns: IntArray  # (K,) number of lanes where hands are compared, which come first
    lanes: IntArray  # nodes where the game ends on this board
    pays: FloatArray  # (lanes, 2, 3) a player's payoff where it wins, ties, loses, times the probability of chance
    first_all_in: IntArray  # (K + 1,) into ``all_ins``
    all_ins: IntArray  # those of the lanes where only cards follow
    stakes: FloatArray  # (all-ins, 2) what a win pays more than a tie, and a loss less, times the probability of chance
    first_group: IntArray  # (K + 1,) into groups of up to LANES ends with the same table
    group_end: IntArray  # (G + 1,) into ``paid``
    table_at: LongArray  # (G, 2) where a player's table begins in ``tables``
    paid: IntArray  # nodes where the game ends on this board and a table pays
    factors: FloatArray  # (paid,) of the payoffs in the table
    tables: FloatArray  # (…,) a player's payoffs by its hands (rows) and the other's, times the probability of chance


class Scratch(NamedTuple):
    """The memory of one thread."""

    reach: FloatArray  # by player and slot
    values: FloatArray  # by node
    strategy: FloatArray  # by the traversing player's rows
    lanes: FloatArray  # (hands, LANES)
    results: FloatArray  # (hands, LANES)
    sums: FloatArray  # (DECK + 6, LANES) reach by card; then of all hands, and what ``read_pays`` writes
    total: FloatArray  # (hands,)
    reach_at: LongArray  # (2, depths) where a board's reach vectors begin
    values_at: LongArray  # (depths,)
    strategy_at: LongArray  # (depths,)
    places: LongArray  # (LANES,) where the vectors of the lanes begin
    path: LongArray  # (depths,) the boards that are entered and not yet done


class Learnt(NamedTuple):
    """The state of a solver, by rows: player, board, node, action, hand.

    Numbers are in single or double precision, or whole numbers of 16 bits in units of ``scales``.
    """

    regrets: FloatArray
    average: FloatArray  # discounted sums of the strategies, weighted by the player's own reach
    ahead: FloatArray  # the last regrets, for predictive updates; (0,) for others
    scales: FloatArray  # (nodes of all boards, 2) the units of regrets and average; (0, 2) for 1
    locked: BoolArray  # rows whose strategy is fixed by their regrets; (0,) for none


@inline_kernel
def match_regrets(
    regrets: FloatArray, ahead: FloatArray, actions: int, n: int, strategy: FloatArray, total: FloatArray
) -> None:
    """Write the strategy of ``n`` hands that is proportional to the positive part of their regrets, or uniform."""
    for h in range(n):
        total[h] = 0.0
    for a in range(actions):
        to, regret = strategy[a * n : a * n + n], regrets[a * n : a * n + n]
        if len(ahead):
            last = ahead[a * n : a * n + n]
            for h in range(n):
                to[h] = max(regret[h] + last[h], regret.dtype.type(0))
                total[h] += to[h]
        else:
            for h in range(n):
                to[h] = max(regret[h], regret.dtype.type(0))
                total[h] += to[h]
    even = total.dtype.type(1.0 / actions)
    one = total.dtype.type(1.0)
    for h in range(n):
        total[h] = one / total[h] if total[h] > 0 else total.dtype.type(0)
    for a in range(actions):
        to = strategy[a * n : a * n + n]
        for h in range(n):
            to[h] = to[h] * total[h] if total[h] > 0 else even


@linked_kernel
@borrowing
def go_down(
    a: VectorArrays,
    b: int,
    player: int,
    traversing: bool,
    source: FloatArray,
    ahead: FloatArray,
    weights: FloatArray,
    x: Scratch,
) -> None:
    """Compute the reach vectors of a player at a board; keep the strategy of the traversing one."""
    kind, depth, n = a.kind[b], a.depth[b], a.hands[player, b]
    here = x.reach_at[player, depth]
    node0, root0 = a.first_node[kind], a.first_root[kind]
    for r in range(a.first_root[kind + 1] - root0):
        at = here + a.slot[player, node0 + a.roots[root0 + r]] * n
        to = x.reach[at : at + n]
        if depth == 0:
            first = weights[a.first_hand[player, b] : a.first_hand[player, b] + n]
            for h in range(n):
                to[h] = first[h]
        else:
            over = a.above[b]
            above_kind, wide = a.kind[over], a.hands[player, over]
            leaf = a.first_node[above_kind] + a.leaves[a.first_leaf[above_kind] + a.after[b] + r]
            at = x.reach_at[player, depth - 1] + a.slot[player, leaf] * wide
            before, up = x.reach[at : at + wide], a.up[a.first_up[player, b] : a.first_up[player, b] + n]
            for h in range(n):
                to[h] = before[up[h]]
    base, rows = a.first_row[player, b], x.strategy_at[depth]
    for node in range(node0, a.first_node[kind + 1]):
        if a.mover[node] == player:
            row, actions = a.row[node] * n, a.actions[node]
            at = rows + row if traversing else rows
            size = actions * n
            strategy = x.strategy[at : at + size]
            match_regrets(
                source[base + row : base + row + size],
                ahead[base + row : base + row + size] if len(ahead) else ahead,
                actions, n, strategy, x.total,
            )  # fmt: skip
            at, after = here + a.slot[player, node] * n, here + a.next_slot[node] * n
            reach = x.reach[at : at + n]
            for k in range(actions):
                to, factor = x.reach[after + k * n : after + k * n + n], strategy[k * n : k * n + n]
                for h in range(n):
                    to[h] = reach[h] * factor[h]


@linked_kernel
@borrowing
def read_reach(a: VectorArrays, b: int, player: int, x: Scratch, ends: IntArray) -> None:
    """Copy a player's reach at up to ``LANES`` ends side by side; unused lanes repeat the last one."""
    n, node0, base, used = a.hands[player, b], a.first_node[a.kind[b]], x.reach_at[player, a.depth[b]], len(ends)
    lanes, reach, places = x.lanes, x.reach, x.places
    for k in range(LANES):
        places[k] = base + a.slot[player, node0 + ends[min(k, used - 1)]] * n
    for h in range(0, n, LANES):  # reads, and writes to rows that nobody reads, beyond the last hand
        gather_rows(lanes, h, reach, places)


@linked_kernel
@borrowing
def write_values(a: VectorArrays, b: int, player: int, x: Scratch, ends: IntArray) -> None:
    """Copy the results of up to ``LANES`` ends to the values of their nodes."""
    n, base, used = a.hands[player, b], x.values_at[a.depth[b]], len(ends)
    results, values, places = x.results, x.values, x.places
    for k in range(LANES):
        places[k] = base + ends[min(k, used - 1)] * n
    whole = n - n % LANES
    for h in range(0, whole, LANES):
        scatter_rows(values, places, results, h)
    for h in range(whole, n):
        for k in range(used):
            values[places[k] + h] = results[h, k]


@linked_kernel
@borrowing
def read_lanes(a: VectorArrays, b: int, player: int, x: Scratch, first: int, used: int) -> None:
    """Copy the other player's reach at up to ``LANES`` ends side by side, and what the ends pay."""
    sums = x.sums
    for k in range(LANES):
        end = first + min(k, used - 1)  # unused lanes repeat the last one
        won, tied, lost = a.pays[end, player, 0], a.pays[end, player, 1], a.pays[end, player, 2]
        sums[WON, k], sums[TIED, k], sums[LOST, k], sums[SAME, k] = won - tied, tied - lost, lost, tied
    for row in range(ALL + 1):
        for k in range(LANES):
            sums[row, k] = 0.0
    read_reach(a, b, 1 - player, x, a.lanes[first : first + used])


@linked_kernel
@borrowing
def compare_hands(a: VectorArrays, b: int, player: int, x: Scratch, comparing: bool) -> None:
    """Write the values of all hands at up to ``LANES`` ends, in one pass over the hands sorted by strength.

    Hands that share a card are left out by inclusion and exclusion: the same hand was subtracted for both cards.
    Without ``comparing`` all strengths count as equal, as where a player folds.
    """
    other, n, m = 1 - player, a.hands[player, b], a.hands[1 - player, b]
    own, others = a.first_hand[player, b], a.first_hand[other, b]
    strength, strengths = a.strength[own : own + n], a.strength[others : others + m]
    cards, their_cards, same = a.cards[own : own + n], a.cards[others : others + m], a.same[own : own + n]
    lanes, results, sums = x.lanes, x.results, x.sums
    i = j = 0
    while comparing and i < n:
        level = strength[i]
        while j < m and strengths[j] < level:
            add_row(sums, ALL, lanes, j)
            add_row(sums, their_cards[j, 0], lanes, j)
            add_row(sums, their_cards[j, 1], lanes, j)
            j += 1
        end = i
        while end < n and strength[end] == level:
            write_difference(results, end, sums, WON, sums, ALL, sums, cards[end, 0], sums, cards[end, 1])
            end += 1
        while j < m and strengths[j] == level:
            add_row(sums, ALL, lanes, j)
            add_row(sums, their_cards[j, 0], lanes, j)
            add_row(sums, their_cards[j, 1], lanes, j)
            j += 1
        for h in range(i, end):
            add_difference(results, h, sums, TIED, sums, ALL, sums, cards[h, 0], sums, cards[h, 1])
        i = end
    while j < m:
        add_row(sums, ALL, lanes, j)
        add_row(sums, their_cards[j, 0], lanes, j)
        add_row(sums, their_cards[j, 1], lanes, j)
        j += 1
    for h in range(n):
        if comparing:
            add_difference(results, h, sums, LOST, sums, ALL, sums, cards[h, 0], sums, cards[h, 1])
        else:
            write_difference(results, h, sums, LOST, sums, ALL, sums, cards[h, 0], sums, cards[h, 1])
        if same[h] >= 0:
            add_product(results, h, sums, SAME, lanes, same[h])


@linked_kernel
@borrowing
def end_on_board(a: VectorArrays, b: int, player: int, x: Scratch) -> None:
    """Write the values of all ends of a board where hands are compared or one folds."""
    kind = a.kind[b]
    first, showdowns, until = a.first_lane[kind], a.first_lane[kind] + a.showdowns[kind], a.first_lane[kind + 1]
    while first < until:
        comparing = first < showdowns
        used = min(LANES, (showdowns if comparing else until) - first)
        read_lanes(a, b, player, x, first, used)
        compare_hands(a, b, player, x, comparing)
        write_values(a, b, player, x, a.lanes[first : first + used])
        first += used


@linked_kernel
@borrowing
def pay_tables(a: VectorArrays, b: int, player: int, x: Scratch) -> None:
    """Write the values of all ends of a board that tables pay."""
    kind, n, m = a.kind[b], a.hands[player, b], a.hands[1 - player, b]
    lanes, results, tables = x.lanes, x.results, a.tables
    for group in range(a.first_group[kind], a.first_group[kind + 1]):
        first, end = a.group_end[group], a.group_end[group + 1]
        read_reach(a, b, 1 - player, x, a.paid[first:end])
        factor = x.sums[0]
        for k in range(LANES):
            factor[k] = a.factors[first + min(k, end - first - 1)]
        for h in range(m):
            for k in range(LANES):
                lanes[h, k] *= factor[k]
        at = a.table_at[group, player]
        fours = n - n % 4
        for h in range(0, fours, 4):
            write_combinations(results, h, tables, at + h * m, lanes, m)
        for h in range(fours, n):
            write_combination(results, h, tables, at + h * m, lanes, m)
        write_values(a, b, player, x, a.paid[first:end])


@linked_kernel
@borrowing
def run_out(a: VectorArrays, b: int, player: int, x: Scratch) -> None:
    """Add to what a tie pays what wins and losses pay where both players are all-in, over all cards to come."""
    kind, depth, other = a.kind[b], a.depth[b], 1 - player
    n, m, first, node0 = a.hands[player, b], a.hands[other, b], a.first_matrix[b], a.first_node[kind]
    for end in range(a.first_all_in[kind], a.first_all_in[kind + 1]):
        at = x.reach_at[other, depth] + a.slot[other, node0 + a.all_ins[end]] * m
        reach, at = x.reach[at : at + m], x.values_at[depth] + a.all_ins[end] * n
        to, stake = x.values[at : at + n], a.stakes[end, player]
        if player == 0:
            whole = m - m % LANES
            for i in range(n):
                begin, total = first + i * m, to.dtype.type(0)
                for k in range(LANES):
                    x.sums[0, k] = 0.0
                for j in range(0, whole, LANES):
                    add_whole_product(x.sums, 0, a.matrix, begin + j, reach, j)
                for k in range(LANES):
                    total += x.sums[0, k]
                for j in range(whole, m):
                    total += a.matrix[begin + j] * reach[j]
                to[i] += stake * total
        else:
            for j in range(m):
                if reach[j] > 0:
                    row, factor = a.matrix[first + j * n : first + j * n + n], -stake * reach[j]
                    for i in range(n):
                        to[i] += row[i] * factor


@inline_kernel
def expect(a: VectorArrays, node: int, player: int, n: int, x: Scratch, to: int, values: int, mine: int) -> None:
    """Write the value of a node of the traversing player, the mean of those of its actions."""
    value = x.values[to : to + n]
    for k in range(a.actions[node]):
        at = values + a.children[a.first_child[node] + k] * n
        child, strategy = x.values[at : at + n], x.strategy[mine + k * n : mine + k * n + n]
        if k == 0:
            for h in range(n):
                value[h] = strategy[h] * child[h]
        else:
            for h in range(n):
                value[h] += strategy[h] * child[h]


@inline_kernel
def update(
    child: FloatArray,
    value: FloatArray,
    regrets: FloatArray,
    ahead: FloatArray,
    locked: BoolArray,
    unit: float,
    positive: float,
    negative: float,
) -> None:
    """Replace the values of an action by its regrets; ``unit`` is that in which ``regrets`` are kept."""
    n = len(value)
    if len(ahead):
        for h in range(n):
            last = child[h] - value[h]
            updated = max(regrets[h] + last, value.dtype.type(0)) * positive
            fixed = len(locked) > 0 and locked[h]
            ahead[h] = value.dtype.type(0) if fixed else last
            child[h] = regrets[h] if fixed else updated
    elif len(locked):
        for h in range(n):
            regret = regrets[h] * unit + (child[h] - value[h])
            updated = regret * (positive if regret > 0 else negative)
            child[h] = regrets[h] * unit if locked[h] else updated
    else:
        for h in range(n):
            regret = regrets[h] * unit + (child[h] - value[h])
            child[h] = regret * (positive if regret > 0 else negative)


@inline_kernel
def keep(rows: FloatArray, numbers: FloatArray, half: bool, unit: float) -> None:
    """Keep numbers as they are, or as whole multiples of a unit."""
    if half:
        factor = 1 / unit
        for h in range(len(numbers)):
            rows[h] = np.rint(numbers[h] * factor)
    else:
        for h in range(len(numbers)):
            rows[h] = numbers[h]


@linked_kernel
@borrowing
def widen(most: FloatArray, row: FloatArray) -> None:
    """Raise each element of ``most`` to the magnitude of that of ``row``."""
    for h in range(len(most)):
        most[h] = max(most[h], abs(row[h]))


@linked_kernel
@borrowing
def unit_of(most: FloatArray) -> np.float64:
    """Return the unit in which numbers up to the largest of ``most`` fit into 16 bits."""
    largest = most.dtype.type(0)
    for h in range(len(most)):
        largest = max(largest, most[h])
    return largest / LARGEST if largest > 0 else most.dtype.type(1)


@inline_kernel
def learn(
    a: VectorArrays, b: int, node: int, player: int, n: int, s: Learnt, x: Scratch, parameters: FloatArray
) -> None:
    """Update the regrets and the average of a node from the values of its actions; write the value of the node.

    ``parameters``: the discount of the average, then of positive and of negative regrets.
    """
    depth, row, actions = a.depth[b], a.row[node] * n, a.actions[node]
    node0, values = a.first_node[a.kind[b]], x.values_at[depth]
    to, mine, at = values + (node - node0) * n, x.strategy_at[depth] + row, a.first_row[player, b] + row
    reach = x.reach_at[player, depth] + a.slot[player, node] * n
    value, own = x.values[to : to + n], x.reach[reach : reach + n]
    expect(a, node, player, n, x, to, values, mine)
    number, half = a.first_scale[player, b] + a.order[node], len(s.scales) > 0
    unit = average_unit = x.values.dtype.type(1)
    if half:
        unit, average_unit = s.scales[number, 0], s.scales[number, 1]
    most, most_average = x.total[:n], x.results.reshape(-1)[:n]
    if half:
        for h in range(n):
            most[h] = most_average[h] = 0.0
    before = average_unit * parameters[0]
    for k in range(actions):  # what is kept takes the place of the strategy and of the values of actions
        begin, end, child_at = at + k * n, at + k * n + n, values + a.children[a.first_child[node] + k] * n
        child, strategy = x.values[child_at : child_at + n], x.strategy[mine + k * n : mine + k * n + n]
        average = s.average[begin:end]
        for h in range(n):
            strategy[h] = average[h] * before + own[h] * strategy[h]
        ahead = s.ahead[begin:end] if len(s.ahead) else s.ahead
        locked = s.locked[begin:end] if len(s.locked) else s.locked
        update(child, value, s.regrets[begin:end], ahead, locked, unit, parameters[1], parameters[2])
        if half:
            widen(most, child)
            widen(most_average, strategy)
    if half:
        unit, average_unit = unit_of(most), unit_of(most_average)
        s.scales[number, 0], s.scales[number, 1] = unit, average_unit
    for k in range(actions):
        begin, end, child_at = at + k * n, at + k * n + n, values + a.children[a.first_child[node] + k] * n
        keep(s.regrets[begin:end], x.values[child_at : child_at + n], half, unit)
        keep(s.average[begin:end], x.strategy[mine + k * n : mine + k * n + n], half, average_unit)


@inline_kernel
def look_back(a: VectorArrays, b: int, node: int, player: int, n: int, mode: int, s: Learnt, x: Scratch) -> None:
    """Write the value of a node from those of its actions: summed, expected, or the best where it is not locked."""
    depth, row = a.depth[b], a.row[node] * n
    node0, values = a.first_node[a.kind[b]], x.values_at[depth]
    to, mine = values + (node - node0) * n, x.strategy_at[depth] + row
    value, first = x.values[to : to + n], values + a.children[a.first_child[node]] * n
    child, strategy = x.values[first : first + n], x.strategy[mine : mine + n]
    mixing = a.mover[node] == player and mode == EXPECT
    for h in range(n):
        value[h] = child[h] * strategy[h] if mixing else child[h]
    for k in range(1, a.actions[node]):
        at = values + a.children[a.first_child[node] + k] * n
        child, strategy = x.values[at : at + n], x.strategy[mine + k * n : mine + k * n + n]
        if a.mover[node] != player:
            for h in range(n):
                value[h] += child[h]
        elif mixing:
            for h in range(n):
                value[h] += child[h] * strategy[h]
        else:
            for h in range(n):
                value[h] = max(value[h], child[h])
    if len(s.locked) and a.mover[node] == player and mode == RESPOND:
        at = a.first_row[player, b] + row
        for h in range(n):
            if s.locked[at + h]:
                value[h] = 0.0
                for k in range(a.actions[node]):
                    child_at = values + a.children[a.first_child[node] + k] * n
                    value[h] += x.values[child_at + h] * x.strategy[mine + k * n + h]


@linked_kernel
@borrowing
def go_up(a: VectorArrays, b: int, player: int, mode: int, s: Learnt, parameters: FloatArray, x: Scratch) -> None:
    """Compute the values of a player's hands at all nodes of a board whose boards below are done."""
    kind, n = a.kind[b], a.hands[player, b]
    end_on_board(a, b, player, x)
    pay_tables(a, b, player, x)
    run_out(a, b, player, x)
    for node in range(a.first_node[kind + 1] - 1, a.first_node[kind] - 1, -1):
        if a.mover[node] == player and mode == TRAIN:
            learn(a, b, node, player, n, s, x, parameters)
        elif a.mover[node] >= 0:
            look_back(a, b, node, player, n, mode, s, x)


@linked_kernel
@borrowing
def clear_leaves(a: VectorArrays, b: int, player: int, x: Scratch) -> None:
    """Set the values of a board's chance nodes to zero."""
    kind, n = a.kind[b], a.hands[player, b]
    for leaf in range(a.first_leaf[kind], a.first_leaf[kind + 1]):
        to = x.values_at[a.depth[b]] + a.leaves[leaf] * n
        x.values[to : to + n] = 0.0


@linked_kernel
@borrowing
def hand_over(a: VectorArrays, b: int, player: int, x: Scratch, out: FloatArray, starts: LongArray) -> None:
    """Add the values of a board to the chance nodes of the board before, for each outcome that it stands for.

    Those of the first board have places of their own for each board below, so that threads do not share any:
    ``starts[b]``, in ``out``.
    """
    over, n, kind = a.above[b], a.hands[player, b], a.kind[b]
    wide, leaf = a.hands[player, over], a.first_leaf[a.kind[over]] + a.after[b]
    for r in range(a.first_root[kind + 1] - a.first_root[kind]):
        at = x.values_at[a.depth[b]] + a.roots[a.first_root[kind] + r] * n
        value = x.values[at : at + n]
        at = starts[b] + r * wide if over == 0 else x.values_at[a.depth[over]] + a.leaves[leaf + r] * wide
        before = out[at : at + wide] if over == 0 else x.values[at : at + wide]
        if over == 0:
            for h in range(wide):
                before[h] = 0.0
        for copy in range(a.copies[b]):
            up = a.first_up[player, b] + copy * n
            place = a.up[up : up + n]
            for h in range(n):
                before[place[h]] += value[h]


@linked_kernel
@borrowing
def enter(
    a: VectorArrays, b: int, player: int, source: FloatArray, ahead: FloatArray, weights: FloatArray, x: Scratch
) -> None:
    """Compute the reach at the nodes of a board, and clear the values of its chance nodes."""
    go_down(a, b, 1 - player, False, source, ahead, weights, x)
    go_down(a, b, player, True, source, ahead, weights, x)
    clear_leaves(a, b, player, x)


@linked_kernel
@borrowing
def descend(
    a: VectorArrays,
    s: Learnt,
    source: FloatArray,
    ahead: FloatArray,
    weights: FloatArray,
    player: int,
    mode: int,
    parameters: FloatArray,
    x: Scratch,
    first: int,
    until: int,
    out: FloatArray,
    starts: LongArray,
) -> None:
    """Compute the values of the boards from ``first`` to ``until``, whole parts below the first board."""
    top, b = 0, first
    while b < until or top > 0:
        if top > 0 and (b >= until or a.until[x.path[top - 1]] <= b):  # all boards below the last one are done
            top -= 1
            go_up(a, x.path[top], player, mode, s, parameters, x)
            hand_over(a, x.path[top], player, x, out, starts)
        else:
            enter(a, b, player, source, ahead, weights, x)
            x.path[top] = b
            top += 1
            b += 1


@linked_kernel
@borrowing
def close(
    a: VectorArrays,
    s: Learnt,
    b: int,
    player: int,
    mode: int,
    parameters: FloatArray,
    x: Scratch,
    out: FloatArray,
    starts: LongArray,
) -> None:
    """Compute the values at the nodes of a board, given those of the boards below, in ``out`` for the first one."""
    kind, n = a.kind[b], a.hands[player, b]
    if b == 0 and a.until[b] > 1:
        under = 1
        while under < a.until[0]:
            leaf = a.first_leaf[kind] + a.after[under]
            for r in range(a.first_root[a.kind[under] + 1] - a.first_root[a.kind[under]]):
                at = x.values_at[0] + a.leaves[leaf + r] * n
                value, below = x.values[at : at + n], out[starts[under] + r * n : starts[under] + r * n + n]
                for h in range(n):
                    value[h] += below[h]
            under = a.until[under]
    go_up(a, b, player, mode, s, parameters, x)


@kernel
@borrowing
def walk_boards(
    a: VectorArrays,
    s: Learnt,
    source: FloatArray,
    ahead: FloatArray,
    weights: FloatArray,
    player: int,
    mode: int,
    parameters: FloatArray,
    x: Scratch,
    route: LongArray,
    first: int,
    until: int,
    closing: bool,
    out: FloatArray,
    starts: LongArray,
) -> None:
    """Walk the boards from ``first`` to ``until``, below the last board of ``route``; with ``closing`` then that one.

    ``route`` leads from the first board down; its boards are only entered.  Before a board is closed, all those below
    must have been walked; for the first board their values are in ``out``.
    """
    for k in range(len(route)):
        enter(a, route[k], player, source, ahead, weights, x)
    descend(a, s, source, ahead, weights, player, mode, parameters, x, first, until, out, starts)
    if closing:
        close(a, s, route[len(route) - 1], player, mode, parameters, x, out, starts)
