"""Repeat the experiments of Osogami & Takahashi (2019), "Real-time tree search with pessimistic scenarios":
Figure 3 (levels of pessimism), and the game between levels that section 4.2 leaves open.  Table 2, agents against each
other, is in ``pommerman_learnt_teams.py``.

    python papers/pessimistic_search.py           # an hour; rewrites docs/papers/pessimistic-search.md
    python papers/pessimistic_search.py --games 1000 --pairs 1000     # the paper's sizes

Finished games are stored in ``--db``, and scores beside the pictures: an interrupted run is continued, also with more
games, and a run for which all scores are stored takes a minute.  Read from top to bottom: the games, the game
between levels, the pictures, the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from meetings import GAME, ROOT, Score, heading, interval, meet, row, share, shares
from numpy.typing import NDArray
from options import parse

from infoset import SequenceForm
from infoset.games.matrix import matrix_game
from infoset.solvers.tabular.linear_program import linear_program
from infoset.tree.game_tree import GameTree

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PAGE = "pessimistic-search"
LEVELS = range(11)
MIXED = range(6)  # the levels of the game between levels
USUAL = 3  # the level of the competition
CLOCK = 0.1  # seconds for a move there
RESAMPLES = 500


@dataclass(frozen=True)
class Args:
    """Write the page on tree search with pessimistic scenarios."""

    out: Path = ROOT / "docs" / "papers"
    """Folder for the page, with its pictures in a folder beside it."""
    db: Path = ROOT / "runs" / PAGE
    """Folder for the games, a database for each pair of teams."""
    games: int = 300
    """How many at each level against each baseline (the paper: 1,000)."""
    pairs: int = 60
    """How many between each two levels."""
    clocked: int = 300
    """How many with the competition's clock, against each baseline."""
    workers: int = 2
    """Processes that play."""
    seed: int = 1

    @property
    def scores(self) -> Path:
        """The file of the page's scores."""
        return self.out / PAGE / "scores.csv"


# ---------------------------------------------------------------------------------------------------------------------
# The games
# ---------------------------------------------------------------------------------------------------------------------


def dypm(level: int) -> str:
    return f"dypm(level={level})"


Figure = dict[str, list[Score]]
Levels = dict[tuple[int, int], Score]


def play_figure(args: Args) -> Figure:
    """Play every level against each baseline."""
    return {baseline: [meet(dypm(level), baseline, args.games, args) for level in LEVELS] for baseline in BASELINES}


def play_clocked(args: Args) -> dict[str, Score]:
    """Play the competition's level against each baseline, with the competition's clock."""
    return {baseline: meet(dypm(USUAL), baseline, args.clocked, args, seconds=CLOCK) for baseline in BASELINES}


def play_levels(args: Args, figure: Figure) -> Levels:
    """Play the higher level of each pair against the lower; games against level 0 are in the figure."""
    return {
        (high, low): meet(dypm(high), dypm(low), args.pairs, args) if low else figure[dypm(0)][high]
        for high in MIXED
        for low in range(high)
    }


# ---------------------------------------------------------------------------------------------------------------------
# The paper's figures
# ---------------------------------------------------------------------------------------------------------------------

BASELINES: dict[str, dict[int, tuple[float | None, float | None, float | None]]] = {
    "simple": {0: (92.6, None, None), 3: (99.7, 0.2, 0.1)},
    dypm(0): {0: (36.9, None, None), 3: (77.8, 17.1, 5.1), 4: (73.1, 22.7, 4.2)},
}
"""Wins, ties and losses in per cent by level where the text gives them; the wins of level 4 are what is left."""


# ---------------------------------------------------------------------------------------------------------------------
# The game between levels
# ---------------------------------------------------------------------------------------------------------------------


class Mixture(NamedTuple):
    """The solution of the game between levels."""

    payoffs: NDArray[np.float64]  # (levels, levels) of the row
    weights: NDArray[np.float64]  # (levels,) of the best mixture
    spread: NDArray[np.float64]  # (2, levels) 95 % interval of the weights
    gain: float  # over the usual level, each against its worst opponent
    gain_spread: NDArray[np.float64]  # (2,) its 95 % interval


