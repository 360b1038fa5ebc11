"""Every form of a game says the same of the same policy, over grids of parameters; a form that does not is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import infoset
from extent import mark_slow
from infoset.compiled import Compiled
from infoset.errors import GameRuleError
from infoset.games.phantom_board import phantom_rules
from infoset.policies.asking import ask_factored
from infoset.policies.infoset_policy import InfosetPolicy
from infoset.policies.simple import FunctionPolicy
from infoset.solvers.metrics import Evaluation, evaluate_images, evaluate_plan
from infoset.tree.factored_form import FactoredForm
from infoset.tree.factored_rules import FactoredRules
from infoset.tree.factoring import factor_game, factor_positions
from infoset.tree.form_check import check_factored_form
from infoset.tree.graph import explore
from infoset.tree.normal_form import normal_form
from infoset.tree.plans import random_interior, realisation
from test_factored_form import Diagonals, same


def ships(*lengths: int, rows: int = 2, columns: int = 2, shots: int, repeats: bool) -> str:
    words = ",".join(map(str, lengths))
    return f"battleship(rows={rows},columns={columns},ships=[{words}],shots={shots},repeats={str(repeats).lower()})"


FLEETS = [(1,), (2,), (1, 1), (1, 2), (2, 1), (2, 2)]
QUICK = [
    *[ships(*fleet, shots=2, repeats=repeats) for fleet, repeats in product(FLEETS, (False, True))],
    "liars_dice(numdice=2,dice_sides=2)",
    "liars_dice(players=3,dice_sides=2)",
    "dark_hex(rows=2,columns=3)",
    "dark_hex(rows=2,columns=2,abrupt=true)",
]
LONG = [
    *[ships(*fleet, shots=3, repeats=repeats) for fleet, repeats in product(FLEETS, (False, True))],
    *[ships(*fleet, rows=1, columns=4, shots=2, repeats=repeats) for fleet, repeats in product(FLEETS, (False, True))],
    ships(1, 2, rows=2, columns=3, shots=1, repeats=False),
    ships(1, 1, 1, shots=2, repeats=False),
    "liars_dice(numdice=2,dice_sides=3)",
    "liars_dice(players=3,dice_sides=3)",
    "dark_hex(rows=2,columns=3,abrupt=true)",
    "dark_hex(rows=3,columns=2)",
]
PUBLIC = ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "goofspiel(num_cards=4,imp_info=true)"]
PUBLIC += ["oshi_zumo(coins=5,min_bid=1)", "tiny_bridge", "trade_comm", "gdl:kuhn_poker", "gdl:monty_hall"]


def agree_on_random_policies(name: str) -> None:
    """Random policies have the same values and best responses on the tree and on the factored form."""
    compiled = Compiled.of(name)
    tree, factored = compiled.form, FactoredForm.of(factor_game(compiled.game)).form
    for seed in range(2):
        strategy = random_interior(tree, seed)
        one = evaluate_plan(tree, realisation(tree, strategy))
        other = evaluate_plan(factored, realisation(factored, same(tree, factored, strategy)))
        assert figures(one) == pytest.approx(figures(other), abs=1e-12)


def figures(evaluation: Evaluation) -> tuple[float, ...]:
    return evaluation.values + evaluation.best_response_values


@pytest.mark.parametrize("name", QUICK)
def test_products_agree_with_trees(name: str) -> None:
    agree_on_random_policies(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_products_agree_with_larger_trees(name: str) -> None:
    agree_on_random_policies(name)


@pytest.mark.slow
def test_battleship_with_two_ships_is_worth_what_the_tree_says() -> None:
    """The factored form of this game once lost a fifth of the value."""
    name = ships(1, 2, shots=3, repeats=False)
    solution = infoset.solve(name, "pdcfr+", iterations=300, form="factored")
    tree = Compiled.of(name)
    assert tree.made_whole or tree.tree  # from here on policies are evaluated on it
    assert infoset.evaluate(tree, solution.policy).exploitability == pytest.approx(solution.exploitability, abs=1e-12)
    assert solution.values[0] == pytest.approx(0.234375, abs=1e-3)


def choose(key: str, actions: Any) -> dict[str, float]:
    """Chances that follow from the words of an information set, and keep to no symmetry."""
    drawn = np.random.default_rng(list(key.encode())).exponential(size=len(actions))
    return dict(zip(actions, (drawn / drawn.sum()).tolist(), strict=True))


@pytest.mark.parametrize(
    "name", ["dark_hex(rows=2,columns=2)", ships(1, 2, shots=1, repeats=False), *mark_slow(PUBLIC, {PUBLIC[3]})]
)
def test_all_ways_to_figures_agree(name: str) -> None:
    """The tree, both factored forms, and beliefs over the positions, on one policy."""
    policy = FunctionPolicy(choose, "")
    whole, products = Compiled.of(name), Compiled.of(name)
    tree = infoset.evaluate(whole, policy)
    plain = products.plain_factored
    plan = realisation(plain.form, ask_factored(policy, plain)[:, 0])
    assert figures(evaluate_plan(plain.form, plan)) == pytest.approx(figures(tree), abs=1e-12)
    images = products.factored_images
    assert figures(evaluate_images(images, ask_factored(policy, images))) == pytest.approx(figures(tree), abs=1e-12)


@pytest.mark.parametrize("name", ["kuhn_poker", "liars_dice(dice_sides=2)", "dark_hex(rows=2,columns=2)"])
def test_beliefs_over_positions_agree_with_the_tree_on_uniform_play(name: str) -> None:
    """Positions listed once, with what players believe there, are the form of sampled policies."""
    from infoset.solvers.sampling.belief_response import PolicyEvaluation

    compiled = Compiled.of(name)
    uniform = infoset.evaluate(compiled, "random")
    for walk in (compiled.walk, compiled.plain_walk):
        work = PolicyEvaluation(walk, InfosetPolicy.unknown(walk), record=False)
        while not work.step():
            pass
        assert figures(work.result) == pytest.approx(figures(uniform), abs=1e-12)


@pytest.mark.parametrize("name", ["kuhn_poker", "rock_paper_scissors"])
def test_reduced_normal_forms_pay_what_the_tree_pays(name: str) -> None:
    """Of every combination of pure strategies, some drawn at random."""
    compiled, rng = Compiled.of(name), np.random.default_rng(1)
    table = normal_form(compiled.form, compiled.tree)
    for _ in range(20):
        chosen = [int(rng.integers(len(plans))) for plans in table.plans]
        plan = np.concatenate([plans[k] for plans, k in zip(table.plans, chosen, strict=True)]).astype(float)
        assert infoset.evaluate(compiled, plan).values == pytest.approx(tuple(table.payoffs[(*chosen,)]), abs=1e-12)


# The comparison that is made once before a factored form is used


def declared(game: Any) -> FactoredRules:
    return factor_game(game)


def public(game: Any) -> FactoredRules:
    return factor_positions(explore(game))


DIAGONALS = phantom_rules("diagonals", Diagonals(2, 2, False, (0, 0), (0, 0), 0))


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(
    ("game", "rules"),
    [
        ("dark_hex(rows=2,columns=3)", declared),
        ("dark_hex(rows=2,columns=3)", public),
        (ships(1, 2, shots=2, repeats=False), declared),
        ("liars_dice(players=3,dice_sides=2)", declared),
        ("leduc_poker", public),
        ("goofspiel(players=3,num_cards=3,imp_info=true)", public),
        (DIAGONALS, declared),
    ],
)
def test_sound_forms_pass_the_comparison(game: Any, rules: Callable[[Any], FactoredRules], symmetric: bool) -> None:
    game = infoset.load(game) if isinstance(game, str) else game
    factored = FactoredForm.of(rules(game), symmetric=symmetric)
    assert factored.group.order == (1 if not symmetric or rules is public else factored.rules.symmetry[0].order)
    assert check_factored_form(game, factored) > 20


@pytest.mark.parametrize("symmetric", [False, True])
def test_every_payoff_that_is_wrong_is_found(symmetric: bool) -> None:
    """On two by two cells random plays come to every payment of the form."""
    game = infoset.load("dark_hex(rows=2,columns=2)")
    sound = FactoredForm.of(factor_game(game), symmetric=symmetric)
    for term in range(sound.form.arrays.term_paid.shape[1]):
        paid = sound.form.arrays.term_paid.copy()
        paid[:, term] *= 1.001
        broken = replace(sound, form=replace(sound.form, arrays=sound.form.arrays._replace(term_paid=paid)))
        with pytest.raises(GameRuleError, match=r"the factored form pays \(.*\) where the rules pay \(.*\), after"):
            check_factored_form(game, broken, plays=1000)


def test_lists_that_lost_a_sequence_are_found() -> None:
    """One entry of the lists names another sequence than it should, which is the fault that joined ends once made."""
    game = infoset.load("dark_hex(rows=2,columns=2)")
    sound = FactoredForm.of(factor_game(game))
    for entry in range(0, len(sound.form.arrays.entries), 10):
        entries = sound.form.arrays.entries.copy()
        entries[entry] -= 1
        broken = replace(sound, form=replace(sound.form, arrays=sound.form.arrays._replace(entries=entries)))
        with pytest.raises(GameRuleError, match="the factored form pays"):
            check_factored_form(game, broken)


@pytest.mark.parametrize("form", ["factored", "factored_images", "plain_factored"])
def test_a_form_is_compared_before_it_is_used(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for one that pays wrongly is told so, and gets none."""
    walk = FactoredForm.of

    def walk_and_halve(*arguments: Any, **named: Any) -> FactoredForm:
        sound = walk(*arguments, **named)
        arrays = sound.form.arrays._replace(term_paid=sound.form.arrays.term_paid / 2)
        return replace(sound, form=replace(sound.form, arrays=arrays))

    monkeypatch.setattr(FactoredForm, "of", walk_and_halve)
    with pytest.raises(GameRuleError, match="form=tree lists all histories instead"):
        getattr(Compiled.of("dark_hex(rows=2,columns=2)"), form)
