"""Cores found in game descriptions: the factored form of a text that does not say what is whose."""

from __future__ import annotations

from itertools import product as every

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoset
from extent import examples
from infoset.compiled import Compiled
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.gdl.game import GdlGame
from infoset.gdl.private import own_propositions
from infoset.gdl.syntax import parse_gdl
from infoset.policies.factored_policy import FactoredPolicy
from infoset.solvers.metrics import evaluate_plan
from infoset.tree import simultaneous_rules
from infoset.tree.factored_form import FactoredForm
from infoset.tree.factoring import factor_game
from infoset.tree.plans import random_interior, realisation
from infoset.tree.sequence_form import SequenceForm
from infoset.tree.simultaneous_rules import products

CELLS = ("a", "b", "c")
RULES = """
(role x) (role o) {random}
(other x o) (other o x)
{cells}
(<= (init (blank ?c)) (cell ?c))
(<= open (true (blank ?c)))
{lines}
(<= (legal ?r (mark ?c)) (other ?r ?s) (cell ?c) (not (true (tried ?r ?c))))
{draw}
(<= (contested ?c) (does x (mark ?c)) (does o (mark ?c)))
(<= (marked ?c) (does ?r (mark ?c)))
(<= (gets ?r ?c) (does ?r (mark ?c)) (true (blank ?c)) (not (contested ?c)))
{contested}
(<= (next (has ?r ?c)) (gets ?r ?c))
(<= (next (has ?r ?c)) (true (has ?r ?c)))
(<= (next (blank ?c)) (true (blank ?c)) (not (marked ?c)))
(<= (next (tried ?r ?c)) (does ?r (mark ?c)))
(<= (next (tried ?r ?c)) (true (tried ?r ?c)))
{sees}
(<= terminal (line ?r))
(<= terminal (not open))
(<= (goal ?r 100) (line ?r) (other ?r ?s) (not (line ?s)))
(<= (goal ?r 40) (other ?r ?s) (line ?r) (line ?s))
(<= (goal ?r 50) (other ?r ?s) (not (line ?r)) (not (line ?s)))
(<= (goal ?r 0) (other ?r ?s) (line ?s) (not (line ?r)))
"""
CONTESTED = {
    "nobody": "",
    "x": "(<= (gets x ?c) (contested ?c) (true (blank ?c)))",
    "drawn": "(<= (gets ?r ?c) (contested ?c) (true (blank ?c)) (does random (tiebreak ?r)))",
    "biased": """
        (<= (gets x ?c) (contested ?c) (true (blank ?c)) (does random (tiebreak x)))
        (<= (gets x ?c) (contested ?c) (true (blank ?c)) (does random (tiebreak o)))
        (<= (gets o ?c) (contested ?c) (true (blank ?c)) (does random (tiebreak lost)))""",
}
SEES = {
    "success": "(<= (sees ?r ok) (gets ?r ?c))",
    "all": "(<= (sees ?r ok) (gets ?r ?c)) (<= (sees ?r theirs) (other ?r ?s) (gets ?s ?c))",
    "cells": "(<= (sees ?r (took ?c)) (other ?r ?s) (gets ?s ?c)) (<= (sees ?r ok) (gets ?r ?c))",
}


def grabbing(lines: list[tuple[str, ...]], contested: str, sees: str) -> GdlGame:
    """Both mark one of three cells at once, unseen, until one has a line."""
    draws = contested in ("drawn", "biased")
    text = RULES.format(
        random="(role random)" if draws else "",
        cells=" ".join(f"(cell {c})" for c in CELLS),
        lines=" ".join(
            f"(<= (line ?r) {' '.join(f'(true (has ?r {c}))' for c in line)} (other ?r ?s))" for line in lines
        ),
        draw="(<= (legal random (tiebreak ?r)) (other ?r ?s)) (legal random (tiebreak lost))" if draws else "",
        contested=CONTESTED[contested],
        sees=SEES[sees],
    )
    return GdlGame(parse_gdl(text, "grabbing"))


