"""The positions of any game on demand, from its Python states, edge by edge."""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from infoset.base import Action, FloatArray, Game, LongArray, ObservationRecord, Observed, State, Step
from infoset.clock import ENDLESS, Clock
from infoset.errors import ClockError, UnsupportedGameError
from infoset.interning import Rows, intern
from infoset.memory import free_memory
from infoset.tree.graph import NO_RECORD, Interner
from infoset.tree.lazy_graph import (
    NO_ACTION_SET,
    NO_ROW,
    NOBODY,
    PAYOFFS,
    LazyGraph,
    add_choice,
    add_states,
    link_edges,
    read_edges,
    rules_until,
)

MANY = 1024  # chance outcomes beyond which only some are drawn
DRAWN = 256
LONGEST_PLAY = 10_000  # steps
WEIGHED = 16  # one in this many stored objects is measured, and stands for all
ENTRY = 200  # approximate bytes of an entry in a dictionary and in a list
DEEPEST = 8  # levels of nested tuples that are measured


class _Choice(NamedTuple):
    """A chance move that responds to what was played."""

    edge: int
    content: int
    number: int  # of the state
    probabilities: list[float]


class _Found:
    """What the rules said of some edges, until it is stored."""

    def __init__(self) -> None:
        self.states: dict[tuple[type, State], int] = {}  # with their numbers
        self.contents: list[list[int]] = []  # of these states: all action sets, chance's last, and the row of payoffs
        self.edges = 0  # with which their steps begin
        self.probabilities: list[float] = []  # of those at which chance moves
        self.reached: list[list[int]] = []  # an edge, the number of the state that it leads to, and the records
        self.choices: list[_Choice] = []


