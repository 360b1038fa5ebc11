"""Solve the games of Rudolph et al. (2025), "Reevaluating policy gradient methods for imperfect-information games".

    python papers/solved.py                         # an hour, 20 GB; rewrites docs/papers/solved.md
    python papers/solved.py --seconds 20            # a test of the script: no game is solved for longer

Runs are stored below ``--runs``, and a second call continues from there.  Read from top to bottom: the games,
the runs, the pictures, the page.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import matplotlib
import msgspec
import numpy as np
from options import parse

import infoset
from infoset import Solution
from infoset.compiled import Compiled
from infoset.solvers.job import Point
from infoset.solvers.metrics import evaluate_images, evaluate_plan
from infoset.tree.factored_sizes import Sizes
from infoset.tree.plans import realisation, uniform

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
PAGE = "solved"
MILLION = 1e6
LEAST = 1e-16  # what is drawn where nothing is left
MARKS = (1e-1, 1e-2, 1e-3, 1e-4)


class Entry(NamedTuple):
    """A game, and the exploitability to which it is solved."""

    name: str
    theirs: str
    method: str
    target: float
    value: str  # as it was published
    colour: str
    board: bool = True
    """Whether it is played on 3 by 3 cells."""
    any_profile: bool = True
    """Whether there is memory for what it takes to evaluate other profiles than symmetric ones."""


GAMES = (
    Entry("phantom_tic_tac_toe", "phantom tic-tac-toe", "pdcfr+", 1e-12, ".6667", "#1f5fa8"),
    Entry("dark_hex", "dark hex 3×3", "pdcfr+", 1e-12, "1.0000", "#d98c21"),
    Entry(
        "liars_dice(numdice=2,dice_sides=5)",
        "liar's dice, 2 dice of 5 sides",
        "dcfr",
        1e-4,
        ".0177",
        "#2f855a",
        board=False,
    ),
    Entry("phantom_tic_tac_toe(abrupt=true)", "abrupt phantom tic-tac-toe", "pdcfr+", 1e-3, ".5502", "#7a4fa3"),
    Entry("dark_hex(abrupt=true)", "abrupt dark hex 3×3", "pdcfr+", 1e-2, ".3844", "#b03a48", any_profile=False),
)


@dataclass(frozen=True)
class Args:
    """Solve the games of a benchmark for learners, and write the page about them."""

    out: Path = ROOT / "docs" / "papers"
    """Folder for the page, with its pictures in a folder beside it."""
    runs: Path = ROOT / "runs" / PAGE
    """Folder of the runs."""
    seconds: float = 3000.0
    """At most, of each run."""


# ---------------------------------------------------------------------------------------------------------------------
# The runs
# ---------------------------------------------------------------------------------------------------------------------


Opening: TypeAlias = tuple[str, dict[Any, float], dict[Any, str]]
"""What it is, the probabilities of cells, and the stones that lie there."""


class Measured(NamedTuple):
    """A game with the size of its form and its solution, without the form itself, which is large."""

    entry: Entry
    sizes: Sizes
    sets: int  # with a choice, in the game without symmetries
    order: int
    entries: int
    nbytes: int
    asked: float  # seconds in which the rules were asked
    walked: float  # and in which the paths were walked
    evaluated: float  # for exact figures of a symmetric profile
    any_profile: float | None  # of any
    solution: Solution
    openings: list[Opening]


def measured(entry: Entry, args: Args) -> Measured:
    """Build, evaluate and solve one game."""
    compiled = Compiled.of(entry.name)
    began = time.perf_counter()
    rules = compiled.factored_rules
    asked = time.perf_counter()
    factored = compiled.factored_images if entry.any_profile else compiled.factored
    walked = time.perf_counter()
    form, order = factored.form, factored.group.order
    plan = realisation(form, uniform(form))
    evaluated = seconds(lambda: evaluate_plan(form, plan))
    any_profile = None
    if entry.any_profile:
        probabilities = np.ones((form.num_sequences, order))  # the time does not depend on them
        any_profile = seconds(lambda: evaluate_images(factored, probabilities))
    folder = args.runs / entry.name.replace("(", "-").replace(":", "-").rstrip(")")
    again = (folder / "config.json").exists()
    solution = infoset.solve(
        compiled, entry.method, target=entry.target, seconds=args.seconds, form="factored", out=folder, resume=again
    )
    print(f"{rules.name}: {solution.exploitability:.2e} after {solution.seconds:.0f} s", flush=True)
    fixing = factored.states.fixing[factored.chosen]
    sets = sum(int((fixing == mask).sum()) * order // int(mask).bit_count() for mask in np.unique(fixing))
    return Measured(
        entry, rules.sizes, sets, order, len(form.arrays.entries), form.nbytes, asked - began, walked - asked,
        evaluated, any_profile, solution, openings_of(entry, solution, compiled) if entry.board else [],
    )  # fmt: skip


def measure(entries: tuple[Entry, ...], args: Args) -> list[Measured]:
    """Measure one game after the other."""
    found = []
    for entry in entries:
        found.append(measured(entry, args))
        gc.collect()  # before the next form, which may need all memory
    return found


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that ``job`` takes when it is repeated."""
    work()
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def openings_of(entry: Entry, solution: Solution, compiled: Compiled) -> list[Opening]:
    """Return both players' first moves, and the first player's second after its most likely first."""
    row, action_set = solution.policy.on(compiled).row, infoset.load(entry.name).start().state.legal_actions(0)

    def probabilities(player: int, known: tuple[Any, ...]) -> dict[Any, float]:
        free = tuple(cell for cell in action_set if cell not in {tried for tried, _ in known})
        return dict(zip(free, row(player, known, free) or [1 / len(free)] * len(free), strict=True))

    first = probabilities(0, ())
    likeliest = max(first, key=lambda action: first[action])
    return [
        ("the first stone", first, {}),
        ("the second player's first", probabilities(1, ()), {}),
        ("the first player's next", probabilities(0, ((likeliest, ()),)), {likeliest: "×"}),
    ]


