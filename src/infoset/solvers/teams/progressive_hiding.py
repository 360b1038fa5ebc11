"""Progressive hiding (Heymann & Lanctot, Algorithm 2): teams learn with more information than they have, at a price.

A team is treated as one player without perfect recall.  It learns on a *relaxed* map, finer than the true one, and pays
``penalty`` times the squared distance between its policy and the projection of that onto the true map (eq. 4).  The
result is the projection, which never uses more information than the rules allow, whatever the penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.errors import ParameterError
from infoset.jit import checked_kernel, inline_kernel, kernel, with_piece
from infoset.names import check_choice, check_number, check_range
from infoset.policies.tabular import TabularPolicy
from infoset.randomness import next_word
from infoset.solvers.job import Limits, MultiStart, RunInSeries, Watcher, advance
from infoset.solvers.tabular import cfr, updates
from infoset.solvers.tabular.loop import Method, running_own, schedule_rows
from infoset.solvers.teams.hidden_game import (
    MOST_TRAININGS,
    NOBODY,
    HiddenGame,
    HidingArrays,
    expected,
    project,
    spread,
    spread_outside,
)

WIDEST = 1000.0
"""The largest factor by which a balanced penalty departs from its start, either way."""


class HidingState(NamedTuple):
    """The mutable state of a training."""

    policy: FloatArray  # (F,) relaxed policy
    projected: FloatArray  # (C,) its projection
    best: FloatArray  # (C,) the best projection so far, by the first team's payoff
    record: FloatArray  # (1,) that payoff
    memory: FloatArray  # (m, F) what the local updates keep
    scale: FloatArray  # (1,) the factor of the penalties
    reach: FloatArray  # (N,) scratch
    value: FloatArray  # (N,) scratch
    rewards: FloatArray  # (F,) scratch
    mass: FloatArray  # (relaxed sets + true sets,) scratch


@kernel
def back_up(a, s, team, penalty):
    """Compute the values (N,) of all nodes for a team, less the penalties at its own later nodes."""
    for v in range(len(a.parent) - 1, -1, -1):
        first, last = a.first_child[v], a.first_child[v + 1]
        total = a.payoff[team, v]
        if a.team[v] == NOBODY:
            for child in range(first, last):
                total += a.weight[child] * s.value[child]
        else:
            own, k = a.relaxed_first[a.relaxed[v]], a.true_first[a.true[v]]
            for child in range(first, last):
                action = s.policy[own + child - first]
                total += action * s.value[child]
                if a.team[v] == team:
                    total -= penalty * (action - s.projected[k + child - first]) ** 2
        s.value[v] = total


@kernel
def local_rewards(a, s, team, penalty, conditional):
    """Compute the rewards (F,) of a team's moves: the values that follow, less the derivative of the node's penalty.

    A reward is the mean over the nodes of each relaxed set by their probabilities; or, where not ``conditional``, the
    sum weighted by the probabilities of chance and the other teams alone, as in counterfactual values.
    """
    for g in range(len(a.relaxed_team)):
        s.mass[g] = 0.0
    for q in range(len(s.rewards)):
        s.rewards[q] = 0.0
    for v in range(len(a.parent)):
        if a.team[v] == team:
            g, k, first = a.relaxed[v], a.true_first[a.true[v]], a.first_child[v]
            s.mass[g] += s.reach[v]
            for child in range(first, a.first_child[v + 1]):
                q = a.relaxed_first[g] + child - first
                slope = 2.0 * penalty * (s.policy[q] - s.projected[k + child - first])
                s.rewards[q] += s.reach[v] * (s.value[child] - slope)
    if conditional:
        for g in range(len(a.relaxed_team)):
            if s.mass[g] > 0.0:
                for q in range(a.relaxed_first[g], a.relaxed_first[g + 1]):
                    s.rewards[q] /= s.mass[g]


@inline_kernel
def steer(scale, factor, ceiling, payoff):
    """Return the new factor of the penalties after the relaxed policy earned ``payoff``."""
    return scale * factor if payoff > ceiling else scale / factor


@inline_kernel
def residual(a, s, team):
    """Return the squared distance of a team's policy to its projection, weighted by the probabilities of the nodes."""
    total = 0.0
    for v in range(len(a.parent)):
        if a.team[v] == team:
            own, k = a.relaxed_first[a.relaxed[v]], a.true_first[a.true[v]]
            for action in range(a.first_child[v + 1] - a.first_child[v]):
                total += s.reach[v] * (s.policy[own + action] - s.projected[k + action]) ** 2
    return total


