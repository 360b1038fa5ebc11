"""Options and arguments that several verbs share, and the checks of those that do not go together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from infoset.errors import ParameterError
from infoset.registry import absolute as absolute_name
from infoset.registry import check_trusted

F = TypeVar("F", bound=Callable[..., Any])

GAME_HELP = (
    "A name ('infoset games' lists them), an .efg, .nfg, .gbt, .csv, .gdl or .toml file, openspiel:NAME(…), "
    "or python:FILE.py:Class(…)."
)
AGENT_HELP = (
    "One for each player, in order: a name ('infoset agents' lists them), a policy's file, a run's folder, "
    "or python:FILE.py:Class(…)."
)
WHAT_HELP = (
    "A policy's file (.npz, .json), a run's folder, a network (torch:FILE, onnx:FILE, sb3:FILE), or an agent: random, "
    "'search(method=tree)', chat:URL, python:FILE.py:Class."
)
GameOrRun = Annotated[str, typer.Argument(metavar="GAME", help=f"{GAME_HELP} A run's folder: its game and its policy.")]
MaybeGameName = Annotated[str | None, typer.Argument(metavar="GAME", help=GAME_HELP)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")]
MaxHistories = Annotated[int | None, typer.Option(min=1, help="Most histories in a tree (default: by free memory).")]

SecondsPerMove = Annotated[
    float | None, typer.Option(help="Seconds for each move; a later answer is dropped (default: no limit).")
]
StartClock = Annotated[float | None, typer.Option(help="Seconds for agents to begin a game (default: no limit).")]
Executor = Annotated[
    str, typer.Option("--executor", help="Where to compute: local, ray (extra 'cluster'), or a cluster, ray:ADDRESS.")
]
Isolate = Annotated[bool, typer.Option("--isolate", help="Run each agent in a process of its own, with limits.")]


def with_options(config: type[Any], **types: Any) -> Callable[[F], F]:
    """Give a verb the arguments and options that the fields of the dataclass ``config`` declare, before its own.

    ``types`` are those of values that the command line takes in another form.
    """
    hints = get_type_hints(config, include_extras=True) | types

    def parameter(declared: Field[Any]) -> Parameter:
        kind, about = hints[declared.name], declared.metadata
        if "help" in about:
            kind = Annotated[kind, typer.Option(help=about["help"], min=about["least"])]
        return Parameter(declared.name, Parameter.KEYWORD_ONLY, default=declared.default, annotation=kind)

    def decorate(run: F) -> F:
        own = [one for one in signature(run, eval_str=True).parameters.values() if one.kind != Parameter.VAR_KEYWORD]
        parameters = [*map(parameter, fields(config)), *(one.replace(kind=Parameter.KEYWORD_ONLY) for one in own)]
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def refuse_others(context: typer.Context, used: set[str], why: str) -> None:
    """Raise ``ParameterError`` for parameters other than ``used`` that were given."""
    refuse(context, {str(parameter.name) for parameter in context.command.params} - used, why)


def refuse(context: typer.Context, unused: set[str], why: str) -> None:
    """Raise ``ParameterError`` for parameters of ``unused`` that were given."""
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in unused and source is not None and source.name == "COMMANDLINE":
            name = parameter.opts[0] if parameter.param_type_name == "option" else str(parameter.name).upper()
            raise ParameterError(f"{name} would not be used: {why}")


def with_run(game: str, *named: str | None) -> tuple[str, list[str]]:
    """Return the game and the names after it; a run's folder becomes its game and the first of the names."""
    from infoset.catalog import game_of_run  # brings NumPy, which --help does not need

    given = [name for name in named if name is not None]
    played = game_of_run(game)
    if played is None:
        return game, given
    check_trusted(played, f"the run in {game}")
    return played, [game, *given]


def absolute(game: str) -> str:
    """Return a game's file as an absolute path, so that a run can be resumed from anywhere; other names unchanged.

    A spot in a file is named by its parameters.
    """
    from infoset.catalog import READERS, is_spot, name_of  # they bring NumPy, which --help does not need

    if is_spot(game):
        return name_of(game)
    return str(Path(game).resolve()) if Path(game).suffix.lower() in READERS else absolute_name(game)
