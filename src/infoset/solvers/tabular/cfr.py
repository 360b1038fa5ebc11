"""Counterfactual regret minimisation: the methods of its family as schedules of one local update."""

from __future__ import annotations

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.errors import ParameterError, shorten
from infoset.names import Value, format_value, full_name
from infoset.solvers.tabular import updates
from infoset.solvers.tabular.loop import Method, Schedule

HORIZON = 1000
MAX_EXPONENT = 1000
MAX_UNITS = 1e18  # for parameters in units of payoffs or their inverse


@checks_arguments
def cfr(alternating: bool = True) -> Method:
    """CFR (Zinkevich et al. 2007): regret matching, uniform average.

    >>> infoset.solve(infoset.load("kuhn_poker"), infoset.cfr(), iterations=100).nash_conv < 0.1
    True
    """
    return _discounted(full_name("cfr", cfr, alternating=alternating), alternating, 0.0, _one, _one)


@checks_arguments
def cfr_plus(averaging: Value = 1.0, horizon: int = HORIZON, alternating: bool = True) -> Method:
    """CFR+ (Tammelin 2014): regret matching+, linear average.

    Iteration t has weight t**averaging in the average.  Raises ``ParameterError``.

    >>> infoset.solve(infoset.load("kuhn_poker"), infoset.cfr_plus(), iterations=100).nash_conv < 0.1
    True
    """
    name = full_name("cfr+", cfr_plus, averaging=averaging, horizon=horizon, alternating=alternating)
    return _discounted(name, alternating, averaging, _one, _zero, horizon)


@checks_arguments
def linear_cfr(alternating: bool = True) -> Method:
    """Linear CFR (Brown & Sandholm 2019): regrets and average weighted by t.

    >>> infoset.solve(infoset.load("kuhn_poker"), infoset.linear_cfr(), iterations=100).nash_conv < 0.1
    True
    """
    name = full_name("linear-cfr", linear_cfr, alternating=alternating)
    return _discounted(name, alternating, 1.0, _power(1.0), _power(1.0))


@checks_arguments
def dcfr(
    alpha: float = 1.5, beta: float = 0.0, gamma: Value = 2.0, horizon: int = HORIZON, alternating: bool = True
) -> Method:
    """DCFR(α, β, γ) (Brown & Sandholm 2019): positive regrets discounted by t^α/(t^α+1), negative by β, average γ.

    Raises ``ParameterError`` for values out of range.

    >>> infoset.solve(infoset.load("kuhn_poker"), infoset.dcfr(alpha=1.5, beta=0.0), iterations=100).nash_conv < 0.1
    True
    """
    _finite("dcfr", alpha=alpha, beta=beta)
    name = full_name("dcfr", dcfr, alpha=alpha, beta=beta, gamma=gamma, horizon=horizon, alternating=alternating)
    return _discounted(name, alternating, gamma, _power(alpha), _power(beta), horizon)


@checks_arguments
def pcfr_plus(averaging: Value = 5.0, horizon: int = HORIZON, alternating: bool = True) -> Method:
    """PCFR+ (Farina, Kroer & Sandholm 2021): predictive regret matching+, average weighted by t^averaging.

    Raises ``ParameterError`` for values out of range.

    >>> infoset.solve(infoset.load("kuhn_poker"), infoset.pcfr_plus(), iterations=100).nash_conv < 0.1
    True
    """
    name = full_name("pcfr+", pcfr_plus, averaging=averaging, horizon=horizon, alternating=alternating)
    return _predictive(name, alternating, averaging, _one, horizon)


@checks_arguments
def pdcfr_plus(alpha: float = 2.3, averaging: Value = 5.0, horizon: int = HORIZON, alternating: bool = True) -> Method:
    """PDCFR+ (Xu et al. 2024): PCFR+ with regrets discounted by t^α/(t^α+1).

    Raises ``ParameterError`` for values out of range.

    >>> infoset.solve(infoset.load("kuhn_poker"), infoset.pdcfr_plus(), iterations=100).nash_conv < 0.1
    True
    """
    _finite("pdcfr+", alpha=alpha)
    name = full_name("pdcfr+", pdcfr_plus, alpha=alpha, averaging=averaging, horizon=horizon, alternating=alternating)
    return _predictive(name, alternating, averaging, _power(alpha), horizon)


