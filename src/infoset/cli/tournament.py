"""Play a tournament, every pair of teams in every seat: print a cross table, ratings and faults."""

from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.options import (
    AsJson,
    Executor,
    MaybeGameName,
    SecondsPerMove,
    StartClock,
    absolute,
    refuse_others,
    with_run,
)
from infoset.cli.output import write
from infoset.errors import ParameterError


def run(
    context: typer.Context,
    game: MaybeGameName = None,
    teams: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEAM", help="One agent for all seats of a team, or a+b, its members in the order of the seats."
        ),
    ] = None,
    games: Annotated[int | None, typer.Option(help="Games of each pair of teams (default: 100).")] = None,
    format_: Annotated[
        str, typer.Option("--format", help="round-robin, double-elimination, swiss(rounds=5), free-for-all.")
    ] = "round-robin",
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Processes that play (default: one for each core).")] = None,
    db: Annotated[
        Path | None, typer.Option(help="Database of the games; resumes an existing one (default: new, in runs/).")
    ] = None,
    self_: Annotated[bool, typer.Option("--self", help="Let every team also play against itself.")] = False,
    rank: Annotated[
        str | None, typer.Option(help="Ranking: payoff, wins or elo (default: wins if payoffs are only won or lost).")
    ] = None,
    slow: Annotated[float, typer.Option(help="Count decisions that take longer, in seconds.")] = 0.1,
    move_limit: Annotated[
        float, typer.Option(help="Seconds of silence after which an agent forfeits the game.")
    ] = 10.0,
    seconds_per_move: SecondsPerMove = None,
    start_clock: StartClock = None,
    isolate: Annotated[
        bool | None,
        typer.Option(help="Run each agent in a process of its own, with limits (default: with --seconds-per-move)."),
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw cross table and ratings to this SVG file.")] = None,
    replay: Annotated[int | None, typer.Option(help="Play nothing: export this game of --db as a replay.")] = None,
    executor: Executor = "local",
    out: Annotated[Path | None, typer.Option(help="The file for --replay (default: beside the database).")] = None,
    json_: AsJson = False,
) -> None:
    from infoset.arena.store import load_replay
    from infoset.cli.tournaments import play_tournament  # these bring Numba, which --help does not need

    if replay is not None:
        refuse_others(context, {"replay", "db", "out"}, "--replay writes a game of --db; it goes with --out alone")
        if db is None:
            raise ParameterError("--replay needs --db FILE, the tournament's database")
        write(load_replay(db, replay).save(out or db.with_name(f"{db.stem}-{replay:05d}.json")))
        return
    if out is not None:
        raise ParameterError("--out is the file for --replay")
    if game is not None:
        game, teams = with_run(game, *(teams or ()))
    if game is None or not teams:
        raise ParameterError("name a GAME and at least two TEAMs, or a game to --replay from --db")
    play_tournament(
        absolute(game), teams, db, svg, json_, games=games, format=format_, seed=seed,
        workers=workers, self_matches=self_, rank=rank, slow=slow, move_limit=move_limit,
        seconds_per_move=seconds_per_move, start_clock=start_clock, isolate=isolate, executor=executor,
    )  # fmt: skip
