"""The messages to a seat and its answers: a hand that is played from browsers.

``encode_view`` makes every message that leaves for a seat before the end, and it is given only what all players know
(``Public``) and the player's own ``View``.  The timing must not leak anything either: a message leaves only when its
bytes change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import msgspec

from infoset.base import Action, Passing, Picture
from infoset.match.person import LeaveGame, View
from infoset.view.pictures import action_words, record_words, seen

MARGIN = 0.02  # seconds before the end of a tick at which the held key is read
MAX_DESCRIPTIONS = 400  # number of the latest events that are sent


class Suspended(LeaveGame):
    """Raised where nobody sits here any more, or the table must be set up again: the game is kept as it is."""


class Broken(LeaveGame):
    """Raised where the message to the seat cannot be made: a bug of the server, not the person's fault."""


class Public(msgspec.Struct, frozen=True):
    """Public knowledge at the table."""

    game: str
    players: tuple[str, ...]
    agents: tuple[str, ...]
    """(n,) the name of the agent in each seat."""
    number: int = 1
    """The number of the game at this table."""
    practice: bool = False
    undone: int = 0
    """The number of moves taken back; only where one person plays alone."""
    pace: float | None = None
    """Ticks per second."""
    title: str = ""
    """The title that the game's file gives it."""
    score: tuple[float, ...] = ()
    """(n,) the total payoffs of the agent in each seat over the finished games of this sitting."""
    played: int = 0
    """The number of those games."""


class End(msgspec.Struct, frozen=True):
    """The message at the end of a game, when nothing is hidden any more."""

    returns: tuple[float, ...]
    over: bool
    """Whether the game was played to its end."""
    seed: int
    item: str
    """The name of the replay in the served folders."""
    whole: Picture | None = None
    """The complete final state; in real time only the replay shows it."""
    costs: tuple[Any, ...] = ()


def turn_of(public: Public, view: View) -> str:
    """Return the id of a turn, by which a move names the turn that it answers."""
    return f"{public.number}.{public.undone}.{len(view.infostate)}"


def encode_view(public: Public, view: View, end: End | None = None) -> bytes:
    """Return the message to a seat, as JSON; it is the same for all histories that the player cannot distinguish."""
    game, player, infostate = view.game, view.player, view.infostate
    first = max(0, len(infostate) - MAX_DESCRIPTIONS)
    paced = public.pace is not None
    words = (
        [] if paced else [record_words(game, player, infostate[k], infostate[:k]) for k in range(first, len(infostate))]
    )
    return msgspec.json.encode(
        {
            "kind": "seat",
            "turn": turn_of(public, view),
            "public": public,
            "seat": player,
            "picture": seen(game, player, infostate, view.legal_actions),
            "descriptions": words,
            "legal_actions": [action_words(action) for action in view.legal_actions],
            "end": end,
        }
    )


@dataclass
class Hand:
    """The hand of one seat: sends what its player knows, and waits for a browser's move."""

    public: Public
    say: Callable[[bytes], None]
    view: View | None = None
    end: End | None = None
    answer: Action | None = None
    broken: type[LeaveGame] | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)
    _said: bytes = b""

    def tell(self, view: View) -> None:
        with self.changed:
            self.view = view
            if view.returns is None:  # the end is sent by ``finish``, with everything that belongs to it
                self._say()

    def ask(self, view: View) -> Action:
        if len(view.legal_actions) == 1:
            return view.legal_actions[0]
        with self.changed:
            self.view, self.answer = view, None
            self._say()
            self.changed.wait_for(lambda: self.answer is not None or self.broken)
            self._check()
            self.view = replace(view, legal_actions=())
            self._say()
            assert self.answer is not None
            return self.answer

    def act(self, action: int, turn: str) -> str:
        """Take a browser's move; return in a line why it is refused, or ""."""
        with self.changed:
            view = self.view
            if self.end is not None:
                return "the game is over"
            if view is None or not view.legal_actions or self.answer is not None:
                return "it is not your turn"
            if turn != turn_of(self.public, view):
                return "that turn is over; you see the next one now"
            if not 0 <= action < len(view.legal_actions):
                return f"no move {action}; there are {len(view.legal_actions)}"
            self.answer = view.legal_actions[action]
            self.changed.notify_all()
            return ""

    def stop(self, why: type[LeaveGame]) -> None:
        """Raise ``why`` in the thread that waits for a move."""
        with self.changed:
            self.broken = why
            self.changed.notify_all()

    def begin(self, public: Public) -> None:
        """Begin another game, or this one from an earlier turn."""
        with self.changed:
            self.public, self.end, self.view, self.answer, self.broken = public, None, None, None, None

    def finish(self, end: End) -> None:
        """Send the end of the game."""
        with self.changed:
            self.end = end
            self._say()

    def show(self) -> None:
        """Send the last message again, to a browser that has just connected."""
        with self.changed:
            if self._said:
                self.say(self._said)

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken

    def _say(self) -> None:
        assert self.view is not None
        try:
            message = encode_view(self.public, self.view, self.end)
        except Exception as error:  # otherwise the referee would take it for an agent's fault
            raise Broken(f"internal error ({type(error).__name__})") from error
        if message != self._said:
            self._said = message
            self.say(message)


@dataclass
class KeyHand(Hand):
    """The hand of a person who plays by holding keys: at each tick the move whose key is down, or was pressed."""

    down: list[int] = field(default_factory=list)
    tapped: int | None = None

    def tell(self, view: View) -> None:
        with self.changed:
            asked = self.view is not None and bool(self.view.legal_actions)
            if asked and view.returns is None:
                view = replace(view, legal_actions=self.view.legal_actions)  # type: ignore[union-attr]
            self.view = view
            if view.returns is None:
                self._say()

    def ask(self, view: View) -> Action:
        with self.changed:
            self.view = view
            self._say()
            until = (monotonic() if view.deadline is None else view.deadline) - MARGIN
            while (left := until - monotonic()) > 0 and self.broken is None:
                self.changed.wait(left)
            self._check()
            pressed = self.tapped if self.tapped is not None else (self.down[-1] if self.down else None)
            self.tapped = None
            if pressed is not None and pressed < len(view.legal_actions):
                return view.legal_actions[pressed]
            game = view.game
            return game.pass_move if isinstance(game, Passing) else view.legal_actions[0]

    def pressed(self, down: int | None, up: int | None) -> None:
        """Note that the key of a move goes down, or up."""
        with self.changed:
            self.down = [action for action in self.down if action not in (down, up)]
            if down is not None and down >= 0:
                self.down = [*self.down[-7:], down]
                self.tapped = down

    def begin(self, public: Public) -> None:
        super().begin(public)
        self.down, self.tapped = [], None
