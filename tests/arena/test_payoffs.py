"""Tournaments by payoff: what a game pays, luck taken out of it, means with intervals, the order of a known field."""

import sqlite3
from collections.abc import Iterator
from itertools import product
from math import nan, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import infoset
from infoset import Game, State, TabularPolicy, play_match
from infoset.arena.control import Controls
from infoset.arena.payoffs import Kind, kind_of, mean_by_seed, pays_wins
from infoset.arena.standings import Standings
from infoset.arena.store import load_replay
from infoset.arena.tournament import read_record, tournament
from infoset.base import own_record
from infoset.errors import ParameterError
from infoset.match.replay import MatchStep
from infoset.match.series import sides_of
from infoset.sizes import LUCK_REMOVED
from infoset.view.tournament_svg import tournament_svg
from infoset.view.tournament_text import tournament_text

KUHN = "kuhn_poker"
TWO = ((0,), (1,))


# What a game pays


@pytest.mark.parametrize(
    ("game", "wins", "small"),
    [
        ("kuhn_poker", False, True),
        ("leduc_poker", False, True),
        ("gdl:kuhn_poker", False, True),
        ("holdem_river", False, True),
        ("rock_paper_scissors", True, True),
        ("rock_paper_scissors(payoffs=[[0,-1,3],[1,0,-1],[-3,1,0]])", False, True),
        ("gdl:tic_tac_toe", True, False),
        ("gdl:meier", True, False),
        ("goofspiel", True, False),
        ("goofspiel(returns_type=point_difference)", False, False),
        ("pommerman:PommeTeamCompetition-v0", True, False),
        ("pommerman:PommeFFACompetition-v0", True, False),
    ],
)
def test_games_pay_wins_or_amounts(game: str, wins: bool, small: bool) -> None:
    rules = infoset.load(game)
    assert kind_of(rules, sides_of(rules)) == Kind(wins, small)


@pytest.mark.parametrize(
    ("payoffs", "wins"),
    [
        ([(1, 0), (0, 1), (0.5, 0.5)], True),
        ([(100, 0), (0, 100), (50, 50)], True),
        ([(1, -1), (-1, 1), (-1, -1)], True),  # a draw is a defeat for both, as in Pommerman
        ([(2, 2), (0, 1), (1, 0), (1, 1)], False),  # a stag hunt
        ([(1, 1), (0, 0)], False),  # they win together
        ([(2, 1), (1, 2), (0, 0)], False),  # the battle of the sexes
        ([(1, -1), (3, -3)], False),
        ([(1, -1), (0.5, -0.5), (-1, 1)], False),
        ([], False),
    ],
)
def test_payoffs_of_winners_losers_and_draws(payoffs: list[tuple[float, float]], wins: bool) -> None:
    assert pays_wins(payoffs, TWO) is wins


# Luck taken out of payoffs: exactly, over all histories of small games


def histories(game: Game, probabilities: dict) -> Iterator[tuple[float, tuple[MatchStep, ...], tuple[float, ...]]]:
    """Every history with its probability where player ``p`` plays by ``probabilities[p](known, legal_actions)``: the slow twin."""
    n = len(game.players)
    start = game.start()
    known = tuple(() if start.observation(p) is None else ((None, start.observation(p)),) for p in range(n))
    stack: list[tuple[State, tuple, tuple, float]] = [(start.state, known, (), 1.0)]
    while stack:
        state, known, steps, weight = stack.pop()
        if state.terminal:
            yield weight, steps, tuple(map(float, state.returns()))
            continue
        action_sets = [state.legal_actions(player) for player in range(n)]
        rows = [
            list(zip(action_set, probabilities[p](known[p], action_set), strict=True)) or [(None, 1.0)]
            for p, action_set in enumerate(action_sets)
        ]
        for joint in product(*rows):
            actions = tuple(action for action, _ in joint)
            chance = weight * float(np.prod([share for _, share in joint]))
            for answer, share in state.chance_outcomes(actions) or ((None, 1.0),):
                step = state.play(actions, answer)
                records = [own_record(action, step.observation(p)) for p, action in enumerate(actions)]
                now = tuple(
                    old if record is None else (*old, record) for old, record in zip(known, records, strict=True)
                )
                played = MatchStep(actions, answer, (None,) * n)
                stack.append((step.state, now, (*steps, played), chance * share))


def uniform(known: tuple, legal_actions: tuple) -> list[float]:
    """Every move alike."""
    return [1 / len(legal_actions)] * len(legal_actions) if legal_actions else []


