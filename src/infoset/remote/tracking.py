"""Track the states that a match may be in, given one player's observations; its legal moves are read from them.

In GDL-II a player receives its own moves and percepts, never the state.  Of the states consistent with these some are
kept for every step, all of them where they are few.  The states of the next step are found from them; where too few of
their continuations are consistent, the search goes back one step, two, four, and so on, and takes other states there.
Given enough time it finds a state, if there is one.  Until then, or where messages contradict the rules, the closest
steps are used instead (``sure`` is false), and the search continues at every later step.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, product
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from infoset.base import Action
from infoset.errors import BudgetError, GameRuleError
from infoset.gdl.rules import Evaluator

WIDTH = 300  # states of one step that are kept at once
BEAM = 100  # states continued at a time where the search has gone back
MAX_CACHED_STATES = 100_000  # states of all steps, about a kilobyte each, that are kept for going back
ROW = 10  # continuations of one state tried in a row: steps from the same state cost less
ASKED = 50  # states of a step whose legal moves are computed
SHARE = 0.2  # share of the search time for finding more states once there is one
TRIES = 200  # random continuations from which the closest are taken where none is consistent


class ObservedStep(NamedTuple):
    """Describe what is known of one step."""

    moves: tuple[Action | None, ...]
    """(roles,) ``None`` for moves that are not known."""
    percepts: frozenset[Action] | None = None
    """The player's own percepts; ``None`` where they are not known."""
    ended: bool = False
    """Whether the game was over after it."""


class HistoryStep(NamedTuple):
    """One step of a history."""

    before: HistoryStep | None
    state: Any
    """The state after it, as the evaluator represents it."""
    moves: tuple[Action, ...] = ()
    """(roles,)"""
    percepts: tuple[Action, ...] = ()
    """The player's own percepts, in the evaluator's order."""


class _Layer:
    """The states after a number of steps, found in portions, each once.

    ``None`` in one of the ``ways`` is a continuation that is not consistent.
    """

    def __init__(self) -> None:
        self.ways: deque[Iterator[HistoryStep | None]] = deque()
        self.seen: set[Any] = set()

    def more(
        self, ways: list[Iterator[HistoryStep | None]], width: int, enough: float, until: float
    ) -> list[HistoryStep]:
        """Return up to ``width`` states not found before, by new ``ways`` first.

        None are looked for after ``until``, and after ``enough`` only until the first one is found.
        """
        self.ways.extendleft(ways)
        found: list[HistoryStep] = []
        while self.ways and len(found) < width and monotonic() < (enough if found else until):
            way, more = self.ways.popleft(), False
            for step in islice(way, ROW):
                more = True
                if step is not None and step.state not in self.seen:
                    self.seen.add(step.state)
                    found.append(step)
                    break
            if more:
                self.ways.append(way)  # to the end of the queue, so that many states get a continuation
        return found


