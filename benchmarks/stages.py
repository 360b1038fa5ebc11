"""Times of backward induction over stages, with an empty and with a warm cache of kernels; figures of docs/benchmarks.md.

python benchmarks/stages.py [GAME ...]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

GAMES = (
    "oshi_zumo",
    "goofspiel(num_cards=13,points_order=descending,returns_type=point_difference)",
    "goofspiel(num_cards=13,points_order=descending)",
    "goofspiel(num_cards=7)",
    "goofspiel(num_cards=10,returns_type=point_difference)",
    "goofspiel(num_cards=11,returns_type=point_difference)",
)
LARGEST = "goofspiel(num_cards=12,returns_type=point_difference)"  # minutes
WORK = """
import resource, sys, time
began = time.monotonic()
import infoset
solution = infoset.solve(sys.argv[1], "backward-induction")
wall = time.monotonic() - began
usage = resource.getrusage(resource.RUSAGE_SELF)
print(f"{wall:.1f} s, processor {usage.ru_utime + usage.ru_stime:.1f} s, {usage.ru_maxrss / 2**20:.1f} GiB, "
      f"{solution.notes['stages']:,} stages, value {solution.values[0]:.12g}, exploitability {solution.exploitability:.1g}, "
      f"proven NashConv {solution.notes['proven_nash_conv']:.1g}, {solution.notes['solved_in_fractions']} in fractions")
"""


def run(game: str, cache: str | None = None) -> str:
    """The figures of a solve in a process of its own, with the kernels in ``cache``, or in the user's."""
    own = {} if cache is None else {"XDG_CACHE_HOME": cache}
    done = subprocess.run(
        [sys.executable, "-c", WORK, game], check=True, capture_output=True, text=True, env={**os.environ, **own}
    )
    return done.stdout.strip()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        print(f"oshi_zumo, empty cache: {run('oshi_zumo', empty)}", flush=True)
    for name in sys.argv[1:] or (*GAMES, LARGEST):
        print(f"{name}: {run(name)}", flush=True)
