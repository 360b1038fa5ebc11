"""Argument types of kernels as plain data, so that they can be stored in files of this project's own format.

``"int64"`` is a scalar, ``"int16[2]"`` a contiguous array of two dimensions, ``"int16[1]r"`` a read-only one; a
list is a tuple, and a list that begins with ``"module:Class"`` a named tuple.
"""

from __future__ import annotations

import importlib
import re
from typing import Any, TypeAlias

import numba

types: Any = numba.types  # its annotations are incomplete

Spelled: TypeAlias = Any  # str | list[Spelled]


def spell_type(kind: Any) -> Spelled:
    """Return a type as data.  Raises ``TypeError`` for a type that kernels of this project do not take."""
    if isinstance(kind, types.BaseNamedTuple):
        made = kind.instance_class
        return [f"{made.__module__}:{made.__qualname__}", *map(spell_type, kind)]
    if isinstance(kind, types.BaseTuple):
        return ["", *map(spell_type, kind)]
    if isinstance(kind, types.Array):
        return f"{kind.dtype}[{kind.ndim}{kind.layout}]{'' if kind.mutable else 'r'}"
    if isinstance(kind, types.Number | types.Boolean | types.NoneType):
        return str(kind)
    raise TypeError(f"a kernel with an argument of type {kind}")


def read_type(spelled: Spelled) -> Any:
    """Return the type that ``spell_type`` wrote."""
    if isinstance(spelled, str):
        return _array(spelled) if "[" in spelled else getattr(types, spelled)
    name, *parts = spelled
    kinds = tuple(map(read_type, parts))
    if not name:
        return types.BaseTuple.from_types(kinds)
    module, _, made = name.partition(":")
    return types.BaseTuple.from_types(kinds, getattr(importlib.import_module(module), made))


def _array(spelled: str) -> Any:
    dtype, dimensions, layout, read_only = re.fullmatch(r"(\w+)\[(\d+)(\w)\](r?)", spelled).groups()  # type: ignore[union-attr]
    return types.Array(getattr(types, dtype), int(dimensions), layout, readonly=bool(read_only))
