"""The stock agent against the reference's: probed decisions, whole recorded games, a plain twin, made-up positions."""

from __future__ import annotations

import gzip
import json
import random
from collections import deque
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from extent import sample
from infoset.jit import kernel
from infoset.randomness import streams
from infoset_pommerman import simple
from infoset_pommerman import state as st
from infoset_pommerman.config import Config
from infoset_pommerman.observation import enemies, observations, see
from infoset_pommerman.rules import neighbours
from pommerman_golden import DIGITS, config_of, games, to_row

DRAWS = 2000
SAMPLES = (256, 4096, 65536)  # of what a recorded player may remember; more if none fits what it does
OVERALL = 1e-3  # the chance that a right agent fails one of the statistical tests


@kernel
def draw(board, blast_map, own, foes, ammo, strength, size, near, memories, moves, work, stream):
    """One move for each of many memories."""
    for k in range(len(moves)):
        moves[k] = simple.simple_move(
            board, blast_map, own, foes, ammo, strength, size, near, memories[k], work, stream
        )  # fmt: skip


class BeliefSampler:
    """Many agents in one place, each with its own memory."""

    def __init__(self, size: int, seed: int, count: int) -> None:
        self.size, self.stream, self.work = size, streams(seed, 1), simple.simple_scratch(size)
        self.memories = np.tile(simple.memory(), (count, 1))
        self.moves = np.zeros(count, np.int16)

    def act(self, board: Any, blast_map: Any, own: int, foes: int, ammo: int, strength: int) -> np.ndarray:
        """How many of them make each of the six moves."""
        size = self.size
        draw(
            np.asarray(board, np.int16), np.asarray(blast_map, np.int16), own, foes, ammo, strength, size,
            neighbours(size), self.memories, self.moves, self.work, self.stream,
        )  # fmt: skip
        return np.bincount(self.moves, minlength=st.LAY + 1)


def memory_of(previous: int, recent: list[int]) -> np.ndarray:
    memory = simple.memory()
    memory[simple.PREVIOUS] = previous
    memory[simple.RECENT : simple.RECENT + len(recent)] = recent
    memory[simple.NEXT_SLOT] = len(recent) % simple.RECENT_CELLS
    return memory


