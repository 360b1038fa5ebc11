"""Whom a person plays when nobody is named: a small game's equilibrium, solved at once, or its customary opponent."""

from __future__ import annotations

from time import monotonic

from infoset import signs
from infoset.compiled import Compiled
from infoset.errors import BudgetError, ImperfectRecallError, UnsupportedGameError
from infoset.solving import Solution, solve

EQUILIBRIUM = "equilibrium"
"""What the policy of a game solved here is called."""
CUSTOMARY = {"gdl:blind_tic_tac_toe": "blind_tic_tac_toe", "gdl:meier": "meier"}
EDGES, HISTORIES, EXACTLY = 50_000, 300_000, 20_000
SECONDS = 3.0  # to look at a game, and again to solve it where that is not exact
NEAR = 1e-6  # of the payoffs' range: as good as solved


def solve_at_once(compiled: Compiled) -> Solution:
    """The game solved within seconds.  Raises ``UnsupportedGameError`` or ``BudgetError`` where that cannot be.

    >>> from infoset.compiled import Compiled
    >>> from infoset.practice import solve_at_once
    >>> solve_at_once(Compiled.of("kuhn_poker")).method
    'lp'
    >>> solve_at_once(Compiled.of("pommerman:OneVsOne-v0"))
    Traceback (most recent call last):
    infoset.errors.UnsupportedGameError: pommerman:OneVsOne-v0: boards are too many to list; give one: ...
    """
    with signs.during(f"looking whether {compiled.name} is small enough to be solved at once"):
        _look(compiled)
    with signs.during(f"solving {compiled.name}"):
        if compiled.common_payoff:
            return solve(compiled, seconds=SECONDS)
        if compiled.form.zero_sum and compiled.histories <= EXACTLY:
            return solve(compiled, "lp")
        spread = float(compiled.payoffs.max() - compiled.payoffs.min())
        return solve(compiled, target=NEAR * spread, seconds=SECONDS)


def _look(compiled: Compiled) -> None:
    """Enumerate the positions unless they are too many."""
    from infoset.tree.graph import explore

    latest = monotonic() + SECONDS

    def check(positions: int) -> None:
        if monotonic() > latest:
            raise BudgetError(f"{compiled.name}: {positions:,} positions after {SECONDS:g} s, and more to come")

    if "graph" not in compiled.__dict__:
        compiled.__dict__["graph"] = explore(compiled.game, EDGES, check)
    if compiled.histories > HISTORIES:
        raise BudgetError(f"{compiled.name} has {compiled.histories:,.3g} histories; {HISTORIES:,} are solved at once")


def try_to_solve(compiled: Compiled) -> Solution | None:
    """``solve_at_once``, ``None`` where that cannot be."""
    try:
        return solve_at_once(compiled)
    except (BudgetError, ImperfectRecallError, UnsupportedGameError):
        return None


def customary(name: str) -> str:
    """The opponent of a game that is not solved at once: the stock agent of Pommerman, a rule of thumb, or chance."""
    return "simple" if name.startswith("pommerman:") else CUSTOMARY.get(name, "random")