@checks_arguments
def hs_dcfr(gamma: float = 30.0, horizon: int = HORIZON, alternating: bool = True) -> Method:
    """HS-DCFR(γ) (Zhang, McAleer & Sandholm 2024): DCFR with α = 1 + 3t/n, β = -1 - 2t/n and an average by γ - 5t/n.

    ``gamma`` is 30 or 15 in the paper; ``horizon`` is n, the planned number of iterations, after which nothing changes.
    Raises ``ParameterError`` for values out of range.

    >>> infoset.solve("kuhn_poker", infoset.hs_dcfr(horizon=100), iterations=100).nash_conv < 0.1
    True
    """
    name = full_name("hs-dcfr", hs_dcfr, gamma=gamma, horizon=horizon, alternating=alternating)
    falling = _falling("hs-dcfr", gamma)

    def share(t: FloatArray) -> FloatArray:
        return np.minimum(t / horizon, 1.0)

    def positive(t: FloatArray) -> FloatArray:
        return np.asarray(1 / (1 + t ** -(1 + 3 * share(t))))

    def negative(t: FloatArray) -> FloatArray:
        return np.asarray(1 / (1 + t ** (1 + 2 * share(t))))

    return _discounted(name, alternating, falling, positive, negative, horizon)


@checks_arguments
def hs_pcfr_plus(gamma: float = 30.0, horizon: int = HORIZON, alternating: bool = True) -> Method:
    """HS-PCFR+(γ) (Zhang, McAleer & Sandholm 2024): PCFR+ with an average by γ - 5t/n.

    ``gamma`` is 30 or 15 in the paper; ``horizon`` is n, the planned number of iterations, after which nothing changes.
    Raises ``ParameterError`` for values out of range.

    >>> infoset.solve("kuhn_poker", infoset.hs_pcfr_plus(horizon=100), iterations=100).nash_conv < 0.1
    True
    """
    name = full_name("hs-pcfr+", hs_pcfr_plus, gamma=gamma, horizon=horizon, alternating=alternating)
    return _predictive(name, alternating, _falling("hs-pcfr+", gamma), _one, horizon)


def _falling(method: str, gamma: float) -> Value:
    """Return an exponent of the average that falls from ``gamma`` by 5 over the horizon."""
    if not 5 <= gamma <= MAX_EXPONENT:
        raise ParameterError(f"{method}: gamma={gamma:g} is out of range; allowed: 5 to {MAX_EXPONENT}")
    return (float(gamma), float(gamma) - 5.0)


@checks_arguments
def vad_cfr(expected: float = 2.0, warm_up: int = 500, alternating: bool = True) -> Method:
    """VAD-CFR (Li, Schultz, Hennes & Lanctot 2026, arXiv 2602.16928v1): found by a program that rewrote CFR+.

    Regrets are discounted faster where they were large recently, and behaviour is optimistic about them; the average
    begins after ``warm_up`` iterations, before which the answer is the last profile.  ``expected`` is the largest
    regret expected of an iteration, in units of payoffs.  The paper's code leaves open whether information sets share
    the moving mean of regret magnitudes; here each has its own.  Raises ``ParameterError`` for values out of range.

    >>> infoset.solve("kuhn_poker", infoset.vad_cfr(), iterations=1000).nash_conv < 1e-12
    True
    """
    _finite("vad-cfr", MAX_UNITS, expected=expected)
    if expected <= 0 or warm_up < 0:
        raise ParameterError(f"vad-cfr: expected={expected:g} must be above 0, and warm_up={warm_up} not below it")
    name = full_name("vad-cfr", vad_cfr, expected=expected, warm_up=warm_up, alternating=alternating)

    def schedule(t: FloatArray) -> FloatArray:
        return np.stack([_one(t), t - 1, np.full_like(t, expected), np.full_like(t, warm_up)], axis=1)

    return Method(name, updates.volatility_adaptive, schedule, 2, alternating, weigh=updates.by_magnitude)