def probes(shared: Path) -> list[dict[str, Any]]:
    with gzip.open(shared / "golden" / "pommerman" / "simple_probe.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def digits(text: str) -> np.ndarray:
    return np.array([DIGITS.index(digit) for digit in text], np.int16)


def differ(one: np.ndarray, other: np.ndarray) -> float:
    """The chance of counts that differ so much, or more, from one distribution."""
    kept = one + other > 0
    return 1.0 if kept.sum() < 2 else float(chi2_contingency(np.array([one, other])[:, kept], correction=False)[1])


def test_probed_decisions_have_the_same_distribution(shared: Path) -> None:
    lines = probes(shared)
    assert len(lines) == 140
    for number, line in enumerate(lines):
        seen, size = line["obs"], int(len(line["obs"]["board"]) ** 0.5)
        draws = BeliefSampler(size, number, DRAWS)
        draws.memories[:] = memory_of(line["prev_direction"] or st.STOP, [r * size + c for r, c in line["recent"]])
        own = seen["pos"][0] * size + seen["pos"][1]
        foes = simple.enemy_mask(seen["enemies"])
        ours = draws.act(digits(seen["board"]), digits(seen["bbs"]), own, foes, seen["ammo"], seen["bs"])
        theirs = np.array(line["counts"])
        assert not (theirs[ours == 0]).any(), (number, theirs, ours)
        assert not (ours[theirs == 0] > DRAWS / 10 * 1.5).any(), (number, theirs, ours)
        assert differ(theirs, ours) > OVERALL / len(lines), (number, theirs, ours)


def simple_games(shared: Path, kind: str) -> list[dict[str, Any]]:
    return [game for game in games(shared, kind) if game["label"] == "simple"]


KINDS = {"ffa": 25, "onevsone": 26, "team": 18, "team_full": 5, "radio": 15}
LONG = {"ffa", "team", "team_full", "radio"}  # a quarter of a minute each


def follow(game: dict[str, Any], config: Config, agent: int, samples: int) -> np.ndarray | None:
    """Follow one player through a recorded game with a particle filter over what it may remember.

    Returns (3, 6) the moves made, the moves expected, and their variance; None if no sample makes a recorded move.
    """
    size, sums = config.size, np.zeros((3, 6))
    draws = BeliefSampler(size, game["seed"] + agent, samples)
    choice = np.random.default_rng(agent)
    planes = np.zeros((5, size * size), np.uint32)
    foes = simple.enemy_mask(enemies(config, agent))
    for before, played in pairwise([{"s": game["s0"]}, *game["steps"]]):
        row = to_row(before["s"], config)
        alive, own, ammo, strength, _ = row[st.AGENTS + agent * st.AGENT_FIELDS :][: st.AGENT_FIELDS]
        if not alive:
            break
        see(row, size, size if config.view is None else config.view, own, planes)
        probabilities = draws.act(planes[0], planes[1], int(own), foes, int(ammo), int(strength)) / samples
        act = played["act"][agent]
        move = act[0] if isinstance(act, list) else act
        kept = np.flatnonzero(draws.moves == move)
        if not len(kept):
            return None
        sums[0, move] += 1
        sums[1] += probabilities
        sums[2] += probabilities * (1 - probabilities) * (1 + 1 / samples)
        if len(kept) < samples:
            draws.memories = draws.memories[kept[(np.arange(samples) + choice.integers(samples)) % len(kept)]]
    return sums


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow) if kind in LONG else kind for kind in KINDS]
)
def test_recorded_players_decide_as_often_in_each_way(kind: str, shared: Path) -> None:
    recorded = simple_games(shared, kind)
    assert len(recorded) == KINDS[kind]
    sums = np.zeros((3, 6))
    for game in recorded:
        config = config_of(game)
        for agent in range(config.num_agents):
            tries = (follow(game, config, agent, samples) for samples in SAMPLES)
            found = next((one for one in tries if one is not None), None)
            assert found is not None, (game["seed"], agent)
            sums += found
    assert sums[0].sum() > 3000
    deviations = (sums[0] - sums[1]) / np.sqrt(np.maximum(sums[2], 1))
    assert np.abs(deviations).max() < 4.5, deviations


# ---- A plain twin: dictionaries and lists, written from the description of the agent, slow


