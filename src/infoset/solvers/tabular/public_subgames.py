"""Solution of games by public subgames, each solved once, the last first, with the values of those that follow it.

For two players and a constant sum the profile is an equilibrium of the whole game, since a subgame has a unique value;
otherwise it combines equilibria of the subgames, and ``evaluate`` measures how good it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, IntArray
from infoset.compiled import Compiled
from infoset.errors import CheckpointError, UnsupportedGameError
from infoset.files import DamageError, describe_damage
from infoset.policies.public_policy import PublicPolicy
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.job import Background, Job, Limits
from infoset.solvers.method import Checked, Options
from infoset.solvers.metrics import Evaluation, best_responses, evaluate_plan, expected_values
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.solvers.tabular.linear_program import linear_program
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import TERMINAL, GameGraph
from infoset.tree.payoff_scale import constant_sum_of
from infoset.tree.sequence_form import SequenceForm
from infoset.tree.subgames import cut, public_positions

ITERATIONS = 2000

Mask: TypeAlias = npt.NDArray[np.bool_]

Oracle: TypeAlias = Callable[[GameTree, SequenceForm], FloatArray]
"""A function from a game to realisation weights (S,)."""


class PublicSubgames(Job):
    """The public subgames of a game, solved one after the other, the last first; an iteration solves one.

    ``oracle`` solves one subgame; ``max_histories`` bounds each.  Raises ``BudgetError`` for one that is too large.

    >>> from infoset.solvers.tabular.public_subgames import PublicSubgames
    >>> from infoset.tree.graph import explore
    >>> job = PublicSubgames(explore(infoset.load("gdl:meier")))
    >>> job.step(job.total)
    >>> round(job.values[0], 6)
    64.793901
    """

    def __init__(self, graph: GameGraph, oracle: Oracle | None = None, max_histories: int | None = None) -> None:
        self.graph, self.oracle, self.max_histories = graph, oracle or equilibrium, max_histories
        self.roots, self.public = _roots(graph)
        self.total: int = len(self.roots)
        self.position_values = np.zeros((len(graph.player), len(graph.players)))
        """(P, n) every player's value at each root that is solved; 0 elsewhere."""
        paid = graph.payoffs[np.unique(graph.content[graph.player == TERMINAL])]
        self.sum = constant_sum_of(paid) if len(graph.players) == 2 else None
        self.plans: list[FloatArray] = []
        self.pieces: list[TabularPolicy] = []
        self._now: Background[tuple[SequenceForm, FloatArray]] | None = None

    def step(self, iterations: int, until: float = inf) -> None:
        for _ in range(min(iterations, self.total - self.iteration)):
            self._now = self._now or Background(self._solve_next)
            if not self._now.wait(until):
                return
            (form, plan), self._now = self._now.result, None
            self._keep(form, plan)

    def _solve_next(self) -> tuple[SequenceForm, FloatArray]:
        tree, form = _piece(self.graph, self._root, self.public, self.position_values, self.max_histories)
        return form, self.oracle(tree, form)

    @property
    def _root(self) -> int:
        return int(self.roots[self.total - 1 - self.iteration])

    def _keep(self, form: SequenceForm, plan: FloatArray) -> None:
        self.position_values[self._root] = expected_values(form, plan)
        if self.sum is not None:  # without rounding errors, so that earlier subgames have a constant sum, too
            self.position_values[self._root, 1] = self.sum - self.position_values[self._root, 0]
        self.plans.append(plan)
        self.pieces.append(TabularPolicy.from_plan(form, plan, {"method": "public"}))
        self.iteration += 1

    @property
    def values(self) -> tuple[float, ...]:
        """Every player's value of the whole game, once all subgames are solved."""
        return tuple(self.position_values[0].tolist())

    def policy(self) -> PublicPolicy | None:
        """Return the profiles of all subgames, once all are solved; ``None`` before that."""
        if self.iteration < self.total:
            return None
        graph, roots = self.graph, tuple(self.roots.tolist())
        made_by = {"method": "public", "iterations": self.iteration}
        return PublicPolicy(graph.name, graph.players, len(graph.player), roots, tuple(self.pieces[::-1]), made_by)

    @property
    def about(self) -> str:
        return f"{self.iteration:,} of {self.total:,} public subgames"

    def save(self) -> dict[str, Any]:
        return {"iteration": np.array(self.iteration), **{f"plan{k}": plan for k, plan in enumerate(self.plans)}}

    def restore(self, saved: dict[str, Any]) -> None:
        self.plans, self.pieces, self.iteration, self._now = [], [], 0, None
        try:
            for k in range(int(saved["iteration"])):
                _, form = _piece(self.graph, self._root, self.public, self.position_values, self.max_histories)
                plan = np.asarray(saved[f"plan{k}"], dtype=np.float64)
                if plan.shape != (form.num_sequences,):
                    raise DamageError(f"plan{k} has the shape {plan.shape}")
                self._keep(form, plan)
        except (KeyError, ValueError, IndexError, TypeError) as error:
            raise CheckpointError(f"the checkpoint does not fit: {describe_damage(error)}") from None


