"""Correlated equilibria of small games: a mediator draws a plan for everybody, tells each player its own, and all obey.

Four notions, from the strongest to the weakest; whoever would gain by a deviation keeps a plan from being one of them:

- ``ce``: a player is told its whole plan and may then play any other (Aumann 1974);
- ``efce``: it is told each move when it gets there and may leave the plan from there on, hearing no more (von Stengel &
  Forges 2008);
- ``efcce``: it decides at an information set, before it is told the move there, whether to leave (Farina, Bianchi &
  Sandholm 2020);
- ``cce``: it decides before it is told anything (Moulin & Vial 1978).

A plan combines strategies of the reduced normal form.  The best one of a kind, for all together or for one player, is a
linear program; what a given one leaves to be gained is worked out from the end of the game.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from infoset import signs
from infoset.base import FloatArray
from infoset.compiled import AnyGame, Compiled
from infoset.errors import BudgetError, PolicyError, UnknownNameError, UnsupportedGameError
from infoset.names import check_choice, full_name
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.solvers.method import Checked, Options
from infoset.solvers.metrics import Evaluation
from infoset.solvers.tabular.linear_program import HIGHS
from infoset.solvers.work import Background, Limits, OneCall, Point
from infoset.tree.normal_form import NormalForm, normal_form, shown
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import SequenceForm

KINDS = ("ce", "efce", "efcce", "cce")
WELFARE = "welfare"
MOST_ENTRIES = 40_000_000
"""Of the linear program."""
PLAYED, LEFT, NOUGHT = 1e-9, 1e-7, 1e-14
PURE = 1 - 1e-6


@dataclass(frozen=True)
class CorrelatedPlan:
    """How likely the mediator draws each combination of strategies."""

    form: SequenceForm = field(repr=False)
    table: NormalForm = field(repr=False)
    chances: FloatArray
    """(K1, …, Kn) they sum to 1."""

    @property
    def values(self) -> tuple[float, ...]:
        """(n,) what each player is paid where all obey."""
        n = self.form.num_players
        found = np.tensordot(self.chances, self.table.payoffs, axes=n)
        largest = np.abs(self.table.payoffs).reshape(-1, n).max(axis=0)
        return tuple(np.where(np.abs(found) > NOUGHT * largest, found, 0.0).tolist())

    def gains(self, kind: str) -> tuple[float, ...]:
        """(n,) the most that each player gains by one deviation that ``kind`` allows; all 0 at an equilibrium.

        One deviation is from one advice (``ce``, ``efce``), at one information set (``efcce``), or from the start, and
        counts as often as it comes to that.
        """
        check_choice("kind", kind, KINDS)
        flat = self.chances.ravel()
        return tuple([_gain(list(_deviations(self.form, self.table, kind, p)), flat) for p in range(len(self.values))])

    @property
    def policy(self) -> CorrelatedPolicy:
        """What everybody plays once the mediator has drawn."""
        cells = np.argwhere(self.chances > PLAYED).tolist()
        sizes = self.chances.shape
        plans = [self.table.plan([np.eye(1, n, k)[0] for n, k in zip(sizes, cell, strict=True)]) for cell in cells]
        chances = np.array([self.chances[tuple(cell)] for cell in cells])
        return CorrelatedPolicy.of(self.form, [(tuple(range(len(self.values))), chances / chances.sum(), plans)])

    @classmethod
    def drawn(cls, form: SequenceForm, policy: CorrelatedPolicy) -> CorrelatedPlan:
        """What a policy of one lottery for all players draws.

        Raises ``PolicyError`` for plans that are not pure, ``BudgetError`` where the normal form is too large.
        """
        table, (lottery,) = normal_form(form), policy.lotteries
        number = [{row.tobytes(): k for k, row in enumerate(plans)} for plans in table.plans]
        chances = np.zeros(table.payoffs.shape[:-1])
        for k, chance in enumerate(lottery.chances.tolist()):
            plan = realisation(form, policy.table([k]).behaviour(form))
            try:
                cell = [number[p][(plan[form.player_sequences(p)] > PURE).tobytes()] for p in range(form.num_players)]
            except KeyError:
                raise PolicyError(f"plan {k + 1} draws moves itself; correlated plans are pure") from None
            chances[tuple(cell)] += chance
        return cls(form, table, chances)

    def evaluation(self) -> Evaluation:
        """What everybody is paid, and gains by leaving before it is told anything; ``reason`` has the other notions."""
        gains = {kind: self.gains(kind) for kind in KINDS}
        told = ", ".join(f"{kind} {max(found):.3g}" for kind, found in gains.items())
        found = Evaluation.of(self.values, np.array(self.values) + gains["cce"])
        return replace(found, reason=f"a mediator draws; the most that somebody gains by a deviation: {told}")

    def __str__(self) -> str:
        lines = [", ".join(f"{name} {value:+.9g}" for name, value in zip(self.form.players, self.values, strict=True))]
        for cell in np.argwhere(self.chances > PLAYED).tolist():
            told = zip(self.form.players, self.table.strategies, cell, strict=True)
            lines.append(f"{self.chances[tuple(cell)]:.6f}  {'   '.join(f'{p} {shown(own[k])}' for p, own, k in told)}")
        return "\n".join(lines)


class _Deviation(NamedTuple):
    """A way to leave the plan: it must pay no more than ``obeying`` does.

    ``obeying`` (cells,): what the player is paid in the cells that it concerns.  ``sets``: the information sets that it
    may come to then, the first one first; of each the moves, of which the best counts: what a move pays at once
    (cells,) and the places of the sets that come after it.
    """

    obeying: FloatArray
    sets: tuple[tuple[tuple[FloatArray, tuple[int, ...]], ...], ...]


def correlated_equilibrium(game: AnyGame, kind: str = "efce", objective: str = WELFARE) -> CorrelatedPlan:
    """The plan of a ``kind`` that is best for all together, or for the player named by ``objective``.

    Raises ``ParameterError`` and ``UnknownNameError`` for what there is not, ``BudgetError`` where the program is too
    large.  By HiGHS.

    >>> file = infoset.convert("rock_paper_scissors", "rps.nfg")
    >>> plan = infoset.correlated_equilibrium(str(file), "cce")
    >>> plan.values, max(plan.gains("cce")) < 1e-9
    ((0.0, 0.0), True)
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    check_choice("kind", kind, KINDS)
    compiled = Compiled.of(game)
    form = compiled.form
    _check_objective(objective, form.players)
    table = normal_form(form)
    cells = table.payoffs.shape[:-1]
    paid = table.payoffs.sum(axis=-1) if objective == WELFARE else table.payoffs[..., form.players.index(objective)]
    with signs.during("solving the linear program of correlated plans"):
        program = _Program(form.name, int(np.prod(cells)))
        for player in range(form.num_players):
            scale = float(np.ptp(table.payoffs[..., player])) or 1.0
            for deviation in _deviations(form, table, kind, player):
                program.forbid(deviation, scale)
        bounds = [(0, None)] * program.cells + [(None, None)] * program.values
        total = csr_array(np.concatenate([np.ones(program.cells), np.zeros(program.values)])[None])
        wanted = (paid - paid.min()) / (float(np.ptp(paid)) or 1.0)
        cost = np.concatenate([-wanted.ravel(), np.zeros(program.values)])
        solving = Background(lambda: linprog(
            cost, A_ub=program.rows, b_ub=np.zeros(program.rows.shape[0]), A_eq=total, b_eq=[1.0], bounds=bounds,
            method="highs", options=HIGHS,
        ))  # fmt: skip
        solving.wait()  # where Ctrl-C is heard
        found = solving.result
    if not found.success:
        raise UnsupportedGameError(f"{form.name}: HiGHS did not solve the linear program: {found.message}")
    chances = np.maximum(found.x[: program.cells], 0.0)
    plan = CorrelatedPlan(form, table, (chances / chances.sum()).reshape(cells))
    ranges = np.ptp(table.payoffs.reshape(-1, form.num_players), axis=0)
    if (np.array(plan.gains(kind)) > LEFT * ranges).any():
        raise UnsupportedGameError(f"{form.name}: rounding errors of HiGHS leave a plan from which somebody would gain")
    return plan


