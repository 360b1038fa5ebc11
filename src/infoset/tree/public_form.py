"""The vector form: a public tree with a vector of private states for each player at each node (Johanson et al. 2011).

It lists neither histories nor information sets: the information sets of a node are its mover's private states, called
*hands* here.  ``VectorForm`` is that of hold'em, whose hands are compared; ``TableForm`` that of other games.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import Action, FloatArray, InformationState, IntArray, LongArray
from infoset.jit import kernel
from infoset.lanes import LANES
from infoset.tree.public_tree import PLAYERS, Node, Street
from infoset.tree.vector_walk import SAME, Scratch, VectorArrays

BYTES_A_ROW = 8
"""Two numbers in single precision: a regret and a weight in the average."""
PADDING = 64
"""Elements after the end of an array that vector instructions may read."""


class Place(NamedTuple):
    """The place of an information state: its board, node and hand, and the rows of its actions, ``step`` apart."""

    board: int
    node: Node
    hand: int
    row: int
    step: int
    num_actions: int


@dataclass(frozen=True, eq=False)
class PublicForm:
    """A public tree with the hands of two players, in the arrays that kernels walk.

    A *row* is the probability of one action with one hand; a *board* is a largest set of nodes with the same hands.
    """

    name: str
    players: tuple[str, ...]
    streets: list[Street] = field(repr=False)
    """The nodes of each kind of board."""
    arrays: VectorArrays = field(repr=False)

    @property
    def num_boards(self) -> int:
        """The number of boards."""
        return len(self.arrays.kind)

    @cached_property
    def num_rows(self) -> int:
        """The number of probabilities of a profile."""
        return int(count_rows(self.arrays.kind, self.arrays.hands, self.streets).sum())

    @property
    def num_nodes(self) -> int:
        """The number of decision nodes of all boards."""
        return len(self.nodes_in_rows)

    @cached_property
    def num_infosets(self) -> int:
        """The number of information sets, up to isomorphism of the suits."""
        return int(self.nodes_in_rows[:, 2].sum())

    @property
    def together(self) -> float:
        """The sum of the weights of all pairs of hands, by which values are divided."""
        raise NotImplementedError

    @property
    def first_reach(self) -> FloatArray:
        """(hands of the first board,) the weights of the first player's hands, then the second's."""
        raise NotImplementedError

    @property
    def num_histories(self) -> float:
        """The number of histories of the game, isomorphic ones counted one by one."""
        raise NotImplementedError

    @property
    def payoff_range(self) -> float:
        """The difference between the largest and the smallest payoff at an end."""
        raise NotImplementedError

    @property
    def constant_sum(self) -> float | None:
        """The sum of the players' payoffs at every end; ``None`` where it differs."""
        raise NotImplementedError

    @property
    def folded(self) -> bool:
        """Whether isomorphic cards lead to one board, so that not every profile has rows here."""
        return False

    def find(self, player: int, infostate: InformationState) -> Place | None:
        """Return the place of an information state of ``player`` in which it acts; ``None`` where there is none."""
        raise NotImplementedError

    def infostates(self) -> Iterator[tuple[int, InformationState, tuple[Action, ...], Place]]:
        """Yield all information states with a decision, of isomorphic ones one: player, records, actions and place."""
        raise NotImplementedError

    def first_weights(self, player: int) -> FloatArray:
        """Return (hands,) the weights of a player's hands on the first board."""
        begin, count = int(self.arrays.first_hand[player, 0]), int(self.arrays.hands[player, 0])
        return self.first_reach[begin : begin + count]

    def rows_of_player(self, player: int) -> slice:
        """Return the rows of a player's strategy, which are contiguous."""
        begins = [int(begin) for begin in self.arrays.first_row[:, 0]]
        return slice(begins[player], [*begins[1:], self.num_rows][player])

    def normalised(self, weights: FloatArray) -> npt.NDArray[np.float32]:
        """Return (rows,) probabilities proportional to the positive part of ``weights`` (rows,), or uniform ones."""
        found = np.array(weights, dtype=np.float32)
        normalise_rows(found, self.nodes_in_rows)
        return found

    @cached_property
    def nodes_in_rows(self) -> LongArray:
        """(nodes of all boards, 3) for each decision node the first row, and the numbers of its actions and hands."""
        a, found = self.arrays, [np.zeros((0, 3), np.int64)]
        of_kind = np.split(np.argsort(a.kind, kind="stable"), np.cumsum(np.bincount(a.kind))[:-1])
        for street, boards in zip(self.streets, of_kind, strict=False):
            for node in street.nodes:
                if node.mover >= 0:
                    hands = a.hands[node.mover, boards].astype(np.int64)
                    begins = a.first_row[node.mover, boards] + node.row * hands
                    found.append(np.stack([begins, np.full_like(hands, len(node.children)), hands], axis=1))
        return np.concatenate(found)

    def scratch(self, dtype: npt.DTypeLike) -> Scratch:
        """Return memory for one thread."""
        a, depths = self.arrays, int(self.arrays.depth.max()) + 1
        kinds, walked = np.minimum(a.kind, len(self.streets)), np.array([*map(_sizes, self.streets), [0] * 5]).T
        slots, rows, nodes = walked[:PLAYERS], walked[PLAYERS : 2 * PLAYERS], walked[2 * PLAYERS]

        def widest(sizes: LongArray) -> LongArray:
            found = np.zeros(depths, np.int64)
            np.maximum.at(found, a.depth, sizes)
            return found

        reach = np.array([widest(slots[p, kinds] * a.hands[p]) for p in range(PLAYERS)])
        values = widest(nodes[kinds] * a.hands.max(axis=0))
        strategy = widest((rows[:, kinds] * a.hands).max(axis=0))
        hands = int(a.hands.max()) + LANES

        def room(sizes: Any) -> npt.NDArray[Any]:
            return np.zeros(int(np.sum(sizes)) + PADDING, dtype)

        return Scratch(
            room(reach), room(values), room(strategy), np.zeros((hands, LANES), dtype),
            np.zeros((hands, LANES), dtype), np.zeros((SAME + 1, LANES), dtype), room(hands),
            begins_of(reach), begins_of(values), begins_of(strategy),
            np.zeros(LANES, np.int64), np.zeros(depths + 1, np.int64),
        )  # fmt: skip

    def arrays_in(self, dtype: npt.DTypeLike) -> VectorArrays:
        """Return the arrays with payoffs of another precision."""
        a = self.arrays
        paid = {name: getattr(a, name).astype(dtype) for name in ("pays", "stakes", "tables", "factors")}
        return a._replace(**paid)


