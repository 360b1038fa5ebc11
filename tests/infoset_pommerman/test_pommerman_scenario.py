"""Sets of cells and pessimistic scenarios against literal twins, the rules themselves, and positions counted by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from extent import sample
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config, GameType, config
from infoset_pommerman.engine import advance, close_in, engine
from infoset_pommerman.rules import scratch
from infoset_pommerman.search.belief import Belief, empty_belief
from infoset_pommerman.search.cellsets import add, clear, contains, count, remove, row_of_neighbours
from infoset_pommerman.search.scenario import (
    Scenario,
    empty_scenario,
    find_ways,
    gather_crowd,
    lasts,
    play,
    spread_crowd,
    survivable,
    survivable_from,
    unroll,
    ways_from,
)
from infoset_pommerman.simple_vec import SimpleVec
from infoset_pommerman.vec import PommermanVec

Cell = tuple[int, int]
WAYS = {st.UP: (-1, 0), st.DOWN: (1, 0), st.LEFT: (0, -1), st.RIGHT: (0, 1)}
SIZES = some.integers(6, 32)


# ---- sets of cells


def to_words(cells: set[Cell], size: int) -> np.ndarray:
    words = np.zeros(size, dtype=np.uint32)
    for r, c in cells:
        words[r] |= np.uint32(1 << c)
    return words


def to_set(words: np.ndarray) -> set[Cell]:
    """Bits beyond the last column would be cells, too."""
    return {(r, c) for r, word in enumerate(words.tolist()) for c in range(32) if word >> c & 1}


@some.composite
def cell_sets(draw: some.DrawFn) -> tuple[int, set[Cell]]:
    size = draw(SIZES)
    edges = some.sampled_from([0, 1, size // 2, size - 2, size - 1])
    index = edges | some.integers(0, size - 1)
    return size, draw(some.sets(some.tuples(index, index), max_size=30))


@settings(deadline=None)
@given(cell_sets(), some.data())
def test_sets_of_cells_are_sets(sized: tuple[int, set[Cell]], data: some.DataObject) -> None:
    size, cells = sized
    words, (r, c) = to_words(cells, size), data.draw(some.tuples(*[some.integers(0, size - 1)] * 2))
    cell = r * size + c
    assert to_set(words) == cells
    assert count(words, size) == len(cells)
    assert contains(words, cell, size) == ((r, c) in cells)
    add(words, cell, size)
    assert to_set(words) == cells | {(r, c)}
    remove(words, cell, size)
    assert to_set(words) == cells - {(r, c)}
    clear(words, size)
    assert to_set(words) == set()


@settings(deadline=None)
@given(cell_sets())
def test_neighbours_are_the_cells_beside(sized: tuple[int, set[Cell]]) -> None:
    """Only bits beyond the last column may be there as well."""
    size, cells = sized
    words = to_words(cells, size)
    mask = (1 << size) - 1
    found = np.array([int(row_of_neighbours(words, r, size)) & mask for r in range(size)], dtype=np.uint32)
    assert to_set(found) == {cell for cell in grown(cells) if max(cell) < size and min(cell) >= 0}


def grown(cells: set[Cell]) -> set[Cell]:
    return cells | {(r + dr, c + dc) for r, c in cells for dr, dc in WAYS.values()}


# ---- a literal twin


@dataclass
class Future:
    """For each moment the cells that can be entered in the step from it, those that kill, and those that others take."""

    open: list[set[Cell]]
    fire: list[set[Cell]]
    crowd: list[set[Cell]]

    @classmethod
    def of(cls, row: st.Row, rules: Config, length: int, crowd: set[Cell], level: int) -> Future:
        """Nobody moves; others, who stand on ``crowd``, are after each of ``level`` steps where they could have gone."""
        row, work, arrays = row.copy(), scratch(rules.size), engine(rules)
        still, silence = np.zeros(MAX_AGENTS, dtype=np.int16), np.zeros((MAX_AGENTS, st.WORDS), dtype=np.int16)
        future = cls([], [], [crowd])
        for _ in range(length + 1):
            close_in(row, arrays.settings, arrays.collapses)
            board = board_of(row, rules)
            bombs = {divmod(int(cell), rules.size) for cell in bombs_of(row)[:, st.BOMB_CELL]}
            walls = (st.RIGID, st.WOOD, st.BOMB)
            future.open.append({cell for cell, value in board.items() if value not in walls} - bombs)
            future.fire.append({cell for cell, value in board.items() if value in (st.FLAMES, st.RIGID)})
            advance(row, work, arrays.settings, arrays.collapses, arrays.near, still, silence)
        for t in range(length):
            reached = grown(future.crowd[t]) & future.open[t] - future.fire[t + 1] if t < level else set()
            future.crowd.append(future.crowd[t] | reached)
        return future

    def steps(self, t: int, cell: Cell) -> list[Cell]:
        """Where one can be, and live, after the step from a moment."""
        targets = {cell} | (grown({cell}) & self.open[t] - self.crowd[t + 1])
        return sorted(targets - self.fire[t + 1])

    def forward(self, cell: Cell, begin: int = 0) -> dict[int, set[Cell]]:
        """Where one who is at a cell at the moment ``begin`` can be, and live, at each moment from then on."""
        reached = {begin: {cell} - self.fire[begin]}
        for t in range(begin, len(self.open) - 1):
            reached[t + 1] = {target for here in reached[t] for target in self.steps(t, here)}
        return reached

    def survivable(self, cell: Cell, begin: int = 0) -> int:
        """How many pairs of a later moment and a cell lead to the end."""
        reached, last = self.forward(cell, begin), len(self.open) - 1
        if len(reached[last]) <= 1:
            return 0
        for t in range(last - 1, begin, -1):
            reached[t] = {here for here in reached[t] if reached[t + 1].intersection(self.steps(t, here))}
        return sum(len(cells) for t, cells in reached.items() if t > begin)

    def lasts(self, cell: Cell) -> int:
        return max(t for t, cells in self.forward(cell).items() if cells or t == 0)


def board_of(row: st.Row, rules: Config) -> dict[Cell, int]:
    cells = row[st.BOARD :][: rules.size**2].tolist()
    return {divmod(k, rules.size): value for k, value in enumerate(cells)}


def bombs_of(row: st.Row) -> np.ndarray:
    return row[st.BOMBS :][: row[st.NUM_BOMBS] * st.BOMB_FIELDS].reshape(-1, st.BOMB_FIELDS)


def agents_of(row: st.Row) -> np.ndarray:
    return row[st.AGENTS : st.MESSAGES].reshape(MAX_AGENTS, st.AGENT_FIELDS)


class Workspace:
    """The fast scenarios of one kind of game."""

    def __init__(self, rules: Config) -> None:
        self.rules, self.size = rules, rules.size
        self.scenario: Scenario = empty_scenario(rules)
        self.belief: Belief = empty_belief(rules)

    def unroll(self, row: st.Row, length: int, without: int, level: int) -> set[Cell]:
        """Everyone but one agent is a crowd, which is returned."""
        unroll(self.scenario, row, length, self.belief, engine(self.rules))
        gather_crowd(self.scenario, row, without, self.size)
        spread_crowd(self.scenario, length, level, self.size)
        return to_set(self.scenario.crowd[0])

    def pairs(self, cell: Cell, length: int) -> int:
        return int(survivable(self.scenario, cell[0] * self.size + cell[1], length, self.size))


TEAM = config("PommeTeamCompetition-v0")
VARIANTS = (
    TEAM,
    config("PommeFFACompetition-v0"),
    config("OneVsOne-v0"),
    config("PommeRadio-v2"),
    replace(config("PommeTeamCompetition-v1"), collapses=(12, 24, 36, 48)),
    replace(config("PommeFFA-v1"), collapses=(10, 17, 30, 40)),
    replace(TEAM, start_ammo=4, start_blast=4, start_kick=True),
)


def positions(rules: Config, count: int, seed: int) -> list[st.Row]:
    """From games of stock agents and, on every other board, of two that move at random."""
    batch = PommermanVec(50, rules, seed=seed)
    stock, rng = SimpleVec(batch, seed=seed), np.random.default_rng(seed)
    found: list[st.Row] = []
    while len(found) < count:
        for _ in range(3):
            moves = stock.act()
            moves[::2, :2] = rng.integers(0, 6, moves[::2, :2].shape)
            batch.step(moves)
        found += [row.copy() for row in batch.rows[rng.integers(0, 50, 10)] if row[st.STEP] > 5]
    return found[:count]


def agree(rules: Config, seed: int, count: int) -> int:
    """Scenarios of random lengths and levels, of every agent, as the twin has them; the sum of all counts."""
    room, rng, total = Workspace(rules), np.random.default_rng(seed), 0
    for row in positions(rules, count, seed):
        length, level, k = int(rng.integers(1, 21)), int(rng.integers(0, 5)), int(rng.integers(rules.num_agents))
        if not agents_of(row)[k, st.ALIVE]:
            continue
        cell = divmod(int(agents_of(row)[k, st.CELL]), rules.size)
        crowd = room.unroll(row, length, k, level)
        assert crowd == {
            divmod(int(other[st.CELL]), rules.size)
            for n, other in enumerate(agents_of(row))
            if n != k and other[st.ALIVE]
        }
        future = Future.of(row, rules, length, crowd, level)
        for fast, slow in zip(room.scenario[1:4], (future.open, future.fire, future.crowd), strict=True):
            assert [to_set(words) for words in fast[: length + 1]] == slow
        pairs = room.pairs(cell, length)
        assert pairs == future.survivable(cell), (row[st.STEP], k)
        assert lasts(room.scenario, length, rules.size) == future.lasts(cell)
        total += pairs
        begin = int(rng.integers(length))
        late = survivable_from(room.scenario, cell[0] * rules.size + cell[1], begin, length, rules.size)
        assert late == future.survivable(cell, begin), (row[st.STEP], k, begin)
        assert ways_agree(room.scenario, begin, length, rules.size)
    return total


def ways_agree(s: Scenario, begin: int, length: int, size: int) -> bool:
    """What is found for all cells at once is what is found for each, where nobody is in the way."""
    s.crowd[:] = 0
    alone = [survivable_from(s, cell, begin, length, size) for cell in range(size**2)]
    find_ways(s, begin, length, size)
    return alone == [ways_from(s, cell, begin, length, size) for cell in range(size**2)]


@pytest.mark.parametrize("number", range(len(VARIANTS)))
def test_scenarios_are_as_the_twin_has_them(number: int) -> None:
    """105 positions of all variants, or 1,050."""
    assert agree(VARIANTS[number], seed=number, count=sample(15, 150)) > 0


@pytest.mark.parametrize("number", range(len(VARIANTS)))
def test_steps_in_which_little_happens_are_steps(number: int) -> None:
    """Where bombs and flames only tick the rules are not played out: the last position is the same to the byte."""
    rules = VARIANTS[number]
    room, kernels = Workspace(rules), engine(rules)
    for length, row in enumerate(positions(rules, 60, seed=200 + number)):
        room.unroll(row, length % 20 + 1, 0, 0)
        for _ in range(length % 20 + 1):
            play(row, room.belief.idle, room.belief, kernels)
        close_in(row, kernels.settings, kernels.collapses)
        assert np.array_equal(room.scenario.row, row)


@pytest.mark.parametrize("number", range(len(VARIANTS)))
def test_a_way_that_is_survivable_is_survived(number: int) -> None:
    """Played by the rules while the others stay: with bombs underfoot, walls that close in, fire that ends."""
    rules, walked = VARIANTS[number], 0
    room, rng = Workspace(rules), np.random.default_rng(number)
    for row in positions(rules, 60, seed=100 + number):
        k = int(rng.integers(rules.num_agents))
        rolling = bombs_of(row)[:, st.DIRECTION].any()  # where one stands decides where they stop
        if rolling or not agents_of(row)[k, st.ALIVE]:
            continue
        cell, length = divmod(int(agents_of(row)[k, st.CELL]), rules.size), 12
        room.unroll(row, length, k, 0)
        if room.pairs(cell, length):
            walk(row, rules, k, way(room.scenario, cell, length, rng))
            walked += 1
    assert walked > 10


def way(s: Scenario, cell: Cell, length: int, rng: np.random.Generator) -> list[Cell]:
    """A random walk through what ``survivable`` left, which never ends before the end."""
    cells = [cell]
    for t in range(length):
        here = {cells[-1]}
        options = sorted(to_set(s.reach[t + 1]) & (here | (grown(here) & to_set(s.open[t]))))
        cells.append(options[rng.integers(len(options))])
    return cells


def walk(row: st.Row, rules: Config, k: int, cells: list[Cell]) -> None:
    row, work, arrays = row.copy(), scratch(rules.size), engine(rules)
    for here, there in pairwise(cells):
        moves = np.zeros(MAX_AGENTS, dtype=np.int16)
        moves[k] = next((move for move, (dr, dc) in WAYS.items() if there == (here[0] + dr, here[1] + dc)), st.STOP)
        silence = np.zeros((MAX_AGENTS, st.WORDS), dtype=np.int16)
        advance(row, work, arrays.settings, arrays.collapses, arrays.near, moves, silence)
        close_in(row, arrays.settings, arrays.collapses)
        assert agents_of(row)[k, st.ALIVE]
        assert divmod(int(agents_of(row)[k, st.CELL]), rules.size) == there


# ---- by hand

DUEL = Config(GameType.ONE_VS_ONE, size=8, rigid=0, wood=0, items=0)


def drawn(*lines: str, bombs: tuple[tuple[Cell, int, int], ...] = ()) -> st.Row:
    """A position of ``DUEL``: ``#`` walls, ``+`` wood, ``0`` and ``1`` agents; bombs with life and strength."""
    row = st.empty_rows(1, DUEL)[0]
    board = np.full((8, 8), st.RIGID, dtype=np.int16)
    values = {".": st.PASSAGE, "#": st.RIGID, "+": st.WOOD, "0": st.AGENT, "1": st.AGENT + 1}
    for r, line in enumerate(lines):
        board[r, : len(line)] = [values[sign] for sign in line]
    for k, (cell, life, strength) in enumerate(bombs):
        row[st.BOMBS + k * st.BOMB_FIELDS :][: st.BOMB_FIELDS] = (cell[0] * 8 + cell[1], 1, life, strength, st.STOP)
        board[cell] = board[cell] if board[cell] >= st.AGENT else st.BOMB
    row[st.NUM_BOMBS] = len(bombs)
    row[st.BOARD :][:64] = board.ravel()
    for k in range(2):
        at = np.flatnonzero(board.ravel() == st.AGENT + k)
        if len(at):
            agents_of(row)[k] = (1, at[0], 1, 2, 0)
    return row


