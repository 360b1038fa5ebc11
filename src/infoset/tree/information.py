"""Information maps on a tree as values, to compare, join, test for perfect recall and refine.

A map defines what is known at each decision: nodes with one label cannot be told apart.  The maps here need not be
those of the rules.  Finer maps relax a game (Heymann & Lanctot, "Progressive hiding"), coarser ones forget, and a
team regarded as one player has the joint map of its members, which lacks perfect recall.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from infoset.base import IntArray, LongArray
from infoset.errors import ImperfectRecallError, ParameterError
from infoset.names import format_action
from infoset.tree.game_tree import ROOT, GameTree
from infoset.tree.graph import CHANCE

UNLABELLED = -1


@dataclass(frozen=True, eq=False)
class TreeMap:
    """A label for every node of a tree at which one of ``players`` decides.

    Labels are numbered from 0 in order of first appearance, so two maps with equal sets have equal ``labels``.
    """

    tree: GameTree
    name: str
    players: frozenset[int]
    labels: IntArray  # (N,) UNLABELLED where none of the players decides

    @classmethod
    def of_keys(cls, tree: GameTree, name: str, players: Collection[int], keys: LongArray) -> TreeMap:
        """Build a map from any integers (N,): nodes of the players with equal integers get one label.

        Raises ``ParameterError`` where nodes with equal integers differ in player or action set.
        """
        seats = _seats(tree, players)
        nodes = np.flatnonzero(np.isin(tree.graph.player[tree.position], list(seats)))
        _, first, inverse = np.unique(keys[nodes], return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int32)
        rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
        labels = np.full(len(tree.position), UNLABELLED, dtype=np.int32)
        labels[nodes] = rank[inverse]
        found = cls(tree, name, seats, labels)
        found._check_action_sets(nodes, nodes[first[inverse]])
        return found

    def _check_action_sets(self, nodes: LongArray, others: LongArray) -> None:
        """Raise ``ParameterError`` where nodes with one label differ in player or action set."""
        position, graph = self.tree.position, self.tree.graph
        same = graph.content[position[nodes]] == graph.content[position[others]]
        same &= graph.player[position[nodes]] == graph.player[position[others]]
        if not same.all():
            k = int(np.flatnonzero(~same)[0])
            raise ParameterError(
                f"map {self.name!r} of {self.tree.name} cannot tell {_history(self.tree, int(others[k]))} from "
                f"{_history(self.tree, int(nodes[k]))}, where other moves are on offer"
            )

    @property
    def size(self) -> int:
        """The number of information sets."""
        return int(self.labels.max(initial=UNLABELLED)) + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeMap) and self.tree is other.tree and bool((self.labels == other.labels).all())

    def __hash__(self) -> int:
        return hash((id(self.tree), self.labels.tobytes()))

    def refines(self, other: TreeMap) -> bool:
        """Return whether this map tells apart everything that ``other`` does; equal maps refine each other.

        Raises ``ParameterError`` for maps of another tree or other players.
        """
        return self.join(other).size == self.size

    def compare(self, other: TreeMap) -> str:
        """Return ``equal``, ``finer``, ``coarser`` or ``neither``."""
        finer, coarser = self.refines(other), other.refines(self)
        if finer:
            return "equal" if coarser else "finer"
        return "coarser" if coarser else "neither"

    def join(self, other: TreeMap) -> TreeMap:
        """Return the join of both maps: the coarsest map that refines them."""
        if self.tree is not other.tree or self.players != other.players:
            raise ParameterError(f"maps {self.name!r} and {other.name!r} are of different trees or players")
        keys = self.labels.astype(np.int64) * (other.size + 1) + other.labels
        return TreeMap.of_keys(self.tree, f"{self.name}+{other.name}", self.players, keys)

    def recall_violation(self) -> tuple[int, int] | None:
        """Return two nodes with one label but different pasts, of own labels or own actions; ``None``: perfect recall.

        These are conditions 2 and 3 of the paper, for the players taken as one.
        """
        past = self._pasts(self.labels)
        nodes = np.flatnonzero(self.labels != UNLABELLED)
        _, first, inverse = np.unique(self.labels[nodes], return_index=True, return_inverse=True)
        wrong = np.flatnonzero(past[nodes] != past[nodes[first[inverse]]])
        return (int(nodes[first[inverse[wrong[0]]]]), int(nodes[wrong[0]])) if len(wrong) else None

    def check_recall(self) -> None:
        """Raise ``ImperfectRecallError``, naming two histories, unless the players as one remember everything."""
        if pair := self.recall_violation():
            one, two = (_history(self.tree, node) for node in pair)
            raise ImperfectRecallError(
                f"map {self.name!r} of {self.tree.name} has no perfect recall: {one} and {two} have the same label, "
                "but different information or moves before them"
            )

    def with_recall(self) -> TreeMap:
        """Return the coarsest refinement with perfect recall, by one pass from the root.

        A node's new label combines its old one with all new labels and actions on the way to it; a refinement with
        perfect recall has to tell these apart, by induction over the depth.
        """
        return TreeMap.of_keys(self.tree, f"recall({self.name})", self.players, self._refined())

    def _pasts(self, labels: IntArray) -> LongArray:
        """Return (N,) numbers that are equal where the players' labels and actions on the way were the same."""
        tree, past = self.tree, np.zeros(len(labels), dtype=np.int64)
        count = 1
        for begin, end in zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True):
            nodes = np.arange(begin, end)
            above = tree.parent[begin:end].astype(np.int64)
            acted = labels[above] != UNLABELLED
            keys = np.stack([past[above], labels[above], nodes - tree.first_child[above]], axis=1)[acted]
            past[begin:end] = past[above]
            _, number = np.unique(keys, axis=0, return_inverse=True)
            past[nodes[acted]] = count + number
            count += len(keys)
        return past

    def _refined(self) -> LongArray:
        tree, count = self.tree, 1
        past = np.zeros(len(self.labels), dtype=np.int64)
        labels = np.full(len(self.labels), UNLABELLED, dtype=np.int64)
        for begin, end in zip(tree.levels[:-1].tolist(), tree.levels[1:].tolist(), strict=True):
            if begin > ROOT:
                above = tree.parent[begin:end].astype(np.int64)
                past[begin:end] = past[above]
                acted = labels[above] != UNLABELLED
                keys = np.stack([labels[above], np.arange(begin, end) - tree.first_child[above]], axis=1)[acted]
                _, number = np.unique(keys, axis=0, return_inverse=True)
                past[begin + np.flatnonzero(acted)] = count + number
                count += len(keys)
            here = begin + np.flatnonzero(self.labels[begin:end] != UNLABELLED)
            _, number = np.unique(np.stack([self.labels[here], past[here]], axis=1), axis=0, return_inverse=True)
            labels[here] = count + number
            count += len(here)
        return labels


