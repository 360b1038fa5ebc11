"""Hold Pommerman's competition at NeurIPS 2018 again, by its rules (Osogami & Takahashi 2019, 4.1) with our agents.

    python papers/pommerman_competition.py        # some twenty minutes; rewrites docs/papers/pommerman-competition.md

Games are kept: a run that was ended goes on.  The same by hand: ``infoset compete papers/pommerman_competition.toml``.
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
"""What was published."""
THEIRS = ("hakozaki", "eisenach", "dypm", "navocado", "skynet")


def page(standings: Standings) -> str:
    names = tuple(ranking(standings))
    ours = {pair: "/".join(map(str, cell)) for pair, cell in cross_table(standings).items()}
    meetings = "\n".join(f"- {line}" for line in meeting_lines(standings))
    return f"""# The competition again

Pommerman's competition at NeurIPS 2018 was a double elimination: a meeting goes to the team that wins two games before
the other, a tie is replayed once, and after a second one the walls collapse; an agent has 100 ms for a move and stays
where it is when it takes longer (Osogami & Takahashi 2019, section 4.1; Resnick et al. 2018). Here our agents meet so.
This page is written by `papers/pommerman_competition.py`; the competition is one file, played by

```console
$ infoset compete papers/pommerman_competition.toml
```

```toml
{FILE.read_text(encoding="utf-8").strip()}
```

![The bracket]({PAGE}/bracket.svg)

{standings.games} games. First: {", ".join(f"`{name}`" for name in names)}.

{meetings}

Wins/losses/ties of the row against the column, in the layout of the paper's Table 1:

{table(names, ours)}

What was published (`navocado` and `skynet` are learnt policies in images, which were not run; `champion` and `simple`
take their places here):

{table(THEIRS, TABLE_1)}

Faults and slow moves: {faults(standings)}.

So few games say little of who is stronger, there as here; [more between each two](pommerman-learnt-teams.md) do. Moves
are cut by the clock, so that another run, on another machine, ends otherwise.
"""


if __name__ == "__main__":
    hold(Page(FILE, PAGE, "bracket.svg", bracket_svg, page))
