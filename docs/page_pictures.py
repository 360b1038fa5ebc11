"""Photograph the page that ``infoset serve`` serves: the pictures at the beginning of README and gallery, and of poker.

    python docs/page_pictures.py                          # what `make gallery` runs, beside gallery.py: minutes
    python docs/page_pictures.py spot report              # these views alone
    python docs/page_pictures.py --out /tmp/pictures --width 390 --dark
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import infoset

DOCS = Path(__file__).resolve().parent
COLOURS = 128
SPOT = str(DOCS.parent / "spots" / "first_flop.toml")
BLIND, POMMERMAN = "gdl:blind_tic_tac_toe", "pommerman:PommeTeamCompetition-v0"


def fill(folder: Path) -> None:
    """Runs, replays, a tournament and a report to look at, in a folder of the current one."""
    infoset.solve(SPOT, target="0.5%", out=folder / "first")
    infoset.report_flops(SPOT, out=folder / "report")
    for method, iterations in (("dcfr", 3000), ("cfr+", 1000), ("sfrd", 3000)):
        infoset.solve("leduc_poker", method, iterations=iterations, out=folder / f"leduc-{method}")
    perfect = str(folder / "leduc-dcfr")
    infoset.play_match("leduc_poker", [perfect, "random"], seed=8).save(folder / "games" / "leduc.json")
    infoset.play_match(BLIND, ["search", "random"], seed=2).save(folder / "games" / "blind.json")
    infoset.play_match(POMMERMAN, ["simple"] * 4, seed=5).save(folder / "games" / "pommerman.json")
    teams = ["random", "search(method=tree)", perfect, str(folder / "leduc-sfrd")]
    infoset.tournament("leduc_poker", teams, games=100, db=folder / "cup.db")


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, str]]:
    """The server at work: its address and its token."""
    command = [sys.executable, "-m", "infoset", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"(http://127.0.0.1:\d+)/#/\?token=(\S+)", process.stderr.readline())
        assert found is not None
        try:
            yield found[1], found[2]
        finally:
            process.terminate()


def play(page: Any, base: str) -> None:
    """Leduc against the equilibrium, after a move or two."""
    page.goto(f"{base}/#/play?game=leduc_poker&against=equilibrium&seed=12&practice=1")
    page.locator(".moves button").first.wait_for()
    page.keyboard.press("1")
    page.wait_for_timeout(1500)


def watch(page: Any, base: str) -> None:
    """Pommerman in the middle of a game."""
    page.goto(f"{base}/#/watch?item=0/games/pommerman.json")
    page.locator("input[type=range]").first.wait_for()
    for _ in range(60):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(1200)


def explore(page: Any, base: str) -> None:
    """Leduc after a call and a raise."""
    page.goto(f"{base}/#/explore?item=0/leduc-dcfr")
    page.locator("table.ex-matrix tbody tr").first.wait_for()
    page.locator(".ex-way button", has_text="call").first.click()
    page.wait_for_timeout(2500)


def compete(page: Any, base: str) -> None:
    """Standings with intervals and the cross table."""
    page.goto(f"{base}/#/compete?item=0/cup.db")
    page.locator("table").first.wait_for()
    page.wait_for_timeout(800)


def curves(page: Any, base: str) -> None:
    """Three methods on one game."""
    page.goto(f"{base}/#/curves?item=0/leduc-dcfr&item=0/leduc-cfr%2B&item=0/leduc-sfrd")
    page.wait_for_timeout(1500)


def spot(page: Any, base: str) -> None:
    """A flop: both ranges where the button has been bet into."""
    page.goto(f"{base}/#/explore?item=0/first")
    page.locator("table.ex-hands").first.wait_for()
    page.wait_for_timeout(2500)


def report(page: Any, base: str) -> None:
    """The table of a report over flops, sorted by how often P1 bets."""
    page.goto((Path("runs") / "report" / "report.html").resolve().as_uri())
    page.get_by_role("button", name="P1 bet 66", exact=True).click()


VIEWS = {view.__name__: view for view in (play, watch, explore, compete, curves, spot, report)}


def photograph(views: list[str], out: Path, width: int, dark: bool) -> None:
    """Views as PNG with few colours, so that the files stay small."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as name, sync_playwright() as tool:
        folder = Path("runs")
        with chdir(name):
            fill(folder)
        with chdir(name), serving(folder) as (base, record):
            browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            viewport: Any = {"width": width, "height": 820 if width > 800 else 844}
            page = browser.new_page(viewport=viewport, color_scheme="dark" if dark else "light")
            page.goto(f"{base}/#/?token={record}")
            page.locator("main h1").first.wait_for()
            for view in views:
                VIEWS[view](page, base)
                picture = Image.open(BytesIO(page.screenshot()))
                picture.convert("RGB").quantize(COLOURS).save(out / f"{view}.png", optimize=True)
            browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("views", nargs="*", choices=[*VIEWS, []], help="all by default")
    parser.add_argument("--out", type=Path, default=DOCS / "page")
    parser.add_argument("--width", type=int, default=1200)
    parser.add_argument("--dark", action="store_true")
    asked = parser.parse_args()
    photograph(asked.views or list(VIEWS), asked.out.resolve(), asked.width, asked.dark)
