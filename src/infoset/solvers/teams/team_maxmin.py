"""Team-maxmin equilibria of two teams with opposed payoffs that agree beforehand on a lottery over plans.

A *team-maxmin equilibrium with a correlation device* (Celli & Gatti 2018) is an equilibrium of the zero-sum game
between the teams' lotteries over pure plans of all members; a single player is a team of one, for which its sequence
form suffices.  The equilibrium is found by a double oracle (McMahan, Gordon & Blum 2003): a linear program over the
plans so far; then plans that are better responses to its solution, found by improving one member at a time, and where
that finds none by the mixed-integer program of ``coordination``, which also proves that none is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nan
from typing import Any, ClassVar

import numpy as np

from infoset.base import FloatArray
from infoset.compiled import Compiled
from infoset.errors import CheckpointError, ParameterError, UnknownNameError, UnsupportedGameError
from infoset.files import DamageError, describe_damage
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Background, Job, Limits, Point
from infoset.solvers.method import Checked
from infoset.solvers.metrics import Evaluation
from infoset.solvers.tabular.linear_program import constraints, maximin, on_the_polytope
from infoset.solvers.teams.coordination import Answer, Team
from infoset.tree.belief_dag import BeliefDag
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import SequenceForm

TRIES = (10, 40, 160)  # plans that are improved one member at a time; more of them before a proof, which takes longer
CLOSE = 1e-10  # share of the payoff range up to which a better plan does not count
UNPROVED = "stopped before the teams' best answers were proved; 'infoset evaluate' proves them"
USED = 1e-12  # plans of a lower probability are left out


class _Side:
    """A team in the linear program: its variables (d,), with the constraints ``equal`` and the matrix ``reach``.

    For a single player the variables are realisation weights, else the probabilities of the plans found so far.
    """

    team: Team
    plans: list[FloatArray]

    @property
    def equal(self) -> Any:
        """(m, d) sparse; the first row sums to 1, all others to 0."""
        raise NotImplementedError

    @property
    def reach(self) -> Any:
        """(T, d) sparse: the side's probability of reaching each terminal row by each variable."""
        raise NotImplementedError

    def lottery(self, x: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Return the probabilities and the plans of the lottery with variables ``x``."""
        raise NotImplementedError

    def add(self, plan: FloatArray) -> bool:
        """Add a plan; return whether it is new."""
        return False

    def played(self, x: FloatArray) -> FloatArray:
        """Return (T,) this side's factor in the probability of each terminal row."""
        probabilities, plans = self.lottery(x)
        return np.asarray(sum(c * self.team.played(plan) for c, plan in zip(probabilities, plans, strict=True)))


class _Alone(_Side):
    """A side of a single player."""

    def __init__(self, team: Team) -> None:
        self.team, self.plans = team, []
        self.player = team.members[0]

    @cached_property
    def equal(self) -> Any:
        return constraints(self.team.form, self.player)

    @cached_property
    def reach(self) -> Any:
        from scipy.sparse import csc_array

        own, count = self.team.form.player_sequences(self.player), len(self.team.ends)
        entries = np.ones(count), (np.arange(count), self.team.ends[:, self.player] - own.start)
        return csc_array(entries, shape=(count, own.stop - own.start))

    def lottery(self, x: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        plan = np.zeros(self.team.form.num_sequences)
        plan[self.team.form.player_sequences(self.player)] = on_the_polytope(self.team.form, self.player, x)
        return np.ones(1), [plan]


class _Together(_Side):
    """A side of several players, with a column for each plan."""

    def __init__(self, team: Team) -> None:
        self.team, self.plans = team, []
        self.columns: list[Any] = []
        self.known: set[bytes] = set()

    @property
    def equal(self) -> Any:
        from scipy.sparse import csr_array

        return csr_array(np.ones((1, len(self.plans))))

    @property
    def reach(self) -> Any:
        from scipy.sparse import hstack

        return hstack(self.columns, format="csc")

    def lottery(self, x: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        used = np.flatnonzero(x > USED)
        return x[used] / x[used].sum(), [self.plans[k] for k in used.tolist()]

    def add(self, plan: FloatArray) -> bool:
        from scipy.sparse import csc_array

        if (key := plan.astype(bool).tobytes()) in self.known:
            return False
        self.known.add(key)
        self.plans.append(plan)
        self.columns.append(csc_array(self.team.played(plan)[:, None]))
        return True


class DoubleOracle(Job):
    """The double oracle at work; an iteration is a linear program over the plans so far and better responses to it."""

    def __init__(self, form: SequenceForm, teams: Sequence[Sequence[int]], seed: int) -> None:
        check_teams(form, teams)
        self.form, self.seed = form, seed
        self.ends, self.payoffs = form.terminals()
        first = Team.of(form, teams[0])
        second = replace(first, members=tuple(teams[1]), paid=-first.paid)
        self.sides = tuple([_Alone(team) if len(team.members) == 1 else _Together(team) for team in (first, second)])
        for number, side in enumerate(self.sides):
            if side.add(side.team.any_plan(np.random.default_rng([seed, number]))):
                assert side.team.together  # raises here where it is too large
        self.iteration, self.solved, self.done = 0, False, False
        self.bounds = [-inf, inf]  # on the first team's equilibrium payoff
        self.weights = [np.eye(1, side.equal.shape[1])[0] for side in self.sides]
        self._proof: Background[list[Answer]] | None = None
        self.gains: tuple[float, ...] | None = None  # by best responses, where proved for these lotteries

    @property
    def total(self) -> int | None:  # type: ignore[override]
        """The number of iterations, once nothing is left to gain; ``None`` before."""
        return self.iteration if self.done else None

    def step(self, iterations: int, until: float = inf) -> None:
        for _ in range(iterations):
            if self.over or not self._iterate(until):
                return

    def _iterate(self, until: float) -> bool:
        """Continue the current iteration; return whether it is complete."""
        if not self.solved:
            self.weights, self.solved, self.gains = self._program(), True, None
        played = self._played()
        value = float(self.sides[0].team.paid @ (played[0] * played[1]))
        if self._proof is None and self._improve(value, played):
            self.iteration, self.solved = self.iteration + 1, False
            return True
        if self._proof is None:
            self._proof = Background(lambda: [s.team.best(o) for s, o in zip(self.sides, played[::-1], strict=True)])
        if not self._proof.wait(until):
            return False
        answers, self._proof = self._proof.result, None
        self.gains = (answers[0].bound - value, answers[1].bound + value)
        self.bounds = [max(self.bounds[0], -answers[1].bound), min(self.bounds[1], answers[0].bound)]
        fresh = [side.add(answer.plan) for side, answer in zip(self.sides, answers, strict=True)]
        self.done = sum(self.gains) <= self._least or not any(fresh)
        self.iteration, self.solved = self.iteration + 1, self.done
        return True

    def _played(self) -> list[FloatArray]:
        """Return (T,) each side's factor in the probability of each terminal row."""
        return [side.played(x) for side, x in zip(self.sides, self.weights, strict=True)]

    @property
    def _least(self) -> float:
        """The largest gain that does not count."""
        return CLOSE * self.form.widest_range

    def _improve(self, value: float, played: list[FloatArray]) -> bool:
        """Add plans that no member can improve alone and that gain against the other side; return whether any is."""
        rng = np.random.default_rng([self.seed, 2, self.iteration])
        return any(self._tried(tries, value, played, rng) for tries in TRIES)

    def _tried(self, tries: int, value: float, played: list[FloatArray], rng: np.random.Generator) -> bool:
        """Do so from the likeliest plan and ``tries - 1`` random ones."""
        found = False
        for number, side in enumerate(self.sides):
            if not side.plans:
                continue
            others, mine = played[1 - number], (1 - 2 * number) * value
            likely = side.plans[int(np.argmax(self.weights[number]))]
            starts = [likely, *[side.team.any_plan(rng) for _ in range(tries - 1)]]
            answers = [side.team.improved(others, start) for start in starts]
            added = [side.add(answer.plan) for answer in answers if answer.value > mine + self._least]
            found |= any(added)
        return found

    def _program(self) -> list[FloatArray]:
        """Return the optimal variables of both sides."""
        first, second = self.sides
        payoff = first.reach.T @ (first.team.paid[:, None] * second.reach)
        return [np.maximum(x, 0.0) for x in maximin(self.form.name, payoff.tocsr(), first.equal, second.equal)]

    def policy(self) -> CorrelatedPolicy:
        """Return the lotteries of both teams."""
        drawn = [(s.team.members, *s.lottery(x)) for s, x in zip(self.sides, self.weights, strict=True)]
        return CorrelatedPolicy.of(self.form, drawn, {"method": "team-maxmin", "iterations": self.iteration})

    def evaluation(self) -> Evaluation:
        """Return figures of the lotteries by the last proof; payoffs alone where that was for other lotteries.

        Proofs are too slow to be made here.
        """
        played = self._played()
        paid = self.payoffs.T @ (played[0] * played[1]) + self.form.offsets
        if self.gains is None:
            values = tuple(map(float, paid))
            return Evaluation(nan, nan, nan, values, (nan,) * len(values), reason=UNPROVED)
        return figures_of([side.team for side in self.sides], paid, self.gains)

    def point(self, seconds: float) -> Point:
        """Return figures where the last proof was for the present lotteries."""
        if self.gains is None:
            return Point(self.iteration, seconds)
        found = self.evaluation()
        return Point(
            self.iteration, seconds, found.nash_conv, found.exploitability, found.epsilon, values=found.values
        )  # fmt: skip

    def notes(self) -> dict[str, Any]:
        """Return teams, their payoffs, bounds on the first one's equilibrium payoff, and the numbers of plans drawn."""
        low, high = np.add(self.bounds, self.form.offsets[list(self.sides[0].team.members)].sum()).tolist()
        known = {"at_least": min(low, high), "at_most": high} if high < inf else {}
        plans = {s.team.name: len(s.lottery(x)[0]) for s, x in zip(self.sides, self.weights, strict=True) if s.plans}
        values = self.evaluation().values
        paid = {side.team.name: sum(values[player] for player in side.team.members) for side in self.sides}
        return {"teams": list(paid), "team_values": paid, "plans": plans, **known}

    @property
    def about(self) -> str:
        count = sum(len(side.plans) for side in self.sides)
        return f"{count:,} plans" + (", looking for the best answer" if self._proof is not None else "")

    def save(self) -> dict[str, Any]:
        plans = {f"plans{k}": np.array(s.plans, dtype=np.uint8) for k, s in enumerate(self.sides) if s.plans}
        weights = {f"weights{k}": x for k, x in enumerate(self.weights)}
        flags = np.array([self.solved, self.done])
        return {
            "iteration": np.array(self.iteration), "bounds": np.array(self.bounds), "flags": flags,
            "gains": np.array(self.gains or ()), **weights, **plans,
        }  # fmt: skip

    def restore(self, saved: dict[str, Any]) -> None:
        try:
            for number, side in enumerate(self.sides):
                for plan in saved[f"plans{number}"] if side.plans else ():
                    if plan.shape != (self.form.num_sequences,):
                        raise DamageError(f"a plan of the shape {plan.shape}")
                    side.add(plan.astype(np.float64))
            weights = [np.asarray(saved[f"weights{k}"], dtype=np.float64) for k in range(2)]
            self.solved, self.done = map(bool, saved["flags"])
            self.iteration, self.bounds = int(saved["iteration"]), list(map(float, saved["bounds"]))
            self.gains = tuple(map(float, saved["gains"])) or None
        except (KeyError, ValueError, TypeError) as error:
            raise CheckpointError(f"the checkpoint does not fit: {describe_damage(error)}") from None
        for x, side in zip(weights, self.sides, strict=True):
            if len(x) > side.equal.shape[1]:
                raise CheckpointError("the checkpoint does not fit: it has weights of plans that it does not have")
        self.weights = weights


def evaluate_lotteries(form: SequenceForm, policy: CorrelatedPolicy) -> Evaluation:
    """Return the payoffs of teams that draw plans, and each team's gain by the best joint plan of its members.

    Raises ``UnsupportedGameError`` for other than two lotteries, or payoffs that are not opposed.
    """
    teams = [lottery.members for lottery in policy.lotteries]
    check_teams(form, teams)
    ends, payoffs = form.terminals()
    sides = [Team(form, members, ends, payoffs[:, list(members)].sum(axis=1)) for members in teams]
    played = [np.zeros(len(ends)), np.zeros(len(ends))]
    for number, lottery in enumerate(policy.lotteries):
        for k, chance in enumerate(lottery.probabilities.tolist()):
            drawn = [k if place == number else 0 for place in range(2)]
            plan = realisation(form, policy.table(drawn).behaviour(form))
            played[number] += chance * sides[number].played(plan)
    values = payoffs.T @ (played[0] * played[1])
    gains = []
    for side, others in zip(sides, played[::-1], strict=True):
        gains.append(side.best(others).bound - float(values[list(side.members)].sum()))
    return figures_of(sides, values + form.offsets, gains)


def figures_of(teams: Sequence[Team | BeliefDag], values: FloatArray, gains: Sequence[float]) -> Evaluation:
    """Return figures of two teams that gain so much by their best plans.

    A member of a team of several has no best response of its own.
    """
    left = [max(float(gain), 0.0) for gain in gains]
    best, lines = [nan] * len(values), []
    for team, gain in zip(teams, left, strict=True):
        if len(team.members) == 1:
            best[team.members[0]] = float(values[team.members[0]]) + gain
        else:
            lines.append(f"{team.name} gain at most {gain:.3e} by the best plan that they could agree on")
    found = Evaluation(sum(left), sum(left) / 2, max(left), tuple(map(float, values)), tuple(best))
    return replace(found, reason="; ".join(lines))


def check_teams(form: SequenceForm, teams: Sequence[Sequence[int]], method: str = "team-maxmin") -> None:
    """Raise ``UnsupportedGameError`` unless there are two teams and payoffs have a constant sum."""
    if len(teams) != 2:
        raise UnsupportedGameError(
            f"{form.name}: {len(teams)} teams; {method} is for two, such as teams={_two(form.players)}"
        )
    if form.constant_sum is None:
        raise UnsupportedGameError(
            f"{form.name}: the sum of payoffs is not constant, so that the teams are not opponents"
        )


def _two(players: Sequence[str]) -> str:
    return f"{'+'.join(players[:-1])},{players[-1]}"


def teams_of(compiled: Compiled, named: str | None) -> tuple[tuple[int, ...], ...] | None:
    """Return the teams that are ``named``, or those that the game names, if any."""
    return compiled.teams if named is None else read_teams(named, compiled.players)


def named_teams(compiled: Compiled, named: str | None) -> tuple[tuple[int, ...], ...]:
    """Return the teams that are ``named``, or those that the game names.  Raises ``ParameterError`` without either."""
    teams = teams_of(compiled, named)
    if teams is None:
        example = _two(compiled.players)
        raise ParameterError(f"{compiled.name} declares no teams; name them, as in --teams {example}")
    return teams


def read_teams(text: str, players: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Read teams as ``1+3,2`` or ``P1+P3,P2``: seats from 1, or names; players in no team play alone.

    Where a player's name is a number, only names are read.

    Raises ``UnknownNameError``, and ``ParameterError`` for a player in two teams.

    >>> from infoset.solvers.teams.team_maxmin import read_teams
    >>> read_teams("P1+P3", ("P1", "P2", "P3")) == read_teams("1+3,2", ("P1", "P2", "P3"))
    True
    """
    names = {name: seat for seat, name in enumerate(players)}
    if not any(name.isdecimal() for name in players):
        names |= {str(seat + 1): seat for seat in range(len(players))}
    teams, seated = list[tuple[int, ...]](), set[int]()
    for group in text.split(","):
        members = []
        for word in group.split("+"):
            if (seat := names.get(word.strip())) is None:
                raise UnknownNameError("player of teams", word.strip(), list(names))
            if seat in seated:
                raise ParameterError(f"teams={text}: {players[seat]} occurs in it twice")
            seated.add(seat)
            members.append(seat)
        teams.append(tuple(sorted(members)))
    return (*teams, *[(seat,) for seat in range(len(players)) if seat not in seated])


@dataclass(frozen=True)
class TeamMaxmin(Checked):
    """Two teams that draw plans on which they agree beforehand; a player alone is one too (Celli & Gatti 2018)."""

    takes: ClassVar[frozenset[str]] = frozenset({"iterations", "seconds", "target", "teams"})
    default: ClassVar[Limits] = Limits()

    name: ClassVar[str] = "team-maxmin"

    def job(self, compiled: Compiled, config: SolveConfig) -> DoubleOracle:
        """Return the work on the sequence form.  Raises ``ParameterError`` where no teams are given."""
        return DoubleOracle(compiled.form, named_teams(compiled, config.teams), config.seed or 0)