def counted(row: st.Row, length: int, level: int = 0) -> int:
    room = Workspace(DUEL)
    room.unroll(row, length, 0, level)
    cell = divmod(int(agents_of(row)[0, st.CELL]), 8)
    return room.pairs(cell, length)


def lasted(row: st.Row, length: int) -> int:
    room = Workspace(DUEL)
    room.unroll(row, length, 0, 0)
    room.pairs(divmod(int(agents_of(row)[0, st.CELL]), 8), length)
    return int(lasts(room.scenario, length, 8))


@pytest.mark.parametrize("cells", [2, 3, 5, 8])
def test_an_empty_corridor(cells: int) -> None:
    """From its end one can be on min(t + 1, cells) cells at moment t."""
    for length in (1, 4, 12):
        row = drawn("0" + "." * (cells - 1) + "#" * (8 - cells))
        assert counted(row, length) == sum(min(t + 1, cells) for t in range(1, length + 1))


def test_a_cell_without_a_way_out_is_not_survivable() -> None:
    """One cell at the end is as good as none; but it lasts."""
    assert counted(drawn("0#"), 10) == 0
    assert lasted(drawn("0#"), 10) == 10
    assert counted(drawn("0."), 10) == 20


def test_a_bomb_must_be_outrun() -> None:
    """A bomb at the end of a corridor goes off with the third step; the agent stands beside it."""
    row = drawn(".0...#", bombs=(((0, 0), 3, 3),))
    # It burns cells 0 to 2.  Moment 1: cells 1 and 2, from which cell 3 is reached in time.  Moment 2: cells 2 and 3.
    # Moments 3 to 5: cells 3 and 4, while the rest burns.
    assert counted(row, 5) == 2 + 2 + 2 + 2 + 2
    assert counted(row, 6) == 2 * 5 + 3  # the fire is over, and cell 2 can be entered again
    # A blast of strength 5 leaves no cell: the agent lasts until the moment before.
    assert counted(drawn(".0...#", bombs=(((0, 0), 3, 5),)), 5) == 0
    assert lasted(drawn(".0...#", bombs=(((0, 0), 3, 5),)), 5) == 2


