"""Solve the games of Rudolph et al. (2025), "Reevaluating policy gradient methods for imperfect-information games".

    python papers/solved.py                         # an hour, 20 GB; rewrites docs/papers/solved.md
    python papers/solved.py --seconds 20            # a test of the script: no game is solved for longer

Runs are kept below ``--runs``: called again the script goes on from what is there.  Read from top to bottom: the games,
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
from infoset.solvers.metrics import evaluate_images, evaluate_plan
from infoset.solvers.job import Point
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
    """A game, and how far it is solved."""

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
    """Solve the games of a benchmark for learners, and write the page about it."""

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
    """A game, what its form takes, and what was found; not the form, which is large."""

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
    """One game after the other."""
    found = []
    for entry in entries:
        found.append(measured(entry, args))
        gc.collect()  # before the next form, which may need all memory
    return found


def seconds(work: Callable[[], object]) -> float:
    """How long something takes when it is done again."""
    work()
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def openings_of(entry: Entry, solution: Solution, compiled: Compiled) -> list[Opening]:
    """Where both players put their first stone, and the first player its second after the likeliest first."""
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
    """All points of a run, also of what was solved before it was gone on with."""
    assert solution.folder is not None
    lines = (solution.folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Point) for line in lines]


# ---------------------------------------------------------------------------------------------------------------------
# The pictures
# ---------------------------------------------------------------------------------------------------------------------


def curves(found: list[Measured], path: Path, most: float = 2.0, least: float = LEAST / 2) -> None:
    """Exploitability against time."""
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
    """Where stones are put first."""
    boards = [each for each in found if each.openings]
    figure, grid = plt.subplots(len(boards), 3, figsize=(8.4, 2.8 * len(boards)), dpi=110, layout="constrained")
    for each, line in zip(boards, grid, strict=True):
        for axes, (title, probabilities, stones) in zip(line, each.openings, strict=True):
            board(axes, f"{each.entry.theirs}:\n{title}", probabilities, stones)
    figure.savefig(path)
    plt.close(figure)


def board(axes: Any, title: str, probabilities: dict[Any, float], stones: dict[Any, str]) -> None:
    """The probabilities of cells, as numbers and as shades."""
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
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def sizes(found: list[Measured]) -> str:
    """How large the games are, and their forms."""
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
        "game", "histories", "ends", "entries of lists", "sets with a choice", "symmetries", "entries kept", "memory",
        "built in", "exact figures of a symmetric profile in", "of any profile in",
    ]  # fmt: skip
    return table(head, rows)


def results(found: list[Measured], marks: tuple[float, ...] = MARKS) -> str:
    """What was reached, and when."""
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
    """The page in Markdown."""
    return f"""# Solved, not learned

Max Rudolph, Nathan Lichtlé, Sobhan Mohammadpour, Alexandre Bayen, J. Zico Kolter, Amy Zhang, Gabriele Farina, Eugene
Vinitsky and Samuel Sokota, *Reevaluating Policy Gradient Methods for Imperfect-Information Games*, 2025
([arXiv 2502.08938](https://arxiv.org/abs/2502.08938)), train learners for 345,000 hours of processors on five games
whose histories are too many to list, because exact exploitability can still be had there. So can the solution. This
page is written by `papers/solved.py`, numbers and pictures included: each game is solved on two cores, and every figure
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
([Factored games](../game-model.md#factored-games)). Counts agree with the paper's to the unit.

{sizes(found)}

A form over symmetries keeps one history of each orbit; the profile it solves for is symmetric, which loses nothing in a
game for two with a constant sum. Profiles of others need not be: of each sequence there is then a number for every
image of it, and all images of a path are added up at once (`tree/factored_images.py`). Published for such figures: 72
to 80 seconds on 16 to 20 threads (exp-a-spiel), 5.4 seconds on a graphics card (nashbench), 8 to 9 in abrupt games.

## What comes out

[PDCFR+](../solvers/pdcfr-plus.md) where chance deals nothing, else [DCFR](../solvers/dcfr.md), as `infoset solve` takes
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
to keep count of them, and leaves each player few sequences that go with it: lists have five entries in place of two
hundred, and save little. What helps is that symmetries are left, that an entry takes four bytes, and that blocks of the
same pattern share it. Their values are the published ones, as near as they are solved. In tic-tac-toe the first stone
is put in the middle or in a corner then, and the next beside the middle; in hex most often in an acute corner, as in
the other variant, but not always, and nobody wins for sure. Abrupt dark hex was solved on one core.
"""


def main() -> None:
    args = parse(Args)
    found = measure(GAMES, args)
    curves(found, args.out / PAGE / "curves.png")
    openings(found, args.out / PAGE / "openings.png")
    (args.out / f"{PAGE}.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
