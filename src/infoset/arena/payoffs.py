"""Ranking criteria of tournaments: whether a game pays wins or amounts, and mean payoffs with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from infoset import sizes
from infoset.arena.results import Result
from infoset.arena.schedule import Fixture, Schedule
from infoset.base import Action, Game, State
from infoset.errors import InfosetError, ParameterError, UnsupportedGameError, shorten
from infoset.statistics import student_95
from infoset.tree.game_tree import GameTree

Rank: TypeAlias = Literal["payoff", "wins", "elo"]
RANKS: tuple[Rank, ...] = get_args(Rank)

HOPELESS = 100  # no tree is built where the estimated size is more than this multiple of the limit
MOST_PLAYS, MOST_STEPS = 100, 2000  # of the random playouts that estimate a game's size
ALL = -1
MOST_OUTCOMES = 1000
ROUNDING = 1e-12  # as a share of the largest payoff: narrower intervals are reported as zero


_Sums: TypeAlias = dict[tuple[int, int], dict[int, list[float]]]
"""By team and opponent (or ``ALL``), then by seed: the number of games, their payoffs, and their adjusted payoffs."""


class Kind(NamedTuple):
    """The properties of a game that matter to a tournament."""

    pays_wins: bool
    """See ``pays_wins``."""
    small: bool
    """Whether its tree has at most ``sizes.LUCK_REMOVED`` histories."""


def check_rank(rank: str) -> None:
    """Raise ``ParameterError`` unless ``rank`` is one of ``RANKS``."""
    if rank not in RANKS:
        raise ParameterError(f"rank={shorten(repr(rank))}; allowed: {', '.join(RANKS)}")


def kind_of(game: Game, sides: Sequence[Sequence[int]]) -> Kind:
    """Classify a game: exactly where its tree is small, otherwise by random playouts from a fixed seed.

    A game whose rules raise an error is taken for one that pays amounts; the error surfaces when it is played.
    """
    try:
        found, histories = _sampled(game)
        if histories <= HOPELESS * sizes.LUCK_REMOVED:
            try:
                tree = GameTree.of(game, sizes.LUCK_REMOVED)
            except (InfosetError, MemoryError):
                return Kind(pays_wins(found, sides), False)
            return Kind(pays_wins(tree.graph.payoffs.tolist(), sides), True)
        return Kind(pays_wins(found, sides), False)
    except Exception:  # raised by a user's rules
        return Kind(False, False)


def _sampled(game: Game) -> tuple[set[tuple[float, ...]], float]:
    """Return the payoffs of random playouts, and Knuth's estimate (1975) of the number of histories from them."""
    rng = np.random.default_rng(0)
    found, sizes, steps = set[tuple[float, ...]](), list[float](), 0
    while len(sizes) < MOST_PLAYS and steps < MOST_STEPS:
        state, size, weight = game.start().state, 1.0, 1.0
        while not state.terminal and steps < MOST_STEPS:
            actions: list[Action | None] = []
            for player in range(len(game.players)):
                legal_actions = state.legal_actions(player)
                actions.append(legal_actions[int(rng.integers(len(legal_actions)))] if legal_actions else None)
                if legal_actions:
                    weight *= len(legal_actions)
                    size += weight
            answers = _answers(state, tuple(actions))
            if answers:
                weight *= answers
                size += weight
            state = state.play(tuple(actions), state.draw(tuple(actions), rng)).state
            steps += 1
        sizes.append(size)
        if state.terminal:
            found.add(tuple(map(float, state.returns())))
    return found, sum(sizes) / len(sizes)


def _answers(state: State, actions: tuple[Action | None, ...]) -> float:
    """Return the number of chance outcomes; where they are too many to list, more than any tree may hold."""
    try:
        return len(state.chance_outcomes(actions))
    except UnsupportedGameError:
        return float(HOPELESS * sizes.LUCK_REMOVED)


def pays_wins(payoffs: Iterable[Sequence[float]], sides: Sequence[Sequence[int]]) -> bool:
    """Return whether payoffs express wins, losses and draws only.

    Winners get one amount, losers another, and in a draw all sides get the same: the losers' amount or the midpoint.
    Then games won, a draw as half a win, rank as mean payoffs do (or better, where a draw pays as a loss does).

    >>> pays_wins([(1, -1), (0, 0), (-1, 1)], [(0,), (1,)]), pays_wins([(2, -2), (1, -1)], [(0,), (1,)])
    (True, False)
    """
    outcomes = [[max(payoff[player] for player in side) for side in sides] for payoff in payoffs]
    values = {value for outcome in outcomes for value in outcome}
    if not values:
        return False
    low, high = min(values), max(values)
    for outcome in outcomes:
        first = outcome[0]
        if all(value == first for value in outcome):
            if low < high and first not in (low, (low + high) / 2):
                return False
        elif not all(value in (low, high) for value in outcome):
            return False
    return True


