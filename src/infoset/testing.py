"""Conformance tests for games, ours and users': the game model's contract, checked by random play."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from math import inf, isfinite
from time import monotonic
from typing import NamedTuple

import numpy as np

from infoset.base import Action, Factored, Game, InformationState, JointAction, State, Step
from infoset.errors import GameRuleError, IllegalActionError, UnsupportedGameError, shorten
from infoset.names import MAX_COUNT, check_range

TOLERANCE = 1e-9
MOST_EXAMPLES = 3
NO_SUCH_MOVE = ("no", "such", "move")


@dataclass(frozen=True)
class GameCheck:
    """The result of a check: plays, their mean length in steps, and distinct information states with a move.

    >>> infoset.testing.check_game(infoset.load("kuhn_poker"), plays=10).information_states <= 12
    True
    """

    game: str
    plays: int
    mean_length: float
    information_states: int


class Violation(NamedTuple):
    """A violation of the game model: what is wrong, and the steps of the play before that."""

    message: str
    history: tuple[object, ...] = ()


def find_violations(
    game: Game, plays: int = 100, seed: int = 0, max_steps: int = 100_000, seconds: float = inf
) -> list[Violation]:
    """Return every violation that random plays show, where ``check_game`` raises the first one.

    At most ``MOST_EXAMPLES`` histories are given for a violation of the same kind.  No play begins after ``seconds``.

    >>> infoset.testing.find_violations(infoset.load("kuhn_poker"), plays=10)
    []
    """
    found: list[Violation] = []
    _check(game, plays, seed, max_steps, found, seconds)
    return found


def check_game(game: Game, plays: int = 100, seed: int = 0, max_steps: int = 100_000) -> GameCheck:
    """Play ``game`` at random and check the game model's contract at every step.

    Checked: names and players; states are hashable values that survive pickling; legal moves are distinct and only
    exist at non-terminal states; chance probabilities sum to one and ``draw`` returns one of the outcomes; ``play``
    gives equal steps for equal arguments, whose states have equal moves and payoffs, leaves the state as it was and
    rejects illegal moves; somebody can move or there is a chance outcome until the end; the game ends; payoffs are
    finite; observations are hashable; and a player's legal moves follow from its information state.  For a ``Factored``
    game also that the private parts of players do not affect the others.  Raises ``GameRuleError`` that names the
    history.

    ``max_steps`` bounds the length of a play.

    >>> check = infoset.testing.check_game(infoset.load("rock_paper_scissors"), plays=20)
    >>> check.plays, check.mean_length
    (20, 1.0)
    """
    return _check(game, plays, seed, max_steps, None)


def _check(
    game: Game, plays: int, seed: int, max_steps: int, found: list[Violation] | None, seconds: float = inf
) -> GameCheck:
    """Check by random plays; violations are added to ``found``, or the first one is raised without a list."""
    check_range("plays", plays, 0, MAX_COUNT)
    check_range("max_steps", max_steps, 1, MAX_COUNT)
    if not game.name or not game.players or len(set(game.players)) != len(game.players):
        why = f"{game.name!r}: a game needs a name and distinct players, not {game.players!r}"
        if found is None:
            raise GameRuleError(why)
        found.append(Violation(why))
    checker = _Checker(game, np.random.default_rng(seed), max_steps, found)
    until = monotonic() + seconds
    lengths = [checker.play_guarded() for _ in range(plays) if monotonic() <= until]
    return GameCheck(game.name, len(lengths), sum(lengths) / max(len(lengths), 1), len(checker.action_sets))


class _AbandonedError(Exception):
    """The error that ends a play which cannot go on, after its violation was noted."""


class _Outcome(NamedTuple):
    """The legal moves; the core that a move leads to, and the mover's private part and observation there."""

    offered: object
    core: object = None
    comes_to: object = None


