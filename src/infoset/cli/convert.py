"""Convert a game to .efg or .nfg, a policy between .npz and .json, a Pommerman replay to game_state.json and back.

A policy converted to .py is a submission to Kaggle: one file that kaggle-environments plays without infoset.

The keys of a .json file say what it holds: "state" or "blob" a game_state.json of the reference, "steps" a replay,
anything else a policy. A hand of poker (.phh) becomes a spot of hold'em (.toml).
"""

from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.options import MaxHistories
from infoset.cli.output import note


def run(
    source: Annotated[
        str,
        typer.Argument(
            metavar="A", help="A game, a saved policy (.npz, .json), a replay, a game_state.json or a hand (.phh)."
        ),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="B", help="The file to write: .efg, .nfg, .npz, .json, .py or .toml.")
    ],
    max_histories: MaxHistories = None,
    normalise: Annotated[
        bool,
        typer.Option(
            "--normalise",
            help="Round probabilities of an .efg file that sum to about 1 to the fractions meant.",
        ),
    ] = False,
    street: Annotated[
        str | None,
        typer.Option(help="The street with which the spot of a hand begins: flop (default), turn or river."),
    ] = None,
) -> None:
    from infoset.formats.conversion import convert  # brings Numba, which --help does not need

    convert(source, target, max_histories=max_histories, normalise=normalise, street=street)
    note(f"{source} -> {target}")
