"""Exact evaluation of profiles for any number of players: best responses and what they gain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from infoset import displays
from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.errors import UnsupportedGameError
from infoset.names import check_range
from infoset.policies.tabular import TabularPolicy
from infoset.tree.factored_images import Images, best_up_images, gradient_images, plan_images
from infoset.tree.kernels import best_up, best_where_free, choose_best, gradient, plan_down, root_values
from infoset.tree.payoff_scale import EQUAL, are_common, difference_that_counts
from infoset.tree.plans import behaviour, realisation, uniform
from infoset.tree.sequence_form import SequenceForm

if TYPE_CHECKING:
    from infoset.policies.loading import SavedPolicy
    from infoset.tree.factored_form import FactoredForm


@dataclass(frozen=True)
class Intervals:
    """The 95 % confidence intervals of figures of a strategy that is known by samples of its actions alone."""

    nash_conv: tuple[float, float]
    exploitability: tuple[float, float]
    values: tuple[tuple[float, float], ...]
    """(n,) that of each player's expected payoff."""


@dataclass(frozen=True)
class Evaluation:
    """A profile's figures; a gain is what one player wins by deviating alone to its best response.

    All figures are in the units of the game's payoffs.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> plan = infoset.TabularPolicy.uniform(form).plan(form)
    >>> result = infoset.evaluate(form, plan)
    >>> round(result.exploitability, 6), round(result.epsilon, 6)
    (0.458333, 0.541667)
    """

    nash_conv: float
    """Sum of the gains."""
    exploitability: float
    """Mean of the gains over the players."""
    epsilon: float
    """Largest gain: the profile is an ε-Nash equilibrium."""
    values: tuple[float, ...]
    """Expected payoff of each player."""
    best_response_values: tuple[float, ...]
    """Payoff of each player's best response to the others."""
    exact: bool = True
    """Whether the figures are exact; otherwise responses were learnt and played, and the gains are lower bounds."""
    margin: float = 0.0
    """Half the width of the 95 % confidence interval of ``nash_conv``; 0 where it is exact."""
    reason: str = ""
    """Why it is not exact, or what several players, who have no best responses of their own, gain together."""
    intervals: Intervals | None = None
    """The intervals of the figures where the strategy was estimated from samples."""
    best_response: SavedPolicy | None = field(default=None, repr=False, compare=False)
    """Each player's best response to the others, where that was asked for."""

    def _repr_html_(self) -> str:
        return displays.render("evaluation", self)

    @classmethod
    def of(cls, values: Iterable[float], best: Iterable[float], offsets: Iterable[float] | None = None) -> Evaluation:
        """Make an evaluation of expected payoffs (n,) and best-response payoffs (n,), adding ``offsets`` (n,) to both.

        Gains are computed before that, since they may be small beside the offsets.
        """
        expected, attained = list(map(float, values)), list(map(float, best))
        gains = [max(b - v, 0.0) for b, v in zip(attained, expected, strict=True)]  # never negative but for rounding
        added = [0.0] * len(gains) if offsets is None else list(map(float, offsets))
        values, best = (tuple(map(float.__add__, found, added)) for found in (expected, attained))
        return cls(sum(gains), sum(gains) / len(gains), max(gains), values, best)


def evaluate_plan(form: SequenceForm, plan: FloatArray, fixed: FloatArray | None = None) -> Evaluation:
    """Return exact figures of the profile with realisation weights ``plan`` (S,).

    ``fixed`` (S,), or (0,): behaviour that nobody may deviate from, negative where it is free; players without a free
    information set are not counted in ``exploitability``.

    By one pass over the sequence form for each player (Johanson et al. 2011).

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> plan = infoset.TabularPolicy.uniform(form).plan(form)
    >>> round(infoset.evaluate(form, plan).nash_conv, 6)       # 11/12
    0.916667
    """
    if fixed is not None and len(fixed):
        return _evaluate_locked(form, plan, fixed)
    return Evaluation.of(*_shifted_values(form, plan), form.offsets)


