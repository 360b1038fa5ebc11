"""A game's positions in arrays that grow on demand, for games that are too large to list.

The positions are those of ``tree.graph``: a decision of one player, a chance move, or an end; the moves of one step are
successive decisions, and the edge that completes the step carries a record for each player.  Here an edge is ``OPEN``
until it is asked for.  A *source* knows the rules and finds where an edge leads: compiled code for a ground description
(``gdl.lazy_propnet``), Python states for everything else (``tree.rules_source``).

Positions inside a step are made without a source: their movers and action sets are stored with the state in which the
step began.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from infoset.base import Action, BoolArray, FloatArray, Game, IntArray, LongArray, ObservationRecord, State
from infoset.clock import ENDLESS, Clock
from infoset.errors import BudgetError, ClockError
from infoset.interning import Rows, intern, intern_pair, longer, path_to
from infoset.jit import borrowing, kernel, linked_kernel
from infoset.names import information_key
from infoset.tree.graph import CHANCE, NO_RECORD, TERMINAL

OPEN = -1
NO_ACTION_SET = -1
OUTSIDE = -1
NO_ROW = -1  # of payoffs, at states that are no ends
NOBODY = -1  # in place of a move
POSITIONS, EDGES, STATES, PAYOFFS = range(4)
MAX_ENTRIES = 1 << 30
PLAYED = 64  # positions that are played out between two checks of the clock
PORTION = 2048  # edges that are expanded between two checks of the clock and the memory


T = TypeVar("T")


class LazyArrays(NamedTuple):
    """The arrays, with spare capacity: ``P`` positions, ``E`` edges, ``S`` states, ``n`` players."""

    player: npt.NDArray[np.int8]  # (P,) mover, CHANCE or TERMINAL
    content: IntArray  # (P,) the number of an action set, or a row of payoffs at an end
    first: IntArray  # (P,) first edge
    size: IntArray  # (P,) number of edges
    state: IntArray  # (P,) the state at which the position's step began
    via: IntArray  # (P,) the edge that leads to a position inside a step, else OUTSIDE
    child: IntArray  # (E,) position, or OPEN
    source: IntArray  # (E,) position
    probability: FloatArray  # (E,) 1 on the edges of decisions
    record: IntArray  # (E, n) or NO_RECORD, which it is on open edges
    action_sets: IntArray  # (S, n) every player's action set in a state, or NO_ACTION_SET
    at: IntArray  # (S,) the position of a state
    choices: IntArray  # (action sets,) number of moves of each action set
    payoffs: FloatArray  # (distinct payoffs, n)
    filled: LongArray  # (4,) numbers of positions, edges, states and rows of payoffs in use

    @classmethod
    def empty(cls, players: int, memory: int) -> LazyArrays:
        """Allocate arrays for ``memory`` bytes at once.

        The system provides pages of zeros when they are first written to, so this costs nothing, and it avoids copying
        growing arrays, which takes a good part of a move's clock.
        """
        edges = memory // 2 // (16 + 4 * players)
        positions, states = edges // 4, edges // 16
        a, b, c, d, e = (np.zeros(positions, dtype=np.int32) for _ in range(5))
        return cls(
            np.zeros(positions, dtype=np.int8),
            a,
            b,
            c,
            d,
            e,
            np.zeros(edges, dtype=np.int32),
            np.zeros(edges, dtype=np.int32),
            np.zeros(edges),
            np.zeros((edges, players), dtype=np.int32),
            np.zeros((states, players), dtype=np.int32),
            np.zeros(states, dtype=np.int32),
            np.zeros(1024, dtype=np.int32),  # short, since its maximum is taken at every step of a search
            np.zeros((1024, players)),
            np.zeros(4, dtype=np.int64),
        )

    def with_room(self, positions: int, edges: int, states: int = 0, action_sets: int = 0) -> LazyArrays:
        """Return the arrays with room for more entries of each kind; ``action_sets`` is their total number."""
        p, e, s, r = (int(size) for size in self.filled)
        sizes = [p + positions] * 6 + [e + edges] * 4 + [s + states] * 2 + [action_sets, r + states]
        longest: list[Any] = [longer(array, size) for array, size in zip(self[:-1], sizes, strict=True)]  # type: ignore[type-var]
        return LazyArrays._make([*longest, self.filled])


@linked_kernel
@borrowing
def add_position(
    g: LazyArrays, player: int, content: int | np.int64, size: int, state: int, via: int | np.int64
) -> np.int64:
    """Add a position with its edges, all of them open, and return its number."""
    p: np.int64
    p, e = g.filled[POSITIONS], g.filled[EDGES]
    g.player[p], g.content[p], g.state[p], g.via[p] = player, content, state, via
    g.first[p], g.size[p] = e, size
    for k in range(e, e + size):
        g.child[k], g.source[k], g.probability[k] = OPEN, p, 1.0
        for i in range(g.record.shape[1]):
            g.record[k, i] = NO_RECORD
    g.filled[POSITIONS], g.filled[EDGES] = p + 1, e + size
    return p


@kernel
@borrowing
def add_choice(g: LazyArrays, content: int, size: int, state: int, via: int) -> np.int64:
    """Add a position at which chance responds to a joint move."""
    return add_position(g, CHANCE, content, size, state, via)


@linked_kernel
@borrowing
def enter(g: LazyArrays, edge: int | np.int64) -> np.int32:
    """Return the position that an edge leads to, creating one inside a step; ``OPEN`` if only the source knows."""
    found: np.int32 = g.child[edge]
    if found != OPEN:
        return found
    p = g.source[edge]
    if g.player[p] < 0:
        return np.int32(OPEN)
    s = g.state[p]
    for later in range(g.player[p] + 1, g.action_sets.shape[1]):
        action_set = g.action_sets[s, later]
        if action_set != NO_ACTION_SET:
            found = np.int32(add_position(g, later, action_set, g.choices[action_set], s, edge))
            g.child[edge] = found
            return found
    return np.int32(OPEN)


@kernel
@borrowing
def enter_all(g: LazyArrays, edges: LongArray, asked: LongArray) -> int:
    """Enter edges, write those that only the source can resolve to ``asked``, and return their number."""
    count = 0
    for edge in edges:
        if enter(g, edge) == OPEN:
            asked[count] = edge
            count += 1
    return count


@linked_kernel
@borrowing
def begin_state(
    g: LazyArrays, state: int, terminal: bool, content: int | np.int64, chance_outcome: int | np.int64
) -> np.int64:
    """Add the position at which a state's step begins; ``chance_outcome``: chance's actions, or nothing."""
    if terminal:
        return add_position(g, TERMINAL, content, 0, state, OUTSIDE)
    for player in range(g.action_sets.shape[1]):
        action_set = g.action_sets[state, player]
        if action_set != NO_ACTION_SET:
            return add_position(g, player, action_set, g.choices[action_set], state, OUTSIDE)
    return add_position(g, CHANCE, chance_outcome, g.choices[chance_outcome], state, OUTSIDE)


@kernel
@borrowing
def add_states(g: LazyArrays, contents: LongArray, probabilities: FloatArray) -> None:
    """Add states (K,) with the positions at which their steps begin.

    ``contents`` (K, n + 2) are everybody's action sets, that of chance, and the row of payoffs of an end, ``NO_ROW``
    elsewhere.  ``probabilities`` are the probabilities of all chance moves, one after the other.
    """
    n, used = g.action_sets.shape[1], 0
    for k in range(len(contents)):
        number = g.filled[STATES]
        for i in range(n):
            g.action_sets[number, i] = contents[k, i]
        row = contents[k, n + 1]
        p = begin_state(g, number, row != NO_ROW, row, contents[k, n])
        g.at[number] = p
        g.filled[STATES] = number + 1
        if g.player[p] == CHANCE:
            for e in range(g.first[p], g.first[p] + g.size[p]):
                g.probability[e] = probabilities[used]
                used += 1


@kernel
@borrowing
def read_edges(g: LazyArrays, edges: LongArray, number: LongArray, offered: LongArray, chosen: LongArray) -> None:
    """Read what is played on the way to the ends of edges (K,), which complete a step.

    Writes the ``number`` (K,) of the state in which the step began, and the action sets and the moves in them of
    everybody (K, n) and, in the last column, of chance; ``chosen`` keeps what it had where nobody moves.
    """
    n = g.action_sets.shape[1]
    for k in range(len(edges)):
        at = edges[k]
        number[k] = g.state[g.source[at]]
        while at != OUTSIDE:
            p = g.source[at]
            column = n if g.player[p] == CHANCE else np.int64(g.player[p])
            offered[k, column], chosen[k, column] = g.content[p], at - g.first[p]
            at = np.int64(g.via[p])


@kernel
@borrowing
def link_edges(g: LazyArrays, reached: LongArray) -> None:
    """Set where edges lead; ``reached`` (K, n + 2) has an edge, the number of a state, and everybody's records."""
    for k in range(len(reached)):
        edge = reached[k, 0]
        g.child[edge] = g.at[reached[k, 1]]
        for i in range(g.record.shape[1]):
            g.record[edge, i] = reached[k, 2 + i]