@dataclass(frozen=True)
class Payoff:
    """A team's mean payoff, averaged over its seats and games, with half the width of its 95 % interval.

    Games on one seed share their deals, so intervals are those of means by seed; ``None`` with one seed.  ``played`` is
    the mean as paid; ``mean`` is adjusted for luck (``control.Controls``) where the adjustment is known.

    >>> from infoset.arena.tournament import tournament
    >>> standings = tournament("kuhn_poker", ["random", "scripted(actions=[bet,bet])"], games=100, workers=1)
    >>> standings.payoff("random").games, standings.payoff("random", "scripted(actions=[bet,bet])").games
    (100, 100)
    """

    team: str
    against: str
    """The opposing team; empty for all others together."""
    games: int
    mean: float
    margin: float | None
    played: float
    played_margin: float | None


class PayoffTally:
    """Sums of payoffs by team and opponent, and by the seed of the deals."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.low, self.high = inf, -inf
        self.outcomes: set[tuple[float, ...]] = set()  # the first ones, which show how the game pays
        self.totals: dict[int, list[float]] = {}  # by team: the number of games and the sum of payoffs
        self._sums: _Sums = {}
        self._forfeits: list[tuple[Fixture, int]] = []

    def add(self, fixture: Fixture, result: Result) -> None:
        """Add one game, with its payoffs as paid and as adjusted for luck."""
        if result.returns is None:
            if result.forfeit is not None:
                self._forfeits.append((fixture, self.schedule.seats(fixture)[result.forfeit]))
            return
        self.low, self.high = min(self.low, *result.returns), max(self.high, *result.returns)
        if len(self.outcomes) < MOST_OUTCOMES:
            self.outcomes.add(result.returns)
        seats = self.schedule.seats(fixture)
        paid, adjusted = (_by_slot(values, seats) for values in (result.returns, result.adjusted or result.returns))
        _note(self._sums, fixture, paid, adjusted)
        for team, value in zip(fixture.teams, adjusted, strict=True):
            total = self.totals.setdefault(team, [0.0, 0.0])
            total[0] += 1
            total[1] += value

    def means(self) -> tuple[Payoff, ...]:
        """Return each team's mean payoff against all others, quickly: without intervals and forfeited games."""
        return tuple(
            [
                Payoff(self.schedule.teams[team].label, "", int(count), total / count, None, total / count, None)
                for team, (count, total) in sorted(self.totals.items())
            ]
        )

    def payoffs(self) -> tuple[Payoff, ...]:
        """Return each team's payoff against all others, in the order in which they are listed, then against each.

        A forfeited game pays the forfeiting team the least that any game of the tournament paid, and all others the
        most, so that no team gains by leaving a game that it is losing.
        """
        sums, labels = self._sums, [team.label for team in self.schedule.teams]
        if self._forfeits and self.low <= self.high:
            sums = {key: {seed: list(three) for seed, three in by_seed.items()} for key, by_seed in sums.items()}
            for fixture, lost in self._forfeits:
                paid = [self.low if slot == lost else self.high for slot in range(len(fixture.teams))]
                _note(sums, fixture, paid, paid)
        found = []
        for team, other in sorted(sums, key=lambda key: (key[1] >= 0, key)):
            rows = list(sums[team, other].values())
            played, without = (mean_by_seed([(row[0], row[k]) for row in rows]) for k in (1, 2))
            against = labels[other] if other >= 0 else ""
            found.append(Payoff(labels[team], against, round(sum(row[0] for row in rows)), *without, *played))
        return tuple(found)


def _by_slot(values: Sequence[float], seats: Sequence[int]) -> list[float]:
    """Return the mean over each slot's seats."""
    opponents = [
        [value for value, seat in zip(values, seats, strict=True) if seat == slot] for slot in range(max(seats) + 1)
    ]
    return [sum(own) / len(own) for own in opponents]


def _note(sums: _Sums, fixture: Fixture, paid: Sequence[float], adjusted: Sequence[float]) -> None:
    """Add a game, unless a team met itself."""
    if len(set(fixture.teams)) < len(fixture.teams):
        return
    for team, *values in zip(fixture.teams, paid, adjusted, strict=True):
        for other in (ALL, *(one for one in fixture.teams if one != team)):
            row = sums.setdefault((team, other), {}).setdefault(fixture.seed, [0.0, 0.0, 0.0])
            for k, value in enumerate((1.0, *values)):
                row[k] += value


def mean_by_seed(sums: Sequence[tuple[float, float]]) -> tuple[float, float | None]:
    """Return the mean and half the width of its 95 % interval; ``sums`` are (count, total) by seed.

    Values of one seed may be dependent, so the variance is that of the seeds' deviations from the mean, each weighted
    by its count.
    """
    count = sum(number for number, _ in sums)
    mean = sum(total for _, total in sums) / count
    if len(sums) < 2:
        return mean, None
    squares = sum((total - number * mean) ** 2 for number, total in sums)
    margin = student_95(len(sums)) * sqrt(squares * len(sums) / (len(sums) - 1)) / count
    largest = max(abs(total / number) for number, total in sums)
    return mean, 0.0 if margin <= ROUNDING * largest else margin
