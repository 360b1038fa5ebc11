"""Teams that agree on plans: values beside brute force, proofs, files, matches."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import infoset
from extent import examples, mark_slow
from infoset import SequenceForm, TabularPolicy, evaluate, load, play_match, play_series, solve
from infoset.compiled import Compiled
from infoset.errors import CheckpointError, ParameterError, PolicyError, UnknownNameError, UnsupportedGameError
from infoset.match.agents import PolicyAgent, common_stream, load_agents
from infoset.policies.correlated_policy import CorrelatedPolicy, Lottery
from infoset.policies.loading import load_policy
from infoset.remote.calls import generator, stream_of
from infoset.remote.http import SEED_BITS, Begin
from infoset.solvers.teams import coordination
from infoset.solvers.teams.coordination import Team
from infoset.solvers.teams.team_maxmin import DoubleOracle, read_teams
from infoset.tree.normal_form import normal_form
from random_games import RandomGame

KUHN = "kuhn_poker(players=3)"
SMALL = [1, 2, 4, 5, 6, 7, 8, 12, 14]
"""Random games with few plans."""


def pure_plans(form: SequenceForm, player: int) -> list[np.ndarray]:
    """Every reduced pure plan of a player as realisation weights (S,)."""
    plans, own = normal_form(form).plans[player], form.player_sequences(player)
    found = np.zeros((len(plans), form.num_sequences))
    found[:, own] = plans
    return list(found)


def brute_force(form: SequenceForm, teams: tuple[tuple[int, ...], ...]) -> float:
    """The value of the matrix game between all combinations of pure plans."""
    ends, payoffs = form.terminals()
    sides = []
    for members in teams:
        plans = [pure_plans(form, player) for player in members]
        sides.append(
            np.array(
                [np.prod([p[ends[:, m]] for m, p in zip(members, one, strict=True)], axis=0) for one in product(*plans)]
            )
        )
    matrix = (sides[0] * payoffs[:, list(teams[0])].sum(axis=1)) @ sides[1].T
    rows, columns = matrix.shape
    found = linprog(
        np.append(np.zeros(rows), -1.0), A_ub=np.hstack([-matrix.T, np.ones((columns, 1))]), b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None], b_eq=[1.0], bounds=[(0, None)] * rows + [(None, None)],
    )  # fmt: skip
    return float(-found.fun)


def table(seed: int, players: int, actions: int, start: int = 0) -> str:
    """A random table of payoffs that add up to nothing, in a file."""
    rng = np.random.default_rng(seed)
    payoffs = rng.integers(-4, 5, size=(*[actions] * players, players)).astype(float)
    payoffs[..., -1] = -payoffs[..., :-1].sum(axis=-1)
    return infoset.table_game(*np.moveaxis(payoffs, -1, 0))


@pytest.mark.parametrize("teams", ["1+2", "1+3", "2+3"])
def test_kuhn_for_three_is_proved(teams: str) -> None:
    """Its plans are too many to list: the proof is the program's, and the evaluation's of what was found."""
    found = solve(KUHN, "team-maxmin", teams=teams)
    assert found.stopped == "exact"
    assert found.nash_conv <= 1e-12
    assert sum(found.values) == pytest.approx(0.0, abs=1e-12)
    again = evaluate(KUHN, found.policy)
    assert again.values == pytest.approx(found.values, abs=1e-12)
    assert again.nash_conv <= 1e-12


def test_the_first_two_of_kuhn_lose_a_twenty_fourth() -> None:
    found = solve(KUHN, teams="P1+P2")
    assert found.method == "team-maxmin"
    assert found.values[2] == pytest.approx(1 / 24, abs=1e-12)


@examples(25)
@given(seed=st.integers(0, 10_000), shape=st.sampled_from([(3, 2), (3, 3), (4, 2)]))
def test_tables_beside_brute_force(seed: int, shape: tuple[int, int]) -> None:
    players, actions = shape
    form = SequenceForm.of(table(seed, players, actions))
    for text in ("1+2", "1+3") if players == 3 else ("1+2,3+4", "1+4,2+3", "1,2+3+4"):
        teams = read_teams(text, form.players)
        work = DoubleOracle(form, teams, seed)
        work.step(1000)
        assert work.done
        low, high = work.bounds
        assert high - low <= 1e-9
        assert low == pytest.approx(brute_force(form, teams), abs=1e-8)


@pytest.mark.parametrize("seed", SMALL)
def test_the_best_plan_of_a_team_beside_all_of_them(seed: int) -> None:
    """Random trees with chance, hidden and simultaneous moves, against ends that are worth anything."""
    form = SequenceForm.of(RandomGame(seed, num_players=3, depth=3))
    members = (0, 1) if seed % 2 else (0, 1, 2)
    team = Team.of(form, members)
    others = np.random.default_rng(seed).random(len(team.ends))
    plans = [pure_plans(form, player) for player in members]
    values = [float(team.paid @ (others * team.played(sum(one)))) for one in product(*plans)]
    best = team.best(others)
    assert best.value == pytest.approx(max(values), abs=1e-9)
    assert best.bound >= max(values) - 1e-9
    local = team.improved(others, team.any_plan(np.random.default_rng(1)))
    assert local.value <= best.value + 1e-9
    assert team.paid @ (others * team.played(local.plan)) == pytest.approx(local.value, abs=1e-12)


@pytest.mark.parametrize("teams", mark_slow(["1+2", "1+3", "2+3"], {"1+2", "1+3"}))
def test_eight_cards_are_proved(teams: str) -> None:
    found = solve("kuhn_poker(players=3,cards=8)", "team-maxmin", teams=teams)
    assert found.nash_conv <= 1e-9
    assert found.notes["at_most"] - found.notes["at_least"] <= 1e-9


def test_two_against_two_and_alone() -> None:
    four = solve("kuhn_poker(players=4)", "team-maxmin", teams="1+3,2+4")
    assert four.nash_conv <= 1e-9
    assert set(four.notes["plans"]) == {"P1+P3", "P2+P4"}
    assert solve("kuhn_poker", "team-maxmin", teams="1,2").values[0] == pytest.approx(-1 / 18, abs=1e-9)


def test_members_draw_the_same_plan(tmp_path: Path) -> None:
    """Two who guess each other's coin: matched by a draw that both know, against one who has to guess both."""
    coins = np.array([[[1.0, -1.0], [-1.0, -1.0]], [[-1.0, -1.0], [-1.0, 1.0]]])
    game = infoset.table_game(coins, coins, -2 * coins)
    found = solve(game, teams="1+2")
    assert found.values[:2] == pytest.approx((0.0, 0.0), abs=1e-12)
    file = str(found.policy.save(tmp_path / "coins.npz"))
    agents = [PolicyAgent(load_policy(file), f"agent {k}") for k in range(3)]
    actions = set()
    for seed in range(60):
        match = play_match(game, agents, seed=seed)
        actions.add(match.steps[0].actions[:2])
    assert {a == b for a, b in actions} == {True}
    assert len(actions) == 2
    apart = evaluate(game, infoset.evaluation.tabulated(game, found.policy))
    assert apart.values[0] == pytest.approx(-0.5, abs=1e-12)


