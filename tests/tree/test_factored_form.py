"""The factored form: the same figures as the tree's, published counts to the unit, and games no tree can hold."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import infoset
from conftest import form_of
from extent import examples, mark_slow
from infoset.base import Observed
from infoset.compiled import Compiled
from infoset.errors import BudgetError, GameRuleError, ParameterError, PolicyError, UnsupportedGameError
from infoset.games.dark_hex import HexState
from infoset.games.phantom_board import Masks, PhantomRules, PhantomState, phantom_rules
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.policies.asking import ask_factored
from infoset.policies.factored_policy import FactoredPolicy
from infoset.solvers.metrics import best_behaviour, evaluate_images, evaluate_plan
from infoset.testing import check_game
from infoset.tree.factored_form import FactoredForm
from infoset.tree.factored_rules import FactoredRules
from infoset.tree.factoring import factor_game
from infoset.tree.form_check import check_factored_form
from infoset.tree.game_tree import GameTree
from infoset.tree.kernels import gradient
from infoset.tree.parallel_gradient import ParallelGradient
from infoset.tree.plans import random_interior, realisation, uniform
from infoset.tree.sequence_form import SequenceForm

SMALL = [
    "dark_hex(rows=2,columns=2)",
    "dark_hex(rows=2,columns=3)",
    "dark_hex(rows=2,columns=2,abrupt=true)",
    "battleship(rows=2,columns=2,shots=2)",
    "battleship(rows=1,columns=3,ships=1,shots=3,repeats=true)",
    "battleship(rows=2,columns=2,ships=[1,2],shots=2)",
    "battleship(rows=1,columns=4,ships=[2,1],shots=2)",
    "liars_dice(dice_sides=3)",
    "liars_dice(numdice=2,dice_sides=2)",
]
LARGEST = SMALL[5:7]
PHANTOM, HEX = "phantom_tic_tac_toe", "dark_hex"


@cache
def rules_of(name: str) -> FactoredRules:
    return factor_game(infoset.load(name))


def same(tree: SequenceForm, factored: SequenceForm, strategy: np.ndarray) -> np.ndarray:
    """Behaviour on the tree's sequences as that on the factored form's."""
    at = {key: k for k, key in enumerate(zip(tree.infoset_player.tolist(), tree.keys, strict=True))}
    moved = np.ones(factored.num_sequences)
    for k, key in enumerate(zip(factored.infoset_player.tolist(), factored.keys, strict=True)):
        here, there = int(factored.arrays.first[k]), int(tree.arrays.first[at[key]])
        assert factored.actions[k] == tree.actions[at[key]]
        moved[here : here + len(factored.actions[k])] = strategy[there : there + len(factored.actions[k])]
    return moved


def gradients(form: SequenceForm, plan: np.ndarray) -> np.ndarray:
    values = np.zeros(form.num_sequences)
    for player in range(form.num_players):
        gradient(form.arrays, player, plan, values)
    return values


@pytest.mark.parametrize("name", mark_slow(SMALL, LARGEST))
def test_trees_and_products_give_the_same_figures(name: str) -> None:
    tree, factored = form_of(name), FactoredForm.of(rules_of(name)).form
    assert rules_of(name).sizes[:2] == (tree.num_histories, tree.num_terminals)
    assert (factored.num_infosets, factored.num_sequences) == (tree.num_infosets, tree.num_sequences)
    assert (factored.num_histories, factored.num_terminals) == (tree.num_histories, tree.num_terminals)
    assert factored.constant_sum == tree.constant_sum
    for seed in range(3):
        strategy = random_interior(tree, seed)
        moved = same(tree, factored, strategy)
        one, other = realisation(tree, strategy), realisation(factored, moved)
        assert np.allclose(
            same(tree, factored, gradients(tree, one))[1:],
            _inside(factored, gradients(factored, other))[1:],
            atol=1e-12,
            rtol=0,
        )
        a, b = evaluate_plan(tree, one), evaluate_plan(factored, other)
        assert np.allclose(a.values + a.best_response_values, b.values + b.best_response_values, atol=1e-12, rtol=0)


def _inside(form: SequenceForm, values: np.ndarray) -> np.ndarray:
    """Empty sequences belong to no information set."""
    return np.where(form.infoset_of < 0, 1.0, values)


@pytest.mark.parametrize("name", mark_slow(SMALL, LARGEST))
def test_symmetric_profiles_lose_nothing(name: str) -> None:
    """The quotient has the same value; uniform play is worth the same in it, and so are the answers to it."""
    plain, quotient = FactoredForm.of(rules_of(name)), FactoredForm.of(rules_of(name), symmetric=True)
    assert (quotient.group.order == 2) == name.startswith("dark_hex")
    assert quotient.form.num_infosets < plain.form.num_infosets or quotient.group.order == 1
    found = infoset.evaluate(_factored_only(name), "random")
    exact = evaluate_plan(plain.form, realisation(plain.form, uniform(plain.form)))
    assert np.allclose(found.values + found.best_response_values, exact.values + exact.best_response_values, atol=1e-12)
    solved = infoset.solve(name, "pcfr+", iterations=2000, form="factored")
    assert solved.values[0] == pytest.approx(infoset.solve(name, "lp").values[0], abs=1e-3)


class Diagonals(PhantomState):
    """On two by two cells who has a diagonal wins: the square's eight symmetries, four of which keep the first cell's."""

    __slots__ = ()

    def decided(self, stones: Masks) -> tuple[float, ...] | None:
        if stones[self.mover] in (0b1001, 0b0110):
            return (1.0, -1.0) if self.mover == 0 else (-1.0, 1.0)
        return (0.0, 0.0) if stones[0] | stones[1] == 0b1111 else None


def _diagonals(abrupt: bool) -> FactoredRules:
    return factor_game(phantom_rules("diagonals", Diagonals(2, 2, abrupt, (0, 0), (0, 0), 0)))


def _lopsided(player: int, known: Any, action_set: tuple[Any, ...]) -> list[float]:
    """Chances that keep to no symmetry."""
    drawn = np.random.default_rng([player, *repr(known).encode()]).exponential(size=len(action_set))
    return list(drawn / drawn.sum())


@pytest.mark.parametrize("name", [*SMALL, "diagonals", "abrupt diagonals"])
def test_profiles_that_are_not_symmetric_have_the_same_figures_over_all_images(name: str) -> None:
    rules = _diagonals("abrupt" in name) if "diagonals" in name else rules_of(name)
    plain, imaged = FactoredForm.of(rules), FactoredForm.of(rules, symmetric=True, elements=True)
    assert imaged.group.order == (8 if "diagonals" in name else 2 if "hex" in name else 1)
    plan = realisation(plain.form, ask_factored(_lopsided, plain)[:, 0])
    one, other = evaluate_plan(plain.form, plan), evaluate_images(imaged, ask_factored(_lopsided, imaged))
    assert np.allclose(one.values + one.best_response_values, other.values + other.best_response_values, atol=1e-12)


@pytest.mark.parametrize("name", ["dark_hex(rows=2,columns=3)", "liars_dice(numdice=2,dice_sides=2)"])
def test_halves_have_the_gradient_of_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form = FactoredForm.of(rules_of(name), symmetric=True).form
    assert form.parallel is None  # so small a form is not cut in two
    plan, values = realisation(form, random_interior(form, 1)), np.zeros(form.num_sequences)
    for player in range(2):
        ParallelGradient(form.arrays).gradient(player, plan, values)
    assert np.allclose(values, gradients(form, plan), atol=1e-12)
    methods = ("pcfr+", "cfr(alternating=false)")  # in turn, and all at once
    whole = [infoset.solve(name, method, iterations=50, form="factored").exploitability for method in methods]
    monkeypatch.setattr("infoset.tree.factored_form.MANY_ENTRIES", 0)
    halved = [infoset.solve(name, method, iterations=50, form="factored").exploitability for method in methods]
    assert halved == pytest.approx(whole, abs=1e-9)


def _factored_only(name: str) -> Compiled:
    """The game with room for no tree."""
    return Compiled(infoset.load(name), max_histories=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "ends", "first", "second"),
    [(HEX, 9_469_697_760, 1.0, 0.832804), (PHANTOM, 9_829_101_024, 0.953125, 0.6243386)],
)
def test_published_counts_and_answers_to_uniform_play(name: str, ends: int, first: float, second: float) -> None:
    """Rudolph et al. (2025), arXiv 2502.08938: terminal histories; best responses in dark hex 1.0000 and .832804."""
    compiled = Compiled.of(name)
    assert compiled.factored_rules.sizes.ends == ends
    found = infoset.evaluate(compiled, "random")
    assert found.exact
    assert found.best_response_values == pytest.approx((first, second), abs=1e-6)
    solution = infoset.solve(compiled, target=0.02)
    assert solution.method.startswith("pdcfr+") and solution.notes["form"] == "factored"
    assert solution.values[0] == pytest.approx({HEX: 1, PHANTOM: 2 / 3}[name], abs=0.03)
    assert infoset.evaluate(compiled, solution.policy).exploitability == pytest.approx(solution.exploitability)


def test_the_winning_profile_of_dark_hex_is_the_current_one(tmp_path: Any) -> None:
    """Three by two: the first player wins for certain, and what was played last says so long before the average does."""
    solution = infoset.solve("dark_hex(rows=2,columns=3)", "pcfr+", iterations=2, form="factored")
    assert solution.notes["profile"] == "current"
    assert solution.exploitability < 1e-12
    policy = solution.policy
    assert isinstance(policy, FactoredPolicy)
    loaded = FactoredPolicy.load(policy.save(tmp_path / "hex.npz"))
    assert loaded.made_by == policy.made_by and loaded.num_infosets == policy.num_infosets
    figures = infoset.evaluate(_factored_only("dark_hex(rows=2,columns=3)"), loaded)
    assert figures.exploitability == solution.exploitability
    series = infoset.play_series("dark_hex(rows=2,columns=3)", [loaded_agent(loaded), "random"], games=60)
    assert next(score.seat_means for score in series.agents)[0] == 1.0
    with pytest.raises(PolicyError, match="was made for dark_hex"):
        loaded.on(Compiled.of("kuhn_poker"))


def loaded_agent(policy: FactoredPolicy) -> Any:
    from infoset.match.agents import PolicyAgent

    return PolicyAgent(policy)


def test_policies_of_other_kinds_are_asked_everywhere() -> None:
    """A policy without symmetries, by its probabilities alone, has the tree's exact figures."""
    name = "dark_hex(rows=2,columns=3)"
    tree = form_of(name)
    policy = infoset.TabularPolicy.from_behaviour(tree, random_interior(tree, 5))
    mine = infoset.evaluate(tree, policy.plan(tree))

    class Asked:
        def action_probabilities(self, player: int, known: Any, legal_actions: Any) -> Any:
            return policy.action_probabilities(player, known, legal_actions)

    found = infoset.evaluate(_factored_only(name), Asked(), respond=True)
    assert np.allclose(found.best_response_values, mine.best_response_values, atol=1e-12)
    assert isinstance(found.best_response, FactoredPolicy)