def _check_objective(objective: str, players: tuple[str, ...]) -> None:
    """Raise ``UnknownNameError`` for what is neither welfare nor a player."""
    if objective != WELFARE and objective not in players:
        raise UnknownNameError("objective", objective, [WELFARE, *players])


class _Program:
    """Rows of ``A x <= 0`` over the cells and the values of leaving at sets."""

    def __init__(self, name: str, cells: int) -> None:
        self.name, self.cells, self.values, self.entries = name, cells, 0, 0
        self.parts: list[tuple[FloatArray, dict[int, float]]] = []

    def forbid(self, deviation: _Deviation, scale: float) -> None:
        """Leaving pays no more than obeying, in units of ``scale``."""
        begin = self.values
        self.values += len(deviation.sets)
        for number, moves in enumerate(deviation.sets):
            for at_once, after in moves:  # what follows a move is no more than the set is worth
                self._add(at_once / scale, {begin + number: -1.0, **{begin + k: 1.0 for k in after}})
        self._add(-deviation.obeying / scale, {begin: 1.0})

    def _add(self, over_cells: FloatArray, values: dict[int, float]) -> None:
        self.parts.append((over_cells, values))
        self.entries += int(np.count_nonzero(over_cells))
        if self.entries > MOST_ENTRIES:
            raise BudgetError(
                f"{self.name}: the linear program of its {self.cells:,} combinations of strategies has more than "
                f"{MOST_ENTRIES:,} entries"
            )

    @cached_property
    def rows(self) -> Any:
        from scipy.sparse import csr_array, hstack

        columns = [list(values) for _, values in self.parts]
        counts = np.cumsum([0, *map(len, columns)])
        entries = [entry for _, values in self.parts for entry in values.values()]
        flat = [column for own in columns for column in own]
        beside = csr_array((entries, flat, counts), shape=(len(self.parts), self.values))
        over_cells = np.array([over for over, _ in self.parts]).reshape(len(self.parts), self.cells)
        return hstack([csr_array(over_cells), beside], format="csr")


