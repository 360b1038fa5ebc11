"""All equilibria in pure strategies of any number of players, by the (reduced) normal form, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from infoset import status
from infoset.compiled import AnyGame, Compiled
from infoset.errors import BudgetError
from infoset.solvers.tabular.equilibrium_list import EquilibriumList, ListedEquilibrium
from infoset.tree.normal_form import NormalForm, normal_form

MOST_LISTED = 10_000


def pure_equilibria(game: AnyGame) -> EquilibriumList:
    """Return all pure equilibria of a game of any number of players whose reduced normal form is small.

    In a game with a tree a strategy is a move at every information set that the strategy itself does not rule out.
    Raises ``BudgetError`` where the reduced normal form has more than two million cells, or more than 10,000 of them
    are equilibria.

    >>> file = infoset.convert("rock_paper_scissors", "rps.nfg")
    >>> print(infoset.pure_equilibria("rps.nfg"))
    rps: 0 pure equilibria
    >>> stag = infoset.table_game([[4, 0], [3, 3]], [[4, 3], [0, 3]], strategies=[("stag", "hare")] * 2)
    >>> print(infoset.pure_equilibria(stag))
    table: 2 pure equilibria
    1  P1 stag -> 4   P2 stag -> 4
    2  P1 hare -> 3   P2 hare -> 3
    """
    compiled = Compiled.of(game)
    form = compiled.form
    with status.during("listing pure strategies and their payoffs"):
        table = normal_form(form, compiled.tree)
        stable = np.ones(table.numbers.shape[:-1], dtype=bool)
        for player in range(table.numbers.shape[-1]):
            paid = table.numbers[..., player]
            stable &= (paid == paid.max(axis=player, keepdims=True)).astype(bool)
        cells = np.argwhere(stable)
    if len(cells) > MOST_LISTED:
        raise BudgetError(f"{form.name} has {len(cells):,} pure equilibria; at most {MOST_LISTED:,} are listed")
    return EquilibriumList(form, table, "pure", tuple(pure_equilibrium(table, tuple(cell)) for cell in cells.tolist()))


def pure_equilibrium(table: NormalForm, cell: tuple[int, ...]) -> ListedEquilibrium:
    """Return the profile of strategies ``cell`` with its exact payoffs."""
    mixtures = tuple(
        tuple(Fraction(k == chosen) for k in range(len(own)))
        for chosen, own in zip(cell, table.strategies, strict=True)
    )
    paid = table.numbers[cell].tolist()
    return ListedEquilibrium(mixtures, tuple(Fraction(one, by) for one, by in zip(paid, table.scales, strict=True)))
