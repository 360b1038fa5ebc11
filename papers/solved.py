"""Solve the games of Rudolph et al. (2025), "Reevaluating policy gradient methods for imperfect-information games".

    python papers/solved.py                         # half an hour; rewrites docs/papers/solved.md
    python papers/solved.py --seconds 20            # a test of the script: no game is solved for longer

Runs are kept below ``--runs``: called again the script goes on from what is there.  Read from top to bottom: the games,
the runs, the pictures, the page.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import msgspec
import numpy as np

import infoset
from infoset import Solution
from infoset.compiled import Compiled
from infoset.solvers.metrics import evaluate_plan
from infoset.solvers.work import Point
from infoset.tree.factored_form import FactoredForm
from infoset.tree.plans import realisation, uniform

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
PAGE = "solved"
MILLION = 1e6
LEAST = 1e-16  # what is drawn where nothing is left
MARKS = (1e-1, 1e-2, 1e-3, 1e-4)


class Entry(NamedTuple):
    """A game of the paper, and how far it is solved."""

    name: str
    theirs: str
    method: str
    target: float
    value: str  # as it was published
    colour: str


GAMES = (
    Entry("phantom_tic_tac_toe", "phantom tic-tac-toe", "pdcfr+", 1e-12, ".6667", "#1f5fa8"),
    Entry("dark_hex", "dark hex 3×3", "pdcfr+", 1e-12, "1.0000", "#d98c21"),
    Entry("liars_dice(numdice=2,dice_sides=5)", "liar's dice, 2 dice of 5 sides", "dcfr", 1e-4, ".0177", "#2f855a"),
)
ABRUPT = ("phantom_tic_tac_toe(abrupt=true)", "dark_hex(abrupt=true)")
BOARDS = GAMES[:2]


@dataclass(frozen=True)
class Args:
    """Solve the games of a benchmark for learners, and write the page about it."""

    out: Path = ROOT / "docs" / "papers"
    """Folder for the page, with its pictures in a folder beside it."""
    runs: Path = ROOT / "runs" / PAGE
    """Folder of the runs."""
    seconds: float = 1200.0
    """At most, of each run."""


def parse() -> Args:
    """The command line: one option for each field of ``Args``."""
    parser = argparse.ArgumentParser(description=Args.__doc__)
    for field in fields(Args):
        parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default, help="%(default)s")
    return Args(**vars(parser.parse_args()))


# ---------------------------------------------------------------------------------------------------------------------
# The runs
# ---------------------------------------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """A game, what its form takes, and what was found."""

    entry: Entry
    compiled: Compiled
    asked: float  # seconds in which the rules were asked
    walked: float  # and in which the paths were walked
    evaluated: float  # for exact figures of any profile
    whole: FactoredForm
    solution: Solution


def measured(entry: Entry, args: Args) -> Measured:
    """Build, evaluate and solve one game."""
    compiled = Compiled.of(entry.name)
    began = time.perf_counter()
    rules = compiled.factored_rules
    asked = time.perf_counter()
    assert compiled.factored
    walked = time.perf_counter()
    whole = compiled.plain_factored
    plan = realisation(whole.form, uniform(whole.form))
    evaluate_plan(whole.form, plan)
    begin = time.perf_counter()
    evaluate_plan(whole.form, plan)
    evaluated = time.perf_counter() - begin
    del plan
    folder = args.runs / entry.name.partition("(")[0]
    again = (folder / "config.json").exists()
    solution = infoset.solve(
        compiled, entry.method, target=entry.target, seconds=args.seconds, form="factored", out=folder, resume=again
    )
    print(f"{rules.name}: {solution.exploitability:.2e} after {solution.seconds:.0f} s", flush=True)
    return Measured(entry, compiled, asked - began, walked - asked, evaluated, whole, solution)


def curve(solution: Solution) -> list[Point]:
    """All points of a run, also of what was solved before it was gone on with."""
    assert solution.folder is not None
    lines = (solution.folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Point) for line in lines]


def opening(found: Measured, player: int, known: tuple[Any, ...] = ()) -> dict[Any, float]:
    """The chances of a player's moves where it knows so much, by the policy that was found."""
    row = found.solution.policy.on(found.compiled).row
    sets = dict(found.compiled.plain_factored.first_infosets(player, 200))
    menu = sets[known]
    return dict(zip(menu, row(player, known, menu) or [1 / len(menu)] * len(menu), strict=True))


