"""Progressive hiding (Heymann & Lanctot, Algorithm 2): teams learn with more information than they have, at a price.

A team is one player without perfect recall.  It learns on a *relaxed* map, finer than the true one, and pays
``penalty`` times the squared distance between what it does and the projection of that onto the true map (eq. 4).  The
projection is the policy that comes out; it never uses more than the rules allow, whatever the penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from time import perf_counter
from typing import Any, NamedTuple

import numba
import numpy as np

from infoset.base import FloatArray, IntArray
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.jit import inline_kernel, kernel, with_piece
from infoset.names import check_range, move_words
from infoset.policy import TabularPolicy
from infoset.randomness import next_word
from infoset.solvers import cfr, updates
from infoset.solvers.loop import Method
from infoset.solvers.metrics import EQUAL_PAYOFFS
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import TERMINAL
from infoset.tree.information import UNLABELLED, TreeMap, recall, true_map

NOBODY = -1
NOWHERE = -1.0


class HidingArrays(NamedTuple):
    """What the loop reads: ``N`` nodes, ``F`` moves of relaxed sets, ``C`` moves of true sets, ``T`` teams."""

    parent: IntArray  # (N,)
    first_child: IntArray  # (N + 1,)
    team: IntArray  # (N,) who learns here, or NOBODY
    weight: FloatArray  # (N,) probability of the edge to the node where nobody learns above it, else 1
    prior: FloatArray  # (N,) the product of these weights on the way
    payoff: FloatArray  # (T, N) at ends, else 0
    relaxed: IntArray  # (N,) relaxed set, or UNLABELLED
    true: IntArray  # (N,) true set
    relaxed_first: IntArray  # (relaxed sets + 1,) first move of each
    true_first: IntArray  # (true sets + 1,)
    relaxed_team: IntArray  # (relaxed sets,)


class HidingState(NamedTuple):
    """Everything that changes."""

    policy: FloatArray  # (F,) relaxed policy
    projected: FloatArray  # (C,) its projection
    best: FloatArray  # (C,) the best projection so far, by the first team's payoff
    record: FloatArray  # (1,) that payoff
    memory: FloatArray  # (m, F) what the local updates keep
    reach: FloatArray  # (N,) scratch
    value: FloatArray  # (N,) scratch
    rewards: FloatArray  # (F,) scratch
    mass: FloatArray  # (relaxed sets + true sets,) scratch


@kernel
def spread(a, policy, sets, firsts, reach):
    """Probabilities (N,) of all nodes under a policy on the moves of ``sets``."""
    reach[0] = 1.0
    for v in range(1, len(a.parent)):
        above = a.parent[v]
        if a.team[above] == NOBODY:
            reach[v] = reach[above] * a.weight[v]
        else:
            reach[v] = reach[above] * policy[firsts[sets[above]] + v - a.first_child[above]]


@kernel
def project(a, policy, reach, projected, mass):
    """Equation 4: the conditional expectation of the policy in each true set.

    Where a set is not reached, nature and the other players alone weigh the nodes.
    """
    sets = len(a.true_first) - 1
    gather(a, policy, reach, projected, mass)
    missing = False
    for k in range(sets):
        missing |= mass[k] <= 0.0
        for q in range(a.true_first[k], a.true_first[k + 1]):
            projected[q] = projected[q] / mass[k] if mass[k] > 0.0 else NOWHERE
    if not missing:
        return
    for v in range(len(a.parent)):
        k = a.true[v]
        if a.team[v] != NOBODY and mass[k] <= 0.0:
            if projected[a.true_first[k]] == NOWHERE:
                for q in range(a.true_first[k], a.true_first[k + 1]):
                    projected[q] = 0.0
            own = a.relaxed_first[a.relaxed[v]]
            for move in range(a.first_child[v + 1] - a.first_child[v]):
                projected[a.true_first[k] + move] += a.prior[v] * policy[own + move]
            mass[k] -= a.prior[v]
    for k in range(sets):
        if mass[k] < 0.0:
            for q in range(a.true_first[k], a.true_first[k + 1]):
                projected[q] /= -mass[k]


@inline_kernel
def gather(a, policy, reach, projected, mass):
    """Sums over the nodes of each true set, weighted by their probabilities."""
    for k in range(len(a.true_first) - 1):
        mass[k] = 0.0
    for q in range(len(projected)):
        projected[q] = 0.0
    for v in range(len(a.parent)):
        if a.team[v] != NOBODY:
            k, own = a.true[v], a.relaxed_first[a.relaxed[v]]
            mass[k] += reach[v]
            for move in range(a.first_child[v + 1] - a.first_child[v]):
                projected[a.true_first[k] + move] += reach[v] * policy[own + move]


@kernel
def expected(a, team, reach):
    """A team's payoff where nodes have these probabilities."""
    total = 0.0
    for v in range(len(a.parent)):
        total += reach[v] * a.payoff[team, v]
    return total


