"""Formats of competitions: the games that are due, given those that are over.  Each format has a name.

A plan depends on the results of the games so far and on nothing else, so that an interrupted competition continues as
if it had never stopped.  A *meeting* is a series of games between two teams until one of them advances.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil, log2
from typing import ClassVar, Protocol

from infoset.arena.schedule import Fixture, Schedule
from infoset.catalog import load
from infoset.errors import ParameterError, UnsupportedGameError, shorten
from infoset.match.series import MAX_GAMES, game_seed, sides_of
from infoset.names import check_range
from infoset.registry import Registry

MEETING = 1000
"""The game numbers reserved for one meeting: those of meeting k begin after ``k * MEETING``."""
MOST_TIES = 20
"""The number of ties that ends a meeting; then the team with more wins, or else listed first, advances."""
MAX_ROUNDS = 100
NOBODY = -1

Scores = Mapping[int, Sequence[float]]
"""The score of each slot in the games that are over, by the numbers of the games."""


@dataclass(frozen=True)
class Meeting:
    """A meeting of two teams, by their numbers; ``NOBODY`` for an absent team, and for a winner not yet known."""

    number: int
    stage: str
    teams: tuple[int, int]
    wins: tuple[int, int] = (0, 0)
    ties: int = 0
    winner: int = NOBODY

    @property
    def loser(self) -> int:
        """The team that does not advance, ``NOBODY`` where the meeting is not decided."""
        return NOBODY if self.winner == NOBODY else self.teams[self.winner == self.teams[0]]


class GamePlan(Protocol):
    """The games of one competition."""

    @property
    def by_meetings(self) -> bool:
        """Whether meetings alone determine the ranking."""
        ...

    @property
    def total(self) -> int:
        """The number of games, or its upper bound, ties not counted."""
        ...

    def over(self, numbers: Iterable[int], scores: dict[int, list[float]], score: Scoring) -> Iterator[Fixture]:
        """Yield the stored games that count, in an order in which each was due, and fill ``scores``."""
        ...

    def due(self, scores: Scores) -> Iterator[Fixture]:
        """Yield the games that can be played now, without those that are over."""
        ...

    def meetings(self, scores: Scores) -> tuple[Meeting, ...]:
        """Return the meetings known so far."""
        ...

    def ranking(self, scores: Scores) -> tuple[int, ...]:
        """Return the teams, best first, by meetings or games won; empty where the cross table decides."""
        ...


class Scoring(Protocol):
    """A function that returns the score of each slot in a stored game."""

    def __call__(self, fixture: Fixture) -> list[float]: ...


class Format(Protocol):
    """A maker of plans for competitions."""

    def plan(self, schedule: Schedule) -> GamePlan: ...


# ---------------------------------------------------------------------------------------------------------------------
# Round robin and free-for-all
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RoundRobin:
    """A round robin: every pair of teams plays in every seating, on the same seeds."""

    games: int = 100
    """The games of each pair, or of each table in a game of more than two sides."""

    def __post_init__(self) -> None:
        check_range("games", self.games, 1, MAX_GAMES)

    def plan(self, schedule: Schedule) -> GamePlan:
        return _All(schedule, self.games)


@dataclass(frozen=True)
class _Fixed(ABC):
    """A plan whose games are all known from the beginning."""

    schedule: Schedule
    games: int
    by_meetings: ClassVar[bool] = False

    @abstractmethod
    def holds(self, number: int) -> bool:
        """Return whether there is a game of that number."""

    @abstractmethod
    def fixture(self, number: int) -> Fixture:
        """Return the game of that number."""

    def over(self, numbers: Iterable[int], scores: dict[int, list[float]], score: Scoring) -> Iterator[Fixture]:
        for number in filter(self.holds, numbers):
            fixture = self.fixture(number)
            scores[number] = score(fixture)
            yield fixture

    def meetings(self, scores: Scores) -> tuple[Meeting, ...]:
        del scores
        return ()


@dataclass(frozen=True)
class _All(_Fixed):
    @property
    def total(self) -> int:
        return self.schedule.total(self.games)

    def holds(self, number: int) -> bool:
        return self.schedule.holds(self.games, number)

    def fixture(self, number: int) -> Fixture:
        return self.schedule.fixture(number)

    def due(self, scores: Scores) -> Iterator[Fixture]:
        return (self.fixture(number) for number in self.schedule.numbers(self.games) if number not in scores)

    def ranking(self, scores: Scores) -> tuple[int, ...]:
        del scores
        return ()


@dataclass(frozen=True)
class FreeForAll:
    """A free-for-all of every table of entrants, as in Pommerman's first competition: eight entrants, 35 games each."""

    games: int = 1
    """The games of each table; the seating rotates by one seat from table to table and from game to game."""

    def __post_init__(self) -> None:
        check_range("games", self.games, 1, MAX_GAMES)

    def plan(self, schedule: Schedule) -> GamePlan:
        """Make the plan.

        Raises ``ParameterError`` for fewer entrants than sides, ``UnsupportedGameError`` for a game of two sides.
        """
        sides, teams = len(schedule.sides), len(schedule.teams)
        if sides < 3:
            raise UnsupportedGameError(f"{schedule.game} has {sides} sides; a free-for-all needs three at least")
        if teams < sides:
            raise ParameterError(f"{teams} entrants; a free-for-all at {schedule.game} needs {sides} at least")
        return _Tables(schedule, self.games)