def _deviations(form: SequenceForm, table: NormalForm, kind: str, player: int) -> Iterator[_Deviation]:
    """All ways in which a player may leave its plan."""
    if kind in ("ce", "cce"):
        payoffs = np.moveaxis(table.payoffs[..., player], player, 0)
        yield from _from_the_start(payoffs, kind, player)
    else:
        yield from _Leaving(form, table, player).at_sets(before=kind == "efcce")


def _from_the_start(payoffs: FloatArray, kind: str, player: int) -> Iterator[_Deviation]:
    """To any strategy, after the own one is told (``ce``: a deviation for each) or before (``cce``)."""
    size = len(payoffs)
    for told in range(size) if kind == "ce" else [None]:
        concerns = np.zeros_like(payoffs)
        concerns[slice(None) if told is None else told] = 1.0

        def over_cells(worth: FloatArray, concerns: FloatArray = concerns) -> FloatArray:
            return np.moveaxis(concerns * worth, 0, player).ravel()

        moves = tuple([(over_cells(payoffs[other] - payoffs), ()) for other in range(size)])
        yield _Deviation(np.zeros(payoffs.size), (moves,))


class _Leaving:
    """How a player may leave its plan at its information sets."""

    def __init__(self, form: SequenceForm, table: NormalForm, player: int) -> None:
        self.form, self.table, self.player = form, table, player
        a, self.start = form.arrays, form.player_sequences(player).start
        self.sets = list(form.player_infosets(player))
        self.below: dict[int, list[int]] = {}
        for k in self.sets:
            self.below.setdefault(int(a.parent[k]), []).append(k)
        self.sequences, self.payoffs = form.terminals()

    def moves(self, k: int) -> range:
        """The sequences of an information set."""
        first = int(self.form.arrays.first[k])
        return range(first, first + int(self.form.arrays.size[k]))

    def at_sets(self, before: bool) -> Iterator[_Deviation]:
        """At each set once its move is told, or ``before`` that."""
        for k in self.sets:
            told = [int(self.form.arrays.parent[k])] if before else list(self.moves(k))
            for sequence in told:
                concerns = self.table.plans[self.player][:, sequence - self.start].astype(float)
                yield _Deviation(self._obeying(k, concerns), tuple(self._leaving(k, concerns)))

    def _obeying(self, k: int, concerns: FloatArray) -> FloatArray:
        """What is paid behind a set where everybody obeys."""
        total = np.zeros(self.table.payoffs.shape[:-1])
        for sequence in self._behind(k):
            own = concerns * self.table.plans[self.player][:, sequence - self.start]
            total += self._paid(sequence, own)
        return total.ravel()

    def _behind(self, k: int) -> Iterator[int]:
        """The moves of a set and of all sets behind it."""
        todo = [k]
        for at in todo:
            for sequence in self.moves(at):
                yield sequence
                todo += self.below.get(sequence, [])

    def _leaving(self, k: int, concerns: FloatArray) -> Iterator[tuple[tuple[FloatArray, tuple[int, ...]], ...]]:
        """Of a set and all behind it, what each move pays at once, and what comes after it."""
        listed = [k]
        for at in listed:
            moves = []
            for sequence in self.moves(at):
                after = self.below.get(sequence, [])
                moves.append(
                    (self._paid(sequence, concerns).ravel(), tuple(range(len(listed), len(listed) + len(after))))
                )
                listed += after
            yield tuple(moves)

    def _paid(self, sequence: int, own: FloatArray) -> FloatArray:
        """What ends with a sequence of the player pays, where its strategies count ``own`` (K,) and others obey."""
        total = np.zeros(self.table.payoffs.shape[:-1])
        for row in np.flatnonzero(self.sequences[:, self.player] == sequence).tolist():
            weight = np.full((1,) * total.ndim, self.payoffs[row, self.player])
            for p in range(total.ndim):
                playing = own if p == self.player else self._plays(p, int(self.sequences[row, p]))
                weight = weight * playing.reshape([-1 if q == p else 1 for q in range(total.ndim)])
            total += weight
        return total

    def _plays(self, player: int, sequence: int) -> FloatArray:
        return self.table.plans[player][:, sequence - self.form.player_sequences(player).start].astype(float)