@inline_kernel
def change(a, s, team):
    """Return the squared distance of a team's policy to its last one, in ``value``, weighted like ``residual``."""
    total = 0.0
    for g in range(len(a.relaxed_team)):
        if a.relaxed_team[g] == team:
            for q in range(a.relaxed_first[g], a.relaxed_first[g + 1]):
                total += s.mass[g] * (s.policy[q] - s.value[q]) ** 2
    return total


def _hide(a, s, schedule, penalties, factor, ceiling, balanced, mean, conditional, before, scores):
    """Run one iteration for each row of ``schedule``, in which the teams learn in turn.

    ``mean`` (C,) becomes the mean projection over all iterations, of which ``before`` came earlier.  ``scores``
    (iterations, T + 1): every team's payoff under the projection, then the first team's under the relaxed policy, both
    before the iteration.
    """
    teams, scale = a.payoff.shape[0], s.scale[0]
    for t in range(len(penalties)):
        penalty, distance, moved = scale * penalties[t], 0.0, 0.0
        for team in range(teams):
            spread(a, s.policy, a.relaxed, a.relaxed_first, s.reach)
            project(a, s.policy, s.reach, s.projected, s.mass)
            if team == 0:
                score(a, s, scores[t])
                average(mean, s.projected, before + t)
            back_up(a, s, team, penalty)
            if not conditional:
                spread_outside(a, s.policy, team, s.reach)
            local_rewards(a, s, team, penalty, conditional)
            if balanced:
                distance += residual(a, s, team)
                s.value[: len(s.policy)] = s.policy  # the values are used up, and there are more nodes than actions
            for g in range(len(a.relaxed_team)):
                first, last = a.relaxed_first[g], a.relaxed_first[g + 1]
                if a.relaxed_team[g] == team and s.mass[g] > 0.0:
                    mean_reward = 0.0
                    for q in range(first, last):
                        mean_reward += s.policy[q] * s.rewards[q]
                    update(0, 0, first, last, mean_reward, s.rewards, s.policy, s.memory, schedule[t])
            if balanced:
                moved += change(a, s, team)
        if balanced:
            scale = min(max(steer(scale, factor, moved, distance), 1.0 / WIDEST), WIDEST)
        else:
            scale = steer(scale, factor, ceiling, scores[t, teams])
    s.scale[0] = scale


@inline_kernel
def average(mean, found, before):
    """Update a mean by one more item, after ``before`` others."""
    for q in range(len(mean)):
        mean[q] += (found[q] - mean[q]) / (before + 1)


@kernel
def score(a, s, scores):
    """Write the present payoffs into ``scores`` and keep the best projection."""
    teams = a.payoff.shape[0]
    scores[teams] = expected(a, 0, s.reach)
    spread(a, s.projected, a.true, a.true_first, s.value)
    for team in range(teams):
        scores[team] = expected(a, team, s.value)
    if scores[0] > s.record[0]:
        s.record[0] = scores[0]
        for q in range(len(s.best)):
            s.best[q] = s.projected[q]


