"""A game's positions in arrays that grow while they are asked for: for games that are too large to list.

The positions are those of ``tree.graph``: a decision of one player, a choice of nature, or an end; the moves of one
step are successive decisions, and the edge that completes the step carries a token for each player.  Here an edge is
``OPEN`` until it is asked for.  What lies behind one follows from the rules, which a *source* knows: compiled code
for a ground description (``gdl.growth``), Python states for everything else (``tree.rules_source``).

Positions inside a step are made without a source: who moves next there, and with what menu, stands with the state in
which the step began.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from infoset.base import Action, BoolArray, FloatArray, Game, IntArray, LongArray, Token
from infoset.clock import ENDLESS, Clock
from infoset.errors import BudgetError, ClockError
from infoset.interning import Rows, intern, intern_pair, longer
from infoset.jit import borrowing, kernel, linked_kernel
from infoset.memory import free_memory
from infoset.names import information_key
from infoset.tree.graph import CHANCE, NO_TOKEN, TERMINAL

OPEN = -1
NO_MENU = -1
OUTSIDE = -1
POSITIONS, EDGES, STATES, PAYOFFS = range(4)
MAX_ENTRIES = 1 << 30
PLAYED = 64  # positions from which plays are made between two looks at the clock
PORTION = 2048  # edges that are asked for between two looks at the clock and at the memory


T = TypeVar("T")


class Growth(NamedTuple):
    """The arrays, with room behind what is filled: ``P`` positions, ``E`` edges, ``S`` states, ``n`` players."""

    player: npt.NDArray[np.int8]  # (P,) mover, CHANCE or TERMINAL
    content: IntArray  # (P,) the number of a menu, or a row of payoffs at an end
    first: IntArray  # (P,) first edge
    size: IntArray  # (P,) edges
    state: IntArray  # (P,) the state in whose step a position stands
    via: IntArray  # (P,) the edge that leads to a position inside a step, else OUTSIDE
    child: IntArray  # (E,) position, or OPEN
    source: IntArray  # (E,) position
    probability: FloatArray  # (E,) 1 on the edges of decisions
    token: IntArray  # (E, n) or NO_TOKEN; of open edges too
    menus: IntArray  # (S, n) every player's menu in a state, or NO_MENU
    at: IntArray  # (S,) the position of a state
    choices: IntArray  # (menus,) how many moves are in each
    payoffs: FloatArray  # (ends that differ, n)
    filled: LongArray  # (4,) how many positions, edges, states and rows of payoffs there are

    @classmethod
    def empty(cls, players: int, memory: int) -> Growth:
        """With room for ``memory`` bytes: a system gives pages of zeros when they are first written to, so that this
        costs nothing, and copying arrays that grow, which takes a good part of a move's clock, is left out."""
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
            np.zeros(1024, dtype=np.int32),  # short: the largest is looked for at every step of a search
            np.zeros((1024, players)),
            np.zeros(4, dtype=np.int64),
        )

    def with_room(self, positions: int, edges: int, states: int = 0, menus: int = 0) -> Growth:
        """As it is, or longer: for so many more of each, menus being counted by their numbers."""
        p, e, s, r = (int(size) for size in self.filled)
        sizes = [p + positions] * 6 + [e + edges] * 4 + [s + states] * 2 + [menus, r + states]
        longest: list[Any] = [longer(array, size) for array, size in zip(self[:-1], sizes, strict=True)]  # type: ignore[type-var]
        return Growth._make([*longest, self.filled])


@linked_kernel
@borrowing
def add_position(g: Any, player: Any, content: Any, size: Any, state: Any, via: Any) -> Any:
    """A new position with its edges, all of them open."""
    p, e = g.filled[POSITIONS], g.filled[EDGES]
    g.player[p], g.content[p], g.state[p], g.via[p] = player, content, state, via
    g.first[p], g.size[p] = e, size
    for k in range(e, e + size):
        g.child[k], g.source[k], g.probability[k] = OPEN, p, 1.0
        for i in range(g.token.shape[1]):
            g.token[k, i] = NO_TOKEN
    g.filled[POSITIONS], g.filled[EDGES] = p + 1, e + size
    return p


