"""Generated boards against the reference's frequencies over 4,000 boards a size."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from infoset.randomness import streams
from infoset_pommerman import state as st
from infoset_pommerman.config import config
from infoset_pommerman.engine import begin, engine

BOARDS = 4000
LIMIT = 5.0  # standard errors; 500 comparisons of two true frequencies exceed it with probability 3e-4


def boards(variant: str, count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(count, n, n) boards and hidden items."""
    rules = config(variant)
    arrays, stream, row = engine(rules), streams(seed, 1), st.empty_rows(1, rules)[0]
    at, cells = st.BOARD, rules.size**2
    found = np.empty((count, 2 * cells), dtype=np.int16)
    for k in range(count):
        assert begin(row, arrays.settings, arrays.template, arrays.pairs, arrays.starts, stream)
        found[k] = row[at : at + 2 * cells]
    return tuple(part.reshape(count, rules.size, rules.size) for part in np.split(found, 2, axis=1))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("variant", "key"), [("PommeFFACompetition-v0", "11x11_4agents"), ("OneVsOne-v0", "8x8_2agents")]
)
def test_frequencies_agree_with_the_reference(variant: str, key: str, shared: Path) -> None:
    """Walls of both kinds and items on every cell; kinds of items; passages that cannot be reached."""
    with gzip.open(shared / "golden" / "pommerman" / "boardgen.json.gz", "rt") as file:
        reference = json.load(file)[key]
    drawn, hidden = boards(variant, BOARDS)
    for found, expected in (
        (drawn == st.RIGID, reference["rigid_freq"]),
        (drawn == st.WOOD, reference["wood_freq"]),
        (hidden != 0, reference["item_pos_freq"]),
    ):
        mine, theirs = found.mean(axis=0), np.array(expected)
        middle = (mine + theirs) / 2
        error = np.sqrt(middle * (1 - middle) * (1 / BOARDS + 1 / reference["n"]))
        assert (np.abs(mine - theirs) <= LIMIT * error + 1e-12).all()
    kinds = [int((hidden == item).sum()) for item in (6, 7, 8)]
    assert chi2_contingency([kinds, [reference["item_types"][str(item)] for item in (6, 7, 8)]]).pvalue > 1e-4


@pytest.mark.parametrize("variant", ["PommeFFACompetition-v0", "OneVsOne-v0"])
def test_boards_are_what_the_rules_say(variant: str) -> None:
    """Mirrored walls, exact numbers, items under wood, a free diagonal, agents in their corners and in reach."""
    rules = config(variant)
    drawn, hidden = boards(variant, 300, seed=2)
    last = rules.size - 2
    corners = [(1, 1), (last, 1), (last, last), (1, last)] if rules.num_agents == 4 else [(1, 1), (last, last)]
    for board, items in zip(drawn, hidden, strict=True):
        walls = np.where(board < st.BOMB, board, 0)
        assert (walls == walls.T).all()
        assert ((board == st.RIGID).sum(), (board == st.WOOD).sum()) == (rules.rigid, rules.wood)
        assert (np.diag(walls) == 0).all()
        assert (board[items != 0] == st.WOOD).all()
        assert (items != 0).sum() == rules.items
        assert [board[cell] for cell in corners] == [st.AGENT + k for k in range(rules.num_agents)]
        reached = flood(board, corners[2 if rules.num_agents == 4 else 1])
        assert ((board == st.PASSAGE) & ~reached).sum() <= 4
        assert all(reached[cell] for cell in corners)


def flood(board: np.ndarray, start: tuple[int, int]) -> np.ndarray:
    """What can be reached through anything but rigid walls."""
    reached = np.zeros(board.shape, dtype=bool)
    todo = [start]
    while todo:
        r, c = todo.pop()
        if 0 <= r < len(board) and 0 <= c < len(board) and not reached[r, c] and board[r, c] != st.RIGID:
            reached[r, c] = True
            todo += [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
    return reached
