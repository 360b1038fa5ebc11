"""Show a game's tree or a strategy as text, a small game as a picture, or the hands of a hold'em decision."""

from collections.abc import Callable
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Protocol, cast

import typer

from infoset import status
from infoset.cli.options import WHAT_HELP, AsJson, GameOrRun, MaxHistories, refuse, refuse_others, with_run
from infoset.cli.output import print_json, write, write_colored
from infoset.errors import ClockError, ParameterError
from infoset.files import check_file
from infoset.solvers.job import Background

if TYPE_CHECKING:
    from infoset.conventions import Conventions

INSTEAD = {
    "pure": "--pure lists the pure equilibria of a game; use it alone or with --equilibria",
    "equilibria": "--equilibria lists the equilibria of a game; use it alone",
    "stability": "--stability is of a strategy alone",
    "dominated": "--dominated lists dominated strategies; use it alone",
    "conventions": "--conventions shows what the actions of a strategy tell the other players",
    "correlated": "--correlated shows a correlated equilibrium; use it alone",
}
"""The parameters of ``show`` that replace its output, with the reason why other options are refused."""


def run(
    context: typer.Context,
    game: GameOrRun,
    what: Annotated[str | None, typer.Argument(metavar="[WHAT]", help=f"A strategy to show. {WHAT_HELP}")] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Draw a small game's tree or a hold'em strategy's hands to this SVG file.")
    ] = None,
    pdf: Annotated[Path | None, typer.Option(help="Draw the same to this PDF file (extra 'plot').")] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Show a node of a hold'em strategy: start, 'check, bet 75, call, Qc'."),
    ] = None,
    hands: Annotated[
        str | None,
        typer.Option(metavar="FILTER", help="Show some hands of a node: 'top pair | set, suit:h', 'bet 50 > 20%'."),
    ] = None,
    player: Annotated[
        str | None, typer.Option(help="Show this player's hands at a node, by name or number (default: who acts).")
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(help="Fill the matrix of hands with: strategy (default), ev, equity or realised."),
    ] = None,
    export: Annotated[Path | None, typer.Option(help="Write the hands of a node to this .csv or .json file.")] = None,
    street: Annotated[
        bool, typer.Option("--street", help="Export all decisions from the node on until the next card.")
    ] = False,
    propnet: Annotated[
        Path | None,
        typer.Option(
            help="Write a GDL game's propositional network to this file: .dot, or by Graphviz .svg, .png or .pdf."
        ),
    ] = None,
    equilibria: Annotated[
        bool,
        typer.Option(
            "--equilibria",
            help="List the equilibria of a small game: extreme ones for two players, else isolated ones.",
        ),
    ] = False,
    pure: Annotated[
        bool, typer.Option("--pure", help="List all pure equilibria of a small game with any number of players.")
    ] = False,
    stability: Annotated[
        bool,
        typer.Option(
            "--stability", help="Report whether a strategy of all players is stable under replicator dynamics."
        ),
    ] = False,
    dominated: Annotated[
        bool, typer.Option("--dominated", help="List strictly dominated strategies of a small game, round by round.")
    ] = False,
    conventions: Annotated[
        bool,
        typer.Option(
            "--conventions", help="Say what the actions of a strategy tell the players who see them, and how many bits."
        ),
    ] = False,
    correlated: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Show the correlated equilibrium with the highest total payoff: ce, efce, efcce or cce.",
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="Seconds for such a computation (default: no limit).")
    ] = None,
    max_histories: MaxHistories = None,
    json_: AsJson = False,
) -> None:
    from infoset.view.propnet_dot import show_propnet  # these bring Numba, which --help does not need
    from infoset.view.showing import HandOptions, show_first

    if svg is not None:
        check_file(svg)
    if what is None:
        game, named = with_run(game)
        what = next(iter(named), None)
    for name, why in INSTEAD.items():
        if context.params[name]:
            beside = {"stability": {"what"}, "conventions": {"what", "svg"}, "pure": {"equilibria"}}.get(name, set())
            refuse_others(context, {"game", "max_histories", "seconds", "json_", name, *beside}, why)
            found = _in_time(f"--{name}", lambda: _instead(name, game, what, correlated, max_histories), seconds)  # noqa: B023
            print_json({"game": game, **found.body()}) if json_ else write(found)
            if svg is not None:
                from infoset.view.conventions_svg import save_conventions

                save_conventions(cast("Conventions", found), svg)
            return
    refuse(context, {"json_", "seconds"}, f"it goes with one of {', '.join(f'--{name}' for name in INSTEAD)}")
    if propnet is None:
        options = HandOptions(at, hands, player, measure, export, street)
        if options != HandOptions():
            refuse(context, {"pdf"}, "hands are drawn to --svg")
        shown = show_first(game, what, svg=svg, pdf=pdf, hands=options, max_histories=max_histories)
        write_colored(shown.text)
        shown.draw()
        return
    check_file(propnet)
    refuse_others(context, {"game", "propnet"}, "--propnet draws the rules of a game; it goes alone")
    write(show_propnet(game, propnet))


class _Shown(Protocol):
    """A result that can be shown as text and as JSON."""

    def body(self) -> dict[str, Any]: ...


def _in_time(what: str, find: Callable[[], _Shown], seconds: float | None) -> _Shown:
    """Run ``find`` for at most ``seconds``; Ctrl-C abandons it.  Raises ``ClockError`` with the last stage of work."""
    stages: list[str] = []
    listener = lambda work: None if work is None else stages.append(work)  # noqa: E731
    status.listeners.append(listener)
    try:
        finding = Background(find)
        if finding.wait(inf if seconds is None else monotonic() + seconds):
            return finding.result
    finally:
        status.listeners.remove(listener)
    where = f"; the last of it: {stages[-1]}" if stages else ""
    raise ClockError(f"{what} is not finished after --seconds {seconds:g}{where}")


def _instead(name: str, game: str, what: str | None, correlated: str | None, max_histories: int | None) -> _Shown:
    """Return the result to print for the option ``name`` of ``INSTEAD``."""
    from infoset.compiled import Compiled
    from infoset.evaluation import check_what, tabulated

    compiled = Compiled.of(game, max_histories)
    if name in ("stability", "conventions"):
        if what is None:
            raise ParameterError(
                f"--{name} is of a strategy of all players: name one after the game, as in GAME random"
            )
        if name == "conventions":
            from infoset.conventions import find_conventions

            return find_conventions(compiled, what)
        from infoset.solvers.tabular.stability import stability

        policy = tabulated(compiled, check_what(what))
        return stability(compiled.form, policy.behaviour(compiled.form))
    if correlated is not None:
        from infoset.solvers.tabular.correlated import correlated_equilibrium

        return correlated_equilibrium(compiled, correlated)
    if name == "dominated":
        from infoset.solvers.tabular.dominance import eliminate_dominated

        return eliminate_dominated(compiled)
    from infoset.solvers.tabular.all_equilibria import all_equilibria
    from infoset.solvers.tabular.pure_equilibria import pure_equilibria

    return pure_equilibria(compiled) if name == "pure" else all_equilibria(compiled)
