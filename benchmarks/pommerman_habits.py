"""What Pommerman's agents do badly, counted over kept games of two teams: what one would see who watched them all.

    infoset tournament pommerman:PommeTeamCompetition-v0 champion dypm --games 100 --db games.db
    python benchmarks/pommerman_habits.py games.db

Flames are followed back to the bombs that made them, so that it is known whose fire burnt an agent or an item.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

import infoset
from infoset.arena.store import load_replay
from infoset.base import BoolArray
from infoset.match.replay import Match
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS
from infoset_pommerman.engine import engine
from infoset_pommerman.game import PommermanState
from infoset_pommerman.rules import WAYS

NEAR = 5  # cells, along rows and columns, within which a bomb may be meant for an enemy
STOOD = 5  # steps on a bomb of its own
ITEMS = (st.EXTRA_BOMB, st.INCR_RANGE, st.KICK)
Habits: TypeAlias = Counter[str]  # counts of one team, over its games


class Bomb(NamedTuple):
    """One that lies on the board."""

    cell: int
    owner: int
    life: int
    strength: int
    direction: int


class Watch:
    """One game, step by step; ``habits`` has those of each team, that of agents 0 and 2 first."""

    def __init__(self, states: Sequence[PommermanState]) -> None:
        rules = states[0].game.config
        self.size, self.fuse, self.near = rules.size, rules.fuse, engine(rules).near
        self.rows = [state.row for state in states]
        self.habits = (Habits(), Habits())
        self.burning: dict[int, set[int]] = {}  # by cell, whose bombs made the flames
        self.stood = [0] * MAX_AGENTS
        self.met: Counter[bytes] = Counter()

    def run(self) -> tuple[Habits, Habits]:
        """All steps."""
        self._count_repeats(self.rows[0])
        for before, after in zip(self.rows, self.rows[1:], strict=False):
            self._spread_fire(before, after)
            for k in range(MAX_AGENTS):
                if self._agent(before, k)[st.ALIVE]:
                    self._look_at(k, before, after)
            self._count_repeats(after)
        self._end()
        return self.habits

    def _agent(self, row: st.Row, k: int) -> st.Row:
        begin = st.AGENTS + k * st.AGENT_FIELDS
        return row[begin : begin + st.AGENT_FIELDS]

    def _living(self, row: st.Row, side: int) -> list[int]:
        return [k for k in range(side, MAX_AGENTS, 2) if self._agent(row, k)[st.ALIVE]]

    def _bombs(self, row: st.Row) -> list[Bomb]:
        count = int(row[st.NUM_BOMBS])
        table = row[st.BOMBS : st.BOMBS + count * st.BOMB_FIELDS].reshape(count, st.BOMB_FIELDS)
        return [Bomb(*line) for line in table.tolist()]

    def _reach(self, row: st.Row, cell: int, strength: int) -> Iterator[int]:
        """The cells that burn: up to a wall, and a wall of wood."""
        yield cell
        for way in range(st.UP, st.RIGHT + 1):
            at = cell
            for _ in range(strength - 1):
                target = int(self.near[at * WAYS + way])
                if target == at or row[st.BOARD + target] == st.RIGID:
                    break
                at = target
                yield at
                if row[st.BOARD + at] == st.WOOD:
                    break

    def _spread_fire(self, before: st.Row, after: st.Row) -> None:
        """Whose the flames are, and the items that they take."""
        flames = after[st.BOARD : st.BOARD + self.size**2] == st.FLAMES
        left = Counter([(bomb.owner, bomb.life) for bomb in self._bombs(after)])
        made: dict[int, set[int]] = {}
        for bomb in self._bombs(before):
            if left[bomb.owner, bomb.life - 1] > 0:
                left[bomb.owner, bomb.life - 1] -= 1
                continue
            for cell in self._reach(before, self._place(before, bomb, flames), bomb.strength):
                made.setdefault(cell, set()).add(bomb.owner)
        for cell, owners in made.items():
            if before[st.BOARD + cell] in ITEMS and flames[cell]:
                for side in {owner % 2 for owner in owners}:
                    self.habits[side]["items burnt"] += 1
        kept = {cell: owners for cell, owners in self.burning.items() if flames[cell]}
        self.burning = {cell: kept.get(cell, set()) | made.get(cell, set()) for cell in {*kept, *made}}

    def _place(self, row: st.Row, bomb: Bomb, flames: BoolArray) -> int:
        """Where a bomb went off: it may have rolled on, been stopped or been kicked in that step."""
        ways = [bomb.direction, st.STOP, *range(st.UP, st.RIGHT + 1)]
        cells = [int(self.near[bomb.cell * WAYS + way]) if way else bomb.cell for way in ways]
        return next((at for at in cells if all(flames[c] for c in self._reach(row, at, bomb.strength))), bomb.cell)

    def _look_at(self, k: int, before: st.Row, after: st.Row) -> None:
        """What a living agent did in a step."""
        habits, was, now = self.habits[k % 2], self._agent(before, k), self._agent(after, k)
        cell = int(now[st.CELL])
        if not now[st.ALIVE]:
            self._die(k, habits, cell)
            return
        own = [bomb for bomb in self._bombs(after) if bomb.owner == k and bomb.cell == cell]
        if any(bomb.life == self.fuse for bomb in own):  # it was laid in this step
            habits["bombs"] += 1
            habits["bombs for nothing"] += not self._has_aim(before, k, cell, int(was[st.BLAST]))
            self.stood[k] = 0
        self.stood[k] = self.stood[k] + 1 if own else 0
        habits["stood on its bomb"] += self.stood[k] == STOOD

    def _has_aim(self, row: st.Row, k: int, cell: int, strength: int) -> bool:
        """Whether a bomb burns wood, or an enemy is near."""
        if any(row[st.BOARD + there] == st.WOOD for there in self._reach(row, cell, strength)):
            return True
        return any(self._away(cell, int(self._agent(row, e)[st.CELL])) <= NEAR for e in self._living(row, 1 - k % 2))

    def _away(self, a: int, b: int) -> int:
        return abs(a // self.size - b // self.size) + abs(a % self.size - b % self.size)

    def _die(self, k: int, habits: Habits, cell: int) -> None:
        """Whose fire it was: an enemy's where one had a part in it."""
        owners = self.burning.get(cell, set())
        enemies = any(owner % 2 != k % 2 for owner in owners)
        whose = "enemy's" if enemies else "own" if k in owners else "mate's" if owners else "nobody's"
        habits["deaths"] += 1
        habits[f"in {whose} fire"] += 1

    def _count_repeats(self, row: st.Row) -> None:
        """Whether everything lay so before: board, agents, and bombs with their lives."""
        end = st.BOMBS + int(row[st.NUM_BOMBS]) * st.BOMB_FIELDS
        key = row[st.NUM_BOMBS : st.NUM_BOMBS + 1].tobytes() + row[st.AGENTS : st.MESSAGES].tobytes()
        self.met[key + row[st.BOMBS : end].tobytes() + row[st.BOARD :].tobytes()] += 1
        for side in range(2):
            self.habits[side]["all steps"] += 1

    def _end(self) -> None:
        alive = [len(self._living(self.rows[-1], side)) for side in range(2)]
        again = sum(count - 1 for count in self.met.values())
        for side in range(2):
            self.habits[side]["repeated steps"] += again
            if any([len(self._living(row, s)) for s in (side, 1 - side)] == [2, 1] for row in self.rows):
                self.habits[side]["two against one"] += 1
                self.habits[side]["of these won"] += alive[1 - side] == 0 and alive[side] > 0


