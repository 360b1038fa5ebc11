"""Hand histories: the spots in them by hand, and one line for files that hold none."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoset
from command_line import run_infoset
from infoset.errors import FormatError, MissingExtraError, ParameterError
from infoset.formats.phh import RecordedSpot, _positions, read_spot
from infoset.games.holdem import HoldemRules

HEAD = """variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [1, 2, 0]
min_bet = 2
starting_stacks = [200, 200, 300]
"""
DEAL = ["d dh p1 ????", "d dh p2 TsJs", "d dh p3 AhKd"]
RAISED = [*DEAL, "p3 cbr 6", "p1 f", "p2 cc"]
FLOP = ["d db Td9d6h", "p2 cc", "p3 cbr 8 # a small bet", "p2 cbr 24", "p3 cc"]
TURN = ["d db Qc", "p2 cbr 40", "p3 cbr 170", "p2 cc"]
SHOWN = ["d db 2c", "p2 sm JsTs", "p3 sm AhKd"]
NEEDS = "pokerkit is not installed"


def written(folder: Path, actions: list[str], head: str = HEAD) -> Path:
    file = folder / "hand.phh"
    file.write_text(f"{head}actions = {actions}\n", encoding="utf-8")
    return file


def spot(folder: Path, actions: list[str], head: str = HEAD, street: str = "flop") -> RecordedSpot:
    pytest.importorskip("pokerkit", reason=NEEDS)
    return read_spot(written(folder, actions, head), street)


def test_the_flop_of_a_raised_pot(tmp_path: Path) -> None:
    found = spot(tmp_path, [*RAISED, *FLOP, *TURN, *SHOWN])
    # Both put in 6, and the small blind 1 before folding.  P2 of the file has 194 left, its opponent 294.
    assert found.parameters == {"board": "Td9d6h", "pot": 13, "stack": 194, "dead": 1}
    assert (found.players, found.positions, found.hands) == (("p2", "p3"), ("BB", "BTN"), ("JsTs", "AhKd"))
    assert (found.aggressor, found.scale) == (1, 1)
    # On the turn the bets count from the 24 of the flop on; the raise to 170 + 24 is all-in.
    assert " ".join(found.actions) == "check bet 8 raise 24 call Qc bet 64 raise 194 call 2c"


def test_the_turn_of_the_same_hand(tmp_path: Path) -> None:
    found = spot(tmp_path, [*RAISED, *FLOP, *TURN, *SHOWN], street="turn")
    assert found.parameters == {"board": "Td9d6hQc", "pot": 61, "stack": 170, "dead": 1}
    assert found.aggressor == 0 and found.actions == ("bet 40", "raise 170", "call", "2c")


def test_a_river_that_two_of_three_players_see(tmp_path: Path) -> None:
    three = [*DEAL, "p3 cc", "p1 cc", "p2 cc", "d db 2c3d4h", "p1 cc", "p2 cbr 4", "p3 cc", "p1 f", "d db 5s"]
    found = spot(tmp_path, [*three, "p2 cc", "p3 cc", "d db 6s", "p2 cc", "p3 cbr 10", "p2 f"], street="river")
    assert found.parameters == {"board": "2c3d4h5s6s", "pot": 14, "stack": 194, "dead": 2}
    assert found.aggressor == -1 and found.actions == ("check", "bet 10", "fold")
    with pytest.raises(FormatError, match="3 players see the flop; expected 2"):
        spot(tmp_path, three)


def test_heads_up_with_antes_names_and_cents(tmp_path: Path) -> None:
    head = """variant = "NT"
