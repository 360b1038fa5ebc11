"""Pictures of ``.efg`` files: the path down the tree, with the names of information sets."""

from __future__ import annotations

from collections.abc import Sequence

from infoset.base import Action, Game, InformationState, ObservationRecord, Picture, Step
from infoset.formats.efg import EfgState
from infoset.match.replay import MatchStep
from infoset.view.pictures.paths import CHANCE, Walked, path
from infoset.view.pictures.words import action_words


def whole(game: Game, steps: Sequence[Step], actions: Sequence[MatchStep]) -> Picture:
    """Return a picture of all moves with their information sets, and the name of the outcome or the node."""
    walked = []
    for step, played in zip(steps, actions, strict=False):
        here = step.state
        assert isinstance(here, EfgState)
        mover = here.infoset.player if here.infoset is not None else -1
        action = played.chance_outcome if mover < 0 else played.actions[mover]
        walked.append(Walked(CHANCE if mover < 0 else game.players[mover], action, "" if mover < 0 else _place(here)))
    last = steps[-1].state
    assert isinstance(last, EfgState)
    outcome = last.game.efg.nodes[last.node].outcome
    name = last.game.efg.outcomes[outcome - 1].name if outcome else ""
    return path(walked, note=name if last.terminal else _note(_place(last)))


def _place(state: EfgState) -> str:
    """Return the label of the information set."""
    return str(state.game.labels[state.game.efg.nodes[state.node].infoset])


def _note(place: str) -> str:
    return f"at {place}" if place else ""


def seen(game: Game, player: int, infostate: InformationState, legal_actions: Sequence[Action]) -> Picture:
    """Return a picture of the player's own moves with their information sets, and the present information set."""
    place, walked = "", []
    for action, observation in infostate:
        if action is not None:
            walked.append(Walked(game.players[player], action, place))
            place = ""
        if observation not in (None, ()):
            place = action_words(observation)
    return path(walked, legal_actions, note=_note(place))


def describe_record(game: Game, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Return in words the player's own move, and the information set that is reached."""
    action, observation = record
    did = [] if action is None else [f"you play {action_words(action)}"]
    return "; ".join([*did, *([f"you are at {action_words(observation)}"] if observation not in (None, ()) else [])])
