"""Policies of games solved by stages: the values of all states, from which each decision's strategies follow.

The strategies are not stored: they solve the matrix game of the values of the states that follow, which takes
microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from infoset.base import Action, FloatArray, InformationState, LongArray
from infoset.compiled import Compiled
from infoset.errors import PolicyError, shorten
from infoset.files import DamageError, policy_path
from infoset.policies.archive import SCHEMA, Header, read_archive, reading, write_archive
from infoset.tree.stage_form import Place, StageForm
from infoset.tree.stage_pass import stage_strategies

MAX_CACHED_STAGES = 1 << 14


class _Header(Header):
    players: list[str]
    made_by: dict[str, Any]


@dataclass(frozen=True, eq=False)
class StagePolicy:
    """A policy by the values of all states: ``values[begin[c] + k]`` is that of the ``k``-th stage in context ``c``."""

    game: str
    players: tuple[str, ...]
    begin: LongArray = field(repr=False)  # (C,)
    values: FloatArray = field(repr=False)
    made_by: dict[str, Any] = field(default_factory=dict)

    mark: ClassVar[str] = "stage_values"
    """An array that identifies its files."""

    def on(self, compiled: Compiled) -> StagePlay:
        """Return its policy on a game.  Raises ``PolicyError`` where it was made for another game, or is damaged."""
        if (self.game, self.players) != (compiled.name, compiled.players):
            raise PolicyError(f"the policy was made for {shorten(self.game)}, not for {compiled.name}")
        form = compiled.stages
        contexts = len(form.arrays.begin)
        if len(self.begin) != contexts or (self.begin + form.widths > len(self.values)).any():
            raise PolicyError(
                f"the policy is damaged: {len(self.values):,} values in {len(self.begin):,} contexts, where "
                f"{compiled.name} has {form.size:,} in {contexts:,}"
            )
        return StagePlay(form, self)

    def save(self, path: str | Path) -> Path:
        """Write an ``.npz`` file, in full or not at all; return the path."""
        header = _Header(SCHEMA, self.game, list(self.players), dict(self.made_by))
        return write_archive(path, header, {"stage_values": self.values, "begin": self.begin}, "a policy by stages")

    @classmethod
    def load(cls, path: str | Path) -> StagePolicy:
        """Read a saved policy, or that of a run's folder; no code in it is run.  Raises ``PolicyError``."""
        with reading(path):
            header, arrays = read_archive(policy_path(path), _Header)
            values, begin = arrays["stage_values"], arrays["begin"]
            if values.ndim != 1 or values.dtype != np.float64 or not np.isfinite(values).all():
                raise DamageError("its values are not finite numbers")
            if begin.ndim != 1 or begin.dtype != np.int64 or not ((begin >= 0) & (begin < len(values))).all():
                raise DamageError("its values do not begin where they should")
        return cls(header.game, tuple(header.players), begin, values, header.made_by)


class StagePlay:
    """A policy by stages in play: it solves the stage at hand."""

    def __init__(self, form: StageForm, policy: StagePolicy) -> None:
        self.form, self.policy = form, policy
        self.solved: dict[Place, tuple[FloatArray, FloatArray]] = {}

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> list[float] | None:
        """Return the probabilities of the actions; ``None`` for an information state that the game does not have."""
        place = self.form.find(player, infostate)
        if place is None:
            return None
        found = self.strategies(place)[player]
        return found.tolist() if len(found) == len(legal_actions) else None

    def strategies(self, place: Place) -> tuple[FloatArray, FloatArray]:
        """Return both players' probabilities at a place."""
        if place not in self.solved:
            if len(self.solved) >= MAX_CACHED_STAGES:
                self.solved.clear()
            self.solved[place] = stage_strategies(self.form, self.policy.begin, self.policy.values, place)
        return self.solved[place]
