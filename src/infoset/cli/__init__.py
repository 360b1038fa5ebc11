"""The command line: verbs over the library.  Errors are one line; tracebacks stay inside."""

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
    """The entry point ``infoset``."""
    try:
        from infoset.processes import leave

        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # all is done then; Ctrl-C would kill what ends
        status = _status()
    except KeyboardInterrupt:  # before anything began
        print("infoset: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    leave(status)


def _status() -> int:
    """Do what is asked for; the exit status."""
    from infoset.errors import InfosetError, one_line

    try:
        from infoset import signs
        from infoset.cli.app import app
        from infoset.cli.life_signs import LifeSigns

        warnings.showwarning = _show_warning  # type: ignore[assignment]
        sys.stdout = _Output(sys.stdout)
        signs.listeners[:] = [LifeSigns()]
        try:
            app()
        finally:
            with suppress(SystemExit):  # the verb is over, and has a status of its own
                sys.stdout.flush()
    except SystemExit as ending:
        if ending.code == INTERRUPTED:  # which typer says nothing of
            print("infoset: interrupted", file=sys.stderr)
        return ending.code if isinstance(ending.code, int) else 0
    except InfosetError as error:
        _say(str(error))
    except KeyboardInterrupt:
        print("infoset: interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        _say(f"{error.filename or 'a file'}: {error.strerror or error}")
    except Exception as error:
        if os.environ.get("INFOSET_DEBUG"):
            raise
        what = f"{type(error).__name__}: {one_line(str(error), 200)}"
        _say(f"internal error ({what}); INFOSET_DEBUG=1 shows where")
    return 1


class _Output:
    """Standard output whose reader may leave before the end, as ``head`` does: then the command is over, and well."""

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
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())  # for what is left in the buffer
        sys.exit(0)


def _show_warning(message: Warning | str, *_: Any) -> None:
    _say(str(message))


def _say(text: str) -> None:
    """Print a line on standard error, of bounded length whatever stands in it."""
    from infoset.errors import bound

    print(f"infoset: {bound(text)}", file=sys.stderr)