def test_a_run_is_cut_and_resumed(tmp_path: Any) -> None:
    whole = infoset.solve(HEX + "(rows=2)", "dcfr", iterations=40, form="factored")
    infoset.solve(HEX + "(rows=2)", "dcfr", iterations=15, form="factored", out=tmp_path / "run")
    resumed = infoset.solve(out=tmp_path / "run", resume=True, iterations=40)
    assert resumed.exploitability == whole.exploitability
    assert resumed.notes["form"] == "factored"


PEERS = {
    "dark_hex(rows=2,columns=2)": "dark_hex(num_rows=2,num_cols=2)",
    "dark_hex(rows=2,columns=2,abrupt=true)": "dark_hex(num_rows=2,num_cols=2,gameversion=adh)",
    "battleship(rows=2,columns=2,shots=2)": "battleship(board_height=2,board_width=2,ship_sizes=[2],ship_values=[1],num_shots=2,allow_repeated_shots=False)",
    "battleship(rows=1,columns=4,ships=[1,2],shots=2)": "battleship(board_height=1,board_width=4,ship_sizes=[1;2],ship_values=[1;1],num_shots=2,allow_repeated_shots=False)",
    "battleship(rows=1,columns=3,ships=1,shots=3,repeats=true)": "battleship(board_height=1,board_width=3,ship_sizes=[1],ship_values=[1],num_shots=3)",
}  # fmt: skip


