"""The verbs ``ggp-player`` and ``ggp-match``: a player of the GGP protocol, and a manager of its matches."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from infoset.catalog import load
from infoset.cli.output import complain
from infoset.cli.progress import MatchProgress
from infoset.errors import UnsupportedGameError

if TYPE_CHECKING:
    from infoset.match.replay import Match
    from infoset.match.series import Series


def play(agent: str, host: str, port: int, seed: int) -> None:
    """Serve ``agent`` as a player of the protocol until Ctrl-C."""
    from infoset.remote.ggp_server import serve

    with suppress(KeyboardInterrupt):
        serve(agent, host, port, seed, _say)


def manage(
    game: str,
    urls: list[str],
    *,
    games: int,
    seed: int,
    start_clock: float,
    play_clock: float,
    scramble: bool,
    keep: Callable[[Match], object] | None,
) -> Series:
    """Play a series between the players at ``urls``; matches still open at the end are aborted."""
    from infoset.gdl.game import GdlGame
    from infoset.match.series import play_series
    from infoset.remote.ggp_agent import ggp, give_up

    if not isinstance(load(game), GdlGame):
        raise UnsupportedGameError(f"{game} is not described in GDL; name a .gdl or .kif file, or gdl:NAME")
    agents = [ggp(url, start_clock, play_clock, scramble) for url in urls]

    numbers = count(1)

    def note(match: Match) -> None:
        number = next(numbers)
        for fault in match.faults:
            _say(f"game {number}, step {fault.step}, {match.players[fault.player]}: {fault.kind}: {fault.detail}")
        if keep is not None:
            keep(match)

    try:
        with MatchProgress(games) as progress:
            return play_series(
                game, agents, games=games, seed=seed, seconds_per_move=play_clock, seconds_to_begin=start_clock,
                progress=progress.advance, keep=note,
            )  # fmt: skip
    finally:
        for agent in agents:
            give_up(agent)


def _say(line: str) -> None:
    complain(line)
