"""Correlated equilibria of small games: published plans, the order of the notions, deviations tried one by one."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extent import examples
from infoset import (
    GameTree,
    PolicyAgent,
    SequenceForm,
    correlated_equilibrium,
    evaluate,
    extreme_equilibria,
    load,
    play_match,
    solve,
)
from infoset.base import FloatArray
from infoset.compiled import Compiled
from infoset.errors import BudgetError, ParameterError, PolicyError, UnknownNameError, UnsupportedGameError
from infoset.formats.nfg import NfgGame, parse_nfg
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.policies.loading import load_policy
from infoset.solvers.tabular import correlated as module
from infoset.solvers.tabular import correlated_programs as programs
from infoset.solvers.tabular.correlated import KINDS, CorrelatedPlan
from infoset.tree.normal_form import PASSED, NormalForm, count_strategies, normal_form
from plan_names import strategy_name
from random_games import RandomGame, RandomState

CHICKEN = NfgGame(
    parse_nfg('NFG 1 R "" { "A" "B" } { { "dare" "out" } { "dare" "out" } } 0 0  2 7  7 2  6 6'), "chicken"
)


def of_table(form: SequenceForm, table: NormalForm, probabilities: FloatArray) -> CorrelatedPlan:
    """The plan that draws each combination of strategies with its chance (K1, …, Kn)."""
    numbers = np.unravel_index(np.arange(probabilities.size), probabilities.shape)
    plans = np.hstack([own[number] for own, number in zip(table.plans, numbers, strict=True)])
    return CorrelatedPlan(form, probabilities.ravel(), plans)


def drawn(table: NormalForm, seed: int) -> FloatArray:
    probabilities = np.random.default_rng(seed).exponential(size=table.payoffs.shape[:-1])
    return probabilities / probabilities.sum()


def best_by_hand(form: SequenceForm, table: NormalForm, probabilities: FloatArray, kind: str, player: int) -> float:
    """The largest gain of a deviation, by every plan of the player in place of its own: the slow twin.

    A plan is left at a set (and, for ``efce``, once a certain move is told there): what it says there and behind is
    replaced by what another one says.
    """
    own = [name.split("/") for name in table.strategies[player]]
    sets = list(form.player_infosets(player))
    number = {tuple(name): k for k, name in enumerate(own)}
    payoffs = np.moveaxis(table.payoffs[..., player], player, 0)
    probabilities = np.moveaxis(probabilities, player, 0)
    start = form.player_sequences(player).start
    best = 0.0
    for place, k in enumerate(sets):
        reaching = table.plans[player][:, int(form.arrays.parent[k]) - start]
        behind = {place}
        for later in range(place + 1, len(sets)):
            above = form.infoset_of[int(form.arrays.parent[sets[later]])]
            if above >= 0 and sets.index(int(above)) in behind:
                behind.add(later)
        told = [None] if kind == "efcce" else sorted({name[place] for name in own} - {PASSED})
        for word, other in product(told, [name for name in own if name[place] != PASSED]):
            gain = 0.0
            for s, name in enumerate(own):
                if reaching[s] and word in (None, name[place]):
                    mixed = tuple(other[j] if j in behind else name[j] for j in range(len(sets)))
                    gain += float((probabilities[s] * (payoffs[number[mixed]] - payoffs[s])).sum())
            best = max(best, gain)
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_chicken(kind: str) -> None:
    """Aumann 1974 and every textbook: a quarter, a quarter, a half; 5.25 each, where no equilibrium gives 14/3 twice."""
    plan = correlated_equilibrium(CHICKEN, kind)
    assert plan.values == pytest.approx((5.25, 5.25))
    assert plan.probabilities == pytest.approx([0.25, 0.25, 0.5], abs=1e-9)
    assert str(plan).splitlines()[1:3] == ["chance    A start  B start", "0.250000  dare     out"]


def test_the_best_for_one_player() -> None:
    assert correlated_equilibrium(CHICKEN, "ce", "A").values == pytest.approx((7, 2))
    assert correlated_equilibrium(CHICKEN, "ce", "B").values == pytest.approx((2, 7))


@examples(20)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_each_notion_contains_the_one_before(seed: int, players: int) -> None:
    """On random trees: the best plan of a kind is one of every weaker kind, so that more can be had."""
    form = SequenceForm.of(RandomGame(seed, players, 2))
    if np.prod([count_strategies(form, p) for p in range(players)]) > 300:
        return
    welfare = -np.inf
    for k, kind in enumerate(KINDS):
        plan = correlated_equilibrium(form_tree(seed, players), kind)
        for weaker in KINDS[k:]:
            assert max(plan.gains(weaker)) < 1e-7
        assert sum(plan.values) >= welfare - 1e-7
        welfare = sum(plan.values)


def form_tree(seed: int, players: int) -> GameTree:
    return GameTree.of(RandomGame(seed, players, 2))


@examples(25)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_gains_by_trying_every_deviation(seed: int, players: int) -> None:
    form = SequenceForm.of(RandomGame(seed, players, 2))
    if np.prod([count_strategies(form, p) for p in range(players)]) > 300:
        return
    table = normal_form(form)
    probabilities = drawn(table, seed)
    plan = of_table(form, table, probabilities)
    for kind in ("efce", "efcce"):
        by_hand = [best_by_hand(form, table, probabilities, kind, p) for p in range(players)]
        assert plan.gains(kind) == pytest.approx(by_hand, abs=1e-9)


@pytest.mark.parametrize("name", ["rock_paper_scissors", "matching_pennies_3p", "kuhn_poker"])
def test_independent_play_gains_what_evaluate_says(name: str) -> None:
    """Where everybody draws alone, before anything is told, a deviation is a best response."""
    form = SequenceForm.of(load(name))
    table = normal_form(form)
    mixed = [np.full(len(own), 1 / len(own)) for own in table.strategies]
    probabilities: FloatArray = mixed[0]
    for own in mixed[1:]:
        probabilities = np.multiply.outer(probabilities, own)
    plan = of_table(form, table, probabilities)
    figures = evaluate(form, table.plan(mixed))
    assert plan.values == pytest.approx(figures.values)
    gains = [b - v for b, v in zip(figures.best_response_values, figures.values, strict=True)]
    assert plan.gains("cce") == pytest.approx(gains, abs=1e-12)


@examples(20)
@given(st.integers(0, 10**6))
def test_every_equilibrium_is_correlated_in_every_sense(seed: int) -> None:
    try:
        found = extreme_equilibria(form_tree(seed, 2))
    except BudgetError:
        return
    for one in found.equilibria:
        x, y = (np.array([float(c) for c in own]) for own in one.mixtures)
        plan = of_table(found.form, normal_form(found.form), np.multiply.outer(x, y))
        for kind in KINDS:
            assert max(plan.gains(kind)) < 1e-9


def test_openspiel_measures_the_same_distance() -> None:
    """Its ``cce_dist``: the sum over players of what the best deviation from the start gains."""
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game("kuhn_poker")
    form = SequenceForm.of(load("kuhn_poker"))
    table = normal_form(form)
    cells = [(3, 17), (20, 60), (26, 0), (11, 33)]
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    probabilities = np.zeros(table.payoffs.shape[:-1])
    device = []
    cards = {"J": "0", "Q": "1", "K": "2"}
    for cell, weight in zip(cells, weights, strict=True):
        probabilities[cell] += weight
        policy = {}
        for p in range(2):
            words = table.strategies[p][cell[p]].split("/")
            for k, word in zip(form.player_infosets(p), words, strict=True):
                card, *past = form.keys[k].replace("[", "").replace("]", "").split()
                state = cards[card] + "".join("p" if action == "pass" else "b" for action in past)
                policy[state] = [(0, float(word != "bet")), (1, float(word == "bet"))]
        device.append((float(weight), pyspiel.TabularPolicy(policy)))
    plan = of_table(form, table, probabilities)
    assert sum(plan.gains("cce")) == pytest.approx(pyspiel.cce_dist(theirs, device).dist_value, abs=1e-9)


def test_words_that_cost_nothing(tmp_path: Path) -> None:
    """A signal that both kinds of applicant can send tells nothing, unless a mediator speaks at the right moment."""
    path = tmp_path / "market.efg"
    path.write_text(
        'EFG 2 R "market" { "applicant" "firm" }\nc "" 1 "" { "good" 1/2 "bad" 1/2 } 0\n'
        + "".join(
            f'p "" 1 {k} "" {{ "x" "y" }} 0\n'
            + "".join(
                f'p "" 2 {m} "" {{ "hire" "not" }} 0\nt "" {2 * k - 1} "" {{ {paid} }}\nt "" {2 * k} "" {{ 0 6 }}\n'
                for m in (1, 2)
            )
            for k, paid in ((1, "4 10"), (2, "6 0"))
        )
    )
    assert correlated_equilibrium(str(path), "ce").values == pytest.approx((0, 6))
    plan = correlated_equilibrium(str(path), "efce")
    assert sum(plan.values) > 9.9
    assert max(plan.gains("ce")) > 0.1


def test_what_there_is_not_and_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="kind=nash is not one of ce, efce, efcce, cce"):
        correlated_equilibrium(CHICKEN, "nash")
    with pytest.raises(UnknownNameError, match="did you mean 'welfare'"):
        correlated_equilibrium(CHICKEN, "ce", "welfair")
    with pytest.raises(BudgetError, match="its reduced normal form has"):
        correlated_equilibrium("leduc_poker", "ce")
    with monkeypatch.context() as patch, pytest.raises(UnsupportedGameError, match="plans have no distribution"):
        patch.setattr(programs, "MOST_ROUNDS", 2)
        patch.setattr(programs, "_cells", lambda _: None)
        module._best(compiled := Compiled.of("kuhn_poker"), OneByOne(compiled), "cce", "P1")
    monkeypatch.setattr(programs, "MOST_ENTRIES", 10)
    with pytest.raises(BudgetError, match="of its 9 combinations has more than 10 entries"):
        correlated_equilibrium(CHICKEN)
    monkeypatch.setattr(programs, "MOST_TUPLES", 5)
    with pytest.raises(BudgetError, match="of A\\+B combine to more than 5 tuples"):
        correlated_equilibrium(CHICKEN)


class OneByOne(programs.Tuples):
    """Where what fits cannot be drawn, and strategies are too many."""

    def drawn(self, found: FloatArray) -> Any:
        raise BudgetError("not so")


class WithoutChance(RandomState):
    def chance_outcomes(self, actions: Any) -> tuple[Any, ...]:
        return ()

    def actions(self, player: int) -> bool:
        return super().actions(player) or player == 0  # somebody has to

    def returns(self) -> tuple[float, ...]:
        return tuple(float(self.noise("pays", p) % 9) for p in range(self.game.num_players))


@examples(25)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS[1:]), objective=st.sampled_from(["welfare", "P2"]))
def test_pairs_of_sequences_are_as_good_as_combinations_of_strategies(seed: int, kind: str, objective: str) -> None:
    """von Stengel & Forges 2008: without chance, for two players."""
    compiled = Compiled.of(RandomGame(seed, 2, 3, WithoutChance))
    if np.prod([count_strategies(compiled.form, p) for p in range(2)]) > 3000:
        return
    found = [module._best(compiled, variables, kind, objective) for variables in
             (programs.Cells(compiled.form), programs.Tuples(compiled))]  # fmt: skip
    for plan in found:
        assert max(plan.gains(kind)) < 1e-7
        assert plan.probabilities.sum() == pytest.approx(1)
    paid = [sum(plan.values) if objective == "welfare" else plan.values[1] for plan in found]
    assert paid[0] == pytest.approx(paid[1], abs=1e-7)


@examples(20)
@given(seed=st.integers(0, 10**6), players=st.integers(2, 3), kind=st.sampled_from(KINDS[1:]))
def test_plans_found_one_by_one_are_as_good(seed: int, players: int, kind: str) -> None:
    """Column generation, with chance and for any number of players; its bound is met."""
    compiled = Compiled.of(RandomGame(seed, players, 2))
    if np.prod([count_strategies(compiled.form, p) for p in range(players)]) > 500:
        return
    best = module._best(compiled, programs.Cells(compiled.form), kind, "welfare")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "_cells", lambda _: None)
        found = module._best(compiled, OneByOne(compiled), kind, "welfare")
    assert max(found.gains(kind)) < 1e-7
    assert found.bound is None
    assert sum(found.values) == pytest.approx(sum(best.values), abs=1e-6)


def test_too_many_strategies_with_nature() -> None:
    """Where the sum is constant nobody gets more than its value, whatever is drawn: -1/16 with eight cards."""
    plan = correlated_equilibrium("kuhn_poker(cards=8)", "cce", "P1")
    assert plan.values == pytest.approx((-1 / 16, 1 / 16), abs=1e-8)
    assert plan.bound is None


@pytest.mark.parametrize("kind", ["cce", pytest.param("efce", marks=pytest.mark.slow)])
def test_three_players_of_whom_each_has_many_strategies(kind: str) -> None:
    """Kuhn poker for three: 4.3e12 combinations of strategies; a few plans will do."""
    plan = correlated_equilibrium("kuhn_poker(players=3)", kind)
    assert max(plan.gains(kind)) < 1e-9
    assert sum(plan.values) == pytest.approx(0, abs=1e-9)
    assert len(plan.plans) < 100
    assert plan.bound is None


def test_a_bound_where_the_best_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no gap were small enough: what is found after so many rounds, and what nothing exceeds."""
    monkeypatch.setattr(programs, "MOST_ROUNDS", 30)
    monkeypatch.setattr(programs, "GAP", -1.0)
    compiled = Compiled.of("kuhn_poker")
    monkeypatch.setattr(programs, "_cells", lambda _: None)
    plan = module._best(compiled, OneByOne(compiled), "cce", "P2")
    assert plan.bound == pytest.approx(1 / 18)
    assert plan.values[1] == pytest.approx(1 / 18)
    assert "no plan of the kind pays more than 0.0555" in str(plan).splitlines()[-1]


