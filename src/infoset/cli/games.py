"""List the games that are known by name with their parameters, or with NAME print the rules of that game."""

from typing import Annotated

import typer

from infoset.catalog import KAGGLE, OPENSPIEL, list_games
from infoset.cli.options import AsJson, with_run
from infoset.cli.output import print_json, write
from infoset.cli.report import print_entries
from infoset.registry import PYTHON


def run(
    name: Annotated[str | None, typer.Argument(help="Print the rules of this game (a name or a file).")] = None,
    json_: AsJson = False,
) -> None:
    if name is not None:
        from infoset.view.guide import guide, guide_text

        found = guide(with_run(name)[0])
        print_json({**found._asdict(), "parts": dict(found.parts)}) if json_ else write(guide_text(found))
        return
    more = (
        f"Also: a path to an .efg, .nfg, .gbt, .csv, .gdl or .toml file, {OPENSPIEL}NAME(…) for any game of OpenSpiel "
        f"(extra 'interop'), {KAGGLE}open_spiel_NAME(…) for one of kaggle-environments, or your own, "
        f"{PYTHON}FILE.py:Class(…). The rules of one: infoset games NAME."
    )
    print_entries("games", list_games(), more, json_)
