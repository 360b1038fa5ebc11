"""All extreme equilibria of a small two-player game, in fractions, and the components that they span.

Each player's mixtures, with the opponent's best-response payoffs, form a polytope; an equilibrium is a pair of points
in which every strategy is either unplayed or a best response. The extreme ones are pairs of vertices, and every
equilibrium is a convex combination of extreme ones of one component (Avis, Rosenberg, Savani & von Stengel 2010,
"Enumeration of Nash equilibria for two-player games"). Vertices are found by pivoting from basis to basis of the
reduced normal form.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from infoset import status
from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.compiled import AnyGame, Compiled
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.tabular.equilibrium_list import equilibrium_body
from infoset.tree.normal_form import NormalForm, normal_form, shown
from infoset.tree.plans import behaviour
from infoset.tree.sequence_form import SequenceForm

MOST_ENTRIES = 10_000_000
"""Bound on the entries of all bases together, which take about ten seconds."""
Mixture = tuple[Fraction, ...]


@dataclass(frozen=True)
class Equilibrium:
    """One extreme equilibrium: each player's mixture of strategies, both payoffs, and its component, from 1."""

    mixtures: tuple[Mixture, Mixture]
    values: tuple[Fraction, Fraction]
    component: int


@dataclass(frozen=True)
class ExtremeEquilibria:
    """All extreme equilibria of a game."""

    form: SequenceForm
    table: NormalForm = field(repr=False)
    equilibria: tuple[Equilibrium, ...]

    def __len__(self) -> int:
        return len(self.equilibria)

    def __getitem__(self, number: int) -> Equilibrium:
        return self.equilibria[number]

    def behaviour(self, number: int) -> FloatArray:
        """Return the behaviour (S,) of an equilibrium by its number, from 0."""
        return behaviour(self.form, self.table.plan(self.equilibria[number].mixtures))

    def policy(self, number: int) -> TabularPolicy:
        """Return an equilibrium by its number, from 0, as a policy that can be saved, evaluated and played."""
        made_by = {"method": "extreme-equilibria", "number": number + 1}
        return TabularPolicy.from_behaviour(self.form, self.behaviour(number), made_by)

    def body(self) -> dict[str, Any]:
        """Return the equilibria as JSON: positive probabilities and payoffs, as fractions in text."""
        players, strategies = self.form.players, self.table.strategies
        listed = [{"component": one.component, **equilibrium_body(players, strategies, one)} for one in self.equilibria]
        return {"game": self.form.name, "equilibria": listed}

    def __str__(self) -> str:
        return "\n".join(_lines(self))


@checks_arguments
def extreme_equilibria(game: AnyGame) -> ExtremeEquilibria:
    """Return all extreme equilibria of a two-player game, whatever its payoffs.

    Raises ``UnsupportedGameError`` for other numbers of players, ``BudgetError`` where the reduced normal form or the
    polytopes are too large.

    >>> print(infoset.extreme_equilibria("rock_paper_scissors"))
    rock_paper_scissors: 1 extreme equilibrium, 1 component
    1  P1 Rock 1/3, Paper 1/3, Scissors 1/3 -> 0   P2 Rock 1/3, Paper 1/3, Scissors 1/3 -> 0
    """
    compiled = Compiled.of(game)
    form = compiled.form
    if form.num_players != 2:
        raise UnsupportedGameError(
            f"{form.name} has {(n := form.num_players)} player{'s'[: n != 1]}; extreme equilibria are those of two. "
            "all_equilibria takes any number, pure_equilibria lists those without a mixture"
        )
    table = normal_form(form, compiled.tree)
    with status.during("walking the vertices of the best answers"):
        pairs = _pairs(form.name, table.payoffs)
    components = _components(pairs)
    found = []
    for (x, y), component in sorted(zip(pairs, components, strict=True), key=lambda one: one[1]):
        mixed = np.array(x, dtype=object) @ np.tensordot(np.array(y, dtype=object), table.payoffs, axes=(0, 1))
        found.append(Equilibrium((x, y), (mixed[0], mixed[1]), component))
    return ExtremeEquilibria(form, table, tuple(found))


def _pairs(name: str, payoffs: Any) -> list[tuple[Mixture, Mixture]]:
    """Return the pairs of vertices in which every strategy played is a best response."""
    shifted = [payoffs[..., p] - payoffs[..., p].min() + 1 for p in range(2)]  # above 0, so that both are bounded
    first, second = _vertices(name, shifted[1].T), _vertices(name, shifted[0])
    played = [_bits(x) for x, _ in first], [_bits(y) for y, _ in second]
    worse = [_bits(left) for _, left in first], [_bits(left) for _, left in second]
    pairs = [
        (_scaled(x), _scaled(y))
        for k, (x, _) in enumerate(first)
        for m, (y, _) in enumerate(second)
        if not (played[0][k] & worse[1][m] or played[1][m] & worse[0][k])
    ]
    return sorted(pairs, reverse=True)