@linked_kernel
@borrowing
def grown(states: Rows, infostate: int | np.int64, record: int) -> np.int64:
    """Return the information state that follows ``infostate`` by one record; ``states`` must have room for it."""
    return intern_pair(states, np.int64(infostate), np.int64(record))


@kernel
@borrowing
def _successors(states: Rows, infostate: LongArray, records: IntArray) -> None:
    """Advance information states (K, n) by records (K, n), in place."""
    for k in range(len(infostate)):
        for i in range(infostate.shape[1]):
            if records[k, i] != NO_RECORD:
                infostate[k, i] = grown(states, infostate[k, i], records[k, i])


@kernel
@borrowing
def _mark_parents(parent: LongArray, marked: BoolArray) -> None:
    """Mark all ancestors of marked information states too."""
    for k in range(len(parent) - 1, -1, -1):
        if marked[k] and parent[k] >= 0:
            marked[parent[k]] = True


@kernel
@borrowing
def _owners(parent: LongArray, owner: LongArray) -> None:
    """Write the player of each information state."""
    for k in range(len(parent)):
        owner[k] = owner[parent[k]] if parent[k] >= 0 else -1 - parent[k]


@kernel
@borrowing
def _take_over(states: Rows, needed: LongArray, parent: LongArray, record: LongArray, number: LongArray) -> None:
    """Add information states of another tree, parents first, with this tree's records; write their numbers here."""
    for k in range(len(needed)):
        s = needed[k]
        number[s] = grown(states, number[parent[s]], record[k]) if parent[s] >= 0 else -1 - parent[s]


