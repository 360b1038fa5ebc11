"""The common base of native games: frozen rules, the shared part of states, the check of a joint move."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from infoset import displays
from infoset.base import Action, JointAction, Observed, State, Step
from infoset.errors import IllegalActionError, shorten


class NotebookGame:
    """A base class of games that are shown in notebooks and consoles."""

    name: str
    players: tuple[str, ...]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shorten(self.name)!r}, players={self.players!r})"

    def sizes(self) -> Mapping[str, str]:
        """Return the known sizes of the game, in words by what is counted, without enumerating it."""
        return {}

    def _repr_html_(self) -> str:
        return displays.render("game", self, self.sizes())


@dataclass(frozen=True, repr=False)
class Rules(NotebookGame):
    """The rules of a native game: its full name, its players and its first step."""

    name: str
    players: tuple[str, ...]
    first: Step

    def start(self) -> Step:
        return self.first


def seats(count: int) -> tuple[str, ...]:
    """Return the players' names ``P1`` … ``Pn``."""
    return tuple(f"P{k + 1}" for k in range(count))


def check_actions(state: State, actions: JointAction) -> None:
    """Raise ``IllegalActionError`` unless the joint move is legal at ``state``."""
    if state.terminal:
        raise IllegalActionError(f"the game is over at {state!r}; no move is legal")
    players = len(state.returns())
    if len(actions) != players:
        raise IllegalActionError(f"a joint move has {players} entries, not {len(actions)}: {actions!r}")
    for player, action in enumerate(actions):
        legal_actions: tuple[Action | None, ...] = state.legal_actions(player) or (None,)
        if action not in legal_actions:
            raise IllegalActionError(f"player {player} cannot play {action!r}; legal: {legal_actions!r}")


def check_play(state: State, actions: JointAction, chance_outcome: Action | None) -> None:
    """Raise ``IllegalActionError`` unless the joint move and ``chance_outcome`` are legal at ``state``."""
    check_actions(state, actions)
    answers: tuple[Action | None, ...] = tuple(a for a, _ in state.chance_outcomes(actions)) or (None,)
    if chance_outcome not in answers:
        raise IllegalActionError(f"chance cannot answer {chance_outcome!r}; possible: {answers[:20]!r}")


class NativeState:
    """The base class of native games' states: checked play and drawing from listed chance outcomes.

    A game's state class derives from this class and a ``NamedTuple`` of its fields, in this order; it implements
    ``legal_actions``, ``chance_outcomes``, ``returns`` and ``play_unchecked``, the fast path that trusts its caller.
    A state keeps only what still matters (the order of the cards once they are dealt, not the cards), so that
    histories share states; every game ends in ``Ended``.

    >>> class Guess(infoset.NativeState, tuple):          # a coin that nobody has seen
    ...     def legal_actions(self, player): return ("heads", "tails")
    ...     def chance_outcomes(self, actions): return (("heads", 0.5), ("tails", 0.5))
    ...     def returns(self): return (0.0,)
    ...     def play_unchecked(self, actions, chance_outcome=None):
    ...         return infoset.Observed(infoset.Ended((float(actions[0] == chance_outcome),)), (chance_outcome,))
    >>> Guess().play(("heads",), "heads").state.returns()
    (1.0,)
    >>> Guess().play(("edge",), "heads")
    Traceback (most recent call last):
    infoset.errors.IllegalActionError: player 0 cannot play 'edge'; legal: ('heads', 'tails')
    """

    __slots__ = ()

    @property
    def terminal(self) -> bool:
        """Whether the game is over, which is so only at ``Ended``."""
        return False

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        """Return the legal moves of ``player`` in a fixed order; ``()`` when that player does not move."""
        raise NotImplementedError

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        """Return the chance outcomes with their probabilities; none unless a game overrides this."""
        return ()

    def returns(self) -> tuple[float, ...]:
        """Return (n,) each player's payoff so far."""
        raise NotImplementedError

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        """Return the step that a legal joint move leads to; the result for illegal moves is undefined."""
        raise NotImplementedError

    def play(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        """Return the step that a joint move and a chance outcome lead to.  Raises ``IllegalActionError``."""
        check_play(self, actions, chance_outcome)
        return self.play_unchecked(actions, chance_outcome)

    def _repr_html_(self) -> str:
        return displays.render("state", self)

    def draw(self, actions: JointAction, rng: np.random.Generator) -> Action | None:
        """Draw a chance outcome; ``None`` where there is none."""
        answers = self.chance_outcomes(actions)
        if not answers:
            return None
        cumulative = list(accumulate([probability for _, probability in answers]))
        return answers[bisect_right(cumulative, float(rng.random()) * cumulative[-1])][0]


class _Payoffs(NamedTuple):
    payoffs: tuple[float, ...]


class Ended(NativeState, _Payoffs):
    """The end of a game, a state that holds the payoffs only.

    >>> infoset.Ended((1.0, -1.0)).returns()
    (1.0, -1.0)
    """

    __slots__ = ()

    @property
    def terminal(self) -> bool:
        return True

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return ()

    def returns(self) -> tuple[float, ...]:
        return self.payoffs


def order(strengths: Sequence[int]) -> tuple[int, ...]:
    """Replace each strength by its rank among the distinct ones, which suffices for a showdown."""
    ranks = {strength: rank for rank, strength in enumerate(sorted(set(strengths)))}
    return tuple([ranks[strength] for strength in strengths])
