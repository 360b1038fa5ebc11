"""Trees with teams and their true and relaxed information, for progressive hiding and information relaxation.

Both methods are by Heymann & Lanctot.  A team is treated as one player without perfect recall.  Its policies are
defined on the moves of its *relaxed* sets; ``project`` turns them into policies on its true sets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray, IntArray
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.jit import inline_kernel, kernel
from infoset.names import action_names
from infoset.policies.tabular import TabularPolicy
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import TERMINAL
from infoset.tree.information import UNLABELLED, TreeMap, recall, true_map
from infoset.tree.payoff_scale import are_common, difference_that_counts

NOBODY = -1
MOST_TRAININGS = 10**7  # and iterations of one
NOWHERE = -1.0


class HidingArrays(NamedTuple):
    """The game as kernels read it: ``N`` nodes, ``F`` moves of relaxed sets, ``C`` moves of true sets, ``T`` teams."""

    parent: IntArray  # (N,)
    first_child: IntArray  # (N + 1,)
    team: IntArray  # (N,) the team that learns here, or NOBODY
    weight: FloatArray  # (N,) probability of the edge to the node where nobody learns above it, else 1
    prior: FloatArray  # (N,) the product of these weights on the path
    payoff: FloatArray  # (T, N) at ends, else 0
    relaxed: IntArray  # (N,) relaxed set, or UNLABELLED
    true: IntArray  # (N,) true set
    relaxed_first: IntArray  # (relaxed sets + 1,) first move of each
    true_first: IntArray  # (true sets + 1,)
    relaxed_team: IntArray  # (relaxed sets,)


@kernel
def spread(a: HidingArrays, policy: FloatArray, sets: IntArray, firsts: IntArray, reach: FloatArray) -> None:
    """Compute the probabilities (N,) of all nodes under a policy on the moves of ``sets``."""
    reach[0] = 1.0
    for v in range(1, len(a.parent)):
        above = a.parent[v]
        if a.team[above] == NOBODY:
            reach[v] = reach[above] * a.weight[v]
        else:
            reach[v] = reach[above] * policy[firsts[sets[above]] + v - a.first_child[above]]


@kernel
def project(a: HidingArrays, policy: FloatArray, reach: FloatArray, projected: FloatArray, mass: FloatArray) -> None:
    """Project a policy: compute its conditional expectation in each true set (equation 4).

    In a set that is not reached the nodes are weighted by chance and the fixed players alone.
    """
    sets = len(a.true_first) - 1
    gather(a, policy, reach, projected, mass)
    missing = False
    for k in range(sets):
        missing |= mass[k] <= 0.0
        for q in range(a.true_first[k], a.true_first[k + 1]):
            projected[q] = projected[q] / mass[k] if mass[k] > 0.0 else NOWHERE
    if not missing:
        return
    for v in range(len(a.parent)):
        k = a.true[v]
        if a.team[v] != NOBODY and mass[k] <= 0.0:
            if projected[a.true_first[k]] == NOWHERE:
                for q in range(a.true_first[k], a.true_first[k + 1]):
                    projected[q] = 0.0
            own = a.relaxed_first[a.relaxed[v]]
            for action in range(a.first_child[v + 1] - a.first_child[v]):
                projected[a.true_first[k] + action] += a.prior[v] * policy[own + action]
            mass[k] -= a.prior[v]
    for k in range(sets):
        if mass[k] < 0.0:
            for q in range(a.true_first[k], a.true_first[k + 1]):
                projected[q] /= -mass[k]


@inline_kernel
def gather(a: HidingArrays, policy: FloatArray, reach: FloatArray, projected: FloatArray, mass: FloatArray) -> None:
    """Sum the policy over the nodes of each true set, weighted by their probabilities."""
    for k in range(len(a.true_first) - 1):
        mass[k] = 0.0
    for q in range(len(projected)):
        projected[q] = 0.0
    for v in range(len(a.parent)):
        if a.team[v] != NOBODY:
            k, own = a.true[v], a.relaxed_first[a.relaxed[v]]
            mass[k] += reach[v]
            for action in range(a.first_child[v + 1] - a.first_child[v]):
                projected[a.true_first[k] + action] += reach[v] * policy[own + action]


@kernel
def spread_outside(a: HidingArrays, policy: FloatArray, team: int, reach: FloatArray) -> None:
    """Compute the probabilities (N,) of all nodes with a factor of 1 for the moves of ``team``."""
    reach[0] = 1.0
    for v in range(1, len(a.parent)):
        above = a.parent[v]
        reach[v] = reach[above] * a.weight[v]
        if a.team[above] not in (NOBODY, team):
            reach[v] *= policy[a.relaxed_first[a.relaxed[above]] + v - a.first_child[above]]


@kernel
def expected(a: HidingArrays, team: int, reach: FloatArray) -> float:
    """Return a team's payoff for given probabilities of the nodes."""
    total = 0.0
    for v in range(len(a.parent)):
        total += reach[v] * a.payoff[team, v]
    return total


