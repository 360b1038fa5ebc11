"""What holds for every relaxation of a team's game: the optimum never falls, and what is learnt is a policy of it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from extent import examples
from infoset import GameTree, SequenceForm, evaluate, load, solve, team_optimum
from infoset.errors import ParameterError, UnknownNameError
from infoset.solvers.teams.hidden_game import HiddenGame
from infoset.solvers.teams.information_relaxation import relaxed_optimum
from infoset.solvers.teams.progressive_hiding import progressive_hiding, regret_matching
from infoset.tree.information import RELAXATIONS, custom, recall
from random_games import RandomGame, RandomState

TRADE = "trade_comm(items=2,messages=2)"
HANABI = [f"tiny_hanabi(game={letter})" for letter in "ABCDEF"]
MOST_POLICIES = 20_000


@cache
def tree(name: str) -> GameTree:
    return GameTree.of(load(name))


class CommonState(RandomState):
    def returns(self) -> tuple[float, ...]:
        return (float(self.noise("pays") % 7 - 3),) * self.game.num_players


def optimum(game: HiddenGame) -> float | None:
    """The optimum of a team on its relaxed map: backward induction, or all pure policies; ``None`` if these are many.

    A set occurs at most once in a history, so the payoff is linear in each of its rows and a pure policy is optimal.
    """
    if game.relaxed[0].recall_violation() is None:
        return relaxed_optimum(game)
    a = game.arrays
    sizes = np.diff(a.relaxed_first)
    if np.prod(sizes.astype(float)) > MOST_POLICIES:
        return None
    best = -np.inf
    for actions in np.ndindex(*sizes):
        reach = a.weight.copy()
        for v in range(1, len(reach)):
            above = a.parent[v]
            chosen = a.relaxed[above] < 0 or actions[a.relaxed[above]] == v - a.first_child[above]
            reach[v] *= reach[above] * chosen
        best = max(best, float(reach @ a.payoff[0]))
    return best


def check_no_relaxation_lowers(small: GameTree, hidden: float) -> int:
    """Compare the optimum on every relaxed map with that of the rules; return the number of comparisons."""
    compared = 0
    for name, relax in RELAXATIONS.items():
        found = optimum(HiddenGame.of(small, relax))
        if found is not None:
            compared += 1
            assert found >= hidden - 1e-9, name
            if name == "true":
                assert found == pytest.approx(hidden, abs=1e-9)
    return compared


@pytest.mark.parametrize(("name", "compared"), [*[(name, len(RELAXATIONS)) for name in HANABI], (TRADE, 2)])
def test_no_relaxation_lowers_the_optimum(name: str, compared: int) -> None:
    """In Trade Comm only ``recall`` and ``perfect`` have perfect recall, and the others too many policies to try."""
    assert check_no_relaxation_lowers(tree(name), team_optimum(tree(name)).value) == compared


@examples(40)
@given(seed=some.integers(0, 10**6))
def test_no_relaxation_lowers_the_optimum_of_random_games(seed: int) -> None:
    small = GameTree.of(RandomGame(seed, 2, 2, CommonState))
    assert check_no_relaxation_lowers(small, team_optimum(small, "milp").value) >= 2


@pytest.mark.parametrize("relax", RELAXATIONS)
@pytest.mark.parametrize("name", [*HANABI, TRADE])
def test_what_is_learnt_uses_only_what_the_players_know(name: str, relax: str) -> None:
    """The result is a policy of the original game, worth there what is reported, and at most the optimum."""
    game, form = HiddenGame.of(tree(name), RELAXATIONS[relax]), SequenceForm.of(tree(name))
    found = progressive_hiding(game, 0.3, regret_matching(), iterations=40, runs=3, seed=7)
    for kind, payoffs in (("best", found.best), ("last", found.last), ("mean", found.mean)):
        policy = found.policy(kind)
        for infoset, player in enumerate(tree(name).infoset_player.tolist()):
            row = policy.probabilities(player, tree(name).key(infoset))
            assert sum(row.values()) == pytest.approx(1)
            assert min(row.values()) >= 0
        value = evaluate(form, policy.plan(form)).values[0]
        assert value == pytest.approx(payoffs.max(), abs=1e-12)
        assert value <= team_optimum(tree(name)).value + 1e-9


@pytest.mark.parametrize("name", [*HANABI, TRADE])
def test_without_parameters_a_setting_is_chosen(name: str) -> None:
    """As good as the optimum on these games; what is reported is what the policy earns."""
    found, form = solve(name, "progressive-hiding", seed=3), SequenceForm.of(tree(name))
    best = team_optimum(tree(name)).value
    assert found.values[0] == pytest.approx(best, abs=1e-3 * best)
    assert evaluate(form, found.policy.plan(form)).values[0] == pytest.approx(found.values[0], abs=1e-9)
    means = found.notes["settings"]
    assert found.notes["chosen"] == next(iter(means))
    again = solve(name, found.notes["chosen"], seed=3)
    assert again.values[0] <= best + 1e-9


def test_what_is_no_relaxation_is_refused() -> None:
    """A wrong name, a key that merges unlike decisions, what is no map at all, and a map of other players or trees."""
    small = tree(TRADE)
    with pytest.raises(UnknownNameError, match="unknown relaxation 'recal'"):
        solve(TRADE, "progressive-hiding(relax=recal)")
    with pytest.raises(ParameterError, match="map 'blank'"):
        HiddenGame.of(small, lambda found, players: custom(found, "blank", players, lambda node: 0))
    for relax in (
        lambda found, players: None,
        lambda found, players: recall(found, (0,)),
        lambda found, players: recall(tree(HANABI[0]), players),
    ):
        with pytest.raises(ParameterError, match=r"it made no information map of the players \(0, 1\) of trade_comm"):
            HiddenGame.of(small, relax)


def test_overlapping_teams_are_refused() -> None:
    with pytest.raises(ParameterError, match="occurs in it twice"):
        solve(TRADE, "progressive-hiding", teams="P1+P2,P2")