@kernel
def back_up(a, s, team, penalty):
    """Values (N,) of all nodes for a team; at its own later nodes it pays for what it does there."""
    for v in range(len(a.parent) - 1, -1, -1):
        first, last = a.first_child[v], a.first_child[v + 1]
        total = a.payoff[team, v]
        if a.team[v] == NOBODY:
            for child in range(first, last):
                total += a.weight[child] * s.value[child]
        else:
            own, k = a.relaxed_first[a.relaxed[v]], a.true_first[a.true[v]]
            for child in range(first, last):
                move = s.policy[own + child - first]
                total += move * s.value[child]
                if a.team[v] == team:
                    total -= penalty * (move - s.projected[k + child - first]) ** 2
        s.value[v] = total


@kernel
def local_rewards(a, s, team, penalty, conditional):
    """Rewards (F,) of a team's moves: what follows, less the slope of this node's penalty.

    The mean over the nodes of each relaxed set by their probabilities; or, where not ``conditional``, the sum weighted
    by those of nature and the other teams alone, as counterfactual values are.
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


@kernel
def spread_outside(a, s, team):
    """Probabilities of all nodes if a team always went there."""
    s.reach[0] = 1.0
    for v in range(1, len(a.parent)):
        above = a.parent[v]
        s.reach[v] = s.reach[above] * a.weight[v]
        if a.team[above] not in (NOBODY, team):
            s.reach[v] *= s.policy[a.relaxed_first[a.relaxed[above]] + v - a.first_child[above]]


def _hide(a, s, schedule, penalties, conditional, scores):
    """One iteration for each row of ``schedule``, in which the teams learn in turn.

    ``scores`` (iterations, T + 1): every team's payoff under the projection, then the first one's under the relaxed
    policy, as they were before the iteration.
    """
    teams = a.payoff.shape[0]
    for t in range(len(penalties)):
        for team in range(teams):
            spread(a, s.policy, a.relaxed, a.relaxed_first, s.reach)
            project(a, s.policy, s.reach, s.projected, s.mass)
            if team == 0:
                score(a, s, scores[t])
            back_up(a, s, team, penalties[t])
            if not conditional:
                spread_outside(a, s, team)
            local_rewards(a, s, team, penalties[t], conditional)
            for g in range(len(a.relaxed_team)):
                first, last = a.relaxed_first[g], a.relaxed_first[g + 1]
                if a.relaxed_team[g] == team and s.mass[g] > 0.0:
                    worth = 0.0
                    for q in range(first, last):
                        worth += s.policy[q] * s.rewards[q]
                    update(0, 0, first, last, worth, s.rewards, s.policy, s.memory, schedule[t])


@kernel
def score(a, s, scores):
    """The payoffs now; the best projection is kept."""
    teams = a.payoff.shape[0]
    scores[teams] = expected(a, 0, s.reach)
    spread(a, s.projected, a.true, a.true_first, s.value)
    for team in range(teams):
        scores[team] = expected(a, team, s.value)
    if scores[0] > s.record[0]:
        s.record[0] = scores[0]
        for q in range(len(s.best)):
            s.best[q] = s.projected[q]


def _sample(a, s, schedule, penalties, member, chosen, mean, stream, scores):
    """One episode for each row of ``schedule`` (section 6.2): all moves and nature's answers are drawn, then every
    member of the teams tries all of its own moves against the others' draws (external sampling).

    ``member`` (N,) is who decides, ``chosen`` (N,) scratch, ``mean`` (C,) gets the mean projection over the episodes.
    """
    members = member.max() + 1
    for t in range(len(penalties)):
        for who in range(members):
            spread(a, s.policy, a.relaxed, a.relaxed_first, s.reach)
            project(a, s.policy, s.reach, s.projected, s.mass)
            if who == 0:
                score(a, s, scores[t])
                for q in range(len(mean)):
                    mean[q] += (s.projected[q] - mean[q]) / (t + 1)
                for other in range(NOBODY, members):
                    draw(a, s, member, other, chosen, stream)
            visit(a, s, member, who, chosen)
            try_out(a, s, member, who, chosen, penalties[t])
            for v in range(len(a.parent)):
                if member[v] == who and s.reach[v] > 0.0:
                    g, first = a.relaxed[v], a.relaxed_first[a.relaxed[v]]
                    last, k, below = a.relaxed_first[g + 1], a.true_first[a.true[v]], a.first_child[v]
                    worth = 0.0
                    for q in range(first, last):
                        slope = 2.0 * penalties[t] * (s.policy[q] - s.projected[k + q - first])
                        s.rewards[q] = s.value[below + q - first] - slope
                        worth += s.policy[q] * s.rewards[q]
                    update(0, 0, first, last, worth, s.rewards, s.policy, s.memory, schedule[t])


@kernel
def draw(a, s, member, who, chosen, stream):
    """A child for every node of a member, or of nature and the fixed players (NOBODY), by their probabilities."""
    for v in range(len(a.parent)):
        if member[v] == who and a.first_child[v] < a.first_child[v + 1]:
            left = (next_word(stream) >> np.uint64(11)) * 2.0**-53
            child = a.first_child[v]
            while child + 1 < a.first_child[v + 1]:
                move = child - a.first_child[v]
                left -= a.weight[child] if who == NOBODY else s.policy[a.relaxed_first[a.relaxed[v]] + move]
                if left < 0.0:
                    break
                child += 1
            chosen[v] = child


@kernel
def visit(a, s, member, who, chosen):
    """Into ``reach``: 1 for nodes that the draws and all moves of ``who`` lead to, 0 for others."""
    s.reach[0] = 1.0
    for v in range(1, len(a.parent)):
        above = a.parent[v]
        s.reach[v] = s.reach[above] if member[above] == who or chosen[above] == v else 0.0


@kernel
def try_out(a, s, member, who, chosen, penalty):
    """Values of the nodes that are visited, for the team of ``who``."""
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
                for move in range(last - first):
                    total -= penalty * (s.policy[own + move] - s.projected[k + move]) ** 2
        s.value[v] = total


def update(*_: Any) -> None:
    """Stands for the local update in ``_hide`` and ``_sample``."""


@cache
def compiled_hiding(local_update: updates.Update, sampled: bool = False) -> Any:
    """The loop around one local update, as in ``loop``: over all histories, or over sampled ones."""
    compiled = kernel if local_update.__module__ == updates.__name__ else numba.njit(nogil=True, error_model="numpy")
    return compiled(with_piece(_sample if sampled else _hide, "update", inline_kernel(local_update)))


Penalty = Callable[[FloatArray], FloatArray]
"""From shares of the training that are over (k,), 0 to 1, to penalties (k,)."""


def constant(penalty: float) -> Penalty:
    """The same all the time."""
    return lambda share: np.full(len(share), float(penalty))


def linear(start: float, end: float) -> Penalty:
    """From ``start`` to ``end``."""
    return lambda share: start + (end - start) * share


class Learner(NamedTuple):
    """A no-regret learner at every relaxed set, and how its first policies are drawn."""

    method: Method
    spread: float
    """Of regret matchers: first regrets are uniform between 0 and this.  The others begin with Dirichlet(1) draws."""


def ftrl(eta: float = 1.0) -> Learner:
    """Follow the regularised leader with entropy: exponential weights with a constant rate."""
    return Learner(cfr.hedge(eta, decay=0.0), 0.0)


def hedge(eta: float = 1.0) -> Learner:
    """Exponential weights with the rate ``eta / sqrt(t)``."""
    return Learner(cfr.hedge(eta), 0.0)


def regret_matching(spread: float = 0.1) -> Learner:
    """Regret matching (Hart & Mas-Colell 2000)."""
    return Learner(cfr.cfr(), spread)


def regret_matching_plus(spread: float = 0.1) -> Learner:
    """Regret matching+ (Tammelin 2014)."""
    return Learner(cfr.cfr_plus(), spread)


LEARNERS: dict[str, Callable[..., Learner]] = {
    "ftrl": ftrl,
    "hedge": hedge,
    "rm": regret_matching,
    "rm+": regret_matching_plus,
}
"""Learners by name."""


@dataclass(frozen=True, eq=False)
class HiddenGame:
    """A tree with what its teams know and what they may learn with."""

    tree: GameTree
    teams: tuple[tuple[int, ...], ...]
    true: tuple[TreeMap, ...]
    relaxed: tuple[TreeMap, ...]
    arrays: HidingArrays

    @classmethod
    def of(
        cls,
        tree: GameTree,
        relax: Callable[[GameTree, Collection[int]], TreeMap] = recall,
        teams: Sequence[Collection[int]] | None = None,
        others: TabularPolicy | None = None,
    ) -> HiddenGame:
        """``teams`` learn, each on its map ``relax(tree, team)``; by default all players are one team.

        Whoever is in no team plays the policy ``others``.  Raises ``ParameterError`` for a player in two teams or in
        none without ``others``, and ``UnsupportedGameError`` where members of a team are paid differently.
        """
        sides = [tuple(range(len(tree.players)))] if teams is None else [tuple(sorted(team)) for team in teams]
        seated = [player for side in sides for player in side]
        if len(seated) != len(set(seated)):
            raise ParameterError(f"teams={sides}: a player is in two of them")
        if others is None and len(seated) < len(tree.players):
            raise ParameterError(
                f"teams={sides}: some of the {len(tree.players)} players are in none; give their policy"
            )
        truths, maps = ([make(tree, side) for side in sides] for make in (true_map, relax))
        arrays = _arrays(tree, sides, truths, maps, others)
        return cls(tree, tuple(sides), tuple(truths), tuple(maps), arrays)

    def policy(self, projected: FloatArray, made_by: Mapping[str, Any] | None = None) -> TabularPolicy:
        """A projection (C,) as a policy of the teams' members."""
        tree, a = self.tree, self.arrays
        tables: tuple[dict[str, dict[str, float]], ...] = tuple({} for _ in tree.players)
        for infoset, node in enumerate(tree.infoset_node.tolist()):
            words = move_words(tree.menu(infoset))
            if a.team[node] != NOBODY and len(words) > 1:
                first = int(a.true_first[a.true[node]])
                row = projected[first : first + len(words)].tolist()
                tables[int(tree.infoset_player[infoset])][tree.key(infoset)] = dict(zip(words, row, strict=True))
        return TabularPolicy(tree.name, tree.players, tables, tree.graph.map_name, made_by or {})


