"""Entry point: ``python -m infoset`` is ``infoset``."""

from infoset.cli import main

main()
