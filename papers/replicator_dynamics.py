"""Repeat the experiments of Lanctot (2014), "Further developments of extensive-form replicator dynamics using
the sequence-form representation": Figures 1 and 2 and every number stated for Kuhn poker with 2, 3 and 4 players.

    python papers/replicator_dynamics.py            # about a minute; rewrites docs/papers/replicator-dynamics.md
    python papers/replicator_dynamics.py --quick --out /tmp/page    # 100 times fewer iterations

Read from top to bottom: the runs, what is measured on them, the pictures, the page.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from numpy.typing import NDArray
from options import parse

import infoset
from infoset import SequenceForm, TabularPolicy, evaluate, expected_values, performance

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FloatArray = NDArray[np.float64]

PAGE = "replicator-dynamics"
SHIFT = 3.0  # the paper's: payoffs are at least -2, and equation 3 divides by shifted payoffs
ITERATIONS = {2: 100_000, 3: 100_000, 4: 10_000}  # by number of players, as in the paper
FLOW_STEP = 0.25
FLOW_MARKS = (100, 1_000, 10_000, 100_000)
DISTANCE_MARKS = (10, 100, 1_000, 10_000, 99_980, 99_990, 100_000)
CURVE_POINTS = 140
CFR_THREE_PLAYERS = 0.0044563  # Risk & Szafron 2010, after 1e8 iterations, as the paper quotes it
PERFORMANCE_THREE_PLAYERS = 0.615


@dataclass(frozen=True)
class Args:
    """Write the page on sequence-form replicator dynamics."""

    out: Path = Path(__file__).resolve().parents[1] / "docs" / "papers"
    """Folder for the page, with its pictures in a folder beside it."""
    quick: bool = False
    """Run 100 times fewer iterations: a test of the script, not of the paper."""


# ---------------------------------------------------------------------------------------------------------------------
# The runs
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A run at time t: realisation plans of the average of x(1) … x(t) and of the current profile x(t)."""

    form: SequenceForm
    average: FloatArray
    current: FloatArray

    def gap(self, plan: FloatArray) -> float:
        """The paper's distance to equilibrium: the sum of both gains for two players, else the largest gain."""
        found = evaluate(self.form, plan)
        return found.nash_conv if self.form.num_players == 2 else found.epsilon

    @cached_property
    def average_gap(self) -> float:
        return self.gap(self.average)

    @cached_property
    def current_gap(self) -> float:
        return self.gap(self.current)

    @cached_property
    def average_performance(self) -> float:
        return performance(self.form, self.average)

    @cached_property
    def current_performance(self) -> float:
        return performance(self.form, self.current)


Run = dict[int, Snapshot]
"""Snapshots by time, in order."""


def log_times(horizon: int, marks: Iterable[int]) -> list[int]:
    """Return times with equal logarithmic steps, and the ``marks`` up to the horizon."""
    spaced = np.geomspace(1, horizon, CURVE_POINTS).round().astype(int).tolist()
    return sorted({*spaced, *(m for m in marks if m <= horizon)})


def run_discrete(form: SequenceForm, times: Sequence[int], alternating: bool) -> Run:
    """Run equation 3 from the uniform profile x(1), which the first iteration updates."""
    solver = infoset.sfrd(SHIFT, alternating=alternating).solver(form)
    run = {}
    for t in times:
        solver.step(t - 1 - solver.iteration)
        current = solver.current()
        solver.step(1)
        run[t] = Snapshot(form, solver.average(), current)
    return run


def run_flow(form: SequenceForm, times: Sequence[int]) -> Run:
    """Run equation 4; the average is over time, and the payoff shift has no effect."""
    solver = infoset.sfrd_continuous(FLOW_STEP).solver(form)
    run = {}
    for tau in times:
        solver.step(round(tau / FLOW_STEP) - solver.iteration)
        run[tau] = Snapshot(form, solver.average(), solver.current())
    return run


def perturbed_gaps(form: SequenceForm, horizon: int, alternating: bool, runs: int) -> list[float]:
    """Return the average's gap at the horizon for starts within 1e-12 of uniform, to show the effect of rounding."""
    random, first, gaps = np.random.default_rng(0), form.arrays.first, []
    for _ in range(runs):
        start = TabularPolicy.uniform(form).behaviour(form)
        noise = 1e-12 * random.standard_normal(len(first))
        start[first] += noise
        start[first + 1] -= noise  # every set of Kuhn poker has two moves
        solver = infoset.sfrd(SHIFT, alternating=alternating).solver(form, start)
        solver.step(horizon)
        snapshot = Snapshot(form, solver.average(), solver.current())
        gaps.append(snapshot.average_gap)
    return gaps


@dataclass(frozen=True, eq=False)
class Study:
    """All runs; each table is by number of players."""

    quick: bool
    forms: dict[int, SequenceForm]
    alternating: dict[int, Run]
    simultaneous: dict[int, Run]
    flow: dict[int, Run]
    perturbed: dict[tuple[int, bool], list[float]]

    def last(self, players: int) -> int:
        """The last time of the discrete runs."""
        return max(self.alternating[players])

    def at(self, players: int, t: int) -> int:
        """Return ``t``, or the last time of a quick run that ends earlier."""
        return min(t, self.last(players))


