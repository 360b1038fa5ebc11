"""Tournaments: who meets whom, what survives a crash, what the ratings say."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter
from dataclasses import asdict
from itertools import combinations, pairwise
from math import log, sqrt
from pathlib import Path
from tempfile import TemporaryFile
from typing import Self
from xml.etree import ElementTree as Xml

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from command_line import INFOSET, run_infoset
from conftest import KUHN
from extent import examples
from infoset import Match, TabularPolicy, load_agent, play_match, replay_states
from infoset.arena import worker
from infoset.arena.crew import Crew
from infoset.arena.ratings import ELO, PRIOR, bradley_terry, openskill
from infoset.arena.results import Result
from infoset.arena.schedule import Schedule, seatings, split_team
from infoset.arena.standings import Encounter, Standings
from infoset.arena.store import Store, TournamentConfig, load_replay
from infoset.arena.tournament import tournament
from infoset.arena.worker import CallClock, PlayedGame, Player, Setup, Task
from infoset.errors import CheckpointError, ParameterError, UnknownNameError, UnsupportedGameError
from infoset.match.agents import RandomAgent
from infoset.match.series import game_seed

BETS, PASSES = "scripted(actions=[bet,bet])", "scripted(actions=[pass,pass])"
KUHN_TEAMS = ["random", BETS, PASSES]
TEAM_GAME = "pommerman:PommeTeamCompetition-v0"
FREE_FOR_ALL = "pommerman:PommeFFACompetition-v0"
DUEL = "pommerman:OneVsOne-v0"


def schedule(game: str, teams: list[str], self_matches: bool = False) -> Schedule:
    return Schedule.of(game, teams, 0, self_matches)


def plain(standings: Standings) -> tuple:
    """What a tournament comes to, without times."""
    return standings.games, standings.table, standings.ratings, standings.faults


# The schedule


@pytest.mark.parametrize(("sides", "slots", "count"), [(2, 2, 2), (3, 2, 6), (3, 3, 3), (4, 2, 6), (4, 4, 4)])
def test_everybody_sits_in_every_seat_equally_often(sides: int, slots: int, count: int) -> None:
    """Two on four sides: the 6 ways to choose two of four; on three: two seats for the one or for the other."""
    found = seatings(sides, slots)
    assert len(found) == len(set(found)) == count
    for side in range(sides):
        assert set(Counter(seating[side] for seating in found).values()) == {count // slots}


def test_two_teams_of_pommerman_meet_in_both_seatings() -> None:
    """Teams are the seats (0, 2) and (1, 3)."""
    plan = schedule(TEAM_GAME, ["simple+stop", "random"])
    assert [plan.agents(fixture) for fixture in plan.fixtures(2)] == [
        ("simple", "random", "stop", "random"),
        ("random", "simple", "random", "stop"),
    ]
    assert plan.copies() == {"simple": 1, "random": 2, "stop": 1}


def test_all_pairs_meet_on_the_same_seeds_in_every_seating() -> None:
    plan = schedule(KUHN, KUHN_TEAMS)
    met: dict[tuple, Counter] = {}
    for fixture in plan.fixtures(10):
        met.setdefault(fixture.teams, Counter())[fixture.seating, fixture.seed] += 1
    assert set(met) == {(0, 1), (0, 2), (1, 2)}
    expected = Counter({(seating, game_seed(0, turn)): 1 for seating in ((0, 1), (1, 0)) for turn in range(5)})
    assert all(games == expected for games in met.values())


def test_a_team_meets_itself_on_a_seed_of_its_own_in_every_game() -> None:
    """Both seatings are the same game there."""
    own = list(schedule(KUHN, ["random"], True).fixtures(10))
    assert len({fixture.seed for fixture in own}) == 10
    assert {fixture.seed for fixture in own} == {game_seed(0, number) for number in range(10)}


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([(KUHN, 2), (KUHN, 4), ("kuhn_poker(players=3)", 2)]))
def test_a_longer_tournament_has_the_games_of_a_shorter_one(games: int, more: int, kind: tuple[str, int]) -> None:
    plan = schedule(kind[0], ["random"] * kind[1], True)
    short, long = list(plan.fixtures(games)), set(plan.fixtures(games + more))
    assert len(short) == plan.total(games) == games * len(plan.groups)
    assert set(short) <= long
    assert all(plan.fixture(fixture.number) == fixture for fixture in short)
    assert all(first.number < second.number for first, second in pairwise(short))
    assert {f for f in long if plan.holds(games, f.number)} == set(short)


def test_four_teams_play_a_free_for_all() -> None:
    plan = schedule(FREE_FOR_ALL, ["simple", "random", "stop", "random"])
    assert plan.groups == ((0, 1, 2, 3),)
    assert [plan.agents(fixture) for fixture in plan.fixtures(2)] == [
        ("simple", "random", "stop", "random"),
        ("random", "simple", "random", "stop"),
    ]
    assert schedule(FREE_FOR_ALL, ["simple", "random"]).groups == ((0, 1),)  # which fill four seats


def test_the_members_of_a_team() -> None:
    assert split_team("a + b") == ("a", "b")
    assert split_team("policy(path='a+b.npz')+scripted(actions=[1,+2])") == (
        "policy(path='a+b.npz')",
        "scripted(actions=[1,+2])",
    )
    with pytest.raises(ParameterError, match=r"team 'random\+random' has 2 members; allowed: 1 agent .*, or 1"):
        schedule(KUHN, ["random", "random+random"])
    with pytest.raises(ParameterError, match=r"has 3 members; allowed: 1 agent .*, or 2"):
        schedule(TEAM_GAME, ["random", "stop+stop+stop"])


def test_what_a_game_means_for_the_teams() -> None:
    plan = schedule(FREE_FOR_ALL, ["simple", "random", "stop", "random"])
    second = plan.fixture(2)  # turned by one: seat 1 has slot 0
    assert plan.scores(second, (-1.0, 1.0, -1.0, -1.0), None) == [1.0, -1.0, -1.0, -1.0]
    assert plan.scores(second, None, 0) == [0.0, 0.0, 0.0, -float("inf")]


# Playing


def by_hand(game: str, teams: list[str], games: int) -> Counter:
    """The slow twin: every pair in both seats by ``play_match``."""
    wins: Counter = Counter()
    for first, second in combinations(teams, 2):
        for turn in range(games // 2):
            seed = game_seed(0, turn)
            one = play_match(game, [first, second], seed=seed).returns
            two = play_match(game, [second, first], seed=seed).returns
            for own, other in (one, two[::-1]):
                wins[first, second, "wins" if own > other else "losses" if own < other else "ties"] += 1
    return wins


@pytest.mark.parametrize(
    ("game", "teams", "workers"),
    [
        pytest.param(KUHN, KUHN_TEAMS, 1, marks=pytest.mark.slow),
        (KUHN, KUHN_TEAMS, 2),
        ("rock_paper_scissors", ["random", "scripted(actions=[Rock])"], 2),
        pytest.param("gdl:tic_tac_toe", ["random", "scripted(actions=[[mark,2,2]])"], 1, marks=pytest.mark.slow),
    ],
)
def test_any_number_of_workers_gives_what_matches_give(game: str, teams: list[str], workers: int) -> None:
    played = tournament(game, teams, games=10, workers=workers)
    expected = by_hand(game, teams, 10)
    assert (played.games, played.planned, played.stopped) == (10 * len(played.table),) * 2 + ("games",)
    assert [(met.a, met.b) for met in played.table] == list(combinations(teams, 2))
    for met in played.table:
        assert met.wins + met.losses + met.ties == 10
        assert [expected[met.a, met.b, word] for word in ("wins", "losses", "ties")] == [met.wins, met.losses, met.ties]


@pytest.mark.slow
def test_going_on_gives_what_one_run_gives(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    first = tournament(KUHN, KUHN_TEAMS, games=7, self_matches=True, db=file, workers=1)
    again = tournament(KUHN, KUHN_TEAMS, games=7, self_matches=True, db=file, workers=1)
    more = tournament(KUHN, KUHN_TEAMS, games=20, self_matches=True, db=file, workers=2)
    whole = tournament(KUHN, KUHN_TEAMS, games=20, self_matches=True, workers=1)
    assert plain(first) == plain(again)
    assert (first.fresh, again.fresh, more.fresh) == (42, 0, 78)
    assert plain(more) == plain(whole)
    assert plain(tournament(KUHN, KUHN_TEAMS, games=7, self_matches=True, db=file)) == plain(first)
    assert [(met.a, met.b) for met in whole.table[3:]] == [(team, team) for team in KUHN_TEAMS]


def test_progress_and_scores() -> None:
    seen: list[Standings] = []
    played = tournament(KUHN, [BETS, PASSES], games=6, workers=1, progress=seen.append)
    assert (seen[0].games, seen[0].fresh, seen[0].stopped) == (0, 0, "running")
    assert played.table == (Encounter(BETS, PASSES, 6, 0, 0),)  # who bets takes the pot
    assert (played.score(BETS), played.score(PASSES), seen[0].score(BETS)) == (1.0, 0.0, None)
    assert played.ratings[0].rating == -played.ratings[1].rating > 100


def test_pommerman() -> None:
    played = tournament(TEAM_GAME, ["simple", "random"], games=4, workers=1)
    assert played.table == (Encounter("simple", "random", 4, 0, 0),)
    assert played.faults == ()


# Agents that do wrong

BAD = """
import os, time
from pommerman.agents import BaseAgent
class Bad(BaseAgent):
    def act(self, obs, action_space):
        if obs["step_count"] == 5:
            time.sleep(1000) if self.agent_id == 0 else os._exit(3)
        return 0
