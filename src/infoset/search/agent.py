"""``search``: the agent that inspects a game and chooses how to play it.

A game that declares the cores of its states is solved in factored form where its tree does not fit, hold'em in vector
form.  For other games, the distinct positions are enumerated within the start clock; then, in this order of preference,
the whole tree is solved, or the public subgames, or the information sets by sampling.  A game too large for that is
searched move by move.  ``plan`` says which and why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from infoset import sizes
from infoset.base import Action, Agent, CardGame, Factored, Game
from infoset.clock import Clock
from infoset.compiled import Compiled
from infoset.errors import BudgetError, GameRuleError, ParameterError, UnsupportedGameError
from infoset.match.agents import Delegating, PolicyAgent, RandomAgent
from infoset.names import check_choice, check_range
from infoset.policies.factored_policy import FactoredPlay, FactoredPolicy
from infoset.policies.public_policy import PublicPlay
from infoset.policies.sampled_policy import QuotientPolicy
from infoset.policies.tabular import TabularPolicy
from infoset.search.belief import BeliefTracker
from infoset.search.kluss import Kluss
from infoset.search.models import Model, by_number, model_of, response_to, uniform
from infoset.search.monte_carlo import GraphAgent, IsMcts, Uct
from infoset.search.pessimistic import LONGEST_SCENARIO, Pessimistic
from infoset.search.state_values import informed_values, random_values
from infoset.search.subgame_solver import MOST_STEPS, PER_WORLD, Effort, SubgameSearch, SubgameSolver
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Limits, Watcher, advance
from infoset.solvers.sampling.mccfr import RARE, Mccfr
from infoset.solvers.sampling.pooled_mccfr import PooledMccfr
from infoset.solvers.sampling.sampled_response import SampledResponse
from infoset.solvers.tabular.cfr import for_hands, for_products, pcfr_plus
from infoset.solvers.tabular.public_subgames import solve_public
from infoset.solvers.tabular.solver import TabularMethod
from infoset.tree.subgames import public_positions
from infoset.warm_up import ready

KLUSS, PESSIMISTIC = MOVE_BY_MOVE = "kluss", "pessimistic"
EXPLORING = 0.4  # share of the start clock
BUILDING = 0.7  # share of the start clock for building a factored form, which is then solved in seconds
MARGIN = 0.9  # share of the start clock; the rest is for what cannot be interrupted
AUTO = ("tree", "public", "sampling")
"""The methods that the agent tries on its own, in this order."""
READ_BY: dict[str, tuple[str, ...]] = {
    "iterations": ("auto", "sampling"),
    "worlds": (KLUSS, PER_WORLD),
    "steps": (PER_WORLD, PESSIMISTIC),
}
"""The methods that use an option, for each option that other methods ignore."""
SECONDS_AN_EDGE = 1e-5  # time to compute the values of all positions
SECONDS_A_SET = 8e-6  # time to make a policy of a sampled strategy
SLICE = 1.0  # seconds of sampling between two checks of the number of information sets
CLOSE = 2e-5  # relative to the payoffs' range: an exploitability that is low enough to stop


@dataclass(frozen=True)
class Search:
    """Any game: solved before it begins, or searched move by move."""

    method: str = "auto"
    """``tree``, ``public`` or ``sampling`` instead of its own choice; ``kluss``: subgames, solved at every move;
    ``per-world``: where the positions are known, each world by itself (Partridge & Thielscher 2022, 3.3);
    ``pessimistic``: scenarios in which the others play the worst of a few alternatives at every step (Osogami &
    Takahashi 2019)."""
    exploit: str = ""
    """An agent assumed as the opponents' model (``random``, ``meier`` …): a best response to it is then played.  Empty:
    an equilibrium is played (the sound mode)."""
    seconds: float = 10.0
    """Time to prepare, used where the match has no start clock."""
    seconds_per_move: float = 1.0
    """Time to search at a move, used where the match has no clock for moves."""
    iterations: int = 0
    """Iterations of sampling, instead of a clock: runs are then exactly repeatable.  0: as many as the clock allows."""
    max_histories: int = sizes.SEARCHED_WHOLE
    """The largest tree that is solved as a whole."""
    nodes: int = 0
    """Number of leaves to evaluate at a move where a game has too many positions, instead of a clock: games are then
    exactly repeatable.  0: as many as the clock allows."""
    worlds: int = 20
    """Number of worlds drawn at each move by ``kluss`` and ``per-world``."""
    steps: int = 0
    """How many steps a scenario of ``pessimistic`` looks ahead, by default ten, or ``per-world`` at most, by default as
    many as the effort allows."""
    seed: int = 0
    """For sampling before the game, and for the worlds drawn at each move."""

    def __post_init__(self) -> None:
        check_choice("method", self.method, ("auto", *WAYS, *MOVE_BY_MOVE))
        check_range("iterations", self.iterations, 0, 2**31)
        check_range("max_histories", self.max_histories, 1, 2**31)
        check_range("nodes", self.nodes, 0, 2**31)
        check_range("worlds", self.worlds, 1, 100_000)
        check_range("steps", self.steps, 0, MOST_STEPS if self.method == PER_WORLD else LONGEST_SCENARIO)
        check_range("seed", self.seed, 0, 2**31)
        for option, methods in READ_BY.items():
            if self.method not in methods and (value := getattr(self, option)) != getattr(Search, option):
                raise ParameterError(
                    f"search: {option}={value} is not used by method={self.method}; it is for {', '.join(methods)}"
                )

    def agent(self) -> SearchAgent:
        """Return the agent."""
        return SearchAgent(self)


class SearchAgent(Delegating):
    """The agent ``search``: it plays the policy that it planned, or searches move by move."""

    def __init__(self, parameters: Search | None = None) -> None:
        self.parameters = parameters or Search()
        self.name = "search"
        self.plan = ""
        self.planned: dict[tuple[str, int], tuple[Agent, str]] = {}
        self.inner: Agent = RandomAgent()
        ready("search")

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        key = game.name, player if self.parameters.exploit else 0
        if key not in self.planned:
            self.planned[key] = _Planner(game, player, self.parameters, deadline).plan()
        self.inner, self.plan = self.planned[key]
        self.inner.begin(game, player, rng, deadline)

    def report_probabilities(self, legal_actions: tuple[Action, ...]) -> Sequence[float]:
        """Return its move probabilities.  Raises ``UnsupportedGameError`` where it searches move by move."""
        report_probabilities = getattr(self.inner, "report_probabilities", None)
        if report_probabilities is None:
            raise UnsupportedGameError(f"{self.name} does not report its action probabilities: {self.plan}")
        found: Sequence[float] = report_probabilities(legal_actions)
        return found


class _Planner:
    """The choice of a method, and its work within the clock."""

    def __init__(self, game: Game, player: int, parameters: Search, deadline: float | None) -> None:
        self.game, self.parameters = game, parameters
        self.player = player
        self.model = model_of(game, parameters.exploit) if parameters.exploit else None
        self.oracle = response_to(self.model, player) if self.model else None
        self.began = time.monotonic()
        self.clock = MARGIN * (parameters.seconds if deadline is None else max(deadline - self.began, 0.0))

    def plan(self) -> tuple[Agent, str]:
        """Return an agent, and a line on its method and the reason for it."""
        method = self.parameters.method
        if method in MOVE_BY_MOVE:
            return self._move_by_move("as asked")
        if method == "auto" and self.model is None and isinstance(self.game, (Factored, CardGame)):
            with suppress(BudgetError, UnsupportedGameError):
                return self._factored() if isinstance(self.game, Factored) else self._vector()
        compiled = Compiled(self.game, self.parameters.max_histories, self._until(EXPLORING))
        try:
            compiled.graph  # noqa: B018  # enumerates the positions
        except (BudgetError, GameRuleError, UnsupportedGameError) as error:
            return self._move_by_move(f"the positions are too many: {error}")
        compiled.progress = None  # what follows has clocks of its own
        reasons = []
        for name in AUTO if method == "auto" else [method]:
            try:
                return WAYS[name](self, compiled)
            except (BudgetError, GameRuleError) as error:
                reasons.append(str(error))
        return self._move_by_move("; ".join(reasons))

    def _left(self) -> float:
        return self.began + self.clock - time.monotonic()

    def _until(self, share: float) -> Clock:
        end = self.began + share * self.clock
        return Clock(end, lambda k: f"{k:,} found in {share:.0%} of the start clock, and there are more")

    def _factored(self) -> tuple[Agent, str]:
        """Solve products of the players' private information, where there are too many histories for a tree."""
        compiled = Compiled(self.game, self.parameters.max_histories, self._until(BUILDING))
        rules = compiled.factored_rules
        if (histories := rules.sizes.histories) <= compiled.limit:
            raise BudgetError("its tree fits")
        agent, figures = self._solved(compiled, for_products(rules.dealt), "factored")
        return agent, f"factored: {histories:,.0f} histories in factored form; {figures}"

    def _vector(self) -> tuple[Agent, str]:
        """Solve the public tree with all hands at once, where there are too many histories for a tree."""
        compiled = Compiled(self.game, self.parameters.max_histories, self._until(BUILDING))
        if compiled.fits():
            raise BudgetError("its tree fits")
        method = for_hands()
        job = method.job(compiled, SolveConfig(form="vector"))
        form = compiled.vector
        advance(job, Limits(target=CLOSE * form.payoff_range, seconds=max(self._left(), 0.05)), Watcher())
        policy, found = job.policy(), job.evaluation()
        assert policy is not None and found is not None
        figures = f"{job.iteration:,} iterations of {method.name}, exploitability {found.exploitability:.3g}"
        return PolicyAgent(policy.on(compiled), "search"), f"vector: {form.num_histories:,.0f} histories; {figures}"

    def _solved(self, compiled: Compiled, method: TabularMethod, form: str) -> tuple[Agent, str]:
        """Solve by a method on one form of the game; return the agent that plays the policy, and its figures."""
        solver = method.job(compiled, SolveConfig(form=form))
        advance(solver, Limits(target=CLOSE * solver.form.widest_range, seconds=max(self._left(), 0.05)), Watcher())
        policy = solver.policy()
        assert policy is not None
        return PolicyAgent(FactoredPlay(policy) if isinstance(policy, FactoredPolicy) else policy, "search"), (
            f"{solver.iteration:,} iterations of {solver.name}, exploitability {solver.evaluation().exploitability:.3g}"
        )

    def _tree(self, compiled: Compiled) -> tuple[Agent, str]:
        histories = compiled.histories
        if not compiled.fits():
            raise BudgetError(f"{histories:.2g} histories are more than {compiled.limit:,}")
        if self.oracle:
            policy = TabularPolicy.from_plan(compiled.form, self.oracle(compiled.tree, compiled.form))
            return PolicyAgent(policy, "search"), f"tree: a best response to {self.parameters.exploit}"
        agent, figures = self._solved(compiled, pcfr_plus(), "tree")
        return agent, f"tree: all {histories:,.0f} histories fit; {figures}"

    def _public(self, compiled: Compiled) -> tuple[Agent, str]:
        graph = compiled.graph
        if len(public_positions(graph)) < 2:
            raise BudgetError("only the start is common knowledge")
        solution = solve_public(graph, self.oracle, compiled.max_histories)
        values = ", ".join(f"{value:.6g}" for value in solution.values)
        how = f"answered best to {self.parameters.exploit}" if self.oracle else "solved"
        policy = solution.policy()
        assert policy is not None
        return PolicyAgent(PublicPlay(policy, graph), "search"), (
            f"public: {solution.total} public positions; their subgames are {how}, values {values}"
        )

    def _sampling(self, compiled: Compiled) -> tuple[Agent, str]:
        if self.model:
            return self._answer(compiled, self.model)
        graph, walk = compiled.graph, compiled.walk
        solver = PooledMccfr(partial(Mccfr, walk), self.parameters.seed)
        self._sample(solver)
        equal = f" ({walk.group.order} symmetries)" if walk.group.order > 1 else ""
        return PolicyAgent(QuotientPolicy(graph, walk, solver.policy(RARE)), "search"), (
            f"sampling: {len(graph.player):,} positions fit{equal}, their histories do not; {solver.iteration:,} "
            f"iterations of external sampling met {solver.num_infosets:,} information sets"
        )

    def _answer(self, compiled: Compiled, model: Model) -> tuple[Agent, str]:
        """Return a best response to the model, learnt from plays."""
        graph = compiled.graph
        walk = compiled.walk if model is uniform else compiled.plain_walk  # a model may be less symmetric than the game
        numbered = None if model is uniform else by_number(model, graph)
        solver = SampledResponse(walk, self.player, numbered, self.parameters.seed)
        self._sample(solver)
        return PolicyAgent(QuotientPolicy(graph, walk, solver.policy()), "search"), (
            f"sampling: {len(graph.player):,} positions fit, their histories do not; {solver.iteration:,} plays "
            f"against {self.parameters.exploit} met {solver.num_infosets:,} information sets"
        )

    def _sample(self, solver: PooledMccfr | SampledResponse) -> None:
        """Sample for the iterations asked for, or for as long as the clock allows."""
        if self.parameters.iterations:
            solver.step(self.parameters.iterations)
        while not self.parameters.iterations and (left := self._left() - SECONDS_A_SET * solver.num_infosets) > 0:
            solver.run(None, min(left, SLICE))
        if not solver.iteration:
            raise BudgetError("no time is left for one iteration of sampling")

    def _per_world(self, compiled: Compiled) -> tuple[Agent, str]:
        """Prepare to solve each world by itself at every move, as asked."""
        if self.oracle:
            return self._move_by_move("worlds are solved one by one")  # raises an error
        p, graph = self.parameters, compiled.graph
        hurried = self._left() < SECONDS_AN_EDGE * len(graph.child)
        values = (random_values(graph) if hurried else informed_values(graph)).__getitem__
        effort = Effort(sets=p.worlds, steps=p.steps or MOST_STEPS)
        solver = SubgameSolver(BeliefTracker(graph, seed=p.seed), values, PER_WORLD, effort)
        return SubgameSearch(solver, p.seconds_per_move), f"{PER_WORLD}: on {len(graph.player):,} positions, as asked"

    def _move_by_move(self, why: str) -> tuple[Agent, str]:
        p = self.parameters
        if self.oracle:  # the two modes are never mixed
            raise UnsupportedGameError(f"{self.game.name}: no exact answer to {p.exploit}, because {why}")
        agent: GraphAgent
        if p.method == PESSIMISTIC:
            agent = Pessimistic(p.seconds_per_move, p.nodes, seed=p.seed, steps=p.steps or Pessimistic.steps).agent()
            return agent, f"{PESSIMISTIC}: scenarios move by move, {why}"
        if p.method == KLUSS:
            kluss = Kluss(p.seconds_per_move, p.nodes, seed=p.seed, worlds=p.worlds)
            return kluss.agent(), f"{KLUSS}: subgames move by move, {why}"
        if getattr(self.game, "everybody_sees", False):
            uct = Uct(p.seconds_per_move, p.nodes, seed=p.seed)
            return uct.agent(), f"uct: everybody sees everything; searched move by move, because {why}"
        mcts = IsMcts(p.seconds_per_move, p.nodes, seed=p.seed)
        return mcts.agent(), f"is-mcts: searched move by move, because {why}"


WAYS: dict[str, Callable[[_Planner, Compiled], tuple[Agent, str]]] = {
    "tree": _Planner._tree,
    "public": _Planner._public,
    "sampling": _Planner._sampling,
    PER_WORLD: _Planner._per_world,
}
"""The methods for games whose positions are known: each returns an agent, and a line on the reason for it."""
