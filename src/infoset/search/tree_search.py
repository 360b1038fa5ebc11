"""Monte Carlo tree search on a lazy graph, in batches of leaves.

A *walk* begins in a world drawn from the searcher's belief and descends the graph.  Every decision is made from the
payoffs that its mover has seen so far, at a *node* that stands for everything that this mover cannot tell apart.  The
walk ends with the first step that begins at a new node; the position there is evaluated (by random playouts, by a
network), and all nodes on the way are updated with their movers' values.  Walks are made many at a time, so that the
rules are queried and leaves evaluated in batches; each walk counts as a visit at once, which keeps the walks of a batch
apart.

The method is the choice of nodes (``NODES_BY``): the state, where everything is seen (UCT, Kocsis & Szepesvári 2006) or
where everybody is assumed to see everything (each world by itself: perfect-information Monte Carlo); every mover's own
information state, so that each player has a tree of its own (MO-ISMCTS, Cowling et al. 2012); or the searcher's
information state (SO-ISMCTS), where the others' moves are chosen by their payoffs wherever the searcher knew the same.

Where the evaluation also gives probabilities for everybody's moves (a *prior*), moves are chosen by these and by their
payoffs (PUCT, Silver et al. 2018), otherwise by upper confidence bounds alone.
"""

from __future__ import annotations

import time
from math import inf
from typing import NamedTuple

import numpy as np

from infoset.base import BoolArray, FloatArray, IntArray, LongArray
from infoset.clock import Clock
from infoset.errors import BudgetError, ClockError
from infoset.interning import distinct, hash_pair, longer
from infoset.jit import borrowing, kernel, linked_kernel
from infoset.randomness import Words, below, uniform
from infoset.search.histories import Belief
from infoset.search.leaf_values import Leaves
from infoset.tree.graph import CHANCE, NO_RECORD, TERMINAL
from infoset.tree.lazy_graph import EDGES, OPEN, OUTSIDE, POSITIONS, STATES, LazyArrays, LazyGraph, enter, grown

NO_NODE = -1
DEEPEST = 256  # edges of a walk, at most
STATE, OWN, SEARCHERS = NODES_BY = range(3)
SMALLEST_BATCH, LARGEST_BATCH = 8, 512
ROUND = 4  # positions inside steps for which a walk gets room between two queries, for each player
TRUST, DOUBT = 0.9, 4.0  # greatest weight of visit counts in a model; visits for each move at which it is half of that


class Tree(NamedTuple):
    """The nodes: the first move of each, and how often each move was made and the payoff that its mover received."""

    node: LongArray  # (keys,) first move of the node of each key, or NO_NODE
    times: FloatArray  # (keys,) visits of a node
    visits: FloatArray  # (moves,)
    total: FloatArray  # (moves,)
    prior: FloatArray  # (moves,) probabilities with which they should be made; equal where nothing is known
    proof: IntArray  # (moves,) the proved end of each move, or one of equal payoff; OPEN where none is
    size: LongArray  # (1,) moves in use

    @classmethod
    def empty(cls) -> Tree:
        a, b, c, d = (np.zeros(0) for _ in range(4))
        return cls(np.zeros(0, np.int64), a, b, c, d, np.zeros(0, np.int32), np.zeros(1, np.int64))

    def with_room(self, keys: int, actions: int) -> Tree:
        """Return the tree with room for ``keys`` keys and ``actions`` more moves."""
        node, had = longer(self.node, keys), len(self.node)
        node[had:] = NO_NODE
        size = int(self.size[0])
        visits, total, prior = (longer(each, size + actions) for each in (self.visits, self.total, self.prior))
        return Tree(node, longer(self.times, keys), visits, total, prior, longer(self.proof, size + actions), self.size)

    @property
    def nbytes(self) -> int:
        """Bytes of the part in use."""
        return 16 * len(self.node) + 28 * int(self.size[0])


