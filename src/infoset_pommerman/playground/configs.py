"""The playground's configurations: functions that return them as dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from infoset_pommerman.config import CONFIGS, FIRST_COLLAPSE, GameType
from infoset_pommerman.playground import constants
from infoset_pommerman.playground.characters import Bomber
from infoset_pommerman.playground.env import Pomme
from infoset_pommerman.state import WORDS

Maker: TypeAlias = Callable[..., dict[str, Any]]


def _maker(env_id: str) -> Maker:
    def make(setup_dict: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return a configuration as a dictionary.

        Its keys are ``env`` (a class), ``game_type``, ``env_entry_point``, ``env_id``, ``env_kwargs`` (of ``env``),
        ``agent``.  ``setup_dict`` is accepted but not read, as in the reference.
        """
        del setup_dict
        kwargs = env_kwargs(env_id)
        return {
            "env": Pomme, "game_type": kwargs["game_type"], "env_entry_point": kwargs["env"], "env_id": env_id,
            "env_kwargs": kwargs, "agent": Bomber,
        }  # fmt: skip

    return make


def env_kwargs(env_id: str) -> dict[str, Any]:
    """Return the arguments with which an environment is made."""
    rules = CONFIGS[env_id]
    kwargs: dict[str, Any] = {
        "game_type": constants.GameType(int(rules.game_type)), "board_size": rules.size, "num_rigid": rules.rigid,
        "num_wood": rules.wood, "num_items": rules.items, "max_steps": rules.max_steps,
        "render_fps": constants.RENDER_FPS, "env": rules.entry,
    }  # fmt: skip
    if rules.view is not None:
        kwargs |= {"agent_view_size": rules.view, "is_partially_observable": True}
    if rules.collapses:
        kwargs["first_collapse"] = FIRST_COLLAPSE
    if rules.game_type == GameType.TEAM_RADIO:
        kwargs |= {"radio_vocab_size": rules.vocabulary, "radio_num_words": WORDS}
    return kwargs


one_vs_one_env = _maker("OneVsOne-v0")
ffa_competition_env = _maker("PommeFFACompetition-v0")
ffa_competition_fast_env = _maker("PommeFFACompetitionFast-v0")
ffa_v0_fast_env = _maker("PommeFFAFast-v0")
ffa_v1_env = _maker("PommeFFA-v1")
team_competition_env = _maker("PommeTeamCompetition-v0")
team_competition_fast_env = _maker("PommeTeamCompetitionFast-v0")
team_competition_v1_env = _maker("PommeTeamCompetition-v1")
team_v0_env = _maker("PommeTeam-v0")
team_v0_fast_env = _maker("PommeTeamFast-v0")
radio_v2_env = _maker("PommeRadio-v2")
radio_competition_env = _maker("PommeRadioCompetition-v2")