"""
RUDE = """
import time
from pommerman.agents import BaseAgent
class Rude(BaseAgent):
    def act(self, obs, action_space):
        print("noise")
        if obs["step_count"] in (1, 2):
            raise ValueError("no idea")
        if obs["step_count"] == 3:
            time.sleep(0.15)
        return "nonsense" if obs["step_count"] == 4 else 0
"""


def test_who_hangs_or_dies_forfeits_the_game_and_the_tournament_goes_on(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    bad = f"playground(path='{tmp_path / 'bad.py'}')"
    played = tournament(DUEL, [bad, "stop"], games=2, workers=1, move_limit=3.0, db=tmp_path / "t.db")
    assert played.table == (Encounter(bad, "stop", 0, 2, 0),)
    assert [(fault.team, fault.game, fault.kind, fault.detail) for fault in played.faults] == [
        (bad, 1, "hung", "no answer in 3 s"),
        (bad, 2, "died", "its process ended with status 3"),
    ]
    with pytest.raises(ParameterError, match="game 1 was forfeited by playground"):
        load_replay(tmp_path / "t.db", 1)


def test_other_faults_are_counted_and_the_game_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on only while the agent sleeps."""
    now = [0.0]
    monkeypatch.setattr(time, "sleep", lambda seconds: now.append(now[-1] + seconds))
    monkeypatch.setattr("infoset.match.match.monotonic", lambda: now[-1])
    (tmp_path / "rude.py").write_text(RUDE)
    rude = f"playground(path='{tmp_path / 'rude.py'}')"
    with TemporaryFile() as shared:
        shared.truncate(CallClock.SIZE)
        player = Player(Setup(DUEL, {rude: 1, "random": 1}, 0.1), CallClock(shared.fileno()))
    played = player.play(Task(1, 5, (rude, "random")))
    assert isinstance(played, PlayedGame)
    assert {(fault.seat, fault.kind): fault.count for fault in played.faults} == {
        (0, "error"): 2, (0, "slow"): 1, (0, "illegal"): 1,
    }  # fmt: skip
    match = json.loads(zlib.decompress(played.replay))
    assert tuple(match["returns"]) == played.returns
    assert match["faults"][0]["detail"] == "act: ValueError: no idea (rude.py:8)"
    seconds = [fault.detail for fault in played.faults if fault.kind == "slow"]
    assert seconds == ["took 0.15 s"]


