"""Loading of agents of the playground from files: programs that import ``pommerman`` run unchanged."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from importlib import import_module, invalidate_caches
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from infoset.errors import FormatError, ParameterError, UnknownNameError, one_line, shorten
from infoset.files import no_such_path
from infoset_pommerman import playground
from infoset_pommerman.playground.finder import AGENTS, FINDER, ORIGINAL, OUR_AGENTS
from infoset_pommerman.playground.runner import DockerAgentRunner


class PlaygroundWarning(UserWarning):
    """Warns that an agent uses another package ``pommerman`` than this one."""


def load_agent_class(path: str, name: str = "") -> type[Any]:
    """Run a Python file and return the agent's class in it.

    It is the class ``name``, or the only one with a method ``act`` that the file defines; among several, the only
    submission, that is, one derived from ``DockerAgentRunner``; if there is none, the only one from a module beside the
    file.

    The file becomes the module ``pommerman.agents.STEM``, so it may use relative imports.  Modules beside it are found
    too, by relative or absolute import, after installed packages.  Raises ``FormatError`` where the file cannot be run,
    ``UnknownNameError`` or ``ParameterError`` where the class is not clear.
    """
    module = _run(Path(path))
    known = {word: value for word, value in vars(module).items() if isinstance(value, type) and hasattr(value, "act")}
    if name and name not in known:
        raise UnknownNameError(f"agent in {shorten(path)}:", name, known)
    found = [name] if name else _candidates(module, known)
    if len(found) != 1:
        what = f"{', '.join(found)}; choose one: cls=NAME" if found else "none"
        raise ParameterError(f"{shorten(path)} must define one class with a method act, not {what}")
    return known[found[0]]


def _candidates(module: ModuleType, known: dict[str, type[Any]]) -> list[str]:
    """Return the names of the classes that may be meant."""
    latest = frozenset(map(Path, FINDER.folders[:1]))
    own = [word for word, kind in known.items() if kind.__module__ == module.__name__]
    submitted = [word for word in own if DockerAgentRunner.__name__ in [base.__name__ for base in known[word].mro()]]
    beside = [word for word, kind in known.items() if _is_beside(sys.modules.get(kind.__module__), latest)]
    return submitted if len(submitted) == 1 else own or beside


def _run(path: Path) -> ModuleType:
    if not path.is_file():
        raise FormatError(no_such_path(path), str(path))
    with suppress(ImportError):  # an original that cannot be imported: running the file raises the same error
        import_module(f"{ORIGINAL}.agents")
    if sys.modules.get(ORIGINAL) is not playground:
        warnings.warn(
            f"{path}: the installed package {ORIGINAL} is used, whose enumerations are not equal to those in "
            "infoset's observations",
            PlaygroundWarning,
            stacklevel=2,
        )
    _search(path.resolve().parent)
    spec = spec_from_file_location(_free_name(path.stem), path)
    if spec is None or spec.loader is None:
        raise FormatError("not a Python file; needed: one that ends in .py", str(path))
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses and pickle look for it there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        line = error.lineno or 0 if isinstance(error, SyntaxError) else 0
        raise FormatError(f"{type(error).__name__}: {one_line(str(error), 200)}", str(path), line) from error
    return module


def _free_name(stem: str) -> str:
    """Return a name for a module that is not taken."""
    names = (f"{AGENTS}{stem}{f'_{k}' * (k > 1)}" for k in count(1))
    return next(name for name in names if name not in sys.modules)


def _search(folder: Path) -> None:
    """Search modules in this folder before those of other agents, and in the folder that holds its package."""
    root = folder
    while (root / "__init__.py").is_file():
        root = root.parent
    new = [str(place) for place in dict.fromkeys([folder, root])]
    old = [place for place in FINDER.folders if place not in new]
    invalidate_caches()
    _forget(old, new)
    sys.path[:] = [place for place in sys.path if place not in FINDER.folders]
    FINDER.folders = new + old
    sys.path += FINDER.folders


def _forget(old: list[str], new: list[str]) -> None:
    """Drop modules beside other agents that have namesakes beside this one; agents that imported them keep them."""
    others = frozenset(map(Path, old))
    for name, module in list(sys.modules.items()) if old else ():
        if _is_beside(module, others) and not _is_beside(module, frozenset(map(Path, new))):
            bare = name.removeprefix(AGENTS).removeprefix(OUR_AGENTS)
            prefix, first = AGENTS if bare != name else "", bare.partition(".")[0]
            if PathFinder.find_spec(prefix + first, new) is not None:
                del sys.modules[name]
                parent = sys.modules.get(name.rpartition(".")[0])
                if parent is not None and getattr(parent, first, None) is module:
                    delattr(parent, first)


def _is_beside(module: ModuleType | None, folders: frozenset[Path]) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and not folders.isdisjoint(Path(file).parents)
