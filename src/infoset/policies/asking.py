"""Probabilities of a policy at all information states of a form: asked one by one, or many at once where it can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from infoset import status
from infoset.base import (
    Action,
    BatchedPolicy,
    Encoding,
    FloatArray,
    InformationState,
    IntArray,
    LongArray,
    Policy,
    StateTree,
)
from infoset.errors import ParameterError, shorten
from infoset.interning import Rows, intern, longer
from infoset.jit import borrowing, kernel
from infoset.names import action_names, policy_key
from infoset.policies.encodings import TensorEncoding, known_in, tree_of
from infoset.policies.simple import AskedPolicy
from infoset.policies.tabular import SUM_TOLERANCE
from infoset.tree.factored_form import FactoredForm
from infoset.tree.factored_walk import NO_ROW, least_of
from infoset.tree.game_tree import GameTree
from infoset.tree.plans import realisation
from infoset.tree.quotient_graph import find_owners
from infoset.tree.sequence_form import SequenceForm
from infoset.tree.symmetry import Group

BATCH = 1 << 14  # information states asked at once
MOST_WORDS = 1 << 25  # of 8 bytes, in the inputs whose answers are remembered
TRIED = 4  # batches after which inputs are no longer compared if most of them are new
ASKED_A_REPORT = 1000

Row: TypeAlias = "Callable[[int, InformationState, tuple[Action, ...]], Sequence[float] | None]"
"""A function such as ``Policy.action_probabilities``: of a player, its information state, and the legal moves."""


class ActionColumns:
    """The columns of an encoding's actions: for each action set a mask, and the column of each of its actions."""

    def __init__(
        self, encoding: Encoding, action_sets: Sequence[tuple[Action, ...]], used: npt.NDArray[Any]
    ) -> None:  # fmt: skip
        """Take an encoding, action sets and the numbers of those that are used; the others may be those of chance.

        Action sets with one action need no columns.  Raises ``ParameterError`` for an action without one.
        """
        number = {action: k for k, action in enumerate(encoding.actions)}
        self.first = np.cumsum([0, *map(len, action_sets)])
        self.column = np.zeros(int(self.first[-1]), dtype=np.int64)
        self.legal = np.zeros((len(action_sets), len(number)), dtype=np.bool_)
        for k in np.unique(used).tolist():
            action_set = action_sets[k]
            if len(action_set) > 1:
                missing = [action for action in action_set if action not in number]
                if missing:
                    raise ParameterError(
                        f"the encoding {encoding.name} has no column for the action {missing[0]!r}; it has "
                        f"{shorten(', '.join(action_names(encoding.actions)), 200)}"
                    )
                columns = [number[action] for action in action_set]
                self.column[self.first[k] : self.first[k + 1]] = columns
                self.legal[k, columns] = True


def ask(
    policy: Policy | Row, states: StateTree, which: LongArray, action_set: npt.NDArray[Any],
    action_sets: Sequence[tuple[Action, ...]],
) -> FloatArray:  # fmt: skip
    """Return the probabilities at the states ``which`` (K,), those of each state's actions one after the other.

    ``action_set`` (K,) numbers the actions of each state in ``action_sets``.  An undefined row is uniform.

    Raises ``ParameterError`` for an answer that is not a distribution, naming the information set.
    """
    sizes = np.array([len(actions) for actions in action_sets] or [0])[action_set]
    begin = np.concatenate([[0], np.cumsum(sizes)])
    found = np.empty(int(begin[-1]))
    with status.during("asking for probabilities"):
        if isinstance(policy, BatchedPolicy):
            columns = ActionColumns(policy.encoding, action_sets, action_set)
            owner = np.asarray(states.owner)[which]
            for player in np.unique(owner).tolist():
                mine = np.flatnonzero(owner == player)
                _ask_batches(policy, player, states, which[mine], action_set[mine], columns, begin[mine], found)
            return found
        if isinstance(policy, AskedPolicy):
            policy.prepare(
                [
                    (int(states.owner[state]), known_in(states, state), action_sets[number])
                    for state, number in zip(which.tolist(), action_set.tolist(), strict=True)
                ]
            )
        row = policy.action_probabilities if isinstance(policy, Policy) else policy
        for k, (state, number) in enumerate(zip(which.tolist(), action_set.tolist(), strict=True)):
            actions = action_sets[number]
            answer = row(int(states.owner[state]), known_in(states, state), actions)
            found[begin[k] : begin[k + 1]] = checked_row(answer, actions)
            if k % ASKED_A_REPORT == 0:
                status.detail(f"asking for probabilities: {k:,} of {len(which):,} information sets")
    return found


