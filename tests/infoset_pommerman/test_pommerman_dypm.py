"""``dypm`` against a literal twin of its whole evaluation, dangers and goals against theirs, positions by hand, games."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from math import log
from pathlib import Path

import numpy as np
import pytest

from extent import sample
from infoset import load_agent, play_match
from infoset.errors import InfosetError, ParameterError, UnknownNameError, UnsupportedGameError
from infoset.match.agents import AGENTS
from infoset.randomness import streams
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config, GameType, config
from infoset_pommerman.engine import advance, close_in, engine
from infoset_pommerman.game import Pommerman
from infoset_pommerman.rules import neighbours, scratch
from infoset_pommerman.search.belief import LOOKED, NEVER, SEEN_CELL, SEEN_STEP, Belief, empty_belief
from infoset_pommerman.search.champion import Champion
from infoset_pommerman.search.dypm import (
    FAILURES,
    LAST_CELL,
    LAST_MOVE,
    LAST_STEP,
    MOVES,
    NONE,
    Dypm,
    dypm_move,
    empty_buffers,
    remember_failure,
)
from infoset_pommerman.search.goals import DISCOUNT, appraise, goals_of, relax, wood_in_reach
from infoset_pommerman.search.hazards import lay_hazards
from infoset_pommerman.search.players import SearchPlayer
from infoset_pommerman.search.scenario import empty_scenario, unroll
from infoset_pommerman.simple_vec import SimpleVec
from infoset_pommerman.vec import PommermanVec
from test_pommerman_belief import Watcher
from test_pommerman_scenario import (
    VARIANTS,
    WAYS,
    Cell,
    Future,
    agents_of,
    board_of,
    bombs_of,
    grown,
    positions,
    to_set,
)

LATE = [replace(rules, collapses=tuple(3 * t for t in rules.collapses)) for rules in VARIANTS]  # agents meet before
WALLS = (st.RIGID, st.WOOD, st.BOMB)
SILENCE = np.zeros((MAX_AGENTS, st.WORDS), dtype=np.int16)


def stepped(row: st.Row, rules: Config, moves: dict[int, int]) -> st.Row:
    """The position after one step in which all others stop."""
    row, arrays, joint = row.copy(), engine(rules), np.zeros(MAX_AGENTS, dtype=np.int16)
    for k, move in moves.items():
        joint[k] = move
    advance(row, scratch(rules.size), arrays.settings, arrays.collapses, arrays.near, joint, SILENCE)
    return row


def cell_of(row: st.Row, k: int, rules: Config) -> Cell:
    return divmod(int(agents_of(row)[k, st.CELL]), rules.size)


def sides(me: int, rules: Config) -> tuple[list[int], list[int]]:
    """Its enemies and its teammate, if it has one."""
    mates = [(me + 2) % 4] if rules.teams else []
    return [k for k in range(rules.num_agents) if k != me and k not in mates], mates


def bits(agents: list[int]) -> int:
    return sum(1 << k for k in agents)


# ---- twins


def next_to(cell: Cell, move: int) -> Cell:
    return cell[0] + WAYS[move][0], cell[1] + WAYS[move][1]


def bomb_cells(row: st.Row, rules: Config) -> set[Cell]:
    return {divmod(int(cell), rules.size) for cell in bombs_of(row)[:, st.BOMB_CELL]}


def dangers(leaf: st.Row, rules: Config, enemies: list[int], bombs: bool) -> list[st.Row]:
    """The position one step after ``leaf`` for each thing that others could do to the bombs."""
    found = []
    if bombs_of(leaf)[:, st.DIRECTION].any():
        halted = leaf.copy()
        bombs_of(halted)[:, st.DIRECTION] = st.STOP
        found.append(stepped(halted, rules, {}))
    kickers = [k for k in enemies if agents_of(leaf)[k, st.ALIVE] and agents_of(leaf)[k, st.CAN_KICK]]
    for k, move in product(kickers, WAYS):
        if next_to(cell_of(leaf, k, rules), move) in bomb_cells(leaf, rules):
            found.append(stepped(leaf, rules, {k: move}))
    mined = leaf.copy()
    for k in enemies if bombs else ():
        alive, cell, ammo, blast, _ = agents_of(leaf)[k].tolist()
        if alive and ammo and cell not in bombs_of(leaf)[:, st.BOMB_CELL]:
            mined[st.BOMBS + mined[st.NUM_BOMBS] * st.BOMB_FIELDS :][: st.BOMB_FIELDS] = (cell, k, rules.fuse, blast, 0)
            mined[st.NUM_BOMBS] += 1
    if mined[st.NUM_BOMBS] > leaf[st.NUM_BOMBS]:
        found.append(stepped(mined, rules, {}))
    return found


def burned(row: st.Row, rules: Config, cell: Cell, strength: int) -> int:
    """How many walls of wood a bomb burns: a blast stops at the first wall of either kind."""
    board, total = board_of(row, rules), 0
    for move in WAYS:
        line = [cell]
        while len(line) < strength:
            line.append(next_to(line[-1], move))
        walls = [board.get(there, st.RIGID) for there in line[1:] if board.get(there, st.RIGID) in (st.RIGID, st.WOOD)]
        total += walls[:1] == [st.WOOD]
    return total


def shine(worth: dict[Cell, float]) -> dict[Cell, float]:
    """The least fixed point of: at least what it was, and ``DISCOUNT`` times each neighbour."""
    while True:
        near = {cell: max(worth.get(there, 0.0) for there in grown({cell})) for cell in worth}
        better = {cell: max(value, DISCOUNT * near[cell]) for cell, value in worth.items()}
        if better == worth:
            return worth
        worth = better


class Twin:
    """One decision again, literally: futures as lists of sets, every product written out."""

    def __init__(self, belief: Belief, rules: Config, me: int, p: Dypm) -> None:
        self.belief, self.rules, self.me, self.p = belief, rules, me, p
        self.row = belief.guess.copy()
        self.enemies, self.mates = sides(me, rules)
        self.leaves = {move: leaf for move in range(MOVES) if (leaf := self.leaf(move)) is not None}
        self.alone = self.others(self.without_me())
        self.left = {move: self.others(leaf) for move, leaf in self.leaves.items()}
        self.own = {move: float(self.survivable(leaf, self.p.level)) for move, leaf in self.leaves.items()}
        self.contact = self.meets()
        self.average()

    def cell(self, row: st.Row, k: int) -> Cell:
        return cell_of(row, k, self.rules)

    def alive(self, row: st.Row) -> list[int]:
        return [k for k in range(MAX_AGENTS) if k != self.me and agents_of(row)[k, st.ALIVE]]

    def leaf(self, move: int) -> st.Row | None:
        """The position after an action, unless it does nothing or kills its agent."""
        after = stepped(self.row, self.rules, {self.me: move})
        if not agents_of(after)[self.me, st.ALIVE]:
            return None
        if move == st.LAY:
            return after if agents_of(after)[self.me, st.AMMO] < agents_of(self.row)[self.me, st.AMMO] else None
        return after if move == st.STOP or self.cell(after, self.me) != self.cell(self.row, self.me) else None

    def without_me(self) -> st.Row:
        absent = self.row.copy()
        agents_of(absent)[self.me, st.ALIVE] = 0
        return stepped(absent, self.rules, {})

    def others(self, leaf: st.Row) -> dict[int, int]:
        """What each other agent survives if nobody moves and the agent itself, where it lives, is in the way."""
        in_the_way = {self.cell(leaf, self.me)} if agents_of(leaf)[self.me, st.ALIVE] else set()
        future = Future.of(leaf, self.rules, self.p.length, in_the_way, 0)
        return {k: future.survivable(self.cell(leaf, k)) for k in self.alive(leaf)}

    def crowd(self, leaf: st.Row) -> set[Cell]:
        cells = {self.cell(leaf, k) for k in self.alive(leaf)}
        for k in set(self.enemies) - set(self.alive(leaf)):
            if self.row[st.STEP] - self.belief.notes[SEEN_STEP + k] <= self.p.memory:
                cells |= to_set(self.belief.possible[k])
        return cells - {self.cell(leaf, self.me)}

    def survivable(self, leaf: st.Row, level: int) -> int:
        """The agent's own pairs against a crowd, with all dangers at once."""
        calm = Future.of(leaf, self.rules, self.p.length, set(), 0)
        for row in dangers(leaf, self.rules, self.enemies, self.p.bombs):
            later = Future.of(row, self.rules, self.p.length - 1, set(), 0)
            for t in range(self.p.length):
                calm.fire[t + 1] |= later.fire[t]
                calm.open[t + 1] &= later.open[t]
        return self.against(calm, leaf, level, self.p.early and level > 0)

    def against(self, future: Future, leaf: st.Row, level: int, early: bool = False) -> int:
        future.crowd = [self.crowd(leaf)]
        if early:
            reached = grown(future.crowd[0]) & future.open[0] - future.fire[0]
            future.crowd[0] |= reached - {self.cell(leaf, self.me)}
        for t in range(self.p.length):
            reached = grown(future.crowd[t]) & future.open[t] - future.fire[t + 1] if t < level else set()
            future.crowd.append(future.crowd[t] | reached)
        return future.survivable(self.cell(leaf, self.me))

    def meets(self) -> bool:
        """Whether a crowd that spreads all the time takes any of its pairs, whatever it does."""
        for leaf in self.leaves.values():
            future = Future.of(leaf, self.rules, self.p.length, set(), 0)
            if self.against(future, leaf, self.p.length) < self.against(future, leaf, 0):
                return True
        return False

    def average(self) -> None:
        """A neighbour may step onto the same cell: then it is half of a stop."""
        stop = self.own.get(st.STOP, 0.0)
        beside = {cell for k in self.alive(self.row) for cell in grown({self.cell(self.row, k)})}
        taken = {self.cell(self.row, k) for k in self.alive(self.row)}
        for move in WAYS.keys() & self.own.keys():
            if self.own[move] > 0 and self.cell(self.leaves[move], self.me) in beside - taken:
                self.own[move] = (self.own[move] + stop) / 2

    def share(self, move: int, k: int) -> float:
        return min(1.0, self.left[move].get(k, 0) / self.alone[k]) if self.alone.get(k) else 1.0

    def value(self, move: int) -> float:
        whole = self.p.threshold * self.p.length * (self.p.length + 1) if self.contact else 1.0
        value = min(1.0, self.own[move] / whole)
        for k in self.enemies:
            value /= max(self.share(move, k), self.p.floor)
        for k in self.mates:
            left = self.share(move, k)
            value *= left if left >= self.p.mate_floor else 0.01 * left**2
        return value

    def scores(self, worth: dict[Cell, float]) -> dict[int, float]:
        """Of all actions that come into question; ``worth`` says what it is worth to be on a cell."""
        row, here = self.row, self.cell(self.row, self.me)
        for _ in range(self.p.length):
            row = stepped(row, self.rules, {})
        close_in(row, engine(self.rules).settings, engine(self.rules).collapses)
        walls = burned(row, self.rules, here, int(agents_of(self.row)[self.me, st.BLAST]))
        goals = {move: worth[self.cell(leaf, self.me)] for move, leaf in self.leaves.items() if move in WAYS}
        goals[st.STOP] = DISCOUNT * worth[here]
        gain = max([1.0 - self.share(st.LAY, k) for k in self.enemies], default=0.0) if st.LAY in self.leaves else 0.0
        if gain >= self.p.bomb_gain or walls:
            goals[st.LAY] = max(self.p.wood * (1 - 0.5**walls), DISCOUNT * worth[here])
        values = {move: self.value(move) for move in self.leaves if move in goals}
        return {m: log(value) + self.p.goal_weight * goals[m] for m, value in values.items() if value > 0}

    def resort(self) -> dict[int, float]:
        """Where nothing is survivable: how long some cell lasts, with others who stay or take one step; half for bombs."""
        found = {}
        for move, leaf in self.leaves.items():
            cells = {self.cell(leaf, k) for k in self.alive(leaf)}
            found[move] = 0.0
            for level in range(2):
                future = Future.of(leaf, self.rules, self.p.length, cells, level)
                pairs, lasted = (f(self.cell(leaf, self.me)) for f in (future.survivable, future.lasts))
                found[move] += (100.0 * pairs + lasted) / (2 if move == st.LAY else 1)
        return found


