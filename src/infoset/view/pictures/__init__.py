"""What is to be seen of a game, as plain data: ``page/pictures.js`` draws it in the browser, ``text`` in the terminal.

``whole`` shows everything.  ``seen`` shows what one player knows and is computed from its information state and the
public rules alone, never from a state: so no hidden fact can reach whoever looks at it.
"""

from __future__ import annotations

from collections.abc import Sequence

from infoset.base import Action, Game, InformationState, Picture, Pictured, Step
from infoset.catalog import POMMERMAN
from infoset.match.replay import MatchStep
from infoset.search.beliefs import own_token
from infoset.view.pictures.paths import seen_path, whole_path
from infoset.view.pictures.pommerman import seen_board, whole_board
from infoset.view.pictures.text import picture_text
from infoset.view.pictures.words import action_words, token_words

__all__ = ["action_words", "picture_text", "seen", "token_words", "whole"]


def whole(game: Game, steps: Sequence[Step], moves: Sequence[MatchStep]) -> Picture:
    """Everything at the last of ``steps``, to which ``moves``, one fewer, led from the first."""
    if isinstance(game, Pictured):
        return game.picture(_known(game, steps, moves))
    if game.name.startswith(POMMERMAN):
        return whole_board(game, steps, moves)
    return whole_path(game, moves)


def seen(game: Game, player: int, known: InformationState, legal: Sequence[Action] = ()) -> Picture:
    """What ``player`` knows: its information state, and the moves on offer to it."""
    if isinstance(game, Pictured):
        return game.picture([known if p == player else None for p in range(len(game.players))])
    if game.name.startswith(POMMERMAN):
        return seen_board(game, player, known, legal)
    return seen_path(game, player, known, legal)


def _known(game: Game, steps: Sequence[Step], moves: Sequence[MatchStep]) -> list[InformationState]:
    """What every player knows after the last step."""
    players = range(len(game.players))
    own = [(None,) * len(players), *(played.moves for played in moves)]
    tokens = [[own_token(made[p], step.observation(p)) for step, made in zip(steps, own, strict=True)] for p in players]
    return [tuple([token for token in told if token is not None]) for told in tokens]
