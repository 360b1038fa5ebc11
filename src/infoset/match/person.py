"""A person who plays: an agent like any other, whose moves come from a *hand*.

The hand is what a person looks at and moves with: a terminal, a page in a browser.  It is handed what the player may
know and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from infoset.base import Action, Game, InformationState, Observation

HUMAN = "human"
"""What a person is called in results, and by whom a person is named."""


class Left(KeyboardInterrupt):
    """The person leaves the game.

    It goes through the referee as Ctrl-C does, which takes no such thing for an agent's fault: whoever plays the game
    (``Round.step``) gets it, and can keep the game as it stands by ``Round.end``.

    >>> from infoset.match.person import Left, Person
    >>> class Leaving:
    ...     def tell(self, view): ...
    ...     def ask(self, view): raise Left("enough")
    >>> try:
    ...     infoset.play_match("kuhn_poker", [Person(Leaving()), "random"])
    ... except Left as ending:
    ...     print(ending)
    enough
    """


@dataclass(frozen=True)
class View:
    """All that a person may be shown at one moment.

    ``known`` is the player's information state.  ``legal`` are the moves on offer, ``()`` where it is not asked;
    ``deadline`` is a moment of ``time.monotonic`` in seconds, ``None`` without a limit.  ``returns`` (n,) are the
    payoffs once the game is over, or was left.

    >>> from infoset.match.person import View
    >>> View(infoset.load("kuhn_poker"), 0, ((None, "K"),), ("pass", "bet")).legal
    ('pass', 'bet')
    """

    game: Game
    player: int
    known: InformationState = ()
    legal: tuple[Action, ...] = ()
    deadline: float | None = None
    returns: tuple[float, ...] | None = None


@runtime_checkable
class Hand(Protocol):
    """What a person looks at and moves with; one hand plays one game at a time.

    >>> from infoset.match.person import Hand
    >>> class Bold:
    ...     def tell(self, view): ...
    ...     def ask(self, view): return view.legal[-1]
    >>> isinstance(Bold(), Hand)
    True
    """

    def tell(self, view: View) -> None:
        """What the player knows has changed: a game begins, a step was played, or it is over (``view.returns``)."""
        ...

    def ask(self, view: View) -> Action:
        """One of ``view.legal``, at the latest at ``view.deadline``; it may take its time where there is none.

        Raises ``Left`` where the person leaves the game, ``TimeoutError`` at the deadline.  What is raised and is no
        ``Exception`` goes through the referee to whoever plays the game.
        """
        ...


class Person:
    """Somebody who plays by a hand: it follows the player's information state and asks.

    >>> from infoset.match.person import Person
    >>> class Bold:
    ...     def tell(self, view): ...
    ...     def ask(self, view): return view.legal[-1]
    >>> infoset.play_match("kuhn_poker", [Person(Bold()), "random"], seed=1).steps[2].moves
    ('bet', None)
    """

    def __init__(self, hand: Hand, name: str = HUMAN) -> None:
        self.hand, self.name = hand, name

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Raises what the hand does: ``UnsupportedGameError`` for a game that it cannot show."""
        self.game, self.player = game, player
        self.known: InformationState = ()
        self._tell()

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        if own_move is not None or observation is not None:
            self.known = (*self.known, (own_move, () if observation is None else observation))
            self._tell()

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        return self.hand.ask(View(self.game, self.player, self.known, legal, deadline))

    def end(self, returns: tuple[float, ...]) -> None:
        self._tell(returns)

    def _tell(self, returns: tuple[float, ...] | None = None) -> None:
        self.hand.tell(View(self.game, self.player, self.known, returns=returns))