def test_another_agent_rehearses_in_place_of_a_foreign_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that the game names, beside those that do no harm; then the foreign one is made for its own seat."""
    (tmp_path / "rude.py").write_text(RUDE)
    rude, made = f"playground(path='{tmp_path / 'rude.py'}')", list[str]()
    monkeypatch.setattr(worker, "load_agent", lambda name: made.append(name) or load_agent(name))
    with TemporaryFile() as shared:
        shared.truncate(CallClock.SIZE)
        Player(Setup(DUEL, {rude: 1, "stop": 1}, 0.1), CallClock(shared.fileno()))
    assert made == [rude, "stop", "stop", "random", "simple", "random", "random", "random"]


def test_choices_that_a_policy_does_not_know_are_counted(tmp_path: Path) -> None:
    path = TabularPolicy(KUHN, ("P1", "P2"), ({"K": {"bet": 1.0}}, {})).save(tmp_path / "p.json")
    policy = f"policy(path='{path}')"
    played = tournament(KUHN, [policy, PASSES], games=10, workers=1)
    unknown = [fault for fault in played.faults if fault.kind == "unknown"]
    assert {fault.team for fault in unknown} == {policy}
    assert 5 <= sum(fault.count for fault in unknown) < 20


@pytest.mark.slow
@pytest.mark.parametrize("moments", [3, 10])
def test_workers_that_are_killed_cost_nothing(moments: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In calls of agents, mostly: from outside, whatever they were at; what comes of it is what would have."""
    (tmp_path / "faulty.py").write_text(FAULTY)
    teams = [f"python:{tmp_path / 'faulty.py'}:Thinks", "random"]
    whole = tournament(KUHN, teams, games=100 * moments, workers=2)
    rng, kills, over = random.Random(1), [], threading.Event()

    class Killed(Crew):
        """Its workers are, while they play."""

        def __enter__(self) -> Self:
            threading.Thread(target=self.kill).start()
            return super().__enter__()

        def kill(self) -> None:
            while len(kills) < moments and not over.wait(rng.uniform(0.05, 0.4)):
                busy = [worker.process for worker in self.workers if worker.ready and worker.task]
                if busy:
                    rng.choice(busy).kill()
                    kills.append(busy)

    monkeypatch.setattr("infoset.arena.tournament.Crew", Killed)
    try:
        assert plain(tournament(KUHN, teams, games=100 * moments, workers=2)) == plain(whole)
    finally:
        over.set()
    assert len(kills) == moments


@pytest.mark.slow
def test_an_agent_that_kills_its_process_does_it_again_and_forfeits_the_game(tmp_path: Path) -> None:
    (tmp_path / "faulty.py").write_text(FAULTY)
    kills = f"python:{tmp_path / 'faulty.py'}:Kills"
    played = tournament(KUHN, [kills, "random"], games=1, workers=1)
    assert played.table == (Encounter(kills, "random", 0, 1, 0),)
    assert [(fault.kind, fault.detail) for fault in played.faults] == [("died", "its process ended with signal 9")]


def test_agents_that_cannot_play_the_game_end_it_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedGameError, match="agent simple is made for pommerman"):
        tournament(KUHN, ["random", "simple"], games=2, workers=1, db=tmp_path / "simple.db")
    assert not (tmp_path / "simple.db").exists()  # refused by its name, before the first write
    with pytest.raises(UnsupportedGameError, match="agent meier is not made for"):
        tournament(KUHN, ["random", "meier"], games=2, workers=1, db=tmp_path / "meier.db")
    with sqlite3.connect(tmp_path / "meier.db") as connection:
        assert connection.execute("SELECT count(*) FROM games").fetchone() == (0,)
    connection.close()