@checks_arguments
def hedge(eta: float = 1.0, decay: float = 0.5, averaging: float = 0.0, alternating: bool = True) -> Method:
    """Exponential weights at every information set, learning rate ``eta / t**decay``.

    Freund & Schapire 1997; ``eta`` is in units of one over payoffs.  Raises ``ParameterError``.

    >>> infoset.solve(infoset.load("kuhn_poker"), infoset.hedge(eta=5.0), iterations=1000).nash_conv < 0.1
    True
    """
    _finite("hedge", decay=decay)
    _finite("hedge", MAX_UNITS, eta=eta)
    if eta <= 0 or not 0 <= decay <= 1:
        raise ParameterError(f"hedge: eta={eta} must be positive and decay={decay} between 0 and 1")
    average = discount(averaging, HORIZON)

    def schedule(t: FloatArray) -> FloatArray:
        return np.stack([average(t), eta / t**decay], axis=1)

    name = full_name("hedge", hedge, eta=eta, decay=decay, averaging=averaging, alternating=alternating)
    return Method(name, updates.hedge, schedule, alternating=alternating, from_logits=True)


def discount(averaging: Value, horizon: int) -> Schedule:
    """Return the factor ((t-1)/t)^γ on the average before iteration t, so that iteration s has weight s^γ.

    ``averaging`` is γ, or ``[a, b]``: γ falls linearly from a to b over the first ``horizon`` iterations.
    """
    ends = averaging if isinstance(averaging, tuple) else (averaging, averaging)
    if len(ends) != 2 or not all(isinstance(e, (int, float)) and 0 <= e <= MAX_EXPONENT for e in ends):
        shown = shorten(format_value(averaging))
        raise ParameterError(f"averaging={shown} is not a number from 0 to {MAX_EXPONENT} or a pair [start,end]")
    if horizon < 1:
        raise ParameterError(f"horizon={horizon} is not a positive number of iterations")
    low, high = float(ends[0]), float(ends[1])  # type: ignore[arg-type]

    def factor(t: FloatArray) -> FloatArray:
        gamma: FloatArray = low + (high - low) * np.minimum(t / horizon, 1)
        return ((t - 1) / t) ** gamma

    return factor


def _discounted(
    name: str, alternating: bool, averaging: Value, positive: Schedule, negative: Schedule, horizon: int = HORIZON
) -> Method:
    average = discount(averaging, horizon)

    def schedule(t: FloatArray) -> FloatArray:
        return np.stack([average(t), positive(t), negative(t)], axis=1)

    return Method(name, updates.regret_matching, schedule, alternating=alternating)


def _predictive(name: str, alternating: bool, averaging: Value, positive: Schedule, horizon: int) -> Method:
    average = discount(averaging, horizon)

    def schedule(t: FloatArray) -> FloatArray:
        return np.stack([average(t), positive(t)], axis=1)

    return Method(name, updates.predictive, schedule, alternating=alternating)


def _one(t: FloatArray) -> FloatArray:
    return np.ones_like(t)


def _zero(t: FloatArray) -> FloatArray:
    return np.zeros_like(t)


def _power(exponent: float) -> Schedule:
    """Return the factor t^exponent / (t^exponent + 1), written so that large powers do not overflow."""

    def factor(t: FloatArray) -> FloatArray:
        return 1 / (1 + t**-exponent)

    return factor


def _finite(method: str, most: float = MAX_EXPONENT, **parameters: float) -> None:
    for name, value in parameters.items():
        if not -most <= value <= most:
            raise ParameterError(f"{method}: {name}={shorten(str(value))} is out of range; at most {most:g} in size")


def for_products(dealt: bool) -> Method:
    """Return the method for a factored form: a predictive one where chance deals nothing.

    See Farina, Kroer & Sandholm 2021.
    """
    return dcfr() if dealt else pdcfr_plus()


def for_hands() -> Method:
    """Return the method for the vector form: the one with the fewest iterations on spots of hold'em."""
    return dcfr(gamma=4.0)