@dataclass(frozen=True, eq=False)
class HiddenGame:
    """A tree with the true and the relaxed information sets of its teams.

    >>> from infoset.tree.information import recall
    >>> tree = infoset.GameTree.of(infoset.load("trade_comm(items=2,messages=2)"))
    >>> infoset.HiddenGame.of(tree, recall).teams
    ((0, 1),)
    """

    tree: GameTree
    teams: tuple[tuple[int, ...], ...]
    true: tuple[TreeMap, ...]
    relaxed: tuple[TreeMap, ...]
    arrays: HidingArrays

    @classmethod
    @checks_arguments
    def of(
        cls,
        tree: GameTree,
        relax: Callable[[GameTree, Collection[int]], TreeMap] = recall,
        teams: Sequence[Collection[int]] | None = None,
        others: TabularPolicy | None = None,
    ) -> HiddenGame:
        """Return the game in which ``teams`` learn, each on its map ``relax(tree, team)``; all players by default.

        Players in no team play the policy ``others``.  Raises ``ParameterError`` for a player in two teams, or in none
        without ``others``, and where ``relax`` makes no map of the team on this tree; ``UnsupportedGameError`` where no
        teams are given and not all players are paid the same.  Members of a team who are paid differently get the mean
        of their payoffs.
        """
        if teams is None and not are_common(tree.graph.payoffs):
            raise UnsupportedGameError(f"{tree.name}: its players are not a team, since their payoffs differ")
        sides = [tuple(range(len(tree.players)))] if teams is None else [tuple(sorted(team)) for team in teams]
        seated = [player for side in sides for player in side]
        if len(seated) != len(set(seated)):
            raise ParameterError(f"teams={sides}: a player is in two of them")
        if others is None and len(seated) < len(tree.players):
            raise ParameterError(
                f"teams={sides}: some of the {len(tree.players)} players are in none; give their policy"
            )
        truths, maps = ([make(tree, side) for side in sides] for make in (true_map, relax))
        for side, found in zip(sides, maps, strict=True):
            if not isinstance(found, TreeMap) or found.tree is not tree or found.players != frozenset(side):
                raise ParameterError(f"relax: it made no information map of the players {side} of {tree.name}")
        arrays = _arrays(tree, sides, truths, maps, others)
        return cls(tree, tuple(sides), tuple(truths), tuple(maps), arrays)

    def policy(self, projected: FloatArray, made_by: Mapping[str, Any] | None = None) -> TabularPolicy:
        """Return a projection (C,) as a policy of the teams' members."""
        tree, a = self.tree, self.arrays
        tables: tuple[dict[str, dict[str, float]], ...] = tuple({} for _ in tree.players)
        for infoset, node in enumerate(tree.infoset_node.tolist()):
            words = action_names(tree.action_set(infoset))
            if a.team[node] != NOBODY and len(words) > 1:
                first = int(a.true_first[a.true[node]])
                row = projected[first : first + len(words)].tolist()
                tables[int(tree.infoset_player[infoset])][tree.key(infoset)] = dict(zip(words, row, strict=True))
        return TabularPolicy(tree.name, tree.players, tables, tree.graph.map_name, made_by or {})


def _arrays(
    tree: GameTree,
    sides: Sequence[tuple[int, ...]],
    truths: Sequence[TreeMap],
    maps: Sequence[TreeMap],
    others: TabularPolicy | None,
) -> HidingArrays:
    graph, nodes = tree.graph, len(tree.position)
    player = graph.player[tree.position]
    team = np.full(nodes, NOBODY, dtype=np.int32)
    for number, side in enumerate(sides):
        team[np.isin(player, side)] = number
    weight = np.ones(nodes)
    below = np.arange(1, nodes, dtype=np.int32)
    weight[1:] = graph.probability[tree.edges(below)]
    if others is not None:
        _weigh(tree, team, others, weight)
    prior = np.ones(nodes)
    for begin, end in zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True):
        prior[begin:end] = prior[tree.parent[begin:end]] * weight[begin:end]
    ends = np.flatnonzero(player == TERMINAL)
    payoffs = graph.payoffs[graph.content[tree.position[ends]]]
    payoff = np.zeros((len(sides), nodes))
    least = difference_that_counts(payoffs)
    for number, side in enumerate(sides):
        paid = payoffs[:, list(side)]
        payoff[number, ends] = np.where(np.ptp(paid, axis=1) > least, paid.mean(axis=1), paid[:, 0])
    relaxed, relaxed_first = _lay_out(tree, maps)
    true, true_first = _lay_out(tree, truths)
    relaxed_team = np.repeat(np.arange(len(sides), dtype=np.int32), [found.size for found in maps])
    return HidingArrays(
        tree.parent,
        tree.first_child,
        team,
        weight,
        prior,
        payoff,
        relaxed,
        true,
        relaxed_first,
        true_first,
        relaxed_team,
    )


def _lay_out(tree: GameTree, maps: Sequence[TreeMap]) -> tuple[IntArray, IntArray]:
    """Concatenate the teams' sets: return (N,) the set of each node, and (sets + 1,) the first move of each set."""
    labels = np.full(len(tree.position), UNLABELLED, dtype=np.int32)
    count = 0
    for found in maps:
        own = found.labels != UNLABELLED
        labels[own] = found.labels[own] + count
        count += found.size
    sizes = np.zeros(count, dtype=np.int64)
    nodes = np.flatnonzero(labels != UNLABELLED)
    sizes[labels[nodes]] = np.diff(tree.first_child)[nodes]
    return labels, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def _weigh(tree: GameTree, team: IntArray, policy: TabularPolicy, weight: FloatArray) -> None:
    """Write the probabilities of moves of players in no team into ``weight``."""
    for infoset, (owner, node) in enumerate(zip(tree.infoset_player.tolist(), tree.infoset_node.tolist(), strict=True)):
        if team[node] == NOBODY:
            words = action_names(tree.action_set(infoset))
            row = policy.probabilities(owner, tree.key(infoset)) if len(words) > 1 else {words[0]: 1.0}
            probabilities = [row.get(word, 0.0) for word in words]
            for place in np.flatnonzero(tree.infoset == infoset).tolist():
                weight[tree.first_child[place] : tree.first_child[place + 1]] = probabilities