class Drawn:
    """Chances that are drawn once for every information state."""

    def __init__(self, seed: int) -> None:
        self.rng, self.rows = np.random.default_rng(seed), {}

    def __call__(self, known: tuple, legal_actions: tuple) -> list[float]:
        if (known, legal_actions) not in self.rows:
            self.rows[known, legal_actions] = (
                self.rng.dirichlet(np.ones(len(legal_actions))).tolist() if legal_actions else []
            )
        return self.rows[known, legal_actions]


GAMES = [KUHN, "kuhn_poker(players=3)", "goofspiel(num_cards=3)", "gdl:kuhn_poker", "rock_paper_scissors"]


@pytest.mark.parametrize("game", GAMES)
def test_luck_that_is_taken_out_has_the_mean_nothing(game: str) -> None:
    """Whoever is known or not, and however the others play."""
    rules = infoset.load(game)
    n = len(rules.players)
    probabilities = {p: Drawn(p) for p in range(n)}
    controls = Controls.of(rules, LUCK_REMOVED)
    played = list(histories(rules, probabilities))
    assert sum(weight for weight, _, _ in played) == pytest.approx(1)
    paid = sum(weight * np.array(returns) for weight, _, returns in played)
    for p in range(n):
        controls.know("drawn", p, lambda player, known, legal_actions: probabilities[player](known, legal_actions))
    for names in product(("drawn", ""), repeat=n):
        adjusted = [controls.adjust(steps, returns, names) for _, steps, returns in played]
        mean = sum(weight * np.array(own) for (weight, _, _), own in zip(played, adjusted, strict=True))
        assert mean == pytest.approx(paid, abs=1e-12)
        if "" not in names:  # nothing of the luck is left
            assert np.array(adjusted) == pytest.approx(np.tile(paid, (len(played), 1)), abs=1e-12)


@pytest.mark.parametrize(("game", "most"), [(KUHN, 0.45), ("leduc_poker", 0.5)])
def test_payoffs_without_luck_vary_less(game: str, most: float) -> None:
    """Between an equilibrium and uniform play, neither of which is known: a share of the variance, exactly."""
    rules = infoset.load(game)
    policy = infoset.solve(game, "pcfr+", target=0.05).policy
    probabilities = {
        0: lambda known, legal_actions: (
            policy.action_probabilities(0, known, legal_actions) or uniform(known, legal_actions)
            if legal_actions
            else []
        ),
        1: uniform,
    }
    controls = Controls.of(rules, LUCK_REMOVED)
    played = [found for found in histories(rules, probabilities) if found[0] > 0]
    weights = np.array([weight for weight, _, _ in played])
    variances = []
    for values in ([r[0] for _, _, r in played], [controls.adjust(s, r, ("", ""))[0] for _, s, r in played]):
        mean = weights @ np.array(values)
        variances.append(weights @ (np.array(values) - mean) ** 2)
    assert variances[1] < most * variances[0]


def test_a_game_of_another_tree_is_left_as_it_was_paid() -> None:
    controls = Controls.of(infoset.load(KUHN), LUCK_REMOVED)
    assert controls.adjust((MatchStep(("fold", None), None, (None, None)),), (1.0, -1.0), ("", "")) is None


# Means and intervals


def test_intervals_are_those_of_means_over_seeds() -> None:
    """Two games on each of four seeds: as if every seed's mean were one figure."""
    sums = [(2, 1.0), (2, -2.0), (2, 4.0), (2, 3.0)]
    means = np.array([total / 2 for _, total in sums])
    mean, margin = mean_by_seed(sums)
    assert mean == means.mean()
    assert margin == pytest.approx(stats.t.ppf(0.975, 3) * means.std(ddof=1) / sqrt(4))
    assert mean_by_seed([(2, 1.0)]) == (0.5, None)
    assert mean_by_seed([(2, 0.2), (2, 0.2 + 1e-16)])[1] == 0.0


BETS, PASSES = "scripted(actions=[bet,bet])", "scripted(actions=[pass,pass])"
CRASHES = """
class Crashes:
    def begin(self, game, player, rng, deadline):
        self.seen = []
    def observe(self, own_action, observation):
        self.seen.append(observation)
    def act(self, legal_actions, deadline):
        if "bet" in self.seen:
            raise RuntimeError("a raise")
        return "pass"
    def end(self, returns):
        pass
"""


