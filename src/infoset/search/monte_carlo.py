"""Agents that search by random playouts, all on the same lazy graph: the baselines and rivals of ``search``.

``flat-mc`` makes random playouts after each of its moves and plays the move with the best mean.  ``uct`` keeps a tree
of the states that it visits, for games in which everybody sees everything.  ``pimc`` grows such a tree in each of
several worlds of its belief, as if everybody saw the world, and adds up the visits.  ``is-mcts`` keeps one tree for
each player, over that player's information states, and draws a world for every walk.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from infoset.base import Action, BoolArray, FloatArray, Game, Observation, ObservationRecord, own_record
from infoset.clock import ENDLESS, Clock, uninterrupted
from infoset.errors import BudgetError, ClockError, ParameterError, UnsupportedGameError
from infoset.memory import free_memory
from infoset.names import check_choice, check_range
from infoset.search.belief import EDGES, BeliefTracker
from infoset.search.belief_statistics import BeliefStatistics, account
from infoset.search.histories import Belief, drawn
from infoset.search.leaf_values import Heuristic, HeuristicLeaves, Leaves, RandomPlays, load_heuristic
from infoset.search.tree_search import OWN, SEARCHERS, STATE, TreeSearch
from infoset.statistics import draw
from infoset.tree.graph import NO_RECORD
from infoset.tree.lazy_graph import NO_ACTION_SET, LazyGraph
from infoset.tree.rules_source import build_lazy_graph
from infoset.warm_up import ready

SPARE, SHARE, MOST_SHARE = 0.02, 0.03, 0.15  # seconds and share of a clock kept for a busy core; at most so much
MOST_WORLDS = 4_000  # histories kept in a belief
LEAST_WORLDS = 16
FEWER = 4  # the factor by which their number is cut where they take too much time or memory
HURRIES = 2  # times that the belief is computed again with fewer histories
TRIES = 3  # attempts at a move, each after the first on a new graph
ROUNDS = 1_000_000_000
MULTI, SINGLE = OBSERVERS = ("multi", "single")

FULL = 0.5  # of the memory: no game begins on a graph that is fuller

_graphs: weakref.WeakKeyDictionary[Any, dict[int, LazyGraph]] = weakref.WeakKeyDictionary()


def shared_graph(game: Game, memory: int = 0, full: LazyGraph | None = None, clock: Clock = ENDLESS) -> LazyGraph:
    """Return the graph that all agents of this process share for a game and a memory limit in bytes.

    A third of the memory is the graph's own.  A new graph is made where the shared one is ``full`` or has used up more
    than half of its memory.
    """
    try:
        shared = _graphs.setdefault(getattr(game, "rules", game), {})
    except TypeError:  # a tuple takes no weak reference: its graph would never be freed, so it is not shared
        shared = {}
    found = shared.get(memory)
    if found is None or found is full or found.nbytes > FULL * found.memory:
        shared.pop(memory, None)
        found = shared[memory] = build_lazy_graph(game, (memory or free_memory() // 4) // 3, clock)
    return found


@dataclass(frozen=True)
class Budget:
    """The resources that a search may use at a move."""

    seconds_per_move: float = 1.0
    """Time for a move, used where the match has no clock for moves."""
    nodes: int = 0
    """Number of leaves to evaluate at a move, instead of ``seconds_per_move``: games are then exactly repeatable,
    unless a match's clock cuts the search short.  0: as many as the clock allows."""
    playouts: int = 4
    """Random playouts from each leaf."""
    heuristic: str | Heuristic = ""
    """An estimate of a leaf's value instead of random playouts: a function that takes a state and returns every
    player's payoff, or its name, ``python:FILE.py:function``."""
    memory: int = 0
    """Memory in MiB: a third for positions (shared by all agents of a process that play the game), a sixth for the tree
    of a search, a sixth for beliefs, the rest for temporary data.  0: a quarter of the free memory."""
    seed: int = 0

    fewest_playouts: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not 0.0 < self.seconds_per_move <= 86_400.0:
            raise ParameterError(f"seconds_per_move={self.seconds_per_move}; allowed: more than 0, to 86400")
        check_range("nodes", self.nodes, 0, 2**31)
        check_range("playouts", self.playouts, self.fewest_playouts, 4096)
        check_range("memory", self.memory, 0, 1 << 30)
        check_range("seed", self.seed, 0, 2**31)
        if self.heuristic and self.playouts != type(self).playouts:
            raise ParameterError(f"playouts={self.playouts} is not used with a heuristic")


