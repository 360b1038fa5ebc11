"""Evaluation of policies of any kind, agents, functions and uniform play: values, best responses and exploitability.

Figures are exact where the tree, the public subgames, or the information states of a sampled policy fit; otherwise a
best response is learnt and played, which bounds the exploitability from below, with its interval and the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from infoset import sizes, status
from infoset.arguments import checks_arguments
from infoset.base import Agent, FloatArray, Policy, ProbabilisticAgent
from infoset.catalog import POLICIES, load
from infoset.compiled import AnyGame, Compiled
from infoset.errors import BudgetError, ClockError, ImperfectRecallError, ParameterError, UnsupportedGameError, shorten
from infoset.executors import LOCAL, Where, check_executor, send
from infoset.executors import executor as open_executor
from infoset.files import check_file
from infoset.match.agents import PolicyAgent, agent_name, check_agent, check_named, load_agent
from infoset.names import MAX_COUNT, action_names, check_number, check_range
from infoset.policies.asking import ask_factored, ask_on_tree, plan_on_tree
from infoset.policies.belief_policy import BeliefPlay
from infoset.policies.correlated_policy import CorrelatedPlay
from infoset.policies.factored_policy import FactoredPlay, FactoredPolicy, uniform_behaviour
from infoset.policies.infoset_policy import InfosetPolicy
from infoset.policies.joint_policy import JointPolicy
from infoset.policies.loading import SavedPolicy, load_policy, policy_file
from infoset.policies.public_policy import PublicPlay
from infoset.policies.sampled_policy import QuotientPolicy, SampledPolicy
from infoset.policies.simple import AskedPolicy, FunctionPolicy, UniformPolicy
from infoset.policies.stage_policy import StagePlay
from infoset.policies.tabular import TabularPolicy
from infoset.policies.vector_policy import VectorPlay, rows_of
from infoset.search.asked_agent import ReportedRows, ask_agent
from infoset.search.learnt_response import lower_bound
from infoset.solvers.intervals import estimate
from infoset.solvers.job import Background
from infoset.solvers.metrics import Evaluation, best_behaviour, best_responses, evaluate_images, evaluate_plan
from infoset.solvers.sampling.belief_response import EDGES_A_STEP, BeliefResponse, PolicyEvaluation
from infoset.solvers.tabular.correlated import CorrelatedPlan
from infoset.solvers.tabular.public_subgames import evaluate_public
from infoset.solvers.tabular.stages import evaluate_stages
from infoset.solvers.teams.belief_passes import evaluate_beliefs
from infoset.solvers.teams.team_maxmin import evaluate_lotteries
from infoset.tree.graph import TERMINAL
from infoset.tree.plans import realisation
from infoset.tree.quotient_graph import QuotientGraph
from infoset.tree.sequence_form import SequenceForm
from infoset.tree.vector_values import Walker, exact_figures

if TYPE_CHECKING:
    from infoset.solvers.tabular.refinements import ProfileCheck

What: TypeAlias = "str | Policy | SavedPolicy | Agent | FloatArray | Callable[..., Any]"
"""Anything that plays: a name or file, a policy, an agent, realisation weights, a function."""

MOST_SECONDS = 1e9
MOST_SAMPLES = 10**6
MAX_WORKERS = 256
SECONDS = 10.0  # the default time to learn responses


@checks_arguments
def evaluate(
    game: AnyGame,
    what: What,
    *,
    max_histories: int | None = None,
    respond: bool = False,
    seconds: float | None = None,
    samples: int | None = None,
    calls: int | None = None,
    answers: str | Path | None = None,
    workers: int = 1,
    seed: int = 0,
    executor: Where = LOCAL,
    progress: Callable[[int], object] | None = None,
    keep: Callable[[PolicyEvaluation], object] | None = None,
) -> Evaluation:
    """Evaluate ``what`` as everybody's strategy in ``game``: expected payoffs, best responses and their gains.

    ``what``: the name of an agent (``"random"``, ``"search(method=tree)"``), of a policy's file or of a run's folder; a
    policy, also one of OpenSpiel; an agent; realisation weights (S,); or a function of an information set's key and
    moves.  With ``respond`` the best responses are also returned as a policy, ``best_response``.

    The figures are exact where the game's tree fits (at most ``max_histories``), its public subgames fit, or the policy
    was sampled.  Otherwise, or for an agent that does not report its probabilities, each player's best response is
    learnt for ``seconds`` and then played, by ``seed``: ``exact`` is false, the gains are lower bounds, and ``reason``
    says why.  Where the positions do not fit either, the response to a policy is local (Lisý & Bowling 2017): it knows
    the policy and the range that follows from it, and moves by random playouts.

    With ``samples`` an agent that does not report its probabilities is asked so often at each information set with a
    choice, at most ``calls`` times in total, and ``intervals`` are 95 % confidence intervals of the exact figures
    (``solvers.intervals``), which cover the error of sampling and everything that could be played at sets that were not
    asked; ``reason`` says what was asked.  A faulty answer counts as what the referee plays instead.  The file
    ``answers`` keeps all answers: a later call asks only what is missing there.  Ctrl-C ends the asking, not the
    evaluation.  Raises ``ParameterError`` where the probabilities are known, ``BudgetError`` where the tree does not
    fit, and ``RemoteError`` where no answer comes.

    An agent that reports its probabilities is asked once at every information set, by ``workers`` processes (for a game
    and an agent given by name), and ``answers`` keeps its rows in the same way; Ctrl-C then ends the evaluation.

    ``executor`` says where the best responses to a sampled policy are computed, a task for each player, if not in
    threads of this process; ``ParameterError`` for an evaluation that has no such tasks.

    Where a player has imperfect recall, its best response is not computed: only ``values`` are exact then.

    Raises what ``load`` and ``load_agent`` raise, and ``PolicyError`` for a policy of another game.

    Exact figures by one pass over the sequence form for each player (Johanson et al. 2011).

    >>> round(infoset.evaluate("kuhn_poker", "random").exploitability, 6)       # 11/24
    0.458333
    >>> infoset.evaluate("kuhn_poker", lambda key, actions: {actions[0]: 1.0}).values
    (0.0, 0.0)
    """
    check_executor(executor)
    if seconds is not None:
        check_number("seconds", seconds, 0.0, MOST_SECONDS)
    check_range("seed", seed, 0, 2**63)
    check_range("workers", workers, 1, MAX_WORKERS)
    _check_asking(samples, calls, answers, workers, respond or seconds is not None or executor != LOCAL)
    compiled = Compiled.of(game, max_histories, progress)
    if samples is not None:
        return _estimated(what, compiled, samples, calls, seed, None if answers is None else Path(answers))
    if recorded := workers > 1 or answers is not None:
        if executor != LOCAL:
            raise ParameterError("executor would not be used with answers or workers; leave it out")
        what = _make_reported_rows(what, compiled, game, workers, None if answers is None else Path(answers))
    if executor != LOCAL:
        return _shared(what, compiled, respond, executor)
    if isinstance(what, np.ndarray):
        return _on_tree(compiled.form, np.asarray(what, dtype=np.float64), respond)
    learn_for = SECONDS if seconds is None else seconds
    policy = _chosen(what, compiled)
    if not isinstance(policy, Policy):
        if hasattr(policy, "asked_as"):  # thousands of games against a model would be played
            raise ParameterError(
                f"{agent_name(policy)} does not report its action probabilities; say how often it is asked at each "
                "information set: samples=100 (--samples 100)"
            )
        missing = "does not report its action probabilities (a method report_probabilities(legal_actions))"
        why = f"{agent_name(policy)} {missing}, so it is played against"
        return lower_bound(compiled, policy, learn_for, seed, why)
    try:
        return _exactly(policy, compiled, respond, keep)
    except ClockError:  # raised by the caller's own clock
        raise
    except BudgetError as error:
        if recorded:  # what was asked for needs a list of all information sets
            raise
        return lower_bound(compiled, policy, learn_for, seed, str(error))


def _check_asking(
    samples: int | None, calls: int | None, answers: str | Path | None, workers: int, others: bool
) -> None:
    """Raise ``ParameterError`` for numbers out of range, and for what needs ``samples``, or does not go with it."""
    if answers is not None:
        check_file(Path(answers))
    if samples is None:
        if calls is not None:
            raise ParameterError("calls would not be used: it belongs to samples")
        return
    if others or workers > 1:
        raise ParameterError(
            "best responses, seconds, workers and an executor would not be used with samples; leave them out"
        )
    check_range("samples", samples, 1, MOST_SAMPLES)
    if calls is not None:
        check_range("calls", calls, 1, MAX_COUNT)


def _make_reported_rows(
    what: What, compiled: Compiled, game: AnyGame, workers: int, answers: Path | None
) -> ReportedRows:
    """Make a policy of an agent that reports its probabilities: it is asked by processes, a file keeps its rows.

    Raises ``ParameterError`` for anything else, and for processes that could not make the game or the agent.
    """
    policy = None if isinstance(what, np.ndarray) else _chosen(what, compiled)
    if not isinstance(policy, AskedPolicy):
        raise ParameterError(
            "answers and workers would not be used: they are for agents that report their action probabilities, and "
            "answers also belongs to samples"
        )
    named = isinstance(what, str) and isinstance(game, str | Compiled)
    if workers > 1 and not named:
        raise ParameterError(
            f"workers={workers}: give the game and the agent by name, for other processes to make them"
        )
    name = what if isinstance(what, str) else agent_name(policy.agent)
    return ReportedRows(policy.game, policy.agent, name, workers, answers)


def _estimated(
    what: What, compiled: Compiled, samples: int, calls: int | None, seed: int, answers: Path | None
) -> Evaluation:
    """Evaluate an agent by its answers at the information sets."""
    agent = None if isinstance(what, np.ndarray) else _chosen(what, compiled)
    if agent is None or isinstance(agent, Policy):
        raise ParameterError("samples: the probabilities are known and the figures exact; leave it out")
    name = what if isinstance(what, str) else agent_name(agent)
    form, tree = compiled.form, compiled.tree
    asked = ask_agent(compiled, agent, name, samples, calls, seed, answers)
    counts = np.array([len(drawn) for drawn in asked.draws])
    parts = [
        f"estimated from {counts.sum():,} answers: {(counts >= samples).sum():,} of {len(counts):,} information sets "
        f"were asked {samples:,} times"
    ]
    if fewer := int(((counts > 0) & (counts < samples)).sum()):
        parts.append(f"{fewer:,} less often")
    if missing := int((counts == 0).sum()):
        parts.append(f"{missing:,} not at all, where anything may be played")
    if asked.problems:
        faulty = f"{asked.problems:,} faulty answer{'s' * (asked.problems > 1)}"
        parts.append(f"{faulty} replaced by what the referee plays then, the first: {asked.example}")
    if asked.stopped == "interrupted":
        parts.append("interrupted")
    with status.during("computing intervals"):
        return replace(estimate(form, tree, asked.draws), reason="; ".join(parts))


def _drawn_together(policy: CorrelatedPlay | BeliefPlay, compiled: Compiled, respond: bool) -> Evaluation:
    """Evaluate teams that draw plans, or a mediator.  Raises ``ParameterError`` where responses are asked for."""
    if respond:
        raise ParameterError(
            "respond: a best response to a distribution over plans is a plan, not a behavioural strategy"
        )
    form = compiled.form
    if isinstance(policy, CorrelatedPlay) and len(policy.policy.lotteries) == 1:
        return CorrelatedPlan.drawn(form, policy.policy).evaluation()
    with status.during("looking for the teams' best answers"):
        looking = Background(
            lambda: (
                evaluate_beliefs(form, policy.policy)
                if isinstance(policy, BeliefPlay)
                else evaluate_lotteries(form, policy.policy)
            )
        )
        looking.wait()  # so that Ctrl-C interrupts it
        return looking.result


def _shared(what: What, compiled: Compiled, respond: bool, where: Where) -> Evaluation:
    """Evaluate as ``_on_walk`` does, but elsewhere.  Raises ``ParameterError`` for work without independent parts."""
    policy = None if isinstance(what, np.ndarray) else _chosen(what, compiled)
    if not isinstance(policy, Policy) or _tree_first(policy, compiled) or isinstance(policy, PublicPlay | StagePlay):
        raise ParameterError("executor: only the evaluation of a sampled policy of a large game can be distributed")
    work = _responses(policy, compiled, respond)
    with open_executor(where, len(work.responses)) as opened:
        table = send(opened, work.policy)
        parts = [
            opened.submit(respond_to, compiled.name, table, player, respond) for player in range(len(work.responses))
        ]
        for response, part in zip(work.responses, parts, strict=True):
            response.restore(part.result())
    return _responded(work, compiled, respond)


def _exactly(
    policy: Policy, compiled: Compiled, respond: bool, keep: Callable[[PolicyEvaluation], object] | None
) -> Evaluation:  # fmt: skip
    """Evaluate on the first form of the game that fits.  Raises ``BudgetError`` where none does."""
    if isinstance(policy, PublicPlay | StagePlay | CorrelatedPlay | BeliefPlay):
        return _on_own_form(policy, compiled, respond)
    if isinstance(policy, VectorPlay) or (not isinstance(policy, QuotientPolicy) and compiled.better_in_vector_form):
        return _on_vector(policy, compiled, respond)
    if _factored_first(policy, compiled):
        return _on_factored(policy, compiled, respond)
    if not _tree_first(policy, compiled):
        return _on_walk(policy, compiled, respond, keep)
    return _on_lists(policy, compiled, respond)


def _on_own_form(
    policy: PublicPlay | StagePlay | CorrelatedPlay | BeliefPlay, compiled: Compiled, respond: bool
) -> Evaluation:
    """Evaluate on the form on which alone the policy was made."""
    if isinstance(policy, PublicPlay):
        return evaluate_public(policy.policy, policy.graph, respond)
    if isinstance(policy, CorrelatedPlay | BeliefPlay):
        return _drawn_together(policy, compiled, respond)
    if respond:
        raise ParameterError("respond: best responses are not kept for stages; leave it out")
    with status.during("evaluating exactly"):
        return evaluate_stages(policy)


def _on_lists(policy: Policy, compiled: Compiled, respond: bool) -> Evaluation:
    """Evaluate on the tree, or where that does not fit on the factored form.

    Raises ``BudgetError`` where neither fits.
    """
    if compiled.works_factored:
        return _on_factored(policy, compiled, respond)
    try:
        form = compiled.form
    except ImperfectRecallError as error:
        return _values_alone(policy, compiled, str(error))
    return _on_tree(form, plan_of(policy, compiled, form), respond)


def policy_of(what: What, compiled: Compiled) -> Policy:
    """Return anything that plays as a policy on a game.

    Raises as ``evaluate`` does, and ``UnsupportedGameError`` for an agent that does not report its probabilities.
    """
    found = _chosen(what, compiled)
    return found if isinstance(found, Policy) else AskedPolicy(compiled.game, found)


def _chosen(what: What, compiled: Compiled) -> Policy | Agent:
    """Return what ``policy_of`` returns, but an agent unchanged where it does not report its probabilities."""
    if isinstance(what, str):
        what = UniformPolicy() if what == "random" else _named(what)
    if isinstance(what, SavedPolicy):
        return what.on(compiled)
    for kind in type(what).__mro__:
        if (library := kind.__module__.partition(".")[0]) in POLICIES:
            converted: Policy = POLICIES[library](what, compiled)
            return converted
    if isinstance(what, Policy):
        return what
    if isinstance(what, Agent):
        return AskedPolicy(compiled.game, what) if isinstance(what, ProbabilisticAgent) else what
    if callable(what):
        return FunctionPolicy(what, compiled.map_name)
    raise ParameterError(f"{shorten(repr(what))} is not a policy, an agent or a function")


MANY = "where thousands of games are played"


def check_what(name: str) -> str | SavedPolicy:
    """Return the policy of a file, or the name of an agent; raise the errors of a wrong name before any long work."""
    if policy_file(name) is not None:
        return load_policy(name)
    if name != "random":
        check_agent(name)
        check_named(name, MANY)
    return name


def _named(name: str) -> SavedPolicy | Agent:
    if policy_file(name) is not None:
        return load_policy(name)
    check_named(name, MANY)
    agent = load_agent(name)
    plays = agent.policy if isinstance(agent, PolicyAgent) else None
    return plays if isinstance(plays, SavedPolicy) else agent


def plan_of(policy: Policy, compiled: Compiled, form: SequenceForm) -> FloatArray:
    """Return the realisation weights (S,) of a policy on the tree; it is queried at every information set."""
    if isinstance(policy, TabularPolicy):
        return policy.plan(form)
    if compiled.only_form and isinstance(policy, FunctionPolicy):  # a function needs keys alone, not the game
        return TabularPolicy.from_function(form, policy.choose).plan(form)
    if isinstance(policy, QuotientPolicy):
        return policy.plan(compiled.tree, form)
    return plan_on_tree(policy, compiled.tree, form)


def tabulated(game: AnyGame, what: What, max_histories: int | None = None) -> TabularPolicy:
    """Return anything that plays as a table with readable keys.

    Raises as ``evaluate`` does, and ``BudgetError`` where the tree does not fit.

    >>> from infoset.evaluation import tabulated
    >>> tabulated("kuhn_poker", "random").probabilities(0, "J")
    {'pass': 0.5, 'bet': 0.5}
    """
    compiled = Compiled.of(game, max_histories)
    policy = policy_of(what, compiled)
    if isinstance(policy, TabularPolicy):
        return policy
    made_by = what.made_by if isinstance(what, SavedPolicy) else {"method": what if isinstance(what, str) else "given"}
    tree = compiled.tree
    tables: tuple[dict[str, dict[str, float]], ...] = tuple({} for _ in tree.players)
    infosets = [k for k in range(len(tree.infoset_player)) if len(tree.action_set(k)) > 1]
    found, begin = ask_on_tree(policy, tree, np.array(infosets, dtype=np.int32)).tolist(), 0
    for infoset in infosets:
        words = action_names(tree.action_set(infoset))
        row = dict(zip(words, found[begin : begin + len(words)], strict=True))
        tables[int(tree.infoset_player[infoset])][tree.key(infoset)] = row
        begin += len(words)
    return TabularPolicy(tree.name, tree.players, tables, tree.graph.map_name, dict(made_by))


def _tree_first(policy: Policy, compiled: Compiled) -> bool:
    """Return whether to evaluate on the tree, and not on the information states that the policy has."""
    if isinstance(policy, QuotientPolicy):
        return compiled.histories <= min(compiled.limit, sizes.SAMPLES_EVALUATED)
    return compiled.only_form or not (isinstance(policy, UniformPolicy) and compiled.histories > compiled.limit)


def _factored_first(policy: Policy, compiled: Compiled) -> bool:
    """Return whether to evaluate on the factored form: where the tree would be large."""
    if compiled.made_whole or isinstance(policy, QuotientPolicy):
        return False
    return isinstance(policy, FactoredPlay) or compiled.better_factored


def _on_factored(policy: Policy, compiled: Compiled, respond: bool) -> Evaluation:
    """Evaluate over symmetries where the policy respects them; else query it at every information state."""
    factored, strategy = compiled.factored, None
    if isinstance(policy, FactoredPlay):
        strategy = policy.behaviour(factored)
    elif isinstance(policy, UniformPolicy):
        strategy = uniform_behaviour(factored)
    if strategy is None and not respond:
        factored = compiled.factored_images
        probabilities = ask_factored(policy, factored)
        with status.during("evaluating exactly"):
            return evaluate_images(factored, probabilities)
    if strategy is None:
        factored = compiled.plain_factored
        strategy = ask_factored(policy, factored)[:, 0]
    plan = realisation(factored.form, strategy)
    with status.during("evaluating exactly"):
        found = evaluate_plan(factored.form, plan)
    if not respond:
        return found
    best = best_behaviour(factored.form, plan)
    return replace(found, best_response=FactoredPolicy.of(factored, best, {"method": "best-response"}))


def _on_vector(policy: Policy, compiled: Compiled, respond: bool) -> Evaluation:
    """Evaluate on the vector form: without isomorphism of the suits where the policy need not respect it."""
    if respond:
        raise ParameterError("respond: best responses are not kept in vector form; leave it out")
    form, rows = rows_of(policy, compiled)
    with status.during("evaluating exactly"):
        found = exact_figures(Walker(form, np.float64), rows)
    return Evaluation.of(found.values, found.responses)


def _on_tree(form: SequenceForm, plan: FloatArray, respond: bool) -> Evaluation:
    found = evaluate_plan(form, plan)
    if not respond:
        return found
    return replace(found, best_response=best_responses(form, plan))


def _on_walk(
    policy: Policy, compiled: Compiled, respond: bool, keep: Callable[[PolicyEvaluation], object] | None
) -> Evaluation:  # fmt: skip
    """Evaluate by beliefs, without listing histories (``belief_response``)."""
    work = _responses(policy, compiled, respond)
    with status.during("evaluating exactly"):
        if keep is not None:
            keep(work)
        while not work.step():
            status.detail(f"evaluating exactly, {work.share:.1%} done")
            if keep is not None:
                keep(work)
    return _responded(work, compiled, respond)


def _responses(policy: Policy, compiled: Compiled, respond: bool) -> PolicyEvaluation:
    walk = policy.walk if isinstance(policy, QuotientPolicy) else compiled.walk
    table = policy.policy if isinstance(policy, QuotientPolicy) else InfosetPolicy.unknown(walk)
    return PolicyEvaluation(walk, table, record=respond)


def _responded(work: PolicyEvaluation, compiled: Compiled, respond: bool) -> Evaluation:
    if not respond:
        return work.result
    best = SampledPolicy.of(compiled.name, work.walk, work.best, {"method": "best-response"})
    return replace(work.result, best_response=best)


@lru_cache(maxsize=1)
def _walk(game: str) -> QuotientGraph:
    return Compiled.of(load(game)).walk


def respond_to(game: str, policy: InfosetPolicy, player: int, record: bool) -> dict[str, Any]:
    """Compute a player's best response in any process, and return it as ``BeliefResponse`` saves it."""
    response = BeliefResponse(_walk(game), policy, player, record)
    while not response.step(EDGES_A_STEP):
        pass
    return response.save()