def run_all(quick: bool) -> Study:
    """Run all dynamics on all three games."""
    cut = 100 if quick else 1
    forms = {n: SequenceForm.of(infoset.load(f"kuhn_poker(players={n})")) for n in ITERATIONS}
    horizon = {n: iterations // cut for n, iterations in ITERATIONS.items()}
    marks = {100, 200, *DISTANCE_MARKS}
    times = {n: log_times(horizon[n], marks) for n in forms}
    return Study(
        quick=quick,
        forms=forms,
        alternating={n: run_discrete(form, times[n], alternating=True) for n, form in forms.items()},
        simultaneous={n: run_discrete(form, times[n], alternating=False) for n, form in forms.items()},
        flow={n: run_flow(form, log_times(horizon[n], FLOW_MARKS)) for n, form in forms.items()},
        perturbed={
            (n, turns): perturbed_gaps(forms[n], horizon[n], turns, runs=5 if turns else 20)
            for n in (2, 3)
            for turns in (True, False)
        },
    )


# ---------------------------------------------------------------------------------------------------------------------
# What is measured
# ---------------------------------------------------------------------------------------------------------------------


def against_uniform(form: SequenceForm, plan: FloatArray) -> list[float]:
    """Return every player's payoff when it plays ``plan`` and all others play uniformly."""
    payoffs, baseline = [], TabularPolicy.uniform(form).plan(form)
    for player in range(form.num_players):
        own = form.player_sequences(player)
        mixed = baseline.copy()
        mixed[own] = plan[own]
        payoffs.append(float(expected_values(form, mixed)[player]))
    return payoffs


def slipped_performance(form: SequenceForm, plan: FloatArray) -> float:
    """u2(b1, s2) - u1(s1, b2): equation 11 for two players with player 1's sign wrong and no baseline."""
    first, second = against_uniform(form, plan)
    return second - first


def from_bets(form: SequenceForm, bets: dict[str, float]) -> FloatArray:
    """Return the realisation plan that bets (or calls) with probability ``bets[key]``, 0 where it is not given."""
    names = set(form.keys)
    assert bets.keys() <= names, sorted(bets.keys() - names)

    def choose(key: str, _: tuple[str, ...]) -> dict[str, float]:
        bet = bets.get(key, 0.0)
        return {"pass": 1 - bet, "bet": bet}

    return TabularPolicy.from_function(form, choose).plan(form)


def two_player_equilibrium(form: SequenceForm, alpha: float) -> FloatArray:
    """Return Kuhn's (1950) equilibrium in which player 1 bluffs with probability ``alpha`` <= 1/3."""
    first = {"J": alpha, "K": 3 * alpha, "Q [pass] bet": alpha + 1 / 3, "K [pass] bet": 1.0}
    second = {"J pass": 1 / 3, "Q bet": 1 / 3, "K pass": 1.0, "K bet": 1.0}
    return from_bets(form, {**first, **second})


SITUATIONS = (
    ("", "[pass] pass bet", "[pass] bet pass", "[pass] bet bet"),
    ("pass", "bet", "pass [pass] bet pass", "pass [pass] bet bet"),
    ("pass pass", "pass bet", "bet pass", "bet bet"),
)
"""What each of three players has seen (its own moves in brackets) in its situations 1 to 4."""


def three_player_key(player: int, card: int, situation: int) -> str:
    """Return the information set of ``player`` (1 to 3) with ``card`` (1 the lowest, to 4) in a situation (1 to 4)."""
    return f"{'TJQK'[card - 1]} {SITUATIONS[player - 1][situation - 1]}".strip()


class Necessary(NamedTuple):
    """A probability of betting that every equilibrium of the three-player family shares."""

    player: int
    card: int
    situation: int
    bet: float

    @property
    def key(self) -> str:
        return three_player_key(self.player, self.card, self.situation)


NECESSARY = [
    Necessary(player, card, situation, bet)
    for player in (1, 2, 3)
    for card, situation, bet in ((1, 2, 0), (1, 3, 0), (1, 4, 0), (2, 4, 0), (4, 2, 1), (4, 3, 1), (4, 4, 1))
]
"""The lowest card never calls, the second lowest never calls two bets, the highest always calls."""

REACHED = [value for value in NECESSARY if not (value.player == 3 and value.situation == 4)]
"""Without player 3's answers to two bets: player 1 never opens with a bet in equilibrium, so nobody gets there."""


def bet_probabilities(form: SequenceForm, plan: FloatArray, values: Sequence[Necessary]) -> FloatArray:
    policy = TabularPolicy.from_plan(form, plan)
    return np.array([policy.probabilities(value.player - 1, value.key)["bet"] for value in values])


def distance(form: SequenceForm, plan: FloatArray, values: Sequence[Necessary] = NECESSARY) -> float:
    """Return the Euclidean distance of the profile's probabilities from the necessary ones."""
    wanted = np.array([value.bet for value in values])
    return float(np.linalg.norm(bet_probabilities(form, plan, values) - wanted))


@dataclass(frozen=True)
class Family:
    """A member of the three-player equilibrium family of Szafron, Gibson & Sturtevant (2013).

    Player 1's probabilities are called a, player 2's b, player 3's c; ``b21`` is player 2's probability of
    betting with card 2 (of 4) in its situation 1.  The fields are the free ones.
    """

    b11: float = 0.0
    b21: float = 0.0
    b23: float = 0.0
    b32: float = 0.0
    c11: float = 0.0
    c33: float = 0.5
    c34: float = 0.0

    @property
    def beta(self) -> float:
        return max(self.b11, self.b21)

    def check(self) -> None:
        """Assert the conditions under which the profile is an equilibrium."""
        slack = 1e-12
        room = 1 / 2 + 3 / 4 * (self.b11 + self.b21) + self.beta / 4
        if self.c11 == 0:
            assert self.b11 <= self.b21 <= 1 / 4 and self.b23 == 0
        elif self.c11 < 1 / 2:
            assert self.b11 == self.b21 <= 1 / 4 and self.b23 == 0
        else:
            assert self.c11 == 1 / 2 and self.b11 <= 1 / 4 and self.b21 <= min(self.b11, 1 / 2 - 2 * self.b11)
        assert 0 <= self.b23 <= max(0.0, (self.b11 - self.b21) / (2 * (1 - self.b21))) + slack
        assert self.c11 <= (2 - self.b11) / (3 + 2 * self.b11 + 2 * self.b21) + slack
        assert 0 <= self.b32 <= room + slack and 0 <= self.c34 <= 1
        assert 1 / 2 - self.b32 - slack <= self.c33 <= room - self.b32 + slack

    def plan(self, form: SequenceForm) -> FloatArray:
        """Return the profile's realisation plan."""
        self.check()
        bets = {(value.player, value.card, value.situation): float(value.bet) for value in NECESSARY}
        bets[1, 3, 3] = 1 / 2
        bets[2, 1, 1], bets[2, 2, 1], bets[2, 2, 3], bets[2, 3, 2] = self.b11, self.b21, self.b23, self.b32
        bets[2, 3, 3] = 1 / 2 + (self.b11 + self.b21) / 2 + self.beta / 2 - self.b23 * (1 - self.b21)
        bets[2, 4, 1] = 2 * self.b11 + 2 * self.b21
        bets[3, 1, 1], bets[3, 2, 1], bets[3, 4, 1] = self.c11, 1 / 2 - self.c11, 1.0
        bets[3, 3, 3], bets[3, 3, 4] = self.c33, self.c34
        return from_bets(form, {three_player_key(*where): bet for where, bet in bets.items()})

    def values(self) -> tuple[float, float, float]:
        """Return the players' payoffs in closed form."""
        return -(1 / 2 + self.beta) / 24, -1 / 48, (1 + self.beta) / 24

    def __str__(self) -> str:
        given = [f"{f.name} = {getattr(self, f.name):g}" for f in fields(self) if getattr(self, f.name)]
        return ", ".join(given)


MEMBERS = (
    Family(),
    Family(b11=0.1, b21=0.25, b32=0.2, c33=0.4, c34=0.7),
    Family(b11=0.2, b21=0.2, c11=0.3, b32=0.4, c33=0.3),
    Family(b11=0.2, b21=0.05, b23=0.05, c11=0.5, b32=0.5, c33=0.1, c34=1.0),
    Family(b11=0.25, c11=0.5, b23=0.125, b32=0.1),
)
"""One or two of each of the family's three parts (c11 = 0, between 0 and 1/2, 1/2)."""


# ---------------------------------------------------------------------------------------------------------------------
# The pictures
# ---------------------------------------------------------------------------------------------------------------------

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#AA4499", "#666666"  # safe for the colour-blind
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.edgecolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "lines.linewidth": 1.6,
    "axes.grid": True,
    "axes.grid.which": "major",
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
}
Label = tuple[str, float, float]
"""A curve's name and where it stands, in data coordinates."""