def player_gains(form: SequenceForm, plan: FloatArray) -> FloatArray:
    """Return (n,) what each player gains by deviating alone from ``plan`` (S,) to a best response."""
    values, best = _shifted_values(form, plan)
    return np.asarray(np.maximum(best - values, 0.0))


def _shifted_values(form: SequenceForm, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each player's payoff (n,) and that of its best response (n,), both less the form's ``offsets``."""
    n = form.num_players
    values, best, sequence_values = np.empty(n), np.empty(n), np.empty(form.num_sequences)
    if form.parallel is None:
        root_values(form.arrays, plan, sequence_values, values, best)
        return values, best
    for player in range(n):
        own = form.player_sequences(player)
        form.parallel.gradient(player, plan, sequence_values)
        values[player] = plan[own] @ sequence_values[own]
        best_up(form.arrays, player, sequence_values)
        best[player] = sequence_values[own.start]
    return values, best


def evaluate_images(factored: FactoredForm, probabilities: FloatArray) -> Evaluation:
    """Return exact figures of behaviour (S, G) on all images of a factored form's sequences under its kept elements."""
    if factored.group.order == 1:
        return evaluate_plan(factored.form, realisation(factored.form, probabilities[:, 0].copy()))
    arrays, images, n = factored.form.arrays, Images.of(factored), len(factored.rules.players)
    plan, sequence_values = np.empty_like(probabilities), np.empty_like(probabilities)
    plan_images(arrays, images, probabilities, plan)
    gradient_images(arrays, images, plan, sequence_values)
    values, best = np.empty(n), np.empty(n)
    for player in range(n):
        own = factored.form.player_sequences(player)
        values[player] = np.vdot(plan[own], sequence_values[own])
        best_up_images(arrays, images, player, sequence_values)
        best[player] = sequence_values[own.start].sum()
    return Evaluation.of(values, best)


def _evaluate_locked(form: SequenceForm, plan: FloatArray, fixed: FloatArray) -> Evaluation:
    values, best, sequence_values = np.empty(form.num_players), np.empty(form.num_players), np.zeros(form.num_sequences)
    for player in range(form.num_players):
        own = form.player_sequences(player)
        gradient(form.arrays, player, plan, sequence_values)
        values[player] = plan[own] @ sequence_values[own]
        best_where_free(form.arrays, player, fixed, sequence_values)
        best[player] = sequence_values[own.start]
    found = Evaluation.of(values, best, form.offsets)
    free = sum(bool((fixed[form.arrays.first[list(form.player_infosets(p))]] < 0).any()) for p in range(len(values)))
    return replace(found, exploitability=found.nash_conv / max(free, 1))


@checks_arguments
def exploitability(form: SequenceForm, plan: FloatArray) -> float:
    """Return the mean over the players of what each gains by deviating from ``plan`` (S,) to a best response.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> plan = infoset.TabularPolicy.uniform(form).plan(form)
    >>> round(infoset.exploitability(form, plan), 6)
    0.458333
    """
    return evaluate_plan(form, plan).exploitability


@checks_arguments
def nash_conv(form: SequenceForm, plan: FloatArray) -> float:
    """Return the sum over the players of what each gains by deviating from ``plan`` (S,) to a best response.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> plan = infoset.TabularPolicy.uniform(form).plan(form)
    >>> round(infoset.nash_conv(form, plan), 6)
    0.916667
    """
    return evaluate_plan(form, plan).nash_conv


@checks_arguments
def expected_values(form: SequenceForm, plan: FloatArray) -> FloatArray:
    """Return every player's expected payoff (n,) under ``plan`` (S,).

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> plan = infoset.TabularPolicy.uniform(form).plan(form)
    >>> infoset.expected_values(form, plan).round(3).tolist()
    [0.125, -0.125]
    """
    return np.array(evaluate_plan(form, plan).values)


@checks_arguments
def best_response(form: SequenceForm, plan: FloatArray, player: int) -> FloatArray:
    """Return ``plan`` (S,) with ``player``'s part replaced by a pure best response to the others.

    ``player`` is counted from 0.  Ties go to the first of the best moves.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> plan = infoset.TabularPolicy.uniform(form).plan(form)
    >>> reply = infoset.best_response(form, plan, player=0)
    >>> round(float(infoset.expected_values(form, reply)[0]), 6)
    0.5
    """
    check_range("player", player, 0, form.num_players - 1)
    a, values = form.arrays, np.zeros(form.num_sequences)
    gradient(a, player, plan, values)
    best_up(a, player, values)
    strategy = np.zeros(form.num_sequences)
    choose_best(a, player, values, strategy)
    response = plan.copy()
    plan_down(a, player, strategy, response)
    return response


def best_responses(form: SequenceForm, plan: FloatArray) -> TabularPolicy:
    """Return each player's pure best response to the others as one policy.

    >>> from infoset.solvers.metrics import best_responses
    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> best_responses(form, infoset.TabularPolicy.uniform(form).plan(form)).probabilities(0, "K")
    {'pass': 0.0, 'bet': 1.0}
    """
    return TabularPolicy.from_behaviour(form, best_behaviour(form, plan), {"method": "best-response"})


def best_behaviour(form: SequenceForm, plan: FloatArray) -> FloatArray:
    """Return behaviour (S,) in which each player's part is a pure best response to the others in ``plan`` (S,)."""
    strategy = np.ones(form.num_sequences)
    for player in range(form.num_players):
        own = form.player_sequences(player)
        strategy[own] = behaviour(form, best_response(form, plan, player))[own]
    return strategy


def polish(form: SequenceForm, plan: FloatArray) -> FloatArray:
    """Return ``plan`` (S,) after the players, in turn, took pure best responses to each other until nobody gained.

    With a common payoff every response raises it, so this ends; the profile is a pure equilibrium and its value is at
    least that of the first one.  Raises ``UnsupportedGameError`` where payoffs differ.

    >>> from infoset.solvers.metrics import polish
    >>> form = infoset.SequenceForm.of(infoset.load("tiny_hanabi(game=F)"))
    >>> plan = infoset.TabularPolicy.uniform(form).plan(form)
    >>> before, after = (infoset.expected_values(form, p)[0] for p in (plan, polish(form, plan)))
    >>> bool(after > before)
    True
    """
    check_common_payoff(form)
    value, least = -np.inf, EQUAL * form.widest_range
    while (found := float(_shifted_values(form, plan)[0][0])) > value + least:
        value = found
        for player in range(form.num_players):
            plan = best_response(form, plan, player)
    return plan


def check_common_payoff(form: SequenceForm) -> None:
    """Raise ``UnsupportedGameError`` unless all players are always paid the same."""
    least = difference_that_counts(np.stack([form.lowest, form.highest]))
    if not are_common(form.terminals()[1]) or np.ptp(form.offsets) > least:
        raise UnsupportedGameError(f"{form.name} is no common-payoff game; best responses in turn need not end there")


@checks_arguments
def performance(form: SequenceForm, plan: FloatArray) -> float:
    """Return what the profile ``plan`` (S,) wins against uniformly random opponents (Lanctot 2014, equation 11).

    The sum over players of how much more each wins than a uniform player in its seat, all others uniform.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> plan = infoset.TabularPolicy.uniform(form).plan(form)
    >>> infoset.performance(form, plan)
    0.0
    """
    baseline = realisation(form, uniform(form))
    expected = expected_values(form, baseline)
    total = 0.0
    for player in range(form.num_players):
        own = form.player_sequences(player)
        mixed = baseline.copy()
        mixed[own] = plan[own]
        total += expected_values(form, mixed)[player] - expected[player]
    return float(total)