def _values_alone(policy: Policy, compiled: Compiled, reason: str) -> Evaluation:
    """Return the expected payoffs alone, by the probabilities of all histories, for a game of imperfect recall."""
    tree, graph = compiled.tree, compiled.tree.graph
    infosets = np.arange(len(tree.infoset_player), dtype=np.int32)
    found = ask_on_tree(policy, tree, infosets)
    begin = np.cumsum([0, *[len(tree.action_set(infoset)) for infoset in infosets.tolist()]])
    reach = np.ones(len(tree.parent))
    chance = graph.probability[tree.edges(np.arange(1, len(tree.parent), dtype=np.int32))]
    for node in range(1, len(tree.parent)):
        above = int(tree.parent[node])
        infoset = int(tree.infoset[above])
        action = node - int(tree.first_child[above])
        reach[node] = reach[above] * (found[begin[infoset] + action] if infoset >= 0 else chance[node - 1])
    ends = np.flatnonzero(graph.player[tree.position] == TERMINAL)
    values = reach[ends] @ graph.payoffs[graph.content[tree.position[ends]]]
    nan = float("nan")
    return replace(
        Evaluation.of(values, values), nash_conv=nan, exploitability=nan, epsilon=nan,
        best_response_values=(nan,) * len(values), reason=f"values alone: {reason}",
    )  # fmt: skip


@checks_arguments
def check_profile(game: AnyGame, what: What, max_histories: int | None = None) -> ProfileCheck:
    """Check which of five solution concepts a strategy of all players (whatever ``evaluate`` takes) satisfies.

    Gains below 1e-6 of the payoff range do not count.  With more than two players, beliefs at sets that are never
    reached are not decided.  Raises ``BudgetError`` for a game whose tree does not fit, ``UnsupportedGameError`` for
    plans that are drawn for several players together.

    >>> print(infoset.check_profile("rock_paper_scissors", "random"))
    Nash              yes        no player gains more than 0
    subgame-perfect   yes        no subgame but the game itself
    undominated       yes
    sequential        yes
    quasi-perfect     yes
    """
    from infoset.solvers.tabular.refinements import check_strategy  # brings SciPy

    compiled = Compiled.of(game, max_histories)
    form = compiled.form
    what = check_what(what) if isinstance(what, str) else what
    if isinstance(what, JointPolicy):
        raise UnsupportedGameError(f"{what.about}; these concepts need players who choose independently. Try evaluate")
    return check_strategy(form, compiled.tree, tabulated(compiled, what).behaviour(form))
