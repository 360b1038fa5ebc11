"""The factored form: a sequence form whose payoffs are products, for games with far too many histories to list.

Given the true course of play, the *core*, the players' other actions are independent of each other: the histories that
share a path of cores are all combinations of one sequence per player, each from a list.  Payoffs depend on the end of
the path, so a gradient costs the sum of the lists' lengths instead of their product (vector-form CFR on the public
tree, Johanson et al. 2011, is the special case of cards; sparse factors of the payoff matrix, Farina & Sandholm 2022).

``FactoredForm`` walks the paths of ``FactoredRules`` depth first, with one list of information states per player.  Over
a group of symmetries it keeps one path, state and move of each orbit: the profile is then a symmetric one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from infoset import status
from infoset.base import Action, FloatArray, IndexArray, InformationState, IntArray, LongArray
from infoset.errors import BudgetError
from infoset.jit import borrowing, kernel
from infoset.memory import check_room
from infoset.names import action_names, policy_key
from infoset.tree.factored_rules import FactoredRules
from infoset.tree.factored_symmetry import no_symmetry
from infoset.tree.factored_walk import (
    BLOCKS,
    END,
    NO_ROW,
    ROOM,
    SEQUENCES,
    STATES,
    TIMES,
    WRITTEN,
    PathWalk,
    Product,
    States,
    class_of,
    known_at,
    known_first,
)
from infoset.tree.parallel_gradient import ParallelGradient
from infoset.tree.payoff_scale import constant_sum_of
from infoset.tree.quotient_graph import find_owners, measure_depths
from infoset.tree.sequence_form import FormArrays, SequenceForm
from infoset.tree.symmetry import Group

BYTES_AN_ENTRY = 6  # per entry, with where each list begins, if lists are short; there are fewer information states
BYTES_A_WEIGHT = 2
MANY_ENTRIES = 1_000_000  # of lists; fewer are summed quickly enough by one thread
QUICK_ENTRIES = 200_000_000
MOST_ENTRIES = np.iinfo(np.uint32).max


@dataclass(frozen=True, eq=False)
class FactoredForm:
    """A sequence form whose payoffs are products, and the information states that its sequences belong to.

    >>> from infoset.tree.factored_form import FactoredForm
    >>> from infoset.tree.factoring import factor_game
    >>> factored = FactoredForm.of(factor_game(infoset.load("dark_hex(rows=2,columns=2)")))
    >>> factored.form.num_infosets, factored.form.arrays.factored
    (46, True)
    """

    rules: FactoredRules
    group: Group = field(repr=False)
    states: States = field(repr=False)
    form: SequenceForm
    elements: npt.NDArray[np.uint8] = field(repr=False)
    """(E,) for each entry the element that maps the board of its path to that of its sequence; (0,) where not kept."""
    cache: dict[str, Any] = field(default_factory=dict, repr=False)
    """A cache of constant data that other modules derive from the form."""

    @property
    def num_states(self) -> int:
        """The number of information states, with and without a choice; states that are equal by symmetry count once."""
        return int(self.states.filled[STATES])

    def infostates(self, element: int = 0) -> Iterator[tuple[int, InformationState]]:
        """Yield the states with a choice in order, each with its information state, or its image by ``element``."""
        records = [self.rules.records[record] for record in self.group.record[element].tolist()]
        start = known_first(self.rules)
        parent, record = self.states.parent[: self.num_states].tolist(), self.states.record[: self.num_states].tolist()
        for state in np.flatnonzero(self.states.first[: self.num_states] != NO_ROW).tolist():
            yield state, known_at(start, records, parent, record, state)

    def first_infosets(self, player: int, most: int) -> list[tuple[InformationState, tuple[Action, ...]]]:
        """Return information states and moves of up to ``most`` of ``player``'s sets, those with the fewest records."""
        s, count = self.states, self.num_states
        depth = np.zeros(count, dtype=np.int32)
        measure_depths(s.parent[:count], depth)
        mine = np.flatnonzero((s.first[:count] != NO_ROW) & (self.owner == player))
        mine = mine[np.argsort(depth[mine], kind="stable")][:most]
        parent, record, start = s.parent.tolist(), s.record.tolist(), known_first(self.rules)
        known = [known_at(start, self.rules.records, parent, record, state) for state in mine.tolist()]
        return [
            (one, self.rules.action_sets[action_set])
            for one, action_set in zip(known, s.action_set[mine].tolist(), strict=True)
        ]

    @property
    def chosen(self) -> LongArray:
        """(I,) the state of each information set."""
        return _chosen(self.states, self.owner)

    @cached_property
    def owner(self) -> IntArray:
        """(states,) the player of each information state."""
        return _owners(self.states)

    @classmethod
    def of(
        cls,
        rules: FactoredRules,
        symmetric: bool = False,
        progress: Callable[[int], object] | None = None,
        elements: bool = False,
    ) -> FactoredForm:
        """Walk all paths, or one of each orbit if ``symmetric``; with ``elements`` keep what all images of those need.

        Raises ``BudgetError`` where the result does not fit.
        """
        group, image = rules.symmetry if symmetric else no_symmetry(rules)
        elements = elements and group.order > 1
        _check_room(rules, group.order, elements)
        walked = PathWalk(rules, group, image, elements, progress)
        with status.during("walking the paths of the factored form"):
            walked.run()
        form = _form(rules, walked)
        return cls(rules, group, walked.states.walked(), form, walked.out.elements[: len(form.arrays.entries)])


