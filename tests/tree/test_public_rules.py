"""Public states of any game whose positions are listed, as cores: the same figures as the tree's."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoset
from conftest import form_of
from extent import examples
from infoset.base import Game
from infoset.compiled import Compiled
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.solvers.metrics import evaluate_plan
from infoset.tree.constant_blocks import constant_blocks
from infoset.tree.factored_form import FactoredForm
from infoset.tree.factored_rules import FactoredRules
from infoset.tree.factoring import factor_positions
from infoset.tree.graph import explore
from infoset.tree.plans import random_interior, realisation
from infoset.tree.sequence_form import SequenceForm
from random_games import RandomGame, RandomState
from test_factored_form import gradients, same

NAMES = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "leduc_poker(ranks=4,suits=3)",
    "goofspiel(num_cards=4,imp_info=true)",
    "goofspiel(num_cards=3)",
    "goofspiel(players=3,num_cards=3,imp_info=true)",
    "rock_paper_scissors",
    "oshi_zumo(coins=5,min_bid=1)",
    "liars_dice(dice_sides=4)",  # which says what its cores are; here they are found
    "dark_hex(rows=2,columns=2)",
    "battleship(rows=2,columns=2,shots=2)",
    "battleship(rows=2,columns=2,ships=[1,2],shots=2)",
    "tiny_bridge",
    "trade_comm",
    "gdl:kuhn_poker",
    "gdl:leduc_poker",
    "gdl:monty_hall",
    "gdl:scissors_double",
]


def rules_of(game: Game) -> FactoredRules:
    return factor_positions(explore(game))


def unshifted(game: Game) -> SequenceForm:
    """The form of a tree without offsets of payoffs, which factored forms have not."""
    with patch("infoset.tree.sequence_form.payoff_offsets", lambda payoffs: np.zeros(payoffs.shape[1])):
        return SequenceForm.of(game)


def agree(tree: SequenceForm, factored: SequenceForm, seed: int) -> None:
    """Everything that is counted, gradients, values and best responses."""
    assert (factored.num_infosets, factored.num_sequences) == (tree.num_infosets, tree.num_sequences)
    assert (factored.num_histories, factored.num_terminals) == (tree.num_histories, tree.num_terminals)
    assert factored.constant_sum == pytest.approx(tree.constant_sum)
    assert (factored.smallest_payoff, factored.largest_payoff) == (tree.smallest_payoff, tree.largest_payoff)
    strategy = random_interior(tree, seed)
    moved = same(tree, factored, strategy)
    one, other = realisation(tree, strategy), realisation(factored, moved)
    close = {"atol": 1e-12 * max(1.0, tree.largest_payoff), "rtol": 0}
    inside = np.where(factored.infoset_of < 0, 1.0, gradients(factored, other))
    assert np.allclose(same(tree, factored, gradients(tree, one))[1:], inside[1:], **close)
    a, b = evaluate_plan(tree, one), evaluate_plan(factored, other)
    assert np.allclose(a.values + a.best_response_values, b.values + b.best_response_values, **close)


@pytest.mark.parametrize("name", NAMES)
def test_public_states_and_trees_give_the_same_figures(name: str) -> None:
    agree(form_of(name), FactoredForm.of(rules_of(infoset.load(name))).form, seed=1)


@examples(40)
@given(st.integers(0, 10_000), st.integers(1, 2), st.integers(2, 4))
def test_random_games_have_the_figures_of_their_trees(seed: int, players: int, depth: int) -> None:
    """Players that move at once or alone, chance before and with them, observations of any kind."""
    game = RandomGame(seed, players, depth)
    agree(unshifted(game), FactoredForm.of(rules_of(game)).form, seed)


class RareState(RandomState):
    """Some of chance's answers never come; their information sets are there all the same."""

    def chance_outcomes(self, actions: Any) -> tuple[Any, ...]:
        answers = super().chance_outcomes(actions)
        if self.noise("rare", tuple(actions)) % 3 or not answers:
            return answers
        return tuple((answer, float(k == 0)) for k, (answer, _) in enumerate(answers))


@examples(40)
@given(st.integers(0, 10_000), st.integers(1, 2), st.integers(2, 4))
def test_what_never_comes_counts_as_in_the_tree(seed: int, players: int, depth: int) -> None:
    game = RandomGame(seed, players, depth, RareState)
    agree(unshifted(game), FactoredForm.of(rules_of(game)).form, seed)


# What ends pay


def paid_by(found: Any, shape: tuple[int, ...]) -> Any:
    """The table that terms stand for."""
    paid = np.zeros(shape)
    for place, payoff in zip(found.place.tolist(), found.paid, strict=True):
        paid[np.ix_(*[own[k] for own, k in zip(found.lists, place, strict=True)])] += payoff
    return paid


@examples(60)
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 12), st.integers(1, 3))
def test_blocks_pay_what_the_table_pays(seed: int, rows: int, columns: int, kinds: int) -> None:
    drawn = np.random.default_rng(seed).integers(-kinds, kinds + 1, (rows, columns, 1))
    paid = np.concatenate([drawn, -drawn], axis=-1).astype(float)
    assert np.allclose(paid_by(constant_blocks(paid), paid.shape), paid, atol=1e-12)


