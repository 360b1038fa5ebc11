"""The tree and the sequence form against a slow twin that follows the definitions, on random games."""

from math import prod
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SMALL_GAMES, form_of
from extent import examples
from infoset import Ended, GameTree, NativeState, Observed, SequenceForm, evaluate, load
from infoset.errors import BudgetError
from infoset.names import information_key
from infoset.solvers.metrics import best_response
from infoset.testing import check_game
from infoset.tree.plans import random_interior, realisation
from random_games import RandomGame, action_sets, all_ends, best_value, value

GAMES = st.builds(RandomGame, st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3), st.none())


def behaviour_tables(form: SequenceForm, strategy: np.ndarray, ends: list) -> list[dict]:
    """The strategy as the twin wants it: by information state and move."""
    tables = []
    for player in range(form.num_players):
        rows = {}
        by_key = {form.keys[k]: k for k in form.player_infosets(player)}
        for infoset, actions in action_sets(ends, player).items():
            k = by_key[information_key(infoset)]
            first = int(form.arrays.first[k])
            rows[infoset] = {m: strategy[first + form.actions[k].index(str(m))] for m in actions}
        tables.append(rows)
    return tables


@examples(60)
@given(GAMES)
def test_random_games_equal_the_twin(game: RandomGame) -> None:
    ends = list(all_ends(game))
    tree = GameTree.of(game)
    form = SequenceForm.of(tree)
    assert form.num_terminals == len(ends)
    assert form.num_infosets == sum(len(action_sets(ends, p)) for p in range(game.num_players))
    strategy = random_interior(form, seed=game.seed)
    tables = behaviour_tables(form, strategy, ends)
    found = evaluate(form, realisation(form, strategy))
    assert found.values == pytest.approx(value(ends, tables), abs=1e-12)
    for player in range(game.num_players):
        if prod(len(m) for m in action_sets(ends, player).values()) * len(ends) <= 2000:
            assert found.best_response_values[player] == pytest.approx(best_value(ends, tables, player), abs=1e-12)


@examples(30)
@given(GAMES)
def test_random_games_conform(game: RandomGame) -> None:
    check_game(game, plays=5)


@examples(30)
@given(GAMES)
def test_a_best_response_attains_its_value(game: RandomGame) -> None:
    form = SequenceForm.of(game)
    plan = realisation(form, random_interior(form, seed=1))
    best = evaluate(form, plan).best_response_values
    for player in range(form.num_players):
        attained = evaluate(form, best_response(form, plan, player)).values[player]
        assert attained == pytest.approx(best[player], abs=1e-12)


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_structure(name: str) -> None:
    """Parents come first, sequences are contiguous, terminal rows are distinct and pay something."""
    form, a = form_of(name), form_of(name).arrays
    for player in range(form.num_players):
        own, sequences = form.player_infosets(player), form.player_sequences(player)
        assert sequences.stop - sequences.start == 1 + int(a.size[own.start : own.stop].sum())
        for k in own:
            assert sequences.start <= a.parent[k] < a.first[k] < sequences.stop
            assert a.size[k] >= 2
    rows, payoffs = form.terminals()
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert (payoffs != 0).any(axis=1).all()
    assert form.arrays.payoffs.sum(axis=1) == pytest.approx(payoffs.sum(axis=0))


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_tree_arrays(name: str) -> None:
    tree = GameTree.of(load(name))
    nodes = np.arange(1, len(tree.parent))
    assert (tree.parent[1:] < nodes).all()
    assert (tree.first_child[tree.parent[1:]] <= nodes).all()
    assert (nodes < tree.first_child[tree.parent[1:] + 1]).all()
    assert tree.first_child[-1] == len(tree.parent)
    assert tree.graph.count_histories() == len(tree.parent)


def test_the_size_of_what_is_kept() -> None:
    """At most 48 bytes a terminal for a two-player game of some size."""
    form = form_of("liars_dice(dice_sides=5)")
    assert form.nbytes / form.num_terminals <= 48
    assert GameTree.of(load("liars_dice(dice_sides=5)")).nbytes / form.num_terminals <= 48


def test_too_large_a_game_is_refused_with_its_size() -> None:
    with pytest.raises(BudgetError, match=r"liars_dice\(numdice=2\).*about .*histories in all"):
        GameTree.of(load("liars_dice(numdice=2,dice_sides=6)"), max_histories=10_000)
    with pytest.raises(BudgetError, match=r"294,883 histories .*more than the limit of 100,000"):
        GameTree.of(load("liars_dice"), max_histories=100_000)


class Late(NativeState, NamedTuple("LateFields", [("payoffs", tuple[float, float])])):
    """A decision whose only field is that of the end after it."""

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[str, ...]:
        return ("go",) if player == 0 else ()

    def chance_outcomes(self, actions: object) -> tuple[()]:
        return ()

    def play_unchecked(self, actions: object, chance_outcome: object = None) -> Observed:
        return Observed(Ended(self.payoffs), (None, None))

    def returns(self) -> tuple[float, float]:
        return (0.0, 0.0)


class LateGame(NamedTuple):
    name: str = "late"
    players: tuple[str, str] = ("P1", "P2")

    def start(self) -> Observed:
        return Observed(Late((1.0, 2.0)), (None, None))


def test_states_of_different_classes_differ() -> None:
    """Named tuples with equal fields compare equal; a decision and an end are two positions all the same."""
    assert Late((1.0, 2.0)) == Ended((1.0, 2.0))
    assert len(GameTree.of(LateGame()).position) == 2