@kernel
def normalise_rows(rows: npt.NDArray[np.float32], nodes: LongArray) -> None:
    """Divide the positive parts of the rows of each node and hand by their sum; where that is 0 they become equal."""
    for k in range(len(nodes)):
        begin, actions, hands = nodes[k, 0], nodes[k, 1], nodes[k, 2]
        for h in range(hands):
            total = 0.0
            for action in range(actions):
                total += max(rows[begin + action * hands + h], 0.0)
            for action in range(actions):
                row = begin + action * hands + h
                rows[row] = max(rows[row], 0.0) / total if total > 0.0 else 1.0 / actions


def _sizes(street: Street) -> list[int]:
    """Return the numbers of reach vectors, of rows (each by player) and of nodes of a kind of board."""
    return [*street.slots, *street.rows, len(street.nodes)]


def count_rows(kind: IntArray, hands: IntArray, streets: Sequence[Street]) -> LongArray:
    """Return (2, B) the number of rows of each player at each board, of these kinds (B,) and ``hands`` (2, B)."""
    actions = np.array([street.rows for street in streets] + [[0, 0]], np.int64)
    return actions[np.minimum(kind, len(streets))].T * hands


def board_arrays(
    streets: Sequence[Street], kind: IntArray, depth: IntArray, above: Sequence[int], hands: IntArray
) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of boards (B,) of these kinds, depths, boards before and numbers of hands (2, B)."""
    until = np.arange(1, len(kind) + 1, dtype=np.int32)
    for number in range(len(kind) - 1, 0, -1):
        until[above[number]] = max(until[above[number]], until[number])
    decisions = [[sum(node.mover == p for node in street.nodes) for p in range(PLAYERS)] for street in streets]
    scales = np.array([*decisions, [0, 0]], np.int64)[np.minimum(kind, len(streets))].T
    return {
        "depth": depth, "above": np.array(above, np.int32), "until": until, "kind": kind, "hands": hands,
        "first_row": begins_of(count_rows(kind, hands, streets)), "first_scale": begins_of(scales),
    }  # fmt: skip


def node_arrays(streets: Sequence[Street]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of the nodes of all kinds of boards."""
    nodes = [node for street in streets for node in street.nodes]
    children = [node.children for node in nodes]
    return {
        "first_node": begins(len(street.nodes) for street in streets),
        "mover": joined([[n.mover] for n in nodes], np.int32),
        "actions": joined([[len(own)] for own in children], np.int32),
        "first_child": begins(map(len, children))[:-1],
        "children": joined(children, np.int32),
        "row": joined([[node.row] for node in nodes], np.int32),
        "order": joined(map(_orders, streets), np.int32),
        "slot": np.ascontiguousarray(np.array([node.slots for node in nodes], np.int32).T),
        "next_slot": joined([[node.next_slot] for node in nodes], np.int32),
        "first_leaf": begins(len(street.leaves) for street in streets),
        "leaves": joined([street.leaves for street in streets], np.int32),
        "first_root": begins(len(street.roots) for street in streets),
        "roots": joined([street.roots for street in streets], np.int32),
        "first_lane": begins(len(street.ends) for street in streets),
        "showdowns": joined([[street.showdowns] for street in streets], np.int32),
        "lanes": joined([[end] for street in streets for end, _ in street.ends], np.int32),
        "pays": joined([pays for street in streets for _, pays in street.ends], np.float64).reshape(-1, PLAYERS, 3),
        "first_all_in": begins(len(street.all_ins) for street in streets),
        "all_ins": joined([[end] for street in streets for end, _ in street.all_ins], np.int32),
        "stakes": joined([s for street in streets for _, s in street.all_ins], np.float64).reshape(-1, PLAYERS),
    }  # fmt: skip