def true_map(tree: GameTree, players: Collection[int]) -> TreeMap:
    """Return the map of the rules: the players' information sets.

    >>> from infoset.tree.information import true_map
    >>> tree = infoset.GameTree.of(infoset.load("trade_comm(items=2,messages=2)"))
    >>> true_map(tree, (0, 1)).size
    20
    """
    return TreeMap.of_keys(tree, "true", players, tree.infoset.astype(np.int64))


def recall(tree: GameTree, players: Collection[int]) -> TreeMap:
    """Return the smallest relaxation with perfect recall: each mover knows what the team knew and did before.

    For games of teams (Heymann & Lanctot 2025).

    >>> from infoset.tree.information import recall, true_map
    >>> tree = infoset.GameTree.of(infoset.load("trade_comm(items=2,messages=2)"))
    >>> recall(tree, (0, 1)).refines(true_map(tree, (0, 1)))
    True
    """
    found = true_map(tree, players).with_recall()
    return TreeMap(tree, "recall", found.players, found.labels)


def cheat(tree: GameTree, players: Collection[int]) -> TreeMap:
    """Return the true map with all chance outcomes revealed as they occur."""
    return _opened(tree, "cheat", players, [CHANCE])


def reveal(tree: GameTree, players: Collection[int]) -> TreeMap:
    """Return the true map with the current information states of ``players`` revealed to each other, and no others'."""
    known, team = _states(tree), sorted(_seats(tree, players))
    return custom(tree, "reveal", players, lambda node: (tree.infoset[node], *[known[node][p] for p in team]))


def perfect(tree: GameTree, players: Collection[int]) -> TreeMap:
    """Return the map by which every history is known."""
    return TreeMap.of_keys(tree, "perfect", players, np.arange(len(tree.position), dtype=np.int64))


