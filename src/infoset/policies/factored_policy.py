"""Policies found in factored form: probabilities at every information state, in a file that names its game."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from infoset.base import Action, FloatArray, IntArray, LongArray, ObservationRecord
from infoset.compiled import Compiled
from infoset.errors import PolicyError, shorten
from infoset.files import DamageError, find_twice, policy_path
from infoset.jit import kernel
from infoset.policies.archive import SCHEMA, Header, read_archive, reading, write_archive
from infoset.policies.infoset_policy import NO_ROW, InfosetPolicy
from infoset.policies.sampled_policy import StatePolicy, read_states
from infoset.policies.tabular import SUM_TOLERANCE
from infoset.tree.factored_form import FactoredForm
from infoset.tree.factored_walk import class_of
from infoset.tree.symmetry import MAX_ORDER, Group


class _Header(Header):
    players: list[str]
    records: list[Any]
    action_sets: list[list[Any]]
    start_records: list[int]
    made_by: dict[str, Any]


@dataclass(frozen=True, eq=False)
class FactoredPolicy:
    """A policy by information states up to the game's symmetries, with its own numbering of records and action sets."""

    game: str
    players: tuple[str, ...]
    records: list[ObservationRecord] = field(repr=False)
    action_sets: list[tuple[Action, ...]] = field(repr=False)
    start_records: tuple[int, ...] = field(repr=False)
    group: Group = field(repr=False)
    policy: InfosetPolicy = field(repr=False)
    made_by: dict[str, Any] = field(default_factory=dict)

    mark: ClassVar[str] = "group.entry"
    """An array that identifies its files."""

    @classmethod
    def of(cls, factored: FactoredForm, strategy: FloatArray, made_by: dict[str, Any] | None = None) -> FactoredPolicy:
        """Create a policy from behaviour (S,) on the form's sequences; symmetric moves have equal probabilities."""
        rules, states = factored.rules, layout(factored)
        behaviour = np.ones(len(states.behaviour))
        _spread(_columns(factored), strategy, behaviour)
        return cls(
            rules.name, rules.players, rules.records, rules.action_sets, rules.start_records, factored.group,
            states._replace(behaviour=behaviour), made_by or {},
        )  # fmt: skip

    @property
    def num_infosets(self) -> int:
        """The number of information sets with a choice, up to symmetry."""
        return int((self.policy.row != NO_ROW).sum())

    def on(self, compiled: Compiled) -> FactoredPlay:
        """Return its policy on a game.  Raises ``PolicyError`` where it was made for another game."""
        if (self.game, self.players) != (compiled.name, compiled.players):
            raise PolicyError(f"the policy was made for {shorten(self.game)}, not for {compiled.name}")
        return FactoredPlay(self)

    def save(self, path: str | Path) -> Path:
        """Write an ``.npz`` file, in full or not at all; return the path."""
        header = _Header(
            SCHEMA, self.game, list(self.players), list(self.records), list(map(list, self.action_sets)),
            list(self.start_records), dict(self.made_by),
        )  # fmt: skip
        group = {f"group.{name}": array for name, array in self.group._asdict().items()}
        return write_archive(path, header, group | self.policy._asdict(), "a policy in factored form")

    @classmethod
    def load(cls, path: str | Path) -> FactoredPolicy:
        """Read a saved policy, or that of a run's folder; no code in it is run.  Raises ``PolicyError``."""
        with reading(path):
            header, arrays = read_archive(policy_path(path), _Header)
            group = Group(*[arrays[f"group.{name}"].astype(np.int32) for name in Group._fields])
            policy = read_states(arrays)
            action_sets = [tuple(map(_frozen, action_set)) for action_set in header.action_sets]
            records = [_frozen(record) for record in header.records]
            _check(group, action_sets, records, header, policy)
        start = tuple(header.start_records)
        return cls(header.game, tuple(header.players), records, action_sets, start, group, policy, header.made_by)


class FactoredPlay(StatePolicy):
    """A factored policy in play."""

    def __init__(self, saved: FactoredPolicy) -> None:
        super().__init__(saved.records, saved.action_sets, saved.start_records, saved.group, saved.policy)

    def behaviour(self, factored: FactoredForm) -> FloatArray | None:
        """Return behaviour (S,) on a form with the same states and symmetries; ``None`` on another one.

        Raises ``PolicyError`` for probabilities that do not sum to one.
        """
        mine, other_layout = self.policy, layout(factored)
        same = all(
            np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(mine[:-1], other_layout[:-1], strict=True)
        )
        if not same or len(mine.behaviour) != len(other_layout.behaviour):
            return None
        strategy, owner = _gathered(factored, mine.behaviour), factored.form.infoset_of
        totals = np.bincount(owner[owner >= 0], strategy[owner >= 0], factored.form.num_infosets)
        if not (np.abs(totals - 1) <= SUM_TOLERANCE).all():
            raise PolicyError(
                f"the probabilities of {int((np.abs(totals - 1) > SUM_TOLERANCE).sum())} sets do not sum to 1"
            )
        return strategy


