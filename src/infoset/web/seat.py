"""What a seat is told, and how it answers: a hand that is played from browsers.

``told`` is all that ever leaves for a seat before the end, and it is given nothing but what everybody knows
(``Public``) and the player's own ``View``.  What is sent when is part of it: a message leaves only when these bytes
change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import msgspec

from infoset.base import Action, Passing, Picture
from infoset.match.person import Left, View
from infoset.view.pictures import action_words, seen, token_words

MARGIN = 0.02  # seconds before the end of a tick at which the key that is held is read
MOST_TOLD = 400  # the last so many events


class Suspended(Left):
    """Nobody sits here any more, or the table is to be set anew: the game is kept as it stands."""


class Broken(Left):
    """What the seat is to be told cannot be made: a fault of ours, and not the person's."""


class Public(msgspec.Struct, frozen=True):
    """What everybody at the table knows."""

    game: str
    players: tuple[str, ...]
    agents: tuple[str, ...]
    """(n,) who sits in each seat."""
    number: int = 1
    """Of the games at this table."""
    practice: bool = False
    undone: int = 0
    """How often a move was taken back; only where one person plays alone."""
    pace: float | None = None
    """Ticks a second."""
    title: str = ""
    """What its file calls the game."""
    score: tuple[float, ...] = ()
    """(n,) what who sits in each seat was paid in the games of this sitting that were played to their ends."""
    played: int = 0
    """How many those are."""


class End(msgspec.Struct, frozen=True):
    """What is told when the game is over: by then nothing is hidden any more."""

    returns: tuple[float, ...]
    over: bool
    """Whether it was played to its end."""
    seed: int
    item: str
    """The replay on the shelf."""
    whole: Picture | None = None
    """Everything as it stands at the end; in real time the replay alone shows that."""
    costs: tuple[Any, ...] = ()


def turn_of(public: Public, view: View) -> str:
    """The number of a turn, by which a move says what it answers."""
    return f"{public.number}.{public.undone}.{len(view.known)}"


def told(public: Public, view: View, end: End | None = None) -> bytes:
    """The message to a seat, as JSON; the same for all that the player cannot tell apart."""
    game, player, known = view.game, view.player, view.known
    first = max(0, len(known) - MOST_TOLD)
    paced = public.pace is not None
    words = [] if paced else [token_words(game, player, known[k], known[:k]) for k in range(first, len(known))]
    return msgspec.json.encode(
        {
            "kind": "seat",
            "turn": turn_of(public, view),
            "public": public,
            "seat": player,
            "picture": seen(game, player, known, view.legal),
            "told": words,
            "legal": [action_words(move) for move in view.legal],
            "end": end,
        }
    )


@dataclass
class Hand:
    """The hand of one seat: says what its player knows, and waits for a browser's move."""

    public: Public
    say: Callable[[bytes], None]
    view: View | None = None
    end: End | None = None
    answer: Action | None = None
    broken: type[Left] | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)
    _said: bytes = b""

    def tell(self, view: View) -> None:
        with self.changed:
            self.view = view
            if view.returns is None:  # what the end was is said by ``finish``, with all that goes with it
                self._say()

    def ask(self, view: View) -> Action:
        if len(view.legal) == 1:
            return view.legal[0]
        with self.changed:
            self.view, self.answer = view, None
            self._say()
            self.changed.wait_for(lambda: self.answer is not None or self.broken)
            self._check()
            self.view = replace(view, legal=())
            self._say()
            assert self.answer is not None
            return self.answer

    def act(self, move: int, turn: str) -> str:
        """A browser's move; says in a line why it is none."""
        with self.changed:
            view = self.view
            if self.end is not None:
                return "the game is over"
            if view is None or not view.legal or self.answer is not None:
                return "it is not your turn"
            if turn != turn_of(self.public, view):
                return "that turn is over; you see the next one now"
            if not 0 <= move < len(view.legal):
                return f"no move {move}; there are {len(view.legal)}"
            self.answer = view.legal[move]
            self.changed.notify_all()
            return ""

    def stop(self, why: type[Left]) -> None:
        """Whoever waits for a move gets ``why``."""
        with self.changed:
            self.broken = why
            self.changed.notify_all()

    def begin(self, public: Public) -> None:
        """Another game, or this one from an earlier turn."""
        with self.changed:
            self.public, self.end, self.view, self.answer, self.broken = public, None, None, None, None

    def finish(self, end: End) -> None:
        """The game is over."""
        with self.changed:
            self.end = end
            self._say()

    def show(self) -> None:
        """Say it again, to one who comes now."""
        with self.changed:
            if self._said:
                self.say(self._said)

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken

    def _say(self) -> None:
        assert self.view is not None
        try:
            message = told(self.public, self.view, self.end)
        except Exception as error:  # which the referee would take for an agent's fault
            raise Broken(f"internal error ({type(error).__name__})") from error
        if message != self._said:
            self._said = message
            self.say(message)


@dataclass
class Held(Hand):
    """The hand of one who plays by holding keys: at each tick the move whose key is down, or was pressed."""

    down: list[int] = field(default_factory=list)
    tapped: int | None = None

    def tell(self, view: View) -> None:
        with self.changed:
            asked = self.view is not None and bool(self.view.legal)
            self.view = view if view.returns is not None or not asked else replace(view, legal=self.view.legal)  # type: ignore[union-attr]
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
            if pressed is not None and pressed < len(view.legal):
                return view.legal[pressed]
            game = view.game
            return game.pass_move if isinstance(game, Passing) else view.legal[0]

    def pressed(self, down: int | None, up: int | None) -> None:
        """The key of a move goes down, or up."""
        with self.changed:
            self.down = [move for move in self.down if move not in (down, up)]
            if down is not None and down >= 0:
                self.down = [*self.down[-7:], down]
                self.tapped = down

    def begin(self, public: Public) -> None:
        super().begin(public)
        self.down, self.tapped = [], None
