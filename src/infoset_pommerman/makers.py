"""The makers of Pommerman's plain agents: ``simple``, ``stop`` and ``playground``."""

from __future__ import annotations

import ast
from pathlib import Path

from infoset.base import Agent
from infoset.errors import ParameterError
from infoset.names import full_name
from infoset.registry import made_for
from infoset_pommerman.config import PREFIX


def name_for(path: str, cls: str) -> str:
    """Return the agent's name for a Python file, or a class of it, written for the playground; empty for others.

    The file is parsed, not run: it must import ``pommerman`` and have a class with ``act`` and without ``observe``.
    """
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    imported = [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    imported += [node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)]
    if not any(name.partition(".")[0] == "pommerman" for name in imported):
        return ""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    methods = {node.name: {part.name for part in node.body if isinstance(part, ast.FunctionDef)} for node in classes}
    own = [name for name, has in methods.items() if "act" in has and "observe" not in has and cls in ("", name)]
    if not own:
        return ""
    return full_name("playground", playground, path=path, cls=own[0] if cls or len(own) > 1 else "")


@made_for(PREFIX)
def simple() -> Agent:
    """Pommerman's stock agent."""
    from infoset_pommerman.agents import SimplePlayer  # imported late: it loads compiled kernels

    return SimplePlayer()


@made_for(PREFIX)
def stop() -> Agent:
    """Pommerman: stays where it is."""
    from infoset_pommerman.agents import StopPlayer

    return StopPlayer()


@made_for(PREFIX, runs_code=True, name_for=name_for)
def playground(path: str = "", cls: str = "") -> Agent:
    """Pommerman: an agent written for the playground, from a Python file (.py), which is run."""
    from infoset_pommerman.agents import PlaygroundAgent
    from infoset_pommerman.playground.loading import load_agent_class

    if not path:
        raise ParameterError("playground: path is missing; name the file: playground(path=my_agent.py)")
    return PlaygroundAgent(load_agent_class(path, cls), full_name("playground", playground, path=path, cls=cls))
