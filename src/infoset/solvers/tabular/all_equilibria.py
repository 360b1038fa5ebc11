"""All equilibria of a small game, by the algorithm that fits its number of players."""

from __future__ import annotations

from infoset.compiled import AnyGame, Compiled
from infoset.solvers.tabular.equilibrium_list import EquilibriumList
from infoset.solvers.tabular.extreme_equilibria import ExtremeEquilibria, extreme_equilibria
from infoset.solvers.tabular.pure_equilibria import pure_equilibria
from infoset.solvers.tabular.support_enumeration import isolated_equilibria


def all_equilibria(game: AnyGame) -> ExtremeEquilibria | EquilibriumList:
    """Return the extreme equilibria of two players, the isolated ones of more, or the best plans of a single player.

    Raises ``BudgetError`` where the game is too large.

    >>> len(infoset.all_equilibria("rock_paper_scissors")), len(infoset.all_equilibria("matching_pennies_3p"))
    (1, 1)
    """
    compiled = Compiled.of(game)
    players = compiled.form.num_players
    if players == 1:
        return pure_equilibria(compiled)
    return extreme_equilibria(compiled) if players == 2 else isolated_equilibria(compiled)
