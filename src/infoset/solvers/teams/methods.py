"""The methods of ``solve`` for players who share a payoff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

import numpy as np

from infoset.compiled import Compiled
from infoset.errors import BudgetError, ParameterError, UnknownNameError, UnsupportedGameError, shorten
from infoset.names import Name, Value, build, check_choice, format_value, full_name
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Limits, OneCall, Point
from infoset.solvers.method import Checked
from infoset.solvers.teams.annealing import Annealings, annealings
from infoset.solvers.teams.hidden_game import HiddenGame
from infoset.solvers.teams.information_relaxation import Relaxations, check_penalty
from infoset.solvers.teams.optimum import METHODS as PROOFS
from infoset.solvers.teams.optimum import PROVING, TeamOptimum, check_provable, team_optimum
from infoset.solvers.teams.polynomial import MOST_NODES
from infoset.solvers.teams.progressive_hiding import (
    LEARNERS,
    PENALTIES,
    Hidings,
    NoRegretLearner,
    Penalty,
    Setting,
    ftrl,
    halving,
    linear,
)
from infoset.solvers.teams.team_maxmin import read_teams
from infoset.tree.information import RELAXATIONS

SECONDS_FOR_OPTIMUM = 10.0
AUTO = "auto"
RUNS_OF_SETTINGS, RUNS_OF_BEST = 2, 12
"""The number of runs of each setting in the first of the rounds that choose one, and of the one chosen."""
WORK = 50_000_000
"""How many nodes one run of each of the settings may visit; where it would be more, fewer are tried."""


@dataclass(frozen=True)
class TeamExact(Checked):
    """The optimum of a common-payoff game, and what proves it."""

    by: str = "auto"
    """``subsets``, a dynamic program over sets of types; ``beliefs``, one over beliefs; ``milp``, a mixed-integer
    program; ``polynomial``, branch and bound over probabilities, for imperfect recall."""

    takes: ClassVar[frozenset[str]] = frozenset({"seconds"})
    default: ClassVar[Limits] = Limits()

    def __post_init__(self) -> None:
        check_choice("by", self.by, PROOFS)

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        return full_name("team-exact", TeamExact, by=self.by)

    def job(self, compiled: Compiled, config: SolveConfig) -> TeamJob:
        """Return the work of the proof on the tree.  Raises as ``team_optimum`` does."""
        seconds = PROVING if config.seconds is None else config.seconds
        check_provable(compiled.tree, self.by, seconds)
        tree = compiled.tree
        return TeamJob(lambda: team_optimum(tree, self.by, seconds=max(seconds, 1e-3)))


class TeamJob(OneCall[TeamOptimum]):
    """A proof at work."""

    @property
    def finished_as(self) -> str:  # type: ignore[override]
        """``exact`` where the optimum was proved, ``local optimum`` where it was only enclosed."""
        return "exact" if self.found is None or self.found.proved else "local optimum"

    def policy(self) -> TabularPolicy | None:
        """Return the optimal policy."""
        return None if self.found is None else self.found.policy

    def bound(self) -> tuple[float, str] | None:
        """Return a payoff that no policy exceeds, and its proof in words."""
        return None if self.found is None else (self.found.bound, self.found.proof)

    def point(self, seconds: float) -> Point:
        values = None if self.found is None else (self.found.value,)
        return Point(self.iteration, seconds, values=values)


@dataclass(frozen=True)
class AnnealingMethod(Checked):
    """Simulated annealing against a best response (Kirkpatrick, Gelatt & Vecchi 1983), for players with one payoff."""

    takes: ClassVar[frozenset[str]] = frozenset({"iterations", "seconds", "runs"})
    default: ClassVar[Limits] = Limits()

    name: ClassVar[str] = "annealing"

    def job(self, compiled: Compiled, config: SolveConfig) -> Annealings:
        """Return the runs on a game; an iteration is a sweep."""
        sweeps, runs = config.iterations, config.runs
        return annealings(
            compiled.form, 2000 if sweeps is None else sweeps, 8 if runs is None else runs, config.seed or 0
        )  # fmt: skip


def hidden_game(compiled: Compiled, relax: str, named: str | None = None) -> HiddenGame:
    """Return the game with the teams that are ``named``, or that the game names.

    Without either, all players are one team where they are paid the same; else each player is alone.
    """
    if relax not in RELAXATIONS:
        raise UnknownNameError("relaxation", relax, RELAXATIONS)
    teams: Sequence[tuple[int, ...]] | None = compiled.teams if named is None else read_teams(named, compiled.players)
    if teams is None and not compiled.common_payoff:
        teams = [(player,) for player in range(len(compiled.players))]
    return HiddenGame.of(compiled.tree, RELAXATIONS[relax], teams)


def optimum_of(game: HiddenGame) -> tuple[float, str] | None:
    """Return the exact optimum, where it is found quickly, and its proof in words."""
    try:
        found = team_optimum(game.tree, "subsets", seconds=SECONDS_FOR_OPTIMUM)
    except (BudgetError, UnsupportedGameError):
        if len(game.tree.parent) > MOST_NODES or not Compiled.of(game.tree).forgets:
            return None
        try:
            found = team_optimum(game.tree, "polynomial", seconds=SECONDS_FOR_OPTIMUM)
        except BudgetError:
            return None
    return found.bound, found.proof


@dataclass(frozen=True)
class ProgressiveHiding(Checked):
    """Teams learn with more information than they have, at a price (Heymann & Lanctot 2025, Algorithm 2)."""

    relax: str = "auto"
    """The information that the team may use while it learns.  Without any parameter, a single team tries several
    settings of all three and uses the best; else what is not given is ``recall``, 2 and ``ftrl``."""
    penalty: Value = "auto"
    """The price of using it: a number, ``20:60`` for one that grows, ``balanced(start=1)`` for one that balances how
    far the policy is from its projection with how much it changes, or a list of numbers to choose from."""
    learner: Value = "auto"
    """The learner at every information set: ftrl, hedge, rm or rm+, with parameters: ``rm(spread=20)``."""

    takes: ClassVar[frozenset[str]] = frozenset({"iterations", "seconds", "runs", "teams"})
    default: ClassVar[Limits] = Limits()

    def __post_init__(self) -> None:
        if self.relax not in (AUTO, *RELAXATIONS):
            raise UnknownNameError("relaxation", self.relax, (AUTO, *RELAXATIONS))
        for price in self._prices():
            _penalty(price, self.penalty)
        self._learner()

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        return full_name(
            "progressive-hiding", ProgressiveHiding, relax=self.relax, penalty=self.penalty, learner=self.learner
        )  # fmt: skip

    def _learner(self) -> NoRegretLearner:
        name = self.learner if isinstance(self.learner, Name) else Name(str(self.learner))
        return ftrl() if self.learner == AUTO else build("learner", name, LEARNERS)

    def _prices(self) -> tuple[Value, ...]:
        """Return the penalties to choose from, as they were given."""
        several = isinstance(self.penalty, tuple) and not isinstance(self.penalty, Name)
        return self.penalty if several else (self.penalty,)  # type: ignore[return-value]

    def job(self, compiled: Compiled, config: SolveConfig) -> HidingJob:
        """Return the runs on a game, by default of 200 iterations, after those that choose a setting."""
        iterations = 200 if config.iterations is None else config.iterations
        game = hidden_game(compiled, self.relaxation, config.teams)
        tried, rounds, runs = [replace(self, penalty=price) for price in self._prices()], None, 1
        if self.relax == self.penalty == self.learner == AUTO and len(game.teams) == 1:
            most = WORK // (len(game.tree.parent) * max(iterations, 1))
            tried = in_units(payoff_unit(game))[: max(most, 1)]
            rounds, runs = halving(len(tried), RUNS_OF_SETTINGS), RUNS_OF_BEST if len(tried) > 1 else 1
        games = {one.relaxation: hidden_game(compiled, one.relaxation, config.teams) for one in tried}
        settings = [
            Setting(games[one.relaxation], _penalty(one.penalty, one.penalty), one._learner(), one.name)
            for one in tried
        ]
        runs = runs if config.runs is None else config.runs
        return HidingJob(settings, iterations, runs, config.seed or 0, rounds)

    @property
    def relaxation(self) -> str:
        """The relaxation of this setting."""
        return "recall" if self.relax == AUTO else self.relax


def payoff_unit(game: HiddenGame) -> float:
    """Return the range of a team's payoffs, or 1 where all are equal."""
    a = game.arrays
    return float(np.ptp(a.payoff[0, np.diff(a.first_child) == 0])) or 1.0


