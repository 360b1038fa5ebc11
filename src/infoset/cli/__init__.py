"""The command line, a set of verbs over the library.  Errors are printed as one line without a traceback."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import warnings
from contextlib import suppress
from typing import Any, NoReturn, TextIO

INTERRUPTED = 130


def main() -> None:
    """Run the entry point ``infoset``."""
    try:
        from infoset.processes import leave

        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # Ctrl-C must not disturb the cleanup at exit
        status = run_command()
    except KeyboardInterrupt:  # before the verb began
        print("infoset: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    leave(status)


def run_command() -> int:
    """Run the command that ``sys.argv`` names and return its exit status; the process goes on."""
    from infoset.cli.output import complain
    from infoset.errors import InfosetError, one_line

    try:
        from infoset import status
        from infoset.cli.app import app
        from infoset.cli.status_line import StatusLine

        warnings.showwarning = _show_warning  # type: ignore[assignment]
        sys.stdout = _Output(sys.stdout)
        status.listeners[:] = [StatusLine()]
        try:
            app()
        finally:
            with suppress(SystemExit):  # the verb is over and has set its own status
                sys.stdout.flush()
    except SystemExit as ending:
        if ending.code == INTERRUPTED:  # typer does not report it
            complain("interrupted")
        return ending.code if isinstance(ending.code, int) else 0
    except InfosetError as error:
        complain(error)
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except OSError as error:
        complain(f"{error.filename or 'a file'}: {error.strerror or error}")
    except Exception as error:
        if os.environ.get("INFOSET_DEBUG"):
            raise
        what = f"{type(error).__name__}: {one_line(str(error), 200)}"
        complain(f"internal error ({what}); INFOSET_DEBUG=1 shows where")
    return 1


class _Output:
    """Standard output whose reader may leave early, as ``head`` does; then the command ends with status 0."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._leave()

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._leave()

    def _leave(self) -> NoReturn:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())  # discards the rest of the buffer
        sys.exit(0)


def _show_warning(message: Warning | str, *_: Any) -> None:
    from infoset.cli.output import complain

    complain(message)