@pytest.mark.parametrize(
    ("teams", "error", "words"),
    [
        (["random", "rendom"], UnknownNameError, "unknown agent 'rendom'; did you mean 'random'"),
        (
            ["random", "scripted(action=[1])"],
            UnknownNameError,
            "parameter of scripted: 'action'; did you mean 'actions'",
        ),
        (["random"], ParameterError, "1 team; a tournament needs 2 to 1000; one is enough with --self"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_kept(
    tmp_path: Path, teams: list[str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        tournament(KUHN, teams, db=tmp_path / "t.db")
    assert not (tmp_path / "t.db").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"games": 0}, "games=0 is out of range"),
        ({"workers": 0}, "workers=0"),
        ({"seed": -1}, "seed=-1"),
        ({"slow": 0.0}, "slow=0.0 is out of range; allowed: more than 0"),
        ({"move_limit": float("nan")}, "move_limit=nan"),
    ],
)
def test_numbers_out_of_range(arguments: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        tournament(KUHN, ["random", "random"], **arguments)


def test_a_game_for_one_is_refused() -> None:
    with pytest.raises(UnsupportedGameError, match="gdl:monty_hall has one side only"):
        schedule("gdl:monty_hall", ["random", "random"])


def test_a_process_that_cannot_be_set_up_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no agent of the user's is being made nobody is to blame."""
    monkeypatch.setattr("infoset.arena.crew.sys.executable", shutil.which("false"))
    with pytest.raises(UnsupportedGameError, match=r"setting up random ended 3 processes, the last with status 1"):
        tournament(KUHN, ["random", "random"], games=2, workers=2)
    monkeypatch.undo()
    with pytest.raises(UnsupportedGameError, match=r"none\.py: no such file"):
        tournament(DUEL, ["playground(path=none.py)", "stop"], games=2)


HOSTILE = """
import os, time

class Agent:
    def begin(self, game, player, rng, deadline): ...
    def observe(self, own_action, observation): ...
    def act(self, legal_actions, deadline): return legal_actions[0]
    def end(self, returns): ...

class Hangs(Agent):
    def __init__(self): time.sleep(600)

class Leaves(Agent):
    def __init__(self): os._exit(3)

class Twice(Agent):
    def act(self, legal_actions, deadline):
        os.fork()
        return legal_actions[0]

class Closes(Agent):
    def act(self, legal_actions, deadline):
        os.closerange(3, 256)
        return legal_actions[0]

class Interrupts(Agent):
    def act(self, legal_actions, deadline): raise KeyboardInterrupt
"""


@pytest.mark.parametrize(
    ("bad", "kind", "words"),
    [
        ("Hangs", "hung", "it was not made in 1 s"),
        ("Leaves", "died", "its process ended with status 3, while it was made"),
        ("Closes", "died", "it closed files that its process needs"),
        ("Interrupts", "error", "KeyboardInterrupt"),
    ],
)
def test_what_is_wrong_with_an_agent_costs_itself_alone(bad: str, kind: str, words: str, tmp_path: Path) -> None:
    """One that hangs or leaves while it is made forfeits its games; all others are played, nobody else is blamed."""
    (tmp_path / "bad.py").write_text(HOSTILE)
    name = f"python:{tmp_path / 'bad.py'}:{bad}"
    standings = tournament(
        KUHN, [name, "random", "scripted(actions=[pass,pass])"], games=2, workers=1, start_clock=1.0, isolate=False
    )
    assert standings.games == 6
    faults = {fault.team: fault for fault in standings.faults if fault.kind in (kind, "hung", "died")}
    assert faults.keys() == {name}
    assert faults[name].kind == kind and words in faults[name].detail


def test_an_agent_that_comes_back_twice_is_played_once(tmp_path: Path) -> None:
    """A copy of the process ends at once: it neither plays on nor writes a game."""
    (tmp_path / "bad.py").write_text(HOSTILE)
    standings = tournament(
        KUHN, [f"python:{tmp_path / 'bad.py'}:Twice", "random"], games=4, workers=1, db=tmp_path / "t.db"
    )
    assert standings.games == 4 and not [fault for fault in standings.faults if fault.kind in ("died", "hung")]


def test_a_copy_of_the_process_writes_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path / "t.db", config()) as store:
        store.add(Result(1, (1.0, -1.0), None), [], seed=1, agents=["random", "random"], replay=None)
        if (copy := os.fork()) == 0:
            try:
                store.add(Result(2, (1.0, -1.0), None), [], seed=2, agents=["random", "random"], replay=None)
            finally:
                os._exit(7)  # which is not reached: the copy ends with another status
        assert os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == 1
        assert [result.number for result in store.results(2)] == [1]


# The database


def config(**changes: object) -> TournamentConfig:
    given = {"game": KUHN, "teams": ("random", "random"), "seed": 0, "self_matches": False, "slow": 0.1}
    return TournamentConfig(**{**given, "move_limit": 10.0, **changes})


def test_another_tournament_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    tournament(KUHN, ["random", "random"], games=2, workers=1, db=file)
    for arguments, words in (
        (("leduc_poker", ["random", "random"], {}), f"t.db holds a tournament with game={KUHN}, not leduc_poker"),
        ((KUHN, ["random", BETS], {}), "with teams=random, random, not random, scripted"),
        ((KUHN, ["random", "random"], {"seed": 3}), "with seed=0, not 3; choose another --db"),
        ((KUHN, ["random", "random"], {"self_matches": True}), "with self_matches=False, not True"),
    ):
        game, teams, more = arguments
        with pytest.raises(CheckpointError, match=words):
            tournament(game, teams, games=2, db=file, **more)


def test_files_that_are_no_tournaments(tmp_path: Path) -> None:
    text, other, newer = tmp_path / "text.db", tmp_path / "other.db", tmp_path / "newer.db"
    text.write_text("not a database" * 100)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with Store.open(newer, config()) as store:
        store.connection.execute("PRAGMA user_version = 7")
    for file, words in (
        (text, "file is not a database"),
        (other, "is not a tournament's"),
        (newer, "schema 7; this ver"),
    ):
        with pytest.raises(CheckpointError, match=words):
            load_replay(file, 1)
        with pytest.raises(CheckpointError, match=words):
            tournament(KUHN, ["random"] * 2, db=file)
    assert text.read_text() == "not a database" * 100
    with pytest.raises(CheckpointError, match="no such file"):
        load_replay(tmp_path / "none.db", 1)
    with pytest.raises(CheckpointError, match="cannot be written"):
        tournament(KUHN, ["random"] * 2, db=tmp_path)


def test_two_runs_cannot_share_a_database(tmp_path: Path) -> None:
    with (
        Store.open(tmp_path / "t.db", config()),
        pytest.raises(CheckpointError, match=r"t\.db: another process is using this tournament"),
    ):
        tournament(KUHN, ["random", "random"], db=tmp_path / "t.db")


@pytest.mark.slow
def test_a_second_writer_is_refused_and_the_first_undisturbed(tmp_path: Path, whole: dict) -> None:
    file = tmp_path / "t.db"
    with subprocess.Popen(command(*LONG, "--db", str(file)), stdout=subprocess.PIPE, text=True) as first:
        until(lambda: rows(file) > 0)
        first.send_signal(signal.SIGSTOP)  # so that it is not over before the second begins
        second = run(*LONG, "--db", str(file))
        first.send_signal(signal.SIGCONT)
        done = json.loads(first.communicate(timeout=60)[0])
    assert (second.returncode, second.stdout) == (1, "")
    assert second.stderr == f"infoset: {file}: another process is using this tournament\n"
    assert {key: done[key] for key in FIGURES} == {key: whole[key] for key in FIGURES}


@pytest.mark.slow
def test_a_file_of_schema_1_is_gone_on_with(tmp_path: Path) -> None:
    """It has the same tables; what is played says nothing of clocks and formats."""
    file = tmp_path / "t.db"
    tournament(KUHN, KUHN_TEAMS, games=4, db=file, workers=1)
    later = ("seconds_per_move", "start_clock", "isolate", "memory", "format")
    with sqlite3.connect(file) as connection:
        sequence_at = json.loads(connection.execute("SELECT config FROM tournament").fetchone()[0])
        connection.execute(
            "UPDATE tournament SET config = ?", (json.dumps({k: v for k, v in sequence_at.items() if k not in later}),)
        )
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(CheckpointError, match="seconds_per_move=None, not 60"):
        tournament(KUHN, KUHN_TEAMS, games=4, db=file, seconds_per_move=60.0)
    more = tournament(KUHN, KUHN_TEAMS, games=10, db=file, workers=1)
    assert more.fresh == 18
    assert plain(more) == plain(tournament(KUHN, KUHN_TEAMS, games=10, workers=1))
    assert load_replay(file, 1).game == KUHN


WRITER = """
import os, sys
from pathlib import Path
from infoset.arena.results import TeamFault
from infoset.arena.results import Result
from infoset.arena.store import Store, TournamentConfig
with Store.open(Path(sys.argv[1]), TournamentConfig("kuhn_poker", ("random", "random"), 0, False, 0.1, 10.0)) as store:
    for number in range(len(list(store.results(2))) + 1, 100_000):
        fault = TeamFault("random", number, "slow", 1, "took 0.2 s")
        store.add(Result(number, (1.0, -1.0), None), [fault], seed=1, agents=["random"] * 2, replay=os.urandom(3000))
        print(number, flush=True)
"""


def kept(file: Path) -> int:
    """How many games a file holds, which must be whole."""
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        numbers = [number for (number,) in connection.execute("SELECT number FROM games ORDER BY number")]
        assert numbers == list(range(1, len(numbers) + 1))
        assert connection.execute("SELECT count(*) FROM faults").fetchone() == (len(numbers),)
    connection.close()
    return len(numbers)


@pytest.mark.slow
def test_a_writer_that_is_killed_loses_no_game_that_it_said_was_kept(tmp_path: Path) -> None:
    """Ten times, in the middle of transactions; each time the next one goes on with the same file."""
    file, said, rng = tmp_path / "t.db", tmp_path / "said", random.Random(1)
    for _ in range(10):
        before = len(said.read_text().splitlines()) if said.exists() else 0
        with said.open("a") as out, subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=out) as process:
            until(lambda before=before: len(said.read_text().splitlines()) > before)
            time.sleep(rng.uniform(0.0, 0.1))
            process.kill()
        last = int(said.read_text().split()[-1])
        assert last <= kept(file) <= last + 1


