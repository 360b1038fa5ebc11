"""Linear programs over parts of two belief DAGs, which turn a solution that is nearly found into an exact one.

Regret minimisation finds the few actions that matter long before it finds their probabilities.  The program is over
these actions alone; the best plans against its solution, each found by a pass over the whole DAG, add what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from infoset.base import BoolArray, FloatArray, LongArray
from infoset.errors import UnsupportedGameError
from infoset.jit import kernel
from infoset.solvers.metrics import Evaluation
from infoset.solvers.tabular.linear_program import maximin
from infoset.solvers.teams.belief_passes import Duel, Payments, behave, best_value, value_edge, value_leaves
from infoset.tree.belief_dag import BeliefArrays, BeliefDag

MOST_EDGES = 8_000  # of both parts, for which a program takes a second
MOST_IN_ALL = 80_000  # edges of all programs together, before regret minimisation goes on
TIE = 1e-12  # a share of the payoff range, up to which an action of the part counts as the best one


class _Part(NamedTuple):
    """Variables for some edges of a DAG, after one that is 1."""

    edges: LongArray  # (d - 1,)
    equal: Any  # (m, d) sparse constraints; the first row sums to 1, all others to 0
    reach: Any  # (Z, d) sparse: the probability of reaching each leaf by each variable


def find_exactly(
    duel: Duel, flows: Sequence[FloatArray], strategies: Sequence[FloatArray], close: float
) -> tuple[list[FloatArray], Evaluation] | None:
    """Return the behaviour (E,) of both teams and its figures, where all gains together are ``close`` to 0.

    The programs begin with the edges of positive ``flows`` (E,), completed by ``strategies`` (E,).  The result is
    ``None`` where they become too large or too many.
    """
    parts = [flow > 0 for flow in flows]
    for dag, part, strategy in zip(duel.dags, parts, strategies, strict=True):
        _complete(dag.arrays, part, strategy)
    total = 0
    while True:
        edges = sum(int(part.sum()) for part in parts)
        if edges > MOST_EDGES or (total := total + edges) > MOST_IN_ALL:
            return None
        try:
            found = _solve(duel, parts)
        except UnsupportedGameError:
            return None
        figures = duel.evaluation(found)
        if figures.nash_conv <= close:
            return found, figures
        reach = [duel.reach(dag, strategy) for dag, strategy in zip(duel.dags, found, strict=True)]
        added = [
            _add_best_plan(dag, duel.payments[k], reach[1 - k], parts[k], TIE * duel.form.widest_range)
            for k, dag in enumerate(duel.dags)
        ]
        if not any(added):
            return None


def _solve(duel: Duel, parts: Sequence[BoolArray]) -> list[FloatArray]:
    """Return the behaviour (E,) of both teams that is optimal for the ``parts`` (E,) of their DAGs."""
    from scipy.sparse import csr_array

    first, second = (_part(dag, part) for dag, part in zip(duel.dags, parts, strict=True))
    rows, other, paid = duel.payments[0]
    shape = duel.dags[0].num_leaves, duel.dags[1].num_leaves
    payoffs = csr_array((paid, other.astype(np.int64), rows.astype(np.int64)), shape=shape)
    weights = maximin(
        duel.form.name, (first.reach.T @ payoffs @ second.reach).tocsr(), first.equal, second.equal
    )  # fmt: skip
    found = []
    for dag, part, x in zip(duel.dags, (first, second), weights, strict=True):
        flows, strategy = np.zeros(dag.num_edges), np.zeros(dag.num_edges)
        flows[part.edges] = np.maximum(x[1:], 0.0)
        behave(dag.arrays, flows, strategy)
        found.append(strategy)
    return found


def _part(dag: BeliefDag, part: BoolArray) -> _Part:
    from scipy.sparse import csr_array

    a, edges = dag.arrays, np.flatnonzero(part)
    owner = np.searchsorted(a.first, edges, side="right") - 1
    beliefs = np.unique(owner)
    row = np.full(dag.num_beliefs, -1)
    row[beliefs] = np.arange(1, len(beliefs) + 1)
    above, below = _entries(a.children, edges)
    roots = row[a.roots]
    rows = np.concatenate([[0], row[owner], row[a.child[below]], roots])
    columns = np.concatenate([[0], np.arange(1, len(edges) + 1), above + 1, np.zeros(len(roots), dtype=np.int64)])
    signs = np.concatenate([np.ones(1 + len(edges)), -np.ones(len(below) + len(roots))])
    equal = csr_array((signs, (rows, columns)), shape=(len(beliefs) + 1, len(edges) + 1))
    above, below = _entries(a.leaves, edges)
    leaves = np.concatenate([a.at_once, a.leaf[below]]).astype(np.int64)
    columns = np.concatenate([np.zeros(len(a.at_once), dtype=np.int64), above + 1])
    reach = csr_array((np.ones(len(leaves)), (leaves, columns)), shape=(dag.num_leaves, len(edges) + 1))
    return _Part(edges, equal, reach)


def _entries(begins: Any, edges: LongArray) -> tuple[LongArray, LongArray]:
    """Return the places of the entries of some edges, after the place of each one's edge among them."""
    first = begins.astype(np.int64)
    sizes = first[edges + 1] - first[edges]
    above = np.repeat(np.arange(len(edges)), sizes)
    before = np.cumsum(sizes) - sizes
    return above, np.arange(int(sizes.sum())) + np.repeat(first[edges] - before, sizes)