@kernel
@borrowing
def add_choice(g: Any, content: Any, size: Any, state: Any, via: Any) -> Any:
    """A position at which nature answers a joint move."""
    return add_position(g, CHANCE, content, size, state, via)


@linked_kernel
@borrowing
def enter(g, edge):
    """The position behind an edge, made where it stands inside a step; ``OPEN`` where the source has to be asked."""
    found = g.child[edge]
    if found != OPEN:
        return found
    p = g.source[edge]
    if g.player[p] < 0:
        return np.int32(OPEN)
    s = g.state[p]
    for later in range(g.player[p] + 1, g.menus.shape[1]):
        menu = g.menus[s, later]
        if menu != NO_MENU:
            found = np.int32(add_position(g, later, menu, g.choices[menu], s, edge))
            g.child[edge] = found
            return found
    return np.int32(OPEN)


@kernel
@borrowing
def enter_all(g, edges, asked):
    """Enters edges; those that are left to the source go to ``asked``, each once.  Returns how many."""
    count = 0
    for edge in edges:
        if enter(g, edge) == OPEN:
            asked[count] = edge
            count += 1
    return count


@kernel
@borrowing
def begin_state(g: Any, state: Any, terminal: Any, content: Any, nature: Any) -> Any:
    """The position in which a state's step begins; ``nature`` is the menu of nature where nobody else moves."""
    if terminal:
        return add_position(g, TERMINAL, content, 0, state, OUTSIDE)
    for player in range(g.menus.shape[1]):
        menu = g.menus[state, player]
        if menu != NO_MENU:
            return add_position(g, player, menu, g.choices[menu], state, OUTSIDE)
    return add_position(g, CHANCE, nature, g.choices[nature], state, OUTSIDE)


@linked_kernel
@borrowing
def grown(states, known, token):
    """The information state behind one more token; ``states`` has room for it."""
    return intern_pair(states, np.int64(known), np.int64(token))


@kernel
@borrowing
def _behind(states, known, tokens):
    """Information states (K, n) after tokens (K, n), in place."""
    for k in range(len(known)):
        for i in range(known.shape[1]):
            if tokens[k, i] != NO_TOKEN:
                known[k, i] = grown(states, known[k, i], tokens[k, i])


@kernel
@borrowing
def _mark_parents(parent, marked):
    """The parents of marked information states too, and theirs."""
    for k in range(len(parent) - 1, -1, -1):
        if marked[k] and parent[k] >= 0:
            marked[parent[k]] = True


@kernel
@borrowing
def _owners(parent, owner):
    """Whose information states they are."""
    for k in range(len(parent)):
        owner[k] = owner[parent[k]] if parent[k] >= 0 else -1 - parent[k]


@kernel
@borrowing
def _take_over(states, needed, parent, token, number):
    """Information states of another tree, parents first, under their tokens here: their numbers."""
    for k in range(len(needed)):
        s = needed[k]
        number[s] = grown(states, number[parent[s]], token[k]) if parent[s] >= 0 else -1 - parent[s]