def _ask_batches(
    policy: BatchedPolicy, player: int, states: StateTree, which: LongArray, action_set: npt.NDArray[Any],
    columns: ActionColumns, begin: LongArray, found: FloatArray,
) -> None:  # fmt: skip
    """Write the probabilities of a player's states at ``begin`` (K,)."""
    encoding = policy.encoding
    encode = encoding.rows(states) if isinstance(encoding, TensorEncoding) else lambda k: encoding.encode(states, k)
    known: KnownAnswers | None = KnownAnswers(encoding)
    for first in range(0, len(which), BATCH):
        here = slice(first, first + BATCH)
        inputs = encode(which[here])
        if known is not None and not known.pays(first):
            known = None
        legal = columns.legal[action_set[here]]
        if known is not None:
            new, number = known.number(inputs.reshape(len(inputs), -1), action_set[here])
            inputs, legal = inputs[new], legal[new]
        rows = np.zeros(legal.shape)
        if len(inputs):  # all may be known
            rows = np.asarray(policy.batch_probabilities(player, inputs, legal), dtype=np.float64)
        if rows.shape != legal.shape:
            raise ParameterError(f"the policy returns an array of shape {rows.shape}; allowed: {legal.shape}")
        if known is not None:
            rows = known.answers(rows, number)
        wrong = _place(rows, columns.first, columns.column, action_set[here], begin[here], found, SUM_TOLERANCE)
        if wrong >= 0:
            key = policy_key(known_in(states, int(which[first + wrong])), "")
            raise ParameterError(
                f"{shorten(str(rows[wrong].tolist()), 200)} are no probabilities of the legal actions at the "
                f"information set {shorten(key, 200)}; allowed: numbers of at least 0 that sum to 1"
            )
        status.detail(f"asking for probabilities: {first:,} of {len(which):,} information sets")


class KnownAnswers:
    """The distinct inputs so far with their answers: thousands of information states may share an observation."""

    def __init__(self, encoding: Encoding) -> None:
        self.words = (int(np.prod(encoding.shape)) + 2) // 2  # of 8 bytes: the inputs and the action set
        self.inputs, self.rows = Rows.empty(), np.zeros((0, len(encoding.actions)))

    @property
    def count(self) -> int:
        return int(self.inputs.size[0])

    def pays(self, asked: int) -> bool:
        """Return whether to go on comparing after so many states: there is room, and most inputs were seen before."""
        return self.count * self.words < MOST_WORDS and (asked < TRIED * BATCH or 2 * self.count < asked)

    def number(self, inputs: npt.NDArray[np.float32], action_set: npt.NDArray[Any]) -> tuple[LongArray, LongArray]:
        """Return the places of the new ones among inputs (K, size), and the number (K,) of each among all inputs."""
        keys = np.zeros((len(inputs), 2 * self.words), dtype=np.float32)
        keys[:, : inputs.shape[1]], keys[:, -1] = inputs, action_set
        before, self.inputs = self.count, self.inputs.with_room(len(keys), keys.size)
        number = np.empty(len(keys), dtype=np.int64)
        _intern_all(self.inputs, keys.view(np.int64), number)
        _, first = np.unique(number, return_index=True)
        return first[number[first] >= before], number

    def answers(self, rows: FloatArray, number: LongArray) -> FloatArray:
        """Return the rows (K, A) of inputs by their numbers, given those (N, A) of the new ones."""
        self.rows = longer(self.rows, self.count)
        self.rows[self.count - len(rows) : self.count] = rows
        return np.asarray(self.rows[number])


@kernel
@borrowing
def _intern_all(found: Rows, keys: LongArray, number: LongArray) -> None:
    """Write the number of each row of keys."""
    for k in range(len(keys)):
        number[k] = intern(found, keys[k])


@kernel
def _place(
    rows: FloatArray, first: LongArray, column: LongArray, action_set: npt.NDArray[Any], begin: LongArray,
    found: FloatArray, tolerance: float,
) -> int:  # fmt: skip
    """Write each row's legal probabilities, scaled to sum 1; return the first row that is no distribution, or -1."""
    for k in range(len(rows)):
        low, high = first[action_set[k]], first[action_set[k] + 1]
        if high - low == 1:
            found[begin[k]] = 1.0
            continue
        total, least = 0.0, 0.0
        for a in range(low, high):
            total += rows[k, column[a]]
            least = min(least, rows[k, column[a]])
        if not (abs(total - 1) <= tolerance and least >= 0):  # also true of NaN
            return k
        for a in range(low, high):
            found[begin[k] + a - low] = rows[k, column[a]] / total
    return -1


