"""Strategies as arrays over sequences: behaviour and realisation weights, and conversions between them.

Both have one entry per sequence (S,); behaviour is 1 at the empty sequences.
"""

from __future__ import annotations

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.errors import GameRuleError
from infoset.tree.kernels import behave, plan_down
from infoset.tree.sequence_form import SequenceForm

PLAN_TOLERANCE = 1e-6


def uniform(form: SequenceForm) -> FloatArray:
    """Return behaviour (S,) that chooses every move of a set with equal probability; 1 at empty sequences."""
    strategy = np.ones(form.num_sequences)
    inside = form.infoset_of >= 0
    strategy[inside] = 1 / form.arrays.size[form.infoset_of[inside]]
    return strategy


@checks_arguments
def realisation(form: SequenceForm, strategy: FloatArray) -> FloatArray:
    """Return realisation weights (S,) of behaviour (S,): the product of probabilities on each sequence, 1 if empty.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> import numpy as np
    >>> strategy = np.full(form.num_sequences, 0.5)            # two actions everywhere
    >>> sorted(set(infoset.realisation(form, strategy).tolist()))
    [0.25, 0.5, 1.0]
    """
    plan = np.ones(form.num_sequences)
    for player in range(form.num_players):
        plan_down(form.arrays, player, np.asarray(strategy, dtype=np.float64), plan)
    return plan


def random_interior(form: SequenceForm, seed: int) -> FloatArray:
    """Return behaviour (S,) drawn uniformly from the simplex at every information set."""
    weights = np.random.default_rng(seed).exponential(size=form.num_sequences) + 1e-9
    owner = form.infoset_of
    weights[owner < 0] = 1
    inside = owner >= 0
    totals = np.bincount(owner[inside], weights[inside], minlength=form.num_infosets)
    weights[inside] /= totals[owner[inside]]
    return weights


@checks_arguments
def behaviour(form: SequenceForm, plan: FloatArray) -> FloatArray:
    """Return the behaviour (S,) of realisation weights (S,); uniform where a set is never reached.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> plan = infoset.TabularPolicy.uniform(form).plan(form)
    >>> sorted(set(infoset.behaviour(form, plan).tolist()))    # 1.0 at the empty sequences
    [0.5, 1.0]
    """
    strategy = np.ones(form.num_sequences)
    behave(form.arrays, plan, strategy)
    return strategy


def normalised(form: SequenceForm, weights: FloatArray) -> FloatArray:
    """Return sums of realisation weights (S,), scaled so that every empty sequence has weight one."""
    totals = weights[form.arrays.sequences[:-1]]
    return weights / np.repeat(totals, np.diff(form.arrays.sequences))


def check_plan(form: SequenceForm, plan: FloatArray, method: str) -> None:
    """Raise ``GameRuleError`` unless, at every set, the moves' weights sum to the weight of the sequence leading there.

    A local update that forgets to normalise would otherwise pass for a profile that nobody can exploit.
    """
    inside = np.flatnonzero(form.infoset_of >= 0)
    totals = np.bincount(form.infoset_of[inside], plan[inside], minlength=form.num_infosets)
    wrong = np.flatnonzero(~(np.abs(totals - plan[form.arrays.parent]) <= PLAN_TOLERANCE))
    if len(wrong):
        k = int(wrong[0])
        raise GameRuleError(
            f"{method}: the moves at {form.players[form.infoset_player[k]]}'s information set {form.keys[k]!r} weigh "
            f"{totals[k]:g} in total, their parent {plan[form.arrays.parent[k]]:g}; does the update normalise?"
        )
