"""Kill commands at random moments, let them go on, and compare what they leave with that of an undisturbed run.

``python tests/kill_commands.py --kills 1000 --seed 1 [JOB ...]`` (``make kills``) prints a line a job and exits with 1
where anything was lost.  A command is cut several times in a row, by SIGKILL, SIGTERM, Ctrl-C or a disk that is full (a
limit on the size of files), and then goes on to its end.  Its result has to be bit for bit that of a run that nobody
disturbed, whatever stands in its files between has to be readable, and no command may end with a traceback.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from infoset.policies.loading import load_policy

DISK_FULL = "disk full"
WAYS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, DISK_FULL]
CUTS = 4  # of one run before it goes on to its end
PATIENCE = 300.0


class Job(NamedTuple):
    """A command, how it goes on, and what is compared; ``{}`` stands for its folder."""

    begin: list[str]
    go_on: list[str]
    result: Callable[[Path], Any]
    prepare: tuple[list[str], ...] = ()


def arrays(folder: Path) -> dict[str, list[Any]]:
    """The arrays of a run's policy."""
    with np.load(folder / "run" / "policy.npz") as archive:
        return {name: archive[name].tolist() for name in archive.files if name != "header"}


def network(folder: Path) -> bytes:
    return (folder / "run" / "net.safetensors").read_bytes()


def games(folder: Path) -> list[Any]:
    """Every game of a tournament: who played it with which seed, and what came of it."""
    with sqlite3.connect(folder / "cup.db") as connection:
        return connection.execute("SELECT number, seed, agents, returns, forfeit FROM games ORDER BY number").fetchall()


def written(folder: Path) -> bytes:
    return (folder / "out.efg").read_bytes()


def response(folder: Path) -> dict[str, list[Any]]:
    with np.load(folder / "best.npz") as archive:
        return {name: archive[name].tolist() for name in archive.files if name != "header"}


def _solve(game: str, *options: str) -> Job:
    return Job(
        ["solve", game, *options, "--seed", "5", "--out", "{}/run"], ["solve", "--resume", "--out", "{}/run"], arrays
    )


def _again(command: list[str], result: Callable[[Path], Any], *prepare: list[str]) -> Job:
    return Job(command, command, result, prepare)


def _train(*options: str) -> Job:
    asked = ["train", *options, "--seed", "5", "--epochs", "6", "--out", "{}/run"]
    return Job(asked, ["train", "--resume", "--epochs", "6", "--out", "{}/run"], network)


JOBS = {
    "solve cfr": _solve("leduc_poker", "--method", "cfr", "--iterations", "20000"),
    "solve mccfr": _solve("leduc_poker", "--method", "mccfr", "--iterations", "20000"),
    "solve lp": _solve("goofspiel(num_cards=4)", "--method", "lp"),
    "solve factored": _solve(
        "dark_hex(rows=2,columns=3)", "--method", "pcfr+", "--form", "factored", "--iterations", "3000"
    ),
    "train": _train("kuhn_poker", "--method", "resolving", "--steps", "1", "--games", "4"),
    "tournament": _again(
        ["tournament", "leduc_poker", "random", "random", "--games", "3000", "--workers", "2", "--db", "{}/cup.db"],
        games,
    ),
    "compete": _again(["compete", "{}/cup.toml", "--workers", "2"], games),
    "evaluate": _again(
        ["evaluate", "leduc_poker", "{}/run/policy.npz", "--best-response", "{}/best.npz"],
        response,
        ["solve", "leduc_poker", "--method", "mccfr", "--iterations", "100", "--seed", "1", "--out", "{}/run"],
    ),
    "convert": _again(["convert", "leduc_poker", "{}/out.efg"], written),
}
CUP = 'game = "leduc_poker"\nteams = ["random", "random"]\nformat = "round-robin(games=3000)"\nseed = 3\n'


def command(words: list[str], folder: Path) -> list[str]:
    return [sys.executable, "-m", "infoset", *[word.replace("{}", str(folder)) for word in words]]


def start(words: list[str], folder: Path, limit: int | None = None) -> subprocess.Popen[str]:
    """Start a command in its folder; with ``limit`` no file may become larger, as on a disk that is full."""

    def fill_disk() -> None:
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        command(words, folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=fill_disk,  # noqa: PLW1509 - this process has one thread
        cwd=folder,
    )


def finish(words: list[str], folder: Path) -> str:
    """Run a command to its end, and return what it wrote to standard error.  Raises ``AssertionError`` where it fails."""
    process = start(words, folder)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, f"it does not go on: exit status {process.returncode}: {errors.strip()[-300:]}"
    return errors


def new_folder(above: Path, name: str, job: Job) -> Path:
    folder = above / name
    folder.mkdir()
    (folder / "cup.toml").write_text(CUP)
    for words in job.prepare:
        finish(words, folder)
    return folder


def has_begun(job: Job, folder: Path) -> bool:
    """Return whether there is something to go on with."""
    return job.begin == job.go_on or (folder / "run" / "config.json").exists()


def cut(job: Job, folder: Path, lasts: float, rng: random.Random) -> str:
    """Cut a command once, and return how."""
    way = rng.choice(WAYS)
    limit = rng.choice([1, 200, 2_000, 20_000, 200_000]) if way == DISK_FULL else None
    process = start(job.go_on if has_begun(job, folder) else job.begin, folder, limit)
    if limit is None:
        time.sleep(rng.uniform(0, lasts))
        process.send_signal(way)
    _, errors = process.communicate(timeout=PATIENCE)
    if "in main" in errors:  # else Python itself was still starting
        assert "Traceback" not in errors, f"a traceback after {way}: {errors[-500:]}"
    assert "internal error" not in errors, f"after {way}: {errors[-300:]}"
    if (folder / "run" / "policy.npz").exists():
        load_policy(folder / "run" / "policy.npz")  # what stands there is whole
    return str(way)


def kill(name: str, kills: int, seed: int) -> list[str]:
    """Cut a job ``kills`` times in all, and return what was lost."""
    job, rng, lost = JOBS[name], random.Random(f"{name} {seed}"), []
    with tempfile.TemporaryDirectory() as above:
        folder = new_folder(Path(above), "whole", job)
        began = time.monotonic()
        finish(job.begin, folder)
        lasts = time.monotonic() - began
        whole, run = job.result(folder), 0
        while kills > 0:
            run += 1
            folder = new_folder(Path(above), f"run {run}", job)
            ways: list[str] = []
            try:
                for _ in range(min(CUTS, kills)):
                    ways += [cut(job, folder, lasts, rng)]
                finish(job.go_on if has_begun(job, folder) else job.begin, folder)
                assert job.result(folder) == whole, "it ends otherwise than when nobody disturbs it"
                left = [file.name for file in folder.rglob("*.partial")]
                assert not left, f"left behind: {left}"
            except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
                lost.append(f"{name}, run {run}, cut by {', '.join(ways)}: {error}")
            kills -= max(len(ways), 1)
            shutil.rmtree(folder, ignore_errors=True)
    return lost


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", choices=[*JOBS, []], help="all by default")
    parser.add_argument("--kills", type=int, default=1000, help="in all, an equal share a job")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    jobs, total = asked.jobs or list(JOBS), 0
    share = -(-asked.kills // len(jobs))
    for name in jobs:
        lost = kill(name, share, asked.seed)
        total += len(lost)
        print(f"{name}: {share} kills, {len(lost)} lost", flush=True)
        for line in lost[:10]:
            print(f"  {line}", flush=True)
    print(json.dumps({"kills": share * len(jobs), "lost": total}))
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
