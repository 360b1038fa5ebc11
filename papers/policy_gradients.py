"""Learning curves of networks, measured exactly: PPO, MMD, Deep CFR … on four games, five seeds each.

    python papers/policy_gradients.py                     # hours; rewrites docs/papers/policy-gradients.md
    python papers/policy_gradients.py --quick --out /tmp/page --runs /tmp/runs     # two games, two seeds: minutes

Each training is a run folder in ``--runs``; a second call goes on with those that are not over, and
``--games kuhn_poker`` makes the runs of one game alone (separated by ``;``).  The page has what is there.
Read from top to bottom: the trainings, their curves, the picture, the page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from options import parse
from scipy.stats import t as student

import infoset
from infoset.errors import CheckpointError
from infoset.learn.learner import Epoch
from infoset.learn.train import TrainingFolder
from infoset.runs import RunFolder

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
PAGE = "policy-gradients"
GAMES = {
    "kuhn_poker": "Kuhn poker",
    "leduc_poker": "Leduc poker",
    "phantom_tic_tac_toe": "phantom tic-tac-toe",
    "dark_hex": "dark hex, 3 by 3",
}
SMALL = ("kuhn_poker", "leduc_poker")
LARGE = {"phantom_tic_tac_toe", "dark_hex"}
METHODS = {"ppo": "PPO", "mmd": "MMD", "deep-cfr": "Deep CFR"}
TABULAR = ("cfr", "cfr+")
COLOURS = ("#1f5fa8", "#d98c21", "#3a8a4d", "#8a3a7a", "#a8321f", "#4d8a8a", "#6a6a2a")
NO_LIMIT = 1e9

GRADIENT = {
    "games": 512,
    "batch": 2048,
    "rate": 5e-4,
    "hidden": 128,
    "trace": 1.0,
    "entropy": 0.5,
    "last_entropy": 0.03,
}
WIDE = {"games": 4096, "batch": 2048, "rate": 2e-3, "encoding": "observation"}
PARAMETERS: dict[tuple[str, str], dict[str, Any]] = {
    ("small", "ppo"): {**GRADIENT, "steps": 2_000_000},
    ("small", "mmd"): {**GRADIENT, "rate": 1e-3, "kl": 0.5, "steps": 2_000_000},
    ("small", "deep-cfr"): {
        "games": 1024,
        "batch": 1024,
        "hidden": 128,
        "rate": 3e-3,
        "updates": 300,
        "steps": 500_000,
    },
    ("large", "ppo"): {**WIDE, "steps": 4_000_000},
    ("large", "mmd"): {**WIDE, "steps": 4_000_000},
    ("large", "deep-cfr"): {
        "games": 256,
        "batch": 1024,
        "updates": 300,
        "branches": 2,
        "encoding": "observation",
        "steps": 1_000_000,
    },
}


@dataclass(frozen=True)
class Args:
    """Train networks on four games, and write the page about their exploitability."""

    out: Path = ROOT / "docs" / "papers"
    """Folder for the page, with its picture in a folder beside it."""
    runs: Path = ROOT / "runs" / PAGE
    """Folder for the trainings."""
    games: str = ";".join(GAMES)
    """The games to train on, separated by semicolons."""
    methods: str = ";".join(METHODS)
    """The methods to train with, separated by semicolons."""
    seeds: int = 5
    """Of each method on each game."""
    quick: bool = False
    """Small games and short trainings only."""
    draw: bool = False
    """Train nothing: write the page of the runs that are there."""


def parameters(game: str, method: str, quick: bool) -> dict[str, Any]:
    """Return the parameters of a training."""
    found = dict(PARAMETERS["large" if game in LARGE else "small", method])
    return found | {"steps": found["steps"] // 25} if quick else found


def folder_of(args: Args, game: str, method: str, seed: int) -> Path:
    return args.runs / f"{game}-{method}-{seed}"


def train_all(args: Args) -> None:
    """Run every training to its end, and the tabular methods for comparison."""
    for game in args.games.split(";"):
        for seed in range(args.seeds):
            for method in args.methods.split(";"):
                path = folder_of(args, game, method, seed)
                given = parameters(game, method, args.quick)
                if (path / "config.json").exists():
                    training = infoset.train(seconds=NO_LIMIT, out=path, resume=True)
                else:
                    training = infoset.train(game, method=method, seed=seed, seconds=NO_LIMIT, out=path, **given)
                print(f"{path.name}: {training.last.exploitability}", flush=True)
        for method in TABULAR:
            path = args.runs / f"{game}-{method}"
            if not path.exists():
                infoset.solve(game, method, iterations=100 if args.quick or game in LARGE else 1000, out=path)


def points(args: Args, game: str, method: str) -> list[list[Epoch]]:
    """Return the measured epochs of each seed's training."""
    found = []
    for seed in range(args.seeds):
        try:
            curve = TrainingFolder(folder_of(args, game, method, seed)).points()
        except CheckpointError:
            continue
        if measured := [p for p in curve if p.exploitability is not None]:
            found.append(measured)
    return found


