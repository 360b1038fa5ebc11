"""Mistakes of an opponent under which a profile of two players stays optimal.

A linear program finds the mistakes that can be the opponent's likeliest ones while the player's behaviour stays
optimal; the next one finds the next likeliest, and so on.  Admitting more mistakes in a step never restricts later
steps, so that no step is undone (the conditions are cones, and the sum of two solutions is a solution).
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from infoset.base import BoolArray, FloatArray, LongArray
from infoset.errors import UnsupportedGameError
from infoset.solvers.job import Background
from infoset.solvers.tabular.linear_program import constraints, payoff_matrix
from infoset.solvers.tabular.profile import Profile
from infoset.tree.sequence_form import SequenceForm

GAINS = 1e-6
"""Share of the payoff range below which a gain counts as none."""
ADMITTED, MOST = 1e-4, 10.0
"""Least weight that counts as a mistake of one step, and largest weight; allowances stay far below the former."""


class Mistakes:
    """The opponent's mistakes, from the likeliest on, under which a player's behaviour stays optimal."""

    def __init__(self, profile: Profile, player: int, keep: bool, rounded: bool) -> None:
        """Prepare the programs.

        ``keep``: behaviour has to stay optimal against less likely mistakes, too.  ``rounded``: probabilities are
        inexact.
        """
        from scipy.sparse import csr_array

        form = profile.form
        self.profile, self.player, self.keep = profile, player, keep
        self.opponent = 1 - player
        self.opponent_sequences = form.player_sequences(self.opponent)
        self.sets = form.player_infosets(player)
        inside = np.flatnonzero((profile.set_of >= self.sets.start) & (profile.set_of < self.sets.stop))
        rows, columns = (
            profile.set_of[inside] - self.sets.start,
            profile.sequence_at[inside, self.opponent] - self.opponent_sequences.start,
        )
        shape = (len(self.sets), self.opponent_sequences.stop - self.opponent_sequences.start)
        self.leads = csr_array((profile.reach[inside], (rows, columns)), shape=shape)
        self.gains, allowed = _gain_rows(profile, player, self.leads)
        self.allowed = allowed * float(rounded)
        a = form.arrays
        self.row_set = np.repeat(np.arange(len(self.sets)), a.size[self.sets.start : self.sets.stop].astype(np.int64))

    def fails(self) -> int | None:
        """Return ``None`` where every sequence can be a mistake, else the set that prevents it, -1 for no one set."""
        plan = self.profile.plan[self.opponent_sequences]
        played = plan > 0  # plans have no probabilities of the size of rounding errors
        reached = (self.leads @ plan) > 0
        tight = (self.gains @ plan > -GAINS) if self.keep else ~reached[self.row_set]
        while not played.all():
            weights, slack = self._admitted(played, tight)
            fresh = (weights > ADMITTED) & ~played
            looser = tight & (slack > ADMITTED)
            if not fresh.any() and not (looser.any() and self.keep):
                return self._blocked(played, tight)
            played |= fresh
            reached |= (self.leads @ fresh.astype(float)) > 0
            tight = tight & ~looser if self.keep else ~reached[self.row_set]
        return None

    def _admitted(self, played: BoolArray, tight: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return the next likeliest mistakes, weights of sequences up to 1, and the slack of each row of gains."""
        from scipy.sparse import block_array, csr_array, eye_array

        form, count = self.profile.form, len(played)
        plans, own = self._plans(played), np.flatnonzero(tight)
        wanted = np.flatnonzero(~played)
        rows = self.gains[own] - self.allowed[own] * (~played)
        pick = csr_array((np.ones(len(wanted)), (np.arange(len(wanted)), wanted)), shape=(len(wanted), count))
        falls = block_array([
            [rows, None, eye_array(len(own))], [-pick, eye_array(len(wanted)), None]
        ]) if len(own) else block_array([[-pick, eye_array(len(wanted))]])  # fmt: skip
        free = len(wanted) + len(own)
        equal = block_array([[plans, csr_array((plans.shape[0], free))]])
        bounds = [(None, None) if one else (0, MOST) for one in played] + [(0, 1)] * free
        found = least(
            form, np.concatenate([np.zeros(count), -np.ones(free)]), A_ub=falls, b_ub=np.zeros(falls.shape[0]),
            A_eq=equal, b_eq=np.zeros(equal.shape[0]), bounds=bounds,
        )  # fmt: skip
        weights, slack = np.zeros(count), np.zeros(len(tight))
        weights[wanted] = found[count : count + len(wanted)]
        slack[own] = found[count + len(wanted) :]
        return weights, slack

    def _plans(self, played: BoolArray) -> Any:
        """Return rows that are 0: a set's moves sum to their parent; after a first mistake the profile is followed."""
        from scipy.sparse import csr_array

        form, a, start = self.profile.form, self.profile.form.arrays, self.opponent_sequences.start
        rows, columns, entries, count = [0], [0], [1.0], 1  # the weight of the empty sequence does not change
        for k in form.player_infosets(self.opponent):
            first, size, parent = int(a.first[k]) - start, int(a.size[k]), int(a.parent[k]) - start
            if played[parent]:
                rows += [count] * (size + 1)
                columns += [*range(first, first + size), parent]
                entries += [1.0] * size + [-1.0]
                count += 1
                continue
            for action in range(first, first + size):
                rows += [count] * 2
                columns += [action, parent]
                entries += [1.0, -float(self.profile.strategy[start + action])]
                count += 1
        return csr_array((entries, (rows, columns)), shape=(count, len(played)))

    def _blocked(self, played: BoolArray, tight: BoolArray) -> int:
        """Return an own set at which another move pays after a first mistake; -1 where there is no single one."""
        a, form, start = self.profile.form.arrays, self.profile.form, self.opponent_sequences.start
        for k in form.player_infosets(self.opponent):
            first, size, parent = int(a.first[k]) - start, int(a.size[k]), int(a.parent[k]) - start
            for action in range(first, first + size):
                if played[parent] and not played[action]:
                    mistake = self._followed(action)
                    wrong = np.flatnonzero((self.gains @ mistake > GAINS) & tight)
                    if len(wrong):
                        return self.sets.start + int(self.row_set[wrong[0]])
        return -1

    def _followed(self, action: int) -> FloatArray:
        """Return weights (S_opponent,) of one move and of the profile's behaviour after it."""
        form, a, start = self.profile.form, self.profile.form.arrays, self.opponent_sequences.start
        weights = np.zeros(self.opponent_sequences.stop - start)
        weights[action] = 1.0
        for k in form.player_infosets(self.opponent):
            first, size, parent = int(a.first[k]) - start, int(a.size[k]), int(a.parent[k]) - start
            if weights[parent]:
                weights[first : first + size] = weights[parent] * self.profile.strategy[start + first :][:size]
        return weights


