"""Check a game description: report every defect with its place; exit with status 1 on an error.

A game of your own, python:FILE.py:Class, is checked against the game model by random games (--simulate, 100).

With WHAT, which solution concepts a strategy of all players satisfies: Nash, subgame-perfect, undominated,
sequential, quasi-perfect, and where it fails.
"""

import warnings
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from infoset.catalog import GAMES, LIBRARIES, load
from infoset.cli.options import WHAT_HELP, AsJson, MaxHistories, absolute, refuse, refuse_others, with_run
from infoset.cli.output import print_json, write
from infoset.clock import Clock
from infoset.errors import ParameterError, shorten
from infoset.gdl.checks import ERROR
from infoset.gdl.checks import check as find_defects
from infoset.gdl.library import read_description
from infoset.gdl.syntax import Description
from infoset.registry import PYTHON, python_hint
from infoset.testing import check_game

if TYPE_CHECKING:
    from infoset.gdl.tally import Playouts

MAX_STEPS = 10_000
SIMULATION = 60.0  # seconds
CHECKED_PLAYS = 100


def run(
    context: typer.Context,
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME", help="A game description in GDL or GDL-II, KIF or infix, or gdl:NAME; with WHAT, any game."
        ),
    ],
    what: Annotated[str | None, typer.Argument(metavar="[WHAT]", help=f"A strategy to check. {WHAT_HELP}")] = None,
    simulate: Annotated[
        int, typer.Option(min=0, max=10**12, help="Also play this many random games and report statistics.")
    ] = 0,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the random games (default: 0).")] = None,
    max_steps: Annotated[
        int | None, typer.Option(min=1, max=10**12, help="Abandon random games after this many steps (10,000).")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="Stop the random games after this many seconds (default: 60)."),
    ] = None,
    max_histories: MaxHistories = None,
    json_: AsJson = False,
) -> None:
    if what is None:
        game, named = with_run(game)
        what = next(iter(named), None)
    if what is not None:
        others = "a strategy is checked exactly, not by random games"
        refuse_others(context, {"game", "what", "max_histories", "json_"}, others)
        from infoset.evaluation import check_profile  # brings Numba, as do the imports of _simulate

        found = check_profile(game, what, max_histories)
        if json_:
            print_json({"game": found.game, "what": what, "findings": [asdict(one) for one in found.findings]})
        else:
            write(found)
        return
    known = not Path(game).exists() and game.partition("(")[0] in GAMES
    if hint := python_hint(Path(game), "names"):
        raise ParameterError(f"{shorten(game)!r} is {hint}")
    if game.startswith((PYTHON, *LIBRARIES)):
        others = "a game's contract is checked by random games"
        refuse_others(context, {"game", "simulate", "seed", "max_steps", "json_"}, others)
        _check_game(absolute(game), simulate, seed, max_steps, json_)
        return
    if known or Path(game).suffix.lower() in {".efg", ".nfg", ".gbt", ".csv", ".toml"}:
        raise ParameterError(
            f"{game} is not a description of rules in GDL; to check a strategy, name it too: {game} WHAT"
        )
    refuse(context, {"max_histories"}, "rules are checked without listing histories")
    _check_rules(game, simulate, seed, max_steps, seconds, json_)


def _check_game(game: str, simulate: int, seed: int | None, max_steps: int | None, json_: bool) -> None:
    """Check by random games that a game written in Python fulfils the game model."""
    rules = load(game)
    most = {} if max_steps is None else {"max_steps": max_steps}
    found = check_game(rules, plays=simulate or CHECKED_PLAYS, seed=seed or 0, **most)
    if json_:
        print_json(asdict(found) | {"game": game})
    else:
        write(
            f"{game}: conforms to the game model in {found.plays:,} random games of {found.mean_length:.4g} steps on"
            f" average, with {found.information_states:,} information states"
        )


def _check_rules(
    file: str, simulate: int, seed: int | None, max_steps: int | None, seconds: float | None, json_: bool
) -> None:
    if not simulate and (seed, max_steps, seconds) != (None, None, None):
        raise ParameterError("--seed, --max-steps and --seconds are of random games; they go with --simulate")
    description = read_description(file)
    defects = find_defects(description)
    errors = sum(defect.severity == ERROR for defect in defects)
    body = {"file": file, "errors": errors, "defects": [asdict(defect) for defect in defects]}
    lines = [*map(str, defects), f"{file}: {errors} errors, {len(defects) - errors} warnings"]
    if simulate and not errors:
        limit = SIMULATION if seconds is None else seconds
        played, found, not_ground = _simulate(description, simulate, seed or 0, max_steps or MAX_STEPS, limit)
        body |= {"playouts": asdict(played), "findings": found, "not_ground": not_ground}
        lines += [
            f"{played.finished:,} random plays: {played.length} steps, from {played.shortest} to {played.longest}",
            *(f"{role:<16} mean goal {mean}" for role, mean in played.returns.items()),
            *(f"{file}: {finding}" for finding in found),
        ]
    try:
        print_json(body) if json_ else write("\n".join(lines))
    finally:  # also where the reader of the output left early
        if errors:
            raise typer.Exit(1)


def _simulate(
    description: Description, plays: int, seed: int, max_steps: int, seconds: float
) -> tuple["Playouts", list[str], str]:
    """Return the playouts, their findings, and the reason why the rules were not ground, "" where they were."""
    from infoset.gdl.game import GdlGame
    from infoset.gdl.playouts import findings, random_playouts
    from infoset.gdl.rules import EvaluatorWarning, GdlWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GdlWarning)  # reported among the defects already
        warnings.simplefilter("always", EvaluatorWarning)  # not among the defects
        game = GdlGame(description)
    until = monotonic() + seconds
    played = random_playouts(game, plays, seed, max_steps, Clock(until))
    found = findings(game, played)
    if played.stopped and monotonic() >= until:
        found[0] = f"{played.plays:,} of {plays:,} random plays in {seconds:g} s (--seconds): {played.stopped}"
    return played, found, game.not_ground
