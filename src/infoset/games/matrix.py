"""One-shot simultaneous games given by their payoffs: the base of matching pennies and rock-paper-scissors."""

from __future__ import annotations

from typing import Any, NamedTuple

from infoset.base import Action, InformationState, JointMove, Observed, Picture, Token
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Known, Look, ShownRules, area, longest, table

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


def picture(rules: Rules, known: Known) -> Picture:
    """What everybody chose, which all see, and for two players the table of payoffs."""
    joint = longest(known)
    chosen: Any = joint[0][1] if joint else [None] * len(known)
    state: MatrixState = rules.first.state  # type: ignore[assignment]
    hands = table(
        *[area(p, [m] if m else [], player=k) for k, (p, m) in enumerate(zip(rules.players, chosen, strict=True))]
    )
    if len(known) != 2:
        return hands
    rows, columns = state.actions
    paid = dict(state.payoffs)
    cells = [
        [", ".join(f"{v:g}".replace("-", "−") for v in paid[r, c]) for c in range(len(columns))]
        for r in range(len(rows))
    ]
    payoffs = {"kind": "grid", "title": "payoffs", "rows": list(rows), "columns": list(columns), "cells": cells}
    return {"kind": "group", "parts": [hands, payoffs]}


def told(rules: Rules, player: int, token: Token, before: InformationState) -> str:
    """What everybody chose."""
    chosen: Any = token[1]
    others = [
        f"{name} chooses {move}"
        for p, (name, move) in enumerate(zip(rules.players, chosen, strict=True))
        if p != player
    ]
    return "; ".join([f"you choose {token[0]}", *others])


def matrix_game(
    name: str, actions: tuple[tuple[str, ...], ...], payoffs: dict[tuple[int, ...], tuple[float, ...]]
) -> Rules:
    """A one-shot game: ``payoffs[joint move as indices]`` is a payoff a player."""
    state = MatrixState(actions, tuple(payoffs.items()))
    first = Observed(state, (None,) * len(actions))
    return ShownRules(name, seats(len(actions)), first, Look(picture, told))
