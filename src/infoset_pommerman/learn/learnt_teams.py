"""``navocado`` and ``skynet``: the learnt teams of the 2018 competition, trained anew; and ``veteran``, who met them.

The authors of the originals described their methods (Osogami & Takahashi 2019, section 4.1; Peng et al. 2018 for the
first), and left images that contain policies without a readable form: these networks are other ones, learnt by the
same methods.  ``veteran`` begins as ``skynet`` and learns on against both of them, stock agents and itself.  Each is
the folder of a training in ``weights``: its network, its parameters, and its curve;
``papers/pommerman_learnt_teams.py`` makes them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

from infoset.base import Agent, Game
from infoset.learn.agent import Trained
from infoset.registry import made_for
from infoset_pommerman.config import CONFIGS, PREFIX
from infoset_pommerman.game import Pommerman
from infoset_pommerman.learn.net import WEIGHTS


def why_not(name: str, game: Game) -> str:
    """Return why a team cannot play a variant, in a few words; "" where it can: its network reads one variant alone."""
    assert isinstance(game, Pommerman)
    config = json.loads((WEIGHTS / name / "config.json").read_text(encoding="utf-8"))
    trained = str(config["game"]).removeprefix(PREFIX)
    same = replace(CONFIGS[trained.partition("(")[0]], entry="") == replace(game.config, entry="")
    return "" if same else f"trained on {PREFIX}{trained}"


@made_for(PREFIX, why_not=partial(why_not, "navocado"))
def navocado() -> Agent:
    """Pommerman's team game: learnt by advantage actor-critic, from the ends of games backward, and self-play."""
    return _learnt("navocado")


@made_for(PREFIX, why_not=partial(why_not, "skynet"))
def skynet() -> Agent:
    """Pommerman's team game: learnt by PPO behind an action filter, with shaped rewards, and self-play."""
    return _learnt("skynet")


@made_for(PREFIX, why_not=partial(why_not, "veteran"))
def veteran() -> Agent:
    """Pommerman's team game: learnt on from ``skynet`` by PPO, against the learnt teams, stock agents and itself."""
    return _learnt("veteran")


def _learnt(name: str) -> Agent:
    agent = Trained(str(WEIGHTS / name)).agent()
    agent.name = name
    return agent
