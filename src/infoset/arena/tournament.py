"""Tournaments: every pair of teams plays in every seating, on the same seeds, in separate processes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass, replace
from itertools import combinations
from math import inf
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

from infoset.arena.crew import Crew, Forfeit, LocalCrew, SharedCrew
from infoset.arena.formats import FORMATS, Format, GamePlan, RoundRobin
from infoset.arena.payoffs import Kind, Payoff, PayoffTally, Rank, check_rank, kind_of, pays_wins
from infoset.arena.ratings import Skill, openskill
from infoset.arena.results import Result, TeamFault
from infoset.arena.schedule import Fixture, Schedule, is_foreign
from infoset.arena.standings import Encounter, Standings
from infoset.arena.store import Store, TournamentConfig, UnkeptGameError
from infoset.arena.worker import PlayedGame, Setup, Task
from infoset.arguments import checks_arguments
from infoset.base import Agent, Game
from infoset.catalog import load, load_named, name_of
from infoset.errors import (
    CheckpointError,
    FormatError,
    InfosetError,
    ParameterError,
    UnknownNameError,
    UnsupportedGameError,
    shorten,
)
from infoset.executors import LOCAL, MAX_WORKERS, Where, check_executor
from infoset.match.agents import check_reached, given, is_addressed, load_agent
from infoset.match.match import MAX_SEED, check_clocks
from infoset.match.series import PROGRESS_SECONDS, sides_of
from infoset.names import check_range, full_name
from infoset.processes import check_shared_files, usable_cores
from infoset.registry import PYTHON, check_trusted

MOVE_LIMIT = 10.0
SLOW = 0.1  # the reference's limit for a decision in Pommerman, in seconds
MAX_READ_TEAMS = 200
AnyCrew: TypeAlias = Crew | LocalCrew | SharedCrew


@checks_arguments
def tournament(
    game: str | Game,
    teams: Sequence[str | Agent],
    *,
    games: int | None = None,
    format: str | Format = "round-robin",
    seed: int = 0,
    self_matches: bool = False,
    rank: Rank | None = None,
    db: str | Path | None = None,
    workers: int | None = None,
    slow: float = SLOW,
    move_limit: float = MOVE_LIMIT,
    seconds_per_move: float | None = None,
    start_clock: float | None = None,
    isolate: bool | None = None,
    memory: int | None = None,
    executor: Where = LOCAL,
    progress: Callable[[Standings], object] | None = None,
) -> Standings:
    """Play a tournament of ``teams`` in ``game``: by default a round robin, every pair playing 100 games.

    ``games`` is the number of games of each pair, all seatings equally often.  ``format`` chooses another format, an
    object of ``formats`` or its name: ``"double-elimination"``, ``"swiss(rounds=5)"``.

    A team is one agent for all its seats, or ``"a+b"``, its members in the order of the seats.  Agents are given by
    names as for ``load_agent``, because every worker makes its own; objects of your own are constructed anew by the
    name of their class, or, where the class has none, copied and played in this process.  ``Schedule`` defines the
    games and their seeds; results do not depend on the number of ``workers`` (default: one for each core), as long as
    the agents fulfil the contract of ``Agent``.  An odd number of games leaves the last seed without some of its
    seatings.

    The teams are ranked by ``rank``: ``"payoff"`` (mean payoff), ``"wins"`` (share of games won, a tie as half a win)
    or ``"elo"`` (ratings).  The default is payoff, or wins where the game pays nothing else (``payoffs.pays_wins``).
    Where the game has few histories, the luck of chance and of known policies is removed from payoffs
    (``control.Controls``).

    ``db`` stores every finished game; the same call continues from it, also with more ``games``.  Decisions of more
    than ``slow`` seconds are counted, but stand.  An agent that needs more than ``move_limit`` seconds for one call,
    or ends its process, loses the game.  Other faults are those of ``play_match``, whose clocks are
    ``seconds_per_move`` and ``start_clock``.  With ``isolate`` each agent has its own process with ``memory`` MiB
    (8192) and loses only its move; this is the default where ``seconds_per_move`` is given.

    ``executor``: the games are played by this machine's ``workers``, or as tasks of a cluster: ``ray`` starts Ray here,
    ``ray:ADDRESS`` joins one.  The results are the same unless a clock decides.  There ``move_limit`` does not apply,
    so foreign agents have to be isolated.

    ``progress`` receives the standings from time to time.  Ctrl-C ends the tournament with the games that are over.

    Raises what ``load`` and ``load_agent`` raise, and ``RemoteError`` where no server answers at an agent's address,
    before a game is played; ``ParameterError`` for teams that do not fit the game; ``UnsupportedGameError`` for agents
    that cannot play it; ``CheckpointError`` where ``db`` holds another tournament or is in use by another process,
    and, with the ``standings`` of the games before it, where a game cannot be stored; ``UnsupportedSystemError`` on
    Windows.

    Ratings are those of Bradley and Terry (1952), in Elo points.  A forfeited game counts as lost; it pays the team
    that forfeits the least that any game of the tournament paid, and the others the most.

    >>> from infoset.arena.tournament import tournament
    >>> teams = ["scripted(actions=[Rock])", "scripted(actions=[Paper])"]
    >>> standings = tournament("rock_paper_scissors", teams, games=4, workers=1, db="games.db")
    >>> standings.score("scripted(actions=[Paper])")
    1.0
    """
    check_executor(executor)
    if executor == LOCAL:
        check_shared_files("a tournament")
    form = _format(format, games)
    check_range("seed", seed, 0, MAX_SEED)
    if workers is None and executor == LOCAL:
        workers = usable_cores()  # one for each core it may use
    if workers is not None:
        check_range("workers", workers, 1, MAX_WORKERS)
    for name, seconds in (("slow", slow), ("move_limit", move_limit)):
        if not 0 < seconds < inf:
            raise ParameterError(f"{name}={seconds} is out of range; allowed: more than 0")
    check_clocks(seconds_per_move, start_clock)
    rules = load(game) if isinstance(game, str) else game
    name = name_of(game)
    with given(teams) as (names, anywhere):
        schedule = Schedule.of(name, names, seed, self_matches, rules)
        in_worker = anywhere and (isinstance(game, str) or _is_known(name))
        if isolate and not in_worker:
            raise ParameterError(
                "isolate: the game or an agent is an object of this process that has no name elsewhere"
            )
        alone = in_worker and (seconds_per_move is not None if isolate is None else isolate)
        if memory is not None and not alone:
            raise ParameterError(f"memory={memory} is for agents in processes of their own; isolate them")
        clocks = seconds_per_move, start_clock, alone, memory
        plan = form.plan(schedule)
        by, adjust = _rank(rank, form, plan, kind_of(rules, schedule.sides))
        how = "" if isinstance(form, RoundRobin) else _spelled(form)
        config = TournamentConfig(
            name, tuple(names), seed, self_matches, float(slow), float(move_limit), *clocks, how, by
        )
        setup = Setup(name, schedule.copies(), slow, *clocks, adjust)
        crew: AnyCrew
        if executor != LOCAL:
            _check_loadable_by_workers(setup, in_worker)
            crew = SharedCrew(setup, executor, workers)
        elif in_worker:
            crew = Crew(setup, min(workers or 1, plan.total), move_limit)
        else:
            crew = LocalCrew(setup, rules)
        return _play(schedule, plan, config, crew, None if db is None else Path(db), progress)


def _rank(rank: Rank | None, form: Format, plan: GamePlan, kind: Kind) -> tuple[str, bool]:
    """Return the ranking criterion, empty for meetings, and whether luck is removed from payoffs.

    Raises ``ParameterError`` for an unknown ``rank``, and for any where the format ranks by meetings.
    """
    if rank is not None:
        check_rank(rank)
    if plan.by_meetings:
        if rank is not None:
            raise ParameterError(f"rank={rank}: the format {_spelled(form)} ranks by its meetings")
        return "", False
    by = rank or ("wins" if kind.pays_wins else "payoff")
    return by, kind.small and (by == "payoff" or not kind.pays_wins)


def _check_addresses(schedule: Schedule) -> None:
    """Raise ``RemoteError`` unless a server answers at every agent's address."""
    names = dict.fromkeys(member for team in schedule.teams for member in team.members)
    check_reached(map(load_agent, filter(is_addressed, names)))