def _gain(deviations: list[_Deviation], chances: FloatArray) -> float:
    """The most to be gained by one of them."""
    gains = []
    for deviation in deviations:
        worth = np.zeros(len(deviation.sets))
        for number in range(len(worth) - 1, -1, -1):
            moves = deviation.sets[number]
            worth[number] = max(float(at_once @ chances) + sum(worth[k] for k in after) for at_once, after in moves)
        gains.append(max(float(worth[0] - deviation.obeying @ chances), 0.0))
    return max(gains, default=0.0)


@dataclass(frozen=True)
class CorrelatedMethod(Checked):
    """The best plan for a mediator to draw, so that all obey, of a small game: a correlated equilibrium."""

    kind: str = "efce"
    """``ce``, ``efce``, ``efcce`` or ``cce``: when a player may leave."""
    objective: str = WELFARE
    """What is best: ``welfare``, of all together, or a player's name."""

    takes: ClassVar[frozenset[str]] = frozenset()
    default: ClassVar[Limits] = Limits()

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)

    @property
    def name(self) -> str:
        """As ``solve`` takes it."""
        return full_name("correlated", CorrelatedMethod, kind=self.kind, objective=self.objective)

    def work(self, compiled: Compiled, options: Options) -> CorrelatedWork:
        """The linear program.  Raises ``UnknownNameError`` for an objective that is no player."""
        _check_objective(self.objective, compiled.players)
        assert normal_form(compiled.form)  # which may be too large
        return CorrelatedWork(lambda: correlated_equilibrium(compiled, self.kind, self.objective))


class CorrelatedWork(OneCall[CorrelatedPlan]):
    """The linear program at work."""

    def policy(self) -> CorrelatedPolicy | None:
        """What the mediator draws."""
        return None if self.found is None else self.found.policy

    def evaluation(self) -> Evaluation | None:
        return None if self.found is None else self.found.evaluation()

    def point(self, seconds: float) -> Point:
        return Point(self.iteration, seconds, values=None if self.found is None else self.found.values)
