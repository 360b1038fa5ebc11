"""Numbers of iterations, games and the like: integers within bounds, wherever they are taken."""

import re
from functools import cache, partial

import pytest

from infoset import (
    HiddenGame,
    SequenceForm,
    anneal,
    information_relaxation,
    load,
    load_agent,
    play_series,
    progressive_hiding,
    solve,
)  # fmt: skip
from infoset.arena.tournament import tournament
from infoset.errors import ParameterError
from infoset.gdl.playouts import random_playouts
from infoset.search.agent import Search
from infoset.search.subgame_solver import Effort
from infoset.solvers.sampling.mccfr import Mccfr
from infoset.solvers.sampling.outcome_sampling import OutcomeMccfr
from infoset.solvers.sampling.pooled_mccfr import PooledMccfr
from infoset.solvers.sampling.sampled_response import SampledResponse
from infoset.testing import check_game
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import explore
from infoset.tree.quotient_graph import QuotientGraph
from infoset_pommerman.config import CONFIGS
from infoset_pommerman.vec import PommermanVec

COUNTS = {
    "iterations": [
        lambda count: solve("kuhn_poker", iterations=count),
        lambda count: progressive_hiding(team_game(), iterations=count),
        lambda count: information_relaxation(team_game(), 2.0, iterations=count),
        lambda count: Mccfr(kuhn_walk()).step(count),
        lambda count: OutcomeMccfr(kuhn_walk()).run(count, 1.0),
        lambda count: PooledMccfr(partial(Mccfr, kuhn_walk())).step(count),
        lambda count: SampledResponse(kuhn_walk(), 0).step(count),
        lambda count: Search(iterations=count),
        lambda count: Effort(iterations=count),
    ],
    "games": [lambda count: play_series("kuhn_poker", ["random"] * 2, games=count),
              lambda count: tournament("kuhn_poker", ["random", "random"], games=count)],
    "plays": [lambda count: check_game(load("kuhn_poker"), count),
              lambda count: random_playouts(load("gdl:meier"), count)],
    "runs": [lambda count: anneal(SequenceForm.of(load("trade_comm")), runs=count), lambda count: PooledMccfr(partial(Mccfr, kuhn_walk()), 0, count)],
    "num_envs": [lambda count: PommermanVec(count, CONFIGS["OneVsOne-v0"])],
}  # fmt: skip


@cache
def kuhn_walk() -> QuotientGraph:
    return QuotientGraph.of(explore(load("kuhn_poker")))


@cache
def team_game() -> HiddenGame:
    return HiddenGame.of(GameTree.of(load("cooperative_matching_pennies")))


@pytest.mark.parametrize("count", [1e23, 10**23, 2.0, True, float("nan"), float("inf"), -1])
@pytest.mark.parametrize("name", COUNTS)
def test_what_is_no_count_is_refused_wherever_counts_are_taken(name: str, count: float) -> None:
    for take in COUNTS[name]:
        with pytest.raises(
            ParameterError,
            match=f"{name}={re.escape(str(count))} is (not an integer|out of range|not allowed); allowed: ",
        ):
            take(count)


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("search(iterations=1e23)", r"search: iterations=1e\+23 is not an integer \(default 0\)"),
        (f"search(iterations={10**23})", "iterations=1(0){23} is out of range; allowed: 0 to 2147483648"),
        ("search(iterations=-1)", "iterations=-1 is out of range"),
        ("hakozaki(budget=1e23)", "budget=1e"),
    ],
)
def test_agents_counts_have_bounds(agent: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        load_agent(agent)


def test_a_chance_to_explore_has_bounds() -> None:
    for explore_share in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(ParameterError, match=r"explore=.*; allowed: from more than 0 to 1"):
            Mccfr(kuhn_walk(), explore=explore_share)
