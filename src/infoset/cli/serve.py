"""The verb ``serve``, which serves the web page until Ctrl-C."""

from __future__ import annotations

import secrets
from pathlib import Path

from infoset.cli.output import note
from infoset.errors import ParameterError

DEFAULT = Path("runs")


def serve(folders: list[Path] | None, host: str, port: int, names: list[str]) -> None:
    """Serve ``folders``, ``runs`` by default, and print the link to the page.

    Raises ``ParameterError`` for a path that is not a folder, ``MissingExtraError`` without the extra ``web``.
    """
    from infoset.remote.serving import listening
    from infoset.web.app import server
    from infoset.web.guard import Guard, names_of
    from infoset.web.site import Site

    if folders is None:
        DEFAULT.mkdir(exist_ok=True)
    for folder in folders or ():
        if not folder.is_dir():
            raise ParameterError(f"{folder} is not a folder; serve takes those of runs, replays and tournaments")
    with listening(host, port) as where:
        called = names_of(host)
        port = where.getsockname()[1]
        guard = Guard(secrets.token_urlsafe(16), (*called, *(name.lower() for name in names)), port)
        serving = server(Site(tuple(folder.resolve() for folder in folders or (DEFAULT,)), guard))
        for name in called:
            shown = f"[{name}]" if ":" in name else name
            note(f"open http://{shown}:{port}/#/?token={guard.token}")
        note("Ctrl-C ends it")
        serving.run(sockets=[where])
