"""Equilibria of Gambit's own files beside Gambit's: which method, how far from an equilibrium, how long.

    python benchmarks/equilibria.py                       # all files of the shared folder, and three games of poker and dice
    python benchmarks/equilibria.py FILE.efg … --patience 300

Ours: ``lcp`` for two players, ``logit`` for any number; theirs by the same names, in a process of its own that is ended
after ``--patience`` seconds (pygambit, ``pip install pygambit``; without it those columns are empty).  Times are of the
method alone, the game read and its forms made; the largest gain of a player stands beside them.  Ratios are above 1 where
ours is faster.  Where both are quicker than the clock is fine, they mean little.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import geometric_mean

from apart import apart

import infoset
from infoset.compiled import Compiled
from infoset.errors import InfosetError
from infoset.solvers.method import Options, parse_method
from infoset.solvers.job import Limits, Watcher, advance

FILES = Path(__file__).resolve().parents[2] / "shared" / "games" / "efg"
GAMES = ("kuhn_poker", "kuhn_poker(players=3)", "liars_dice(dice_sides=3)", "goofspiel(num_cards=3)")
REGRET = 1e-8
"""Of the largest payoff: where Gambit's logit path ends."""


def ours(compiled: Compiled, method: str) -> tuple[float, float]:
    """Seconds and the largest gain."""
    began = time.perf_counter()
    work = parse_method(method).job(compiled, Options())
    advance(work, Limits(100_000), Watcher())
    spent = time.perf_counter() - began
    found = work.evaluation()
    assert found is not None  # of methods on the sequence form
    return spent, found.epsilon


def theirs(path: str, method: str) -> tuple[float, float] | str:
    """In a process of its own: seconds and the largest gain of Gambit's first equilibrium."""
    import pygambit

    game = pygambit.read_efg(path)
    began = time.perf_counter()
    if method == "lcp":
        found = pygambit.nash.lcp_solve(game, rational=False).equilibria
    else:
        found = pygambit.nash.logit_solve(game, maxregret=REGRET).equilibria
    spent = time.perf_counter() - began
    return (spent, float(found[0].max_regret())) if found else "none found"


def cell(found: tuple[float, float] | str) -> str:
    return found if isinstance(found, str) else f"{found[0]:.3g} s, {found[1]:.0e}"


def ratio(own: tuple[float, float] | str, other: tuple[float, float] | str) -> float | None:
    return None if isinstance(own, str) or isinstance(other, str) else other[0] / own[0]


def row(path: Path, patience: float, ratios: dict[str, list[float]]) -> Iterator[str]:
    """The cells of a file."""
    compiled = Compiled.of(str(path))
    yield path.stem
    yield str(len(compiled.players))
    try:
        form = compiled.form
        yield f"{form.num_sequences:,}"
        yield infoset.solve(compiled).method
    except InfosetError as error:
        yield "-"
        yield "forgets" if "recall" in str(error) else type(error).__name__
        return
    for method in ("lcp", "logit"):
        if method == "lcp" and form.num_players != 2:
            yield from ("", "", "")
            continue
        try:
            own: tuple[float, float] | str = ours(compiled, method)
        except InfosetError as error:
            own = str(error)[:60]
        other = apart(theirs, str(path), method, patience=patience) if find_spec("pygambit") else ""
        times = ratio(own, other)
        if times is not None:
            ratios[method].append(times)
        yield from (cell(own), cell(other), "" if times is None else f"{times:.1f}x")


def print_table(rows: Sequence[Sequence[str]]) -> None:
    head = ("game", "players", "sequences", "auto", "lcp", "Gambit", "", "logit", "Gambit", "")
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join("---" for _ in head) + " |")
    for one in rows:
        print("| " + " | ".join([*one, *[""] * (len(head) - len(one))]) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--patience", type=float, default=60.0, help="seconds that Gambit gets (default: %(default)g)")
    args = parser.parse_args()
    for method in ("lcp", "logit"):
        ours(Compiled.of("rock_paper_scissors"), method)  # compiled kernels are loaded
    with tempfile.TemporaryDirectory() as folder:
        files = args.files or [*sorted(FILES.glob("*.efg")), *written(Path(folder))]
        ratios: dict[str, list[float]] = {"lcp": [], "logit": []}
        print_table([list(row(path, args.patience, ratios)) for path in files])
    print()
    for method, found in ratios.items():
        if found:
            print(
                f"{method}: {geometric_mean(found):.1f} times as fast as Gambit on {len(found)} files (geometric mean)"
            )


def written(folder: Path) -> Iterator[Path]:
    """Games of ours as files for Gambit."""
    for name in GAMES:
        path = folder / f"{''.join(c if c.isalnum() else '_' for c in name).strip('_')}.efg"
        yield infoset.convert(name, path)


if __name__ == "__main__":
    main()