@dataclass(frozen=True)
class Record:
    """The content of a tournament's file: its standings, and the games that count, by their numbers."""

    standings: Standings
    met: Mapping[int, tuple[int, ...]]
    """The numbers of the teams that played each game, in the order of the slots."""
    scores: Mapping[int, Sequence[float]]
    """The score of each slot in each game; -inf where it forfeited the game."""


def read_record(path: Path) -> Record:
    """Read the standings of the tournament in a file, also while another process plays it; no agent is made.

    For a round robin, which may continue with more games, ``planned`` counts the games of the rounds so far;
    ``stopped`` is ``running`` where games of the plan are left.  Raises ``CheckpointError`` for a file that is not a
    tournament's or is broken, and ``UnsupportedGameError`` where the file names Python code that would have to be run.

    >>> from infoset.arena.tournament import read_record, tournament
    >>> played = tournament("kuhn_poker", ["random", "random"], games=4, workers=1, db="kuhn.db")
    >>> read_record(Path("kuhn.db")).standings.table == played.table
    True
    """
    with Store.read(path) as store:
        run = _Run(*read_plan(store), store, None, store.config().rank)
        left = next(iter(run.due), None)
        return Record(run.standings("games" if left is None else "running"), run.met, run.scores)


def read_plan(store: Store) -> tuple[Schedule, GamePlan]:
    """Read the schedule and plan from an open, untrusted file.  Raises what ``read_record`` raises."""
    config = store.config()
    try:
        check_trusted(config.game, store.path)
        if PYTHON in config.format:
            raise UnsupportedGameError(f"{store.path}: its format names Python code, {shorten(config.format)}")
        if len(config.teams) > MAX_READ_TEAMS:
            raise ParameterError(f"{len(config.teams)} teams; at most {MAX_READ_TEAMS} are read")
        schedule = Schedule.between(config.game, config.teams, config.seed, config.self_matches, _sides(store))
        games = max(map(schedule.games, store.numbers()), default=1)
        form = FORMATS.build(config.format) if config.format else RoundRobin(games)
        return schedule, form.plan(schedule)
    except (ParameterError, FormatError, UnknownNameError) as error:
        raise CheckpointError(f"{store.path}: {shorten(str(error), 200)}") from None


