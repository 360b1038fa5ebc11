"""Import hook that makes ``import pommerman`` find this package, unless the original is installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType

ORIGINAL = "pommerman"
HERE = "infoset_pommerman.playground"
AGENTS, OUR_AGENTS = f"{ORIGINAL}.agents.", f"{HERE}.agents."
SAME = {
    **dict.fromkeys(
        [
            "agents.base_agent", "agents.docker_agent", "agents.http_agent", "agents.player_agent",
            "agents.player_agent_blocking", "agents.random_agent", "agents.simple_agent", "agents.tensorforce_agent",
        ],
        "agents",
    ),
    "envs.v0": "env",
    "envs.v1": "env",
    "envs.v2": "env",
    "runner.docker_agent_runner": "runner",
    "cli.run_battle": "cli",
    "cli.train_with_tensorforce": "cli",
}  # fmt: skip
"""Modules of the original whose names are defined in another module here."""


class Finder(MetaPathFinder):
    """Finds ``pommerman`` and its modules, and modules beside agents' files.

    ``folders`` are those of agents' files, the latest first: the modules in them are found as modules of
    ``pommerman.agents``, because that is where such files were put.
    """

    def __init__(self) -> None:
        self.folders: list[str] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == ORIGINAL:
            others = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self)
            return next(filter(None, others), None) or ModuleSpec(fullname, _Alias(HERE))
        if fullname.startswith(OUR_AGENTS):  # ``from . import MODULE`` in an agent's file looks for a module beside it
            return _alias(fullname, AGENTS + fullname.removeprefix(OUR_AGENTS))
        if not fullname.startswith(f"{ORIGINAL}."):
            return None
        name, found = fullname.removeprefix(f"{ORIGINAL}."), None
        beside = fullname.startswith(AGENTS)
        if sys.modules.get(ORIGINAL) is not sys.modules[HERE]:
            found = PathFinder.find_spec(fullname, path)
        elif name in SAME or not beside:
            found = _alias(fullname, f"{HERE}.{SAME.get(name, name)}")
        if found or not beside or "." in fullname.removeprefix(AGENTS):
            return found
        return PathFinder.find_spec(fullname, self.folders)


def _alias(fullname: str, own: str) -> ModuleSpec | None:
    return ModuleSpec(fullname, _Alias(own)) if find_spec(own) else None


class _Alias(Loader):
    """Loads a module of this package under the original's name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self.name)
        self.own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec; the module was executed before."""
        module.__spec__ = self.own


FINDER = Finder()


def stand_in() -> None:
    """Make ``import pommerman`` find this package from now on, where there is no other."""
    if FINDER not in sys.meta_path:
        sys.meta_path.insert(0, FINDER)  # before the finder that would load the files a second time
