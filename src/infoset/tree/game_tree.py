"""The tree of all histories of a game, as flat arrays in breadth-first order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from infoset import displays, status
from infoset.arguments import checks_arguments
from infoset.base import Action, Game, InformationState, IntArray, LongArray
from infoset.errors import BudgetError, GameRuleError
from infoset.interning import path_to
from infoset.names import NOTHING_YET, information_key
from infoset.tree.graph import (
    CHANCE,
    NO_RECORD,
    TERMINAL,
    GameGraph,
    default_max_histories,
    estimate_histories,
    explore,
    spread,
    too_large,
)

ROOT = 0
NO_INFOSET = -1
NO_PARENT = -1
LOOK_AHEAD_POSITIONS = 50_000
HOPELESS = 1000  # as a multiple of the limit
NARROW = 32  # levels with fewer nodes are faster in plain Python than through calls of NumPy
HISTORIES_A_REPORT = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class GameTree:
    """Every history of a game; node 0 is the root, parents come before children, levels are contiguous.

    The children of node ``v`` are ``first_child[v]`` up to ``first_child[v + 1]``, in the order of its action set.
    Information sets are numbered in order of first appearance over all players.

    >>> tree = infoset.GameTree.of(infoset.load("kuhn_poker"))
    >>> len(tree.parent), tree.num_terminals, len(tree.infoset_player)
    (58, 30, 12)
    >>> tree.key(0), tree.action_set(0)
    ('J', ('pass', 'bet'))
    """

    graph: GameGraph
    parent: IntArray  # (N,)
    first_child: IntArray  # (N + 1,)
    position: IntArray  # (N,) row of the graph
    infoset: IntArray  # (N,) or NO_INFOSET
    levels: IntArray  # (depth + 1,) first node of each level
    infoset_player: IntArray  # (I,)
    infoset_node: IntArray  # (I,) the first node of the set
    infoset_state: IntArray  # (I,) the information state of that node
    states: InformationStates = field(repr=False)

    @classmethod
    @checks_arguments
    def of(
        cls, game: Game, max_histories: int | None = None, progress: Callable[[int], object] | None = None
    ) -> GameTree:
        """Enumerate ``game``.

        Raises ``BudgetError`` before memory is taken, and ``GameRuleError`` for broken rules.
        """
        limit = max_histories if max_histories is not None else default_max_histories()
        return cls.unroll(explore_for_tree(game, limit, progress), limit, progress)

    @classmethod
    def unroll(
        cls, graph: GameGraph, max_histories: int | None = None, progress: Callable[[int], object] | None = None
    ) -> GameTree:
        """Unroll the tree from the distinct positions of a game.

        ``progress`` is called from time to time with the number of histories.  Raises ``BudgetError`` before memory is
        taken.
        """
        limit = max_histories if max_histories is not None else default_max_histories()
        histories = graph.count_histories()
        if histories > limit:
            raise BudgetError(
                f"{graph.name} has {histories:,.0f} histories (of {len(graph.player):,} distinct positions), more than "
                f"the limit of {limit:,}. Raise it (max_histories, --max-histories) or choose smaller parameters"
            )
        with status.during("building the tree"):
            return _Unroller(graph, int(histories), progress).run()

    @property
    def name(self) -> str:
        """The game's name."""
        return self.graph.name

    @property
    def players(self) -> tuple[str, ...]:
        """The players' names."""
        return self.graph.players

    @property
    def num_terminals(self) -> int:
        """The number of terminal histories."""
        return int((self.graph.player[self.position] == TERMINAL).sum())

    @property
    def nbytes(self) -> int:
        """The size in bytes of the arrays over histories."""
        return sum(a.nbytes for a in (self.parent, self.first_child, self.position, self.infoset))

    def player(self, node: int) -> int:
        """Return the player who moves at ``node``, ``CHANCE`` or ``TERMINAL``."""
        return int(self.graph.player[self.position[node]])

    def edges(self, nodes: IntArray) -> IntArray:
        """Return the graph's edge that leads to each of ``nodes``, which must not include the root."""
        above = self.parent[nodes]
        return self.graph.first_edge[self.position[above]] + nodes - self.first_child[above]

    def action_set(self, infoset: int) -> tuple[Action, ...]:
        """Return the legal actions in an information set."""
        return self.graph.action_sets[int(self.graph.content[self.position[self.infoset_node[infoset]]])]

    def key(self, infoset: int) -> str:
        """Return the readable name of an information set: what its player saw and did, or the map's own label."""
        if self.graph.map_name:
            return self.graph.labels[int(self.graph.label[self.position[self.infoset_node[infoset]]])]
        return self.states.key(int(self.infoset_state[infoset]))

    def __repr__(self) -> str:
        return (
            f"GameTree of {self.name}: {len(self.parent):,} histories ({self.num_terminals:,} ends, "
            f"depth {len(self.levels) - 2}), {len(self.infoset_player):,} information sets"
        )

    def _repr_svg_(self) -> str | None:
        """Return the picture for a notebook; ``None``, for plain text, where the tree is too large for one."""
        try:
            return displays.render("tree", self)
        except BudgetError:
            return None

    def history(self, node: int) -> list[object]:
        """Return the actions and chance outcomes that lead to ``node``."""
        path: list[object] = []
        while node != ROOT:
            above = int(self.parent[node])
            action_set = self.graph.action_sets[int(self.graph.content[self.position[above]])]
            path.append(action_set[node - int(self.first_child[above])])
            node = above
        return path[::-1]


