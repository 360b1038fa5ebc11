"""Exact solution of two-player zero-sum games: the sequence-form linear program (von Stengel 1996), by HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np

from infoset import status
from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.errors import UnsupportedGameError
from infoset.tree.sequence_form import SequenceForm

HIGHS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@checks_arguments
def linear_program(form: SequenceForm) -> FloatArray:
    """Return realisation weights (S,) of an equilibrium of a two-player zero-sum (or constant-sum) game.

    Each player's program maximises p at the opponent's start, over its own plan x and values p of the opponent's
    information sets, where p is what a best response to x leaves.  Raises ``UnsupportedGameError`` for any other game.

    The sequence form of Koller, Megiddo & von Stengel (1996), by HiGHS.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> plan = infoset.linear_program(form)
    >>> infoset.nash_conv(form, plan) < 1e-9
    True
    """
    check_zero_sum(form)
    plan = np.ones(form.num_sequences)
    with status.during("solving the linear program"):
        for player in range(2):
            own, other = constraints(form, player), constraints(form, 1 - player)
            plan[form.player_sequences(player)] = on_the_polytope(
                form, player, maximin(form.name, payoff_matrix(form, player), own, other)[0]
            )
    return plan


def check_zero_sum(form: SequenceForm) -> None:
    """Raise ``UnsupportedGameError`` unless the game has two players whose payoffs sum to a constant."""
    if form.num_players != 2:
        raise UnsupportedGameError(
            f"{form.name} has {form.num_players} players; the linear program solves two-player zero-sum games. "
            "Try --method logit or pcfr+"
        )
    if form.constant_sum is None:
        raise UnsupportedGameError(
            f"{form.name} is not zero-sum: its payoffs do not always add up to the same. Try --method lcp or logit"
        )


def maximin(name: str, payoff: Any, own: Any, other: Any) -> tuple[FloatArray, FloatArray]:
    """Return maximin variables x (d,) and the optimal replies y (e,) to them.

    The program is: maximise f'p subject to F'p <= A'x, E x = e, x >= 0, where A is ``payoff`` (d, e) sparse, E =
    ``own`` (m, d) and F = ``other`` (l, e) are the constraints of both players, whose first rows sum to 1 and all
    others to 0; y are the dual variables of the inequalities.  Raises ``UnsupportedGameError`` with the game's ``name``
    where HiGHS does not solve it.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_array, csr_array

    largest = abs(payoff).max() if payoff.nnz else 0.0
    if largest > 0.0:
        payoff = payoff / largest  # HiGHS drops entries below 1e-9; only x and y are used
    objective = np.zeros(own.shape[1] + other.shape[0])
    objective[own.shape[1]] = -1.0  # p at the opponent's start: what its best reply leaves
    result = linprog(
        objective,
        A_ub=block_array([[-payoff.T, other.T]], format="csr"),
        b_ub=np.zeros(other.shape[1]),
        A_eq=block_array([[own, csr_array((own.shape[0], other.shape[0]))]], format="csr"),
        b_eq=np.eye(1, own.shape[0])[0],
        bounds=[(0, None)] * own.shape[1] + [(None, None)] * other.shape[0],
        method="highs",
        options=HIGHS,
    )
    if not result.success:
        raise UnsupportedGameError(f"{name}: HiGHS did not solve the linear program: {result.message}")
    return result.x[: own.shape[1]], -result.ineqlin.marginals


def payoff_matrix(form: SequenceForm, player: int):  # type: ignore[no-untyped-def]
    """Return sparse payoffs (S_player, S_opponent) of ``player``; a player's sequences count from its empty one."""
    from scipy.sparse import csr_array

    sequences, payoffs = form.terminals()
    shape = [int(n) for n in np.diff(form.arrays.sequences)]
    start = form.arrays.sequences[:2].astype(np.int64)
    rows, columns = sequences[:, player] - start[player], sequences[:, 1 - player] - start[1 - player]
    return csr_array((payoffs[:, player], (rows, columns)), shape=(shape[player], shape[1 - player]))


def constraints(form: SequenceForm, player: int):  # type: ignore[no-untyped-def]
    """Return the constraints (1 + I_player, S_player) of realisation plans.

    The empty sequence has weight 1, and the weights of a set's moves sum to that of its parent sequence.
    """
    from scipy.sparse import csr_array

    a, sets = form.arrays, form.player_infosets(player)
    start = int(a.sequences[player])
    inside = slice(sets.start, sets.stop)
    count, size = len(sets), a.size[inside].astype(np.int64)
    actions = np.arange(1, int(a.sequences[player + 1]) - start)
    rows = np.concatenate([[0], np.repeat(np.arange(1, count + 1), size), np.arange(1, count + 1)])
    columns = np.concatenate([[0], actions, a.parent[inside].astype(np.int64) - start])
    entries = np.concatenate([[1.0], np.ones(len(actions)), -np.ones(count)])
    return csr_array((entries, (rows, columns)), shape=(count + 1, len(actions) + 1))


def on_the_polytope(form: SequenceForm, player: int, plan: FloatArray) -> FloatArray:
    """Remove the solver's rounding errors: clip at zero and rescale every set to its parent's weight."""
    a, start = form.arrays, int(form.arrays.sequences[player])
    plan = np.maximum(plan, 0)
    plan[0] = 1.0
    for k in form.player_infosets(player):
        actions = slice(int(a.first[k]) - start, int(a.first[k] + a.size[k]) - start)
        total, above = plan[actions].sum(), plan[int(a.parent[k]) - start]
        plan[actions] = plan[actions] * (above / total) if total > 0 else above / int(a.size[k])
    return plan
