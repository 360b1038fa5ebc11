"""Policies found by sampling: an ``InfosetPolicy`` with the game that it belongs to, saved, loaded and in play."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from infoset.base import Action, FloatArray, InformationState, ObservationRecord
from infoset.compiled import Compiled
from infoset.errors import PolicyError, shorten
from infoset.files import DamageError, policy_path
from infoset.policies.archive import SCHEMA, Header, read_archive, reading, write_archive
from infoset.policies.asking import checked_row
from infoset.policies.infoset_policy import NO_ROW, UNKNOWN, InfosetPolicy, follow
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import NO_RECORD, GameGraph
from infoset.tree.plans import realisation
from infoset.tree.quotient_graph import ELEMENT, ELEMENT_BITS, QuotientGraph
from infoset.tree.sequence_form import SequenceForm
from infoset.tree.symmetry import Group

MAX_CACHED_PLAYS = 1 << 18  # the number of states whose views are cached


class _Header(Header):
    symmetric: bool
    fingerprint: str
    made_by: dict[str, Any]


@dataclass(frozen=True, eq=False)
class SampledPolicy:
    """A policy on the walk of a game, over its symmetries where ``symmetric``."""

    game: str
    symmetric: bool
    fingerprint: str
    """A digest of the walk, whose numbering the policy uses."""
    policy: InfosetPolicy = field(repr=False)
    made_by: dict[str, Any] = field(default_factory=dict)

    mark: ClassVar[str] = "first_child"
    """An array that identifies its files."""

    @classmethod
    def of(
        cls, game: str, walk: QuotientGraph, policy: InfosetPolicy, made_by: dict[str, Any] | None = None
    ) -> SampledPolicy:
        return cls(game, walk.group.order > 1, fingerprint(walk), policy, made_by or {})

    def on(self, compiled: Compiled) -> QuotientPolicy:
        """Return its policy on a game.  Raises ``PolicyError`` where it was made for another game."""
        for walk in (compiled.walk, compiled.plain_walk):  # the two differ also without symmetries
            if fingerprint(walk) == self.fingerprint:
                return QuotientPolicy(compiled.graph, walk, self.policy)
        raise PolicyError(f"the policy was made for {shorten(self.game)}, not for {compiled.name} as it is here")

    def save(self, path: str | Path) -> Path:
        """Write an ``.npz`` file, in full or not at all; return the path."""
        header = _Header(SCHEMA, self.game, self.symmetric, self.fingerprint, self.made_by)
        return write_archive(path, header, self.policy._asdict(), "a sampled policy")

    @classmethod
    def load(cls, path: str | Path) -> SampledPolicy:
        """Read a saved policy, or that of a run's folder; no code in it is run.  Raises ``PolicyError``."""
        with reading(path):
            header, arrays = read_archive(policy_path(path), _Header)
            policy = read_states(arrays)
        return cls(header.game, header.symmetric, header.fingerprint, policy, header.made_by)


