"""Agents of the playground from files: programs that import ``pommerman`` run as they are."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from infoset.errors import FormatError, ParameterError, UnknownNameError, shorten
from infoset.pommerman import playground

ORIGINAL = "pommerman"
SUBMODULES = ("agents", "characters", "constants", "utility")
_NUMBERS = count(1)


def stand_in() -> None:
    """Let ``import pommerman`` find this package from now on, unless the original is installed."""
    if find_spec(ORIGINAL) is None:
        sys.modules[ORIGINAL] = playground
        for name in SUBMODULES:
            sys.modules[f"{ORIGINAL}.{name}"] = getattr(playground, name)


def load_agent_class(path: str, name: str = "") -> type[Any]:
    """The agent's class in a Python file, which is run for it: ``name``, or the only one with a method ``act``.

    ``import pommerman`` finds this package there, see ``stand_in``, and the file's folder is put at the end of the
    folders that are searched for modules.  Raises ``FormatError`` where the file cannot be run,
    ``UnknownNameError`` or ``ParameterError`` where the class is not clear.
    """
    module = _run(Path(path))
    known = {word: value for word, value in vars(module).items() if isinstance(value, type) and hasattr(value, "act")}
    own = [word for word, value in known.items() if value.__module__ == module.__name__]
    if name and name not in known:
        raise UnknownNameError(f"agent in {shorten(path)}:", name, known)
    if not name and len(own) != 1:
        found = f"{', '.join(own)}; choose one: cls=NAME" if own else "none"
        raise ParameterError(f"{shorten(path)} must define one class with a method act, not {found}")
    return known[name or own[0]]


def _run(path: Path) -> ModuleType:
    if not path.is_file():
        raise FormatError("no such file", str(path))
    stand_in()
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    spec = spec_from_file_location(f"playground_agent_{next(_NUMBERS)}", path)
    if spec is None or spec.loader is None:
        raise FormatError("not a Python file; needed: one that ends in .py", str(path))
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # where dataclasses and pickle look for it
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        line = error.lineno or 0 if isinstance(error, SyntaxError) else 0
        raise FormatError(f"{type(error).__name__}: {shorten(str(error), 200)}", str(path), line) from error
    return module