@dataclass(frozen=True, eq=False)
class Hiding:
    """What came of ``progressive_hiding``; ``R`` runs of ``I`` iterations."""

    game: HiddenGame
    payoffs: FloatArray
    """(R, I) the first team's payoff under the projection before each iteration."""
    relaxed_payoffs: FloatArray
    """(R, I) and under the relaxed policy."""
    last: FloatArray
    """(R,) the payoff after the last iteration."""
    best: FloatArray
    """(R,) the best payoff of all."""
    projections: FloatArray
    """(R, C) the policies of ``best``."""
    mean: FloatArray | None
    """(R,) the payoff of the mean projection over the episodes, where these are ``sampled``."""
    seconds: float

    def policy(self) -> TabularPolicy:
        """The best of all runs."""
        return self.game.policy(self.projections[int(self.best.argmax())], {"method": "progressive-hiding"})


def progressive_hiding(
    game: HiddenGame,
    penalty: Penalty | float = 2.0,
    learner: Learner | None = None,
    *,
    iterations: int = 200,
    runs: int = 1,
    seed: int = 0,
    conditional: bool = True,
    sampled: bool = False,
    progress: Callable[[int, float], object] | None = None,
) -> Hiding:
    """Train ``runs`` times for ``iterations``, each from first policies of its own, drawn from ``seed`` and its number.

    An iteration looks at all histories, or, where ``sampled``, at those of one episode (section 6.2): nature's answers
    and all moves are drawn, and every player tries all its own against the others' draws.

    With ``conditional`` local rewards are conditional expectations, as the paper has them; otherwise they are
    counterfactual, for which Theorem 2 holds where the relaxed map has perfect recall.  ``progress`` is told how many
    runs are over, and the best payoff so far; Ctrl-C ends with those runs.  On the true map this is the learner by
    itself, without any penalty.
    """
    check_range("iterations", iterations, 1, 10**7)
    check_range("runs", runs, 1, 10**7)
    chosen = ftrl() if learner is None else learner
    shares = np.arange(iterations) / max(iterations - 1, 1)
    prices = constant(penalty)(shares) if isinstance(penalty, (int, float)) else penalty(shares)
    if not (np.isfinite(prices).all() and (prices >= 0).all()):
        raise ParameterError(f"penalty: {prices.min():g} to {prices.max():g}; allowed: numbers from 0")
    begin, best = perf_counter(), -np.inf
    training = partial(_train_sampled, game) if sampled else partial(_train, game.arrays, conditional)
    trained: list[tuple[FloatArray, FloatArray, float]] = []
    with suppress(KeyboardInterrupt):
        for run in range(runs):
            trained.append(training(chosen, prices, np.random.SeedSequence((seed, run))))
            best = max(best, float(trained[-1][0][:, 0].max()))
            if progress is not None:
                progress(run + 1, best)
    if not trained:
        raise KeyboardInterrupt
    scores, projections, mean = (np.stack(part) for part in zip(*trained, strict=True))
    payoffs, relaxed = scores[:, :, 0], scores[:, :, -1]
    return Hiding(
        game, payoffs[:, :-1], relaxed[:, :-1], payoffs[:, -1], payoffs.max(axis=1), projections,
        mean if sampled else None, perf_counter() - begin,
    )  # fmt: skip