def explore_for_tree(game: Game, limit: int, progress: Callable[[int], object] | None = None) -> GameGraph:
    """Explore the positions of a game whose tree may have up to ``limit`` histories.

    Raises ``BudgetError`` as soon as probes show that the tree is far beyond that.
    """
    return explore(game, limit, _LookAhead(game, limit, progress))


class _LookAhead:
    """A progress callback that raises ``BudgetError`` where random probes find a lazy graph's tree far too large."""

    def __init__(self, game: Game, limit: int, progress: Callable[[int], object] | None) -> None:
        self.game, self.limit, self.progress, self.looked = game, limit, progress, False

    def __call__(self, positions: int) -> None:
        if positions > LOOK_AHEAD_POSITIONS and not self.looked:
            self.looked = True
            if estimate_histories(self.game) > HOPELESS * self.limit:
                raise too_large(self.game, self.limit, positions)
        if self.progress:
            self.progress(positions)


RECORD_BITS, LAST_RECORD = 32, (1 << 32) - 1


class InformationStates:
    """The tree of all players' information states: each is its parent followed by one more record.

    The initial state of player ``p`` has number ``p``; numbers increase along every branch.
    """

    def __init__(self, graph: GameGraph) -> None:
        self.records = graph.records
        self.parent: list[int] = [-1] * len(graph.players)
        self.record: list[int] = list(graph.start_records)
        self._number: dict[int, int] = {}
        self._text: dict[int, str] = {-1: ""}
        self._word = cache(lambda record: information_key((graph.records[record],)))

    def key(self, number: int) -> str:
        """Return the readable key of a state: its parent's key and one more word."""
        path = []
        while number not in self._text:
            path.append(number)
            number = self.parent[number]
        text = self._text[number]
        for state in reversed(path):
            if self.record[state] != NO_RECORD:
                text = f"{text} {self._word(self.record[state])}".lstrip()
            self._text[state] = text
        return text or NOTHING_YET

    def characters(self) -> int:
        """Return the total length in characters of all states' keys, which grows as the square of a game's depth."""
        lengths: list[int] = []
        for above, record in zip(self.parent, self.record, strict=True):
            before = lengths[above] if above >= 0 else 0
            lengths.append(before if record == NO_RECORD else before + 1 + len(self._word(record)))
        return sum(lengths)

    def extend(self, keys: list[int]) -> list[int]:
        """Return the state for each key ``parent << 32 | record``, creating those that are new."""
        number, size = self._number, len(self.parent)
        found = [number.get(key, -1) for key in keys]
        for k, key in enumerate(keys):
            if found[k] < 0:
                number[key] = found[k] = size
                size += 1
                self.parent.append(key >> RECORD_BITS)
                self.record.append(key & LAST_RECORD)
        return found

    def after(self, state: int, record: int) -> int:
        """Return the state that follows ``state`` by one record, creating it where it is new."""
        return self.extend([state << RECORD_BITS | record])[0]

    def path(self, state: int) -> tuple[int, list[int]]:
        """Return the player whose state it is and the records that lead to it, without its view of the start."""
        return path_to(self.parent, self.record, state)

    def find(self, state: int, record: int) -> int:
        """Return the state that follows ``state`` by one record, or -1 where that record was never met there."""
        return self._number.get(state << RECORD_BITS | record, -1)

    def successors(self, infostate: LongArray, records: IntArray) -> LongArray:
        """Return the players' information states (K, n) after they observe records (K, n), NO_RECORD for none."""
        infostate = infostate.copy()
        for p in range(infostate.shape[1]):
            grows = np.flatnonzero(records[:, p] != NO_RECORD)
            keys = infostate[grows, p] << RECORD_BITS | records[grows, p]
            unique, inverse = np.unique(keys, return_inverse=True)
            infostate[grows, p] = np.array(self.extend(unique.tolist()), dtype=np.int64)[inverse]
        return infostate

    def replace_by_successors(self, infostate: list[list[int]], records: list[list[int]]) -> None:
        """Do the work of ``successors`` for a few nodes, in place of ``infostate``."""
        for p in range(len(infostate[0]) if infostate else 0):
            keys = {k: infostate[k][p] << RECORD_BITS | row[p] for k, row in enumerate(records) if row[p] != NO_RECORD}
            unique = sorted(set(keys.values()))
            number = dict(zip(unique, self.extend(unique), strict=True))
            for k, key in keys.items():
                infostate[k][p] = number[key]

    def state(self, number: int) -> InformationState:
        """Return the records of a state in order."""
        player, path = self.path(number)
        return tuple([self.records[record] for record in (self.record[player], *path) if record != NO_RECORD])