def test_a_bomb_underfoot_is_left_for_good() -> None:
    """Agents do not step onto bombs: who leaves one does not come back before it goes off."""
    row = drawn("..0.#", bombs=(((0, 2), 9, 1),))
    # moment t: cells 2 (only by staying), 1 and 3 one step away, and 0 from moment 2 on.
    assert counted(row, 3) == 3 + 4 + 4
    room = Workspace(DUEL)  # from cell 1 only cells 0 and 1 are left
    room.unroll(row, 4, 0, 0)
    assert room.pairs((0, 1), 4) == 8


def test_wood_opens_when_its_fire_is_over() -> None:
    """A bomb of strength 2 next to wood goes off at moment 1; the wood's cell is free at moment 4."""
    row = drawn("#+..0.", bombs=(((0, 2), 1, 2),))
    room = Workspace(DUEL)
    room.unroll(row, 6, 0, 0)
    assert [(0, 1) in to_set(words) for words in room.scenario.open[:7]] == [False, True, True, True, True, True, True]
    assert [(0, 1) in to_set(words) for words in room.scenario.fire[:7]] == [
        False,
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_others_take_what_they_can_reach() -> None:
    """In a corridor of 6 the other comes one cell nearer in each step of the level, and stays on all of them; but who
    is on a cell before it is not pushed out.
    """
    row = drawn("0....1##")
    assert counted(row, 3) == 2 + 3 + 4
    assert counted(row, 3, level=1) == 2 + 3 + 4  # the other covers cells 4 and 5
    assert counted(row, 3, level=2) == 2 + 3 + 3  # 3 to 5
    assert counted(row, 3, level=3) == 2 + 3 + 3  # 2 to 5: who is on cell 2 at moment 2 stays there


def test_walls_that_close_in_kill_whoever_is_there() -> None:
    """A ring becomes walls after step 3: from a corner that leaves just time enough to get inside."""
    rules = replace(DUEL, collapses=(3,))
    row = drawn(*["." * 8] * 8)
    agents_of(row)[0] = (1, 0, 1, 2, 0)
    row[st.BOARD] = st.AGENT
    room = Workspace(rules)
    room.unroll(row, 3, 0, 0)
    assert room.pairs((0, 0), 3) == 3 + 5 + 3  # moment 3: inside; before: one, two steps from there
    row[st.STEP] = 2
    room.unroll(row, 3, 0, 0)
    assert room.pairs((0, 0), 3) == 0
    assert lasts(room.scenario, 3, 8) == 0
