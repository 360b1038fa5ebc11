"""Exact figures of a strategy that is known by samples of its actions, with intervals that cover them.

The NashConv of a profile is a function of its probabilities at ``I`` information sets, of each of which there is an
independent sample of actions, or none.  Any fixed deviation ``x`` gains ``D(x, σ)``, a sum of products of probabilities
at different sets, so that its value at the empirical probabilities ``σ̂`` is an unbiased estimate of it.  The NashConv
is the maximum of ``D`` over deviations, and its value at ``σ̂`` is therefore biased upward.  The two ends of its 95 %
interval use this differently.

*Upper end*: the largest NashConv over the profiles ``σ`` with ``Σ N_i χ²_i(σ̂, σ) ≤ t²``, where ``χ²_i`` is Pearson's
distance at set ``i``, ``N_i`` its sample size, and ``t``, 1.96 for large samples, Student's quantile for the smallest
one (Owen 1988 advises so for small samples).  For a single probability this is the score interval of Wilson
(1927), which does not collapse where all answers are equal; for ``D(x, ·)`` with a fixed ``x`` it is the profile of the
score statistic, with one degree of freedom.  It covers the NashConv ``D(x*, σ)`` because it contains the upper end for
the unknown best deviation ``x*``: ties between deviations, as near an equilibrium, make it wider, never wrong.

*Lower end*: deviations that are best against one part of the samples are evaluated on the other (cross-fitting), which
estimates a gain that is no larger than the NashConv; the same score region gives the error.

The slopes of ``D`` are by Danskin's theorem those of the NashConv.  At sets without samples every strategy is possible:
the lower end is then the least that careful deviations gain whatever is played there, the upper end a best response
to opponents who choose there, knowing the history, what suits the deviator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, LongArray
from infoset.solvers.metrics import Evaluation, Intervals, best_behaviour, evaluate_plan
from infoset.statistics import student_95
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.kernels import best_where_free, choose_best, expect_up, gradient
from infoset.tree.plans import realisation, uniform
from infoset.tree.sequence_form import SequenceForm, find_sequences_and_reach, sets_of

FOLDS = 4
ROUNDS = 12  # of climbing
CAREFUL = 80  # rounds of fictitious play for deviations that gain whatever is played at sets without samples
NEWTON = 60
SMALLEST = 1e-12
NEGLIGIBLE = 1e-3  # as a share of what was climbed so far
SMALL = 5  # samples, for which the quantile of Student's distribution is not widened further


class Term(NamedTuple):
    """One part of a figure: the sum over the terminal rows of ``paid`` times the probability of the row."""

    paid: FloatArray  # (T,)
    player: int = -1
    """The player who deviates to ``plan``; -1 for nobody."""
    plan: FloatArray | None = None  # (S,)


class Figures:
    """Figures of strategies as polynomials in their probabilities."""

    def __init__(self, form: SequenceForm) -> None:
        self.form = form
        self.rows, self.paid = form.terminals()

    def gains(self, plan: FloatArray, share: float = 1.0) -> list[Term]:
        """Return ``share`` times what all players gain who deviate alone to their part of ``plan`` (S,)."""
        deviating = [Term(share * self.paid[:, p], p, plan) for p in range(self.form.num_players)]
        return [*deviating, Term(-share * self.paid.sum(axis=1))]

    def slopes(self, strategy: FloatArray, terms: Sequence[Term]) -> tuple[float, FloatArray]:
        """Return the sum of the terms for behaviour (S,), and its derivatives (S,) by the probabilities."""
        form, n = self.form, self.form.num_players
        plan, slopes, value = realisation(form, strategy), np.zeros(form.num_sequences), 0.0
        for paid, player, deviation in terms:
            mixed = plan
            if deviation is not None:
                own = form.player_sequences(player)
                mixed = plan.copy()
                mixed[own] = deviation[own]
            factors = mixed[self.rows]
            value += float(paid @ factors.prod(axis=1))
            for q in range(n):
                if q != player:
                    others = paid * np.delete(factors, q, axis=1).prod(axis=1)
                    slopes += np.bincount(self.rows[:, q], others, form.num_sequences)
        for player in range(n):
            expect_up(form.arrays, player, strategy, slopes, np.empty(form.num_infosets))
        inside = form.infoset_of >= 0
        slopes[inside] *= plan[form.arrays.parent[form.infoset_of[inside]]]
        slopes[~inside] = 0.0
        return value, slopes


class Region:
    """The profiles that samples do not contradict: within a weighted χ² distance of the empirical one.

    Sets without samples are free.
    """

    def __init__(self, form: SequenceForm, counts: FloatArray) -> None:
        """Take ``counts`` (S,): how often each action was drawn."""
        inside = np.flatnonzero(form.infoset_of >= 0)
        sets, first = form.infoset_of[inside], form.arrays.first.astype(np.int64)
        self.place = sets, inside - first[sets]
        self.inside, self.shape = inside, (form.num_infosets, int(form.arrays.size.max(initial=1)))
        drawn = self.table(counts, 0.0)
        self.totals = drawn.sum(axis=1, keepdims=True)
        self.free = self.totals[:, 0] == 0
        smallest = int(self.totals[~self.free].min(initial=np.inf)) if not self.free.all() else 0
        self.limit = student_95(max(smallest, SMALL))
        self.shares = np.divide(drawn, self.totals, out=np.zeros_like(drawn), where=self.totals > 0)
        self.centre = uniform(form)
        known = ~self.free[sets]
        self.centre[inside[known]] = self.shares[self.place][known]

    def table(self, values: FloatArray, missing: float) -> FloatArray:
        """Return values (S,) by information set and action, (I, A)."""
        found = np.full(self.shape, missing)
        found[self.place] = values[self.inside]
        return found

    def extreme(self, slopes: FloatArray) -> FloatArray:
        """Return the behaviour (S,) in the region with the largest sum of ``slopes`` (S,) times probabilities."""
        table = self.table(slopes, -np.inf)
        top = table.max(axis=1, keepdims=True)
        found = np.zeros(self.shape)
        found[np.arange(len(table)), table.argmax(axis=1)] = 1.0  # at free sets
        rest = np.flatnonzero(~self.free)
        spread = top - np.where(np.isfinite(table), table, np.inf).min(axis=1, keepdims=True)
        if len(rest) and spread[rest].max() > SMALLEST:
            found[rest] = self._within(table[rest], rest, float((spread * self.totals)[rest].max()))
        else:
            found[rest] = self.shares[rest]
        strategy = self.centre.copy()
        strategy[self.inside] = found[self.place]
        return strategy

    def _within(self, slopes: FloatArray, rest: LongArray, scale: float) -> FloatArray:
        """Return the probabilities at the sets ``rest``, for the multiplier at which the distance is the largest."""
        from scipy.optimize import brentq  # slow to load

        shares, totals = self.shares[rest], self.totals[rest]

        def excess(power: float) -> float:
            moved = _moved(slopes, shares, np.exp(power) * totals)
            ratio = np.divide(shares**2, moved, out=np.zeros_like(shares), where=shares > 0)
            distance = float((totals[:, 0] * (ratio.sum(axis=1) - 1)).sum())
            return log(max(distance, SMALLEST)) - 2 * log(self.limit)  # nearly linear in ``power``

        low, high = log(scale / float(totals.max())) - 20.0, log(scale / float(totals.min())) + 20.0
        power = low if excess(low) <= 0 else brentq(excess, low, high, xtol=1e-3)
        return _moved(slopes, shares, np.exp(power) * totals)


def _moved(slopes: FloatArray, shares: FloatArray, prices: FloatArray) -> FloatArray:
    """Return the probabilities (I, A) that maximise slopes less the price (I, 1) of χ² from ``shares`` (I, A).

    The optimum is ``share · sqrt(price / (m − slope))`` with the ``m`` of each set at which they sum to one, found by
    Newton's method; what is missing goes to the best action that was never drawn.
    """
    drawn = shares > 0
    slopes_of_drawn = np.where(drawn, slopes, -np.inf)
    middle = (slopes_of_drawn + prices * shares**2).max(axis=1, keepdims=True)
    for _ in range(NEWTON):  # convex and decreasing: the steps are all to the right
        gaps = np.where(drawn, middle - np.where(drawn, slopes, 0.0), 1.0)
        parts = shares * np.sqrt(prices / gaps)
        excess = parts.sum(axis=1, keepdims=True) - 1
        step = 2 * excess / (parts / gaps).sum(axis=1, keepdims=True)
        middle = middle + step
        if np.abs(excess).max() < 1e-8:
            break
    undrawn = np.where(drawn, -np.inf, slopes)
    best = undrawn.max(axis=1, keepdims=True)
    middle = np.maximum(middle, best)
    gaps = np.where(drawn, middle - np.where(drawn, slopes, 0.0), 1.0)
    moved = shares * np.sqrt(prices / gaps)
    left = 1 - moved.sum(axis=1)
    moved[np.arange(len(moved)), undrawn.argmax(axis=1)] += np.where(
        np.isfinite(best[:, 0]), np.maximum(left, 0.0), 0.0
    )
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def estimate(form: SequenceForm, tree: GameTree, draws: Sequence[Sequence[int]]) -> Evaluation:
    """Return the figures of a strategy of which only ``draws`` are known, with their 95 % intervals.

    ``draws`` (I,) lists for each information set the drawn actions by their numbers, in the order of drawing; an empty
    list is a set that was not asked.  The figures themselves are those of the shares, uniform where there are none.
    """
    figures = Figures(form)
    region = Region(form, _counts(form, draws))
    plan = realisation(form, region.centre)
    found = evaluate_plan(form, plan)
    high = _upper(figures, tree, region)
    low = min(_lower(figures, draws, region), found.nash_conv)
    n = form.num_players
    values = tuple([_value_interval(figures, tree, region, player) for player in range(n - form.zero_sum)])
    if form.constant_sum is not None and form.zero_sum:
        values = (*values, (form.constant_sum - values[0][1], form.constant_sum - values[0][0]))
    nash_conv = (low, max(high, found.nash_conv))
    intervals = Intervals(nash_conv, (nash_conv[0] / n, nash_conv[1] / n), values)
    return replace(found, exact=False, margin=(nash_conv[1] - nash_conv[0]) / 2, intervals=intervals)


def _counts(form: SequenceForm, draws: Sequence[Sequence[int]]) -> FloatArray:
    counts = np.zeros(form.num_sequences)
    for k, drawn in enumerate(draws):
        first, size = int(form.arrays.first[k]), int(form.arrays.size[k])
        counts[first : first + size] = np.bincount(np.asarray(drawn, dtype=np.int64), minlength=size)
    return counts


def _climb(
    figures: Figures, region: Region, terms: Callable[[FloatArray], list[Term]], sign: float, start: FloatArray
) -> tuple[float, FloatArray]:
    """Return the largest sum of terms times ``sign`` that is found in the region, and the behaviour (S,) there.

    Each round maximises the slopes at the point before; ``terms`` may depend on the point.
    """
    found, slopes = figures.slopes(start, terms(start))
    first, best, at = sign * found, sign * found, start
    for _ in range(ROUNDS):
        here = region.extreme(sign * slopes)
        found, slopes = figures.slopes(here, terms(here))
        gained = sign * found - best
        if gained > 0:
            best, at = sign * found, here
        if gained <= NEGLIGIBLE * (best - first) + SMALLEST:
            break
    return best, at


def _at_free(region: Region, form: SequenceForm, strategy: FloatArray) -> FloatArray:
    """Return the empirical behaviour (S,), with that of ``strategy`` at the free sets."""
    free = np.zeros(form.num_sequences, dtype=bool)
    free[region.inside] = region.free[region.place[0]]
    return np.where(free, strategy, region.centre)


def _upper(figures: Figures, tree: GameTree, region: Region) -> float:
    """Return the upper end of the interval of the NashConv."""
    form = figures.form

    def terms(strategy: FloatArray) -> list[Term]:
        return figures.gains(realisation(form, best_behaviour(form, realisation(form, strategy))))

    mixed = (region.centre + uniform(form)) / 2  # which reaches what the samples never did
    second = region.extreme(figures.slopes(mixed, terms(mixed))[1])
    climbs = [_climb(figures, region, terms, 1.0, start) for start in (region.centre, second)]
    found, at = max(climbs, key=itemgetter(0))
    if not region.free.any():
        return found
    inner = _at_free(region, form, at)
    error = found - figures.slopes(inner, terms(inner))[0]
    completions = Completions(form, tree, region)
    most = sum(map(completions.best_response, range(form.num_players)))
    return max(found, most - completions.extreme(completions.payoffs.sum(axis=1), min) + max(error, 0.0))


def _lower(figures: Figures, draws: Sequence[Sequence[int]], region: Region) -> float:
    """Return the lower end of the interval of the NashConv: what deviations chosen on other samples gain at least."""
    form = figures.form
    useful = [drawn if len(drawn) > 1 else () for drawn in draws]
    folds = min([FOLDS, *(len(drawn) for drawn in useful if drawn)])
    complete = all(useful)
    if not any(useful) or not (complete or form.zero_sum):
        return 0.0
    parts = [_counts(form, [drawn[k::folds] for drawn in useful]) for k in range(folds)]
    everything, gained, terms = np.sum(parts, axis=0), 0.0, list[Term]()
    for part in parts:
        others, own = Region(form, everything - part), Region(form, part)
        plan = realisation(form, others.centre)
        if complete:
            plan = realisation(form, best_behaviour(form, plan))
            gained += figures.slopes(own.centre, figures.gains(plan))[0] / folds
        else:
            plan = _careful(form, others)
            gained += (_constant(form) - sum(_best_where_free(form, own, plan, q)[0] for q in range(2))) / folds
        terms += figures.gains(plan, 1 / folds)
    used = Region(form, everything)
    least, at = _climb(figures, used, lambda _: terms, -1.0, used.centre)
    error = figures.slopes(_at_free(used, form, at), terms)[0] + least  # ``least`` is the negative of a minimum
    return max(gained - max(error, 0.0), 0.0)


def _constant(form: SequenceForm) -> float:
    """Return the sum of the payoffs, less the offsets, in a game for two with a constant sum."""
    assert form.constant_sum is not None
    return form.constant_sum - float(form.offsets.sum())


def _fixed(form: SequenceForm, region: Region) -> FloatArray:
    """Return the empirical behaviour (S,), negative at free sets."""
    return _at_free(region, form, np.full(form.num_sequences, -1.0))


def _best_where_free(form: SequenceForm, region: Region, plan: FloatArray, player: int) -> tuple[float, FloatArray]:
    """Return the most that a player can have against ``plan`` (S,) by its choices at free sets, and its behaviour."""
    fixed, values, strategy = _fixed(form, region), np.zeros(form.num_sequences), np.ones(form.num_sequences)
    gradient(form.arrays, player, plan, values)
    best_where_free(form.arrays, player, fixed, values)
    choose_best(form.arrays, player, values, strategy)
    return float(values[form.player_sequences(player).start]), np.where(fixed >= 0, fixed, strategy)


def _careful(form: SequenceForm, region: Region) -> FloatArray:
    """Return realisation weights (S,) of deviations that gain whatever the others play at free sets.

    By fictitious play (Brown 1951) of each deviator against an opponent who chooses there.  Any plan is valid; more
    rounds give larger gains.
    """
    opponents = realisation(form, region.centre)
    deviations = realisation(form, best_behaviour(form, opponents))
    for number in range(1, CAREFUL):
        chosen = np.ones(form.num_sequences)
        for player in range(2):
            own = form.player_sequences(player)
            chosen[own] = _best_where_free(form, region, deviations, player)[1][own]
        opponents += (realisation(form, chosen) - opponents) / (number + 1)
        deviations += (realisation(form, best_behaviour(form, opponents)) - deviations) / (number + 1)
    return deviations


def _value_interval(figures: Figures, tree: GameTree, region: Region, player: int) -> tuple[float, float]:
    """Return the interval of a player's expected payoff."""
    form, terms, ends = figures.form, [Term(figures.paid[:, player])], list[float]()
    for sign, choose in ((-1.0, min), (1.0, max)):
        found, at = _climb(figures, region, lambda _: terms, sign, region.centre)
        end = sign * found + float(form.offsets[player])
        if region.free.any():
            error = sign * found - figures.slopes(_at_free(region, form, at), terms)[0]
            completions = Completions(form, tree, region)
            end = choose(end, completions.extreme(completions.payoffs[:, player], choose) + error)
        ends.append(end)
    return ends[0], ends[1]


