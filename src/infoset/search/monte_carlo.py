"""Agents that search by random plays: the floors and rivals of ``search``, each on the same growing graph.

``flat-mc`` plays at random after each of its moves and takes the one that pays best in the mean.  ``uct`` keeps a tree
of the states that it walks through, for games in which everybody sees everything.  ``pimc`` grows such a tree in each
of some worlds that it holds possible, as if everybody saw the world, and adds up.  ``is-mcts`` keeps one tree for each
player, of what that player knows, and draws a world for every walk.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from infoset.base import Action, BoolArray, FloatArray, Game, Observation, Token, own_token
from infoset.clock import ENDLESS, Clock, uninterrupted
from infoset.errors import BudgetError, ClockError, ParameterError, UnsupportedGameError
from infoset.memory import free_memory
from infoset.names import check_choice, check_range
from infoset.search.beliefs import Beliefs, account
from infoset.search.ranges import EDGES, Range, Ranges, drawn
from infoset.search.tree_search import OWN, SEARCHERS, STATE, RandomPlays, TreeSearch
from infoset.statistics import draw
from infoset.tree.graph import NO_TOKEN
from infoset.tree.growing import NO_MENU, GrowingGraph, growing_graph
from infoset.warm_up import ready

SPARE, SHARE, MOST_SHARE = 0.02, 0.03, 0.15  # seconds and share of a clock that a busy core may cost; at most so much
MOST_WORLDS = 4_000  # histories that are kept of what may have happened
LEAST_WORLDS = 16
FEWER = 4  # of which that part is left where they take too much time or memory
HURRIES = 2  # times that the range is tried again with fewer histories
FEW_EDGES = 200  # of which the time tells nothing
TRIES = 3  # at a move, each on a graph that is begun anew
ROUNDS = 1_000_000_000
MULTI, SINGLE = OBSERVERS = ("multi", "single")

FULL = 0.5  # of the memory: with a graph that is fuller no game begins

_graphs: weakref.WeakKeyDictionary[Any, dict[int, GrowingGraph]] = weakref.WeakKeyDictionary()


def shared_graph(game: Game, memory: int = 0, full: GrowingGraph | None = None, clock: Clock = ENDLESS) -> GrowingGraph:
    """The graph that all agents of this process share which play that game with so many bytes, a third of which are its
    own; another one where it is the ``full`` one."""
    try:
        shared = _graphs.setdefault(getattr(game, "rules", game), {})
    except TypeError:  # a game that is a tuple, say, cannot be forgotten with its last user, so nobody shares it
        shared = {}
    found = shared.get(memory)
    if found is None or found is full or found.nbytes > FULL * found.memory:
        shared.pop(memory, None)
        found = shared[memory] = growing_graph(game, (memory or free_memory() // 4) // 3, clock)
    return found


@dataclass(frozen=True)
class Budget:
    """What a search may take at a move."""

    seconds_per_move: float = 1.0
    """Where the match has no clock for moves."""
    nodes: int = 0
    """Leaves that are valued at a move, instead of ``seconds_per_move``: then a game can be repeated exactly, unless a
    match's clock cuts.  0: as many as the clock allows."""
    playouts: int = 4
    """Random plays from each leaf."""
    memory: int = 0
    """MiB: a third for positions, which all agents of a process share that play the game, a sixth for the tree of a
    search, a sixth for beliefs, and the rest for what is not kept; 0: a quarter of what is free."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.seconds_per_move <= 86_400.0:
            raise ParameterError(f"seconds_per_move={self.seconds_per_move}; allowed: more than 0, to 86400")
        check_range("nodes", self.nodes, 0, 2**31)
        check_range("playouts", self.playouts, 1, 4096)
        check_range("memory", self.memory, 0, 1 << 30)
        check_range("seed", self.seed, 0, 2**31)


class GraphAgent:
    """Follows a game on its growing graph, and chooses from the histories that explain what it saw.

    What it sees is worked out when it has to move, within the clock of that move: the rest waits for the next.  Where
    the graph is full, it takes what may be now to a new one and drops the rest.  Whatever happens, it moves in time:
    ``faults`` lists where it moved at random, as no history explains what it saw, or no time or memory was left;
    ``unknown`` counts its moves at random.
    """

    name = "graph"

    def __init__(self, budget: Budget) -> None:
        ready("growing")
        self.budget = budget
        self.faults: list[str] = []
        self.beliefs, self.unknown = Beliefs(), 0
        self.an_edge, self.begun = 0.0, False

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.game, self.player, self.rng, self.moved, self.tries = game, player, rng, 0, 0
        self.begun = self.hurried = False
        self.seed = seed_of(self.budget.seed, int(rng.integers(2**31)))
        self.heard: deque[Token] = deque()
        clock = Clock(inf if deadline is None else before(deadline))
        self.graph, self.state = shared_graph(game, self.budget.memory << 20, clock=clock), player
        self.check(self.graph)
        entries = self.graph.memory // 2 // (16 + 8 * len(game.players))
        self.ranges = Ranges(self.graph, seed=self.seed, most=MOST_WORLDS, entries=entries)
        self.waits = self.graph.start_tokens[player] != NO_TOKEN
        self.prepare()
        self.begun = True

    def check(self, graph: GrowingGraph) -> None:
        """Raise ``UnsupportedGameError`` for a game that it is not made for."""

    def prepare(self) -> None:
        """For a game that begins, or goes on with a new graph."""

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        token = own_token(own_move, observation)
        if not self.begun:
            return
        if self.waits:  # what is seen of the start is always the same
            self.waits = False
        elif token is not None:
            self.heard.append(token)

    @uninterrupted()
    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal) == 1:
            return legal[0]
        if not self.begun:
            self.faults.append("the clock of the start ran out before the game was looked at")
            self.unknown += 1
            return legal[int(self.rng.random() * len(legal))]
        self.began = time.monotonic()
        row = self._row_in_time(legal, self._until(deadline))
        self.moved += 1
        self.unknown += row is None
        return legal[int(self.rng.random() * len(legal))] if row is None else draw(legal, row, self.rng)

    def _until(self, deadline: float | None) -> float:
        """When a move that is asked for now has to be found."""
        if deadline is not None:
            return before(deadline)
        return inf if self.budget.nodes else before(self.began + self.budget.seconds_per_move)

    def _row_in_time(self, legal: tuple[Action, ...], until: float) -> list[float] | None:
        """The chances of its moves, if need be on a new graph; ``None`` where it has to move at random."""
        problem = ""
        for self.tries in range(TRIES):
            try:
                if self.tries:
                    self._renew(Clock(until))
                return self.move_chances(legal, until)
            except ClockError as error:
                problem = str(error)
                break
            except BudgetError as error:
                problem = str(error)
                if self.tries:
                    self._reckon_with_fewer()
        self.faults.append(problem)
        return None

    def _renew(self, clock: Clock) -> None:
        """Take what may be now to a graph in which nothing else is yet."""
        full = self.graph
        graph = shared_graph(self.game, self.budget.memory << 20, full, clock)
        with full.held(clock), graph.held(clock):
            self.state = self.ranges.move_to(graph, self.state)
        self.graph = graph
        self.prepare()

    def move_chances(self, legal: tuple[Action, ...], until: float) -> list[float] | None:
        """The chances of its moves; ``None`` where nothing explains what it saw.

        Raises ``ClockError`` where no time was left to value a leaf, ``BudgetError`` where the graph is full.
        """
        self.full = ""
        roots = self.roots(legal, until)
        if roots is None:
            return None
        menu = self.graph.menu(int(roots.position[0]), self.player)
        self.offered = np.array([move in legal for move in menu])
        chances = self.search(roots, len(menu), until)
        if not chances.any():
            if self.full:
                raise BudgetError(self.full)
            raise ClockError(f"the clock ran out before a leaf was valued, after {self.moved} moves")
        return by_name(menu, chances, legal)

    def roots(self, legal: tuple[Action, ...], until: float) -> Range | None:
        """The histories in which it has to move now; ``None`` where none explains what it saw, or offers these moves.

        As many as half of the time that half of the clock leaves seems to allow; where that is not enough fewer in half
        of what is left, of which none need explain the last thing seen, and so at once at the next move.  Raises
        ``ClockError`` where that is not enough either, and ``BudgetError``.
        """
        self._reckon(until)
        self.ranges.relaxed, self.hurried = self.hurried, False
        for attempt in range(1 + HURRIES):
            began, looked = time.monotonic(), self.ranges.looked
            try:
                with self.graph.held(Clock((began + until) / 2)):
                    found = self._offered(self._asked(), legal)
                if found is not None or self.state == NO_TOKEN or self.ranges.relaxed:
                    break
            except ClockError:
                if attempt == HURRIES:
                    raise
            finally:
                if (edges := self.ranges.looked - looked) > FEW_EDGES:
                    self.an_edge = (time.monotonic() - began) / edges
            self.ranges.relaxed = self.hurried = True
            self._reckon_with_fewer()
        if found is None:
            self.beliefs.lose()
            self.faults.append(f"no history explains what player {self.player} saw after {self.moved} moves")
            return None
        self.beliefs.note(found, self.state not in self.ranges.thinned, self.state in self.ranges.near)
        return found

    def _offered(self, found: Range | None, legal: tuple[Action, ...]) -> Range | None:
        """Those of the histories in which it is offered these moves, if any; where none explains the last thing seen,
        those with the most alike."""
        if found is None or not found.size:
            return None
        menus = self.graph.menus_of(found.position, self.player)
        numbers = [number for number in np.unique(menus).tolist() if number != NO_MENU]
        right = [number for number in numbers if self.graph.source.menu(number) == legal]
        if not right and self.ranges.relaxed and numbers:
            right = sorted(numbers, key=lambda number: alike(self.graph.source.menu(number), legal))[-1:]
        rows = np.flatnonzero(np.isin(menus, right))
        if not len(rows):
            return None
        found = found.take(rows)
        return found._replace(weight=found.weight / max(float(found.weight.sum()), 1e-300))

    def _reckon(self, until: float) -> None:
        """From here on with as many histories as a quarter of the time left allows: by what an edge took before."""
        if self.an_edge and until < inf:
            edges = (until - time.monotonic()) / 4 / self.an_edge
            self.ranges.most = min(MOST_WORLDS, max(LEAST_WORLDS, int(edges / EDGES / max(len(self.heard), 1))))

    def _reckon_with_fewer(self) -> None:
        """From here on with fewer histories."""
        self.ranges.most = max(LEAST_WORLDS, self.ranges.most // FEWER)

    def _asked(self) -> Range | None:
        """The same, with what it heard meanwhile."""
        while self.heard and self.state != NO_TOKEN:
            number = self.graph.source.token_number(self.player, self.heard[0])
            self.state = NO_TOKEN if number == NO_TOKEN else self.ranges.behind(self.state, number)
            self.heard.popleft()
        return self.ranges.asked(self.player, self.state) if self.state != NO_TOKEN else None

    def walk(self, search: TreeSearch, roots: Range, leaves: int, until: float) -> None:
        """Let a search value so many leaves.  Raises ``BudgetError`` where the graph is full, unless what was found by
        then has to do: on a graph begun at this move, or when half of the clock is gone."""
        try:
            search.run(roots, leaves, until)
        except BudgetError as error:
            if not self.tries and time.monotonic() < (self.began + until) / 2:
                raise
            self.full = str(error)

    def search(self, roots: Range, size: int, until: float) -> FloatArray:
        """The chances of so many moves; all zero where no leaf was valued."""
        raise NotImplementedError

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def account(self) -> str:
        """With which beliefs it moved, and how often at random."""
        return account(self.beliefs, self.unknown, self.faults)

    def grown(self, by: int, exploration: float, number: int = 0, flat: bool = False) -> TreeSearch:
        """A search with no node yet; ``number`` tells those of one moment apart."""
        graph, playouts = self.graph, self.budget.playouts
        seed = seed_of(self.seed, self.moved, number)
        leaves = RandomPlays(graph, playouts, seed)
        return TreeSearch(graph, leaves, by, self.player, exploration, seed, flat)

    def leaves(self) -> int:
        """How many leaves may be valued."""
        return self.budget.nodes or ROUNDS


def alike(menu: tuple[Action, ...], legal: tuple[Action, ...]) -> tuple[bool, int]:
    """Whether all moves of a menu are on offer, and how many."""
    shared = len(set(legal).intersection(menu))
    return shared == len(menu), shared


def by_name(menu: tuple[Action, ...], chances: FloatArray, legal: tuple[Action, ...]) -> list[float] | None:
    """The chances of other moves than a menu's; ``None`` where none of them is on offer."""
    if menu == legal:
        return chances.tolist()  # type: ignore[no-any-return]
    known = dict(zip(menu, chances.tolist(), strict=True))
    row = [known.get(move, 0.0) for move in legal]
    total = sum(row)
    return [chance / total for chance in row] if total else None