@pytest.mark.parametrize("name", PEERS)
def test_games_are_those_of_openspiel(name: str) -> None:
    """The same histories, values and best responses to uniform play."""
    pytest.importorskip("pyspiel")
    mine, theirs = form_of(name), form_of(f"openspiel:{PEERS[name]}")
    assert (mine.num_histories, mine.num_terminals) == (theirs.num_histories, theirs.num_terminals)
    a, b = (evaluate_plan(form, realisation(form, uniform(form))) for form in (mine, theirs))
    assert np.allclose(a.values + a.best_response_values, b.values + b.best_response_values, atol=1e-12)


def exported(name: str, theirs: str) -> tuple[Any, Any, FactoredPolicy]:
    """OpenSpiel's game, and a random policy of the factored form as its table, and as it is here."""
    pyspiel = pytest.importorskip("pyspiel")
    factored = FactoredForm.of(factor_game(infoset.load(name)))
    mine, game = FactoredPolicy.of(factored, random_interior(factored.form, 3)), pyspiel.load_game(theirs)
    table = infoset.export_policy(mine, name, game)
    rows = {
        key: [(action, float(table.action_probability_array[k, action])) for action in np.flatnonzero(mask)]
        for key, k in table.state_lookup.items() for mask in [table.legal_actions_mask[k]]
    }  # fmt: skip
    return game, pyspiel.TabularPolicy(rows), mine


