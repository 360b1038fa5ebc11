"""Moves, observations and what happened in one step, in words."""

from __future__ import annotations

from infoset.base import Action, Game, InformationState, Narrated, Observation, Token
from infoset.errors import one_line

MAX_WORDS = 120


def action_words(action: Action | Observation) -> str:
    """A move or observation as people read it: ``mark 1 3``; a part with parts of its own in brackets.

    >>> from infoset.view.pictures.words import action_words
    >>> action_words(("mark", 1, 3)), action_words(("tell", ("card", "K"), 2))
    ('mark 1 3', 'tell (card K) 2')
    """
    if not isinstance(action, tuple):
        return one_line(str(action), MAX_WORDS)
    parts = [f"({action_words(part)})" if isinstance(part, tuple) else action_words(part) for part in action]
    return one_line(" ".join(parts), MAX_WORDS)


def token_words(game: Game, player: int, token: Token, before: InformationState = ()) -> str:
    """What happened to ``player`` in one step; ``before`` is what it knew until then, where games need it to tell.

    >>> from infoset.view.pictures import token_words
    >>> token_words(infoset.load("kuhn_poker"), 0, ("bet", ()))
    'you bet'
    """
    if isinstance(game, Narrated):
        return one_line(game.told(player, token, before), MAX_WORDS)
    move, observation = token
    said = [] if move is None else [f"you {action_words(move)}"]
    if observation not in (None, ()):
        said.append(f"you see {action_words(observation)}")
    return "; ".join(said) or "time passes"
