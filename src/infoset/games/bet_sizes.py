"""Bet sizes in the notation of solvers for poker, such as ``33%,75%,a`` or ``turn: 66%; river P2: 2e``.

A size is written as

- ``75%``: a share of the pot, which for a raise includes the chips of the call;
- ``2.5x``: 2.5 times the bet or raise that is faced, counted on this street (raises only);
- ``100c``: so many chips; for a raise, so many more than the call;
- ``e``: geometric, the share of the pot that, bet once on this and on each later street and called, is all-in on the
  river; ``2e`` gets there in two bets, and ``3e200%`` in three, with at most twice the pot now;
- ``a``: all-in.

A list of sizes is separated by commas; ``none`` is the empty list.  A text has lists for all streets and players, or
for some, in clauses separated by semicolons: ``33%,75%; turn: 66%; river P2: 75%,a``.  A clause that names a street
takes precedence over one that names a player, one with both over either.  P1 may be called ``OOP`` and P2 ``IP``.

References: "Postflop tree building" in the manual of PioSOLVER; the documentation of postflop-solver.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf, isfinite
from typing import TypeAlias

from infoset.errors import ParameterError, shorten

STREETS = ("flop", "turn", "river")
PLAYERS = {"p1": 0, "oop": 0, "p2": 1, "ip": 1}
POT, MULTIPLE, CHIPS, GEOMETRIC, ALL_IN = "%", "x", "c", "e", "a"
NONE = "none"
MAX_SHARE = 1e6
"""The largest share of the pot."""
ALLOWED = "such as 75% (of the pot), 2.5x (the bet faced), 100c (chips), e, 2e or 3e200% (geometric), a (all-in)"
_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(%|x|c)|(\d*)e(?:(\d+(?:\.\d*)?|\.\d+)%)?|(a|allin|all-in)")


@dataclass(frozen=True)
class BetSize:
    """One size of a bet or raise."""

    unit: str
    """``%``, ``x``, ``c``, ``e`` or ``a``."""
    amount: float = 0.0
    """The share of the pot (1 is the pot), the multiple, the chips or the number of bets (0: one on each street)."""
    most: float = inf
    """Of a geometric size, the largest share of the pot."""

    def __str__(self) -> str:
        if self.unit == ALL_IN:
            return ALL_IN
        if self.unit == GEOMETRIC:
            limit = f"{100 * self.most:g}%" if isfinite(self.most) else ""
            return f"{self.amount or '':g}e{limit}" if self.amount else f"e{limit}"
        return f"{100 * self.amount if self.unit == POT else self.amount:g}{self.unit}"

    def chips(self, pot: float, stack: float, faced: float, streets: int) -> float:
        """Return the chips beyond a call, not rounded; infinite for all-in.

        Args:
            pot: the chips in the middle after a call.
            stack: the chips left to each player after a call.
            faced: the bet faced, as the chips that the opponent has put in on this street; 0 for no bet.
            streets: the number of streets left, this one included.
        """
        if self.unit == POT:
            return self.amount * pot
        if self.unit == MULTIPLE:
            return (self.amount - 1) * faced
        if self.unit == CHIPS:
            return self.amount
        if self.unit == GEOMETRIC:
            # n bets of the share s make the pot P grow to P (1 + 2 s)^n, which is P + 2 stack in the end
            bets = int(self.amount) or streets
            growth: float = (1 + 2 * stack / pot) ** (1 / bets)
            return pot * min((growth - 1) / 2, self.most)
        return inf


Sizes: TypeAlias = tuple[BetSize, ...]
SizesByStreet: TypeAlias = tuple[tuple[Sizes | None, Sizes | None], ...]
"""Sizes by street (flop, turn, river) and player; ``None`` where no list is given for them."""


def on_all_streets(sizes: Sizes | None) -> SizesByStreet:
    """Return the same sizes for both players on every street."""
    return ((sizes, sizes),) * len(STREETS)


def parse_sizes(text: str, where: str, raising: bool = False) -> Sizes:
    """Parse a list such as ``33%,75%,a``; ``raising`` allows multiples of the bet faced.

    Raises ``ParameterError``, which begins with ``where``.
    """
    words = [word.strip().lower() for word in text.split(",")]
    if words in ([""], [NONE]):
        return ()
    return tuple([_parse_size(word, where, raising) for word in words])


def parse_sizes_by_street(text: str, where: str, raising: bool = False) -> SizesByStreet:
    """Parse a text with clauses such as ``33%; turn: 66%; river P2: 75%,a``.

    Returns the sizes by street (flop, turn, river) and player, ``None`` where no clause has any.  Raises
    ``ParameterError`` for wrong sizes, streets and players, and where two clauses are for the same.
    """
    clauses: dict[tuple[int | None, int | None], Sizes] = {}
    for clause in re.split(r"[;\n]", text):
        if not clause.strip():
            continue
        scope, colon, sizes = clause.rpartition(":")
        key = _parse_scope(scope, where) if colon else (None, None)
        if key in clauses:
            raise ParameterError(f"{where}: two lists for {scope.strip() or 'all streets and players'}; allowed: one")
        clauses[key] = parse_sizes(sizes, where, raising)
    return tuple([
        (_most_specific(clauses, street, 0), _most_specific(clauses, street, 1)) for street in range(len(STREETS))
    ])  # fmt: skip


def _most_specific(clauses: dict[tuple[int | None, int | None], Sizes], street: int, player: int) -> Sizes | None:
    keys = ((street, player), (street, None), (None, player), (None, None))
    return next((clauses[key] for key in keys if key in clauses), None)


def _parse_scope(text: str, where: str) -> tuple[int | None, int | None]:
    """Return the street and the player that a clause is for, ``None`` for all."""
    street = player = None
    for word in text.lower().split():
        if word in STREETS and street is None:
            street = STREETS.index(word)
        elif word in PLAYERS and player is None:
            player = PLAYERS[word]
        else:
            raise ParameterError(
                f"{where}: sizes for {shorten(text.strip())!r}; allowed: flop, turn, river, P1 (OOP), P2 (IP), or a "
                "street and a player"
            )
    if street is None and player is None:
        raise ParameterError(f"{where}: a colon without a street or a player in front, such as river P2: 75%")
    return street, player


def _parse_size(word: str, where: str, raising: bool) -> BetSize:
    match = _SIZE.fullmatch(word)
    if not match:
        raise ParameterError(f"{where}: {shorten(word)!r} is not a bet size; allowed: {ALLOWED}")
    number, unit, bets, most, all_in = match.groups()
    if all_in:
        return BetSize(ALL_IN)
    if unit is None:
        size = BetSize(GEOMETRIC, float(bets or 0), float(most) / 100 if most else inf)
        if (bets and not 1 <= size.amount <= 100) or size.most < 0.01:
            raise ParameterError(f"{where}: {shorten(word)!r} cannot be bet; allowed: 1e to 100e, with limits from 1%")
        return size
    if unit == MULTIPLE and not raising:
        raise ParameterError(f"{where}: {shorten(word)!r} is a multiple of a bet faced; allowed in raises only")
    size = BetSize(unit, float(number) / 100 if unit == POT else float(number))
    check_size(size, f"{where}: {shorten(word)!r}")
    return size


def check_size(size: BetSize, where: str) -> None:
    """Raise ``ParameterError``, which begins with ``where``, for a size that cannot be bet."""
    if size.unit == POT and not 0 < size.amount <= MAX_SHARE:
        raise ParameterError(f"{where} cannot be bet; allowed: more than 0% of the pot, at most {100 * MAX_SHARE:.0f}%")
    if size.unit == MULTIPLE and not 1 < size.amount <= MAX_SHARE:
        raise ParameterError(f"{where} is no raise; allowed: multiples above 1x, at most {MAX_SHARE:.0f}x")
    if size.unit == CHIPS and not (size.amount >= 1 and size.amount.is_integer()):
        raise ParameterError(f"{where} cannot be bet; allowed: whole chips from 1c")