def _form(rules: FactoredRules, walked: PathWalk) -> SequenceForm:
    """Return the result of a walk as a sequence form, with all players' sequences one after the other."""
    n, s, out = walked.n, walked.states, walked.out
    sequences = np.concatenate([[0], np.cumsum(s.filled[SEQUENCES:])])
    owner = _owners(s)
    chosen = _chosen(s, owner)
    base = sequences[owner[chosen]]
    first = base + s.first[chosen]
    infosets = np.searchsorted(owner[chosen], np.arange(n + 1))
    size = np.diff(np.append(first, sequences[-1]))
    last = infosets[1:][np.diff(infosets) > 0] - 1
    size[last] = sequences[1:][np.diff(infosets) > 0] - first[last]
    lists, blocks = int(walked.counters[WRITTEN]), int(walked.counters[BLOCKS])
    entries = int(out.list_rows[lists])
    shares = np.ones(sequences[-1])
    _share(walked.group, s, owner, sequences, shares)
    codes, weights = _weights(out, entries)
    arrays = FormArrays(
        _index(sequences), _index(infosets), _index(first), _index(size), _index(base + s.sequence_at[chosen]),
        np.zeros((n, 0), np.uint32), np.zeros((n, max(n - 1, 1), 0), np.uint32), np.zeros((n, 0)),
        out.list_rows[: lists + 1], out.entries[:entries],
        codes, weights,
        np.zeros(0) if (shares == 1.0).all() else shares,
        out.blocks[:blocks], *_patterns(rules, out),
    )  # fmt: skip
    payoffs = rules.payoffs
    return SequenceForm(
        name=rules.name, players=rules.players, arrays=arrays, constant_sum=constant_sum_of(payoffs),
        lowest=payoffs.min(axis=0), highest=payoffs.max(axis=0), offsets=np.zeros(n),
        num_histories=int(rules.sizes.histories), num_terminals=int(rules.sizes.ends), map_name="",
        tree_infoset=np.full(len(chosen), -1, np.int32), _names=lambda: _names(rules, s, chosen),
        parallel=ParallelGradient(arrays) if entries >= MANY_ENTRIES else None,
    )  # fmt: skip


def _weights(out: Product, entries: int) -> tuple[npt.NDArray[np.uint16], FloatArray]:
    """Return the number of each entry's weight, and the weights."""
    weights = out.weights.data[: int(out.weights.size[0])].view(np.float64).copy()
    codes = out.codes[:0] if (weights == 1.0).all() else out.codes[:entries]
    return codes, weights if len(weights) else np.ones(1)