def small(name: str) -> GdlGame:
    """A game of the library on two by two cells, in which two in a row or across make a line."""
    from infoset.gdl.library import library

    text = library()[name].read_text(encoding="utf-8").replace("(index 2) (index 3)", "(index 2)")
    text = text.replace("(far black ?x 3)", "(far black ?x 2)").replace("(far white 3 ?y)", "(far white 2 ?y)")
    cache = [line for line in text.splitlines() if not line.startswith("(<= (line ?r)")]
    lines = [((1, 1), (1, 2)), ((2, 1), (2, 2)), ((1, 1), (2, 2)), ((2, 1), (1, 2))]
    if len(cache) < len(text.splitlines()):
        cache += [f"(<= (line ?r) (true (cell {a} {b} ?r)) (true (cell {c} {d} ?r)))" for (a, b), (c, d) in lines]
    return GdlGame(parse_gdl("\n".join(cache), f"small_{name}"))


def on_tree(tree: SequenceForm, factored: FactoredForm, behaviour: np.ndarray) -> np.ndarray:
    """The same behaviour on the tree's form."""
    form, found = factored.form, np.ones(tree.num_sequences)
    places = {
        (p, form.keys[k]): k for p in range(len(form.players)) for k in range(*form.arrays.infosets[p : p + 2].tolist())
    }
    for p in range(len(tree.players)):
        for k in range(*tree.arrays.infosets[p : p + 2].tolist()):
            there = places[p, tree.keys[k]]
            first = int(form.arrays.first[there])
            for j, move in enumerate(tree.actions[k]):
                found[int(tree.arrays.first[k]) + j] = behaviour[first + form.actions[there].index(move)]
    return found


def check_against_tree(game: GdlGame) -> None:
    """Counts to the unit, and the figures of random profiles."""
    compiled, rules = Compiled.of(game), factor_game(game)
    factored, tree = FactoredForm.of(rules), compiled.form
    assert rules.sizes.histories == compiled.graph.count_histories()
    assert rules.sizes.ends == tree.num_terminals
    assert (factored.form.num_infosets, factored.form.num_sequences) == (tree.num_infosets, tree.num_sequences)
    assert len(factored.form.arrays.entries) <= rules.sizes.entries
    for seed in range(2):
        behaviour = random_interior(factored.form, seed)
        here = evaluate_plan(factored.form, realisation(factored.form, behaviour))
        there = evaluate_plan(tree, realisation(tree, on_tree(tree, factored, behaviour)))
        np.testing.assert_allclose(here.values, there.values, rtol=0, atol=1e-11)
        np.testing.assert_allclose(here.nash_conv, there.nash_conv, rtol=0, atol=1e-11)


@given(
    st.lists(
        st.lists(st.sampled_from(CELLS), min_size=1, max_size=2, unique=True).map(sorted).map(tuple),
        min_size=1,
        max_size=3,
        unique=True,
    ),
    st.sampled_from(sorted(CONTESTED)),
    st.sampled_from(sorted(SEES)),
)
@examples(12)
def test_found_cores_have_the_figures_of_the_tree(lines, contested, sees):
    check_against_tree(grabbing(lines, contested, sees))


@pytest.mark.parametrize(
    "name",
    ["blind_tic_tac_toe", "blind_tic_tac_toe_x_bias", "blind_tic_tac_toe_x_wins", "latent_tic_tac_toe", "dark_hex"],
)
def test_small_boards_have_the_figures_of_the_tree(name):
    check_against_tree(small(name))