def curve(ax: Any, run: Run, measure: Callable[[Snapshot], float], colour: str, label: Label, **style: Any) -> None:
    """Draw one measure of a run over time, labelled in its colour."""
    ax.plot(list(run), [measure(snapshot) for snapshot in run.values()], color=colour, **style)
    text, x, y = label
    ax.text(x, y, text, color=colour, fontsize=9, ha="left", va="center")


def published(ax: Any, points: dict[int, float], label: Label) -> None:
    """Draw the paper's stated numbers as open circles."""
    style: Any = {"mfc": "white", "mec": "black", "ms": 5.5, "mew": 1.2}
    ax.plot(list(points), list(points.values()), "o", zorder=5, clip_on=False, **style)
    text, x, y = label
    ax.text(x, y, text, fontsize=9, ha="left", va="center")


def save(figure: Any, folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
    plt.close(figure)


def draw_two_players(study: Study, folder: Path) -> None:
    """Draw Figure 1."""
    run, form, last = study.alternating[2], study.forms[2], study.last(2)
    figure, (gap, average, current) = plt.subplots(1, 3, figsize=(12, 3.7), layout="constrained")
    gap.set(title="Exploitability of the average profile", yscale="log")
    curve(gap, study.simultaneous[2], lambda s: s.average_gap, ORANGE, ("simultaneous", 1.2e3, 5e-2))
    curve(gap, run, lambda s: s.average_gap, BLUE, ("alternating", 1.2e2, 3e-3))
    published(gap, {1: 0.916, 100: 0.171, 200: 0.096}, ("paper, at t = 1, 100, 200", 2.6e2, 0.3))

    def slipped(which: str) -> Callable[[Snapshot], float]:
        return lambda snapshot: slipped_performance(form, getattr(snapshot, which))

    average.set(title="Performance of the average profile", ylim=(-0.35, 0.6))
    curve(average, run, lambda s: s.average_performance, BLUE, ("equation 11", 1.2e3, 0.37))
    curve(average, run, slipped("average"), GREEN, ("player 1's sign flipped", 2.5e2, -0.19))
    published(average, {1: -0.25, last: 0.109}, ("paper", 1.5, -0.29))
    average.text(last / 3, 0.165, "paper", fontsize=9, va="center")
    current.set(title="Performance of the current profile", ylim=(-0.35, 0.6))
    curve(current, run, lambda s: s.current_performance, BLUE, ("equation 11", 3e2, 0.46), lw=1.1)
    curve(current, run, slipped("current"), GREEN, ("player 1's sign flipped", 2.5e2, -0.19), lw=1.1)
    for ax in (gap, average, current):
        ax.set(xscale="log", xlabel="iteration t")
    save(figure, folder, "figure-1")


def draw_more_players(study: Study, folder: Path) -> None:
    """Draw Figure 2."""
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 6.6), layout="constrained", sharex="col")
    stated = {3: 0.00169, 4: 0.0093}
    for column, players in enumerate((3, 4)):
        run, last = study.alternating[players], study.last(players)
        gap, worth = axes[:, column]
        gap.set(title=f"KP({players}): ε, the largest gain of one player", yscale="log", xscale="log")
        curve(gap, run, lambda s: s.current_gap, ORANGE, ("current", last / 6, 0.25 if players == 3 else 0.4), lw=1.1)
        curve(
            gap,
            run,
            lambda s: s.average_gap,
            BLUE,
            ("average", last / 400 if players == 3 else last / 120, 0.015 if players == 3 else 0.04),
        )
        published(gap, {last: stated[players]}, ("paper", last * 1.3, stated[players]))
        worth.set(title=f"KP({players}): performance, equation 11", xscale="log", xlabel="iteration t")
        low, high = {3: ((1.6, 0.80), (18, 0.42)), 4: ((1.6, 1.15), (16, 0.60))}[players]
        curve(worth, run, lambda s: s.current_performance, ORANGE, ("current", *low), lw=1.1)
        curve(worth, run, lambda s: s.average_performance, BLUE, ("average", *high))
        if players == 3:
            stable = PERFORMANCE_THREE_PLAYERS
            published(worth, {last: stable}, ("paper", last * 1.3, stable))
        for ax in (gap, worth):
            ax.margins(x=0.02)
    save(figure, folder, "figure-2")


