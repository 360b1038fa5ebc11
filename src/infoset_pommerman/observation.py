"""Observations of agents: compact tuples, the reference's dictionaries, and the planes that they are made from.

The view is a square window around the agent; a dead agent sees from the cell where it died.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from infoset.jit import inline_kernel, kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config, GameType

LOW_BITS = 0xFFFF  # bomb lives below zero wrap around to 16 bits in a text
MAPS = ("bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life")


class Item(IntEnum):
    """The values of a board's cells, by the reference's names.

    >>> from infoset_pommerman.observation import Item
    >>> Item.Wood.value
    2
    """

    Passage = 0
    Rigid = 1
    Wood = 2
    Bomb = 3
    Flames = 4
    Fog = 5
    ExtraBomb = 6
    IncrRange = 7
    Kick = 8
    AgentDummy = 9
    Agent0 = 10
    Agent1 = 11
    Agent2 = 12
    Agent3 = 13


ITEMS = tuple(Item)


def teammate(config: Config, agent: int) -> Item:
    """Return the agent on the same side; ``AgentDummy`` where there is none."""
    return ITEMS[st.AGENT + (agent + 2) % MAX_AGENTS] if config.teams else Item.AgentDummy


def enemies(config: Config, agent: int) -> list[Item]:
    """Return the agents on other sides; in team games padded with ``AgentDummy`` to three."""
    if config.teams:
        first = st.AGENT + (agent + 1) % 2
        return [ITEMS[first], ITEMS[first + 2], Item.AgentDummy]
    return [ITEMS[st.AGENT + k] for k in range(config.num_agents) if k != agent]


class Seen(NamedTuple):
    """The observation of one agent at one step; boards and maps are texts with one character per cell.

    >>> from infoset_pommerman.observation import Item, Seen
    >>> seen = Seen(*infoset.load("pommerman:OneVsOne-v0(seed=1)").start().observation(0))
    >>> row, column = seen.position
    >>> Item(ord(seen.board[8 * row + column])).name
    'Agent0'
    """

    alive: tuple[int, ...]
    board: str
    bomb_blast_strength: str
    bomb_life: str
    bomb_moving_direction: str
    flame_life: str
    position: tuple[int, int]
    blast_strength: int
    can_kick: int
    ammo: int
    step_count: int
    message: tuple[int, ...]


@inline_kernel
def sees(cell, own, size, view):
    """Return whether a cell lies in the window around the agent's own cell."""
    return abs(cell // size - own // size) <= view and abs(cell % size - own % size) <= view


@kernel
def see(row, size, view, own, planes):
    """Write the view of an agent at ``own`` into ``planes`` (5, cells): the board with fog, then ``MAPS``, or zeros."""
    for p in range(1 + len(MAPS)):
        for cell in range(size * size):
            planes[p, cell] = 0
    for cell in range(size * size):
        planes[0, cell] = row[st.BOARD + cell] if sees(cell, own, size, view) else st.FOG
    for k in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + k * st.BOMB_FIELDS
        cell = row[bomb + st.BOMB_CELL]
        if sees(cell, own, size, view):
            planes[1, cell], planes[2, cell] = row[bomb + st.STRENGTH], row[bomb + st.LIFE] & LOW_BITS
            planes[3, cell] = row[bomb + st.DIRECTION]
    start = st.flames_at(size)
    for flame in range(start, start + row[st.NUM_FLAMES] * st.FLAME_FIELDS, st.FLAME_FIELDS):
        cell = row[flame + st.FLAME_CELL]
        if sees(cell, own, size, view):
            planes[4, cell] = row[flame + st.FLAME_LIFE] + 1


def observe(row: st.Row, rules: Config, k: int) -> Seen:
    """Return what agent ``k`` observes of a position."""
    size, head = rules.size, row[: st.BOMBS].tolist()
    _, own, ammo, blast, can_kick = head[st.AGENTS + k * st.AGENT_FIELDS :][: st.AGENT_FIELDS]
    cells, planes = size * size, np.empty((1 + len(MAPS), size * size), dtype="<u4")
    see(row, size, size if rules.view is None else rules.view, own, planes)
    text = planes.tobytes().decode("utf-32-le", "surrogatepass")
    alive = [st.AGENT + n for n in range(rules.num_agents) if head[st.AGENTS + n * st.AGENT_FIELDS + st.ALIVE]]
    at = st.MESSAGES + (k + 2) % MAX_AGENTS * st.WORDS
    message = head[at : at + st.WORDS] if rules.game_type == GameType.TEAM_RADIO else []
    board, strengths, lives, directions, flames = (text[at : at + cells] for at in range(0, len(text), cells))
    return Seen(
        tuple(alive), board, strengths, lives, directions, flames, divmod(own, size), blast, can_kick, ammo,
        head[st.STEP], tuple(message),
    )  # fmt: skip


def read_observation(seen: Seen, rules: Config, player: int) -> dict[str, Any]:
    """Return the observation of ``player`` as the reference's dictionary, with its keys, types and values."""
    text = seen.board + "".join([getattr(seen, name) for name in MAPS])
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").reshape(-1, rules.size, rules.size)
    found: dict[str, Any] = {"alive": list(seen.alive), "board": codes[0].astype(np.uint8)}
    found |= zip(MAPS, codes[1:].astype(np.int16).astype(np.float64), strict=True)
    found |= {
        "game_type": int(rules.game_type), "game_env": rules.entry, "position": seen.position,
        "blast_strength": seen.blast_strength, "can_kick": bool(seen.can_kick), "teammate": teammate(rules, player),
        "ammo": seen.ammo, "enemies": enemies(rules, player), "step_count": seen.step_count,
    }  # fmt: skip
    if rules.game_type == GameType.TEAM_RADIO:
        found["message"] = seen.message
    return found


def observations(row: st.Row, config: Config) -> list[dict[str, Any]]:
    """Return one dictionary per agent, with the keys, types and values of the reference."""
    return [read_observation(observe(row, config, k), config, k) for k in range(config.num_agents)]
