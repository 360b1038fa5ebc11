"""The rules of a described game, shared by all its states, and the states themselves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from infoset import status
from infoset.base import Action, JointAction, Observation, Observed
from infoset.errors import BudgetError
from infoset.games.rules import NativeState, check_actions, check_play
from infoset.gdl.grounding import Budget, ground
from infoset.gdl.lazy import LazyEvaluator
from infoset.gdl.propnet import PropNet, compile_propnet
from infoset.gdl.scalar import ScalarEvaluator
from infoset.gdl.syntax import Description, Term
from infoset.gdl.tally import no_action

RANDOM = "random"

TRANSITIONS = 1 << 16
MANY = 256  # moves of chance beyond which one is drawn without computing the outcome of each
PROBE_STEPS: dict[type, int] = {ScalarEvaluator: 2000, LazyEvaluator: 200}
NARROW = 2  # a narrow probe plays only the first moves, so that many histories coincide
MAX_PROBE_LENGTH = 200
PROBE_SIZE = 500  # number of facts and moves in one state that makes it cost one step more
PROBE_WORK = 20_000_000  # rows looked up, a few seconds of work; no clock, so that every machine finds the same


class Evaluator(Protocol):
    """The rules of one description, evaluated one state at a time; moves and percepts are sorted by their text.

    There are two implementations: ``ScalarEvaluator`` where the game grounds, ``LazyEvaluator`` where it does not.
    """

    roles: tuple[str, ...]

    def start(self) -> Any: ...
    def facts(self, state: Any) -> frozenset[Term]: ...
    def state(self, facts: frozenset[Term]) -> Any: ...
    def terminal(self, state: Any) -> bool: ...
    def legal_actions(self, state: Any, role: int) -> tuple[Action, ...]: ...
    def goals(self, state: Any, role: int) -> tuple[int, ...]: ...
    def step(self, state: Any, moves: Sequence[Action]) -> tuple[Any, tuple[tuple[Action, ...], ...]]: ...


class GdlWarning(UserWarning):
    """A doubtful point of a description that was repaired when it was read, or a note on how it is evaluated."""


class EvaluatorWarning(GdlWarning):
    """A description was not grounded and is evaluated state by state: slower, and with different random playouts."""


class _Effort:
    """A budget of work in place of time: it runs out after a given number of rows has been looked up."""

    def __init__(self, rows: int) -> None:
        self.left = rows

    def __call__(self, rows: int) -> None:
        self.left -= rows
        if self.left < 0:
            raise BudgetError("no more work is allowed")


class Outcome(NamedTuple):
    """One outcome of a joint move: chance's move (``None`` where it has no choice), its probability and the step."""

    answer: Action | None
    probability: float
    step: Observed