# ---- the whole evaluation


def watched(rules: Config, count: int, seed: int) -> Iterator[Watcher]:
    """What living agents believe in the middle of games: one team dypm or everyone stock, on some boards at random."""
    boards, rng = 6, np.random.default_rng(seed)
    batch = PommermanVec(boards, rules, seed=seed)
    stock, found = SimpleVec(batch, seed=seed), 0
    crews = [[Watcher(rules, k) for k in range(rules.num_agents)] for _ in range(boards)]
    while found < count:
        moves = stock.act()
        moves[0, 0], moves[1] = rng.integers(0, MOVES), rng.integers(0, MOVES, moves[1].shape)
        for board, (row, crew) in enumerate(zip(batch.rows, crews, strict=True)):
            for k, watcher in enumerate(crew):
                watcher.look(row)
                if not agents_of(row)[k, st.ALIVE]:
                    continue
                if board >= 3 and k % 2 == 0:
                    moves[board, k] = decide(watcher.belief, rules, k, Dypm(), seed=board)
                if found < count and row[st.STEP] > 5 and rng.random() < 0.02:
                    found += 1
                    yield watcher
        batch.step(moves)


def decide(belief: Belief, rules: Config, me: int, p: Dypm, seed: int, buffers=None) -> int:
    enemies, mates = sides(me, rules)
    return int(
        dypm_move(
            belief, empty_scenario(rules), buffers or empty_buffers(rules), me, bits(enemies), bits(mates), p.settings(),
            engine(rules), streams(seed, 1),
        )
    )  # fmt: skip


