"""How long whole commands take with an empty kernel cache and with a full one: python benchmarks/cold_start.py

Every cold run has a cache folder of its own; the warm run follows in the same folder.  Prints a table of seconds,
the median of the runs and their range.  ``--kernels`` lists what one command compiles in one process, by seconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress

TEAM = "match pommerman:PommeTeamCompetition-v0 --games 1"
COMMANDS = (
    "solve kuhn_poker --iterations 100",
    "match kuhn_poker search random",
    "solve kuhn_poker --method mccfr --iterations 1000",
    "check gdl:meier --simulate 1000",
    f"{TEAM} champion simple champion simple",
    f"{TEAM} dypm simple dypm simple",
    f"{TEAM} hakozaki simple hakozaki simple",
    f"{TEAM} eisenach simple eisenach simple",
    "warm-up",
)


def seconds(command: str, cache: str) -> float:
    """Of a whole process."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "infoset", *command.split()],
            check=True,
            cwd=folder,
            env={**os.environ, "XDG_CACHE_HOME": cache},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - began


def table(commands: tuple[str, ...], runs: int) -> None:
    print(f"{'command':64} {'cold':>18} {'warm':>6}")
    for command in commands:
        cold, warm = [], []
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(seconds(command, cache))
                warm.append(seconds(command, cache))
        spread = f"{statistics.median(cold):.1f} ({min(cold):.1f}-{max(cold):.1f})"
        print(f"{command:64} {spread:>18} {statistics.median(warm):6.2f}", flush=True)


def by_kernel(command: str, most: int = 25) -> None:
    """Processor seconds of each kernel without those that it calls, all compiled in this process."""
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
    from numba.core import event

    from infoset.cli import main

    own: Counter[str] = Counter()
    running: list[list[float]] = []

    class Clock(event.Listener):
        def on_start(self, event: event.Event) -> None:
            running.append([time.process_time(), 0.0])

        def on_end(self, event: event.Event) -> None:
            began, inner = running.pop()
            spent = time.process_time() - began
            function = event.data["dispatcher"].py_func
            own[f"{function.__module__}.{function.__name__}"] += spent - inner
            if running:
                running[-1][1] += spent

    try:
        from infoset import warm_up

        warm_up.compile_sets = lambda names: 0  # in this process instead
    except ImportError:  # an older version
        pass
    event.register("numba:compile", Clock())
    sys.argv = ["infoset", *command.split()]
    with suppress(SystemExit):
        main()
    print(f"{sum(own.values()):7.2f} s for {len(own)} kernels")
    for name, spent in own.most_common(most):
        print(f"{spent:7.2f}   {name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kernels", action="store_true")
    given = parser.parse_args()
    if given.kernels:
        by_kernel(given.commands[0])
    else:
        table(tuple(given.commands) or COMMANDS, given.runs)
