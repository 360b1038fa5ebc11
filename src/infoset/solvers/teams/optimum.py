"""Exact optima of games with a common payoff, with proofs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray, Game
from infoset.compiled import Compiled
from infoset.errors import BudgetError, ParameterError, UnsupportedGameError
from infoset.names import check_choice
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.metrics import expected_values
from infoset.solvers.teams.belief_passes import find_best_plan
from infoset.solvers.teams.milp import milp_optimum
from infoset.solvers.teams.polynomial import Polynomial, enclose_optimum
from infoset.solvers.teams.public_tree import PublicTree
from infoset.solvers.teams.subsets import SubsetProgram
from infoset.tree.belief_dag import BeliefDag
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import TERMINAL
from infoset.tree.payoff_scale import difference_that_counts
from infoset.tree.sequence_form import SequenceForm

METHODS = ("auto", "subsets", "milp", "beliefs", "polynomial")
PROVING = 600.0  # seconds
FEW_ENDS = 10_000  # of a tree; on larger ones the mixed-integer program did not prove the optimum in minutes


@dataclass(frozen=True)
class TeamOptimum:
    """The optimum of a common-payoff game and its proof.

    ``value`` is the payoff of ``policy``, which is pure for games of perfect recall; no policy earns more than
    ``bound``.  The two differ by no more than the rounding that ``proof`` names, unless ``proved`` is false: then the
    search was stopped early, and the policy may be a local optimum.  ``seconds`` is the time of the method, without
    building the tree.

    >>> infoset.team_optimum(infoset.load("tiny_hanabi(game=F)")).method
    'subsets'
    """

    game: str
    method: str
    value: float
    bound: float
    policy: TabularPolicy = field(repr=False)
    seconds: float
    proof: str
    proved: bool = True


@checks_arguments
def team_optimum(
    game: Game | GameTree, method: str = "auto", *, seconds: float = PROVING, max_histories: int | None = None
) -> TeamOptimum:
    """Return the best policy of players who all get the same payoff, and the proof that none is better.

    ``subsets`` is a dynamic program for two players whose moves, simultaneous ones included, are public once chance has
    dealt.  ``beliefs`` is one on the team's belief DAG, for any game of perfect recall whose DAG fits, and ``milp`` a
    mixed-integer program for small ones.  ``polynomial`` encloses the best probabilities of a small game by branch and
    bound, for imperfect recall.  ``auto`` takes the first where it applies; else ``polynomial`` where a player forgets,
    ``milp`` for small games, and ``beliefs`` for others.  ``seconds`` limits ``subsets``, by an estimate beforehand,
    ``milp`` and ``polynomial``.

    Raises ``UnsupportedGameError`` for a game to which the method does not apply, ``BudgetError`` for one that is too
    large, ``ParameterError`` or ``GameRuleError``.

    >>> best = infoset.team_optimum(infoset.load("trade_comm(items=3,messages=2)"))
    >>> round(best.value, 6)                                # 5/9
    0.555556
    """
    check_choice("method", method, METHODS)
    if not seconds > 0:
        raise ParameterError(f"seconds={seconds} is out of range; allowed: above 0")
    tree = game if isinstance(game, GameTree) else GameTree.of(game, max_histories)
    payoffs = common_payoffs(tree)
    named: dict[str, Callable[[], TeamOptimum]] = {
        "milp": lambda: _by_milp(tree, seconds),
        "polynomial": lambda: _by_polynomial(tree, seconds),
        "beliefs": lambda: _by_beliefs(tree),
    }
    if method in named:
        return named[method]()
    try:
        return _by_subsets(PublicTree.of(tree, payoffs), seconds)
    except (UnsupportedGameError, BudgetError) as refusal:
        too_large = isinstance(refusal, BudgetError) and tree.num_terminals > FEW_ENDS
        if method == "subsets" or too_large:
            raise
    if Compiled.of(tree).forgets:
        return _by_polynomial(tree, seconds)
    if tree.num_terminals <= FEW_ENDS:
        return _by_milp(tree, seconds)
    try:
        return _by_beliefs(tree)
    except BudgetError:
        return _by_milp(tree, seconds)


def check_provable(tree: GameTree, method: str, seconds: float) -> None:
    """Raise ``UnsupportedGameError`` or ``BudgetError`` for a game that ``team_optimum`` would refuse, before any work.

    The mixed-integer program and the belief DAG have no estimate.
    """
    payoffs = common_payoffs(tree)
    if method == "polynomial":
        Polynomial(tree).boxes()
        return
    if method in ("auto", "subsets"):
        try:
            SubsetProgram(PublicTree.of(tree, payoffs), seconds)
        except (UnsupportedGameError, BudgetError) as refusal:
            too_large = isinstance(refusal, BudgetError) and tree.num_terminals > FEW_ENDS
            if method == "subsets" or too_large:
                raise
        else:
            return
    if method in ("beliefs", "milp"):
        SequenceForm.of(tree)  # raises where a player forgets
    elif Compiled.of(tree).forgets:
        Polynomial(tree).boxes()


def common_payoffs(tree: GameTree) -> FloatArray:
    """Return the payoff of each row of the graph's payoffs.  Raises ``UnsupportedGameError`` where players' differ."""
    payoffs, graph = tree.graph.payoffs, tree.graph
    ends = graph.player[tree.position] == TERMINAL
    reached = np.unique(graph.content[tree.position[ends]])
    different = np.ptp(payoffs[reached], axis=1) > difference_that_counts(payoffs[reached])
    if len(odd := reached[different]):
        node = int(np.flatnonzero(ends & (graph.content[tree.position] == odd[0]))[0])
        raise UnsupportedGameError(
            f"{tree.name} is no common-payoff game: {tree.history(node)} pays {payoffs[odd[0]].tolist()}; "
            "team optima need equal payoffs"
        )
    return payoffs[:, 0].copy()


def _by_subsets(public: PublicTree, seconds: float) -> TeamOptimum:
    tree, begin = public.tree, time.perf_counter()
    program = SubsetProgram(public, seconds)
    value, bound, choices = program.run()
    numbers = (
        f"exact integers / {program.denominator}"
        if program.denominator
        else f"float64, rounding below {program.error:.1e}"
    )
    proof = f"dynamic program over {public.num_decisions} public states of {len(program.kinds.all)} kinds, {numbers}"
    policy = TabularPolicy(
        tree.name, tree.players, program.policy_tables(choices), tree.graph.map_name, {"method": "team:subsets"}
    )
    return TeamOptimum(tree.name, "subsets", value, bound, policy, time.perf_counter() - begin, proof)


def _by_beliefs(tree: GameTree) -> TeamOptimum:
    begin = time.perf_counter()
    form = SequenceForm.of(tree)
    dag = BeliefDag.of(form, range(form.num_players))
    paid = form.terminals()[1][:, 0]
    leaf_values = np.zeros(dag.num_leaves)
    np.add.at(leaf_values, dag.leaf_of_row, paid)
    found, chosen = find_best_plan(dag, leaf_values)
    strategy = np.zeros(form.num_sequences)
    strategy[form.infoset_of < 0] = 1.0
    strategy[form.arrays.first[: form.num_infosets] + chosen] = 1.0
    policy = TabularPolicy.from_behaviour(form, strategy, {"method": "team:beliefs"})
    value = float(expected_values(form, policy.plan(form))[0])
    offset, sums = float(form.offsets[0]), len(paid) + len(tree.levels)
    eps = float(np.finfo(np.float64).eps)
    rounding = eps * (float(np.abs(paid).sum()) * sums + abs(offset) + abs(found))
    bound = max(found + offset, value) + rounding
    proof = (
        f"dynamic program over {dag.num_beliefs:,} beliefs with {dag.num_edges:,} actions, "
        f"float64, rounding below {rounding:.1e}"
    )
    return TeamOptimum(tree.name, "beliefs", value, bound, policy, time.perf_counter() - begin, proof)


def _by_polynomial(tree: GameTree, seconds: float) -> TeamOptimum:
    begin = time.perf_counter()
    found = enclose_optimum(tree, seconds)
    spent = time.perf_counter() - begin
    return TeamOptimum(
        tree.name, "polynomial", found.value, found.bound, found.policy, spent, found.proof, found.proved
    )


def _by_milp(tree: GameTree, seconds: float) -> TeamOptimum:
    begin = time.perf_counter()
    form, plan, bound = milp_optimum(tree, seconds)
    value = float(expected_values(form, plan)[0])
    spent = time.perf_counter() - begin
    proof = (
        f"mixed-integer program over {form.num_sequences} sequences; HiGHS's dual bound is {bound:.9g}, "
        f"{max(bound - value, 0.0):.1e} above the policy"
    )
    policy = TabularPolicy.from_plan(form, plan, {"method": "team:milp"})
    return TeamOptimum(form.name, "milp", value, max(bound, value), policy, spent, proof)