def _train(
    a: HidingArrays, conditional: bool, learner: Learner, prices: FloatArray, seed: np.random.SeedSequence
) -> tuple[FloatArray, FloatArray, float]:
    """One training: (I + 1, T + 1) scores, of which the last row is after the last iteration, the best policy, nan."""
    state, method = begin(a, learner, np.random.default_rng(seed)), learner.method
    scores = np.zeros((len(prices) + 1, a.payoff.shape[0] + 1))
    compiled_hiding(method.update)(a, state, _schedule(method, prices), prices, conditional, scores[:-1])
    _look(a, state, scores[-1])
    return scores, state.best, np.nan


def _train_sampled(
    game: HiddenGame, learner: Learner, prices: FloatArray, seed: np.random.SeedSequence
) -> tuple[FloatArray, FloatArray, float]:
    """The same on episodes; at last the payoff of the mean projection."""
    a, (first, draws) = game.arrays, seed.spawn(2)
    state, method = begin(a, learner, np.random.default_rng(first)), learner.method
    scores = np.zeros((len(prices) + 1, a.payoff.shape[0] + 1))
    member = np.where(a.team == NOBODY, NOBODY, game.tree.graph.player[game.tree.position]).astype(np.int32)
    chosen, mean = np.zeros(len(a.parent), dtype=np.int32), np.zeros(len(state.projected))
    stream = draws.generate_state(1, np.uint64)
    loop = compiled_hiding(method.update, sampled=True)
    loop(a, state, _schedule(method, prices), prices, member, chosen, mean, stream, scores[:-1])
    _look(a, state, scores[-1])
    spread(a, mean, a.true, a.true_first, state.reach)
    return scores, state.best, float(expected(a, 0, state.reach))