@dataclass(frozen=True)
class _Tables(_Fixed):
    @cached_property
    def tables(self) -> list[tuple[int, ...]]:
        return list(combinations(range(len(self.schedule.teams)), len(self.schedule.sides)))

    @property
    def total(self) -> int:
        return self.games * len(self.tables)

    def fixture(self, number: int) -> Fixture:
        turn, table = divmod(number - 1, len(self.tables))
        n = len(self.schedule.sides)
        seating = tuple([(side + table + turn) % n for side in range(n)])
        return Fixture(number, self.tables[table], seating, game_seed(self.schedule.seed, number))

    def holds(self, number: int) -> bool:
        return 1 <= number <= self.total

    def due(self, scores: Scores) -> Iterator[Fixture]:
        return (self.fixture(number) for number in range(1, self.total + 1) if number not in scores)

    def ranking(self, scores: Scores) -> tuple[int, ...]:
        """Rank by games won outright, then by games in which no other team did better."""
        won, best = ([0] * len(self.schedule.teams) for _ in range(2))
        for number, found in scores.items():
            for team, mine in zip(self.fixture(number).teams, found, strict=True):
                best[team] += mine == max(found)
                won[team] += mine == max(found) and list(found).count(mine) == 1
        return tuple(sorted(range(len(won)), key=lambda team: (-won[team], -best[team], team)))