def draw_flow(study: Study, folder: Path) -> None:
    """Draw the continuous dynamics, which the paper defines but does not run."""
    figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for players, colour in ((2, BLUE), (3, ORANGE), (4, GREEN)):
        run = study.flow[players]
        last = max(run)
        curve(ax, run, lambda s: s.average_gap, colour, (f"KP({players})", last * 1.25, run[last].average_gap))
    last = max(study.flow[2])
    guide = np.array([100.0, last])
    ax.plot(guide, 1.5 / guide, color=GREY, lw=1, ls=(0, (4, 3)))
    ax.text(85, 1.5 / 100, "∝ 1/τ", color=GREY, fontsize=9, ha="right", va="center")
    ax.set(xscale="log", yscale="log", xlabel="time τ", title="Distance to equilibrium of the time-averaged profile")
    ax.set_xlim(right=last * 6)
    save(figure, folder, "continuous")


# ---------------------------------------------------------------------------------------------------------------------
# The page
# ---------------------------------------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float) -> str:
    """Format a number with three significant digits, without an exponent."""
    digits = 3 if value == 0 else max(3, 2 - int(np.floor(np.log10(abs(value)))))
    return f"{value:.{digits}f}".replace("-", "−")


def spread(values: Sequence[float]) -> str:
    """Format the smallest and the largest value."""
    return f"{number(min(values))} and {number(max(values))}"


def compared(study: Study, players: int, t: int, measure: Callable[[Snapshot], str]) -> list[str]:
    """Return the columns 'ours (alternating)' and 'ours (simultaneous)'."""
    t = study.at(players, t)
    return [measure(study.alternating[players][t]), measure(study.simultaneous[players][t])]


