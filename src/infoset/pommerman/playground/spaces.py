"""Action and observation spaces, as far as scripts use those of gym, and the conversion of agents' answers to moves."""

from __future__ import annotations

from operator import index
from typing import Any, TypeAlias

import numpy as np

from infoset.errors import IllegalActionError, shorten
from infoset.pommerman.config import Config, GameType
from infoset.pommerman.game import MOVES
from infoset.pommerman.state import WORDS

Move: TypeAlias = int | tuple[int, ...]
Seed: TypeAlias = int | np.random.SeedSequence | None


class Discrete(int):
    """The numbers from 0 to ``n - 1``; ``sample`` draws from the generator ``rng``.

    An object is also the number ``n`` itself, the form in which a program behind a ``DockerAgentRunner`` receives the
    space.
    """

    n: int
    rng: np.random.Generator

    def __new__(cls, n: int, rng: np.random.Generator) -> Discrete:
        space = super().__new__(cls, n)
        space.n, space.rng = n, rng
        return space

    def sample(self) -> int:
        return int(self.rng.integers(self.n))

    def seed(self, seed: Seed = None) -> None:
        self.rng = np.random.default_rng(seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, int | np.integer) and 0 <= int(x) < self.n

    def __contains__(self, x: Any) -> bool:
        return self.contains(x)

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class Tuple(list[Discrete]):
    """The product of several spaces, which is also the list of them."""

    def __init__(self, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
        super().__init__([Discrete(n, rng) for n in sizes])
        self.rng, self.spaces = rng, tuple(self)

    def sample(self) -> tuple[int, ...]:
        return tuple([space.sample() for space in self.spaces])

    def seed(self, seed: Seed = None) -> None:
        self.rng = np.random.default_rng(seed)
        for space in self.spaces:
            space.rng = self.rng

    def contains(self, x: Any) -> bool:
        return (
            isinstance(x, list | tuple) and len(x) == len(self.spaces) and all(map(Discrete.contains, self.spaces, x))
        )

    def __contains__(self, x: object) -> bool:
        return self.contains(x)

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(repr, self.spaces))})"


class Box:
    """Arrays of one shape with numbers from ``low`` to ``high``."""

    def __init__(self, low: float, high: float, shape: tuple[int, ...]) -> None:
        self.low, self.high = np.full(shape, low, np.float32), np.full(shape, high, np.float32)
        self.shape, self.dtype = shape, np.dtype(np.float32)

    def __repr__(self) -> str:
        return f"Box{self.shape}"


ActionSpace: TypeAlias = Discrete | Tuple


def action_space(config: Config, rng: np.random.Generator) -> ActionSpace:
    """Return the space of an agent's answers: moves, on the radio moves and words."""
    if config.game_type == GameType.TEAM_RADIO:
        return Tuple((len(MOVES), *(config.vocabulary + 1,) * WORDS), rng)  # 0 is silence
    return Discrete(len(MOVES), rng)


def parse_action(answer: Any, config: Config) -> Move:
    """Return an agent's answer as plain integers: a move, on the radio a move and words.

    On the radio a bare move is completed by silence; further words are dropped and missing ones are 0.  Whether the
    numbers are legal is not checked.  Raises ``IllegalActionError`` for anything but a number, or a list of numbers on
    the radio.
    """
    radio = config.game_type == GameType.TEAM_RADIO
    try:
        numbers = [index(answer)]
    except TypeError:
        numbers = _numbers(answer) if radio else []
    if not numbers:
        allowed = "an integer or a list of a move and words" if radio else "an integer"
        raise IllegalActionError(f"{shorten(repr(answer))} is no move; allowed: {allowed}")
    return (*numbers, *(0,) * WORDS)[: 1 + WORDS] if radio else numbers[0]


def _numbers(answer: Any) -> list[int]:
    """Return the integers of a list; an empty list for anything else."""
    try:
        return [index(part) for part in answer] if isinstance(answer, list | tuple | np.ndarray) else []
    except TypeError:
        return []
