"""Policies on the vector form: the probabilities of all hands at all nodes of a public tree."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from infoset.base import Action, FloatArray, InformationState, Policy
from infoset.compiled import Compiled
from infoset.errors import PolicyError, shorten
from infoset.files import DamageError, policy_path
from infoset.policies.archive import SCHEMA, Header, read_archive, reading, write_archive
from infoset.policies.asking import ask
from infoset.policies.encodings import tree_of
from infoset.policies.simple import UniformPolicy
from infoset.tree.public_form import PublicForm
from infoset.tree.vector_form import VectorForm

ASKED_AT_ONCE = 100_000
_WORD = re.compile(r'(?:"[^"]*"|[^\s"])+')
SUM_TOLERANCE = 1e-5
"""The largest deviation of a sum of probabilities from 1: they are kept in single precision."""


class _Header(Header):
    players: list[str]
    made_by: dict[str, Any]


@dataclass(frozen=True, eq=False)
class VectorPolicy:
    """A policy by the rows of a vector form: one probability for each action and hand at each decision."""

    game: str
    players: tuple[str, ...]
    rows: npt.NDArray[np.float32] = field(repr=False)
    made_by: dict[str, Any] = field(default_factory=dict)

    mark: ClassVar[str] = "rows"
    """An array that identifies its files."""

    @classmethod
    def of(cls, form: PublicForm, weights: FloatArray, made_by: dict[str, Any] | None = None) -> VectorPolicy:
        """Create a policy whose probabilities are proportional to the positive part of ``weights`` (rows,)."""
        return cls(form.name, form.players, form.normalised(weights), made_by or {})

    def on(self, compiled: Compiled) -> VectorPlay:
        """Return its policy on a game.  Raises ``PolicyError`` where it was made for another game, or is damaged."""
        if (self.game, self.players) != (compiled.name, compiled.players):
            raise PolicyError(f"the policy was made for {shorten(self.game)}, not for {compiled.name}")
        form = compiled.vector
        if len(self.rows) != form.num_rows:
            raise PolicyError(
                f"the policy has {len(self.rows):,} probabilities, and {compiled.name} has {form.num_rows:,}"
            )
        if form not in self._right_on:
            self._check_sums(form)
            self._right_on.append(form)
        return VectorPlay(form, self.rows)

    @cached_property
    def _right_on(self) -> list[PublicForm]:
        """The forms on which the probabilities of each decision are known to sum to 1."""
        return []

    def _check_sums(self, form: PublicForm) -> None:
        for begin, actions, hands in form.nodes_in_rows:
            sums = self.rows[begin : begin + actions * hands].reshape(actions, hands).sum(axis=0)
            if (np.abs(sums - 1) > SUM_TOLERANCE).any():
                worst = float(sums[np.argmax(np.abs(sums - 1))])
                raise PolicyError(f"the policy is damaged: probabilities of a decision sum to {worst:g}; allowed: 1")

    def save(self, path: str | Path) -> Path:
        """Write an ``.npz`` file, in full or not at all; return the path."""
        header = _Header(SCHEMA, self.game, list(self.players), dict(self.made_by))
        return write_archive(path, header, {"rows": self.rows}, "a policy in vector form")

    @classmethod
    def load(cls, path: str | Path) -> VectorPolicy:
        """Read a saved policy, or that of a run's folder; no code in it is run.  Raises ``PolicyError``."""
        with reading(path):
            header, arrays = read_archive(policy_path(path), _Header)
            rows = arrays["rows"]
            if rows.ndim != 1 or rows.dtype != np.float32 or not ((rows >= 0) & (rows <= 1 + SUM_TOLERANCE)).all():
                raise DamageError("its probabilities are not numbers from 0 to 1")
        return cls(header.game, tuple(header.players), rows, header.made_by)


class VectorPlay:
    """A policy in vector form in play."""

    def __init__(self, form: PublicForm, rows: npt.NDArray[np.float32]) -> None:
        self.form, self.rows = form, rows

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> list[float] | None:
        """Return the probabilities of the actions; ``None`` for an information state that the game does not have."""
        place = self.form.find(player, infostate)
        if place is None or place.num_actions != len(legal_actions):
            return None
        found = self.rows[place.row : place.row + place.num_actions * place.step : place.step].astype(np.float64)
        total = float(found.sum())
        return (found / total).tolist() if total > 0 else [1 / len(legal_actions)] * len(legal_actions)


def records_of(key: str) -> InformationState:
    """Return the words of an information set's key in hold'em, each as an observation, for ``VectorForm.find``."""
    return tuple([(None, word.strip("[]").strip('"')) for word in _WORD.findall(key)])


def asked_rows(policy: Policy, form: PublicForm) -> npt.NDArray[np.float32]:
    """Return the probabilities (rows,) of a policy, asked at every information state.

    Raises ``ParameterError`` for an answer that is not a distribution.
    """
    found = np.zeros(form.num_rows, np.float32)
    states = iter(form.infostates())
    while chunk := list(islice(states, ASKED_AT_ONCE)):
        for player in sorted({player for player, *_ in chunk}):
            mine = [(infostate, actions, place) for owner, infostate, actions, place in chunk if owner == player]
            tree, which = tree_of(player, [infostate for infostate, *_ in mine])
            number: dict[tuple[Action, ...], int] = {}
            action_set = np.array([number.setdefault(actions, len(number)) for _, actions, _ in mine])
            answers, begin = ask(policy, tree, which, action_set, list(number)), 0
            for _, actions, place in mine:
                rows = slice(place.row, place.row + place.num_actions * place.step, place.step)
                found[rows] = answers[begin : begin + len(actions)]
                begin += len(actions)
    return found


def rows_of(policy: Policy, compiled: Compiled) -> tuple[PublicForm, npt.NDArray[np.float32]]:
    """Return the rows of any policy, and their form: one without isomorphism of the suits where it may not respect it.

    Raises ``UnsupportedGameError`` for a game without a vector form, ``ParameterError`` as ``asked_rows`` does.
    """
    form = compiled.vector
    if isinstance(policy, VectorPlay):
        return form, policy.rows
    if isinstance(policy, UniformPolicy):
        return form, np.zeros(form.num_rows, np.float32)
    if form.folded:
        form = VectorForm.of(compiled.game, symmetric=False)  # type: ignore[arg-type]
    return form, asked_rows(policy, form)
