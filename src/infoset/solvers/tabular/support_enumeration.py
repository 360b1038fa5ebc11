"""Equilibria of games with three and more players, by enumeration of supports.

A player is indifferent between the strategies of its support; that is a system of polynomials, each linear in the
mixture of every other player. All its isolated solutions over the complex numbers are found by following paths from
a system of products of linear forms, whose solutions are known (multihomogeneous continuation; Morgan & Sommese 1987,
"A homotopy for solving general polynomial systems that respects m-homogeneous structures"; for equilibria McKelvey &
McLennan 1997, "The maximal number of regular totally mixed Nash equilibria"). Mixtures are followed as points of
projective spaces, so that no path diverges. Those solutions are kept that are real, are probabilities, and leave
nobody a gain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from infoset import status
from infoset.base import FloatArray
from infoset.compiled import AnyGame, Compiled
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.solvers.tabular.equilibrium_list import EquilibriumList, ListedEquilibrium
from infoset.solvers.tabular.pure_equilibria import pure_equilibrium
from infoset.tree.normal_form import NormalForm, count_strategies, normal_form
from infoset.tree.payoff_scale import payoff_offsets

Support: TypeAlias = tuple[tuple[int, ...], ...]
ComplexArray: TypeAlias = npt.NDArray[np.complex128]

MOST_SUPPORTS = 100_000
MOST_PATHS = 20_000
"""Bound on the paths of all supports together, which take about a minute."""
BATCH = 2000
SEED = 20_101
FIRST_STEP, LEAST_STEP = 0.05, 1e-9
CLOSE = 1e-9  # the last Newton step relative to the point
NEAR_THE_END = 0.99  # a path that stalls after this has reached a singular solution
REAL = 1e-6
LEAST_CHANCE = 1e-9
GOOD = 1e-9  # a gain relative to the payoff range
TIE = 1e-7  # a loss relative to the payoff range, or a singular value relative to the largest


@dataclass(frozen=True)
class _Found:
    support: Support
    mixtures: tuple[FloatArray, ...]
    gain: float
    regular: bool


def isolated_equilibria(game: AnyGame) -> EquilibriumList:
    """Return the equilibria of a small game of three or more players, each with the largest gain of a player.

    For a game without ties the list is complete. Where strategies tie, whole components may be equilibria: then the
    list holds their points of least support, and ``notes`` says that a component is suspected.  Raises
    ``UnsupportedGameError`` for one or two players, ``BudgetError`` where supports or solutions are too many.

    >>> print(infoset.isolated_equilibria("matching_pennies_3p"))
    matching_pennies_3p: 1 isolated equilibrium
    1  P1 Heads 0.5, Tails 0.5 -> 0   P2 Heads 0.5, Tails 0.5 -> 0   P3 Heads 0.5, Tails 0.5 -> 0
    """
    compiled = Compiled.of(game)
    form = compiled.form
    if (n := form.num_players) < 3:
        raise UnsupportedGameError(
            f"{form.name} has {n} player{'s'[: n != 1]}; supports are enumerated for three and more, "
            f"{'extreme equilibria are those of two' if n == 2 else 'pure equilibria are those of one'}"
        )
    sizes = [count_strategies(form, player) for player in range(n)]
    times = " x ".join(f"{size:,}" for size in sizes)
    if max(sizes) > 16 or prod(2**size - 1 for size in sizes) > MOST_SUPPORTS:
        raise BudgetError(
            f"{form.name}: {times} strategies have more than {MOST_SUPPORTS:,} supports; logit finds one equilibrium, "
            "and pure equilibria are listed in larger games"
        )
    table = normal_form(form, compiled.tree)
    payoffs = _centred(table)
    shapes: dict[tuple[int, ...], list[Support]] = defaultdict(list)
    for support in _supports(payoffs):
        shapes[tuple(map(len, support))].append(support)
    paths = sum(len(_starts(shape)) * len(supports) for shape, supports in shapes.items())
    if paths > MOST_PATHS:
        raise BudgetError(
            f"{form.name}: the supports of {times} strategies have up to {paths:,} solutions, more than "
            f"{MOST_PATHS:,}; logit finds one equilibrium"
        )
    found: list[_Found] = []
    lost = singular = 0
    with status.during("solving the indifferences of every support"):
        for shape, supports in sorted(shapes.items()):
            more, unsure, missing = _solve_shape(payoffs, shape, supports)
            found += more
            singular, lost = singular + unsure, lost + missing
    return _listed(compiled, table, found, singular, lost)


def _centred(table: NormalForm) -> FloatArray:
    """Return payoffs (K1, …, Kn, n) in floats, less constants that are large relative to the differences."""
    numbers, scales = table.numbers, np.array(table.scales, dtype=np.float64)
    cells = np.asarray(numbers, dtype=np.float64).reshape(-1, len(scales))
    far = payoff_offsets(cells) != 0
    lowest = [numbers[..., p].min() if far[p] else 0 for p in range(len(scales))]  # whole numbers: exact differences
    return np.asarray(np.array(numbers - np.array(lowest, dtype=numbers.dtype), dtype=np.float64) / scales)


def _listed(compiled: Compiled, table: NormalForm, found: list[_Found], singular: int, lost: int) -> EquilibriumList:
    form, notes = compiled.form, []
    tied = sum(not one.regular for one in found)
    if tied or singular:
        notes.append(
            f"{form.name}: a component of equilibria is suspected, for {tied} of {len(found)} have a strategy beside "
            f"their support that is as good{', or more solutions close by' if singular else ''}; "
            "other points of it are not listed"
        )
    if lost:
        ended = "1 path was not completed" if lost == 1 else f"{lost} paths were not completed"
        notes.append(f"{form.name}: the list may lack equilibria: {ended}")
    elif not (tied or singular) and len(found) % 2 == 0:  # Wilson 1971
        notes.append(f"{form.name}: the list is incomplete: it has {len(found)}, but without ties their number is odd")
    listed = []
    for one in sorted(found, key=lambda one: (one.support, [own.tolist() for own in one.mixtures])):
        if all(len(own) == 1 for own in one.support):
            listed.append(pure_equilibrium(table, tuple(own[0] for own in one.support)))
            continue
        payoffs = np.array(table.numbers, dtype=float) / np.array(table.scales, dtype=float)
        values = [float(_against(payoffs, one.mixtures, p) @ one.mixtures[p]) for p in range(len(one.mixtures))]
        mixtures = tuple(tuple(own.tolist()) for own in one.mixtures)
        listed.append(ListedEquilibrium(mixtures, tuple(values), one.gain))
    return EquilibriumList(form, table, "isolated", tuple(listed), tuple(notes))


def _supports(payoffs: FloatArray) -> Iterator[Support]:
    """Yield the supports in which no strategy is strictly dominated given the supports of the others."""
    n = payoffs.shape[-1]
    choices = [
        [own for size in range(1, count + 1) for own in combinations(range(count), size)]
        for count in payoffs.shape[:-1]
    ]
    for support in product(*choices):
        for player in range(n):
            rest = [support[q] if q != player else tuple(range(payoffs.shape[player])) for q in range(n)]
            rows = np.moveaxis(payoffs[..., player][np.ix_(*rest)], player, 0).reshape(payoffs.shape[player], -1)
            if any((rows > rows[own]).all(axis=1).any() for own in support[player]):
                break
        else:
            yield support


@lru_cache(maxsize=256)
def _starts(shape: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return, for each solution of the start system, by player whose form vanishes in each of its equations."""
    n, dims = len(shape), [size - 1 for size in shape]
    ways = [list(product([q for q in range(n) if q != p], repeat=dims[p])) for p in range(n)]
    if prod(map(len, ways)) > 50 * MOST_PATHS:
        raise BudgetError(f"supports of {shape} strategies have too many solutions to be followed")
    return tuple(way for way in product(*ways) if all(sum(one.count(q) for one in way) == dims[q] for q in range(n)))