HEADER = ("quantity", "published", "ours (alternating)", "ours (simultaneous)", "why they differ")


def introduction(study: Study) -> str:
    two, three, four = (study.alternating[n] for n in (2, 3, 4))
    last = study.last(3)
    quick = "**A quick run: 100 times fewer iterations than the paper, so the figures below are not its.**\n\n"
    return f"""# Replicator dynamics in the sequence form

{quick if study.quick else ""}This page repeats the experiments of Marc Lanctot, *Further developments of
extensive-form replicator dynamics using the sequence-form representation*, AAMAS 2014. The shortest command:
`python papers/replicator_dynamics.py` (a minute) writes it with its numbers and pictures.

## What the paper claims

Replicator dynamics come from biology: strategies that do better than the population's mean grow, and those that do
worse shrink. For games of hidden information the paper does not run them on whole strategies, of which there are
exponentially many, but on the *sequence form*: one weight x(q) for every sequence q of a player's own actions. At
every step each weight is multiplied by the payoff of playing towards q, and divided by the payoff of the current
profile:

    x(q, t+1) = x(q, t) · u(x with the player's plan pushed towards q) / u(x)            (equation 3)

Payoffs are shifted by {SHIFT:g} chips, so that they are positive. The games are KP(n), Kuhn poker for n players: n +
1 cards, of which each player gets one; one chip in the pot from each, and one more to bet. The paper claims:

1. The *average* profile x̄(t) approaches an equilibrium, provably with two players, in experiments with three and four.
2. The *current* profile x(t) keeps moving, and does not approach an equilibrium smoothly.
3. With three players both profiles approach the probabilities that every known equilibrium shares.
4. Both do better against random opponents than a random player does.

## What we find

* The claims hold, the third with a reservation (below). At t = {last:,} the distance of the average from equilibrium
  is {number(two[last].average_gap)} with two players (the paper: below 0.001) and {number(three[last].average_gap)}
  with three (0.00169); with four it is {number(four[study.last(4)].average_gap)} at t = {study.last(4):,} (0.0093).
* The three exploitabilities that the paper prints for two players are reproduced to the last digit **only** if the
  players update in turn, each using the updates before it (*alternating*), and if the labels t = 100, 200, 300 mean t
  = 1, 100, 200.
* Two numbers in the text are misprints, and the performance for two players is not that of equation 11, but of the
  equation with one sign reversed. The distances to the three-player equilibria cannot be reproduced from the
  information in the text.
* The continuous dynamics, which the paper defines but does not run, are better still: their error is about 1/τ, and
  they need neither a shift nor an order of updates.

Throughout, a player's *gain* is what it wins by changing to its best response while the others keep their strategies.
For two players the distance from equilibrium is the sum of both gains (the paper's exploitability), for more players
it is the largest gain, ε. All runs start from the uniform profile, x(1); x̄(t) is the unweighted mean of the
realisation plans x(1), …, x(t).
"""