def _sample(a, s, schedule, penalties, factor, ceiling, mean, member, chosen, stream, before, scores):
    """Run one episode for each row of ``schedule``, by external sampling (section 6.2).

    All moves and chance outcomes are drawn, then every member of the teams tries all of its own moves against the
    others' draws.  ``member`` (N,) is the player who decides, ``chosen`` (N,) scratch, ``mean`` (C,) as in ``_hide``.
    """
    members, scale = member.max() + 1, s.scale[0]
    for t in range(len(penalties)):
        penalty = scale * penalties[t]
        for who in range(members):
            spread(a, s.policy, a.relaxed, a.relaxed_first, s.reach)
            project(a, s.policy, s.reach, s.projected, s.mass)
            if who == 0:
                score(a, s, scores[t])
                average(mean, s.projected, before + t)
                for other in range(NOBODY, members):
                    draw(a, s, member, other, chosen, stream)
            visit(a, s, member, who, chosen)
            try_out(a, s, member, who, chosen, penalty)
            for v in range(len(a.parent)):
                if member[v] == who and s.reach[v] > 0.0:
                    g, first = a.relaxed[v], a.relaxed_first[a.relaxed[v]]
                    last, k, below = a.relaxed_first[g + 1], a.true_first[a.true[v]], a.first_child[v]
                    mean_reward = 0.0
                    for q in range(first, last):
                        slope = 2.0 * penalty * (s.policy[q] - s.projected[k + q - first])
                        s.rewards[q] = s.value[below + q - first] - slope
                        mean_reward += s.policy[q] * s.rewards[q]
                    update(0, 0, first, last, mean_reward, s.rewards, s.policy, s.memory, schedule[t])
        scale = steer(scale, factor, ceiling, scores[t, a.payoff.shape[0]])
    s.scale[0] = scale


@kernel
def draw(a, s, member, who, chosen, stream):
    """Draw a child for every node of a member, or of chance and the fixed players (NOBODY), by their probabilities."""
    for v in range(len(a.parent)):
        if member[v] == who and a.first_child[v] < a.first_child[v + 1]:
            left = (next_word(stream) >> np.uint64(11)) * 2.0**-53
            child = a.first_child[v]
            while child + 1 < a.first_child[v + 1]:
                action = child - a.first_child[v]
                left -= a.weight[child] if who == NOBODY else s.policy[a.relaxed_first[a.relaxed[v]] + action]
                if left < 0.0:
                    break
                child += 1
            chosen[v] = child


@kernel
def visit(a, s, member, who, chosen):
    """Set ``reach`` to 1 for nodes to which the draws and any moves of ``who`` lead, and to 0 for others."""
    s.reach[0] = 1.0
    for v in range(1, len(a.parent)):
        above = a.parent[v]
        s.reach[v] = s.reach[above] if member[above] == who or chosen[above] == v else 0.0


@kernel
def try_out(a, s, member, who, chosen, penalty):
    """Compute the values of the visited nodes for the team of ``who``."""
    team = NOBODY
    for v in range(len(a.parent)):
        if member[v] == who:
            team = a.team[v]
    for v in range(len(a.parent) - 1, -1, -1):
        first, last = a.first_child[v], a.first_child[v + 1]
        total = a.payoff[team, v]
        if first < last:
            if member[v] == who:
                own = a.relaxed_first[a.relaxed[v]]
                for child in range(first, last):
                    total += s.policy[own + child - first] * s.value[child]
            else:
                total += s.value[chosen[v]]
            if a.team[v] == team:
                own, k = a.relaxed_first[a.relaxed[v]], a.true_first[a.true[v]]
                for action in range(last - first):
                    total -= penalty * (s.policy[own + action] - s.projected[k + action]) ** 2
        s.value[v] = total


def update(*_: Any) -> None:
    """Stand in for the local update in ``_hide`` and ``_sample``."""


@cache
def compiled_hiding(local_update: updates.Update, sampled: bool = False) -> Any:
    """Return the loop compiled around a local update, as in ``loop``: over all histories, or over sampled ones."""
    compiled = kernel if local_update.__module__ == updates.__name__ else checked_kernel
    return compiled(with_piece(_sample if sampled else _hide, "update", inline_kernel(local_update)))


class Penalty(NamedTuple):
    """The price of using information that the rules hide: a schedule, and how the payoff steers it.

    ``schedule`` maps shares of the training that are over (k,), from 0 to 1, to penalties (k,).  They are multiplied by
    a number, initially 1, which is multiplied by ``factor`` after an iteration in which the first team's relaxed policy
    earned more than ``ceiling`` and divided by it after any other.  A factor of 1 leaves the schedule unchanged.  Where
    ``balanced``, the number grows instead where the policy is farther from its projection than it moved.
    """

    schedule: Callable[[FloatArray], FloatArray]
    factor: float = 1.0
    ceiling: float = np.inf
    balanced: bool = False


def constant(penalty: float) -> Penalty:
    """Return a constant penalty."""
    return Penalty(lambda share: np.full(len(share), float(penalty)))


