"""Exact figures of a profile: the value of every information set and of every move."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray, IntArray
from infoset.compiled import AnyGame, Compiled
from infoset.errors import UnknownNameError
from infoset.interning import sums
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.method import Lock
from infoset.solvers.metrics import Evaluation, evaluate_plan
from infoset.solvers.tabular.lock import locked_rows
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE
from infoset.tree.kernels import best_where_free, expect_up, gradient
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import SequenceForm


class ActionValue(NamedTuple):
    """One move at an information set; ``value`` is ``None`` where the others never let the set be reached."""

    action: str
    chance: float
    value: float | None
    """The owner's expected payoff after the move when all continue by the profile."""


@dataclass(frozen=True, eq=False)
class Study:
    """Figures of a profile on the sequence form of a game: (S,) by sequence, (I,) by information set with a choice.

    ``values``: the owner's expected payoff after the move, given that the set is reached and all continue by the
    profile; ``best_values``: the same when the owner plays a best response from there on.  NaN where chance and the
    other players never reach the set.  Units are those of payoffs.

    >>> study = infoset.Study.of("kuhn_poker", infoset.solve("kuhn_poker", "pcfr+").policy)
    >>> [(action, round(chance, 3), round(value, 3)) for action, chance, value in study.actions("P2", "K bet")]
    [('pass', 0.0, -1.0), ('bet', 1.0, 2.0)]
    """

    form: SequenceForm
    behaviour: FloatArray
    """(S,) the profile; 1 at empty sequences."""
    evaluation: Evaluation
    """Figures of the whole profile; where sets are locked, of deviations at the rest."""
    reach: FloatArray
    """(I,) the probability that the set is reached."""
    counterfactual_reach: FloatArray
    """(I,) the same if its owner did all it can to reach the set."""
    values: FloatArray
    """(S,)"""
    best_values: FloatArray
    """(S,)"""
    _numbers: dict[tuple[int, str], int] = field(repr=False)

    @classmethod
    @checks_arguments
    def of(cls, game: AnyGame, policy: TabularPolicy, lock: Lock | None = None) -> Study:
        """Return the figures of a policy; ``lock`` (see ``solve``) is behaviour that nobody may deviate from.

        Raises ``BudgetError`` where the tree does not fit, ``ImperfectRecallError``, and ``PolicyError`` for a policy
        of another game.
        """
        compiled = Compiled.of(game)
        form, tree = compiled.form, compiled.tree
        strategy = policy.behaviour(form)
        plan = realisation(form, strategy)
        fixed = locked_rows(form, lock) if lock else np.full(form.num_sequences, -1.0)
        own, others = reaches(tree, form, strategy)
        above = sums(tree.infoset[tree.infoset >= 0], others, len(tree.infoset_player))[form.tree_infoset]
        values, best = np.zeros(form.num_sequences), np.zeros(form.num_sequences)
        infoset_values = np.zeros(form.num_infosets)
        for player in range(form.num_players):
            gradient(form.arrays, player, plan, values)
            part = form.player_sequences(player)
            best[part] = values[part]
            expect_up(form.arrays, player, strategy, values, infoset_values)
            best_where_free(form.arrays, player, fixed, best)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(above > 0, 1 / above, np.nan)
        scale = np.ones(form.num_sequences)
        offsets = np.repeat(form.offsets, np.diff(form.arrays.sequences))
        inside = form.infoset_of >= 0
        scale[inside] = share[form.infoset_of[inside]]
        numbers = {(p, key): k for k, (p, key) in enumerate(zip(form.infoset_player.tolist(), form.keys, strict=True))}
        return cls(
            form, strategy, evaluate_plan(form, plan, fixed if lock else None), own * above, above,
            values * scale + offsets, best * scale + offsets, numbers,
        )  # fmt: skip

    @cached_property
    def infoset_values(self) -> FloatArray:
        """(I,) the owner's expected payoff once the set is reached."""
        inside = self.form.infoset_of >= 0
        paid = (self.behaviour * self.values)[inside]
        return sums(self.form.infoset_of[inside], paid, self.form.num_infosets)

    @cached_property
    def regret(self) -> FloatArray:
        """(S,) the value of a move less that of its information set; 0 at empty sequences."""
        found = np.zeros(self.form.num_sequences)
        inside = self.form.infoset_of >= 0
        found[inside] = self.values[inside] - self.infoset_values[self.form.infoset_of[inside]]
        return found

    def number(self, player: int | str, key: str) -> int:
        """Return the number of an information set.  Raises ``UnknownNameError``."""
        players = self.form.players
        if player not in (players if isinstance(player, str) else range(len(players))):
            raise UnknownNameError("player", str(player), players)
        owner = players.index(player) if isinstance(player, str) else player
        found = self._numbers.get((owner, key))
        if found is None:
            known = [key for p, key in self._numbers if p == owner]
            raise UnknownNameError(f"information set of {self.form.players[owner]}", key, known)
        return found

    @checks_arguments
    def actions(self, player: int | str, key: str) -> list[ActionValue]:
        """Return the moves of one information set.  Raises ``UnknownNameError``."""
        k = self.number(player, key)
        first = int(self.form.arrays.first[k])
        return [
            ActionValue(action, float(self.behaviour[q]), None if np.isnan(self.values[q]) else float(self.values[q]))
            for q, action in enumerate(self.form.actions[k], start=first)
        ]


def reaches(tree: GameTree, form: SequenceForm, strategy: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the reach probabilities of information sets, split into the owner's factor and that of everybody else.

    (I,) the owner's realisation weight of each set with a choice; (decision nodes,), in the order of the tree's nodes,
    the product of all other probabilities, those of chance included.
    """
    first = np.full(len(tree.infoset_player), -1, dtype=np.int64)
    first[form.tree_infoset] = form.arrays.first
    nodes = np.arange(1, len(tree.parent), dtype=np.int32)
    above = tree.parent[nodes]
    mover = tree.graph.player[tree.position[above]].astype(np.int64)
    chance = tree.graph.probability[tree.edges(nodes)]
    sets = tree.infoset[above]
    chosen = np.where(sets >= 0, first[sets], -1)
    moved = np.where(chosen >= 0, strategy[chosen + nodes - tree.first_child[above]], 1.0)
    owner = np.where(tree.infoset >= 0, tree.graph.player[tree.position], CHANCE)
    found = np.zeros(len(tree.parent))
    for player in range(form.num_players):
        weight = np.where(mover == CHANCE, chance, np.where(mover == player, 1.0, moved))
        others = _down(tree, weight)
        mine = owner == player
        found[mine] = others[mine]
    own = realisation(form, strategy)[form.arrays.parent.astype(np.int64)]
    return own, found[tree.infoset >= 0]


def _down(tree: GameTree, weight: FloatArray) -> FloatArray:
    """Return the product of the weights (nodes but the root,) on the path to each node."""
    found = np.ones(len(tree.parent))
    levels: IntArray = tree.levels
    for begin, end in zip(levels[1:-1].tolist(), levels[2:].tolist(), strict=True):
        found[begin:end] = found[tree.parent[begin:end]] * weight[begin - 1 : end - 1]
    return found