def test_sheriff() -> None:
    """Farina, Ling, Fang & Sandholm 2019: who must not leave before it is told (``cce``) may agree on more for the
    sheriff than who may leave at each move (``efce``).
    """
    pytest.importorskip("pyspiel")
    game = load("openspiel:sheriff(max_items=3,max_bribe=3,num_rounds=2)")
    plans = {kind: correlated_equilibrium(game, kind, "P2") for kind in KINDS[1:]}
    for kind, plan in plans.items():
        assert max(plan.gains(kind)) < 1e-8
    paid = [plans[kind].values[1] for kind in KINDS[1:]]
    assert paid == sorted(paid)
    assert paid[2] > paid[0] + 0.1


@pytest.mark.parametrize("size", [1e-11, 1.0, 1e9])
@pytest.mark.parametrize("kind", KINDS)
def test_payoffs_of_any_size(size: float, kind: str) -> None:
    """In the dilemma nobody is talked into what is dominated."""
    cells = " ".join(f"{size * value!r}" for value in (3, 3, 5, 0, 0, 5, 1, 1))
    game = NfgGame(parse_nfg(f'NFG 1 R "" {{ "A" "B" }} {{ 2 2 }} {cells}'), "dilemma")
    assert str(correlated_equilibrium(game, kind)).splitlines()[1:] == [
        "chance    A start  B start",
        "1.000000  2        2",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_mediator_draws_for_everybody(kind: str, tmp_path: Path) -> None:
    """A plan is a file that plays: what nobody is told together never happens, and the payoffs are those of the plan."""
    found = solve(CHICKEN, f"correlated(kind={kind})", out=tmp_path / "run")
    plan = correlated_equilibrium(CHICKEN, kind)
    assert found.values == pytest.approx(plan.values, abs=1e-9)
    saved = load_policy(tmp_path / "run")
    assert isinstance(saved, CorrelatedPolicy)
    agents = [PolicyAgent(saved, f"agent {k}") for k in range(2)]
    met = [play_match(CHICKEN, agents, seed=seed).steps[0].actions for seed in range(200)]
    told = {"".join(strategy_name(plan.form, p, row) for p in range(2)) for row in plan.plans}
    assert {f"{a}{b}" for a, b in met} == told
    again = CorrelatedPlan.drawn(plan.form, saved)
    assert again.probabilities == pytest.approx(plan.probabilities, abs=1e-9)
    figures = evaluate(CHICKEN, saved)
    assert figures.values == pytest.approx(plan.values, abs=1e-9)
    assert f"{kind} 0" in figures.reason or max(again.gains(kind)) < 1e-9


@given(seed=st.integers(0, 500))
@examples(20)
def test_plans_of_trees_come_back(seed: int) -> None:
    form = SequenceForm.of(RandomGame(seed, depth=2))
    plan = correlated_equilibrium(form, "efce")
    again = CorrelatedPlan.drawn(form, plan.policy)
    assert again.probabilities == pytest.approx(plan.probabilities, abs=1e-6)
    assert evaluate(form, plan.policy).values == pytest.approx(plan.values, abs=1e-6)


def test_only_pure_plans_are_told() -> None:
    policy = correlated_equilibrium(CHICKEN, "ce").policy
    lottery = policy.lotteries[0]
    mixed = replace(policy, lotteries=(replace(lottery, plans=np.full(lottery.plans.shape, 0.5)),))
    with pytest.raises(PolicyError, match="plan 1 is not pure"):
        evaluate(CHICKEN, mixed)
    with pytest.raises(UnknownNameError, match="'C'"):
        solve(CHICKEN, "correlated(objective=C)")