class Simulations(NamedTuple):
    """A batch of walks: the position of each, and the moves that led there."""

    position: LongArray  # (B,)
    edge: LongArray  # (B,) the edge that must be asked for before the walk continues, or OPEN
    infostate: LongArray  # (B, n)
    fresh: BoolArray  # (B,) whether the walk ends with this step
    over: BoolArray  # (B,)
    key: LongArray  # (B, DEEPEST) nodes
    action: LongArray  # (B, DEEPEST) moves of nodes
    mover: IntArray  # (B, DEEPEST)
    alone: BoolArray  # (B, DEEPEST) whether nobody else, nor chance, had a choice before the next of these moves
    length: LongArray  # (B,)
    place: LongArray  # (B,) the position in whose step the walk made nodes, or OPEN
    made: LongArray  # (B, n) the first move of the node that the walk made for each player, or NO_NODE
    stream: Words  # (B, 1) random numbers of each walk, so that the order in which edges are asked for does not matter

    @classmethod
    def of(cls, batch: int, players: int) -> Simulations:
        return cls(
            np.zeros(batch, np.int64), np.full(batch, OPEN, np.int64), np.zeros((batch, players), np.int64),
            np.zeros(batch, np.bool_), np.zeros(batch, np.bool_),
            np.zeros((batch, DEEPEST), np.int64), np.zeros((batch, DEEPEST), np.int64),
            np.zeros((batch, DEEPEST), np.int32), np.zeros((batch, DEEPEST), np.bool_), np.zeros(batch, np.int64),
            np.full(batch, OPEN, np.int64), np.full((batch, players), NO_NODE, np.int64),
            np.zeros((batch, 1), np.uint64),
        )  # fmt: skip


class Need(NamedTuple):
    """Upper bounds on what one step of all walks adds."""

    positions: int
    edges: int
    states: int  # everybody receives one record at most; others move by nodes of the searcher's information state
    actions: int  # of nodes


class Rule(NamedTuple):
    """The parameters of walks."""

    by: int  # one of NODES_BY
    searcher: int
    exploration: float  # for payoffs scaled to between 0 and 1
    low: FloatArray  # (n,) least payoffs
    span: FloatArray  # (n,) greatest payoffs minus least payoffs
    flat: bool  # whether only the searcher's first decision uses a node; the others are random
    guided: bool  # whether moves have priors
    best: float  # an upper bound on payoffs; infinite where none is known
    proves: bool  # whether terminal positions prove the values of moves: where everybody sees everything


@linked_kernel
@borrowing
def _drawn(cumulative, stream):
    """Sample an index by running sums of weights."""
    point, begin, end = uniform(stream) * cumulative[-1], 0, len(cumulative) - 1
    while begin < end:
        middle = (begin + end) >> 1
        if cumulative[middle] > point:
            end = middle
        else:
            begin = middle + 1
    return begin


@linked_kernel
@borrowing
def _answer(g, p, stream):
    """Sample one of chance's outcomes."""
    point, last = uniform(stream), g.first[p] + g.size[p] - 1
    for e in range(g.first[p], last):
        point -= g.probability[e]
        if point < 0.0:
            return e
    return last


@linked_kernel
@borrowing
def _chosen(g, tree, first, size, times, rule, mover):
    """Return the move with the highest upper confidence bound (UCB1); a move without visits comes first."""
    best, found = -np.inf, first
    reach = rule.exploration * np.sqrt(np.log(times + 1.0))
    low, span = rule.low[mover], rule.span[mover]
    for k in range(first, first + size):
        visits = tree.visits[k]
        if tree.proof[k] != OPEN:
            bound = (g.payoffs[g.content[tree.proof[k]], mover] - low) / span
        elif visits == 0.0:
            return k
        else:
            bound = (tree.total[k] / visits - low) / span + reach / np.sqrt(visits)
        if bound > best:
            best, found = bound, k
    return found


