"""Solve game descriptions whose histories no tree holds, from their text alone.

    python papers/solved_texts.py                   # an hour and a half, 20 GB; rewrites docs/papers/solved-texts.md
    python papers/solved_texts.py --seconds 20      # a test of the script: no game is solved for longer

Runs are kept below ``--runs``: called again the script goes on from what is there.  What is measured, and how it is
drawn, stands in ``solved.py``; here are the games and the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from options import parse
from solved import ROOT, Args, Entry, Measured, curves, measure, results, sizes

PAGE = "solved-texts"
MARKS = (10.0, 1.0, 0.15, 0.03)
GAMES = (
    Entry("gdl:phantom_connect", "phantom connect three", "pdcfr+", 0.01, "–", "#2f855a", board=False),
    Entry("gdl:blind_tic_tac_toe", "Blind Tic-Tac-Toe", "pdcfr+", 0.03, "–", "#1f5fa8", board=False, any_profile=False),
    Entry("gdl:blind_tic_tac_toe_x_bias", "biased", "pdcfr+", 0.03, "–", "#d98c21", board=False, any_profile=False),
)


@dataclass(frozen=True)
class Texts(Args):
    """Solve game descriptions from their text, and write the page about it."""

    runs: Path = ROOT / "runs" / PAGE
    """Folder of the runs."""


def page(found: list[Measured]) -> str:
    """The page in Markdown."""
    return f"""# Solved from their text

Games of *hidden-information general game playing* come as rules in GDL-II, and a player knows nothing else of them
(Zachary Partridge and Michael Thielscher, *Hidden information general game playing with deep learning and search*,
PRICAI 2022).
Some have [factored forms](solved.md) all the same: the text shows what of a state is a player's own
([Found in a text](../game-model.md#found-in-a-text)). This page is written by `papers/solved_texts.py`,
numbers and picture included;
goals are from 0 to 100, and every figure is exact.

```console
$ infoset solve gdl:blind_tic_tac_toe --form factored --target 0.03 --out runs/blind
$ infoset evaluate gdl:blind_tic_tac_toe runs/blind
$ infoset match gdl:blind_tic_tac_toe runs/blind search --games 100
```

## How large they are

{sizes(found)}

In a game description everybody moves in every step, and notices that it is over. So the core has to keep time, as in
the *abrupt* games, and lists are short: what is left of Blind Tic-Tac-Toe are its eight symmetries, and that a list
counts once what thousands of histories have in common. Chance has a part there: of a cell that both mark the one who
fails is drawn, and *the first got this cell* is half as likely beside one who tried it at the same time as beside one
who ran into a mark. That is a product, too, with weights.

## What comes out

{results(found, MARKS)}

![exploitability against seconds]({PAGE}/curves.png)

Ten minutes of [sampling](../large-games.md) on two cores reach an exploitability of .64 in Blind Tic-Tac-Toe (.355 on
an idle machine). That needs neither ten minutes of building nor 19 GB of memory, but comes no nearer soon.
Where x gets two thirds of the cells that both mark at once (*biased*) it is worth 55.26 to x.

## What does not fit

The same texts of Latent Tic-Tac-Toe and dark hex have 9,829,101,024 and 9,469,697,760 ends, as many as phantom
tic-tac-toe and dark hex of [that page](solved.md), and are counted in a minute; but each failed try takes a step of its
own, which the other notices. Their lists come to 2,457 million entries over eight symmetries at most, and to 9,470
million over two: where the native games, in which a try tells the other nothing, have 9 and 47 million. In Kriegspiel
Tic-Tac-Toe the game is over once somebody has nothing left to try, so that what was tried is everybody's: nothing is a
player's own.
"""


def main() -> None:
    args = parse(Texts)
    found = measure(GAMES, args)
    curves(found, args.out / PAGE / "curves.png", most=100.0, least=1e-3)
    (args.out / f"{PAGE}.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