def compare(rules: Config, count: int, seed: int) -> dict[str, int]:
    """Decisions with random parameters as the twin has them; how often something special was met."""
    met = dict.fromkeys(("contact", "alone", "unsafe", "bombs", "mates hurt", "enemies hurt"), 0)
    rng = np.random.default_rng(seed)
    for watcher in watched(rules, count, seed):
        p = Dypm(
            level=int(rng.integers(0, 5)), length=int(rng.integers(3, 12)), threshold=float(rng.choice([0.1, 0.65])),
            floor=float(rng.choice([0.05, 0.3])), mate_floor=float(rng.choice([0.5, 0.95])),
            bomb_gain=float(rng.choice([0.05, 0.4])), memory=int(rng.integers(0, 12)), bombs=bool(rng.integers(2)),
            early=bool(rng.integers(2)),
        )  # fmt: skip
        me, buffers, before = watcher.me, empty_buffers(rules), watcher.belief.guess.copy()
        found = decide(watcher.belief, rules, me, p, seed, buffers)
        assert (watcher.belief.guess == before).all()
        twin = Twin(watcher.belief, rules, me, p)
        where = (me, int(before[st.STEP]), p)
        assert {move for move in range(MOVES) if buffers.own[move] != NONE} == set(twin.leaves), where
        for line, left in {**twin.left, MOVES: twin.alone}.items():
            assert buffers.others[line].tolist() == [left.get(k, 0) for k in range(MAX_AGENTS)], (*where, line)
        for move in twin.leaves:
            assert buffers.own[move] == pytest.approx(twin.own[move], abs=1e-12), (*where, move)
            assert buffers.value[move] == pytest.approx(twin.value(move), abs=1e-12), (*where, move)
        safe = any(own > 0 for own in twin.own.values())
        worth = {divmod(n, rules.size): float(value) for n, value in enumerate(buffers.goal_value)}
        scores = twin.scores(worth) if safe else twin.resort()
        if scores:  # ties are broken by chance
            assert scores[found] > max(scores.values()) - (1e-4 if safe else 1.0), (*where, found, scores)
        met["contact" if twin.contact else "alone"] += 1
        met["unsafe"] += not safe
        met["bombs"] += found == st.LAY
        met["mates hurt"] += any(twin.share(move, k) < 1 for move in twin.leaves for k in twin.mates)
        met["enemies hurt"] += any(twin.share(move, k) < 1 for move in twin.leaves for k in twin.enemies)
    return met


