"""What ``plot`` draws, read from the axes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import infoset
from conftest import KUHN, form_of
from infoset.arena.standings import Encounter, Standings
from infoset.errors import MissingExtraError, ParameterError

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra 'plot')")


@pytest.fixture(autouse=True)
def closed() -> Iterator[Any]:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def labels(axis: Any) -> list[str]:
    return [text.get_text() for text in axis.get_ticklabels()]


def test_a_solution_is_its_curve() -> None:
    solution = infoset.solve(KUHN, "cfr+", iterations=100)
    axes = solution.plot()
    last = [line.get_ydata()[-1] for line in axes.lines]
    assert solution.curve[-1].exploitability in last
    assert axes.get_title(loc="left") == "kuhn_poker by cfr+"
    assert solution.plot(axes) is axes
    with pytest.raises(ParameterError, match="has no curve"):
        infoset.solve(KUHN, "lp").plot()


def test_further_curves_on_the_same_axes_have_colours_and_names_of_their_own() -> None:
    solutions = [infoset.solve(KUHN, method, iterations=30) for method in ("cfr", "cfr+", "dcfr")]
    axes = None
    for solution in solutions:
        axes = solution.plot(axes)
    assert axes is not None and axes.get_title(loc="left") == "kuhn_poker"
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == [f"kuhn_poker by {solution.method}" for solution in solutions]
    shades = [line.get_color() for line in axes.get_legend().get_lines()]
    assert len({*shades}) == 3
    drawn = [line for line in axes.get_lines() if str(line.get_label()) in names]
    assert [line.get_ydata()[-1] for line in drawn] == [solution.curve[-1].exploitability for solution in solutions]
    infoset.solve("leduc_poker", "cfr", iterations=3).plot(axes)
    assert axes.get_title(loc="left") == "kuhn_poker, leduc_poker"


def test_a_curve_of_payoffs_does_not_go_on_axes_of_exploitability() -> None:
    team = infoset.solve("tiny_hanabi(game=A)", "annealing", runs=2)
    axes = infoset.solve(KUHN, "cfr", iterations=30).plot()
    with pytest.raises(
        ParameterError, match=r"by annealing.* has a curve of payoffs, others have one of exploitability"
    ):
        team.plot(axes)
    with pytest.raises(
        ParameterError, match=f"^{KUHN} by cfr has a curve of exploitability, others have one of payoffs"
    ):
        infoset.solve(KUHN, "cfr", iterations=30).plot(team.plot())


def test_curves_of_runs_join_those_on_the_axes() -> None:
    one, two, three = (infoset.solve(KUHN, method, iterations=30) for method in ("cfr", "cfr+", "dcfr"))
    axes = infoset.plot([two, three], axes=one.plot())
    lines = axes.get_legend().get_lines()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        f"kuhn_poker by {solution.method}" for solution in (one, two, three)
    ]
    assert len({line.get_color() for line in lines}) == 3
    again = three.plot(infoset.plot([one, two]))
    assert len({line.get_color() for line in again.get_legend().get_lines()}) == 3


def test_a_strategy_is_bars_that_sum_to_one() -> None:
    policy = infoset.solve(KUHN, "lp").policy
    axes = policy.plot("P2")
    assert labels(axes.yaxis) == list(policy.tables[1])
    passing, betting = ([bar.get_width() for bar in bars] for bars in axes.containers)
    assert betting == pytest.approx([row["bet"] for row in policy.tables[1].values()])
    assert [a + b for a, b in zip(passing, betting, strict=True)] == pytest.approx([1.0] * 6)
    for wrong in ("P3", 2, -1):
        with pytest.raises(ParameterError, match=r"allowed: 0 to 1, or P1, P2"):
            policy.plot(wrong)


def test_a_large_strategy_is_plotted_by_its_beginning() -> None:
    axes = infoset.TabularPolicy.uniform(form_of("leduc_poker")).plot()
    assert len(labels(axes.yaxis)) == 40
    assert "the first 40 of 468 information sets" in axes.get_title(loc="left")


def test_scores_have_their_intervals() -> None:
    series = infoset.play_series("leduc_poker", ["random", "random"], games=50, seed=2)
    axes = series.plot()
    assert labels(axes.yaxis) == ["P1 random", "P2 random"]
    ends = [bars.get_children()[-1].get_segments()[0][:, 0].tolist() for bars in axes.containers]
    for (low, high), score in zip(ends, series.agents, strict=True):
        assert (low, high) == pytest.approx((score.mean - score.interval, score.mean + score.interval))


def standings() -> Standings:
    table = (Encounter("a", "b", 6, 1, 1), Encounter("a", "c$^2$", 2, 6, 0), Encounter("b", "c$^2$", 0, 8, 0))
    return Standings("kuhn_poker", ("a", "b", "c$^2$"), 0, 24, 24, 24, 1.0, table, (), "games")


def test_standings_are_a_map_and_ratings() -> None:
    table, ratings = standings().plot()
    assert labels(table.yaxis) == [r"c\$^2\$  1", "a  2", "b  3"]  # a name is no formula
    assert [text.get_text() for text in table.texts] == ["75", "100", "25", "81", "0", "19"]
    middles = [bars.lines[0].get_xdata()[0] for bars in ratings.containers]
    assert middles == sorted((rating.rating for rating in standings().ratings), reverse=True)
    assert standings().plot((table, ratings))[0] is table


def test_without_matplotlib_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    solution, table = infoset.solve(KUHN, "cfr+", iterations=100), standings()
    series = infoset.play_series(KUHN, ["random", "random"], games=5)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for shown in (solution, solution.policy, series, table, replace(table)):
        with pytest.raises(MissingExtraError, match=r"needs the extra 'plot': pip install 'infoset\[plot\]'"):
            shown.plot()