class Tracking:
    """The states consistent with all that the player of ``role`` observed.  The evaluator is used by nobody else."""

    def __init__(self, evaluator: Evaluator, role: int, rng: np.random.Generator) -> None:
        self.evaluator, self.role, self.rng = evaluator, role, rng
        self.observed: list[ObservedStep] = []
        self.layers = [_Layer()]
        self.found = [HistoryStep(None, evaluator.start())]
        """The states that the match may be in."""
        self.sure = True

    def history(self) -> list[HistoryStep]:
        """Return the steps that lead to the first of these states, one for each observed step."""
        steps, last = [], self.found[0]
        while last.before is not None:
            steps.append(last)
            last = last.before
        return steps[::-1]

    def legal_actions(self) -> tuple[Action, ...]:
        """Return the player's legal moves, ``()`` at the end: those that are legal in all of these states.

        By the rules they should not differ; where they do, and have nothing in common, the moves of the most states.
        """
        action_sets = Counter(self._action_set(step.state) for step in self.found[:ASKED])
        first, _ = action_sets.most_common(1)[0]
        return tuple([move for move in first if all(move in action_set for action_set in action_sets)]) or first

    def _action_set(self, state: Any) -> tuple[Action, ...]:
        return () if self.evaluator.terminal(state) else self.evaluator.legal_actions(state, self.role)

    def goals(self) -> list[float]:
        """Return each role's goal, 0 where there is none."""
        state = self.found[0].state
        found = [self.evaluator.goals(state, role) for role in range(len(self.evaluator.roles))]
        return [float(values[0]) if values else 0.0 for values in found]

    def advance(self, observed: ObservedStep, until: float) -> None:
        """Advance by one step, searching until that time of ``time.monotonic``.

        Raises ``GameRuleError`` where the game is over by its rules and should go on, ``BudgetError`` where a step
        takes more than its evaluator allows; then nothing has changed.
        """
        here = self.found
        self.observed.append(observed)
        self.layers.append(_Layer())
        try:
            found = self._search(self._onward(here, observed) if self.sure else [], until)
            self.found = found or self._closest(here, observed)
        except BaseException:
            self.observed.pop()
            self.layers.pop()
            raise
        self.sure = bool(found)

    def _search(self, ways: list[Iterator[HistoryStep | None]], until: float) -> list[HistoryStep]:
        """Return states consistent with everything: by these ways, and where they are too few, from earlier steps."""
        now = monotonic()
        enough, back = now + SHARE * (until - now), 1
        found = self.layers[-1].more(ways, WIDTH, enough, until)
        while len(found) < WIDTH and monotonic() < (enough if found else until):
            self._forget()
            left = [depth for depth, layer in enumerate(self.layers) if layer.ways]
            if not left:
                break
            depth = max([d for d in left if d <= len(self.observed) - back], default=left[0])
            found += self._onward_from(depth, enough if found else until, until)
            back = 2 * back if back < len(self.observed) else 1
        return found

    def _forget(self) -> None:
        """Drop what is left of the first steps where too many states are kept."""
        remaining = sum(len(layer.seen) for layer in self.layers)
        for depth, layer in enumerate(self.layers):
            if remaining <= MAX_CACHED_STATES:
                break
            remaining -= len(layer.seen)
            self.layers[depth] = _Layer()

    def _onward_from(self, depth: int, enough: float, until: float) -> list[HistoryStep]:
        """Return states of the last step that follow from further states of step ``depth``."""
        found = self.layers[depth].more([], BEAM, enough, until)
        while found and depth < len(self.observed):
            ways = self._onward(found, self.observed[depth])
            depth += 1
            found = self.layers[depth].more(ways, BEAM, enough, until)
        return found

    def _onward(self, here: list[HistoryStep], observed: ObservedStep) -> list[Iterator[HistoryStep | None]]:
        return [self._ways(step, observed) for step in here]

    def _ways(self, before: HistoryStep, observed: ObservedStep) -> Iterator[HistoryStep | None]:
        """Yield every continuation in random order; ``None`` for those that are not consistent with ``observed``."""
        with suppress(BudgetError, GameRuleError):  # the rules cannot be evaluated from there on
            for moves in product(
                *[self._choices(before.state, role, move) for role, move in enumerate(observed.moves)]
            ):
                step = self._step(before, moves)
                yield step if self._agrees(step, observed) else None

    def _choices(self, state: Any, role: int, move: Action | None) -> list[Action]:
        legal_actions = self.evaluator.legal_actions(state, role)
        if move is not None:
            return [move] if move in legal_actions else []
        return [legal_actions[k] for k in self.rng.permutation(len(legal_actions))]

    def _step(self, before: HistoryStep, moves: tuple[Action, ...]) -> HistoryStep:
        after, percepts = self.evaluator.step(before.state, moves)
        return HistoryStep(before, after, moves, percepts[self.role])

    def _agrees(self, step: HistoryStep, observed: ObservedStep) -> bool:
        seen = observed.percepts is None or observed.percepts == frozenset(step.percepts)
        return seen and self.evaluator.terminal(step.state) == observed.ended

    def _closest(self, here: list[HistoryStep], observed: ObservedStep) -> list[HistoryStep]:
        """Return the random steps closest to ``observed``.

        First those that end the game, or do not, as observed; of these the ones in which the fewest moves and percepts
        differ.
        """
        going = [step for step in here if self._goes_on(step.state)]
        if not going:
            raise GameRuleError("by the rules the game is over or a role has no legal move, but the match continues")
        steps = [self._random(going[int(k)], observed) for k in self.rng.integers(len(going), size=TRIES)]
        far = [self._distance(step, observed) for step in steps]
        once = {step.state: step for step, distance in zip(steps, far, strict=True) if distance == min(far)}
        return list(once.values())

    def _goes_on(self, state: Any) -> bool:
        roles = range(len(self.evaluator.roles))
        return not self.evaluator.terminal(state) and all(self.evaluator.legal_actions(state, role) for role in roles)

    def _distance(self, step: HistoryStep, observed: ObservedStep) -> tuple[bool, int]:
        moves = sum(move not in (None, played) for move, played in zip(observed.moves, step.moves, strict=True))
        percepts = 0 if observed.percepts is None else len(observed.percepts ^ set(step.percepts))
        return self.evaluator.terminal(step.state) != observed.ended, moves + percepts

    def _random(self, before: HistoryStep, observed: ObservedStep) -> HistoryStep:
        """Return a random step with the moves that are known, where they are legal."""
        action_sets = [
            self._choices(before.state, role, move) or self._choices(before.state, role, None)
            for role, move in enumerate(observed.moves)
        ]
        return self._step(
            before, tuple([action_set[int(self.rng.integers(len(action_set)))] for action_set in action_sets])
        )