class _Unroller:
    """The unrolling of a graph by levels: wide ones with NumPy, narrow ones, which may be many, node by node."""

    def __init__(self, graph: GameGraph, histories: int, progress: Callable[[int], object] | None) -> None:
        self.graph, self.progress = graph, progress
        self.n = len(graph.players)
        self.states = InformationStates(graph)
        self.parent = np.full(histories, NO_PARENT, dtype=np.int32)
        self.position = np.zeros(histories, dtype=np.int32)
        self.state = np.full(histories, NO_INFOSET, dtype=np.int32)  # the mover's information state, at decisions only

    def run(self) -> GameTree:
        graph = self.graph
        levels, begin, end, report = [0], 0, 1, 0
        informed: LongArray | list[list[int]] = [list(range(self.n))]
        while begin < end:
            if end - begin < NARROW:
                below, informed = self._grow_narrow(
                    begin, end, informed if isinstance(informed, list) else informed.tolist()
                )
            else:
                below, informed = self._grow_wide(begin, end, np.asarray(informed, dtype=np.int64))
            begin, end = end, below
            levels.append(begin)
            if end >= report:
                report = end + HISTORIES_A_REPORT
                status.detail(f"building the tree: {end:,} of {len(self.position):,} histories")
                if self.progress:
                    self.progress(end)
        first_child = np.ones(len(self.position) + 1, dtype=np.int32)
        first_child[1:] += np.cumsum(graph.num_edges[self.position], dtype=np.int32)
        infoset, first = self._infosets()
        tree = GameTree(
            graph, self.parent, first_child, self.position, infoset, np.array(levels, dtype=np.int32),
            graph.player[self.position[first]].astype(np.int32), first, self.state[first], self.states,
        )  # fmt: skip
        _check_action_sets(tree)
        return tree

    def _grow_wide(self, begin: int, end: int, informed: LongArray) -> tuple[int, LongArray]:
        """Append the children of nodes ``begin`` to ``end``; return the new end and the players' states there."""
        graph, above = self.graph, self.position[begin:end]
        mover = graph.player[above]
        deciding = np.flatnonzero(mover >= 0)
        self.state[begin + deciding] = informed[deciding, mover[deciding]]
        edges, source = spread(graph, above.astype(np.int64))
        total = len(edges)
        below = graph.child[edges]
        self.parent[end : end + total] = source + begin
        self.position[end : end + total] = below
        informed, records = informed[source], graph.record[edges]
        alive = graph.player[below] != TERMINAL
        return end + total, self.states.successors(informed, np.where(alive[:, None], records, NO_RECORD))

    def _grow_narrow(self, begin: int, end: int, informed: list[list[int]]) -> tuple[int, list[list[int]]]:
        """Do the same as ``_grow_wide``, node by node."""
        graph, place, silent = self.graph, end, [NO_RECORD] * self.n
        infostate: list[list[int]] = []
        records: list[list[int]] = []
        for node, knows in enumerate(informed, start=begin):
            position = self.position.item(node)
            mover = graph.player.item(position)
            if mover >= 0:
                self.state[node] = knows[mover]
            for edge in range(graph.first_edge.item(position), graph.first_edge.item(position + 1)):
                below = graph.child.item(edge)
                self.parent[place], self.position[place] = node, below
                infostate.append(knows.copy())
                records.append(silent if graph.player.item(below) == TERMINAL else graph.record[edge].tolist())
                place += 1
        self.states.replace_by_successors(infostate, records)
        return place, infostate

    def _infosets(self) -> tuple[IntArray, IntArray]:
        """Return the information set of every node, numbered by first appearance, and the first node of each set."""
        nodes = np.flatnonzero(self.state != NO_INFOSET)
        keys = self.graph.label[self.position[nodes]] if self.graph.map_name else self.state[nodes]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)
        number = np.empty(len(first), dtype=np.int32)
        number[order] = np.arange(len(first))
        infoset = np.full(len(self.position), NO_INFOSET, dtype=np.int32)
        infoset[nodes] = number[inverse]
        return infoset, nodes[first[order]].astype(np.int32)


def _check_action_sets(tree: GameTree) -> None:
    """Raise ``GameRuleError``, naming two histories, where one information set has two different action sets."""
    nodes = np.flatnonzero(tree.infoset != NO_INFOSET)
    first = tree.infoset_node[tree.infoset[nodes]]
    action_set = tree.graph.content[tree.position]
    wrong = np.flatnonzero(action_set[nodes] != action_set[first])
    if len(wrong):
        one, two = int(first[wrong[0]]), int(nodes[wrong[0]])
        raise GameRuleError(
            f"{tree.name}: player {tree.player(one)} cannot distinguish the histories {tree.history(one)} and "
            f"{tree.history(two)} but has other moves there"
        )


__all__ = ["CHANCE", "NO_INFOSET", "NO_PARENT", "ROOT", "TERMINAL", "GameTree", "InformationStates"]
