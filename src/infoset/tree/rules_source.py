"""The positions of any game on demand, from its Python states, edge by edge."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from infoset.base import Action, FloatArray, Game, LongArray, ObservationRecord, Observed, State, Step
from infoset.clock import ENDLESS, Clock
from infoset.errors import ClockError, UnsupportedGameError
from infoset.interning import Rows, intern
from infoset.memory import free_memory
from infoset.tree.graph import CHANCE, NO_RECORD, Interner
from infoset.tree.lazy_graph import (
    NO_ACTION_SET,
    OUTSIDE,
    PAYOFFS,
    STATES,
    LazyGraph,
    add_choice,
    begin_state,
    rules_until,
)

MANY = 1024  # chance outcomes beyond which only some are drawn
DRAWN = 256
LONGEST_PLAY = 10_000  # steps
WEIGHED = 16  # one in this many stored objects is measured, and stands for all
ENTRY = 200  # approximate bytes of an entry in a dictionary and in a list
DEEPEST = 8  # levels of nested tuples that are measured


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
        self._state(graph, step.state)
        return tuple(self._records(step, [None] * len(graph.players)))

    def _state(self, graph: LazyGraph, state: State) -> int:
        """Return the position of a state, adding new ones."""
        key = (type(state), state)
        found = self.number.get(key)
        if found is None:
            found = len(self.states)
            self._look(graph, found, state)  # which may be interrupted; the state is numbered once it is complete
            self.number[key] = found
            self.states.append(state)
            self._weigh(found, state)
        return int(graph.arrays.at[found])

    def _weigh(self, number: int, value: object) -> None:
        """Account for the memory of one more stored object."""
        if number % WEIGHED == 0:
            self.nbytes += WEIGHED * (ENTRY + sum(n for k, n in _parts(value).items() if k not in self.shared))

    def _look(self, graph: LazyGraph, number: int, state: State) -> None:
        """Ask the rules for the data of a state, then store them."""
        n = len(graph.players)
        over = state.terminal
        action_sets = [() if over else state.legal_actions(p) for p in range(n)]
        answers = () if over or any(action_sets) else self._answers(state, [None] * n)
        contents = [self._action_set(action_set) if action_set else NO_ACTION_SET for action_set in action_sets]
        chance_outcome = self._action_set(tuple([answer for answer, _ in answers])) if answers else NO_ACTION_SET
        widest = max([len(answers), *map(len, action_sets)])
        paid = tuple(map(float, state.returns())) if over else ()
        g = graph.room(1, widest, 1, len(self._action_sets))
        for action_set, content in [*zip(action_sets, contents, strict=True), (answers, chance_outcome)]:
            if content != NO_ACTION_SET:
                g.choices[content] = len(action_set)
        g.action_sets[number] = contents
        ends = self._end(graph, paid) if over else 0
        p = g.at[number] = int(begin_state(g, number, over, ends, chance_outcome))
        for k, (_, chance) in enumerate(answers):
            g.probability[g.first[p] + k] = chance
        g.filled[STATES] += 1

    def _end(self, graph: LazyGraph, paid: tuple[float, ...]) -> int:
        row, g = self.payoffs(paid), graph.arrays
        if row == g.filled[PAYOFFS]:
            g.payoffs[row] = paid
            g.filled[PAYOFFS] += 1
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
        rng = np.random.default_rng(len(self.states))
        count: dict[Action, int] = defaultdict(int)
        for _ in range(DRAWN):
            answer = state.draw(actions, rng)
            assert answer is not None
            count[answer] += 1
        return tuple([(answer, times / DRAWN) for answer, times in count.items()])

    def ask(self, graph: LazyGraph, edges: LongArray) -> None:
        """Find where edges lead; where chance responds, add a position for that."""
        for edge in edges.tolist():
            graph.clock()
            self._ask(graph, edge)

    def _ask(self, graph: LazyGraph, edge: int) -> None:
        g = graph.arrays
        p = int(g.source[edge])
        number = int(g.state[p])
        actions: list[Action | None] = [None] * len(graph.players)
        answer, at = None, edge
        while at != OUTSIDE:
            mover, above = int(g.player[int(g.source[at])]), int(g.source[at])
            action = self._action_sets[int(g.content[above])][at - int(g.first[above])]
            if mover == CHANCE:
                answer = action
            else:
                actions[mover] = action
            at = int(g.via[above])
        state = self.states[number]
        answers = () if answer is not None else self._answers(state, actions)
        if answers:
            content = self._action_set(tuple([each for each, _ in answers]))
            g = graph.room(1, len(answers), 0, len(self._action_sets))
            g.choices[content] = len(answers)
            chance = add_choice(g, content, len(answers), number, edge)
            g.probability[g.first[chance] : g.first[chance] + len(answers)] = [each for _, each in answers]
            g.child[edge] = chance
            return
        play = getattr(state, "play_unchecked", state.play)
        step = play(actions, answer)
        child = self._state(graph, step.state)
        g = graph.arrays
        g.child[edge], g.record[edge] = child, self._records(step, actions)

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
        rng = np.random.default_rng(seed)
        found = np.zeros((len(positions), len(graph.players)))
        states = [self.states[number] for number in graph.arrays.state[positions].tolist()]
        for done in range(each):
            try:
                paid = [play_out(state, rng, graph.clock) for state in states]
            except ClockError:
                if not done:
                    raise
                return found / done
            found += paid
        return found / each

    def take_over(self, graph: LazyGraph, other: Any, states: LongArray) -> LongArray:
        """Return the positions at which states (K,) begin; ``other``, a source of the same game, numbers the states."""
        return np.array([self._state(graph, other.states[number]) for number in states.tolist()], dtype=np.int64)


def play_out(state: State, rng: np.random.Generator, clock: Callable[[], None] = lambda: None) -> tuple[float, ...]:
    """Return the payoffs of one random play, or of the last state if it is too long; ``clock`` is called every step."""
    players = range(len(state.returns()))
    for _ in range(LONGEST_PLAY):
        if state.terminal:
            break
        action_sets = [state.legal_actions(p) for p in players]
        actions = [
            action_set[int(rng.random() * len(action_set))] if action_set else None for action_set in action_sets
        ]
        state = getattr(state, "play_unchecked", state.play)(actions, state.draw(actions, rng)).state
        clock()
    return state.returns()


def _bounds(start: State, clock: Clock) -> tuple[float, float]:
    """Return the lowest and highest payoff of some random plays, as many as the clock allows; 0 and 1 without any."""
    rng = np.random.default_rng(0)
    paid: list[float] = []
    try:
        for _ in range(8):
            paid += play_out(start, rng, clock)
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
