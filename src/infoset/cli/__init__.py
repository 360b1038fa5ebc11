"""The command line: verbs over the library.  Errors are one line; tracebacks stay inside."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from infoset import signs
from infoset.cli.app import app
from infoset.cli.progress import LifeSigns
from infoset.errors import InfosetError, shorten

INTERRUPTED = 130


def main() -> None:
    """The entry point ``infoset``."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    signs.listeners.append(LifeSigns())
    try:
        app()
    except InfosetError as error:
        print(f"infoset: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("infoset: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        print(f"infoset: {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)
    except Exception as error:
        if os.environ.get("INFOSET_DEBUG"):
            raise
        what = f"{type(error).__name__}: {shorten(str(error), 200)}"
        print(f"infoset: internal error ({what}); INFOSET_DEBUG=1 shows where", file=sys.stderr)
        sys.exit(1)


def _show_warning(message: Warning | str, *_: Any) -> None:
    print(f"infoset: {message}", file=sys.stderr)
