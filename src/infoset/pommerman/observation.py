"""What agents see: the reference's dictionaries, and stacked planes for learners.

A view is a square window around the agent; dead agents see from where they died.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

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


class Seen(NamedTuple):
    """What an agent observes of one step; boards and maps as texts with one character a cell."""

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


def observe(row: Row, rules: Config, k: int) -> Seen:
    """What agent ``k`` sees of a position."""
    size, agent = rules.size, row[AGENTS + k * AGENT_FIELDS :][:AGENT_FIELDS].tolist()
    view = size if rules.view is None else rules.view
    whole = np.empty((len(MAPS), size * size), dtype=np.int16)
    board, planes = np.empty(size * size, dtype=np.int16), np.empty_like(whole)
    maps(row, size, whole)
    see(row, size, view, agent[CELL], whole, board, planes)
    alive = [AGENT + n for n in range(rules.num_agents) if row[AGENTS + n * AGENT_FIELDS + ALIVE]]
    at = MESSAGES + (k + 2) % MAX_AGENTS * WORDS
    message = row[at : at + rules.words].tolist() if rules.game_type == GameType.TEAM_RADIO else []
    blasts, lives, directions, flames = map(text, planes)
    return Seen(
        tuple(alive), text(board), blasts, lives, directions, flames, divmod(agent[CELL], size), agent[BLAST],
        agent[CAN_KICK], agent[AMMO], int(row[STEP]), tuple(message),
    )  # fmt: skip


def text(plane: Row) -> str:
    """Small numbers as characters, one a cell; those below zero count down from 0xFFFF."""
    return plane.astype("<u2").astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def read_observation(seen: Seen, rules: Config, player: int) -> dict[str, Any]:
    """The reference's dictionary of what ``player`` observed, with its keys, types and values."""
    shape = rules.size, rules.size

    def plane(name: str, dtype: str) -> Any:
        codes = np.frombuffer(getattr(seen, name).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return codes.astype("<i2").astype(dtype).reshape(shape)

    found: dict[str, Any] = {"alive": list(seen.alive), "board": plane("board", "uint8")}
    found |= {name: plane(name, "float64") for name in MAPS}
    found |= {
        "game_type": int(rules.game_type), "game_env": rules.entry, "position": seen.position,
        "blast_strength": seen.blast_strength, "can_kick": bool(seen.can_kick), "teammate": teammate(rules, player),
        "ammo": seen.ammo, "enemies": enemies(rules, player), "step_count": seen.step_count,
    }  # fmt: skip
    if rules.game_type == GameType.TEAM_RADIO:
        found["message"] = seen.message
    return found


def observations(row: Row, config: Config) -> list[dict[str, Any]]:
    """One dictionary an agent, with the keys, types and values of the reference."""
    return [read_observation(observe(row, config, k), config, k) for k in range(config.num_agents)]
