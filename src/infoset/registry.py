"""Registries that map names to makers, each imported when it is first requested.

Lists, help texts and the suggestions in errors are derived from them.  Installed packages add names by entry points
(``plugins``).  ``python:FILE.py:Class(parameter=value)`` and ``python:package.module:Class`` name the user's own
classes wherever a registry is used.
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
    shorten,
)
from infoset.files import looks_like_path, no_such_path
from infoset.interruption import running_foreign_code
from infoset.names import Name, Value, build, check_parameters, parse_name
from infoset.plugins import Plugin, is_installed, plugins_of

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])

PYTHON = "python:"
MAX_HINTS = 3
READY_MADE = {"game", "method"}
"""Kinds of which a user's file may hold a finished object; other kinds, such as agents, are made anew each time."""


class Entry(NamedTuple):
    """The entry of one maker in a list."""

    name: str
    parameters: dict[str, Any]
    """With their default values."""
    about: str
    """The first line of its docstring."""


class Registry(Mapping[str, Callable[..., T]], Generic[T]):
    """A mapping from names to makers, given as strings ``module:attribute``, or as a module alone.

    Where a ``group`` is given, the entry points of installed packages in this group belong to it, too; infoset's own
    names take precedence.

    >>> from infoset.catalog import GAMES
    >>> GAMES.build("kuhn_poker(players=3)").players
    ('P1', 'P2', 'P3')
    >>> GAMES.entry("kuhn_poker").parameters
    {'players': 2}
    """

    def __init__(self, kind: str, homes: Mapping[str, str], group: str = "") -> None:
        self.kind, self.homes, self.group = kind, homes, group

    @property
    def plugins(self) -> dict[str, Plugin]:
        """The entry points of installed packages by name, without names that infoset itself has."""
        if not self.group:
            return {}
        return {word: found for word, found in plugins_of(self.group).items() if word not in self.homes}

    def __getitem__(self, word: str) -> Callable[..., T]:
        if word not in self.homes:
            return cast("Callable[..., T]", plugins_of(self.group)[word].load())
        module, _, attribute = self.homes[word].partition(":")
        found = import_module(module)
        return cast("Callable[..., T]", getattr(found, attribute) if attribute else found)

    def __contains__(self, word: object) -> bool:
        return word in self.homes or word in self.plugins

    def __iter__(self) -> Iterator[str]:
        return iter([*self.homes, *self.plugins])

    def __len__(self) -> int:
        return len(self.homes) + len(self.plugins)

    def of(self, thing: object) -> Any:
        """Return what is registered for the class of an object, or the nearest class that it extends, or ``None``.

        The name is the module that defines the class.
        """
        for module in (kind.__module__ for kind in type(thing).__mro__):
            own = module.partition(".")[0] in {"infoset", "builtins", "typing"}
            if module in (self.homes if own else self):
                return self[module]
        return None

    def build(self, name: str | Name) -> T:
        """Build the object that a name refers to.

        Raises ``UnknownNameError``, ``ParameterError`` or ``FormatError``.
        """
        parsed = parse_name(name) if isinstance(name, str) else name
        if parsed.word.startswith(PYTHON):
            return cast("T", build_own(self.kind, parsed))
        if parsed.word not in self.homes and parsed.word in self:
            return cast("T", build_foreign(self.kind, parsed, {parsed.word: self[parsed.word]}))
        return build(self.kind, parsed, self)

    def check(self, name: str | Name) -> None:
        """Raise what ``build`` would for a wrong name or parameter."""
        check_parameters(self.kind, *self._found(name))

    def _found(self, name: str | Name) -> tuple[Name, Mapping[str, Callable[..., T]]]:
        parsed = parse_name(name) if isinstance(name, str) else name
        if parsed.word.startswith(PYTHON):
            return parsed, {parsed.word: load_python(parsed.word)}
        return parsed, self

    def entry(self, word: str) -> Entry:
        """Return the list entry of a maker; that of one that cannot be imported says why, as for a missing extra."""
        try:
            return entry_of(word, self[word])
        except InfosetError as error:
            return Entry(word, {}, str(error))

    def entries(self) -> list[Entry]:
        """Return all entries, sorted by name."""
        return [self.entry(word) for word in sorted(self)]


def made_for(beginning: str, **marks: Any) -> Callable[[F], F]:
    """Mark the maker of an agent that plays only games whose names begin so, such as ``"kuhn_poker"``.

    ``marks`` are further attributes of makers, as ``docs/plugins.md`` lists them.
    """

    def mark(maker: F) -> F:
        vars(maker).update(made_for=beginning, **marks)
        return maker

    return mark


def entry_of(word: str, maker: Callable[..., object]) -> Entry:
    """Return the list entry of a maker under a name."""
    text = (inspect.getdoc(maker) or "").strip().partition("\n\n")[0]
    return Entry(word, parameters_of(maker), " ".join(text.replace("``", "").split()))


def parameters_of(maker: Callable[..., object]) -> dict[str, Any]:
    """Return a maker's parameters with their default values."""
    try:
        parameters = inspect.signature(maker).parameters.values()
    except ValueError:  # some built-in classes have no signature
        name = getattr(maker, "__name__", type(maker).__name__)
        raise ParameterError(
            f"{name} does not say which arguments it takes; allowed: a function or a class in Python"
        ) from None
    return {p.name: p.default for p in parameters if p.kind is not p.VAR_KEYWORD}


