"""Run the commands of ``gallery.md`` and ``poker.md`` and keep the pictures that they draw in ``docs/gallery/``.

    python docs/gallery.py                        # minutes; what `make gallery` runs
    python docs/gallery.py "Look at a tree"       # these sections alone
    python docs/gallery.py --out /tmp/pictures

A picture ``gallery/leduc-convergence.png`` is the file ``leduc/convergence.png`` or ``leduc-convergence.png`` that the
commands of its section leave behind.  The commands of ``docs/poker.md`` follow one another, as one section.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent


WITH_PEOPLE = ("play", "serve")
"""Verbs that wait for somebody."""


class Section(NamedTuple):
    """A section of the page: what it runs, and the pictures that come of it."""

    title: str
    commands: list[list[str]]
    pictures: list[str]


def sections() -> Iterator[Section]:
    """Those that draw pictures of their own."""
    poker = (DOCS / "poker.md").read_text(encoding="utf-8").removeprefix("# ")
    for part in [*(DOCS / "gallery.md").read_text(encoding="utf-8").split("\n## ")[1:], poker]:
        pictures = re.findall(r"\]\(gallery/([^)]+)\)", part)
        if pictures:
            yield Section(part.partition("\n")[0], list(commands(part)), pictures)


def commands(part: str) -> Iterator[list[str]]:
    """The command lines of a section, or its program."""
    for kind, text in re.findall(r"```(console|python)\n(.*?)```", part, re.DOTALL):
        if kind == "python":
            yield [sys.executable, "-c", text]
        for line in text.replace("\\\n", "").splitlines() if kind == "console" else ():
            if line.startswith("$ infoset ") and line.split()[2] not in WITH_PEOPLE:
                yield [sys.executable, "-m", "infoset", *shlex.split(line)[2:]]


def draw(section: Section, out: Path) -> None:
    """Run a section's commands in a folder of their own and keep its pictures."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("examples", "spots"):
            shutil.copytree(ROOT / name, folder / name)
        for command in section.commands:
            subprocess.run(command, cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"}, check=True)
        made = {path.relative_to(folder).as_posix().replace("/", "-"): path for path in folder.rglob("*.*")}
        out.mkdir(parents=True, exist_ok=True)
        for picture in section.pictures:
            shutil.copyfile(made[picture], out / picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("titles", nargs="*", help="sections to draw; all by default")
    parser.add_argument("--out", type=Path, default=DOCS / "gallery")
    arguments = parser.parse_args()
    for section in sections():
        if not arguments.titles or section.title in arguments.titles:
            draw(section, arguments.out)


if __name__ == "__main__":
    main()
