"""A subgame that grows while it is solved: a tree of histories in arrays, PCFR+ on it, and one-sided growth.

Nodes are histories below a root at which chance draws one of some worlds.  An iteration is a pass down and a pass up
for every player, with the update of predictive counterfactual regret minimisation+ (Farina et al. 2021) at its
information sets.  Between iterations leaves are expanded: walks from the root in which one player tries its actions
and all others follow their current strategies (one-sided GT-CFR, Zhang & Sandholm 2025) find which.  A leaf has the
value of its evaluation until then.

Parents stand before their children, and the children of a node side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.interning import Rows, longer
from infoset.jit import borrowing, kernel, linked_kernel
from infoset.randomness import Words, uniform
from infoset.tree.graph import NO_RECORD, TERMINAL
from infoset.tree.lazy_graph import OUTSIDE, LazyArrays, grown

CHANCE_NODE, END, LEAF, CHOSEN = -1, -2, -3, -4
"""What stands in place of an information set at nodes without one."""
NONE = EVERYBODY = -1
NODES, INFOSETS, SLOTS, LEAVES = range(4)
FOLLOWED = 0.5  # share of the explorer's actions that follow its strategy


class Subgame(NamedTuple):
    """The tree, with spare capacity: ``N`` nodes, ``I`` information sets, ``S`` actions of these, ``n`` players."""

    position: LongArray  # (N,) of the game's graph
    infoset: IntArray  # (N,) of the mover; or CHANCE_NODE, END, LEAF, CHOSEN (a leaf about to be expanded)
    first: IntArray  # (N,) first child
    size: IntArray  # (N,) number of children
    chance: FloatArray  # (N,) probability of the edge into the node where chance chose it
    infostate: LongArray  # (N, n)
    value: FloatArray  # (N, n) payoffs of ends, evaluations of leaves
    weight: FloatArray  # (N,) probability by all but the player of the last pass
    reach: FloatArray  # (N,) probability by that player
    found: FloatArray  # (N,) that player's value
    owner: IntArray  # (I,) player
    begin: LongArray  # (I + 1,) where the actions of a set begin
    state: LongArray  # (I,) information state; NONE for the choice to enter
    reached: FloatArray  # (I,) probability of its owner's own actions on the way there
    set_weight: FloatArray  # (I,) sum of its nodes' weights
    tried: FloatArray  # (I,) walks of explorers
    regret: FloatArray  # (S,)
    last: FloatArray  # (S,) the last instantaneous regret, which predicts the next one
    strategy: FloatArray  # (S,)
    average: FloatArray  # (S,) sum of strategies, by iteration and own reach
    gain: FloatArray  # (S,) counterfactual values
    visits: FloatArray  # (S,)
    filled: LongArray  # (4,) numbers of nodes, sets, their actions, and leaves

    @classmethod
    def empty(cls, players: int) -> Subgame:
        """Return a tree without nodes."""
        whole, real = np.zeros(0, np.int64), np.zeros(0)
        short = np.zeros(0, np.int32)
        return cls(
            whole, short, short, short, real, np.zeros((0, players), np.int64), np.zeros((0, players)), real, real,
            real, short, np.zeros(1, np.int64), whole, real, real, real, real, real, real, real, real, real,
            np.zeros(4, np.int64),
        )  # fmt: skip

    def with_room(self, nodes: int, infosets: int, slots: int) -> Subgame:
        """Return the tree with room for more nodes, information sets and actions."""
        nodes, infosets = int(self.filled[NODES]) + nodes, int(self.filled[INFOSETS]) + infosets + 1
        slots = int(self.filled[SLOTS]) + slots
        sizes = [nodes] * 10 + [infosets] * 6 + [slots] * 6
        return Subgame._make(
            [*[longer(array, size) for array, size in zip(self[:-1], sizes, strict=True)], self.filled]  # type: ignore[type-var]
        )

    @property
    def nbytes(self) -> int:
        """The size of what is in use, in bytes."""
        nodes, infosets, slots, _ = map(int, self.filled)
        return int(nodes * (52 + 16 * self.infostate.shape[1]) + 44 * infosets + 48 * slots)


@linked_kernel
@borrowing
def _add_node(t: Subgame, position: int | np.int64, infoset: int) -> np.int64:
    """Add a node without children and return its number."""
    k: np.int64 = t.filled[NODES]
    t.position[k], t.infoset[k], t.first[k], t.size[k], t.chance[k] = position, infoset, 0, 0, 1.0
    t.filled[NODES] = k + 1
    if infoset == LEAF:
        t.filled[LEAVES] += 1
    return k


@linked_kernel
@borrowing
def _add_infoset(t: Subgame, owner: int, state: int | np.int64, size: int) -> np.int64:
    """Add an information set that plays uniformly and return its number."""
    s: np.int64 = t.filled[INFOSETS]
    begin = t.filled[SLOTS]
    t.owner[s], t.state[s], t.begin[s], t.begin[s + 1] = owner, state, begin, begin + size
    t.tried[s], t.set_weight[s], t.reached[s] = 0.0, 0.0, 0.0
    for a in range(begin, begin + size):
        t.regret[a], t.last[a], t.average[a], t.gain[a], t.visits[a] = 0.0, 0.0, 0.0, 0.0, 0.0
        t.strategy[a] = 1.0 / size
    t.filled[INFOSETS], t.filled[SLOTS] = s + 1, begin + size
    return s


@kernel
@borrowing
def make_roots(
    t: Subgame, position: LongArray, infostate: LongArray, weight: FloatArray, gadget: LongArray, count: int,
    player: int, alternatives: FloatArray, values: FloatArray,
) -> None:  # fmt: skip
    """Make the root of an empty tree, and its worlds (K,) with their weights and everybody's ``values`` (K, n) there.

    Where ``gadget`` (K,) is not ``NONE``, it is one of ``count`` choices of ``player``, equal in all of its worlds:
    whether to enter the world or to take the alternative payoff (count,) of the choice.
    """
    _add_node(t, NONE, CHANCE_NODE)
    for _ in range(count):
        _add_infoset(t, player, NONE, 2)
    t.first[0], t.size[0] = 1, len(position)
    for k in range(len(position)):
        node = _add_node(t, position[k], LEAF) if gadget[k] == NONE else _add_node(t, NONE, gadget[k])
        t.chance[node] = weight[k]
        for i in range(infostate.shape[1]):
            t.infostate[node, i], t.value[node, i] = infostate[k, i], values[k, i]
    for k in range(len(position)):
        if gadget[k] == NONE:
            continue
        node, paid = _add_node(t, position[k], LEAF), _add_node(t, NONE, END)
        t.first[1 + k], t.size[1 + k] = node, 2
        for i in range(infostate.shape[1]):
            t.infostate[node, i], t.value[node, i] = infostate[k, i], values[k, i]
            t.infostate[paid, i], t.value[paid, i] = infostate[k, i], 0.0  # of no consequence to the other player
        t.value[paid, player] = alternatives[gadget[k]]


@linked_kernel
@borrowing
def _compute_reach(t: Subgame, player: int) -> None:
    """Compute the weight and reach of all nodes for a player."""
    t.weight[0], t.reach[0] = 1.0, 1.0
    for k in range(t.filled[NODES]):
        size, first, s = t.size[k], t.first[k], t.infoset[k]
        weight, reach = t.weight[k], t.reach[k]
        if size == 0:
            continue
        if s < 0:
            for c in range(first, first + size):
                t.weight[c], t.reach[c] = weight * t.chance[c], reach
        elif t.owner[s] == player:
            begin = t.begin[s]
            t.reached[s] = reach
            t.set_weight[s] += weight
            for a in range(size):
                t.weight[first + a], t.reach[first + a] = weight, reach * t.strategy[begin + a]
        else:
            begin = t.begin[s]
            for a in range(size):
                t.weight[first + a], t.reach[first + a] = weight * t.strategy[begin + a], reach


@linked_kernel
@borrowing
def _compute_values(t: Subgame, player: int) -> None:
    """Compute the values of all nodes for a player, and its counterfactual values."""
    for k in range(t.filled[NODES] - 1, -1, -1):
        size, first, s = t.size[k], t.first[k], t.infoset[k]
        total = 0.0
        if size == 0:
            total = t.value[k, player]
        elif s < 0:
            for c in range(first, first + size):
                total += t.chance[c] * t.found[c]
        else:
            begin = t.begin[s]
            for a in range(size):
                total += t.strategy[begin + a] * t.found[first + a]
            if t.owner[s] == player:
                weight = t.weight[k]
                for a in range(size):
                    t.gain[begin + a] += weight * t.found[first + a]
        t.found[k] = total


@linked_kernel
@borrowing
def _clear_values(t: Subgame, player: int) -> None:
    """Forget the counterfactual values of a player."""
    for s in range(t.filled[INFOSETS]):
        if t.owner[s] == player:
            t.set_weight[s] = 0.0
            for a in range(t.begin[s], t.begin[s + 1]):
                t.gain[a] = 0.0


@linked_kernel
@borrowing
def _match_regrets(t: Subgame, s: int) -> None:
    """Set a set's strategy in proportion to its predicted regrets."""
    total = 0.0
    for a in range(t.begin[s], t.begin[s + 1]):
        t.strategy[a] = max(t.regret[a] + t.last[a], 0.0)
        total += t.strategy[a]
    for a in range(t.begin[s], t.begin[s + 1]):
        t.strategy[a] = t.strategy[a] / total if total > 0.0 else 1.0 / (t.begin[s + 1] - t.begin[s])


