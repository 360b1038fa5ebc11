"""Games of perfect information with simultaneous actions: stages in contexts, and where a player is among them.

Two players know everything but the action that the other one takes at the same moment, and what one wins the other
loses.  Every state is then the start of a subgame, whose value is that of a matrix game over the values of the states
that follow (Shapley 1953; von Neumann & Morgenstern 1944).  The stages are those that a game describes
(``base.Staged``), or are found on its positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from infoset.base import Action, InformationState, IntArray, LongArray, Staged, Stages, State
from infoset.errors import UnsupportedGameError
from infoset.jit import kernel
from infoset.tree.graph import NO_RECORD, TERMINAL, GameGraph
from infoset.tree.payoff_scale import constant_sum_of
from infoset.tree.steps import NONE, Steps, steps

NEEDS = "needs two players, a constant sum, and that both observe everything but the action taken at the same moment"
MAX_CACHED_PLAYS = 1 << 16  # the number of information states whose places are cached


class Place(NamedTuple):
    """The place of a decision: a stage, a context, and its outcome of chance, counted from 0."""

    stage: int
    context: int
    outcome: int


class Tracker(Protocol):
    """A function from a player's information state to its place, which everybody knows."""

    def find(self, player: int, infostate: InformationState) -> Place | None:
        """Return the place; ``None`` for an information state that the game does not have."""
        ...


@dataclass(frozen=True, eq=False)
class StageForm:
    """The stages of a game.

    >>> from infoset.tree.stage_form import StageForm
    >>> form = StageForm.of(infoset.load("goofspiel(num_cards=3,points_order=descending)"))
    >>> form.num_stages, form.find(0, ()).outcome
    (37, 0)
    """

    name: str
    players: tuple[str, ...]
    arrays: Stages
    sum: float
    """The sum of the players' payoffs."""
    tracker: Tracker

    @classmethod
    def of(cls, game: Staged) -> StageForm:
        """Return the stages that a game describes.  Raises ``BudgetError`` for a game that is too large."""
        return cls(game.name, game.players, game.stages(), 0.0, StateTracker(game))  # type: ignore[attr-defined]

    @classmethod
    def on_positions(cls, graph: GameGraph) -> StageForm:
        """Find the stages of a game on its positions.

        Raises ``UnsupportedGameError`` where a player does not observe everything, and for payoffs without a constant
        sum.
        """
        return _on_positions(graph)

    def find(self, player: int, infostate: InformationState) -> Place | None:
        """Return a player's place; ``None`` for an information state that the game does not have."""
        return self.tracker.find(player, infostate)

    @cached_property
    def widths(self) -> LongArray:
        """(C,) the number of values of each context."""
        arrays, found = self.arrays, np.zeros(len(self.arrays.begin), dtype=np.int64)
        for first, last, begin, end in arrays.levels.tolist():
            width = int(arrays.place[first:last].max()) + 1
            found[begin:end] = np.maximum(found[begin:end], width)
        return found

    @property
    def size(self) -> int:
        """The number of values."""
        return int((self.arrays.begin + self.widths).max())

    @property
    def num_stages(self) -> int:
        """The number of matrix games: of all stages with actions, in all contexts and outcomes."""
        return self._per_level((self.arrays.columns > 0).astype(np.int64))

    @property
    def num_cells(self) -> int:
        """The number of entries of these matrices."""
        return self._per_level(self.arrays.rows.astype(np.int64) * self.arrays.columns)

    def _per_level(self, count: LongArray) -> int:
        total, outcomes = 0, np.diff(self.arrays.outcome)
        for first, last, begin, end in self.arrays.levels.tolist():
            total += int(count[first:last].sum()) * int(outcomes[begin:end].sum())
        return total

    @cached_property
    def is_repeated(self) -> bool:
        """Whether contexts are turns: all stages recur in each, one turn after the other."""
        levels, turns = self.arrays.levels, np.arange(len(self.arrays.levels))
        return len(levels) > 1 and bool((levels[:, :2] == levels[0, :2]).all() and (levels[:, 2] == turns).all())

    @property
    def largest(self) -> float:
        """A bound of the absolute values of stages."""
        arrays = self.arrays
        on_the_way = float(np.abs(arrays.gain).max(initial=0.0)) * len(arrays.levels)
        return float(np.abs(arrays.final).max(initial=0.0) + np.abs(arrays.end).max(initial=0.0)) + on_the_way