@linked_kernel
@borrowing
def _guided(g, tree, first, size, times, rule, mover):
    """Return the move with the highest sum of its mean payoff and its share of the prior (PUCT).

    A move without visits is given the mean payoff of its node.
    """
    best, found, low, span, paid = -np.inf, first, rule.low[mover], rule.span[mover], 0.0
    for k in range(first, first + size):
        paid += tree.total[k]
    mean = (paid / times - low) / span if times else 0.5
    reach = rule.exploration * np.sqrt(times + 1.0)
    for k in range(first, first + size):
        visits = tree.visits[k]
        if tree.proof[k] != OPEN:
            bound = (g.payoffs[g.content[tree.proof[k]], mover] - low) / span
        else:
            leaf_values = (tree.total[k] / visits - low) / span if visits else mean
            bound = leaf_values + reach * tree.prior[k] / (1.0 + visits)
        if bound > best:
            best, found = bound, k
    return found


@kernel
@borrowing
def _begin(roots, infostate, cumulative, seed, made, walks):
    """Begin walks number ``made`` and following, each in a world drawn by its weight."""
    for b in range(len(walks.over)):
        walks.stream[b, 0] = hash_pair(seed, made + b)
        world = _drawn(cumulative, walks.stream[b])
        walks.position[b] = roots[world]
        for i in range(infostate.shape[1]):
            walks.infostate[b, i] = infostate[world, i]


@linked_kernel
@borrowing
def _key(g, rule, p, mover, infostate):
    """Return the key of the mover's node at a position; not for other movers where nodes are the searcher's."""
    return np.int64(g.state[p]) * len(infostate) + mover if rule.by == STATE else infostate[mover]


@linked_kernel
@borrowing
def _make_node(tree, key, size):
    """Make a node without visits."""
    node = tree.size[0]
    tree.node[key], tree.times[key], tree.size[0] = node, 0.0, node + size
    for k in range(node, node + size):
        tree.visits[k], tree.total[k], tree.prior[k], tree.proof[k] = 0.0, 0.0, 1.0 / size, OPEN


@linked_kernel
@borrowing
def _ends(g, walks, b, p):
    """Return whether a walk ends before a decision at a new node, as a step begins there; else it ends after it."""
    if not walks.fresh[b] and g.via[p] == OUTSIDE:
        return True
    walks.fresh[b] = True
    return False


@linked_kernel
@borrowing
def _goes_by(tree, walks, b, key, action, mover, alone):
    """Record that a walk makes a move of a node."""
    tree.visits[action] += 1.0
    last = walks.length[b]
    walks.key[b, last], walks.action[b, last], walks.mover[b, last], walks.alone[b, last] = key, action, mover, alone
    walks.length[b] = last + 1


@linked_kernel
@borrowing
def _reply(g, offered, states, tree, rule, walks, b, p):
    """Decide as ``_decide`` does, for another player where nodes are the searcher's information states.

    Each of its moves is a node, whose ``times`` count how often it was legal there, since the legal moves depend on the
    world (subset-armed bandits, Cowling et al. 2012).
    """
    mover, size, first = g.player[p], g.size[p], offered.begin[g.content[p]]
    here = grown(states, walks.infostate[b, rule.searcher], NO_RECORD - 1 - mover)
    if tree.node[here] == NO_NODE:
        _make_node(tree, here, 0)
        if _ends(g, walks, b, p):
            return np.int64(OPEN)
    low, span, start = rule.low[mover], rule.span[mover], below(walks.stream[b], size)
    best, found, taken = -np.inf, start, np.int64(OPEN)
    for j in range(size):
        k = (start + j) % size
        key = grown(states, here, offered.data[first + k])
        if tree.node[key] == NO_NODE:
            _make_node(tree, key, 1)
        tree.times[key] += 1.0
        action, bound = tree.node[key], np.inf
        if tree.visits[action]:
            reach = np.sqrt(np.log(tree.times[key] + 1.0) / tree.visits[action])
            bound = (tree.total[action] / tree.visits[action] - low) / span + rule.exploration * reach
        if taken == OPEN or (bound > best and not walks.fresh[b]):
            best, found, taken = bound, k, key
    _goes_by(tree, walks, b, taken, tree.node[taken], mover, False)
    return np.int64(g.first[p]) + found