def games(file: Path) -> Iterator[Match]:
    """All that are over."""
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as base:
        numbers = [number for (number,) in base.execute("SELECT number FROM games WHERE replay IS NOT NULL")]
    for number in numbers:
        yield load_replay(file, number)


def habits_of(file: Path, most: int) -> dict[str, Habits]:
    """By team, with the number of its games."""
    found: dict[str, Habits] = {}
    for number, match in enumerate(games(file)):
        if number == most:
            break
        if infoset.load(match.game).teams != ((0, 2), (1, 3)):  # type: ignore[union-attr]
            raise SystemExit(f"{file}: {match.game} is no game of two teams of two")
        states = [state for state in infoset.replay_states(match) if isinstance(state, PommermanState)]
        for side, habits in enumerate(Watch(states).run()):
            habits["games"] += 1
            habits["ties"] += len(set(match.returns)) == 1
            members = match.agents[side::2]
            found.setdefault(members[0] if len(set(members)) == 1 else "+".join(members), Habits()).update(habits)
    return found


COLUMNS = {
    "bombs": "games", "bombs for nothing": "bombs", "stood on its bomb": "bombs", "items burnt": "games",
    "deaths": "games", "in own fire": "deaths", "in mate's fire": "deaths", "in enemy's fire": "deaths",
    "repeated steps": "all steps", "of these won": "two against one",
}  # fmt: skip
"""What is counted, and of what; by the game as it is, else in per cent."""


def table(found: dict[str, Habits]) -> str:
    """In Markdown."""
    lines = ["| team | games | ties, % | " + " | ".join(
        f"{name}, a game" if per == "games" else f"{name}, % of {per}" for name, per in COLUMNS.items()
    ) + " |", "|---" * (3 + len(COLUMNS)) + "|"]  # fmt: skip
    for team, habits in found.items():
        cells = [team, f"{habits['games']:,}", f"{100 * habits['ties'] / habits['games']:.1f}"]
        for name, per in COLUMNS.items():
            share = habits[name] / habits[per] if habits[per] else np.nan
            cells.append(f"{share:.2f}" if per == "games" else f"{100 * share:.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, help="what 'infoset tournament --db' has kept")
    parser.add_argument("--games", type=int, default=1000, help="of each file, at most")
    args = parser.parse_args(argv)
    for file in args.files:
        if not file.is_file():
            raise SystemExit(f"{file}: there is no such file")
        print(table(habits_of(file, args.games)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