def test_a_full_disk_is_one_line_and_the_games_before_it_are_kept(tmp_path: Path) -> None:
    """As a limit of what a process may write has it, which binds an administrator too."""
    resource = pytest.importorskip("resource")
    file, size = tmp_path / "t.db", 1 << 20

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(file)], capture_output=True, text=True, preexec_fn=full, check=False
    )
    said = done.stdout.split()
    assert len(said) > 20
    assert done.stderr.splitlines()[-1].startswith(
        f"infoset.arena.store.UnkeptGameError: {file}: game {len(said) + 1} could not be saved: disk I/O error"
    )
    assert kept(file) == len(said)


@pytest.mark.slow
@pytest.mark.parametrize("pages", [1, 16])
def test_a_tournament_on_a_full_disk_goes_on_when_there_is_room(
    tmp_path: Path, pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the beginning, and after some games; SQLite says the same as of a disk that is full."""
    file, connect = tmp_path / "t.db", sqlite3.connect

    def full(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", full)
        with pytest.raises(CheckpointError, match=r"t\.db: [^\n]*database or disk is full[^\n]*$"):
            tournament(KUHN, KUHN_TEAMS, games=100, db=file, workers=1)
    before = rows(file)
    assert (before > 0) == (pages > 1)
    played = tournament(KUHN, KUHN_TEAMS, games=100, db=file, workers=1)
    assert played.fresh == 300 - before
    assert plain(played) == plain(tournament(KUHN, KUHN_TEAMS, games=100, workers=1))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE games SET returns = '[1]'",
        "UPDATE games SET returns = '[1e308, -1e308]'",
        "UPDATE games SET returns = '[[[['",
        "UPDATE games SET returns = NULL, forfeit = 9",
        "UPDATE games SET returns = x'00ff'",
        "UPDATE tournament SET config = '{}'",
        "DELETE FROM tournament",
        "DROP TABLE games",
    ],
)
def test_a_damaged_database_is_one_line(tmp_path: Path, damage: str) -> None:
    with Store.open(tmp_path / "t.db", config()) as store:
        store.add(Result(1, (1.0, -1.0), None), [], seed=1, agents=["random", "random"], replay=b"")
        store.connection.execute(damage)
    with pytest.raises(CheckpointError, match=r"t\.db: [^\n]*$"):
        tournament(KUHN, ["random", "random"], games=2, db=tmp_path / "t.db")


@pytest.mark.parametrize(
    "replay", [b"junk", zlib.compress(b"{}"), zlib.compress(bytes(40 << 20)), zlib.compress(b"[" * 10**5)]
)
def test_a_damaged_replay_is_one_line(tmp_path: Path, replay: bytes) -> None:
    with Store.open(tmp_path / "t.db", config()) as store:
        store.add(Result(1, (1.0, -1.0), None), [], seed=1, agents=["random", "random"], replay=replay)
    with pytest.raises(CheckpointError, match=r"t\.db: damaged entry: [^\n]*$"):
        load_replay(tmp_path / "t.db", 1)


# Ratings


def test_skills_of_one_game_are_those_of_the_published_rule() -> None:
    """Weng & Lin 2011, Algorithm 4, two equal agents: c² = 2σ² + 2β² with σ² = (25/3)² + τ², β = 25/6, τ = 25/300; the
    winner's mean grows by σ²/c · (1 - 1/2), the loser's falls by as much, and both variances shrink alike.
    """
    sigma = sqrt((25 / 3) ** 2 + (25 / 300) ** 2)
    step = sigma**2 / sqrt(2 * sigma**2 + 2 * (25 / 6) ** 2) / 2
    found = openskill([[(("a",), 1.0), (("b",), -1.0)]])
    assert [(skill.agent, skill.games) for skill in found] == [("a", 1), ("b", 1)]
    assert [skill.skill for skill in found] == pytest.approx([25 + step, 25 - step])
    assert found[0].high - found[0].low == pytest.approx(found[1].high - found[1].low)
    assert found[0].high - found[0].low < 2 * 1.96 * sigma


def test_members_of_a_team_share_its_games_and_a_game_against_oneself_says_nothing() -> None:
    found = openskill([[(("a", "b"), 1.0), (("c",), 0.0)], [(("a", "c"), 1.0), (("c", "b"), 0.0)]])
    assert {skill.agent: skill.games for skill in found} == {"a": 1, "b": 1, "c": 1}
    assert [skill.agent for skill in found][-1] == "c"


def test_a_free_for_all_has_skills_and_a_round_robin_of_two_has_none() -> None:
    teams = ["scripted(actions=[bet])", "scripted(actions=[pass])", "random"]
    table = tournament("kuhn_poker(players=3)", teams, games=60, workers=1)
    assert {skill.agent for skill in table.skills} == set(teams)
    assert all(skill.games == 60 and skill.low < skill.skill < skill.high for skill in table.skills)
    assert tournament(KUHN, teams, games=4, workers=1).skills == ()


def test_three_to_one_is_191_points() -> None:
    """400 log10(3) = 190.85; the prior takes less than a tenth of a point with so many games."""
    first, second = bradley_terry(["a", "b"], np.array([[0.0, 3000.0], [1000.0, 0.0]]))
    assert first.rating - second.rating == pytest.approx(400 * log(3) / log(10), abs=0.1)
    assert first.rating == pytest.approx(-second.rating)


def test_the_interval_of_two_teams_by_hand() -> None:
    """The information about the difference is n p (1 - p); a rating is half the difference."""
    first, _ = bradley_terry(["a", "b"], np.array([[0.0, 60.0], [40.0, 0.0]]))
    precision = (ELO / PRIOR) ** 2
    chance = 1 / (1 + 10 ** (-2 * first.rating / 400))
    half = 1.959964 * ELO / sqrt(4 * 100 * chance * (1 - chance) + 2 * precision)
    assert (first.low, first.high) == (
        pytest.approx(first.rating - half, abs=1e-3),
        pytest.approx(first.rating + half, abs=1e-3),
    )


def test_a_team_that_won_everything_is_rated_by_the_prior() -> None:
    """For two teams the maximum is where 20 (1 - p) = precision * difference / 2."""
    first, second = bradley_terry(["a", "b"], np.array([[0.0, 20.0], [0.0, 0.0]]))
    precision = (ELO / PRIOR) ** 2
    gap = brentq(lambda d: 20 / (1 + np.exp(d)) - precision * d / 2, 0, 50)
    assert first.rating - second.rating == pytest.approx(ELO * gap, abs=1e-3)
    assert first.low < first.rating < first.high < 3000
    alone = bradley_terry(["a", "b"], np.zeros((2, 2)))
    assert [rating.rating for rating in alone] == [0.0, 0.0]
    assert alone[0].high == pytest.approx(1.959964 * PRIOR / sqrt(2), rel=1e-6)  # nothing but the prior


def test_many_games_give_the_maximum_of_the_likelihood() -> None:
    """The likelihood written out game by game, without a prior, and maximised by another method."""
    rng = np.random.default_rng(4)
    strength = np.array([0.8, 0.1, -0.2, -0.7])
    wins = np.zeros((4, 4))
    for i in range(4):
        for j in range(i):
            chance = 1 / (1 + np.exp(strength[j] - strength[i]))
            wins[i, j] = rng.binomial(20_000, chance)
            wins[j, i] = 20_000 - wins[i, j]
    wins[0, 1] += 0.5
    wins[1, 0] += 0.5  # a tie

    def loss(free: np.ndarray) -> float:
        theta = [*free, -sum(free)]
        return sum(wins[i, j] * np.log1p(np.exp(theta[j] - theta[i])) for i in range(4) for j in range(4)) / 1e4

    free = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 5000}).x
    found = [rating.rating for rating in bradley_terry("abcd", wins)]
    assert found == pytest.approx((ELO * np.array([*free, -sum(free)])).tolist(), abs=0.05)


def test_intervals_hold_the_truth_19_times_in_20() -> None:
    rng = np.random.default_rng(7)
    truth = np.array([150.0, 30.0, -60.0, -120.0])
    hits = tries = 0
    for _ in range(150):
        wins = np.zeros((4, 4))
        for i in range(4):
            for j in range(i):
                wins[i, j] = rng.binomial(60, 1 / (1 + 10 ** ((truth[j] - truth[i]) / 400)))
                wins[j, i] = 60 - wins[i, j]
        for rating, value in zip(bradley_terry("abcd", wins), truth, strict=True):
            hits += rating.low <= value <= rating.high
            tries += 1
    assert abs(hits / tries - 0.95) < 4 * sqrt(0.95 * 0.05 / tries)


@examples(50)
@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 50), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_ratings_are_about_the_mean_and_do_not_depend_on_the_order(rows: list[list[int]]) -> None:
    wins = np.array(rows, dtype=float)
    np.fill_diagonal(wins, 0)
    names = [str(k) for k in range(len(rows))]
    ratings = bradley_terry(names, wins)
    assert sum(rating.rating for rating in ratings) == pytest.approx(0, abs=1e-6)
    turned = bradley_terry(names[::-1], wins[::-1, ::-1])
    for one, two in zip(ratings, turned[::-1], strict=True):
        assert (one.rating, one.low, one.high) == pytest.approx((two.rating, two.low, two.high), abs=1e-2)
    mirrored = bradley_terry(names, wins.T)
    assert [r.rating for r in mirrored] == pytest.approx([-r.rating for r in ratings], abs=1e-2)


# The command line


def command(*arguments: str) -> list[str]:
    return [*INFOSET, "tournament", *arguments]


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return run_infoset("tournament", *arguments, cwd=cwd)


def rows(file: Path) -> int:
    """How many games a tournament that goes on has kept."""
    try:
        connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT count(*) FROM games").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.Error:
        return 0


def until(condition, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


LONG = (KUHN, *KUHN_TEAMS, "--games", "400", "--workers", "2", "--json")


@pytest.fixture(scope="module")
def whole() -> dict:
    """The uninterrupted run."""
    played = tournament(KUHN, KUHN_TEAMS, games=400, workers=2)
    return json.loads(json.dumps({**asdict(played), "ratings": [asdict(rating) for rating in played.ratings]}))


FIGURES = ("game", "seed", "teams", "games", "planned", "table", "ratings", "stopped")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_run_that_is_stopped_goes_on_to_the_same_end(tmp_path: Path, how: signal.Signals, whole: dict) -> None:
    file = tmp_path / "t.db"
    process = subprocess.Popen(
        command(*LONG, "--db", str(file)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until(lambda: rows(file) > 30)
    workers = children(process.pid)
    os.kill(process.pid, how)
    out, err = process.communicate(timeout=60)
    assert workers
    until(lambda: not any(map(running, workers)))
    kept = rows(file)
    assert 30 < kept < 1200
    if how == signal.SIGINT:
        body = json.loads(out)
        assert (process.returncode, body["stopped"]) == (0, "interrupted")
        assert sum(met["wins"] + met["losses"] + met["ties"] for met in body["table"]) == body["games"]
        assert abs(kept - body["games"]) <= 1
        assert err == f"infoset: stopped after {body['games']:,} of 1,200 games; the same command resumes\n"
    done = json.loads(run(*LONG, "--db", str(file)).stdout)
    assert done["fresh"] == 1200 - kept
    assert {key: done[key] for key in FIGURES} == {key: whole[key] for key in FIGURES}


def test_json_text_picture_and_replay(tmp_path: Path) -> None:
    arguments = (KUHN, *KUHN_TEAMS, "--games", "4", "--workers", "1", "--self", "--db", "t.db", "--svg", "t.svg")
    done = run(*arguments, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    body = json.loads(done.stdout)
    assert (body["game"], body["games"], body["faults"]) == (KUHN, 24, [])
    assert [set(met) for met in body["table"]] == [{"a", "b", "wins", "losses", "ties"}] * 6
    assert [set(rating) for rating in body["ratings"]] == [{"team", "rating", "low", "high"}] * 3
    lines = run(*arguments, cwd=tmp_path).stdout.splitlines()
    assert lines[0] == "kuhn_poker: 3 teams, 24 games, seed 0"
    assert lines[1].split() == ["team", "payoff", "score", "rating", "1", "2", "3"]
    assert lines[2].startswith(f"1 {BETS}")
    assert lines[-1] == "database: t.db"
    svg = Xml.parse(tmp_path / "t.svg").getroot()
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert "+1" in texts and f"1  {BETS}" in texts
    written = run("--db", "t.db", "--replay", "8", "--out", "game.json", cwd=tmp_path)
    assert (written.returncode, written.stdout) == (0, "game.json\n")
    match = Match.load(tmp_path / "game.json")
    plan = schedule(KUHN, KUHN_TEAMS, True)
    again = play_match(KUHN, plan.agents(plan.fixture(8)), seed=plan.fixture(8).seed)
    assert [step.actions for step in match.steps] == [step.actions for step in again.steps]
    assert (match.returns, match.agents, match.seed) == (again.returns, plan.agents(plan.fixture(8)), again.seed)
    assert replay_states(match)[-1].terminal
    missing = run("--db", "t.db", "--replay", "99", cwd=tmp_path)
    assert (missing.returncode, missing.stderr) == (1, "infoset: t.db has no game 99; the last is 24\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([KUHN, "random", "rendom"], "did you mean 'random'"),
        (["kuhn_pokr", "random", "random"], "did you mean 'kuhn_poker'"),
        ([], "name a GAME and at least two TEAMs"),
        (["--replay", "3"], "--replay needs --db FILE"),
    ],
)
def test_errors_are_one_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert words in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_a_database_a_fresh_one_is_named(tmp_path: Path) -> None:
    for name in ("rock_paper_scissors-tournament.db", "rock_paper_scissors-tournament-2.db"):
        done = run("rock_paper_scissors", "random", "random", "--games", "2", "--workers", "1", cwd=tmp_path)
        assert done.stdout.splitlines()[-1] == f"database: runs/{name}"
        assert (tmp_path / "runs" / name).is_file()


FAULTY = """
import os, time

class Plays:
    def begin(self, game, player, rng, deadline):
        self.rng = rng
    def observe(self, own_action, observation): ...
    def end(self, returns): ...
    def act(self, legal_actions, deadline):
        return legal_actions[int(self.rng.integers(len(legal_actions)))]

class Sleeps(Plays):
    def act(self, legal_actions, deadline):
        time.sleep(4)

class Dies(Plays):
    def act(self, legal_actions, deadline):
        os._exit(1)

class Thinks(Plays):
    def act(self, legal_actions, deadline):
        time.sleep(0.005)
        return super().act(legal_actions, deadline)

class Kills(Plays):
    def act(self, legal_actions, deadline):
        os.kill(os.getpid(), 9)

class Cheats(Plays):
    def act(self, legal_actions, deadline):
        return "raise"
"""


def test_with_a_clock_each_agent_has_a_process_of_its_own_and_loses_its_move_alone(tmp_path: Path) -> None:
    (tmp_path / "faulty.py").write_text(FAULTY)
    teams = [f"python:{tmp_path / 'faulty.py'}:{name}" for name in ("Sleeps", "Dies", "Cheats", "Plays")]
    played = tournament(KUHN, teams, games=1, seed=1, seconds_per_move=1.5, db=tmp_path / "t.db")
    assert played.games == played.planned == 6
    found = {(fault.team.rpartition(":")[2], fault.kind) for fault in played.faults}
    assert {("Sleeps", "late"), ("Dies", "error"), ("Cheats", "illegal")} <= found
    assert {kind for team, kind in found if team == "Plays"} <= {"late"}  # as anybody may be on a busy machine
    with pytest.raises(CheckpointError, match=r"seconds_per_move=1.5, not None"):
        tournament(KUHN, teams, games=1, seed=1, db=tmp_path / "t.db")


@pytest.mark.slow
def test_a_clock_that_nobody_needs_changes_nothing(tmp_path: Path) -> None:
    tables = [
        tournament("leduc_poker", ["random", "scripted(actions=[call,call,call])"], games=6, seed=2, **clocks).table
        for clocks in ({}, {"seconds_per_move": 60.0}, {"start_clock": 60.0, "isolate": False, "workers": 1})
    ]
    assert tables[0] == tables[1] == tables[2]


def test_what_stands_in_this_process_alone_cannot_be_isolated() -> None:
    class Here(RandomAgent): ...

    with pytest.raises(ParameterError, match="isolate: the game or an agent is an object"):
        tournament(KUHN, [Here(), "random"], games=2, isolate=True)


@pytest.mark.slow
def test_a_thousand_games_with_one_agent_of_each_fault(tmp_path: Path) -> None:
    """Every game is accounted for, and the one that plays well wins every pair that it is in."""
    (tmp_path / "faulty.py").write_text(FAULTY.replace("time.sleep(4)", "time.sleep(0.3)"))
    teams = [f"python:{tmp_path / 'faulty.py'}:{name}" for name in ("Sleeps", "Dies", "Cheats", "Plays")]
    played = tournament(KUHN, teams, games=168, seed=1, seconds_per_move=0.1, db=tmp_path / "t.db")
    assert played.games == played.planned == 1008
    assert sum(cell.wins + cell.losses + cell.ties for cell in played.table) == 1008
    with sqlite3.connect(tmp_path / "t.db") as connection:
        assert connection.execute("SELECT count(*), count(returns) FROM games").fetchone() == (1008, 1008)
    connection.close()
    kinds = {(fault.team.rpartition(":")[2], fault.kind) for fault in played.faults}
    assert {("Sleeps", "late"), ("Dies", "error"), ("Cheats", "illegal")} <= kinds
    assert {kind for team, kind in kinds if team == "Plays"} <= {"late"}  # as anybody may be on a busy machine
