"""Bradley-Terry ratings: how strong each team is, from who beat whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from infoset.base import FloatArray
from infoset.statistics import NORMAL_95

ELO = 400 / log(10)  # points of a rating for one unit of log strength: ten to one is 400 points
PRIOR = 800.0  # standard deviation, in points, of a team nothing is known of


@dataclass(frozen=True)
class Rating:
    """A team's strength in Elo points about the mean of all teams, with its 95 % interval."""

    team: str
    rating: float
    low: float
    high: float


def bradley_terry(teams: Sequence[str], wins: FloatArray) -> tuple[Rating, ...]:
    """Ratings in the order of ``teams``; ``wins[i, j]`` of i's games against j were won, a tie is half a win.

    The model of Bradley & Terry (1952), *Rank Analysis of Incomplete Block Designs I*, Biometrika 39: i beats j with
    probability 1 / (1 + 10^((r_j - r_i) / 400)).  Each rating has a normal prior about the mean with standard
    deviation ``PRIOR`` points, too weak to matter where both sides have won; it keeps the rating of a team finite
    that won or lost everything.  The fit is the posterior's maximum.  Intervals are normal, from the curvature there
    (Laplace's approximation); a tie is taken for as uncertain as a win, so with many ties they are on the wide side.
    """
    n = len(teams)
    games, precision = wins + wins.T, (ELO / PRIOR) ** 2

    def loss(theta: FloatArray) -> float:
        return float(precision * theta @ theta / 2 - np.sum(wins * log_expit(theta[:, None] - theta)))

    def slope(theta: FloatArray) -> FloatArray:
        expected: FloatArray = games * expit(theta[:, None] - theta)
        gradient: FloatArray = precision * theta - np.sum(wins - expected, axis=1)
        return gradient

    def curvature(theta: FloatArray) -> FloatArray:
        chance = expit(theta[:, None] - theta)
        weight = games * chance * (1 - chance)
        return np.asarray(np.diag(np.sum(weight, axis=1) + precision) - weight)

    theta = minimize(loss, np.zeros(n), jac=slope, hess=curvature, method="trust-exact", options={"gtol": 1e-10}).x
    centre = np.eye(n) - 1 / n  # ratings are differences from the mean
    spread = centre @ np.linalg.inv(curvature(theta)) @ centre
    points = ELO * (theta - theta.mean())
    margins = NORMAL_95 * ELO * np.sqrt(np.maximum(np.diag(spread), 0.0))
    rows = zip(teams, points.tolist(), margins.tolist(), strict=True)
    return tuple([Rating(team, point, point - margin, point + margin) for team, point, margin in rows])
