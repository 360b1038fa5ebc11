"""Pictures of games in product form: the values of the axes that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infoset.base import Action, Game, InformationState, ObservationRecord, Picture, Step
from infoset.games.product_form import PASS, ProductForm, ProductState, Stage
from infoset.games.table import area, table
from infoset.match.replay import MatchStep
from infoset.view.pictures import paths
from infoset.view.pictures.words import action_words


def whole(game: Game, steps: Sequence[Step], actions: Sequence[MatchStep]) -> Picture:
    """Return a picture of every value that was chosen."""
    assert isinstance(game, ProductForm)
    last = [step.state for step in steps if isinstance(step.state, ProductState)]
    values = last[-1].values if last else ()
    if steps[-1].state.terminal and actions:
        values = (
            *values,
            *(choice for choice in (*actions[-1].actions, actions[-1].chance_outcome) if choice is not None),
        )
    return _axes(game, dict(game.past(values)), 0)


def seen(game: Game, player: int, infostate: InformationState, legal_actions: Sequence[Action]) -> Picture:
    """Return a picture of the values that the player's stages showed it, and its own choices.

    It is a list of moves where a function determines what the stages show.
    """
    assert isinstance(game, ProductForm)
    stages = {axis.name: axis for axis in game.axes if isinstance(axis, Stage)}
    own = [stage for stage in stages.values() if stage.player == game.players[player]]
    if any(callable(stage.sees) for stage in own):
        return paths.seen(game, player, infostate, legal_actions)
    values: dict[str, Action] = {}
    here = ""
    for action, label in infostate:
        if action is not None and here:
            values[here] = action
        if isinstance(label, tuple) and label:
            here = str(label[0])
            values.update(zip(_names(stages[here].sees), label[1:], strict=True))  # type: ignore[arg-type]
    return _axes(game, values, game.names.index(here) if here else 0)


def _axes(game: ProductForm, values: Mapping[str, Action], passed: int) -> Picture:
    """Return one area per axis; axes before ``passed`` whose value is not known lie face down."""
    return table(*[
        area(name, [action_words(values[name])] if values.get(name, PASS) != PASS else [],
             int(name not in values and number < passed), axis.player or "chance")
        for number, (name, axis) in enumerate((name, axis) for axis in game.axes for name in _names(axis.name))
    ])  # fmt: skip


def _names(given: object) -> tuple[str, ...]:
    """Return a tuple of names; a text counts as one name."""
    return (given,) if isinstance(given, str) else tuple(given)  # type: ignore[arg-type]


def describe_record(game: Game, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Return in words the own choice, and what the next stage shows."""
    action, label = record
    did = [] if action is None else [f"you choose {action_words(action)}"]
    at = f"you are asked at {action_words(label[0])}" if isinstance(label, tuple) and label else ""
    shown = f" and see {action_words(label[1:])}" if isinstance(label, tuple) and len(label) > 1 else ""
    return "; ".join([*did, *filter(None, [at + shown])]) or "time passes"
