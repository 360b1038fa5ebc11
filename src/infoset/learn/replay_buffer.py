"""What self-play found, the latest of it: states, policies and values to learn from."""

from __future__ import annotations

from typing import Any

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray


class ReplayBuffer:
    """A ring of ``capacity`` triples of a state's row, every player's policy, and everybody's values in 0 to 1."""

    def __init__(self, capacity: int, moves: list[int]) -> None:
        self.capacity, self.added = capacity, 0
        self.row: IntArray = np.zeros(capacity, dtype=np.int32)
        self.value = np.zeros((capacity, len(moves)), dtype=np.float32)
        self.policy = [np.zeros((capacity, count), dtype=np.float32) for count in moves]

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, rows: IntArray, policies: list[FloatArray], values: FloatArray) -> None:
        """The oldest make room."""
        place = (self.added + np.arange(len(rows))) % self.capacity
        self.row[place], self.value[place] = rows, values
        for mine, policy in zip(self.policy, policies, strict=True):
            mine[place] = policy
        self.added += len(rows)

    def draw(self, count: int, rng: np.random.Generator) -> LongArray:
        """Places of so many triples, with replacement."""
        return rng.integers(len(self), size=count)

    def save(self) -> dict[str, Any]:
        """Its arrays by name, as far as they are filled."""
        filled = len(self)
        arrays = {"row": self.row[:filled], "value": self.value[:filled], "added": np.array(self.added)}
        return arrays | {f"policy{p}": policy[:filled] for p, policy in enumerate(self.policy)}

    def restore(self, saved: dict[str, Any], states: int) -> None:
        """As it was when ``save`` was called.  Raises ``KeyError`` or ``ValueError`` for arrays that do not fit."""
        filled, added = len(saved["row"]), int(saved["added"])
        if filled != min(added, self.capacity) or ((saved["row"] < 0) | (saved["row"] >= states)).any():
            raise ValueError(f"a buffer of {filled:,} states after {added:,} is none of {states:,} states")
        self.row[:filled], self.value[:filled] = saved["row"], saved["value"]
        for p, policy in enumerate(self.policy):
            policy[:filled] = saved[f"policy{p}"]
        self.added = added