class StatePolicy:
    """Probabilities at information states, by numbers of records; states that are equal by symmetry are stored once."""

    def __init__(
        self, records: list[ObservationRecord], action_sets: list[tuple[Action, ...]], start_records: tuple[int, ...],
        group: Group, policy: InfosetPolicy,
    ) -> None:  # fmt: skip
        """Take ``records`` and ``action_sets`` by their numbers; ``start_records`` (n,) as well."""
        self.records, self.start_records, self.group, self.policy = records, start_records, group, policy
        self.number = {record: k for k, record in enumerate(records)}
        self.action_set_of = {action_set: k for k, action_set in enumerate(action_sets)}
        self.views: dict[tuple[int, InformationState], int] = {}

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> list[float] | None:
        """Return the probabilities at a state; ``None`` where it was never visited, or has no choice."""
        return self._probabilities(self._view(player, infostate), legal_actions)

    def _probabilities(self, view: int, legal_actions: tuple[Action, ...]) -> list[float] | None:
        """Return the same, given the view."""
        action_set, state, element = self.action_set_of.get(legal_actions), view >> ELEMENT_BITS, view & ELEMENT
        first = self.policy.row[state] if state != UNKNOWN else NO_ROW
        if first == NO_ROW or action_set is None:
            return None
        if first + len(legal_actions) > len(
            self.policy.behaviour
        ):  # of a damaged file: how long rows are, the game alone says
            raise PolicyError(
                f"the policy is damaged: one of its rows of {len(legal_actions)} probabilities is cut off"
            )
        group, place = self.group, self.group.first_entry[action_set]
        row: list[float] = self.policy.behaviour[
            first + group.entry[element, place : place + len(legal_actions)]
        ].tolist()
        return row

    def _view(self, player: int, infostate: InformationState) -> int:
        """Return the view after these records, computed from their longest known prefix."""
        if not self.views or len(self.views) > MAX_CACHED_PLAYS:
            self.views = self._starts()
        end = len(infostate)
        while (player, infostate[:end]) not in self.views:
            end -= 1
        view = self.views[player, infostate[:end]]
        for k in range(end, len(infostate)):
            record = self.number.get(infostate[k], NO_RECORD)
            unknown = UNKNOWN << ELEMENT_BITS
            view = unknown if record == NO_RECORD else int(follow(self.policy, self.group, view, record))
            self.views[player, infostate[: k + 1]] = view
        return view

    def _starts(self) -> dict[tuple[int, InformationState], int]:
        """Return the initial views; the observation of the start is always the same, and not in the tree."""
        views: dict[tuple[int, InformationState], int] = {}
        for player, record in enumerate(self.start_records):
            seen = () if record == NO_RECORD else (self.records[record],)
            views[player, ()] = views[player, seen] = player << ELEMENT_BITS
        return views


class QuotientPolicy(StatePolicy):
    """A policy in play, with probabilities on the walk of a game."""

    def __init__(self, graph: GameGraph, walk: QuotientGraph, policy: InfosetPolicy) -> None:
        super().__init__(graph.records, graph.action_sets, graph.start_records, walk.group, policy)
        self.graph, self.walk = graph, walk

    def plan(self, tree: GameTree, form: SequenceForm) -> FloatArray:
        """Return realisation weights (S,) on a tree of the graph; each state's view follows from that of its parent."""
        views = [player << ELEMENT_BITS for player in range(len(tree.players))]
        for parent, record in zip(tree.states.parent[len(views) :], tree.states.record[len(views) :], strict=True):
            views.append(int(follow(self.policy, self.group, views[parent], record)))
        strategy = np.ones(form.num_sequences)
        a = form.arrays
        for infoset, first, size in zip(form.tree_infoset.tolist(), a.first.tolist(), a.size.tolist(), strict=True):
            found = self._probabilities(views[int(tree.infoset_state[infoset])], tree.action_set(infoset))
            strategy[first : first + size] = checked_row(found, tree.action_set(infoset))
        return realisation(form, strategy)


def read_states(arrays: Mapping[str, Any]) -> InfosetPolicy:
    """Read a policy from a file's arrays.

    Raises ``KeyError``, and ``ValueError`` for arrays that kernels cannot traverse.
    """
    policy = InfosetPolicy(
        arrays["first_child"].astype(np.int32), arrays["record"].astype(np.int32), arrays["fixing"].astype(np.int64),
        arrays["row"].astype(np.int32), arrays["behaviour"].astype(np.float64),
    )  # fmt: skip
    states, entries = len(policy.record), len(policy.behaviour)
    if any(array.ndim != 1 for array in policy) or {len(policy.fixing), len(policy.row)} != {states}:
        raise DamageError("its arrays do not fit together")
    first, row = policy.first_child, policy.row
    if len(first) != states + 1 or (np.diff(first) < 0).any() or not 0 <= first[0] <= first[-1] <= states:
        raise DamageError("its information states do not form a tree")
    if ((row < NO_ROW) | (row >= entries)).any() or not ((policy.behaviour >= 0) & (policy.behaviour <= 1)).all():
        raise DamageError("its rows are no probabilities")
    return policy


def fingerprint(walk: QuotientGraph) -> str:
    """Return a digest of everything on which a policy's numbering depends."""
    digest = hashlib.sha256()
    for array in (walk.position, walk.edge, *walk.group):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]
