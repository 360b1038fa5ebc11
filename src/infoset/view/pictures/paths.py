"""Pictures of the moves step by step, for games without a picture of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from infoset.base import Action, Game, InformationState, Observation, ObservationRecord, Picture, Step
from infoset.match.replay import MatchStep
from infoset.view.pictures.words import action_words

CHANCE = "chance"
MAX_STEPS = 60
"""The number of last steps that are shown, so that a long game does not flood the page."""


class Walked(NamedTuple):
    """One step of a path; ``who`` is empty for an observation."""

    who: str
    action: Action | Observation
    at: str = ""
    """The information set in which the move was made, where that has a name."""


def whole(game: Game, steps: Sequence[Step], actions: Sequence[MatchStep]) -> Picture:
    """Return a picture of all moves that were played."""
    return path(played_steps(game, actions))


def seen(game: Game, player: int, infostate: InformationState, legal_actions: Sequence[Action]) -> Picture:
    """Return a picture of a player's own moves and observations."""
    return path(seen_steps(game, player, infostate), legal_actions)


def describe_record(game: Game, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Return in words the own move and the observation."""
    action, observation = record
    said = [] if action is None else [f"you {action_words(action)}"]
    if observation not in (None, ()):
        said.append(f"you see {action_words(observation)}")
    return "; ".join(said) or "time passes"


def played_steps(game: Game, actions: Iterable[MatchStep]) -> list[Walked]:
    """Return all moves; a chance outcome comes after the joint move that it answers."""
    walked = []
    for played in actions:
        walked += [Walked(game.players[p], action) for p, action in enumerate(played.actions) if action is not None]
        walked += [] if played.chance_outcome is None else [Walked(CHANCE, played.chance_outcome)]
    return walked


def seen_steps(game: Game, player: int, infostate: Iterable[ObservationRecord]) -> list[Walked]:
    """Return a player's own moves and observations."""
    walked = []
    for action, observation in infostate:
        walked += [] if action is None else [Walked(game.players[player], action)]
        walked += [] if observation in (None, ()) else [Walked("", observation)]
    return walked


def path(walked: Sequence[Walked], legal_actions: Sequence[Action] = (), note: str = "") -> Picture:
    """Return the picture of these steps, with the legal moves."""
    left = len(walked) - MAX_STEPS
    if left > 0:
        walked = [Walked("", f"… {left} before"), *walked[left:]]
    steps = [_step(step) for step in walked]
    picture: Picture = {"kind": "path", "steps": steps, "moves": list(map(action_words, legal_actions))}
    return picture | {"note": note} if note else picture


def _step(step: Walked) -> dict[str, Any]:
    shown = {"who": step.who, "move": action_words(step.action)}
    return shown | {"at": step.at} if step.at else shown