def curve(solution: Solution) -> list[Point]:
    """Return all points of a run, including those before it was continued."""
    assert solution.folder is not None
    lines = (solution.folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Point) for line in lines]


# ---------------------------------------------------------------------------------------------------------------------
# The pictures
# ---------------------------------------------------------------------------------------------------------------------


def curves(found: list[Measured], path: Path, most: float = 2.0, least: float = LEAST / 2) -> None:
    """Draw exploitability against time."""
    figure, axes = plt.subplots(figsize=(7, 3.8), dpi=110, layout="constrained")
    for each in found:
        points = [point for point in curve(each.solution) if point.seconds > 0]
        seconds = [point.seconds for point in points]
        reached = [max(point.exploitability or 0.0, LEAST) for point in points]
        axes.loglog(seconds, reached, color=each.entry.colour, label=each.entry.theirs)
    axes.set(xlabel="seconds of solving on two cores", ylabel="exploitability", ylim=(least, most))
    axes.grid(alpha=0.3, lw=0.5)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def openings(found: list[Measured], path: Path) -> None:
    """Draw the probabilities of the first moves."""
    boards = [each for each in found if each.openings]
    figure, grid = plt.subplots(len(boards), 3, figsize=(8.4, 2.8 * len(boards)), dpi=110, layout="constrained")
    for each, line in zip(boards, grid, strict=True):
        for axes, (title, probabilities, stones) in zip(line, each.openings, strict=True):
            board(axes, f"{each.entry.theirs}:\n{title}", probabilities, stones)
    figure.savefig(path)
    plt.close(figure)


def board(axes: Any, title: str, probabilities: dict[Any, float], stones: dict[Any, str]) -> None:
    """Draw the probabilities of cells as numbers and shades."""
    cells = np.full((3, 3), np.nan)
    for (row, column), chance in probabilities.items():
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
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def sizes(found: list[Measured]) -> str:
    """Return the table of the sizes of the games and their forms."""
    rows = []
    for each in found:
        histories, ends, entries = each.sizes
        rows.append(
            [
                f"`{each.entry.name}`", f"{histories:,.0f}", f"{ends:,.0f}", f"{entries:,.0f}", f"{each.sets:,}",
                f"{each.order}", f"{each.entries:,}", f"{each.nbytes / MILLION:,.0f} MB",
                f"{each.asked:.1f} + {each.walked:.1f} s", f"{each.evaluated:.2f} s",
                "–" if each.any_profile is None else f"{each.any_profile:.2f} s",
            ]
        )  # fmt: skip
    head = [
        "game", "histories", "terminal histories", "entries of lists", "information sets with a choice", "symmetries",
        "entries kept", "memory", "building", "exact evaluation, symmetric profile", "any profile",
    ]  # fmt: skip
    return table(head, rows)


