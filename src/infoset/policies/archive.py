"""The archive of a policy: an ``.npz`` file of arrays, one of them a header in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from infoset.errors import PolicyError
from infoset.files import BROKEN_ARCHIVE, check_schema, describe_damage, read_arrays, replace_file

SCHEMA = 3


class Header(msgspec.Struct):
    """The beginning of every policy's header."""

    schema: int
    game: str


H = TypeVar("H", bound=Header)


def write_archive(path: str | Path, header: Header, arrays: Mapping[str, Any], kind: str = "a policy") -> Path:
    """Write a header and arrays as an ``.npz`` file, in full or not at all; return the path.

    Raises ``PolicyError`` for another suffix; its message calls what was to be saved ``kind``.
    """
    if (path := Path(path)).suffix != ".npz":
        raise PolicyError(f"cannot save {kind} as {path.name!r}; allowed: .npz")
    encoded = np.frombuffer(msgspec.json.encode(header), dtype=np.uint8)
    return replace_file(path, lambda file: np.savez_compressed(file, header=encoded, **arrays))


def read_archive(path: Path, kind: type[H], most: int | None = None) -> tuple[H, dict[str, Any]]:
    """Return the header, and the arrays by their names; no code is run, and at most ``most`` bytes are unpacked.

    Raises one of ``BROKEN_ARCHIVE`` or a ``msgspec.MsgspecError``.
    """
    arrays = read_arrays(path, most)
    header = msgspec.json.decode(arrays.pop("header").tobytes(), type=kind)
    check_schema("policy", header.schema, SCHEMA)
    return header, arrays


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Convert whatever reading an archive raises to a ``PolicyError`` that names the file."""
    try:
        yield
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from None
    except (*BROKEN_ARCHIVE, msgspec.MsgspecError, RuntimeError) as error:
        raise PolicyError(f"{path}: not a policy file: {describe_damage(error)}") from None