@pytest.mark.parametrize("abrupt", [False, True])
def test_openspiel_says_the_same_of_policies_that_are_exported(abrupt: bool) -> None:
    name = f"dark_hex(rows=2,columns=2,abrupt={str(abrupt).lower()})"
    game, theirs, mine = exported(name, f"dark_hex(num_rows=2,num_cols=2,gameversion={'adh' if abrupt else 'cdh'})")
    found, pyspiel = infoset.evaluate(name, mine).exploitability, pytest.importorskip("pyspiel")
    assert found > 0.4
    assert pyspiel.exploitability(game, theirs) == pytest.approx(found, abs=1e-12)


@pytest.mark.slow
def test_openspiels_words_tell_how_many_moves_were_made() -> None:
    """Its tensors do not, and no more do the games of Rudolph et al. (2025); whoever answers by its words knows more.

    The values of what is played are the same.
    """
    pyspiel, name = pytest.importorskip("pyspiel"), "dark_hex(rows=2,columns=3)"
    game, theirs, mine = exported(name, "dark_hex(num_rows=2,num_cols=3)")
    figures = infoset.evaluate(name, mine)
    values = pyspiel.expected_returns(game.new_initial_state(), [theirs, theirs], -1, True)
    assert values == pytest.approx(figures.values, abs=1e-12)
    assert pyspiel.exploitability(game, theirs) > figures.exploitability + 0.005
    tree, told = GameTree.of(infoset.load(name)), list[tuple[int, str]]()
    todo = [(0, game.new_initial_state())]
    while todo:
        node, state = todo.pop()
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        if len(children) > 1:
            told.append((int(tree.infoset[node]), state.information_state_string()))
        todo += [(child, state.child(action)) for child, action in zip(children, state.legal_actions(), strict=True)]
    assert len({key for _, key in told}) == len(set(told)) == 5086  # each of theirs lies in one of ours
    assert len({infoset for infoset, _ in told}) == 1788
    assert len({(infoset, key.split("\n")[-1]) for infoset, key in told}) == 1788  # without the count, one to one


def test_ships_that_find_no_room() -> None:
    with pytest.raises(ParameterError, match=r"ships of lengths \[3, 3\] find no room on 2 x 2 cells"):
        infoset.load("battleship(rows=2,columns=2,ships=[3,3])")
    with pytest.raises(ParameterError, match="ships=wide is not a length or a list of lengths"):
        infoset.load("battleship(ships=wide)")
    picture = infoset.load("battleship").picture([((("across", 1, 1), ()), (None, (1, 1)), ((2, 2), "hit")), None])  # type: ignore[attr-defined]
    mine, other = [part["cells"] for part in picture["parts"]]
    assert mine == [["×", "o", ""], ["", "", ""]]
    assert other == [["", "", ""], ["", "×", ""]]


