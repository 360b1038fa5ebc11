"""The vector form of any two-player game whose information sets are pairs of a public and a private state.

``TableForm`` walks the paths of ``FactoredRules`` as a tree: what both players see of an event leads from node to node,
and what they do not leads to another board with other private states.  The ends pay tables of payoffs by the hands of
both players, times the probability of chance; ends whose tables differ by a factor share one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from infoset import status
from infoset.base import Action, FloatArray, InformationState, IntArray, LongArray
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.memory import check_room
from infoset.tree.factored_rules import FactoredRules
from infoset.tree.factored_walk import known_at, known_first
from infoset.tree.graph import EVERYBODY, NO_RECORD, TERMINAL, topological
from infoset.tree.payoff_scale import constant_sum_of
from infoset.tree.public_form import (
    BYTES_A_ROW,
    Place,
    PublicForm,
    begins_of,
    board_arrays,
    joined,
    node_arrays,
    table_arrays,
)
from infoset.tree.public_tree import PLAYERS, Node, Street
from infoset.tree.rule_arrays import NOTHING, ways_to
from infoset.tree.vector_walk import CHANCE_NODE, END_NODE, VectorArrays

BYTES_A_NODE = 2_000
"""The memory that a node and its lists take while they are made."""
MOST_HANDS = np.iinfo(np.uint16).max
DIGITS = 12
"""Tables that agree to so many digits are one."""


@dataclass(frozen=True, eq=False)
class TableForm(PublicForm):
    """A public tree of a game whose ends pay tables.

    >>> from infoset.compiled import Compiled
    >>> form = Compiled.of("leduc_poker").vector
    >>> form.num_boards, form.num_rows, form.num_infosets
    (7, 2184, 936)
    """

    rules: FactoredRules = field(repr=False)
    parent: IntArray = field(repr=False)
    """(states,) the information state before each; player p begins in state p."""
    record: IntArray = field(repr=False)
    """(states,) the last record of each information state."""
    acting: list[list[IntArray]] = field(repr=False)
    """For each board and each of its nodes the mover's information states."""

    @classmethod
    def of(cls, rules: FactoredRules) -> TableForm:
        """Build the form.

        Raises ``UnsupportedGameError`` where information sets are not pairs of a public and a private state, and
        ``BudgetError`` where the rows do not fit.
        """
        _check_room(rules)
        with status.during("building the public tree"):
            walk = _Walk(rules)
            walk.run()
            arrays = walk.arrays()
        parent, record = (np.concatenate(column).astype(np.int32) for column in (walk.parent, walk.record))
        return cls(rules.name, rules.players, walk.streets, arrays, rules, parent, record, walk.acting)

    @property
    def together(self) -> float:
        return 1.0

    @cached_property
    def first_reach(self) -> FloatArray:
        return np.ones(int(self.arrays.hands[:, 0].sum()))

    @cached_property
    def num_histories(self) -> float:
        return self.rules.sizes.histories

    @cached_property
    def payoff_range(self) -> float:
        return float(self.rules.payoffs.max() - self.rules.payoffs.min())

    @cached_property
    def constant_sum(self) -> float | None:
        return constant_sum_of(self.rules.payoffs)

    @cached_property
    def _following(self) -> dict[tuple[int, int], int]:
        """By an information state and the number of a record: the information state that follows."""
        return {key: k for k, key in enumerate(zip(self.parent.tolist(), self.record.tolist(), strict=True))}

    @cached_property
    def _record_numbers(self) -> dict[Any, int]:
        return {record: number for number, record in enumerate(self.rules.records)}

    @cached_property
    def _places(self) -> dict[int, Place]:
        """By information state where its player acts."""
        found = dict[int, Place]()
        for _, states, places in self._decisions():
            found.update(zip(states, places, strict=True))
        return found

    def _decisions(self) -> Iterator[tuple[tuple[Action, ...], list[int], list[Place]]]:
        """Yield for each node its actions, the mover's information states and their places."""
        for board, (street, acting) in enumerate(zip(self.streets, self.acting, strict=True)):
            decisions = [node for node in street.nodes if node.mover >= 0]
            for node, own in zip(decisions, acting, strict=True):
                states, count = own.tolist(), len(node.children)
                begin = int(self.arrays.first_row[node.mover, board]) + node.row * len(states)
                actions = tuple(street.nodes[child].action for child in node.children)
                yield actions, states, [Place(board, node, k, begin + k, len(own), count) for k in range(len(own))]

    def find(self, player: int, infostate: InformationState) -> Place | None:
        start = known_first(self.rules)[player]
        if tuple(infostate[: len(start)]) != start:
            return None
        state: int | None = player
        for record in infostate[len(start) :]:
            number = self._record_numbers.get(record)
            state = None if number is None else self._following.get((state, number))  # type: ignore[arg-type]
            if state is None:
                return None
        return self._places.get(state)  # type: ignore[arg-type]

    def infostates(self) -> Iterator[tuple[int, InformationState, tuple[Action, ...], Place]]:
        start, parent, record = known_first(self.rules), self.parent.tolist(), self.record.tolist()
        for actions, states, places in self._decisions():
            for state, place in zip(states, places, strict=True):
                infostate = known_at(start, self.rules.records, parent, record, state)
                yield place.node.mover, infostate, actions, place


