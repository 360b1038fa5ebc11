"""The scripts that repeat a competition: its games are stored, and become a page with a picture."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from infoset import compete
from infoset.arena.standings import Standings
from infoset.files import make_folder, replace_file

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Page:
    """A competition: its file, the name of its page, the name and the drawing of its picture, and the page's text."""

    file: Path
    name: str
    picture: str
    draw: Callable[[Standings], str]
    text: Callable[[Standings], str]


def hold(page: Page) -> None:
    """Play the remaining games and write the page."""
    args = parse(page)
    make_folder(args.db.parent)

    def show(now: Standings) -> None:
        print(f"\r{now.games} of some {now.planned} games", end="", file=sys.stderr, flush=True)

    standings = compete(page.file, db=args.db, workers=args.workers, progress=show)
    assert standings.stopped == "games"
    picture = args.out / page.name / page.picture
    make_folder(picture.parent)
    replace_file(picture, lambda file: file.write(page.draw(standings).encode()))
    (args.out / f"{page.name}.md").write_text(page.text(standings), encoding="utf-8")


def parse(page: Page) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"Repeat the competition of {page.file.name}.")
    options = (
        ("--out", ROOT / "docs" / "papers", "folder for the page, with its picture in a folder beside it"),
        ("--db", ROOT / "runs" / f"{page.name}.db", "the games"),
        ("--workers", 1, "tables that play at once; with 0.1 seconds a move, at most one for every four cores"),
    )
    for option, default, text in options:
        parser.add_argument(option, type=type(default), default=default, help=text)
    return parser.parse_args()


def table(names: tuple[str, ...], cells: dict[tuple[str, str], str]) -> str:
    """Return a table of wins/losses/ties of the row against the column."""
    lines = [f"|  | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    rows = [f"| **{row}** | {' | '.join(cells.get((row, column), '-') for column in names)} |" for row in names]
    return "\n".join(lines + rows)


def faults(standings: Standings) -> str:
    """Describe all faults in one line."""
    counts: dict[tuple[str, str], int] = {}
    for fault in standings.faults:
        counts[fault.team, fault.kind] = counts.get((fault.team, fault.kind), 0) + fault.count
    found = [f"`{team}` {kind} {count:,} times" for (team, kind), count in sorted(counts.items())]
    return "; ".join(found) or "none"