# ---------------------------------------------------------------------------------------------------------------------
# The pictures
# ---------------------------------------------------------------------------------------------------------------------


def curves(found: list[Measured], path: Path) -> None:
    """Exploitability against time."""
    figure, axes = plt.subplots(figsize=(7, 3.8), dpi=110, layout="constrained")
    for each in found:
        points = [point for point in curve(each.solution) if point.seconds > 0]
        seconds = [point.seconds for point in points]
        reached = [max(point.exploitability or 0.0, LEAST) for point in points]
        axes.loglog(seconds, reached, color=each.entry.colour, label=each.entry.theirs)
    axes.set(xlabel="seconds of solving on one core", ylabel="exploitability", ylim=(LEAST / 2, 2))
    axes.grid(alpha=0.3, lw=0.5)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def openings(found: list[Measured], path: Path) -> None:
    """Where both players put their first stone, and the first player its second after the likeliest first."""
    figure, grid = plt.subplots(len(BOARDS), 3, figsize=(8.4, 5.6), dpi=110, layout="constrained")
    for each, line in zip(found, grid, strict=False):
        first = opening(each, 0)
        likeliest = max(first, key=lambda move: first[move])
        shown = (
            ("the first stone", first, {}),
            ("the second player's first", opening(each, 1), {}),
            ("the first player's next", opening(each, 0, ((likeliest, ()),)), {likeliest: "×"}),
        )
        for axes, (title, chances, stones) in zip(line, shown, strict=True):
            board(axes, f"{each.entry.theirs}:\n{title}", chances, stones)
    figure.savefig(path)
    plt.close(figure)


def board(axes: Any, title: str, chances: dict[Any, float], stones: dict[Any, str]) -> None:
    """The chances of cells, as numbers and as shades."""
    cells = np.full((3, 3), np.nan)
    for (row, column), chance in chances.items():
        cells[row - 1, column - 1] = chance
    axes.imshow(cells, cmap="Blues", vmin=0, vmax=1)
    for r in range(3):
        for c in range(3):
            text = stones.get((r + 1, c + 1), "" if np.isnan(cells[r, c]) else f"{cells[r, c]:.2f}")
            axes.text(c, r, text, ha="center", va="center", color="white" if cells[r, c] > 0.6 else "black")
    axes.set_title(title, fontsize=9)
    axes.set_xticks([0.5, 1.5], ["", ""])
    axes.set_yticks([0.5, 1.5], ["", ""])
    axes.grid(color="#888", lw=0.8)
    axes.tick_params(length=0)


# ---------------------------------------------------------------------------------------------------------------------
# The page
# ---------------------------------------------------------------------------------------------------------------------


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def sizes(found: list[Measured]) -> str:
    """How large the games are, and their forms."""
    rows = []
    for each in found:
        rules, form = each.compiled.factored_rules, each.compiled.factored.form
        histories, ends, _ = rules.sizes
        whole = each.whole.form
        rows.append(
            [
                f"`{each.entry.name}`", f"{histories:,.0f}", f"{ends:,.0f}", f"{len(whole.arrays.entries):,}",
                f"{whole.num_infosets:,}", f"{each.compiled.factored.group.order}", f"{form.nbytes / MILLION:,.0f} MB",
                f"{each.asked:.1f} + {each.walked:.1f} s", f"{each.evaluated:.2f} s",
            ]
        )  # fmt: skip
    head = [
        "game", "histories", "ends", "entries of lists", "sets with a choice", "symmetries",
        "memory of the form solved", "built in", "exact figures of any profile in",
    ]  # fmt: skip
    return table(head, rows)


