"""Registries: what is known by name, each word with the place of its maker, imported when it is first asked for.

Lists, help texts and the suggestions in errors are made from them.  ``python:FILE.py:Class(parameter=value)`` and
``python:package.module:Class`` name something of the user's own wherever a registry is asked.
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, NamedTuple, TypeVar, cast
from zlib import crc32

from infoset.errors import (
    FormatError,
    InfosetError,
    ParameterError,
    UnknownNameError,
    UnsupportedGameError,
    one_line,
    shorten,
)
from infoset.files import looks_like_path, no_such_path
from infoset.interruption import is_users
from infoset.names import Name, Value, build, check_parameters, parse_name
from infoset.processes import end_copy

T = TypeVar("T")

PYTHON = "python:"
MAX_HINTS = 3
READY_MADE = {"game", "method"}
"""What may stand in a user's file as an object: every match makes its agents anew."""


class Entry(NamedTuple):
    """What a list says of one maker."""

    name: str
    parameters: dict[str, Any]
    """With their default values."""
    about: str
    """The first line of its docstring."""


class Registry(Mapping[str, Callable[..., T]], Generic[T]):
    """Makers by name, from strings ``module:attribute``.

    >>> from infoset.catalog import GAMES
    >>> GAMES.build("kuhn_poker(players=3)").players
    ('P1', 'P2', 'P3')
    >>> GAMES.entry("kuhn_poker").parameters
    {'players': 2}
    """

    def __init__(self, kind: str, homes: Mapping[str, str]) -> None:
        self.kind, self.homes = kind, homes

    def __getitem__(self, word: str) -> Callable[..., T]:
        module, _, attribute = self.homes[word].partition(":")
        return cast("Callable[..., T]", getattr(import_module(module), attribute))

    def __iter__(self) -> Iterator[str]:
        return iter(self.homes)

    def __len__(self) -> int:
        return len(self.homes)

    def build(self, name: str | Name) -> T:
        """What the name stands for.  Raises ``UnknownNameError``, ``ParameterError`` or ``FormatError``."""
        parsed = parse_name(name) if isinstance(name, str) else name
        return build_own(self.kind, parsed) if parsed.word.startswith(PYTHON) else build(self.kind, parsed, self)

    def check(self, name: str | Name) -> None:
        """Raise what ``build`` would for a wrong name or parameter."""
        check_parameters(self.kind, *self._found(name))

    def _found(self, name: str | Name) -> tuple[Name, Mapping[str, Callable[..., T]]]:
        parsed = parse_name(name) if isinstance(name, str) else name
        if parsed.word.startswith(PYTHON):
            return parsed, {parsed.word: load_python(parsed.word)}
        return parsed, self

    def entry(self, word: str) -> Entry:
        """What a list says of it."""
        maker = self[word]
        text = (inspect.getdoc(maker) or "").strip().partition("\n\n")[0]
        return Entry(word, parameters_of(maker), " ".join(text.replace("``", "").split()))

    def entries(self) -> list[Entry]:
        """All, by name."""
        return [self.entry(word) for word in sorted(self)]


def parameters_of(maker: Callable[..., object]) -> dict[str, Any]:
    """A maker's parameters with their default values."""
    try:
        parameters = inspect.signature(maker).parameters.values()
    except ValueError:  # of some classes that come with Python
        name = getattr(maker, "__name__", type(maker).__name__)
        raise ParameterError(
            f"{name} does not say which arguments it takes; allowed: a function or a class in Python"
        ) from None
    return {p.name: p.default for p in parameters if p.kind is not p.VAR_KEYWORD}


def listed(entry: Entry) -> str:
    """A name as a list shows it, with its parameters."""
    return str(Name(entry.name, tuple((k, _shown(v)) for k, v in entry.parameters.items())))


def _shown(value: Any) -> Value:
    return "…" if value is inspect.Parameter.empty else value