def linear(start: float, end: float) -> Penalty:
    """Return a penalty that changes linearly from ``start`` to ``end``."""
    return Penalty(lambda share: start + (end - start) * share)


def controlled(start: float, ceiling: float, factor: float = 1.1) -> Penalty:
    """Return a penalty steered so that the relaxed policy earns about ``ceiling`` (the paper's section 6.3).

    It begins at ``start``.  A payoff of the relaxed policy above the true optimum is due to information that the team
    does not have.  ``factor`` is above 1.
    """
    if not factor > 1:
        raise ParameterError(f"factor={factor} is out of range; allowed: above 1")
    return constant(start)._replace(factor=float(factor), ceiling=float(ceiling))


def balanced(start: float = 1.0, factor: float = 2.0) -> Penalty:
    """Return a penalty that balances two distances, as in ADMM (Boyd et al. 2011, section 3.4.1).

    It begins at ``start``, is multiplied by ``factor`` after an iteration in which the squared distance between the
    relaxed policy and its projection was larger than that between the policy and the next one, and divided by it after
    any other.  So the team neither stays relaxed nor stands still.  ``factor`` is above 1.
    """
    check_number("start", start, 0.0, float(np.finfo(float).max))
    if not (np.isfinite(factor) and factor > 1):
        raise ParameterError(f"factor={factor} is out of range; allowed: above 1")
    return constant(start)._replace(factor=float(factor), balanced=True)


PENALTIES: dict[str, Callable[..., Penalty]] = {"balanced": balanced}
"""The penalties by name, apart from numbers and schedules."""


class NoRegretLearner(NamedTuple):
    """A no-regret learner at every relaxed set, and the distribution of its initial policies."""

    method: Method
    spread: float
    """For regret matching: initial regrets are uniform between 0 and this.  Others begin with Dirichlet(1) draws."""


def ftrl(eta: float = 1.0) -> NoRegretLearner:
    """Follow the regularised leader with entropy: exponential weights with a constant learning rate."""
    return NoRegretLearner(cfr.hedge(eta, decay=0.0), 0.0)


def hedge(eta: float = 1.0) -> NoRegretLearner:
    """Exponential weights with the learning rate ``eta / sqrt(t)``."""
    return NoRegretLearner(cfr.hedge(eta), 0.0)


def regret_matching(spread: float = 0.1) -> NoRegretLearner:
    """Regret matching (Hart & Mas-Colell 2000)."""
    return NoRegretLearner(cfr.cfr(), spread)


def regret_matching_plus(spread: float = 0.1) -> NoRegretLearner:
    """Regret matching+ (Tammelin 2014)."""
    return NoRegretLearner(cfr.cfr_plus(), spread)


LEARNERS: dict[str, Callable[..., NoRegretLearner]] = {
    "ftrl": ftrl,
    "hedge": hedge,
    "rm": regret_matching,
    "rm+": regret_matching_plus,
}
"""The learners by name."""


@dataclass(frozen=True, eq=False)
class Hiding:
    """The result of ``progressive_hiding``, of ``R`` runs of ``I`` iterations."""

    game: HiddenGame
    payoffs: FloatArray
    """(R, I) the first team's payoff under the projection before each iteration."""
    relaxed_payoffs: FloatArray
    """(R, I) the same under the relaxed policy."""
    best: FloatArray
    """(R,) the best payoff of all, the one after the last iteration included."""
    last: FloatArray
    """(R,) the payoff after the last iteration."""
    mean: FloatArray
    """(R,) the payoff of the mean projection over the iterations."""
    projections: dict[str, FloatArray]
    """(R, C) the policies of ``best``, ``last`` and ``mean``."""
    seconds: float

    @property
    def iterations(self) -> int:
        """The number of iterations of each run."""
        return len(self.payoffs[0])

    def policy(self, kind: str = "best") -> TabularPolicy:
        """Return the ``best``, ``last`` or ``mean`` policy of the run whose payoff under it is the highest."""
        check_choice("kind", kind, tuple(self.projections))
        scores: FloatArray = getattr(self, kind)
        return self.game.policy(self.projections[kind][int(scores.argmax())], {"method": "progressive-hiding"})