def custom(tree: GameTree, name: str, players: Collection[int], key: Callable[[int], Hashable]) -> TreeMap:
    """Return a map defined by a function from a node to any hashable key; ``tree.history(node)`` is the node's history.

    Raises ``ParameterError`` where nodes with one key differ in player or action set.
    """
    seats = _seats(tree, players)
    keys = np.zeros(len(tree.position), dtype=np.int64)
    numbers: dict[Hashable, int] = {}
    for node in np.flatnonzero(np.isin(tree.graph.player[tree.position], list(seats))).tolist():
        keys[node] = numbers.setdefault(key(node), len(numbers))
    return TreeMap.of_keys(tree, name, players, keys)


def axes(tree: GameTree, name: str, players: Collection[int], seen: Sequence[Collection[int]]) -> TreeMap:
    """Return a map in which decision i of the players observes the places ``seen[i]`` of the history.

    Places count chance outcomes and actions from 0, as in a game in product form.  Raises ``ParameterError`` for a
    place that does not exist or lies ahead, and for a history with more decisions than ``seen`` has entries.
    """
    depth = np.zeros(len(tree.position), dtype=np.int64)  # number of earlier decisions of the players
    mine = np.isin(tree.graph.player[tree.position], list(_seats(tree, players)))
    for begin, end in zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True):
        above = tree.parent[begin:end]
        depth[begin:end] = depth[above] + mine[above]

    def key(node: int) -> Hashable:
        past, stage = tree.history(node), int(depth[node])
        if stage >= len(seen):
            raise ParameterError(
                f"map {name!r}: {_history(tree, node)} is decision {stage}; it has {len(seen)} entries"
            )
        for place in seen[stage]:
            if not 0 <= place < len(past):
                raise ParameterError(
                    f"map {name!r}: decision {stage} cannot see place {place}; allowed: 0 to {len(past) - 1}, "
                    "what happened before"
                )
        return (stage, *[past[place] for place in seen[stage]])

    return custom(tree, name, players, key)


RELAXATIONS: dict[str, Callable[[GameTree, Collection[int]], TreeMap]] = {
    "true": true_map,
    "recall": recall,
    "cheat": cheat,
    "reveal": reveal,
    "perfect": perfect,
}
"""Ready-made relaxations by name."""


def _opened(tree: GameTree, name: str, players: Collection[int], movers: Sequence[int]) -> TreeMap:
    """Return the true map with the actions of ``movers`` revealed as they are made."""
    number, count = np.zeros(len(tree.position), dtype=np.int64), 1
    for begin, end in zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True):
        above = tree.parent[begin:end].astype(np.int64)
        number[begin:end] = number[above]
        opened = np.isin(tree.graph.player[tree.position[above]], list(movers))
        keys = np.stack([number[above], np.arange(begin, end) - tree.first_child[above]], axis=1)[opened]
        _, inverse = np.unique(keys, axis=0, return_inverse=True)
        number[begin + np.flatnonzero(opened)] = count + inverse
        count += len(keys)
    keys = number * (len(tree.infoset_player) + 1) + tree.infoset
    return TreeMap.of_keys(tree, name, players, keys)


def _states(tree: GameTree) -> list[tuple[int, ...]]:
    """Return the information state of every player at each node, as numbers."""
    graph, n = tree.graph, len(tree.players)
    numbers: dict[tuple[int, int, int], int] = {}
    known: list[tuple[int, ...]] = [tuple(range(n))]
    for node in range(1, len(tree.position)):
        above = int(tree.parent[node])
        edge = int(graph.first_edge[tree.position[above]]) + node - int(tree.first_child[above])
        known.append(
            tuple(
                [
                    state if record < 0 else numbers.setdefault((p, state, record), n + len(numbers))
                    for p, (state, record) in enumerate(zip(known[above], graph.record[edge].tolist(), strict=True))
                ]
            )
        )
    return known


def _seats(tree: GameTree, players: Collection[int]) -> frozenset[int]:
    if not players or not set(players) <= set(range(len(tree.players))):
        raise ParameterError(f"players={sorted(players)}: {tree.name} has players 0 to {len(tree.players) - 1}")
    return frozenset(players)


def _history(tree: GameTree, node: int) -> str:
    return "[" + " ".join(map(format_action, tree.history(node))) + "]"
