"""Features of observations for networks: the agent's surroundings, when they burn, and how much room each move leaves.

With the agent in the middle, "a bomb on my left" looks the same all over the board, so two small layers suffice.
Whatever is certain is computed instead of learnt: the future in which nobody moves (``scenario``) determines when cells
burn and how much room each own move leaves.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.jit import inline_kernel, inner_kernel, kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config
from infoset_pommerman.encoding import seen_row
from infoset_pommerman.engine import FUSE, SIZE, engine
from infoset_pommerman.observation import Seen, sees
from infoset_pommerman.rules import WAYS, bomb_on, scratch
from infoset_pommerman.search.cellsets import contains
from infoset_pommerman.search.hazards import put_bomb
from infoset_pommerman.search.scenario import Scenario, copy, empty_scenario, find_ways, unroll, ways_from
from infoset_pommerman.state import MOVES
from infoset_pommerman.vec import PommermanVec

Features = npt.NDArray[np.float32]
Safe = npt.NDArray[np.bool_]

REACH = 3  # cells in each direction
WINDOW = (2 * REACH + 1) ** 2
AHEAD = 10  # steps of the future: a bomb's fuse and one more
CELL_KINDS = (
    "wall", "wood", "fog", "bomb", "flames", "extra_bomb", "incr_range", "kick", "teammate", "enemy", "burns_soon",
)  # fmt: skip
"""The planes of the window, one for each kind of information about a cell."""
WALL, WOODEN, FOGGED, BOMBED, BURNING, ITEM, MATE, ENEMY, HEAT = 0, 1, 2, 3, 4, 5, 8, 9, 10
OWN = len(CELL_KINDS) * WINDOW  # alive, ammo, blast strength, kick, step, row, column
ROOM = OWN + 7  # for each move, from 0 to 1: how much of the future it survives
OTHERS = ROOM + MOVES  # for the nearest teammate and two enemies: whether seen, rows and columns away
SIZE_OF_ALL = OTHERS + 3 * 3
MOST_ROOM = 0.5 * AHEAD * (AHEAD + 1)


class Buffers(NamedTuple):
    """Working memory for one thread."""

    shown: st.Row  # (row,) the agent's observation as a position
    leaf: st.Row  # (row,) the same with wood under the fog
    scenario: Scenario
    work: npt.NDArray[np.int16]  # scratch of the rules
    idle: npt.NDArray[np.int16]  # (agents,)
    silence: npt.NDArray[np.int16]  # (agents, WORDS)


def empty_buffers(rules: Config) -> Buffers:
    """Allocate the working memory for features."""
    idle, silence = np.full(MAX_AGENTS, st.STOP, dtype=np.int16), np.zeros((MAX_AGENTS, st.WORDS), dtype=np.int16)
    shown, leaf = st.empty_rows(2, rules)
    return Buffers(shown, leaf, empty_scenario(rules), scratch(rules.size), idle, silence)


class FeatureExtractor:
    """The features of the agents of one variant, and the fingerprint of the networks that fit it.

    >>> from infoset_pommerman.observation import Seen
    >>> from infoset_pommerman.features import FeatureExtractor
    >>> game = infoset.load("pommerman:OneVsOne-v0(seed=1)")
    >>> features, safe = FeatureExtractor(game.name, game.config).of(Seen(*game.start().observation(0)), player=0)
    >>> features.shape, int(safe.sum())
    ((561,), 6)
    """

    def __init__(self, name: str, rules: Config) -> None:
        self.name, self.rules = name, rules
        self.view = rules.size if rules.view is None else rules.view
        self.engine, self.buffers = engine(rules), empty_buffers(rules)

    @property
    def fingerprint(self) -> str:
        """Hash of the rules, as far as a network depends on them, and of the layout of its inputs."""
        fingerprint_of = {**asdict(self.rules), "entry": "", "reads": [REACH, AHEAD, *CELL_KINDS, SIZE_OF_ALL]}
        return hashlib.sha256(repr(sorted(fingerprint_of.items())).encode()).hexdigest()

    def __len__(self) -> int:
        return 0

    def of(self, seen: Seen, player: int) -> tuple[Features, Safe]:
        """Return an agent's features (F,) in a match, and which of its moves (6,) it survives if nobody else moves."""
        features, safe = np.zeros(SIZE_OF_ALL, dtype=np.float32), np.zeros(MOVES, dtype=np.bool_)
        self.buffers.shown[:] = seen_row(seen, self.rules, player)
        see_shown(player, self.rules.teams, self.engine, self.buffers, features, safe)
        return features, safe


