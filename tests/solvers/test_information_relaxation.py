"""Algorithm 1 of progressive hiding: a criterion that never falls, a bound that always holds, a slow twin."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from extent import examples
from infoset import SequenceForm, evaluate, information_relaxation, load, team_optimum
from infoset.errors import ImperfectRecallError, ParameterError
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.teams.hidden_game import NOBODY, HiddenGame
from infoset.solvers.teams.information_relaxation import ascend, relaxed_optimum
from infoset.tree.game_tree import GameTree
from infoset.tree.information import RELAXATIONS, custom, perfect, recall, true_map
from random_games import RandomGame

TRADE = "trade_comm(items=2,messages=2)"


@cache
def tree(name: str) -> GameTree:
    return GameTree.of(load(name))


class Twin:
    """The criterion and the proximal step by plain sums over the nodes."""

    def __init__(self, game: HiddenGame, seed: int) -> None:
        self.a, self.rng = game.arrays, np.random.default_rng(seed)
        self.policy = self.random()
        self.weights = self.reach(np.concatenate([np.full(n, 1.0 / n) for n in np.diff(self.a.relaxed_first)]))

    def random(self) -> np.ndarray:
        sizes = np.diff(self.a.relaxed_first)
        return np.concatenate([self.rng.dirichlet(np.ones(n)) for n in sizes])

    def row(self, policy: np.ndarray, v: int) -> np.ndarray:
        first = self.a.relaxed_first[self.a.relaxed[v]]
        return policy[first : first + self.a.first_child[v + 1] - self.a.first_child[v]]

    def reach(self, policy: np.ndarray) -> np.ndarray:
        reach = np.ones(len(self.a.parent))
        for v in range(1, len(reach)):
            above = self.a.parent[v]
            step = self.a.weight[v]
            if self.a.team[above] != NOBODY:
                step = self.row(policy, above)[v - self.a.first_child[above]]
            reach[v] = reach[above] * step
        return reach

    def payoff(self, policy: np.ndarray) -> float:
        return float(self.reach(policy) @ self.a.payoff[0])

    def surrogate(self, policy: np.ndarray, anchor: np.ndarray, penalty: float) -> float:
        """``E[r] - penalty · ‖μ - y‖²``; ``anchor`` (N, moves) is y."""
        far = sum(
            self.weights[v] * ((self.row(policy, v) - anchor[v][: len(self.row(policy, v))]) ** 2).sum()
            for v in np.flatnonzero(self.a.team != NOBODY)
        )
        return self.payoff(policy) - penalty * float(far)

    def projection(self, policy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Proj(μ) as moves of true sets (C,) and at every node."""
        flat, at = np.zeros(int(self.a.true_first[-1])), np.zeros((len(self.a.parent), 9))
        for k in range(len(self.a.true_first) - 1):
            nodes = np.flatnonzero(self.a.true == k)
            rows = np.array([self.row(policy, v) for v in nodes])
            mean = self.weights[nodes] @ rows / self.weights[nodes].sum()
            flat[self.a.true_first[k] : self.a.true_first[k + 1]] = mean
            at[nodes, : len(mean)] = mean
        return flat, at


@examples(25)
@given(
    seed=some.integers(0, 10**6),
    name=some.sampled_from([TRADE, "tiny_hanabi(game=C)", "cooperative_matching_pennies"]),
    relax=some.sampled_from(["true", "recall", "cheat", "perfect"]),
    penalty=some.sampled_from([0.0, 0.1, 1.0, 20.0]),
)
def test_theorem_1(seed: int, name: str, relax: str, penalty: float) -> None:
    """The criterion never falls, and Proposition 3's bound holds for every projection."""
    game = HiddenGame.of(tree(name), RELAXATIONS[relax])
    found = information_relaxation(game, penalty, iterations=15, runs=2, seed=seed)
    scale = np.ptp(game.arrays.payoff)
    assert np.diff(found.criteria, axis=1).min() >= -1e-12 * scale
    assert (found.bound is None) == (game.relaxed[0].recall_violation() is not None)
    if found.bound is not None:
        assert found.payoffs.max() <= found.bound + 1e-12 * scale
        assert team_optimum(tree(name)).value <= found.bound + 1e-9