@pytest.mark.parametrize("number", range(len(LATE)))
def test_decisions_are_as_the_twin_has_them(number: int) -> None:
    met = compare(LATE[number], count=40, seed=number)
    assert met["contact"] > 0
    assert met["enemies hurt"] > 0


@pytest.mark.slow
def test_a_thousand_decisions_are_as_the_twin_has_them() -> None:
    """150 of each variant; run with ``-s`` to see what was met in them."""
    met = [compare(rules, count=150, seed=100 + number) for number, rules in enumerate(LATE)]
    total = {name: sum(one[name] for one in met) for name in met[0]}
    print(total)
    assert min(total.values()) > 0


def test_a_move_that_failed_is_remembered_until_it_succeeds() -> None:
    """Only a step that led nowhere counts, in two decisions one after the other."""
    buffers = empty_buffers(config("OneVsOne-v0"))
    for step, (cell, move, failures) in enumerate(
        [(9, st.LEFT, 0), (9, st.LEFT, 1), (9, st.UP, 2), (1, st.STOP, 0), (1, st.LAY, 0), (1, st.UP, 0)], start=5
    ):
        remember_failure(buffers, cell, step)
        assert buffers.last[FAILURES] == failures
        buffers.last[[LAST_STEP, LAST_CELL, LAST_MOVE]] = step, cell, move
    remember_failure(buffers, 1, 99)  # the last decision was long ago
    assert buffers.last[FAILURES] == 0


# ---- dangers


def overlaid(row: st.Row, rules: Config, length: int, enemies: list[int], bombs: bool, begin: int = 0):
    """Sets of cells that are open and that burn at each moment, before and after dangers are laid over them."""
    scenario, other, belief = empty_scenario(rules), empty_scenario(rules), empty_belief(rules)
    unroll(scenario, row, length, belief, engine(rules))
    before = [list(map(to_set, words[: length + 1])) for words in (scenario.open, scenario.fire)]
    moves = np.zeros(MAX_AGENTS, dtype=np.int16)
    lay_hazards(belief, scenario, other, row, begin, length, bits(enemies), bombs, moves, engine(rules))
    return before, [list(map(to_set, words[: length + 1])) for words in (scenario.open, scenario.fire)]


@pytest.mark.parametrize("number", range(len(LATE)))
def test_dangers_are_the_union_of_what_others_could_do(number: int) -> None:
    """Nothing goes out, nothing opens; every danger that is played out is in it, and it holds nothing else."""
    rules, rng, more = LATE[number], np.random.default_rng(number), 0
    for row in positions(rules, 60, seed=300 + number):
        agents_of(row)[: rules.num_agents, st.CAN_KICK] |= rng.integers(0, 2, rules.num_agents).astype(np.int16)
        enemies, length, bombs = sides(int(rng.integers(rules.num_agents)), rules)[0], 10, bool(rng.integers(2))
        (calm_open, calm_fire), (now_open, now_fire) = overlaid(row, rules, length, enemies, bombs)
        futures = [Future.of(one, rules, length - 1, set(), 0) for one in dangers(row, rules, enemies, bombs)]
        assert now_open[0] == calm_open[0]
        assert now_fire[0] == calm_fire[0]
        for t in range(length):
            assert now_fire[t + 1] == calm_fire[t + 1].union(*[future.fire[t] for future in futures])
            assert now_open[t + 1] == calm_open[t + 1].intersection(*[future.open[t] for future in futures])
        more += any(now_fire[t] > calm_fire[t] for t in range(length + 1))
    assert more > 5