antes = [0.25, 0.25]
blinds_or_straddles = [0.5, 1]
min_bet = 1
starting_stacks = [100, 80.5]
players = ["Ann", "Bob"]
"""
    deal = ["d dh p1 ????", "d dh p2 ????", "p2 cbr 2.5", "p1 cc"]
    found = spot(tmp_path, [*deal, "d db AsKsQs", "p1 cc", "p2 cbr 1.75", "p1 f"], head)
    assert found.parameters == {"board": "AsKsQs", "pot": 550, "stack": 7775, "dead": 0}
    assert (found.players, found.positions, found.hands) == (("Ann", "Bob"), ("BB", "BTN"), ("", ""))
    assert (found.scale, found.actions) == (100, ("check", "bet 175", "fold"))


def test_a_hand_that_goes_on_with_unknown_cards_ends_there(tmp_path: Path) -> None:
    assert spot(tmp_path, [*RAISED, *FLOP, "d db ??", "p2 cc", "p3 cc"]).actions == (
        "check",
        "bet 8",
        "raise 24",
        "call",
    )


def test_hands_may_be_shown_before_the_last_card(tmp_path: Path) -> None:
    actions = [*RAISED, *FLOP, *TURN, *SHOWN[1:], SHOWN[0]]
    assert spot(tmp_path, actions, street="turn").actions == ("bet 40", "raise 170", "call", "2c")
    with pytest.raises(FormatError, match="a player is all-in before the river"):
        spot(tmp_path, actions, street="river")


def test_a_check_left_out_is_added(tmp_path: Path) -> None:
    assert spot(tmp_path, [*RAISED, "d db Td9d6h", "p3 cbr 8"]).actions == ("check", "bet 8")


@pytest.mark.parametrize("actions, street, message", [
    ([*DEAL, "p3 f", "p1 f"], "flop", "the hand ends before the flop"),
    (RAISED, "flop", "the hand ends before the flop"),
    ([*RAISED, *FLOP], "turn", "the hand ends before the turn"),
    ([*RAISED, "d db ??????"], "flop", "the cards of the flop are ?? ?? ??; expected 3 known cards"),
    ([*RAISED, *FLOP, "d db ??", "p2 cc", "p3 cc"], "turn", "the cards of the turn are ??; expected 1 known cards"),
    ([*RAISED, *FLOP, *TURN, *SHOWN], "river", "a player is all-in before the river; expected chips to bet"),
    ([*RAISED, "d db Td9d6x"], "flop", "an action is not legal, or cannot be read"),
    ([*RAISED, "d db Td9d6h", "p2 cbr 8", "p2 cbr 16"], "flop", "an action is not legal, or cannot be read"),
    ([*RAISED, "d db Td9d6h", "p2 cbr many"], "flop", "an action is not legal, or cannot be read"),
])  # fmt: skip
def test_hands_without_such_a_spot(tmp_path: Path, actions: list[str], street: str, message: str) -> None:
    with pytest.raises(FormatError) as raised:
        spot(tmp_path, actions, street=street)
    assert message in str(raised.value) and str(raised.value).startswith(str(tmp_path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("head, message", [
    (HEAD.replace("NT", "FT").replace("min_bet = 2", "small_bet = 2\nbig_bet = 4"), "variant 'FT'; expected 'NT'"),
    (HEAD.replace("variant", "kind"), "not a hand in the PHH format"),
    (HEAD.replace("[200, 200, 300]", "[200, 200, inf]"), "a starting stack is not known"),
    ("]", "not a hand in the PHH format"),
])  # fmt: skip
def test_other_files(tmp_path: Path, head: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        spot(tmp_path, [*RAISED, *FLOP], head)


@pytest.mark.parametrize("street", ["flop", "turn"])
def test_a_converted_hand_is_a_game_in_which_it_can_be_played_again(tmp_path: Path, street: str) -> None:
    recorded = spot(tmp_path, [*RAISED, *FLOP, *TURN, *SHOWN], street=street)
    game = infoset.load(str(infoset.convert(tmp_path / "hand.phh", tmp_path / "spot.toml", street=street)))
    assert isinstance(game, HoldemRules)
    rules = game.spot.betting
    assert (rules.pot, rules.stack, rules.dead) == (recorded.pot, recorded.stack, recorded.dead)
    betting = rules.start(game.spot.street)
    for action in recorded.actions:
        if betting.status == "card":
            betting = rules.deal(betting)
        else:
            assert action in rules.actions(betting)
            betting = rules.after(betting, action)
    assert betting.stakes == (recorded.stack, recorded.stack)


def test_a_converted_hand_says_who_played_what(tmp_path: Path) -> None:
    pytest.importorskip("pokerkit", reason=NEEDS)
    names = 'players = ["Ann", "Bob \\u202e \\n #", "Cy\\u0000"]\n'
    written(tmp_path, [*RAISED, *FLOP, *TURN, *SHOWN], HEAD + names)
    text = infoset.convert(tmp_path / "hand.phh", tmp_path / "spot.toml").read_text(encoding="utf-8")
    assert text.startswith(
        """# The flop of hand.phh: Bob ? # (BB) with JsTs against Cy? (BTN) with AhKd.
