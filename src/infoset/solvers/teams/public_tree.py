"""The public states of a two-player game, which hold the common knowledge of the play.

Chance deals each player a *type*; from then on every move is public, at the latest when the other player, who moves at
the same time, has moved too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.solvers.teams.sets import MIN_TYPES
from infoset.tree.game_tree import NO_INFOSET, ROOT, GameTree
from infoset.tree.graph import CHANCE, TERMINAL

MAX_PUBLIC_STATES = 200_000
MAX_TYPES = 32


@dataclass(frozen=True, eq=False)
class PublicTree:
    """The public states of a game, parents first, with state 0 before the first move.

    ``D`` deals of chance lead to each of them; a player's information sets at a public state are its types.  Either one
    player moves there, or both do without seeing each other's move; in the tree one of them comes first.
    """

    tree: GameTree
    types: tuple[int, int]
    type_of: LongArray  # (2, D)
    movers: list[tuple[int, ...]]  # of each public state, in the order of the tree; none at an end
    nodes: list[tuple[IntArray, ...]]  # where each mover moves, (D,) for every deal; the end itself at an end
    children: list[LongArray]  # the public states after each move (k,), or pair of moves (k, l) in that order
    weights: list[FloatArray]  # (types of P1, types of P2) payoff times probability at an end, else empty

    @classmethod
    def of(cls, tree: GameTree, payoffs: FloatArray) -> PublicTree:
        """Return the public tree of a game with the common payoff ``payoffs`` (rows of the graph's payoffs,).

        Raises ``UnsupportedGameError`` where moves stay hidden or chance moves after the first move, ``BudgetError``
        for too many public states or types.
        """
        if len(tree.players) != 2:
            raise _refusal(tree, f"has {len(tree.players)} players; the dynamic program is for two")
        deals, chance = _deals(tree)
        movers, nodes, children = _public_states(tree, deals)
        if not movers[0]:
            raise _refusal(tree, "does not fit: no player ever moves")
        type_of = _types(tree, movers, nodes)
        one, two = (max(MIN_TYPES, int(row.max()) + 1) for row in type_of)
        if max(one, two) > MAX_TYPES:
            raise BudgetError(f"{tree.name} has {one} x {two} types; at most {MAX_TYPES} a player are tried")
        weights = []
        for moving, groups in zip(movers, nodes, strict=True):
            table = np.zeros((0, 0) if moving else (one, two))
            if not moving:
                earned = chance * payoffs[tree.graph.content[tree.position[groups[0]]]]
                np.add.at(table, (type_of[0], type_of[1]), earned)
            weights.append(table)
        return cls(tree, (one, two), type_of, movers, nodes, children, weights)

    @property
    def ends(self) -> list[int]:
        return [v for v, movers in enumerate(self.movers) if not movers]

    @property
    def num_decisions(self) -> int:
        return len(self.movers) - len(self.ends)

    @cached_property
    def first_deal(self) -> tuple[LongArray, LongArray]:
        """For each player, the first deal of each of its types."""
        one, other = (np.unique(row, return_index=True)[1] for row in self.type_of)
        return one, other

    def infosets(self, state: int) -> list[list[int]]:
        """Return the information set of each type of each mover."""
        groups = zip(self.movers[state], self.nodes[state], strict=True)
        return [self.tree.infoset[nodes[self.first_deal[player]]].tolist() for player, nodes in groups]


def _refusal(tree: GameTree, why: str) -> UnsupportedGameError:
    return UnsupportedGameError(f"{tree.name} {why}")


def _deals(tree: GameTree) -> tuple[IntArray, FloatArray]:
    """Return the nodes (D,) after the initial chance moves, and their probabilities."""
    nodes, chance = np.array([ROOT], dtype=np.int32), np.ones(1)
    while (drawn := tree.graph.player[tree.position[nodes]] == CHANCE).any():
        above = nodes[drawn]
        below = np.concatenate([np.arange(tree.first_child[v], tree.first_child[v + 1]) for v in above])
        reach = np.repeat(chance[drawn], tree.first_child[above + 1] - tree.first_child[above])
        reach = reach * tree.graph.probability[tree.edges(below.astype(np.int32))]
        nodes = np.concatenate([nodes[~drawn], below]).astype(np.int32)
        chance = np.concatenate([chance[~drawn], reach])
    order = np.argsort(nodes)
    return nodes[order], chance[order]


def _public_states(
    tree: GameTree, deals: IntArray
) -> tuple[list[tuple[int, ...]], list[tuple[IntArray, ...]], list[LongArray]]:
    """Walk the trees of all deals at once; return movers, nodes and children of the public states, parents first."""
    groups = [deals]
    movers: list[tuple[int, ...]] = []
    nodes: list[tuple[IntArray, ...]] = []
    children: list[LongArray] = []
    for group in groups:  # the list grows in the loop
        mover, below = _mover(tree, group), _successors(tree, group)
        moving: tuple[int, ...] = () if mover == TERMINAL else (mover,)
        places: tuple[IntArray, ...] = (group,)
        shape: tuple[int, ...] = (len(below),)
        if _unseen(tree, mover, below):
            moving, places = (mover, _mover(tree, below[0])), (group, below[0])
            below = list(chain.from_iterable(_successors(tree, hidden) for hidden in below))
            shape = (shape[0], len(below) // shape[0])
        movers.append(moving)
        nodes.append(places)
        children.append(np.arange(len(groups), len(groups) + len(below), dtype=np.int64).reshape(shape))
        groups.extend(below)
        if len(groups) > MAX_PUBLIC_STATES:
            raise BudgetError(f"{tree.name} has more than {MAX_PUBLIC_STATES:,} public states, which is the limit")
    return movers, nodes, children


def _mover(tree: GameTree, group: IntArray) -> int:
    """Return who moves at a public state, ``TERMINAL`` at an end; raises where that is not the same for all deals."""
    position = tree.position[group]
    players = tree.graph.player[position]
    if (drawn := group[players == CHANCE]).size:
        raise _refusal(
            tree, f"does not fit: chance moves after {tree.history(int(drawn[0]))}, not only before the first move"
        )
    action_sets = np.where(players == TERMINAL, -1, tree.graph.content[position])
    if (odd := group[(players != players[0]) | (action_sets != action_sets[0])]).size:
        raise _refusal(
            tree,
            f"does not fit: legal moves are not public; they differ after {tree.history(int(group[0]))} and "
            f"{tree.history(int(odd[0]))}",
        )
    return int(players[0])


def _successors(tree: GameTree, group: IntArray) -> list[IntArray]:
    """Return the nodes after each move of a public state."""
    return [tree.first_child[group] + k for k in range(tree.graph.num_edges[tree.position[group[0]]])]


def _unseen(tree: GameTree, mover: int, below: list[IntArray]) -> bool:
    """Return whether the other player moves next and cannot tell which of several moves led there."""
    if len(below) < 2:
        return False
    sets = tree.infoset[below[0]]
    if (sets == NO_INFOSET).any() or (tree.infoset_player[sets] == mover).any():
        return False
    return all(np.array_equal(tree.infoset[nodes], sets) for nodes in below[1:])


def _types(tree: GameTree, movers: list[tuple[int, ...]], nodes: list[tuple[IntArray, ...]]) -> LongArray:
    """Return (2, D) each deal's type, by player, in the order of the types' keys, so that symmetries can be found.

    A type is an information set at the player's first public state, and has to be one at all others.
    """
    found: dict[int, LongArray] = {}
    home = np.full(len(tree.infoset_player), -1)
    actions = [
        (state, player, group)
        for state, moving in enumerate(movers)
        for player, group in zip(moving, nodes[state], strict=False)  # an end has nodes but no movers
    ]
    for state, player, group in actions:
        sets = tree.infoset[group]
        if player not in found:
            distinct, kinds = np.unique(sets, return_inverse=True)
            rank = np.argsort(np.argsort([tree.key(k) for k in distinct.tolist()]))
            found[player] = rank[kinds]
        pairs = np.unique(np.stack([found[player], sets]), axis=1).shape[1]
        known = home[sets]
        if (other := group[(known >= 0) & (known != state)]).size:
            first = int(tree.infoset_node[tree.infoset[other[0]]])
            raise _refusal(
                tree,
                f"does not fit: moves stay hidden, {tree.players[player]} cannot tell {tree.history(first)} from "
                f"{tree.history(int(other[0]))}. Try method='milp'",
            )
        if not pairs == len(np.unique(sets)) == int(found[player].max()) + 1:
            raise _refusal(
                tree,
                f"does not fit: after {tree.history(int(group[0]))} {tree.players[player]} knows more or less about "
                "the deal than at its first move. Try method='milp'",
            )
        home[sets] = state
    nothing = np.zeros(len(nodes[0][0]), dtype=np.int64)
    return np.stack([found.get(player, nothing) for player in range(2)])
