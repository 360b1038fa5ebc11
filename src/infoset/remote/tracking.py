"""A state that a match may be in, by what one player was told of it: what its legal moves are read from.

In GDL-II a player is told its own moves and percepts, never the state.  One history that agrees with all of them is
kept and taken one step further at a time; where none of its continuations agrees, the search goes back and takes
another, depth first.  Histories that lead to one state are one.  Given time, one is found wherever there is one;
otherwise, or where messages contradict the rules, the history goes on as if nothing had been seen (``sure``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from infoset.base import Action
from infoset.errors import BudgetError, GameRuleError, IllegalMoveError
from infoset.gdl.game import Evaluator

TRIES = 50  # random continuations looked at for one that does, or does not, end the game


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

    state: Any
    """The state after it, as the evaluator has it."""
    moves: tuple[Action, ...]
    """(roles,)"""
    percepts: tuple[Action, ...]
    """The player's own, sorted as the evaluator does."""


class Tracking:
    """A history that agrees with what the player of ``role`` was told.  The evaluator is used by nobody else."""

    def __init__(self, evaluator: Evaluator, role: int, rng: np.random.Generator) -> None:
        self.evaluator, self.role, self.rng = evaluator, role, rng
        self.told: list[Told] = []
        self.steps: list[Passed] = [Passed(evaluator.start(), (), ())]
        self.ways: list[Iterator[Passed | None]] = []
        self.dead: set[tuple[int, Any]] = set()
        self.sure = True

    @property
    def state(self) -> Any:
        """Where the history stands."""
        return self.steps[-1].state

    def legal(self) -> tuple[Action, ...]:
        """The player's moves there; ``()`` at the end of the game."""
        return () if self.evaluator.terminal(self.state) else self.evaluator.legal(self.state, self.role)

    def goals(self) -> list[float]:
        """Each role's goal there, 0 where there is none."""
        found = [self.evaluator.goals(self.state, role) for role in range(len(self.evaluator.roles))]
        return [float(values[0]) if values else 0.0 for values in found]

    def advance(self, told: Told, until: float) -> None:
        """One step further, searching until that moment of ``time.monotonic``.

        Raises ``GameRuleError`` where the game is over by its rules and should go on, ``BudgetError`` where a step
        takes more than its evaluator allows; then nothing has changed.
        """
        self.told.append(told)
        before = [*self.steps]
        self.sure = self._search(until)
        if self.sure:
            return
        self.steps = before
        try:
            self.steps.append(self._random(self.state, told))
        except BaseException:
            self.told.pop()
            raise
        finally:
            self.ways = [self._onward(step.state, known) for step, known in zip(self.steps, self.told, strict=False)]

    def _search(self, until: float) -> bool:
        """Whether a history was found that agrees with everything."""
        while len(self.steps) <= len(self.told):
            depth = len(self.steps) - 1
            if len(self.ways) == depth:
                self.ways.append(self._onward(self.steps[-1].state, self.told[depth]))
            found = next(self.ways[-1], "none")
            if found == "none":
                self.dead.add((depth, self.steps.pop().state))
                self.ways.pop()
                if not self.steps:
                    return False
            elif isinstance(found, Passed) and (depth + 1, found.state) not in self.dead:
                self.steps.append(found)
            if monotonic() > until:
                return len(self.steps) > len(self.told)
        return True

    def _onward(self, state: Any, told: Told) -> Iterator[Passed | None]:
        """Every continuation in random order; ``None`` for those that do not agree with what was told."""
        with suppress(BudgetError, GameRuleError):  # rules that cannot be followed from there on
            for moves in product(*[self._menu(state, role, move) for role, move in enumerate(told.moves)]):
                step = self._step(state, moves)
                yield step if self._agrees(step, told) else None

    def _menu(self, state: Any, role: int, move: Action | None) -> list[Action]:
        legal = self.evaluator.legal(state, role)
        if move is not None:
            return [move] if move in legal else []
        return [legal[k] for k in self.rng.permutation(len(legal))]

    def _step(self, state: Any, moves: tuple[Action, ...]) -> Passed:
        after, percepts = self.evaluator.step(state, moves)
        return Passed(after, moves, percepts[self.role])

    def _agrees(self, step: Passed, told: Told) -> bool:
        seen = told.percepts is None or told.percepts == frozenset(step.percepts)
        return seen and self.evaluator.terminal(step.state) == told.ended

    def _random(self, state: Any, told: Told) -> Passed:
        """A step with the moves that are known, which ends the game if that is known, if chance finds one."""
        if self.evaluator.terminal(state):
            raise GameRuleError("the game is over by the rules, but the match goes on")
        menus = [self._menu(state, role, move) or self._menu(state, role, None) for role, move in enumerate(told.moves)]
        if not all(menus):
            raise IllegalMoveError("a role has no legal move, but the match goes on")
        for _ in range(TRIES):
            step = self._step(state, tuple([menu[int(self.rng.integers(len(menu)))] for menu in menus]))
            if self.evaluator.terminal(step.state) == told.ended:
                break
        return step
