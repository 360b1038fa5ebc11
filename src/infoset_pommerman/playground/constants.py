"""The playground's names for cells, moves, kinds of games and results, and its numeric constants."""

from __future__ import annotations

from enum import IntEnum

from infoset.errors import ParameterError
from infoset_pommerman.config import CONFIGS
from infoset_pommerman.observation import Item
from infoset_pommerman.state import WORDS

__all__ = [
    "AGENT_VIEW_SIZE", "BOARD_SIZE", "BOARD_SIZE_ONE_VS_ONE", "DEFAULT_BLAST_STRENGTH", "DEFAULT_BOMB_LIFE",
    "FIRST_COLLAPSE", "MAX_STEPS", "NUM_ITEMS", "NUM_ITEMS_ONE_VS_ONE", "NUM_RIGID", "NUM_RIGID_ONE_VS_ONE",
    "NUM_WOOD", "NUM_WOOD_ONE_VS_ONE", "RADIO_NUM_WORDS", "RADIO_VOCAB_SIZE", "RENDER_FPS", "Action", "GameType",
    "InvalidAction", "Item", "Result",
]  # fmt: skip

_FOUR, _TWO, _RADIO = CONFIGS["PommeFFA-v1"], CONFIGS["OneVsOne-v0"], CONFIGS["PommeRadio-v2"]

BOARD_SIZE, NUM_RIGID, NUM_WOOD, NUM_ITEMS = _FOUR.size, _FOUR.rigid, _FOUR.wood, _FOUR.items
BOARD_SIZE_ONE_VS_ONE, NUM_RIGID_ONE_VS_ONE = _TWO.size, _TWO.rigid
NUM_WOOD_ONE_VS_ONE, NUM_ITEMS_ONE_VS_ONE = _TWO.wood, _TWO.items
AGENT_VIEW_SIZE = _RADIO.view
DEFAULT_BLAST_STRENGTH, DEFAULT_BOMB_LIFE = _FOUR.start_blast, _FOUR.fuse
FIRST_COLLAPSE, MAX_STEPS = _FOUR.collapses[0], _FOUR.max_steps
RADIO_VOCAB_SIZE, RADIO_NUM_WORDS = _RADIO.vocabulary, WORDS
RENDER_FPS = 15


class Action(IntEnum):
    """The moves."""

    Stop = 0
    Up = 1
    Down = 2
    Left = 3
    Right = 4
    Bomb = 5


class GameType(IntEnum):
    """The kinds of game: who plays against whom."""

    FFA = 1
    Team = 2
    TeamRadio = 3
    OneVsOne = 4


class Result(IntEnum):
    """The result of a game; ``Loss`` is never used."""

    Win = 0
    Loss = 1
    Tie = 2
    Incomplete = 3


class InvalidAction(ParameterError):
    """An invalid move, or one that a helper function does not accept."""
