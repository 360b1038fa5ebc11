"""A walk down the tree: who moved what, step by step; for ``.efg`` files and games that say no more of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infoset.base import Action, Game, InformationState, Observation, Picture
from infoset.match.replay import MatchStep
from infoset.view.pictures.words import action_words

CHANCE = "chance"
MAX_STEPS = 60
"""The last so many are shown, so that a long game does not flood the page."""


def whole_path(game: Game, moves: Sequence[MatchStep]) -> Picture:
    """Everything that was played; nature's answer comes after the joint move that it answers."""
    walked = []
    for played in moves:
        walked += [_step(game.players[p], move) for p, move in enumerate(played.moves) if move is not None]
        walked += [] if played.nature is None else [_step(CHANCE, played.nature)]
    return path(walked)


def seen_path(game: Game, player: int, known: InformationState, legal: Sequence[Action] = ()) -> Picture:
    """A player's own moves and what it saw, which has nobody's name."""
    walked = []
    for move, observation in known:
        walked += [] if move is None else [_step(game.players[player], move)]
        walked += [] if observation in (None, ()) else [_step("", observation)]
    return path(walked, legal)


def path(walked: list[dict[str, Any]], legal: Sequence[Action] = ()) -> Picture:
    """The picture of such steps, with the moves on offer."""
    left = len(walked) - MAX_STEPS
    if left > 0:
        walked = [{"who": "", "move": f"… {left} before"}, *walked[left:]]
    return {"kind": "path", "steps": walked, "moves": list(map(action_words, legal))}


def _step(who: str, what: Action | Observation) -> dict[str, Any]:
    return {"who": who, "move": action_words(what)}