# P2 made the last bet or raise before the flop.
# What they did: check, bet 8, raise 24, call, Qc, bet 64, raise 194, call, 2c.

board = "Td9d6h"

pot = 13
stack = 194
dead = 1 """
    )
    assert 'bets = """\n    75%\n    flop P2: 75%, 8c\n    turn P1: 75%, 40c\n"""' in text
    assert 'raises = """\n    3x\n    flop P1: 3x, 16c\n    turn P2: 3x, a\n"""' in text
    assert 'range1 = "any"' in text and 'range2 = "any"' in text


def test_amounts_of_a_tournament_are_counted_in_larger_chips(tmp_path: Path) -> None:
    head = """variant = "NT"
antes = [0, 0]
blinds_or_straddles = [50000, 100000]
min_bet = 100000
starting_stacks = [25000000, 30050000]
"""
    actions = ["d dh p1 ????", "d dh p2 ????", "p2 cbr 250000", "p1 cc", "d db AsKsQs", "p1 cc", "p2 cbr 350000"]
    found = spot(tmp_path, actions, head)
    assert found.parameters == {"board": "AsKsQs", "pot": 10, "stack": 495, "dead": 0}
    assert found.actions == ("check", "bet 7")
    with pytest.raises(FormatError, match=r"a pot of 500001 and stacks of .* expected at most 1,000,000 chips"):
        spot(tmp_path, actions, head.replace("antes = [0, 0]", "antes = [1, 0]"))


def test_converting_in_the_shell(tmp_path: Path) -> None:
    pytest.importorskip("pokerkit", reason=NEEDS)
    source, target = written(tmp_path, [*RAISED, *FLOP, *TURN, *SHOWN]), tmp_path / "spot.toml"
    assert run_infoset("convert", str(source), str(target), "--street", "turn").returncode == 0
    assert infoset.load(str(target)).name.startswith("holdem(board=Td9d6hQc,pot=61,")
    refused = run_infoset("convert", str(source), str(target), "--street", "river")
    assert refused.stderr.endswith("a player is all-in before the river; expected chips to bet\n")
    assert target.is_file()


def test_streets_and_targets_that_do_not_fit(tmp_path: Path) -> None:
    source = written(tmp_path, RAISED)
    with pytest.raises(ParameterError, match="street='turn' applies to hand histories only"):
        infoset.convert("kuhn_poker", tmp_path / "kuhn.efg", street="turn")
    with pytest.raises(ParameterError, match="max_histories=9 would not be used"):
        infoset.convert(source, tmp_path / "spot.toml", max_histories=9)
    with pytest.raises(
        FormatError, match=r"a hand history, not a game; infoset convert makes a spot of it, a file \.toml"
    ):
        infoset.load(str(source))


@given(st.integers(0, 400), st.characters())
def test_any_change_of_a_file_is_read_or_one_line(tmp_path_factory: pytest.TempPathFactory, at: int, char: str) -> None:
    pytest.importorskip("pokerkit", reason=NEEDS)
    file = written(tmp_path_factory.getbasetemp(), [*RAISED, *FLOP, *TURN, *SHOWN])
    text = file.read_text(encoding="utf-8")
    file.write_text(text[:at] + char + text[at + 1 :], encoding="utf-8", errors="replace")
    try:
        assert len(read_spot(file).board) == 6
    except FormatError as error:
        assert "\n" not in str(error)


def test_positions() -> None:
    assert _positions(2) == ["BB", "BTN"]
    assert _positions(3) == ["SB", "BB", "BTN"]
    assert _positions(6) == ["SB", "BB", "LJ", "HJ", "CO", "BTN"]
    assert _positions(9) == ["SB", "BB", "UTG", "UTG+1", "UTG+2", "LJ", "HJ", "CO", "BTN"]


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pokerkit", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'infoset\[poker\]'"):
        infoset.convert(written(tmp_path, RAISED), tmp_path / "spot.toml")
    assert not (tmp_path / "spot.toml").exists()


def test_missing_files_and_streets(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        read_spot(tmp_path / "none.phh")
    with pytest.raises(ParameterError, match="street"):
        read_spot(written(tmp_path, RAISED), "preflop")