class _Checker:
    def __init__(
        self, game: Game, rng: np.random.Generator, max_steps: int, found: list[Violation] | None = None
    ) -> None:
        self.game, self.rng, self.max_steps, self.found = game, rng, max_steps, found
        self.examples: Counter[str] = Counter()
        self.n = len(game.players)
        self.action_sets: dict[tuple[int, Hashable], tuple[tuple[Action, ...], list[object]]] = {}
        self.cores: dict[Hashable, tuple[list[object], tuple[Hashable, ...]]] = {}

    def play_guarded(self) -> int:
        """Play once; any exception that the game raises by itself is reported as a violation."""
        self.history: list[object] = []
        try:
            return self.play_once()
        except _AbandonedError:
            return len(self.history)
        except Exception as error:
            if self.found is None and isinstance(error, GameRuleError):
                raise
            self._report(f"{type(error).__name__}: {error}", f"{type(error).__name__}: {error}", error)
            return len(self.history)

    def play_once(self) -> int:
        step = self.game.start()
        infostate: list[InformationState] = [()] * self.n
        self._observe(infostate, step, (None,) * self.n)
        for length in range(self.max_steps):
            state = step.state
            self._check_value(state)
            returns = state.returns()
            if len(returns) != self.n or not all(map(isfinite, returns)):
                self._report(f"payoffs {returns!r} are not {self.n} finite numbers", "payoffs")
            if state.terminal:
                if any(state.legal_actions(p) for p in range(self.n)):
                    self._report("a player still has moves at the end", "end")
                return length
            actions, answer = self._choose(state, infostate)
            if isinstance(self.game, Factored):
                self._check_factored(self.game, state, actions, answer)
            step = self._play(state, actions, answer)
            self.history.append((*actions, answer))
            self._observe(infostate, step, actions)
        self._report(f"has not ended after {self.max_steps:,} steps", "length")
        return self.max_steps

    def _check_factored(self, game: Factored, state: State, actions: JointAction, answer: Action | None) -> None:
        """Check that a mover's actions and their effect do not depend on the private parts that others had before."""
        found = game.split(state)
        if found is None or game.join(*found) != state:
            self._report(f"join does not invert split at {shorten(repr(state))}", "join")
            return
        core, own = found
        movers = [p for p in range(self.n) if actions[p] is not None]
        if len(movers) > 1:
            self._report("simultaneous moves are not supported by this factored form", "simultaneous")
            return
        player = movers[0] if movers else None
        history, others_private = self.cores.setdefault(core, (list(self.history), own))
        mixed = game.join(core, tuple([own[p] if p == player else others_private[p] for p in range(self.n)]))
        here, there = (self._outcome(game, one, actions, answer, player) for one in (state, mixed))
        if here.offered != there.offered or (here.core == there.core and here.comes_to != there.comes_to):
            who = "chance" if player is None else f"player {player}"
            self._report(
                f"does not factor: {who} has other moves, or moves of another effect, with the private states that the "
                f"others had after {history}",
                "factors",
            )

    def _outcome(
        self, game: Factored, state: State, actions: JointAction, answer: Action | None, player: int | None
    ) -> _Outcome:  # fmt: skip
        """Return the outcome of a move, or of chance."""
        if player is None:
            return _Outcome(state.chance_outcomes(actions))
        offered = state.legal_actions(player)
        if actions[player] not in offered:
            return _Outcome(offered)
        step = state.play(actions, answer)
        after = game.split(step.state)
        if step.state.terminal or after is None:
            return _Outcome(offered)
        return _Outcome(offered, after[0], (after[1][player], step.observation(player)))

    def _report(self, what: str, kind: str, cause: Exception | None = None) -> None:
        """Note a violation, or raise it where the first one ends the check."""
        if self.found is None:
            raise GameRuleError(f"{self.game.name} after {self.history}: {what}") from cause
        self.examples[kind] += 1
        if self.examples[kind] <= MOST_EXAMPLES:
            self.found.append(Violation(what, tuple(self.history)))

    def _check_value(self, state: State) -> None:
        try:
            copy = pickle.loads(pickle.dumps(state))
            same = hash(state) == hash(state) and (copy == state) is True
        except TypeError as error:
            self._report(f"the state is no hashable value: {error}", "hashable")
            return
        except (pickle.PicklingError, AttributeError):
            same = True  # a state that holds a foreign object need not be picklable
        if not same:
            self._report("a copy of the state does not equal it", "copy")

    def _choose(self, state: State, infostate: list[InformationState]) -> tuple[list[Action | None], Action | None]:
        actions: list[Action | None] = []
        for player in range(self.n):
            legal_actions = state.legal_actions(player)
            if (
                not isinstance(legal_actions, tuple)
                or None in legal_actions
                or len(set(legal_actions)) < len(legal_actions)
            ):
                self._report(f"player {player}'s moves {legal_actions!r} are not a tuple of distinct moves", "moves")
            self._check_action_set(player, infostate[player], legal_actions, state)
            actions.append(legal_actions[int(self.rng.integers(len(legal_actions)))] if legal_actions else None)
        try:
            answers = state.chance_outcomes(actions)
        except UnsupportedGameError:  # too many to list; one can still be drawn
            return actions, state.draw(actions, self.rng)
        if not answers and all(action is None for action in actions):
            self._report("a state that is not terminal has neither legal actions nor chance outcomes", "stuck")
            raise _AbandonedError
        total = sum(p for _, p in answers)
        if answers and not (abs(total - 1) <= TOLERANCE and all(0 <= p <= 1 for _, p in answers)):
            self._report(f"chance's probabilities {answers!r} sum to {total}, not to 1", "probabilities")
        if len({a for a, _ in answers}) < len(answers):
            self._report(f"chance's answers {answers!r} are not distinct", "answers")
        answer = state.draw(actions, self.rng)
        if (
            answers
            and answer not in [a for a, _ in answers]
            and not self._comes_to_a_listed(state, actions, answers, answer)
        ):
            self._report(f"draw gave {answer!r}, which chance does not list and which leads to no listed step", "draw")
        return actions, answer

    def _comes_to_a_listed(
        self, state: State, actions: JointAction, answers: tuple[tuple[Action, float], ...], answer: Action | None
    ) -> bool:
        """Return whether a drawn outcome leads to the same step as a listed one, which may have another name."""
        drawn = state.play(actions, answer)
        return any(self._same(drawn, state.play(actions, listed)) for listed, _ in answers)

    def _found(self, state: State) -> tuple[object, ...]:
        """Return what follows from a state: everybody's legal moves and the payoffs."""
        return (*[state.legal_actions(p) for p in range(self.n)], state.returns())

    def _same(self, one: Step, other: Step) -> bool:
        return one.state == other.state and all(one.observation(p) == other.observation(p) for p in range(self.n))

    def _check_action_set(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...], state: State
    ) -> None:
        information_map = getattr(self.game, "information_map", None)
        key: Hashable = infostate
        if information_map is not None and legal_actions:
            key = information_map.key(state, player)
        if not legal_actions:
            return
        action_set, history = self.action_sets.setdefault((player, key), (legal_actions, list(self.history)))
        if action_set != legal_actions:
            self._report(
                f"player {player} cannot tell this from {history}, but has {legal_actions!r}, there {action_set!r}",
                "action sets",
            )

    def _play(self, state: State, actions: JointAction, answer: Action | None) -> Step:
        before = hash(state)
        step, again = state.play(actions, answer), state.play(actions, answer)
        if not self._same(step, again):
            self._report(f"playing {actions!r} twice gives different steps", "steps")
        for one, other in zip(self._found(step.state), self._found(again.state), strict=True):
            if one != other:  # the step drew something that the state does not record
                self._report(
                    f"playing {actions!r} twice gives equal states of which one has {one!r}, one {other!r}", "states"
                )
        if hash(state) != before:
            self._report(f"playing {actions!r} changed the state that it was played from", "changed")
        for player in range(self.n):
            wrong = list(actions)
            wrong[player] = NO_SUCH_MOVE
            self._refuses(state, wrong, answer)
        return step

    def _refuses(self, state: State, actions: JointAction, answer: Action | None) -> None:
        try:
            state.play(actions, answer)
        except IllegalActionError:
            return
        self._report(f"the joint move {actions!r} is not on offer but was played", "illegal moves")

    def _observe(self, infostate: list[InformationState], step: Step, actions: JointAction) -> None:
        for player in range(self.n):
            observation = step.observation(player)
            try:
                hash(observation)
            except TypeError:
                self._report(f"player {player}'s observation {observation!r} is not hashable", "observations")
                raise _AbandonedError from None
            if actions[player] is not None or observation is not None:
                seen = () if observation is None else observation
                infostate[player] = (*infostate[player], (actions[player], seen))
