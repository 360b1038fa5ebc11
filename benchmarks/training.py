"""Seconds an epoch of a training takes by itself, and with two processes that play its games.

    python benchmarks/training.py [--epochs 5]

Both are stepped in turn, one epoch each, and the medians of their ratios printed.
"""

from __future__ import annotations

import argparse
from statistics import median
from time import perf_counter

from infoset.learn.learner import Learner
from infoset.learn.public_play import PublicTraining
from infoset.learn.self_play import Training
from infoset.learn.train import AnyConfig, PublicTrainingConfig, TrainingConfig
from infoset.learn.workers import shared
from infoset.search.public_states import Horizon

TRAININGS: tuple[AnyConfig, ...] = (
    TrainingConfig("gdl:blind_tic_tac_toe_x_wins", Training(seed=1)),
    PublicTrainingConfig("leduc_poker", PublicTraining(horizon=Horizon(nature=True), seed=1)),
)
WORKERS = 2


def seconds(work: Learner) -> float:
    began = perf_counter()
    work.step()
    return perf_counter() - began


def line(config: AnyConfig, epochs: int) -> str:
    alone, helped = config.learner(), config.learner()
    with shared(helped, config, WORKERS):
        seconds(alone), seconds(helped)
        pairs = [(seconds(alone), seconds(helped)) for _ in range(epochs)]
    ratios = [one / other for one, other in pairs]
    return (
        f"| {config.game}, {config.method} | {median([one for one, _ in pairs]):.2f} s | "
        f"{median([other for _, other in pairs]):.2f} s | {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    print("| training | alone | two workers | times as fast, median (range) |\n|---|---|---|---|")
    for config in TRAININGS:
        print(line(config, args.epochs), flush=True)


if __name__ == "__main__":
    main()
