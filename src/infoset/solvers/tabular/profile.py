"""A profile on every history of a game, with its values and the probabilities of histories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import SequenceForm, find_sequences_and_reach, sets_of

PLAYED = 1e-7
"""A probability below this counts as 0."""


@dataclass(frozen=True, eq=False)
class Profile:
    """A profile on every history of a game: N nodes, n players, I information sets with a choice, S sequences."""

    form: SequenceForm
    tree: GameTree
    strategy: FloatArray
    """(S,) behaviour, without probabilities that are rounding errors."""
    plan: FloatArray
    sequence_at: IntArray
    """(N, n) each player's sequence at each node of the tree."""
    reach: FloatArray
    """(N,) the factor of chance in the reach probability."""
    set_of: LongArray
    """(N,) the form's information set, -1 where nobody has a choice."""

    @classmethod
    def of(cls, form: SequenceForm, tree: GameTree, strategy: FloatArray) -> Profile:
        """Make a profile from a behavioural strategy."""
        strategy = np.where(strategy < PLAYED, 0.0, strategy)
        owner = form.infoset_of
        totals = np.bincount(owner[owner >= 0], strategy[owner >= 0], form.num_infosets)
        strategy = np.where(owner >= 0, strategy / np.append(totals, 1.0)[owner], 1.0)
        sequence_at, reach = find_sequences_and_reach(tree, form)
        return cls(form, tree, strategy, realisation(form, strategy), sequence_at, reach, sets_of(tree, form))

    @property
    def scales(self) -> FloatArray:
        """(n,) the range of each player's payoffs, above 0."""
        return np.asarray(np.maximum(self.form.ranges, float(np.finfo(float).tiny)))

    @cached_property
    def probabilities(self) -> FloatArray:
        """(N,) the probability of each node given its parent, where all play the profile."""
        tree, above = self.tree, self.tree.parent[1:].astype(np.int64)
        chance = np.ones(len(tree.parent))
        sets, offset = self.set_of[above], np.arange(1, len(tree.parent)) - tree.first_child[above]
        actions = sets >= 0
        chance[1:][actions] = self.strategy[self.form.arrays.first[sets[actions]].astype(np.int64) + offset[actions]]
        random = np.flatnonzero(tree.graph.player[tree.position[above]] == CHANCE) + 1
        chance[random] = tree.graph.probability[tree.edges(random.astype(np.int32))]
        return chance

    @cached_property
    def values(self) -> FloatArray:
        """(N, n) the values of the profile from each node on, less the form's ``offsets``."""
        tree = self.tree
        value = np.zeros((len(tree.parent), self.form.num_players))
        over = tree.graph.player[tree.position] == TERMINAL
        value[over] = tree.graph.payoffs[tree.graph.content[tree.position[over]]] - self.form.offsets
        for nodes, above in reversed(levels_below(tree)):
            np.add.at(value, above, self.probabilities[nodes, None] * value[nodes])
        return value

    @cached_property
    def reached(self) -> FloatArray:
        """(I,) the counterfactual reach probability of each set: that of its player counts as 1."""
        weight = self.reach.copy()
        mover = self.tree.graph.player[self.tree.position]
        for player in range(self.form.num_players):
            weight *= np.where(mover == player, 1.0, self.plan[self.sequence_at[:, player]])
        inside = self.set_of >= 0
        return np.asarray(np.bincount(self.set_of[inside], weight[inside], self.form.num_infosets))

    @cached_property
    def by_set(self) -> tuple[LongArray, LongArray]:
        """The nodes sorted by information set, and (I + 1,) where those of each set begin."""
        order = np.argsort(self.set_of, kind="stable")
        return order, np.searchsorted(self.set_of[order], np.arange(self.form.num_infosets + 1))

    def gains_of(self, infoset: int) -> FloatArray:
        """Return (histories, moves) of a set, what each move pays more than the profile's mixture."""
        order, begins = self.by_set
        nodes, player = order[begins[infoset] : begins[infoset + 1]], int(self.form.infoset_player[infoset])
        nodes = nodes[self.reach[nodes] > 0]  # histories of chance probability 0 are not believed
        after = self.tree.first_child[nodes][:, None] + np.arange(int(self.form.arrays.size[infoset]))
        return np.asarray(self.values[after, player] - self.values[nodes, player][:, None])

    def set_name(self, infoset: int) -> str:
        """Return the name of an information set in messages."""
        return f"{self.form.players[int(self.form.infoset_player[infoset])]} at {self.form.keys[infoset]!r}"

    def action_name(self, sequence: int) -> str:
        """Return the name of a move in messages."""
        infoset = int(self.form.infoset_of[sequence])
        return f"{self.form.actions[infoset][sequence - int(self.form.arrays.first[infoset])]!r}"


def levels_below(tree: GameTree) -> list[tuple[LongArray, LongArray]]:
    """Return the nodes of each level but the first, with their parents."""
    spans = pairwise(tree.levels.tolist()[1:])
    return [(np.arange(begin, end), tree.parent[begin:end].astype(np.int64)) for begin, end in spans]
