"""Results of single games of a tournament, and the faults of teams in them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """The result of one game: ``returns`` (n,), or the seat ``forfeit`` that forfeited it."""

    number: int
    returns: tuple[float, ...] | None
    forfeit: int | None
    adjusted: tuple[float, ...] | None = None
    """(n,) ``returns`` adjusted for luck (``control.Controls``), where the adjustment is known."""


@dataclass(frozen=True)
class TeamFault:
    """The faults of one kind by one team in one game: their count and an example.

    ``illegal`` and ``error`` are those of matches.  ``hung`` and ``died`` forfeit the game.  ``slow`` counts decisions
    over the limit, which stand; ``unknown`` counts choices made at random where a policy has no row.
    """

    team: str
    game: int
    """The game's number."""
    kind: str
    count: int
    detail: str