class LazyInformationStates:
    """The tree of all players' information states: each is its parent followed by one more record.

    The initial state of player ``p`` has number ``p``.  Numbers do not depend on how many records are known.
    """

    def __init__(self, start_records: tuple[int, ...]) -> None:
        self.rows = Rows.empty()
        self.room(len(start_records))
        for player, record in enumerate(start_records):
            intern(self.rows, np.array([-1 - player, record], dtype=np.int64))

    def __len__(self) -> int:
        return int(self.rows.size[0])

    def room(self, more: int) -> Rows:
        """Return the rows, with room for ``more`` more states."""
        self.rows = self.rows.with_room(more, 2 * more)
        return self.rows

    def successors(self, infostate: LongArray, records: IntArray) -> LongArray:
        """Return the players' information states (K, n) after they observe records (K, n), ``NO_RECORD`` for none."""
        infostate = infostate.copy()
        _successors(self.room(infostate.size), infostate, records)
        return infostate

    def needed(self, numbers: LongArray) -> LongArray:
        """Return the states with the given numbers and all their ancestors, in order."""
        marked = np.zeros(len(self), dtype=np.bool_)
        marked[numbers] = True
        _mark_parents(self.parent, marked)
        return np.flatnonzero(marked)

    def owners(self) -> LongArray:
        """Return (states,) the player of each state."""
        owner = np.zeros(len(self), dtype=np.int64)
        _owners(self.parent, owner)
        return owner

    def after(self, state: int, record: int) -> int:
        """Return the state that follows ``state`` by one record."""
        return int(intern(self.room(1), np.array([state, record], dtype=np.int64)))

    @property
    def parent(self) -> LongArray:
        """(states,) the parent of each state, which is one record shorter; negative for initial states."""
        return self.rows.data[0 : 2 * len(self) : 2]

    @property
    def record(self) -> LongArray:
        """(states,) the last record of each state."""
        return self.rows.data[1 : 2 * len(self) : 2]

    def path(self, state: int) -> tuple[int, list[int]]:
        """Return the player whose state it is and the records that lead to it, without its view of the start."""
        return path_to(self.parent, self.record, state)


