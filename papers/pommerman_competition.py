"""Repeat Pommerman's competition at NeurIPS 2018 by its rules (Osogami & Takahashi 2019, 4.1) with our agents.

    python papers/pommerman_competition.py        # some twenty minutes; rewrites docs/papers/pommerman-competition.md

Games are stored, and an interrupted run is continued.  The same by hand:
``infoset compete papers/pommerman_competition.toml``.
"""

from __future__ import annotations

from pathlib import Path

from competition import Page, faults, hold, table

from infoset.arena.standings import Standings
from infoset.view.bracket_svg import bracket_svg
from infoset.view.tournament_text import cross_table, meeting_lines, ranking

PAGE = "pommerman-competition"
FILE = Path(__file__).with_suffix(".toml")
TABLE_1 = {
    ("hakozaki", "eisenach"): "4/2/1", ("hakozaki", "navocado"): "2/0/2", ("hakozaki", "skynet"): "2/0/0",
    ("eisenach", "hakozaki"): "2/4/1", ("eisenach", "dypm"): "4/1/0", ("dypm", "eisenach"): "1/4/0",
    ("dypm", "navocado"): "2/1/0", ("navocado", "hakozaki"): "0/2/2", ("navocado", "dypm"): "1/2/0",
    ("navocado", "skynet"): "2/1/5", ("skynet", "hakozaki"): "0/2/0", ("skynet", "navocado"): "1/2/5",
}  # fmt: skip
"""The published results."""
THEIRS = ("hakozaki", "eisenach", "dypm", "navocado", "skynet")


def page(standings: Standings) -> str:
    names = tuple(ranking(standings))
    ours = {pair: "/".join(map(str, cell)) for pair, cell in cross_table(standings).items()}
    meetings = "\n".join(f"- {line}" for line in meeting_lines(standings))
    return f"""# The NeurIPS 2018 competition, repeated

This page repeats Pommerman's competition at NeurIPS 2018, by its rules, with agents of this library. The shortest
command plays it:

```console
$ infoset compete papers/pommerman_competition.toml
```

The format is a double elimination: the team that first wins two games wins a meeting. A tied game is replayed once;
after a second tie games are played with collapsing walls. An agent has 100 ms for a move; if it takes longer, it
stays where it is (Osogami & Takahashi 2019, section 4.1; Resnick et al. 2018). `papers/pommerman_competition.py`
plays the competition and writes this page. The file that defines it:

```toml
{FILE.read_text(encoding="utf-8").strip()}
```

![The bracket]({PAGE}/bracket.svg)

{standings.games} games. Final order: {", ".join(f"`{name}`" for name in names)}.

{meetings}

Wins/losses/ties of the row against the column, in the layout of the paper's Table 1:

{table(names, ours)}

The published results (`navocado` and `skynet` are learnt policies in Docker images, which were not run; `champion`
and `simple` take their places here):

{table(THEIRS, TABLE_1)}

Faults and slow moves: {faults(standings)}.

So few games say little about which team is stronger, in 2018 as here; [longer series](pommerman-learnt-teams.md) do.
Moves are limited by the clock, so that another run, or another machine, has other results.
"""


if __name__ == "__main__":
    hold(Page(FILE, PAGE, "bracket.svg", bracket_svg, page))
