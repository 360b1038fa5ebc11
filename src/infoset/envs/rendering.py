"""Rendering of states as text, for ``render_mode="ansi"``."""

from __future__ import annotations

from infoset.base import State
from infoset.names import check_choice

RENDER_MODES = ("ansi",)


def check_render_mode(mode: str | None) -> str | None:
    """Return the mode.  Raises ``ParameterError`` for an unknown one."""
    if mode is not None:
        check_choice("render_mode", mode, RENDER_MODES)
    return mode


def draw(state: State) -> str:
    """Return a state as text."""
    return str(state)
