"""List the methods of 'solve' with their parameters and the options that each accepts."""

from infoset.cli.options import AsJson
from infoset.cli.report import print_entries


def run(json_: AsJson = False) -> None:
    from infoset.solvers.method import list_methods  # brings Numba, which --help does not need

    print_entries("methods", list_methods(), "", json_)
