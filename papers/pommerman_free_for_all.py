"""Repeat Pommerman's first competition, the free-for-all of June 3rd 2018 (Resnick et al. 2018), with our agents.

    python papers/pommerman_free_for_all.py       # about half an hour; rewrites docs/papers/pommerman-free-for-all.md

Games are stored, and an interrupted run is continued.  The same by hand:
``infoset compete papers/pommerman_free_for_all.toml``.
"""

from __future__ import annotations

from math import comb
from pathlib import Path

from competition import Page, faults, hold, table

from infoset.arena.standings import Standings
from infoset.view.tournament_svg import tournament_svg
from infoset.view.tournament_text import cross_table, ranking

PAGE = "pommerman-free-for-all"
FILE = Path(__file__).with_suffix(".toml")
SEATS = 4
PUBLISHED = {"fsm-search": 22, "edited-simple": 8}
"""Games won, of 35; of the other six entrants nothing was published."""


def wins_table(standings: Standings) -> str:
    counts = standings.won
    skills = {s.agent: f"{s.skill:.1f} ({s.low:.1f} to {s.high:.1f})" for s in standings.skills}
    lines = ["|  | won here | skill | won in 2018 |", "|---|---:|---:|---:|"]
    rows = [f"| `{t}` | {counts[t]} | {skills[t]} | {PUBLISHED.get(t, '')} |" for t in ranking(standings)]
    return "\n".join(lines + rows)


def page(standings: Standings) -> str:
    names = tuple(ranking(standings))
    cells = {pair: "/".join(map(str, cell)) for pair, cell in cross_table(standings).items()}
    games = comb(len(names) - 1, SEATS - 1)
    ties = standings.games - sum(standings.won.values())
    return f"""# The free-for-all of June 2018, repeated

This page repeats Pommerman's first competition, the free-for-all of June 3rd 2018, with agents of this library. The
shortest command plays it:

```console
$ infoset compete papers/pommerman_free_for_all.toml
```

Eight entrants played on boards in full view, with 100 ms for a move. The paper (Resnick, Eldridge, Ha, Britz,
Foerster, Togelius, Cho and Bruna 2018) reports that the first two won 22 and 8 of their 35 games, and that a number
of the others were tied. Each of eight entrants sits at 35 of the possible tables of four.

- The first, of a team led by Gong, was a finite state machine with tree search (Zhou et al. 2018): here `fsm-search`.
- The second, Görög's, was the stock agent improved by a number of edits: here `edited-simple`.

Both are reimplemented from their published descriptions
([Pommerman](../pommerman.md#agents-of-the-first-competition)). The other six entrants are not known; other agents of
this library take their places. `papers/pommerman_free_for_all.py` plays the competition and writes this page. The
file that defines it:

```toml
{FILE.read_text(encoding="utf-8").strip()}
```

![The cross table]({PAGE}/table.svg)

{standings.games} games, {ties} of them tied. Games won, of {games} each, and
[skills by OpenSkill](../tournaments.md#ratings) with their 95 % intervals:

{wins_table(standings)}

Wins/losses/ties of the row against the column; the winner of a game beats all three others:

{table(names, cells)}

Faults and slow moves: {faults(standings)}.

The entrants differ from those of 2018, so that counts can be compared only roughly. Agents that search meet others
that search, and if two agents survive until step 800, the game is by the rules a tie for the whole table, dead agents
included. [Pommerman](../pommerman.md#agents-of-the-first-competition) has the results of both agents against the
stock agent alone. Moves are limited by the clock, so that another run, or another machine, has other results.
"""


if __name__ == "__main__":
    hold(Page(FILE, PAGE, "table.svg", tournament_svg, page))
