"""Spots of hold'em beside the figures of a native solver: python benchmarks/poker.py

    python benchmarks/poker.py                       # all rows, minutes: an idle machine, two cores, 3 GB
    python benchmarks/poker.py turn flop             # these rows
    python benchmarks/poker.py --against ../before   # beside another checkout, which takes its turn at each row

Each row is solved in a process of its own, once kernels are compiled: with the default method, to .1 % of the pot (the
turn to .05 %).  The times of solving are without the exact figures that are computed at some iterations to know when to
stop.  Memory: the arrays of the solver (regrets and averages), and the largest resident size of the process.

The figures of postflop-solver (Rust, https://github.com/b-inary/postflop-solver) were measured with two threads on a
machine of two cores, 2026; those of the 3-bet pot are from the comparison in wasm-postflop's README (six threads of a
Ryzen 7 3700X, 21.8 s; 32-bit and 16-bit).  The ranges and later sizes of that preset, PioSOLVER's 3betpotFAST, are not
published: the row has its board, pot and stack, a bet of 52 % and raises to 2.5 times the bet on every street, and the
ranges of the other rows, a tree of about four fifths of its size.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent.parent
RANGES = (
    "ranges=pio,range1='66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s',"
    "range2='QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+'"
)
EVERY = "range1=any,range2=any"
LEVELS = (0.5, 0.1)
"""Exploitabilities to reach, in per cent of the pot."""


class Row(NamedTuple):
    """A spot, and the same in versions that know no ``holdem`` yet, if they have it."""

    about: str
    game: str
    before: str
    pot: float
    seconds: float
    """The time after which it is given up."""
    native: str
    """The figures of the native solver."""
    precision: str = ""
    finest: float = min(LEVELS)
    """The exploitability at which it ends, in per cent of the pot."""


THREE_BET = (
    f"holdem(board=QsJh2h,pot=180,stack=910,bets='52%',raises='2.5x',add_allin=1.0,force_allin=0.15,merge=0.1,{RANGES})"
)
FLOP = f"holdem(board=Td9d6h,pot=100,stack=400,bets='100%',raises='100%',{RANGES})"
TURN = f"board=Td9d6hQc,pot=100,stack=400,{RANGES}"
RIVER = f"holdem_river({EVERY},bets=[0.5,1.0,2.0],stack=400,raises=2)"
EVERY_TURN = f"holdem_turn({EVERY})"
ROWS = {
    "turn": Row(
        "turn, two ranges", f"holdem(bets='100%',raises='100%',{TURN})", f"holdem_turn({TURN})", 100,
        60, "200 iterations, to .05 %: .80 s, 4.0 ms each", finest=0.05,
    ),
    "river": Row("river, every hand", RIVER, RIVER, 100, 60, "300 iterations .30 s, 1.0 ms each"),
    "flop": Row("flop, the same ranges", FLOP, "", 100, 120, "110 ms each, .5 % after some 50, 136 MB"),
    "flop-half": Row("flop, 16 bits", FLOP, "", 100, 120, "72 MB", "half"),
    "3bet": Row("3-bet pot (see above)", THREE_BET, "", 180, 600, ".5 % in 131 thread-seconds, 1.21 GB"),
    "3bet-half": Row("3-bet pot, 16 bits", THREE_BET, "", 180, 600, "644 MB", "half"),
    "every": Row("turn, every hand", EVERY_TURN, EVERY_TURN, 100, 120, "-"),
    "leduc": Row("Leduc poker, DCFR", "leduc_poker", "leduc_poker", 2, 20, "-"),
    "dice": Row("liar's dice, DCFR", "liars_dice", "liars_dice", 2, 20, "-"),
}  # fmt: skip


def measure(row: Row) -> dict[str, Any] | None:
    """The figures of a row in this process; None where this checkout has no such game or option."""
    import infoset
    from infoset.errors import ParameterError, UnknownNameError, UnsupportedGameError

    options: dict[str, Any] = {"precision": row.precision} if row.precision else {}
    method = None if row.game.startswith("holdem") else "dcfr"
    for game in filter(None, (row.game, row.before)):
        try:
            infoset.solve(game, method, iterations=2, **options)  # compiles or loads kernels
        except (UnknownNameError, UnsupportedGameError, ParameterError):
            continue
        break
    else:
        return None
    target = row.finest / 100 * row.pot
    solution = infoset.solve(game, method, target=target, seconds=row.seconds, **options)
    found: dict[str, Any] = {
        "game": game, "building": solution.building_seconds, "each": solution.seconds / max(solution.iterations, 1),
        "method": solution.method, "iterations": solution.iterations, "exploitability": solution.exploitability,
        "value": None if solution.values is None else solution.values[0], "arrays": solution.notes.get("bytes"),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    }  # fmt: skip
    for level in (*LEVELS, row.finest):
        reached = [p for p in solution.curve if p.exploitability is not None and p.exploitability <= level / 100 * row.pot]
        found[f"to {level}"] = (reached[0].seconds, reached[0].iteration) if reached else None
    return found


def measured(name: str, checkout: Path, cache: Path) -> dict[str, Any] | None:
    """The figures of a row in a process of its own, with the code of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, str(Path(__file__).resolve()), name, "--json"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, cwd=checkout)
    found: dict[str, Any] | None = json.loads(output.stdout)
    return found


