"""Formats of competitions: who meets whom, who goes through, and that what was ended goes on as it would have."""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import INFOSET
from command_line import run_infoset as run
from extent import examples
from infoset.arena.competition import read
from infoset.arena.formats import FORMATS, NOBODY, DoubleElimination, FreeForAll, GamePlan, Meeting, Swiss
from infoset.arena.schedule import Schedule
from infoset.arena.tournament import tournament
from infoset.errors import CheckpointError, FormatError, ParameterError, UnknownNameError, UnsupportedGameError

DUEL = "rock_paper_scissors"
FREE_FOR_ALL = "pommerman:PommeFFACompetition-v0"
ROCK, PAPER, SCISSORS = (f"scripted(actions=[{action}])" for action in ("Rock", "Paper", "Scissors"))


def schedule(teams: int, game: str = DUEL) -> Schedule:
    return Schedule.of(game, ["random"] * teams, 1, False)


def play_out(plan: GamePlan, outcome) -> dict[int, list[float]]:
    """All games; ``outcome(a, b)`` is what two teams make of one."""
    scores: dict[int, list[float]] = {}
    while due := list(plan.due(scores)):
        for fixture in due:
            assert fixture.number not in scores
            scores[fixture.number] = list(outcome(*fixture.teams))
    return scores


def stronger(a: int, b: int) -> tuple[float, float]:
    return (1.0, 0.0) if a < b else (0.0, 1.0)


@pytest.mark.parametrize("teams", range(2, 18))
def test_double_elimination(teams: int) -> None:
    """Everybody but the winner loses two meetings; where the better always wins, the list is the result."""
    plan = DoubleElimination().plan(schedule(teams))
    scores = play_out(plan, stronger)
    met = [meeting for meeting in plan.meetings(scores) if NOBODY not in meeting.teams]
    losses = Counter(meeting.loser for meeting in met)
    assert losses == dict.fromkeys(range(1, teams), 2)
    assert len(met) == 2 * (teams - 1)
    assert all(meeting.wins in ((2, 0), (0, 2)) for meeting in met)
    assert plan.ranking(scores)[:2] == (0, 1)
    assert sorted(plan.ranking(scores)) == list(range(teams))


def test_the_final_is_played_again_where_both_have_then_lost_once() -> None:
    """The second beats the first in the final alone."""
    beaten = []

    def outcome(a: int, b: int) -> tuple[float, float]:
        if {a, b} == {0, 1} and len(beaten) >= 2:
            return (1.0, 0.0) if a == 1 else (0.0, 1.0)
        beaten.extend([1] if {a, b} == {0, 1} else [])
        return stronger(a, b)

    plan = DoubleElimination().plan(schedule(2))
    scores = play_out(plan, outcome)
    assert [(m.stage, m.winner) for m in plan.meetings(scores)] == [("winners 1", 0), ("final", 1), ("final again", 1)]
    assert plan.ranking(scores) == (1, 0)


def test_a_tie_is_replayed_once_and_a_second_one_decided_on_other_rules() -> None:
    plan = DoubleElimination(decider="goofspiel(num_cards=3)").plan(schedule(2))
    games, scores = [], {}
    for result in ([1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.5, 0.5], [0.5, 0.5], [1.0, 0.0]):
        (fixture,) = plan.due(scores)
        games.append(fixture.game)
        scores[fixture.number] = result
    assert games == ["", "", "", "", "goofspiel(num_cards=3)", "goofspiel(num_cards=3)"]
    assert plan.meetings(scores)[0] == Meeting(1, "winners 1", (0, 1), (2, 1), 3, 0)


def test_who_only_ties_goes_through_as_listed() -> None:
    plan = DoubleElimination().plan(schedule(4))
    scores = play_out(plan, lambda a, b: (0.0, 0.0))
    assert plan.ranking(scores)[0] == 0


def test_the_sides_change_from_game_to_game() -> None:
    plan = DoubleElimination().plan(schedule(2))
    (first,) = plan.due({})
    (second,) = plan.due({first.number: [1.0, 0.0]})
    assert (first.seating, second.seating) == ((0, 1), (1, 0))
    assert first.seed == second.seed  # on the same board