class BatchFeatureExtractor:
    """The features of all agents of a batch of boards.

    After ``look``, ``features`` (B, A, F) and ``safe`` (B, A, 6) hold the results of ``FeatureExtractor.of``.
    """

    def __init__(self, batch: PommermanVec) -> None:
        rules = batch.config
        self.batch, self.view = batch, rules.size if rules.view is None else rules.view
        self.desks = [empty_buffers(rules) for _ in batch.parts]
        self.features = np.zeros((batch.num_envs, rules.num_agents, SIZE_OF_ALL), dtype=np.float32)
        self.safe = np.zeros((batch.num_envs, rules.num_agents, MOVES), dtype=np.bool_)

    def look(self, seats: npt.NDArray[np.int64]) -> None:
        """Update the features of the agents in the ``seats`` (B, S) of each board."""
        batch = self.batch
        batch.spread(
            lambda part, first, last: see_all(
                batch.rows, seats, self.view, batch.config.teams, batch.engine, self.desks[part], self.features,
                self.safe, first, last,
            )
        )  # fmt: skip


@kernel
def see_all(rows, seats, view, teams, engine, buffers, features, safe, first, last):
    """Compute the features of the agents in the seats of the boards from ``first`` to before ``last``."""
    for b in range(first, last):
        for j in range(seats.shape[1]):
            k = seats[b, j]
            show(rows[b], k, view, engine, buffers.shown)
            see_one(k, teams, engine, buffers, features[b, k], safe[b, k])


@kernel
def see_shown(k, teams, engine, buffers, features, safe):
    """Compute the features of agent ``k``, whose observation is ``buffers.shown``."""
    see_one(k, teams, engine, buffers, features, safe)


@inner_kernel
def show(row, k, view, engine, shown):
    """Write what agent ``k`` sees into ``shown`` as a position, with bombs and flames in the order of their cells."""
    size = engine.settings[SIZE]
    agent = st.AGENTS + k * st.AGENT_FIELDS
    own = row[agent + st.CELL]
    for at in range(len(shown)):
        shown[at] = 0
    shown[st.STEP] = row[st.STEP]
    for at in range(st.AGENT_FIELDS):
        shown[agent + at] = row[agent + at]
    for cell in range(size * size):
        shown[st.BOARD + cell] = row[st.BOARD + cell] if sees(cell, own, size, view) else st.FOG
    for n in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + n * st.BOMB_FIELDS
        if sees(row[bomb + st.BOMB_CELL], own, size, view):
            insert(row, bomb, shown, st.BOMBS, shown[st.NUM_BOMBS], st.BOMB_FIELDS)
            shown[st.NUM_BOMBS] += 1
    flames = st.flames_at(size)
    for n in range(row[st.NUM_FLAMES]):
        flame = flames + n * st.FLAME_FIELDS
        if sees(row[flame + st.FLAME_CELL], own, size, view):
            insert(row, flame, shown, flames, shown[st.NUM_FLAMES], st.FLAME_FIELDS)
            shown[st.NUM_FLAMES] += 1


@inline_kernel
def insert(row, source, shown, begin, count, width):
    """Insert an entry of a list of bombs or flames into one sorted by cells; the owner of a bomb is not observed."""
    at = begin + count * width
    while at > begin and shown[at - width] > row[source]:
        for f in range(width):
            shown[at + f] = shown[at - width + f]
        at -= width
    for f in range(width):
        shown[at + f] = row[source + f]
    if width == st.BOMB_FIELDS:
        shown[at + st.OWNER] = 0


@inner_kernel
def see_one(k, teams, engine, buffers, features, safe):
    """Compute the features of agent ``k``, whose observation is ``buffers.shown``.

    The features of a dead agent are zeros, and all its moves are safe.
    """
    shown, size = buffers.shown, engine.settings[SIZE]
    agent = st.AGENTS + k * st.AGENT_FIELDS
    for at in range(len(features)):
        features[at] = np.float32(0.0)
    for move in range(MOVES):
        safe[move] = True
    if not shown[agent + st.ALIVE]:
        return
    copy(shown, buffers.leaf)
    for cell in range(size * size):
        if buffers.leaf[st.BOARD + cell] == st.FOG:
            buffers.leaf[st.BOARD + cell] = st.WOOD
    own = np.int64(shown[agent + st.CELL])
    room_of_moves(k, own, engine, buffers, features, safe)
    draw_window(k, own, teams, size, buffers, features)
    point_at_others(k, own, teams, size, shown, features)
    features[OWN], features[OWN + 1] = 1.0, min(shown[agent + st.AMMO], 5) / 5
    features[OWN + 2], features[OWN + 3] = min(shown[agent + st.BLAST], 10) / 10, shown[agent + st.CAN_KICK]
    features[OWN + 4] = min(shown[st.STEP], 800) / 800
    features[OWN + 5], features[OWN + 6] = own // size / size, own % size / size