def _check_room(rules: FactoredRules) -> None:
    """Raise ``UnsupportedGameError`` for other than two players, ``BudgetError`` where the rows do not fit."""
    r = rules.arrays
    if len(rules.players) != PLAYERS:
        raise UnsupportedGameError(f"{rules.name} has {len(rules.players)} players; the vector form is for two")
    own_states = np.zeros(len(r.action_set))
    own_states[list(rules.start_cells)] = 1
    for core in topological(r.event_first, r.event_core)[0].tolist():
        if r.mover[core] != TERMINAL:
            begin = int(rules.first_cell[core, 0])
            cells = np.arange(begin, begin + int(r.cells[core].sum()))
            events = int(r.event_first[core + 1] - r.event_first[core]) + 1
            first, last = r.edge_first[r.slot[cells]], r.edge_first[r.slot[cells] + events]
            np.add.at(own_states, r.edge_cell[first[0] : last[-1]], np.repeat(own_states[cells], last - first))
    sizes = np.array([len(action_set) for action_set in rules.action_sets] or [0])
    rows = float((own_states * np.where(r.action_set == NOTHING, 0, sizes[r.action_set])).sum())
    nodes = float(ways_to(rules.name, r).sum())
    check_room(
        f"{rules.name} has up to {nodes:,.0f} public states and {rows:,.0f} probabilities; its vector form takes about",
        nodes * BYTES_A_NODE + rows * BYTES_A_ROW * 2,
    )


class _StatesHere(NamedTuple):
    """A player's hands at a node."""

    cells: LongArray
    """The place of each hand's cell among those of the core; several hands may have the same."""
    states: LongArray
    """The information state of each hand."""
    chance: FloatArray
    """The probability of chance outcomes that only this player's hand tells apart."""


class _Edges(NamedTuple):
    """The edges of a player's hands in an event."""

    hand: LongArray
    """The hand that each edge leaves."""
    cell: LongArray
    """The place of the cell that it leads to."""
    action: LongArray
    record: LongArray
    chance: FloatArray


class _Branch(NamedTuple):
    """A public state: its core and both players' hands."""

    core: int
    chance: float
    """The probability of the chance outcomes on the path that nobody's hand tells apart."""
    hands: tuple[_StatesHere, _StatesHere]
    up: tuple[LongArray, LongArray]
    """For each player the hand before that each hand comes from."""
    pays: tuple[int, float] | None = None
    """The table that is paid here, and the factor of its payoffs."""