@linked_kernel
@borrowing
def _decide(g, offered, states, tree, rule, walks, b, p):
    """Return the edge that the mover at a position takes; ``OPEN`` where the walk ends because its node is new."""
    mover, size = g.player[p], g.size[p]
    if size == 1:
        return np.int64(g.first[p])
    if rule.flat and (walks.length[b] > 0 or mover != rule.searcher):
        walks.fresh[b] = walks.length[b] > 0
        return np.int64(g.first[p]) + below(walks.stream[b], size)
    if rule.by == SEARCHERS and mover != rule.searcher:
        return _reply(g, offered, states, tree, rule, walks, b, p)
    key = _key(g, rule, p, mover, walks.infostate[b])
    if tree.node[key] == NO_NODE:
        _make_node(tree, key, size)
        walks.place[b], walks.made[b, mover] = g.at[g.state[p]], tree.node[key]
        if _ends(g, walks, b, p):
            return np.int64(OPEN)
    k = tree.node[key]
    if walks.fresh[b]:
        k += below(walks.stream[b], size)
    elif rule.guided:
        k = _guided(g, tree, k, size, tree.times[key], rule, mover)
    else:
        k = _chosen(g, tree, k, size, tree.times[key], rule, mover)
    tree.times[key] += 1.0
    _goes_by(tree, walks, b, key, k, mover, True)
    last = walks.length[b] - 1
    if rule.proves and last and key // g.action_sets.shape[1] == walks.key[b, last - 1] // g.action_sets.shape[1]:
        walks.alone[b, last - 1], walks.alone[b, last] = False, False
    if tree.proof[k] != OPEN:
        walks.position[b] = tree.proof[k]
        return np.int64(OPEN)
    return np.int64(g.first[p]) + k - tree.node[key]


@linked_kernel
@borrowing
def _goes_on(g, walks, b, p):
    """Return whether a walk has another decision to make."""
    if g.player[p] == TERMINAL or walks.length[b] >= DEEPEST - walks.infostate.shape[1]:
        return False
    return not walks.fresh[b] or g.via[p] != OUTSIDE


@linked_kernel
@borrowing
def _cross(g, states, rule, walks, b):
    """Move a walk to the end of the edge before which it stands."""
    edge = walks.edge[b]
    for i in range(walks.infostate.shape[1]):
        sees_action = rule.by == OWN or (rule.by == SEARCHERS and i == rule.searcher)
        if sees_action and g.record[edge, i] != NO_RECORD:
            walks.infostate[b, i] = grown(states, walks.infostate[b, i], g.record[edge, i])
    walks.position[b], walks.edge[b] = g.child[edge], OPEN


@linked_kernel
@borrowing
def _step(g, offered, states, tree, rule, walks, b):
    """Let a walk take one step, or an outcome of chance; return whether its next edge has to be asked for."""
    if walks.edge[b] != OPEN:
        _cross(g, states, rule, walks, b)
    while True:
        p, edge = walks.position[b], np.int64(OPEN)
        if g.player[p] == CHANCE:
            edge = np.int64(_answer(g, p, walks.stream[b]))
            if walks.length[b]:
                walks.alone[b, walks.length[b] - 1] = False
        elif _goes_on(g, walks, b, p):
            edge = _decide(g, offered, states, tree, rule, walks, b, p)
        if edge == OPEN:
            walks.over[b] = True
            return False
        target = enter(g, edge)
        if target == OPEN or g.player[target] < 0 or g.via[target] == OUTSIDE:
            walks.edge[b] = edge
            return target == OPEN
        walks.position[b] = target


@linked_kernel
@borrowing
def _has_room(g, states, tree, rule, need):
    """Return whether the arrays have room for one step of all walks."""
    size = g.filled
    keys = size[STATES] * g.action_sets.shape[1] if rule.by == STATE else states.size[0] + need.states
    return (
        size[POSITIONS] + need.positions <= len(g.player)
        and size[EDGES] + need.edges <= len(g.child)
        and states.size[0] + need.states < len(states.begin)
        and 2 * (states.size[0] + need.states) <= min(len(states.data), len(states.slots))
        and keys <= len(tree.node)
        and tree.size[0] + need.actions <= len(tree.visits)
    )


