"""Pictures of ``.efg`` files: the way down the tree, with the names of information sets."""

from __future__ import annotations

from collections.abc import Sequence

from infoset.base import Action, Game, InformationState, Picture, Step, Token
from infoset.formats.efg import EfgState
from infoset.match.replay import MatchStep
from infoset.view.pictures.paths import CHANCE, Walked, path
from infoset.view.pictures.words import action_words


def whole(game: Game, steps: Sequence[Step], moves: Sequence[MatchStep]) -> Picture:
    """Every move with where it was made, and what the end, or the node, is called."""
    walked = []
    for step, played in zip(steps, moves, strict=False):
        here = step.state
        assert isinstance(here, EfgState)
        mover = here.infoset.player if here.infoset is not None else -1
        move = played.nature if mover < 0 else played.moves[mover]
        walked.append(Walked(CHANCE if mover < 0 else game.players[mover], move, "" if mover < 0 else _place(here)))
    last = steps[-1].state
    assert isinstance(last, EfgState)
    outcome = last.game.efg.nodes[last.node].outcome
    name = last.game.efg.outcomes[outcome - 1].name if outcome else ""
    return path(walked, note=name if last.terminal else _note(_place(last)))


def _place(state: EfgState) -> str:
    """The label of the information set."""
    return str(state.game.labels[state.game.efg.nodes[state.node].infoset])


def _note(place: str) -> str:
    return f"at {place}" if place else ""


def seen(game: Game, player: int, known: InformationState, legal: Sequence[Action]) -> Picture:
    """The player's own moves, each with the information set in which it was made, and where it is now."""
    place, walked = "", []
    for move, observation in known:
        if move is not None:
            walked.append(Walked(game.players[player], move, place))
            place = ""
        if observation not in (None, ()):
            place = action_words(observation)
    return path(walked, legal, note=_note(place))


def told(game: Game, player: int, token: Token, before: InformationState) -> str:
    """The own move, and the information set that is come to."""
    move, observation = token
    did = [] if move is None else [f"you play {action_words(move)}"]
    return "; ".join([*did, *([f"you are at {action_words(observation)}"] if observation not in (None, ()) else [])])