def test_members_in_other_processes_draw_the_same_plan(tmp_path: Path) -> None:
    """Both always pass, or both always bet."""
    found = solve(KUHN, teams="1+2").policy
    actions = found.lotteries[0].plans.shape[1] // 2
    plans = np.array([np.tile([1.0, 0.0], actions), np.tile([0.0, 1.0], actions)])
    status = replace(found.lotteries[0], probabilities=np.array([0.5, 0.5]), plans=plans)
    file = replace(found, lotteries=(status, found.lotteries[1])).save(tmp_path / "signs.npz")
    agents = load_agents([f"isolated(agent=policy(path={file}))"] * 2 + [str(file)])
    met = set()
    for seed in range(12):
        match = play_match(KUHN, agents, seed=seed)
        assert not match.faults
        met.add(frozenset(action for step in match.steps for action in step.actions[:2] if action is not None))
    assert met == {frozenset({"bet"}), frozenset({"pass"})}


def test_what_agents_elsewhere_are_told_to_share() -> None:
    """The same for all seats of a game, by either way there; another one in another game."""
    shared = []
    for seed, player in ((1, 0), (1, 1), (2, 0)):
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(2 + player,))))
        assert common_stream(generator(stream_of(rng))).random() == common_stream(rng).random()
        common = int(common_stream(rng).integers(SEED_BITS))
        asked = Begin("", "", player, int(rng.integers(SEED_BITS)), None, common=common)
        shared.append((common_stream(asked.rng).random(), asked.rng.random()))
    (one, mine), (two, yours), (other, _) = shared
    assert one == two != other
    assert mine != yours