@kernel
@borrowing
def _walk(g, offered, states, tree, rule, walks, need, asked):
    """Let all walks take steps until edges must be asked for; return how many.

    The result is 0 where all walks are over or the arrays have no room for one more step.  All walks stop where one has
    to ask, also those whose edges were asked for before: otherwise what they learn would depend on earlier queries.
    """
    count, goes_on = 0, True
    while goes_on and not count and _has_room(g, states, tree, rule, need):
        goes_on = False
        for b in range(len(walks.over)):
            if not walks.over[b]:
                goes_on = True
                if _step(g, offered, states, tree, rule, walks, b):
                    asked[count] = walks.edge[b]
                    count += 1
    return count


@linked_kernel
@borrowing
def _best_proof(g, tree, rule, key, end):
    """Return the proved end of a node, one of whose moves leads to ``end``; OPEN where none is proved."""
    n = g.action_sets.shape[1]
    mover = key % n
    if g.payoffs[g.content[end], mover] >= rule.best:
        return end
    best, node = end, tree.node[key]
    for k in range(node, node + g.choices[g.action_sets[key // n, mover]]):
        if tree.proof[k] == OPEN:
            return np.int64(OPEN)
        if g.payoffs[g.content[tree.proof[k]], mover] > g.payoffs[g.content[best], mover]:
            best = np.int64(tree.proof[k])
    return best


@linked_kernel
@borrowing
def _prove(g, tree, rule, walks, b):
    """Record what the end of a walk proves about the moves that led there (Winands et al. 2008)."""
    end = walks.position[b]
    if g.player[end] != TERMINAL:
        return
    for k in range(walks.length[b] - 1, -1, -1):
        if end == OPEN or not walks.alone[b, k]:
            return
        tree.proof[walks.action[b, k]] = end
        end = _best_proof(g, tree, rule, walks.key[b, k], end)


@kernel
@borrowing
def _learn(g, tree, rule, walks, leaf, leaf_values):
    """Update all nodes on the walks' ways with the values of their leaves."""
    for b in range(len(leaf)):
        if rule.proves:
            _prove(g, tree, rule, walks, b)
        for k in range(walks.length[b]):
            tree.total[walks.action[b, k]] += leaf_values[leaf[b], walks.mover[b, k]]


@kernel
@borrowing
def _set_priors(g, tree, walks, row, prior):
    """Set the priors of the nodes that walks made, each from the place ``row`` of the evaluated positions."""
    for b in range(len(row)):
        s = g.state[walks.place[b]] if walks.place[b] != OPEN else 0
        for i in range(walks.made.shape[1]):
            if walks.made[b, i] != NO_NODE:
                for k in range(g.choices[g.action_sets[s, i]]):
                    tree.prior[walks.made[b, i] + k] = prior[row[b], i, k]


@kernel
@borrowing
def _mean_priors(tree, keys, movers, sizes, weight, prior):
    """Set the priors of nodes, made where needed, to the weighted means of the priors of their worlds (K,)."""
    for j in range(len(keys)):
        if tree.node[keys[j]] == NO_NODE:
            _make_node(tree, keys[j], sizes[j])
        node = tree.node[keys[j]]
        for k in range(sizes[j]):
            tree.prior[node + k] = 0.0
    for j in range(len(keys)):
        for k in range(sizes[j]):
            tree.prior[tree.node[keys[j]] + k] += weight[j] * prior[j, movers[j], k]


@kernel
@borrowing
def _undo(tree, walks):
    """Undo the moves of walks from which nothing was learnt; others' counts of legal moves stay."""
    for b in range(len(walks.over)):
        for k in range(walks.length[b]):
            tree.visits[walks.action[b, k]] -= 1.0
            tree.times[walks.key[b, k]] -= 1.0


class TreeSearch:
    """A search from beliefs on a graph; what it has learnt stays until ``forget`` is called."""

    def __init__(
        self, graph: LazyGraph, leaves: Leaves, by: int, searcher: int, exploration: float = 0.7,
        seed: int = 0, flat: bool = False, guided: bool = False,
    ) -> None:  # fmt: skip
        """Make a search without nodes.

        ``flat``: whether only the searcher's first decision uses a node; ``guided``: whether ``leaves`` gives priors.
        """
        self.graph, self.leaves = graph, leaves
        low, high = graph.source.bounds
        n = len(graph.players)
        span, proves = np.full(n, high - low if high > low else 1.0), graph.open and by == STATE
        best = high if graph.source.bounded else inf
        self.rule = Rule(by, searcher, exploration, np.full(n, low), span, flat, guided, best, proves)
        self.tree, self.seed = Tree.empty(), seed
        self.walks = 0

    def run(self, roots: Belief, nodes: int, until: float = inf) -> None:
        """Walk until ``nodes`` leaves were evaluated or the time ``until`` has come.

        The last batch is sized to fit into the remaining time; if it is late nevertheless, it leaves no trace.  Raises
        ``BudgetError`` where memory runs out.
        """
        cumulative, made, began, clock = np.cumsum(roots.weight), 0, time.monotonic(), Clock(until)
        while made < nodes and (now := time.monotonic()) <= until:
            batch = min(LARGEST_BATCH, max(SMALLEST_BATCH, made // 16), nodes - made)
            if until < inf:  # two leaves measure the time of one, since the first walk may end at the root
                batch = min(batch, int((until - now) * made / max(now - began, 1e-9)) if made else 2)
            if not batch:
                break
            try:
                with self.graph.growing(clock):
                    self._batch(roots, cumulative, batch)
            except ClockError:
                break
            made += batch

    def _batch(self, roots: Belief, cumulative: FloatArray, batch: int) -> None:
        """Make ``batch`` walks; undo them all where they are interrupted."""
        walks = Simulations.of(batch, len(self.graph.players))
        try:
            self._go(walks, roots, cumulative)
        except BaseException:
            _undo(self.tree, walks)
            raise

    def _go(self, walks: Simulations, roots: Belief, cumulative: FloatArray) -> None:
        graph, batch, n = self.graph, len(walks.over), len(self.graph.players)
        _begin(roots.position, roots.infostate, cumulative, self.seed, self.walks, walks)
        asked = np.zeros(batch, dtype=np.int64)
        while not walks.over.all():
            widest = graph.widest()
            num_states = batch * n * (2 + widest if self.rule.by == SEARCHERS else 1)
            need = Need(batch * n * ROUND, batch * n * ROUND * widest, num_states, batch * n * widest)
            g = graph.room(need.positions, need.edges)
            states, offered = graph.states.room(need.states), graph.source.offered
            self.tree = self._room(g, need.states, need.actions)
            if count := _walk(g, offered, states, self.tree, self.rule, walks, need, asked):
                graph.ask(asked[:count])
        self.walks += batch
        decided = walks.place != OPEN if self.rule.guided else np.zeros(batch, np.bool_)
        points = np.concatenate([walks.position, walks.place[decided]])
        leaf, row = distinct(points)  # in the order of the walks: numbers depend on earlier queries
        leaf_values, prior = self._leaf_values(leaf)
        _learn(self.graph.arrays, self.tree, self.rule, walks, row[:batch], leaf_values)
        if prior is not None:
            made = np.zeros(batch, dtype=np.int64)
            made[decided] = row[batch:]
            _set_priors(self.graph.arrays, self.tree, walks, made, prior)

    def _room(self, g: LazyArrays, states: int, actions: int) -> Tree:
        """Return the tree with room for that many more information states and moves."""
        if self.tree.nbytes > (most := self.graph.memory // 2):
            raise BudgetError(f"{self.graph.game.name}: the tree of a search takes more than {most:,} bytes")
        keys = len(self.graph.states) + states
        if self.rule.by == STATE:
            keys = int(g.filled[STATES]) * len(self.graph.players)
        return self.tree.with_room(keys, actions)

    def _leaf_values(self, points: LongArray) -> tuple[FloatArray, FloatArray | None]:
        g, prior = self.graph.arrays, None
        ends = g.player[points] == TERMINAL
        leaf_values = np.zeros((len(points), len(self.graph.players)))
        leaf_values[ends] = g.payoffs[g.content[points[ends]]]
        if not ends.all():
            leaf_values[~ends], said = self.leaves(points[~ends])
            if said is not None:
                prior = np.zeros((len(points), *said.shape[1:]))
                prior[~ends] = said
        return leaf_values, prior

    def mix(self, key: int, probabilities: FloatArray, share: float) -> None:
        """Mix other probabilities into the prior of a node, with weight ``share``."""
        node = slice(int(self.tree.node[key]), int(self.tree.node[key]) + len(probabilities))
        self.tree.prior[node] = (1.0 - share) * self.tree.prior[node] + share * probabilities

    def guide(self, roots: Belief, movers: LongArray, until: float = inf) -> None:
        """Give the nodes of ``movers`` (K,), to whose beliefs these worlds belong, the mean prior of their worlds.

        The weights of the worlds of one node sum to one.  Raises ``ClockError`` where the graph is in use by another
        until then.
        """
        graph = self.graph
        with graph.growing(Clock(until)):
            positions, inverse = distinct(roots.position)
            prior = self.leaves.priors(positions)
            assert prior is not None
            g = graph.arrays
            sizes = g.choices[g.action_sets[g.state[roots.position], movers]].astype(np.int64)
            keys = self.keys(roots, movers)
            self.tree = self._room(g, 0, int(sizes.sum()))
            _mean_priors(self.tree, keys, movers, sizes, roots.weight, prior[inverse])

    def keys(self, roots: Belief, movers: LongArray) -> LongArray:
        """Return the nodes of movers (K,) in worlds; where nodes are the searcher's, only for the searcher."""
        if self.rule.by == STATE:
            return self.graph.arrays.state[roots.position].astype(np.int64) * len(self.graph.players) + movers
        return np.asarray(roots.infostate[np.arange(roots.size), movers])

    def key(self, roots: Belief) -> int:
        """Return the searcher's node in the step that begins in these worlds."""
        return int(self.keys(roots.take(np.zeros(1, np.int64)), np.array([self.rule.searcher]))[0])

    def probabilities(self, edges: LongArray, infostate: LongArray) -> FloatArray:
        """Return the probabilities of edges (K,) by the searches' visit counts, for movers who know ``infostate`` (K,).

        They are close to uniform where there were few visits.  Requires a node for each mover's information state
        (``OWN``).
        """
        g, tree = self.graph.arrays, self.tree
        at = g.source[edges]
        size = g.size[at]
        found = np.asarray(1.0 / size)
        met = np.flatnonzero(infostate < len(tree.node))
        met = met[tree.node[infostate[met]] != NO_NODE]
        times = tree.times[infostate[met]]
        action = tree.node[infostate[met]] + (edges - g.first[at])[met]
        trust = TRUST * times / (times + DOUBT * size[met])
        found[met] += trust * (tree.visits[action] / np.maximum(times, 1.0) - found[met])
        return found

    def seen(self, key: int, size: int) -> tuple[FloatArray, FloatArray]:
        """Return how often each move of a node was made, and its mean payoff."""
        first = int(self.tree.node[key]) if key < len(self.tree.node) else NO_NODE
        if first == NO_NODE:
            return np.zeros(size), np.zeros(size)
        visits = self.tree.visits[first : first + size].copy()
        return visits, self.tree.total[first : first + size] / np.maximum(visits, 1.0)

    def proved(self, key: int, size: int) -> FloatArray:
        """Return the proved payoff of each move of the searcher's node; NaN where nothing is proved."""
        first = int(self.tree.node[key]) if key < len(self.tree.node) else NO_NODE
        end = self.tree.proof[first : first + size] if first != NO_NODE else np.full(size, OPEN)
        g = self.graph.arrays
        return np.where(end == OPEN, np.nan, g.payoffs[g.content[end], self.rule.searcher])

    def forget(self) -> None:
        """Drop all nodes."""
        self.tree = Tree.empty()
