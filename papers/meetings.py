"""The scripts in which teams of Pommerman meet: their games, their scores, and rows of tables.

The scores of a page are stored in ``scores.csv`` beside its pictures.  A pair with enough games there is not played
again, so that a page, or one agent's rows of it, can be rewritten without days of games.  After a change to an agent
its lines there, and its databases below ``--db``, must be deleted.
"""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest

from infoset.arena.tournament import tournament
from infoset.files import make_folder, replace_file
from infoset.statistics import Mean

ROOT = Path(__file__).resolve().parents[1]
GAME = "pommerman:PommeTeamCompetition-v0"


class Score(NamedTuple):
    """The games of one team against another, in the order in which pictures stack them."""

    wins: int
    ties: int
    losses: int

    @property
    def games(self) -> int:
        return sum(self)

    @property
    def payoff(self) -> Mean:
        """The mean payoff, where a win pays 1 and a loss -1."""
        return Mean.of(self.games, self.wins - self.losses, self.wins + self.losses)

    def drawn_anew(self, rng: np.random.Generator) -> Score:
        return Score(*rng.multinomial(self.games, np.array(self) / self.games).tolist())

    def plus(self, other: Score) -> Score:
        return Score(self.wins + other.wins, self.ties + other.ties, self.losses + other.losses)

    def turned(self) -> Score:
        return Score(self.losses, self.ties, self.wins)

    def both_sides(self) -> Score:
        """Return the score of a team against itself as the paper counts it: every game once for either side."""
        decided = self.wins + self.losses
        return Score(decided, 2 * self.ties, decided)


class Meeting(NamedTuple):
    """Two teams and the conditions of their games; ``seconds`` for each move, ``None`` without a limit."""

    game: str
    team: str
    against: str
    seed: int
    seconds: float | None = None

    @property
    def teams(self) -> tuple[str, ...]:
        return (self.team,) if self.team == self.against else (self.team, self.against)


def read_scores(file: Path) -> dict[Meeting, Score]:
    """Read the stored scores of a page; empty where there are none."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        return {
            Meeting(x["game"], x["team"], x["against"], int(x["seed"]), float(x["seconds"]) if x["seconds"] else None):
            Score(int(x["wins"]), int(x["ties"]), int(x["losses"])) for x in csv.DictReader(lines)
        }  # fmt: skip


def keep_score(file: Path, meeting: Meeting, score: Score) -> None:
    """Store a score, in order of names, so that changes are easy to review."""
    scores = {**read_scores(file), meeting: score}
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow((*Meeting._fields, *Score._fields))
    writer.writerows(sorted([(*pair, *counts) for pair, counts in scores.items()], key=str))
    make_folder(file.parent)
    replace_file(file, lambda whole: whole.write(lines.getvalue().encode()))


def kept(file: Path) -> int:
    """Return the number of stored games, without a last one whose board was played in one seating only."""
    if not file.exists():
        return 0
    with closing(sqlite3.connect(file)) as base:
        return int(base.execute("SELECT count(*) FROM games").fetchone()[0]) // 2 * 2


def meet(a: str, b: str, games: int, args: Any, game: str = GAME, seconds: float | None = None) -> Score:
    """Play both seatings equally often, on the same seeds for all pairs; stored games are counted.

    ``args`` has the places of scores (``scores``) and games (``db``), their ``seed``, and the number of ``workers``.
    """
    meeting = Meeting(game, a, b, args.seed, seconds)
    known = read_scores(args.scores).get(meeting)
    if known is not None and known.games >= games:
        return known
    score = play(meeting, games, args)
    keep_score(args.scores, meeting, score)
    print(f"{a} against {b}: {score.wins}/{score.losses}/{score.ties} (wins/losses/ties)", flush=True)
    return score


def play(meeting: Meeting, games: int, args: Any) -> Score:
    """Play ``games`` games, or count the stored ones if there are more.  Raises ``KeyboardInterrupt``."""
    name = f"{meeting.team}-{meeting.against}" + (f"-{meeting.seconds:g}s" if meeting.seconds else "")
    file = args.db / f"{name}.db"
    make_folder(args.db)
    standings = tournament(
        meeting.game, meeting.teams, games=max(games, kept(file)), seed=meeting.seed, db=file, workers=args.workers,
        self_matches=meeting.team == meeting.against, seconds_per_move=meeting.seconds, isolate=False,
    )  # fmt: skip
    if standings.stopped == "interrupted":
        raise KeyboardInterrupt
    met = standings.table[0]
    return Score(met.wins, met.ties, met.losses)


def interval(count: int, games: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, in per cent."""
    found = binomtest(count, games).proportion_ci(method="wilson")
    return 100 * found.low, 100 * found.high


def share(count: int, games: int) -> str:
    low, high = interval(count, games)
    return f"{100 * count / games:.1f} ({low:.1f} to {high:.1f})"


def shares(score: Score) -> list[str]:
    return [share(count, score.games) for count in score]


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def heading(cells: Sequence[str]) -> list[str]:
    return [row(cells), "|" + "---|" * len(cells)]