def in_units(unit: float) -> list[ProgressiveHiding]:
    """Return settings to choose from, with penalties and learners in units of payoffs.

    On every game that was tried one of them is about the best of a grid of 200; the last hides nothing.
    """

    def name(word: str, **parameters: float) -> Name:
        return Name(word, tuple((key, float(f"{value:.6g}")) for key, value in parameters.items()))

    def balance(start: float, factor: float = 1.2) -> Name:
        return name("balanced", start=start * unit, factor=factor)

    near, far, weights = name("rm+", spread=unit / 4), name("rm+", spread=unit), name("ftrl", eta=4 / unit)
    return [
        ProgressiveHiding("recall", balance(0.25), near),
        ProgressiveHiding("reveal", balance(0.05), near),
        ProgressiveHiding("recall", balance(1), far),
        ProgressiveHiding("recall", balance(0.05, 2), near),
        ProgressiveHiding("recall", balance(1), weights),
        ProgressiveHiding("true", 0, weights),
    ]


class HidingJob(Hidings):
    """Progressive hiding at work, with the bound and the notes that ``solve`` reports."""

    def bound(self) -> tuple[float, str] | None:
        """Return a payoff that no policy exceeds, where that is found quickly, and its proof in words."""
        return optimum_of(self.game) if len(self.game.teams) == 1 else None

    def notes(self) -> dict[str, Any]:
        """Return the mean payoff of the runs of each of several settings, the best first, and the one chosen."""
        if not self.trials or self.number < self.trials:
            return {}
        tried = self.tried(len(self.rounds))
        means = {self.settings[number].name: float(np.mean(payoffs)) for number, payoffs in tried.items()}
        return {"settings": means, "chosen": self.settings[self.chosen].name}


