"""What ``match`` and ``ggp-match`` share: a folder of replays, and the report of a series of games."""

from __future__ import annotations

from dataclasses import asdict
from itertools import count
from pathlib import Path

from infoset.cli.output import print_json, write
from infoset.errors import ParameterError
from infoset.files import check_folder, make_folder
from infoset.match.replay import Match
from infoset.match.series import Series
from infoset.view.match_text import series_text


class ReplayWriter:
    """A writer of games as numbered files in ``folder``, which must not hold replays yet.

    A file that cannot be written (``failed``) ends the series as Ctrl-C does: with the games that are over.
    """

    def __init__(self, folder: Path) -> None:
        check_folder(folder)
        make_folder(folder)
        if any(folder.glob("match-*.json")):
            raise ParameterError(f"{folder} already contains replays; choose another folder for --replay")
        self.folder, self.numbers = folder, count(1)
        self.failed: OSError | None = None

    def __call__(self, match: Match) -> None:
        try:
            match.save(self.folder / f"match-{next(self.numbers):05d}.json")
        except OSError as error:
            self.failed = error
            raise KeyboardInterrupt from None


def report_series(series: Series, keep: ReplayWriter | None, json_: bool) -> None:
    """Print the series.  Raises what ended it where there is no game, or where a replay could not be written."""
    failed = keep.failed if keep else None
    if not series.games:
        raise failed or KeyboardInterrupt
    print_json({**asdict(series), "moves_per_second": series.moves_per_second}) if json_ else write(series_text(series))
    if failed:
        raise failed
