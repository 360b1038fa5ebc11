"""The reduced normal form: pure plans, distinguished only by the sequences that they reach, and their payoffs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from infoset import status
from infoset.base import FloatArray
from infoset.errors import BudgetError
from infoset.tree.game_tree import GameTree
from infoset.tree.sequence_form import SequenceForm, exact_ends

MOST_CELLS = 2_000_000
MOST_WHOLE = 2**62
_Way = tuple[tuple[int, int], ...]
"""Actions by their information sets."""
TABLE_WIDTH = 100
PASSED = "*"
"""Replaces the action at an information set that the plan's own earlier actions exclude, as in Gambit."""


@dataclass(frozen=True, eq=False)
class NormalForm:
    """A game as a table.

    >>> from infoset.tree.normal_form import normal_form
    >>> table = normal_form(infoset.SequenceForm.of(infoset.load("kuhn_poker")))
    >>> table.payoffs.shape, [len(one) for one in table.strategies]
    ((27, 64, 2), [27, 64])
    """

    plans: tuple[npt.NDArray[np.bool_], ...]
    """A player's strategies (K, sequences of the player): which sequences each one plays, the empty one first."""
    strategies: tuple[tuple[str, ...], ...]
    """Their names: the action at each information set in order, ``*`` where the strategy does not reach it."""
    numbers: npt.NDArray[Any]
    """(K1, …, Kn, n) expected payoffs over chance: as floats, or as whole numbers, ``scales`` times the payoffs."""
    scales: tuple[int, ...]
    exact: bool
    offsets: FloatArray = field(repr=False)
    """(n,) to be added to ``numbers`` where these are floats; usually 0."""

    @cached_property
    def payoffs(self) -> npt.NDArray[Any]:
        """(K1, …, Kn, n) expected payoffs over chance, as floats or as fractions."""
        if not self.exact:
            return np.asarray(self.numbers + self.offsets)
        found = np.empty(self.numbers.shape, dtype=object)
        for player, scale in enumerate(self.scales):
            column = self.numbers[..., player].ravel().tolist()
            known = {value: Fraction(value, scale) for value in set(column)}
            found[..., player] = np.array([known[value] for value in column], dtype=object).reshape(found.shape[:-1])
        return found

    def plan(self, mixed: Sequence[Any]) -> FloatArray:
        """Return the realisation weights (S,) of each player's mixed strategy, by Kuhn's theorem."""
        return np.concatenate(
            [np.asarray(own, dtype=np.float64) @ plans for own, plans in zip(mixed, self.plans, strict=True)]
        )


def shown(strategy: str) -> str:
    """Return a strategy's name for display beside numbers, in quotes where it begins with a digit."""
    if not strategy:
        return "(no choice)"
    return f'"{strategy}"' if strategy[:1].isdigit() else strategy


def plans_table(
    form: SequenceForm, players: Sequence[int], probabilities: Sequence[float], plans: Sequence[Any], most: int = 40
) -> list[str]:
    """Return the lines of a table of some players' plans: a column per information set, a row per plan with its chance.

    ``plans`` are realisation weights (S,) each.  An information set that a plan does not reach is marked ``*``.  Only
    the first ``most`` sets are shown, in several tables one below the other where they are too wide for one.
    """
    sets = [k for p in players for k in form.player_infosets(p)]
    columns = []
    for k in sets[:most]:
        head = f"{form.players[int(form.infoset_player[k])]} {form.keys[k]}"
        columns.append([head, *[_played_at(form, k, plan) for plan in plans]])
    chance_column = ["chance", *[f"{chance:.6f}" for chance in probabilities]]
    lines: list[str] = []
    while columns or not lines:
        taken, width = [chance_column], len("0.000000")
        while columns and (len(taken) == 1 or width + 2 + max(map(len, columns[0])) <= TABLE_WIDTH):
            width += 2 + max(map(len, columns[0]))
            taken.append(columns.pop(0))
        widths = [max(map(len, column)) for column in taken]
        rows = zip(*taken, strict=True)
        lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    if len(sets) > most:
        lines.append(f"… and {len(sets) - most:,} more information sets")
    return lines