class Completions:
    """Bounds over everything that could be played at free sets, with the empirical probabilities elsewhere.

    At free sets each history is chosen for by itself, so that a bound may be further away than any strategy leads.
    """

    def __init__(self, form: SequenceForm, tree: GameTree, region: Region) -> None:
        graph = tree.graph
        self.form, self.tree, self.strategy = form, tree, region.centre
        self.sequences, self.chance = find_sequences_and_reach(tree, form)
        self.mover = graph.player[tree.position]
        self.sets = sets_of(tree, form)
        self.free = np.append(region.free, False)[self.sets]
        self.ends = np.flatnonzero(self.mover == TERMINAL)
        self.payoffs = graph.payoffs[graph.content[tree.position[self.ends]]]  # (number of ends, n)

    def _weights(self, node: int) -> list[float]:
        """Return the probabilities of a player's actions at a node."""
        count = int(self.tree.first_child[node + 1] - self.tree.first_child[node])
        k = int(self.sets[node])
        if k < 0:
            return [1.0] * count
        first = int(self.form.arrays.first[k])
        return list(map(float, self.strategy[first : first + count]))

    def extreme(self, paid: FloatArray, choose: Callable[..., float]) -> float:
        """Return the least or largest expectation of what the terminal histories pay (number of ends,)."""
        values = np.zeros(len(self.mover))
        values[self.ends] = paid * self.chance[self.ends]
        children = self.tree.first_child
        for node in range(len(values) - 1, -1, -1):
            if self.mover[node] == TERMINAL:
                continue
            below = values[children[node] : children[node + 1]]
            if self.free[node]:
                values[node] = choose(below)
            else:
                values[node] = below.sum() if self.mover[node] == CHANCE else below @ self._weights(node)
        return float(values[0])

    def best_response(self, player: int) -> float:
        """Return the most that a player can have where the others choose, at free sets, what suits it best."""
        parts: list[dict[int, float] | None] = [None] * len(self.mover)
        paid = self.payoffs[:, player] * self.chance[self.ends]
        for end, amount in zip(self.ends.tolist(), paid.tolist(), strict=True):
            parts[end] = {int(self.sequences[end, player]): amount}
        children = self.tree.first_child.tolist()
        for node in range(len(parts) - 1, -1, -1):
            if parts[node] is not None:
                continue
            below = [parts[child] or {} for child in range(children[node], children[node + 1])]
            for child in range(children[node], children[node + 1]):
                parts[child] = {}
            if self.free[node] and self.mover[node] != player:
                keys = set().union(*below)
                parts[node] = {key: max(one.get(key, 0.0) for one in below) for key in keys}
                continue
            weights = [1.0] * len(below) if self.mover[node] in (CHANCE, player) else self._weights(node)
            total: dict[int, float] = {}
            for weight, one in zip(weights, below, strict=True):
                for key, amount in one.items():
                    total[key] = total.get(key, 0.0) + weight * amount
            parts[node] = total
        values = np.zeros(self.form.num_sequences)
        for key, amount in (parts[0] or {}).items():
            values[key] = amount
        best_where_free(self.form.arrays, player, np.full_like(values, -1.0), values)
        return float(values[self.form.player_sequences(player).start])