def keeps_to(action: str) -> object:
    """An agent that stands in this process alone, so that no worker has to start."""

    class Keeps:
        name = action

        def begin(self, game, player, rng, deadline): ...
        def observe(self, own_action, observation): ...
        def act(self, legal_actions, deadline):
            return action

        def end(self, returns): ...

    return Keeps()


def test_the_order_of_a_known_field_is_that_of_exact_payoffs(tmp_path: Path) -> None:
    """The equilibrium, a bot that always bets, one that passes and crashes when it is bet at, one that always passes.

    What each expects of each is exact; the tournament's means lie within their intervals of it.
    """
    policy = infoset.solve(KUHN, "lp").policy
    equilibrium = f"policy(path='{policy.save(tmp_path / 'lp.json')}')"
    (tmp_path / "crashes.py").write_text(CRASHES)
    crashes = f"python:{tmp_path / 'crashes.py'}:Crashes"

    def chance(team: str, player: int, known: tuple, legal_actions: tuple) -> list[float]:
        if not legal_actions:
            return []
        if team == equilibrium:
            return policy.action_probabilities(player, known, legal_actions)
        bet = {BETS: 1.0, PASSES: 0.0, crashes: 0.5 * any("bet" in record for record in known)}[team]
        return [{"bet": bet, "pass": 1 - bet}[action] for action in legal_actions]

    teams = [PASSES, crashes, BETS, equilibrium]
    rules, exact = infoset.load(KUHN), {}
    for one, other in product(teams, teams):
        both = []
        for seats in ((one, other), (other, one)):
            rows = {
                p: lambda known, legal_actions, p=p, seats=seats: chance(seats[p], p, known, legal_actions)
                for p in range(2)
            }
            both.append(sum(weight * returns[seats.index(one)] for weight, _, returns in histories(rules, rows)))
        exact[one, other] = sum(both) / 2
    means = {one: sum(exact[one, other] for other in teams if other != one) / 3 for one in teams}
    order = tuple(sorted(teams, key=lambda team: -means[team]))

    played = tournament(KUHN, teams, games=200, workers=1, db=tmp_path / "t.db")
    assert (played.rank, played.ranking) == ("payoff", order)
    for found in played.payoffs:
        expected = exact[found.team, found.against] if found.against else means[found.team]
        assert abs(found.mean - expected) <= 1.5 * found.margin + 1e-9
        assert abs(found.played - expected) <= 1.5 * found.played_margin + 1e-9
    assert played.payoff(equilibrium).margin < 0.6 * played.payoff(equilibrium).played_margin
    assert (
        exact[equilibrium, BETS] > 0
        and played.payoff(equilibrium, BETS).mean > 0 > played.payoff(BETS, equilibrium).mean
    )
    by_wins = tournament(KUHN, teams, games=200, workers=1, db=tmp_path / "t.db", rank="wins")
    assert by_wins.fresh == 0 and by_wins.score(BETS) > by_wins.score(equilibrium)  # games won say something else
    again = read_record(tmp_path / "t.db").standings
    assert (again.rank, again.ranking, again.payoffs) == ("wins", by_wins.ranking, played.payoffs)


def test_both_seatings_of_two_teams_have_the_same_deals(tmp_path: Path) -> None:
    tournament("leduc_poker", ["random", "random", keeps_to("call")], games=4, db=tmp_path / "t.db")
    deals: dict[int, set] = {}
    for number in range(1, 13):
        match = load_replay(tmp_path / "t.db", number)
        cards = tuple(step.chance_outcome for step in match.steps if step.chance_outcome is not None)
        deals.setdefault(match.seed, set()).add(cards[:2])
    assert len(deals) == 2
    assert all(len(cards) == 1 for cards in deals.values())


def test_two_known_policies_leave_no_luck(tmp_path: Path) -> None:
    policy = infoset.solve(KUHN, "lp").policy
    name = f"policy(path='{policy.save(tmp_path / 'lp.json')}')"
    played = tournament(KUHN, [name, "random"], games=20, workers=1)
    value = play_twice(policy)
    assert played.payoff(name).mean == pytest.approx(value)
    assert played.payoff(name).margin == 0.0 < played.payoff(name).played_margin
    ticking = tournament(KUHN, [name, keeps_to("bet")], games=20, seconds_per_move=100.0)
    assert ticking.payoff(name).margin != 0.0  # with a clock a move may be another than the policy's


