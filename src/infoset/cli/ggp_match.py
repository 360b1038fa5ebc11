"""Run matches between players of the General Game Playing protocol: print scores and faults."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infoset.cli.options import AsJson, absolute
from infoset.cli.output import complain
from infoset.cli.progress import MatchProgress
from infoset.errors import UnsupportedGameError

if TYPE_CHECKING:
    from infoset.match.replay import Match


def run(
    game: Annotated[str, typer.Argument(metavar="FILE", help="A game in GDL or GDL-II, or gdl:NAME.")],
    urls: Annotated[
        list[str], typer.Argument(metavar="URL", help="Players' addresses, one for each role but random, in order.")
    ],
    start_clock: Annotated[float, typer.Option(help="Seconds to prepare before the first move.")] = 10.0,
    play_clock: Annotated[float, typer.Option(help="Seconds for each move.")] = 5.0,
    games: Annotated[int, typer.Option(help="Number of games.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    scramble: Annotated[
        bool, typer.Option("--scramble", help="Replace the words of the rules by random words.")
    ] = False,
    replay: Annotated[Path | None, typer.Option(help="Write a replay of each game to this folder.")] = None,
    json_: AsJson = False,
) -> None:
    from infoset.catalog import load
    from infoset.cli.series import ReplayWriter, report_series
    from infoset.gdl.game import GdlGame
    from infoset.match.series import play_series
    from infoset.remote.ggp_agent import ggp, give_up  # these bring Numba, which --help does not need

    keep = None if replay is None else ReplayWriter(replay)
    game = absolute(game)
    if not isinstance(load(game), GdlGame):
        raise UnsupportedGameError(f"{game} is not described in GDL; name a .gdl or .kif file, or gdl:NAME")
    agents = [ggp(url, start_clock, play_clock, scramble) for url in urls]

    numbers = count(1)

    def tell(match: Match) -> None:
        number = next(numbers)
        for fault in match.faults:
            complain(f"game {number}, step {fault.step}, {match.players[fault.player]}: {fault.kind}: {fault.detail}")
        if keep is not None:
            keep(match)

    try:
        with MatchProgress(games) as progress:
            series = play_series(
                game, agents, games=games, seed=seed, seconds_per_move=play_clock, seconds_to_begin=start_clock,
                progress=progress.advance, keep=tell,
            )  # fmt: skip
    finally:
        for agent in agents:
            give_up(agent)
    report_series(series, keep, json_)
