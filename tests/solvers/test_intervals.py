"""Intervals of exact figures from samples of a strategy: how often they cover the truth, and how wide they are.

The parts are checked by hand: the score interval of one probability (Wilson 1927), and slopes by finite differences.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache

import numpy as np
import pytest

import infoset
from infoset.base import FloatArray
from infoset.compiled import Compiled
from infoset.solvers.intervals import Completions, Figures, Region, estimate
from infoset.solvers.metrics import best_behaviour, evaluate_plan
from infoset.statistics import NORMAL_95
from infoset.tree.plans import random_interior, realisation, uniform
from infoset.tree.sequence_form import SequenceForm

KUHN, LEDUC, HANABI = "kuhn_poker", "leduc_poker", "tiny_hanabi(game=A)"
RUNS = 100


def draw(
    form: SequenceForm, strategy: FloatArray, samples: int, seed: int, unasked: Collection[int] = ()
) -> list[list[int]]:
    """Draw actions at every information set but those that are not asked."""
    rng, found = np.random.default_rng(seed), list[list[int]]()
    for k, (first, size) in enumerate(zip(form.arrays.first.tolist(), form.arrays.size.tolist(), strict=True)):
        chances = strategy[first : first + size]
        found.append([] if k in unasked else rng.choice(size, samples, p=chances / chances.sum()).tolist())
    return found


@cache
def equilibrium(form: SequenceForm, seed: int) -> FloatArray:
    return equilibrium(form, 0) if seed else infoset.solve(form.name, "lp").policy.behaviour(form)


def nearly_pure(form: SequenceForm, seed: int) -> FloatArray:
    """Every action has at least 5 %, and one of each set almost all of the rest."""
    weights = random_interior(form, seed) ** 20
    inside = form.infoset_of >= 0
    totals = np.bincount(form.infoset_of[inside], weights[inside])
    weights[inside] /= totals[form.infoset_of[inside]]
    return np.asarray(0.9 * weights + 0.1 * uniform(form))


def missed(
    game: str, of: Callable[[SequenceForm, int], FloatArray], samples: int, runs: int, unasked: Collection[int] = ()
) -> tuple[int, int]:
    """Return how many intervals of the NashConv, and of the first player's value, do not contain the exact figure."""
    compiled = Compiled.of(game)
    form, nash_conv, value = compiled.form, 0, 0
    for seed in range(runs):
        strategy = of(form, seed)
        exact = evaluate_plan(form, realisation(form, strategy))
        found = estimate(form, compiled.tree, draw(form, strategy, samples, seed, unasked)).intervals
        nash_conv += not found.nash_conv[0] - 1e-9 <= exact.nash_conv <= found.nash_conv[1] + 1e-9
        value += not found.values[0][0] - 1e-9 <= exact.values[0] <= found.values[0][1] + 1e-9
    return nash_conv, value


class TestCoverage:
    @pytest.mark.parametrize(
        ("of", "samples"),
        [(random_interior, 10), (equilibrium, 40), (nearly_pure, 20)],
        ids=["random", "equilibrium", "nearly_pure"],
    )
    def test_intervals_cover_the_exact_figures_of_kuhn_poker(
        self, of: Callable[[SequenceForm, int], FloatArray], samples: int
    ) -> None:
        nash_conv, value = missed(KUHN, of, samples, RUNS)
        assert nash_conv <= 7 and value <= 7  # at 95 %

    def test_few_samples_at_many_sets(self) -> None:
        assert max(missed(LEDUC, random_interior, 4, 5)) == 0

    def test_other_games(self) -> None:
        assert max(missed(HANABI, random_interior, 20, 20)) <= 3
        assert max(missed("kuhn_poker(players=3)", random_interior, 20, 10)) <= 2

    @pytest.mark.parametrize("unasked", [{0}, {2, 7}, {1, 3, 6, 8, 11}, set(range(12))], ids=len)
    def test_anything_may_be_played_at_sets_that_were_not_asked(self, unasked: set[int]) -> None:
        assert max(missed(KUHN, random_interior, 30, 5, unasked)) == 0
        assert max(missed(KUHN, lambda form, _: _pure_at(form, unasked), 30, 2, unasked)) == 0

    def test_sets_that_were_not_asked_in_games_of_other_kinds(self) -> None:
        assert max(missed(HANABI, random_interior, 20, 5, {0, 3})) == 0
        assert max(missed("kuhn_poker(players=3)", random_interior, 20, 2, {5, 30})) == 0


def _pure_at(form: SequenceForm, sets: Collection[int]) -> FloatArray:
    """Return uniform play, but always the last action at some sets."""
    strategy = uniform(form)
    for k in sets:
        first, size = int(form.arrays.first[k]), int(form.arrays.size[k])
        strategy[first : first + size] = np.eye(size)[-1]
    return strategy