def _bits(values: Mixture) -> int:
    """Return a bit set of the entries that are not zero."""
    return sum(1 << k for k, value in enumerate(values) if value)


def _scaled(weights: Mixture) -> Mixture:
    total = sum(weights, Fraction(0))
    return tuple(weight / total for weight in weights)


class _Basis(NamedTuple):
    """A dictionary of the polytope in whole numbers.

    ``scale`` times the basic variables is the last column less the other columns times the nonbasic variables (Edmonds
    1967; also in lrs by Avis).  Entries are minors of the first dictionary, so that no division leaves a remainder.
    """

    table: Any
    scale: int
    basic: tuple[int, ...]
    other: tuple[int, ...]

    def leaving(self, column: int) -> list[int]:
        """Return the rows whose variable is first to reach zero as that of ``column`` grows."""
        falls, values = self.table[:, column], self.table[:, -1]
        rows = np.flatnonzero(falls > 0).tolist()
        ratios = [Fraction(values[row], falls[row]) for row in rows]
        least = min(ratios, default=None)
        return [row for row, ratio in zip(rows, ratios, strict=True) if ratio == least]

    def pivoted(self, row: int, column: int) -> _Basis:
        """Return the basis with the variable of ``column`` in place of that of ``row``."""
        table, by = self.table, self.table[row, column]
        after = (table * by - np.outer(table[:, column], table[row])) // self.scale
        after[:, column], after[row] = -table[:, column], table[row]
        after[row, column] = self.scale
        basic, other = list(self.basic), list(self.other)
        basic[row], other[column] = other[column], basic[row]
        return _Basis(after, by, tuple(basic), tuple(other))


def _vertices(name: str, matrix: Any) -> list[tuple[Mixture, Mixture]]:
    """Return the vertices but 0 of ``x >= 0, matrix @ x <= 1``, each with its slacks, up to their scale.

    Pivots visit every basis, so that degenerate vertices are found as well.
    """
    rows, size = matrix.shape
    table = np.empty((rows, size + 1), dtype=object)
    for row, entries in enumerate(matrix.tolist()):
        times = lcm(*[entry.denominator for entry in entries])
        table[row] = [*[int(entry * times) for entry in entries], times]
    start = _Basis(table, 1, tuple(range(size, size + rows)), tuple(range(size)))
    met, found, todo = {frozenset(start.basic)}, dict[Mixture, Mixture](), deque([start])
    while todo:
        at = todo.popleft()
        values = [Fraction(0)] * (size + rows)
        for variable, value in zip(at.basic, at.table[:, size].tolist(), strict=True):
            values[variable] = Fraction(value, at.scale)
        found[tuple(values[:size])] = tuple(values[size:])
        here = frozenset(at.basic)
        for column, entering in enumerate(at.other):
            for row in at.leaving(column):
                after = here - {at.basic[row]} | {entering}
                if after not in met:
                    met.add(after)
                    todo.append(at.pivoted(row, column))
        if (len(met) - len(todo)) % 100 == 1:
            status.detail(
                f"vertices of the best-response polytopes: {len(met):,} bases visited, {len(todo):,} to expand"
            )
        if len(met) * table.size > MOST_ENTRIES:
            raise BudgetError(
                f"{name}: too large to list all its equilibria, as its best answers have more than {len(met):,} bases; "
                "lcp finds one equilibrium, and pure_equilibria (--pure) lists those without a mixture"
            )
    return [(x, left) for x, left in found.items() if any(x)]


def _components(pairs: list[tuple[Mixture, Mixture]]) -> list[int]:
    """Return the number of each pair's component; pairs that share a mixture are in the same one."""
    above: dict[Any, Any] = {}

    def top(one: Any) -> Any:
        while above.setdefault(one, one) != one:
            one = above[one]
        return one

    for x, y in pairs:
        above[top((0, x))] = top((1, y))
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(top((0, x)), len(numbers) + 1) for x, _ in pairs]


def _lines(found: ExtremeEquilibria) -> list[str]:
    """Return a line for each equilibrium, ordered by component."""
    count, components = len(found), len({one.component for one in found.equilibria})
    lines = [
        f"{found.form.name}: {count} extreme equilibri{'um' if count == 1 else 'a'}, {components} "
        f"component{'s' * (components != 1)}"
    ]
    for one in found.equilibria:
        parts = []
        for p, player in enumerate(found.form.players):
            played = zip(found.table.strategies[p], one.mixtures[p], strict=True)
            probabilities = ", ".join(
                f"{shown(name)} {chance}" if chance != 1 else shown(name) for name, chance in played if chance
            )
            parts.append(f"{player} {probabilities} -> {one.values[p]}")
        lines.append(f"{one.component}  {'   '.join(parts)}")
    return lines