@inner_kernel
def room_of_moves(k, own, engine, buffers, features, safe):
    """Compute how much of the future each move survives; leaves the scenario in which the agent lays no bomb."""
    s, leaf, near, size = buffers.scenario, buffers.leaf, engine.near, engine.settings[SIZE]
    agent = st.AGENTS + k * st.AGENT_FIELDS
    if leaf[agent + st.AMMO] > 0 and not bomb_on(leaf, own):
        put_bomb(leaf, k, engine.settings[FUSE])
        unroll(s, leaf, AHEAD, buffers, engine)
        find_ways(s, 1, AHEAD, size)
        rate_move(s, st.LAY, own, size, features, safe)
        leaf[st.NUM_BOMBS] -= 1
    unroll(s, leaf, AHEAD, buffers, engine)
    find_ways(s, 1, AHEAD, size)
    rate_move(s, st.STOP, own, size, features, safe)
    if features[ROOM + st.LAY] == 0.0 and not (leaf[agent + st.AMMO] > 0 and not bomb_on(leaf, own)):
        features[ROOM + st.LAY], safe[st.LAY] = features[ROOM + st.STOP], safe[st.STOP]  # a bomb is not laid
    for move in range(st.UP, st.RIGHT + 1):
        to = np.int64(near[own * WAYS + move])
        kicks = leaf[agent + st.CAN_KICK] and bomb_on(leaf, to)
        if to != own and (contains(s.open[0], to, size) or kicks):
            rate_move(s, move, to, size, features, safe)
        else:
            features[ROOM + move], safe[move] = features[ROOM + st.STOP], safe[st.STOP]


@inline_kernel
def rate_move(s, move, cell, size, features, safe):
    """Enter the room and the safety of a move after which the agent is at ``cell``."""
    found = ways_from(s, cell, 1, AHEAD, size)
    features[ROOM + move], safe[move] = min(found / MOST_ROOM, 1.0), found > 0


@inner_kernel
def draw_window(k, own, teams, size, buffers, features):
    """Write the planes of the cells around the agent."""
    board, s = buffers.shown[st.BOARD :], buffers.scenario
    top, left = own // size - REACH, own % size - REACH
    at = 0
    for r in range(top, top + 2 * REACH + 1):
        for c in range(left, left + 2 * REACH + 1):
            if r < 0 or r >= size or c < 0 or c >= size:
                features[WALL * WINDOW + at] = 1.0
            else:
                kind = kind_of(board[r * size + c], k, teams)
                if kind >= 0:
                    features[kind * WINDOW + at] = 1.0
                if kind != WALL:
                    for t in range(1, AHEAD + 1):
                        if contains(s.fire[t], r * size + c, size):
                            features[HEAT * WINDOW + at] = (AHEAD + 1 - t) / AHEAD
                            break
            at += 1
    for n in range(buffers.shown[st.NUM_BOMBS]):  # including bombs that agents stand on
        cell = buffers.shown[st.BOMBS + n * st.BOMB_FIELDS + st.BOMB_CELL]
        r, c = cell // size - top, cell % size - left
        if 0 <= r <= 2 * REACH and 0 <= c <= 2 * REACH:
            features[BOMBED * WINDOW + r * (2 * REACH + 1) + c] = 1.0


@inline_kernel
def kind_of(value, k, teams):
    """Return the plane of a cell's value; -1 for a passage, the agent itself, and values without a plane."""
    kind = -1
    if value == st.RIGID:
        kind = WALL
    elif value == st.WOOD:
        kind = WOODEN
    elif value == st.FOG:
        kind = FOGGED
    elif value == st.FLAMES:
        kind = BURNING
    elif value >= st.AGENT:
        other = value - st.AGENT
        if other != k:
            kind = MATE if teams and (other ^ k) & 1 == 0 else ENEMY
    elif value >= st.EXTRA_BOMB and value <= st.KICK:
        kind = ITEM + value - st.EXTRA_BOMB
    return kind


@inner_kernel
def point_at_others(k, own, teams, size, shown, features):
    """Write the offsets of the teammate and of the nearest two enemies in view."""
    first, second = 4 * size, 4 * size
    for cell in range(size * size):
        value = shown[st.BOARD + cell]
        if value < st.AGENT or value - st.AGENT == k:
            continue
        down, right = cell // size - own // size, cell % size - own % size
        if kind_of(value, k, teams) == MATE:
            point(features, 0, down, right, size)
            continue
        away = abs(down) + abs(right)
        if away < first:
            for f in range(3):
                features[OTHERS + 6 + f] = features[OTHERS + 3 + f]
            first, second = away, first
            point(features, 1, down, right, size)
        elif away < second:
            second = away
            point(features, 2, down, right, size)


@inline_kernel
def point(features, other, down, right, size):
    """Write the features of agent ``other`` at the relative position ``down``, ``right``."""
    at = OTHERS + 3 * other
    features[at], features[at + 1], features[at + 2] = 1.0, down / size, right / size