class RulesSource:
    """The rules of a game, taken from its states.

    Where there are too many chance outcomes to list, ``DRAWN`` of them stand for all, drawn by the rules.
    """

    bounded = False

    def __init__(self, game: Game, everybody_sees: bool = False) -> None:
        self.game, self.open = game, everybody_sees
        self.number: dict[tuple[type, State], int] = {}
        self.states: list[State] = []
        self.action_sets: Interner[tuple[Action, ...]] = Interner()
        self.actions: Interner[Action] = Interner()
        self.offered = Rows.empty()
        self.payoffs: Interner[tuple[float, ...]] = Interner()
        self.seen: Interner[ObservationRecord] = Interner()
        self._action_sets: list[tuple[Action, ...]] = []
        self._payoffs: list[tuple[float, ...]] = []
        self.sampled = 0  # chance moves of which only some outcomes were drawn
        self.stored = 0  # action sets whose sizes the graph has
        self._seen: list[ObservationRecord] = []
        self.bounds = (0.0, 1.0)
        self.nbytes = 0
        self.shared: dict[int, int] = {}  # parts of the first state, which often contains the game itself

    def start(self, graph: LazyGraph) -> tuple[int, ...]:
        """Add the first state and return the players' records of it."""
        step = self.game.start()
        with rules_until(self.game, graph.clock):
            self.bounds = _bounds(step.state, graph.clock)
        self.shared = _parts(step.state)
        found = _Found()
        self._number(found, step.state)
        self._store(graph, found)
        return tuple(self._records(step, [None] * len(graph.players)))

    def _store(self, graph: LazyGraph, found: _Found) -> None:
        """Store what was found: new states first, then the ends of edges, then the chance moves that edges lead to."""
        n, action_sets = len(graph.players), self._action_sets
        opened = sum(len(choice.probabilities) for choice in found.choices)
        fresh = self._payoffs[graph.arrays.filled[PAYOFFS] :]
        more = len(found.states) + len(found.choices), found.edges + opened, max(len(found.states), len(fresh))
        g = graph.room(*more, len(action_sets))
        g.choices[self.stored : len(action_sets)] = list(map(len, action_sets[self.stored :]))
        self.stored = len(action_sets)
        if fresh:
            g.payoffs[g.filled[PAYOFFS] : len(self._payoffs)] = fresh
            g.filled[PAYOFFS] = len(self._payoffs)
        add_states(g, _table(found.contents, n + 2), np.array(found.probabilities, dtype=np.float64))
        for kind, state in found.states:
            self.number[kind, state] = len(self.states)
            self._weigh(len(self.states), state)
            self.states.append(state)
        link_edges(g, _table(found.reached, n + 2))
        for edge, content, number, probabilities in found.choices:
            chance = add_choice(g, content, len(probabilities), number, edge)
            g.probability[g.first[chance] : g.first[chance] + len(probabilities)] = probabilities
            g.child[edge] = chance

    def _number(self, found: _Found, state: State) -> int:
        """Return the number of a state, after asking the rules for the data of a new one."""
        key = (type(state), state)
        number = self.number.get(key)
        if number is None:
            number = found.states.get(key)
        if number is None:
            self._look(found, state)  # which may be interrupted; the state is numbered once it is complete
            number = found.states[key] = len(self.states) + len(found.states)
        return number

    def _weigh(self, number: int, value: object) -> None:
        """Account for the memory of one more stored object."""
        if number % WEIGHED == 0:
            self.nbytes += WEIGHED * (ENTRY + sum(n for k, n in _parts(value).items() if k not in self.shared))

    def _look(self, found: _Found, state: State) -> None:
        """Ask the rules for the data of a state."""
        n = len(self.game.players)
        if state.terminal:
            row = [*[NO_ACTION_SET] * (n + 1), self._end(tuple(map(float, state.returns())))]
        else:
            row, size = [*[NO_ACTION_SET] * (n + 1), NO_ROW], 0
            for player in range(n):
                if actions := state.legal_actions(player):
                    row[player] = self._action_set(actions)
                    size = size or len(actions)
            if not size:
                answers = self._answers(state, [None] * n)
                row[n] = self._action_set(tuple([answer for answer, _ in answers]))
                found.probabilities += [chance for _, chance in answers]
                size = len(answers)
            found.edges += size
        found.contents.append(row)

    def _end(self, paid: tuple[float, ...]) -> int:
        row = self.payoffs(paid)
        if row == len(self._payoffs):
            self._payoffs.append(paid)
            low, high = self.bounds
            self.bounds = min(low, *paid), max(high, *paid)
        return row

    def _action_set(self, actions: tuple[Action, ...]) -> int:
        found = self.action_sets(actions)
        if found == len(self._action_sets):
            self._action_sets.append(actions)
            self.offered = self.offered.with_room(1, len(actions))
            row = np.array([self.actions(action) for action in actions], dtype=np.int64)
            intern(self.offered, row)
            self._weigh(found, actions)
        return found

    def _answers(self, state: State, actions: list[Action | None]) -> tuple[tuple[Action, float], ...]:
        try:
            found = state.chance_outcomes(actions)
            if len(found) <= MANY:
                return found
        except UnsupportedGameError:
            pass
        self.sampled += 1
        rng = np.random.default_rng(self.sampled)
        count: dict[Action, int] = defaultdict(int)
        for _ in range(DRAWN):
            answer = state.draw(actions, rng)
            assert answer is not None
            count[answer] += 1
        return tuple([(answer, times / DRAWN) for answer, times in count.items()])

    def ask(self, graph: LazyGraph, edges: LongArray) -> None:
        """Find where edges lead; where chance responds, add a position for that.

        What was found is stored at once, also where the clock ends the rest.
        """
        n = len(graph.players)
        number, offered = np.zeros(len(edges), dtype=np.int64), np.zeros((len(edges), n + 1), dtype=np.int64)
        chosen = np.full((len(edges), n + 1), NOBODY, dtype=np.int64)
        read_edges(graph.arrays, edges, number, offered, chosen)
        sets, states, found, clock = self._action_sets, self.states, _Found(), graph.clock
        try:
            for edge, k, offers, picks in zip(
                edges.tolist(), number.tolist(), offered.tolist(), chosen.tolist(), strict=True
            ):
                clock()
                state = states[k]
                made = [None if pick < 0 else sets[offer][pick] for offer, pick in zip(offers, picks, strict=True)]
                answer = made.pop()
                if answer is None and (answers := self._answers(state, made)):
                    content = self._action_set(tuple([each for each, _ in answers]))
                    found.choices.append(_Choice(edge, content, k, [chance for _, chance in answers]))
                    continue
                play = getattr(state, "play_unchecked", state.play)
                step = play(made, answer)
                found.reached.append([edge, self._number(found, step.state), *self._records(step, made)])
        finally:
            self._store(graph, found)

    def _records(self, step: Step, actions: list[Action | None]) -> list[int]:
        found = []
        seen = step.observations if type(step) is Observed else None
        for player, action in enumerate(actions):
            observation = step.observation(player) if seen is None else seen[player]
            if action is None and observation is None:
                found.append(NO_RECORD)
            else:
                found.append(self._record((action, () if observation is None else observation)))
        return found

    def _record(self, record: ObservationRecord) -> int:
        number = self.seen(record)
        if number == len(self._seen):
            self._seen.append(record)
            self._weigh(number, record)
        return number

    def action_set(self, number: int) -> tuple[Action, ...]:
        """Return the moves of an action set."""
        return self._action_sets[number]

    def state(self, number: int) -> State:
        """Return the state of a number."""
        return self.states[number]

    def record(self, number: int) -> ObservationRecord:
        """Return the record with a given number."""
        return self._seen[number]

    def record_number(self, player: int, record: ObservationRecord) -> int:
        """Return the number of a player's record."""
        return self._record(record)

    def playouts(self, graph: LazyGraph, positions: LongArray, each: int, seed: int) -> FloatArray:
        """Return the mean payoffs (K, n) of ``each`` random plays from positions (K,) at which a step begins.

        Fewer plays, but at least one of each, are made where the graph's clock runs out.
        """
        rng, chosen = np.random.default_rng(seed), random.Random(seed).random  # several times as fast for one number
        found = np.zeros((len(positions), len(graph.players)))
        states = [self.states[number] for number in graph.arrays.state[positions].tolist()]
        for done in range(each):
            try:
                paid = [play_out(state, rng, graph.clock, chosen) for state in states]
            except ClockError:
                if not done:
                    raise
                return found / done
            found += paid
        return found / each

    def take_over(self, graph: LazyGraph, other: Any, states: LongArray) -> LongArray:
        """Return the positions at which states (K,) begin; ``other``, a source of the same game, numbers the states."""
        found = _Found()
        try:
            numbers = [self._number(found, other.states[number]) for number in states.tolist()]
        finally:
            self._store(graph, found)
        return graph.arrays.at[numbers].astype(np.int64)


