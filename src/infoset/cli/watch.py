"""Write a page that shows a recorded game from each player's view, or print the game as text."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from infoset.catalog import load_named
from infoset.cli.options import refuse
from infoset.cli.output import write
from infoset.errors import one_line
from infoset.files import check_file, replace_file
from infoset.formats.replays import read_match
from infoset.view.pictures import view_hook
from infoset.view.recording_text import show_text
from infoset.view.speed import check_speed
from infoset.view.watch_page import watch_page


def run(
    context: typer.Context,
    replay: Annotated[
        Path,
        typer.Argument(metavar="REPLAY", help="A replay, from 'match --replay', or a game_state.json of Pommerman."),
    ],
    out: Annotated[Path | None, typer.Option(help="The page to write (default: REPLAY with .html).")] = None,
    step: Annotated[int | None, typer.Option(help="Step at which the page opens, or the step to draw.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Pommerman: draw one position (default: the last) as SVG.")] = None,
    gif: Annotated[
        Path | None, typer.Option(help="Pommerman: write the game as an animated GIF (extra 'plot').")
    ] = None,
    png: Annotated[
        Path | None,
        typer.Option(help="Pommerman: draw each step, or the one of --step, to this folder (extra 'plot')."),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the game, or the step of --step, as text.")] = False,
    speed: Annotated[float | None, typer.Option(help="Steps per second (default: 6 in Pommerman, else 1).")] = None,
) -> None:
    check_speed(speed)
    for file in (out, svg, gif):
        if file is not None:
            check_file(file)
    page = out is not None or not (text or svg or gif or png)
    moving = page or gif is not None or (text and step is None)
    if not moving:
        refuse(context, {"speed"}, "--speed applies to a page, --gif or --text only")
    if gif is not None and not (page or text or svg or png):
        refuse(context, {"step"}, "--gif shows the whole game; it goes with a page, --svg, --png or --text")
    played = read_match(str(replay))
    drawing = {"svg": "still_svg", "gif": "save_gif", "png": "save_pngs"}
    draw: dict[str, Any] = {}
    if svg is not None or gif is not None or png is not None:
        game = load_named(played.game, "the replay")
        draw = {word: view_hook(game, hook) for word, hook in drawing.items()}
        missing = {word for word, found in draw.items() if found is None}
        refuse(context, missing, f"{one_line(played.game)} is not drawn so; it is a page, or --text")
    if text:
        show_text(played, Console(highlight=False), step, speed)
    if svg is not None:
        picture = draw["svg"](played, step)
        write(replace_file(svg, lambda file: file.write(picture.encode())))
    if gif is not None:
        write(draw["gif"](played, gif, speed=speed))
    if png is not None:
        write(f"{png}: {len(draw['png'](played, png, step=step)):,} pictures")
    if page:
        html = watch_page(played, step=step, speed=speed)
        write(replace_file(out or replay.with_suffix(".html"), lambda file: file.write(html.encode())))
