"""Environments for learners: PettingZoo for all seats at once, Gymnasium for one seat (extra ``interop``)."""

from importlib.util import find_spec

from infoset.errors import MissingExtraError

if find_spec("gymnasium") is None or find_spec("pettingzoo") is None:
    raise MissingExtraError("infoset.envs", "interop")