def _table(rows: list[list[int]], columns: int) -> LongArray:
    return np.array(rows, dtype=np.int64).reshape(len(rows), columns)


def play_out(
    state: State, rng: np.random.Generator, clock: Callable[[], None], chosen: Callable[[], float]
) -> tuple[float, ...]:
    """Return the payoffs of one random play, or of the last state if it is too long.

    ``clock`` is called at every step, ``chosen`` returns a number below 1 for every move; chance draws from ``rng``.
    A state may know a quicker way, ``play_randomly(chosen, clock, steps)``.
    """
    quick = getattr(state, "play_randomly", None)
    if quick is not None and (paid := quick(chosen, clock, LONGEST_PLAY)) is not None:
        return tuple(paid)
    players = range(len(state.returns()))
    for _ in range(LONGEST_PLAY):
        if state.terminal:
            break
        actions: list[Action | None] = []
        for player in players:
            offered = state.legal_actions(player)
            actions.append(offered[int(chosen() * len(offered))] if offered else None)
        state = getattr(state, "play_unchecked", state.play)(actions, state.draw(actions, rng)).state
        clock()
    return state.returns()


def _bounds(start: State, clock: Clock) -> tuple[float, float]:
    """Return the lowest and highest payoff of some random plays, as many as the clock allows; 0 and 1 without any."""
    rng, chosen = np.random.default_rng(0), random.Random(0).random
    paid: list[float] = []
    try:
        for _ in range(8):
            paid += play_out(start, rng, clock, chosen)
    except ClockError:
        pass
    return (min(paid), max(paid)) if paid else (0.0, 1.0)


def _parts(value: object) -> dict[int, int]:
    """Return the bytes of a value, and of each that is in its tuples and sets, by identity."""
    found: dict[int, int] = {}
    layer = [value]
    for _ in range(DEEPEST):
        found |= {id(each): sys.getsizeof(each) for each in layer}
        layer = [below for each in layer if isinstance(each, tuple | list | frozenset) for below in each]
    return found


def build_lazy_graph(game: Game, memory: int = 0, clock: Clock = ENDLESS) -> LazyGraph:
    """Build a graph of a game with only the start; ``memory`` is in bytes, by default a quarter of the free memory.

    The rules are compiled code where the game's ``source()`` provides it.

    >>> from infoset.tree.rules_source import build_lazy_graph
    >>> graph = build_lazy_graph(infoset.load("kuhn_poker"))
    >>> graph.actions(0)[:2]                      # chance deals
    ('J', 'Q')
    """
    made = getattr(game, "source", None)
    source = (made() if made else None) or RulesSource(game, bool(getattr(game, "everybody_sees", False)))
    return LazyGraph(game, source, memory or free_memory() // 4, clock)
