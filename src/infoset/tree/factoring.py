"""Factored rules of any game that has them, by the way that its declarations or its positions allow.

Each way is imported when it is taken: most games need none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from infoset.base import Factored, Game
from infoset.errors import UnsupportedGameError
from infoset.testing import check_game
from infoset.tree.factored_rules import CollectedRules, FactoredRules
from infoset.tree.graph import GameGraph
from infoset.warm_up import ready

if TYPE_CHECKING:
    from infoset.tree.simultaneous_rules import CoreSource

NO_CORE = "does not declare the cores of its states, and its rules show no private propositions"
MOST_JOINT = 1_000_000_000
PLAYS = 20  # playouts by which a game is checked before its rules are asked


def cores_of(game: Game) -> CoreSource | None:
    """Return the source of a game's cores where it finds rather than declares them; ``None`` where it finds none."""
    find = getattr(game, "cores", None)
    return None if find is None else find()


def factor_game(game: Game, progress: Callable[[int], object] | None = None) -> FactoredRules:
    """Ask the rules for their cores, after some playouts that check the game's declarations.

    Raises ``UnsupportedGameError`` where the rules do not declare private states, ``GameRuleError`` where the
    declarations are wrong, and ``BudgetError`` where there are too many cores.

    >>> from infoset.tree.factoring import factor_game
    >>> len(factor_game(infoset.load("dark_hex(rows=2,columns=2)")).arrays.mover)             # cores with their ends
    34
    """
    source = None if isinstance(game, Factored) else cores_of(game)
    if source is None and not isinstance(game, Factored):
        raise UnsupportedGameError(f"{game.name} {NO_CORE}")
    ready("factored")
    if source is not None:
        from infoset.tree.simultaneous_rules import AskedTogether

        return AskedTogether(game.name, source, progress).rules()
    check_game(game, plays=PLAYS)
    return CollectedRules(game, progress).rules()


def factor_positions(
    graph: GameGraph, progress: Callable[[int], object] | None = None, most_joint: int = MOST_JOINT
) -> FactoredRules:
    """Build the rules of a game that declares no cores from the public states found on its positions.

    ``most_joint``: the largest total number of joint private states, over all public states, before giving up.

    Raises ``UnsupportedGameError`` for information maps, and where some but not all players move at once, and
    ``BudgetError`` where too little is common knowledge.

    >>> from infoset.tree.factoring import factor_positions
    >>> from infoset.tree.graph import explore
    >>> factor_positions(explore(infoset.load("leduc_poker(ranks=6,suits=4)"))).sizes
    Sizes(histories=919105.0, ends=548688.0, entries=99744.0)
    """
    from infoset.tree.public_rules import AskedPublic

    ready("factored")
    return AskedPublic(graph, progress, most_joint).rules()
