"""What a match costs beside its agents' own time, by where they are: ``python benchmarks/arena.py``.

Random agents, whose own time is next to nothing: here, with a clock (in threads), in processes of their own, and four
behind addresses that are asked at the same time.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from infoset import play_series
from infoset.match.series import Series

GAME = "leduc_poker"
ARCADE = "pommerman:PommeTeamCompetition-v0"


def measured(game: str, agents: list[str], games: int, **clocks: float) -> Series:
    return min(
        (play_series(game, agents, games=games, seed=1, **clocks) for _ in range(3)), key=lambda s: s.seconds / s.actions
    )


@contextmanager
def served(agent: str, game: str) -> Iterator[str]:
    """A server in a process of its own; its address."""
    command = [sys.executable, "-m", "infoset", "serve-agent", agent, "--game", game, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "http://" not in (line := process.stderr.readline()):
            pass
        yield line.split()[line.split().index("on") + 1].rstrip(";")
        process.terminate()


def main() -> None:
    print("| where the agents are | game | a move | moves a second |")
    print("|---|---|---|---|")

    def show(where: str, game: str, series: Series) -> None:
        assert not any(sum(agent.faults.values()) for agent in series.agents), series.agents
        each = series.seconds / series.actions
        print(f"| {where} | {game} | {1e6 * each:,.0f} µs | {1 / each:,.0f} |", flush=True)

    show("here", GAME, measured(GAME, ["random", "random"], 4000))
    show("here, with a clock", GAME, measured(GAME, ["random", "random"], 2000, seconds_per_move=1.0))
    show("in processes of their own", GAME, measured(GAME, ["isolated(agent=random)"] * 2, 500, seconds_per_move=1.0))
    show("here", ARCADE, measured(ARCADE, ["random"] * 4, 60))
    show(
        "in processes of their own", ARCADE, measured(ARCADE, ["isolated(agent=random)"] * 4, 60, seconds_per_move=1.0)
    )
    with ExitStack() as stack:
        addresses = [stack.enter_context(served("random", ARCADE)) for _ in range(4)]
        show("four behind addresses", ARCADE, measured(ARCADE, addresses, 60, seconds_per_move=1.0))


if __name__ == "__main__":
    main()