def test_members_without_a_choice() -> None:
    """Nothing of theirs is 0 or 1; the rest is a player alone."""
    table = np.array([[[1.0, 2.0], [-1.0, 0.0]]])
    game = infoset.table_game(table, -table, 0 * table)
    found = solve(game, teams="1+3")
    assert found.stopped == "exact"
    assert found.nash_conv < 1e-9
    assert sum(found.values) == pytest.approx(0.0, abs=1e-12)
    assert evaluate(game, found.policy).nash_conv < 1e-9


def test_players_whose_names_are_numbers() -> None:
    assert read_teams("1+2", ("1", "2", "3")) == ((0, 1), (2,))
    with pytest.raises(UnknownNameError, match="known: 1, 2, 3"):
        read_teams("0+1", ("1", "2", "3"))


def test_everybody_in_one_team() -> None:
    with pytest.raises(ParameterError, match="all players are in one team; name two teams, such as P1,P2"):
        solve(KUHN, teams="1+2+3", seconds=1.0)


@pytest.mark.slow
def test_a_target_is_proved() -> None:
    """Of the lotteries that are returned, not of others before them."""
    game = "kuhn_poker(players=3,cards=8)"
    found = solve(game, "team-maxmin", teams="1+2", target=0.005)
    assert found.stopped == "target"
    assert found.exploitability <= 0.005
    again = evaluate(game, found.policy)
    assert again.exploitability == pytest.approx(found.exploitability, abs=1e-9)
    assert again.values == pytest.approx(found.values, abs=1e-12)


def test_stopped_before_a_proof() -> None:
    """The payoffs are known, what is left to gain is not; nothing is begun that lasts."""
    found = solve("kuhn_poker(players=3,cards=8)", "team-maxmin", teams="1+2", iterations=2)
    assert found.exploitability is None
    assert "proved" in found.why_not
    assert sum(found.values) == pytest.approx(0.0, abs=1e-9)
    assert "–" in evaluate(KUHN, solve(KUHN, teams="1+2").policy)._repr_html_()


def test_what_is_played_is_what_was_found(tmp_path: Path) -> None:
    found = solve(KUHN, teams="1+2", out=tmp_path / "run")
    series = play_series(KUHN, [str(tmp_path / "run")] * 3, games=2000, seed=3)
    for player, score in enumerate(series.agents):
        assert abs(score.mean - found.values[player]) <= 2 * score.interval
    again = evaluate(KUHN, str(tmp_path / "run"))
    assert again.values == pytest.approx(found.values, abs=1e-12)


def test_runs_resume_bit_for_bit(tmp_path: Path) -> None:
    game = "kuhn_poker(players=3,cards=6)"
    whole = solve(game, "team-maxmin", teams="1+3", seed=5, out=tmp_path / "whole")
    solve(game, "team-maxmin", teams="1+3", seed=5, iterations=6, out=tmp_path / "cut")
    more = solve(out=tmp_path / "cut", resume=True, iterations=1000)
    assert (more.stopped, more.values, more.iterations) == (whole.stopped, whole.values, whole.iterations)
    with pytest.raises(CheckpointError, match=r"teams 1\+3, not 1\+2"):
        solve(out=tmp_path / "cut", resume=True, teams="1+2")
    work = DoubleOracle(SequenceForm.of(load(KUHN)), ((0, 1), (2,)), 0)
    with pytest.raises(CheckpointError):
        work.restore({"plans0": np.zeros((2, 3))})


