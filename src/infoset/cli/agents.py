"""List the agents that are known by name with their parameters."""

from infoset.cli.options import AsJson
from infoset.cli.report import print_entries
from infoset.match.agents import list_agents
from infoset.registry import PYTHON


def run(json_: AsJson = False) -> None:
    more = (
        "Also: a policy's file (.npz, .json), a run's folder, 'trained:DIR', 'kaggle:FILE.py' of kaggle-environments, "
        f"or your own, {PYTHON}FILE.py:Class(…)."
    )
    print_entries("agents", list_agents(), more, json_)
