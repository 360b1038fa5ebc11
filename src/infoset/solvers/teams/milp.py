"""The optimum of a small common-payoff game by a mixed-integer program over pure plans, by HiGHS.

Every player's pure plan is a 0/1 realisation plan; the product of the plans at a terminal history is a variable of its
own that is at most each of the factors.  Payoffs are shifted so that none is negative, so that each of these variables
takes its largest value.  It works for any number of players with perfect recall, hidden and simultaneous moves
included.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from infoset.base import FloatArray
from infoset.errors import BudgetError
from infoset.solvers.tabular.linear_program import constraints
from infoset.tree.game_tree import GameTree
from infoset.tree.sequence_form import SequenceForm

MAX_ENDS = 200_000


def milp_optimum(tree: GameTree, seconds: float) -> tuple[SequenceForm, FloatArray, float]:
    """Return the sequence form, the best pure plans (S,) and a bound that no plans exceed, for a common-payoff game.

    Raises ``ImperfectRecallError``; ``BudgetError`` where the program is too large, or the optimum is not proved in
    ``seconds``.
    """
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import block_diag, csr_array

    form = SequenceForm.of(tree)
    shift = float(form.smallest_payoff)
    graph = replace(tree.graph, payoffs=tree.graph.payoffs - shift)
    shifted = SequenceForm.of(replace(tree, graph=graph))
    sequences, payoffs = shifted.terminals()
    count, ends, n = form.num_sequences, len(sequences), form.num_players
    if ends > MAX_ENDS:
        raise BudgetError(f"{tree.name}: a mixed-integer program of {ends:,} ends; at most {MAX_ENDS:,} are tried")
    scale = float(payoffs.max(initial=0)) or 1.0  # HiGHS works to absolute tolerances
    flow = block_diag([constraints(form, player) for player in range(n)], format="csr")
    start = np.concatenate([np.eye(1, len(form.player_infosets(player)) + 1)[0] for player in range(n)])
    plans = csr_array((flow.data, flow.indices, flow.indptr), shape=(flow.shape[0], count + ends))
    rows, product = np.arange(n * ends), np.tile(count + np.arange(ends), n)  # one row per end and player
    entries = np.repeat([1.0, -1.0], n * ends), (np.tile(rows, 2), np.append(product, sequences.T))
    result = milp(
        -np.append(np.zeros(count), payoffs[:, 0] / scale),
        integrality=np.repeat([1, 0], [count, ends]),
        bounds=(0, 1),
        constraints=[
            LinearConstraint(plans, start, start),
            LinearConstraint(csr_array(entries, shape=(n * ends, count + ends)), -np.inf, 0),
        ],
        options={"mip_rel_gap": 0.0, "time_limit": seconds},
    )
    if result.status:
        limits = (result.fun, result.mip_dual_bound)
        found, bound = ("nothing" if value is None else f"{shift - value * scale:g}" for value in limits)
        raise BudgetError(
            f"{tree.name}: HiGHS did not prove the optimum in {seconds:g} s; it found {found}, upper bound {bound}"
        )
    return form, np.rint(result.x[:count]), shift - float(result.mip_dual_bound) * scale