def test_a_policy_keeps_what_it_says(tmp_path: Path) -> None:
    policy = solve(KUHN, teams="1+2").policy
    again = load_policy(policy.save(tmp_path / "plans.npz"))
    assert isinstance(again, CorrelatedPolicy)
    for mine, theirs in zip(policy.lotteries, again.lotteries, strict=True):
        assert mine.members == theirs.members
        assert np.array_equal(mine.plans, theirs.plans)
        assert np.array_equal(mine.probabilities, theirs.probabilities)
    with pytest.raises(PolicyError, match=r"allowed: \.npz"):
        policy.save(tmp_path / "plans.json")
    with pytest.raises(PolicyError, match="kuhn_poker has"):
        policy.on(Compiled.of("kuhn_poker"))


def test_chances_as_others_see_them() -> None:
    """A player's row at a set is that of its own plan: the mixture of realisation weights, in behaviour."""
    form = SequenceForm.of(load(KUHN))
    policy = solve(KUHN, teams="1+2").policy
    lottery = policy.lotteries[0]
    mixed = sum(chance * policy.table([k, 0]).plan(form) for k, chance in enumerate(lottery.probabilities.tolist()))
    table = infoset.evaluation.tabulated(KUHN, policy)
    own = form.player_sequences(0)
    assert table.plan(form)[own] == pytest.approx(mixed[own], abs=1e-12)
    assert isinstance(table, TabularPolicy)


def test_bad_input() -> None:
    with pytest.raises(UnknownNameError, match="'P9'"):
        solve(KUHN, "team-maxmin", teams="P1+P9")
    with pytest.raises(ParameterError, match="P1 occurs in it twice"):
        solve(KUHN, "team-maxmin", teams="1+2,1+3")
    with pytest.raises(UnsupportedGameError, match="3 teams; team-maxmin is for two"):
        solve(KUHN, "team-maxmin", teams="1,2,3")
    with pytest.raises(UnsupportedGameError, match="the sum of payoffs is not constant"):
        solve("matching_pennies_3p", "team-maxmin", teams="1+2")
    with pytest.raises(ParameterError, match="declares no teams"):
        solve(KUHN, "team-maxmin")
    with pytest.raises(ParameterError, match="respond"):
        evaluate(KUHN, solve(KUHN, teams="1+2").policy, respond=True)


def test_too_many_tuples_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordination, "MOST_TUPLES", 100)
    with pytest.raises(infoset.errors.BudgetError, match="more than 100 tuples"):
        solve(KUHN, "team-maxmin", teams="1+2")
    assert solve(KUHN, teams="1+2", iterations=3).method == "belief-dag"


def test_lotteries_that_are_none() -> None:
    keys, actions = (("J",), ("J",)), ((("l", "r"),), (("l", "r"),))
    good = Lottery((0, 1), np.array([1.0]), np.array([[1.0, 0.0, 0.5, 0.5]]))
    assert CorrelatedPolicy("", ("A", "B"), keys, actions, (good,)).lotteries == (good,)
    for bad in (
        (Lottery((0,), np.array([1.0]), np.array([[1.0, 0.0]])),),
        (Lottery((0, 1), np.array([0.5]), good.plans),),
        (Lottery((0, 1), np.array([1.0]), np.array([[1.0, 1.0, 0.5, 0.5]])),),
        (Lottery((0, 1), np.array([1.0]), np.array([[1.5, -0.5, 0.5, 0.5]])),),
        (Lottery((0, 1), np.array([1.0]), np.array([[1.0, 0.0]])),),
    ):
        with pytest.raises(PolicyError):
            CorrelatedPolicy("", ("A", "B"), keys, actions, bad)