def _sides(store: Store) -> tuple[tuple[int, ...], ...]:
    """Return the sides of the game, without loading it where it has two players, who are always opponents."""
    seats = store.seats()
    return ((0,), (1,)) if seats in (0, 2) else sides_of(load_named(store.config().game, store.path))


def _check_loadable_by_workers(setup: Setup, in_worker: bool) -> None:
    """Raise ``ParameterError`` for agents that another process cannot construct, or that might end or block it."""
    if not in_worker:
        raise ParameterError("executor: the game or an agent is an object of this process that has no name elsewhere")
    if foreign := [] if setup.isolate else list(filter(is_foreign, setup.agents)):
        raise ParameterError(f"executor: {shorten(foreign[0])} may hang or end the process it plays in; isolate them")


def _format(format: str | Format, games: int | None) -> Format:
    """Look a format up by name.  Raises ``ParameterError`` for ``games`` unless it is the default round robin."""
    form = FORMATS.build(format) if isinstance(format, str) else format
    if games is None:
        return form
    if form != RoundRobin():
        raise ParameterError(
            f"games={games} applies to the format round-robin only; give the number in the format: {_spelled(form)}"
        )
    return RoundRobin(games)


def _spelled(form: Format) -> str:
    """Return a format's name with the parameters that differ from their defaults."""
    word = next((word for word in FORMATS if FORMATS[word] is type(form)), type(form).__name__)
    return full_name(word, type(form), **asdict(form)) if is_dataclass(form) else word


def _is_known(name: str) -> bool:
    """Return whether a game can be loaded by its name."""
    try:
        load(name)
    except InfosetError:
        return False
    return True


