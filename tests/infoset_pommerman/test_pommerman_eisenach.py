"""The search over joint actions: hand-made positions, a plain twin of tree and score, budgets, clocks, whole games."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from time import monotonic, thread_time
from typing import Any

import numpy as np
import pytest

from infoset.errors import ParameterError
from infoset.match.match import play_match
from infoset.randomness import streams
from infoset_pommerman import state as st
from infoset_pommerman.config import Config, config
from infoset_pommerman.engine import advance, begin, engine
from infoset_pommerman.game import Pommerman
from infoset_pommerman.rules import scratch
from infoset_pommerman.search import eisenach as eis
from infoset_pommerman.search.belief import Belief, empty_belief
from infoset_pommerman.search.players import SearchPlayer
from infoset_pommerman.search.scenario import play

TEAM, FFA, DUEL = config("PommeTeamCompetition-v0"), config("PommeFFACompetition-v0"), config("OneVsOne-v0")
COLLAPSING = replace(FFA, collapses=(30, 33, 36, 39))
LOOKS = ".#wb*?oik"  # the board's values from 0 on; digits are agents


class Table:
    """One agent's search on a position that it knows entirely."""

    def __init__(self, rules: Config, row: st.Row, me: int = 0, **parameters: Any) -> None:
        self.rules, self.me, self.engine = rules, me, engine(rules)
        self.belief: Belief = empty_belief(rules)
        self.belief.guess[:] = row
        for k in range(4):
            agent = st.AGENTS + k * st.AGENT_FIELDS
            if row[agent + st.ALIVE]:
                cell = row[agent + st.CELL]
                self.belief.possible[k, cell // rules.size] = 1 << cell % rules.size
        self.mate = 1 << (me + 2) % 4 if rules.teams else 0
        self.enemies = ((1 << rules.num_agents) - 1) & ~(1 << me) & ~self.mate
        self.parameters = eis.Eisenach(**parameters)
        self.settings = self.parameters.settings()
        self.tree = eis.empty_tree(rules)

    def move(self, seed: int = 0, deadline: float | None = None) -> int:
        return eis.eisenach_move(
            self.belief, self.tree, self.me, self.enemies, self.mate, self.settings, self.engine,
            streams(seed, 1), deadline,
        )  # fmt: skip

    def values(self, depth: int) -> np.ndarray:
        """Of all own moves, NaN where there is none, by a search of so many plies."""
        eis.prepare(self.tree, self.belief, self.me, self.enemies, self.mate, self.settings, self.engine)
        eis.open_tree(self.tree, self.belief, depth, np.full(eis.MOVES, np.nan), self.engine)
        assert eis.grow(self.tree, self.belief, self.settings, self.engine, 10**9)
        return self.tree.value.copy()


def position(text: str, rules: Config, bombs: tuple[tuple[int, ...], ...] = (), **agent: int) -> st.Row:
    """A board drawn as text; a bomb is (row, column, owner, life, strength); ``agent`` says what agent 0 has."""
    size = rules.size
    row = st.empty_rows(1, rules)[0]
    cells = "".join(text.split())
    assert len(cells) == size * size
    for cell, look in enumerate(cells):
        if look.isdigit():
            at = st.AGENTS + int(look) * st.AGENT_FIELDS
            row[at : at + st.AGENT_FIELDS] = (1, cell, 1, 2, 0)
        row[st.BOARD + cell] = st.AGENT + int(look) if look.isdigit() else LOOKS.index(look)
    own = st.AGENTS
    row[own + st.AMMO], row[own + st.BLAST] = agent.get("ammo", 1), agent.get("blast", 2)
    row[own + st.CAN_KICK] = agent.get("kick", 0)
    row[st.NUM_BOMBS] = len(bombs)
    for k, (r, c, owner, life, strength) in enumerate(bombs):
        at = st.BOMBS + k * st.BOMB_FIELDS
        row[at : at + st.BOMB_FIELDS] = (r * size + c, owner, life, strength, st.STOP)
        if row[st.BOARD + r * size + c] < st.AGENT:
            row[st.BOARD + r * size + c] = st.BOMB
    return row


def agent_of(row: st.Row, k: int) -> dict[str, int]:
    at = st.AGENTS + k * st.AGENT_FIELDS
    return dict(zip(("alive", "cell", "ammo", "blast", "kick"), map(int, row[at : at + st.AGENT_FIELDS]), strict=True))


def bombs_of(row: st.Row) -> list[dict[str, int]]:
    names = ("cell", "owner", "life", "strength", "direction")
    starts = range(st.BOMBS, st.BOMBS + int(row[st.NUM_BOMBS]) * st.BOMB_FIELDS, st.BOMB_FIELDS)
    return [dict(zip(names, map(int, row[at : at + st.BOMB_FIELDS]), strict=True)) for at in starts]


class Twin:
    """The values again, literally: every joint move, every step of the run after a leaf, no pruning."""

    def __init__(self, table: Table) -> None:
        self.table, self.p = table, table.parameters
        self.size, self.me = table.rules.size, table.me
        self.near = table.engine.near.reshape(-1, 6)
        self.ours = [self.me] + [k for k in range(4) if table.mate >> k & 1]
        self.theirs = [k for k in range(4) if table.enemies >> k & 1]
        guess = table.belief.guess
        self.plies = dict.fromkeys(range(4), 0)
        seen = [k for k in range(4) if k != self.me and agent_of(guess, k)["alive"]]
        for k in seen:
            one, two = (divmod(agent_of(guess, j)["cell"], self.size) for j in (k, self.me))
            away = abs(one[0] - two[0]) + abs(one[1] - two[1])
            self.plies[k] = 0 if away >= self.p.near else 1 if away >= self.p.close else 2
            if away < self.p.near and seen == [k] and k in self.theirs:
                self.plies[k] = self.p.duel_plies
        self.plies[self.me] = 99

    def moves(self, row: st.Row, k: int, ply: int) -> list[int]:
        agent = agent_of(row, k)
        if ply >= self.plies[k] or not agent["alive"]:
            return [st.STOP]
        bombs = [bomb["cell"] for bomb in bombs_of(row)]
        flames = row[st.flames_at(self.size) :][: 2 * int(row[st.NUM_FLAMES])].reshape(-1, 2)
        burning = {int(cell) for cell, life in flames if life > 0}
        found = [st.STOP]
        for move in (st.UP, st.DOWN, st.LEFT, st.RIGHT):
            target = int(self.near[agent["cell"], move])
            wall = row[st.BOARD + target] in (st.RIGID, st.WOOD)
            if (
                target != agent["cell"]
                and not wall
                and target not in burning
                and (agent["kick"] or target not in bombs)
            ):
                found.append(move)
        if agent["ammo"] and len(bombs) < 64 and agent["cell"] not in bombs:
            found.append(st.LAY)
        return found

    def played(self, row: st.Row, joint: tuple[int, ...]) -> st.Row:
        after = row.copy()
        play(after, np.array(joint, dtype=np.int16), self.table.belief, self.table.engine)
        return after

    def alive(self, row: st.Row, side: list[int]) -> list[int]:
        return [k for k in side if agent_of(row, k)["alive"]]

    def points(self, before: st.Row, after: st.Row) -> float:
        p, total = self.p, 0.0
        lost = set(self.alive(before, self.ours)) - set(self.alive(after, self.ours))
        killed = set(self.alive(before, self.theirs)) - set(self.alive(after, self.theirs))
        for k in self.alive(after, self.ours + self.theirs):
            sign, old, new = 1 if k in self.ours else -1, agent_of(before, k), agent_of(after, k)
            item = before[st.BOARD + new["cell"]] if old["cell"] != new["cell"] else st.PASSAGE
            cap = self.table.rules.blast_cap
            total += sign * {
                st.EXTRA_BOMB: p.extra_bomb, st.KICK: p.kick * (0.2 if old["kick"] else 1.0),
                st.INCR_RANGE: p.incr_range * (0.2 if old["blast"] >= cap else 1.0),
            }.get(int(item), 0.0)  # fmt: skip
        if lost and killed and not self.alive(after, self.ours) and not self.alive(after, self.theirs):
            total = -p.own_death
        elif lost and not self.alive(after, self.ours):
            total = -p.all_dead
        else:
            total -= sum([p.own_death if k == self.me else p.mate_death for k in lost])
            won = killed and not self.alive(after, self.theirs)
            total += p.all_dead if won else p.enemy_death * len(killed)
        return total + p.wood * self.burnt(before, after)

    def burnt(self, before: st.Row, after: st.Row) -> int:
        total, size = 0, self.size
        flames = after[st.flames_at(size) :][: 2 * int(after[st.NUM_FLAMES])].reshape(-1, 2)
        for cell, life in flames.tolist():
            if life != self.table.rules.flame_life or before[st.BOARD + cell] != st.WOOD:
                continue
            for bomb in bombs_of(before):
                down, right = (abs(a - b) for a, b in zip(divmod(bomb["cell"], size), divmod(cell, size), strict=True))
                if min(down, right) == 0 and max(down, right) < bomb["strength"] and bomb["owner"] >= 0:
                    total += 1 if bomb["owner"] in self.ours else -1
                    break
        return total

    def leaf(self, row: st.Row, ply: int) -> float:
        """The run on: the agent itself is taken off the board, and dies when no cell is left that it can be on."""
        row, value, own = row.copy(), 0.0, st.AGENTS + self.me * st.AGENT_FIELDS
        cells = set()
        if row[own + st.ALIVE]:
            cells = {int(row[own + st.CELL])}
            value = self.p.discount**ply * self.p.goal_weight * self.table.tree.goal_value[row[own + st.CELL]]
            row[st.BOARD + row[own + st.CELL]] = st.PASSAGE
        for t in range(1, self.p.horizon + 1):
            if not self.alive(row, self.ours) or not self.alive(row, self.theirs):
                break
            absent = row.copy()
            absent[own + st.ALIVE] = 0
            after = self.played(absent, (0, 0, 0, 0))
            closed = {bomb["cell"] for bomb in bombs_of(row)}
            closed |= {cell for cell in range(self.size**2) if row[st.BOARD + cell] in (st.RIGID, st.WOOD, st.BOMB)}
            cells |= {int(self.near[cell, way]) for cell in cells for way in range(1, 5)} - closed
            cells = {cell for cell in cells if after[st.BOARD + cell] not in (st.FLAMES, st.RIGID)}
            after[own + st.ALIVE] = bool(cells)
            value += self.p.discount ** (ply + t) * self.points(row, after)
            row = after
        return value

    def child(self, row: st.Row, joint: tuple[int, ...], ply: int, depth: int) -> float:
        after = self.played(row, joint)
        gain = self.p.discount ** (ply + 1) * self.points(row, after)
        over = not agent_of(after, self.me)["alive"] or not self.alive(after, self.theirs)
        if over or ply + 1 == depth:
            return gain + self.leaf(after, ply + 1)
        return gain + max(self.values(after, ply + 1, depth).values())

    def values(self, row: st.Row, ply: int, depth: int) -> dict[int, float]:
        found: dict[int, float] = {}
        choices = {k: self.moves(row, k, ply) for k in range(4)}
        for own in choices[self.me]:
            pairs = []
            for mate in choices[self.ours[1]] if len(self.ours) > 1 else [st.STOP]:
                replies = []
                for answer in product(*[choices[k] for k in self.theirs]):
                    joint = dict.fromkeys(range(4), st.STOP) | dict(zip(self.theirs, answer, strict=True))
                    joint |= dict(zip(self.ours, (own, mate), strict=False))
                    replies.append(self.child(row, tuple(joint[k] for k in range(4)), ply, depth))
                pairs.append((min(replies) + self.p.mean * np.mean(replies)) / (1.0 + self.p.mean))
            found[own] = max(pairs)
        return found


def wild_position(rules: Config, seed: int, steps: int) -> st.Row:
    """A position after random moves, the agents put close together; nobody is over a bomb's fuse."""
    rng, game = np.random.default_rng(seed), engine(rules)
    row, work = st.empty_rows(1, rules)[0], scratch(rules.size)
    begin(row, game.settings, game.template, game.pairs, game.starts, streams(seed, 1))
    for k in range(rules.num_agents):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        row[agent + st.AMMO : agent + st.CAN_KICK + 1] = rng.integers((1, 2, 0), (4, 5, 2))
    for _ in range(steps):
        before = row.copy()
        moves = rng.integers(6, size=4).astype(np.int16)
        advance(row, work, game.settings, game.collapses, game.near, moves, np.zeros((4, 2), dtype=np.int16))
        if row[st.RESULT] != st.RUNNING or not agent_of(row, 0)["alive"]:
            return before
    return row


@pytest.mark.parametrize(
    ("rules", "depth"), [(TEAM, 2), (DUEL, 2), (FFA, 2), (COLLAPSING, 2), (replace(DUEL, view=4), 2)]
)
def test_value_equals_the_twin(rules: Config, depth: int) -> None:
    compared = 0
    for seed in range(6):
        row = wild_position(rules, seed, 4 + 5 * seed if rules.collapses == () else 20 + 3 * seed)
        table = Table(rules, row, near=8, close=2, repeat=0.0)
        found = table.values(depth)
        expected = Twin(table).values(row, 0, depth)
        assert {move for move in range(6) if not np.isnan(found[move])} == set(expected)
        np.testing.assert_allclose([found[move] for move in expected], list(expected.values()), atol=1e-9)
        compared += len(expected)
    assert compared > 12


def test_pruned_values_are_exact() -> None:
    # where the replies are many and some are hopeless, most pairs below the root are cut
    row = position(
        """
        ........
        .0.1....
        ........
        ..##....
        ........
        ........
        ........
        ........
        """,
        DUEL, bombs=((1, 2, 1, 4, 3), (4, 1, 0, 3, 4)), kick=1,
    )  # fmt: skip
    table = Table(DUEL, row)
    found = table.values(2)
    expected = Twin(table).values(row, 0, 2)
    np.testing.assert_allclose([found[move] for move in expected], list(expected.values()), atol=1e-9)


DEAD_END = """
    ########
    #1.0...#
    ###.####
    #......#
    #......#
    #......#
    #......#
    ########
    """


def test_finds_a_kill() -> None:
    # a bomb in the mouth of the dead end; the enemy, which cannot kick, has nowhere to go
    row = position(DEAD_END, DUEL, blast=3)
    table = Table(DUEL, row, goal_weight=0.0)
    assert table.move() == st.LAY
    assert table.values(3)[st.LAY] == pytest.approx(20.0 * 0.98**10, abs=0.2)  # it burns after ten steps
    # with the bomb laid it leaves by a way on which it lives, and wins
    work, game = scratch(DUEL.size), table.engine
    for step in range(12):
        if row[st.RESULT] != st.RUNNING:
            break
        move = Table(DUEL, row).move(step)
        moves = np.array([move, st.RIGHT, 0, 0], dtype=np.int16)
        advance(row, work, game.settings, game.collapses, game.near, moves, np.zeros((4, 2), dtype=np.int16))
    assert row[st.RESULT] == st.WIN
    assert agent_of(row, 0)["alive"]


def test_finds_the_way_out() -> None:
    # three steps left; only down, left, left leads out of the blast of strength 4
    row = position(
        """
        ########
        #0######
        #.######
        #..#####
        ##.#####
        ########
        ######.#
        ######1#
        """,
        DUEL, bombs=((1, 1, 0, 4, 4),), ammo=0,
    )  # fmt: skip
    table = Table(DUEL, row)
    work, game = scratch(DUEL.size), table.engine
    for step in range(4):
        moves = np.array([Table(DUEL, row).move(step), 0, 0, 0], dtype=np.int16)
        assert step > 2 or moves[0] == (st.DOWN, st.DOWN, st.RIGHT)[step]
        advance(row, work, game.settings, game.collapses, game.near, moves, np.zeros((4, 2), dtype=np.int16))
    assert agent_of(row, 0)["alive"]


def test_does_not_walk_into_a_blast_for_an_item() -> None:
    board = """
        .0o.....
        ........
        ..##....
        ........
        ........
        ........
        ........
        .......1
        """
    assert Table(DUEL, position(board, DUEL)).move() == st.RIGHT
    assert Table(DUEL, position(board, DUEL, bombs=((0, 3, 1, 1, 2),))).move() != st.RIGHT


def test_a_blocked_agent_still_answers() -> None:
    row = position("0#......" + "##......" + "........" * 5 + ".......1", DUEL, ammo=0)
    assert Table(DUEL, row).move() == st.STOP


def test_same_seed_and_budget_same_moves() -> None:
    row = wild_position(TEAM, 3, 12)
    moves = [[Table(TEAM, row, budget=700).move(seed) for seed in range(10)] for _ in range(2)]
    assert moves[0] == moves[1]


def test_budget_is_kept() -> None:
    table = Table(TEAM, wild_position(TEAM, 3, 12), near=15, close=12)
    counted = 0
    eis.prepare(table.tree, table.belief, 0, table.enemies, table.mate, table.settings, table.engine)
    eis.open_tree(table.tree, table.belief, 6, np.full(6, np.nan), table.engine)
    while not eis.grow(table.tree, table.belief, table.settings, table.engine, 100) and counted < 3000:
        assert 100 <= table.tree.place[eis.STEPS] <= 100 + table.parameters.horizon  # a leaf is run to its end
        counted += int(table.tree.place[eis.STEPS])
    assert counted >= 3000


def test_chunks_do_not_change_values() -> None:
    table = Table(DUEL, wild_position(DUEL, 5, 9), near=11)
    whole = table.values(3)
    eis.open_tree(table.tree, table.belief, 3, np.full(6, np.nan), table.engine)
    while not eis.grow(table.tree, table.belief, table.settings, table.engine, 7):
        pass
    np.testing.assert_array_equal(table.tree.value, whole)


def test_deadline_is_kept() -> None:
    table = Table(TEAM, wild_position(TEAM, 3, 12), budget=10**8, depth=12)
    table.move(deadline=monotonic() + 1.0)  # compiled now
    late = []
    for seed in range(50):
        begun = thread_time()  # what other processes take does not count
        assert table.move(seed, monotonic() + 1e-3) in range(6)
        late.append(thread_time() - begun - 1e-3)
    assert np.median(late) < 5e-3
    assert table.move(0, monotonic() - 1.0) in range(6)  # too late already


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match=r"budget=0 .*allowed"):
        eis.Eisenach(budget=0)
    with pytest.raises(ParameterError, match=r"depth=13 .*allowed"):
        eis.Eisenach(depth=13)
    with pytest.raises(ParameterError, match="mean=nan is out of range"):
        eis.Eisenach(mean=float("nan"))


