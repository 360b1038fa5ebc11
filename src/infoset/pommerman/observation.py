"""What agents see: the reference's dictionaries, and stacked planes for learners.

A view is a square window around the agent; dead agents see from where they died.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from infoset.jit import inline_kernel, kernel
from infoset.pommerman.config import MAX_AGENTS, Config, GameType
from infoset.pommerman.state import (
    AGENT,
    AGENT_FIELDS,
    AGENTS,
    ALIVE,
    AMMO,
    BLAST,
    BOMB_CELL,
    BOMB_FIELDS,
    BOMBS,
    CAN_KICK,
    CELL,
    DIRECTION,
    FLAME_CELL,
    FLAME_FIELDS,
    FLAME_LIFE,
    FLAMES_AT,
    FOG,
    LIFE,
    MESSAGES,
    NUM_BOMBS,
    NUM_FLAMES,
    STEP,
    STRENGTH,
    WORDS,
    Row,
    board_at,
)

MAPS = ("bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life")


class Item(IntEnum):
    """The values of a board's cells, by the reference's names."""

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


def teammate(config: Config, agent: int) -> Item:
    """Who plays on the same side; nobody is ``AgentDummy``."""
    return Item(AGENT + (agent + 2) % MAX_AGENTS) if config.teams else Item.AgentDummy


def enemies(config: Config, agent: int) -> list[Item]:
    """Who plays on another side; in teams padded with ``AgentDummy`` to three."""
    if config.teams:
        return [Item(AGENT + (agent + 1) % 2), Item(AGENT + (agent + 1) % 2 + 2), Item.AgentDummy]
    return [Item(AGENT + k) for k in range(config.num_agents) if k != agent]


@kernel
def maps(row, size, planes):
    """Into ``planes`` (4, cells): blast strength, life and direction of bombs, life of flames plus one; 0 elsewhere."""
    for p in range(4):
        for cell in range(size * size):
            planes[p, cell] = 0
    for k in range(row[NUM_BOMBS]):
        bomb = BOMBS + k * BOMB_FIELDS
        cell = row[bomb + BOMB_CELL]
        planes[0, cell], planes[1, cell] = row[bomb + STRENGTH], row[bomb + LIFE]
        planes[2, cell] = row[bomb + DIRECTION]
    for k in range(row[NUM_FLAMES]):
        flame = FLAMES_AT + k * FLAME_FIELDS
        planes[3, row[flame + FLAME_CELL]] = row[flame + FLAME_LIFE] + 1


@inline_kernel
def sees(cell, own, size, view):
    """Whether a cell lies in the window around the own one."""
    return abs(cell // size - own // size) <= view and abs(cell % size - own % size) <= view


@kernel
def see(row, size, view, own, whole, board, planes):
    """The board and the maps ``whole`` (4, cells) as an agent at ``own`` sees them: fog and zeros elsewhere."""
    at = board_at(size)
    for cell in range(size * size):
        visible = sees(cell, own, size, view)
        board[cell] = row[at + cell] if visible else FOG
        for p in range(4):
            planes[p, cell] = whole[p, cell] if visible else 0


def observations(row: Row, config: Config) -> list[dict[str, Any]]:
    """One dictionary an agent, with the keys, types and values of the reference."""
    size, view = config.size, config.size if config.view is None else config.view
    whole = np.empty((len(MAPS), size * size))
    maps(row, size, whole)
    alive = [AGENT + k for k in range(config.num_agents) if row[AGENTS + k * AGENT_FIELDS + ALIVE]]
    return [_observation(row, config, k, view, whole, alive) for k in range(config.num_agents)]


def _observation(
    row: Row, config: Config, k: int, view: int, whole: npt.NDArray[np.float64], alive: list[int]
) -> dict[str, Any]:
    size, agent = config.size, row[AGENTS + k * AGENT_FIELDS :][:AGENT_FIELDS]
    board, planes = np.empty(size * size, dtype=np.uint8), np.empty_like(whole)
    see(row, size, view, int(agent[CELL]), whole, board, planes)
    found: dict[str, Any] = {"alive": list(alive), "board": board.reshape(size, size)}
    found |= {name: planes[p].reshape(size, size) for p, name in enumerate(MAPS)}
    found |= {
        "game_type": int(config.game_type),
        "game_env": config.entry,
        "position": divmod(int(agent[CELL]), size),
        "blast_strength": int(agent[BLAST]),
        "can_kick": bool(agent[CAN_KICK]),
        "teammate": teammate(config, k),
        "ammo": int(agent[AMMO]),
        "enemies": enemies(config, k),
        "step_count": int(row[STEP]),
    }
    if config.game_type == GameType.TEAM_RADIO:
        at = MESSAGES + (k + 2) % MAX_AGENTS * WORDS
        found["message"] = tuple(row[at : at + config.words].tolist())
    return found