SMALL = Config(GameType.ONE_VS_ONE, size=8, rigid=0, wood=0, items=0)
TEAM = Config(GameType.TEAM, size=8, rigid=0, wood=0, items=0)
LOOKS = ".#+?*?oik"  # boards' values from 0 on; digits are agents


def position(*lines: str, rules: Config = SMALL, bombs: tuple[tuple[int, ...], ...] = (), step: int = 50) -> st.Row:
    """A drawing, filled up with rigid walls; a bomb is (row, column, owner, life, strength, direction)."""
    row, size = st.empty_rows(1, rules)[0], rules.size
    row[st.STEP], row[st.NUM_BOMBS] = step, len(bombs)
    board = row[st.BOARD :][: size * size].reshape(size, size)
    board[:] = st.RIGID
    for cell in product(range(len(lines)), range(size)):
        look = lines[cell[0]].ljust(size, "#")[cell[1]]
        board[cell] = st.AGENT + int(look) if look.isdigit() else LOOKS.index(look)
        if look.isdigit():
            agents_of(row)[int(look)] = (1, cell[0] * size + cell[1], 1, 2, 0)
    for k, (r, c, owner, life, strength, direction) in enumerate(bombs):
        bomb = (r * size + c, owner, life, strength, direction)
        row[st.BOMBS + k * st.BOMB_FIELDS :][: st.BOMB_FIELDS] = bomb
        board[r, c] = max(board[r, c], st.BOMB)
    return row


def test_a_bomb_that_rolls_may_stop_at_once() -> None:
    """It rolls right along a corridor from cell 1 and goes off after three steps, on cell 4; or where it is now."""
    row = position("........", "0######1", bombs=((0, 1, 1, 3, 2, st.RIGHT),))
    (_, calm), (_, fire) = overlaid(row, SMALL, 6, [1], bombs=False)
    corridor = {(0, c) for c in range(8)}
    assert calm[3] & corridor == {(0, 3), (0, 4), (0, 5)}
    assert fire[3] & corridor == {(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5)}


@pytest.mark.parametrize(("enemies", "can_kick"), [([1], 1), ([1], 0), ([], 1)])
def test_an_enemy_beside_a_bomb_may_kick_it(enemies: list[int], can_kick: int) -> None:
    """It stands right of the bomb; kicked to the left, that goes off on cell 2 after three steps instead of cell 5."""
    row = position("0....###", "......1.", bombs=((1, 5, 0, 3, 2, st.STOP),))
    agents_of(row)[1, st.CAN_KICK] = can_kick
    (_, calm), (_, fire) = overlaid(row, SMALL, 6, enemies, bombs=False)
    line = {(1, c) for c in range(8)}
    assert calm[3] & line == {(1, 4), (1, 5), (1, 6)}
    kicked = {(1, 1), (1, 2), (1, 3)} if enemies and can_kick else set()
    assert fire[3] & line == calm[3] & line | kicked


def test_an_enemy_may_lay_a_bomb_where_it_stands() -> None:
    """It goes off after the nine steps of its fuse."""
    row = position("0...1...")
    for bombs in (False, True):
        (_, calm), (_, fire) = overlaid(row, SMALL, 10, [1], bombs)
        assert fire[:9] == calm[:9]
        assert fire[9] - calm[9] == ({(0, 3), (0, 4), (0, 5)} if bombs else set())


# ---- goals


def rooms(seed: int, size: int, walls: float) -> st.Row:
    """Walls of both kinds, bombs and items anywhere."""
    rng, rules = np.random.default_rng(seed), replace(SMALL, size=size)
    row = st.empty_rows(1, rules)[0]
    values = rng.choice([st.RIGID, st.WOOD, st.BOMB, st.FLAMES, st.EXTRA_BOMB], size * size)
    row[st.BOARD :][: size * size] = np.where(rng.random(size * size) < walls, values, st.PASSAGE)
    return row


@pytest.mark.parametrize("seed", range(0, 20, sample(3, 1)))
def test_wood_in_reach_of_a_bomb(seed: int) -> None:
    size = 6 + seed
    row, rules = rooms(seed, size, 0.4), replace(SMALL, size=size)
    for cell, strength in product(range(size * size), (1, 2, 3, size)):
        found = wood_in_reach(row, st.BOARD, neighbours(size), cell, strength)
        assert found == burned(row, rules, divmod(cell, size), strength)


def ways(row: st.Row, size: int) -> set[Cell]:
    return {divmod(n, size) for n, value in enumerate(row[st.BOARD :][: size * size]) if value not in WALLS}