def _schedule(method: Method, prices: FloatArray) -> FloatArray:
    return np.ascontiguousarray(method.schedule(np.arange(1.0, len(prices) + 1.0)))


def _look(a: HidingArrays, state: HidingState, scores: FloatArray) -> None:
    """Score the policy as it stands."""
    spread(a, state.policy, a.relaxed, a.relaxed_first, state.reach)
    project(a, state.policy, state.reach, state.projected, state.mass)
    score(a, state, scores)


def begin(a: HidingArrays, learner: Learner, rng: np.random.Generator) -> HidingState:
    """First policies at random, and room to work in."""
    moves, nodes = int(a.relaxed_first[-1]), len(a.parent)
    memory = np.zeros((learner.method.memory, moves))
    if learner.method.from_logits:
        memory[0] = np.log(rng.exponential(size=moves))
        policy = np.exp(memory[0])
    else:
        memory[0] = learner.spread * rng.random(moves)
        policy = np.maximum(memory[0], updates.NOISE)
    sizes = np.diff(a.relaxed_first)
    policy /= np.repeat(np.add.reduceat(policy, a.relaxed_first[:-1]), sizes)
    true, sets = int(a.true_first[-1]), len(a.relaxed_first) + len(a.true_first)
    return HidingState(
        policy, np.zeros(true), np.zeros(true), np.array([-np.inf]), memory, np.zeros(nodes), np.zeros(nodes),
        np.zeros(moves), np.zeros(sets),
    )  # fmt: skip


