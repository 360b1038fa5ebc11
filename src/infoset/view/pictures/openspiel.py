"""Pictures of OpenSpiel's games: the moves, and OpenSpiel's own text of a state or for a player."""

from __future__ import annotations

from collections.abc import Sequence

from infoset.base import Action, Game, InformationState, Observation, ObservationRecord, Picture, State, Step
from infoset.errors import shorten
from infoset.formats.openspiel import OpenSpielState, Undrawn
from infoset.match.replay import MatchStep
from infoset.view.pictures.paths import CHANCE, path, played_steps, seen_steps
from infoset.view.pictures.words import action_words

MAX_NOTE = 4_000


def whole(game: Game, steps: Sequence[Step], actions: Sequence[MatchStep]) -> Picture:
    """Return a picture of the moves and OpenSpiel's text of the state.

    There is no text before a game that draws its own chance has a seed.
    """
    walked = [
        walk._replace(action=_words(before.state, walk.action)) if walk.who == CHANCE else walk
        for before, played in zip(steps, actions, strict=False)
        for walk in played_steps(game, [played])
    ]
    state = steps[-1].state
    return path(walked, note=shorten(str(state.spiel), MAX_NOTE) if isinstance(state, OpenSpielState) else "")


def _words(state: State, answer: Action | Observation) -> Action | Observation:
    """Return OpenSpiel's name for a chance outcome."""
    if isinstance(state, Undrawn):
        return f"seed {answer}"
    assert isinstance(state, OpenSpielState)
    return str(state.spiel.action_to_string(answer))


def seen(game: Game, player: int, infostate: InformationState, legal_actions: Sequence[Action]) -> Picture:
    """Return a picture of the player's own moves and the last text that OpenSpiel gave it."""
    own = [(action, ()) for action, _ in infostate if action is not None]
    texts = [seen for _, seen in infostate if isinstance(seen, str)]
    return path(seen_steps(game, player, own), legal_actions, note=shorten(texts[-1], MAX_NOTE) if texts else "")


def describe_record(game: Game, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Return in words the own move, and OpenSpiel's text."""
    action, observation = record
    did = [] if action is None else [f"you play {action_words(action)}"]
    return "; ".join([*did, *([action_words(observation)] if observation not in (None, ()) else [])]) or "time passes"