class GrowingStates:
    """The tree of all players' information states: each is its parent and one more token.

    Player ``p`` starts in state ``p``.  Numbers do not depend on how many tokens are known.
    """

    def __init__(self, start_tokens: tuple[int, ...]) -> None:
        self.rows = Rows.empty()
        self.room(len(start_tokens))
        for player, token in enumerate(start_tokens):
            intern(self.rows, np.array([-1 - player, token], dtype=np.int64))

    def __len__(self) -> int:
        return int(self.rows.size[0])

    def room(self, more: int) -> Rows:
        """The rows, with room for so many more states."""
        self.rows = self.rows.with_room(more, 2 * more)
        return self.rows

    def behind(self, known: LongArray, tokens: IntArray) -> LongArray:
        """What everybody knows (K, n) after seeing tokens (K, n), ``NO_TOKEN`` for nothing."""
        known = known.copy()
        _behind(self.room(known.size), known, tokens)
        return known

    def needed(self, numbers: LongArray) -> LongArray:
        """The states with so many numbers, and all before them, in order."""
        marked = np.zeros(len(self), dtype=np.bool_)
        marked[numbers] = True
        _mark_parents(self.parent, marked)
        return np.flatnonzero(marked)

    def owners(self) -> LongArray:
        """(states,) whose each is."""
        owner = np.zeros(len(self), dtype=np.int64)
        _owners(self.parent, owner)
        return owner

    def after(self, state: int, token: int) -> int:
        """The state one token further."""
        return int(intern(self.room(1), np.array([state, token], dtype=np.int64)))

    @property
    def parent(self) -> LongArray:
        """(states,) the state one token before; negative at the start."""
        return self.rows.data[0 : 2 * len(self) : 2]

    @property
    def token(self) -> LongArray:
        """(states,) the last token of each."""
        return self.rows.data[1 : 2 * len(self) : 2]

    def path(self, state: int) -> tuple[int, list[int]]:
        """Whose state it is, and the tokens by which that player came to it, what it sees of the start left out."""
        tokens = []
        data = self.rows.data
        while data[2 * state] >= 0:
            tokens.append(int(data[2 * state + 1]))
            state = int(data[2 * state])
        return state, tokens[::-1]


class Source(Protocol):
    """What knows the rules of a game."""

    open: bool
    """Whether everybody sees everything."""

    def start(self, graph: GrowingGraph) -> tuple[int, ...]:
        """Add the first state; returns every player's token of it, ``NO_TOKEN`` for nothing."""

    def ask(self, graph: GrowingGraph, edges: LongArray) -> None:
        """Find out what lies behind edges (K,), which complete a step or are nature's: ``child``, ``token``.

        Where nature answers, an edge may lead to its choice.
        """

    def menu(self, number: int) -> tuple[Action, ...]:
        """The moves of a menu."""

    def token_number(self, player: int, token: Token) -> int:
        """The number of what a player saw; ``NO_TOKEN`` where nothing like it can be seen."""

    def token(self, number: int) -> Token:
        """What a number stands for."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest payoff, as far as is known."""

    bounded: bool
    """Whether there are no payoffs beyond these bounds."""

    @property
    def offered(self) -> Rows:
        """The moves of all menus, by numbers; a move of a player has the same in all of them."""

    def playouts(self, graph: GrowingGraph, positions: LongArray, each: int, seed: int) -> FloatArray:
        """Mean payoffs (K, n) of ``each`` random plays from positions (K,) at which a step begins."""

    def take_over(self, graph: GrowingGraph, other: Any, states: LongArray) -> LongArray:
        """The positions at which the steps of states (K,) begin that another source of the same game has numbered."""

    @property
    def nbytes(self) -> int:
        """Bytes of what it keeps, estimated where Python objects are kept."""


class Numbered(Generic[T]):
    """What stands behind numbers, read like a list."""

    def __init__(self, of: Callable[[int], T]) -> None:
        self.of = of

    def __getitem__(self, number: int) -> T:
        return self.of(number)