def best_mixture(payoffs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the maximin weights of the rows, by the linear program."""
    names = tuple([f"level {level}" for level in range(len(payoffs))])
    cells = {cell: (float(value), -float(value)) for cell, value in np.ndenumerate(payoffs)}
    form = SequenceForm.of(GameTree.of(matrix_game("levels", (names, names), cells)))
    return linear_program(form)[form.player_sequences(0)][1:]


def payoff_matrix(levels: Levels) -> NDArray[np.float64]:
    payoffs = np.zeros((len(MIXED), len(MIXED)))
    for (high, low), score in levels.items():
        payoffs[high, low] = (score.wins - score.losses) / score.games
        payoffs[low, high] = -payoffs[high, low]
    return payoffs


def gain_of(weights: NDArray[np.float64], payoffs: NDArray[np.float64]) -> float:
    """Return how much more a mixture gets against its worst opponent than the usual level against its own."""
    return float((weights @ payoffs).min() - payoffs[USUAL].min())


def solve(levels: Levels, seed: int) -> Mixture:
    """Solve the game, with intervals from counts resampled from the measured shares."""
    payoffs, rng = payoff_matrix(levels), np.random.default_rng(seed)
    weights, drawn, gains = best_mixture(payoffs), [], []
    for _ in range(RESAMPLES):
        again = payoff_matrix({pair: score.drawn_anew(rng) for pair, score in levels.items()})
        drawn.append(best_mixture(again))
        gains.append(gain_of(weights, again))
    limits = [0.025, 0.975]
    return Mixture(
        payoffs, weights, np.quantile(drawn, limits, axis=0), gain_of(weights, payoffs), np.quantile(gains, limits)
    )


# ---------------------------------------------------------------------------------------------------------------------
# The pictures
# ---------------------------------------------------------------------------------------------------------------------

PANELS = {"simple": ("SimpleAgent", 70), dypm(0): ("level 0", 0)}  # title, where the axis begins
COLOURS = {"wins": "#1f5fa8", "ties": "#cccccc", "losses": "#d98c21"}


def draw_figure(figure: Figure, file: Path) -> None:
    """Draw Figure 3: stacked shares, with 95 % intervals of wins (left) and losses (right)."""
    canvas, panels = plt.subplots(1, 2, figsize=(10, 4), dpi=110, layout="constrained")
    for axes, (baseline, scores), letter in zip(panels, figure.items(), "ab", strict=True):
        rates, bottom = np.array([[100 * count / score.games for count in score] for score in scores]), 0.0
        for name, column in zip(COLOURS, rates.T, strict=True):
            axes.bar(LEVELS, column, bottom=bottom, width=0.8, color=COLOURS[name], label=name)
            bottom = bottom + column
        wins = np.array([interval(score.wins, score.games) for score in scores])
        losses = np.array([interval(score.losses, score.games) for score in scores])
        for offset, ends in ((-0.15, wins), (0.15, 100 - losses)):
            whiskers(axes, np.array(LEVELS) + offset, ends.mean(axis=1), ends.T)
        given = [(level, wins) for level, (wins, _, _) in BASELINES[baseline].items()]
        axes.plot(
            *zip(*given, strict=True), "D", ms=6, mfc="white", mec="black", label="the paper's wins", clip_on=False
        )
        title, start = PANELS[baseline]
        axes.set_xticks(LEVELS)
        axes.set_xlabel("level of pessimism")
        axes.set_ylabel("% of games" + (f"; the axis begins at {start}" if start else ""))
        axes.set_title(f"({letter}) against {title}", loc="left", fontsize=11, pad=10)
        axes.set_ylim(start, 100)
        axes.spines[["top", "right"]].set_visible(False)
    canvas.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    save(canvas, file)


def whiskers(axes: plt.Axes, x: Sequence[float], middle: NDArray[np.float64], ends: NDArray[np.float64]) -> None:
    axes.errorbar(x, middle, np.abs(ends - middle), fmt="none", ecolor="black", elinewidth=1, capsize=2.5)


def draw_mixture(mixture: Mixture, file: Path) -> None:
    """Draw the payoffs between levels, and their best mixture."""
    canvas, (grid, bars) = plt.subplots(1, 2, figsize=(10, 4), dpi=110, layout="constrained")
    most = np.abs(mixture.payoffs).max()
    colours = matplotlib.colors.LinearSegmentedColormap.from_list("", ["#d98c21", "white", "#1f5fa8"])
    grid.imshow(mixture.payoffs, cmap=colours, vmin=-most, vmax=most)
    for (level, column), value in np.ndenumerate(mixture.payoffs):
        grid.text(column, level, "0" if level == column else signed(value), ha="center", va="center", fontsize=9,
                  color="white" if value > 0.6 * most else "black")  # fmt: skip
    grid.set_xlabel("against level")
    grid.set_ylabel("level")
    grid.set_title("What a level wins: wins less losses a game", loc="left", fontsize=11)
    bars.bar(MIXED, 100 * mixture.weights, color=COLOURS["wins"])
    whiskers(bars, MIXED, mixture.spread.mean(axis=0) * 100, 100 * mixture.spread)
    bars.set_xlabel("level")
    bars.set_ylabel("% of games; lines: 95 % of resamples")
    bars.set_ylim(0, 105)
    bars.set_title("The best mixture", loc="left", fontsize=11)
    bars.spines[["top", "right"]].set_visible(False)
    save(canvas, file)


def save(canvas: plt.Figure, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(file)
    plt.close(canvas)


# ---------------------------------------------------------------------------------------------------------------------
# The page
# ---------------------------------------------------------------------------------------------------------------------


def signed(value: float, digits: int = 2) -> str:
    return f"{round(value, digits) + 0.0:+.{digits}f}"  # no -0


def figure_rows(baseline: str, scores: list[Score]) -> list[str]:
    lines = heading(["level", "n", "wins, % (95 %)", "ties", "losses", "the paper's wins", "ties", "losses"])
    for level, score in zip(LEVELS, scores, strict=True):
        given = BASELINES[baseline].get(level, (None, None, None))
        theirs = ["" if value is None else f"{value}" for value in given]
        lines.append(row([f"{level}", f"{score.games:,}", *shares(score), *theirs]))
    return lines


def clocked_rows(clocked: dict[str, Score], figure: Figure) -> list[str]:
    lines = heading(["against", "seconds a move", "n", "wins, % (95 %)", "ties", "losses"])
    for baseline, score in clocked.items():
        for limit, met in ((f"{CLOCK}", score), ("no limit", figure[baseline][USUAL])):
            lines.append(row([PANELS[baseline][0], limit, f"{met.games:,}", *shares(met)]))
    return lines


def level_rows(levels: Levels, mixture: Mixture) -> list[str]:
    lines = heading(["", *[f"level {level}" for level in MIXED], "worst"])
    for level in MIXED:
        cells = []
        for other in MIXED:
            if level == other:
                cells.append("0")
                continue
            score = levels[max(level, other), min(level, other)]
            cells.append(f"{signed(mixture.payoffs[level, other])} ± {score.payoff.margin:.2f}")
        lines.append(row([f"**level {level}**", *cells, signed(mixture.payoffs[level].min())]))
    mixed = mixture.weights @ mixture.payoffs
    lines.append(row(["**mixture**", *map(signed, mixed), signed(mixed.min())]))
    return lines


def mixture_rows(mixture: Mixture) -> list[str]:
    lines = heading(["", *[f"level {level}" for level in MIXED]])
    lines.append(row(["share, %", *[f"{100 * weight:.0f}" for weight in mixture.weights]]))
    lines.append(row(["95 % of resamples", *[f"{low:.0f} to {high:.0f}" for low, high in 100 * mixture.spread.T]]))
    return lines


def page(figure: Figure, clocked: dict[str, Score], levels: Levels, mixture: Mixture, args: Args) -> str:
    easy, hard = figure["simple"], figure[dypm(0)]
    best = max(LEVELS, key=lambda level: hard[level].wins)
    worst, mixed = int(mixture.payoffs[USUAL].argmin()), mixture.weights @ mixture.payoffs
    low, high = mixture.gain_spread
    margins = [score.payoff.margin for score in levels.values() if score.payoff.margin is not None]
    head = f"""# Tree search with pessimistic scenarios

This page repeats the experiments of Takayuki Osogami and Toshihiro Takahashi, *Real-time tree search with pessimistic
scenarios: Winning the NeurIPS 2018 Pommerman Competition*, ACML 2019. The shortest command: `python
papers/pessimistic_search.py` writes the page with its numbers and pictures, here with `--games {args.games} --pairs
{args.pairs}`; games whose scores are stored are not played again.

The games are those of a [tournament](../tournaments.md) of `{GAME}`: each team plays on either diagonal equally
often, and all pairs play on the same seeds. Intervals are Wilson's at 95 %.

The agents are reimplementations from the paper; the originals are programs in Docker images, and were not run. What
the paper leaves open (its weights, and what an agent does with no enemy near) is our choice. So this is not an exact
repetition: the question is whether the idea has the published effect in an independent implementation. Except in the
table with a clock, decisions have no time limit here: a search ends when its budget of positions is used, so that
games are reproducible.

## What the paper claims

1. Against SimpleAgents, pessimism increases the share of games that `dypm` wins from 92.6 % (level 0) to 99.7 %
   (level 3).
2. Against itself at level 0, pessimism increases that share from 36.9 % to 77.8 %; level 4 loses less and ties more
   than level 3.
3. `hakozaki` and `dypm`, which are pessimistic, are stronger than `eisenach`, which is not; `hakozaki` is slightly
   stronger than `dypm`. [The learnt teams of the competition](pommerman-learnt-teams.md) repeats this table of the
   paper.
4. The best strategy mixes levels. The paper does not compute it.

## Levels of pessimism (Figure 3)

![wins, ties and losses at each level, against SimpleAgent and against level 0]({PAGE}/levels.png)

Against two SimpleAgents, {args.games:,} games at each level (the paper: 1,000):
"""
    hard_text = f"""
Claim 1 holds: {share(easy[0].wins, easy[0].games)} % of wins at level 0 and
{share(easy[USUAL].wins, easy[USUAL].games)} % at level {USUAL} (the paper: 92.6 and 99.7 %).
This number of games hardly distinguishes the levels above 0.

Against `dypm` at level 0, {args.games:,} games at each level:
"""
    pairs_text = f"""
At level 0 both sides are the same agent, which apart from luck wins half of the decided games,
{50 * (1 - hard[0].ties / hard[0].games):.1f} %.

Claim 2 holds: pessimism increases the wins to {share(hard[USUAL].wins, hard[USUAL].games)} % at level {USUAL} and
reduces the losses to {share(hard[USUAL].losses, hard[USUAL].games)} %. Level {best} has the most wins,
{share(hard[best].wins, hard[best].games)} %, but the intervals of all levels above 0 overlap. In the paper level 4
loses less and ties more than level {USUAL}; neither the paper's games nor ours are enough to show a difference. More
pessimism leads to a few more ties: {share(hard[10].ties, hard[10].games)} % at level 10.

Three choices that the paper leaves open matter most:

- *Whether other agents of a scenario also take cells that the agent has reached before them.* When they did, level 3
  often had no safe action left near an enemy, and won only 59 of 100 games against level 0. An agent cannot be pushed
  out of a cell, so that now they do not.
- *When the other agents begin to spread*: already in the step that is searched, or only after it.
- *What an agent does with no enemy near*: how strongly it is drawn to the cell where an enemy was last seen, and
  whether it repeats the same action in the same situation for ever.

With `dypm(early=false,chase=0.8,tired=0)`, level 3 lost 1.4 % of 1,000 games to SimpleAgents, mostly while both
agents of a team stood beside a bomb of their own and blocked each other's way; against level 0 with the same
parameters it won 65.5 %, lost 8.1 % and tied 26.4 %.

The competition's clock makes no difference, since a decision takes a small part of a millisecond:

{chr(10).join(clocked_rows(clocked, figure))}

## The game between levels (section 4.2)

Two teams choose their levels, from 0 to {MIXED[-1]}, without knowing the other's choice. A win pays 1, a tie 0, a
loss -1. The payoffs are estimated from {args.pairs:,} games of each pair ({args.games:,} against level 0), and have
95 % margins:
"""
    mixture_text = f"""
![payoffs between levels, and the best mixture]({PAGE}/mixture.png)

The best mixture of this symmetric game, whose value is 0, computed by the sequence-form [linear
program](../solvers/lp.md):
"""
    gain_text = f"""
The worst opponent of level {USUAL} is level {worst}, against which it gets
{signed(mixture.payoffs[USUAL, worst], 3)}; against its own worst opponent the mixture gets {signed(mixed.min(), 3)},
which is {mixture.gain:.3f} per game more. The estimate is rough: the margins are {min(margins):.2f} to
{max(margins):.2f}, and the program exploits noise in the counts. If all counts are resampled {RESAMPLES} times from
the measured shares, the same mixture gains between {signed(low, 3)} and {signed(high, 3)} (95 %), and the best
mixtures of the resampled games vary as in the second row. The only certain result is that level 0 has no place in the
mixture.

## What is reproduced, and what is not

- **Reproduced**: pessimism is clearly better than no pessimism against both baselines, by about as much as in the
  paper.
- **New**: the game between levels and its best mixture.
- **Not done**: the two agents of the paper's `dypm` team have different parameters, which are not published; here
  both are the same. A tournament accepts teams of two different agents, as `dypm(level=3)+dypm(level=4)`.
"""
    return "\n".join(
        [
            head, *figure_rows("simple", easy), hard_text, *figure_rows(dypm(0), hard), pairs_text,
            *level_rows(levels, mixture), mixture_text, *mixture_rows(mixture), gain_text,
        ]
    )  # fmt: skip


def main() -> None:
    args = parse(Args)
    figure = play_figure(args)
    clocked, levels = play_clocked(args), play_levels(args, figure)
    mixture = solve(levels, args.seed)
    draw_figure(figure, args.out / PAGE / "levels.png")
    draw_mixture(mixture, args.out / PAGE / "mixture.png")
    (args.out / f"{PAGE}.md").write_text(page(figure, clocked, levels, mixture, args))


if __name__ == "__main__":
    main()
