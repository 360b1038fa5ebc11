"""Pictures of games as plain data: ``page/pictures.js`` draws them in the browser, ``text`` in the terminal.

``whole`` shows the complete state.  ``seen`` shows what one player knows; it is computed from the information state
and the public rules alone, never from a state, so no hidden fact can reach the viewer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from infoset.base import (
    Action,
    Game,
    InformationState,
    Narrated,
    ObservationRecord,
    Picture,
    Pictured,
    State,
    Step,
    own_record,
)
from infoset.errors import one_line
from infoset.match.replay import MatchStep
from infoset.registry import Registry
from infoset.view.pictures import paths
from infoset.view.pictures.text import picture_text
from infoset.view.pictures.words import MAX_WORDS, action_words

__all__ = ["action_words", "picture_text", "seen", "token_words", "view_hook", "whole"]

HERE = "infoset.view.pictures"
VIEWS: Registry[Painter] = Registry(
    "view",
    {
        "infoset.gdl.game": f"{HERE}.gdl",
        "infoset.games.product_form": f"{HERE}.product",
        "infoset.formats.efg": f"{HERE}.efg",
        "infoset.formats.nfg": f"{HERE}.payoffs",
        "infoset.games.matrix": f"{HERE}.payoffs",
        "infoset.formats.openspiel": f"{HERE}.openspiel",
    },
    group="infoset.views",
)
"""The module that makes the pictures of a kind of game, by the module of its class; ``paths`` for all others."""


class Painter(Protocol):
    """The interface of the module that makes the pictures of a kind of game."""

    def whole(self, game: Game, steps: Sequence[Step], actions: Sequence[MatchStep]) -> Picture: ...
    def seen(
        self, game: Game, player: int, infostate: InformationState, legal_actions: Sequence[Action]
    ) -> Picture: ...
    def describe_record(self, game: Game, player: int, record: ObservationRecord, before: InformationState) -> str: ...


def whole(game: Game, steps: Sequence[Step], actions: Sequence[MatchStep]) -> Picture:
    """Return a picture of the complete state at the last of ``steps``; ``actions``, one fewer, led there.

    >>> from infoset.view.pictures import whole
    >>> game = infoset.load("rock_paper_scissors")
    >>> whole(game, [game.start()], [])["tables"][0]["cells"][0][1]["paid"]
    ['−1', '1']
    """
    if isinstance(game, Pictured):
        return game.picture(_infostate(game, steps, actions))
    return _painter(game).whole(game, steps, actions)


def seen(game: Game, player: int, infostate: InformationState, legal_actions: Sequence[Action] = ()) -> Picture:
    """Return a picture of what ``player`` knows: its information state, and its legal actions ``legal_actions``.

    >>> from infoset.view.pictures import seen
    >>> [area["hidden"] for area in seen(infoset.load("kuhn_poker"), 0, ((None, "K"),))["areas"]]
    [0, 1, 0]
    """
    if isinstance(game, Pictured):
        return game.picture([infostate if p == player else None for p in range(len(game.players))])
    return _painter(game).seen(game, player, infostate, tuple(legal_actions))


def record_words(game: Game, player: int, record: ObservationRecord, before: InformationState = ()) -> str:
    """Return in words what happened to ``player`` in one step; ``before`` is its information state until then.

    >>> from infoset.view.pictures import record_words
    >>> record_words(infoset.load("kuhn_poker"), 0, (None, "bet"), ((None, "K"), ("pass", ())))
    'P2 bets'
    """
    teller = game.describe_record if isinstance(game, Narrated) else None
    words = teller(player, record, before) if teller else _painter(game).describe_record(game, player, record, before)
    return one_line(words, MAX_WORDS)


def view_hook(thing: Game | State, name: str) -> Callable[..., Any] | None:
    """Return an optional function of the view of a game, or of its states, as ``docs/plugins.md`` lists them."""
    return getattr(VIEWS.of(thing), name, None)


def _painter(game: Game) -> Painter:
    return cast(Painter, VIEWS.of(game) or paths)


def _infostate(game: Game, steps: Sequence[Step], actions: Sequence[MatchStep]) -> list[InformationState]:
    """Return every player's information state after the last step."""
    players = range(len(game.players))
    own = [(None,) * len(players), *(played.actions for played in actions)]
    records = [
        [own_record(made[p], step.observation(p)) for step, made in zip(steps, own, strict=True)] for p in players
    ]
    return [tuple([record for record in own if record is not None]) for own in records]
