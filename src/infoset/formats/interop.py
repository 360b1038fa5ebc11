"""Conversion of games of nashpy and pygambit, Gambit's Python package, to ours and back.

This needs the extras ``interop`` and ``gambit``.
"""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any

import numpy as np

from infoset.base import Game
from infoset.compiled import check_is_game
from infoset.errors import MissingExtraError, ParameterError, UnsupportedGameError, one_line, shorten
from infoset.formats.efg import EfgGame, efg_for_gambit, game_to_efg, parse_efg, write_efg
from infoset.formats.nfg import NfgGame, game_to_nfg, nfg_for_gambit, parse_nfg, table_game, write_nfg


def from_nashpy(game: Any) -> NfgGame:
    """Convert a game of nashpy, given by its two payoff tables.

    Raises ``ParameterError`` for an object that is no game of nashpy, and for tables without numbers.

    >>> from infoset.formats.interop import from_nashpy, to_nashpy
    >>> infoset.solve(from_nashpy(to_nashpy(infoset.load("rock_paper_scissors")))).values
    (0.0, 0.0)
    """
    _check_foreign_game(game, "nashpy", "payoff_matrices")
    return table_game(*game.payoff_matrices, name="nashpy")


def to_nashpy(game: Game, max_histories: int | None = None) -> Any:
    """Convert a two-player game to nashpy: its (reduced) normal form, strategies in the order of ``.nfg`` files.

    Raises ``UnsupportedGameError`` for more or fewer players, ``BudgetError`` for too large a table, and
    ``MissingExtraError``.

    >>> from infoset.formats.interop import to_nashpy
    >>> to_nashpy(infoset.load("kuhn_poker")).payoff_matrices[0].shape
    (27, 64)
    """
    nashpy = _their("nashpy", "interop")
    check_is_game(game)
    if (n := len(game.players)) != 2:
        raise UnsupportedGameError(f"{game.name} has {n} player{'s'[: n != 1]}; a game of nashpy has two")
    nfg = game_to_nfg(game, max_histories)
    shape = [len(own) for own in nfg.strategies]
    payoffs = np.array([list(map(float, cell)) for cell in nfg.payoffs])
    tables = [payoffs[:, player].reshape(shape, order="F") for player in range(2)]  # the row index varies fastest
    return nashpy.Game(*tables)


def from_gambit(game: Any) -> EfgGame | NfgGame:
    """Convert a game of pygambit: its tree, or its table where it has none.

    Raises ``ParameterError`` and ``FormatError``.
    """
    _check_foreign_game(game, "pygambit", "is_tree")
    name = str(game.title) or "gambit"
    if game.is_tree:
        return EfgGame(parse_efg(game.to_efg()), name)
    return NfgGame(parse_nfg(game.to_nfg()), name)


def to_gambit(game: Game, max_histories: int | None = None, normalise: bool = False) -> Any:
    """Convert any game to pygambit: an ``NfgGame`` to its table, any other to its tree.

    Labels that Gambit rejects are changed, with a ``GambitWarning``.  ``normalise``: probabilities in a file that sum
    to one only approximately become the fractions that were meant; without it they are rejected.  Raises
    ``BudgetError`` for too large a tree, ``UnsupportedGameError`` for a game that Gambit does not accept, and
    ``MissingExtraError``.
    """
    gambit = _their("pygambit", "gambit")
    check_is_game(game)
    try:
        if isinstance(game, NfgGame):
            return gambit.read_nfg(io.StringIO(write_nfg(nfg_for_gambit(game.nfg, game.name, stacklevel=2))))
        efg = efg_for_gambit(game_to_efg(game, max_histories), game.name, normalise, stacklevel=2)
        return gambit.read_efg(io.StringIO(write_efg(efg)))
    except UnsupportedGameError:
        raise
    except ValueError as error:
        raise UnsupportedGameError(f"{game.name}: Gambit does not take it: {shorten(str(error))}") from None


def _check_foreign_game(game: object, package: str, mark: str) -> None:
    """Raise ``ParameterError`` for an object without the attribute that identifies games of ``package``."""
    if isinstance(game, type) or not hasattr(game, mark):
        raise ParameterError(f"game={one_line(repr(game))} is not allowed; allowed: a game of {package}")


def _their(package: str, extra: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtraError(package, extra) from None