def _played_at(form: SequenceForm, infoset: int, plan: Any) -> str:
    """Return what weights (S,) play at an information set: one action, several with their probabilities, or ``*``."""
    first = int(form.arrays.first[infoset])
    own = np.asarray(plan[first : first + int(form.arrays.size[infoset])], dtype=np.float64)
    total = float(own.sum())
    if total <= 0:
        return PASSED
    played = [
        (action, chance / total) for action, chance in zip(form.actions[infoset], own.tolist(), strict=True) if chance
    ]
    return played[0][0] if len(played) == 1 else "/".join(f"{action} {chance:.3g}" for action, chance in played)


def count_strategies(form: SequenceForm, player: int) -> int:
    """Count the strategies of ``player`` in the reduced normal form, without listing them."""
    a, own = form.arrays, form.player_sequences(player)
    ways = [1] * (own.stop - own.start)
    for k in reversed(form.player_infosets(player)):
        first = int(a.first[k]) - own.start
        ways[int(a.parent[k]) - own.start] *= sum(ways[first : first + int(a.size[k])])
    return ways[0]


def normal_form(form: SequenceForm, tree: GameTree | None = None) -> NormalForm:
    """Return the game as a table, in fractions where its ``tree`` is given.

    Raises ``BudgetError`` with the counts where the table has more than two million cells.
    """
    counts = [count_strategies(form, p) for p in range(form.num_players)]
    if prod(counts) > MOST_CELLS:
        times = " x ".join(f"{count:,}" for count in counts)
        raise BudgetError(f"{form.name}: its reduced normal form has {times} cells, more than {MOST_CELLS:,}")
    listed = [_plans(form, p) for p in range(form.num_players)]
    sequences, payoffs = form.terminals() if tree is None else exact_ends(tree, form)
    scales = [1] * form.num_players
    if tree is not None:
        payoffs, scales = _whole(payoffs)
    table: Any = np.zeros((*counts, form.num_players), dtype=payoffs.dtype)
    begins = [form.player_sequences(p).start for p in range(form.num_players)]
    for number, (row, paid) in enumerate(zip(sequences.tolist(), payoffs, strict=True)):
        if number % 1000 == 0:
            status.detail(f"filling the table of {' x '.join(map('{:,}'.format, counts))} strategies, {number:,} ends")
        playing = [np.flatnonzero(plans[:, q - b]) for (plans, _), q, b in zip(listed, row, begins, strict=True)]
        table[np.ix_(*playing)] += paid
    return NormalForm(
        tuple(plans for plans, _ in listed),
        tuple(names for _, names in listed),
        table,
        tuple(scales),
        tree is not None,
        form.offsets if tree is None else np.zeros(form.num_players),
    )


def _whole(payoffs: Any) -> tuple[Any, list[int]]:
    """Return fractions (T, n) as whole numbers, with a common denominator per player; in 64 bits where all sums fit."""
    scales = [lcm(*{value.denominator for value in column}) for column in payoffs.T.tolist()]
    whole = [[value.numerator * (scale // value.denominator) for value, scale in zip(row, scales, strict=True)]
             for row in payoffs.tolist()]  # fmt: skip
    largest = max((sum(abs(row[p]) for row in whole) for p in range(len(scales))), default=0)
    return np.array(whole, dtype=np.int64 if largest < MOST_WHOLE else object).reshape(payoffs.shape), scales


def _plans(form: SequenceForm, player: int) -> tuple[npt.NDArray[np.bool_], tuple[str, ...]]:
    """Return a player's strategies and their names, starting with those of the first set's first action."""
    a, own, sets = form.arrays, form.player_sequences(player), form.player_infosets(player)
    ways: dict[int, list[_Way]] = {}
    for k in reversed(sets):  # later information sets have larger numbers
        action_set = range(int(a.first[k]), int(a.first[k]) + int(a.size[k]))
        chosen = [((k, q), *rest) for q in action_set for rest in ways.pop(q, [()])]
        parent = int(a.parent[k])
        ways[parent] = [(*one, *other) for one in chosen for other in ways.get(parent, [()])]
    found = ways.get(own.start, [()])
    plans = np.zeros((len(found), own.stop - own.start), dtype=bool)
    plans[:, 0] = True
    names = []
    for number, way in enumerate(found):
        made = dict(way)
        plans[number, [q - own.start for q in made.values()]] = True
        actions = [form.actions[k][made[k] - int(a.first[k])] if k in made else PASSED for k in sets]
        names.append("/".join(actions))
    return plans, tuple(names)