@pytest.mark.parametrize("seed", range(0, 20, sample(3, 1)))
def test_goals_shine_along_the_ways(seed: int) -> None:
    """What is behind walls, or a wall itself, gets nothing."""
    size, rng = 6 + seed, np.random.default_rng(seed)
    row, worth = rooms(seed, size, 0.3), np.where(rng.random(size * size) < 0.05, rng.random(size * size), 0.0)
    before = {divmod(n, size): float(value) for n, value in enumerate(worth)}
    relax(worth, row, neighbours(size), size * size)
    expected = before | shine({cell: before[cell] for cell in ways(row, size)})
    assert worth.tolist() == pytest.approx([expected[divmod(n, size)] for n in range(size * size)], abs=1e-9)


@pytest.mark.parametrize("number", range(len(LATE)))
def test_what_cells_are_worth(number: int) -> None:
    """A literal twin on what agents believe in the middle of games."""
    rules, p = LATE[number], Dypm()
    cells, chased = rules.size**2, 0
    for watcher in watched(rules, 20, seed=400 + number):
        b, me, now = watcher.belief, watcher.me, int(watcher.belief.guess[st.STEP])
        later, enemies = b.guess.copy(), sides(me, rules)[0]
        for _ in range(12):
            later = stepped(later, rules, {})
        worth = np.zeros(cells)
        appraise(worth, b, later, me, bits(enemies), goals_of(p.settings()), neighbours(rules.size), rules.size)
        own, board = agents_of(b.guess)[me], board_of(b.guess, rules)
        goals = {}
        for n, (cell, value) in enumerate(board.items()):
            looked = int(b.notes[LOOKED + n])
            age = now + 20 if looked == NEVER else now - looked
            item = p.item * (value in (st.EXTRA_BOMB, st.INCR_RANGE, st.KICK))
            item *= 0.3 if value == st.KICK and own[st.CAN_KICK] else 1.0
            walls = burned(later, rules, cell, int(own[st.BLAST])) if own[st.AMMO] else 0
            goals[cell] = max(item, p.wood * (1 - 0.5**walls), p.look * min(1.0, age / p.look_age))
        goals = {cell: worth for cell, worth in goals.items() if board[cell] not in WALLS}
        for k in enemies:
            seen = int(b.notes[SEEN_STEP + k])
            if seen != NEVER and b.possible[k].any() and now - seen <= p.chase_age:
                cell = divmod(int(b.notes[SEEN_CELL + k]), rules.size)
                reached = p.chase * (1 - (now - seen) / (p.chase_age + 1))
                goals[cell] = max(goals.get(cell, 0.0), reached)
                chased += 1
        walled = {cell: value for cell, value in goals.items() if board[cell] in WALLS}
        expected = shine({cell: value for cell, value in goals.items() if cell not in walled}) | walled
        found = [expected.get(divmod(n, rules.size), 0.0) for n in range(cells)]
        assert worth.tolist() == pytest.approx(found, abs=1e-9)
    assert chased > 0


# ---- positions by hand

PLAYERS = pytest.mark.parametrize("make", [partial(SearchPlayer, Dypm()), partial(SearchPlayer, Champion())])