@kernel
@borrowing
def iterate(t: Subgame, players: int, done: int, count: int) -> None:
    """Make ``count`` iterations of alternating PCFR+, after ``done`` earlier ones, which weigh less in the average."""
    for step in range(done + 1, done + count + 1):
        share = float(step) * step
        for player in range(players):
            _clear_values(t, player)
            _compute_reach(t, player)
            _compute_values(t, player)
            for s in range(t.filled[INFOSETS]):
                if t.owner[s] != player:
                    continue
                mean, begin, end = 0.0, t.begin[s], t.begin[s + 1]
                for a in range(begin, end):
                    mean += t.strategy[a] * t.gain[a]
                    t.average[a] += share * t.reached[s] * t.strategy[a]
                for a in range(begin, end):
                    t.last[a] = t.gain[a] - mean
                    t.regret[a] = max(t.regret[a] + t.last[a], 0.0)
                _match_regrets(t, s)


@kernel
@borrowing
def restart(t: Subgame) -> None:
    """Forget all regrets and strategies."""
    for s in range(t.filled[INFOSETS]):
        for a in range(t.begin[s], t.begin[s + 1]):
            t.regret[a], t.last[a], t.average[a] = 0.0, 0.0, 0.0
            t.strategy[a] = 1.0 / (t.begin[s + 1] - t.begin[s])


