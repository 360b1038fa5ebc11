"""``infoset new-agent``: a folder with an agent to change, and all the files of a submission."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from infoset.arguments import checks_arguments
from infoset.errors import ParameterError
from infoset.files import make_folder, replace_file

TEMPLATE = "template"


@checks_arguments
def new_agent(folder: str | Path) -> list[Path]:
    """Write the template of an agent into a folder, which is created; return its files.

    Raises ``ParameterError`` where one of them already exists: nothing is overwritten.

    >>> from infoset.remote.submission import new_agent
    >>> [path.name for path in new_agent("my-agent")]
    ['Dockerfile', 'README.md', 'agent.py', 'compose.yaml']
    """
    source = files("infoset.remote") / TEMPLATE
    parts = sorted((part for part in source.iterdir() if part.is_file()), key=lambda part: part.name)
    paths = [Path(folder) / part.name for part in parts]
    for path in paths:
        if path.exists():
            raise ParameterError(f"{path} is there already; choose another folder")
    make_folder(Path(folder))
    try:
        for path, part in zip(paths, parts, strict=True):
            body = part.read_bytes()
            replace_file(path, lambda file, body=body: file.write(body))  # type: ignore[misc]
    except OSError:  # a partial template could neither be used nor completed by a second call
        for path in paths:
            path.unlink(missing_ok=True)
        raise
    return paths