def believed(row: st.Row, rules: Config) -> Belief:
    """Everything is in view."""
    belief = empty_belief(rules)
    belief.guess[:], belief.notes[:] = row, row[st.STEP]
    for k, (alive, cell, *_) in enumerate(agents_of(row).tolist()):
        if alive:
            belief.possible[k, cell // rules.size] = 1 << cell % rules.size
            belief.notes[SEEN_CELL + k] = cell
    return belief


def seated(make: Callable[[], SearchPlayer], rules: Config, seed: int = 0) -> SearchPlayer:
    player = make()
    player.begin(Pommerman("by hand", rules), 0, np.random.default_rng(seed), None)
    return player


def moves_on(make: Callable[[], SearchPlayer], row: st.Row, rules: Config = SMALL, seeds: int = 5) -> set[int]:
    """What it does, with several seeds."""
    found = set()
    for seed in range(seeds):
        player = seated(make, rules, seed)
        player.belief = believed(row, rules)
        found.add(player.decide(None))
    return found


def played_on(
    make: Callable[[], SearchPlayer], row: st.Row, steps: int, rules: Config = SMALL, seed: int = 0
) -> st.Row:
    """Agent 0 decides, the others walk at random."""
    player, rng = seated(make, rules, seed), np.random.default_rng(seed)
    for _ in range(steps):
        moves = {k: int(rng.integers(0, st.LAY)) for k in range(1, rules.num_agents)}
        if agents_of(row)[0, st.ALIVE]:
            player.belief = believed(row, rules)
            moves[0] = player.decide(None)
        row = stepped(row, rules, moves)
    return row


@PLAYERS
def test_it_escapes_the_only_way(make: Callable[[], SearchPlayer]) -> None:
    """The bomb burns the corridor with the second step; the only side way takes two."""
    row = position("##.###1#", "##.#####", "#0......", bombs=((2, 6, 1, 2, 7, st.STOP),))
    assert moves_on(make, row) == {st.RIGHT}
    assert agents_of(played_on(make, row, 12))[0, st.ALIVE]


@pytest.mark.parametrize("make", [partial(SearchPlayer, Dypm(threshold=0.5)), partial(SearchPlayer, Champion())])
def test_it_traps_an_enemy_in_a_dead_end(make: Callable[[], SearchPlayer]) -> None:
    """The enemy is at the end of a dead end, all of which burns if its mouth does.

    Where dypm's own freedom counts up to more than half of all there is, it is content to stand in the mouth.
    """
    row = position("########", "#1.0....", "####.#.#", "####...#")
    agents_of(row)[0, st.BLAST] = 4
    for seed in range(5):
        after = agents_of(played_on(make, row, 24, seed=seed))
        assert after[0, st.ALIVE]
        assert not after[1, st.ALIVE]


@PLAYERS
def test_it_does_not_bomb_itself(make: Callable[[], SearchPlayer]) -> None:
    """The same dead end with both of them in it."""
    row = position("########", "#1.0#")
    agents_of(row)[0, st.BLAST] = 4
    assert st.LAY not in moves_on(make, row)


@pytest.mark.parametrize("make", [partial(SearchPlayer, Dypm(chase=0.8)), partial(SearchPlayer, Champion())])
@pytest.mark.parametrize("mate_inside", [False, True])
def test_it_spares_its_mate(make: Callable[[], SearchPlayer], mate_inside: bool) -> None:
    """An enemy in the dead end is worth a bomb, unless the teammate would die with it.

    Where dypm chases as it does by default, it stays beside an enemy that never moves.
    """
    inside, outside = ("2", "#") if mate_inside else (".", "2")
    row = position("########", f"#1{inside}0....", "####.#.#", "####...#", "########", f"####...{outside}", rules=TEAM)
    agents_of(row)[0, st.BLAST] = 4
    if mate_inside:
        assert st.LAY not in moves_on(make, row, TEAM)
    else:
        after = agents_of(played_on(make, row, 14, TEAM))
        assert after[:3, st.ALIVE].tolist() == [1, 0, 1]


@PLAYERS
def test_it_breaks_wood_and_takes_the_item_when_nobody_is_near(make: Callable[[], SearchPlayer]) -> None:
    """Wood and what it hides behind a bend; the other agent is walled in far away."""
    row = position("0..#####", "#..#####", "#+++####", "########", "########", "########", "######.#", "######1#")
    row[st.BOARD + 64 + 2 * 8 + 1 : st.BOARD + 64 + 2 * 8 + 4] = st.EXTRA_BOMB  # hidden
    after = played_on(make, row, 60)
    assert agents_of(after)[0, st.ALIVE]
    assert agents_of(after)[0, st.AMMO] + (bombs_of(after)[:, st.OWNER] == 0).sum() >= 3


@PLAYERS
def test_it_takes_an_item_in_the_open(make: Callable[[], SearchPlayer]) -> None:
    row = position("0...o###", "....####", "########", "########", "########", "########", "######.#", "######1#")
    assert moves_on(make, row) == {st.RIGHT}
    assert agents_of(played_on(make, row, 4))[0, st.AMMO] == 2


@pytest.mark.parametrize(
    ("make", "mate"),
    [
        (partial(SearchPlayer, Dypm()), 1), (partial(SearchPlayer, Dypm(early=False)), 2),
        (partial(SearchPlayer, Champion()), 1), (partial(SearchPlayer, Champion()), 2),
    ],
)  # fmt: skip
def test_it_leaves_a_fire_in_front_of_its_mate(make: Callable[[], SearchPlayer], mate: int) -> None:
    """Both are in a corridor that burns with the third step, the teammate one or two cells behind.

    Where dypm reckons with it early, a teammate close behind leaves so little in the side way that waiting seems better.

    From cell 2 one can still follow into the side way, if who is in front goes at once; from cell 1 one cannot.
    """
    corridor = "##20...." if mate == 2 else "#2.0...."
    row = position("########", corridor, "####.###", "####.###", rules=TEAM, bombs=((1, 7, 1, mate + 1, 7, st.STOP),))
    assert moves_on(make, row, TEAM) == {st.RIGHT}


# ---- players of matches

SHORT = {
    "FFA": config("PommeFFACompetition-v0"),
    "duel": config("OneVsOne-v0"),
    "walls that close in": replace(config("PommeTeamCompetition-v1"), collapses=(12, 20, 28, 36)),
    "FFA with walls that close in": replace(config("PommeFFA-v1"), collapses=(12, 20, 28, 36)),
    "radio": config("PommeRadio-v2"),
    "team": config("PommeTeamCompetition-v0"),
    "team, all in view": config("PommeTeam-v0"),
    "short sight, short fuse": replace(
        config("PommeTeamCompetition-v0"), view=2, fuse=5, flame_life=0, start_kick=True
    ),
}


@pytest.mark.parametrize("agent", ["dypm", "champion"])
@pytest.mark.parametrize("variant", SHORT)
def test_it_plays_every_variant_and_the_same_again(variant: str, agent: str) -> None:
    rules = replace(SHORT[variant], max_steps=40)
    seats = [agent if k % 2 == 0 else "simple" for k in range(rules.num_agents)]
    once, again, other = (play_match(Pommerman("short", rules), seats, seed=seed) for seed in (3, 3, 4))
    assert once.faults == again.faults == other.faults == ()
    assert [step.actions for step in once.steps] == [step.actions for step in again.steps]
    assert [step.actions for step in once.steps] != [step.actions for step in other.steps]


@pytest.mark.parametrize("agent", ["dypm", "champion"])
def test_one_object_plays_game_after_game(agent: str) -> None:
    """What it believed and did in one game does not go into the next."""
    rules = replace(config("OneVsOne-v0"), max_steps=40)
    player = load_agent(agent)
    games = [play_match(Pommerman("short", rules), [player, "simple"], seed=seed) for seed in (1, 2, 1)]
    assert [step.actions for step in games[0].steps] == [step.actions for step in games[2].steps]


@pytest.mark.parametrize("agent", ["dypm", "champion"])
def test_other_games_are_refused(agent: str) -> None:
    with pytest.raises(UnsupportedGameError, match=f"agent {agent} is made for pommerman:NAME, not for kuhn_poker"):
        play_match("kuhn_poker", [agent, "random"])


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("dypn", UnknownNameError, "did you mean 'dypm'?"),
        ("dypm(levle=3)", UnknownNameError, "did you mean 'level'?"),
        ("champion(lenght=9)", UnknownNameError, "did you mean 'length'?"),
        ("dypm(level=21)", ParameterError, "level=21 is out of range; allowed: 0 to 20"),
        ("dypm(level=-1)", ParameterError, "level=-1 is out of range; allowed: 0 to 20"),
        ("dypm(length=21)", ParameterError, "length=21 is out of range; allowed: 2 to 20"),
        ("dypm(length=1)", ParameterError, "length=1 is out of range; allowed: 2 to 20"),
        ("champion(length=21)", ParameterError, "length=21 is out of range; allowed: "),
        ("dypm(level=1.5)", ParameterError, "level=1.5 is not an integer (default 3)"),
        ("dypm(level=many)", ParameterError, "level=many is not an integer (default 3)"),
        ("dypm(threshold=high)", ParameterError, "threshold=high is not a number"),
        ("dypm(bombs=1)", ParameterError, "bombs=1 is not true or false"),
    ],
)
def test_names_and_parameters_that_do_not_fit(name: str, error: type[InfosetError], message: str) -> None:
    with pytest.raises(error) as caught:
        load_agent(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["look_age=0", "floor=0", "item=nan", "goal_weight=inf"])
