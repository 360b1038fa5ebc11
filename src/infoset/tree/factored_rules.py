"""The rules of a factored game as arrays: its cores, each player's private states there, and the effects of moves.

A *cell* is a core together with one player's private state there.  A move is an *excursion* where it changes only its
mover's private state; every other move, and every chance outcome, belongs to an *event* that leads from core to core
and takes each player's cell along.  The product of a core's cells is never formed: the rules are asked about each cell
of one player combined with one cell of each other player.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from infoset.base import (
    Action,
    FloatArray,
    IntArray,
    LongArray,
    ObservationRecord,
    Observed,
    State,
    own_record,
)
from infoset.errors import BudgetError, GameRuleError, UnsupportedGameError, shorten
from infoset.tree.factored_sizes import Sizes, count_sizes
from infoset.tree.factored_symmetry import find_symmetry
from infoset.tree.graph import CHANCE, NO_RECORD, TERMINAL, Interner
from infoset.tree.rule_arrays import NOTHING, AnyCore, Decided, Ended, RuleArrays, Side, Terms, rule_arrays, ways_to
from infoset.tree.symmetry import Group

MOST_CELLS = 1_000_000
CORES_A_REPORT = 200

Own: TypeAlias = Hashable


@dataclass(frozen=True, eq=False)
class FactoredRules:
    """``arrays``, and the action sets and records that their numbers refer to.

    >>> from infoset.tree.factoring import factor_game
    >>> rules = factor_game(infoset.load("dark_hex(rows=2,columns=2)"))
    >>> len(rules.arrays.mover), len(rules.arrays.action_set)             # cores with their ends, cells
    (34, 130)
    """

    name: str
    players: tuple[str, ...]
    arrays: RuleArrays = field(repr=False)
    action_sets: list[tuple[Action, ...]] = field(repr=False)
    records: list[ObservationRecord] = field(repr=False)
    start_records: tuple[int, ...] = field(repr=False)
    start_cells: tuple[int, ...] = field(repr=False)
    payoffs: FloatArray = field(repr=False)
    """(k, n) the possible payoffs of the ends."""
    within: dict[int, LongArray] = field(default_factory=dict, repr=False)
    """For cores in which all players move: for each joint cell (cells of the first player, …, 2) the number of
    histories between it and the next cores, and the number of ends.
    """
    counted: tuple[float, float] | None = None
    """The number of histories, and of the ends among them, where these are known otherwise."""

    @property
    def dealt(self) -> bool:
        """Whether there are chance moves."""
        return bool((self.arrays.mover == CHANCE).any())

    @property
    def weighted(self) -> bool:
        """Whether chance contributes to the weights of information states."""
        return bool((self.arrays.edge_chance != 1.0).any())

    @cached_property
    def first_cell(self) -> LongArray:
        """(C, n) where the cells of each player begin at each core."""
        sizes = self.arrays.cells.ravel()
        return (np.cumsum(sizes) - sizes).reshape(self.arrays.cells.shape)

    @cached_property
    def sizes(self) -> Sizes:
        """The sizes of the game, and of its form without symmetries; counted, not listed.

        >>> from infoset.tree.factoring import factor_game
        >>> factor_game(infoset.load("dark_hex(rows=2,columns=2)")).sizes
        Sizes(histories=441.0, ends=216.0, entries=152.0)
        """
        return count_sizes(self)

    @cached_property
    def symmetry(self) -> tuple[Group, IntArray]:
        """The group of the game's symmetries, and the images of the events under it, (G, V)."""
        return find_symmetry(self)


class _End(NamedTuple):
    """The core of all ends at which the payoffs do not depend on private states."""

    paid: tuple[float, ...]


class _Result(NamedTuple):
    """The effect of a move: the next core, and each player's new private state and record."""

    core: Any  # None at an end whose payoffs depend on private states
    own: tuple[Own, ...]
    records: tuple[int, ...]
    paid: tuple[float, ...] | None


class Edge(NamedTuple):
    """One move of a player from a private state, within an event."""

    cell: Own
    action: int
    record: int
    chance: float


@dataclass
class Event:
    """A step from one core to another."""

    core: Any
    chance: float
    edges: list[dict[Own, list[Edge]]]  # per player, by private state