class Twin:
    MOVES: ClassVar = ((st.UP, -1, 0), (st.DOWN, 1, 0), (st.LEFT, 0, -1), (st.RIGHT, 0, 1))
    DELTAS: ClassVar = {st.STOP: (0, 0), st.UP: (-1, 0), st.DOWN: (1, 0), st.LEFT: (0, -1), st.RIGHT: (0, 1)}

    def __init__(self, seed: int, previous: int, recent: list[tuple[int, int]]) -> None:
        self.random, self.previous, self.recent = random.Random(seed), previous, list(recent)

    def act(self, seen: dict[str, Any]) -> int:
        try:
            return self.decide(seen)
        except (KeyError, TypeError):
            return st.STOP

    def passable(self, cell: tuple[int, int], besides: tuple[int, int] | None = None) -> bool:
        value = int(self.board[cell])
        return cell != besides and value in (0, 6, 7, 8, 10, 11, 12, 13) and value not in self.enemies

    def on_board(self, cell: tuple[int, int]) -> bool:
        return min(cell) >= 0 and max(cell) < len(self.board)

    def decide(self, seen: dict[str, Any]) -> int:  # noqa: PLR0911
        self.board, self.me, self.enemies = seen["board"], seen["position"], [int(e) for e in seen["enemies"]]
        blast = seen["bomb_blast_strength"]
        self.bombs = [((int(r), int(c)), int(blast[r, c])) for r, c in np.argwhere(blast > 0)]
        self.search()
        if unsafe := self.unsafe():
            return self.random.choice(self.safe(unsafe))
        near = any(self.distance[cell] == 1 for enemy in self.enemies for cell in self.items.get(enemy, ()))
        if near and self.may_bomb(seen):
            return st.LAY
        move = self.towards(self.enemies, 3)
        if move is not None and (move != self.previous or self.random.random() < 0.5):
            self.previous = move
            return move
        move = self.towards([6, 7, 8], 2)
        if move is not None:
            return move
        if self.towards([st.WOOD], 1) is not None:
            return st.LAY if self.may_bomb(seen) else st.STOP
        move = self.towards([st.WOOD], 2)
        if move is not None and not self.in_line(move):
            return move
        return self.wander()

    def search(self) -> None:
        depth, n, (r, c) = 10, len(self.board), self.me
        self.items: dict[int, list[tuple[int, int]]] = {}
        self.distance: dict[tuple[int, int], float] = {}
        self.parent: dict[tuple[int, int], tuple[int, int] | None] = {}
        for x in range(max(0, r - depth), min(n, r + depth)):
            for y in range(max(0, c - depth), min(n, c + depth)):
                if abs(x - r) + abs(y - c) <= depth and self.board[x, y] not in (st.FOG, st.RIGID, st.FLAMES):
                    self.items.setdefault(int(self.board[x, y]), []).append((x, y))
                    self.distance[x, y], self.parent[x, y] = np.inf, None
        queue = deque([self.me] if self.me in self.distance else [])
        for cell in queue:
            self.distance[cell] = 0
        while queue:
            cell = queue.popleft()
            if not self.passable(cell):
                continue
            length = self.distance[cell] + 1
            for _, dr, dc in self.MOVES:
                other = (cell[0] + dr, cell[1] + dc)
                if other not in self.distance:
                    continue
                if length < self.distance[other]:
                    self.distance[other], self.parent[other] = length, cell
                    queue.append(other)
                elif length == self.distance[other] and self.random.random() < 0.5:
                    self.parent[other] = cell

    def unsafe(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for (r, c), strength in self.bombs:
            if self.distance.get((r, c), np.inf) > strength:
                continue
            moves = []
            if (r, c) == self.me:
                moves = [st.RIGHT, st.LEFT, st.UP, st.DOWN]
            elif r == self.me[0]:
                moves = [st.RIGHT if c > self.me[1] else st.LEFT]
            elif c == self.me[1]:
                moves = [st.DOWN if r > self.me[0] else st.UP]
            for move in moves:
                found[move] = max(found.get(move, 0), strength)
        return found

    def safe(self, unsafe: dict[int, int]) -> list[int]:
        if len(unsafe) == 4:
            return [next((move for move, strength in unsafe.items() if self.leads_out(move, strength)), st.STOP)]
        moves = []
        for move, dr, dc in self.MOVES:
            cell = (self.me[0] + dr, self.me[1] + dc)
            if self.on_board(cell) and move not in unsafe and (self.passable(cell) or self.board[cell] == st.FOG):
                moves.append(move)
        return moves or [move for move in unsafe if self.on_board(self.target(move))] or [st.STOP]

    def target(self, move: int) -> tuple[int, int]:
        return self.me[0] + self.DELTAS[move][0], self.me[1] + self.DELTAS[move][1]

    def leads_out(self, move: int, strength: int) -> bool:
        first = self.target(move)
        if not self.on_board(first) or not self.passable(first):
            return False
        waiting, seen = [(0, first)], set()
        while waiting:
            waiting.sort()
            key, cell = waiting.pop(0)
            seen.add(cell)
            if (cell[0] != first[0] and cell[1] != first[1]) or key > strength:
                return True
            for _, dr, dc in self.MOVES:
                other = (cell[0] + dr, cell[1] + dc)
                if other not in seen and self.on_board(other) and self.passable(other, self.me):
                    entry = (abs(other[0] - first[0]) + abs(other[1] - first[1]), other)
                    if entry not in waiting:
                        waiting.append(entry)
        return False

    def may_bomb(self, seen: dict[str, Any]) -> bool:
        if seen["ammo"] < 1:
            return False
        return any(
            self.distance[r, c] < np.inf
            and (self.distance[r, c] > seen["blast_strength"] or (r != self.me[0] and c != self.me[1]))
            for r, c in self.items[st.PASSAGE]
        )

    def towards(self, values: list[int], radius: int) -> int | None:
        best, found = max(self.distance.values()), None
        for value in values:
            for cell in self.items.get(value, ()):
                if self.distance[cell] <= radius and self.distance[cell] <= best:
                    best, found = self.distance[cell], cell
        if found is None:
            return None
        while self.parent[found] != self.me:  # a KeyError where the way does not begin at the own cell
            found = self.parent[found]
        return next(move for move, dr, dc in self.MOVES if self.target(move) == found)

    def in_line(self, move: int) -> bool:
        r, c = self.target(move)
        return any(
            (r == x and abs(c - y) <= strength) or (c == y and abs(r - x) <= strength)
            for (x, y), strength in self.bombs
        )

    def wander(self) -> int:
        moves = [move for move in self.DELTAS if self.on_board(self.target(move)) and self.passable(self.target(move))]
        moves = [move for move in moves if not self.in_line(move)]
        moves = [move for move in moves if self.target(move) not in self.recent] or moves
        if len(moves) > 1:
            moves = [move for move in moves if move != st.STOP]
        self.recent = [*self.recent, self.me][-6:]
        return self.random.choice(moves or [st.STOP])


def random_view(rng: random.Random, size: int) -> dict[str, Any]:
    """A board of anything, crowded around bombs, that no game need ever reach."""
    weights = rng.choice(((60, 15, 10, 4, 2, 2, 2, 2), (70, 5, 1, 10, 3, 3, 3, 3), (85, 5, 0, 8, 1, 1, 1, 1)))
    board = np.array(rng.choices((0, 1, 2, 3, 4, 6, 7, 8), weights, k=size * size), np.int16).reshape(size, size)
    if rng.random() < 0.3:
        board[: rng.randrange(size)] = st.FOG
    cells = [divmod(cell, size) for cell in rng.sample(range(size * size), 4)]
    me, foes = rng.randrange(4), rng.choice(([1, 2, 3], [1, 3]))
    if rng.random() < 0.6:
        cells[1] = (min(size - 1, cells[0][0] + rng.randrange(3)), max(0, cells[0][1] - rng.randrange(1, 3)))
    for k in (3, 2, 1, 0):
        board[cells[k]] = st.AGENT + (me + k) % 4
    blast = np.zeros((size, size))
    blast[board == st.BOMB] = [rng.randint(1, 10) for _ in range(int((board == st.BOMB).sum()))]
    for cell in cells:
        if rng.random() < 0.2:
            blast[cell] = rng.randint(1, 6)
    return {
        "board": board,
        "bomb_blast_strength": blast,
        "position": cells[0],
        "ammo": rng.randrange(3),
        "blast_strength": rng.randint(1, 8),
        "enemies": sorted(st.AGENT + (me + k) % 4 for k in foes),
    }


@cache
def twin_views() -> list[dict[str, Any]]:
    rng = random.Random(3)
    return [random_view(rng, rng.choice((6, 8, 11, 11, 14))) for _ in range(400)]


def against_the_twin(views: list[dict[str, Any]], count: int) -> None:
    for number, seen in enumerate(views):
        rng, size = random.Random(number), len(seen["board"])
        around = [(r, c) for r in range(size) for c in range(size) if abs(r - seen["position"][0]) < 2]
        recent = [rng.choice(around) for _ in range(rng.randrange(7))]
        previous = rng.randrange(5)
        theirs, after = np.zeros(6, int), {}
        for k in range(count):
            twin = Twin(1000 * number + k, previous, recent)
            move = twin.act(seen)
            theirs[move] += 1
            after.setdefault(move, set()).add((twin.previous, tuple(sorted(r * size + c for r, c in twin.recent))))
        draws = BeliefSampler(size, number, 5 * count)
        draws.memories[:] = memory_of(previous, [r * size + c for r, c in recent])
        own = seen["position"][0] * size + seen["position"][1]
        foes = simple.enemy_mask(seen["enemies"])
        ours = draws.act(
            seen["board"].ravel(), seen["bomb_blast_strength"].ravel(), own, foes, seen["ammo"], seen["blast_strength"]
        )
        assert not theirs[ours == 0].any(), (number, theirs, ours)
        assert differ(theirs, ours) > OVERALL / len(views), (number, theirs, ours)
        for move, memory in zip(draws.moves.tolist(), draws.memories.tolist(), strict=True):
            cells = tuple(sorted(cell for cell in memory[simple.RECENT :] if cell >= 0))
            if theirs[move] > count / 4:
                assert (memory[simple.PREVIOUS], cells) in after[move], number


def test_random_positions_against_a_plain_twin() -> None:
    against_the_twin(twin_views(), sample(15, 40))


@pytest.mark.slow
def test_many_random_positions_against_a_plain_twin() -> None:
    rng = random.Random(4)
    against_the_twin([random_view(rng, rng.choice((6, 8, 11, 11, 14))) for _ in range(6000)], 60)


# ---- Made-up positions, one for each rule


def moves_at(text: str, bombs: dict[tuple[int, int], int] | None = None, **given: Any) -> set[int]:
    """The moves that the agent ``a`` may make on a board, its enemies being ``b`` and ``d``."""
    lines = text.split()
    size, board = len(lines), digits("".join(lines))
    blast_map = np.zeros(size * size, np.int16)
    for (r, c), strength in (bombs or {}).items():
        blast_map[r * size + c] = strength
    draws = BeliefSampler(size, 5, 500)
    draws.memories[:] = memory_of(given.get("previous", st.STOP), given.get("recent", []))
    own = int(np.flatnonzero(board == st.AGENT)[0])
    foes = simple.enemy_mask([st.AGENT + 1, st.AGENT + 3])
    counts = draws.act(board, blast_map, own, foes, given.get("ammo", 1), given.get("strength", 2))
    return set(np.flatnonzero(counts).tolist())


OPEN = "000000 000000 00a000 000000 000000 000000"


def test_rule_1_only_the_way_towards_a_bomb_is_unsafe() -> None:
    text = "000000 000000 00a300 000000 000000 000000"
    assert moves_at(text, {(2, 3): 2}) == {st.UP, st.DOWN, st.LEFT}
    walled = "000000 011100 01a130 011100 000000 000000"
    assert moves_at(walled, {(2, 4): 4}) == {st.STOP}  # out of reach: no danger; all wood and walls about


def test_rule_1_on_a_bomb_the_first_way_out_is_taken() -> None:
    assert moves_at(OPEN, {(2, 2): 2}) == {st.RIGHT}
    assert moves_at("000000 000000 00a100 000000 000000 000000", {(2, 2): 2}) == {st.LEFT}
    assert moves_at("001111 100111 01a111 101111 111111 111111", {(2, 2): 2}) == {st.UP}
    assert moves_at("111111 110111 11a111 110111 111111 111111", {(2, 2): 2}) == {st.STOP}
    walls = " 1111111" * 6
    assert moves_at("1a00011" + walls, {(0, 1): 2}) == {st.STOP}  # from the next cell only two farther
    assert moves_at("1a00001" + walls, {(0, 1): 2}) == {st.RIGHT}


def test_rule_1_with_nothing_safe_an_unsafe_way_is_taken() -> None:
    assert moves_at("1111111 1111111 11a0301 1111111 1111111 1111111 1111111", {(2, 4): 3}) == {st.RIGHT}


def test_rule_2_bombs_an_enemy_beside_if_there_is_a_refuge() -> None:
    assert moves_at("000000 000000 00ab00 000000 000000 000000") == {st.LAY}
    assert moves_at("000000 000000 00ab00 000000 000000 000000", ammo=0) == {st.RIGHT}
    assert moves_at("111111 111111 10ab00 111111 111111 111111") == {st.RIGHT}  # caught with its bomb
    assert moves_at("111111 111111 11ab11 111111 111111 111111") == {st.STOP}  # no passage: the reference fails


def test_rule_3_follows_an_enemy_and_hesitates_to_repeat() -> None:
    text = "111111 100001 1a00b1 100001 111111 111111"
    assert moves_at(text) == {st.RIGHT}
    assert moves_at(text, previous=st.RIGHT) == {st.RIGHT, st.UP, st.DOWN}
    assert moves_at("000000 000000 00a000 0000d0 000000 000000") == {st.RIGHT, st.DOWN}
    assert st.LAY not in moves_at("000000 000000 00ac00 000000 000000 000000")  # a teammate


def test_rule_4_takes_items() -> None:
    assert moves_at("000000 000000 00a060 000000 000000 000000") == {st.RIGHT}
    assert moves_at("000000 007000 00a800 000000 000000 000000") == {st.RIGHT}  # of equals the last kind
    assert moves_at("000000 006000 06a600 006000 000000 000000") == {st.DOWN}  # of equals the last cell


def test_rules_5_and_6_open_wood() -> None:
    assert moves_at("000000 000000 00a200 000000 000000 000000") == {st.LAY}
    assert moves_at("000000 000000 00a200 000000 000000 000000", ammo=0) == {st.STOP}
    assert moves_at("000000 000000 00a020 000000 000000 000000") == {st.RIGHT}
    line = "000300 000000 00a020 000000 000000 000000"
    assert moves_at(line, {(0, 3): 2}) == {st.LEFT, st.DOWN, st.UP}  # row 1 is not in the bomb's line, column 3 is


def test_rules_7_and_8_wander_to_new_cells() -> None:
    assert moves_at(OPEN) == {st.UP, st.DOWN, st.LEFT, st.RIGHT}
    assert moves_at(OPEN, recent=[8, 13]) == {st.DOWN, st.RIGHT}
    assert moves_at(OPEN, recent=[8, 13, 15, 20]) == {st.STOP}
    assert moves_at(OPEN, recent=[8, 13, 14, 15, 20]) == {st.UP, st.DOWN, st.LEFT, st.RIGHT}


def test_the_search_ends_one_row_and_column_earlier_below_and_to_the_right() -> None:
    board = np.zeros((12, 12), np.int16)
    board[0, 0], board[1, 0], board[10, 0] = st.AGENT, st.KICK, st.BOMB  # an item on the way to a bomb ten rows off
    below, above = (" ".join("".join(DIGITS[v] for v in line) for line in one) for one in (board, board[::-1]))
    right, left = (" ".join("".join(DIGITS[v] for v in line) for line in one) for one in (board.T, board.T[:, ::-1]))
    assert moves_at(below, {(10, 0): 10}) == {st.DOWN}
    assert moves_at(above, {(1, 0): 10}) == {st.RIGHT}
    assert moves_at(right, {(0, 10): 10}) == {st.RIGHT}
    assert moves_at(left, {(0, 1): 10}) == {st.DOWN}


def test_a_player_on_dictionaries_is_repeatable() -> None:
    seen = random_view(random.Random(8), 11)
    one, other = simple.SimpleAgent(seed=2), simple.SimpleAgent(seed=2)
    moves = [one.act(seen, action_space=None) for _ in range(20)]
    assert moves == [other.act(seen) for _ in range(20)]
    one.begin()
    assert one.memory.tolist() == simple.memory().tolist()


def test_a_player_reads_what_the_environment_gives(shared: Path) -> None:
    game = next(iter(simple_games(shared, "radio")))
    config = config_of(game)
    player = simple.SimpleAgent()
    moves = {player.act(seen) for seen in observations(to_row(game["s0"], config), config)}
    assert moves <= set(range(6))