class _Point(NamedTuple):
    """What a node of the public tree is: a decision at ``here``, an end that a table pays, or a chance node."""

    here: _Branch | None = None
    pays: tuple[int, float] | None = None
    branches: tuple[_Branch, ...] = ()
    """What may follow a chance node."""


class _Step(NamedTuple):
    """A node to be added: what follows an action (its place in the action set) at ``source``, or ``source`` itself."""

    source: _Branch
    action: int | None
    slots: tuple[int, int]
    above: int = -1
    name: Action = ""


class _Board(NamedTuple):
    """A board to be walked."""

    above: int
    after: int
    depth: int
    up: tuple[LongArray, LongArray]
    roots: tuple[_Branch, ...]


class _Walk:
    """The walk over the paths of cores, board by board, depth first."""

    def __init__(self, rules: FactoredRules) -> None:
        self.rules, self.r = rules, rules.arrays
        self.streets: list[Street] = []
        self.boards: list[_Board] = []
        self.acting: list[list[IntArray]] = []
        self.parent, self.record = [np.full(PLAYERS, NOTHING)], [np.full(PLAYERS, NO_RECORD)]
        self.num_states = PLAYERS
        self.tables: list[tuple[FloatArray, FloatArray]] = []
        self.numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
        self.made: dict[Any, tuple[int, float]] = {}
        self.moves: dict[tuple[int, int], frozenset[int]] = {}
        self.followed: dict[tuple[int, int, bytes], _Edges] = {}
        self.size = 0

    def run(self) -> None:
        """Walk all boards.  Raises ``UnsupportedGameError`` where the game does not fit."""
        r = self.r
        for core in np.flatnonzero(r.mover != TERMINAL).tolist():
            self._check(core)
        start = np.array(self.rules.start_cells)
        core = int(np.searchsorted(self.rules.first_cell[:, 0], start[0], "right")) - 1
        cells = start - self.rules.first_cell[core]
        hands = [_StatesHere(cells[p : p + 1], np.array([p]), np.ones(1)) for p in range(PLAYERS)]
        branch = _Branch(core, 1.0, (hands[0], hands[1]), (np.zeros(1, np.int64),) * 2)
        while (following := self._deal(branch)) is not None:
            branch = following
        todo = [_Board(-1, 0, 0, branch.up, (branch,))]
        while todo:
            todo += self._walk(todo.pop())[::-1]

    def _deal(self, branch: _Branch) -> _Branch | None:
        """Return what follows chance where there is one event only; ``None`` elsewhere."""
        r = self.r
        first, end = r.event_first[branch.core : branch.core + 2].tolist()
        if r.mover[branch.core] >= 0 or end - first != 1 or r.mover[r.event_core[first]] == TERMINAL:
            return None
        following = self._follow(branch, first)
        hands = [_merge_hands(own_states) for own_states in following.hands]
        up = [np.zeros(len(own_states.cells), np.int64) for own_states in hands]  # the first board has none before
        return following._replace(hands=(hands[0], hands[1]), up=(up[0], up[1]))

    def _check(self, core: int) -> None:
        """Raise ``UnsupportedGameError`` where a core has moves that the form does not have."""
        r, name = self.r, self.rules.name
        events = range(int(r.event_first[core]), int(r.event_first[core + 1]))
        if r.mover[core] == EVERYBODY:
            raise UnsupportedGameError(f"{name} has no vector form: both players move at once")
        going = [k for k, event in enumerate(events) if r.mover[r.event_core[event]] != TERMINAL]
        for player in range(PLAYERS):
            begin, count = int(self.rules.first_cell[core, player]), int(r.cells[core, player])
            for cell in range(begin, begin + count):
                slot = int(r.slot[cell])
                if r.edge_first[slot + 1] > r.edge_first[slot]:
                    raise UnsupportedGameError(f"{name} has no vector form: some moves are seen by nobody else")
                edges = [
                    (k, record)
                    for k in going
                    for record in r.edge_record[r.edge_first[slot + 1 + k] : r.edge_first[slot + 2 + k]].tolist()
                ]
                seen = {record for _, record in edges}
                if len(going) > 1 and (NO_RECORD in seen or len(seen) < len(set(edges))):
                    self._refuse(player)
        if r.mover[core] >= 0:
            if any(len(self._taken(core, events[k])) > 1 for k in going):
                raise UnsupportedGameError(f"{name} has no vector form: some actions are seen by their player alone")
            begin, count = int(self.rules.first_cell[core, r.mover[core]]), int(r.cells[core, r.mover[core]])
            if len(np.unique(r.action_set[begin : begin + count])) > 1:
                raise UnsupportedGameError(
                    f"{name} has no vector form: which actions {self.rules.players[r.mover[core]]} has depends on its "
                    "private state"
                )

    def _refuse(self, player: int) -> None:
        name = self.rules.players[player]
        raise UnsupportedGameError(f"{self.rules.name} has no vector form: {name} cannot tell public states apart")

    def _edges(self, event: int, core: int, player: int, cells: LongArray) -> _Edges:
        """Return the edges of hands with these cells in an event of a core."""
        key = event, player, cells.tobytes()
        if key not in self.followed:
            r = self.r
            slot = r.slot[int(self.rules.first_cell[core, player]) + cells] + (event - int(r.event_first[core]) + 1)
            first, count = r.edge_first[slot], r.edge_first[slot + 1] - r.edge_first[slot]
            hand = np.repeat(np.arange(len(cells)), count)
            edge = np.arange(len(hand)) + np.repeat(first - np.cumsum(count) + count, count)
            self.followed[key] = _Edges(
                hand, r.place[r.edge_cell[edge]].astype(np.int64), r.edge_action[edge].astype(np.int64),
                r.edge_record[edge].astype(np.int64), r.edge_chance[edge],
            )  # fmt: skip
        return self.followed[key]

    def _taken(self, core: int, event: int) -> frozenset[int]:
        """Return the actions of the mover that lead to an event."""
        key = core, event
        if key not in self.moves:
            mover = int(self.r.mover[core])
            edges = self._edges(event, core, mover, np.arange(int(self.r.cells[core, mover])))
            self.moves[key] = frozenset(edges.action.tolist())
        return self.moves[key]

    def _actions(self, here: _Branch) -> tuple[Action, ...]:
        """Return the actions of the mover; none for chance."""
        mover = int(self.r.mover[here.core])
        if mover < 0:
            return ()
        cell = int(self.rules.first_cell[here.core, mover]) + int(here.hands[mover].cells[0])
        return self.rules.action_sets[int(self.r.action_set[cell])]

    def _follow(self, here: _Branch, event: int) -> _Branch:
        """Return the public state after an event that does not end the game, with all hands that may occur there."""
        r, hands, ups = self.r, list[_StatesHere](), list[LongArray]()
        for player, own_states in enumerate(here.hands):
            edges = self._edges(event, here.core, player, own_states.cells)
            states, seen = own_states.states[edges.hand], edges.record != NO_RECORD
            if seen.any():
                if not seen.all() and len(np.intersect1d(states[seen], states[~seen])):
                    self._refuse(player)
                parent, record = states[seen], edges.record[seen]
                fresh = np.arange(len(parent))
                if len(np.unique(own_states.states)) < len(
                    own_states.states
                ):  # hands that their player cannot tell apart so far
                    (parent, record), fresh = np.unique((parent, record), axis=1, return_inverse=True)
                self.parent.append(parent)
                self.record.append(record)
                states[seen] = self.num_states + fresh.ravel()
                self.num_states += len(parent)
            if len(states) > MOST_HANDS:
                raise BudgetError(f"{self.rules.name}: a public state has more than {MOST_HANDS:,} private ones")
            hands.append(_StatesHere(edges.cell, states, own_states.chance[edges.hand] * edges.chance))
            ups.append(edges.hand)
        chance = here.chance * float(r.event_chance[event])
        return _Branch(int(r.event_core[event]), chance, (hands[0], hands[1]), (ups[0], ups[1]))

    def _play(self, here: _Branch, action: int | None) -> _Point:
        """Return what follows an action of the mover, or chance for ``None``."""
        r, ends, going = self.r, list[int](), list[int]()
        for event in range(int(r.event_first[here.core]), int(r.event_first[here.core + 1])):
            if action is None or action in self._taken(here.core, event):
                (ends if r.mover[r.event_core[event]] == TERMINAL else going).append(event)
        branches = [branch for branch in (self._follow(here, event) for event in going) if all(map(len, branch.up))]
        if not branches:
            return _Point(pays=self._table(here, action, ends))
        unchanged = tuple(np.arange(len(own_states.cells)) for own_states in here.hands)
        if ends:
            branches.append(here._replace(up=(unchanged[0], unchanged[1]), pays=self._table(here, action, ends)))
        elif len(branches) == 1 and all(map(np.array_equal, branches[0].up, unchanged)):
            return _Point(here=branches[0])
        return _Point(branches=tuple(branches))

    def _reach(self, here: _Branch) -> _Point:
        """Return the first decision, end or chance node from a public state on."""
        point = _Point(here=here, pays=here.pays)
        while point.pays is None and point.here is not None and len(self._actions(point.here)) < 2:
            point = self._play(point.here, 0 if self._actions(point.here) else None)
        return point

    def _table(self, here: _Branch, action: int | None, events: list[int]) -> tuple[int, float]:
        """Return the number of the table that the ends after an action pay, and the factor of its payoffs."""
        key = (
            here.core,
            action,
            *[part.tobytes() for own_states in here.hands for part in (own_states.cells, own_states.chance)],
        )
        if key not in self.made:
            self.made[key] = self._number(self._payoffs(here, action, events))
        number, factor = self.made[key]
        return number, factor * here.chance

    def _payoffs(self, here: _Branch, action: int | None, events: list[int]) -> FloatArray:
        """Return (2, hands, hands) the payoffs of both players, times the chance of their hands."""
        r, mover = self.r, int(self.r.mover[here.core])
        paid = np.zeros((PLAYERS, *[len(own_states.cells) for own_states in here.hands]))
        for event in events:
            end = int(r.event_core[event])
            terms = slice(int(r.term_first[end]), int(r.term_first[end + 1]))
            whole, lists = np.zeros((PLAYERS, *r.cells[end])), list[FloatArray]()
            for player, own_states in enumerate(here.hands):
                edges = self._edges(event, here.core, player, own_states.cells)
                own = (edges.action == action) if player == mover else np.ones(len(edges.hand), np.bool_)
                lists.append(np.zeros((len(own_states.cells), int(r.cells[end, player]))))
                chance = edges.chance * own_states.chance[edges.hand]
                np.add.at(lists[player], (edges.hand[own], edges.cell[own]), chance[own])
            for player in range(PLAYERS):
                np.add.at(whole[player], tuple(r.term_place[terms].T), r.term_paid[terms, player])
                paid[player] += float(r.event_chance[event]) * (lists[0] @ whole[player] @ lists[1].T)
        return paid

    def _number(self, paid: FloatArray) -> tuple[int, float]:
        """Return the number of a table (2, hands, hands) up to a factor, and the factor."""
        flat = paid.ravel()
        factor = float(flat[np.argmax(abs(flat))])
        scaled = paid / factor if factor else paid
        key = paid.shape, (np.round(scaled, DIGITS) + 0.0).tobytes()  # which makes -0.0 to 0.0
        if key not in self.numbers:
            self.size += scaled.nbytes
            check_room(f"{self.rules.name}: the tables of payoffs in vector form take more than", self.size)
            self.numbers[key] = len(self.tables)
            self.tables.append((scaled[0].copy(), scaled[1].T.copy()))
        return self.numbers[key], factor

    def _walk(self, board: _Board) -> list[_Board]:
        """Add a board and its nodes; return the boards below."""
        number, street, acting = len(self.boards), Street(), list[IntArray]()
        self.boards.append(board)
        self.streets.append(street)
        self.acting.append(acting)
        street.slots = [len(board.roots)] * 2
        for root in board.roots:
            for player, own_states in enumerate(root.hands):
                if len(np.unique(own_states.states)) < len(own_states.states):
                    self._refuse(player)
        children: list[list[int]] = []
        leaves: dict[tuple[bytes, ...], list[tuple[int, tuple[_Branch, ...]]]] = {}
        todo = [_Step(root, None, (k, k)) for k, root in enumerate(board.roots)][::-1]
        while todo:
            step, at = todo.pop(), len(street.nodes)
            point = _Point(here=step.source) if step.action is None else self._play(step.source, step.action)
            if point.here is not None:
                point = self._reach(point.here)
            (street.roots if step.above < 0 else children[step.above]).append(at)
            children.append([])
            core = step.source.core if point.here is None else point.here.core
            node = Node(at, core, CHANCE_NODE, slots=step.slots, above=step.above, action=step.name)
            if point.pays is not None:
                node = node._replace(mover=END_NODE)
                street.paid.append((at, *point.pays))
            elif point.here is None:
                signature = tuple(up.tobytes() for branch in point.branches for up in branch.up)
                leaves.setdefault(signature, []).append((at, point.branches))
            else:
                mover, actions = int(self.r.mover[core]), self._actions(point.here)
                node = node._replace(mover=mover, row=street.rows[mover], next_slot=street.slots[mover])
                street.rows[mover] += len(actions)
                street.slots[mover] += len(actions)
                acting.append(point.here.hands[mover].states.astype(np.int32))
                for k in reversed(range(len(actions))):
                    after = [node.next_slot + k if p == mover else step.slots[p] for p in range(PLAYERS)]
                    todo.append(_Step(point.here, k, (after[0], after[1]), at, actions[k]))
            street.nodes.append(node)
        street.nodes = [node._replace(children=tuple(own)) for node, own in zip(street.nodes, children, strict=True)]
        below = list[_Board]()
        for alike in leaves.values():  # those that the same events follow lead to the same boards
            after_leaf = len(street.leaves)
            street.leaves += [leaf for leaf, _ in alike]
            following = zip(*[branches for _, branches in alike], strict=True)
            below += [_Board(number, after_leaf, board.depth + 1, roots[0].up, roots) for roots in following]
        return below

    def arrays(self) -> VectorArrays:
        """Return the arrays of all boards."""
        boards, kind = self.boards, np.arange(len(self.boards), dtype=np.int32)
        hands = np.array([[len(board.up[p]) for board in boards] for p in range(PLAYERS)], np.int32)
        first_hand = np.zeros(hands.shape, np.int64)
        first_hand[1] = hands[0, 0]  # needed for the first board alone
        return VectorArrays(
            **board_arrays(
                self.streets, kind, np.array([board.depth for board in boards], np.int32),
                [board.above for board in boards], hands,
            ),
            **node_arrays(self.streets), **table_arrays(self.streets, self.tables),
            first_hand=first_hand, first_up=begins_of(hands.astype(np.int64)),
            after=np.array([board.after for board in boards], np.int32), copies=np.ones(len(boards), np.int32),
            first_matrix=np.full(len(boards), -1, np.int64),
            cards=np.zeros((0, 2), np.uint8), strength=np.zeros(0, np.int16), same=np.zeros(0, np.int16),
            up=joined([board.up[p] for p in range(PLAYERS) for board in boards], np.uint16),
            matrix=np.zeros(0, np.int16),
        )  # fmt: skip


def _merge_hands(own_states: _StatesHere) -> _StatesHere:
    """Return one hand for those with the same information state and the same future, of their total probability."""
    (states, cells), number = np.unique((own_states.states, own_states.cells), axis=1, return_inverse=True)
    return _StatesHere(cells, states, np.bincount(number.ravel(), own_states.chance).astype(np.float64))
