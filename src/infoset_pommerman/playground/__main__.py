"""``python -m infoset_pommerman.playground SCRIPT …``: run a script that imports ``pommerman`` unchanged."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from infoset.errors import InfosetError

USAGE = "usage: python -m infoset_pommerman.playground SCRIPT [ARGUMENT …]"


def main() -> None:
    """Run the script as ``python SCRIPT`` would, with this package in place of the original."""
    sys.argv = sys.argv[1:]
    if not sys.argv or not Path(sys.argv[0]).is_file():
        sys.exit(f"no such file: {sys.argv[0]}" if sys.argv else USAGE)
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except InfosetError as error:
        sys.exit(f"infoset: {error}")


if __name__ == "__main__":
    main()