def two_players(study: Study) -> str:
    form, run = study.forms[2], study.alternating[2]
    last = study.last(2)

    def gap(snapshot: Snapshot) -> str:
        return f"{snapshot.average_gap:.5f}"

    def best(player: int) -> Callable[[Snapshot], str]:
        return lambda s: number(evaluate(form, s.average).best_response_values[player])

    def value(snapshot: Snapshot) -> str:
        return f"{evaluate(form, snapshot.average).values[0]:.4f}".replace("-", "−")

    def slipped(snapshot: Snapshot) -> str:
        return number(slipped_performance(form, snapshot.average))

    first_label = "the uniform profile has exploitability 11/12, here cut to three digits: t = 1, not 100"
    rows = [
        ["exploitability, t = 1", "0.916 “at 100”", *compared(study, 2, 1, gap), first_label],
        ["exploitability, t = 100", "0.171 “at 200”", *compared(study, 2, 100, gap), "its label is 100 too high"],
        ["exploitability, t = 200", "0.096 “at 300”", *compared(study, 2, 200, gap), "the same"],
        [f"exploitability, t = {last:,}", "< 0.001", *compared(study, 2, last, gap), "it oscillates, see below"],
        [
            f"“u1(x̄)”, t = {last:,}", "−0.548", *compared(study, 2, last, best(0)),
            "a misprint for −0.0548, and player 1's *best response* to x̄, not its value",
        ],
        [
            f"“u2(x̄)”, t = {last:,}", "0.558", *compared(study, 2, last, best(1)),
            "likewise 0.0558; the two add up to the exploitability",
        ],
        [f"u1(x̄), t = {last:,}", "none", *compared(study, 2, last, value), "the game's value is −1/18 = −0.0556"],
        [
            "performance, t = 1", "−0.25", *compared(study, 2, 1, lambda s: number(s.average_performance + 0.0)),
            "equation 11 is 0 by definition for the uniform profile",
        ],
        ["… with player 1's sign reversed, t = 1", "−0.25", *compared(study, 2, 1, slipped), "agrees"],
        [
            f"performance, t = {last:,}", "0.109", *compared(study, 2, last, lambda s: number(s.average_performance)),
            "no equilibrium has less than 2/9 by equation 11",
        ],
        [
            f"… with player 1's sign reversed, t = {last:,}", "0.109", *compared(study, 2, last, slipped),
            "close; it is still rising",
        ],
    ]  # fmt: skip
    equilibria = [two_player_equilibrium(form, alpha) for alpha in np.linspace(0, 1 / 3, 31)]
    worst = max(evaluate(form, plan).nash_conv for plan in equilibria)
    eleven = [performance(form, plan) for plan in equilibria]
    flipped = [slipped_performance(form, plan) for plan in equilibria]

    def tail(run: Run) -> list[float]:
        return [snapshot.average_gap for t, snapshot in run.items() if t >= last / 10]

    late = [slipped_performance(form, s.current) for t, s in run.items() if t >= last / 10]
    return f"""## Two players: Figure 1

![Three panels over the iteration on a logarithmic axis: the exploitability of the average profile falls to below
0.001, and the performance of the average and current profiles]({PAGE}/figure-1.png)

{table(HEADER, rows)}

**Labels.** An exploitability of 11/12 = 0.91667 is that of the uniform profile, so that the first printed number can
only be t = 1. The next two are ours at t = 100 and t = 200. The text seems to be one line of its log too late.

**Order of updates.** The paper does not say whether players update in turn or simultaneously. With simultaneous
updates, the second and third numbers are 0.175 and 0.100 instead of 0.171 and 0.096. The exploitability also
oscillates around its trend: from t = {last // 10:,} on it is between {spread(tail(run))} with alternating updates,
and between {spread(tail(study.simultaneous[2]))} with simultaneous ones. So “less than 0.001” is true for alternating
updates at a favourable moment, and not for simultaneous ones.

**Performance.** Equation 11 is the sum, over the players, of what each wins against a uniform opponent, less what a
uniform player would win. Kuhn's equilibria form a line, α in [0, 1/3] (our formula for it has a gain of {worst:.0e}).
Along it equation 11 increases from {number(min(eleven))} to {number(max(eleven))}, so that no profile near an
equilibrium scores 0.109. The expression u2(b1, σ2) − u1(σ1, b2) starts at exactly −0.25, as printed, and ranges from
{number(abs(round(min(flipped), 12)))} to {number(max(flipped))} on the same line: player 1's sign was lost. The
picture shows both. For the current profile the paper says “a neighborhood around 0.1”: with the sign reversed, the
mean of our samples from t = {last // 10:,} on is {number(float(np.mean(late)))}.
"""


def sooner(run: Run, bound: float) -> str:
    """Return the first sampled time at which the average is below the bound."""
    return next((f"{t:,}" for t, snapshot in run.items() if snapshot.average_gap < bound), "not in this run")


def ahead(run: Run, begin: int, end: int) -> str:
    """Return how often the average profile performs better than the current one."""
    wins = [s.average_performance > s.current_performance for t, s in run.items() if begin <= t <= end]
    return f"{100 * np.mean(wins):.0f} %" if wins else "–"


def more_players(study: Study) -> str:
    three, four = study.alternating[3], study.alternating[4]
    last, last_four = study.last(3), study.last(4)

    def gap(snapshot: Snapshot) -> str:
        return f"{snapshot.average_gap:.5f}"

    def score(snapshot: Snapshot) -> str:
        return f"{snapshot.average_performance:.3f}"

    peak = max(three, key=lambda t: three[t].average_performance)
    rows = [
        [
            f"KP(3): ε of x̄, t = {last:,}", "0.00169", *compared(study, 3, last, gap),
            "ours is closer; with simultaneous updates rounding decides (see below)",
        ],
        [
            "KP(3): first sampled t with ε < 0.0044563", "CFR: 10⁸ (Risk & Szafron 2010)",
            sooner(three, CFR_THREE_PLAYERS), sooner(study.simultaneous[3], CFR_THREE_PLAYERS),
            "a different method; the comparison is the paper's",
        ],
        [
            f"KP(3): performance of x̄, t = {last:,}", "0.615, “stabilizing”", *compared(study, 3, last, score),
            "it still drifts downwards",
        ],
        [f"KP(3): performance of x̄, t = {study.at(3, 10_000):,}", "none", *compared(study, 3, 10_000, score), ""],
        [f"KP(4): ε of x̄, t = {last_four:,}", "0.0093", *compared(study, 4, last_four, gap), "a tenth lower"],
        [f"KP(4): performance of x̄, t = {last_four:,}", "none stated", *compared(study, 4, last_four, score), ""],
    ]  # fmt: skip
    early = min(30_000, last)
    observations = [
        [
            "KP(3) performance spikes early, then falls",
            f"yes: {score(three[peak])} at t = {peak:,}, {score(three[last])} at the end",
        ],
        [
            "KP(3): the average performs better than the current profile at first (t ≤ 30,000)",
            f"at {ahead(three, 100, early)} of the sampled times from 100 to {early:,}, "
            f"at {ahead(three, early + 1, last)} of those after",
        ],
        [
            "KP(4): the current profile performs worse than the average",
            f"at {ahead(four, 1_000, last_four)} of the sampled times from 1,000 on, "
            f"but at {ahead(four, 10, 200)} of those from 10 to 200",
        ],
        [
            "ε of the current profile does not fall smoothly",
            "yes: at the end "
            + " and ".join(
                f"{number(end.current_gap)} in KP({n}), {end.current_gap / end.average_gap:.0f} times the average's"
                for n, end in ((3, three[last]), (4, four[last_four]))
            ),
        ],
    ]
    return f"""## Three and four players: Figure 2

![Four panels over the iteration on a logarithmic axis: for KP(3) and KP(4) the largest gain and the performance of
the average and current profiles]({PAGE}/figure-2.png)

{table(HEADER, rows)}

The paper's statements about the curves, and our results (alternating):

{table(("the paper", "ours"), observations)}
"""


