"""Public states: the histories that common knowledge leaves possible, and the game from each to the next ones.

As in continual re-solving (Moravčík et al. 2017) and ReBeL (Brown et al. 2020), for any game whose positions are known:
common knowledge is derived from everybody's observations.  Public states with the same worlds are merged, so that a
game with very many histories may have few public states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from infoset.base import BoolArray, FloatArray, LongArray
from infoset.errors import BudgetError
from infoset.names import check_range
from infoset.search.belief import whole
from infoset.search.histories import Belief
from infoset.search.subgame import Subgame
from infoset.sizes import SEARCHED_WHOLE
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, NO_RECORD, TERMINAL, GameGraph, spread
from infoset.tree.public_rules import connected
from infoset.tree.sequence_form import SequenceForm, descend, first_sequences

MAX_STATES = 20_000
MAX_TOTAL = 20_000_000  # histories of all look-aheads together
FOLLOW, STOP = 0, 1
GATE = ("follow", "stop")


@dataclass(frozen=True)
class Horizon:
    """The end of the look-ahead from a public state.

    It lies ``steps`` steps of the game ahead, or, with ``stop_at_chance``, where chance is to act if that is earlier.

    >>> from infoset.learn.public_states import Horizon
    >>> Horizon(steps=2)
    Horizon(steps=2, stop_at_chance=False)
    """

    steps: int = 1000
    """Number of steps to look ahead; steps at the beginning in which only chance moves are not counted."""
    stop_at_chance: bool = False
    """Also end where chance is about to act: after a betting round of poker, for example."""

    def __post_init__(self) -> None:
        check_range("steps", self.steps, 1, 2**31)


class PublicState(NamedTuple):
    """Worlds that common knowledge allows; player p's information states there are its *places*, numbered from 0."""

    position: LongArray  # (K,)
    place: LongArray  # (K, n)
    chance: FloatArray  # (K,) chance's part of their probabilities, sums to one

    @property
    def key(self) -> bytes:
        """A key that is equal for public states with the same worlds."""
        return b"".join([np.ascontiguousarray(part).tobytes() for part in (*self[:2], self.chance.round(12))])

    @property
    def places(self) -> list[int]:
        """The number of information states of each player."""
        return [int(k) + 1 for k in self.place.max(axis=0)]


class Exit(NamedTuple):
    """An information state at the horizon: its leaf, its player, and its place there."""

    child: int
    player: int
    place: int


class Leaves(NamedTuple):
    """The worlds at the horizon (L) and the public states (J) that they form; W is the greatest number of places."""

    position: LongArray  # (L,)
    chance: FloatArray  # (L,) chance's part of their probabilities
    sequence: LongArray  # (L, n) the players' sequences that lead there
    child: LongArray  # (L,) the index of their public state
    place: LongArray  # (L, n)
    state: LongArray  # (J,) the public states' numbers
    scale: FloatArray  # (J,) chance's part of their probabilities
    lead: LongArray  # (J, n, W) the sequence that leads to each place; -1 where there are fewer


@dataclass(frozen=True, eq=False)
class Lookahead:
    """The game from a public state to the next ones.

    Chance draws a world; then every player, knowing its place, passes a gate, where it follows or stops the game.  The
    probability of a place is that of following there; in a gadget, its owner may choose it.
    """

    tree: GameTree
    form: SequenceForm
    gates: tuple[LongArray, ...]  # for each player (places,) its information sets at the gates
    starts: tuple[LongArray, ...]  # for each player (places,) its information state after each gate
    leaves: Leaves
    exits: dict[int, Exit]  # the information states of the tree that lie at the horizon

    @cached_property
    def infosets(self) -> dict[int, int]:
        """The form's information sets by their information states in the tree."""
        return _infosets(self.tree, self.form)

    @cached_property
    def follow(self) -> tuple[LongArray, ...]:
        """For each player (places,) the sequence of following at the gate."""
        return tuple(self.form.arrays.first[gates].astype(np.int64) + FOLLOW for gates in self.gates)


