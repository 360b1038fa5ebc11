"""Games of OpenSpiel through the adapter: the same trees, the same figures."""

import pytest

from conftest import form_of
from infoset import SequenceForm, TabularPolicy, evaluate, export_policy, linear_program, load, solve
from infoset.errors import ImperfectRecallError, ParameterError, UnknownNameError
from infoset.testing import check_game
from infoset.tree.plans import realisation, uniform

pytest.importorskip("pyspiel")

PAIRS = [
    ("openspiel:kuhn_poker", "kuhn_poker"),
    ("openspiel:kuhn_poker(players=3)", "kuhn_poker(players=3)"),
    ("openspiel:leduc_poker", "leduc_poker"),
    ("openspiel:goofspiel(num_cards=3)", "goofspiel(num_cards=3)"),
    ("openspiel:liars_dice(numdice=2,dice_sides=2)", "liars_dice(numdice=2,dice_sides=2)"),
    ("openspiel:matching_pennies_3p", "matching_pennies_3p"),
]


@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
def test_same_game_as_the_native_one(theirs: str, ours: str) -> None:
    form, native = SequenceForm.of(load(theirs)), form_of(ours)
    assert (form.num_histories, form.num_infosets) == (native.num_histories, native.num_infosets)
    one = evaluate(form, realisation(form, uniform(form)))
    other = evaluate(native, realisation(native, uniform(native)))
    assert one.values == pytest.approx(other.values)
    assert one.nash_conv == pytest.approx(other.nash_conv)


@pytest.mark.parametrize("name", ["openspiel:kuhn_poker", "openspiel:goofspiel(num_cards=3)", "openspiel:tic_tac_toe"])
def test_conformance(name: str) -> None:
    check_game(load(name), plays=5)


def test_moves_have_their_names() -> None:
    form = SequenceForm.of(load("openspiel:kuhn_poker"))
    assert form.actions[0] == ("Pass", "Bet")


def test_a_game_that_only_openspiel_has() -> None:
    solution = solve(load("openspiel:first_sealed_auction(max_value=3)"), iterations=200)
    assert solution.nash_conv < 0.01


def test_a_simultaneous_matrix_game() -> None:
    form = SequenceForm.of(load("openspiel:matrix_mp"))
    assert linear_program(form)[1:3] == pytest.approx([0.5, 0.5])


def test_imperfect_recall_is_refused() -> None:
    """OpenSpiel's own text of goofspiel with open bids forgets the player's own bids."""
    with pytest.raises(ImperfectRecallError, match="has imperfect recall at information set"):
        SequenceForm.of(load("openspiel:goofspiel(num_cards=4,points_order=descending)"))


def test_an_unknown_game_is_one_line() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'kuhn_poker'"):
        load("openspiel:kuhn_pokr(players=3)")
    with pytest.raises(ParameterError) as error:
        load("openspiel:kuhn_poker(players=99)")
    assert "\n" not in str(error.value)


def test_exported_rows_follow_their_moves_names() -> None:
    """A policy edited by hand may list its moves in any order and leave out those it never plays."""
    import pyspiel
    from open_spiel.python.algorithms.exploitability import nash_conv as spiel_nash_conv

    policy = solve(form_of("kuhn_poker"), "lp").policy
    tables = tuple({k: {m: p for m, p in reversed(row.items()) if p} for k, row in t.items()} for t in policy.tables)
    shuffled = TabularPolicy("kuhn_poker", policy.players, tables)
    spiel = pyspiel.load_game("kuhn_poker")
    assert spiel_nash_conv(spiel, export_policy(shuffled, load("kuhn_poker"), spiel)) == pytest.approx(0, abs=1e-12)