@dataclass
class Core:
    """The data of a core: its private states, and its events once it was examined."""

    own: list[dict[Any, int]]
    number: int = -1
    mover: int = TERMINAL
    action_sets: dict[Own, tuple[Action, ...]] = field(default_factory=dict)
    excursions: dict[Own, list[Edge]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    terms: Terms | None = None
    """The payoffs of an end, else ``None``."""


class CollectedRules:
    """The rules of a game, collected by asking from the start on."""

    def __init__(self, game: Any, progress: Callable[[int], object] | None) -> None:
        self.game, self.progress, self.n = game, progress, len(game.players)
        self.action_sets: Interner[tuple[Action, ...]] = Interner()
        self.records: Interner[ObservationRecord] = Interner()
        self.cores: dict[Hashable, Core] = {}
        self.todo: deque[Hashable] = deque()
        self.count = 0
        self.silent = (NO_RECORD,) * self.n
        self.payoffs: set[tuple[float, ...]] = set()

    def rules(self) -> FactoredRules:
        first = self.game.start()
        if first.state.terminal:
            raise UnsupportedGameError(f"{self.game.name} is over at its start")
        core, own = self._begin(first.state)
        collecting = gc.isenabled()
        gc.disable()  # which would scan a million new objects again and again
        try:
            looked = 0
            while self.todo:
                found = self.todo.popleft()
                self._look(found, self.cores[found])
                looked += 1
                if self.progress is not None and looked % CORES_A_REPORT == 0:
                    self.progress(self.count)
        finally:
            if collecting:
                gc.enable()
        seen = [self._record(None, first.observation(p)) for p in range(self.n)]
        return _rules(self, self.cores[core], own, tuple(seen))

    def _begin(self, state: State) -> tuple[Hashable, tuple[Own, ...]]:
        """Return the first core and the players' private states there."""
        core, own = self.game.split(state)
        self._arrive(core, own)
        return core, own

    def _record(self, action: Action | None, observation: Any) -> int:
        record = own_record(action, observation)
        return NO_RECORD if record is None else self.records(record)

    def _arrive(self, core: Hashable, own: Sequence[Own]) -> None:
        """Record that the players reach a core with these private states; a core with new ones is examined (again)."""
        if core not in self.cores:
            terms = self._one_term(core.paid) if isinstance(core, _End) else None
            self.cores[core] = Core([{} for _ in range(self.n)], terms=terms)
        known = self.cores[core].own
        fresh = [p for p in range(self.n) if own[p] not in known[p]]
        for p in fresh:
            known[p][own[p]] = len(known[p])
        self.count += len(fresh)
        if self.count > MOST_CELLS:
            raise BudgetError(
                f"{self.game.name}: more than {MOST_CELLS:,} cells; it is too large for the factored form"
            )
        if fresh and not isinstance(core, _End) and (not self.todo or self.todo[-1] != core):
            self.todo.append(core)

    def _look(self, core: Hashable, at: Core) -> None:
        """Examine all moves of a core, for all private states of its players."""
        one = [next(iter(own)) for own in at.own]
        state = self.game.join(core, tuple(one))
        movers = [p for p in range(self.n) if state.legal_actions(p)]
        if len(movers) > 1:
            raise UnsupportedGameError(f"{self.game.name}: simultaneous moves are not supported by this factored form")
        at.events, at.excursions, at.action_sets = [], {}, {}
        if movers:
            at.mover = movers[0]
            self._actions(core, at, one)
        else:
            at.mover = CHANCE
            self._chance(core, at, one, state)

    def _beside(self, core: Hashable, at: Core, one: list[Own], player: int) -> Iterator[tuple[Own, State]]:
        """Yield a core's states for each private state of ``player``, including those found during the iteration."""
        own, k = list(at.own[player]), 0
        while k < len(own):
            yield own[k], self.game.join(core, (*one[:player], own[k], *one[player + 1 :]))
            k += 1
            if k == len(own):
                own = list(at.own[player])

    def _play(self, state: State, player: int, action: Action | None, answer: Action | None = None) -> _Result:
        actions: list[Action | None] = [None] * self.n
        if player >= 0:
            actions[player] = action
        step = getattr(state, "play_unchecked", state.play)(actions, answer)
        if step.state.terminal:
            paid = tuple(map(float, step.state.returns()))
            plain = self.game.split(step.state) is not None
            return _Result(_End(paid), ((),) * self.n, self.silent, None) if plain else _Result(None, (), (), paid)
        seen = step.observations if type(step) is Observed else tuple(map(step.observation, range(self.n)))
        records = self.silent
        for p in range(self.n):
            if p == player or seen[p] is not None:
                records = (*records[:p], self._record(actions[p], seen[p]), *records[p + 1 :])
        core, own = self.game.split(step.state)
        return _Result(core, own, records, None)

    def _actions(self, core: Hashable, at: Core, one: list[Own]) -> None:
        """Collect the mover's moves: excursions, events, ends."""
        mover, others = at.mover, [p for p in range(self.n) if p != at.mover]
        made: dict[Action, dict[Own, _Result]] = {}
        for own, state in self._beside(core, at, one, mover):
            at.action_sets[own] = action_set = state.legal_actions(mover)
            for k, action in enumerate(action_set):
                found = self._play(state, mover, action)
                if found.core == core and all(
                    found.own[p] == one[p] and found.records[p] == NO_RECORD for p in others
                ):  # fmt: skip
                    if found.own[mover] == own:
                        raise GameRuleError(f"{self.game.name}: {action!r} changes nothing at {shorten(repr(state))}")
                    if found.own[mover] not in at.own[mover]:
                        at.own[mover][found.own[mover]] = len(at.own[mover])
                        self.count += 1
                    edge = Edge(found.own[mover], k, found.records[mover], 1.0)
                    at.excursions.setdefault(own, []).append(edge)
                else:
                    made.setdefault(action, {})[own] = found
        for action, results in made.items():
            self._one_move(core, at, one, (action, results))

    def _one_term(self, paid: tuple[float, ...]) -> Terms:
        """Return the terms of an end whose payoffs do not depend on private states."""
        self.payoffs.add(paid)
        return Terms.of(np.array(paid).reshape(*[1] * self.n, self.n))

    def _one_move(self, core: Hashable, at: Core, one: list[Own], made: tuple[Action, dict[Own, _Result]]) -> None:
        """Collect the events of one move."""
        (action, results), mover = made, at.mover
        own = next(iter(results))
        beside: list[dict[Own, _Result]] = [{} for _ in range(self.n)]
        here = [*one[:mover], own, *one[mover + 1 :]]
        for p in range(self.n):
            if p != mover:
                beside[p] = {o: self._play(s, mover, action) for o, s in self._beside(core, at, here, p)}
        every = [*results.values(), *[found for player in beside for found in player.values()]]
        mixed = any(found.paid is not None for found in every)
        if mixed:
            self._end(core, at, made)
        for reached in dict.fromkeys([found.core for found in every if found.paid is None]):
            if not (mixed and isinstance(reached, _End)):
                self._event(core, at, here, made, beside, reached)

    def _end(self, core: Hashable, at: Core, made: tuple[Action, dict[Own, _Result]]) -> None:
        """Add the end to which a move leads where its payoffs depend on private states."""
        action, results = made
        rows = [list(results) if p == at.mover else list(at.own[p]) for p in range(self.n)]
        paid, kinds = self._paid(core, at, rows, action)
        end = Core([{k: k for k in range(paid.shape[p])} for p in range(self.n)], terms=Terms.of(paid))
        edges: list[dict[Own, list[Edge]]] = []
        for p in range(self.n):
            places = [at.action_sets[own].index(action) if p == at.mover else NOTHING for own in rows[p]]
            found = zip(rows[p], kinds[p], places, strict=True)
            edges.append({own: [Edge(kind, place, NO_RECORD, 1.0)] for own, kind, place in found})
        at.events.append(Event(end, 1.0, edges))

    def _paid(
        self, core: Hashable, at: Core, rows: list[list[Own]], action: Action
    ) -> tuple[FloatArray, list[list[int]]]:
        """Return the payoffs of a move for all private states, 0 where it does not end the game, and each one's class.

        Private states of a player with equal payoffs form one class.
        """
        paid, kinds = np.zeros((*map(len, rows), self.n)), []
        for index in product(*map(range, map(len, rows))):
            state = self.game.join(core, tuple([rows[p][k] for p, k in enumerate(index)]))
            found = self._play(state, at.mover, action)
            if found.paid is not None or isinstance(found.core, _End):
                paid[index] = found.paid or found.core.paid
        self.payoffs |= set(map(tuple, paid.reshape(-1, self.n).tolist()))
        for p in range(self.n):
            flat = np.moveaxis(paid, p, 0).reshape(paid.shape[p], -1)
            _, first, kind = np.unique(flat, axis=0, return_index=True, return_inverse=True)
            paid = np.take(paid, first, axis=p)
            kinds.append(kind.ravel().tolist())
        return paid, kinds

    def _event(
        self, core: Hashable, at: Core, here: list[Own], made: tuple[Action, dict[Own, _Result]],
        beside: list[dict[Own, _Result]], reached: Hashable,
    ) -> None:  # fmt: skip
        """Collect the effect of one move where it leads to the core ``reached``."""
        (action, results), mover = made, at.mover
        edges: list[dict[Own, list[Edge]]] = [{} for _ in range(self.n)]
        with_ = list(here)
        for p, found in enumerate(beside):
            for own, result in found.items():
                if result.core == reached:
                    edges[p][own] = [Edge(result.own[p], NOTHING, result.records[p], 1.0)]
                    if len(edges[p]) == 1:
                        with_[p] = own
        for own, beside_one in results.items():
            result = beside_one
            if result.core != reached:  # combined with private states of the others for which it leads there
                state = self.game.join(core, (*with_[:mover], own, *with_[mover + 1 :]))
                result = self._play(state, mover, action)
            if result.core == reached:
                place = at.action_sets[own].index(action)
                edges[mover][own] = [Edge(result.own[mover], place, result.records[mover], 1.0)]
        if not self._joins(at, reached, edges):
            self._lead(at, reached, 1.0, edges)

    def _joins(self, at: Core, reached: Hashable, edges: list[dict[Own, list[Edge]]]) -> bool:
        """Return whether the others cannot tell a move from an earlier one, adding it to that one's event if so."""
        for event in at.events:
            if event.core is self.cores.get(reached) and all(
                event.edges[p] == edges[p] for p in range(self.n) if p != at.mover
            ):  # fmt: skip
                self._arrive_by(reached, edges)
                for own, found in edges[at.mover].items():
                    event.edges[at.mover].setdefault(own, []).extend(found)
                return True
        return False

    def _lead(self, at: Core, reached: Hashable, chance: float, edges: list[dict[Own, list[Edge]]]) -> None:
        """Add an event, and the private states to which its edges lead."""
        if not all(edges):
            return
        self._arrive_by(reached, edges)
        at.events.append(Event(self.cores[reached], chance, edges))

    def _arrive_by(self, reached: Hashable, edges: list[dict[Own, list[Edge]]]) -> None:
        """Record that players reach the core ``reached`` with the private states to which edges lead."""
        if not all(edges):
            return
        first = [next(iter(e.values()))[0].cell for e in edges]
        for p in range(self.n):
            for found in edges[p].values():
                for edge in found:
                    self._arrive(reached, [*first[:p], edge.cell, *first[p + 1 :]])

    def _chance(self, core: Hashable, at: Core, one: list[Own], state: State) -> None:
        """Collect the chance outcomes, which must not depend on private states.

        Outcomes that only one player tells apart form one event.
        """
        answers = state.chance_outcomes((None,) * self.n)
        if not answers:
            raise GameRuleError(
                f"{self.game.name}: neither legal actions nor chance outcomes at non-terminal {shorten(repr(state))}"
            )
        beside = [list(self._beside(core, at, one, p)) for p in range(self.n)]
        for p, found in enumerate(beside):
            for _, other in found:
                if other.chance_outcomes((None,) * self.n) != answers:
                    raise UnsupportedGameError(
                        f"{self.game.name} does not factor: chance's answers at {shorten(repr(other), 60)} differ "
                        f"from those at {shorten(repr(state), 60)}, so they depend on the private state of "
                        f"{self.game.players[p]}"
                    )
        groups: dict[Hashable, list[tuple[float, list[dict[Own, Edge]]]]] = {}
        for answer, chance in answers:
            found_edges: list[dict[Own, Edge]] = []
            reached: Hashable = None
            for p, found in enumerate(beside):
                results = {own: self._play(other, CHANCE, None, answer) for own, other in found}
                if any(r.paid is not None or isinstance(r.core, _End) for r in results.values()):
                    raise UnsupportedGameError(
                        f"{self.game.name}: chance ends the game, which the factored form does not support"
                    )
                (reached,) = {result.core for result in results.values()}
                found_edges.append({o: Edge(r.own[p], NOTHING, r.records[p], 1.0) for o, r in results.items()})
            groups.setdefault(reached, []).append((chance, found_edges))
        for reached, group in groups.items():
            telling = [p for p in range(self.n) if any(edges[p] != group[0][1][p] for _, edges in group)]
            if len(telling) > 1:
                for chance, edges in group:
                    self._lead(at, reached, chance, [{own: [edge] for own, edge in each.items()} for each in edges])
                continue
            merged = [{own: [edge] for own, edge in each.items()} for each in group[0][1]]
            for p in telling:
                merged[p] = {own: [edges[p][own]._replace(chance=c) for c, edges in group] for own in at.own[p]}
            self._lead(at, reached, 1.0 if telling else sum(c for c, _ in group), merged)


def _rules(asked: CollectedRules, start: Core, own: Sequence[Own], start_records: tuple[int, ...]) -> FactoredRules:
    """Return everything that was found, with cores numbered and each core's cells ordered by player."""
    n, cores = asked.n, list(asked.cores.values())
    shared = set(map(id, cores))
    cores += [event.core for core in cores for event in core.events if id(event.core) not in shared]
    for number, core in enumerate(cores):
        core.number = number
    found: list[AnyCore] = []
    for core in cores:
        if core.terms is not None:
            found.append(Ended(tuple(map(len, core.own)), core.terms))
            continue
        reached = np.array([event.core.number for event in core.events], np.int64)
        chance = np.array([event.chance for event in core.events])
        found.append(
            Decided(core.mover, reached, chance, [_side(core, p, reached, asked.action_sets) for p in range(n)])
        )
    arrays = rule_arrays(found)
    _count_below(arrays)
    ways_to(asked.game.name, arrays)
    before = np.cumsum([0, *map(len, start.own)])[:-1] + sum(sum(map(len, core.own)) for core in cores[: start.number])
    cell = [int(before[p]) + start.own[p][own[p]] for p in range(n)]
    return FactoredRules(
        asked.game.name, asked.game.players, arrays, asked.action_sets.values(), asked.records.values(), start_records,
        tuple(cell), np.array(sorted(asked.payoffs)),
    )  # fmt: skip


def _side(core: Core, player: int, reached: LongArray, action_sets: Interner[tuple[Action, ...]]) -> Side:
    """Return a player's part of a core; excursions stay in the core."""
    known, actions = core.own[player], core.mover == player
    sources = [(-1, core, core.excursions)] if actions else []
    sources += [(k, e.core, e.edges[player]) for k, e in enumerate(core.events)]
    rows: list[tuple[Any, ...]] = []
    for event, to, edges in sources:
        there = to.own[player]
        for has, found in edges.items():
            cell = known[has]
            rows += [(cell, event, there[e.cell], e.action, e.record, e.chance) for e in found]
    columns = zip(*rows, strict=True) if rows else [()] * 6
    *whole, chance = (np.array(column) for column in columns)
    cells, events, place, action, record = (column.astype(np.int64) for column in whole)
    action_set = [action_sets(core.action_sets[has]) if actions else NOTHING for has in known]
    to_core = np.append(reached, core.number)
    return Side.of(np.array(action_set), to_core, cells, events, place, action, record, chance.astype(np.float64))


def _count_below(a: RuleArrays) -> None:
    """Fill in ``below``, the number of elements that excursions from each cell add, successors first."""
    done = np.zeros(len(a.action_set), dtype=bool)
    for root in np.flatnonzero(a.edge_first[a.slot + 1] > a.edge_first[a.slot]).tolist():
        stack = [root]
        while stack:
            q = stack[-1]
            to = a.edge_cell[a.edge_first[a.slot[q]] : a.edge_first[a.slot[q] + 1]].tolist()
            waiting = [t for t in to if not done[t]]
            if waiting:
                if len(stack) > len(done):
                    raise GameRuleError("a sequence of private moves returns to its beginning")
                stack += waiting
                continue
            a.below[q] = sum(1 + int(a.below[t]) for t in to)
            done[q] = True
            stack.pop()