def _arrays(
    tree: GameTree,
    sides: Sequence[tuple[int, ...]],
    truths: Sequence[TreeMap],
    maps: Sequence[TreeMap],
    others: TabularPolicy | None,
) -> HidingArrays:
    graph, nodes = tree.graph, len(tree.position)
    player = graph.player[tree.position]
    team = np.full(nodes, NOBODY, dtype=np.int32)
    for number, side in enumerate(sides):
        team[np.isin(player, side)] = number
    weight = np.ones(nodes)
    below = np.arange(1, nodes, dtype=np.int32)
    weight[1:] = graph.probability[tree.edges(below)]
    if others is not None:
        _weigh(tree, team, others, weight)
    prior = np.ones(nodes)
    for begin, end in zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True):
        prior[begin:end] = prior[tree.parent[begin:end]] * weight[begin:end]
    ends = np.flatnonzero(player == TERMINAL)
    payoffs = graph.payoffs[graph.content[tree.position[ends]]]
    payoff = np.zeros((len(sides), nodes))
    for number, side in enumerate(sides):
        paid = payoffs[:, list(side)]
        if (np.abs(paid - paid[:, :1]) > EQUAL_PAYOFFS).any():
            raise UnsupportedGameError(f"{tree.name}: the members {side} of a team are paid differently")
        payoff[number, ends] = paid[:, 0]
    relaxed, relaxed_first = _lay_out(tree, maps)
    true, true_first = _lay_out(tree, truths)
    relaxed_team = np.repeat(np.arange(len(sides), dtype=np.int32), [found.size for found in maps])
    return HidingArrays(
        tree.parent,
        tree.first_child,
        team,
        weight,
        prior,
        payoff,
        relaxed,
        true,
        relaxed_first,
        true_first,
        relaxed_team,
    )


def _lay_out(tree: GameTree, maps: Sequence[TreeMap]) -> tuple[IntArray, IntArray]:
    """The teams' sets behind one another: (N,) set of each node, and (sets + 1,) first move of each set."""
    labels = np.full(len(tree.position), UNLABELLED, dtype=np.int32)
    count = 0
    for found in maps:
        own = found.labels != UNLABELLED
        labels[own] = found.labels[own] + count
        count += found.size
    sizes = np.zeros(count, dtype=np.int64)
    nodes = np.flatnonzero(labels != UNLABELLED)
    sizes[labels[nodes]] = np.diff(tree.first_child)[nodes]
    return labels, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def _weigh(tree: GameTree, team: IntArray, policy: TabularPolicy, weight: FloatArray) -> None:
    """The probabilities of moves of players in no team."""
    for infoset, (owner, node) in enumerate(zip(tree.infoset_player.tolist(), tree.infoset_node.tolist(), strict=True)):
        if team[node] == NOBODY:
            words = move_words(tree.menu(infoset))
            row = policy.probabilities(owner, tree.key(infoset)) if len(words) > 1 else {words[0]: 1.0}
            chances = [row.get(word, 0.0) for word in words]
            for place in np.flatnonzero(tree.infoset == infoset).tolist():
                weight[tree.first_child[place] : tree.first_child[place + 1]] = chances
