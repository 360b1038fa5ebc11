"""The output of the command line: all of it passes here, so that no text can send control codes to the terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

from infoset.errors import bound, printable


def write(text: object) -> None:
    """Write a result to standard output, as lines."""
    print(printable(str(text)))


def note(text: object) -> None:
    """Write lines to standard error and flush: information that is not a result."""
    print(printable(str(text)), file=sys.stderr, flush=True)


def complain(text: object) -> None:
    """Write one line of bounded length to standard error, prefixed with the program's name: an error or news."""
    note(f"infoset: {bound(str(text))}")


def print_json(body: dict[str, Any]) -> None:
    """Write a result to standard output as one JSON object: plain ASCII without control characters."""
    print(json.dumps(body, allow_nan=False).replace("\x7f", "\\u007f"))