@pytest.mark.parametrize(
    ("name", "order"), [("blind_tic_tac_toe_x_bias", 4), ("latent_tic_tac_toe", 4), ("dark_hex", 2)]
)
def test_symmetric_profiles_are_solved_and_have_the_same_figures_on_the_tree(name, order):
    game = small(name)
    compiled = Compiled.of(game)
    assert compiled.factored.group.order == order
    fixing = compiled.factored.states.fixing[compiled.factored.chosen]
    assert (
        sum(order // int(mask).bit_count() for mask in fixing) == compiled.form.num_infosets
    )  # whole orbits, each once
    found = infoset.solve(game, method="pcfr+", form="factored", iterations=300)
    assert isinstance(found.policy, FactoredPolicy)
    assert found.exploitability < 0.5  # of 100
    there = infoset.evaluate(game, found.policy)
    np.testing.assert_allclose(there.values, found.values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(there.nash_conv, found.nash_conv, rtol=0, atol=1e-9)
    assert_it_knows_everything(game, found.policy)
    on_the_tree = infoset.solve(game, method="pcfr+", form="tree", iterations=2000)
    np.testing.assert_allclose(on_the_tree.values, found.values, rtol=0, atol=1.0)


def assert_it_knows_everything(game: GdlGame, policy: FactoredPolicy) -> None:
    """A policy has probabilities wherever there is a choice, also once it was saved."""
    compiled = Compiled.of(game)
    tree, play = compiled.tree, policy.on(compiled)
    for k, player in enumerate(tree.infoset_player.tolist()):
        known = tree.states.state(int(tree.infoset_state[k]))
        assert len(tree.action_set(k)) == 1 or play.action_probabilities(player, known, tree.action_set(k)) is not None


def test_what_is_a_players_own():
    """What one has tried feeds nothing but one's own moves; marks are everybody's, also unseen ones."""
    rules = infoset.load("gdl:latent_tic_tac_toe").rules
    for seat, own in zip(rules.seats, own_propositions(rules.propnet, rules.seats), strict=True):
        names = [str(rules.propnet.base[k]) for k in range(len(rules.propnet.base)) if own.propositions >> k & 1]
        assert len(names) == 9
        assert all(name.startswith(f"(tried {rules.propnet.roles[seat]} ") for name in names)


@pytest.mark.parametrize("name", ["gdl:kuhn_poker", "gdl:krieg_tic_tac_toe", "gdl:tic_tac_toe", "gdl:mastermind"])
def test_where_nothing_is_a_players_own_the_text_has_no_cores(name):
    assert infoset.load(name).cores() is None
    with pytest.raises(UnsupportedGameError, match="does not declare the cores of its states"):
        factor_game(infoset.load(name))


def test_a_policy_is_shown_and_evaluated_where_its_form_has_to_be_asked_for(monkeypatch, tmp_path):
    """Neither a tree nor a form that is built by itself: what was solved in factored form says itself what it needs."""
    game = small("latent_tic_tac_toe")
    solution = infoset.solve(game, form="factored", iterations=20)
    saved = str(solution.policy.save(tmp_path / "policy.npz"))
    monkeypatch.setattr("infoset.compiled.is_quick", lambda rules: False)
    assert "in factored form" in infoset.show(game, saved, max_histories=10)
    assert infoset.evaluate(game, saved, max_histories=10).nash_conv == pytest.approx(solution.nash_conv, abs=1e-9)


def test_too_many_cells_are_refused_before_long(monkeypatch):
    monkeypatch.setattr(simultaneous_rules, "MOST_CELLS", 10)
    with pytest.raises(BudgetError, match="more than 10 cells"):
        factor_game(small("dark_hex"))


@given(st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 3)), st.integers(1, 6), min_size=1))
@settings(deadline=None)
def test_products_add_up_to_their_table(table):
    added: dict[tuple[int, ...], int] = {}
    found = products(table)
    for piece in found:
        for index in every(*[part.items() for part in piece.parts]):
            key = tuple(effect for effect, _ in index)
            added[key] = added.get(key, 0) + piece.times * int(np.prod([count for _, count in index]))
    assert added == table
    assert len(found) <= min(len({i for i, _ in table}), len({j for _, j in table}))


def test_products_of_three():
    table = {(i, j, k): (1 + i) * (1 + j) * (2 - k) for i, j, k in every(range(2), repeat=3)}
    (piece,) = products(table)
    assert piece.times == 1
    assert piece.parts == ({0: 1, 1: 2}, {0: 1, 1: 2}, {0: 2, 1: 1})
    assert len(products({(0, 0, 0): 1, (1, 1, 1): 1})) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ends"), [("dark_hex", 9_469_697_760), ("latent_tic_tac_toe", 9_829_101_024)])
def test_published_counts_of_ends(name, ends):
    """Those of OpenSpiel's dark hex and phantom tic-tac-toe (Rudolph et al. 2025): the texts are the same games, but that
    a failed try takes a step that the other notices.
    """
    assert factor_game(infoset.load(f"gdl:{name}")).sizes.ends == ends