def play_twice(policy: TabularPolicy) -> float:
    """What it expects against uniform play in both seats, by all histories."""
    rules, total = infoset.load(KUHN), 0.0
    for seat in range(2):
        rows = {
            p: (
                lambda known, legal_actions, p=p: (
                    policy.action_probabilities(p, known, legal_actions) if legal_actions else []
                )
            )
            if p == seat
            else uniform
            for p in range(2)
        }
        total += sum(weight * returns[seat] for weight, _, returns in histories(rules, rows))
    return total / 2


def test_what_it_is_ranked_by_is_said_and_chosen(tmp_path: Path) -> None:
    teams, shared = [keeps_to("bet"), keeps_to("pass"), "random"], {"games": 20, "db": tmp_path / "t.db"}
    played = tournament(KUHN, teams, **shared)
    assert "ranked by mean payoff" in tournament_text(played) and "ranked by mean payoff" in tournament_svg(played)
    assert "+1 ± 0" in tournament_text(played)
    for rank, words in (("wins", "ranked by games won"), ("elo", "ranked by rating")):
        other: Standings = tournament(KUHN, teams, rank=rank, **shared)
        assert (other.rank, other.fresh) == (rank, 0)
        assert words in tournament_text(other) and words in tournament_svg(other)
        assert "20/0/0" in tournament_text(other)
    with pytest.raises(ParameterError, match="rank='best'; allowed: payoff, wins, elo"):
        tournament(KUHN, teams, rank="best")
    with pytest.raises(ParameterError, match="the format swiss ranks by its meetings"):
        tournament(KUHN, teams, format="swiss", rank="payoff")
    assert tournament("rock_paper_scissors", [keeps_to("Rock"), "random"], games=2).rank == "wins"
    assert tournament(KUHN, teams, format="swiss(rounds=1)").rank == "meetings"


def test_a_competition_names_what_it_ranks_by(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    text = f'game = "{KUHN}"\nteams = ["{BETS}", "{PASSES}"]\nformat = "round-robin(games=4)"\n'
    file.write_text(text + 'rank = "elo"\n')
    assert infoset.compete(file, workers=1).rank == "elo"


def test_three_players_rank_by_payoff_too() -> None:
    teams = [keeps_to("bet"), keeps_to("pass"), "random"]
    played = tournament("kuhn_poker(players=3)", teams, games=30)
    assert played.rank == "payoff"
    assert sum(played.payoff(team).mean for team in played.teams) == pytest.approx(0)
    every = tournament("kuhn_poker(players=3)", teams, format="free-for-all(games=30)")
    assert every.rank == "payoff" and every.ranking[-1] == "pass"


@pytest.mark.slow
def test_a_game_that_is_forfeited_pays_the_least_and_the_most(tmp_path: Path) -> None:
    """So that nobody gains by leaving a game that is being lost."""
    (tmp_path / "leaves.py").write_text(
        CRASHES.replace("Crashes", "Leaves").replace('raise RuntimeError("a raise")', "import os; os._exit(3)")
    )
    leaves = f"python:{tmp_path / 'leaves.py'}:Leaves"
    played = tournament(KUHN, [leaves, "random"], games=12, workers=1)
    gone = sum(fault.kind == "died" for fault in played.faults)
    assert 0 < gone < 12
    found = played.payoff(leaves)
    assert found.games == 12
    assert found.mean == -played.payoff("random").mean < 0


@pytest.mark.slow
def test_a_file_of_an_earlier_version_is_ranked_and_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    first = tournament(KUHN, [BETS, "random"], games=10, workers=1, db=file)
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE old AS SELECT number, seed, agents, returns, forfeit, replay FROM games")
        connection.execute("DROP TABLE games")
        connection.execute("ALTER TABLE old RENAME TO games")
        connection.execute("UPDATE tournament SET config = json_remove(config, '$.rank')")
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    old = read_record(file).standings
    assert (old.rank, old.table) == ("payoff", first.table)
    assert old.payoff(BETS).mean == first.payoff(BETS).played
    more = tournament(KUHN, [BETS, "random"], games=12, workers=1, db=file)
    assert (more.fresh, more.rank) == (2, "payoff")
    assert read_record(file).standings.payoffs == more.payoffs
    assert not np.isnan(more.payoff(BETS).mean or nan)


def test_a_match_is_paid_as_it_is_played() -> None:
    """What the tournament adjusts is kept beside what the game paid."""
    seed = 7
    match = play_match(KUHN, ["random", "random"], seed=seed)
    controls = Controls.of(infoset.load(KUHN), LUCK_REMOVED)
    adjusted = controls.adjust(match.steps, match.returns, match.agents)
    assert sum(adjusted) == pytest.approx(0)