class _System:
    """The indifference equations of many supports of one shape, from the start (``t = 0``) to the game (``t = 1``).

    A point is (B, N) complex: the players' mixtures, concatenated, each up to a factor that a random patch fixes.
    """

    def __init__(self, shape: tuple[int, ...], rng: np.random.Generator) -> None:
        self.shape, self.n = shape, len(shape)
        self.begin = np.concatenate([[0], np.cumsum(shape)]).tolist()
        self.size = self.begin[-1]
        self.others = [[q for q in range(self.n) if q != p] for p in range(self.n)]

        def drawn(*size: int) -> Any:
            return np.exp(2j * np.pi * rng.random(size)) * (0.5 + rng.random(size))

        self.forms = [{q: drawn(shape[p] - 1, shape[q]) for q in self.others[p]} for p in range(self.n)]
        self.patches = [drawn(size) for size in shape]
        self.turn = np.exp(2j * np.pi * rng.random())

    def start(self, way: tuple[tuple[int, ...], ...]) -> ComplexArray:
        """Return the solution (N,) at which the forms of ``way`` vanish."""
        parts = []
        for q, patch in enumerate(self.patches):
            rows = [self.forms[p][q][e] for p, own in enumerate(way) for e, other in enumerate(own) if other == q]
            matrix = np.array([*rows, patch])
            parts.append(np.linalg.solve(matrix, np.eye(len(matrix))[-1]))
        return np.concatenate(parts)

    def parts(self, point: Any) -> list[Any]:
        return [point[:, self.begin[p] : self.begin[p + 1]] for p in range(self.n)]

    def target(self, coefficients: Sequence[Any], point: Any) -> tuple[ComplexArray, ComplexArray]:
        """Return the residuals of indifference (B, N - n) and their derivatives (B, N - n, N)."""
        parts, count = self.parts(point), len(point)
        values = np.zeros((count, self.size - self.n), dtype=point.dtype)
        slopes = np.zeros((count, self.size - self.n, self.size), dtype=point.dtype)
        row = 0
        for p, table in enumerate(coefficients):
            rows = slice(row, row + self.shape[p] - 1)
            row = rows.stop
            for place, q in enumerate(self.others[p]):
                left = np.moveaxis(table, 2 + place, 2)
                for other in reversed([o for o in self.others[p] if o != q]):
                    left = np.einsum("...k,...k->...", left, _spread(parts[other], left.ndim))
                slopes[:, rows, self.begin[q] : self.begin[q + 1]] = left
            q = self.others[p][0]
            values[:, rows] = np.einsum("bek,bk->be", slopes[:, rows, self.begin[q] : self.begin[q + 1]], parts[q])
        return values, slopes

    def beginning(self, point: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        """Return the same for the products of forms, whose solutions are known."""
        parts, count = self.parts(point), len(point)
        values = np.zeros((count, self.size - self.n), dtype=point.dtype)
        slopes = np.zeros((count, self.size - self.n, self.size), dtype=point.dtype)
        row = 0
        for p in range(self.n):
            rows = slice(row, row + self.shape[p] - 1)
            row = rows.stop
            factors = {q: parts[q] @ form.T for q, form in self.forms[p].items()}
            values[:, rows] = np.prod(list(factors.values()), axis=0)
            for q, form in self.forms[p].items():
                rest = [factors[o] for o in factors if o != q]
                slopes[:, rows, self.begin[q] : self.begin[q + 1]] = np.prod(rest, axis=0)[:, :, None] * form
        return values, slopes

    def at(self, coefficients: Sequence[Any], point: ComplexArray, t: FloatArray) -> tuple[Any, Any, Any]:
        """Return the system (B, N) at ``t``, its derivatives by the point (B, N, N) and by ``t`` (B, N)."""
        values, slopes = self.target(coefficients, point)
        first, rising = self.beginning(point)
        first, rising = self.turn * first, self.turn * rising
        count, part = len(point), t[:, None]
        whole = np.zeros((count, self.size), dtype=point.dtype)
        matrix = np.zeros((count, self.size, self.size), dtype=point.dtype)
        drift = np.zeros_like(whole)
        equations = self.size - self.n
        whole[:, :equations] = (1 - part) * first + part * values
        matrix[:, :equations] = (1 - part)[..., None] * rising + part[..., None] * slopes
        drift[:, :equations] = values - first
        for p, own in enumerate(self.parts(point)):
            whole[:, equations + p] = own @ self.patches[p] - 1
            matrix[:, equations + p, self.begin[p] : self.begin[p + 1]] = self.patches[p]
        return whole, matrix, drift

    def follow(self, coefficients: Sequence[Any], point: ComplexArray) -> tuple[ComplexArray, FloatArray]:
        """Return each point at the end of its path, or where the path stalls, and the ``t`` reached, from 0 to 1."""
        count = len(point)
        point, t, step = point.copy(), np.zeros(count), np.full(count, FIRST_STEP)
        active = np.arange(count)
        while len(active):
            table = [own[active] for own in coefficients]
            here, now = point[active], t[active]
            ahead = np.minimum(step[active], 1 - now)

            def slope(x: ComplexArray, when: FloatArray, table: Any = table) -> Any:
                _, matrix, drift = self.at(table, x, when)
                return -_solved(matrix, drift)

            h = ahead[:, None]
            k1 = slope(here, now)
            k2 = slope(here + h / 2 * k1, now + ahead / 2)
            k3 = slope(here + h / 2 * k2, now + ahead / 2)
            k4 = slope(here + h * k3, now + ahead)
            there, then = here + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), now + ahead
            for _ in range(3):
                whole, matrix, _ = self.at(table, there, then)
                moved = _solved(matrix, whole)
                there = there - moved
            size = np.abs(there).max(axis=1)
            good = np.isfinite(size) & (np.abs(moved).max(axis=1) < CLOSE * size)
            good &= np.abs(there - here).max(axis=1) < 0.5 * size
            point[active[good]], t[active[good]] = there[good], then[good]
            step[active] = np.where(good, np.minimum(2 * ahead, 0.2), ahead / 2)
            active = active[(t[active] < 1) & (step[active] > LEAST_STEP)]
        return point, t


