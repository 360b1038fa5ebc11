"""Encoders of information states as arrays: of small games the whole history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from infoset.base import Action, Observation, ObservationRecord
from infoset.policies.encodings import longest_state
from infoset.tree.graph import GameGraph


@runtime_checkable
class Encoder(Protocol):
    """An encoder of information states as values of ``space``, which is the same for every player."""

    @property
    def space(self) -> spaces.Space[Any]: ...

    def __call__(self, player: int, infostate: Sequence[ObservationRecord]) -> Any:
        """Encode a player's information state: (own action or None, observation) for every step that it noticed.

        The value is new each time, and the encoder keeps no reference to it.
        """
        ...


@runtime_checkable
class Encoded(Protocol):
    """A game with an encoder of its own, and all actions of all players, so that it need not be enumerated."""

    @property
    def actions(self) -> Sequence[Action]: ...

    def encoder(self) -> Encoder:
        """Return the encoder."""
        ...


def learn(infostate: list[ObservationRecord], action: Action | None, observation: Observation) -> None:
    """Append one step to an information state, unless the player does not notice it."""
    if action is not None or observation is not None:
        infostate.append((action, () if observation is None else observation))


class HistoryEncoder:
    """A one-hot encoder: row ``k`` marks the ``k``-th record of the information state.

    Rows of future records are zero.  ``records`` names the columns.
    """

    def __init__(self, records: Sequence[ObservationRecord], length: int) -> None:
        """Take the records; ``length`` is the number of records in the longest information state."""
        self.records = tuple(records)
        self.space = spaces.Box(0, 1, (length, len(self.records)), np.int8)
        self._column = {record: k for k, record in enumerate(self.records)}

    @classmethod
    def of(cls, graph: GameGraph) -> HistoryEncoder:
        return cls(graph.records, longest_state(graph))

    def __call__(self, player: int, infostate: Sequence[ObservationRecord]) -> npt.NDArray[np.int8]:
        """Return the encoding (length, records)."""
        rows = np.zeros(self.space.shape, dtype=np.int8)
        for row, record in enumerate(infostate):
            rows[row, self._column[record]] = 1
        return rows
