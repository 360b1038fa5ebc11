"""What is said to an agent in another process, and what it answers: the methods of ``Agent`` as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
import numpy as np

from infoset.base import Action, Observation
from infoset.match.replay import read_action

MAX_MESSAGE = 1 << 20  # bytes
ENTROPY = "entropy"  # of a stream: the seed that it was made from


class Begin(msgspec.Struct, tag=True):
    game: str
    """A name that ``infoset.load`` understands."""
    player: int
    stream: dict[str, Any]
    """Where the agent's source of randomness stands."""
    deadline: float | None


class Observe(msgspec.Struct, tag=True):
    own_move: Any
    observation: Any


class Act(msgspec.Struct, tag=True):
    legal: list[Any]
    deadline: float | None


class End(msgspec.Struct, tag=True):
    returns: tuple[float, ...]


Call: TypeAlias = Begin | Observe | Act | End


class Posted(msgspec.Struct):
    """A call with its number, by which its answer is known."""

    number: int
    call: Call


class Answer(msgspec.Struct):
    """To the call of that number; -1 says that the process is there, 0 that the agent is, and in ``error`` what could
    not be limited.
    """

    number: int
    move: Any = None
    error: str = ""
    refused: bool = False
    """Whether the agent does not play this game, or not with these settings."""


def stream_of(rng: np.random.Generator) -> dict[str, Any]:
    """Where a generator stands, and which seed it was made from; its integers, of 128 bits, as texts."""
    found: dict[str, Any] = _converted(rng.bit_generator.state, str)
    found[ENTROPY] = str(getattr(rng.bit_generator.seed_seq, "entropy", 0))
    return found


def generator(stream: dict[str, Any]) -> np.random.Generator:
    """A generator that stands there, made from the same seed: what all agents of a game share is made of that, too."""
    state = _converted(stream, lambda text: int(text) if text.isdecimal() else text)
    entropy = state.pop(ENTROPY, 0)
    found = np.random.PCG64(np.random.SeedSequence(entropy if isinstance(entropy, int) else 0))
    found.state = state
    return np.random.Generator(found)


def _converted(value: Any, leaf: Callable[[Any], Any]) -> Any:
    return {key: _converted(inner, leaf) for key, inner in value.items()} if isinstance(value, dict) else leaf(value)


def read_tuple(value: Any) -> Observation:
    """What JSON made a list of, as it was."""
    return tuple(map(read_tuple, value)) if isinstance(value, list) else value


def read_move(value: Any) -> Action:
    """A move; anything else, too, as it can be shown: the referee says what is wrong with it."""
    try:
        return read_action(value)
    except ValueError:
        return repr(value)