def results(found: list[Measured], marks: tuple[float, ...] = MARKS) -> str:
    """Return the table of the results and the time until each level."""
    rows = []
    for each in found:
        solution = each.solution
        reached = [
            next((f"{p.seconds:.1f} s" for p in curve(solution) if (p.exploitability or 0.0) <= mark), "–")
            for mark in marks
        ]
        profile = solution.notes["profile"]
        rows.append(
            [
                f"`{each.entry.name}`", f"{solution.values[0]:.6f}", each.entry.value, *reached,
                f"{solution.exploitability:.1e}", f"{solution.iterations:,} in {solution.seconds:.0f} s", profile,
            ]
        )  # fmt: skip
    head = [f"{mark:g} after" for mark in marks]
    return table(["game", "value", "published", *head, "exploitability", "iterations", "profile"], rows)


def page(found: list[Measured]) -> str:
    """Return the page in Markdown."""
    return f"""# Solved, not learned

This page solves five games exactly, on two cores, for which others train policies with large amounts of computation.
The shortest command: `infoset solve phantom_tic_tac_toe`.

Max Rudolph, Nathan Lichtlé, Sobhan Mohammadpour, Alexandre Bayen, J. Zico Kolter, Amy Zhang, Gabriele Farina, Eugene
Vinitsky and Samuel Sokota, *Reevaluating Policy Gradient Methods for Imperfect-Information Games*, 2025 ([arXiv
2502.08938](https://arxiv.org/abs/2502.08938)), train learners for 345,000 processor hours on these games. They have
too many histories to list, but the exploitability of a policy can still be computed exactly; so can an equilibrium.
`papers/solved.py` writes this page with its numbers and pictures, and every figure is exact.

```console
$ infoset solve phantom_tic_tac_toe --target 1e-4 --out runs/phantom
$ infoset evaluate phantom_tic_tac_toe runs/phantom
$ infoset match phantom_tic_tac_toe runs/phantom random --games 1000
$ infoset show phantom_tic_tac_toe runs/phantom
```

## Why they fit

In these games much of what happens concerns only one player: which occupied squares it tried, which dice it holds.
Given the *core*, which is everything else that happens (the [public
component](../glossary.md#public-component-and-private-state-of-a-factored-game)), the players' private states are
independent: the histories of one path of cores are *all combinations* of one sequence of each player. A gradient
needs sums over the combinations, which factor, so that its cost is the sum of the lists' lengths and not their
product: 94 million instead of nine thousand million ([Factored games](../game-model.md#factored-games)). The counts
of histories agree exactly with the paper's.

{sizes(found)}

A form over symmetries keeps one history of each orbit. The profile that it computes is symmetric, which loses nothing
in a constant-sum game for two players. Profiles of other programs need not be symmetric: for these each sequence has
a number for each of its images, and all images of a path are summed at once (`tree/factored_images.py`). Published
times for the exploitability of any profile are 72 to 80 seconds on 16 to 20 threads (exp-a-spiel), and 5.4 seconds on
a graphics card (nashbench), 8 to 9 in abrupt games.

## Results

The method is [PDCFR+](../solvers/pdcfr-plus.md) in games without chance, and [DCFR](../solvers/dcfr.md) otherwise, as
`infoset solve` chooses by default. The average and the current profile are both evaluated, and the better one is
kept; *current* below is the last iterate. Exploitability is the mean of both players' gains. Seconds are those of the
method alone.

{results(found)}

![exploitability against seconds]({PAGE}/curves.png)

![first moves]({PAGE}/openings.png)

Dark hex is solved after a few iterations by a profile that wins with certainty. Phantom tic-tac-toe is also solved to
machine precision, by the last iterate of PDCFR+. Its value for the first player is two thirds; the first player
always begins in a corner, and continues in one of the two adjacent corners. The second player's first attempt is
mixed.

## What does not factor as well

In the *abrupt* variants a failed attempt ends the turn, so that both players know the number of attempts. The core
has to count them, and few sequences of each player are consistent with it: lists have five entries instead of two
hundred, and save little. The remaining savings are the symmetries, entries of four bytes, and sharing between blocks
of equal pattern. Values agree with the published ones, as far as the games are solved. In tic-tac-toe the first player
then begins in the centre or in a corner, and after the centre continues beside it. In hex the first stone is most
often put in an acute corner, as in the other variant, but not always, and nobody wins with certainty. Abrupt dark hex
was solved on one core.
"""


def main() -> None:
    args = parse(Args)
    found = measure(GAMES, args)
    curves(found, args.out / PAGE / "curves.png")
    openings(found, args.out / PAGE / "openings.png")
    (args.out / f"{PAGE}.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