# Random games with random cores


def test_a_game_in_which_nobody_is_paid() -> None:
    """No block is left then; what is not there is not read."""
    game = UnpaidRules("unpaid", seats(2), Observed(RandomState(3, (), (0, 0), 0), (None, None)))
    form = FactoredForm.of(factor_game(game)).form
    assert form.arrays.factored
    assert evaluate_plan(form, realisation(form, uniform(form))).values == (0, 0)


class _Fields(NamedTuple):
    seed: int
    core: tuple[int, ...]
    own: tuple[int, int]
    mover: int


class RandomState(NativeState, _Fields):
    """What a move does is drawn from the core, the move and what its mover has; payoffs from everything."""

    __slots__ = ()

    def draw_number(self, *parts: Any) -> int:
        return int(np.random.default_rng([self.seed, *[int(part) for part in parts]]).integers(1 << 30))

    @property
    def lasting(self) -> int:
        return self.own[self.mover] % 4

    def legal_actions(self, player: int) -> tuple[Any, ...]:
        if player != self.mover:
            return ()
        return tuple(range(1 + self.draw_number(1, len(self.core), self.own[player]) % 3))

    def play_unchecked(self, actions: Any, chance_outcome: Any = None) -> Observed:
        mover, action = self.mover, actions[self.mover]
        kind = self.draw_number(2, *self.core, mover, action)
        mine = self.own[mover]
        seen: list[Any] = [None, None]
        if kind % 3 == 0 and mine < 3:
            seen[mover] = "again"
            own = (mine + 1, self.own[1]) if mover == 0 else (self.own[0], mine + 1)
            return Observed(self._replace(own=own), tuple(seen))
        core = (*self.core, kind % 2)
        if kind % 5 == 0:
            seen[1 - mover] = kind % 2
        if len(core) == 4:
            paid = float(self.draw_number(3, *core, *self.own) % 7 - 3)
            return Observed(Ended((paid, -paid)), (None, None))
        return Observed(RandomState(self.seed, core, self.own, 1 - mover), tuple(seen))

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


class RandomRules(Rules):
    def split(self, state: Any) -> Any:
        return ((state.core, state.mover), state.own) if isinstance(state, RandomState) else None

    def join(self, core: Any, own: Any) -> Any:
        return RandomState(self.first.state.seed, core[0], own, core[1])  # type: ignore[attr-defined]


def random_game(seed: int) -> RandomRules:
    return RandomRules(f"random {seed}", seats(2), Observed(RandomState(seed, (), (0, 0), 0), (None, None)))


class UnpaidRules(RandomRules):
    """An end at which nothing is paid, whatever was drawn."""

    def split(self, state: Any) -> Any:
        return ("end", ((), ())) if isinstance(state, Ended) else super().split(state)

    def join(self, core: Any, own: Any) -> Any:
        return UnpaidState(*super().join(core, own))


class UnpaidState(RandomState):
    __slots__ = ()

    def play_unchecked(self, actions: Any, chance_outcome: Any = None) -> Observed:
        step = super().play_unchecked(actions, chance_outcome)
        return Observed(Ended((0.0, 0.0)), (None, None)) if isinstance(step.state, Ended) else step


@given(st.integers(0, 10_000))
@example(2107)  # in which one of four cells has no edge of an event, and another one two
@examples(25)
def test_random_games_with_random_cores(seed: int) -> None:
    game = random_game(seed)
    try:
        tree = SequenceForm.of(game)
    except GameRuleError:
        return  # a player's moves that its information does not tell
    factored = FactoredForm.of(factor_game(game)).form
    strategy = random_interior(tree, seed)
    a = evaluate_plan(tree, realisation(tree, strategy))
    b = evaluate_plan(factored, realisation(factored, same(tree, factored, strategy)))
    assert np.allclose(a.values + a.best_response_values, b.values + b.best_response_values, atol=1e-12)
    assert factor_game(game).sizes[:2] == (tree.num_histories, tree.num_terminals)
    assert check_factored_form(game, FactoredForm.of(factor_game(game)), plays=20) > 0


# What does not factor


