"""Moves and observations in words."""

from __future__ import annotations

from infoset.base import Action, Observation
from infoset.errors import one_line

MAX_WORDS = 120


def action_words(action: Action | Observation) -> str:
    """Return a move or observation in readable form: ``mark 1 3``; a nested part is put in brackets.

    >>> from infoset.view.pictures import action_words
    >>> action_words(("mark", 1, 3)), action_words(("tell", ("card", "K"), 2))
    ('mark 1 3', 'tell (card K) 2')
    """
    if not isinstance(action, tuple):
        return one_line(str(action), MAX_WORDS)
    parts = [f"({action_words(part)})" if isinstance(part, tuple) else action_words(part) for part in action]
    return one_line(" ".join(parts), MAX_WORDS)
