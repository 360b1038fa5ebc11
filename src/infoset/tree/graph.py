"""The distinct positions of a game, each expanded once, from which the tree is unrolled.

A position is a decision of one player, a chance move, or an end of the game.  The simultaneous moves of one step become
successive decisions that reveal nothing; the edge that completes the step carries, for each player, a *record*: the own
move and the observation by which that player's information state grows.  Histories that lead to one state share its
positions, so the rules (plain Python) run once per state, while the tree, which may be very much larger, is unrolled
from these arrays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite, prod
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from infoset import status
from infoset.base import (
    Action,
    BoolArray,
    Facts,
    FloatArray,
    Game,
    IntArray,
    LongArray,
    ObservationRecord,
    Observed,
    Positions,
    State,
    Step,
)
from infoset.errors import BudgetError, GameRuleError, InfosetError, one_line, shorten
from infoset.jit import kernel
from infoset.memory import free_memory, size_in_words
from infoset.names import format_action

CHANCE = -1
TERMINAL = -2
EVERYBODY = -3  # mover of a core in which all players move at once
NO_RECORD = -1
TOLERANCE = 1e-9
ROOM_FOR_SUMS = 1e6  # payoffs on one path add up
LARGEST_PAYOFF = 1e100
"""In absolute value: the squares of sums of larger payoffs are no longer finite."""

BYTES_PER_POSITION = 1500
BYTES_PER_COMPILED_EDGE = 160
SMALL = 3000  # edges; these are found faster than compiled code is loaded or built
BYTES_PER_HISTORY = 350  # measured: 163 where information states are shared, 344 where every history has its own
MAX_HISTORIES = 2**31 - 2  # indices are 32 bits
PROBES = 200
PROBE_SECONDS = 1.0
PROBE_DEPTH = 10_000

EDGES_A_REPORT = 500
MOST_NESTED = 6  # levels of tuples in a state; anything nested deeper counts as one fact
MANY_BITS = 31  # larger whole numbers in a state may be sets of bits

K = TypeVar("K", bound=Hashable)


class Interner(Generic[K]):
    """A numbering 0, 1, 2, … of distinct values in order of first appearance."""

    def __init__(self) -> None:
        self.number: dict[K, int] = {}

    def __call__(self, value: K) -> int:
        return self.number.setdefault(value, len(self.number))

    def values(self) -> list[K]:
        return list(self.number)


@dataclass(frozen=True, eq=False)
class GameGraph:
    """Flat arrays over ``P`` positions and ``E`` edges; position 0 is the start.

    ``content[p]`` is a row of ``action_sets`` at a decision or chance move, and a row of ``payoffs`` at an end.
    ``label[p]`` is the number of the information set by the information map; -1 without a map.
    """

    name: str
    players: tuple[str, ...]
    player: npt.NDArray[np.int8]  # (P,) mover, CHANCE or TERMINAL
    content: IntArray  # (P,)
    label: IntArray  # (P,)
    first_edge: IntArray  # (P + 1,)
    child: IntArray  # (E,)
    probability: FloatArray  # (E,) 1 on the edges of decisions
    record: IntArray  # (E, n) row of records, or NO_RECORD
    action_sets: list[tuple[Action, ...]]
    payoffs: FloatArray  # (number of distinct payoff vectors, n)
    records: list[ObservationRecord]
    labels: list[str]
    start_records: tuple[int, ...]  # (n,) each player's observation before the first move
    map_name: str  # "" where information sets are information states
    facts: Facts | None = None  # present only if requested

    @cached_property
    def num_edges(self) -> IntArray:
        """(P,) the number of edges of each position."""
        return np.diff(self.first_edge)

    @property
    def first(self) -> IntArray:
        """(P,) the first edge of each position."""
        return self.first_edge[:-1]

    @property
    def low(self) -> float:
        """The lowest payoff."""
        return float(self.payoffs.min())

    @property
    def high(self) -> float:
        """The highest payoff."""
        return float(self.payoffs.max())

    def ask(self, edges: LongArray) -> None:
        """Do nothing: in this graph all edges are already explored."""

    def actions(self, position: int) -> tuple[Action, ...]:
        """Return the moves of the mover at a position, or the chance outcomes."""
        return self.action_sets[int(self.content[position])]

    def ends(self, edges: LongArray) -> BoolArray:
        """Return (K,) whether edges end a step."""
        return np.asarray(self.completes[edges])

    def decides(self, positions: LongArray, player: int) -> BoolArray:
        """Return (K,) whether a player has a move in the step that begins, or continues, at positions (K,)."""
        return np.asarray(self.deciders[positions, player])

    @cached_property
    def deciders(self) -> BoolArray:
        """(P, n) whether a player has a move in the step that begins, or continues, at a position."""
        decides = np.zeros((len(self.player), len(self.players)), dtype=np.bool_)
        _mark(self.order, self.player, self.first_edge, self.child, self.completes, decides)
        return decides

    @cached_property
    def source(self) -> LongArray:
        """(E,) the position that each edge leaves."""
        return np.repeat(np.arange(len(self.player)), self.num_edges)

    @cached_property
    def completes(self) -> BoolArray:
        """(E,) whether an edge ends a step: a player observes something, or it is a chance outcome."""
        return np.asarray((self.record != NO_RECORD).any(axis=1) | (self.player[self.source] == CHANCE))

    @cached_property
    def order(self) -> IntArray:
        """(P,) the positions in topological order, each before all that can follow it.

        Raises ``GameRuleError`` where a state can recur.
        """
        return self._sorted[0]

    @cached_property
    def _sorted(self) -> tuple[IntArray, FloatArray]:
        """The positions in topological order, and the number of histories that lead to each position."""
        order, times = topological(self.first_edge, self.child)
        if len(order) < len(self.player):
            raise GameRuleError(f"{self.name}: a state can be reached again from itself, so that the game need not end")
        return order, times

    @property
    def times(self) -> FloatArray:
        """(P,) the number of histories that lead to each position."""
        return self._sorted[1]

    @cached_property
    def depth(self) -> int:
        """The largest number of edges from the start to an end."""
        return int(longest(self.order, self.first_edge, self.child))

    def count_histories(self) -> float:
        """Return the number of histories of the whole tree, without unrolling it.

        Raises ``GameRuleError`` where a state can recur, since the tree is infinite then.
        """
        return float(self.times.sum())


def spread(graph: Any, positions: LongArray) -> tuple[LongArray, LongArray]:
    """Return all edges out of the positions, and for each edge the index of the position that it leaves."""
    sizes = graph.num_edges[positions].astype(np.int64)
    source = np.repeat(np.arange(len(positions)), sizes)
    offset = np.cumsum(sizes) - sizes
    return np.arange(len(source)) - np.repeat(offset - graph.first[positions], sizes), source


@kernel
def _mark(
    order: IntArray, player: npt.NDArray[np.int8], first_edge: IntArray, child: IntArray, completes: BoolArray,
    decides: BoolArray,
) -> None:  # fmt: skip
    for k in range(len(order) - 1, -1, -1):
        p = order[k]
        if player[p] >= 0:
            decides[p, player[p]] = True
        for e in range(first_edge[p], first_edge[p + 1]):
            if not completes[e]:
                for i in range(decides.shape[1]):
                    decides[p, i] |= decides[child[e], i]


@kernel
def topological(first_edge: IntArray, child: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the positions reachable from position 0 in topological order, and the number of paths to each position.

    Positions on cycles, and those reachable through them, are left out.
    """
    waits = np.zeros(len(first_edge) - 1, dtype=np.int32)
    times = np.zeros(len(waits))
    times[0] = 1.0
    for e in range(len(child)):
        waits[child[e]] += 1
    order = np.zeros(len(waits), dtype=np.int32)
    size, k = int(waits[0] == 0), 0
    while k < size:
        for e in range(first_edge[order[k]], first_edge[order[k] + 1]):
            times[child[e]] += times[order[k]]
            waits[child[e]] -= 1
            if waits[child[e]] == 0:
                order[size] = child[e]
                size += 1
        k += 1
    return order[:size], times


