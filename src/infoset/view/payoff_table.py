"""Simultaneous one-shot games as payoff tables: best responses marked, equilibria beside them.

Two players give one table; three give a table for each choice of the third.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from infoset.base import Action, BoolArray, FloatArray, Game, Picture
from infoset.errors import InfosetError
from infoset.formats.nfg import NfgGame
from infoset.games.matrix import MatrixRules
from infoset.names import action_names

MOST_CELLS = 400
MOST_PLAYERS = 3
MOST_STRATEGIES = 8  # per player, for games whose extreme equilibria are listed
MOST_EQUILIBRIA = 12
TOLERANCE = 1e-12  # relative to max − min of the payoffs: responses within it count as equally good
PURE = "pure equilibria"


class PayoffTable(NamedTuple):
    """A one-shot game of two or three players."""

    players: tuple[str, ...]
    strategies: tuple[tuple[str, ...], ...]
    """The names of the moves, by player."""
    actions: tuple[tuple[Action, ...], ...]
    payoffs: FloatArray
    """(K1, …, Kn, n) each player's payoff."""
    best: BoolArray
    """(K1, …, Kn, n): whether a player's choice is a best response to the choices of the others."""

    @property
    def equilibria(self) -> list[tuple[int, ...]]:
        """The pure equilibria: cells in which every player's choice is a best response."""
        return [tuple(map(int, cell)) for cell in np.argwhere(self.best.all(axis=-1))]

    def chosen(self, joint: tuple[Action | None, ...]) -> list[int | None]:
        """Return the indices of a joint move, ``None`` for a player that has not moved."""
        return [None if action is None else own.index(action) for action, own in zip(joint, self.actions, strict=True)]


def is_payoff_table(game: Game) -> bool:
    """Return whether the kind of a game says that it is a payoff table small enough to be shown."""
    sizes = (
        [*map(len, game.strategies)] if isinstance(game, NfgGame)
        else [*map(len, game.actions)] if isinstance(game, MatrixRules) else []
    )  # fmt: skip
    return 1 < len(sizes) <= MOST_PLAYERS and prod(sizes) <= MOST_CELLS


def payoff_table(game: Game) -> PayoffTable | None:
    """Return a game as a payoff table, or ``None``.

    A game is no table where a player or chance moves later, or where it is too large.
    """
    state, players = game.start().state, range(len(game.players))
    if state.terminal or not 1 < len(players) <= MOST_PLAYERS:
        return None
    action_sets = tuple([tuple(state.legal_actions(player)) for player in players])
    shape = tuple(map(len, action_sets))
    if not 0 < prod(shape) <= MOST_CELLS:
        return None
    payoffs = np.zeros((*shape, len(players)))
    for cell in product(*map(range, shape)):
        joint = tuple([action_set[k] for action_set, k in zip(action_sets, cell, strict=True)])
        answers = state.chance_outcomes(joint)
        if len(answers) > 1:
            return None
        after = state.play(joint, answers[0][0] if answers else None).state
        if not after.terminal:
            return None
        payoffs[cell] = after.returns()
    slack = TOLERANCE * float(np.ptp(payoffs))
    best = [payoffs[..., p] >= payoffs[..., p].max(axis=p, keepdims=True) - slack for p in players]
    return PayoffTable(
        tuple(game.players), tuple(map(action_names, action_sets)), action_sets, payoffs, np.stack(best, axis=-1)
    )


def equilibrium_lines(game: Game, table: PayoffTable) -> list[str]:
    """Return a line about the equilibria and one for each of them.

    They are the extreme equilibria of a small game of two players, else the pure ones.
    """
    if len(table.players) == 2 and max(map(len, table.strategies)) <= MOST_STRATEGIES:
        from infoset.solvers.tabular.extreme_equilibria import extreme_equilibria

        try:
            head, *lines = str(extreme_equilibria(game)).split("\n")
        except InfosetError:
            return _pure_lines(table)
        return [head.partition(": ")[2] if ": " in head else head, *_first(lines)]
    return _pure_lines(table)


def _pure_lines(table: PayoffTable) -> list[str]:
    found = []
    for cell in table.equilibria:
        paid = table.payoffs[cell]
        named = zip(table.players, table.strategies, cell, paid, strict=True)
        found.append("   ".join(f"{who} {own[k]} -> {_number(value)}" for who, own, k, value in named))
    head = f"{len(found)} {PURE if len(found) != 1 else 'pure equilibrium'}"
    return [head if found else f"no {PURE}", *_first(found)]


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_EQUILIBRIA
    return [*lines[:MOST_EQUILIBRIA], *([f"… {more:,} more"] if more > 0 else [])]


def _number(value: float) -> str:
    return "0" if value == 0 else f"{value:.6g}"


def payoff_picture(
    table: PayoffTable, joint: tuple[Action | None, ...] | None = None, mover: int | None = None,
    lines: list[str] | None = None,
) -> Picture:  # fmt: skip
    """Return a table as a picture, with the ``joint`` move made, the player to move, and the lines on equilibria."""
    third = table.strategies[2] if len(table.players) == MOST_PLAYERS else ()
    layers: list[tuple[str, tuple[int, ...]]] = [(f"{table.players[2]}: {word}", (k,)) for k, word in enumerate(third)]
    tables = [
        {
            "title": title,
            "cells": [
                [
                    {
                        "paid": [_number(value).replace("-", "−") for value in table.payoffs[(r, c, *rest)]],
                        "best": table.best[(r, c, *rest)].tolist(),
                    }
                    for c in range(len(table.strategies[1]))
                ]
                for r in range(len(table.strategies[0]))
            ],
        }
        for title, rest in layers or [("", ())]
    ]
    return {
        "kind": "payoffs", "players": list(table.players), "strategies": [list(own) for own in table.strategies],
        "tables": tables, "chosen": [None] * len(table.players) if joint is None else table.chosen(joint),
        "mover": mover, "equilibria": lines or [],
    }  # fmt: skip