@checks_arguments
def progressive_hiding(
    game: HiddenGame,
    penalty: Penalty | float = 2.0,
    learner: NoRegretLearner | None = None,
    *,
    iterations: int = 200,
    runs: int = 1,
    seed: int = 0,
    conditional: bool = True,
    sampled: bool = False,
    progress: Callable[[int, float], object] | None = None,
) -> Hiding:
    """Train ``runs`` times for ``iterations``, each from initial policies drawn with ``seed`` and the run's number.

    An iteration visits all histories, or, where ``sampled``, those of one episode (section 6.2): chance outcomes and
    all moves are drawn, and every player tries all its own moves against the others' draws.

    With ``conditional`` local rewards are conditional expectations, as in the paper; otherwise they are counterfactual,
    for which Theorem 2 holds where the relaxed map has perfect recall.  ``progress`` is passed the number of finished
    runs and the best payoff so far; Ctrl-C ends with those runs.  On the true map this is the learner alone, without
    any penalty.

    Algorithm 2 of Heymann & Lanctot (2025).  ``penalty`` is in units of payoffs.  Raises ``ParameterError``.

    >>> from infoset.tree.information import recall
    >>> tree = infoset.GameTree.of(infoset.load("trade_comm(items=2,messages=2)"))
    >>> found = infoset.progressive_hiding(infoset.HiddenGame.of(tree, recall), penalty=2, runs=20, seed=1)
    >>> found.payoffs.shape, round(float(found.best.max()), 6)
    ((20, 200), 1.0)
    """
    chosen = ftrl() if learner is None else learner
    setting = Setting(game, penalty, chosen)
    job = Hidings([setting], iterations, runs, seed, conditional=conditional, sampled=sampled)
    _, seconds = advance(job, Limits(), Watcher(advance=job.teller(progress)))
    found = job.results or job.known
    if not found:
        raise KeyboardInterrupt
    return hiding(game, found, seconds)


def hiding(game: HiddenGame, found: Sequence[dict[str, Any]], seconds: float) -> Hiding:
    """Return the combined result of runs."""
    part = {name: np.stack([result[name] for result in found]) for name in found[0]}
    payoffs, relaxed = part["scores"][:, :, 0], part["scores"][:, :, -1]
    return Hiding(
        game, payoffs[:, :-1], relaxed[:, :-1], payoffs.max(axis=1), payoffs[:, -1], part["mean_payoff"],
        {kind: part[kind] for kind in ("best", "last", "mean")}, seconds,
    )  # fmt: skip


class Prices(NamedTuple):
    """A penalty as the loops take it, with a number for each iteration."""

    penalties: FloatArray  # (I,)
    factor: float
    ceiling: float
    balanced: bool

    @classmethod
    def of(cls, penalty: Penalty, iterations: int) -> Prices:
        """Evaluate the schedule of a penalty.  Raises ``ParameterError`` for penalties below 0."""
        found = penalty.schedule(np.arange(iterations) / max(iterations - 1, 1))
        if not (np.isfinite(found).all() and (found >= 0).all()):
            raise ParameterError(f"penalty: {found.min():g} to {found.max():g}; allowed: numbers from 0")
        return cls(found, penalty.factor, penalty.ceiling, penalty.balanced)


def grid_search(
    game: HiddenGame,
    penalties: Sequence[float] = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
    learner: NoRegretLearner | None = None,
    *,
    iterations: int = 200,
    runs: int = 20,
    seed: int = 0,
    progress: Callable[[int, float], object] | None = None,
) -> tuple[float, dict[float, Hiding]]:
    """Return the constant penalty whose trainings end best on average, and the trainings of each.

    This is "a constant value with a grid search" (section 5.2).  Each penalty gets the same initial policies.  The best
    of many is overestimated by selection: train again with another ``seed`` for figures to report.  ``progress`` is
    passed the number of finished runs, of all penalties together.
    """
    if not penalties:
        raise ParameterError("penalties: none to choose from; give at least one number from 0")
    found: dict[float, Hiding] = {}
    for k, penalty in enumerate(penalties):
        step = None if progress is None else partial(_advance, progress, k * runs)
        found[float(penalty)] = progressive_hiding(
            game, float(penalty), learner, iterations=iterations, runs=runs, seed=seed, progress=step
        )
    return max(found, key=lambda penalty: float(found[penalty].last.mean())), found


