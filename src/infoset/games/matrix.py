"""One-shot simultaneous games given by their payoffs, the base of matching pennies and rock-paper-scissors."""

from __future__ import annotations

from typing import Any, NamedTuple

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed
from infoset.games.rules import Ended, NativeState, Rules, seats

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