@examples(40)
@given(
    teams=st.integers(2, 9),
    wins=st.integers(1, 3),
    seed=st.integers(0, 2**20),
    kind=st.sampled_from(["double", "swiss"]),
)
def test_what_is_due_depends_on_what_is_over_alone(teams: int, wins: int, seed: int, kind: str) -> None:
    """Games in any order, ended anywhere and taken up from what was kept."""
    rng = random.Random(seed)
    format = DoubleElimination(wins) if kind == "double" else Swiss(3, wins)
    plan = format.plan(schedule(teams))
    results: dict[int, list[float]] = {}
    whole: dict[int, list[float]] = {}
    while due := list(plan.due(whole)):
        fixture = rng.choice(due)
        results[fixture.number] = whole[fixture.number] = rng.choice([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
        if rng.random() < 0.1:
            again: dict[int, list[float]] = {}
            kept = list(results)
            rng.shuffle(kept)
            order = list(format.plan(schedule(teams)).over(kept, again, lambda fixture: results[fixture.number]))
            assert again == whole and len(order) == len(whole)
    assert len(plan.ranking(whole)) == teams


@pytest.mark.parametrize("teams", [4, 5, 8, 9])
def test_swiss(teams: int) -> None:
    plan = Swiss(rounds=3, wins=1).plan(schedule(teams))
    scores = play_out(plan, stronger)
    met = plan.meetings(scores)
    assert len(met) == 3 * ((teams + 1) // 2)
    assert len({frozenset(meeting.teams) for meeting in met}) == len(met)  # no two twice
    assert plan.ranking(scores)[0] == 0
    assert all(Counter(t for m in met for t in m.teams)[team] == 3 for team in range(teams))


def test_eight_entrants_play_35_games_each() -> None:
    """The preliminary competition of Resnick et al. 2018."""
    plan = FreeForAll().plan(schedule(8, FREE_FOR_ALL))
    fixtures = list(plan.due({}))
    assert len(fixtures) == plan.total == 70
    assert Counter(team for fixture in fixtures for team in fixture.teams) == dict.fromkeys(range(8), 35)
    assert {fixture.teams for fixture in fixtures} == set(combinations(range(8), 4))
    seats = Counter(fixture.teams[slot] * 4 + seat for fixture in fixtures for seat, slot in enumerate(fixture.seating))
    assert max(seats.values()) - min(seats.values()) <= 12 and len(seats) == 32  # everybody in every seat
    scores = {
        fixture.number: [1.0 if team == min(fixture.teams) else -1.0 for team in fixture.teams] for fixture in fixtures
    }
    assert plan.ranking(scores) == (0, 1, 2, 3, 4, 5, 6, 7)


def test_a_whole_competition_and_one_that_was_ended(tmp_path: Path) -> None:
    teams = [ROCK, PAPER, SCISSORS, "random"]
    whole = tournament(DUEL, teams, format="double-elimination(wins=1)", workers=1)
    assert whole.meetings and whole.ranking
    assert whole.games == sum(sum(m.wins) + m.ties for m in whole.meetings)

    seen = []

    def stop(standings) -> None:
        seen.append(standings.games)
        if standings.games >= 2:
            raise KeyboardInterrupt

    db = tmp_path / "c.db"
    tournament(DUEL, teams, format="double-elimination(wins=1)", workers=1, db=db, progress=stop)
    again = tournament(DUEL, teams, format="double-elimination(wins=1)", workers=2, db=db)
    assert (again.meetings, again.ranking, again.table) == (whole.meetings, whole.ranking, whole.table)
    with pytest.raises(CheckpointError, match="holds a tournament with format="):
        tournament(DUEL, teams, format="swiss", db=db)


def test_formats_that_do_not_fit() -> None:
    with pytest.raises(UnknownNameError, match="unknown game 'kuhn'"):  # before anything is played
        tournament("rock_paper_scissors", [ROCK, PAPER], format="double-elimination(decider=kuhn)")
    with pytest.raises(ParameterError, match=r"decider=kuhn_poker.players=3. is a game with other seats"):
        tournament("rock_paper_scissors", [ROCK, PAPER], format="double-elimination(decider='kuhn_poker(players=3)')")
    with pytest.raises(UnknownNameError, match="did you mean 'swiss'"):
        tournament(DUEL, [ROCK, PAPER], format="swis")
    with pytest.raises(ParameterError, match=r"games=5 applies to the format round-robin"):
        tournament(DUEL, [ROCK, PAPER], format="swiss", games=5)
    with pytest.raises(UnsupportedGameError, match="2 sides; a free-for-all needs three"):
        tournament(DUEL, [ROCK, PAPER], format="free-for-all")
    with pytest.raises(UnsupportedGameError, match="4 sides; this format needs a game with two"):
        tournament(FREE_FOR_ALL, ["stop"] * 4, format="double-elimination")
    with pytest.raises(ParameterError, match="wins"):
        tournament(DUEL, [ROCK, PAPER], format="double-elimination(wins=0)")
    assert set(FORMATS) == {"double-elimination", "free-for-all", "round-robin", "swiss"}


COMPETITION = """
game = "rock_paper_scissors"
teams = ["scripted(actions=[Rock])", "scripted(actions=[Paper])", "scripted(actions=[Scissors])", "random"]
format = "double-elimination(wins=1)"
seed = 2

[limits]
seconds_per_move = 5.0
isolate = false
"""


def test_a_competition_from_one_file(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(COMPETITION)
    first = run("compete", "cup.toml", "--json", "--svg", "cup.svg", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    body = json.loads(first.stdout)
    assert (body["stopped"], body["db"]) == ("games", "cup.db")
    assert len(body["ranking"]) == 4
    drawn = "".join(Xml.fromstring((tmp_path / "cup.svg").read_text()).itertext())
    assert f"first: {body['ranking'][0]}" in drawn
    for stage in ("winners 1", "winners 2", "losers 1", "losers 2", "final"):
        assert stage in drawn
    again = json.loads(run("compete", "cup.toml", "--json", cwd=tmp_path).stdout)
    assert again["fresh"] == 0
    assert again["meetings"] == body["meetings"]
    text = run("compete", "cup.toml", cwd=tmp_path).stdout
    assert "final: " in text and text.splitlines()[2].startswith(f"1 {body['ranking'][0]}")
    replay = run("tournament", "--db", "cup.db", "--replay", "1001", cwd=tmp_path)
    assert replay.returncode == 0, replay.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("game = ", "cup.toml: not TOML: Invalid value (at"),
        ('game = "kuhn_poker"', "cup.toml: teams is missing; it must be a list of texts"),
        (COMPETITION + "\nclock = 1", "cup.toml: unknown key of [limits]: 'clock'; did you mean 'start_clock'?"),
        (COMPETITION.replace("5.0", '"fast"'), 'cup.toml: seconds_per_move must be a number, found "fast"'),
        (COMPETITION.replace("double", "dubble"), "unknown format 'dubble-elimination'; did you mean"),
        (COMPETITION.replace("random", "rendom"), "unknown agent 'rendom'; did you mean 'random'"),
    ],
)
def test_files_that_are_no_competition(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "cup.toml").write_text(text)
    done = run("compete", "cup.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "cup.db").exists()


TEAMS = 'game = "kuhn_poker"\nteams = ["random", "random"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("game = kuhn_poker", "not TOML: Invalid value (at line 1, column 8); put texts in quotes"),
        (TEAMS + 'formt = "swiss"', "unknown key 'formt'; did you mean 'format'?"),
        (TEAMS + "seconds_per_move = 1", "seconds_per_move belongs after [limits]"),
        (TEAMS + "[limits]\nseed = 1", "seed belongs before [limits]"),
        (TEAMS + "[limits]\nmemry = 1", "unknown key of [limits]: 'memry'; did you mean 'memory'?"),
        (TEAMS + "limits = 3", "limits must be a table, below [limits], found 3"),
        (TEAMS + "games = 4", 'games is a parameter of the format: format = "round-robin(games=4)"'),
        (TEAMS + 'format = "swiss"\nwins = 3', 'wins is a parameter of the format: format = "swiss(wins=3)"'),
        (TEAMS + 'seed = "one"', 'seed must be a whole number, found "one"'),
        ('game = "kuhn_poker"\nteams = "random"', 'teams must be a list of texts, found "random"'),
        (TEAMS + "seed = 2020-01-01", 'seed must be a whole number, found "2020-01-01"'),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_words(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "cup.toml").write_text(text)
    with pytest.raises(FormatError) as refused:
        read(tmp_path / "cup.toml")
    assert str(refused.value) == f"{tmp_path / 'cup.toml'}: {words}"


@pytest.mark.slow
@pytest.mark.parametrize("moments", [2, 10])
def test_kill_9_at_random_moments(tmp_path: Path, moments: int) -> None:
    """Of the competition, with all its processes; the standings are then those of one that was never ended."""
    (tmp_path / "cup.toml").write_text(COMPETITION.replace("wins=1", "wins=40"))
    whole = json.loads(run("compete", "cup.toml", "--json", "--db", "whole.db", cwd=tmp_path).stdout)
    rng, kills = random.Random(1), 0
    for _ in range(moments):
        process = subprocess.Popen(
            [*INFOSET, "compete", "cup.toml"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.8, 2.0))
        kills += process.poll() is None
        process.kill()
        process.wait()
    cut = json.loads(run("compete", "cup.toml", "--json", cwd=tmp_path).stdout)
    assert kills
    for key in ("games", "table", "ratings", "meetings", "ranking"):
        assert cut[key] == whole[key]
