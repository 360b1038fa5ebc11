"""Calls to an agent in another process and their answers: the methods of ``Agent`` as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
import numpy as np

from infoset.base import Action, Observation
from infoset.match.replay import read_action

MAX_MESSAGE = 1 << 20  # bytes
ENTROPY = "entropy"  # key of a stream: the seed that it was made from


class Begin(msgspec.Struct, tag=True):
    """Begin a game."""

    game: str
    """A name that ``infoset.load`` understands."""
    player: int
    stream: dict[str, Any]
    """The state of the agent's random generator."""
    deadline: float | None


class Observe(msgspec.Struct, tag=True):
    """Pass on what the player did and observed."""

    own_action: Any
    observation: Any


class Act(msgspec.Struct, tag=True):
    """Ask for a move."""

    legal_actions: list[Any]
    deadline: float | None


class End(msgspec.Struct, tag=True):
    """End the game."""

    returns: tuple[float, ...]


Call: TypeAlias = Begin | Observe | Act | End


class Posted(msgspec.Struct):
    """A call with the number by which its answer is identified."""

    number: int
    call: Call


class Answer(msgspec.Struct):
    """The answer to the call of that number.

    -1 reports that the process has started; 0 that the agent is made, with the limits that could not be set in
    ``error``.
    """

    number: int
    action: Any = None
    error: str = ""
    refused: bool = False
    """Whether the agent does not play this game, or not with these settings."""


def stream_of(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator and the seed it was made from; its integers, of 128 bits, as texts."""
    found: dict[str, Any] = _converted(rng.bit_generator.state, str)
    found[ENTROPY] = str(getattr(rng.bit_generator.seed_seq, "entropy", 0))
    return found


def generator(stream: dict[str, Any]) -> np.random.Generator:
    """Return a generator in the state of ``stream``, made from the same seed.

    The seed is needed since the randomness that all agents of a game share is derived from it.
    """
    state = _converted(stream, lambda text: int(text) if text.isdecimal() else text)
    entropy = state.pop(ENTROPY, 0)
    found = np.random.PCG64(np.random.SeedSequence(entropy if isinstance(entropy, int) else 0))
    found.state = state
    return np.random.Generator(found)


def _converted(value: Any, leaf: Callable[[Any], Any]) -> Any:
    return {key: _converted(inner, leaf) for key, inner in value.items()} if isinstance(value, dict) else leaf(value)


def read_tuple(value: Any) -> Observation:
    """Convert lists from JSON back to tuples."""
    return tuple(map(read_tuple, value)) if isinstance(value, list) else value


def parse_action(value: Any) -> Action:
    """Read a move; return anything else as its ``repr``, so that the referee's error message shows it."""
    try:
        return read_action(value)
    except ValueError:
        return repr(value)