def distances(study: Study) -> str:
    form = study.forms[3]
    average = ("1.288", "0.642", "0.189", "0.026", "< 0.003", "< 0.003", "< 0.003")
    current = ("1.152", "0.364", "0.312", "0.0002", "< 10⁻⁵", "< 10⁻⁵", "< 10⁻⁵")
    rows = []
    for t, of_average, of_current in zip(DISTANCE_MARKS, average, current, strict=True):
        if t > study.last(3):
            continue
        turns, together = study.alternating[3][t], study.simultaneous[3][t]
        cells = [f"{t:,}"]
        for stated, plans in (
            (of_average, (turns.average, together.average)),
            (of_current, (turns.current, together.current)),
        ):
            cells += [stated, *(number(distance(form, plan)) for plan in plans)]
            cells += [number(distance(form, plans[0], REACHED))]
        rows.append(cells)
    header = ["t"]
    for which in ("x̄", "x"):
        header += [f"{which}: published", "alternating", "simultaneous", "alternating, 18 values"]
    last = study.alternating[3][study.last(3)]
    probabilities = bet_probabilities(form, last.current, NECESSARY)
    off = np.abs(probabilities - [value.bet for value in NECESSARY])
    worst = [NECESSARY[k] for k in np.argsort(-off)[:2]]
    stuck = " and\n".join(f"`{v.key}` ({probabilities[NECESSARY.index(v)]:.4f} instead of {v.bet:g})" for v in worst)
    return f"""### Distance to the known three-player equilibria

Szafron, Gibson & Sturtevant (2013) derived a family of equilibria of KP(3). All its members share 21 probabilities of
betting or calling: the lowest card never calls, the second lowest never calls after a bet and a call, the highest
always calls. The table has the Euclidean distances of our profiles from these 21 values:

{table(header, rows)}

*Why they differ.* The paper does not list its “particular probabilities”, and no subset of these 21 gives its numbers
for our runs. At t = 10 its distances are well below ours, as those of a subset would be; but at t = 1,000 they (0.189
and 0.312) are above our distances to all 21. So the paper used other values, or its runs differ from ours. Its
conclusion holds: the current profile ends nearer than the average, and both are within 0.05 by t = 10,000.

*Why ours stop near 0.02.* The values that remain different at the end are {stuck}: player 3's actions after a bet
*and* a call. Player 1 never opens with a bet in this family, so that this situation is no longer reached, and nothing
changes the probabilities there any more. The columns “18 values” leave out player 3's three actions there; by these
the average is below 0.003 at the end, as published.
"""


def family(study: Study) -> str:
    form = study.forms[3]
    rows = []
    for member in MEMBERS:
        found = evaluate(form, member.plan(form))
        assert np.allclose(found.values, member.values(), atol=1e-12)
        rows.append([str(member), f"{max(found.epsilon, 0.0):.0e}", *(number(u) for u in found.values)])
    mine = evaluate(form, study.alternating[3][study.last(3)].average)
    rows.append(
        [f"our x̄ at t = {study.last(3):,} (alternating)", f"{mine.epsilon:.0e}", *(number(u) for u in mine.values)]
    )
    return f"""### The family itself, checked

The script builds members of the family (`Family`) and evaluates them. Parameters are named as in the paper: b for
player 2, c for player 3; the first index is the card (1 the lowest), the second the situation. Those that are not
given are 0.

{table(("parameters", "ε", "u1", "u2", "u3"), rows)}

The gains are rounding errors, and the values equal the closed forms u1 = −(1/2 + β)/24, u2 = −1/48 and u3 = (1 +
β)/24 with β = max(b11, b21). So in KP(3) the players' payoffs depend on *which* equilibrium is played: player 2's
bets with its two lowest cards move chips from player 1 to player 3. Learning singles out no profile: where it ends in
the family depends on the start and the order of updates.
"""