def ask_one(
    policy: BatchedPolicy, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
) -> list[float]:
    """Return a row of a policy that is asked in batches: ``Policy.action_probabilities`` by a batch of one.

    Raises ``ParameterError`` for an answer that is not a distribution.
    """
    encoding, first = policy.encoding, np.zeros(1, dtype=np.int64)
    columns = ActionColumns(encoding, [legal_actions], first)
    if isinstance(encoding, TensorEncoding):
        inputs = encoding.encode_one(player, infostate)[None]
    else:
        states, which = tree_of(player, [infostate])
        inputs = encoding.encode(states, which)
    row = policy.batch_probabilities(player, inputs, columns.legal)[0]
    return checked_row([float(row[column]) for column in columns.column.tolist()], legal_actions)


def states_of_tree(tree: GameTree) -> StateTree:
    """Return all players' information states on a tree of histories."""
    states = tree.states
    parent = np.array(states.parent, dtype=np.int32)
    owner = np.arange(len(parent), dtype=np.int32)
    find_owners(parent, owner)
    return StateTree(parent, np.array(states.record), owner, states.records)


def ask_on_tree(policy: Policy | Row, tree: GameTree, infosets: npt.NDArray[Any]) -> FloatArray:
    """Return the probabilities at information sets (K,) of a tree, those of each set's actions one after the other.

    Raises ``ParameterError`` for an answer that is not a distribution.
    """
    content = tree.graph.content[tree.position[tree.infoset_node[infosets]]]
    which = tree.infoset_state[infosets].astype(np.int64)
    return ask(policy, states_of_tree(tree), which, content, tree.graph.action_sets)


def plan_on_tree(policy: Policy | Row, tree: GameTree, form: SequenceForm) -> FloatArray:
    """Return the realisation weights (S,) of a policy on a tree and its sequence form.

    Raises ``ParameterError`` for an answer that is not a distribution.
    """
    strategy = np.ones(form.num_sequences)
    found = ask_on_tree(policy, tree, form.tree_infoset)
    first, size = form.arrays.first.astype(np.int64), form.arrays.size.astype(np.int64)
    strategy[np.repeat(first - np.cumsum(size) + size, size) + np.arange(len(found))] = found
    return realisation(form, strategy)


def row_at(row: Row, tree: GameTree, infoset: int) -> list[float]:
    """Return the probabilities at an information set of a tree; uniform where undefined."""
    player, action_set = int(tree.infoset_player[infoset]), tree.action_set(infoset)
    return checked_row(row(player, tree.states.state(int(tree.infoset_state[infoset])), action_set), action_set)


def checked_row(found: Sequence[float] | None, action_set: tuple[Action, ...]) -> list[float]:
    """Return the probabilities of the legal moves; uniform where undefined.

    Raises ``ParameterError`` for anything but a distribution over these moves.
    """
    if found is None:
        return [1 / len(action_set)] * len(action_set)
    total = sum(found)
    if len(found) != len(action_set) or min(found) < 0 or not abs(total - 1) <= SUM_TOLERANCE:
        raise ParameterError(f"{list(found)} are no probabilities of the moves {list(action_names(action_set))}")
    return [chance / total for chance in found]


def ask_factored(policy: Policy | Row, factored: FactoredForm) -> FloatArray:
    """Return behaviour (S, G) of a policy at all images of a form's sequences.

    Raises ``ParameterError`` for an answer that is not a distribution.
    """
    group, s, count = factored.group, factored.states, factored.num_states
    strategy, begin = np.ones((factored.form.num_sequences, group.order)), factored.form.arrays.sequences
    chosen = np.flatnonzero(s.first[:count] != NO_ROW)
    owner = factored.owner
    first = begin[owner[chosen]].astype(np.int64) + s.first[chosen]
    n, start = len(factored.rules.players), np.array(factored.rules.start_records)
    parent = s.parent[:count]
    for element in range(group.order):
        record = group.record[element][s.record[:count]]
        record[:n] = start  # what players observe before the first move has no images
        action_set = group.action_set[element][s.action_set[chosen]]
        states = StateTree(parent, record, owner, factored.rules.records)
        rows = ask(policy, states, chosen, action_set, factored.rules.action_sets)
        _choose_least(group, element, s.action_set[chosen], s.fixing[chosen], first, rows, strategy)
    return strategy


@kernel
@borrowing
def _choose_least(
    group: Group, element: int, action_set: IntArray, fixing: LongArray, first: LongArray, rows: FloatArray,
    strategy: FloatArray,
) -> None:  # fmt: skip
    """Write the probabilities of the least action of each orbit, at the image of each state by ``element``."""
    at = 0
    for k in range(len(first)):
        begin, q = group.first_entry[action_set[k]], first[k]
        size = group.first_entry[action_set[k] + 1] - begin
        for action in range(size):
            if fixing[k] == 1 or least_of(group, fixing[k], action_set[k], action) == action:
                strategy[q, element] = rows[at + group.entry[element, begin + action]]
                q += 1
        at += size