def _advance(progress: Callable[[int, float], object], before: int, over: int, best: float) -> None:
    progress(before + over, best)


TRIALS = 20
"""The number of runs of each setting, where there are several to choose from."""


class Setting(NamedTuple):
    """What a training can be varied in: the relaxation, which is part of the game, the penalty and the learner."""

    game: HiddenGame
    penalty: Penalty | float
    learner: NoRegretLearner
    name: str = ""
    """What tells it from the other settings, for reports."""


class Round(NamedTuple):
    """A part of the trials: the best ``settings`` so far get ``each`` more runs."""

    settings: int
    each: int


def halving(settings: int, each: int) -> list[Round]:
    """Return rounds of about equally many runs, after each of which the worse half of the settings is left out.

    The bandit is successive halving (Karnin, Koren & Somekh 2013): the time goes to the settings that do well.

    >>> [tuple(one) for one in halving(6, 2)]
    [(6, 2), (3, 4), (2, 6)]
    """
    rounds, count = [], settings
    while count > 1:
        rounds.append(Round(count, settings * each // count))
        count = (count + 1) // 2
    return rounds


class Hidings(MultiStart):
    """Trainings from initial policies of their own, drawn with ``seed`` and their numbers.

    Several ``settings`` are tried in ``rounds``, by default ``TRIALS`` runs of each, and the one whose trials are best
    on average, by the best payoff of each, is used for the runs that count, with another seed, since selection
    overestimates the best of many.
    """

    def __init__(
        self, settings: Sequence[Setting], iterations: int, runs: int, seed: int,
        rounds: Sequence[Round] | None = None, conditional: bool = True, sampled: bool = False,
    ) -> None:  # fmt: skip
        check_range("iterations", iterations, 1, MOST_TRAININGS)
        check_range("runs", runs, 1, MOST_TRAININGS)
        check_range("seed", seed, 0, 2**63)
        if not settings:
            raise ParameterError("penalties: none to choose from; give at least one number from 0")
        self.game, self.settings = settings[0].game, settings
        every = [Round(len(settings), TRIALS)] if rounds is None else rounds
        self.rounds = every if len(settings) > 1 else []
        self.waits = tuple(np.cumsum([count * each for count, each in self.rounds]).tolist())
        prices = [
            Prices.of(one.penalty if isinstance(one.penalty, Penalty) else constant(one.penalty), iterations)
            for one in settings
        ]
        if sampled and any(price.balanced for price in prices):
            raise ParameterError("penalty: a balanced one needs all histories; sampled=True visits those of an episode")

        def make(run: int) -> HidingRun:
            number, repetition = self._place(run)
            another = run >= self.trials > 0
            stream = np.random.SeedSequence((seed + another, repetition))
            one = settings[number]
            return HidingRun(one.game, one.learner, prices[number], stream, conditional, sampled)

        super().__init__(make, self.trials + runs)

    @property
    def trials(self) -> int:
        """The number of runs that choose among several settings."""
        return self.waits[-1] if self.waits else 0

    def _place(self, run: int) -> tuple[int, int]:
        """Return the number of the setting of a run, and how many of its runs came before."""
        begin = before = 0
        for over, (count, each) in enumerate(self.rounds):
            if run < begin + count * each:
                again, rank = divmod(run - begin, count)
                return list(self.tried(over))[rank], before + again
            begin, before = begin + count * each, before + each
        return self.chosen, run - begin

    def tried(self, rounds: int) -> dict[int, list[float]]:
        """Return the payoffs of the trials in the first ``rounds`` by setting, the best on average first."""
        found: dict[int, list[float]] = {number: [] for number in range(len(self.settings))}
        payoffs = (float(result["value"]) for result in self.results)
        for count, each in self.rounds[:rounds]:
            left = list(found)[:count]
            for number in left * each:
                found[number].append(next(payoffs))
            best = sorted(left, key=lambda number: -float(np.mean(found[number])))
            found = {number: found[number] for number in [*best, *list(found)[count:]]}
        return found

    @property
    def chosen(self) -> int:
        """The number of the setting that was best on average."""
        return next(iter(self.tried(len(self.rounds))))

    @property
    def measured(self) -> list[dict[str, Any]]:
        """The results of the finished runs that count."""
        return self.results[self.trials :]

    def policy(self) -> TabularPolicy | None:
        """Return the best policy so far; for teams against each other the mean of the last run."""
        best = self.best if len(self.game.teams) == 1 else next(reversed(self.known), None)
        kind = "best" if len(self.game.teams) == 1 else "mean"
        return None if best is None else self.game.policy(best[kind], {"method": "progressive-hiding"})


class HidingRun(RunInSeries):
    """One training at work, on all histories or, where ``sampled``, on episodes."""

    def __init__(
        self, game: HiddenGame, learner: NoRegretLearner, prices: Prices, seed: np.random.SeedSequence,
        conditional: bool, sampled: bool,
    ) -> None:  # fmt: skip
        a, method = game.arrays, learner.method
        first, draws = seed.spawn(2) if sampled else (seed, seed)
        self.arrays, self.prices, self.conditional, self.sampled = a, prices, conditional, sampled
        self.state = begin(a, learner, np.random.default_rng(first))
        self.total = len(prices.penalties)
        self.schedule = schedule_rows(method, 1.0, len(prices.penalties))
        self.scores = np.zeros((self.total + 1, a.payoff.shape[0] + 1))
        self.mean = np.zeros(len(self.state.projected))
        self.stream = draws.generate_state(1, np.uint64)
        self.member = np.where(a.team == NOBODY, NOBODY, game.tree.graph.player[game.tree.position]).astype(np.int32)
        self.drawn = np.zeros(len(a.parent), dtype=np.int32)
        self.method = method
        with running_own(method.name, method.update):
            self.loop = compiled_hiding(method.update, sampled)

    def step(self, iterations: int, until: float = np.inf) -> None:
        now = slice(self.iteration, self.iteration + iterations)
        prices = self.prices.penalties[now], self.prices.factor, self.prices.ceiling
        if self.sampled:
            how: tuple[Any, ...] = (self.mean, self.member, self.drawn, self.stream)
        else:
            how = (self.prices.balanced, self.mean, self.conditional)
        given = (self.schedule[now], *prices, *how, self.iteration, self.scores[now])
        with running_own(self.method.name, self.method.update):
            self.loop(self.arrays, self.state, *given)
        self.iteration += iterations

    def result(self) -> dict[str, Any]:
        """Return ``scores`` (I + 1, T + 1), the last row after the last iteration, and the resulting projections."""
        a, state, last = self.arrays, self.state, self.scores[self.iteration].copy()
        spread(a, state.policy, a.relaxed, a.relaxed_first, state.reach)
        project(a, state.policy, state.reach, state.projected, state.mass)
        score(a, state, last)
        spread(a, self.mean, a.true, a.true_first, state.reach)
        projections = {"best": state.best.copy(), "last": state.projected.copy(), "mean": self.mean.copy()}
        scores = np.vstack([self.scores[: self.iteration], last])
        mean_payoff = np.array(expected(a, 0, state.reach))
        return {"value": state.record[0].copy(), "scores": scores, "mean_payoff": mean_payoff, **projections}

    def state_arrays(self) -> dict[str, Any]:
        return {**self.state._asdict(), "average": self.mean, "scores": self.scores, "stream": self.stream}


def begin(a: HidingArrays, learner: NoRegretLearner, rng: np.random.Generator) -> HidingState:
    """Return a state with random initial policies."""
    actions, nodes = int(a.relaxed_first[-1]), len(a.parent)
    memory = np.zeros((learner.method.memory, actions))
    if learner.method.from_logits:
        memory[0] = np.log(rng.exponential(size=actions))
        policy = np.exp(memory[0])
    else:
        memory[0] = learner.spread * rng.random(actions)
        policy = np.maximum(memory[0], updates.NOISE)
    sizes = np.diff(a.relaxed_first)
    policy /= np.repeat(np.add.reduceat(policy, a.relaxed_first[:-1]), sizes)
    true, sets = int(a.true_first[-1]), len(a.relaxed_first) + len(a.true_first)
    return HidingState(
        policy, np.zeros(true), np.zeros(true), np.array([-np.inf]), memory, np.ones(1), np.zeros(nodes),
        np.zeros(nodes), np.zeros(actions), np.zeros(sets),
    )  # fmt: skip