@linked_kernel
@borrowing
def _draw(size: int, by: FloatArray, offset: int, stream: Words) -> int:
    """Sample one of ``size`` children by the probabilities that begin at ``offset``."""
    point = uniform(stream)
    for c in range(size - 1):
        point -= by[offset + c]
        if point < 0.0:
            return c
    return size - 1


@linked_kernel
@borrowing
def _explore(t: Subgame, s: int, span: float, exploration: float) -> int:
    """Return the action with the highest upper confidence bound on its value."""
    best, found, set_weight = -np.inf, 0, t.set_weight[s]
    reach = exploration * np.sqrt(t.tried[s] + 1.0)
    begin = t.begin[s]
    for a in range(begin, t.begin[s + 1]):
        bound = reach / (1.0 + t.visits[a])
        if set_weight > 0.0:
            bound += t.gain[a] / set_weight / span
        if bound > best:
            best, found = bound, a - begin
    return found


@kernel
@borrowing
def choose_leaves(
    t: Subgame, explorer: int, count: int, exploration: float, span: float, stream: Words, chosen: LongArray
) -> int:
    """Walk ``count`` times and write the distinct leaves that are met; return their number.

    The ``explorer`` tries its actions, all others follow their strategies; ``EVERYBODY`` may explore.
    """
    met = 0
    for _ in range(count):
        k = 0
        while t.size[k] > 0:
            s, size = t.infoset[k], t.size[k]
            if s < 0:
                c = _draw(size, t.chance, t.first[k], stream)
            elif t.state[s] == NONE:  # the choice to enter, which would hide what is behind it
                c = 0
            elif (explorer != EVERYBODY and t.owner[s] != explorer) or uniform(stream) < FOLLOWED:
                c = _draw(size, t.strategy, t.begin[s], stream)
            else:
                c = _explore(t, s, span, exploration)
            if s >= 0 and (t.owner[s] == explorer or explorer == EVERYBODY):
                t.visits[t.begin[s] + c] += 1.0
                t.tried[s] += 1.0
            k = t.first[k] + c
        if t.infoset[k] == LEAF:
            t.infoset[k], chosen[met] = CHOSEN, k
            met += 1
    return met


@kernel
@borrowing
def release_leaves(t: Subgame, chosen: LongArray) -> None:
    """Make chosen nodes leaves again, where they were not expanded."""
    for k in chosen:
        if t.infoset[k] == CHOSEN:
            t.infoset[k] = LEAF