def continuous(study: Study) -> str:
    rows = []
    for tau in FLOW_MARKS:
        cells = [f"{tau:,}"]
        for players in (2, 3, 4):
            snapshot = study.flow[players].get(tau)
            cells += ["–", "–"] if snapshot is None else [number(snapshot.average_gap), number(snapshot.current_gap)]
        rows.append(cells)
    header = ["τ"]
    for players in (2, 3, 4):
        header += [f"KP({players}): average", "current"]
    return f"""## Continuous time

Equation 4 is the limit of the same dynamics for infinitely small steps. In terms of behaviour it is simple: at every
information set, the logarithm of each action's weight grows at the rate of the action's counterfactual value; the
payoff shift cancels. We integrate it by the classical Runge–Kutta method (step {FLOW_STEP:g}). One discrete step with
shift c is about 1/c units of this time, so that t = 100,000 corresponds to τ ≈ 33,000.

![The distance to equilibrium of the time-averaged profile falls like 1/τ for two, three and four
players]({PAGE}/continuous.png)

Distance from equilibrium (for two players the sum of gains, for more the largest gain). The paper has no figures for
these dynamics:

{table(header, rows)}

The error of the time average is divided by ten whenever the time is multiplied by ten. The current profile continues
to circle, with two players at a distance that does not decrease at all; therefore the average is the result to use.
"""


def numerics(study: Study) -> str:
    rows = [
        [f"KP({n}), {'alternating' if turns else 'simultaneous'}", *spread(study.perturbed[n, turns]).split(" and ")]
        for n in (2, 3)
        for turns in (True, False)
    ]
    return f"""## Numerical accuracy

* Weights are stored as logarithms, and every information set is normalised after every step. Without normalisation
  the probabilities of a set no longer add up to one; without logarithms a weight can underflow to zero, where
  equation 3 keeps it for ever.
* Simultaneous updates are sensitive to rounding, alternating ones are not. Runs from starts that differ from the
  uniform profile by about 10⁻¹² (20 simultaneous, 5 alternating) end at these distances from equilibrium:

{table((f"t = {study.last(2):,}", "smallest", "largest"), rows)}

So the simultaneous columns have at most one significant digit at late times. Unlike continuous time and alternating
updates, small simultaneous steps drive the current profile outwards until it passes close to pure strategies, and
there rounding determines how long it stays.

## Where the theory needs a correction

The project's tests take the paper's equations literally and check its theorems on small games with two and three
players. Lemmas 1 to 3 and Theorems 1, 3 and 4 hold as printed. Two statements do not:

* **Theorem 2** allows *any* mixed profile of the normal form that is realisation-equivalent to the plan. One step
  from the mixed strategies of a behaviour agrees to 10⁻¹². But the step correlates what a pure plan does at
  information sets that do not exclude each other (with different cards), because it multiplies the plan's weight by a
  *sum* over these sets. From the second step on, normal-form and sequence-form dynamics therefore differ. In
  continuous time (Theorem 4) it is the logarithm of the weight that grows by the sum, and they remain equal.
* **Lemma 4** replaces changing learning rates by one fixed rate in the bound of polynomial weights. A counterexample
  is a thousand rounds at a rate near zero in which one action loses, and then a thousand at rate ½ in which both
  lose. What holds is the bound on the regret weighted by the rates. Theorem 5 depends on Lemma 4; its bound, which
  sums over all information sets, was nevertheless satisfied in every run with rates below ½.

## The same in your own code

```python
import infoset
from infoset import SequenceForm, evaluate, performance

form = SequenceForm.of(infoset.load("kuhn_poker(players=3)"))
solver = infoset.sfrd(shift=3.0).solver(form)
solver.step(1_000)
print(evaluate(form, solver.average()).epsilon, performance(form, solver.average()))
```

## References

* M. Lanctot. Further developments of extensive-form replicator dynamics using the sequence-form representation.
  AAMAS 2014.
* N. Gatti, F. Panozzo, M. Restelli. Efficient evolutionary dynamics with extensive-form games. AAAI 2013.
* H. W. Kuhn. Simplified two-person poker. *Contributions to the Theory of Games* 1, 1950.
* N. A. Risk, D. Szafron. Using counterfactual regret minimization to create competitive multiplayer poker agents.
  AAMAS 2010.
* D. Szafron, R. Gibson, N. Sturtevant. A parameterized family of equilibrium profiles for three-player Kuhn poker.
  AAMAS 2013.
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the dynamics, draw the pictures and write the page."""
    args = parse(Args, argv)
    begin = time.perf_counter()
    study = run_all(args.quick)
    print(f"runs: {time.perf_counter() - begin:.1f} s")
    folder = args.out / PAGE
    with plt.rc_context(STYLE):
        draw_two_players(study, folder)
        draw_more_players(study, folder)
        draw_flow(study, folder)
    sections = (introduction, two_players, more_players, distances, family, continuous, numerics)
    page = args.out / f"{PAGE}.md"
    page.write_text("\n".join(section(study) for section in sections), encoding="utf-8")
    print(f"{page} in {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