@dataclass(frozen=True)
class InformationRelaxation(Checked):
    """A team's best response by information relaxation (Heymann & Lanctot 2025, Algorithm 1)."""

    relax: str = "recall"
    """The information that the team may use while it learns."""
    penalty: float = 2.0
    """The price of using it."""

    takes: ClassVar[frozenset[str]] = frozenset({"iterations", "seconds", "runs"})
    default: ClassVar[Limits] = Limits()

    def __post_init__(self) -> None:
        if self.relax not in RELAXATIONS:
            raise UnknownNameError("relaxation", self.relax, RELAXATIONS)
        check_penalty(self.penalty)

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        return full_name("information-relaxation", InformationRelaxation, relax=self.relax, penalty=self.penalty)

    def job(self, compiled: Compiled, config: SolveConfig) -> Relaxations:
        """Return the runs on a game; by default one run of 100 iterations."""
        iterations, runs = config.iterations, config.runs
        game = hidden_game(compiled, self.relax)
        if len(game.teams) != 1:
            raise UnsupportedGameError(
                f"{compiled.name}: information relaxation is for one team; its players are paid differently"
            )
        return Relaxations(
            game, self.penalty, 100 if iterations is None else iterations, 1 if runs is None else runs, config.seed or 0
        )  # fmt: skip


def _penalty(price: Value, whole: Value) -> Penalty | float:
    """Return one of the penalties in ``whole`` as a number or a schedule.  Raises ``ParameterError``."""
    if price == AUTO == whole:
        return 2.0
    if price is whole and (isinstance(price, Name) or price in PENALTIES):
        return build("penalty", price if isinstance(price, Name) else Name(str(price)), PENALTIES)
    if price is whole and isinstance(price, str) and ":" in price:
        return linear(*(_number(part, whole) for part in price.split(":", 1)))
    return _number(price, whole)


def _number(part: Value, whole: Value) -> float:
    try:
        number = float(part)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number < inf:
        shown = shorten(format_value(whole))
        raise ParameterError(
            f"penalty={shown}; allowed: a number from 0, two as 20:60, or a list of them, [0.5,1,2]; or "
            "balanced(start=1)"
        )
    return number