def _orders(street: Street) -> list[int]:
    """Return for each node how many nodes of its mover come before."""
    seen: dict[int, int] = {}
    orders = []
    for node in street.nodes:
        orders.append(seen.get(node.mover, 0))
        seen[node.mover] = orders[-1] + 1
    return orders


def table_arrays(
    streets: Sequence[Street], tables: Sequence[tuple[FloatArray, FloatArray]]
) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of the ends that tables pay, in groups of up to ``LANES`` ends with the same table.

    ``tables`` holds for each table both players' payoffs, each (own hands, the other's hands).
    """
    first_group, group_end, number = [0], [0], list[int]()
    nodes, factors = list[int](), list[float]()
    for street in streets:
        for table in sorted({table for _, table, _ in street.paid}):
            own = [(node, factor) for node, paid, factor in street.paid if paid == table]
            for begin in range(0, len(own), LANES):
                some = own[begin : begin + LANES]
                nodes += [node for node, _ in some]
                factors += [factor for _, factor in some]
                group_end.append(len(nodes))
                number.append(table)
        first_group.append(len(number))
    at = begins_of(np.array([both.size for table in tables for both in table], np.int64)).reshape(-1, PLAYERS)
    return {
        "first_group": np.array(first_group, np.int32), "group_end": np.array(group_end, np.int32),
        "table_at": at[number], "paid": np.array(nodes, np.int32), "factors": np.array(factors),
        "tables": joined([both for table in tables for both in table], np.float64),
    }  # fmt: skip


def begins_of(sizes: LongArray) -> LongArray:
    """Return for each place the sum of the sizes before, row after row."""
    return np.asarray((np.cumsum(sizes.ravel()) - sizes.ravel()).reshape(sizes.shape))


def joined(parts: Iterable[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return the elements of all parts one after the other."""
    return np.concatenate([np.zeros(0, dtype), *[np.asarray(part, dtype).ravel() for part in parts]])


def begins(sizes: Iterable[int]) -> npt.NDArray[np.int32]:
    """Return (k + 1,) where parts of these sizes begin, and where the last one ends."""
    return np.cumsum([0, *sizes]).astype(np.int32)