class StateTracker:
    """The tracker of a game that describes its stages: it follows the states by the player's records."""

    def __init__(self, game: Staged) -> None:
        self.game = game
        self.states: dict[tuple[int, InformationState], State | None] = {}

    def find(self, player: int, infostate: InformationState) -> Place | None:
        state = self._state(player, infostate)
        return None if state is None or state.terminal else Place(*self.game.locate(state))

    def _state(self, player: int, infostate: InformationState) -> State | None:
        """Return the state after these records, from that of the longest known prefix."""
        if len(self.states) > MAX_CACHED_PLAYS:
            self.states.clear()
        end = len(infostate)
        while end and (player, infostate[:end]) not in self.states:
            end -= 1
        if end:
            state = self.states[player, infostate[:end]]
        else:
            step = self.game.start()  # type: ignore[attr-defined]
            state = step.state
            end = int(step.observation(player) is not None and bool(infostate))
        for k in range(end, len(infostate)):
            state = None if state is None else _follow(state, player, *infostate[k])
            self.states[player, infostate[: k + 1]] = state
        return state


def _follow(state: State, player: int, own: Action | None, seen: object) -> State | None:
    """Return the state that follows one player's record; ``None`` where there is none."""
    if state.terminal:
        return None
    mine = state.legal_actions(player)
    if (own is None) != (not mine) or (mine and own not in mine):
        return None
    others: tuple[Action | None, ...] = state.legal_actions(1 - player) or (None,)
    for other in others:
        actions = (own, other) if player == 0 else (other, own)
        outcomes: list[Action | None] = [outcome for outcome, _ in state.chance_outcomes(actions)]
        for outcome in outcomes or [None]:
            step = state.play(actions, outcome)
            if step.observation(player) == seen:
                return step.state
    return None


class PositionTracker:
    """The tracker of a game whose stages were found on its positions."""

    def __init__(self, graph: GameGraph, actions: Steps, number: LongArray) -> None:
        self.graph, self.actions, self.number = graph, actions, number
        self.record_number = {record: k for k, record in enumerate(graph.records)}

    def find(self, player: int, infostate: InformationState) -> Place | None:
        row, actions = 0, self.actions
        begin = int(self.graph.start_records[player] != NO_RECORD and bool(infostate))
        for record in infostate[begin:]:
            number = self.record_number.get(record, NO_RECORD)
            some = slice(int(actions.first[row]), int(actions.first[row + 1]))
            found = np.flatnonzero(actions.record[some, player] == number)
            if number == NO_RECORD or not len(found):
                return None
            row = int(actions.target[some][found[0]])
        return Place(int(self.number[row]), 0, 0)


def _on_positions(graph: GameGraph) -> StageForm:
    """Find the stages on a position graph; see ``StageForm.on_positions``."""
    if (player := who_misses_something(graph)) is not None:
        raise UnsupportedGameError(
            f"{graph.name}: {graph.players[player]} does not observe everything; backward induction over stages {NEEDS}"
        )
    total = constant_sum_of(graph.payoffs[np.unique(graph.content[graph.player == TERMINAL])])
    if len(graph.players) != 2 or total is None or graph.map_name:
        raise UnsupportedGameError(f"{graph.name}: backward induction over stages {NEEDS}")
    actions = steps(graph, graph.completes)
    rows, columns = (
        np.where(actions.action_set[:, player] == NONE, 1, _set_sizes(graph)[actions.action_set[:, player]])
        for player in range(2)
    )
    count, begins = len(actions.position), np.diff(actions.first) > 0
    number_rows, number_columns = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int32)
    number_rows[begins], number_columns[begins] = (
        some[actions.first[:-1][begins]].astype(np.int32) for some in (rows, columns)
    )
    cells = number_rows.astype(np.int64) * number_columns
    first = np.concatenate([[0], np.cumsum(cells)])
    source = np.repeat(np.arange(count), np.diff(actions.first))
    played = np.maximum(actions.action, 0)
    cell = first[source] + played[:, 0] * columns + played[:, 1]
    order = np.argsort(cell, kind="stable")
    times = np.bincount(cell, minlength=int(first[-1]))
    child = np.zeros(int(first[-1]), dtype=np.int64)
    child[cell] = actions.target
    random = np.flatnonzero(times > 1)  # each of these cells leads to a stage of chance
    child[random] = count + np.arange(len(random))
    by_chance = order[times[cell[order]] > 1]
    child = np.concatenate([child, actions.target[by_chance]])
    probability = np.concatenate([np.zeros(int(first[-1])), actions.chance[by_chance]]) if len(random) else np.zeros(0)
    first = np.concatenate([first, first[-1] + np.cumsum(times[random])])
    number_rows = np.concatenate([number_rows, times[random].astype(np.int32)])
    number_columns = np.concatenate([number_columns, np.zeros(len(random), dtype=np.int32)])
    final = np.zeros(len(number_rows))
    ends = np.flatnonzero(~begins)
    paid = graph.payoffs[graph.content[actions.position[ends]]]
    final[ends] = (paid[:, 0] - paid[:, 1]) / 2
    height = np.zeros(len(final), dtype=np.int64)
    _measure_heights(first, child, height)
    arrays, number = _by_height(number_rows, number_columns, first, child, probability, final, height)
    return StageForm(graph.name, graph.players, arrays, total, PositionTracker(graph, actions, number))


