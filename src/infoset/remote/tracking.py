"""States that a match may be in, by what one player was told of it: what its legal moves are read from.

In GDL-II a player is told its own moves and percepts, never the state.  Of the states that agree with these some are
kept for every step, all of them where they are few.  The next ones are found from them; where too few of their
continuations agree, the search goes back one step, two, four, and so on, and takes others there.  Given time it ends
with a state, if there is one.  Until then, or where messages contradict the rules, what is closest to them stands in
for it (``sure``), and the search goes on at every later step.
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
from infoset.gdl.game import Evaluator

WIDTH = 300  # states of one step that are kept at once
BEAM = 100  # of which so many are taken on at a time where the search has gone back
KEPT = 100_000  # states of all steps, about a kilobyte each, of which others may be found
ROW = 10  # continuations of one state that are tried before those of the next: near states cost less
ASKED = 50  # of which so many are asked for legal moves
SHARE = 0.2  # of the time to find a state: in which more are looked for, once there is one
TRIES = 200  # random continuations of which the closest to what was told are taken where none agrees


class Told(NamedTuple):
    """What is known of one step."""

    moves: tuple[Action | None, ...]
    """(roles,) ``None`` for those that are not known."""
    percepts: frozenset[Action] | None = None
    """The player's own; ``None`` where they are not known."""
    ended: bool = False
    """Whether the game was over after it."""


class Passed(NamedTuple):
    """One step of a history."""

    before: Passed | None
    state: Any
    """The state after it, as the evaluator has it."""
    moves: tuple[Action, ...] = ()
    """(roles,)"""
    percepts: tuple[Action, ...] = ()
    """The player's own, sorted as the evaluator does."""


class _Layer:
    """The states after so many steps: some at a time, each once; ``None`` among the ways is one that does not agree."""

    def __init__(self) -> None:
        self.ways: deque[Iterator[Passed | None]] = deque()
        self.seen: set[Any] = set()

    def more(self, ways: list[Iterator[Passed | None]], width: int, enough: float, until: float) -> list[Passed]:
        """States not found before, by new ways first; none after ``until``, and after ``enough`` only the first."""
        self.ways.extendleft(ways)
        found: list[Passed] = []
        while self.ways and len(found) < width and monotonic() < (enough if found else until):
            way, more = self.ways.popleft(), False
            for step in islice(way, ROW):
                more = True
                if step is not None and step.state not in self.seen:
                    self.seen.add(step.state)
                    found.append(step)
                    break
            if more:
                self.ways.append(way)  # behind the others: many states have a continuation here
        return found


