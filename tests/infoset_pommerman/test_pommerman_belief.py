"""What agents believe: nothing that is marked certain is ever false, what is in view is as it is, and guesses are good.

``Watcher`` lets one agent look at a game that goes on beside it and compares what it believes with the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extent import mark_slow, sample
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config, config
from infoset_pommerman.engine import advance, engine
from infoset_pommerman.observation import see
from infoset_pommerman.rules import scratch
from infoset_pommerman.search.belief import (
    LIVING,
    NOW,
    OWN_AMMO,
    OWN_BLAST,
    OWN_CELL,
    OWN_KICK,
    SELF_FIELDS,
    SURE_BLAST,
    SURE_KICK,
    empty_belief,
    revise,
)
from infoset_pommerman.simple_vec import SimpleVec
from infoset_pommerman.vec import PommermanVec
from pommerman_golden import KINDS, config_of, games, to_row
from test_pommerman_golden import joint

TEAM = config("PommeTeamCompetition-v0")
CLOSING = config("PommeTeamCompetition-v1")


class Watcher:
    """One agent's belief, and how much of what it guessed was right."""

    def __init__(self, rules: Config, me: int) -> None:
        self.rules, self.me, self.engine = rules, me, engine(rules)
        self.view = rules.size if rules.view is None else rules.view
        self.belief, self.own = empty_belief(rules), np.zeros(SELF_FIELDS, dtype=np.int64)
        self.planes, self.again = np.zeros((2, 5, rules.size**2), dtype=np.int16)

    def look(self, row: st.Row) -> None:
        """What agent ``me`` sees of a position; dead ones see from where they died."""
        me, own = agents(row)[self.me], self.own
        own[[OWN_AMMO, OWN_BLAST, OWN_KICK, OWN_CELL]] = me[[st.AMMO, st.BLAST, st.CAN_KICK, st.CELL]]
        own[NOW] = row[st.STEP]
        own[LIVING] = sum(1 << k for k, agent in enumerate(agents(row)) if agent[st.ALIVE])
        see(row, self.rules.size, self.view, own[OWN_CELL], self.planes)
        revise(self.belief, self.me, self.planes, own, self.engine, self.view)

    def check(self, row: st.Row) -> None:
        """What is certain is true, and what is in view is in the guess as it is."""
        b, size, where = self.belief, self.rules.size, (self.me, row[st.STEP])
        for k, (alive, cell, _, blast, kick) in enumerate(agents(row).tolist()):
            assert bool(alive) == bool(b.possible[k].any()), where
            if alive:
                assert int(b.possible[k, cell // size]) >> cell % size & 1, (*where, k)
                assert b.at_least[k, SURE_BLAST] <= blast, (*where, k)
                assert b.at_least[k, SURE_KICK] <= kick, (*where, k)
        assert not (b.rigid & ~words_of(board(row, size) == st.RIGID)).any(), where
        see(b.guess, size, self.view, self.own[OWN_CELL], self.again)
        assert (self.again == self.planes).all(), where
        assert (agents(b.guess)[self.me, st.AMMO :] == agents(row)[self.me, st.AMMO :]).all(), where
        assert b.guess[st.STEP] == row[st.STEP], where

    def possible(self, k: int) -> set[tuple[int, int]]:
        """Where agent ``k`` can be."""
        return to_cells(self.belief.possible[k])


def agents(row: st.Row) -> np.ndarray:
    """(agents, fields) a view."""
    return row[st.AGENTS : st.MESSAGES].reshape(MAX_AGENTS, st.AGENT_FIELDS)


def board(row: st.Row, size: int) -> np.ndarray:
    """(size, size) a view."""
    return row[st.BOARD :][: size * size].reshape(size, size)


def words_of(marked: np.ndarray) -> np.ndarray:
    """(size,) a set of cells."""
    return (marked.astype(np.uint32) << np.arange(len(marked), dtype=np.uint32)).sum(axis=1, dtype=np.uint32)


def to_cells(words: np.ndarray) -> set[tuple[int, int]]:
    return {(r, c) for r, word in enumerate(words.tolist()) for c in range(32) if word >> c & 1}


def bombs(row: st.Row) -> np.ndarray:
    """(bombs, fields) a view."""
    return row[st.BOMBS :][: row[st.NUM_BOMBS] * st.BOMB_FIELDS].reshape(-1, st.BOMB_FIELDS)


def replayed(game: dict[str, Any]) -> Iterator[st.Row]:
    """The positions of a recorded game as agents observe them: walls that are due close in after that."""
    rules = config_of(game)
    row, work, arrays = to_row(game["s0"], rules), scratch(rules.size), engine(rules)
    yield row
    for played in game["steps"]:
        moves, words = joint(played["act"])
        advance(row, work, arrays.settings, arrays.collapses, arrays.near, moves, words)
        yield row


def never_wrong(game: dict[str, Any], late: int) -> int:
    """All agents watch a recorded game, from its start and from step ``late`` on; how often that was checked."""
    rules, checks = config_of(game), 0
    watchers = [Watcher(rules, k) for k in range(rules.num_agents)]
    for t, row in enumerate(replayed(game)):
        if t == late:
            watchers += [Watcher(rules, k) for k in range(rules.num_agents)]
        for watcher in watchers:
            watcher.look(row)
            watcher.check(row)
            checks += 1
    return checks


@pytest.mark.parametrize("kind", mark_slow(KINDS, {"ffa", "kick"}))
def test_what_is_certain_is_true_in_recorded_games(kind: str, shared: Path) -> None:
    """Of games from every variant, sparse boards full of kicks, and positions that no game leads to."""
    recorded = list(games(shared, kind))
    part = recorded[:: len(recorded) // (sample(10, 30) if kind in ("stress", "rare") else sample(1, 3))]
    assert sum(never_wrong(game, late=2 + 9 * n % 40) for n, game in enumerate(part)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_certain_is_true_in_all_recorded_games(kind: str, shared: Path) -> None:
    for n, game in enumerate(games(shared, kind)):
        never_wrong(game, late=1 + 17 * n % 60)


class Tally:
    """Counts of guesses under fog, right and all."""

    def __init__(self) -> None:
        self.right: Counter[str] = Counter()
        self.all: Counter[str] = Counter()

    def add(self, name: str, right: int, total: int = 1) -> None:
        self.right[name] += int(right)
        self.all[name] += int(total)

    def share(self, name: str) -> float:
        return self.right[name] / max(self.all[name], 1)

    def take(self, watcher: Watcher, row: st.Row) -> None:
        """Compare the guesses of a living agent with the truth."""
        size, guess, seen = watcher.rules.size, watcher.belief.guess, watcher.planes[0]
        if not agents(row)[watcher.me, st.ALIVE]:
            return
        fog = seen == st.FOG
        truth = board(row, size).ravel()
        land = fog & (truth < st.AGENT)
        self.add("cells under fog", (board(guess, size).ravel() == truth)[land].sum(), land.sum())
        hidden = {(bomb[st.BOMB_CELL], bomb[st.LIFE]) for bomb in bombs(row).tolist() if fog[bomb[st.BOMB_CELL]]}
        guessed = {(bomb[st.BOMB_CELL], bomb[st.LIFE]) for bomb in bombs(guess).tolist() if fog[bomb[st.BOMB_CELL]]}
        self.add("bombs under fog", len(hidden & guessed), len(hidden))
        self.add("guessed bombs", len(hidden & guessed), len(guessed))
        for bomb in bombs(row).tolist():
            if not fog[bomb[st.BOMB_CELL]]:
                owners = [b[st.OWNER] for b in bombs(guess).tolist() if b[st.BOMB_CELL] == bomb[st.BOMB_CELL]]
                self.add("owners in view", owners == [bomb[st.OWNER]])
        for k, (alive, cell, ammo, blast, kick) in enumerate(agents(row).tolist()):
            if not alive or k == watcher.me:
                continue
            found = agents(guess)[k].tolist()
            self.add("ammo", found[st.AMMO] == ammo)
            self.add("blast strength", found[st.BLAST] == blast)
            self.add("kick", found[st.CAN_KICK] == kick)
            sure = watcher.belief.at_least[k].tolist()
            self.add("blast strength for certain", sure[SURE_BLAST] == blast)
            self.add("kicks known for certain", kick and sure[SURE_KICK], kick)
            if fog[cell]:
                self.add("cells where an agent under fog can be", len(watcher.possible(k)))

    def report(self) -> None:
        print()
        for name in self.all:
            print(f"{name:40} {self.share(name):8.3f} of {self.all[name]}")


def play(rules: Config, boards: int, count: int, seed: int, tally: Tally | None = None) -> None:
    """``count`` games of stock agents, on every fourth board with two that move at random; all agents watch."""
    batch = PommermanVec(boards, rules, seed=seed)
    stock, rng = SimpleVec(batch, seed=seed), np.random.default_rng(seed)
    watchers = [[Watcher(rules, k) for k in range(rules.num_agents)] for _ in range(boards)]
    played = 0
    while played < count:
        for row, crew in zip(batch.rows, watchers, strict=True):
            for watcher in crew:
                watcher.look(row)
                watcher.check(row)
                if tally is not None and row[st.STEP] % 5 == 0:
                    tally.take(watcher, row)
        moves = stock.act()
        moves[::4, :2] = rng.integers(0, 6, moves[::4, :2].shape)
        played += int(batch.step(moves).done.sum())


@pytest.mark.parametrize("name", ["PommeTeamCompetition-v0", "PommeRadio-v2", "OneVsOne-v0", "PommeFFA-v1"])
def test_what_is_certain_is_true_in_games_of_stock_agents(name: str) -> None:
    play(config(name), boards=4, count=4, seed=1)


def test_walls_that_close_in_early() -> None:
    play(replace(CLOSING, collapses=(15, 25, 35, 45)), boards=8, count=16, seed=2)


def test_guesses_are_good() -> None:
    """Run with ``-s`` to see how good.  An agent does not see most of what others pick up and lay."""
    tally = Tally()
    play(TEAM, boards=4, count=4, seed=3, tally=tally)
    tally.report()
    assert tally.share("cells under fog") > 0.6
    assert tally.share("guessed bombs") > 0.9
    assert tally.share("owners in view") > 0.95
    assert tally.share("blast strength") > 0.7


@pytest.mark.slow
@pytest.mark.parametrize("rules", [TEAM, CLOSING], ids=["v0", "v1"])
def test_what_is_certain_is_true_in_a_thousand_games(rules: Config) -> None:
    tally = Tally()
    play(rules, boards=50, count=500, seed=4, tally=tally)
    tally.report()


# ---- by hand


def empty_board(step: int = 50) -> st.Row:
    """A position of ``TEAM`` without walls: agents 0 and 1 at (5, 5) and (5, 8), the others far away in corners."""
    row = st.empty_rows(1, TEAM)[0]
    row[st.STEP] = step
    for k, (r, c) in enumerate([(5, 5), (5, 8), (10, 10), (10, 0)]):
        agents(row)[k] = (1, r * 11 + c, 2, 2, 0)
        board(row, 11)[r, c] = st.AGENT + k
    return row


def watch(row: st.Row, watcher: Watcher, *joint_moves: list[int]) -> None:
    """Look at a position, and at it after each of these steps."""
    watcher.look(row)
    for moves in joint_moves:
        go_on(row, watcher, moves)


def go_on(row: st.Row, watcher: Watcher, moves: list[int]) -> None:
    arrays, words = watcher.engine, np.zeros((MAX_AGENTS, st.WORDS), dtype=np.int16)
    acts = np.array(moves, dtype=np.int16)
    advance(row, scratch(11), arrays.settings, arrays.collapses, arrays.near, acts, words)
    watcher.look(row)
    watcher.check(row)


def test_of_a_game_in_the_middle_nothing_is_taken_for_granted() -> None:
    watcher = Watcher(TEAM, 0)
    watcher.look(empty_board())
    outside = {(r, c) for r in range(11) for c in range(11) if max(abs(r - 5), abs(c - 5)) > TEAM.view}
    assert watcher.possible(2) == watcher.possible(3) == outside
    assert watcher.possible(1) == {(5, 8)}
    assert not watcher.belief.at_least.any()
    assert not watcher.belief.rigid.any()


def test_a_position_at_step_0_that_nobody_dealt() -> None:
    """Its agents are in no corners; so a wall's image may be anything, and agents anywhere."""
    row, watcher = empty_board(step=0), Watcher(TEAM, 1)
    board(row, 11)[1, 10] = st.RIGID
    watcher.look(row)
    assert to_cells(watcher.belief.rigid) == {(1, 10)}
    assert (10, 1) in watcher.possible(2)
    assert not watcher.belief.at_least.any()


def test_a_bomb_that_is_laid_in_view_shows_its_owners_strength() -> None:
    row, watcher = empty_board(), Watcher(TEAM, 0)
    agents(row)[1, st.BLAST] = 3
    watch(row, watcher, [0, st.LAY, 0, 0])
    assert watcher.belief.at_least[1].tolist() == [3, 0]
    assert bombs(watcher.belief.guess)[:, st.OWNER].tolist() == [1]
    assert agents(watcher.belief.guess)[1, st.AMMO] == TEAM.start_ammo - 1


def test_items_that_are_taken_in_view() -> None:
    row, watcher = empty_board(), Watcher(TEAM, 0)
    board(row, 11)[5, 7], board(row, 11)[6, 7] = st.KICK, st.INCR_RANGE
    watch(row, watcher, [0, st.LEFT, 0, 0], [0, st.DOWN, 0, 0])
    assert watcher.belief.at_least[1].tolist() == [1, 1]  # of the strength nothing was known before
    assert agents(watcher.belief.guess)[1].tolist() == [1, 6 * 11 + 7, 1, 3, 1]


@pytest.mark.parametrize("can_kick", [0, 1])
def test_a_bomb_that_begins_to_roll_was_kicked(can_kick: int) -> None:
    """Agent 1 walks left against a bomb: only a kicker stands behind it when it rolls."""
    row, watcher = empty_board(), Watcher(TEAM, 2)
    agents(row)[2, st.CELL], agents(row)[1, st.CAN_KICK] = 7 * 11 + 7, can_kick
    board(row, 11)[10, 10], board(row, 11)[7, 7] = st.PASSAGE, st.AGENT + 2
    row[st.NUM_BOMBS] = 1
    row[st.BOMBS :][: st.BOMB_FIELDS] = (5 * 11 + 7, 0, 9, 2, st.STOP)
    board(row, 11)[5, 7] = st.BOMB
    watch(row, watcher, [0, st.LEFT, 0, 0])
    assert watcher.belief.at_least[1, SURE_KICK] == can_kick
    assert bombs(watcher.belief.guess)[:, st.BOMB_CELL].tolist() == [5 * 11 + 7 - can_kick]


def test_who_only_walks_behind_a_rolling_bomb_has_not_kicked_it() -> None:
    row, watcher = empty_board(), Watcher(TEAM, 2)
    agents(row)[2, st.CELL] = 7 * 11 + 7
    board(row, 11)[10, 10], board(row, 11)[7, 7] = st.PASSAGE, st.AGENT + 2
    row[st.NUM_BOMBS] = 1
    row[st.BOMBS :][: st.BOMB_FIELDS] = (4 * 11 + 8, 0, 9, 2, st.LEFT)
    board(row, 11)[4, 8] = st.BOMB
    watch(row, watcher, [0, st.UP, 0, 0], [0, st.LEFT, 0, 0])
    assert bombs(row)[0].tolist() == [4 * 11 + 6, 0, 7, 2, st.LEFT]
    assert watcher.belief.at_least[1, SURE_KICK] == 0


def dealt_game(seed: int) -> st.Row:
    return PommermanVec(1, TEAM, seed=seed).rows[0]


@pytest.mark.parametrize("seed", range(5))
def test_in_the_opening_walls_of_wood_hold_others_back(seed: int) -> None:
    """A literal twin: until the first bomb's fire is over, at step 13, nobody enters wood that was seen or whose image
    was; the rest is one step more in each step, without what is in view.
    """
    row, watcher = dealt_game(seed), Watcher(TEAM, 0)
    cells = [(r, c) for r in range(11) for c in range(11)]
    view = {(r, c) for r, c in cells if max(r, c) <= 1 + TEAM.view}
    walls = {
        value: {cell for cell in cells if board(row, 11)[cell] == value and (cell in view or cell[::-1] in view)}
        for value in (st.RIGID, st.WOOD)
    }
    possible = {1: {(9, 1)}, 2: {(9, 9)}, 3: {(1, 9)}}
    watcher.look(row)
    for step in range(1, 20):
        go_on(row, watcher, [0, 0, 0, 0])
        closed = view | walls[st.RIGID] | (walls[st.WOOD] if step < 13 else set())
        for k, before in possible.items():
            beside = {(r + dr, c + dc) for r, c in before for dr, dc in ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))}
            possible[k] = (beside & set(cells)) - closed
            assert watcher.possible(k) == possible[k], (step, k)


def test_the_dead_are_nowhere_and_see_on() -> None:
    row, watcher = empty_board(), Watcher(TEAM, 0)
    agents(row)[0, st.ALIVE] = 0
    board(row, 11)[5, 5] = st.PASSAGE
    watch(row, watcher, [0, st.LEFT, 0, 0])
    assert watcher.possible(0) == set()
    assert watcher.possible(1) == {(5, 7)}
