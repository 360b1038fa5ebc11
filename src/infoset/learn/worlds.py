"""Solve many worlds, each by itself, in one pass: the search of Partridge & Thielscher (2022), 3.3, for many states."""

from __future__ import annotations

import numpy as np

from infoset.base import FloatArray, LongArray
from infoset.errors import BudgetError
from infoset.learn.encoding import Encoding
from infoset.search.histories import Belief
from infoset.search.subgame import Subgame, Values
from infoset.search.subgame_solver import MOST_STEPS
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.plans import behaviour
from infoset.tree.sequence_form import SequenceForm, first_sequences

MOST_EDGES = 10**8  # edges of one step


class SolvedWorlds:
    """The solutions of worlds, each solved as if everybody knew it.

    ``policies[p]`` (K, A) is player p's strategy at the root of each world, ``values`` (K, n) everybody's expected
    payoffs.
    """

    def __init__(
        self, encoding: Encoding, positions: LongArray, values: Values, histories: int, iterations: int
    ) -> None:
        """Solve the worlds as deep as ``histories`` allow, but at least one step."""
        self.encoding, self.positions = encoding, positions
        count, n = len(positions), len(encoding.actions)
        infostate = np.tile(np.arange(count, dtype=np.int64)[:, None], (1, n))
        tree = _deepest(encoding, Belief(positions, infostate, np.full(count, 1 / count)), values, histories)
        form = SequenceForm.of(tree)
        solver = pcfr_plus().solver(form)
        solver.step(iterations)
        strategy = behaviour(form, solver.average())
        self.values = node_values(tree, form, strategy)[1 : count + 1]
        self.policies = [np.zeros((count, len(actions))) for actions in encoding.actions]
        self._read(tree, form, strategy)

    def _read(self, tree: GameTree, form: SequenceForm, strategy: FloatArray) -> None:
        """Read the policies at the information sets right after the choice of a world; 1 where there is no choice."""
        graph, n, count = self.encoding.graph, len(self.policies), len(self.positions)
        states = tree.infoset_state
        record = np.array(tree.states.record)[states] - len(graph.records)
        first_of = first_sequences(tree, form)
        for k in np.flatnonzero((record >= 0) & (record < n * count)).tolist():
            player, world = int(tree.infoset_player[k]), int(record[k]) // n
            position = int(tree.position[tree.infoset_node[k]])
            edge = tree.graph.first_edge[position]
            size = tree.graph.first_edge[position + 1] - edge
            columns = [
                self.encoding.number[player][action]
                for action in self.encoding.graph.action_sets[int(tree.graph.content[position])]
            ]
            first = first_of[k]
            self.policies[player][world, columns] = 1.0 if first < 0 else strategy[first : first + size]


def _deepest(encoding: Encoding, worlds: Belief, values: Values, histories: int) -> GameTree:
    """Return the game of all worlds, as deep as ``histories`` allow, but at least one step."""
    below, depth = Subgame(encoding.graph, worlds, reveals_world=True), 1
    below.grow(MOST_EDGES)
    try:
        while below.histories[-1] <= histories and below.goes_on and depth < MOST_STEPS:
            below.grow(histories)
            depth += below.histories[-1] <= histories
    except BudgetError:
        pass
    return GameTree.unroll(below.game(values, depth), MOST_EDGES)


def node_values(tree: GameTree, form: SequenceForm, strategy: FloatArray) -> FloatArray:
    """Return (N, n) everybody's expected payoff at every history if ``strategy`` is played from there on."""
    graph = tree.graph
    player = graph.player[tree.position]
    position_values = np.zeros((len(player), len(graph.players)))
    ends = player == TERMINAL
    position_values[ends] = graph.payoffs[graph.content[tree.position[ends]]]
    nodes = np.arange(1, len(player))
    above = tree.parent[nodes]
    chance = np.ones(len(player))
    by_chance = player[above] == CHANCE
    chance[nodes[by_chance]] = graph.probability[tree.edges(nodes[by_chance])]
    chosen = nodes[~by_chance]
    parent = tree.parent[chosen]
    first = first_sequences(tree, form)[tree.infoset[parent]]
    place = first + chosen - tree.first_child[parent]
    chance[chosen] = np.where(first >= 0, strategy[np.maximum(place, 0)], 1.0)
    for begin, end in zip(tree.levels[-2:0:-1], tree.levels[:1:-1], strict=True):
        parent = tree.parent[begin:end]
        low = parent[0]
        for p in range(position_values.shape[1]):
            total = np.bincount(parent - low, chance[begin:end] * position_values[begin:end, p])
            position_values[low : low + len(total), p] += total
    return position_values
