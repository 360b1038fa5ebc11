"""One-shot simultaneous games given by their payoffs, the base of matching pennies and rock-paper-scissors."""

from __future__ import annotations

from typing import Any, NamedTuple

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Writes
from infoset.errors import UnsupportedGameError
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.tensors import has_recall

Payoffs = tuple[tuple[tuple[int, ...], tuple[float, ...]], ...]


class _Fields(NamedTuple):
    actions: tuple[tuple[str, ...], ...]
    payoffs: Payoffs


class MatrixState(NativeState, _Fields):
    """The only state in which players move."""

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return self.actions[player]

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        chosen = tuple(own.index(str(action)) for own, action in zip(self.actions, actions, strict=True))
        seen = tuple(str(action) for action in actions)
        return Observed(Ended(dict(self.payoffs)[chosen]), (seen,) * len(chosen))

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * len(self.actions)


class MatrixRules(Rules):
    """The rules of a one-shot game; it is shown as its table of payoffs (``view.payoff_table``)."""

    @property
    def actions(self) -> tuple[tuple[str, ...], ...]:
        """Each player's strategies."""
        state: MatrixState = self.first.state  # type: ignore[assignment]
        return state.actions

    def describe_record(self, player: int, record: ObservationRecord, before: InformationState) -> str:
        """Describe the choices of all players."""
        return describe_choices(self.players, player, record)

    def tensor_encoder(self, kind: str) -> MatrixEncoder:
        """Return the encoder of OpenSpiel's tensors, which are the same: whether the game is over.

        Raises ``UnsupportedGameError`` where players have different strategies.
        """
        has_recall(self.name, kind)
        if len(set(self.actions)) > 1:
            raise UnsupportedGameError(f"{self.name}: no tensors where players have different strategies")
        return MatrixEncoder(self.actions[0])


class MatrixEncoder:
    """Whether the game is over; there is nothing else to know."""

    def __init__(self, actions: tuple[Action, ...]) -> None:
        self.actions = actions
        self.shape: tuple[int, ...] = (1,)

    def start(self, player: int) -> tuple[None, Writes]:
        """Show that the game is not over."""
        return None, ()

    def after(self, player: int, memo: None, record: ObservationRecord) -> tuple[None, Writes]:
        """Show that the game is over."""
        return None, ((0, 1.0),)


def describe_choices(players: tuple[str, ...], player: int, record: ObservationRecord) -> str:
    """Describe a player's observation after a simultaneous choice that all players see."""
    chosen: Any = record[1]
    others = [
        f"{name} chooses {action}" for p, (name, action) in enumerate(zip(players, chosen, strict=True)) if p != player
    ]
    return "; ".join([f"you choose {record[0]}", *others])


def matrix_game(
    name: str, actions: tuple[tuple[str, ...], ...], payoffs: dict[tuple[int, ...], tuple[float, ...]]
) -> MatrixRules:
    """Make a one-shot game: ``payoffs[joint action as indices]`` holds each player's payoff."""
    state = MatrixState(actions, tuple(payoffs.items()))
    return MatrixRules(name, seats(len(actions)), Observed(state, (None,) * len(actions)))