def before(deadline: float) -> float:
    """When to end, to be there at a deadline."""
    now = time.monotonic()
    left = deadline - now
    return deadline - min(SPARE + SHARE * left, MOST_SHARE * left)


def seed_of(*numbers: int) -> int:
    """A seed below 2**31 from several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0]) >> 1


def most_visited(search: TreeSearch, roots: Range, offered: BoolArray) -> FloatArray:
    """All on the move on offer that was made most often, of several the one that paid best; nothing if none was made.

    What is proved counts more: a move that pays as much as can be is made, and one that pays less than another not.
    """
    key, size = search.key(roots), len(offered)
    visits, paid = search.seen(key, size)
    proved = search.proved(key, size)
    known = ~np.isnan(proved)
    if known.any():
        paid = np.where(known, proved, paid)
        visits[known & (paid < paid[visits > 0].max(initial=-np.inf))] = 0.0
        visits[paid >= search.rule.best] = np.inf
    visits, paid = np.where(offered, visits, 0.0), np.where(offered, paid, -np.inf)
    row = np.zeros(size)
    row[np.lexsort((paid, visits))[-1]] = float(visits.any())
    return row


@dataclass(frozen=True)
class FlatMc(Budget):
    """Random plays after each of its moves, from every world that it holds possible; the best mean is played."""

    def agent(self) -> GraphAgent:
        """The agent."""
        return FlatMcAgent(self)


class FlatMcAgent(GraphAgent):
    """Every move as often as any other."""

    name = "flat-mc"

    def search(self, roots: Range, size: int, until: float) -> FloatArray:
        search = self.grown(SEARCHERS, 1e6, flat=True)
        self.walk(search, roots, self.leaves(), until)
        visits, paid = search.seen(search.key(roots), size)
        row = np.zeros(size)
        visits = np.where(self.offered, visits, 0.0)
        row[int(np.argmax(np.where(visits > 0, paid, -np.inf)))] = float(visits.any())
        return row


@dataclass(frozen=True)
class Uct(Budget):
    """Upper confidence bounds on trees, for games in which everybody sees everything."""

    exploration: float = 0.2
    """Of payoffs between 0 and 1."""

    def agent(self) -> GraphAgent:
        """The agent."""
        return UctAgent(self)


class UctAgent(GraphAgent):
    """What it learnt of states stays for the moves to come."""

    name = "uct"

    def __init__(self, budget: Uct) -> None:
        super().__init__(budget)
        self.exploration = budget.exploration

    def check(self, graph: GrowingGraph) -> None:
        if not graph.open:
            raise UnsupportedGameError(
                f"uct is for games in which everybody sees everything, not for {graph.game.name}; is-mcts plays it"
            )

    def prepare(self) -> None:
        self.kept = self.grown(STATE, self.exploration)

    def search(self, roots: Range, size: int, until: float) -> FloatArray:
        self.walk(self.kept, roots, self.leaves(), until)
        return most_visited(self.kept, roots, self.offered)


@dataclass(frozen=True)
class IsMcts(Budget):
    """Information-set Monte Carlo tree search (Cowling, Powley & Whitehouse 2012)."""

    observers: str = MULTI
    """``multi``: a tree for each player, of what it knows; ``single``: one tree, of what the searcher knows."""
    exploration: float = 0.7
    """Of payoffs between 0 and 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("observers", self.observers, OBSERVERS)

    def agent(self) -> GraphAgent:
        """The agent."""
        return IsMctsAgent(self)