class GdlRules:
    """The data that all states of one game share.  Equal descriptions share one such object, see ``rules_of``."""

    def __init__(
        self,
        description: Description,
        budget: Budget,
        evaluator: Evaluator,
        propnet: PropNet | None,
        not_ground: str = "",
    ) -> None:
        self.description, self.budget, self.evaluator, self.propnet = description, budget, evaluator, propnet
        self.not_ground = not_ground
        roles = evaluator.roles
        self.seats = tuple(k for k, role in enumerate(roles) if role != RANDOM)
        self.players = tuple(roles[k] for k in self.seats)
        self.random = roles.index(RANDOM) if RANDOM in roles else None
        heads = {rule.head.functor for rule in description.rules}
        self.open = "sees" not in heads and self.random is None
        self.transitions: Callable[..., tuple[Outcome, ...]] = lru_cache(TRANSITIONS)(self._outcomes)
        self.offers = (False,) * len(self.players)
        with self.until(_Effort(PROBE_WORK)):
            self.offers = self._leaks(PROBE_STEPS[type(evaluator)])

    def legal_actions(self, key: Hashable, role: int) -> tuple[Action, ...]:
        """Return the legal moves of a role; none in a terminal state.  Raises ``GameRuleError`` where it has none."""
        if self.evaluator.terminal(key):
            return ()
        action_set = self.evaluator.legal_actions(key, role)
        if not action_set:
            raise no_action(self.description.file, self.evaluator.roles[role], self.evaluator.facts(key))
        return action_set

    def until(self, clock: Callable[[int], None]) -> AbstractContextManager[None]:
        """Return a context in which long derivations end at a clock (``LazyEvaluator.until``); a network needs none."""
        return self.evaluator.until(clock) if isinstance(self.evaluator, LazyEvaluator) else nullcontext()

    def chance_outcome(self, key: Hashable) -> tuple[Action, ...]:
        """Return the legal moves of ``random``; ``()`` where the game has no such role or it has no choice."""
        action_set = () if self.random is None else self.legal_actions(key, self.random)
        return action_set if len(action_set) > 1 else ()

    def _outcomes(self, key: Hashable, moves: tuple[Action, ...]) -> tuple[Outcome, ...]:
        """Return the outcomes of a joint move of the players; moves of ``random`` with equal outcomes are merged."""
        action_set = self.chance_outcome(key)
        if not action_set:
            return (Outcome(None, 1.0, self.step(key, moves, None)),)
        weight: dict[Observed, tuple[Action, int]] = {}
        for answer in action_set:
            step = self.step(key, moves, answer)
            first, count = weight.get(step, (answer, 0))
            weight[step] = first, count + 1
        if len(weight) == 1:
            return (Outcome(None, 1.0, next(iter(weight))),)
        return tuple([Outcome(first, count / len(action_set), step) for step, (first, count) in weight.items()])

    def step(self, key: Hashable, moves: JointAction, answer: Action | None) -> Observed:
        """Make a joint move and a move of ``random`` (``None`` for its only one), and return the step."""
        joint: list[Action] = [""] * len(self.evaluator.roles)
        for seat, move in zip(self.seats, moves, strict=True):
            joint[seat] = move  # type: ignore[assignment]
        if self.random is not None:
            joint[self.random] = self.legal_actions(key, self.random)[0] if answer is None else answer
        after, percepts = self.evaluator.step(key, joint)
        if self.open:
            return Observed(GdlState(self, after), (tuple(joint),) * len(self.players))
        seen: list[Observation] = [percepts[seat] for seat in self.seats]
        for player, offered in enumerate(self.offers):
            if offered and not self.evaluator.terminal(after):
                action_set = self.evaluator.legal_actions(after, self.seats[player])
                seen[player] = (*percepts[self.seats[player]], ("offered", *action_set))
        return Observed(GdlState(self, after), tuple(seen))

    def _leaks(self, steps: int) -> tuple[bool, ...]:
        """Return for each player whether its legal moves tell it more than its own moves and percepts.

        Random plays look for two states that the player cannot tell apart and that offer it different moves.  Every
        second play is narrow, so that histories coincide often.
        """
        rng = np.random.default_rng(0)
        action_sets: dict[Hashable, tuple[Action, ...]] = {}
        leaks = [False] * len(self.players)
        narrow = False
        while steps > 0 and not self.open:
            narrow = not narrow
            try:
                steps -= 1 + self._probe(rng, NARROW if narrow else None, steps, action_sets, leaks)
            except BudgetError:  # raised again when play reaches this state
                break
        return tuple(leaks)

    def _probe(
        self,
        rng: np.random.Generator,
        width: int | None,
        steps: int,
        action_sets: dict[Hashable, tuple[Action, ...]],
        leaks: list[bool],
    ) -> int:
        """Make one random play and return its length in steps; steps in large states count more than once."""
        key, known, cost = self.evaluator.start(), [0] * len(self.players), 0
        for _ in range(MAX_PROBE_LENGTH):
            if cost > steps or self.evaluator.terminal(key):
                break
            size = len(key)
            joint: list[Action] = [""] * len(self.evaluator.roles)
            for role in range(len(joint)):
                action_set = self.evaluator.legal_actions(key, role)
                size += len(action_set)
                if not action_set:
                    return cost  # reported when play reaches this state
                joint[role] = action_set[int(rng.integers(len(action_set[:width])))]
                if role in self.seats:
                    player = self.seats.index(role)
                    leaks[player] |= action_sets.setdefault((player, known[player]), action_set) != action_set
            key, percepts = self.evaluator.step(key, joint)
            known = [hash((known[p], joint[seat], percepts[seat])) for p, seat in enumerate(self.seats)]
            cost += 1 + size // PROBE_SIZE
        return cost