def _play(
    schedule: Schedule, plan: GamePlan, config: TournamentConfig, crew: AnyCrew, db: Path | None,
    progress: Callable[[Standings], object] | None,
) -> Standings:  # fmt: skip
    """Play all games that are not in the store and return the standings."""
    here = not isinstance(crew, SharedCrew)  # a cluster may reach addresses that this machine does not
    new = db is None or not db.exists()
    if here and new:  # before a file is created
        _check_addresses(schedule)
    with Store.open(db, config) as store:
        run = _Run(schedule, plan, store, progress, config.rank)
        if here and not new and any(True for _ in plan.due(run.scores)):
            _check_addresses(schedule)
        try:
            with crew:
                for outcome in crew.play(run.next):
                    run.note(outcome)
        except KeyboardInterrupt:
            return run.standings("interrupted")
        except UnkeptGameError as error:
            with suppress(sqlite3.Error):  # a disk that cannot be read either
                error.standings = run.standings("interrupted")
            raise
        return run.standings("games")


class _Tally:
    """The cross table so far: wins, losses and ties of pairs of teams."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule, self.games = schedule, 0
        self.counts: dict[tuple[int, int], list[int]] = {}
        pairs = [pair for group in schedule.groups for pair in combinations(group, 2)]
        for pair in sorted(pairs, key=lambda pair: (pair[0] == pair[1], pair)):
            self.counts.setdefault(pair, [0, 0, 0])

    def add(self, fixture: Fixture, scores: Sequence[float]) -> None:
        slots = sorted(zip(fixture.teams, scores, strict=True), key=lambda slot: slot[0])  # ordered as the pairs are
        for (a, first), (b, second) in combinations(slots, 2):
            self.counts[a, b][0 if first > second else 1 if first < second else 2] += 1
        self.games += 1

    def table(self) -> tuple[Encounter, ...]:
        teams = self.schedule.teams
        return tuple([Encounter(teams[a].label, teams[b].label, *counts) for (a, b), counts in self.counts.items()])


class _Run:
    """A tournament in progress."""

    def __init__(
        self,
        schedule: Schedule,
        plan: GamePlan,
        store: Store,
        progress: Callable[[Standings], object] | None,
        rank: str,
    ) -> None:
        self.schedule, self.plan, self.store, self.progress = schedule, plan, store, progress
        self.rank = rank
        self.tally, self.paid = _Tally(schedule), PayoffTally(schedule)
        self.scores: dict[int, list[float]] = {}
        self.met: dict[int, tuple[int, ...]] = {}
        self.given: dict[int, Fixture] = {}
        results_before = {result.number: result for result in store.results(sum(map(len, schedule.sides)))}
        for fixture in plan.over(
            results_before, self.scores, lambda fixture: self._scores(fixture, results_before[fixture.number])
        ):
            self._count(fixture, results_before[fixture.number])
        self.earlier = self.tally.games
        self.due, self.news = plan.due(self.scores), False
        self.begin = perf_counter()
        self.shown = -inf
        self._show()

    def _count(self, fixture: Fixture, result: Result) -> None:
        self.met[fixture.number] = fixture.teams
        self.paid.add(fixture, result)
        self.tally.add(fixture, self.scores[fixture.number])

    def _scores(self, fixture: Fixture, result: Result) -> list[float]:
        return self.schedule.scores(fixture, result.returns, result.forfeit)

    def next(self) -> Task | None:
        """Return the next game that is due and not yet given out; ``None`` where there is none now."""
        while True:
            for fixture in self.due:
                if fixture.number not in self.given and fixture.number not in self.scores:
                    self.given[fixture.number] = fixture
                    return Task(fixture.number, fixture.seed, self.schedule.agents(fixture), fixture.game)
            if not self.news:
                return None
            self.due, self.news = self.plan.due(self.scores), False

    def note(self, outcome: PlayedGame | Forfeit) -> None:
        """Store a finished game, then count it."""
        fixture = self.given[outcome.number]
        if isinstance(outcome, Forfeit):
            result, replay = Result(outcome.number, None, outcome.seat), None
            seen = [(outcome.seat, outcome.kind, 1, outcome.detail)]
        else:
            result, replay = Result(outcome.number, outcome.returns, None, outcome.adjusted), outcome.replay
            seen = [(fault.seat, fault.kind, fault.count, fault.detail) for fault in outcome.faults]
        agents, faults = self.schedule.agents(fixture), self._by_team(fixture, seen)
        self.store.add(result, faults, seed=fixture.seed, agents=agents, replay=replay)
        self.scores[fixture.number] = self._scores(fixture, result)
        self.news = True
        self._count(fixture, result)
        del self.given[fixture.number]
        self._show()

    def _by_team(self, fixture: Fixture, seen: Sequence[tuple[int, str, int, str]]) -> list[TeamFault]:
        """Convert faults by seat into faults by team."""
        seats, found = self.schedule.seats(fixture), dict[tuple[str, str], TeamFault]()
        for seat, kind, count, detail in seen:
            team = self.schedule.teams[fixture.teams[seats[seat]]].label
            before = found.get((team, kind), TeamFault(team, fixture.number, kind, 0, detail))
            found[team, kind] = replace(before, count=before.count + count)
        return list(found.values())

    def _show(self) -> None:
        if self.progress is not None and perf_counter() - self.shown >= PROGRESS_SECONDS:
            self.progress(self._standings((), "running", self.paid.means()))
            self.shown = perf_counter()

    def standings(self, stopped: str) -> Standings:
        """Return the standings, with the faults of the games that count."""
        faults = [fault for fault in self.store.faults() if fault.game in self.scores]
        found = self._standings(tuple(faults), stopped, self.paid.payoffs())
        return replace(found, won=self._won(), skills=self._skills(), ranking=self._ranking(found))

    def _ranking(self, found: Standings) -> tuple[str, ...]:
        """Return the teams, best first; ties are broken by games won, then by the order in which they are listed."""
        by_plan = tuple([self.schedule.teams[team].label for team in self.plan.ranking(self.scores)])
        if by_plan and found.rank in ("meetings", "wins"):
            return by_plan
        first = dict.fromkeys(found.teams, 0.0)
        if found.rank == "payoff":
            first = {team: -inf if (own := found.payoff(team)) is None else own.mean for team in found.teams}
        elif found.rank == "elo":
            first = {rating.team: rating.rating for rating in found.ratings}
        return tuple(sorted(found.teams, key=lambda team: (-first[team], -(found.score(team) or 0.0))))

    def _ranked_by(self) -> str:
        """Return the ranking criterion; where the file does not state it, infer it from the games."""
        if self.plan.by_meetings:
            return "meetings"
        return self.rank or ("wins" if pays_wins(self.paid.outcomes, self.schedule.sides) else "payoff")

    def _won(self) -> dict[str, int]:
        """Return games won by team; empty for tables of two, whose cross table has them."""
        teams = [team.label for team in self.schedule.teams]
        won = {} if len(self.schedule.groups[0]) < 3 else dict.fromkeys(teams, 0)
        for number, met in self.met.items() if won else ():
            scores = self.scores[number]
            if scores.count(max(scores)) == 1:
                won[teams[met[scores.index(max(scores))]]] += 1
        return won

    def _skills(self) -> tuple[Skill, ...]:
        """Return skills of agents where teams have several or a table has more than two, else nothing."""
        teams = [team.members for team in self.schedule.teams]
        if len(self.schedule.groups[0]) < 3 and max(map(len, teams)) == 1:
            return ()
        games = (
            [(teams[team], score) for team, score in zip(met, self.scores[number], strict=True)]
            for number, met in sorted(self.met.items())
        )
        return openskill(games)

    def _standings(self, faults: tuple[TeamFault, ...], stopped: str, payoffs: tuple[Payoff, ...]) -> Standings:
        return Standings(
            game=self.schedule.game,
            teams=tuple([team.label for team in self.schedule.teams]),
            seed=self.schedule.seed,
            planned=max(self.plan.total, self.tally.games),
            games=self.tally.games,
            fresh=self.tally.games - self.earlier,
            seconds=perf_counter() - self.begin,
            table=self.tally.table(),
            faults=faults,
            stopped=stopped,
            meetings=self.plan.meetings(self.scores),
            rank=self._ranked_by(),
            payoffs=payoffs,
        )
