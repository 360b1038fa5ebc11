"""Evaluate a policy or an agent: exact exploitability, or in large games a lower bound with its interval."""

import re
import sys
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.options import WHAT_HELP, AsJson, Executor, GameOrRun, MaxHistories, with_run
from infoset.cli.output import complain, print_json, write
from infoset.cli.report import evaluation_text
from infoset.errors import ParameterError, PolicyError, RemoteError, UnsupportedGameError, shorten
from infoset.files import check_file
from infoset.view.bodies import evaluation_body


def _answers_of(game: str, what: str) -> Path:
    """Return the file for the answers of an agent in a game."""
    words = re.sub(r"[^\w.+=-]+", "-", f"{Path(game).name}-{what}").strip("-")[:100]
    return Path("runs") / "answers" / f"{words}-{sha256(f'{game} {what}'.encode()).hexdigest()[:8]}.jsonl"


def run(
    game: GameOrRun,
    what: Annotated[str | None, typer.Argument(metavar="[WHAT]", help=WHAT_HELP)] = None,
    best_response: Annotated[
        Path | None, typer.Option(help="Write the players' best responses to this policy file.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds to learn best responses in large games (10).")
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(min=1, help="Times that an agent without probabilities is asked at each information set."),
    ] = None,
    calls: Annotated[int | None, typer.Option(min=1, help="Most questions in this run, with --samples.")] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="File of the answers, which a later run continues (with --samples by default in runs/answers)."
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, max=256, help="Processes that ask an agent that reports its probabilities.")
    ] = 1,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of learnt best responses and of faulty answers (default: 0).")
    ] = None,
    max_histories: MaxHistories = None,
    executor: Executor = "local",
    json_: AsJson = False,
) -> None:
    from infoset.compiled import Compiled  # these bring Numba, which --help does not need
    from infoset.evaluation import check_what, evaluate

    if best_response is not None:
        check_file(best_response)
    game, named = with_run(game, what)
    if not named:
        raise ParameterError(f"name WHAT to evaluate after {shorten(game)}: a policy's file, a run's folder, an agent")
    what = named[-1]  # the run itself, unless WHAT was given, too
    played = check_what(what)
    compiled = Compiled.of(game, max_histories)
    if samples is not None and answers is None:
        answers = _answers_of(compiled.name, what)
    with redirect_stdout(sys.stderr):  # agents' output is not a result
        try:
            found = evaluate(
                compiled, played, respond=best_response is not None, seconds=seconds, samples=samples, calls=calls,
                answers=answers, workers=workers, seed=seed or 0, executor=executor,
            )  # fmt: skip
        except (RemoteError, KeyboardInterrupt):
            if answers is not None:
                complain(f"the answers so far are in {answers}; the same command goes on from there")
            raise
    if found.exact and (seconds, seed) != (None, None):
        complain("the figures are exact; --seconds and --seed were not used")
    if json_:
        print_json(evaluation_body(compiled.name, what, found))
    else:
        written = "" if answers is None else f"\nanswers          {answers}"
        write(evaluation_text(compiled.name, what, compiled.players, found) + written)
    if best_response is not None:
        if found.best_response is None:
            raise UnsupportedGameError(f"no best response was worked out: {found.reason or 'the tree does not fit'}")
        try:
            found.best_response.save(best_response)
        except PolicyError as error:  # this kind of policy is saved as .npz only, which is known only now
            saved = found.best_response.save(best_response.with_suffix(".npz"))
            complain(f"{error}; saved as {saved}")
