"""Iterated elimination of strictly dominated strategies, dominated by a pure strategy or by a mixture.

A strategy of the reduced normal form is strictly dominated where some mixture of the player's other strategies pays
more whatever the other players do; a linear program finds the mixture.  The strategies left do not depend on the order
(Gilboa, Kalai & Zemel 1990), and every equilibrium, also a correlated one, plays only these.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from infoset import status
from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.compiled import AnyGame, Compiled
from infoset.errors import UnsupportedGameError
from infoset.tree.normal_form import NormalForm, normal_form, shown
from infoset.tree.sequence_form import SequenceForm

MARGIN = 1e-9
"""Share of the payoff range by which a mixture must pay more."""
PLAYED = 1e-9


@dataclass(frozen=True)
class Dominated:
    """An eliminated strategy, and the mixture of strategies still left that pays more."""

    round: int
    """The round, from 1; strategies of one round are eliminated together."""
    player: str
    strategy: str
    by: dict[str, float]


@dataclass(frozen=True)
class Elimination:
    """The eliminated strategies, in order, and each player's strategies that are left."""

    form: SequenceForm = field(repr=False)
    dominated: tuple[Dominated, ...]
    left: tuple[tuple[str, ...], ...]

    def body(self) -> dict[str, Any]:
        """Return the eliminated strategies and those left, as JSON."""
        left = {player: list(own) for player, own in zip(self.form.players, self.left, strict=True)}
        return {"game": self.form.name, "dominated": [asdict(one) for one in self.dominated], "left": left}

    def __str__(self) -> str:
        lines = [
            f"round {one.round}  {one.player} never plays {shown(one.strategy)}: worse than "
            + ", ".join(
                shown(name) if chance == 1 else f"{shown(name)} {chance:.6g}" for name, chance in one.by.items()
            )
            for one in self.dominated
        ]
        remaining = "   ".join(
            f"{p} {', '.join(map(shown, own))}" for p, own in zip(self.form.players, self.left, strict=True)
        )
        return "\n".join([*(lines or ["no strategy is strictly dominated"]), f"left  {remaining}"])


@checks_arguments
def eliminate_dominated(game: AnyGame) -> Elimination:
    """Eliminate strictly dominated strategies of the reduced normal form until none is left.

    Raises ``BudgetError`` where that table is too large.

    >>> infoset.eliminate_dominated("rock_paper_scissors(payoffs=[[0,-1,2],[1,0,2],[-2,-2,0]])").left
    (('Paper',), ('Paper',))
    """
    form = Compiled.of(game).form
    table = normal_form(form)
    left = [list(range(len(own))) for own in table.strategies]
    found: list[Dominated] = []
    with status.during("looking for dominated strategies"):
        for turn in range(1, sum(map(len, left)) + 1):
            going = []
            for p, player in enumerate(form.players):
                for number, k in enumerate(left[p]):
                    status.detail(
                        f"looking for dominated strategies, round {turn}: {player}'s {number + 1:,} of {len(left[p]):,}"
                    )
                    if by := _better(table, left, p, k):
                        going.append((p, k, by))
            if not going:
                break
            for p, k, by in going:
                left[p].remove(k)
                names = table.strategies[p]
                found.append(Dominated(turn, form.players[p], names[k], {names[m]: chance for m, chance in by.items()}))
    remaining = tuple(tuple([names[k] for k in own]) for names, own in zip(table.strategies, left, strict=True))
    return Elimination(form, tuple(found), remaining)


def _better(table: NormalForm, left: list[list[int]], player: int, strategy: int) -> dict[int, float]:
    """Return the probabilities of a mixture of others that dominates a strategy; empty where there is none."""
    others = [k for k in left[player] if k != strategy]
    if not others:
        return {}
    payoffs = np.moveaxis(table.numbers[np.ix_(*left)][..., player], player, 0).reshape(len(left[player]), -1)
    gains = payoffs[[left[player].index(k) for k in others]] - payoffs[left[player].index(strategy)]
    least = gains.min(axis=1)
    scale = float(np.ptp(payoffs)) or 1.0
    if least.max() > MARGIN * scale:
        return {others[int(least.argmax())]: 1.0}
    if (gains.max(axis=0) <= MARGIN * scale).any():  # against that column no strategy pays more
        return {}
    mixture, margin = _mixture(gains / scale)
    if margin <= MARGIN:
        return {}
    return {k: chance for k, chance in zip(others, mixture.tolist(), strict=True) if chance > PLAYED}


def _mixture(gains: FloatArray) -> tuple[FloatArray, float]:
    """Return the probabilities (K,) that maximise the least gain over columns, and that gain."""
    from scipy.optimize import linprog

    count, columns = gains.shape
    found = linprog(
        np.append(np.zeros(count), -1.0), A_ub=np.hstack([-gains.T, np.ones((columns, 1))]), b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(count), 0.0)[None], b_eq=[1.0], bounds=[(0, None)] * count + [(None, None)],
        method="highs",
    )  # fmt: skip
    if not found.success:
        raise UnsupportedGameError(f"HiGHS did not solve the linear program of a dominated strategy: {found.message}")
    return found.x[:-1], float(found.x[-1])