def uniform_behaviour(factored: FactoredForm) -> FloatArray:
    """Return behaviour (S,) in which all moves of the game are equally likely; a sequence may cover several."""
    states = factored.states
    action_sets = states.action_set[: factored.num_states][states.first[: factored.num_states] != NO_ROW]
    sizes = np.diff(factored.group.first_entry)[action_sets]
    return _gathered(factored, np.repeat(1 / sizes, sizes))


def _gathered(factored: FactoredForm, behaviour: FloatArray) -> FloatArray:
    """Return behaviour (S,) from probabilities of moves in the order of the states' rows."""
    strategy = np.zeros(factored.form.num_sequences)
    strategy[factored.form.arrays.sequences[:-1]] = 1.0
    _gather(_columns(factored), behaviour, strategy)
    return strategy


def layout(factored: FactoredForm) -> InfosetPolicy:
    """Return the states of a form as an ``InfosetPolicy``, with space for probabilities."""
    if "layout" not in factored.cache:
        s, count = factored.states, factored.num_states
        rows, room = _rows(factored)
        factored.cache["layout"] = InfosetPolicy.of(
            s.parent[:count], s.record[:count], s.fixing[:count], rows, np.zeros(room)
        )
    found: InfosetPolicy = factored.cache["layout"]
    return found


def _rows(factored: FactoredForm) -> tuple[IntArray, int]:
    """Return the first index of each state's probabilities (states,), in the order of the states, and their number."""
    count = factored.num_states
    rows = np.full(count, NO_ROW, np.int32)
    chosen = np.flatnonzero(factored.states.first[:count] != NO_ROW)
    sizes = np.diff(factored.group.first_entry)[factored.states.action_set[chosen]]
    rows[chosen] = np.cumsum(sizes) - sizes
    return rows, int(sizes.sum())


class _Columns(NamedTuple):
    """The input of ``_spread`` and ``_gather``, by state."""

    group: Group
    fixing: LongArray
    action_set: IntArray
    first: IntArray
    begin: LongArray  # the first sequence of the state's player
    row: IntArray


def _columns(factored: FactoredForm) -> _Columns:
    s, count = factored.states, factored.num_states
    rows, _ = _rows(factored)
    begin = factored.form.arrays.sequences[factored.owner].astype(np.int64)
    return _Columns(factored.group, s.fixing[:count], s.action_set[:count], s.first[:count], begin, rows)


@kernel
def _spread(c: _Columns, strategy: FloatArray, behaviour: FloatArray) -> None:
    """Write the probabilities of moves, given those of their orbits."""
    for state in range(len(c.row)):
        if c.row[state] != NO_ROW:
            for k in range(c.group.first_entry[c.action_set[state] + 1] - c.group.first_entry[c.action_set[state]]):
                number, size = class_of(c.group, c.fixing[state], c.action_set[state], k)
                behaviour[c.row[state] + k] = strategy[c.begin[state] + c.first[state] + number] / size


@kernel
def _gather(c: _Columns, behaviour: FloatArray, strategy: FloatArray) -> None:
    """Add up the probabilities of moves to those of their orbits."""
    for state in range(len(c.row)):
        if c.row[state] != NO_ROW:
            for k in range(c.group.first_entry[c.action_set[state] + 1] - c.group.first_entry[c.action_set[state]]):
                number, _ = class_of(c.group, c.fixing[state], c.action_set[state], k)
                strategy[c.begin[state] + c.first[state] + number] += behaviour[c.row[state] + k]


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _check(
    group: Group, action_sets: list[tuple[Action, ...]], records: list[Any], header: _Header, policy: InfosetPolicy
) -> None:
    """Raise ``ValueError`` for a group that kernels cannot use, or names that do not fit it."""
    order, sizes = len(group.inverse), np.array([len(action_set) for action_set in action_sets])
    for names in (records, *action_sets):
        if (twice := find_twice(names)) is not None:
            raise DamageError(
                f"{shorten(repr(twice))} occurs twice in it, among its records or the actions of an action set"
            )
    actions = int(sizes.sum())
    shapes = [
        (order, order),
        (order,),
        (order, len(records)),
        (order, len(action_sets)),
        (len(action_sets) + 1,),
        (order, actions),
    ]
    if not 1 <= order <= MAX_ORDER or [array.shape for array in group] != shapes:
        raise DamageError("its symmetries do not fit its moves and records")
    if (np.diff(group.first_entry) != sizes).any() or group.first_entry[0] != 0:
        raise DamageError("its action sets do not fit its moves")
    limits = (order, order, len(records), len(action_sets), actions + 1, int(sizes.max(initial=1)))
    if any(array.size and (array.min() < -1 or array.max() >= most) for array, most in zip(group, limits, strict=True)):
        raise DamageError("its symmetries lead out of its moves and records")
    if not all(isinstance(record, tuple) and len(record) == 2 for record in records):
        raise DamageError("its records are no pairs of a move and an observation")
    n = len(header.players)
    if len(header.start_records) != n or not all(-1 <= record < len(records) for record in header.start_records):
        raise DamageError("its start does not fit its records")
    if len(policy.record) < n or (policy.record < 0).any() or (policy.record[n:] >= len(records)).any():
        raise DamageError("its states have records that are none")
