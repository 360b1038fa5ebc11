"""Play a game yourself in the terminal; the hidden information is shown after the game."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from infoset.cli.options import absolute, with_options, with_run
from infoset.cli.play_options import PlayOptions


@with_options(PlayOptions)
def run(**given: Any) -> None:
    from infoset.catalog import load
    from infoset.cli.sitting import play  # these bring Numba, which --help does not need

    options = PlayOptions(**given)
    if options.game is not None:
        game, named = with_run(options.game)
        others = named * (len(load(game).players) - 1 if named else 0)
        options = replace(options, game=absolute(game), agents=options.agents or others)
    play(options)
