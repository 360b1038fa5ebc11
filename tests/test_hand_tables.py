"""Tables of hands: shares and means, groups, and the language of filters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extent import examples
from hand_tables import hand_table
from infoset.errors import InfosetError, ParameterError, UnknownNameError
from infoset.hand_filters import select_hands
from infoset.hand_groups import by_class, by_draw, by_made_hand, group_of
from infoset.hand_table import HandTable


def chosen(table: HandTable, text: str) -> set[str]:
    return {*table.take(select_hands(table, text)).hands}


def test_shares_are_chances_where_these_are_known_else_weights() -> None:
    table = hand_table(hands="AA:0.5 AhKh")
    assert table.shares.sum() == pytest.approx(1) and np.isnan(table.probability)
    assert table.shares[table.hands.index("AhKh")] == pytest.approx(1 / 4)
    known = hand_table(hands="AhKh QhJh", probabilities=np.array([0.3, 0.1]))
    assert known.shares == pytest.approx([0.75, 0.25]) and known.probability == pytest.approx(0.4)
    never = hand_table(hands="AhKh QhJh", weights=np.zeros(2))
    assert never.shares.tolist() == [0, 0]
    assert group_of(never).ev == pytest.approx(never.ev.mean())


def test_realised_equity_is_the_part_of_the_pot_by_equity() -> None:
    table = hand_table(
        hands="AhKh QhJh", pot=200.0, invested=80.0, ev=np.array([20.0, -80.0]), equity=np.array([0.4, 0.0])
    )
    assert table.pot_shares == pytest.approx([0.5, 0.0])
    assert table.realised[0] == pytest.approx(1.25) and np.isnan(table.realised[1])
    even = hand_table(hands="AhKh", pot=200.0, invested=None, ev=np.array([0.0]), equity=np.array([0.5]))
    assert even.realised == pytest.approx([1.0])


def test_means_of_groups_add_up_to_those_of_the_range() -> None:
    table = hand_table()
    every = group_of(table)
    assert every.share == pytest.approx(1) and every.combinations == pytest.approx(table.weights.sum())
    for groups in (list(by_class(table).values()), by_made_hand(table), by_draw(table)):
        shares = np.array([group.share for group in groups])
        assert shares.sum() == pytest.approx(1)
        for name in ("ev", "equity"):
            assert shares @ [getattr(group, name) for group in groups] == pytest.approx(getattr(every, name))
        for name in ("frequencies", "ev_actions"):
            assert shares @ np.array([getattr(group, name) for group in groups]) == pytest.approx(getattr(every, name))
        assert sorted(place for group in groups for place in group.places) == list(range(len(table.hands)))
    assert every.realised == pytest.approx((every.ev + 50) / 150 / every.equity)


def test_unknown_values_do_not_spoil_a_mean() -> None:
    table = hand_table(hands="AhKh QhJh", ev=np.array([4.0, np.nan]))
    assert group_of(table).ev == 4
    assert np.isnan(group_of(hand_table(hands="AhKh", equity=np.array([np.nan]))).equity)


def test_no_hands_have_no_figures() -> None:
    nobody = hand_table().take([])
    assert nobody.hands == () and nobody.shares.shape == (0,) and np.isnan(group_of(nobody).ev)
    assert by_class(nobody) == {} and by_made_hand(nobody) == [] and select_hands(nobody, "set, top 20%").shape == (0,)


def test_groups_are_ordered_and_named() -> None:
    table = hand_table()
    assert [group.name for group in by_made_hand(table)][:4] == ["straight", "set", "two pair", "overpair"]
    assert by_class(table)[0, 1].name == "AKs" and by_class(table)[1, 0].name == "AKo"
    assert by_draw(table)[-1].name == "no draw"
    assert by_draw(hand_table(board="Td9d6hQc2s")) == []


def test_a_player_who_does_not_move_has_no_frequencies() -> None:
    none = np.zeros((2, 0))
    table = hand_table(hands="AhKh QhJh", actions=(), strategy=none, ev_actions=none)
    assert group_of(table).frequencies.shape == (0,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AKs", {"AhKh", "AsKs"}),
        ("aks", {"AhKh", "AsKs"}),
        ("TT", {"ThTc"}),
        ("AKs QJs", {"AhKh", "AsKs", "QdJd"}),
        ("AKs | QJs", {"AhKh", "AsKs", "QdJd"}),
        ("suited", {"AhKh", "AsKs", "QdJd"}),
        ("suit:h", {"AhKh", "ThTc"}),
        ("suit:hh", {"AhKh"}),
        ("suit:ch", {"ThTc"}),
        ("set", {"ThTc"}),
        ("Sets", {"ThTc"}),
        ("not set", {"AhKh", "AsKs", "QdJd"}),
        ("combo draw", {"QdJd"}),
        ("flush draw", {"QdJd"}),
        ("oesd", {"QdJd"}),
        ("draw", {"QdJd"}),
        ("BDFD", {"AhKh"}),
        ("AKs, suit:s", {"AsKs"}),
        ("AKs, suit:s | set", {"AsKs", "ThTc"}),
        ("pocket pairs", {"ThTc"}),
        ("offsuit", set()),
        ("TT+, AKs TT", {"ThTc"}),
        ("top 25%", {"ThTc"}),
        ("top 26%", {"ThTc", "QdJd"}),
        ("bottom 49%", {"AhKh", "AsKs"}),
        ("top 100%", {"AhKh", "AsKs", "QdJd", "ThTc"}),
        ("equity>0.5", {"ThTc", "QdJd"}),
        ("equity >= 50%", {"ThTc", "QdJd"}),
        ("ev < 0", {"AhKh"}),
        ("weight<1", {"AsKs"}),
        ("call > 40%", {"AhKh", "AsKs"}),
        ("raise 150>=.5", {"QdJd"}),
        ("", {"AhKh", "AsKs", "QdJd", "ThTc"}),
        ("any", {"AhKh", "AsKs", "QdJd", "ThTc"}),
    ],
)  # fmt: skip
def test_filters_choose_hands(text: str, expected: set[str]) -> None:
    table = HandTable(
        0, ("AhKh", "AsKs", "QdJd", "ThTc"), np.array([1, 0.99, 1, 1]), ("fold", "call", "raise 150"),
        np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0.1, 0.3, 0.6], [0.9, 0, 0.1]]), np.array([-5, 0, 8, 40]),
        np.zeros((4, 3)), np.array([0.3, 0.3, 0.6, 0.9]), ("Td", "9d", "6h"), 100.0,
    )  # fmt: skip
    assert chosen(table, text) == expected


def test_a_nut_flush_draw_is_a_flush_draw() -> None:
    table = hand_table(hands="AdKd 5d4d")
    assert chosen(table, "flush draw") == {"AdKd", "5d4d"} and chosen(table, "nfd") == {"AdKd"}


@examples(200)
@given(st.text(alphabet="AKs+-:|,<>%. 0123topsuitnflhdraw", max_size=20))
def test_any_text_is_a_filter_or_refused_in_one_line(text: str) -> None:
    table = hand_table(hands="AhKh ThTc")
    try:
        assert select_hands(table, text).shape == (2,)
    except InfosetError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("flsh draw", UnknownNameError, "unknown condition on hands 'flsh draw'; did you mean 'flush draw'?"),
        ("top pear", UnknownNameError, "did you mean 'top pair'?"),
        ("equty > 3", UnknownNameError, "unknown figure of hands 'equty'; did you mean 'equity'?"),
        ("raise 15>.5", UnknownNameError, "did you mean 'raise 150'?"),
        ("AA, KK", ParameterError, "filter 'AA, KK': no hand is in all of these; 'AA | KK' is any"),
        ("AKs,", ParameterError, "a condition is missing"),
        ("| set", ParameterError, "a condition is missing"),
        ("TT++", ParameterError, "'TT++' is not a range"),
        ("suit:x", ParameterError, "one or two suits of cdhs"),
        ("top 0%", ParameterError, "allowed are top 20%, bottom 5% and so on"),
        ("top 120 %", ParameterError, "allowed are top 20%"),
        ("equity > much", ParameterError, "'much' is not a number"),
        ("set " * 1000, ParameterError, "at most 1,000"),
    ],
)  # fmt: skip
def test_wrong_filters_are_refused_in_one_line(text: str, error: type[InfosetError], said: str) -> None:
    with pytest.raises(error) as raised:
        select_hands(hand_table(), text)
    assert said in str(raised.value) and "\n" not in str(raised.value)