def solve_public(
    graph: GameGraph, oracle: Oracle | None = None, max_histories: int | None = None
) -> PublicSubgames:  # fmt: skip
    """Solve every public subgame: by linear programming where it is zero-sum, else by PCFR+; or by ``oracle``.

    Raises ``BudgetError`` for a subgame that is too large.

    >>> from infoset.solvers.tabular.public_subgames import solve_public
    >>> from infoset.tree.graph import explore
    >>> round(solve_public(explore(infoset.load("gdl:meier"))).values[0], 6)
    64.793901
    """
    job = PublicSubgames(graph, oracle, max_histories)
    job.step(job.total)
    return job


def evaluate_public(policy: PublicPolicy, graph: GameGraph, respond: bool = False) -> Evaluation:
    """Return exact figures of the whole profile, with best responses, which are found by subgame, if ``respond``.

    >>> from infoset.solvers.tabular.public_subgames import evaluate_public, solve_public
    >>> from infoset.tree.graph import explore
    >>> graph = explore(infoset.load("gdl:meier"))
    >>> evaluate_public(solve_public(graph).policy(), graph).nash_conv < 1e-9
    True
    """
    public = np.zeros(len(graph.player), dtype=np.bool_)
    public[list(policy.roots)] = True
    best, values = np.zeros((2, len(graph.player), len(graph.players)))
    responses: list[TabularPolicy] = []
    for root, piece in zip(policy.roots[::-1], policy.pieces[::-1], strict=True):
        _, form = _piece(graph, root, public, best)
        best[root] = evaluate_plan(form, piece.plan(form)).best_response_values
        if respond:
            responses.append(best_responses(form, piece.plan(form)))
        _, form = _piece(graph, root, public, values)
        values[root] = expected_values(form, piece.plan(form))
    found = Evaluation.of(values[0], best[0])
    if not respond:
        return found
    made_by = {"method": "best-response"}
    return replace(found, best_response=replace(policy, pieces=tuple(responses[::-1]), made_by=made_by))


def equilibrium(tree: GameTree, form: SequenceForm) -> FloatArray:
    """Return the exact solution of a zero-sum game by a linear program, else the average of ``ITERATIONS`` of PCFR+."""
    if form.zero_sum:
        return linear_program(form)
    solver = pcfr_plus().solver(form)
    solver.step(ITERATIONS)
    return solver.average()


def _roots(graph: GameGraph) -> tuple[IntArray, Mask]:
    positions = public_positions(graph)
    positions = positions[graph.num_edges[positions] > 0]  # terminal positions need no solution
    public = np.zeros(len(graph.player), dtype=np.bool_)
    public[positions] = True
    return positions, public


def largest_piece(graph: GameGraph) -> float:
    """Return the number of histories of the largest public subgame."""
    roots, public = _roots(graph)
    position_values = np.zeros((len(graph.player), len(graph.players)))
    return max(cut(graph, root, public, position_values).count_histories() for root in roots.tolist())


def _piece(
    graph: GameGraph, root: int, public: Mask, position_values: FloatArray, max_histories: int | None = None
) -> tuple[GameTree, SequenceForm]:
    tree = GameTree.unroll(cut(graph, root, public, position_values), max_histories)
    return tree, SequenceForm.of(tree)


@dataclass(frozen=True)
class PublicMethod(Checked):
    """The subgames that common knowledge makes, each solved once: exact for two players and a constant sum."""

    takes: ClassVar[frozenset[str]] = frozenset({"target", "seconds"})
    default: ClassVar[Limits] = Limits()

    name: ClassVar[str] = "public"

    def job(self, compiled: Compiled, options: Options) -> PublicSubgames:
        """Return the work on a game.  Raises ``UnsupportedGameError`` where only the start is common knowledge."""
        if compiled.graph.map_name:
            raise UnsupportedGameError(f"{compiled.name}: public subgames need perfect recall")
        job = PublicSubgames(compiled.graph, None, compiled.max_histories)
        if job.total < 2:
            raise UnsupportedGameError(f"{compiled.name}: no position is common knowledge but the start")
        return job
