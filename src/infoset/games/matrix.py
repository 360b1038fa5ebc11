"""One-shot simultaneous games given by their payoffs: the base of matching pennies and rock-paper-scissors."""

from __future__ import annotations

from typing import NamedTuple

from infoset.base import Action, JointMove, Observed
from infoset.games.rules import Ended, NativeState, Rules, seats

Payoffs = tuple[tuple[tuple[int, ...], tuple[float, ...]], ...]


class _Fields(NamedTuple):
    actions: tuple[tuple[str, ...], ...]
    payoffs: Payoffs


class MatrixState(NativeState, _Fields):
    """The one state in which anybody moves."""

    __slots__ = ()

    def legal(self, player: int) -> tuple[Action, ...]:
        return self.actions[player]

    def play_unchecked(self, moves: JointMove, nature: Action | None = None) -> Observed:
        chosen = tuple(own.index(str(move)) for own, move in zip(self.actions, moves, strict=True))
        seen = tuple(str(move) for move in moves)
        return Observed(Ended(dict(self.payoffs)[chosen]), (seen,) * len(chosen))

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * len(self.actions)


def matrix_game(
    name: str, actions: tuple[tuple[str, ...], ...], payoffs: dict[tuple[int, ...], tuple[float, ...]]
) -> Rules:
    """A one-shot game: ``payoffs[joint move as indices]`` is a payoff a player."""
    state = MatrixState(actions, tuple(payoffs.items()))
    return Rules(name, seats(len(actions)), Observed(state, (None,) * len(actions)))