def _spread(vector: ComplexArray, ndim: int) -> ComplexArray:
    """Reshape (B, k) to (B, 1, …, k) with ``ndim`` dimensions."""
    return vector.reshape(len(vector), *([1] * (ndim - 2)), vector.shape[1])


def _solved(matrix: Any, right: Any) -> Any:
    try:
        return np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.einsum("bij,bj->bi", np.linalg.pinv(matrix), right)


def _solve_shape(payoffs: FloatArray, shape: tuple[int, ...], supports: list[Support]) -> tuple[list[_Found], int, int]:
    """Return the equilibria of supports of one shape, the number of singular solutions and that of lost paths."""
    found: list[_Found] = []
    ways, n = _starts(shape), len(shape)
    if max(shape) == 1:
        chosen = [tuple(np.eye(payoffs.shape[p])[own[0]] for p, own in enumerate(support)) for support in supports]
        made = [_checked(payoffs, support, one) for support, one in zip(supports, chosen, strict=True)]
        return [one for one in made if one is not None], 0, 0
    unsure = lost = 0
    for begin in range(0, len(supports), max(1, BATCH // max(1, len(ways)))):
        part = supports[begin : begin + max(1, BATCH // max(1, len(ways)))]
        each = [_coefficients(payoffs, support) for support in part]
        tables = [np.repeat(np.stack([one[p] for one in each]), len(ways), axis=0) for p in range(n)]
        owners = np.repeat(np.arange(len(part)), len(ways))
        if not len(owners):
            continue
        left = np.arange(len(owners))
        for attempt in range(2):  # lost paths are followed again from another start
            system = _System(shape, np.random.default_rng([SEED, attempt, *shape]))
            starts = np.stack([system.start(way) for way in ways])
            point, t = system.follow([own[left] for own in tables], np.tile(starts, (len(part), 1))[left])
            for place, x, when in zip(left.tolist(), point, t.tolist(), strict=True):
                mixtures = _mixtures(system, x, when == 1)
                if mixtures is None:
                    continue
                one = _polished(payoffs, part[owners[place]], mixtures)
                if one is None:
                    unsure += when < 1 and _plausible(payoffs, part[owners[place]], mixtures)
                elif not any(one.support == old.support and _same(one, old) for old in found):
                    found.append(one)
            left = left[t < NEAR_THE_END]
            if not len(left):
                break
        lost += len(left)
    return found, unsure, lost


def _coefficients(payoffs: FloatArray, support: Support) -> list[FloatArray]:
    """Return, by player (d, sizes of the others' supports), each strategy's payoff less that of its support's first."""
    found = []
    for p in range(len(support)):
        inside = np.moveaxis(payoffs[..., p][np.ix_(*support)], p, 0)
        width = float(np.ptp(payoffs[..., p])) or 1.0
        found.append((inside[1:] - inside[:1]) / width)
    return found


def _mixtures(system: _System, x: ComplexArray, arrived: bool) -> list[FloatArray] | None:
    """Return the point as mixtures, if it is real and nowhere below 0."""
    slack = REAL if arrived else 1e-2
    found = []
    for own in system.parts(x[None]):
        total = own[0].sum()
        if abs(total) < 1e-8 * np.abs(own).max():
            return None  # at infinity
        probabilities = own[0] / total
        if np.abs(probabilities.imag).max() > slack or probabilities.real.min() < -slack:
            return None
        found.append(probabilities.real)
    return found


def _polished(payoffs: FloatArray, support: Support, mixtures: list[FloatArray]) -> _Found | None:
    """Return the equilibrium next to these mixtures of a support, if there is one."""
    tables = [table[None] for table in _coefficients(payoffs, support)]
    shape = tuple(map(len, support))
    system = _System(shape, np.random.default_rng(0))
    equations = system.size - system.n
    sums = np.zeros((system.n, system.size))
    for p in range(system.n):
        sums[p, system.begin[p] : system.begin[p + 1]] = 1.0
    x = np.concatenate(mixtures)
    for _ in range(30):
        values, slopes = system.target(tables, x[None])
        matrix = np.concatenate([slopes[0].real, sums])
        error = np.concatenate([values[0].real, sums @ x - 1])
        step = np.linalg.lstsq(matrix, error, rcond=1e-10)[0]
        x = x - step
        if np.abs(step).max() < 1e-15:
            break
    assert len(matrix) == equations + system.n
    if not np.isfinite(x).all() or x.min() < LEAST_CHANCE:
        return None  # a solution of a smaller support
    whole = []
    for p, own in enumerate(support):
        probabilities = np.zeros(payoffs.shape[p])
        probabilities[list(own)] = x[system.begin[p] : system.begin[p + 1]]
        whole.append(probabilities / probabilities.sum())
    singular = np.linalg.svd(matrix, compute_uv=False)
    return _checked(payoffs, support, tuple(whole), bool(singular[-1] > TIE * singular[0]))


def _checked(
    payoffs: FloatArray, support: Support, mixtures: tuple[FloatArray, ...], isolated: bool = True
) -> _Found | None:
    """Return the profile with its largest gain, if that is negligible."""
    gain, regular = 0.0, isolated
    for p, own in enumerate(support):
        width = float(np.ptp(payoffs[..., p])) or 1.0
        paid = _against(payoffs, mixtures, p)
        value = float(paid @ mixtures[p])
        more = float(paid.max()) - value
        if more > GOOD * width:
            return None
        gain = max(gain, more)
        beside = np.delete(paid, own)
        regular &= not len(beside) or value - float(beside.max()) > TIE * width
    return _Found(support, mixtures, gain, regular)


def _plausible(payoffs: FloatArray, support: Support, mixtures: list[FloatArray]) -> bool:
    """Return whether a path stalled close to a profile from which nobody gains."""
    whole = []
    for p, own in enumerate(support):
        probabilities = np.zeros(payoffs.shape[p])
        probabilities[list(own)] = np.maximum(mixtures[p], 0)
        whole.append(probabilities / probabilities.sum())
    for p in range(len(support)):
        paid = _against(payoffs, tuple(whole), p)
        if paid.max() - paid @ whole[p] > 1e-2 * (np.ptp(payoffs[..., p]) or 1.0):
            return False
    return True


def _against(payoffs: FloatArray, mixtures: Sequence[FloatArray], player: int) -> FloatArray:
    """Return the payoff of each strategy of ``player`` against the others' mixtures."""
    paid = np.moveaxis(payoffs[..., player], player, 0)
    for other in reversed([q for q in range(len(mixtures)) if q != player]):
        paid = paid @ mixtures[other]
    return paid


def _same(one: _Found, other: _Found) -> bool:
    return all(np.abs(a - b).max() < 1e-6 for a, b in zip(one.mixtures, other.mixtures, strict=True))
