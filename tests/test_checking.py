"""Everything wrong with a game in one run, and whether two games are the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import infoset
from conftest import KUHN, LEDUC, SMALL_GAMES
from infoset.cli.app import app
from infoset.formats.efg import CHANCE_PLAYER, Efg, EfgGame, Infoset, Node, game_to_efg, parse_efg, write_efg
from infoset.tree.game_tree import GameTree
from infoset.tree.isomorphism import compare_trees

GDL = """
(role a)
(role b)
(init (turn a))
(<= (legal ?r go) (role ?r))
(<= (next done) (does a go))
(<= terminal (true done))
(goal a 100)
(goal b 0)
"""


def kuhn() -> Efg:
    return game_to_efg(infoset.load(KUHN))


def game(efg: Efg, name: str = "other") -> EfgGame:
    return EfgGame(efg, name)


def permuted(efg: Efg, seed: int) -> Efg:
    """The same game with other names and another order of all moves, those of chance included."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(infoset_.actions)).tolist() for infoset_ in efg.infosets]
    infosets = [
        Infoset(
            old.player, 900 - k, f"set {k}", tuple([f"{k}.{j}" for j in order]),
            tuple([old.probabilities[j] for j in order]) if old.probabilities else (),
        )
        for k, (old, order) in enumerate(zip(efg.infosets, orders, strict=True))
    ]  # fmt: skip
    children, nodes = efg.children(), []
    todo = [0]
    while todo:
        at = todo.pop()
        nodes.append(efg.nodes[at])
        below = children[at]
        todo += [below[j] for j in reversed(orders[efg.nodes[at].infoset])] if below else []
    return Efg("renamed", ("X", "Y"), "", tuple(infosets), efg.outcomes, tuple(nodes))


@pytest.mark.parametrize("name", [*SMALL_GAMES, "gdl:monty_hall", "tiny_hanabi"])
def test_a_game_is_the_same_as_itself(name: str) -> None:
    tree = GameTree.of(infoset.load(name))
    assert compare_trees(tree, tree).same


@given(st.integers(0, 10**6))
def test_names_and_the_order_of_moves_do_not_matter(seed: int) -> None:
    assert infoset.same_game(game(permuted(kuhn(), seed)), KUHN).same


def test_leduc_poker_with_other_names() -> None:
    """9,457 histories, and a swap of the suits of each rank leaves the game as it is."""
    efg = game_to_efg(infoset.load(LEDUC))
    assert infoset.same_game(game(permuted(efg, 5)), LEDUC).same


def test_two_cards_at_once_are_two_cards_in_turn() -> None:
    """Successive chance moves are one, and so are moves without a choice: the descriptions in GDL have both."""
    assert infoset.same_game("gdl:kuhn_poker", "gdl:kuhn_poker").same
    deals = [(one, two) for one in "JQK" for two in "JQK" if one != two]
    efg = kuhn()
    chance = Infoset(CHANCE_PLAYER, 1, "", tuple(f"{one}{two}" for one, two in deals), (Fraction(1, 6),) * 6)
    nodes, number, known = [Node("", 0, 0)], {0: 0}, [chance]
    for node in efg.nodes:
        if node.infoset >= 0 and efg.infosets[node.infoset].player == CHANCE_PLAYER:
            continue
        if node.infoset >= 0 and node.infoset not in number:
            number[node.infoset] = len(known)
            known.append(efg.infosets[node.infoset])
        nodes.append(node._replace(infoset=number[node.infoset] if node.infoset >= 0 else node.infoset))
    joint = Efg("", efg.players, "", tuple(known), efg.outcomes, tuple(nodes))
    assert len(joint.nodes) == len(efg.nodes) - 3
    assert infoset.same_game(game(joint), KUHN).same


def payoff_changed(efg: Efg) -> Efg:
    """P1 wins 3 where P2's jack calls its king's bet: the last end of Kuhn poker."""
    outcome = efg.outcomes[0]._replace(number=99, payoffs=(Fraction(3), Fraction(-3)))
    nodes = (*efg.nodes[:-1], efg.nodes[-1]._replace(outcome=len(efg.outcomes) + 1))
    return Efg(efg.title, efg.players, "", efg.infosets, (*efg.outcomes, outcome), nodes)