@kernel
@borrowing
def _share(group: Group, s: States, owner: IntArray, sequences: LongArray, shares: FloatArray) -> None:
    """Write, for each sequence, the fraction of its orbit's realisation weight that falls on one member."""
    for state in range(len(owner)):
        if s.first[state] != NO_ROW:
            action_set, begin = s.action_set[state], sequences[owner[state]] + s.first[state]
            for action in range(group.first_entry[action_set + 1] - group.first_entry[action_set]):
                number, size = class_of(group, s.fixing[state], action_set, action)
                shares[begin + number] = s.share[state] / size


def _patterns(rules: FactoredRules, out: Product) -> tuple[IndexArray, IndexArray, IndexArray, FloatArray]:
    """Return how many lists each player has in a pattern (P, n), where its terms begin, and the terms."""
    r, n, rows = rules.arrays, len(rules.players), out.patterns.lists()
    lists, terms, paid, first = list[list[int]](), list[IntArray](), list[FloatArray](), [0]
    for row in rows:
        chance, total = float(np.array(row[:1]).view(np.float64)[0]), 0
        lists.append(row[1 : 1 + n])
        for at in range(1 + n, len(row), 2 + n):
            end, times = row[at + END], row[at + TIMES]
            here = slice(int(r.term_first[end]), int(r.term_first[end + 1]))
            terms.append(r.term_place[here] + np.array(row[at + 2 : at + 2 + n], np.int32))
            paid.append(r.term_paid[here] * (chance * times))
            total += here.stop - here.start
        first.append(first[-1] + total)
    if not rows:
        terms, paid = [np.zeros((0, n), np.int32)], [np.zeros((0, n))]
    counts = np.array(lists, np.uint32).reshape(-1, n)
    return (
        counts,
        _index(np.array(first)),
        _index(np.concatenate(terms).T),
        np.ascontiguousarray(np.concatenate(paid).T),
    )


def _chosen(s: States, owner: IntArray) -> LongArray:
    """Return the states with several moves, in the order of the information sets."""
    chosen = np.flatnonzero(s.first[: len(owner)] != NO_ROW)
    return chosen[np.lexsort((s.first[chosen], owner[chosen]))]


def _owners(s: States) -> IntArray:
    count = int(s.filled[STATES])
    owner = np.arange(count, dtype=np.int32)
    find_owners(s.parent[:count], owner)
    return owner


def _names(rules: FactoredRules, s: States, chosen: LongArray) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the keys and the moves of the information sets."""
    parent, record, start = s.parent.tolist(), s.record.tolist(), known_first(rules)
    words = [action_names(action_set) for action_set in rules.action_sets]
    keys = [policy_key(known_at(start, rules.records, parent, record, state), "") for state in chosen.tolist()]
    return keys, [words[action_set] for action_set in s.action_set[chosen].tolist()]


def _index(array: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    return np.ascontiguousarray(array, dtype=np.uint32)


def is_quick(rules: FactoredRules) -> bool:
    """Return whether the form of symmetric profiles is built in minutes, and fits.

    >>> from infoset.tree.factored_form import is_quick
    >>> from infoset.tree.factoring import factor_game
    >>> is_quick(factor_game(infoset.load("dark_hex(rows=2,columns=2)")))
    True
    """
    order = rules.symmetry[0].order
    with suppress(BudgetError):
        _check_room(rules, order, elements=False)
        return rules.sizes.entries / order <= QUICK_ENTRIES
    return False


def _check_room(rules: FactoredRules, order: int, elements: bool) -> None:
    """Raise ``BudgetError`` before more memory is taken than there is."""
    entries = rules.sizes.entries / order
    needed = entries * (BYTES_AN_ENTRY + BYTES_A_WEIGHT * rules.weighted + elements)
    alike = f" over {order} symmetries" if order > 1 else ""
    said = (
        f"{rules.name} has {rules.sizes.histories:,.0f} histories, and the lists of its factored form up to "
        f"{entries:,.0f} entries{alike}"
    )
    check_room(f"{said}:", needed)
    if entries * ROOM > MOST_ENTRIES:
        raise BudgetError(f"{said}, more than the {MOST_ENTRIES:,} that there may be")