class TestWidth:
    def test_intervals_shrink_to_the_exact_figures(self) -> None:
        compiled = Compiled.of(KUHN)
        strategy = random_interior(compiled.form, 3)
        exact = evaluate_plan(compiled.form, realisation(compiled.form, strategy))
        widths = []
        for samples in (100, 10_000):
            found = estimate(compiled.form, compiled.tree, draw(compiled.form, strategy, samples, 1))
            low, high = found.intervals.nash_conv
            widths.append(high - low)
            assert found.intervals.exploitability == (low / 2, high / 2)
            assert not found.exact and found.margin == pytest.approx((high - low) / 2)
        assert found.nash_conv == pytest.approx(exact.nash_conv, abs=0.05)
        assert widths[1] == pytest.approx(widths[0] / 10, rel=0.3)  # as the square root of the samples

    def test_a_set_without_samples_widens_them_and_knowing_nothing_leaves_the_whole_range(self) -> None:
        compiled = Compiled.of(KUHN)
        form, tree, ends = compiled.form, compiled.tree, []
        for unasked in (set(), {4}, set(range(12))):
            found = estimate(form, tree, draw(form, uniform(form), 50, 1, unasked)).intervals
            ends.append(found.nash_conv)
        assert ends[0][1] < ends[1][1] < ends[2][1] and ends[2][0] == 0
        assert found.values[0][0] == pytest.approx(-3 / 2)  # who completes knows the cards: 2 lost, or 1 by folding

    def test_one_sample_of_a_pure_strategy_proves_little(self) -> None:
        compiled = Compiled.of(KUHN)
        strategy = best_behaviour(compiled.form, realisation(compiled.form, uniform(compiled.form)))
        found = estimate(compiled.form, compiled.tree, draw(compiled.form, strategy, 1, 0))
        low, high = found.intervals.nash_conv
        assert low == 0 and high > found.nash_conv + 0.1
        assert max(missed(KUHN, random_interior, 1, 20)) <= 2


class TestRegion:
    @pytest.mark.parametrize(("drawn", "samples"), [(0, 10), (1, 30), (12, 40), (40, 40), (500, 1000)])
    def test_one_probability_has_the_score_interval(self, drawn: int, samples: int) -> None:
        """Wilson 1927, solved for the ends: (p + z²/2n ± z sqrt(p (1 − p)/n + z²/4n²)) / (1 + z²/n)."""
        form = Compiled.of("matching_pennies_3p").form
        counts = np.zeros(form.num_sequences)
        first = form.arrays.first.astype(int)
        counts[first[0]], counts[first[0] + 1] = drawn, samples - drawn
        region = Region(form, counts)
        z, p, n = region.limit, drawn / samples, samples
        assert z == pytest.approx(NORMAL_95, rel=0.2) and z > NORMAL_95
        middle, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        for sign in (-1, 1):
            slopes = np.zeros(form.num_sequences)
            slopes[first[0]] = sign
            found = region.extreme(slopes)
            assert found[first[0]] == pytest.approx((middle + sign * half) / (1 + z**2 / n), abs=2e-4)
            assert found[first[0]] + found[first[0] + 1] == pytest.approx(1)

    def test_samples_are_contradicted_in_total_not_at_every_set(self) -> None:
        form = Compiled.of(LEDUC).form
        draws, rng = draw(form, uniform(form), 20, 1), np.random.default_rng(2)
        counts = np.zeros(form.num_sequences)
        for k, actions in enumerate(draws):
            np.add.at(counts, int(form.arrays.first[k]) + np.array(actions), 1.0)
        region, slopes = Region(form, counts), rng.normal(size=form.num_sequences)
        found = region.extreme(slopes)
        table, moved = region.shares, region.table(found, 0.0)
        ratio = np.divide(table**2, moved, out=np.zeros_like(table), where=table > 0)
        assert 20 * (ratio.sum(axis=1) - 1).sum() == pytest.approx(region.limit**2, rel=0.01)
        assert moved.sum(axis=1) == pytest.approx(np.ones(len(moved))) and moved.min() >= 0
        assert slopes @ found > slopes @ region.centre


class TestFigures:
    @pytest.mark.parametrize("game", [KUHN, HANABI, "kuhn_poker(players=3)", "matching_pennies_3p"])
    def test_slopes_are_finite_differences_of_the_nash_conv(self, game: str) -> None:
        """Danskin's theorem: the deviations may be treated as fixed."""
        form = Compiled.of(game).form
        figures, strategy = Figures(form), random_interior(form, 1)

        def nash_conv(at: FloatArray) -> float:
            return evaluate_plan(form, realisation(form, at)).nash_conv

        best = realisation(form, best_behaviour(form, realisation(form, strategy)))
        value, slopes = figures.slopes(strategy, figures.gains(best))
        assert value == pytest.approx(nash_conv(strategy))
        for k in range(form.num_infosets):
            first, step = int(form.arrays.first[k]), 1e-6
            moved = strategy.copy()
            moved[first], moved[first + 1] = strategy[first] + step, strategy[first + 1] - step
            assert (nash_conv(moved) - value) / step == pytest.approx(slopes[first] - slopes[first + 1], abs=1e-4)

    def test_completions_bound_every_strategy_at_free_sets(self) -> None:
        compiled = Compiled.of(KUHN)
        form, tree = compiled.form, compiled.tree
        counts = np.where(form.infoset_of >= 0, 5.0, 0.0)
        for k in (2, 9):
            counts[int(form.arrays.first[k]) : int(form.arrays.first[k]) + 2] = 0
        completions = Completions(form, tree, Region(form, counts))
        low, high = (completions.extreme(completions.payoffs[:, 0], choose) for choose in (min, max))
        for seed in range(20):
            strategy = np.where(counts > 0, 0.5, random_interior(form, seed))
            found = evaluate_plan(form, realisation(form, strategy))
            assert low - 1e-12 <= found.values[0] <= high + 1e-12
            for player in range(2):
                assert found.best_response_values[player] <= completions.best_response(player) + 1e-12
        everything = Completions(form, tree, Region(form, np.where(form.infoset_of >= 0, 5.0, 0.0)))
        exact = evaluate_plan(form, realisation(form, uniform(form)))
        assert everything.best_response(0) == pytest.approx(exact.best_response_values[0])
