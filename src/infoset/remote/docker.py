"""``docker(image=…)``: an agent in a container, started by the docker command and removed when no longer needed."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import suppress
from time import monotonic, sleep
from weakref import finalize

from infoset.base import Agent
from infoset.errors import ParameterError, RemoteError, UnsupportedSystemError, one_line, shorten
from infoset.match.agent_proxy import AsyncAgentProxy, ThreadChannel
from infoset.names import check_range, full_name
from infoset.remote.http import PROTOCOLS, HttpAgent
from infoset.remote.wire import StatusError, Wire

PREFIX = "DOCKER_AGENT_"
"""Environment variables with this prefix are passed to a container without it, as the playground did."""
SECONDS_TO_COME_UP = 32.0
SECONDS_FOR_A_COMMAND = 600.0  # an image may have to be fetched
HELP = re.compile(r"\s*(See|Run) '.* --help'")
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0


def docker(
    image: str = "", port: int = 10080, protocol: str = "auto", memory: int = 4096, cpus: float = 1.0
) -> Agent:  # fmt: skip
    """An agent in a container that answers on a port; memory in MiB, cpus in cores; 0: no limit."""
    if not image or image.startswith("-"):
        raise ParameterError("docker: image is missing; name it: docker(image=my-agent)")
    if protocol not in PROTOCOLS:
        raise ParameterError(f"docker: protocol={shorten(protocol)} is unknown; allowed: {', '.join(PROTOCOLS)}")
    check_range("port", port, 1, 65535)
    check_range("memory", memory, 0, 1 << 30)
    if not 0 <= cpus < 1 << 20:
        raise ParameterError(f"docker: cpus={cpus} is out of range; allowed: from 0 up")
    name = full_name("docker", docker, image=image, port=port, protocol=protocol, memory=memory, cpus=cpus)
    return Container(image, port, memory, cpus, protocol, name)


class Container(AsyncAgentProxy):
    """An agent and its container, which answers before the first clock starts."""

    def __init__(self, image: str, port: int, memory: int, cpus: float, protocol: str, name: str) -> None:
        self.image = image
        limits = [*([f"--memory={memory}m"] if memory else []), *([f"--cpus={cpus}"] if cpus else [])]
        given = [f"--env={k.removeprefix(PREFIX)}={v}" for k, v in os.environ.items() if k.startswith(PREFIX)]
        publish = f"--publish=127.0.0.1::{port}"
        self.container = command("run", "--detach", "--rm", publish, *limits, *given, image)
        self.remove = finalize(self, _remove, self.container)
        address = command("port", self.container, f"{port}/tcp").splitlines()[0]
        url = f"http://{address}"
        self._wait(Wire(url))
        super().__init__(ThreadChannel(HttpAgent(url, protocol)), name)

    def _wait(self, wire: Wire) -> None:
        """Wait until the server answers, if only that ``/ping`` is unknown.

        Raises ``RemoteError`` where it does not answer.
        """
        until, pause, why = monotonic() + SECONDS_TO_COME_UP, FIRST_PAUSE, ""
        while monotonic() < until:
            try:
                wire.get("/ping", until)
            except (RemoteError, TimeoutError) as error:
                if isinstance(error, StatusError) and error.unknown:
                    return
                why = str(error)
            else:
                return
            sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        self.remove()
        raise RemoteError(f"{self.image} did not answer /ping within {SECONDS_TO_COME_UP:g} s: {why}")


def command(*arguments: str) -> str:
    """Run the docker command and return its output.

    Raises ``UnsupportedSystemError`` where it is not installed, and ``RemoteError`` where it fails.
    """
    try:
        done = subprocess.run(
            ["docker", *arguments], capture_output=True, text=True, check=False, timeout=SECONDS_FOR_A_COMMAND
        )
    except (FileNotFoundError, PermissionError):
        raise UnsupportedSystemError("docker(…) needs the docker command, which is not installed here") from None
    except subprocess.TimeoutExpired:
        raise RemoteError(f"docker {arguments[0]} took more than {SECONDS_FOR_A_COMMAND:g} s") from None
    if done.returncode:
        raise RemoteError(
            f"docker {arguments[0]}: {_reason(done.stderr or done.stdout) or f'status {done.returncode}'}"
        )
    return done.stdout.strip()


def _reason(printed: str) -> str:
    """Return the last informative line of an output: it stands between progress messages and hints on help."""
    lines = [line for line in printed.splitlines() if line.strip() and not HELP.match(line)]
    return one_line(lines[-1], 200) if lines else ""


def _remove(container: str) -> None:
    with suppress(RemoteError, UnsupportedSystemError):
        command("rm", "--force", container)
