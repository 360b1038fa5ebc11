"""The verbs of the command line by name; only the module of the verb that is called is imported.

A verb is a module of this package, named as the verb (``warm-up`` is ``warm_up.py``): its docstring is the text of
``infoset VERB --help``, and the parameters of its function ``run`` are the arguments and options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from infoset import __version__
from infoset.cli.output import write
from infoset.errors import bound

VERBS = (
    "games",
    "methods",
    "agents",
    "solve",
    "train",
    "plot",
    "evaluate",
    "report-flops",
    "warm-up",
    "match",
    "play",
    "tournament",
    "ggp-player",
    "ggp-match",
    "compete",
    "serve-agent",
    "serve",
    "mcp",
    "new-agent",
    "watch",
    "show",
    "check",
    "convert",
)
"""Every verb, in the order of ``infoset --help``."""


class _Commands(Mapping[str, Any]):
    """The commands by the names of their verbs, each imported when it is looked up."""

    def __getitem__(self, verb: str) -> Any:
        if verb not in VERBS:
            raise KeyError(verb)
        module = import_module(f"infoset.cli.{_module(verb)}")
        single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        single.command(verb, help=module.__doc__)(module.run)
        return typer.main.get_command(single)

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class _Verbs(TyperGroup):
    """The group of verbs, whose usage errors are bounded in length however long the argument is."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands()  # type: ignore[assignment]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs with the first lines of their help, without importing them."""
        width = formatter.width - 6 - max(map(len, VERBS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(verb, TyperCommand(verb, help=_summary(verb)).get_short_help_str(width)) for verb in VERBS]
            )

    def make_context(self, *given: Any, **extra: Any) -> Any:
        with _bounded_usage():
            return super().make_context(*given, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _bounded_usage():
            return super().invoke(ctx)


def _module(verb: str) -> str:
    return verb.replace("-", "_")


def _summary(verb: str) -> str:
    """Return the first line of the docstring of a verb's module."""
    with open(Path(__file__).with_name(f"{_module(verb)}.py"), encoding="utf-8") as file:
        return file.readline().strip().strip('"')


@contextmanager
def _bounded_usage() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        message = getattr(error, "message", None)
        if hasattr(error, "exit_code") and isinstance(message, str):  # a click error; typer bundles its own click
            error.message = bound(message)  # type: ignore[attr-defined]
        raise


app = typer.Typer(
    name="infoset",
    cls=_Verbs,
    help="Solve games of hidden information and measure exactly how good a strategy is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _say_version(asked: bool) -> None:
    if asked:
        write(f"infoset {__version__}")
        raise typer.Exit


@app.callback()
def _any_verb(
    _: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