class LyingRules(RandomRules):
    """Says that all is the core, but for half of what the second player has."""

    def join(self, core: Any, own: Any) -> Any:
        return super().join(core, (own[0], 0))


class TimelessRules(PhantomRules):
    """The abrupt game without its count of failed tries: both may fail, and the core is where it was."""

    def split(self, state: Any) -> Any:
        core, own = super().split(state)
        return (*core[:-1], (0, 0)) if isinstance(state, HexState) else core, own


def test_a_core_that_comes_back_is_refused() -> None:
    """Else its paths would have no end."""
    abrupt = infoset.load("dark_hex(rows=2,columns=2,abrupt=true)")
    timeless = TimelessRules(abrupt.name, abrupt.players, abrupt.first, abrupt.look)  # type: ignore[attr-defined]
    with pytest.raises(GameRuleError, match="a public component occurs twice"):
        factor_game(timeless)


def test_a_file_with_other_chances_than_sum_to_one_has_no_figures() -> None:
    policy = infoset.solve("dark_hex(rows=2,columns=3)", "dcfr", iterations=3, form="factored").policy
    bent = replace(policy, policy=policy.policy._replace(behaviour=policy.policy.behaviour / 2))
    with pytest.raises(PolicyError, match="sets do not sum to 1"):
        infoset.evaluate(_factored_only("dark_hex(rows=2,columns=3)"), bent)


def test_a_core_that_is_none_is_found_in_play() -> None:
    lying = LyingRules("lying", seats(2), Observed(RandomState(7, (), (0, 0), 0), (None, None)))
    with pytest.raises(GameRuleError, match="join does not invert split at"):
        check_game(lying, plays=200)
    with pytest.raises(GameRuleError, match="join does not invert split at"):
        infoset.solve(lying, "dcfr", form="factored")
    for name in SMALL:
        check_game(infoset.load(name), plays=20)


def test_what_cannot_be_factored_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedGameError, match="kuhn_poker does not declare the cores of its states"):
        factor_game(infoset.load("kuhn_poker"))
    with pytest.raises(UnsupportedGameError, match="mccfr samples; form=factored"):
        infoset.solve("liars_dice", "mccfr", form="factored")
    with pytest.raises(ParameterError, match="form=folded is not one of tree, factored, vector, sampled"):
        infoset.solve("liars_dice", "dcfr", form="folded")
    with pytest.raises(UnsupportedGameError, match="lock names information sets of the tree"):
        infoset.solve("liars_dice", "dcfr", form="factored", lock={"P1": "random"})
    monkeypatch.setattr("infoset.tree.factored_rules.MOST_CELLS", 100)
    with pytest.raises(BudgetError, match="more than 100 cells"):
        infoset.solve("dark_hex(rows=2,columns=3)", "dcfr", form="factored")
    assert infoset.solve("dark_hex(rows=2,columns=3)", iterations=3).notes.get("form") is None  # the tree fits
    monkeypatch.undo()
    rules = rules_of("dark_hex(rows=2,columns=3)")
    assert rules.sizes.entries == len(FactoredForm.of(rules).form.arrays.entries)
    monkeypatch.setattr("infoset.memory.free_memory", lambda: 10_000)
    with pytest.raises(
        BudgetError,
        match=r"dark_hex.rows=2. has 104,229 histories, and the lists of its factored form up to 10,420 entries",
    ):
        FactoredForm.of(rules)
    monkeypatch.undo()
    form = FactoredForm.of(rules_of("dark_hex(rows=2,columns=2)")).form
    with pytest.raises(UnsupportedGameError, match="needs every history"):
        form.terminals()


def test_answers_to_uniform_play_gain_what_is_said() -> None:
    factored = FactoredForm.of(rules_of("liars_dice(dice_sides=3)"))
    plan = realisation(factored.form, uniform(factored.form))
    best = realisation(factored.form, best_behaviour(factored.form, plan))
    for player in range(2):
        own = factored.form.player_sequences(player)
        mixed = plan.copy()
        mixed[own] = best[own]
        found = evaluate_plan(factored.form, mixed).values[player]
        assert found == pytest.approx(evaluate_plan(factored.form, plan).best_response_values[player], abs=1e-12)
