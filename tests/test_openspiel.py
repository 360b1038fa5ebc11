"""Games of OpenSpiel through the adapter: the same trees, the same figures."""

import re
from pathlib import Path
from typing import Any

import pytest

from conftest import form_of
from infoset import SequenceForm, TabularPolicy, evaluate, export_policy, linear_program, load, solve
from infoset.errors import ImperfectRecallError, ParameterError, PolicyError, UnknownNameError
from infoset.testing import check_game
from infoset.tree.plans import realisation, uniform

pyspiel = pytest.importorskip("pyspiel")


def nash_conv_there(spiel: Any, policy: Any) -> float:
    """OpenSpiel's own figure, by its own best responses."""
    from open_spiel.python.algorithms.exploitability import nash_conv

    return float(nash_conv(spiel, policy))


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
    policy = solve(form_of("kuhn_poker"), "lp").policy
    tables = tuple({k: {m: p for m, p in reversed(row.items()) if p} for k, row in t.items()} for t in policy.tables)
    shuffled = TabularPolicy("kuhn_poker", policy.players, tables)
    spiel = pyspiel.load_game("kuhn_poker")
    assert nash_conv_there(spiel, export_policy(shuffled, load("kuhn_poker"), spiel)) == pytest.approx(0, abs=1e-12)


OPEN_BIDS = "goofspiel(num_cards=4,points_order=descending)"
EXPORTED = [
    ("kuhn_poker(players=3)", "kuhn_poker(players=3)"),
    ("liars_dice(numdice=1,dice_sides=3)", "liars_dice(numdice=1,dice_sides=3)"),
    ("goofspiel(num_cards=3)", "goofspiel(num_cards=3)"),
    ("goofspiel(num_cards=4,points_order=descending,imp_info=true)", "goofspiel(num_cards=4,points_order=descending,imp_info=True)"),
    ("goofspiel(num_cards=3,players=3,imp_info=true)", "goofspiel(num_cards=3,players=3,imp_info=True)"),
    ("rock_paper_scissors", "matrix_rps"),
    ("matching_pennies_3p", "matching_pennies_3p"),
    ("oshi_zumo(coins=4,size=1,horizon=3)", "oshi_zumo(coins=4,size=1,horizon=3)"),
    ("oshi_zumo(coins=4,size=1,horizon=3,alesia=true)", "oshi_zumo(coins=4,size=1,horizon=3,alesia=True)"),
    ("tiny_hanabi(game=E)", "tiny_hanabi"),
    ("dark_hex(rows=2,columns=2)", "dark_hex(num_rows=2,num_cols=2)"),
    ("dark_hex(rows=2,columns=2,abrupt=true)", "dark_hex(num_rows=2,num_cols=2,gameversion=adh)"),
    (
        "battleship(rows=2,columns=2,ships=[2],shots=1)",
        "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[1],num_shots=1,allow_repeated_shots=False)",
    ),
]  # fmt: skip


@pytest.mark.parametrize("policy", ["random", "cfr"])
@pytest.mark.parametrize(("ours", "theirs"), EXPORTED)
def test_an_exported_policy_is_as_exploitable_there(ours: str, theirs: str, policy: str) -> None:
    game, spiel = load(ours), pyspiel.load_game_as_turn_based(theirs)
    what = policy if policy == "random" else solve(game, policy, iterations=3).policy
    found = nash_conv_there(spiel, export_policy(what, game, spiel))
    assert found == pytest.approx(evaluate(game, what).nash_conv, abs=1e-9)


def test_two_information_sets_that_are_one_there_refuse_a_policy_that_tells_them_apart() -> None:
    """OpenSpiel's text of the game with open bids forgets the player's own bids; one row cannot hold two."""
    game, spiel = load(OPEN_BIDS), pyspiel.load_game_as_turn_based(OPEN_BIDS)
    policy = solve(game, "cfr", iterations=3).policy
    with pytest.raises(
        PolicyError, match=r"cannot tell P\d's information set (.+) from P\d's information set (.+), where"
    ) as error:
        export_policy(policy, game, spiel)
    keys = re.search(r"information set '(.+)' from (P\d)'s information set '(.+)', where", str(error.value))
    assert keys is not None
    player = game.players.index(keys[2])
    assert policy.probabilities(player, keys[1]) != policy.probabilities(player, keys[3])


def test_a_policy_that_plays_alike_at_both_is_exported() -> None:
    game, spiel = load(OPEN_BIDS), pyspiel.load_game_as_turn_based(OPEN_BIDS)
    exported = export_policy("random", game, spiel)
    assert nash_conv_there(spiel, exported) == pytest.approx(evaluate(game, "random").nash_conv) == 1.5


def test_a_game_of_moves_at_once_is_asked_for_turn_based() -> None:
    with pytest.raises(PolicyError, match="load_game_as_turn_based"):
        export_policy("random", load(OPEN_BIDS), pyspiel.load_game(OPEN_BIDS))


COIN = """EFG 2 R "coin" {{ "A" "B" }}
c "" 1 "" {{ "h" {0} "t" {1} }} 0
p "" 1 1 "a" {{ "l" "r" }} 0
t "" 1 "" {{ 1 -1 }}
t "" 2 "" {{ 0 0 }}
t "" 3 "" {{ 0 0 }}
"""


def test_a_game_of_other_chances_is_refused(tmp_path: Path) -> None:
    (tmp_path / "coin.efg").write_text(COIN.format("1/2", "1/2"))
    game = load(str(tmp_path / "coin.efg"))
    export_policy("random", game, pyspiel.load_efg_game(COIN.format("1/2", "1/2")))
    with pytest.raises(PolicyError, match="chances differ"):
        export_policy("random", game, pyspiel.load_efg_game(COIN.format("3/4", "1/4")))
