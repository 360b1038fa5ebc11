"""Tables of hands as text and as SVG, and the strip of next cards."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

import numpy as np
import pytest

from hand_tables import hand_table, tables_after
from infoset.errors import ParameterError
from infoset.hand_filters import select_hands
from infoset.hand_table import HandTable
from infoset.next_cards import NextCards, summarise_next_cards
from infoset.view.action_colors import printed
from infoset.view.card_strip import card_strip_svg, card_strip_text
from infoset.view.hand_cells import action_letters, chips, matrix_cells, percent, share_letters, tint_share
from infoset.view.hand_matrix_svg import hand_matrices_svg, hand_table_svg
from infoset.view.hand_text import hand_table_text

LOOKER = {"actions": (), "strategy": np.zeros((2, 0)), "ev_actions": np.zeros((2, 0))}


def words(svg: str) -> list[str]:
    return [element.text for element in Xml.fromstring(svg).iter() if element.text]


def test_letters_share_a_width_by_probabilities() -> None:
    assert share_letters(np.array([0.5, 0.5]), 5) == [0, 0, 0, 1, 1]
    assert share_letters(np.array([0.04, 0.96]), 5) == [1] * 5
    assert share_letters(np.array([np.nan, 1.0]), 5) == share_letters(np.zeros(2), 5) == []
    assert all(len(share_letters(row, 7)) == 7 for row in np.random.default_rng(1).dirichlet(np.ones(4), 50))
    assert action_letters(["check", "bet 50", "bet 100"]) == "c12"
    assert action_letters(["fold", "call", *(f"raise {k}" for k in range(1, 12))]) == "fc123456789AB"


def test_figures_are_short() -> None:
    assert [chips(x) for x in (0.0, 1.254, -12.54, 99.96, 1254.0, np.nan, -0.001)] == [
        "0",
        "+1.25",
        "-12.5",
        "+100",
        "+1254",
        "-",
        "0",
    ]
    assert percent(0.1234) == "12.3 %" and percent(np.nan) == "-"


def test_cells_are_filled_by_the_part_of_a_class_that_gets_there() -> None:
    cells = matrix_cells(hand_table(board="Td9d6h", hands="AhKh AsKs QQ:0.5 TT 76s"))
    assert cells[0, 1].filled == pytest.approx(2 / 4)
    assert cells[2, 2].filled == pytest.approx(0.5)
    assert cells[4, 4].filled == pytest.approx(1)  # three of the six are left beside the board
    assert cells[7, 8].filled == pytest.approx(1)
    assert {*cells} == {(0, 1), (2, 2), (4, 4), (7, 8)}
    heavy = matrix_cells(hand_table(board="Td9d6h", hands="AA:4 KK:2"))
    assert (heavy[0, 0].filled, heavy[1, 1].filled) == pytest.approx((1, 0.5))


def test_figures_are_good_or_bad_about_the_middle() -> None:
    table = hand_table(pot=100.0)
    assert [tint_share(table, "ev", value) for value in (-50.0, 0.0, 50.0, 500.0, np.nan)] == [0, 0.5, 1, 1, 0.5]
    assert tint_share(table, "equity", 0.6) == pytest.approx(0.6)
    assert tint_share(table, "realised", 1.0) == 0.5


def test_text_has_the_node_the_range_the_matrix_and_groups() -> None:
    table = hand_table()
    lines = hand_table_text(table, ("Hero", "Villain")).plain.splitlines()
    assert lines[0] == "Hero after check, bet 50   board Td 9d 6h   pot 150"
    assert re.fullmatch(r"combinations \d+   EV \+[\d.]+   equity [\d.]+ %   realised \d+ %", lines[1])
    assert re.fullmatch(r" f  fold +[\d.]+ %   EV if always -50\.0", lines[2])
    grid = lines[lines.index("") + 1 :][:26]
    assert all(len(line) == 78 for line in grid)
    assert grid[0].startswith("AA █  AKs█  AQs█") and re.fullmatch(r"[fc12]{5}", grid[1][:5])
    assert any(line.startswith("top pair ") for line in lines) and any(line.startswith("gutshot ") for line in lines)
    assert max(map(len, lines)) <= 100


def test_text_is_coloured_by_action() -> None:
    text = hand_table_text(hand_table())
    styles = {str(span.style) for span in text.spans}
    assert {f"bold white on {printed(name)}" for name in ("fold", "call", "bet0", "bet4")} <= styles


def test_text_shows_values_instead_of_actions() -> None:
    table = hand_table(hands="AhKh QcQd", ev=np.array([-12.5, 40.0]), equity=np.array([0.25, 0.75]))
    for measure, shown in (("ev", "-12.5"), ("equity", "25%"), ("realised", "100%")):
        assert shown in hand_table_text(table, measure=measure).plain.split()
    with pytest.raises(ParameterError, match="a matrix of 'worth'; allowed: strategy, ev, equity, realised"):
        hand_table_text(table, measure="worth")


def test_a_few_hands_are_listed_one_by_one() -> None:
    table = hand_table()
    assert not re.search("^QdJd ", hand_table_text(table).plain, re.MULTILINE)
    chosen = table.take(select_hands(table, "combo draw"))
    assert re.search("^QdJd .* [fc12]{10}$", hand_table_text(chosen).plain, re.MULTILINE)


def test_views_leave_out_what_is_unknown_and_who_does_not_move() -> None:
    unknown = np.full(2, np.nan)
    table = hand_table(hands="AhKh QcQd", ev=unknown, equity=unknown, ev_actions=np.full((2, 4), np.nan))
    text = hand_table_text(table).plain
    assert "EV" not in text and "equity" not in text and "nan" not in text
    assert "nan" not in hand_table_svg(table).lower()
    looks_on = hand_table(hands="AhKh QcQd", **LOOKER)
    assert "fold" not in hand_table_text(looks_on).plain
    assert "fold" not in hand_table_svg(looks_on)


def test_hands_that_never_get_here_are_shown_as_such() -> None:
    table = hand_table(hands="AhKh QcQd", weights=np.array([0.0, 1.0]))
    grid = hand_table_text(table).plain.splitlines()[7:]
    assert grid[0][6:12] == "AKs   " and grid[1][6:12].strip() == ""
    never = hand_table(hands="AhKh QcQd", weights=np.zeros(2))
    assert "AKs" in hand_table_text(never).plain
    assert hand_table_svg(never).count("<title>") == 1  # that of the picture


def test_a_table_without_hands_is_shown_as_empty() -> None:
    nobody = hand_table().take([])
    assert "combinations 0" in hand_table_text(nobody).plain and ">72o<" in hand_table_svg(nobody)


def test_a_table_is_drawn_with_all_classes_and_groups() -> None:
    table = hand_table()
    found = words(hand_table_svg(table))
    assert {"P1 after check, bet 50: board Td 9d 6h, pot 150", "AA", "72o", "Made hand", "Draw", "combo draw"} <= {
        *found
    }
    assert any(
        re.fullmatch(r"AKs: here 100%; fold \d+%, call \d+%, raise 150 \d+%, raise 400 \d+%; EV .*", one)
        for one in found
    )
    river = words(hand_table_svg(hand_table(board="Td9d6hQc2s")))
    assert "Draw" not in river and "Made hand" in river


@pytest.mark.parametrize("measure", ["ev", "equity", "realised"])
def test_a_table_is_drawn_with_values(measure: str) -> None:
    svg = hand_table_svg(hand_table(), measure=measure)
    assert "blue is good for the player" in svg
    assert len({*re.findall(r"rgb\(\d+,\d+,\d+\)", svg)}) > 10


def test_stripes_fill_a_cell_by_reach_and_probability() -> None:
    strategy = np.array([[0.25, 0.75, 0.0, 0.0]] * 6)
    svg = hand_matrices_svg("spot", [hand_table(hands="AA:0.5", strategy=strategy)], ("P1", "P2"))
    boxes = [
        rect.attrib for rect in Xml.fromstring(svg).iter() if rect.tag.endswith("rect") and rect.get("height") == "9.00"
    ]
    assert [(float(box["width"]), box["fill"]) for box in boxes] == [(4.5, printed("fold")), (13.5, printed("call"))]


def test_of_many_decisions_the_most_frequent_are_drawn() -> None:
    tables = [
        hand_table(hands="AhKh QcQd", probabilities=np.array([0.5, 0.5]) / (k + 1), where=f"after bet {k}")
        for k in range(30)
    ]
    svg = hand_matrices_svg("spot", tables, ("P1", "P2"))
    assert "24 of 30 decisions, those reached most often" in svg
    assert "after bet 23" in svg and "after bet 24" not in svg


@pytest.fixture(scope="module")
def cards() -> NextCards:
    before = hand_table()
    return summarise_next_cards(before, tables_after(before))


def test_next_cards_are_summarised_by_means(cards: NextCards) -> None:
    assert len(cards.cards) == 49 and cards.frequencies.sum(axis=1) == pytest.approx(np.ones(49))
    assert cards.changes == pytest.approx(cards.ev - cards.before)
    assert cards.ev[cards.cards.index("2c")] > cards.ev[cards.cards.index("Ad")]


def test_the_strip_has_all_cards_and_says_which_are_best_and_worst(cards: NextCards) -> None:
    head, strip, signs, legend = card_strip_text(cards, ("Hero", "Villain")).plain.splitlines()
    assert head == "Hero: EV by next card"
    assert strip.split() == [f"{rank}shdc" for rank in "AKQJ"] + [
        "Tsh·c",
        "9sh·c",
        "8shdc",
        "7shdc",
        "6s·dc",
        "5shdc",
        "4shdc",
        "3shdc",
        "2shdc",
    ]
    assert signs[strip.index("2") + 4] == "█" and signs[strip.index("A") + 3] == "▁" and signs[strip.index("·")] == " "
    assert re.fullmatch(r"EV \+[\d.]+ before it, \+?-?[\d.]+ \(Ad\) to \+[\d.]+ \(2c\) after it", legend)
    assert max(map(len, (strip, signs))) <= 80


def test_the_strip_shows_actions(cards: NextCards) -> None:
    _, _, signs, legend, _ = card_strip_text(cards, measure="actions").plain.splitlines()
    assert {*signs} == {" ", "c", "1"} and re.match(r" c  check [\d.]+ % +1  bet 50 ", legend)
    svg = card_strip_svg(cards, measure="actions")
    assert any(
        re.fullmatch(r"Ah: EV .*; check \d+%, bet 50 \d+%, bet 100 \d+%, bet 250 \d+%", one) for one in words(svg)
    )


def test_the_strip_is_drawn_in_blue_and_orange(cards: NextCards) -> None:
    svg = card_strip_svg(cards)
    assert sum(one == "♠" for one in words(svg)) == 13
    assert "what the card adds to the EV, in chips" in svg and "rgb(217,140,33)" in svg


def test_a_strip_without_changes_or_values_is_plain() -> None:
    same = NextCards(0, ("Td", "9d", "6h"), 1.0, ("Ah", "2c"), np.array([1.0, 1.0]), (), np.zeros((2, 0)))
    assert "▄" in card_strip_text(same).plain and "rgb(250,250,248)" in card_strip_svg(same)
    unknown = NextCards(0, ("Td", "9d", "6h"), np.nan, ("Ah",), np.array([np.nan]), (), np.zeros((1, 0)))
    assert "?" in card_strip_text(unknown).plain and "nan" not in card_strip_svg(unknown)
    with pytest.raises(ParameterError, match="has no decision after the card"):
        card_strip_text(same, measure="actions")
    with pytest.raises(ParameterError, match="a strip of 'worth'; allowed: ev, actions"):
        card_strip_svg(same, measure="worth")


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({}, "at least one card is needed"),
        ({"Td": hand_table()}, "it is no single card, or on the board Td9d6h"),
        ({"AhKh": hand_table()}, "it is no single card"),
        ({"Ah": hand_table(player=1)}, "tables of player 1, and of 0 before the card"),
        ({"Ah": hand_table(), "Kh": hand_table(hands="AhKh QcQd", **LOOKER)}, "all of one player and its actions"),
    ],
)  # fmt: skip
def test_tables_after_cards_must_fit(after: dict[str, HandTable], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        summarise_next_cards(hand_table(), after)