def probability_changed(efg: Efg) -> Efg:
    """After P1's queen, P2 gets the jack in one of three games."""
    number = next(k for k, one in enumerate(efg.infosets) if one.actions == ("J", "K"))
    other = efg.infosets[number]._replace(probabilities=(Fraction(1, 3), Fraction(2, 3)))
    return Efg(
        efg.title,
        efg.players,
        "",
        (*efg.infosets[:number], other, *efg.infosets[number + 1 :]),
        efg.outcomes,
        efg.nodes,
    )


def observation_changed(efg: Efg) -> Efg:
    """P2 with the king sees whether the one who passed holds the jack."""
    number = next(k for k, one in enumerate(efg.infosets) if one.player == 1 and one.name == "K pass")
    own = efg.infosets[number]._replace(number=77, name="K pass, P1 holds J")
    first = next(k for k, node in enumerate(efg.nodes) if node.infoset == number)
    nodes = [node._replace(infoset=len(efg.infosets)) if k == first else node for k, node in enumerate(efg.nodes)]
    return Efg(efg.title, efg.players, "", (*efg.infosets, own), efg.outcomes, tuple(nodes))


@pytest.mark.parametrize(
    ("change", "history", "why"),
    [
        (payoff_changed, ("K", "Q", "bet", "bet"), "the payoffs are 3, -3, there 2, -2"),
        (probability_changed, (), "chance has the probabilities"),
        (observation_changed, ("J", "K", "pass"), "P2 cannot tell 1 histories apart, there 2"),
    ],
)
def test_one_change_makes_another_game(change: Callable[[Efg], Efg], history: tuple[str, ...], why: str) -> None:
    found = infoset.same_game(game(change(kuhn())), KUHN)
    assert not found.same
    assert why in found.difference
    assert found.history == history == found.other_history


@given(st.integers(0, 10**6), st.sampled_from([payoff_changed, probability_changed, observation_changed]))
def test_a_change_is_found_among_other_names(seed: int, change: Callable[[Efg], Efg]) -> None:
    found = infoset.same_game(game(permuted(change(kuhn()), seed)), KUHN)
    assert not found.same
    assert found.difference


def test_payoffs_in_other_units() -> None:
    """A description in GDL has goals from 0 to 100: here 25 for each chip, and 50 for none."""
    found = infoset.same_game("gdl:kuhn_poker", KUHN)
    assert found.same
    assert found.payoffs == "p1 25 times those there +50; p2 25 times those there +50"
    assert infoset.same_game(KUHN, KUHN).payoffs == ""


def test_players_count_in_their_order() -> None:
    efg = kuhn()
    swapped = tuple([one._replace(player=1 - one.player) if one.player >= 0 else one for one in efg.infosets])
    found = infoset.same_game(game(Efg("", efg.players, "", swapped, efg.outcomes, efg.nodes)), KUHN)
    assert (found.same, found.difference) == (False, "P2 moves here, P1 moves there")
    assert "3 players, there 2" in infoset.same_game("kuhn_poker(players=3)", KUHN).difference


def crossed(pairs: str) -> EfgGame:
    """Chance draws one of four equal worlds; P1 cannot tell apart those of the same letter, P2 those of ``pairs``."""
    lines = ['EFG 2 R "" { "P1" "P2" } ""', 'c "" 1 "" { "1" 1/4 "2" 1/4 "3" 1/4 "4" 1/4 } 0']
    for mine, theirs in zip("1122", pairs, strict=True):
        lines.append(f'p "" 1 {mine} "" {{ "l" "r" }} 0')
        for _ in "lr":
            lines.append(f'p "" 2 {theirs} "" {{ "l" "r" }} 0')
            lines += ['t "" 1 "" { 1 -1 }', 't "" 2 "" { -1 1 }']
    return game(parse_efg("\n".join(lines)))