class Tracking:
    """What agrees with all that the player of ``role`` was told.  The evaluator is used by nobody else."""

    def __init__(self, evaluator: Evaluator, role: int, rng: np.random.Generator) -> None:
        self.evaluator, self.role, self.rng = evaluator, role, rng
        self.told: list[Told] = []
        self.layers = [_Layer()]
        self.found = [Passed(None, evaluator.start())]
        """Where the match may be."""
        self.sure = True

    def history(self) -> list[Passed]:
        """The steps that lead to the first of these, a step for each that was told."""
        steps, last = [], self.found[0]
        while last.before is not None:
            steps.append(last)
            last = last.before
        return steps[::-1]

    def legal(self) -> tuple[Action, ...]:
        """The player's moves, ``()`` at the end: those that are legal wherever it may be.

        The rules should not let them differ; where they do, and nothing is common, those of the most states.
        """
        menus = Counter(self._menu(step.state) for step in self.found[:ASKED])
        first, _ = menus.most_common(1)[0]
        return tuple([move for move in first if all(move in menu for menu in menus)]) or first

    def _menu(self, state: Any) -> tuple[Action, ...]:
        return () if self.evaluator.terminal(state) else self.evaluator.legal(state, self.role)

    def goals(self) -> list[float]:
        """Each role's goal, 0 where there is none."""
        state = self.found[0].state
        found = [self.evaluator.goals(state, role) for role in range(len(self.evaluator.roles))]
        return [float(values[0]) if values else 0.0 for values in found]

    def advance(self, told: Told, until: float) -> None:
        """One step further, searching until that moment of ``time.monotonic``.

        Raises ``GameRuleError`` where the game is over by its rules and should go on, ``BudgetError`` where a step
        takes more than its evaluator allows; then nothing has changed.
        """
        here = self.found
        self.told.append(told)
        self.layers.append(_Layer())
        try:
            found = self._search(self._onward(here, told) if self.sure else [], until)
            self.found = found or self._closest(here, told)
        except BaseException:
            self.told.pop()
            self.layers.pop()
            raise
        self.sure = bool(found)

    def _search(self, ways: list[Iterator[Passed | None]], until: float) -> list[Passed]:
        """States that agree with everything: by these ways, and where they are too few, by others from further back."""
        now = monotonic()
        enough, back = now + SHARE * (until - now), 1
        found = self.layers[-1].more(ways, WIDTH, enough, until)
        while len(found) < WIDTH and monotonic() < (enough if found else until):
            self._forget()
            left = [depth for depth, layer in enumerate(self.layers) if layer.ways]
            if not left:
                break
            depth = max([d for d in left if d <= len(self.told) - back], default=left[0])
            found += self._onward_from(depth, enough if found else until, until)
            back = 2 * back if back < len(self.told) else 1
        return found

    def _forget(self) -> None:
        """What is left of the first steps is given up where too much is kept."""
        kept = sum(len(layer.seen) for layer in self.layers)
        for depth, layer in enumerate(self.layers):
            if kept <= KEPT:
                break
            kept -= len(layer.seen)
            self.layers[depth] = _Layer()

    def _onward_from(self, depth: int, enough: float, until: float) -> list[Passed]:
        """States of the last step that come from others of that one."""
        found = self.layers[depth].more([], BEAM, enough, until)
        while found and depth < len(self.told):
            ways = self._onward(found, self.told[depth])
            depth += 1
            found = self.layers[depth].more(ways, BEAM, enough, until)
        return found

    def _onward(self, here: list[Passed], told: Told) -> list[Iterator[Passed | None]]:
        return [self._ways(step, told) for step in here]

    def _ways(self, before: Passed, told: Told) -> Iterator[Passed | None]:
        """Every continuation in random order; ``None`` for those that do not agree with what was told."""
        with suppress(BudgetError, GameRuleError):  # rules that cannot be followed from there on
            for moves in product(*[self._choices(before.state, role, move) for role, move in enumerate(told.moves)]):
                step = self._step(before, moves)
                yield step if self._agrees(step, told) else None

    def _choices(self, state: Any, role: int, move: Action | None) -> list[Action]:
        legal = self.evaluator.legal(state, role)
        if move is not None:
            return [move] if move in legal else []
        return [legal[k] for k in self.rng.permutation(len(legal))]

    def _step(self, before: Passed, moves: tuple[Action, ...]) -> Passed:
        after, percepts = self.evaluator.step(before.state, moves)
        return Passed(before, after, moves, percepts[self.role])

    def _agrees(self, step: Passed, told: Told) -> bool:
        seen = told.percepts is None or told.percepts == frozenset(step.percepts)
        return seen and self.evaluator.terminal(step.state) == told.ended

    def _closest(self, here: list[Passed], told: Told) -> list[Passed]:
        """Of random steps those that end the game, or do not, as told, and of these the ones in which the fewest moves
        and percepts differ."""
        going = [step for step in here if self._goes_on(step.state)]
        if not going:
            raise GameRuleError("the game is over by the rules, or a role has no legal move, but the match goes on")
        steps = [self._random(going[int(k)], told) for k in self.rng.integers(len(going), size=TRIES)]
        far = [self._distance(step, told) for step in steps]
        once = {step.state: step for step, distance in zip(steps, far, strict=True) if distance == min(far)}
        return list(once.values())

    def _goes_on(self, state: Any) -> bool:
        roles = range(len(self.evaluator.roles))
        return not self.evaluator.terminal(state) and all(self.evaluator.legal(state, role) for role in roles)

    def _distance(self, step: Passed, told: Told) -> tuple[bool, int]:
        moves = sum(move not in (None, played) for move, played in zip(told.moves, step.moves, strict=True))
        percepts = 0 if told.percepts is None else len(told.percepts ^ set(step.percepts))
        return self.evaluator.terminal(step.state) != told.ended, moves + percepts

    def _random(self, before: Passed, told: Told) -> Passed:
        """A step with the moves that are known, as far as they are legal."""
        menus = [
            self._choices(before.state, role, move) or self._choices(before.state, role, None)
            for role, move in enumerate(told.moves)
        ]
        return self._step(before, tuple([menu[int(self.rng.integers(len(menu)))] for menu in menus]))