@kernel
def longest(order: IntArray, first_edge: IntArray, child: IntArray) -> int:
    """Return the length of the longest path from the first of the positions, which are in topological order."""
    depth = np.zeros(len(order), dtype=np.int64)
    for position in order:
        for e in range(first_edge[position], first_edge[position + 1]):
            depth[child[e]] = max(depth[child[e]], depth[position] + 1)
    return int(depth.max())


def default_max_histories() -> int:
    """Return how many histories fit into half of the free memory, at ``BYTES_PER_HISTORY`` bytes each."""
    return min(free_memory() // 2 // BYTES_PER_HISTORY, MAX_HISTORIES)


def explore(
    game: Game,
    max_edges: int | None = None,
    progress: Callable[[int], object] | None = None,
    facts: bool = False,
    measured: bool = False,
) -> GameGraph:
    """Expand every distinct state of ``game`` once, by the game's own compiled code where it has such and is not small.

    ``max_edges`` bounds the number of edges.  They are also bounded by half of the free memory: by a conservative
    estimate of the size of an edge or, if ``measured``, by the memory that is still free, so that a game that does not
    fit is given up later.  ``progress`` is called from time to time with the number of positions.  ``facts``: also
    record the facts that hold in every state.
    Raises ``BudgetError`` beyond the bound, ``GameRuleError`` where the game breaks its contract.

    >>> from infoset.tree.graph import explore
    >>> graph = explore(infoset.load("gdl:meier"))
    >>> f"{len(graph.player):,} positions, {graph.count_histories():.1e} histories"
    '7,934 positions, 7.9e+28 histories'
    """
    try:
        with status.during("enumerating positions"):
            return _explore(game, _Watch(game, max_edges, BYTES_PER_POSITION, progress, measured), facts)
    except InfosetError:
        raise
    except Exception as error:
        raise GameRuleError(
            f"{game.name} violates the game model ({type(error).__name__}: {one_line(str(error), 120)}); "
            "infoset.testing.check_game reports the history"
        ) from error


def _explore(game: Game, watch: _Watch, facts: bool) -> GameGraph:
    plain = _Explorer(game, watch)
    positions = getattr(game, "positions", None)
    if positions and not plain.run(SMALL):
        found = positions(watch.of_compiled())
        if found is not None:
            return _graph(game, found if facts else found._replace(facts=None))
    plain.run()
    return plain.graph(facts)


def _graph(game: Game, found: Positions) -> GameGraph:
    """Build the graph of a game without an information map, whose players observe nothing before the first move."""
    return GameGraph(
        name=game.name,
        players=game.players,
        **found._asdict(),
        label=np.full(len(found.player), -1, dtype=np.int32),
        labels=[],
        start_records=(NO_RECORD,) * len(game.players),
        map_name="",
    )


class _Watch:
    """A watch on the numbers of positions and edges, which raises ``BudgetError`` where there are too many."""

    def __init__(
        self,
        game: Game,
        max_edges: int | None,
        bytes_each: int,
        progress: Callable[[int], object] | None,
        measured: bool = False,
    ) -> None:
        self.game, self.max_edges, self.progress, self.measured = game, max_edges, progress, measured
        self.bytes_each = bytes_each
        self.free = free_memory()
        self.fitting = min(self.free // 2 // bytes_each, MAX_HISTORIES)
        self.limit = self.fitting if max_edges is None else min(max_edges, self.fitting)

    def of_compiled(self) -> _Watch:
        """Return the same watch for positions made by compiled code, which take less memory."""
        return _Watch(self.game, self.max_edges, BYTES_PER_COMPILED_EDGE, self.progress)

    def __call__(self, positions: int, edges: int) -> None:
        if edges > self.limit and not self._left(edges):
            raise too_large(self.game, self.limit, positions)
        status.detail(f"enumerating positions: {positions:,} so far")
        if self.progress:
            self.progress(positions)

    def refuse_joint(self, joint: int, positions: int, edges: int) -> None:
        """Raise ``BudgetError`` where the joint moves of one state alone are too many, before they are listed."""
        if not self._left(edges + joint):
            if joint <= self.limit:  # of many states this is only the last
                raise too_large(self.game, self.limit, positions)
            raise BudgetError(
                f"{self.game.name} is too large to enumerate: after {positions:,} distinct positions one state has "
                f"{joint:,} joint moves, which take {size_in_words(joint * self.bytes_each)} "
                f"(limit {self.limit:,} moves). Raise the limit (max_histories, --max-histories) or choose smaller "
                "parameters"
            )

    def _left(self, edges: int) -> bool:
        """Return whether memory remains beyond the conservative estimate and the caller asked for it to be measured."""
        most = MAX_HISTORIES if self.max_edges is None else min(self.max_edges, MAX_HISTORIES)
        return self.measured and edges <= most and free_memory() > self.free // 2


@dataclass
class _Explorer:
    """The work list of ``explore`` and the growing arrays."""

    game: Game
    watch: _Watch
    player: list[int] = field(default_factory=list)
    content: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    edges: list[list[tuple[int, float, tuple[int, ...]]] | None] = field(default_factory=list)
    number: dict[tuple[type, State], int] = field(default_factory=dict)
    todo: list[State] = field(default_factory=list)
    num_edges: int = 0
    report: int = 0
    most: float = inf

    def __post_init__(self) -> None:
        self.n = len(self.game.players)
        self.silent = (NO_RECORD,) * self.n
        self.map = getattr(self.game, "information_map", None)
        self.action_sets: Interner[tuple[Action, ...]] = Interner()
        self.payoffs: Interner[tuple[float, ...]] = Interner()
        self.records: Interner[ObservationRecord] = Interner()
        self.labels: Interner[tuple[int, Hashable]] = Interner()
        step = self.game.start()
        self.start = self._records(step, (None,) * self.n)
        self._visit(step.state)

    def run(self, edges: float = inf) -> bool:
        """Continue to ``edges`` edges, or to a state with more joint moves; return whether nothing is left to do."""
        self.most = edges
        while self.todo and self.num_edges < edges and self._expand(self.todo[-1]):
            pass
        if self.num_edges > self.watch.limit:
            self.watch(len(self.player), self.num_edges)
        return not self.todo

    def _visit(self, state: State) -> int:
        """Return the position of a state, adding new ones.  Equal named tuples of different classes are distinct."""
        key = (type(state), state)
        found = self.number.get(key)
        if found is None:
            found = self.number[key] = self._add(TERMINAL, -1)
            self.todo.append(state)
        return found

    def _add(self, player: int, content: int) -> int:
        self.player.append(player)
        self.content.append(content)
        self.label.append(-1)
        self.edges.append(None)
        return len(self.player) - 1

    def _expand(self, state: State) -> bool:
        """Expand the last state of the work list; return ``False``, leaving it, if it has too many joint moves."""
        position = self.number[type(state), state]
        if state.terminal:
            self.todo.pop()
            payoffs = tuple(map(float, state.returns()))
            if len(payoffs) != self.n or not all(map(isfinite, payoffs)):
                raise GameRuleError(f"{self.game.name}: payoffs {payoffs!r} are not {self.n} finite numbers")
            if max(map(abs, payoffs)) > LARGEST_PAYOFF * ROOM_FOR_SUMS:
                raise GameRuleError(
                    f"{self.game.name}: of the payoffs {payoffs!r} some are beyond {LARGEST_PAYOFF:g} in size, where "
                    "figures overflow; divide them all by one number, which changes no strategy"
                )
            self.content[position] = self.payoffs(payoffs)
            return True
        action_sets = [state.legal_actions(p) for p in range(self.n)]
        joint = prod(len(action_set) for action_set in action_sets if action_set)
        if joint > self.most:
            return False
        if self.num_edges + joint > self.watch.limit:
            self.watch.refuse_joint(joint, len(self.player), self.num_edges)
        self.todo.pop()
        self.play = getattr(state, "play_unchecked", state.play)
        self._decide(state, position, action_sets, 0, [None] * self.n)
        return True

    def _decide(
        self,
        state: State,
        position: int,
        action_sets: list[tuple[Action, ...]],
        mover: int,
        actions: list[Action | None],
    ) -> None:
        """Fill ``position`` with the decision of the first player from ``mover`` on, or with the chance outcomes."""
        while mover < self.n and not action_sets[mover]:
            mover += 1
        if mover == self.n:
            edges = self._answers(state, position, actions)
        else:
            legal_actions = action_sets[mover]
            if len(set(legal_actions)) < len(legal_actions) or None in legal_actions:
                raise GameRuleError(
                    f"{self.game.name}: moves {legal_actions!r} of player {mover} are not distinct moves"
                )
            self.player[position] = mover
            self.content[position] = self.action_sets(legal_actions)
            if self.map is not None:
                self.label[position] = self.labels((mover, self.map.key(state, mover)))
            edges = []
            for action in legal_actions:
                actions[mover] = action
                edges.append(self._follow(state, action_sets, mover + 1, actions))
            actions[mover] = None
        self.edges[position] = edges
        self._count(len(edges))

    def _count(self, edges: int) -> None:
        """Count more edges and check the clock, which is done here since one state may have millions of joint moves."""
        self.num_edges += edges
        if self.num_edges >= self.report:
            self.report = self.num_edges + EDGES_A_REPORT
            self.watch(len(self.player), self.num_edges)

    def _follow(
        self, state: State, action_sets: list[tuple[Action, ...]], mover: int, actions: list[Action | None]
    ) -> tuple[int, float, tuple[int, ...]]:
        """Return the edge of one move: to the next mover, to chance, or directly to the next state."""
        if not any(action_sets[mover:]) and not state.chance_outcomes(actions):
            step = self.play(actions, None)
            return self._visit(step.state), 1.0, self._records(step, actions)
        inner = self._add(CHANCE, -1)
        self._decide(state, inner, action_sets, mover, actions)
        return inner, 1.0, self.silent

    def _answers(
        self, state: State, position: int, actions: list[Action | None]
    ) -> list[tuple[int, float, tuple[int, ...]]]:
        answers = state.chance_outcomes(actions)
        if not answers:
            raise GameRuleError(
                f"{self.game.name}: neither legal actions nor chance outcomes at non-terminal {shorten(repr(state))}"
            )
        total = sum(probability for _, probability in answers)
        if not abs(total - 1) <= TOLERANCE or any(not 0 <= probability <= 1 for _, probability in answers):
            raise GameRuleError(
                f"{self.game.name}: chance's probabilities {shorten(repr(answers))} sum to {total}, not to 1"
            )
        action_set = tuple(answer for answer, _ in answers)
        if len(set(action_set)) < len(action_set):
            raise GameRuleError(f"{self.game.name}: chance's answers {shorten(repr(action_set))} are not distinct")
        self.player[position] = CHANCE
        self.content[position] = self.action_sets(action_set)
        edges = []
        for k, (answer, probability) in enumerate(answers, start=1):
            step = self.play(actions, answer)
            edges.append((self._visit(step.state), float(probability), self._records(step, actions)))
            if k % EDGES_A_REPORT == 0:
                self.watch(len(self.player), self.num_edges + k)
        return edges

    def _records(self, step: Step, actions: Sequence[Action | None]) -> tuple[int, ...]:
        number, records = self.records.number, []
        plain = type(step) is Observed
        seen = step.observations if plain else [step.observation(p) for p in range(self.n)]  # type: ignore[attr-defined]
        for player, action in enumerate(actions):
            observation = seen[player]
            if action is None and observation is None:
                records.append(NO_RECORD)
                continue
            if observation is None:
                observation = ()  # the mover gets a record for its own move even if it observes nothing
            records.append(number.setdefault((action, observation), len(number)))
        return tuple(records)

    def graph(self, facts: bool = False) -> GameGraph:
        """Return the positions found so far as arrays."""
        flat = [edge for edges in self.edges for edge in edges or ()]
        sizes = [len(edges or ()) for edges in self.edges]
        payoffs = np.array(self.payoffs.values(), dtype=np.float64).reshape(-1, self.n)
        return GameGraph(
            name=self.game.name,
            players=self.game.players,
            player=np.array(self.player, dtype=np.int8),
            content=np.array(self.content, dtype=np.int32),
            label=np.array(self.label, dtype=np.int32),
            first_edge=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
            child=np.array([edge[0] for edge in flat], dtype=np.int32),
            probability=np.array([edge[1] for edge in flat], dtype=np.float64),
            record=np.array([edge[2] for edge in flat], dtype=np.int32).reshape(-1, self.n),
            action_sets=self.action_sets.values(),
            payoffs=payoffs,
            records=self.records.values(),
            labels=[key if isinstance(key, str) else format_action(key) for _, key in self.labels.values()],
            start_records=self.start,
            map_name="" if self.map is None else str(self.map.name) or "unnamed",
            facts=self._facts() if facts else None,
        )

    def _facts(self) -> Facts:
        """Return the facts that hold in every state, one column per fact in order of first appearance."""
        columns: Interner[Hashable] = Interner()
        rows = [[columns(fact) for fact in facts_of(state)] for _, state in self.number]
        if (size := len(rows) * len(columns.number)) > free_memory() // 4:
            raise BudgetError(
                f"{self.game.name}: {len(rows):,} states of {len(columns.number):,} facts take {size:,} bytes at once, "
                "more than a quarter of the free memory"
            )
        holds = np.zeros((len(rows), len(columns.number)), dtype=np.uint8)
        for row, found in zip(holds, rows, strict=True):
            row[found] = 1
        position = np.array(list(self.number.values()), dtype=np.int32)
        return Facts(position, np.packbits(holds, axis=1, bitorder="little"))


def facts_of(state: State) -> Iterator[Hashable]:
    """Yield the facts of a state: its ``facts`` where it declares them, else every value in it with its place.

    A whole number above ``MANY_BITS`` also yields the places of its bits, since games keep boards in them.
    """
    facts = getattr(state, "facts", None)
    if facts is not None:
        yield from sorted(facts, key=str) if isinstance(facts, frozenset) else facts
        return
    todo: list[tuple[tuple[int, ...], object]] = [((), state)]
    while todo:
        place, value = todo.pop()
        if isinstance(value, tuple) and len(place) < MOST_NESTED:
            todo.extend([((*place, k), part) for k, part in enumerate(value)])
        else:
            yield place, repr(value)
            if type(value) is int and value > MANY_BITS:
                yield from ((place, bit) for bit in range(value.bit_length()) if value >> bit & 1)


def too_large(game: Game, limit: int, positions: int) -> BudgetError:
    """Return the error for a game that is too large to enumerate."""
    return BudgetError(
        f"{game.name} is too large to enumerate: stopped at {positions:,} distinct positions (limit {limit:,} moves); "
        f"about {estimate_histories(game):.1e} histories in all by random probes. "
        "Raise the limit (max_histories, --max-histories) or choose smaller parameters"
    )


def estimate_histories(game: Game, seed: int = 0) -> float:
    """Estimate the size of the tree (Knuth 1975): the mean over random plays of the size that each implies."""
    rng = np.random.default_rng(seed)
    stop = time.monotonic() + PROBE_SECONDS
    sizes: list[float] = []
    while len(sizes) < PROBES and (not sizes or time.monotonic() < stop):
        sizes.append(_probe(game, rng, stop))
    return float(np.mean(sizes))


def _probe(game: Game, rng: np.random.Generator, stop: float) -> float:
    state, size, weight = game.start().state, 1.0, 1.0
    for _ in range(PROBE_DEPTH):
        if state.terminal or time.monotonic() > stop + PROBE_SECONDS:
            break
        actions: list[Action | None] = []
        for player in range(len(game.players)):
            legal_actions = state.legal_actions(player)
            actions.append(legal_actions[int(rng.integers(len(legal_actions)))] if legal_actions else None)
            if legal_actions:
                weight *= len(legal_actions)
                size += weight
        answers = state.chance_outcomes(actions)
        if answers:
            weight *= len(answers)
            size += weight
        answer = answers[int(rng.integers(len(answers)))][0] if answers else None
        state = state.play(actions, answer).state
    return size
