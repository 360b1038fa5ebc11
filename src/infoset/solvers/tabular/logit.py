"""The logit path of a game, which leads from uniform play through quantal response equilibria to a Nash equilibrium.

In a logit equilibrium every move is played with a probability proportional to the exponential of ``λ`` times its
expected payoff at that information set, given the erring behaviour of all others and of the player itself later on
(McKelvey & Palfrey 1998, "Quantal response equilibria for extensive form games"). At ``λ = 0`` play is uniform; from
there a curve leads on as ``λ`` grows, and its limit is a Nash equilibrium that is sequential. The curve is followed in
the logarithms of the probabilities, so that a probability of 1e-400000 is representable, by a predictor along the
tangent and Newton steps back to the curve (Turocy 2005, "A dynamic homotopy interpretation of the logistic quantal
response equilibrium correspondence").
"""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from infoset import displays
from infoset.arguments import checks_arguments
from infoset.base import BoolArray, FloatArray, LongArray
from infoset.compiled import AnyGame, Compiled
from infoset.errors import UnsupportedGameError
from infoset.memory import check_room
from infoset.names import check_number, full_name
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Background, Limits
from infoset.solvers.tabular.solver import Solver, TabularMethod
from infoset.tree.game_tree import GameTree
from infoset.tree.plans import realisation, uniform
from infoset.tree.sequence_form import SequenceForm, ends

FAR, LARGEST_AT = 1e7, 1e12
"""``λ`` times the smallest range of a player's payoffs at which a path ends where nothing else ends it; and the largest
``λ`` that may be asked for."""
NEAR = 1e-9
"""Share of its payoff range that a player may gain at the end of a path."""
NOISE = 1e-15
FIRST_STEP, SMALLEST_STEP, SMALLEST_STEP_SETTLED = 0.03, 1e-12, 1e-4
"""The first step, in logarithms; the least steps that are tried, as shares of the largest coordinate, before and after
the profile has settled."""
NEWTON_STEPS = 8
ON_PATH = 1e-10
"""The distance that a point may have from the curve, in logarithms."""
ROUNDING = 1e-15
"""The addition to that distance for each unit of the largest logarithm times ``λ``: payoffs are sums of probabilities
with such logarithms, and are multiplied by ``λ``."""
VAGUE = 0.05
"""The allowed distance above which no point counts as one of the curve."""
BENT = 0.1
"""The most by which the cosine between the tangents at both ends of a step may be below 1; less with more care."""
DISTANT, FAR_OFF, SHRINKING, LEAST = 2.0, 1e-3, 0.5, 1e-3
"""The distance of a guess from the curve, in logarithms, or as a share of a long step; less with more care.  The share
of the last Newton step that the next one may have, unless the last one was below the fourth number.  Where the curve
bends sharply within a step, Newton steps may lead to another part of the curve, or to another curve."""
CROSSING, PARALLEL = 1e-4, 1.0 - 1e-6
"""The largest step, as a share of the largest coordinate, and the least cosine, at which a change of the determinant's
sign means that another curve crosses this one, as happens with symmetries, and not a jump to another curve."""
MOST_CARE = 8.0
"""The care of the last attempt at a path; each attempt is twice as careful as the one before."""
UNIT_RATIO = 1e3
"""The largest ratio between the payoff ranges of two players on a path with one ``λ`` for all.  Where the ratio is
larger and the path is to end at an equilibrium, every player's ``λ`` is in units of one over its own range: a path on
which one player has converged before another leaves uniform play cannot be followed in floats."""
UNSETTLED = 1e-6
"""Share of a player's payoff range above which a gain at an information set counts."""
FASTER, SLOWER = 1.6, 0.4
BYTES_A_PAIR, BYTES_AN_ENTRY, BYTES_A_SLOPE = 45, 150, 40
"""Upper bounds on memory, while pairs are listed and while derivatives are computed from them."""
QUICK = 150
"""The number of moves up to which a point takes milliseconds."""
ENDED, LOST, TURNED = 1.0, 2.0, 3.0
WHY_LOST = {
    LOST: "rounding errors hide the continuation of the path",
    TURNED: "the path was lost where it bends: it led back to uniform play",
}


class Pairs(NamedTuple):
    """Pairs of moves on the paths to terminal histories, from the point of view of the player of one of them.

    An *entry* is a terminal history with one move of some player on its path; a pair is an entry with another move on
    that path whose probability matters once the first one is made: any of another player, or a later one of its own.
    """

    end: LongArray  # (E,)
    action: LongArray  # (E,) its sequence
    payoff: FloatArray  # (E,) of the move's player
    entry: LongArray  # (K,)
    other: LongArray  # (K,) a sequence