class IsMctsAgent(GraphAgent):
    """What it learnt of information states stays for the moves to come."""

    name = "is-mcts"

    def __init__(self, budget: IsMcts) -> None:
        super().__init__(budget)
        self.by, self.exploration = OWN if budget.observers == MULTI else SEARCHERS, budget.exploration

    def prepare(self) -> None:
        self.kept = self.grown(STATE if self.graph.open else self.by, self.exploration)
        if self.kept.rule.by == OWN:
            self.ranges.moves = self.kept.chances

    def search(self, roots: Range, size: int, until: float) -> FloatArray:
        self.walk(self.kept, roots, self.leaves(), until)
        return most_visited(self.kept, roots, self.offered)


@dataclass(frozen=True)
class Pimc(Budget):
    """Perfect-information Monte Carlo: each world by itself, as if everybody saw it; the visits added up."""

    worlds: int = 20
    """Drawn at each move."""
    exploration: float = 0.7
    """Of payoffs between 0 and 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("worlds", self.worlds, 1, 10_000)

    def agent(self) -> GraphAgent:
        """The agent."""
        return PimcAgent(self)


class PimcAgent(GraphAgent):
    """Fuses strategies: it counts on knowing later what it will not know."""

    name = "pimc"

    def __init__(self, budget: Pimc) -> None:
        super().__init__(budget)
        self.worlds, self.exploration = budget.worlds, budget.exploration

    def search(self, roots: Range, size: int, until: float) -> FloatArray:
        worlds = drawn(roots, self.worlds, np.random.default_rng(seed_of(self.seed, self.moved)))
        votes, began = np.zeros(size), time.monotonic()
        for k in range(worlds.size):
            search = self.grown(STATE, self.exploration, k)
            share = until if self.budget.nodes else began + (until - began) * (k + 1) / worlds.size
            one = worlds.take(np.array([k]))
            self.walk(search, one, -(-self.leaves() // worlds.size), share)
            visits, _ = search.seen(search.key(one), size)
            votes += worlds.weight[k] * visits / max(float(visits.sum()), 1.0)
        row = np.zeros(size)
        votes = np.where(self.offered, votes, 0.0)
        row[int(np.argmax(votes))] = float(votes.any())
        return row
