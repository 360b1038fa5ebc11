"""Boards among the propositions of described games, and the layers of a network that see them."""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from infoset import load
from infoset.gdl.syntax import Term
from infoset.learn.boards import NOWHERE, board_of
from infoset.learn.lazy_states import Propositions
from infoset.learn.net import CHANNELS, BoardLayers, StateNet


def terms(*facts: str) -> list[Term]:
    return [Term(name, tuple(map(Term, words))) for name, *words in map(str.split, facts)]


@pytest.mark.parametrize(
    ("game", "shape"),
    [
        ("breakthrough", (2, 8, 8)),
        ("connect_four", (2, 7, 6)),
        ("krieg_tic_tac_toe", (5, 3, 3)),
        ("pursuit", (3, 5, 5)),
    ],
)
def test_boards_of_games(game, shape) -> None:
    """In Krieg Tic-Tac-Toe also which cells are blank, and which ones each player tried in vain."""
    assert board_of(Propositions(load(f"gdl:{game}")).source.propnet.base).shape == shape


def test_every_cell_lies_where_its_numbers_say() -> None:
    found = Propositions(load("gdl:pursuit"))
    base, board = list(map(str, found.source.propnet.base)), found.board
    for pillar in ((1, 1), (1, 3), (3, 1), (3, 3)):  # nobody ever stands there
        assert (board[:, pillar[0], pillar[1]] == NOWHERE).all()
    planes = [{base[k].split()[1] for k in plane[plane != NOWHERE]} for plane in board]
    assert planes == [{"one"}, {"runner"}, {"two"}]
    assert base[board[1, 4, 0]] == "(at runner 5 1)"


@pytest.mark.parametrize("game", ["gdl:meier", "gdl:scissors_double", "gdl:monty_hall"])
def test_games_without_a_board(game) -> None:
    assert Propositions(load(game)).board is None


def test_numbers_are_ordered_as_numbers() -> None:
    board = board_of(terms(*[f"cell {x} {y}" for x in (9, 10, 11) for y in "cab"]))
    assert board[0].tolist() == [[1, 2, 0], [4, 5, 3], [7, 8, 6]]


def test_what_is_no_board_is_left_alone() -> None:
    """Names have no order; two columns are no board; nine steps of which each is one cell lie on no board."""
    assert board_of(terms(*[f"at {x} {y}" for x in ("hall", "yard", "barn") for y in (1, 2, 3)])) is None
    assert board_of(terms(*[f"cell {x} {y}" for x in (1, 2) for y in range(9)])) is None
    assert board_of(terms(*[f"score {k} {k}" for k in range(9)])) is None


def test_features_of_a_cell_depend_on_what_is_near() -> None:
    board = np.arange(49, dtype=np.int64).reshape(1, 7, 7)
    layers = BoardLayers(board)
    facts = torch.zeros(2, 50)
    facts[1, board[0, 0, 0]] = 1.0
    with torch.inference_mode():
        before, after = layers(facts)[:, 50:].reshape(2, CHANNELS, 7, 7)
    changed = (before != after).any(0)
    assert changed[:3, :3].any()
    assert not changed[3:].any() and not changed[:, 3:].any()


def test_a_network_has_them_only_where_there_is_a_board() -> None:
    board = np.arange(9, dtype=np.int64).reshape(1, 3, 3)
    with_board, without = StateNet(9, [2, 2], 8, board), StateNet(9, [2, 2], 8)
    assert with_board.trunk[0].in_features == 9 + 9 * CHANNELS
    assert without.trunk[0].in_features == 9
    assert set(without.state_dict()) < set(with_board.state_dict())
