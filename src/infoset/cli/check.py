"""Check a game: report everything that is wrong with it, with its place; exit with status 1 on an error.

A description in GDL is checked by its rules and by random games, an .efg or .nfg file as it is read, a game of your
own, python:FILE.py:Class, against the game model by random games (--simulate, 100). What is sound is counted, and with
--same-as compared with another game, up to names and the order of moves; the first history that differs is named.

With WHAT, which solution concepts a strategy of all players satisfies: Nash, subgame-perfect, undominated,
sequential, quasi-perfect, and where it fails.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.options import WHAT_HELP, AsJson, MaxHistories, absolute, refuse_others, with_run
from infoset.cli.output import print_json, write
from infoset.errors import ParameterError, shorten
from infoset.registry import PYTHON, python_hint

PLAYS, SECONDS, MAX_STEPS = 100, 60.0, 10_000


def run(
    context: typer.Context,
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME", help="A description in GDL (KIF or infix), an .efg or .nfg file, a name, or your own game."
        ),
    ],
    what: Annotated[str | None, typer.Argument(metavar="[WHAT]", help=f"A strategy to check. {WHAT_HELP}")] = None,
    same_as: Annotated[
        str | None, typer.Option(metavar="GAME", help="Compare with this game; exit with status 1 if it differs.")
    ] = None,
    simulate: Annotated[
        int, typer.Option(min=0, max=10**12, help="Play this many random games (100) and report statistics.")
    ] = 0,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the random games (default: 0).")] = None,
    max_steps: Annotated[
        int | None, typer.Option(min=1, max=10**12, help="Abandon random games after this many steps (10,000).")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="Stop the random games, and counting, after this many seconds (default: 60)."),
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
        from infoset.evaluation import check_profile  # brings Numba, as does ``checking``

        findings = check_profile(game, what, max_histories)
        if json_:
            print_json({"game": findings.game, "what": what, "findings": [asdict(one) for one in findings.findings]})
        else:
            write(findings)
        return
    if hint := python_hint(Path(game), "names"):
        raise ParameterError(f"{shorten(game)!r} is {hint}")
    from infoset.checking import check

    found = check(
        absolute(game) if game.startswith(PYTHON) else game,
        same_as=same_as,
        plays=simulate or PLAYS,
        seed=seed or 0,
        max_steps=max_steps or MAX_STEPS,
        seconds=SECONDS if seconds is None else seconds,
        max_histories=max_histories,
    )
    lines = [str(found)]
    if simulate and (played := found.played) is not None:
        lines.append(
            f"{played.finished:,} random plays: {played.length} steps, from {played.shortest} to {played.longest}"
        )
        lines += [f"{role:<16} mean goal {mean}" for role, mean in played.returns.items()]
    try:
        print_json(found.body()) if json_ else write("\n".join(lines))
    finally:  # also where the reader of the output left early
        if not found.valid or (found.comparison is not None and not found.comparison.same):
            raise typer.Exit(1)
