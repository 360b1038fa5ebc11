"""Solve game descriptions with too many histories for a tree, from their text alone.

    python papers/solved_texts.py                   # an hour and a half, 20 GB; rewrites docs/papers/solved-texts.md
    python papers/solved_texts.py --seconds 20      # a test of the script: no game is solved for longer

Runs are stored below ``--runs``, and a second call continues from there.  ``solved.py`` has the measurements and the
pictures; here are the games and the page.
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
    """Solve game descriptions from their text, and write the page about them."""

    runs: Path = ROOT / "runs" / PAGE
    """Folder of the runs."""


def page(found: list[Measured]) -> str:
    """Return the page in Markdown."""
    return f"""# Solved from their text

This page solves games that are described in GDL-II and have too many histories for a tree, from their descriptions
alone. The shortest command: `infoset solve gdl:blind_tic_tac_toe --form factored`.

In hidden-information general game playing a player receives only the rules of a game (Zachary Partridge and Michael
Thielscher, *Hidden information general game playing with deep learning and search*, PRICAI 2022). Some of these games
have [factored forms](solved.md): the description shows which part of a state is private to a player ([Found in a
text](../game-model.md#found-in-a-text)). `papers/solved_texts.py` writes this page with its numbers and picture.
Payoffs are from 0 to 100, and every figure is exact.

```console
$ infoset solve gdl:blind_tic_tac_toe --form factored --target 0.03 --out runs/blind
$ infoset evaluate gdl:blind_tic_tac_toe runs/blind
$ infoset match gdl:blind_tic_tac_toe runs/blind search --games 100
```

## How large they are

{sizes(found)}

In a game description all players move in every step and notice that the step is over. So the [public
component](../glossary.md#public-component-and-private-state-of-a-factored-game) has to count time, as in the *abrupt*
games, and lists are short. In Blind Tic-Tac-Toe two savings remain: its eight symmetries, and lists that count once
what thousands of histories have in common. Chance is part of the private states: if both players mark the same cell,
chance draws the one who fails. The outcome that the first player got the cell is half as likely if the other tried it
at the same time as if the other ran into an existing mark. This is still a product, with weights.

## Results

{results(found, MARKS)}

![exploitability against seconds]({PAGE}/curves.png)

Ten minutes of [sampling](../large-games.md) on two cores reach an exploitability of .64 in Blind Tic-Tac-Toe (.355 on
an idle machine). Sampling needs neither ten minutes of building nor 19 GB of memory, but improves only slowly after
that. In the *biased* game x gets two thirds of the cells that both players mark at once; its value for x is 55.26.

## What does not fit

The descriptions of Latent Tic-Tac-Toe and dark hex have 9,829,101,024 and 9,469,697,760 terminal histories, as many
as the native [phantom tic-tac-toe and dark hex](solved.md), and these are counted in a minute. But in the
descriptions each failed attempt takes a step of its own, which the other player notices. Their lists have 2,457
million entries with eight symmetries at most, and 9,470 million with two; the native games, in which the other player
learns nothing of an attempt, have 9 and 47 million. In Kriegspiel Tic-Tac-Toe the game ends when a player has nothing
left to try, so that all attempts are public information and nothing is private.
"""


def main() -> None:
    args = parse(Texts)
    found = measure(GAMES, args)
    curves(found, args.out / PAGE / "curves.png", most=100.0, least=1e-3)
    (args.out / f"{PAGE}.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
