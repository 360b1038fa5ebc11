"""Checks of public functions' arguments against their annotations: one line from us instead of an error deep inside.

``checks_arguments`` reads the annotations as text, so that nothing is imported for them.  It knows the atoms below,
classes of this package by their names, and ``X | Y``, ``Sequence[X]``, ``Callable[…]``; any other annotation is
left to the function itself.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from numbers import Integral
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

from infoset.errors import ParameterError, UnknownNameError, one_line
from infoset.names import is_number

C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")

CLASSES = (
    "GameTree", "HiddenGame", "Match", "Mapping", "NoRegretLearner", "Penalty", "ProductForm", "SequenceForm",
    "Solution", "TabularPolicy", "Watcher",
)  # fmt: skip
GAME, AGENT = ("name", "players", "start"), ("begin", "observe", "act", "end")
ENCODING = ("name", "shape", "actions", "encode")


class _Kind(NamedTuple):
    """The values that an annotation allows, as a test and in words."""

    allows: Callable[[Any], bool]
    words: str


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape") and value.dtype.kind in "fiu"


def _has(names: tuple[str, ...]) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, type) and all(hasattr(value, name) for name in names)


ATOMS = {
    "None": _Kind(lambda value: value is None, "None"),
    "bool": _Kind(lambda value: isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"), "True or False"),
    "int": _Kind(_is_integer, "an integer"),
    "float": _Kind(is_number, "a number"),
    "str": _Kind(lambda value: isinstance(value, str), "a text"),
    "Path": _Kind(lambda value: isinstance(value, os.PathLike), "a path"),
    "FloatArray": _Kind(_is_array, "an array of numbers"),
    "Game": _Kind(_has(GAME), "a game"),
    "Agent": _Kind(_has(AGENT), "an agent"),
    "Encoding": _Kind(_has(ENCODING), "an encoding"),
}


def checks_arguments(function: F) -> F:
    """Wrap ``function`` to raise ``ParameterError`` for an argument that its annotations do not allow.

    Arrays of realisation weights or of behaviour that come with a ``form`` must have one number for each sequence.

    >>> from infoset.arguments import checks_arguments
    >>> @checks_arguments
    ... def double(count: "int") -> "int":
    ...     return 2 * count
    >>> double("two")
    Traceback (most recent call last):
    infoset.errors.ParameterError: double: count='two' is not allowed; allowed: an integer
    """
    parameters = inspect.signature(function).parameters
    kinds = {name: kind for name in parameters if (kind := _kind(str(function.__annotations__.get(name, ""))))}
    named = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    arrays = [name for name in kinds if "FloatArray" in str(function.__annotations__[name])]

    called = function.__qualname__.rpartition("<locals>.")[2]

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(named, args, strict=False)) | kwargs
        for name, value in given.items():
            kind = kinds.get(name)
            if kind is not None and not kind.allows(value):
                raise ParameterError(f"{called}: {name}={_shown(value)} is not allowed; allowed: {kind.words}")
        if arrays and "form" in kinds:
            for name in arrays:
                _check_shape(called, name, given.get(name), given["form"])
        return function(*args, **kwargs)

    return cast("F", call)


def takes_fields(config: Callable[P, C]) -> Callable[[Callable[[C], R]], Callable[P, R]]:
    """Give a function of one dataclass the fields of that dataclass as its arguments.

    An argument that is no field raises ``UnknownNameError``, which suggests the one that was meant.
    """
    signature = inspect.signature(config)

    def decorate(function: Callable[[C], R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in signature.parameters:
                    raise UnknownNameError(f"argument of {function.__name__}", name, tuple(signature.parameters))
            return function(config(*args, **kwargs))

        annotations = {name: parameter.annotation for name, parameter in signature.parameters.items()}
        returned = function.__annotations__.get("return")
        call.__annotations__ = annotations | {"return": returned}
        call.__signature__ = signature.replace(return_annotation=returned)  # type: ignore[attr-defined]
        return call

    return decorate


def _check_shape(function: str, name: str, array: Any, form: Any) -> None:
    """Check that an array has one number for each sequence: kernels do not check lengths."""
    if array is not None and array.shape != (form.num_sequences,):
        raise ParameterError(
            f"{function}: {name} has shape {array.shape}; {form.name} has {form.num_sequences:,} sequences, so that "
            f"({form.num_sequences},) is needed"
        )


def _shown(value: Any) -> str:
    """Return a value as a message shows it: simple values as they are written, others by their class."""
    if value is None or isinstance(value, (str, int, float, complex, bytes)):
        return one_line(repr(value))
    return f"a {type(value).__name__}" if not isinstance(value, type) else f"the class {value.__name__}"


def _kind(annotation: str) -> _Kind | None:
    """Return the values that an annotation allows; ``None`` leaves the check to the function itself."""
    found = [_atom(part) for part in _parts(annotation.strip("'\""))]
    known = [kind for kind in found if kind is not None]
    if not known or len(known) < len(found):
        return None
    allows = [kind.allows for kind in known]
    return _Kind(lambda value: any(allow(value) for allow in allows), " or ".join(kind.words for kind in known))


def _atom(text: str) -> _Kind | None:
    if text in ATOMS:
        return ATOMS[text]
    if text.startswith("Callable["):
        return _Kind(callable, "a function")
    if text.startswith("Mapping["):
        return _Kind(lambda value: isinstance(value, Mapping), "a mapping")
    if text.startswith("Sequence["):
        return _sequence(text.removeprefix("Sequence[").removesuffix("]"))
    if text in CLASSES:
        return _Kind(lambda value: any(kind.__name__ == text for kind in type(value).__mro__), f"a {text}")
    return None


def _sequence(items: str) -> _Kind:
    """Return the kind of sequences of ``items``; a text is not a sequence.

    Items that are agents are checked by the function itself.
    """
    kind = None if "Agent" in items else _kind(items)

    def allows(value: Any) -> bool:
        several = isinstance(value, Iterable) and not isinstance(value, (str, bytes, os.PathLike, Mapping))
        return several and (kind is None or (hasattr(value, "__len__") and all(map(kind.allows, value))))

    return _Kind(allows, "a list" if kind is None else f"a list, each item {kind.words}")


def _parts(annotation: str) -> list[str]:
    """Return the alternatives of ``X | Y``; those inside brackets are left alone."""
    parts, depth, begin = [], 0, 0
    for place, sign in enumerate(annotation):
        depth += (sign in "[(") - (sign in "])")
        if sign == "|" and depth == 0:
            parts.append(annotation[begin:place].strip())
            begin = place + 1
    return [*parts, annotation[begin:].strip()]
