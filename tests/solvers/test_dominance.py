"""Strictly dominated strategies, round by round."""

from hypothesis import given
from hypothesis import strategies as st

from extent import examples
from infoset import GameTree, SequenceForm, correlated_equilibrium, eliminate_dominated, extreme_equilibria
from infoset.errors import BudgetError
from infoset.formats.nfg import NfgGame, parse_nfg
from infoset.tree.normal_form import normal_form
from plan_names import strategy_name
from random_games import RandomGame


def table(sizes: str, cells: str) -> NfgGame:
    """The first player's strategy runs fastest."""
    return NfgGame(parse_nfg(f'NFG 1 R "" {{ "A" "B" }} {{ {sizes} }} {cells}'), "table")


def test_the_dilemma() -> None:
    found = eliminate_dominated(table("2 2", "3 3  5 0  0 5  1 1"))
    assert found.left == (("2",), ("2",))
    assert [(one.round, one.player, one.strategy, one.by) for one in found.dominated] == [
        (1, "A", "1", {"2": 1.0}), (1, "B", "1", {"2": 1.0})
    ]  # fmt: skip


def test_round_after_round() -> None:
    """The guessing game: half of the mean of two numbers from 0 to 3 wins; 3 goes first, at the end 0 is left."""

    def paid(a: int, b: int) -> tuple[float, float]:
        aim = (a + b) / 4
        return -abs(a - aim), -abs(b - aim)

    cells = " ".join(f"{paid(a, b)[0]} {paid(a, b)[1]}" for b in range(4) for a in range(4))
    found = eliminate_dominated(table("4 4", cells))
    assert found.left == (("1",), ("1",))
    assert max(one.round for one in found.dominated) > 1
    assert {one.player for one in found.dominated} == {"A", "B"}


def test_only_a_mixture_dominates() -> None:
    found = eliminate_dominated(table("3 2", "3 0  0 0  1 0   0 0  3 0  1 0"))
    (gone,) = [one for one in found.dominated if one.player == "A"]
    assert gone.strategy == "3"
    assert set(gone.by) == {"1", "2"}


def test_weak_domination_is_left_alone() -> None:
    assert eliminate_dominated(table("2 2", "1 1  0 0  0 0  0 0")).dominated == ()
    assert "no strategy is strictly dominated" in str(eliminate_dominated("matching_pennies_3p"))


@examples(25)
@given(st.integers(0, 10**6))
def test_no_equilibrium_plays_what_goes(seed: int) -> None:
    """On random trees neither any Nash equilibrium nor a correlated one gives it a chance."""
    tree = GameTree.of(RandomGame(seed, 2, 2))
    found = eliminate_dominated(tree)
    try:
        all_of_them = extreme_equilibria(tree)
    except BudgetError:
        return
    names = normal_form(SequenceForm.of(tree)).strategies
    plan = correlated_equilibrium(tree, "ce")
    drawn = [{strategy_name(plan.form, p, row) for row in plan.plans[plan.probabilities > 1e-7]} for p in range(2)]
    for p, own in enumerate(names):
        for k, name in enumerate(own):
            if name not in found.left[p]:
                assert all(one.mixtures[p][k] == 0 for one in all_of_them.equilibria)
                assert name not in drawn[p]
