"""Make the command line of a script from a dataclass."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

A = TypeVar("A", bound=Any)


def parse(kind: type[A], argv: Sequence[str] | None = None) -> A:
    """Make one option for each field of a dataclass, with its default, and parse the command line."""
    parser = argparse.ArgumentParser(description=kind.__doc__)
    for field in fields(kind):
        if field.default is False:
            parser.add_argument(f"--{field.name}", action="store_true")
        else:
            parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default, help="%(default)s")
    return kind(**vars(parser.parse_args(argv)))