@examples(30)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6), st.integers(1, 6))
def test_blocks_pay_what_the_table_of_three_pays(seed: int, one: int, two: int, three: int) -> None:
    paid = np.random.default_rng(seed).integers(-1, 2, (one, two, three, 3)).astype(float)
    assert np.allclose(paid_by(constant_blocks(paid), paid.shape), paid, atol=1e-12)


def test_a_showdown_of_three_is_few_blocks() -> None:
    """The highest of three cards takes what the others have put in."""
    cards = np.indices((12, 12, 12))
    wins = (cards == cards.max(axis=0)) & ((cards == cards.max(axis=0)).sum(axis=0) == 1)
    paid = np.moveaxis(3.0 * wins - wins.any(axis=0), 0, -1)
    found = constant_blocks(paid)
    assert np.allclose(paid_by(found, paid.shape), paid)
    assert len(found.place) < 500 < np.count_nonzero(wins.any(axis=0))


def test_a_showdown_is_few_blocks() -> None:
    """Of one card each the higher one wins: h log h entries in place of h times h pairs."""
    hands = np.arange(48)
    won = np.sign(hands[:, None] - hands)
    found = constant_blocks(np.stack([won, -won], axis=-1).astype(float))
    entries = sum(len(some) for own in found.lists for some in own)
    assert np.array_equal(paid_by(found, (48, 48, 2))[..., 0], won)
    assert (len(found.place), entries, np.count_nonzero(won)) == (126, 480, 48 * 47)


def test_hands_that_exclude_each_other_are_put_right() -> None:
    """A fold pays alike, but not where both would hold one card."""
    paid = np.repeat((1.0 - np.eye(20))[..., None], 2, axis=-1) * [2.0, -2.0]
    found = constant_blocks(paid)
    assert len(found.place) == 21
    assert np.array_equal(paid_by(found, paid.shape), paid)


# The way in


def test_any_game_is_solved_in_factored_form_where_that_is_asked_for(tmp_path: Any) -> None:
    solution = infoset.solve("leduc_poker", "dcfr", iterations=400, form="factored", out=tmp_path / "run")
    again = infoset.evaluate("leduc_poker", str(tmp_path / "run"))
    assert solution.values[0] == pytest.approx(-0.0856, abs=1e-3)  # as published
    assert again.exploitability == pytest.approx(solution.exploitability, abs=1e-12)
    tabular = infoset.evaluate(Compiled.of("leduc_poker").tree, str(tmp_path / "run"))
    assert tabular.exploitability == pytest.approx(solution.exploitability, abs=1e-12)
    assert "information sets   936" in infoset.show("leduc_poker", str(tmp_path / "run"))


def test_a_game_too_large_for_a_tree_is_solved_on_its_public_states() -> None:
    """By itself: its positions are few, and what is common knowledge cuts it into small tables."""
    compiled = Compiled.of("leduc_poker(ranks=6,suits=4)", 100_000)
    solution = infoset.solve(compiled, iterations=300)
    assert (solution.method, solution.notes["form"]) == ("dcfr", "factored")
    assert compiled.factored_rules.sizes.histories == 919_105
    assert not compiled.made_whole
    assert solution.exploitability < 0.01
    assert infoset.evaluate(compiled, solution.policy).exploitability == pytest.approx(
        solution.exploitability, abs=1e-12
    )
    assert "919,105" in infoset.show(compiled, solution.policy)


def test_how_good_anything_is_comes_out_exactly_where_no_tree_fits() -> None:
    """The tree is tried first; its positions are known by then."""

    def first(key: str, actions: tuple[str, ...]) -> dict[str, float]:
        return {actions[0]: 1.0}

    small, whole = Compiled.of("leduc_poker", 5_000), Compiled.of("leduc_poker")
    found, exact = infoset.evaluate(small, first), infoset.evaluate(whole, first)
    assert found.exact
    assert infoset.solve(Compiled.of("leduc_poker", 5_000), "cfr+", iterations=10).notes["form"] == "factored"
    assert found.best_response_values == pytest.approx(exact.best_response_values, abs=1e-12)
    assert "in factored form" in infoset.show(Compiled.of("leduc_poker", 5_000))
    with pytest.raises(BudgetError):  # a picture is of a tree
        infoset.show(Compiled.of("leduc_poker", 5_000), svg="x.svg")


def test_nobody_waits_for_public_states_that_were_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infoset.sizes.PUBLIC_STATES_TRIED", 50)
    solution = infoset.solve(Compiled.of("leduc_poker", 5_000), iterations=100)
    assert solution.method == "mccfr"
    asked = infoset.solve(Compiled.of("leduc_poker", 5_000), iterations=100, form="factored")
    assert asked.method == "dcfr"


def test_what_has_no_public_states_says_why(shared: Any) -> None:
    with pytest.raises(BudgetError, match="too little is common knowledge for the factored form: the last of"):
        rules_of(infoset.load("gdl:phantom_connect"))
    with pytest.raises(UnsupportedGameError, match="has its information sets by a map"):
        infoset.solve(str(shared / "games" / "efg" / "2smp.efg"), "dcfr", form="factored")
    with pytest.raises(UnsupportedGameError, match=r"does not declare the cores of its states.*boards are too many"):
        infoset.solve("pommerman:OneVsOne-v0", "dcfr", form="factored")
    with pytest.raises(UnsupportedGameError, match="simultaneous moves of some players only"):
        infoset.solve(RandomGame(3, 3, 3), "dcfr", form="factored")