def _gain_rows(profile: Profile, player: int, leads: Any) -> tuple[Any, Any]:
    """Return the gains (moves, S_opponent), sparse, of own moves, and the gains allowed for rounding.

    A gain is what a move pays more than the profile's mixture at its set against one of the opponent's sequences, in
    units of the largest entry of its row; the player continues by the profile.  Gains are allowed since profiles are
    rounded.
    """
    from scipy.sparse import csr_array, diags_array

    form, a = profile.form, profile.form.arrays
    own, sets = form.player_sequences(player), form.player_infosets(player)
    count, start = own.stop - own.start, own.start
    first = a.first[sets.start : sets.stop].astype(np.int64) - start
    size = a.size[sets.start : sets.stop].astype(np.int64)
    actions, at = np.arange(1, count), np.repeat(np.arange(len(sets)), size)
    assert (first == np.cumsum(size) - size + 1).all()
    mixes = csr_array((profile.strategy[start + 1 : own.stop], (at, actions)), shape=(len(sets), count))
    above = a.parent[sets.start : sets.stop].astype(np.int64) - start
    up = csr_array((np.ones(len(sets)), (above, np.arange(len(sets)))), shape=(count, len(sets)))
    values = paid = payoff_matrix(form, player)
    step = up @ mixes
    while True:  # once per successive move of the player
        found = paid + step @ values
        if abs(found - values).sum() == 0:
            break
        values = found
    action_of = csr_array((np.ones(len(actions)), (np.arange(len(actions)), actions)), shape=(len(actions), count))
    set_of = csr_array((np.ones(len(actions)), (np.arange(len(actions)), at)), shape=(len(actions), len(sets)))
    rows = csr_array(action_of @ values - set_of @ (mixes @ values))
    if not len(actions):
        return rows, rows
    allowed = GAINS * profile.scales[player] * leads[at]
    tiny = allowed.max(axis=1).toarray().ravel()
    rows.data[np.abs(rows.data) <= np.repeat(tiny, np.diff(rows.indptr))] = 0.0
    largest = abs(rows).max(axis=1).toarray().ravel() if rows.nnz else np.zeros(len(actions))
    unit = diags_array(1.0 / np.where(largest > 0, largest, 1.0))
    return csr_array(unit @ rows), csr_array(unit @ allowed)


def never_best(profile: Profile, player: int) -> LongArray:
    """Return the opponent's sequences that have no weight in any plan to which the player's plan is a best response."""
    from scipy.sparse import block_array, csr_array, eye_array

    form = profile.form
    payoff, own, other = payoff_matrix(form, player), constraints(form, player), constraints(form, 1 - player)
    payoff = payoff / (abs(payoff).max() or 1.0)
    played = profile.plan[form.player_sequences(player)] > 0
    (sets, actions), (opponent_sequences, count) = own.shape, other.shape
    falls = block_array(
        [[-own.T, payoff, csr_array((actions, count))]], format="csr"
    )  # payoffs are no more than prices
    capped = block_array([[csr_array((count, sets)), -eye_array(count), eye_array(count)]])
    plans = block_array(
        [[csr_array((opponent_sequences - 1, sets)), other[1:], csr_array((opponent_sequences - 1, count))]]
    )
    found = least(
        form, np.concatenate([np.zeros(sets + count), -np.ones(count)]),
        A_ub=block_array([[falls[~played]], [capped]]) if (~played).any() else capped,
        b_ub=np.zeros(int((~played).sum()) + count),
        A_eq=block_array([[falls[played]], [plans]]), b_eq=np.zeros(int(played.sum()) + opponent_sequences - 1),
        bounds=[(None, None)] * sets + [(0, None)] * count + [(0, 1)] * count,
    )  # fmt: skip
    return np.flatnonzero(found[-count:] < ADMITTED)


def least(form: SequenceForm, cost: FloatArray, **program: Any) -> FloatArray:
    """Solve a linear program by the first of HiGHS's algorithms that succeeds.

    Raises ``UnsupportedGameError`` where none does.
    """
    from scipy.optimize import linprog

    for method, options in (("highs", {}), ("highs-ds", {"presolve": False}), ("highs-ipm", {})):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings that HiGHS gave up
            solving = Background(partial(linprog, cost, method=method, options=options, **program))
            solving.wait()  # where Ctrl-C is heard
        found = solving.result
        if found.success:
            return np.asarray(found.x)
    raise UnsupportedGameError(f"{form.name}: HiGHS did not solve the linear program of mistakes: {found.message}")
