"""Hold'em: ranges as text, the same game as OpenSpiel's, trees and vector forms, spots from the flop on."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

import infoset
from conftest import form_of
from infoset.base import State
from infoset.compiled import Compiled
from infoset.errors import BudgetError, ParameterError, PolicyError
from infoset.games.holdem import HoldemRules, holdem, holdem_river, holdem_turn
from infoset.games.poker_hands import RangeWarning, _warn_of, card_name, cards_of, hand_name, parse_range
from infoset.hand_groups import group_of
from infoset.spots import SpotTree
from infoset.testing import check_game
from infoset.tree.vector_form import VectorForm

BOARD = "QsJh8h5d2c"
FULL = "holdem_river(stack=400,bets=[0.5,1.0,2.0],raises=2,range1=any,range2=any)"


@pytest.mark.parametrize(
    ("text", "count"),
    [("any", 1326), ("22+", 78), ("AK", 16), ("AKs", 4), ("AKo", 12), ("A2s+", 48), ("T9s-54s", 24), ("99-66", 24),
     ("A5s-A2s", 16), ("AhKd", 1), ("KdAh", 1), ("QQ+, AK,", 34), ("AA KK:0", 6),
     ("AA : 0.5", 6), ("random", 1326), ("22", 6), ("aks", 4), ("ako", 12), ("t9S-54s", 24), ("ahKD", 1), ("Any", 1326)],
)  # fmt: skip
def test_ranges_as_text(text: str, count: int) -> None:
    found = parse_range(text, (), "range1")
    assert len(found) == count
    assert all(one > two for one, two in found)


def test_what_comes_later_in_a_range_counts_and_the_board_takes_cards() -> None:
    found = parse_range("any A5s:0.25", cards_of(BOARD, "board"), "range1")
    assert len(found) == 47 * 46 // 2
    named = {hand_name(hand): weight for hand, weight in found.items()}
    assert (named["As5s"], named["AsKs"], named.get("Ad5d")) == (0.25, 1.0, None)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"board": "QsJh8h5d"}, "has 4 cards; it needs 5"),
        ({"board": "QsJh8h5dQs"}, "Qs occurs twice"),
        ({"board": "QsJh8h5d2"}, "'2' is not a card"),
        ({"board": "QsJh8h5d1c"}, "'1c' is not a card"),
        ({"range1": "QsJs"}, "no hand is left beside the board QsJh8h5d2c"),
        ({"range2": "AA:-1"}, "range2: 'AA:-1' weighs '-1'; allowed: 0, and numbers from 1e-06 to 1e+06"),
        ({"range2": "AA:nan"}, "weighs 'nan'"),
        ({"range2": "AA:"}, "weighs ''"),
        ({"range1": "AZ"}, "'AZ' is not a range; such as"),
        ({"range1": "A5s-K3s"}, "is no ladder"),
        ({"range1": " , "}, "range1 is empty; such as"),
        ({"range1": "A5s-A2o"}, "its ends must both be suited, or neither"),
        ({"range1": "A5-A2s"}, "its ends must both be suited, or neither"),
        ({"range1": "AAs"}, "a pair is neither suited nor not"),
        ({"range1": "AA:1e308"}, "weighs '1e308'"),
        ({"range1": 0.5}, "'0.5' is not a range"),
        ({"range1": "AsAh", "range2": "AsKs"}, "every hand of range1 shares a card with every hand of range2"),
        ({"bets": (0,)}, "a bet of 0; allowed: shares of the pot above 0, and allin"),
        ({"bets": ("half",)}, "a bet of 'half'"),
        ({"bets": (True,)}, "a bet of True"),
        ({"pot": 0}, "pot"),
        ({"raises": 9}, "raises"),
    ],
)  # fmt: skip
def test_bad_cards_ranges_and_bets_are_one_line(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        holdem_river(**parameters)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_one_hand_each_by_hand() -> None:
    """With the nuts against air, and one bet of the pot, P1 bets and P2 folds: half the pot is won, and no more."""
    name = "holdem_river(board=QsJh8h5d2c,bets=[1.0],raises=0,range1=TdTc9h9c,range2=4s3s)"
    with pytest.raises(ParameterError):
        infoset.load(name)
    solution = infoset.solve(name.replace("TdTc9h9c", "Td9d"), "lp")
    assert solution.values == pytest.approx((50, -50))


def test_a_bet_of_the_pot_is_a_bluff_one_time_in_three() -> None:
    """Nuts or air against what beats air alone (Ankenman & Chen, The Mathematics of Poker, the [0, 1] game's halves):
    of hands that bet the pot a third bluff, and half of what is bet into calls.
    """
    name = "holdem_river(board=QsJh8h5d2c,pot=100,stack=100,bets=[1.0],raises=0,range1='Td9d 4s3s',range2=AsAd)"
    solution = infoset.solve(name, "lp")
    tree = SpotTree.of(name, solution.policy)
    first = tree.node().tables[0]
    row = dict(zip(first.hands, first.strategy.tolist(), strict=True))
    assert row["Td9d"] == pytest.approx([0, 1])
    assert row["4s3s"] == pytest.approx([0.5, 0.5])
    answer = tree.node(["bet 100"]).tables[1]
    assert answer.strategy[0] == pytest.approx([0.5, 0.5])
    assert solution.values[0] == pytest.approx(25)  # 3/4 of the pot


SMALL = [
    "holdem_river",
    "holdem_river(range1='AA:0.3 QQ 65s',range2='AK QJ:0.7 87s',bets=[allin],raises=3,stack=37,pot=11)",
    "holdem_river(board=AhAdAsKcQc,range1='KK QQ 72o',range2='JJ 72o AcKh',bets=[0.3])",
    "holdem_river(board=AhKhQhJhTh,range1='22+',range2='33 AcKc')",  # everybody plays the board
    "holdem_river(range1=AsAh,range2='AsAd KdKc')",  # some hands are never held at once
    "holdem_river(limit=30,raises=2,range1='AA 65s',range2='KK 87s')",
    pytest.param("holdem_turn(range1='AA KQs',range2='QJs 99:0.3')", marks=pytest.mark.slow),
    "holdem_turn(range1=AsKs,range2='AcKc QQ',limit=20,raises=0)",
    "holdem_turn(range1='AcAd 3c3d',range2=AhAs,bets=[allin],raises=0,stack=60)",
    "holdem(board=QsJh8h5d2c,bets='50%,2e; P2: a',raises='2.5x',stack=150,range1='AA 65s',range2='KK 87s')",
    "holdem(board=QsJh8h5d,bets='75%',donks=none,raises=none,range1='AsKs 2h2d',range2='AcKc QQ')",
    pytest.param("holdem(bets='flop: a',range1='AsKs 6s6d',range2='AcKc')", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("name", SMALL)
def test_tree_and_vector_form_give_the_same_figures(name: str) -> None:
    """Without isomorphism of the suits nothing is left out; hands that meet none of the opponent's are counted, too."""
    game, tree = infoset.load(name), form_of(name)
    assert isinstance(game, HoldemRules)
    form = VectorForm.of(game, symmetric=False)
    assert form.num_histories == tree.num_histories
    assert form.num_infosets >= tree.num_infosets
    assert VectorForm.of(game).num_infosets <= form.num_infosets
    found = infoset.solve(name, "dcfr", iterations=300, form="vector", precision="double")
    assert found.nash_conv == pytest.approx(infoset.evaluate(Compiled(game), found.policy).nash_conv, abs=1e-6)
    assert found.values[0] == pytest.approx(infoset.solve(name, "lp").values[0], abs=0.3)


@pytest.mark.slow
def test_a_whole_range_is_solved_and_plays(tmp_path: Path) -> None:
    """1,081 hands a side and 86 million histories: less than a thousandth of the pot to be gained after 300 iterations."""
    compiled = Compiled.of(FULL)
    assert compiled.histories == 86_686_472
    solution = infoset.solve(compiled, iterations=300, out=tmp_path / "run")
    assert solution.method == "dcfr"
    assert solution.exploitability < 0.1
    run = str(tmp_path / "run")
    assert infoset.evaluate(compiled, run).exploitability == pytest.approx(solution.exploitability, abs=1e-9)
    played = infoset.play_series(FULL, [run, "random"], games=200, seed=1)
    assert played.agents[0].mean > 0
    assert not any(played.agents[0].faults.values())
    infoset.show(compiled, run, svg=tmp_path / "hands.svg")
    words = [element.text for element in Xml.parse(tmp_path / "hands.svg").getroot().iter() if element.text]
    assert any(text.startswith("100.0%  P1 to begin") for text in words)
    assert any(text.startswith("AKs: here 100%; check") for text in words)


def test_a_policy_of_the_tree_is_drawn_and_says_what_somebody_does(tmp_path: Path) -> None:
    text = infoset.show("holdem_river", "random", svg=tmp_path / "hands.svg")
    assert text.startswith("holdem_river: Qs Jh 8h 5d 2c, pot 100, stacks 200\n")
    assert "100.00%  P1 to begin                         check 33.3%   bet 50 33.3%   bet 100 33.3%" in text
    assert "24 of" not in (tmp_path / "hands.svg").read_text()
    assert "check 33%" in (tmp_path / "hands.svg").read_text()


@pytest.mark.slow
def test_of_the_turn_what_is_done_before_the_river_is_drawn(tmp_path: Path) -> None:
    text = infoset.show("holdem_turn", "random", svg=tmp_path / "hands.svg")
    assert "100.00%  P1 to begin" in text
    assert "Turn: board QsJh8h5d, pot 100" in (tmp_path / "hands.svg").read_text()


def test_the_chances_of_decisions_add_up() -> None:
    nodes = SpotTree.of("holdem_river", "random").decisions()
    found = {node.tables[0].where: node.tables[node.mover] for node in nodes}
    assert found[""].probability == pytest.approx(1)
    assert found["after check"].probability == pytest.approx(1 / 3)
    assert found["after check, bet 50"].probability == pytest.approx(1 / 9)
    assert all(
        one.strategy.sum(axis=1) == pytest.approx(1) and sum(group_of(one).frequencies) == pytest.approx(1)
        for one in found.values()
    )


def test_a_policy_for_other_ranges_is_refused(tmp_path: Path) -> None:
    infoset.solve("holdem_river", "dcfr", iterations=2, form="vector").policy.save(tmp_path / "a.npz")
    with pytest.raises(PolicyError, match="was made for holdem_river, not for"):
        infoset.evaluate("holdem_river(pot=50)", str(tmp_path / "a.npz"))


@pytest.mark.parametrize(
    "ranges",
    [
        "range1='AsAh KK:1e-5',range2='AsAd QcQd'",
        "range1='AsAh KK:1e-6',range2='AsAd QQ:1e-6'",
        "range1='AsAh:1e6 KdKc:0.1',range2='AsKs:1e6 AhKs:1e6 QcQd:0.1'",
    ],
)
def test_ranges_that_hardly_fit_are_solved(ranges: str) -> None:
    """Nearly all weight is on pairs of hands that share a card."""
    name = f"holdem_river({ranges})"
    found = infoset.solve(name, "dcfr", iterations=500, form="vector")
    assert found.values[0] == pytest.approx(infoset.solve(name, "lp").values[0], abs=0.1)


def test_a_pair_of_deuces_is_a_word_and_a_tree_that_is_too_large_is_known_at_once() -> None:
    assert infoset.load("holdem_river(range1=33)").name == 'holdem_river(range1="33")'
    assert infoset.load('holdem_river(range1="33")').name == 'holdem_river(range1="33")'
    with pytest.raises(BudgetError, match=r"has 86,686,472 histories, more than a tree may have .*form=vector"):
        infoset.solve(FULL, "lp")


@pytest.mark.parametrize("stack", [250, 450])
def test_the_same_game_as_openspiels(stack: int) -> None:
    """``universal_poker`` from a pot on, its bets of the pot and of everything: deals, moves and payoffs, one by one."""
    pyspiel = pytest.importorskip("pyspiel")
    ranges = "AA KQs JTs:0.5", "QJs AQs 99"
    board = cards_of(BOARD, "board")
    one, two = (parse_range(text, board, "range") for text in ranges)
    deck = [4 * rank + suit for rank in range(13) for suit in (3, 2, 1, 0)]  # there spades come first
    pairs = [(max(hand), min(hand)) for hand in combinations(deck, 2)]
    reach = " ".join(str(own.get(hand, 0.0)) for own in (one, two) for hand in pairs)
    theirs = pyspiel.load_game(
        f"universal_poker(betting=nolimit,numPlayers=2,numRounds=4,blind=50 50,firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
        f"numHoleCards=2,numBoardCards=0 3 1 1,stack={stack} {stack},bettingAbstraction=fcpa,potSize=100,"
        f"boardCards={BOARD},handReaches={reach})"
    ).new_initial_state()
    ours = holdem_river(
        board=BOARD, pot=100, stack=stack - 50, bets=(1.0, "allin"), raises=8, range1=ranges[0], range2=ranges[1]
    )
    dealt: dict[str, float] = {}
    for first, chance in ours.start().state.chance_outcomes((None, None)):
        for second, after in ours.start().state.play((None, None), first).state.chance_outcomes((None, None)):
            dealt[f"{first} {second}"] = chance * after
    met = 0
    for action, chance in theirs.chance_outcomes():
        if chance > 0:
            state = theirs.child(action)
            hands = [line.split()[-1] for line in str(state).splitlines()[1:3]]
            assert dealt[" ".join(hands)] == pytest.approx(chance, abs=1e-12)
            begun: State = ours.start().state
            for hand in hands:
                begun = begun.play((None, None), hand).state
            _compare(state, begun)
            met += 1
    assert met == len(dealt)


def test_the_same_turn_as_openspiels() -> None:
    """Limit betting on two streets, every card that may be opened, payoffs: one pair of hands."""
    pyspiel = pytest.importorskip("pyspiel")
    hands = "AsKs", "9d9c"
    deck = [4 * rank + suit for rank in range(13) for suit in (3, 2, 1, 0)]
    pairs = [hand_name((max(hand), min(hand))) for hand in combinations(deck, 2)]
    reach = " ".join(str(float(name == hand)) for hand in hands for name in pairs)
    theirs = pyspiel.load_game(
        "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=50 50,firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
        "numHoleCards=2,numBoardCards=0 3 1 1,raiseSize=20 20 20 20,maxRaises=3 3 3 3,potSize=100,"
        f"boardCards={BOARD[:8]},handReaches={reach})"
    ).new_initial_state()
    ((action, _),) = [(action, chance) for action, chance in theirs.chance_outcomes() if chance > 0]
    ours = holdem_turn(board=BOARD[:8], limit=20, raises=2, stack=1000, range1=hands[0], range2=hands[1])
    state = ours.start().state
    for hand in hands:
        state = state.play((None, None), hand).state
    _compare(theirs.child(action), state)


def test_the_same_flop_as_openspiels() -> None:
    """A bet of the pot, or all-in, on three streets; after all-in the cards come at once."""
    pyspiel = pytest.importorskip("pyspiel")
    hands = "AsKs", "9d9c"
    deck = [4 * rank + suit for rank in range(13) for suit in (3, 2, 1, 0)]
    pairs = [hand_name((max(hand), min(hand))) for hand in combinations(deck, 2)]
    reach = " ".join(str(float(name == hand)) for hand in hands for name in pairs)
    theirs = pyspiel.load_game(
        "universal_poker(betting=nolimit,numPlayers=2,numRounds=4,blind=50 50,firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
        "numHoleCards=2,numBoardCards=0 3 1 1,stack=150 150,bettingAbstraction=fcpa,potSize=100,"
        f"boardCards={BOARD[:6]},handReaches={reach})"
    ).new_initial_state()
    ((action, _),) = [(action, chance) for action, chance in theirs.chance_outcomes() if chance > 0]
    ours = holdem(board=BOARD[:6], bets="100%", raises="a", stack=100, range1=hands[0], range2=hands[1])
    state = ours.start().state
    for hand in hands:
        state = state.play((None, None), hand).state
    _compare(theirs.child(action), state)


def _compare(theirs: Any, ours: State) -> None:
    assert theirs.is_terminal() == ours.terminal
    if ours.terminal:
        assert tuple(theirs.returns()) == ours.returns()
        return
    if theirs.is_chance_node():
        cards = dict(ours.chance_outcomes((None, None)))
        opened = [
            (card_name(int(theirs.action_to_string(k).split("(")[1][:-1])), k, p) for k, p in theirs.chance_outcomes()
        ]
        assert cards == pytest.approx({card: chance for card, _, chance in opened}, abs=1e-12)
        for card, action, _ in opened:
            _compare(theirs.child(action), ours.play((None, None), card).state)
        return
    player = theirs.current_player()
    action_set = ours.legal_actions(player)
    actions = theirs.legal_actions()
    assert len(action_set) == len(actions)
    for action, move in zip(actions, action_set, strict=True):
        _compare(theirs.child(action), ours.play((move, None) if player == 0 else (None, move), None).state)


def test_hands_and_moves_in_words_and_as_a_picture() -> None:
    game = holdem_river()
    known = ((None, "AsAh"), ("bet 50", ()), (None, "raise 150"))
    assert [game.describe_record(0, record, known[:k]) for k, record in enumerate(known)] == [
        "you get AsAh",
        "you bet 50",
        "P2 raises 150",
    ]
    areas = game.picture([known, None])["areas"]
    assert [(area["cards"], area["hidden"], area["chips"]) for area in areas] == [
        (["As", "Ah"], 0, 50), ([], 2, 150), (["Qs", "Jh", "8h", "5d", "2c"], 0, 300),
    ]  # fmt: skip


def test_a_card_is_opened_in_words_and_as_a_picture() -> None:
    game = holdem_turn()
    known = ((None, "AsAh"), ("check", ()), (None, "bet 100"), ("call", ()), (None, "2c"), ("check", ()))
    assert game.describe_record(0, known[4], known[:4]) == "the river is 2c"
    areas = game.picture([known, None])["areas"]
    assert [(area["cards"], area["chips"], area["note"]) for area in areas] == [
        (["As", "Ah"], 100, "check, call | check"), ([], 100, "bet 100"), (["Qs", "Jh", "8h", "5d", "2c"], 300, ""),
    ]  # fmt: skip


def test_flop_turn_and_river_in_words_and_as_a_picture() -> None:
    game = holdem(range1="AsAh", range2="KsKh")
    known = ((None, "AsAh"), ("bet 75", ()), (None, "call"), (None, "2c"), ("check", ()), (None, "check"), (None, "3c"))
    assert [game.describe_record(0, known[k], known[:k]) for k in (0, 3, 6)] == [
        "you get AsAh",
        "the turn is 2c",
        "the river is 3c",
    ]
    areas = game.picture([known, None])["areas"]
    assert [(area["cards"], area["chips"], area["note"]) for area in areas] == [
        (["As", "Ah"], 75, "bet 75 | check"), ([], 75, "call | check"), (["Td", "9d", "6h", "2c", "3c"], 250, ""),
    ]  # fmt: skip


def test_after_all_in_cards_come_at_once() -> None:
    game = holdem(bets="a", range1="AsAh", range2="KsKh")
    known = ((None, "AsAh"), ("bet 200", ()), (None, "call"), (None, "Kd"), (None, "2c"))
    state: State = game.start().state
    for card in ("AsAh", "KsKh"):
        state = state.play((None, None), card).state
    state = state.play(("bet 200", None)).state.play((None, "call")).state
    assert not state.terminal
    assert len(state.chance_outcomes((None, None))) == 45
    state = state.play((None, None), "Kd").state.play((None, None), "2c").state
    assert state.terminal
    assert state.returns() == (-250, 250)
    areas = game.picture([known, None])["areas"]
    assert (areas[2]["cards"], areas[0]["note"]) == (["Td", "9d", "6h", "Kd", "2c"], "bet 200")


FLOPS = [
    "holdem",
    "holdem(bets='33%,75%; turn: 66%; river P2: 75%,a',donks='25%; river: none',cap=2,range1=any,range2=any)",
    "holdem(bets=e,raises=e,stack=1000,add_allin=1.5,force_allin=0.15,merge=0.1)",
    "holdem(bets=a,rake=0.05,rake_cap=3,dead=10,board=Td9d6h2c)",
    "holdem(bets=[50%,2e],raises=none,board=Td9d6h2c2d,range1=22,range2=33)",
]


@pytest.mark.parametrize("name", FLOPS)
def test_spots_keep_the_contract_and_their_names(name: str) -> None:
    game = infoset.load(name)
    assert check_game(game, plays=30).plays == 30
    assert infoset.load(game.name) == game
    assert isinstance(game, HoldemRules)
    assert [len(own) for own in game.spot.hands] == [len(own) for own in game.spot.weights]


def test_the_name_of_a_spot_has_what_differs_from_the_defaults() -> None:
    assert holdem(bets="33%;\n turn: 66%;", raises=None, stack=100).name == (
        'holdem(stack=100,bets="33%; turn: 66%",raises="none")'
    )
    assert holdem(bets=("33%", "a")).name == 'holdem(bets="33%,a")'


def test_the_three_names_make_the_same_game() -> None:
    ranges = {"range1": "AA KQs", "range2": "QJs"}
    for one, other in (
        (holdem_turn(bets=(0.5, "allin"), raises=2, **ranges), holdem("QsJh8h5d", bets="50%,a", raises="50%,a", cap=3, **ranges)),
        (holdem_river(limit=20, **ranges), holdem("QsJh8h5d2c", bets="20c", raises="20c", cap=2, **ranges)),
    ):  # fmt: skip
        assert isinstance(one, HoldemRules) and isinstance(other, HoldemRules)
        assert one.spot.betting == other.spot.betting
        assert (one.spot.board, one.spot.ranges) == (other.spot.board, other.spot.ranges)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"board": "Td9d"}, "board='Td9d' has 2 cards; it needs 3, 4 or 5"),
        ({"board": "Td9dTd"}, "Td occurs twice"),
        ({"range2": "Td9d"}, "range2='Td9d': no hand is left beside the board Td9d6h"),
        ({"bets": "half"}, "bets: 'half' is not a bet size; allowed: such as"),
        ({"bets": 33}, "bets: '33' is not a bet size; allowed: such as"),
        ({"bets": "2x"}, "bets: '2x' is a multiple of a bet faced; allowed in raises only"),
        ({"donks": "2x"}, "donks: '2x' is a multiple"),
        ({"raises": "turn P3: 2x"}, "raises: sizes for 'turn P3'; allowed: flop, turn, river"),
        ({"bets": "300c"}, "bets: 300c is more than the stack of 200"),
        ({"rake": 1.5}, "rake=1.5; allowed: numbers from 0 to 1"),
        ({"dead": 200}, "dead=200 is out of range; allowed: 0 to 100"),
        ({"stack": 0}, "stack=0 is out of range"),
    ],
)
def test_a_wrong_spot_is_one_line(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        holdem(**parameters)
    assert str(refusal.value).startswith("holdem: ")
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_rake_makes_every_end_a_loss_for_the_players() -> None:
    solution = infoset.solve(
        "holdem(board=QsJh8h5d2c,bets='100%',raises=none,rake=0.1,range1=Td9d,range2=4s3s)", "dcfr", iterations=100
    )
    assert sum(solution.values) == pytest.approx(-10, abs=1e-3)  # P1 has the nuts, and a bet is not called


@pytest.mark.slow
def test_the_turn_with_every_hand() -> None:
    """1,128 hands a side, every river: built in seconds, counted to the unit, and solved."""
    compiled = Compiled.of("holdem_turn(range1=any,range2=any)")
    one = Compiled.of("holdem_turn(range1=AsKs,range2=9d9c)").histories - 2  # without those of the deal
    deals = 1128 * 1035  # 48 cards, two of them and two of the others
    assert compiled.histories == 1 + 1128 + deals * one == 1_815_432_529
    solution = infoset.solve(compiled, iterations=100)
    assert solution.exploitability < 1  # of a pot of 100


def test_the_state_is_a_value() -> None:
    one, two = (infoset.load("holdem_river").start().state for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert replace(holdem_river(), name="x").first == holdem_river().first


@pytest.mark.parametrize(
    ("text", "eval7", "pio"),
    [
        ("T9s+", "T9s", "T9s JTs QJs KQs AKs"),
        ("T9o+", "T9o", "T9o JTo QJo KQo AKo"),
        ("98+", "98", "98 T9 JT QJ KQ AK"),
        ("KQs+", "KQs", "KQs AKs"),
        ("AKs+", "AKs", "AKs"),
        ("T8s+", "T8s T9s", "T8s T9s"),  # a gap: kickers upwards for both
        ("A5s+", "A5s A6s A7s A8s A9s ATs AJs AQs AKs", "A5s A6s A7s A8s A9s ATs AJs AQs AKs"),
        ("QQ+", "QQ KK AA", "QQ KK AA"),
        ("JTs-98s", "98s T9s JTs", "98s T9s JTs"),
        ("AA:0.5 QQ+", "AA KK QQ", "AA:0.5 KK QQ"),  # the last of what overlaps, and the first
    ],
)
def test_what_a_plus_stands_for_in_each_dialect(text: str, eval7: str, pio: str) -> None:
    """As eval7 0.1.10 and poker 0.30.0 read it; and as postflop-solver's own tests have it."""
    for dialect, same in (("eval7", eval7), ("pio", pio)):
        assert parse_range(text, (), "range1", dialect) == parse_range(same, (), "range1", "eval7")


def test_a_range_that_others_read_otherwise_is_warned_of_once() -> None:
    _warn_of.cache_clear()
    words = (
        "T9s\\+ is read as T9s alone, as eval7 and poker do; postflop-solver reads T9s-AKs: say which with ranges=pio"
    )
    with pytest.warns(RangeWarning, match=words) as seen:
        games = [infoset.load("holdem_river(range1='AA T9s+',range2=KK)") for _ in range(2)]
    assert len(seen) == 1
    assert games[0].name == games[1].name
    kinds = [
        infoset.load(f"holdem_river(range1='AA T9s+',range2=KK,ranges={word})") for word in ("eval7", "pio")
    ]  # no warning
    assert [len(game.start().state.spot.ranges[0]) for game in kinds] == [10, 22]  # beside the board
    assert infoset.load(kinds[1].name).name == kinds[1].name
    with pytest.raises(ParameterError, match="ranges=stove is not one of eval7, pio"):
        infoset.load("holdem_river(ranges=stove)")