class GraphAgent:
    """An agent that follows a game on its lazy graph and decides from the histories that explain what it saw.

    Its observations are processed when it has to move, within the clock of that move; what does not fit is left for the
    next move.  Where the graph is full, the agent moves its belief to a new graph and drops the rest.  It moves in time
    in any case: ``faults`` lists the reasons of its random moves (no history explains what it saw, or time or memory
    ran out), and ``unknown`` counts these moves.
    """

    name = "graph"

    def __init__(self, budget: Budget) -> None:
        ready("growing")
        self.budget = budget
        self.faults: list[str] = []
        self.beliefs, self.unknown = BeliefStatistics(), 0
        self.started = False

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.game, self.player, self.rng, self.moved, self.tries = game, player, rng, 0, 0
        self.started = self.hurried = False
        self.seed = seed_of(self.budget.seed, int(rng.integers(2**31)))
        self.heard: deque[ObservationRecord] = deque()
        clock = Clock(inf if deadline is None else before(deadline))
        self.graph, self.state = shared_graph(game, self.budget.memory << 20, clock=clock), player
        self.check(self.graph)
        self.heuristic = load_heuristic(self.budget.heuristic, game) if self.budget.heuristic else None
        entries = self.graph.memory // 2 // (16 + 8 * len(game.players))
        self.ranges = BeliefTracker(self.graph, seed=self.seed, most=MOST_WORLDS, entries=entries)
        self.waits = self.graph.start_records[player] != NO_RECORD
        self.prepare()
        self.started = True

    def check(self, graph: LazyGraph) -> None:
        """Raise ``UnsupportedGameError`` for a game that the agent does not support."""

    def prepare(self) -> None:
        """Prepare for a game that begins, or that continues on a new graph."""

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        record = own_record(own_action, observation)
        if not self.started:
            return
        if self.waits:  # the initial observation is always the same
            self.waits = False
        elif record is not None:
            self.heard.append(record)

    @uninterrupted()
    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal_actions) == 1:
            return legal_actions[0]
        if not self.started:
            self.faults.append("the start clock ran out before the game was analysed")
            self.unknown += 1
            return legal_actions[int(self.rng.random() * len(legal_actions))]
        self.began = time.monotonic()
        row = self._row_in_time(legal_actions, self._until(deadline))
        self.moved += 1
        self.unknown += row is None
        return (
            legal_actions[int(self.rng.random() * len(legal_actions))]
            if row is None
            else draw(legal_actions, row, self.rng)
        )

    def _until(self, deadline: float | None) -> float:
        """Return the time by which a move requested now has to be found."""
        if deadline is not None:
            return before(deadline)
        return inf if self.budget.nodes else before(self.began + self.budget.seconds_per_move)

    def _row_in_time(self, legal_actions: tuple[Action, ...], until: float) -> list[float] | None:
        """Return the probabilities of its moves, on a new graph if needed; ``None`` where it has to move at random."""
        problem = ""
        for self.tries in range(TRIES):
            try:
                if self.tries:
                    self._renew(Clock(until))
                return self.compute_probabilities(legal_actions, until)
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
        """Move the current belief to a new graph."""
        full = self.graph
        graph = shared_graph(self.game, self.budget.memory << 20, full, clock)
        with full.growing(clock), graph.growing(clock):
            self.state = self.ranges.move_to(graph, self.state)
        self.graph = graph
        self.prepare()

    def compute_probabilities(self, legal_actions: tuple[Action, ...], until: float) -> list[float] | None:
        """Return the probabilities of its moves; ``None`` where no history explains what it saw.

        Raises ``ClockError`` where the time limit was reached before a leaf was evaluated, ``BudgetError`` where the
        graph is full.
        """
        self.full = ""
        roots = self.roots(legal_actions, until)
        if roots is None:
            return None
        action_set = self.graph.action_set(int(roots.position[0]), self.player)
        self.offered = np.array([action in legal_actions for action in action_set])
        probabilities = self.search(roots, len(action_set), until)
        if not probabilities.any():
            if self.full:
                raise BudgetError(self.full)
            raise ClockError(
                f"the time limit was reached before the first leaf was evaluated, after {self.moved} moves"
            )
        return by_name(action_set, probabilities, legal_actions)

    def roots(self, legal_actions: tuple[Action, ...], until: float) -> Belief | None:
        """Return the histories in which it has ``legal_actions``; ``None`` where none explains its observations.

        The number of histories is sized to fit into a quarter of the remaining time.  Where that does not suffice, or
        no history is found, it tries again with fewer histories in half of the time that is left; these need not
        explain the last observation, which then also holds for the first try at the next move.  Raises ``ClockError``
        where that is not enough either, and ``BudgetError``.
        """
        self._reckon(until)
        self.ranges.relaxed, self.hurried = self.hurried, False
        for attempt in range(1 + HURRIES):
            try:
                with self.graph.growing(Clock((time.monotonic() + until) / 2)):
                    found = self._offered(self._asked(), legal_actions)
                if found is not None or self.state == NO_RECORD or self.ranges.relaxed:
                    break
            except ClockError:
                if attempt == HURRIES:
                    raise
            self.ranges.relaxed = self.hurried = True
            self._reckon_with_fewer()
        if found is None:
            self.beliefs.lose()
            self.faults.append(
                f"no history is consistent with the observations of player {self.player} after {self.moved} moves"
            )
            return None
        self.beliefs.note(
            found, self.state not in self.ranges.thinned | self.ranges.cut, self.state in self.ranges.near
        )
        return found

    def _offered(self, found: Belief | None, legal_actions: tuple[Action, ...]) -> Belief | None:
        """Return the histories in which the agent is offered these moves, reweighted to sum to one; ``None`` if none.

        Where no history explains the last observation, those whose moves are most alike are returned.
        """
        if found is None or not found.size:
            return None
        action_sets = self.graph.action_sets_of(found.position, self.player)
        numbers = [number for number in np.unique(action_sets).tolist() if number != NO_ACTION_SET]
        right = [number for number in numbers if self.graph.source.action_set(number) == legal_actions]
        if not right and self.ranges.relaxed and numbers:
            right = sorted(numbers, key=lambda number: alike(self.graph.source.action_set(number), legal_actions))[-1:]
        rows = np.flatnonzero(np.isin(action_sets, right))
        if not len(rows):
            return None
        found = found.take(rows)
        return found._replace(weight=found.weight / max(float(found.weight.sum()), 1e-300))

    def _reckon(self, until: float) -> None:
        """Limit the histories to what a quarter of the time left allows, by the measured time of an edge."""
        if self.ranges.edge_seconds and until < inf:
            edges = (until - time.monotonic()) / 4 / self.ranges.edge_seconds
            self.ranges.most = min(MOST_WORLDS, max(LEAST_WORLDS, int(edges / EDGES / max(len(self.heard), 1))))

    def _reckon_with_fewer(self) -> None:
        """Reduce the limit on histories."""
        self.ranges.most = max(LEAST_WORLDS, self.ranges.most // FEWER)

    def _asked(self) -> Belief | None:
        """Return the histories in which it has to move, after processing the observations that are pending."""
        while self.heard and self.state != NO_RECORD:
            number = self.graph.source.record_number(self.player, self.heard[0])
            self.state = NO_RECORD if number == NO_RECORD else self.ranges.successor(self.state, number)
            self.heard.popleft()
        return self.ranges.asked(self.player, self.state) if self.state != NO_RECORD else None

    def walk(self, search: TreeSearch, roots: Belief, leaves: int, until: float) -> None:
        """Let a search evaluate ``leaves`` leaves.

        Raises ``BudgetError`` where the graph is full, unless the result so far has to suffice: on a graph begun at
        this move, or after half of the clock.
        """
        try:
            search.run(roots, leaves, until)
        except BudgetError as error:
            if not self.tries and time.monotonic() < (self.began + until) / 2:
                raise
            self.full = str(error)

    def search(self, roots: Belief, size: int, until: float) -> FloatArray:
        """Return the probabilities of ``size`` moves; all zero where no leaf was evaluated."""
        raise NotImplementedError

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def account(self) -> str:
        """Return a line on the beliefs with which it moved, and on its random moves."""
        return account(self.beliefs, self.unknown, self.faults)

    def grown(self, by: int, exploration: float, number: int = 0, flat: bool = False) -> TreeSearch:
        """Return a new search without nodes; ``number`` separates the seeds of searches at the same move."""
        seed = seed_of(self.seed, self.moved, number)
        evaluation = self.evaluation_by(self.budget.playouts, seed)
        return TreeSearch(self.graph, evaluation, by, self.player, exploration, seed, flat)

    def evaluation_by(self, playouts: int, seed: int) -> Leaves:
        """Return the evaluation of leaves by the heuristic, or by random playouts where there is none."""
        if self.heuristic is not None:
            return HeuristicLeaves(self.graph, self.heuristic)
        return RandomPlays(self.graph, playouts, seed)

    def leaves(self) -> int:
        """Return how many leaves may be evaluated."""
        return self.budget.nodes or ROUNDS


def alike(action_set: tuple[Action, ...], legal_actions: tuple[Action, ...]) -> tuple[bool, int]:
    """Return whether all moves of an action set are legal, and how many of them are."""
    shared = len(set(legal_actions).intersection(action_set))
    return shared == len(action_set), shared


def by_name(
    action_set: tuple[Action, ...], probabilities: FloatArray, legal_actions: tuple[Action, ...]
) -> list[float] | None:
    """Return an action set's probabilities mapped to the legal moves; ``None`` where they are zero on all of them."""
    if action_set == legal_actions:
        return probabilities.tolist()  # type: ignore[no-any-return]
    probability_of = dict(zip(action_set, probabilities.tolist(), strict=True))
    row = [probability_of.get(action, 0.0) for action in legal_actions]
    total = sum(row)
    return [chance / total for chance in row] if total else None


def before(deadline: float) -> float:
    """Return the time at which to stop, so as to answer by the deadline."""
    now = time.monotonic()
    left = deadline - now
    return deadline - min(SPARE + SHARE * left, MOST_SHARE * left)


def seed_of(*numbers: int) -> int:
    """Return a seed below 2**31 from several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0]) >> 1


def most_visited(search: TreeSearch, roots: Belief, offered: BoolArray) -> FloatArray:
    """Return probability one for the most visited legal move (ties: the best mean payoff); zeros if none was visited.

    Proofs take precedence: a move proved to pay the maximum is played, and one proved to pay less than another is not.
    """
    key, size = search.key(roots), len(offered)
    visits, paid = search.seen(key, size)
    proved = search.proved(key, size)
    is_proved = ~np.isnan(proved)
    if is_proved.any():
        paid = np.where(is_proved, proved, paid)
        visits[is_proved & (paid < paid[visits > 0].max(initial=-np.inf))] = 0.0
        visits[paid >= search.rule.best] = np.inf
    visits, paid = np.where(offered, visits, 0.0), np.where(offered, paid, -np.inf)
    row = np.zeros(size)
    row[np.lexsort((paid, visits))[-1]] = float(visits.any())
    return row


@dataclass(frozen=True)
class FlatMc(Budget):
    """Random plays after each of its moves, from every world that it holds possible; the best mean is played."""

    def agent(self) -> GraphAgent:
        """Return the agent."""
        return FlatMcAgent(self)


class FlatMcAgent(GraphAgent):
    """The agent ``flat-mc``, which visits every move equally often."""

    name = "flat-mc"

    def search(self, roots: Belief, size: int, until: float) -> FloatArray:
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
    """The exploration constant, for payoffs scaled to between 0 and 1."""

    def agent(self) -> GraphAgent:
        """Return the agent."""
        return UctAgent(self)


class UctAgent(GraphAgent):
    """The agent ``uct``, which keeps its statistics of states for the moves to come."""

    name = "uct"

    def __init__(self, budget: Uct) -> None:
        super().__init__(budget)
        self.exploration = budget.exploration

    def check(self, graph: LazyGraph) -> None:
        if not graph.open:
            raise UnsupportedGameError(f"uct needs perfect information, unlike {graph.game.name}; is-mcts plays it")

    def prepare(self) -> None:
        self.tree_search = self.grown(STATE, self.exploration)

    def search(self, roots: Belief, size: int, until: float) -> FloatArray:
        self.walk(self.tree_search, roots, self.leaves(), until)
        return most_visited(self.tree_search, roots, self.offered)


@dataclass(frozen=True)
class IsMcts(Budget):
    """Information-set Monte Carlo tree search (Cowling, Powley & Whitehouse 2012)."""

    observers: str = MULTI
    """``multi``: a tree for each player, over its information states; ``single``: one tree, over the searcher's."""
    exploration: float = 0.7
    """The exploration constant, for payoffs scaled to between 0 and 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("observers", self.observers, OBSERVERS)

    def agent(self) -> GraphAgent:
        """Return the agent."""
        return IsMctsAgent(self)


class IsMctsAgent(GraphAgent):
    """The agent ``is-mcts``, which keeps its statistics of information states for the moves to come."""

    name = "is-mcts"

    def __init__(self, budget: IsMcts) -> None:
        super().__init__(budget)
        self.by, self.exploration = OWN if budget.observers == MULTI else SEARCHERS, budget.exploration

    def prepare(self) -> None:
        self.tree_search = self.grown(STATE if self.graph.open else self.by, self.exploration)
        if self.tree_search.rule.by == OWN:
            self.ranges.actions = self.tree_search.probabilities

    def search(self, roots: Belief, size: int, until: float) -> FloatArray:
        self.walk(self.tree_search, roots, self.leaves(), until)
        return most_visited(self.tree_search, roots, self.offered)


@dataclass(frozen=True)
class Pimc(Budget):
    """Perfect-information Monte Carlo: each world by itself, as if everybody saw it; the visits added up."""

    worlds: int = 20
    """Number of worlds drawn at each move."""
    exploration: float = 0.7
    """The exploration constant, for payoffs scaled to between 0 and 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("worlds", self.worlds, 1, 10_000)

    def agent(self) -> GraphAgent:
        """Return the agent."""
        return PimcAgent(self)


class PimcAgent(GraphAgent):
    """The agent ``pimc``; it suffers from strategy fusion, as if it would later know which world it is in."""

    name = "pimc"

    def __init__(self, budget: Pimc) -> None:
        super().__init__(budget)
        self.worlds, self.exploration = budget.worlds, budget.exploration

    def search(self, roots: Belief, size: int, until: float) -> FloatArray:
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
