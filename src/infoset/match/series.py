"""Play series of games between the same agents and summarise the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from time import perf_counter
from typing import Any, NamedTuple, get_args

import numpy as np

from infoset import displays
from infoset.arguments import checks_arguments
from infoset.base import Agent, Game
from infoset.match.agents import check_made_for
from infoset.match.match import MAX_SEED, MAX_STEPS, Kind, Table, account_of
from infoset.match.replay import Match
from infoset.names import check_range
from infoset.statistics import margin

KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_GAMES = 10**9
PROGRESS_SECONDS = 0.1
SEED_BITS = 53  # every program that reads JSON holds such integers exactly


@dataclass(frozen=True)
class AgentScore:
    """The results of one agent; scores are its returns.

    A game is won by the team with the highest return and drawn where several share it.  Teams are the game's
    ``teams``; in a game without them each player is a team.  A game without opponents has no winner.

    >>> infoset.play_series("kuhn_poker", ["random", "random"], games=10).agents[0].games
    10
    """

    agent: str
    games: int
    wins: int
    draws: int
    losses: int
    mean: float | None
    """Mean score; ``None`` without a game."""
    interval: float | None
    """Half the width of the 95 % confidence interval of the mean; ``None`` with fewer than two games."""
    faults: Mapping[str, int]
    """The number of faults of each kind: ``illegal``, ``late``, ``error``."""
    examples: Mapping[str, str]
    """The first fault of each kind that occurred, with its game, counted from 1, and its step."""
    seat_means: tuple[float | None, ...]
    """(n,) mean score in each player's seat; ``None`` where the agent never sat."""
    account: str = field(default="", compare=False)
    """The agent's own account of how it played: by which method, with which beliefs, how often at random."""


@dataclass(frozen=True)
class Series:
    """The result of ``play_series``.

    ``actions`` counts the moves of all players, ``seconds`` is the total time.  ``stopped`` is ``games`` (all were
    played), ``interrupted``, or ``running`` in the series passed to ``progress``.

    >>> series = infoset.play_series("kuhn_poker", ["random", "random"], games=10, seed=1)
    >>> series.games, series.stopped
    (10, 'games')
    """

    game: str
    players: tuple[str, ...]
    seed: int
    rotate: bool
    seconds_per_move: float | None
    games: int
    agents: tuple[AgentScore, ...]
    actions: int
    seconds: float
    stopped: str

    @property
    def moves_per_second(self) -> float:
        """The moves of all players per second of total time."""
        return self.actions / self.seconds if self.seconds > 0 else 0.0

    def plot(self, axes: Any = None) -> Any:
        """Plot mean scores with their intervals on matplotlib axes (extra ``plot``).  Raises ``MissingExtraError``."""
        return displays.draw("series_plot", self, axes)

    def _repr_html_(self) -> str:
        return displays.render("series", self)


@checks_arguments
def play_series(
    game: Game | str,
    agents: Sequence[Agent | str],
    *,
    games: int,
    seed: int = 0,
    rotate: bool = False,
    seconds_per_move: float | None = None,
    seconds_to_begin: float | None = None,
    max_steps: int = MAX_STEPS,
    progress: Callable[[Series], object] | None = None,
    keep: Callable[[Match], object] | None = None,
    seated: Callable[[tuple[Agent, ...]], object] | None = None,
) -> Series:
    """Play ``games`` games by the rules of ``play_match``, and raise what it raises.

    The seed of each game depends on ``seed`` and its number only, so a longer series begins with the games of a
    shorter one.  With ``rotate`` the agents move on by one seat after every game.  ``keep`` is called with every
    finished game, ``progress`` from time to time with the series so far, ``seated`` with the agents before the first
    game.

    Ctrl-C ends the series with the games that are over; the game in progress is dropped.

    >>> series = infoset.play_series("kuhn_poker", ["random", "random"], games=50, seed=1)
    >>> sum(score.mean for score in series.agents)
    0.0
    """
    check_range("games", games, 1, MAX_GAMES)
    check_range("seed", seed, 0, MAX_SEED)
    check_made_for(game, agents)
    table = Table.of(game, agents, seconds_per_move, seconds_to_begin, max_steps)
    if seated is not None:
        seated(table.agents)
    run = _Run(table, seed, rotate)
    try:
        for number in range(games):
            run.play(number, keep)
            if progress is not None:
                run.show(progress)
    except KeyboardInterrupt:
        return run.result("interrupted")
    return run.result("games")


def game_seed(seed: int, number: int) -> int:
    """Return the seed of game ``number`` of a series, with which ``play_match`` plays that game alone."""
    sequence = np.random.SeedSequence(seed, spawn_key=(number,))
    return int(sequence.generate_state(1, np.uint64)[0]) >> 64 - SEED_BITS