class Source(Protocol):
    """The rules of a game, as a lazy graph asks for them."""

    open: bool
    """Whether every player observes everything."""

    def start(self, graph: LazyGraph) -> tuple[int, ...]:
        """Add the first state and return every player's record of it, ``NO_RECORD`` for none."""

    def ask(self, graph: LazyGraph, edges: LongArray) -> None:
        """Resolve edges (K,) that complete a step or are chance outcomes: set their ``child`` and ``record``.

        Where chance responds to a joint move, an edge may lead to that chance move.
        """

    def action_set(self, number: int) -> tuple[Action, ...]:
        """Return the moves of an action set."""

    def state(self, number: int) -> State:
        """Return the state with a given number."""

    def record_number(self, player: int, record: ObservationRecord) -> int:
        """Return the number of a player's record; ``NO_RECORD`` where no such record can be observed."""

    def record(self, number: int) -> ObservationRecord:
        """Return the record with a given number."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest payoff known so far."""

    bounded: bool
    """Whether these bounds are final: no payoff lies outside them."""

    @property
    def offered(self) -> Rows:
        """The moves of all action sets, by numbers; a player's move has the same number in all of them."""

    def playouts(self, graph: LazyGraph, positions: LongArray, each: int, seed: int) -> FloatArray:
        """Return the mean payoffs (K, n) of ``each`` random plays from positions (K,) at which a step begins."""

    def take_over(self, graph: LazyGraph, other: Any, states: LongArray) -> LongArray:
        """Return the positions at which the steps of states (K,) begin; the states are numbered by another source."""

    @property
    def nbytes(self) -> int:
        """The size in bytes of all stored data, estimated where it consists of Python objects."""


class Numbered(Generic[T]):
    """A sequence whose items are computed from their numbers."""

    def __init__(self, of: Callable[[int], T]) -> None:
        self.of = of

    def __getitem__(self, number: int) -> T:
        return self.of(number)


