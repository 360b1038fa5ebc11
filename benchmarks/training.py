"""Seconds an epoch of a training takes by itself, and with two processes that play its games; and how many steps of
agents PPO takes a second in Pommerman, in all of its time, with layers in bfloat16 and in float32.

    python benchmarks/training.py [--epochs 5]

Both are stepped in turn, one epoch each, and the medians of their ratios printed.
"""

from __future__ import annotations

import argparse
from statistics import median
from time import perf_counter
from unittest.mock import patch

from infoset.executors import LOCAL
from infoset.learn.learner import Learner
from infoset.learn.public_play import PublicTraining
from infoset.learn.public_states import Horizon
from infoset.learn.self_play import Training
from infoset.learn.train import AnyConfig, PublicTrainingConfig, TrainingConfig
from infoset.learn.workers import shared
from infoset_pommerman.learn.configs import PpoConfig
from infoset_pommerman.learn.ppo import PpoTraining

TRAININGS: tuple[AnyConfig, ...] = (
    TrainingConfig("gdl:blind_tic_tac_toe_x_wins", Training(seed=1)),
    PublicTrainingConfig("leduc_poker", PublicTraining(horizon=Horizon(stop_at_chance=True), seed=1)),
)
WORKERS = 2
VARIANTS = ("OneVsOne-v0", "PommeTeamCompetition-v0")


def seconds(work: Learner) -> float:
    began = perf_counter()
    work.step()
    return perf_counter() - began


def line(config: AnyConfig, epochs: int) -> str:
    alone, helped = config.learner(), config.learner()
    with shared(helped, config, WORKERS, LOCAL):
        seconds(alone), seconds(helped)
        pairs = [(seconds(alone), seconds(helped)) for _ in range(epochs)]
    ratios = [one / other for one, other in pairs]
    return (
        f"| {config.game}, {config.method} | {median([one for one, _ in pairs]):.2f} s | "
        f"{median([other for _, other in pairs]):.2f} s | {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |"
    )


def arcade_line(variant: str, epochs: int) -> str:
    """PPO on two cores, mini-batches of 4,096."""
    name = f"pommerman:{variant}"
    work = PpoConfig(name, PpoTraining(batch=4096)).learner()
    work.step()
    pairs = []
    for _ in range(epochs):
        short = seconds(work)
        with patch("torch.cpu.get_capabilities", dict):  # as on a processor without bfloat16
            pairs.append((short, seconds(work)))
    views = work.training.steps * work.boards.seats.size
    ratios = [long / short for short, long in pairs]
    rates = [f"{views / median(each):,.0f}" for each in zip(*pairs, strict=True)]
    return f"| {name} | {rates[0]} | {rates[1]} | {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    print("| training | alone | two workers | times as fast, median (range) |\n|---|---|---|---|")
    for config in TRAININGS:
        print(line(config, args.epochs), flush=True)
    print("\n| PPO, agent steps a second | bfloat16 | float32 | times as fast, median (range) |\n|---|---:|---:|---|")
    for variant in VARIANTS:
        print(arcade_line(variant, args.epochs), flush=True)


if __name__ == "__main__":
    main()