def _set_sizes(graph: GameGraph) -> IntArray:
    return np.array([len(action_set) for action_set in graph.action_sets], dtype=np.int32)


def who_misses_something(graph: GameGraph) -> int | None:
    """Return the first player who does not know after every step where it led; ``None`` where all know."""
    missed = (graph.record[graph.completes] == NO_RECORD).any(axis=0)
    if missed.any():
        return int(missed.argmax())
    actions = steps(graph, graph.completes)
    source = np.repeat(np.arange(len(actions.position)), np.diff(actions.first))
    for player in range(len(graph.players)):
        record = actions.record[:, player].astype(np.int64)
        seen = source * (len(graph.records) + 1) + record + 1
        order = np.lexsort((actions.target, seen))
        alike = (np.diff(seen[order]) == 0) & (np.diff(actions.target[order]) != 0)
        if alike.any():
            return player
    return None


@kernel
def _measure_heights(first: LongArray, child: LongArray, height: LongArray) -> None:
    """Write for each stage the largest number of steps to an end, by depth first search."""
    count = len(height)
    stack, edge = np.empty(count + 1, np.int64), first[:-1].copy()
    seen = np.zeros(count, np.bool_)
    stack[0], top, seen[0] = 0, 0, True
    while top >= 0:
        s = stack[top]
        if edge[s] == first[s + 1]:
            for c in range(first[s], first[s + 1]):
                height[s] = max(height[s], height[child[c]] + 1)
            top -= 1
            continue
        below = child[edge[s]]
        edge[s] += 1
        if not seen[below]:
            seen[below] = True
            top += 1
            stack[top] = below


def _by_height(
    rows: IntArray,
    columns: IntArray,
    first: LongArray,
    child: LongArray,
    probability: np.typing.NDArray[np.float64],
    final: np.typing.NDArray[np.float64],
    height: LongArray,
) -> tuple[Stages, LongArray]:
    """Return the stages sorted by height, in one context that follows itself, and the new number of each stage."""
    order = np.argsort(height, kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    sizes = np.diff(first)[order]
    begin = np.concatenate([[0], np.cumsum(sizes)])
    cells = np.repeat(first[:-1][order] - begin[:-1], sizes) + np.arange(int(begin[-1]))
    ranges = np.searchsorted(height[order], np.arange(int(height.max()) + 2))
    levels = [[a, b, 0, 1] for a, b in zip(ranges[:-1].tolist(), ranges[1:].tolist(), strict=True)]
    arrays = Stages(
        rows=rows[order],
        columns=columns[order],
        first=begin,
        child=number[child[cells]].astype(np.int32),
        kind=np.zeros(0, dtype=np.uint8),
        probability=probability[cells] if len(probability) else probability,
        final=final[order],
        place=np.arange(len(order), dtype=np.int32),
        mirror=np.zeros(0, dtype=np.int32),
        begin=np.zeros(1, dtype=np.int64),
        outcome=np.array([0, 1]),
        next=np.zeros((1, 1), dtype=np.int32),
        chance=np.ones(1),
        gain=np.zeros((1, 1)),
        end=np.zeros(1),
        opposite=np.zeros(0, dtype=np.int32),
        levels=np.array(levels, dtype=np.int64),
        start=np.array([number[0], 0]),
    )
    return arrays, number