class LazyGraph:
    """A game's positions as far as they were asked for.

    Callers that ask, or read what may grow, do so within ``growing``.  A source adds a state, or the target of an edge,
    completely or not at all: an operation that is interrupted, by a clock or for lack of memory, leaves a graph that
    can be asked again.

    >>> from infoset.tree.rules_source import build_lazy_graph
    >>> graph = build_lazy_graph(infoset.load("gdl:tic_tac_toe"))
    >>> graph.actions(0)[:2]
    (('mark', 1, 1), ('mark', 1, 2))
    """

    def __init__(self, game: Game, source: Source, memory: int, clock: Clock = ENDLESS) -> None:
        """Build a graph with only the start; ``memory`` is in bytes, and optional work ends at ``clock``."""
        self.game, self.source, self.memory, self.clock = game, source, memory, clock
        self.players = game.players
        self.lock = threading.RLock()  # an agent that overruns its time continues in its thread while the others move
        self.arrays, self.states = LazyArrays.empty(len(game.players), memory), LazyInformationStates(())
        self.start_records = source.start(self)
        self.states, self.clock = LazyInformationStates(self.start_records), ENDLESS

    @contextmanager
    def growing(self, clock: Clock = ENDLESS) -> Iterator[None]:
        """Hold the graph for this thread alone.

        At the end of ``clock``, waiting for another thread raises ``ClockError``, and so do requests to the graph.
        """
        if not self.lock.acquire(timeout=-1.0 if clock.until == inf else clock.left):
            raise ClockError("the time limit was reached while another thread used the graph")
        before, self.clock = self.clock, clock
        try:
            with rules_until(self.game, clock):
                yield
        finally:
            self.clock = before
            self.lock.release()

    @property
    def open(self) -> bool:
        """Whether every player observes everything: its information state is then determined by the state."""
        return self.source.open

    def room(self, positions: int, edges: int, states: int = 0, action_sets: int = 0) -> LazyArrays:
        """Return the arrays, with room for more entries.  Raises ``BudgetError`` where the memory is used up."""
        if self.nbytes > self.memory:
            raise BudgetError(f"{self.game.name}: the explored positions take more than {self.memory:,} bytes")
        self.arrays = self.arrays.with_room(positions, edges, states, action_sets)
        return self.arrays

    @property
    def nbytes(self) -> int:
        """The size in bytes of all entries in use; array pages that were never written to take no memory."""
        p, e, s, r = self.arrays.filled.tolist()
        n = len(self.players)
        return (
            int(21 * p + (16 + 4 * n) * e + 4 * (n + 1) * s + 8 * n * r) + self.states.rows.nbytes + self.source.nbytes
        )

    def actions(self, position: int) -> tuple[Action, ...]:
        """Return the moves of the mover at a position, or the chance outcomes."""
        return self.source.action_set(int(self.arrays.content[position]))

    def action_sets_of(self, positions: LongArray, player: int) -> IntArray:
        """Return (K,) the numbers of a player's action sets in the steps of the positions, or ``NO_ACTION_SET``."""
        g = self.arrays
        return np.asarray(g.action_sets[g.state[positions], player])

    def action_set(self, position: int, player: int) -> tuple[Action, ...]:
        """Return the moves of a player in the step that contains a position."""
        content = int(self.arrays.action_sets[self.arrays.state[position], player])
        return () if content == NO_ACTION_SET else self.source.action_set(content)

    def widest(self) -> int:
        """Return the number of moves in the largest action set met so far."""
        return int(self.arrays.choices.max(initial=1))

    def ask(self, edges: LongArray) -> None:
        """Find where edges (K,) lead.  Raises ``ClockError`` or ``BudgetError``; some edges may be known then."""
        for begin in range(0, len(edges), PORTION):
            self.clock()
            portion = edges[begin : begin + PORTION]
            g = self.room(len(portion), len(portion) * self.widest())
            asked = np.zeros(len(portion), dtype=np.int64)
            asked = np.unique(asked[: enter_all(g, portion, asked)])
            if len(asked):
                self.source.ask(self, asked)

    def estimate_values(self, positions: LongArray, each: int, seed: int) -> FloatArray:
        """Return (K, n) the payoffs of positions (K,) at which a step begins, or a mean over ``each`` random plays.

        Ends have their payoffs, all other positions the mean payoffs of random plays from them.  Raises ``ClockError``.
        """
        over = self.arrays.player[positions] == TERMINAL
        found: FloatArray = self.arrays.payoffs[np.where(over, self.arrays.content[positions], 0)]
        going = np.flatnonzero(~over)
        for begin in range(0, len(going), PLAYED):
            self.clock()
            rows = going[begin : begin + PLAYED]
            found[rows] = self.source.playouts(self, positions[rows], each, seed + begin)
        return found

    def positions_of(self, other: LazyGraph, positions: LongArray) -> LongArray:
        """Return the positions here of positions (K,) of another graph of the same game, at which steps begin."""
        states, place = np.unique(other.arrays.state[positions], return_inverse=True)
        return self.source.take_over(self, other.source, states.astype(np.int64))[place].astype(np.int64)

    def states_of(self, other: LazyGraph, numbers: LongArray) -> LongArray:
        """Return the information states here of information states (K,) of another graph of the same game."""
        needed, owner = other.states.needed(numbers), other.states.owners()
        seen = np.column_stack([owner, other.states.record])[needed]
        pairs, place = np.unique(seen, axis=0, return_inverse=True)
        here = [
            NO_RECORD if record == NO_RECORD else self.source.record_number(player, other.source.record(record))
            for player, record in pairs.tolist()
        ]
        found = np.zeros(len(other.states), dtype=np.int64)
        record = np.array(here, dtype=np.int64)[place.ravel()]
        _take_over(self.states.room(len(needed)), needed, other.states.parent, record, found)
        return found[numbers]

    def spread(self, positions: LongArray) -> tuple[LongArray, LongArray]:
        """Return all edges out of positions (K,), and for each edge the index of the position that it leaves."""
        g = self.arrays
        sizes = g.size[positions].astype(np.int64)
        source = np.repeat(np.arange(len(positions)), sizes)
        offset = np.cumsum(sizes) - sizes
        return np.arange(len(source)) - np.repeat(offset - g.first[positions], sizes), source

    def ends(self, edges: LongArray) -> BoolArray:
        """Return (K,) whether edges, which must have been asked for, end a step."""
        return np.asarray(self.arrays.via[self.arrays.child[edges]] == OUTSIDE)

    def decides(self, positions: LongArray, player: int) -> BoolArray:
        """Return (K,) whether a player has a move in the step that begins, or continues, at positions (K,)."""
        g = self.arrays
        mover = g.player[positions]
        return np.asarray(
            (g.action_sets[g.state[positions], player] != NO_ACTION_SET) & (mover >= 0) & (mover <= player)
        )

    def key(self, state: int) -> str:
        """Return the readable key of an information state."""
        player, path = self.states.path(state)
        first = [] if self.start_records[player] == NO_RECORD else [self.start_records[player]]
        return information_key(tuple(map(self.source.record, first + path)))

    @property
    def low(self) -> float:
        """The lowest payoff known so far."""
        return self.source.bounds[0]

    @property
    def high(self) -> float:
        """The highest payoff known so far."""
        return self.source.bounds[1]

    @property
    def name(self) -> str:
        """The name of the game."""
        return self.game.name

    @property
    def action_sets(self) -> Numbered[tuple[Action, ...]]:
        """The action sets by their numbers."""
        return Numbered(self.source.action_set)

    @property
    def records(self) -> Numbered[ObservationRecord]:
        """The records by their numbers."""
        return Numbered(self.source.record)

    @property
    def payoffs(self) -> FloatArray:
        """(rows, n) the distinct payoffs, with spare capacity."""
        return self.arrays.payoffs

    @property
    def player(self) -> npt.NDArray[np.int8]:
        """(P,) the mover of each position."""
        return self.arrays.player

    @property
    def content(self) -> IntArray:
        """(P,) the number of an action set, or a row of payoffs."""
        return self.arrays.content

    @property
    def first(self) -> IntArray:
        """(P,) the first edge of each position."""
        return self.arrays.first

    @property
    def num_edges(self) -> IntArray:
        """(P,) the number of edges of each position."""
        return self.arrays.size

    @property
    def child(self) -> IntArray:
        """(E,) the position that each edge leads to, or ``OPEN``."""
        return self.arrays.child

    @property
    def probability(self) -> FloatArray:
        """(E,) the probability of chance outcomes; 1 on the edges of decisions."""
        return self.arrays.probability

    @property
    def record(self) -> IntArray:
        """(E, n) the records of edges, valid for those that were asked for."""
        return self.arrays.record


def rules_until(game: Game, clock: Clock) -> AbstractContextManager[None]:
    """Return a context in which requests to a game's rules end at a clock, where they can be interrupted."""
    until = getattr(game, "until", None)
    return until(clock) if until and clock.until < inf else nullcontext()