@linked_kernel
@borrowing
def _set_infoset(t: Subgame, k: int, mover: int, size: int, known: IntArray) -> bool:
    """Give a leaf its information set; where that has another number of actions, it is an end and False is returned.

    Such sets arise where not all histories explain the last observation.
    """
    t.filled[LEAVES] -= 1
    if mover < 0:
        t.infoset[k] = CHANCE_NODE
        return True
    state = t.infostate[k, mover]
    if known[state] == NONE:
        known[state] = _add_infoset(t, mover, state, size)
    s = known[state]
    fits: bool = t.begin[s + 1] - t.begin[s] == size
    t.infoset[k] = s if fits else END
    return fits


@kernel
@borrowing
def expand(
    t: Subgame, g: LazyArrays, states: Rows, known: IntArray, chosen: LongArray, fresh: LongArray, inside: LongArray,
    counts: LongArray,
) -> None:  # fmt: skip
    """Expand chosen nodes, whose edges were asked for.

    Children to be evaluated are written to ``fresh``, those inside a step, which have to be expanded first, to
    ``inside``; ``counts`` receives their numbers.  ``known`` are the information sets of information states.
    """
    evaluated, entered = 0, 0
    for k in chosen:
        p = t.position[k]
        mover, size = g.player[p], g.size[p]
        if not _set_infoset(t, k, mover, size, known):
            continue
        t.first[k], t.size[k] = t.filled[NODES], size
        for e in range(g.first[p], g.first[p] + size):
            q = np.int64(g.child[e])
            node = _add_node(t, q, END if g.player[q] == TERMINAL else LEAF)
            if mover < 0:
                t.chance[node] = g.probability[e]
            for i in range(t.infostate.shape[1]):
                before = t.infostate[k, i]
                record = g.record[e, i]
                t.infostate[node, i] = grown(states, before, record) if record != NO_RECORD else before
                t.value[node, i] = g.payoffs[g.content[q], i] if g.player[q] == TERMINAL else t.value[k, i]
            if g.player[q] == TERMINAL:
                continue
            if g.via[q] == OUTSIDE:
                fresh[evaluated] = node
                evaluated += 1
            else:
                t.infoset[node] = CHOSEN
                inside[entered] = node
                entered += 1
    counts[0], counts[1] = evaluated, entered


@kernel
@borrowing
def evaluate_average(t: Subgame, player: int) -> None:
    """Compute the weights, reach and values of all nodes where everybody plays the average strategy."""
    for s in range(t.filled[INFOSETS]):
        total = 0.0
        for a in range(t.begin[s], t.begin[s + 1]):
            total += t.average[a]
        for a in range(t.begin[s], t.begin[s + 1]):
            t.strategy[a] = t.average[a] / total if total > 0.0 else 1.0 / (t.begin[s + 1] - t.begin[s])
    _clear_values(t, player)
    _compute_reach(t, player)
    _compute_values(t, player)
    for s in range(t.filled[INFOSETS]):
        _match_regrets(t, s)


@kernel
@borrowing
def copy_subtrees(old: Subgame, new: Subgame, known: IntArray, place: LongArray, scale: float) -> None:
    """Copy what lies below nodes of an earlier tree to leaves of a new one.

    ``place`` (nodes of the old tree) is the node of the new tree, or NONE; it is filled in for what is copied.
    Regrets are multiplied by ``scale``.
    """
    for k in range(old.filled[NODES]):
        node = place[k]
        if node == NONE or old.size[k] == 0:
            continue
        s, mover = old.infoset[k], CHANCE_NODE
        if s >= 0:
            mover = int(old.owner[s])
        fresh = new.filled[INFOSETS]
        if not _set_infoset(new, node, mover, old.size[k], known):
            continue
        if new.filled[INFOSETS] > fresh:
            for a in range(old.size[k]):
                x, y = new.begin[fresh] + a, old.begin[s] + a
                new.regret[x], new.last[x] = scale * old.regret[y], scale * old.last[y]
                new.strategy[x], new.visits[x] = old.strategy[y], old.visits[y]
            new.tried[fresh] = old.tried[s]
        new.first[node], new.size[node] = new.filled[NODES], old.size[k]
        for c in range(old.first[k], old.first[k] + old.size[k]):
            copy = _add_node(new, old.position[c], END if old.infoset[c] == END else LEAF)
            new.chance[copy] = old.chance[c]
            for i in range(old.infostate.shape[1]):
                new.infostate[copy, i], new.value[copy, i] = old.infostate[c, i], old.value[c, i]
            place[c] = copy