def _add_best_plan(dag: BeliefDag, payments: Payments, reach: FloatArray, part: BoolArray, tie: float) -> int:
    """Add a best plan to the part (E,) of a DAG; return the number of its edges that are new."""
    leaf_values, belief_values = np.zeros(dag.num_leaves), np.zeros(dag.num_beliefs)
    value_leaves(payments, reach, leaf_values)
    best_value(dag.arrays, leaf_values, belief_values)
    return int(_mark_best(dag.arrays, leaf_values, belief_values, part, tie))


@kernel
def _complete(a: BeliefArrays, part: BoolArray, strategy: FloatArray) -> None:
    """Drop edges to which no edge of the part leads, and add the likeliest one at beliefs that have none."""
    live = np.zeros(len(a.infoset), dtype=np.bool_)
    for b in a.roots:
        live[b] = True
    for b in range(len(a.infoset)):
        likeliest, some = a.first[b], False
        for e in range(a.first[b], a.first[b + 1]):
            part[e] = part[e] and live[b]
            some = some or part[e]
            if strategy[e] > strategy[likeliest]:
                likeliest = e
        if live[b] and not some:
            part[likeliest] = True
        for e in range(a.first[b], a.first[b + 1]):
            if part[e]:
                for k in range(a.children[e], a.children[e + 1]):
                    live[a.child[k]] = True


@kernel
def _mark_best(
    a: BeliefArrays, leaf_values: FloatArray, belief_values: FloatArray, part: BoolArray, tie: float
) -> int:  # fmt: skip
    """Add the edges of a best plan to the part, with edges that are in it where they are as good."""
    live, added = np.zeros(len(a.infoset), dtype=np.bool_), 0
    for b in a.roots:
        live[b] = True
    for b in range(len(a.infoset)):
        if not live[b]:
            continue
        best, best_known, chosen = -np.inf, False, a.first[b]
        for e in range(a.first[b], a.first[b + 1]):
            value = value_edge(a, e, leaf_values, belief_values)
            if value > best + tie or (value >= best - tie and part[e] and not best_known):
                best, best_known, chosen = value, part[e], e
        if not part[chosen]:
            part[chosen] = True
            added += 1
        for k in range(a.children[chosen], a.children[chosen + 1]):
            live[a.child[k]] = True
    return added
