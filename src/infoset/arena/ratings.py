"""Ratings of teams from pairwise results (Bradley-Terry), and of agents from tables and teams (OpenSkill)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from infoset.base import FloatArray
from infoset.statistics import NORMAL_95

ELO = 400 / log(10)  # points of a rating for one unit of log strength: ten to one is 400 points
PRIOR = 800.0  # standard deviation of the prior, in points


@dataclass(frozen=True)
class Rating:
    """A team's strength in Elo points relative to the mean of all teams, with its 95 % interval."""

    team: str
    rating: float
    low: float
    high: float


@dataclass(frozen=True)
class Skill:
    """An agent's strength on OpenSkill's scale, where 25 is the prior mean, with its 95 % interval."""

    agent: str
    games: int
    skill: float
    low: float
    high: float


def openskill(games: Iterable[Sequence[tuple[tuple[str, ...], float]]]) -> tuple[Skill, ...]:
    """Rate agents from ``games`` in their order, strongest first; each game lists its teams with their scores.

    The strength of a team is the sum of its agents', and a table of more than two teams is ranked as a whole: the model
    of Plackett and Luce in the approximation of Weng & Lin (2011), *A Bayesian Approximation Method for Online
    Ranking*, JMLR 12.  Games in which an agent meets itself are left out.
    """
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    known: dict[str, Any] = {}
    played: Counter[str] = Counter()
    for game in games:
        agents = [agent for team, _ in game for agent in team]
        for agent in agents:
            known.setdefault(agent, model.rating())
        if len(set(agents)) < len(agents):
            continue
        before = [[known[agent] for agent in team] for team, _ in game]
        after = model.rate(before, scores=[score for _, score in game])
        for (team, _), rated in zip(game, after, strict=True):
            known.update(zip(team, rated, strict=True))
            played.update(team)
    found = [
        Skill(agent, played[agent], r.mu, r.mu - NORMAL_95 * r.sigma, r.mu + NORMAL_95 * r.sigma)
        for agent, r in known.items()
        if played[agent]
    ]
    return tuple(sorted(found, key=lambda skill: -skill.skill))


def bradley_terry(teams: Sequence[str], wins: FloatArray) -> tuple[Rating, ...]:
    """Rate teams, in the order of ``teams``; ``wins[i, j]`` is the number of i's wins against j, a tie half a win.

    The model of Bradley & Terry (1952), *Rank Analysis of Incomplete Block Designs I*, Biometrika 39: i beats j with
    probability 1 / (1 + 10^((r_j - r_i) / 400)).  Each rating has a normal prior about the mean with standard
    deviation ``PRIOR`` points, too weak to matter where both sides have won; it keeps the rating finite for a team
    that won or lost everything.  The fit maximises the posterior.  Intervals are normal, from the curvature there
    (Laplace's approximation); a tie is treated as equally uncertain as a win, so with many ties they are rather wide.
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