class _Fields(NamedTuple):
    rules: GdlRules
    key: Hashable  # the evaluator's representation of a state


class GdlState(NativeState, _Fields):
    """One state: the propositions that hold in it."""

    __slots__ = ()

    @property
    def terminal(self) -> bool:
        return self.rules.evaluator.terminal(self.key)

    @property
    def facts(self) -> frozenset[Term]:
        """The propositions that hold, as ground terms."""
        return self.rules.evaluator.facts(self.key)

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return self.rules.legal_actions(self.key, self.rules.seats[player])

    def chance_outcomes(self, moves: JointAction) -> tuple[tuple[Action, float], ...]:
        if not self.rules.chance_outcome(self.key):
            return ()
        outcomes = self.rules.transitions(self.key, tuple(moves))
        return tuple([(o.answer, o.probability) for o in outcomes if o.answer is not None])

    def draw(self, moves: JointAction, rng: np.random.Generator) -> Action | None:
        """Draw an outcome of chance; where ``random`` has many moves, one of these, which ``play`` accepts as well."""
        action_set = self.rules.chance_outcome(self.key)
        if len(action_set) <= MANY:
            return super().draw(moves, rng)
        return action_set[int(rng.integers(len(action_set)))]

    def play(self, moves: JointAction, chance_outcome: Action | None = None) -> Observed:
        if chance_outcome in self.rules.chance_outcome(self.key):
            check_actions(self, moves)
        else:
            check_play(self, moves, chance_outcome)
        return self.play_unchecked(moves, chance_outcome)

    def returns(self) -> tuple[float, ...]:
        """Return the goal values: the first in rule order where several hold, 0 where none does."""
        goals = [self.rules.evaluator.goals(self.key, seat) for seat in self.rules.seats]
        return tuple([float(found[0]) if found else 0.0 for found in goals])

    def play_unchecked(self, moves: JointAction, chance_outcome: Action | None = None) -> Observed:
        if len(self.rules.chance_outcome(self.key)) <= MANY:
            for outcome in self.rules.transitions(self.key, tuple(moves)):
                if outcome.answer == chance_outcome:
                    return outcome.step
        return self.rules.step(self.key, moves, chance_outcome)

    def __repr__(self) -> str:
        return f"{{{' '.join(sorted(map(str, self.facts)))}}}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.rules.description, self.rules.budget, self.facts)


def _restore(description: Description, budget: Budget, facts: frozenset[Term]) -> GdlState:
    rules = rules_of(description, budget)
    return GdlState(rules, rules.evaluator.state(facts))


@lru_cache(maxsize=32)
def rules_of(description: Description, budget: Budget) -> GdlRules:
    """Return the compiled rules of a sound description.

    A description that does not ground within the budget is evaluated state by state instead: it is the same game, with
    different random playouts.  ``not_ground`` of the rules says why.
    """
    try:
        with status.during("grounding the rules"):
            net = compile_propnet(description, ground(description, budget))
    except BudgetError as error:
        return GdlRules(description, budget, LazyEvaluator(description), None, str(error))
    return GdlRules(description, budget, ScalarEvaluator(net), net)
