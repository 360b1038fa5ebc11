"""What self-play found, the latest of it: samples to learn from."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infoset.base import IntArray, LongArray

ROW = "row"


class ReplayBuffer:
    """A ring of ``capacity`` samples: the ``row`` of a state, and fields of single-precision numbers."""

    def __init__(self, capacity: int, **shapes: tuple[int, ...]) -> None:
        """``shapes``: of a sample's fields."""
        self.capacity, self.added = capacity, 0
        self.row: IntArray = np.zeros(capacity, dtype=np.int32)
        self.fields = {name: np.zeros((capacity, *shape), dtype=np.float32) for name, shape in shapes.items()}

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def __getitem__(self, name: str) -> npt.NDArray[np.float32]:
        return self.fields[name]

    def add(self, rows: IntArray | LongArray, **fields: npt.NDArray[np.floating[Any]]) -> None:
        """The oldest make room."""
        place = (self.added + np.arange(len(rows))) % self.capacity
        self.row[place] = rows
        for name, mine in self.fields.items():
            mine[place] = fields[name]
        self.added += len(rows)

    def draw(self, count: int, rng: np.random.Generator) -> LongArray:
        """Places of so many samples, with replacement."""
        return rng.integers(len(self), size=count)

    def save(self) -> dict[str, Any]:
        """Its arrays by name, as far as they are filled."""
        filled = len(self)
        arrays = {name: field[:filled] for name, field in self.fields.items()}
        return {ROW: self.row[:filled], **arrays, "added": np.array(self.added)}

    def restore(self, saved: dict[str, Any], states: int) -> None:
        """As it was when ``save`` was called.  Raises ``KeyError`` or ``ValueError`` for arrays that do not fit."""
        filled, added = len(saved[ROW]), int(saved["added"])
        if filled != min(added, self.capacity) or ((saved[ROW] < 0) | (saved[ROW] >= states)).any():
            raise ValueError(f"a buffer of {filled:,} states after {added:,} is none of {states:,} states")
        self.row[:filled] = saved[ROW]
        for name, mine in self.fields.items():
            mine[:filled] = saved[name]
        self.added = added