class GrowingGraph:
    """A game's positions as far as they were asked for.  Who asks, or reads what may grow, has it ``held``.

    A source makes a state, or what lies behind an edge, whole or not at all: what ends in the middle, at a clock or
    for want of memory, leaves a graph that can be asked again.

    >>> from infoset.tree.growing import growing_graph
    >>> graph = growing_graph(infoset.load("gdl:tic_tac_toe"))
    >>> graph.moves(0)[:2]
    (('mark', 1, 1), ('mark', 1, 2))
    """

    def __init__(self, game: Game, source: Source, memory: int, clock: Clock = ENDLESS) -> None:
        """``memory`` in bytes; what the start need not wait for ends at ``clock``."""
        self.game, self.source, self.memory, self.clock = game, source, memory, clock
        self.players = game.players
        self.lock = threading.RLock()  # an agent that is late goes on in its thread while the others move
        self.arrays, self.states = Growth.empty(len(game.players), memory), GrowingStates(())
        self.start_tokens = source.start(self)
        self.states, self.clock = GrowingStates(self.start_tokens), ENDLESS

    @contextmanager
    def held(self, clock: Clock = ENDLESS) -> Iterator[None]:
        """For this thread alone.  When the clock rings, waiting for another thread ends with ``ClockError``, and so
        does what is asked for."""
        if not self.lock.acquire(timeout=-1.0 if clock.until == inf else clock.left):
            raise ClockError("the clock ran out while another thread had the graph")
        before, self.clock = self.clock, clock
        try:
            with rules_until(self.game, clock):
                yield
        finally:
            self.clock = before
            self.lock.release()

    @property
    def open(self) -> bool:
        """Whether everybody sees everything: then what a player knows is the state."""
        return self.source.open

    def room(self, positions: int, edges: int, states: int = 0, menus: int = 0) -> Growth:
        """The arrays, with room for so many more.  Raises ``BudgetError`` where the memory is used up."""
        if self.nbytes > self.memory:
            raise BudgetError(f"{self.game.name}: what was looked at takes more than {self.memory:,} bytes")
        self.arrays = self.arrays.with_room(positions, edges, states, menus)
        return self.arrays

    @property
    def nbytes(self) -> int:
        """Bytes of what is filled; pages of arrays that were never written to take none."""
        p, e, s, r = self.arrays.filled.tolist()
        n = len(self.players)
        return (
            int(21 * p + (16 + 4 * n) * e + 4 * (n + 1) * s + 8 * n * r) + self.states.rows.nbytes + self.source.nbytes
        )

    def moves(self, position: int) -> tuple[Action, ...]:
        """The moves of whoever moves at a position, or nature's answers."""
        return self.source.menu(int(self.arrays.content[position]))

    def menus_of(self, positions: LongArray, player: int) -> IntArray:
        """(K,) the menus of a player in the steps in which positions stand, by their numbers; or ``NO_MENU``."""
        g = self.arrays
        return np.asarray(g.menus[g.state[positions], player])

    def menu(self, position: int, player: int) -> tuple[Action, ...]:
        """The moves of a player in the step in which a position stands."""
        content = int(self.arrays.menus[self.arrays.state[position], player])
        return () if content == NO_MENU else self.source.menu(content)

    def widest(self) -> int:
        """Moves in the largest menu met so far."""
        return int(self.arrays.choices.max(initial=1))

    def ask(self, edges: LongArray) -> None:
        """Find out what lies behind edges (K,).  Raises ``ClockError`` and ``BudgetError``; some are known then."""
        for begin in range(0, len(edges), PORTION):
            self.clock()
            portion = edges[begin : begin + PORTION]
            g = self.room(len(portion), len(portion) * self.widest())
            asked = np.zeros(len(portion), dtype=np.int64)
            asked = np.unique(asked[: enter_all(g, portion, asked)])
            if len(asked):
                self.source.ask(self, asked)

    def worth(self, positions: LongArray, each: int, seed: int) -> FloatArray:
        """(K, n) what positions (K,) at which a step begins pay at an end, else what ``each`` random plays from them
        pay in the mean.  Raises ``ClockError``."""
        over = self.arrays.player[positions] == TERMINAL
        found: FloatArray = self.arrays.payoffs[np.where(over, self.arrays.content[positions], 0)]
        going = np.flatnonzero(~over)
        for begin in range(0, len(going), PLAYED):
            self.clock()
            rows = going[begin : begin + PLAYED]
            found[rows] = self.source.playouts(self, positions[rows], each, seed + begin)
        return found

    def positions_of(self, other: GrowingGraph, positions: LongArray) -> LongArray:
        """Positions (K,) of another graph of the game, at which steps begin, as they are called here."""
        states, place = np.unique(other.arrays.state[positions], return_inverse=True)
        return self.source.take_over(self, other.source, states.astype(np.int64))[place].astype(np.int64)

    def states_of(self, other: GrowingGraph, numbers: LongArray) -> LongArray:
        """Information states (K,) of another graph of the game, as they are called here."""
        needed, owner = other.states.needed(numbers), other.states.owners()
        seen = np.column_stack([owner, other.states.token])[needed]
        pairs, place = np.unique(seen, axis=0, return_inverse=True)
        here = [
            NO_TOKEN if token == NO_TOKEN else self.source.token_number(player, other.source.token(token))
            for player, token in pairs.tolist()
        ]
        found = np.zeros(len(other.states), dtype=np.int64)
        token = np.array(here, dtype=np.int64)[place.ravel()]
        _take_over(self.states.room(len(needed)), needed, other.states.parent, token, found)
        return found[numbers]

    def spread(self, positions: LongArray) -> tuple[LongArray, LongArray]:
        """All edges out of positions (K,), and which of the positions each leaves."""
        g = self.arrays
        sizes = g.size[positions].astype(np.int64)
        source = np.repeat(np.arange(len(positions)), sizes)
        offset = np.cumsum(sizes) - sizes
        return np.arange(len(source)) - np.repeat(offset - g.first[positions], sizes), source

    def ends(self, edges: LongArray) -> BoolArray:
        """(K,) whether edges end a step, of those that were asked for."""
        return np.asarray(self.arrays.via[self.arrays.child[edges]] == OUTSIDE)

    def decides(self, positions: LongArray, player: int) -> BoolArray:
        """(K,) whether a player has a move in the step that begins, or goes on, at positions (K,)."""
        g = self.arrays
        mover = g.player[positions]
        return np.asarray((g.menus[g.state[positions], player] != NO_MENU) & (mover >= 0) & (mover <= player))

    def key(self, state: int) -> str:
        """The readable key of an information state."""
        player, path = self.states.path(state)
        first = [] if self.start_tokens[player] == NO_TOKEN else [self.start_tokens[player]]
        return information_key(tuple(map(self.source.token, first + path)))

    @property
    def low(self) -> float:
        """The least payoff, as far as is known."""
        return self.source.bounds[0]

    @property
    def high(self) -> float:
        """The greatest payoff, as far as is known."""
        return self.source.bounds[1]

    @property
    def name(self) -> str:
        """Of the game."""
        return self.game.name

    @property
    def menus(self) -> Numbered[tuple[Action, ...]]:
        """By their numbers."""
        return Numbered(self.source.menu)

    @property
    def tokens(self) -> Numbered[Token]:
        """By their numbers."""
        return Numbered(self.source.token)

    @property
    def payoffs(self) -> FloatArray:
        """(rows, n)"""
        return self.arrays.payoffs

    @property
    def player(self) -> npt.NDArray[np.int8]:
        """(P,) who moves."""
        return self.arrays.player

    @property
    def content(self) -> IntArray:
        """(P,) the number of a menu, or a row of payoffs."""
        return self.arrays.content

    @property
    def first(self) -> IntArray:
        """(P,) the first edge of each position."""
        return self.arrays.first

    @property
    def num_edges(self) -> IntArray:
        """(P,) edges of each position."""
        return self.arrays.size

    @property
    def child(self) -> IntArray:
        """(E,) where edges lead, or ``OPEN``."""
        return self.arrays.child

    @property
    def probability(self) -> FloatArray:
        """(E,) of nature's answers."""
        return self.arrays.probability

    @property
    def token(self) -> IntArray:
        """(E, n) what is seen on edges, of those that were asked for."""
        return self.arrays.token


def rules_until(game: Game, clock: Clock) -> AbstractContextManager[None]:
    """Within it what is asked of the rules of a game ends at a clock, where they can be interrupted."""
    until = getattr(game, "until", None)
    return until(clock) if until and clock.until < inf else nullcontext()


def growing_graph(game: Game, memory: int = 0, clock: Clock = ENDLESS) -> GrowingGraph:
    """A graph of a game with nothing in it but the start; ``memory`` in bytes, a quarter of what is free by default.

    By compiled code where the game has it: its ``source()`` says so.

    >>> from infoset.tree.growing import growing_graph
    >>> graph = growing_graph(infoset.load("kuhn_poker"))
    >>> graph.moves(0)[:2]                      # nature deals
    ('J', 'Q')
    """
    from infoset.tree.rules_source import RulesSource

    made = getattr(game, "source", None)
    source = (made() if made else None) or RulesSource(game, bool(getattr(game, "everybody_sees", False)))
    return GrowingGraph(game, source, memory or free_memory() // 4, clock)