def listed(entry: Entry) -> str:
    """Return a name as a list shows it, with its parameters."""
    return str(Name(entry.name, tuple((k, _shown(v)) for k, v in entry.parameters.items())))


def _shown(value: Any) -> Value:
    return "…" if value is inspect.Parameter.empty else value


def classes_of(file: Path) -> list[str]:
    """Return the classes that a Python file defines; the file is parsed, not run."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [node.name for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def python_hint(path: Path, use: str) -> str:
    """Describe a Python file or folder and how to name a class in it; "" for other paths.  No code is run."""
    if os.path.isdir(path):  # noqa: PTH112  # os.path copes with names that are too long for a path
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
    """Return the error for a word that was meant as a file or a folder, not as a name; ``None`` for other words.

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
    """Raise ``FormatError`` or ``ParameterError`` for a name that can be seen to be wrong without running code."""
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
    """Call the maker that a ``python:`` name refers to.

    An object that is neither a class nor a function, such as a method or a game, is returned as it is.  Raises
    ``ParameterError``, in one line, where its code fails.
    """
    found = find_python(name.word, kind in READY_MADE)
    if not callable(found) and kind in READY_MADE:
        if name.parameters:
            raise ParameterError(
                f"{shorten(name.word, 200)} is an object, not a class or function, so that it takes no parameters"
            )
        return found
    return build_foreign(kind, name, {name.word: load_python(name.word)})


def build_foreign(kind: str, name: Name, makers: Mapping[str, Callable[..., Any]]) -> Any:
    """Call a maker that is not infoset's.  Raises ``ParameterError``, in one line, where its code fails."""

    def convert(error: BaseException, why: str) -> BaseException:
        failed = ParameterError(f"{shorten(name.word, 200)} cannot be made: {why}")
        return error if isinstance(error, InfosetError) else failed

    with running_foreign_code(convert):
        return build(kind, name, makers)


def load_python(word: str) -> Callable[..., Any]:
    """Return the class or function that ``python:FILE.py:Class`` or ``python:package.module:Class`` names.

    This runs the file or module.  Raises ``FormatError`` where that fails, ``UnknownNameError`` for no such class,
    and what ``check_python`` raises.
    """
    found = find_python(word)
    if not callable(found):
        raise _unknown_python(word)
    return cast("Callable[..., Any]", found)


def find_python(word: str, objects: bool = True) -> Any:
    """Return the class, function or object that a ``python:`` name refers to; runs and raises as ``load_python`` does.

    ``objects`` says whether the error for a missing name may suggest objects, too.
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
    """Return whether a value is an object of a user's class, not a module, a number, a text or a container."""
    return not isinstance(value, ModuleType) and type(value).__module__ not in {"builtins", "__future__"}


def _module_named(place: str) -> ModuleType:
    path = Path(place)
    return _module_of_file(path.resolve()) if path.suffix == ".py" else _module(place)


@cache
def _module_of_file(path: Path) -> ModuleType:
    """Import a Python file, once per process; modules beside it can be imported, too."""
    if not path.is_file():
        raise FormatError(no_such_path(path), str(path))
    name = f"infoset_user_{path.stem}_{crc32(str(path).encode()):08x}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look for it there
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))

    def convert(error: BaseException, why: str) -> FormatError:
        return FormatError(why, str(path), error.lineno or 0 if isinstance(error, SyntaxError) else 0)

    try:
        with running_foreign_code(convert):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _module(name: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    with running_foreign_code(lambda _, why: FormatError(why, name)):
        return import_module(name)


def absolute(name: str) -> str:
    """Return a ``python:`` name with the absolute path of its file, so that it works anywhere; others unchanged."""
    if not name.startswith(PYTHON):
        return name
    parsed = parse_name(name)
    place, _, attribute = parsed.word.removeprefix(PYTHON).rpartition(":")
    if Path(place).suffix != ".py":
        return name
    return str(parsed._replace(word=f"{PYTHON}{Path(place).resolve()}:{attribute}"))


def check_trusted(name: str, where: str) -> None:
    """Raise ``UnsupportedGameError`` where a name from a file refers to Python code, which only the user may name."""
    if PYTHON in name:  # also inside quotes, in the parameters of another name
        raise UnsupportedGameError(
            f"{where} names Python code, {shorten(name)}; it is run only where you name it yourself, as GAME or game="
        )


def own_name(thing: object) -> str:
    """Return the name by which an object of a user's class can be made again; "" where there is none.

    Objects of infoset and of plug-ins go by names of their own.
    Its class must be defined at the top level of a file or module, and its parameters be attributes of the same names,
    as in a dataclass.
    """
    kind = type(thing)
    module = sys.modules.get(kind.__module__)
    if module is None or "." in kind.__qualname__ or is_installed(kind.__module__):
        return ""
    values = {p: getattr(thing, p, inspect.Parameter.empty) for p in parameters_of(kind)}
    simple = all(isinstance(value, (int, float, str, bool, type(None))) for value in values.values())
    file = getattr(module, "__file__", None)
    if not simple or file is None:
        return ""
    return str(
        Name(f"{PYTHON}{Path(file).resolve()}:{kind.__name__}", tuple((k, _shown(v)) for k, v in values.items()))
    )