def interval(values: np.ndarray) -> float:
    """Return half the 95 % interval of the mean of a few seeds."""
    count = len(values)
    return float(student.ppf(0.975, count - 1) * values.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")


def spelled(value: object) -> str:
    """Return a parameter as text."""
    return value if isinstance(value, str) else f"{value:g}"


def picture(args: Args, path: Path) -> None:
    """Draw the mean over seeds with its interval by decisions, and the tabular methods by histories visited."""
    games = args.games.split(";")
    figure, panels = plt.subplots(
        -(-len(games) // 2), 2, figsize=(9.6, 3.6 * -(-len(games) // 2)), dpi=110, layout="constrained", squeeze=False
    )
    for game, axes in zip(games, panels.flat, strict=False):
        for colour, (method, name) in zip(COLOURS, METHODS.items(), strict=False):
            if not (curves := points(args, game, method)):
                continue
            count = min(map(len, curves))
            states = np.array([[p.states for p in curve[:count]] for curve in curves]).mean(axis=0)
            values = np.array([[p.exploitability for p in curve[:count]] for curve in curves])
            half = np.nan_to_num(np.array([interval(column) for column in values.T]))
            mean = values.mean(axis=0)
            axes.loglog(states, mean, color=colour, lw=1.8, label=name)
            axes.fill_between(states, np.maximum(mean - half, 1e-4), mean + half, color=colour, alpha=0.2, lw=0)
        axes.set_title(GAMES.get(game, game), fontsize=10, loc="left")
        axes.set_xlabel("decisions")
        axes.set_ylabel("exploitability")
        axes.legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def table(args: Args) -> str:
    """Return the final exploitability by game and method: the mean over seeds with its interval."""
    games = args.games.split(";")
    lines = [["", *[GAMES.get(game, game) for game in games]], ["---"] * (len(games) + 1)]
    for method, name in METHODS.items():
        cells = []
        for game in games:
            last = np.array([curve[-1].exploitability for curve in points(args, game, method)])
            cells.append(f"{last.mean():.2g} ± {interval(last):.1g} ({len(last)})" if len(last) else "")
        lines.append([name, *cells])
    for method in TABULAR:
        cells = []
        for game in games:
            path = args.runs / f"{game}-{method}"
            curve = RunFolder(path).points() if path.exists() else []
            measured = [p for p in curve if p.exploitability is not None]
            last = measured[-1] if measured else None
            cells.append(f"{last.exploitability:.2g}, {last.iteration:,} iterations" if last else "")
        lines.append([f"`{method}`, in a table", *cells])
    cells = [f"{infoset.evaluate(game, 'random').exploitability:.3f}" for game in games]
    lines.append(["uniform play", *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(args: Args) -> str:
    """Return the page in Markdown."""
    settings = "\n".join(
        f"| {METHODS[method]} | {size} | {', '.join(f'{k} {spelled(v)}' for k, v in given.items())} |"
        for (size, method), given in PARAMETERS.items()
    )
    return f"""# Policy gradients and other learners

This page compares networks that [learn games](../baselines.md) by their exact exploitability. The shortest command:
`python papers/policy_gradients.py` trains them, which can be interrupted and resumed, and writes the page. Rudolph,
Lichtlé, Mohammadpour, Bayen, Kolter, Zhang, Farina, Vinitsky and Sokota (*Reevaluating Policy Gradient Methods for
Imperfect-Information Games*, 2025, [arXiv 2502.08938](https://arxiv.org/abs/2502.08938)) made such a comparison on
large games, over thousands of runs, and found that generic policy gradients are at least as good as methods of
fictitious play, double oracles and counterfactual regrets. The parameters that they published with their code are those
of `--preset iig-rl`; their figures of exploitability are not repeated here, since we have no table of them to cite.

The final exploitability, half of what both players could gain together, in units of payoffs: the mean over seeds with
its 95 % interval, the number of seeds in brackets.

{table(args)}

In dark hex of this size the first player can force a win, and the second can prevent nothing: any strategy that always
wins is an equilibrium, while the other games need exact mixtures. What Deep CFR's regrets are learnt from are single
samples of subtrees; it counts every decision in them, so that it has fewer iterations than the policy gradients have
updates.

![exploitability by decisions]({PAGE}/curves.png)

The parameters of these runs, where they differ from the defaults:

| method | games | parameters |
| --- | --- | --- |
{settings}
"""


def main() -> None:
    args = parse(Args)
    if args.quick:
        args = replace(args, games=";".join(SMALL), seeds=2)
    if not args.draw:
        train_all(args)
    picture(args, args.out / PAGE / "curves.png")
    (args.out / f"{PAGE}.md").write_text(page(args), encoding="utf-8")


if __name__ == "__main__":
    main()