class LogitSystem:
    """The equations of the logit path of a game, their values and derivatives at logarithms of behaviour (S,).

    Payoffs are in units of ``range``, the largest range of a player, and ``λ`` in units of one over that; where they
    are ``own_units``, each player's are in its own ``units`` (n,).  Constants in a player's payoffs are left out.

    >>> from infoset.solvers.tabular.logit import LogitSystem
    >>> tree = infoset.GameTree.of(infoset.load("kuhn_poker"))
    >>> system = LogitSystem(tree, infoset.SequenceForm.of(tree))
    >>> len(system.actions)
    24
    """

    def __init__(self, tree: GameTree, form: SequenceForm, own_units: bool = False) -> None:
        """Prepare the equations.  Raises ``BudgetError`` where the derivatives do not fit, before allocating them."""
        self.form = form
        self.sequences, chance, payoffs = ends(tree, form)
        self.sequences = self.sequences.astype(np.int64)
        self.log_chance = np.log(np.maximum(chance, np.finfo(float).tiny))
        owner = form.infoset_of.astype(np.int64)
        self.actions = np.flatnonzero(owner >= 0)
        self.column = np.full(form.num_sequences, -1)
        self.column[self.actions] = np.arange(len(self.actions))
        self.infoset = owner
        self.parent = np.full(form.num_sequences, -1)
        self.parent[self.actions] = form.arrays.parent.astype(np.int64)[owner[self.actions]]
        self.first = form.arrays.first.astype(np.int64)
        self.ranges = np.ptp(payoffs, axis=0)
        self.range = float(self.ranges.max()) or 1.0
        own = np.where(self.ranges > 0, self.ranges, self.range)
        self.units: FloatArray = own if own_units else np.full(len(own), self.range)
        payoffs = payoffs - (payoffs.max(axis=0) + payoffs.min(axis=0)) / 2  # constants would hide the differences
        self.scaled = payoffs / self.units
        self.room = self._check_room()

    def _check_room(self) -> str:
        """Return the memory that points of the path take, in words.  Raises ``BudgetError``."""
        entries = self.form.lengths[self.sequences].sum(axis=1).astype(np.float64)
        pairs, count = float((entries**2).sum()), len(self.actions)
        needed = BYTES_A_PAIR * pairs + BYTES_AN_ENTRY * float(entries.sum()) + BYTES_A_SLOPE * count**2
        said = f"{self.form.name} has {count:,} moves, and {pairs:,.3g} pairs of moves on the way to its ends"
        return check_room(f"{said}; the derivatives of its logit path take", needed)

    @cached_property
    def pairs(self) -> Pairs:
        """The entries and pairs, found by walking back from all terminal histories at once."""
        payoffs = self.scaled
        n = self.sequences.shape[1]
        found: list[tuple[Any, Any, int]] = []
        for p in range(n):
            at, rows = self.sequences[:, p], np.arange(len(self.sequences))
            while len(rows := rows[on := self.infoset[at] >= 0]):
                at = at[on]
                found.append((rows, at, p))
                at = self.parent[at]
        if not found:
            none = np.zeros(0, dtype=np.int64)
            return Pairs(none, none, np.zeros(0), none, none)
        end, action = np.concatenate([z for z, _, _ in found]), np.concatenate([q for _, q, _ in found])
        player = np.concatenate([np.full(len(z), p) for z, _, p in found])
        depth = np.concatenate([np.full(len(z), k) for k, (z, _, _) in enumerate(found)])
        order = np.argsort(end, kind="stable")
        count = np.bincount(end, minlength=len(self.sequences))
        begin = np.cumsum(count) - count
        of_end = count[end]
        entry = np.repeat(np.arange(len(end)), of_end)
        offset = np.arange(len(entry)) - np.repeat(np.cumsum(of_end) - of_end, of_end)
        other = order[begin[end[entry]] + offset]
        # a player's moves that were found earlier are later on the path
        matters = (player[other] != player[entry]) | (depth[other] < depth[entry])
        return Pairs(end, action, payoffs[end, player], entry[matters], action[other[matters]])

    def _weights(self, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return, for every entry, the probability of its end given its move, and given its information set."""
        sets, e = self.form.num_infosets, self.pairs
        reach = np.zeros(self.form.num_sequences)
        for first, size, parent in self._order:
            reach[first : first + size] = reach[parent] + logs[first : first + size]
        total = self.log_chance + reach[self.sequences].sum(axis=1)
        exponent = total[e.end] - reach[self.parent[e.action]]
        infoset = self.infoset[e.action]
        largest = np.full(sets, -np.inf)
        np.maximum.at(largest, infoset, exponent)
        sums = np.bincount(infoset, np.exp(exponent - largest[infoset]), minlength=sets)
        at_set = exponent - (largest + np.log(sums))[infoset]
        return np.exp(at_set - logs[e.action]), np.exp(at_set)

    @cached_property
    def _order(self) -> list[tuple[int, int, int]]:
        a = self.form.arrays
        return list(zip(a.first.tolist(), a.size.tolist(), a.parent.tolist(), strict=True))

    def payoffs(self, logs: FloatArray) -> FloatArray:
        """Return the expected payoff (S,) of each move at its information set; 0 at empty sequences."""
        return self._paid(self._weights(logs)[0])

    def _paid(self, made: FloatArray) -> FloatArray:
        sums = np.bincount(self.pairs.action, self.pairs.payoff * made, minlength=self.form.num_sequences)
        return np.asarray(sums, dtype=np.float64)

    def at(self, logs: FloatArray, rationality: float) -> tuple[FloatArray, FloatArray]:
        """Return the residuals of the equations (N,) and their derivatives by the N logarithms and ``λ`` (N, N + 1)."""
        e, count = self.pairs, len(self.actions)
        made, at_set = self._weights(logs)
        paid = self._paid(made)
        gain = self._table(e.entry, e.other, e.payoff * made)
        # derivatives of the sets' reach probabilities, by which the payoffs above are divided
        likely = self._table(e.entry, e.other, at_set) + self._diagonal(at_set)
        sets = self.infoset[self.actions]
        whole = np.add.reduceat(likely, self.column[self.first]) if count else likely
        gain -= paid[self.actions][:, None] * whole[sets]
        reference = self.first[sets]
        base = self.column[reference]
        differs = self.actions != reference
        failing = logs[self.actions] - logs[reference] - rationality * (paid[self.actions] - paid[reference])
        slopes = np.zeros((count, count + 1))
        slopes[:, :-1] = -rationality * (gain - gain[base])
        slopes[np.arange(count), np.arange(count)] += 1.0
        slopes[np.arange(count), base] -= 1.0
        slopes[:, -1] = -(paid[self.actions] - paid[reference])
        probabilities = np.exp(logs[self.actions])
        total = np.bincount(sets, probabilities, minlength=self.form.num_infosets)
        sums = np.flatnonzero(~differs)
        failing[sums] = np.log(total[sets[sums]])
        slopes[sums] = 0.0
        slopes[base, np.arange(count)] = probabilities / total[sets]
        return failing, slopes

    def _table(self, entry: LongArray, other: LongArray, weight: FloatArray) -> FloatArray:
        """Return (N, N) the weights of entries, summed by their move and the other one."""
        count = len(self.actions)
        at = self.column[self.pairs.action[entry]] * count + self.column[other]
        sums = np.bincount(at, weight[entry], minlength=count * count)
        return np.asarray(sums, dtype=np.float64).reshape(count, count)

    def _diagonal(self, weight: FloatArray) -> FloatArray:
        count = len(self.actions)
        return np.diag(np.bincount(self.column[self.pairs.action], weight, minlength=count))


@dataclass(frozen=True)
class Logit(TabularMethod):
    """The method ``logit``: the logit path of any game, from uniform play to a Nash equilibrium."""

    takes: ClassVar[frozenset[str]] = frozenset({"iterations", "target", "seconds"})
    default: ClassVar[Limits] = Limits(100_000)

    at: float | None = None
    """``λ`` at the end of the path; ``None``: the path ends at a Nash equilibrium."""

    def __post_init__(self) -> None:
        if self.at is not None:
            check_number("at", self.at, 0.0, LARGEST_AT)

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        return full_name("logit", logit, at=self.at)

    def job(self, compiled: Compiled, config: SolveConfig) -> LogitSolver:
        return LogitSolver(compiled.tree, compiled.form, self.name, self.at)

    def solver(self, form: SequenceForm, start: FloatArray | None = None) -> Solver:
        raise UnsupportedGameError(
            f"{form.name}: logit works on the tree of a game, and here is its sequence form alone"
        )


@checks_arguments
def logit(at: float | None = None) -> Logit:
    """Quantal response equilibria up to ``λ = at``, by default up to a Nash equilibrium.

    >>> solution = infoset.solve("kuhn_poker(players=3)", infoset.logit())
    >>> solution.epsilon < 1e-6
    True
    """
    return Logit(at)


class LogitPath(NamedTuple):
    """The points of a logit path."""

    rationality: FloatArray
    """(K,) ``λ`` of each point."""
    strategies: FloatArray
    """(K, S) behaviour at each point."""
    form: SequenceForm

    def draw(self, file: str | Path) -> Path | None:
        """Draw the probabilities of moves against ``λ`` as a PNG; return ``None`` without matplotlib."""
        drawn: Path | None = displays.draw("logit_path_picture", self, Path(file))
        return drawn


@checks_arguments
def logit_path(game: AnyGame, at: float | None = None) -> LogitPath:
    """Return every point of the logit path of a game up to ``λ = at``, by default up to a Nash equilibrium.

    >>> path = infoset.logit_path("kuhn_poker", at=20.0)
    >>> float(path.strategies[0].min()), float(path.rationality[-1])  # from uniform play on
    (0.5, 20.0)
    """
    compiled = Compiled.of(game)
    solver = logit(at).job(compiled, SolveConfig())
    points = [solver.arrays["point"].copy()]
    while not solver.done[0]:
        solver.step()
        points.append(solver.arrays["point"].copy())
    strategies = [_normal(solver.form, np.exp(solver._logs(point))) for point in points]
    rationality = np.array([point[-1] for point in points]) / solver.system.range
    return LogitPath(rationality, np.array(strategies), compiled.form)


class LogitSolver(Solver):
    """A solver that follows the path, one point an iteration.  ``arrays["point"]`` holds N logarithms and ``λ``."""

    finished_as = "end of the path"
    _beside: tuple[LogitSolver, Background[None]] | None = None
    """A copy on which the next point is being computed, and the call that computes it."""

    def __init__(self, tree: GameTree, form: SequenceForm, name: str = "logit", at: float | None = None) -> None:
        varied = form.ranges[form.ranges > 0]
        self.own_units = at is None and len(varied) > 0 and bool(varied.max() > UNIT_RATIO * varied.min())
        self.system, self.at = LogitSystem(tree, form, self.own_units), at
        size = len(self.system.actions) + 1
        arrays = {"point": np.zeros(size), "tangent": np.zeros(size), "step": np.zeros(1), "care": np.ones(1)}
        plan = realisation(form, uniform(form))
        super().__init__(form, name, {"plan": plan, "average": plan.copy(), **arrays})
        self.nothing_to_gain = None  # at unreached sets the profile settles later than its gains do
        self._begin()
        self.done = np.zeros(1)
        self.arrays["done"] = self.done

    @property
    def total(self) -> int | None:  # type: ignore[override]
        return self.iteration if self.done[0] else None

    @property
    def rationality(self) -> float:
        """``λ`` of the current point."""
        return float(self.arrays["point"][-1]) / self.system.range

    def notes(self) -> dict[str, Any]:
        """Return ``lambda``; ``set_gain``, the largest gain at an information set; ``ended``, why it ended early."""
        if not self.iteration:
            return {"lambda": self.rationality}
        gains = self._set_gains()
        notes: dict[str, Any] = {"lambda": self.rationality, "set_gain": float(gains.max(initial=0.0))}
        if self.own_units:
            units = zip(self.form.players, self.system.units.tolist(), strict=True)
            notes["lambdas"] = {name: float(self.arrays["point"][-1]) / unit for name, unit in units}
        if self.done[0] > ENDED:
            why = WHY_LOST[float(self.done[0])]
            if self._unsettled().any():
                worst = int(np.argmax(gains / np.maximum(self._range_of_set, float(np.finfo(float).tiny))))
                player = self.form.players[int(self.form.infoset_player[worst])]
                key = self.form.keys[worst]
                why += f": this is not an equilibrium, {player} at {key!r} gains {gains[worst]:.3g} by another move"
            notes["ended"] = why
        return notes

    def next_check(self) -> int:
        """Return the next point: points are few, and the path may end at any of them."""
        return self.iteration + 1

    @property
    def about(self) -> str:
        size = "" if self._quick else f", its derivatives take {self.system.room}"
        return f"λ {self.rationality:.4g}{size}"

    @property
    def _quick(self) -> bool:
        """Whether a point is computed in milliseconds."""
        return len(self.system.actions) <= QUICK

    def restore(self, saved: dict[str, Any]) -> None:
        super().restore(saved)
        self._beside = None

    def step(self, iterations: int = 1, until: float = inf) -> None:
        for _ in range(iterations):
            if self.done[0]:
                return
            if not self._advanced(until):
                return
            self.iteration += 1
            if time.monotonic() >= until:
                return

    def _advanced(self, until: float) -> bool:
        """Return whether the next point is reached by ``until``.  A slow one is computed on copies, in a thread."""
        if self._quick:
            self._advance()
            return True
        if self._beside is None:
            beside = copy(self)
            beside.arrays = {name: array.copy() for name, array in self.arrays.items()}
            beside.done = beside.arrays["done"]
            self._beside = beside, Background(beside._advance)
        beside, working = self._beside
        if not working.wait(until):
            return False
        self._beside = None
        for name, array in self.arrays.items():
            array[...] = beside.arrays[name]
        return True

    def _logs(self, point: FloatArray) -> FloatArray:
        logs = np.zeros(self.form.num_sequences)
        logs[self.system.actions] = point[:-1]
        return logs

    def _strategy(self) -> FloatArray:
        """Return behaviour (S,) at the current point, also at sets whose reach probabilities underflow."""
        return _normal(self.form, np.exp(self._logs(self.arrays["point"])))

    def policy(self) -> TabularPolicy:
        """Return the behaviour at the current point."""
        made_by = {"method": self.name, "iterations": self.iteration}
        return TabularPolicy.from_behaviour(self.form, self._strategy(), made_by)

    def _advance(self) -> None:
        """Move to the next point; or back to uniform play, with more care, where no next point is found."""
        point, step = self.arrays["point"], float(self.arrays["step"][0])
        care = float(self.arrays["care"][0])
        _, slopes = self.system.at(self._logs(point), float(point[-1]))
        tangent, turn = _tangent(slopes, self.arrays["tangent"])
        end = FAR * self._spread if self.at is None else self.at * self.system.range
        size = max(1.0, float(np.abs(point).max()))
        smallest = size * (SMALLEST_STEP if self._unsettled().any() else SMALLEST_STEP_SETTLED)
        while True:
            if step < smallest or _allowed(point) > VAGUE / 2:
                self._give_up(LOST)
                return
            guess = point + step * tangent
            last = guess[-1] >= end
            if last:
                guess = point + (end - point[-1]) / tangent[-1] * tangent
            if guess[-1] <= 0.0:
                if point[-1] <= FIRST_STEP:  # at 0 is uniform play alone, so this is another part of the curve
                    self._give_up(TURNED)
                    return
                step *= SLOWER
                continue
            aim = np.zeros_like(tangent)
            aim[-1] = 1.0
            distant = max(DISTANT, FAR_OFF * step) / care
            found = self._corrected(guess, aim if last else tangent, distant)
            if found is not None and found[0][-1] > 0.0:
                after, turned = _tangent(found[1], tangent)
                cosine = float(after @ tangent)
                # the determinant has a constant sign along a curve, except where others cross it
                crossing = step <= CROSSING * size and cosine > PARALLEL
                if cosine > 1.0 - BENT / care**2 and (turned == turn or crossing):
                    break
            step *= SLOWER
        point[:] = found[0]
        self.arrays["tangent"][:] = after
        self.arrays["step"][0] = step * (FASTER if found[2] <= NEWTON_STEPS // 2 else 1.0)
        self._show()
        if last or (self.at is None and self._settled()):
            self.done[0] = ENDED

    def _show(self) -> None:
        self.arrays["plan"][:] = realisation(self.form, self._strategy())
        self.arrays["average"][:] = self.arrays["plan"]

    def _give_up(self, why: float) -> None:
        """End here, or start again with smaller steps where this is not an equilibrium and they may lead to one."""
        care = float(self.arrays["care"][0])
        rounded = not self._unsettled().any() or _allowed(self.arrays["point"]) > VAGUE / 2
        if care >= MOST_CARE or (why == LOST and rounded):
            self.done[0] = why
            return
        self.arrays["care"][0] = 2 * care
        self._begin()
        self._show()

    def _begin(self) -> None:
        """Go to uniform play, with the direction of larger ``λ``."""
        self.arrays["point"][:-1] = np.log(uniform(self.form)[self.system.actions])
        self.arrays["point"][-1] = 0.0
        self.arrays["tangent"][:] = 0.0
        self.arrays["tangent"][-1] = 1.0
        self.arrays["step"][0] = FIRST_STEP

    @property
    def _spread(self) -> float:
        """One over the smallest payoff range of a player, where not 0, in that player's units."""
        ranges = (self.system.ranges / self.system.units)[self.system.ranges > 0]
        return 1.0 / float(ranges.min(initial=1.0))

    @property
    def _range_of_set(self) -> FloatArray:
        """(I,) the payoff range of each information set's player."""
        return np.asarray(self.system.ranges[self.form.infoset_player], dtype=np.float64)

    def _set_gains(self) -> FloatArray:
        """Return (I,) the best move's gain over the profile at each set once it is reached, in units of payoffs.

        Beliefs are those of the profile, in which every move has a positive probability.
        """
        actions, sets = self.system.actions, self.form.num_infosets
        owner = self.system.infoset[actions]
        paid = self.system.payoffs(self._logs(self.arrays["point"]))[actions]
        best = np.full(sets, -inf)
        np.maximum.at(best, owner, paid)
        lost = self._strategy()[actions] * (best[owner] - paid)
        units = self.system.units[self.form.infoset_player]
        return np.asarray(np.bincount(owner, lost, minlength=sets) * units, dtype=np.float64)

    def _unsettled(self) -> BoolArray:
        """Return (I,) the sets at which the gain exceeds what rounding errors explain."""
        return self._set_gains() > UNSETTLED * self._range_of_set

    def _settled(self) -> bool:
        """Return whether the gain is negligible at every information set, also at those that are not reached."""
        units = self.system.units[self.form.infoset_player]
        return bool((self._set_gains() <= NEAR * self._range_of_set + NOISE * units).all())

    def _corrected(
        self, guess: FloatArray, across: FloatArray, distant: float
    ) -> tuple[FloatArray, FloatArray, int] | None:
        """Return the point of the curve found by Newton steps orthogonal to ``across``, its derivatives and step count.

        ``None`` where the curve is farther away, or the steps shrink more slowly, than near the curve that is followed.
        """
        point, before, moved = guess.copy(), inf, inf
        for k in range(NEWTON_STEPS):
            with np.errstate(over="ignore", invalid="ignore"):  # a guess may be far off
                failing, slopes = self.system.at(self._logs(point), float(point[-1]))
            off = float(np.abs(failing).max(initial=0.0))
            allowed = _allowed(point)
            if not np.isfinite(off) or off > 10 * before or allowed > VAGUE:
                return None
            if off <= allowed:
                return point, slopes, k
            change = _solve(slopes, across, np.append(-failing, 0.0))
            if change is None:
                return None
            length = float(np.abs(change).max())
            if length > (moved * SHRINKING if moved > max(LEAST, 10 * allowed) else distant):
                return None
            point += change
            before, moved = off, length
        return None


def _allowed(point: FloatArray) -> float:
    """Return the residual that the equations may have at a point."""
    return ON_PATH + ROUNDING * float(np.abs(point[:-1]).max(initial=1.0)) * (1.0 + float(point[-1]))


def _normal(form: SequenceForm, strategy: FloatArray) -> FloatArray:
    owner = form.infoset_of
    inside = owner >= 0
    totals = np.bincount(owner[inside], strategy[inside], minlength=form.num_infosets)
    strategy[inside] /= totals[owner[inside]]
    return strategy


def _solve(slopes: FloatArray, across: FloatArray, right: FloatArray) -> FloatArray | None:
    matrix = np.vstack([slopes, across])
    matrix /= (scale := np.abs(matrix).max(axis=1, keepdims=True))
    try:
        found: FloatArray = np.linalg.solve(matrix, right / scale[:, 0])
    except np.linalg.LinAlgError:
        return None
    return found if np.isfinite(found).all() else None


def _tangent(slopes: FloatArray, before: FloatArray) -> tuple[FloatArray, float]:
    """Return the direction of the curve, oriented as before, and the sign of the determinant that goes with it."""
    found = _solve(slopes, before, np.append(np.zeros(len(slopes)), 1.0))
    if found is None:
        return before, 0.0
    matrix = np.vstack([slopes, before])
    sign = np.linalg.slogdet(matrix / np.abs(matrix).max(axis=1, keepdims=True)).sign
    return found / float(np.linalg.norm(found)), float(sign)
