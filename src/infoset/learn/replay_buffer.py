"""A replay buffer: the latest samples of self-play."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infoset.base import LongArray

ROW = "row"
"""The field with the number of a state, where states are numbered."""


def floats(*shape: int) -> np.dtype[Any]:
    """Return the data type of a field of single-precision numbers."""
    return np.dtype((np.float32, shape))


def bits(count: int) -> np.dtype[Any]:
    """Return the data type of a field of ``count`` truth values, eight to a byte."""
    return np.dtype((np.uint8, (-(-count // 8),)))


NUMBER = np.dtype(np.int32)


class ReplayBuffer:
    """A ring buffer of ``capacity`` samples with the same fields."""

    def __init__(self, capacity: int, **fields: np.dtype[Any]) -> None:
        """Allocate the buffer; ``fields`` are the data types of a sample's fields by name."""
        self.capacity, self.added = capacity, 0
        self.fields: dict[str, npt.NDArray[Any]] = {
            name: np.zeros(capacity, dtype=field) for name, field in fields.items()
        }

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.fields[name]

    def add(self, **fields: npt.NDArray[Any]) -> None:
        """Add samples (K, …) of every field.

        They replace the oldest; of more samples than fit only the last are stored.
        """
        count = len(next(iter(fields.values())))
        skipped = max(0, count - self.capacity)
        place = (self.added + np.arange(skipped, count)) % self.capacity
        for name, mine in self.fields.items():
            mine[place] = fields[name][skipped:]
        self.added += count

    def draw(self, count: int, rng: np.random.Generator) -> LongArray:
        """Draw the places of ``count`` samples, with replacement."""
        return rng.integers(len(self), size=count)

    def save(self) -> dict[str, Any]:
        """Return the filled part of the arrays by name."""
        filled = len(self)
        return {name: field[:filled] for name, field in self.fields.items()} | {"added": np.array(self.added)}

    def restore(self, saved: dict[str, Any], states: int) -> None:
        """Restore the buffer that ``save`` returned; row numbers must be below ``states``.

        Raises ``KeyError`` or ``ValueError`` for arrays that do not fit.
        """
        first = next(iter(self.fields))
        filled, added = len(saved[first]), int(saved["added"])
        wrong = ROW in self.fields and ((saved[ROW] < 0) | (saved[ROW] >= states)).any()
        if filled != min(added, self.capacity) or wrong:
            raise ValueError(f"a buffer of {filled:,} states after {added:,} is none of {states:,} states")
        for name, mine in self.fields.items():
            mine[:filled] = saved[name]
        self.added = added


class Reservoir(ReplayBuffer):
    """A uniform sample of ``capacity`` of all samples so far (Vitter 1985)."""

    def add_sampled(self, rng: np.random.Generator, **fields: npt.NDArray[Any]) -> None:
        """Add samples (K, …) of every field, each with the probability that it belongs to the sample by then."""
        number = self.added + np.arange(len(next(iter(fields.values()))))
        place = np.where(number < self.capacity, number, (rng.random(len(number)) * (number + 1)).astype(np.int64))
        inside = place < self.capacity
        for name, mine in self.fields.items():
            mine[place[inside]] = fields[name][inside]
        self.added += len(number)
