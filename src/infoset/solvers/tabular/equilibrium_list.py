"""Lists of a game's equilibria: each player's mixed strategy and payoff in each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from infoset.base import FloatArray
from infoset.policies.tabular import TabularPolicy
from infoset.tree.normal_form import NormalForm, shown
from infoset.tree.plans import behaviour
from infoset.tree.sequence_form import SequenceForm

Number = Fraction | float


@dataclass(frozen=True)
class ListedEquilibrium:
    """One equilibrium: the probabilities of each player's strategies in the (reduced) normal form, and payoffs.

    Numbers are fractions where they are exact.  ``gain``: the most that a player gains by deviating, in floats; 0 where
    the equilibrium is exact.
    """

    mixtures: tuple[tuple[Number, ...], ...]
    values: tuple[Number, ...]
    gain: float = 0.0


@dataclass(frozen=True)
class EquilibriumList:
    """The equilibria found, numbered from 0 in Python and from 1 where they are printed.

    ``kind``: their kind, as in "pure equilibrium"; ``notes``: remarks on the whole list, such as that a component is
    suspected.
    """

    form: SequenceForm
    table: NormalForm = field(repr=False)
    kind: str
    equilibria: tuple[ListedEquilibrium, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.equilibria)

    def __getitem__(self, number: int) -> ListedEquilibrium:
        return self.equilibria[number]

    def behaviour(self, number: int) -> FloatArray:
        """Return the behavioural strategies (S,) of an equilibrium by its number, from 0."""
        return behaviour(self.form, self.table.plan(self.equilibria[number].mixtures))

    def policy(self, number: int) -> TabularPolicy:
        """Return an equilibrium by its number, from 0, as a policy that is saved, evaluated and played."""
        made_by = {"method": f"{self.kind}-equilibria", "number": number + 1}
        return TabularPolicy.from_behaviour(self.form, self.behaviour(number), made_by)

    def body(self) -> dict[str, Any]:
        """Return the list as JSON: the positive probabilities and the payoffs."""
        listed = [equilibrium_body(self.form.players, self.table.strategies, one) for one in self.equilibria]
        return {"game": self.form.name, "equilibria": listed, "notes": list(self.notes)}

    def __str__(self) -> str:
        count = len(self)
        lines = [f"{self.form.name}: {count:,} {self.kind} equilibri{'um' if count == 1 else 'a'}"]
        lines += [f"{number}  {self._line(one)}" for number, one in enumerate(self.equilibria, start=1)]
        return "\n".join([*lines, *self.notes])

    def _line(self, one: ListedEquilibrium) -> str:
        parts = []
        for p, player in enumerate(self.form.players):
            played = zip(self.table.strategies[p], one.mixtures[p], strict=True)
            probabilities = ", ".join(
                f"{shown(name)} {_text(chance)}" if chance != 1 else shown(name) for name, chance in played if chance
            )
            parts.append(f"{player} {probabilities} -> {_text(one.values[p])}")
        return "   ".join(parts)


class Mixed(Protocol):
    """The protocol of an equilibrium: mixed strategies and payoffs of all players."""

    @property
    def mixtures(self) -> Sequence[Sequence[Number]]: ...

    @property
    def values(self) -> Sequence[Number]: ...


def equilibrium_body(players: Sequence[str], strategies: Sequence[Sequence[str]], one: Mixed) -> dict[str, Any]:
    """Return an equilibrium as JSON, by player; fractions as text."""
    mixtures = {
        player: {name: _plain(chance) for name, chance in zip(names, mixture, strict=True) if chance}
        for player, names, mixture in zip(players, strategies, one.mixtures, strict=True)
    }
    return {"mixtures": mixtures, "values": dict(zip(players, map(_plain, one.values), strict=True))}


def _plain(number: Number) -> str | float:
    return str(number) if isinstance(number, Fraction) else float(number)


def _text(number: Number) -> str:
    return str(number) if isinstance(number, Fraction) else f"{number:.9g}"
