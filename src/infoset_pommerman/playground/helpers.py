"""Construction of agents from the playground's text descriptions."""

from __future__ import annotations

from typing import Any

from infoset.errors import UnknownNameError
from infoset_pommerman.playground import agents

KINDS: dict[str, Any] = {
    "player": agents.PlayerAgent,
    "playerblock": agents.PlayerAgentBlocking,
    "simple": agents.SimpleAgent,
    "random": agents.RandomAgent,
    "docker": agents.DockerAgent,
    "http": agents.HttpAgent,
    "tensorforce": agents.TensorForceAgent,
}


def make_agent_from_string(agent_string: str, agent_id: int, docker_env_dict: object = None) -> Any:
    """Make an agent from ``simple::null``, ``random::null`` or ``test::agents.NAME``.

    Nothing is evaluated.  Raises ``UnknownNameError``, and ``UnsupportedGameError`` for kinds that are not offered.
    """
    del agent_id, docker_env_dict
    kind, _, control = agent_string.partition("::")
    if kind == "test":
        name = control.removeprefix("agents.")
        known = {word: value for word, value in vars(agents).items() if isinstance(value, type)}
        if name not in known:
            raise UnknownNameError("agent", name, [word for word in known if word.endswith("Agent")])
        return known[name]()
    if kind not in KINDS:
        raise UnknownNameError("kind of agent", kind, [*KINDS, "test"])
    return KINDS[kind]()