@examples(20)
@given(seed=some.integers(0, 10**6), penalty=some.sampled_from([0.05, 0.7, 3.0]))
def test_a_step_against_the_slow_twin(seed: int, penalty: float) -> None:
    """Each stage in turn, the last first, gets the best policy that there is: no random change of a set is better."""
    game = HiddenGame.of(tree(TRADE), recall)
    a, twin = game.arrays, Twin(game, seed)
    flat, at = twin.projection(twin.policy)
    before = twin.surrogate(twin.policy, at, penalty)
    found = information_relaxation(game, penalty, iterations=1, seed=seed)
    first = Twin(game, 0)
    first.policy = np.random.default_rng((seed, 0)).exponential(size=len(twin.policy))
    first.policy /= np.repeat(np.add.reduceat(first.policy, a.relaxed_first[:-1]), np.diff(a.relaxed_first))
    _, there = first.projection(first.policy)
    assert found.criteria[0, 0] == pytest.approx(first.surrogate(first.policy, there, penalty))
    policy = twin.policy.copy()
    step(game, policy, flat, twin, penalty)
    after = twin.surrogate(policy, at, penalty)
    assert after >= before - 1e-12
    earliest = [a.relaxed[v] for v in np.flatnonzero(a.relaxed >= 0) if len(game.tree.history(int(v))) == 1]
    for g in set(earliest):  # the stage that is done last is the best reply to all others
        other = policy.copy()
        other[a.relaxed_first[g] : a.relaxed_first[g + 1]] = twin.rng.dirichlet(np.ones(2))
        assert twin.surrogate(other, at, penalty) <= after + 1e-12


def step(game: HiddenGame, policy: np.ndarray, projected: np.ndarray, twin: Twin, penalty: float) -> None:
    """One proximal step in place."""
    from infoset.solvers.teams.information_relaxation import _stages

    a, stages = game.arrays, _stages(game)
    ascend(
        a, stages.of_set, stages.nodes, stages.first, policy, projected, twin.weights, penalty, twin.reach(policy),
        np.zeros(len(a.parent)), np.zeros(len(policy)), np.zeros(len(a.relaxed_first) + len(a.true_first)),
    )  # fmt: skip


@examples(20)
@given(seed=some.integers(0, 10**6))
def test_without_a_penalty_it_is_a_best_response(seed: int) -> None:
    """A player alone against fixed others, on its own map: backward induction is the best response."""
    small = GameTree.of(RandomGame(seed, 2, 2))
    form = SequenceForm.of(small)
    others = TabularPolicy.uniform(form)
    best = evaluate(form, others.plan(form)).best_response_values
    for player in range(2):
        game = HiddenGame.of(small, true_map, teams=[(player,)], others=others)
        assert relaxed_optimum(game) == pytest.approx(best[player], abs=1e-12)


def test_bounds_that_are_known() -> None:
    """Tiny Bridge with all cards open is worth 21.317460 (tabular.md 1.3); Trade Comm with perfect recall 1."""
    assert relaxed_optimum(HiddenGame.of(tree("tiny_bridge"), perfect)) == pytest.approx(21.317460, abs=1e-6)
    assert relaxed_optimum(HiddenGame.of(tree("trade_comm"), recall)) == pytest.approx(1.0)


def test_it_finds_optima_of_small_games() -> None:
    found = information_relaxation(HiddenGame.of(tree(TRADE), recall), 5.0, runs=30, seed=1)
    assert found.best.max() == pytest.approx(1.0, abs=1e-4)
    form = SequenceForm.of(tree(TRADE))
    assert evaluate(form, found.policy().plan(form)).values[0] == pytest.approx(found.best.max())
    found = information_relaxation(HiddenGame.of(tree("tiny_hanabi(game=A)"), recall), 0.2, runs=10, seed=1)
    assert found.best == pytest.approx(np.full(10, 2.25), abs=1e-6)


def test_bad_input() -> None:
    game = HiddenGame.of(tree(TRADE), recall)
    with pytest.raises(ParameterError, match="penalty=-1"):
        information_relaxation(game, -1)
    with pytest.raises(ParameterError, match="iterations=0"):
        information_relaxation(game, iterations=0)
    two = HiddenGame.of(tree("kuhn_poker"), true_map, teams=[(0,), (1,)])
    with pytest.raises(ParameterError, match="the best response of one team"):
        information_relaxation(two)
    forgets = HiddenGame.of(tree(TRADE), true_map)
    with pytest.raises(ImperfectRecallError, match="no perfect recall"):
        relaxed_optimum(forgets)
    game = HiddenGame.of(
        tree("kuhn_poker"), lambda found, players: custom(found, "blind", players, lambda node: 0), teams=[(0,)],
        others=TabularPolicy.uniform(SequenceForm.of(tree("kuhn_poker"))),
    )  # fmt: skip
    with pytest.raises(ImperfectRecallError, match="'blind' of kuhn_poker does not count the team's decisions"):
        information_relaxation(game)