@pytest.mark.parametrize("rules", [TEAM, FFA, DUEL, COLLAPSING, config("PommeRadioCompetition-v2")])
def test_plays_whole_games(rules: Config) -> None:
    game = Pommerman("pommerman:short", replace(rules, max_steps=60))
    agents = [SearchPlayer(eis.Eisenach(budget=300)) for _ in range(rules.num_agents)]
    first, again = (play_match(game, agents, seed=5) for _ in range(2))
    assert not first.faults
    assert [step.actions for step in first.steps] == [step.actions for step in again.steps]
    played = [move for step in first.steps for move in step.actions if move is not None]
    moves = {move if isinstance(move, int) else move[0] for move in played}
    assert st.LAY in moves
    assert len(moves) > 3


@pytest.mark.slow
def test_beats_simple_agents() -> None:
    # the original won 39 of 40 games; with 95 games of 100 to win, fewer than 16 of 20 are had in one run of 400
    game, wins = Pommerman("pommerman:PommeTeamCompetition-v0", TEAM), 0
    for seed in range(20):
        one, two = SearchPlayer(eis.Eisenach()), SearchPlayer(eis.Eisenach())
        wins += play_match(game, [one, "simple", two, "simple"], seed=seed).returns[0] > 0
    assert wins >= 16