def test_information_sets_that_cross_are_not_those_that_agree() -> None:
    """Every history looks alike by itself, and every set has two worlds; only the partitions together differ."""
    assert infoset.same_game(crossed("1212"), crossed("1221")).same
    assert infoset.same_game(crossed("1122"), crossed("2211")).same
    assert not infoset.same_game(crossed("1122"), crossed("1212")).same


def cycles(*lengths: int) -> EfgGame:
    """Worlds on cycles: P1 cannot tell world k from the next one of its cycle on even edges, P2 on odd ones.

    Refinement of colours alone cannot tell one cycle of twelve from two of six.
    """
    worlds = [(cycle, k) for cycle, length in enumerate(lengths) for k in range(length)]
    probability = f"1/{len(worlds)}"
    lines = [
        'EFG 2 R "" { "P1" "P2" } ""',
        f'c "" 1 "" {{ {" ".join(f""""{k}" {probability}""" for k in range(len(worlds)))} }} 0',
    ]
    sets: dict[tuple[int, int], int] = {}
    for cycle, k in worlds:
        mine = sets.setdefault((cycle, k // 2), len(sets) + 1)
        theirs = sets.setdefault((cycle, 100 + (k + 1) % lengths[cycle] // 2), len(sets) + 1)
        lines.append(f'p "" 1 {mine} "" {{ "l" "r" }} 0')
        for _ in "lr":
            lines.append(f'p "" 2 {theirs} "" {{ "l" "r" }} 0')
            lines += ['t "" 1 "" { 1 -1 }', 't "" 2 "" { -1 1 }']
    return game(parse_efg("\n".join(lines)))


def test_colours_alone_do_not_decide() -> None:
    assert infoset.same_game(cycles(12), cycles(12)).same
    assert infoset.same_game(cycles(4, 8), cycles(8, 4)).same
    found = infoset.same_game(cycles(12), cycles(6, 6))
    assert not found.same
    assert "no correspondence of the moves respects all information sets" in found.difference


# --- everything wrong at once


def test_a_description_with_several_errors(tmp_path: Path) -> None:
    text = GDL.replace("(role b)", "(role b").replace("(goal b 0)", "(goal b 120)") + "(<= (next ?x) (not (true ?x)))\n"
    (tmp_path / "bad.gdl").write_text(text)
    report = infoset.check(str(tmp_path / "bad.gdl"))
    places = [problem.place.rpartition("bad.gdl:")[2] for problem in report.problems if problem.severity == "error"]
    messages = " ".join(problem.message for problem in report.problems)
    assert places == ["5:2", "9:1", "10:1"]  # the parenthesis that is missing in line 3 is noticed at the next rule
    assert "found '<='" in messages and "120" in messages and "?x is bound by no positive atom" in messages
    assert not report.valid and report.counts is None


def test_a_description_that_gets_stuck(tmp_path: Path) -> None:
    (tmp_path / "stuck.gdl").write_text(
        GDL.replace("(<= (legal ?r go) (role ?r))", "(legal a go) (<= (legal b go) (true done))")
    )
    report = infoset.check(str(tmp_path / "stuck.gdl"))
    assert [problem.message.partition(" in ")[0] for problem in report.problems] == ["b has no legal move"]


def test_a_gambit_file_with_several_errors(tmp_path: Path) -> None:
    text = (
        'EFG 2 R "" { "P1" "P2" } ""\n'
        'c "" 1 "" { "a" 1/2 "b" 1/3 } 0\n'
        'p "" 1 1 "" { "l" "r" } 0\n'
        't "" 1 "" { 1 -1 0 }\n'
        't "" 2 "" { 1/0 -1 }\n'
        'p "" 1 1 "" { "l" "m" } 0\n'
        't "" 1 "" { 2 -1 0 }\n'
        't "" 3 ""\n'
    )
    (tmp_path / "bad.efg").write_text(text)
    report = infoset.check(str(tmp_path / "bad.efg"))
    found = [(problem.place.rpartition("bad.efg:")[2], problem.message) for problem in report.problems]
    assert found == [
        ("2:6", "found probabilities that sum to 0.833333, expected probabilities from 0 up that sum to 1"),
        ("4:6", "found 3 payoffs, expected 2, one a player"),
        ("5:13", "found '1/0', expected a payoff with a denominator that is not zero"),
        ("6:8", "found other moves of information set 1, expected the same moves as where it stood first"),
        ("7:6", "found 3 payoffs, expected 2, one a player"),
        ("7:6", "found other payoffs of outcome 1, expected the same payoffs as where it stood first"),
        ("8:6", "found outcome 3, expected payoffs in braces, for this outcome has none yet"),
    ]


def test_a_table_with_several_errors(tmp_path: Path) -> None:
    text = 'NFG 1 R "" { "A" "B" } { 1 2 } { { "" 1, 2, 3 } { "" 1 } } 1 2'
    (tmp_path / "bad.nfg").write_text(text)
    report = infoset.check(str(tmp_path / "bad.nfg"))
    assert [problem.message for problem in report.problems] == [
        "found 3 payoffs, expected 2, one a player", "found 1 payoffs, expected 2, one a player"
    ]  # fmt: skip


@dataclass(frozen=True)
class Coin:
    """A state with several defects: see ``Wrong``."""

    stage: str = "start"

    @property
    def terminal(self) -> bool:
        return self.stage in ("heads", "tails")

    def legal_actions(self, player: int) -> tuple[str, ...]:
        if self.stage == "call":
            return ("heads", "tails", "heads")[: 2 + player]
        return ()

    def chance_outcomes(self, actions: object) -> tuple[tuple[str, float], ...]:
        return (("up", 0.5), ("down", 0.4)) if self.stage == "start" else ()

    def draw(self, actions: object, rng: np.random.Generator) -> str | None:
        return "up" if self.stage == "start" else None

    def play(self, actions: object, chance_outcome: str | None = None) -> infoset.Observed:
        return infoset.Observed(Coin("call" if self.stage == "start" else "heads"), (None, None))

    def returns(self) -> tuple[float, ...]:
        return (1.0, float("nan")) if self.terminal else (0.0, 0.0)


class Wrong:
    name, players = "wrong", ("P1", "P2")

    def start(self) -> infoset.Observed:
        return infoset.Observed(Coin(), (None, None))


def test_a_class_with_several_errors() -> None:
    """Probabilities, moves, payoffs and illegal moves are reported together, where ``check_game`` raises the first."""
    report = infoset.check(Wrong(), plays=5)
    messages = " ".join(problem.message for problem in report.problems)
    for words in (
        "sum to 0.9",
        "are not a tuple of distinct moves",
        "finite numbers",
        "is not on offer but was played",
    ):
        assert words in messages
    assert any(problem.place == "after [up]" for problem in report.problems)
    with pytest.raises(infoset.errors.GameRuleError, match=r"sum to 0\.9"):
        infoset.testing.check_game(Wrong())


def test_counts() -> None:
    counts = infoset.check(LEDUC).counts
    assert counts is not None
    assert (counts.histories, counts.terminal_histories, counts.information_sets) == (9457, 5520, 936)
    large = infoset.check("gdl:meier", plays=0, max_histories=1000)
    assert large.counts is not None and large.counts.positions == 7934 and "limit of 1,000" in large.not_counted


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "kuhn.efg").write_text(write_efg(permuted(kuhn(), 3)))
    run = CliRunner().invoke
    done = run(app, ["check", str(tmp_path / "kuhn.efg"), "--same-as", KUHN])
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "the same as kuhn_poker")
    (tmp_path / "other.efg").write_text(write_efg(payoff_changed(kuhn())))
    done = run(app, ["check", str(tmp_path / "other.efg"), "--same-as", KUHN, "--json"])
    body = json.loads(done.stdout)
    assert (done.exit_code, body["valid"], body["comparison"]["same"]) == (1, True, False)
    assert body["comparison"]["history"] == ["K", "Q", "bet", "bet"]
    assert body["counts"]["histories"] == 58
