"""The schedule of a tournament: the teams, seats and seed of every game by its number.

A *side* is a set of players who win together: one of the game's ``teams``, or a single player where it has none.  A
*team* is an entrant: agents for all the seats of a side.  A *group* is the set of teams of one game.  In a game of two
sides the groups are the pairs.  Where there are more sides, and teams for all of them, every group fills the table and
its seating rotates from game to game.  With fewer teams than sides the groups are pairs that fill the sides as evenly
as possible.

One *round* is one seed: all groups play on it in all their seatings, so that differences between teams are not due to
better seats or deals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import ceil, comb, inf
from typing import NamedTuple

from infoset.base import Game
from infoset.catalog import load as load_game
from infoset.errors import ParameterError, UnsupportedGameError, shorten
from infoset.match.agents import (
    GIVEN,
    IN_THREAD,
    check_agent,
    check_made_for,
    check_named,
    is_foreign_code,
    load_agents,
    read_name,
)
from infoset.match.series import game_seed, sides_of

PLUS = "+"
MAX_TEAMS = 1000
MAX_GROUPS = 1_000_000


class Team(NamedTuple):
    """An entrant: ``members`` is one agent for all seats of a side, or one for each seat, in their order."""

    label: str
    members: tuple[str, ...]


class Fixture(NamedTuple):
    """One game of the schedule."""

    number: int
    """The number of the game, from 1."""
    teams: tuple[int, ...]
    """The group: the team in each slot."""
    seating: tuple[int, ...]
    """The slot of the group that plays each side of the game."""
    seed: int
    """The seed of the match."""
    game: str = ""
    """The game to play, if it is not the tournament's."""


@dataclass(frozen=True)
class Schedule:
    """The games of a tournament of any length: a longer tournament begins with the games of a shorter one."""

    game: str
    seed: int
    sides: tuple[tuple[int, ...], ...]
    """The players of each side, in the order of their seats."""
    teams: tuple[Team, ...]
    groups: tuple[tuple[int, ...], ...]
    seatings: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls, game: str, teams: Sequence[str], seed: int, self_matches: bool, rules: Game | None = None
    ) -> Schedule:  # fmt: skip
        """Make a schedule, looking up the agents, and the game unless its ``rules`` are given; runs no foreign agent.

        Raises what ``load`` and ``load_agent`` raise, ``ParameterError`` where the teams do not fit the game,
        ``UnsupportedGameError`` for a game with a single side.
        """
        rules = load_game(game) if rules is None else rules
        sides = sides_of(rules)
        if len(sides) < 2:
            raise UnsupportedGameError(f"{game} has one side only; a tournament needs a game with opponents")
        found = cls.between(game, teams, seed, self_matches, sides)
        members = dict.fromkeys(member for team in found.teams for member in team.members)
        for name in members:
            check_agent(name)
            check_named(name, "in a tournament")
        own = [name for name in members if not is_foreign(name)]
        check_made_for(rules, own)
        load_agents(own)
        return found

    @classmethod
    def between(
        cls, game: str, teams: Sequence[str], seed: int, self_matches: bool, sides: tuple[tuple[int, ...], ...]
    ) -> Schedule:  # fmt: skip
        """Make a schedule from the known sides of the game, without looking up agents.

        Raises ``ParameterError`` for teams that do not fit, or are too many.
        """
        if not 2 - self_matches <= len(teams) <= MAX_TEAMS:
            raise ParameterError(
                f"{len(teams)} team{'s' if len(teams) != 1 else ''}; a tournament needs 2 to {MAX_TEAMS};"
                " one is enough with --self, where it plays against itself"
            )
        read = _labelled([_members(text, sides) for text in teams], teams)
        slots = len(sides) if len(read) >= len(sides) else 2
        if comb(len(read), slots) > MAX_GROUPS:
            raise ParameterError(f"{len(read)} teams at tables of {slots} are {comb(len(read), slots):,} tables")
        groups = list(combinations(range(len(read)), slots))
        groups += [(team,) * slots for team in range(len(read)) if self_matches]
        return cls(game, seed, sides, read, tuple(groups), tuple(seatings(len(sides), slots)))

    def fixtures(self, games: int) -> Iterator[Fixture]:
        """Yield the games of a tournament in which every group plays ``games``, round by round."""
        return map(self.fixture, self.numbers(games))

    def numbers(self, games: int) -> Iterator[int]:
        """Yield the numbers of those games."""
        last = ceil(games / len(self.seatings)) * len(self.groups) * len(self.seatings)
        return (number for number in range(1, last + 1) if self.holds(games, number))

    def holds(self, games: int, number: int) -> bool:
        """Return whether the game of that number is played in a tournament in which every group plays ``games``."""
        turn, _, seating = self._place(number)
        return 0 <= turn * len(self.seatings) + seating < games

    def games(self, number: int) -> int:
        """Return the least number of games for each group in a tournament that includes the game of that number."""
        turn, _, seating = self._place(number)
        return turn * len(self.seatings) + seating + 1

    def fixture(self, number: int) -> Fixture:
        """Return the game of that number.

        In self matches each seating has its own seed: with the same seed the games would be identical.
        """
        turn, group, seating = self._place(number)
        teams = self.groups[group]
        seed = turn * len(self.seatings) + seating if teams[0] == teams[-1] else turn
        return Fixture(number, teams, self.seatings[seating], game_seed(self.seed, seed))

    def _place(self, number: int) -> tuple[int, int, int]:
        """Return the round, group and seating of a game."""
        rest, seating = divmod(number - 1, len(self.seatings))
        turn, group = divmod(rest, len(self.groups))
        return turn, group, seating

    def total(self, games: int) -> int:
        """Return the number of games of a tournament in which every group plays ``games``."""
        return games * len(self.groups)

    def seats(self, fixture: Fixture) -> tuple[int, ...]:
        """Return (n,) the slot of the group in each player's seat."""
        slots = {player: slot for side, slot in zip(self.sides, fixture.seating, strict=True) for player in side}
        return tuple([slots[player] for player in range(len(slots))])

    def agents(self, fixture: Fixture) -> tuple[str, ...]:
        """Return (n,) the agent in each player's seat."""
        places = {player: (place, len(side)) for side in self.sides for place, player in enumerate(side)}
        names = []
        for player, slot in enumerate(self.seats(fixture)):
            members = self.teams[fixture.teams[slot]].members
            names.append(members[places[player][0] if len(members) > 1 else 0])
        return tuple(names)

    def copies(self) -> dict[str, int]:
        """Return the number of objects of each agent that one table needs."""
        most: Counter[str] = Counter()
        for fixture in map(self.fixture, range(1, len(self.groups) * len(self.seatings) + 1)):
            most |= Counter(self.agents(fixture))
        return dict(most)

    def scores(self, fixture: Fixture, returns: Sequence[float] | None, forfeit: int | None) -> list[float]:
        """Return the score of each slot of the group in a game: the best return among its players.

        In a forfeited game the slot of the player ``forfeit`` scores -inf and all others 0.
        """
        seats, slots = self.seats(fixture), range(len(fixture.teams))
        if returns is None:
            return [-inf if forfeit is not None and slot == seats[forfeit] else 0.0 for slot in slots]
        return [max(value for value, own in zip(returns, seats, strict=True) if own == slot) for slot in slots]


