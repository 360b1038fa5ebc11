"""The output of the command line: all of it passes here, so that no text can send control codes to the terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from infoset.errors import bound, printable

if TYPE_CHECKING:
    from rich.text import Text


def write(text: object) -> None:
    """Write a result to standard output, as lines."""
    print(printable(str(text)))


def write_colored(text: str | Text) -> None:
    """Write a result to standard output, with its colours on a terminal where it is ``Text``."""
    if isinstance(text, str):
        write(text)
        return
    from rich.console import Console  # takes a while to import

    safe = text.copy()
    safe.plain = printable(text.plain)
    Console(highlight=False).print(safe, soft_wrap=True)


def note(text: object) -> None:
    """Write lines to standard error and flush: information that is not a result."""
    print(printable(str(text)), file=sys.stderr, flush=True)


def complain(text: object) -> None:
    """Write one line of bounded length to standard error, prefixed with the program's name: an error or news."""
    note(f"infoset: {bound(str(text))}")


def print_json(body: dict[str, Any]) -> None:
    """Write a result to standard output as one JSON object: plain ASCII without control characters."""
    print(json.dumps(body, allow_nan=False).replace("\x7f", "\\u007f"))
