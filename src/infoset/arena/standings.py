"""Standings of a tournament: results of teams against each other, ratings and payoffs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from infoset import displays
from infoset.arena.formats import Meeting
from infoset.arena.payoffs import Payoff
from infoset.arena.ratings import Rating, Skill, bradley_terry
from infoset.arena.results import TeamFault


@dataclass(frozen=True)
class Encounter:
    """The results of two teams against each other, counted for ``a``.

    A team that meets itself is ``a`` in one seating and ``b`` in the next.
    """

    a: str
    b: str
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True)
class Standings:
    """The result of ``tournament``, final or intermediate.

    ``games`` of ``planned`` are over, ``fresh`` of them played by this call, in ``seconds``.  ``table`` holds every
    pair of teams once, in the order in which they were named, then, with self matches, each team with itself.
    ``stopped`` is ``games`` (all were played), ``interrupted``, or ``running`` in the standings passed to ``progress``.
    """

    game: str
    teams: tuple[str, ...]
    seed: int
    planned: int
    games: int
    fresh: int
    seconds: float
    table: tuple[Encounter, ...]
    faults: tuple[TeamFault, ...]
    stopped: str
    meetings: tuple[Meeting, ...] = ()
    """The meetings of a format by meetings (double elimination, Swiss); teams by their numbers."""
    ranking: tuple[str, ...] = ()
    """The teams, best first."""
    rank: str = "elo"
    """The ranking criterion: ``payoff``, ``wins``, ``elo``, or ``meetings`` for a format by meetings."""
    payoffs: tuple[Payoff, ...] = ()
    """Each team's payoff against all others, then each against each; only once the tournament is over or ended."""
    won: Mapping[str, int] = field(default_factory=dict)
    """Games won outright at a table of more than two teams; only once the tournament is over or ended."""
    skills: tuple[Skill, ...] = ()
    """Skills of agents, where teams have several or a table has more than two; only once it is over or ended."""

    @cached_property
    def ratings(self) -> tuple[Rating, ...]:
        """Bradley-Terry ratings in the order of ``teams``, see ``bradley_terry``; self matches do not count."""
        place = {team: number for number, team in enumerate(self.teams)}
        wins = np.zeros((len(place), len(place)))
        for cell in self.table:
            if cell.a != cell.b:
                wins[place[cell.a], place[cell.b]] = cell.wins + cell.ties / 2
                wins[place[cell.b], place[cell.a]] = cell.losses + cell.ties / 2
        return bradley_terry(self.teams, wins)

    def plot(self, axes: Any = None) -> Any:
        """Plot the cross table in colours and the ratings with their intervals on two matplotlib axes (extra ``plot``).

        ``axes`` are the two axes to use; without them new ones are made.  Raises ``MissingExtraError``.
        """
        return displays.draw("standings_plot", self, axes)

    def _repr_html_(self) -> str:
        return displays.render("standings", self)

    def score(self, team: str) -> float | None:
        """Return the share of games won against others, a tie as half a win, in [0, 1]; ``None`` without a game."""
        points = games = 0.0
        for cell in self.table:
            if cell.a != cell.b and team in (cell.a, cell.b):
                points += (cell.wins if team == cell.a else cell.losses) + cell.ties / 2
                games += cell.wins + cell.losses + cell.ties
        return points / games if games else None

    def payoff(self, team: str, against: str = "") -> Payoff | None:
        """Return a team's mean payoff against another, or against all others; ``None`` without a game."""
        return self._paid.get((team, against))

    @cached_property
    def _paid(self) -> dict[tuple[str, str], Payoff]:
        return {(one.team, one.against): one for one in self.payoffs}
