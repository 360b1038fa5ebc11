"""A solution of a hold'em spot, looked into along actions and cards: in the library, in the shell and as files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import infoset
from infoset.errors import ParameterError, UnknownNameError
from infoset.hand_groups import group_of
from infoset.spots import SpotTree
from infoset.tree.vector_walk import CHANCE_NODE, END_NODE

TURN = "holdem(board=QsJh8h5d,pot=100,stack=200,bets='75%',raises='100%',cap=2,range1='AA KQs JTs:0.5 76s',range2='QJs AQs 99')"


@pytest.fixture(scope="module")
def policy() -> object:
    return infoset.solve(TURN, "dcfr", form="vector", iterations=60).policy


@pytest.fixture(scope="module")
def tree(policy: object) -> SpotTree:
    return SpotTree.of(TURN, policy)  # type: ignore[arg-type]


def test_values_agree_with_those_of_the_game(tree: SpotTree, policy: object) -> None:
    found = infoset.evaluate(TURN, policy)  # type: ignore[arg-type]
    for path in ((), ("check",), ("check", "check")):
        node = tree.node(path)
        assert sum(group_of(table).ev for table in node.tables) == pytest.approx(0, abs=1e-6)
    assert [group_of(table).ev for table in tree.node().tables] == pytest.approx(found.values, abs=1e-5)


def test_a_node_is_the_mean_of_what_follows(tree: SpotTree) -> None:
    """Of each hand by its probabilities of actions, and over the cards by theirs."""
    table = tree.node(["check"]).tables[1]
    assert table.ev == pytest.approx((table.strategy * table.ev_actions).sum(axis=1))
    before = tree.node(["check", "check"])
    assert before.mover == CHANCE_NODE and len(before.following) == 48
    after = [tree.node(["check", "check", card]).tables[0] for card in before.following]
    chances = np.array([one.probability for one in after])
    assert chances.sum() == pytest.approx(before.tables[0].probability)
    means = np.array([group_of(one).ev for one in after])
    assert chances @ means / chances.sum() == pytest.approx(group_of(before.tables[0]).ev)


def test_cards_that_suits_alone_tell_apart_have_equal_values_by_permuted_hands() -> None:
    game = "holdem(board=QsJh8h5h,pot=100,stack=100,bets='a',range1='AA KQs',range2='QJs 99')"  # clubs and diamonds
    tree = SpotTree.of(game, infoset.solve(game, "dcfr", form="vector", iterations=30).policy)
    one, two = (tree.node(["check", "check", card]).tables[0] for card in ("2c", "2d"))
    swapped = str.maketrans("cd", "dc")
    for hand, ev in zip(one.hands, one.ev, strict=True):
        image = hand.translate(swapped)
        names = {image, image[2:] + image[:2]}
        (place,) = [k for k, name in enumerate(two.hands) if name in names]
        assert two.ev[place] == pytest.approx(ev, nan_ok=True)


def test_next_cards_say_what_each_changes(tree: SpotTree) -> None:
    one, two = tree.next_cards(["check", "check"])
    assert (one.player, two.player) == (0, 1) and one.cards == two.cards and "Qs" not in one.cards
    assert one.ev == pytest.approx(-two.ev, abs=1e-6)
    after = tree.node(["check", "check", "Qc"]).tables[0]
    assert one.ev[one.cards.index("Qc")] == pytest.approx(group_of(after).ev)
    assert one.actions == after.actions and one.frequencies.sum(axis=1) == pytest.approx(np.ones(len(one.cards)))
    with pytest.raises(ParameterError, match="no card is dealt after check"):
        tree.next_cards(["check"])


def test_decisions_are_those_until_the_next_card(tree: SpotTree) -> None:
    first = [node.path for node in tree.decisions(equity=False)]
    assert first[:2] == [(), ("check",)] and all(len(path) < 4 for path in first)
    river = list(tree.decisions(["check", "check"], equity=False))
    cards = {node.path[2] for node in river}
    assert len(cards) == 48 and len(river) == 48 * len(first)


def test_an_end_has_tables_without_actions(tree: SpotTree) -> None:
    node = tree.node(["bet 75", "fold"])
    assert node.mover == END_NODE and node.following == () and node.tables[0].actions == ()
    known = np.isfinite(node.tables[0].ev)
    assert node.tables[0].ev[known] == pytest.approx(50)


def test_a_word_that_is_not_possible_is_refused(tree: SpotTree) -> None:
    with pytest.raises(UnknownNameError, match="unknown action or card after check: 'bet 80'; did you mean 'bet 75'"):
        tree.node(["check", "bet 80"])
    with pytest.raises(UnknownNameError, match="after check, check"):
        tree.node(["check", "check", "Qs"])


def test_the_shell_shows_a_node(policy: object, tmp_path: Path) -> None:
    text = infoset.show(TURN, policy)  # type: ignore[arg-type]
    assert "P2 after check" in text
    text = infoset.show(TURN, policy, at="check, check, Qc")  # type: ignore[arg-type]
    assert text.startswith("P1 after check, check, Qc   board Qs Jh 8h 5d Qc") and "equity" in text
    assert "\nP2   combinations" in text
    text = infoset.show(TURN, policy, at="check,check", player="P2", measure="ev", svg=tmp_path / "strip.svg")  # type: ignore[arg-type]
    assert text.startswith("P2 after check, check") and "P1: EV by next card" in text and "P2: EV by next card" in text
    assert "EV by next card" in (tmp_path / "strip.svg").read_text()
    with pytest.raises(UnknownNameError, match="unknown player 'P3'"):
        infoset.show(TURN, policy, at="check", player="P3")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="street: it goes with export"):
        infoset.show(TURN, policy, street=True)  # type: ignore[arg-type]


def test_nodes_and_streets_are_exported(policy: object, tree: SpotTree, tmp_path: Path) -> None:
    node, street = tmp_path / "node.json", tmp_path / "street.json"
    infoset.show(TURN, policy, at="check", hands="set | two pair", export=node)  # type: ignore[arg-type]
    assert {row["made hand"] for row in json.loads(node.read_text())["hands"]} <= {"set", "two pair"}
    infoset.show(TURN, policy, export=street, street=True)  # type: ignore[arg-type]
    nodes, shown = json.loads(street.read_text()), list(tree.decisions())
    assert [one["where"] for one in nodes] == [node.tables[0].where for node in shown]
    infoset.show(TURN, policy, at="check", export=tmp_path / "s.csv", street=True)  # type: ignore[arg-type]
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    after = {one["where"]: one for one in nodes}
    assert {row["node"] for row in rows} == {where for where in after if where.startswith("after check")}
    row = next(row for row in rows if row["node"] == "after check" and row["hand"] == "QdJd")
    expected = next(hand for hand in after["after check"]["hands"] if hand["hand"] == "QdJd")
    assert float(row["frequency"]) == pytest.approx(expected["actions"][row["action"]]["frequency"], abs=1e-6)


def test_a_policy_by_keys_is_looked_into_as_well() -> None:
    """Without isomorphism of the suits, which it need not respect."""
    game = "holdem_river"
    solution = infoset.solve(game, "lp")
    tree = SpotTree.of(game, solution.policy)
    assert group_of(tree.node().tables[0]).ev == pytest.approx(solution.values[0], abs=1e-5)
    row = solution.policy.probabilities(1, 'AdQh "bet 50"')
    table = tree.node(["bet 50"]).tables[1]
    assert table.strategy[table.hands.index("AdQh")] == pytest.approx([*row.values()])
