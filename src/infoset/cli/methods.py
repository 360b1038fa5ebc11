"""List the methods of 'solve' with their parameters and the options that each accepts."""

from infoset.cli.options import AsJson
from infoset.cli.report import print_entries
from infoset.solvers.method import list_methods


def run(json_: AsJson = False) -> None:
    print_entries("methods", list_methods(), "", json_)