def cells(row: Row, found: dict[str, Any] | None) -> list[str]:
    """The figures as they are printed."""
    if found is None:
        return ["-"] * 6
    reached, arrays = [found[f"to {level}"] for level in (*LEVELS, row.finest)], found["arrays"]
    times = ["not reached" if at is None else f"{at[0]:.2f} s, {at[1]:,}" for at in reached]
    finest = "" if row.finest in LEVELS else f" ({row.finest} %: {times[-1]})"
    return [
        f"{found['building']:.2f} s",
        f"{1000 * found['each']:.3g} ms",
        times[0],
        times[1] + finest,
        "-" if arrays is None else f"{arrays / 1e6:,.0f} MB",
        f"{found['peak'] / 1e6:,.0f} MB",
    ]


def report(names: list[str], other: Path | None, rounds: int, cache: Path) -> None:
    """Print a table as rows are ready; of several rounds the one with the quickest iterations counts."""
    checkouts = {"here": HERE} if other is None else {"here": HERE, "before": other}
    print("| spot | checkout | building | an iteration | to .5 % | to .1 % | arrays | peak | postflop-solver |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---|")
    for name in names:
        best: dict[str, dict[str, Any] | None] = dict.fromkeys(checkouts)
        for number in range(rounds):
            for label in [*checkouts][:: 1 if number % 2 == 0 else -1]:
                found, so_far = measured(name, checkouts[label], cache), best[label]
                if found is not None and (so_far is None or found["each"] < so_far["each"]):
                    best[label] = found
        for label, found in best.items():
            native = ROWS[name].native if label == "here" else ""
            print(f"| {ROWS[name].about} | {label} | {' | '.join(cells(ROWS[name], found))} | {native} |", flush=True)
        here, before = best["here"], best.get("before")
        if here is not None and before is not None:
            print(f"| | ratio | | {before['each'] / here['each']:.2f} | | | | | |", flush=True)
        if here is not None:
            note = f"{here['method']}, {here['iterations']:,} iterations, exploitability {here['exploitability']:.3g}"
            print(f"  {name}: {note}, P1 {here['value']:+.4f}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], help="all by default")
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache")
    parser.add_argument("--json", action="store_true", help="measure one row in this process")
    given = parser.parse_args()
    if given.json:
        print(json.dumps(measure(ROWS[given.rows[0]])))
    else:
        other = None if given.against is None else given.against.resolve()
        report(given.rows or list(ROWS), other, given.rounds, given.cache)


if __name__ == "__main__":
    main()
