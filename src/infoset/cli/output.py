"""What the command line writes: everything goes through here, so that no name, move or error commands a terminal."""

from __future__ import annotations

import sys

from infoset.errors import bound, printable


def write(text: object) -> None:
    """Write a result to standard output, as lines."""
    print(printable(str(text)))


def note(text: object) -> None:
    """Write lines to standard error at once: what was asked for, and no result."""
    print(printable(str(text)), file=sys.stderr, flush=True)


def complain(text: object) -> None:
    """Write one line of bounded length to standard error under the program's name, a mistake or news."""
    note(f"infoset: {bound(str(text))}")