def seatings(sides: int, slots: int) -> list[tuple[int, ...]]:
    """List the seatings, the slot of each side: rotations of the table, or all even fillings by two slots.

    >>> seatings(2, 2)
    [(0, 1), (1, 0)]
    >>> len(seatings(4, 4)), len(seatings(4, 2)), len(seatings(3, 2))
    (4, 6, 6)
    """
    if slots == sides:
        return [tuple([(side - turn) % slots for side in range(sides)]) for turn in range(sides)]
    return [filling for filling in product((0, 1), repeat=sides) if abs(2 * sum(filling) - sides) <= 1]


def is_foreign(agent: str) -> bool:
    """Return whether an agent runs foreign code or another process, which may do anything."""
    return agent in GIVEN or (parsed := read_name(agent)).word in IN_THREAD or is_foreign_code(parsed)


def _members(text: str, sides: Sequence[Sequence[int]]) -> tuple[str, ...]:
    members = split_team(text)
    if len(members) > 1 and any(len(side) != len(members) for side in sides):
        sizes = " or ".join(map(str, sorted({len(side) for side in sides})))
        raise ParameterError(
            f"team {shorten(text)!r} has {len(members)} members; allowed: 1 agent for all seats of a side, or {sizes}"
        )
    return members


def split_team(text: str) -> tuple[str, ...]:
    """Return the members of ``a+b``; a plus in brackets or quotes belongs to a name.

    >>> split_team("simple+policy(path='a+b.npz')")
    ('simple', "policy(path='a+b.npz')")
    """
    parts, depth, quote = [""], 0, ""
    for mark in text:
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "'\"":
            quote = mark
        else:
            depth += (mark in "([") - (mark in ")]")
        if mark == PLUS and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += mark
    return tuple([part.strip() for part in parts])


def _labelled(members: Sequence[tuple[str, ...]], texts: Sequence[str]) -> tuple[Team, ...]:
    """Label the teams; teams with the same text are numbered."""
    seen: Counter[str] = Counter()
    teams = []
    for names, text in zip(members, texts, strict=True):
        seen[text] += 1
        teams.append(Team(text if seen[text] == 1 else f"{text} #{seen[text]}", names))
    return tuple(teams)
