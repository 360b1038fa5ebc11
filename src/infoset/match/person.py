"""Agents for persons, whose moves come from a *hand*.

The hand is a person's user interface: a terminal, a page in a browser.  It receives what the player may know and
nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from infoset.base import Action, Game, InformationState, Observation

HUMAN = "human"
"""The name of a person in results, and the name of the agent."""


class LeaveGame(KeyboardInterrupt):
    """Raised when the person leaves the game.

    It passes through the referee as Ctrl-C does, without counting as an agent's fault: the caller of ``Round.step``
    receives it and can keep the unfinished game by ``Round.end``.

    >>> from infoset.match.person import LeaveGame, Person
    >>> class Leaving:
    ...     def tell(self, view): ...
    ...     def ask(self, view): raise LeaveGame("enough")
    >>> try:
    ...     infoset.play_match("kuhn_poker", [Person(Leaving()), "random"])
    ... except LeaveGame as ending:
    ...     print(ending)
    enough
    """


@dataclass(frozen=True)
class View:
    """All that a person may be shown at one moment.

    ``infostate`` is the player's information state.  ``legal_actions`` is ``()`` where no move is asked for;
    ``deadline`` is a time of ``time.monotonic`` in seconds, ``None`` without a limit.  ``returns`` (n,) are the payoffs
    once the game is over or was left.

    >>> from infoset.match.person import View
    >>> View(infoset.load("kuhn_poker"), 0, ((None, "K"),), ("pass", "bet")).legal_actions
    ('pass', 'bet')
    """

    game: Game
    player: int
    infostate: InformationState = ()
    legal_actions: tuple[Action, ...] = ()
    deadline: float | None = None
    returns: tuple[float, ...] | None = None


@runtime_checkable
class Hand(Protocol):
    """A person's user interface; one hand plays one game at a time.

    >>> from infoset.match.person import Hand
    >>> class Bold:
    ...     def tell(self, view): ...
    ...     def ask(self, view): return view.legal_actions[-1]
    >>> isinstance(Bold(), Hand)
    True
    """

    def tell(self, view: View) -> None:
        """Show new information: a game begins, a step was played, or the game is over (``view.returns``)."""
        ...

    def ask(self, view: View) -> Action:
        """Return one of ``view.legal_actions`` before ``view.deadline``, or without a time limit where it is ``None``.

        Raises ``LeaveGame`` where the person leaves the game, ``TimeoutError`` at the deadline.  An exception that is not an
        ``Exception`` passes through the referee to the caller that plays the game.
        """
        ...


class Person:
    """An agent that follows the player's information state and asks a hand for moves.

    >>> from infoset.match.person import Person
    >>> class Bold:
    ...     def tell(self, view): ...
    ...     def ask(self, view): return view.legal_actions[-1]
    >>> infoset.play_match("kuhn_poker", [Person(Bold()), "random"], seed=1).steps[2].actions
    ('bet', None)
    """

    def __init__(self, hand: Hand, name: str = HUMAN) -> None:
        self.hand, self.name = hand, name

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Begin the game.  Raises what the hand raises: ``UnsupportedGameError`` for a game that it cannot show."""
        self.game, self.player = game, player
        self.infostate: InformationState = ()
        self._tell()

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        if own_action is not None or observation is not None:
            self.infostate = (*self.infostate, (own_action, () if observation is None else observation))
            self._tell()

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        return self.hand.ask(View(self.game, self.player, self.infostate, legal_actions, deadline))

    def end(self, returns: tuple[float, ...]) -> None:
        self._tell(returns)

    def _tell(self, returns: tuple[float, ...] | None = None) -> None:
        self.hand.tell(View(self.game, self.player, self.infostate, returns=returns))
