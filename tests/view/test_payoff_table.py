"""One-shot games are shown as tables of payoffs: in text, in notebooks, and as pictures of the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import infoset
from infoset.catalog import load
from infoset.view.payoff_table import equilibrium_lines, is_payoff_table, payoff_picture, payoff_table
from infoset.view.pictures import picture_text, record_words, seen, whole

SEXES = (
    'NFG 1 R "Battle of the sexes" { "Ann" "Bob" }\n{ { "opera" "boxing" } { "opera" "boxing" } }\n\n3 2 0 0 0 0 2 3\n'
)


def sexes(tmp_path: Path) -> str:
    (tmp_path / "bos.nfg").write_text(SEXES)
    return str(tmp_path / "bos.nfg")


def test_best_answers_and_equilibria_of_two_players(tmp_path: Path) -> None:
    game = load(sexes(tmp_path))
    table = payoff_table(game)
    assert table is not None and is_payoff_table(game)
    assert table.payoffs[0, 0].tolist() == [3, 2] and table.payoffs[1, 1].tolist() == [2, 3]
    assert table.best.tolist() == [[[True, True], [False, False]], [[False, False], [True, True]]]
    assert table.equilibria == [(0, 0), (1, 1)]
    assert equilibrium_lines(game, table) == [
        "3 extreme equilibria, 3 components",
        "1  Ann opera -> 3   Bob opera -> 2",
        "2  Ann opera 3/5, boxing 2/5 -> 6/5   Bob opera 2/5, boxing 3/5 -> 6/5",
        "3  Ann boxing -> 2   Bob boxing -> 3",
    ]


def test_show_prints_the_table_and_no_tree(tmp_path: Path) -> None:
    text = infoset.show(sexes(tmp_path))
    assert text.startswith("bos: Battle of the sexes\n")
    assert "opera    3*, 2*   0, 0" in text and "→" not in text and "3 extreme equilibria" in text
    (tmp_path / "rps.csv").write_text("0,-1,1\n1,0,-1\n-1,1,0\n")
    text = infoset.show(str(tmp_path / "rps.csv"))
    assert "1    0, 0     −1, 1*   1*, −1" in text
    assert 'P1 "1" 1/3, "2" 1/3, "3" 1/3 -> 0' in text
    assert "boxing 0.500" in infoset.show(sexes(tmp_path), "random")
    assert "chance" in infoset.show("kuhn_poker")  # which has later moves and stays a tree


def test_three_players_have_a_table_for_each_choice_of_the_third() -> None:
    game = load("matching_pennies_3p")
    table = payoff_table(game)
    assert table is not None
    picture = payoff_picture(table)
    assert [one["title"] for one in picture["tables"]] == ["P3: Heads", "P3: Tails"]
    assert picture["tables"][0]["cells"][0][0] == {"paid": ["1", "1", "−1"], "best": [True, True, False]}
    assert equilibrium_lines(game, table) == ["no pure equilibria"]


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel(num_cards=3)", "gdl:monty_hall", "tiny_hanabi"])
def test_games_with_chance_or_later_moves_are_no_tables(name: str) -> None:
    assert payoff_table(load(name)) is None


def test_tables_that_are_too_large_are_walked_and_pure_equilibria_found_of_any_size() -> None:
    rng = np.random.default_rng(3)
    large = infoset.table_game(rng.integers(0, 9, (21, 20)))
    assert payoff_table(large) is None and not is_payoff_table(large)
    assert whole(large, [large.start()], [])["kind"] == "path"
    wide = infoset.table_game(np.eye(9), np.eye(9))
    table = payoff_table(wide)
    assert table is not None and equilibrium_lines(wide, table)[0] == f"{len(table.equilibria)} pure equilibria"
    assert (0, 0) in table.equilibria and len(table.equilibria) == 9


@pytest.mark.parametrize("name", ["rock_paper_scissors", "matching_pennies_3p"])
def test_a_player_sees_the_table_and_once_all_chose_what_they_chose(name: str) -> None:
    game = load(name)
    before = seen(game, 1, (), game.start().state.legal_actions(1))
    assert before["kind"] == "payoffs" and before["mover"] == 1 and {*before["chosen"]} == {None}
    match = infoset.play_match(
        name, [f"scripted(actions=[{game.start().state.legal_actions(0)[1]}])"] * len(game.players)
    )
    step = game.start().state.play(match.steps[0].actions)
    own = ((match.steps[0].actions[1], step.observation(1)),)
    after = seen(game, 1, own)
    assert after["chosen"] == [1] * len(game.players) and after["mover"] is None
    assert after == whole(game, [game.start(), step], match.steps)
    assert "P1 chose" in picture_text(after) and record_words(game, 1, own[0]).startswith("you choose ")


def test_a_notebook_shows_the_table_with_its_equilibria(tmp_path: Path) -> None:
    html = load(sexes(tmp_path))._repr_html_()  # type: ignore[attr-defined]
    assert "<b>Battle of the sexes</b>" in html and 'class="number equilibrium"' in html
    assert "3 extreme equilibria, 3 components" in html and "opera 3/5, boxing 2/5" in html
    assert "Paper" in load("rock_paper_scissors")._repr_html_()  # type: ignore[attr-defined]