def classes_of(file: Path) -> list[str]:
    """The classes that a Python file defines; it is read, not run."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [node.name for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def python_hint(path: Path, use: str) -> str:
    """What a file or folder of Python is, and how a class in it is named; "" for other things.  No code is run."""
    if os.path.isdir(path):  # noqa: PTH112  # which a name too long for a path does not upset
        what, files = "a folder", sorted(path.glob("*.py"))
    elif path.suffix == ".py" and os.path.isfile(path):  # noqa: PTH113
        what, files = "a Python file", [path]
    else:
        return ""
    names = [f"{PYTHON}{file}:{name}" for file in files for name in classes_of(file)]
    if not names:
        return f"{what} without a class; python:FILE.py:Class {use} one"
    more = " or …" if len(names) > MAX_HINTS else ""
    return f"{what}: {' or '.join(names[:MAX_HINTS])}{more} {use} a class of it"


def path_problem(word: str, use: str) -> InfosetError | None:
    """What is wrong with a word that was meant as a file or a folder, and no name; ``None`` for other words.

    ``use`` says what a class of a Python file does here.  No code is run.
    """
    place, _, attribute = word.rpartition(":")
    if Path(place).suffix == ".py" and attribute:
        if os.path.isfile(place):  # noqa: PTH113
            return ParameterError(f"{shorten(word)!r} is a class of a Python file: {PYTHON}{shorten(word)} {use} it")
        return FormatError(no_such_path(place), shorten(place))
    if hint := python_hint(Path(word), use):
        return ParameterError(f"{shorten(word)!r} is {hint}")
    if looks_like_path(word) and ":" not in word.partition("/")[0] and not os.path.exists(word):  # noqa: PTH110
        return FormatError(no_such_path(word, "file or folder"), shorten(word))
    return None


def check_python(word: str) -> None:
    """Raise ``FormatError`` or ``ParameterError`` for what is soon seen to name nothing; no code is run."""
    rest = word.removeprefix(PYTHON)
    place, _, attribute = rest.rpartition(":")
    package = os.path.isfile(f"{place}/__init__.py")  # noqa: PTH113
    for path in filter(None, (rest, "" if package else place)):
        hint = "" if path == place and Path(path).suffix == ".py" else python_hint(Path(path), "names")
        if hint:
            raise ParameterError(f"{shorten(path)!r} is {hint}")
    if not place or not attribute:
        raise ParameterError(f"found {shorten(word)!r}, expected python:FILE.py:Class or python:package.module:Class")
    if Path(place).suffix == ".py" and not Path(place).is_file():
        raise FormatError(no_such_path(place), place)


def build_own(kind: str, name: Name) -> Any:
    """Call what a ``python:`` name names; an object that is no class and no function, such as a method or a game, is
    taken as it is.  Raises ``ParameterError``, in one line, where its code fails.
    """
    found = find_python(name.word, kind in READY_MADE)
    if not callable(found) and kind in READY_MADE:
        if name.parameters:
            raise ParameterError(f"{shorten(name.word, 200)} is made already, so that it takes no parameters")
        return found
    makers, process = {name.word: load_python(name.word)}, os.getpid()
    try:
        return build(kind, name, makers)
    except InfosetError:
        raise
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        if is_users(error):
            raise
        why = ": ".join(filter(None, (type(error).__name__, one_line(str(error), 200))))
        raise ParameterError(f"{shorten(name.word, 200)} cannot be made: {why}") from error
    finally:
        end_copy(process)


def load_python(word: str) -> Callable[..., Any]:
    """The class or function that ``python:FILE.py:Class`` or ``python:package.module:Class`` names.

    The file or module is run for it.  Raises ``FormatError`` where that fails, ``UnknownNameError`` for no such class,
    and what ``check_python`` raises.
    """
    found = find_python(word)
    if not callable(found):
        raise _unknown_python(word)
    return cast("Callable[..., Any]", found)


def find_python(word: str, objects: bool = True) -> Any:
    """Whatever a ``python:`` name names: a class, a function, or an object.  The same is run and raised.

    ``objects`` says whether an object may be meant by a name that is not there.
    """
    check_python(word)
    place, _, attribute = word.removeprefix(PYTHON).rpartition(":")
    found = getattr(_module_named(place), attribute, None)
    if found is None:
        raise _unknown_python(word, objects)
    return found


def _unknown_python(word: str, objects: bool = False) -> UnknownNameError:
    place, _, attribute = word.removeprefix(PYTHON).rpartition(":")
    module = _module_named(place)
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (getattr(value, "__module__", "") == module.__name__ if callable(value) else objects and _is_made(value))
    ]
    what = "class, function or object" if objects else "class or function"
    return UnknownNameError(f"{what} in {shorten(place)}:", attribute, own)


def _is_made(value: object) -> bool:
    """Whether it is an object of somebody's class, not a module, a number, a text or a container."""
    return not isinstance(value, ModuleType) and type(value).__module__ not in {"builtins", "__future__"}


def _module_named(place: str) -> ModuleType:
    path = Path(place)
    return _module_of_file(path.resolve()) if path.suffix == ".py" else _module(place)


@cache
def _module_of_file(path: Path) -> ModuleType:
    """The module of a Python file, run once a process; what lies beside it can be imported."""
    if not path.is_file():
        raise FormatError(no_such_path(path), str(path))
    name = f"infoset_user_{path.stem}_{crc32(str(path).encode()):08x}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for it
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    process = os.getpid()
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        del sys.modules[name]
        if is_users(error):
            raise
        line = error.lineno or 0 if isinstance(error, SyntaxError) else 0
        raise FormatError(f"{type(error).__name__}: {one_line(str(error), 200)}", str(path), line) from error
    finally:
        end_copy(process)
    return module


def _module(name: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    process = os.getpid()
    try:
        return import_module(name)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        if is_users(error):
            raise
        raise FormatError(f"{type(error).__name__}: {one_line(str(error), 200)}", name) from error
    finally:
        end_copy(process)


def absolute(name: str) -> str:
    """A ``python:`` name with its file's whole path, so that it is found from anywhere; other names as they are."""
    if not name.startswith(PYTHON):
        return name
    parsed = parse_name(name)
    place, _, attribute = parsed.word.removeprefix(PYTHON).rpartition(":")
    if Path(place).suffix != ".py":
        return name
    return str(parsed._replace(word=f"{PYTHON}{Path(place).resolve()}:{attribute}"))


def check_trusted(name: str, where: str) -> None:
    """Raise ``UnsupportedGameError`` where a file names Python code: that is run only where the user names it."""
    if PYTHON in name:  # also inside quotes, which the parameters of another name may hold
        raise UnsupportedGameError(
            f"{where} names Python code, {shorten(name)}; it is run only where you name it yourself, as GAME or game="
        )


def own_name(thing: object) -> str:
    """The name by which an object of a user's class can be made again; "" where there is none.

    Its class must stand in a file or module under its own name; its parameters are those that a dataclass has.
    """
    kind = type(thing)
    module = sys.modules.get(kind.__module__)
    if module is None or "." in kind.__qualname__ or kind.__module__.split(".")[0] == "infoset":
        return ""
    values = {p: getattr(thing, p, inspect.Parameter.empty) for p in parameters_of(kind)}
    simple = all(isinstance(value, (int, float, str, bool, type(None))) for value in values.values())
    file = getattr(module, "__file__", None)
    if not simple or file is None:
        return ""
    return str(
        Name(f"{PYTHON}{Path(file).resolve()}:{kind.__name__}", tuple((k, _shown(v)) for k, v in values.items()))
    )