def test_parameters_without_a_meaning_are_refused(text: str) -> None:
    """What is computed with them is not a number: no comparison holds, and the agent silently stands still."""
    with pytest.raises(ParameterError, match="out of range"):
        load_agent(f"dypm({text})")


@pytest.mark.parametrize("agent", ["dypm", "hakozaki", "champion"])
def test_the_parameters_in_the_documentation(agent: str) -> None:
    """The table has them all, with their defaults."""
    lines = (Path(__file__).parents[2] / "docs" / "pommerman.md").read_text().splitlines()
    table = lines[lines.index("| parameter | | `dypm` | `hakozaki` | `champion` |") :]
    cells = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in table[: table.index("")]]
    shown = {row[0]: row[cells[0].index(agent)] for row in cells[2:]}
    parameters = inspect.signature(AGENTS[agent]).parameters
    assert {name: str(p.default).lower() for name, p in parameters.items()} == {k: v for k, v in shown.items() if v}


@pytest.mark.parametrize("agent", ["dypm", "champion"])
def test_every_parameter_can_be_named(agent: str) -> None:
    parameters = {"dypm": Dypm, "champion": Champion}[agent]()
    text = ",".join(f"{name}={str(value).lower()}" for name, value in vars(parameters).items())
    assert load_agent(f"{agent}({text})").parameters == load_agent(agent).parameters


@pytest.mark.parametrize("level", [0, 1, 3])
def test_others_that_spread_early_are_one_step_farther(level: int) -> None:
    """In a corridor an enemy is a cell nearer in every moment, so that there is less to survive on."""
    row = position("########", "#0....1#", "########", "########")
    own = {}
    for early in (False, True):
        player = seated(partial(SearchPlayer, Dypm(level=level, early=early)), SMALL)
        player.belief = believed(row, SMALL)
        player.decide(None)
        own[early] = player.room.buffers.own.copy()
    assert (own[True][st.STOP] < own[False][st.STOP]) == (level > 0)
    assert (own[True] <= own[False]).all()


def test_a_match_against_stock_agents_is_won() -> None:
    """Six games, in both seatings of three boards; dypm wins about nine of ten that are decided."""
    score = 0.0
    for seed, own in product(range(3), (0, 1)):
        seats = ["dypm" if k % 2 == own else "simple" for k in range(4)]
        match = play_match(Pommerman("match", config("PommeTeamCompetition-v0")), seats, seed=seed)
        assert match.faults == ()
        score += match.returns[own]
    assert score >= 3