class _Tally(NamedTuple):
    """The results of one agent in one seat."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    mean: float = 0.0
    squares: float = 0.0  # sum of the squared deviations from the mean
    faults: tuple[int, ...] = (0,) * len(KINDS)

    def plus(self, other: _Tally) -> _Tally:
        """Combine two tallies (Chan, Golub & LeVeque 1979); equal scores give squared deviations of exactly 0."""
        games = self.games + other.games
        gap = other.mean - self.mean
        share = other.games / games if games else 0.0
        return _Tally(
            games,
            self.wins + other.wins,
            self.draws + other.draws,
            self.losses + other.losses,
            self.mean + gap * share,
            self.squares + other.squares + gap * gap * self.games * share,
            tuple(map(add, self.faults, other.faults)),
        )


NOTHING = _Tally()


@dataclass(frozen=True)
class _Total:
    """The totals of all games so far, replaced as a whole after each game, so that they survive an interrupt."""

    tallies: Mapping[tuple[int, int], _Tally]  # by agent and seat
    examples: Mapping[tuple[int, str], str]  # by agent and kind
    games: int = 0
    actions: int = 0


class _Run:
    """A series in progress."""

    def __init__(self, table: Table, seed: int, rotate: bool) -> None:
        self.table, self.seed, self.rotate = table, seed, rotate
        self.n = len(table.agents)
        sides = sides_of(table.game)
        self.teams = [
            next(frozenset(side) for side in sides if player in side) for player in range(len(table.game.players))
        ]
        self.total = _Total({}, {})
        self.begin = self.shown = perf_counter()

    def play(self, number: int, keep: Callable[[Match], object] | None) -> None:
        shift = number % self.n if self.rotate else 0
        match = self.table.play(game_seed(self.seed, number), shift)
        tallies = dict(self.total.tallies)
        for seat in range(self.n):
            place = ((seat - shift) % self.n, seat)
            tallies[place] = tallies.get(place, NOTHING).plus(_tally(match, seat, self.teams[seat]))
        actions = sum(action is not None for step in match.steps for action in step.actions)
        examples = dict(self.total.examples)
        for fault in match.faults:
            text = f"game {number + 1}, step {fault.step}: {fault.detail}"
            examples.setdefault(((fault.player - shift) % self.n, fault.kind), text)
        self.total = _Total(tallies, examples, self.total.games + 1, self.total.actions + actions)
        if keep is not None:  # called last: it may fail, as on a full disk, but the game counts
            keep(match)

    def show(self, progress: Callable[[Series], object]) -> None:
        if perf_counter() - self.shown >= PROGRESS_SECONDS:
            progress(self.result("running"))
            self.shown = perf_counter()

    def result(self, stopped: str) -> Series:
        table, total = self.table, self.total
        return Series(
            game=table.name,
            players=table.game.players,
            seed=self.seed,
            rotate=self.rotate,
            seconds_per_move=table.seconds_per_move,
            games=total.games,
            agents=tuple([self._score(number) for number in range(self.n)]),
            actions=total.actions,
            seconds=perf_counter() - self.begin,
            stopped=stopped,
        )

    def _score(self, number: int) -> AgentScore:
        seats = [self.total.tallies.get((number, seat), NOTHING) for seat in range(self.n)]
        whole = reduce(_Tally.plus, seats)
        return AgentScore(
            agent=self.table.labels[number],
            games=whole.games,
            wins=whole.wins,
            draws=whole.draws,
            losses=whole.losses,
            mean=whole.mean if whole.games else None,
            interval=margin(whole.games, whole.squares),
            faults=dict(zip(KINDS, whole.faults, strict=True)),
            examples={
                kind: self.total.examples[number, kind] for kind in KINDS if (number, kind) in self.total.examples
            },
            seat_means=tuple([seat.mean if seat.games else None for seat in seats]),
            account=account_of(self.table.agents[number]),
        )


def sides_of(game: Game) -> tuple[tuple[int, ...], ...]:
    """Return the sets of players who win together: the game's ``teams``, or single players where it has none."""
    teams = getattr(game, "teams", None) or [(player,) for player in range(len(game.players))]
    return tuple([tuple(sorted(team)) for team in teams])


def _tally(match: Match, seat: int, team: frozenset[int]) -> _Tally:
    """Return the tally of one game from one seat."""
    score, best = match.returns[seat], max(match.returns)
    others = [value for player, value in enumerate(match.returns) if player not in team]
    shared = best in others
    kinds = [fault.kind for fault in match.faults if fault.player == seat]
    return _Tally(
        games=1,
        wins=int(score == best and not shared and bool(others)),
        draws=int(score == best and shared),
        losses=int(score < best),
        mean=score,
        faults=tuple([kinds.count(kind) for kind in KINDS]),
    )
