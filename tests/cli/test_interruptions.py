"""Ctrl-C and a killed process lose nothing: what goes on ends as what was never cut, bit for bit.

Real signals to real processes, at moments drawn at random: some methods once here, all of them ten times with ``-m slow``.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from infoset.evaluation import evaluate
from infoset.policies.loading import load_policy

SOLVES = {
    "cfr": ["leduc_poker", "--method", "cfr", "--iterations", "40000"],
    "dcfr from a random start": ["leduc_poker", "--method", "dcfr", "--start", "random", "--iterations", "40000"],
    "sfrd-continuous": ["leduc_poker", "--method", "sfrd-continuous", "--iterations", "6000"],
    "lp": ["goofspiel(num_cards=4)", "--method", "lp"],
    "mccfr": ["leduc_poker", "--method", "mccfr", "--iterations", "60000"],
    "mccfr by outcomes": ["leduc_poker", "--method", "mccfr(sampling=outcome)", "--iterations", "900000"],
    "public": ["gdl:meier", "--method", "public"],
    "annealing": ["tiny_bridge", "--method", "annealing", "--iterations", "60", "--runs", "3"],
    "progressive-hiding": [
        "tiny_bridge",
        "--method",
        "progressive-hiding(relax=recall)",
        "--iterations",
        "120",
        "--runs",
        "3",
    ],
    "progressive-hiding that chooses": ["tiny_bridge", "--method", "progressive-hiding", "--iterations", "20"],
    "information-relaxation": [
        "tiny_bridge",
        "--method",
        "information-relaxation",
        "--iterations",
        "60",
        "--runs",
        "3",
    ],
    "team-exact": ["tiny_bridge", "--method", "team-exact"],
}


def infoset(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "infoset", *arguments]


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cut(command: list[str], folder: Path, how: signal.Signals, delay: float) -> None:
    """Start it, and send the signal so long after its work began; it may be over before."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    while not (folder / "config.json").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(delay)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    if how == signal.SIGINT:
        assert process.returncode in (0, 130), errors


def figures(folder: Path) -> dict[str, np.ndarray]:
    with np.load(folder / "policy.npz") as arrays:
        return {name: arrays[name] for name in arrays.files if name != "header"}


def go_through(name: str, tmp_path: Path, moments: int, seed: int) -> None:
    """Whole; then cut at random moments and gone on with, by Ctrl-C and by kill."""
    rng, arguments = random.Random(seed), SOLVES[name]
    began = time.monotonic()
    run(infoset("solve", *arguments, "--seed", "5", "--out", str(tmp_path / "whole")))
    lasts = max(time.monotonic() - began - 1.0, 0.2)
    whole = figures(tmp_path / "whole")
    for how in (signal.SIGINT, signal.SIGKILL):
        for moment in range(moments):
            folder = tmp_path / f"{how.name}-{moment}"
            first = infoset("solve", *arguments, "--seed", "5", "--out", str(folder))
            cut(first, folder, how, rng.uniform(0, lasts))
            if (folder / "policy.npz").exists():  # what stands there plays, whatever happened
                assert evaluate(arguments[0], load_policy(folder)).values
            run(infoset("solve", "--resume", "--out", str(folder)))
            again = figures(folder)
            assert again.keys() == whole.keys()
            for array, expected in whole.items():
                np.testing.assert_array_equal(again[array], expected, err_msg=f"{name}: {array}")


@pytest.mark.parametrize("name", ["cfr"])
def test_a_solve_goes_on_where_it_was_cut(name: str, tmp_path: Path) -> None:
    go_through(name, tmp_path, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVES)
def test_a_solve_goes_on_where_it_was_cut_ten_times(name: str, tmp_path: Path) -> None:
    go_through(name, tmp_path, 10, 2)


TRAININGS = {
    "self-play": ["gdl:scissors_double", "--games", "8", "--worlds", "5"],
    "resolving": ["kuhn_poker", "--method", "resolving", "--steps", "1", "--games", "4"],
}


def train_through(name: str, tmp_path: Path, moments: int, seed: int) -> None:
    pytest.importorskip("torch")
    rng, arguments = random.Random(seed), [*TRAININGS[name], "--seed", "5"]
    run(infoset("train", *arguments, "--epochs", "12", "--out", str(tmp_path / "whole")))
    whole = (tmp_path / "whole" / "net.safetensors").read_bytes()
    for how in (signal.SIGINT, signal.SIGKILL):
        for moment in range(moments):
            folder = tmp_path / f"{how.name}-{moment}"
            first = infoset("train", *arguments, "--epochs", "12", "--out", str(folder))
            cut(first, folder, how, rng.uniform(0, 3))
            run(infoset("train", "--resume", "--epochs", "12", "--out", str(folder)))
            assert (folder / "net.safetensors").read_bytes() == whole


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_goes_on_where_it_was_cut_ten_times(name: str, tmp_path: Path) -> None:
    train_through(name, tmp_path, 10, 2)