# ---------------------------------------------------------------------------------------------------------------------
# Double elimination and Swiss
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Meetings(ABC):
    """A plan whose meetings follow from the results of earlier ones."""

    schedule: Schedule
    wins: int
    """The wins that a team needs to advance."""
    decider: str
    """The game that is played in a meeting once two of its games were tied."""
    by_meetings: ClassVar[bool] = True

    @property
    @abstractmethod
    def total(self) -> int: ...

    @abstractmethod
    def meetings(self, scores: Scores) -> tuple[Meeting, ...]: ...

    @abstractmethod
    def ranking(self, scores: Scores) -> tuple[int, ...]: ...

    def meet(self, number: int, stage: str, teams: tuple[int, int], scores: Scores) -> Meeting:
        """Return the state of a meeting.  A team without an opponent advances."""
        a, b = teams
        if NOBODY in teams:
            return Meeting(number, stage, teams, winner=max(a, b) if WAITING not in teams else NOBODY)
        won, ties = [0, 0], 0
        for game in range(MEETING):
            found = scores.get(number * MEETING + game + 1)
            if found is None or max(won) == self.wins or ties == MOST_TIES:
                break
            if found[0] == found[1]:
                ties += 1
            else:
                won[found[1] > found[0]] += 1
        winner = NOBODY
        if max(won) == self.wins:
            winner = teams[won[1] > won[0]]
        elif ties == MOST_TIES:
            winner = teams[won[1] > won[0]] if won[0] != won[1] else min(teams)
        return Meeting(number, stage, teams, (won[0], won[1]), ties, winner)

    def next_game(self, meeting: Meeting) -> Fixture:
        """Return the next game of a meeting; the teams change sides after each game, all seatings on the same seed."""
        game = sum(meeting.wins) + meeting.ties
        seating = self.schedule.seatings[game % len(self.schedule.seatings)]
        seed = game_seed(self.schedule.seed, meeting.number * MEETING + game // len(self.schedule.seatings))
        rules = self.decider if meeting.ties >= 2 else ""
        return Fixture(meeting.number * MEETING + game + 1, meeting.teams, seating, seed, rules)

    def due(self, scores: Scores) -> Iterator[Fixture]:
        for meeting in self.meetings(scores):
            if meeting.winner == NOBODY and min(meeting.teams) >= 0:
                yield self.next_game(meeting)

    def over(self, numbers: Iterable[int], scores: dict[int, list[float]], score: Scoring) -> Iterator[Fixture]:
        left = set(numbers)
        while found := [fixture for fixture in self.due(scores) if fixture.number in left]:
            for fixture in found:
                left.discard(fixture.number)
                scores[fixture.number] = score(fixture)
                yield fixture


WAITING = -2
"""A place in a meeting whose team is not known yet."""


@dataclass(frozen=True)
class DoubleElimination:
    """A double elimination: a team that loses two meetings is out.

    A tied game is replayed once; after a second tie the ``decider`` is played, as in Pommerman's competition at
    NeurIPS 2018 (Osogami & Takahashi 2019, 4.1), where two wins decided a meeting.  Teams are seeded in the order in
    which they are listed.
    """

    wins: int = 2
    decider: str = ""
    """A game, such as a variant with collapsing walls; without one the game stays the same."""

    def __post_init__(self) -> None:
        check_range("wins", self.wins, 1, MEETING // 4)

    def plan(self, schedule: Schedule) -> GamePlan:
        _check_two_sides(schedule, self.decider)
        return _Bracket(schedule, self.wins, self.decider)


@dataclass(frozen=True)
class _Bracket(_Meetings):
    @property
    def total(self) -> int:
        """The most games, ties not counted: all teams but the winner lose two meetings, and the winner at most one."""
        return (2 * len(self.schedule.teams) - 1) * (2 * self.wins - 1)

    def meetings(self, scores: Scores) -> tuple[Meeting, ...]:
        found: list[Meeting] = []

        def meet(stage: str, a: int, b: int) -> Meeting:
            met = self.meet(len(found) + 1, stage, (a, b), scores)
            found.append(met)
            return met

        upper = [meet("winners 1", a, b) for a, b in self._seeds()]
        lower = [_loser(met) for met in upper]
        turn = 1
        while len(upper) > 1 or len(lower) > 1:
            if len(lower) > 1:  # teams that have lost one meeting play each other
                met = [meet(f"losers {turn}", *pair) for pair in _pairs(lower)]
                lower, turn = [_winner(m) for m in met], turn + 1
            if len(upper) > 1:
                upper = [
                    meet(f"winners {1 + int(log2(2 * len(self._seeds()) / len(upper)))}", *pair)
                    for pair in _pairs([_winner(m) for m in upper])
                ]
                fallen = [_loser(m) for m in upper][::-1]  # in reverse, so that no pair meets again immediately
                met = [meet(f"losers {turn}", a, b) for a, b in zip(lower, fallen, strict=True)]
                lower, turn = [_winner(m) for m in met], turn + 1
        first = meet("final", _winner(upper[0]), lower[0])
        if first.winner != NOBODY and first.winner == lower[0]:  # now both finalists have lost once
            meet("final again", *first.teams)
        return tuple(found)

    def _seeds(self) -> list[tuple[int, int]]:
        """Pair the first round, top seed against bottom seed, so that the best meet last; missing teams are byes."""
        n = len(self.schedule.teams)
        order = [0]
        for size in (2 << k for k in range(ceil(log2(n)))):
            order = [place for seed in order for place in (seed, size - 1 - seed)]
        places = [seed if seed < n else NOBODY for seed in order]
        return list(zip(places[::2], places[1::2], strict=True))

    def ranking(self, scores: Scores) -> tuple[int, ...]:
        """Rank by how late a team was eliminated, then by meetings lost, then by games won."""
        losses, last, won = ([0] * len(self.schedule.teams) for _ in range(3))
        for meeting in self.meetings(scores):
            for team, wins in zip(meeting.teams, meeting.wins, strict=True):
                if team >= 0:
                    won[team] += wins
            if meeting.winner >= 0 and meeting.loser >= 0:
                losses[meeting.loser] += 1
                last[meeting.loser] = meeting.number
        out = [last[team] if losses[team] >= 2 else MEETING for team in range(len(won))]
        return tuple(sorted(range(len(won)), key=lambda t: (-out[t], losses[t], -won[t], t)))


@dataclass(frozen=True)
class Swiss:
    """A Swiss system: in each round teams with equal points meet, and no two meet twice while other pairings exist."""

    rounds: int = 5
    wins: int = 2
    decider: str = ""
    """The game played after a second tie; without one the game stays the same."""

    def __post_init__(self) -> None:
        check_range("rounds", self.rounds, 1, MAX_ROUNDS)
        check_range("wins", self.wins, 1, MEETING // 4)

    def plan(self, schedule: Schedule) -> GamePlan:
        _check_two_sides(schedule, self.decider)
        return _Rounds(schedule, self.wins, self.decider, self.rounds)


@dataclass(frozen=True)
class _Rounds(_Meetings):
    rounds: int

    @property
    def total(self) -> int:
        return self.rounds * (len(self.schedule.teams) // 2) * (2 * self.wins - 1)

    def meetings(self, scores: Scores) -> tuple[Meeting, ...]:
        found = list[Meeting]()
        for turn in range(1, self.rounds + 1):
            if any(met.winner == NOBODY for met in found):
                break
            pairs = _paired(self._order(found), {frozenset(met.teams) for met in found})
            found += [self.meet(len(found) + k, f"round {turn}", pair, scores) for k, pair in enumerate(pairs, start=1)]
        return tuple(found)

    def _order(self, met: Sequence[Meeting]) -> list[int]:
        """Order teams by points, then by the sum of their opponents' points (Buchholz), then as listed."""
        n = len(self.schedule.teams)
        points = [sum(m.winner == team for m in met) for team in range(n)]
        tie_break = [
            sum(points[other] for m in met if team in m.teams for other in m.teams if other not in (team, NOBODY))
            for team in range(n)
        ]
        return sorted(range(n), key=lambda team: (-points[team], -tie_break[team], team))

    def ranking(self, scores: Scores) -> tuple[int, ...]:
        return tuple(self._order([met for met in self.meetings(scores) if met.winner != NOBODY]))


def _paired(order: Sequence[int], met: set[frozenset[int]]) -> list[tuple[int, int]]:
    """Pair neighbours in the order, without repeating a pair where that is possible.

    With an odd number of teams the last one that has not had a bye gets it.
    """
    if len(order) % 2:
        alone = next((team for team in reversed(order) if frozenset((team, NOBODY)) not in met), order[-1])
        return [*_paired([team for team in order if team != alone], met), (alone, NOBODY)]
    return _without_repeats(tuple(order), met) or list(zip(order[::2], order[1::2], strict=True))


def _without_repeats(order: tuple[int, ...], met: set[frozenset[int]]) -> list[tuple[int, int]] | None:
    if not order:
        return []
    first, rest = order[0], order[1:]
    for k, other in enumerate(rest):
        if frozenset((first, other)) not in met:
            found = _without_repeats(rest[:k] + rest[k + 1 :], met)
            if found is not None:
                return [(first, other), *found]
    return None


def _winner(met: Meeting) -> int:
    return met.winner if met.winner != NOBODY or not _open(met) else WAITING


def _loser(met: Meeting) -> int:
    if NOBODY in met.teams:
        return NOBODY
    return met.loser if met.winner != NOBODY else WAITING


def _open(met: Meeting) -> bool:
    """Return whether the winner is still to be decided."""
    return met.winner == NOBODY and met.teams != (NOBODY, NOBODY)


def _pairs(places: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(places[::2], places[1::2], strict=True))


def _check_two_sides(schedule: Schedule, decider: str) -> None:
    """Raise an error unless the game and the ``decider`` have the same two sides; raises what ``load`` raises, too."""
    if len(schedule.sides) != 2:
        raise UnsupportedGameError(f"{schedule.game} has {len(schedule.sides)} sides; meetings are of two")
    if len(schedule.teams) < 2:
        raise ParameterError(f"{len(schedule.teams)} teams; meetings need two at least")
    if decider and sides_of(load(decider)) != schedule.sides:
        raise ParameterError(f"decider={shorten(decider)} is a game with other seats than {schedule.game}")


FORMATS: Registry[Format] = Registry(
    "format",
    {
        "double-elimination": "infoset.arena.formats:DoubleElimination",
        "free-for-all": "infoset.arena.formats:FreeForAll",
        "round-robin": "infoset.arena.formats:RoundRobin",
        "swiss": "infoset.arena.formats:Swiss",
    },
)
"""The formats by name."""