class PublicStates:
    """The public states of a game, numbered as they are met; number 0 is the start.  Everything is computed once.

    >>> from infoset.learn.public_states import Horizon, PublicStates
    >>> from infoset.tree.graph import explore
    >>> states = PublicStates(explore(infoset.load("leduc_poker")), Horizon(stop_at_chance=True))
    >>> states.explore()
    >>> len(states.states)
    4
    """

    def __init__(self, graph: GameGraph, horizon: Horizon | None = None, max_histories: int = SEARCHED_WHOLE) -> None:
        self.graph, self.horizon, self.max_histories = graph, horizon or Horizon(), max_histories
        self.states: list[PublicState] = []
        self._numbers: dict[bytes, int] = {}
        self._ahead: dict[int, Lookahead] = {}
        self.histories = 0
        start = whole(graph)
        self.number(PublicState(start.position, np.zeros((1, len(graph.players)), dtype=np.int64), start.weight))

    def ahead(self, number: int) -> Lookahead:
        """Return the look-ahead from a public state.

        Raises ``BudgetError`` where it has more than ``max_histories`` histories, or all together have too many.
        """
        if number not in self._ahead:
            found = self._look(self.states[number])
            self.histories += len(found.tree.parent)
            if self.histories > MAX_TOTAL:
                raise BudgetError(f"{self.graph.name}: look-aheads of more than {MAX_TOTAL:,} histories together")
            self._ahead[number] = found
        return self._ahead[number]

    def explore(self, progress: Callable[[int], object] | None = None) -> None:
        """Look ahead from every public state.  Raises ``BudgetError`` where there are more than ``MAX_STATES``."""
        number = 0
        while number < len(self.states):
            self.ahead(number)
            number += 1
            if progress:
                progress(number)
            if len(self.states) > MAX_STATES:
                raise BudgetError(f"{self.graph.name} has more than {MAX_STATES:,} public states")

    def number(self, state: PublicState) -> int:
        """Return the number of a public state, a new one where it was not met before."""
        number = self._numbers.setdefault(state.key, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def _look(self, state: PublicState) -> Lookahead:
        """Look ahead to the horizon, and further where somebody could not tell whether it was reached."""
        steps, rests = self.horizon.steps + self._led_by_chance(state.position), self._rests
        while True:
            found = self._look_so_far(state, steps, rests)
            unclear = _unclear(found)
            if not len(unclear):
                return found
            if rests is not None and rests[unclear].any():
                rests = rests.copy()
                rests[unclear] = False
            else:
                steps += 1

    def _led_by_chance(self, position: LongArray) -> int:
        """Return the number of steps in which only chance moves, before the first in which somebody else does."""
        steps = 0
        while len(position) and (self.graph.player[position] == CHANCE).all():
            position, steps = np.unique(self.graph.child[spread(self.graph, position)[0]]).astype(np.int64), steps + 1
        return steps

    @cached_property
    def _rests(self) -> BoolArray | None:
        """Whether chance acts after the players at each position (P,)."""
        if not self.horizon.stop_at_chance:
            return None
        graph = self.graph
        rests = np.zeros(len(graph.player), dtype=np.bool_)
        rests[graph.child[graph.player[graph.source] >= 0]] = True
        return np.asarray(rests & (graph.player == CHANCE))

    def _look_so_far(self, state: PublicState, steps: int, rests: BoolArray | None) -> Lookahead:
        graph, cut = self.graph, []

        def nothing(positions: LongArray) -> FloatArray:
            cut.append(positions)
            return np.zeros((len(positions), len(graph.players)))

        below = Subgame(graph, Belief(*state), rests=rests)
        while below.goes_on and len(below.steps) < steps:
            below.grow(self.max_histories)
        bare = below.game(nothing)
        tree = GameTree.unroll(_gated(bare, len(state.position)), self.max_histories)
        form = SequenceForm.of(tree)
        gates, starts = _gates(tree, form, state, len(graph.records), len(bare.records))
        leaves, exits = self._leaves(tree, form, cut[0])
        return Lookahead(tree, form, gates, starts, leaves, exits)

    def _leaves(self, tree: GameTree, form: SequenceForm, cut: LongArray) -> tuple[Leaves, dict[int, Exit]]:
        n = len(self.graph.players)
        content, infostate, sequence_at, reach = _ends(tree, form, len(self.graph.payoffs), len(cut))
        rows, first, inverse = np.unique(
            np.column_stack([infostate, cut[content]]), axis=0, return_index=True, return_inverse=True
        )
        chance = np.asarray(np.bincount(inverse.ravel(), reach, minlength=len(rows)), dtype=np.float64)
        infostate, position = rows[:, :n], rows[:, n]
        parts = connected(
            list(np.ascontiguousarray(infostate.T))
        )  # worlds that somebody cannot tell apart are one part
        child = np.unique(parts, return_inverse=True)[1].astype(np.int64)
        place, state, scale = np.zeros_like(infostate), [], []
        exits: dict[int, Exit] = {}
        leads = []
        for j in range(int(child.max(initial=-1)) + 1):
            rows_of = np.flatnonzero(child == j)
            lead = []
            for p in range(n):
                states, at, place[rows_of, p] = np.unique(infostate[rows_of, p], return_index=True, return_inverse=True)
                exits |= {infostate_number: Exit(j, p, i) for i, infostate_number in enumerate(states.tolist())}
                lead.append(sequence_at[first[rows_of[at]], p])
            leads.append(lead)
            scale.append(chance[rows_of].sum())
            state.append(self.number(PublicState(position[rows_of], place[rows_of], chance[rows_of] / scale[-1])))
        widest = max([len(part) for lead in leads for part in lead], default=0)
        padded = np.full((len(leads), n, widest), -1, dtype=np.int64)
        for j, lead in enumerate(leads):
            for p, part in enumerate(lead):
                padded[j, p, : len(part)] = part
        sequence = sequence_at[first].astype(np.int64).reshape(-1, n)
        found = Leaves(
            position, chance, sequence, child, place, np.array(state, dtype=np.int64), np.array(scale), padded
        )
        return found, exits


def _unclear(ahead: Lookahead) -> LongArray:
    """Return the positions at the horizon at which somebody may believe, or come to know, that play is before it."""
    parent, exits = ahead.tree.states.parent, ahead.exits
    wrong = {state for state in ahead.tree.infoset_state.tolist() if state in exits}
    for state in {*ahead.tree.infoset_state.tolist(), *exits}:
        above = parent[state]
        while above >= 0 and above not in wrong:
            if above in exits:
                wrong.add(above)
            above = parent[above]
    leaves = ahead.leaves
    unclear = np.zeros(len(leaves.position), dtype=np.bool_)
    for child, player, place in [exits[state] for state in wrong]:
        unclear |= (leaves.child == child) & (leaves.place[:, player] == place)
    return np.unique(leaves.position[unclear])


def _gated(graph: GameGraph, worlds: int) -> GameGraph:
    """Return the game with a gate for every player between the choice of a world and the rest."""
    n, size = len(graph.players), len(graph.player)
    gates = size + np.arange(worlds * n).reshape(worlds, n)
    stop, entry = size + worlds * n, graph.child[:worlds].copy()
    child = graph.child.copy()
    child[:worlds] = gates[:, 0]
    follow = np.concatenate([gates[:, 1:], entry[:, None]], axis=1)
    label = np.full((worlds, n, 2, n), NO_RECORD, dtype=np.int32)
    label[:, np.arange(n), FOLLOW, np.arange(n)] = len(graph.records)
    edges = len(child) + 2 * np.arange(1, worlds * n + 1)
    return replace(
        graph,
        player=np.concatenate([graph.player, np.tile(np.arange(n), worlds), [TERMINAL]]).astype(np.int8),
        content=np.concatenate(
            [graph.content, np.full(worlds * n, len(graph.action_sets)), [len(graph.payoffs)]]
        ).astype(np.int32),
        label=np.full(stop + 1, -1, dtype=np.int32),
        first_edge=np.concatenate([graph.first_edge, edges, edges[-1:]]).astype(np.int32),
        child=np.concatenate([child, np.stack([follow, np.full_like(follow, stop)], axis=2).ravel()]).astype(np.int32),
        probability=np.concatenate([graph.probability, np.ones(2 * worlds * n)]),
        record=np.concatenate([graph.record, label.reshape(-1, n)]),
        action_sets=[*graph.action_sets, GATE],
        payoffs=np.concatenate([graph.payoffs, np.zeros((1, n))]),
        records=[*graph.records, ("follow", None)],
    )


def _infosets(tree: GameTree, form: SequenceForm) -> dict[int, int]:
    return {state: k for k, state in enumerate(tree.infoset_state[form.tree_infoset].tolist())}


def _gates(
    tree: GameTree, form: SequenceForm, state: PublicState, labels: int, follow: int
) -> tuple[tuple[LongArray, ...], tuple[LongArray, ...]]:
    """Return the gates' information sets in the form, and the information states after them, by player and place."""
    number = _infosets(tree, form)
    gates, starts = [], []
    for player, places in enumerate(state.places):
        entry_states = [tree.states.find(player, labels + place) for place in range(places)]
        gates.append(np.array([number[infostate] for infostate in entry_states], dtype=np.int64))
        starts.append(np.array([tree.states.find(infostate, follow) for infostate in entry_states], dtype=np.int64))
    return tuple(gates), tuple(starts)


def _ends(
    tree: GameTree, form: SequenceForm, payoffs: int, cuts: int
) -> tuple[LongArray, LongArray, LongArray, FloatArray]:
    """Return for each cut history its cut, everybody's information state and sequence, and chance's reach."""
    graph, n = tree.graph, len(tree.players)
    first_of = first_sequences(tree, form)
    infostate = np.arange(n, dtype=np.int64)[None]
    sequence_at, reach = form.arrays.sequences[None, :n].astype(np.int32), np.ones(1)
    parts = []
    for above, begin, end in zip([0, *tree.levels], tree.levels[:-1], tree.levels[1:], strict=False):
        nodes = np.arange(begin, end, dtype=np.int32)
        if begin:
            infostate = tree.states.successors(infostate[tree.parent[nodes] - above], graph.record[tree.edges(nodes)])
            sequence_at, reach = descend(tree, nodes, sequence_at, reach, first_of)
        position = tree.position[begin:end]
        content = graph.content[position] - payoffs
        over = (graph.player[position] == TERMINAL) & (content >= 0) & (content < cuts)
        parts.append((content[over], infostate[over], sequence_at[over], reach[over]))
    content, infostate, sequence_at, reach = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return content.astype(np.int64), infostate, sequence_at.astype(np.int64), reach