def results(found: list[Measured]) -> str:
    """What was reached, and when."""
    rows = []
    for each in found:
        solution = each.solution
        reached = [
            next((f"{p.seconds:.1f} s" for p in curve(solution) if (p.exploitability or 0.0) <= mark), "–")
            for mark in MARKS
        ]
        profile = solution.notes["profile"]
        rows.append(
            [
                f"`{each.entry.name}`", f"{solution.values[0]:.6f}", each.entry.value, *reached,
                f"{solution.exploitability:.1e}", f"{solution.iterations:,} in {solution.seconds:.0f} s", profile,
            ]
        )  # fmt: skip
    marks = [f"{mark:g} after" for mark in MARKS]
    return table(["game", "value", "published", *marks, "exploitability", "iterations", "profile"], rows)


def abrupt() -> str:
    """The games in which a failed try costs the move, counted."""
    rows = []
    for name in ABRUPT:
        rules = Compiled.of(name).factored_rules
        histories, ends, _ = rules.sizes
        rows.append([f"`{name}`", f"{histories:,.0f}", f"{ends:,.0f}", f"{len(rules.arrays.mover):,}"])
    return table(["game", "histories", "ends", "cores"], rows)


def page(found: list[Measured]) -> str:
    """The page in Markdown."""
    return f"""# Solved, not learned

Max Rudolph, Nathan Lichtlé, Sobhan Mohammadpour, Alexandre Bayen, J. Zico Kolter, Amy Zhang, Gabriele Farina, Eugene
Vinitsky and Samuel Sokota, *Reevaluating Policy Gradient Methods for Imperfect-Information Games*, 2025
([arXiv 2502.08938](https://arxiv.org/abs/2502.08938)), train learners for 345,000 hours of processors on five games
whose histories are too many to list, because exact exploitability can still be had there. So can the solution. This
page is written by `papers/solved.py`, numbers and pictures included: each game is solved on one core, and every figure
is exact.

```console
$ infoset solve phantom_tic_tac_toe --target 1e-4 --out runs/phantom
$ infoset evaluate phantom_tic_tac_toe runs/phantom
$ infoset match phantom_tic_tac_toe runs/phantom random --games 1000
$ infoset show phantom_tic_tac_toe runs/phantom
```

## Why they fit

In these games much that happens is nobody's business but one player's: which taken squares it ran into, which dice it
holds. Given what truly happened besides, the *core*, the players' parts are independent: the histories of one path of
cores are *all combinations* of one sequence of each player. A gradient needs their sums, not the combinations, so it
costs the lists' lengths added up and not multiplied: 94 million in place of nine thousand million
([](../game-model.md#factored-games)). Counts agree with the paper's to the unit.

{sizes(found)}

A form over symmetries keeps one history of each orbit; the profile it solves for is symmetric, which loses nothing in a
game for two with a constant sum. Policies of others are evaluated on the form without symmetries, of which the last
column speaks. Published for such figures: 72 to 80 seconds on 16 to 20 threads (exp-a-spiel), 5.4 seconds on a
graphics card (nashbench).

## What comes out

[PDCFR+](../solvers/pdcfr-plus.md) where nature deals nothing, else [DCFR](../solvers/dcfr.md), as `infoset solve` takes
them by itself. The average and the current profile are both evaluated, and the better one is kept; "current" below is
the last iterate. Exploitability is the mean of both players' gains. Seconds are the method's own.

{results(found)}

![exploitability against seconds]({PAGE}/curves.png)

![first moves]({PAGE}/openings.png)

Dark hex ends after a few iterations with a profile that wins for certain. Phantom tic-tac-toe is solved to the last bit
as well, by the last iterate of PDCFR+: it is worth two thirds to who begins, always in a corner, and then in one of the
two corners beside it. Where the other player tries first is a mixture.

## What does not factor as well

In the *abrupt* variants a failed try costs the move, so that both players know how many tries there were. The core has
to keep count of them, and leaves each player few sequences that go with it: lists save little. These games are counted
here, to the unit as in the paper, and not solved; `infoset solve` says so before it takes memory.

{abrupt()}
"""


def main() -> None:
    args = parse()
    found = [measured(entry, args) for entry in GAMES]
    curves(found, args.out / PAGE / "curves.png")
    openings(found, args.out / PAGE / "openings.png")
    (args.out / f"{PAGE}.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
