"""The colours of all drawings of Pommerman by name; they are defined only here."""

from __future__ import annotations

AGENT_TINTS = (
    ("#ef5350", "#b3302f", "#ffa19c"),
    ("#3f83f8", "#2257b8", "#9cc3ff"),
    ("#ffab2e", "#c67508", "#ffd58c"),
    ("#14b8c4", "#0a7f89", "#8ee9ef"),
)
"""Each agent's colour, shade and light; agents 0 and 2, in warm colours, are a team, and so are the others."""

PARTS = ("", "_dark", "_light")
_AGENTS = {f"agent{k}{part}": tints[i] for k, tints in enumerate(AGENT_TINTS) for i, part in enumerate(PARTS)}

DAY = _AGENTS | {
    "grass": "#b5d99c", "meadow": "#abd18f", "tuft": "#8fbd73", "ink": "#1d2433", "white": "#ffffff",
    "stone": "#8f9bb0", "stone_dark": "#5b6579", "stone_light": "#b3bdce", "stone_face": "#8390a6",
    "wood": "#d59b5b", "wood_dark": "#93602f", "wood_light": "#e8b87c", "wood_face": "#c68a49", "nail": "#7b4f25",
    "bomb": "#2b3244", "bomb_dark": "#191e2b", "bomb_light": "#6c7891", "fuse": "#d9b382", "spark": "#ffd34d",
    "ember": "#ff8a1f", "hot": "#e23d28",
    "flame0": "#e8451f", "flame1": "#ff8b1a", "flame2": "#ffc93c", "flame3": "#fff6cf",
    "skin": "#ffe8d1", "blush": "#ff9d8a",
    "card": "#fdfaf2", "card_edge": "#c9bfa6", "more": "#3f83f8", "far": "#ff7a1f", "boot": "#8e56d9",
    "boot_dark": "#5f35a0",
    "frame": "#4b566b", "frame_dark": "#353e50", "fog": "#77839a", "fog_light": "#8994aa",
}  # fmt: skip
"""The colours in daylight, for readers who prefer a light screen."""

NIGHT = DAY | {
    "grass": "#3d5c48", "meadow": "#375542", "tuft": "#4d7059",
    "stone": "#66718a", "stone_dark": "#394154", "stone_light": "#8590a8", "stone_face": "#5b667e",
    "bomb_dark": "#0a0d14", "bomb": "#3a4359",
    "wood": "#a97843", "wood_dark": "#5f3e20", "wood_light": "#c2925c", "wood_face": "#996a38", "nail": "#533517",
    "frame": "#2b3344", "frame_dark": "#1d2433", "fog": "#1b2130", "fog_light": "#232a3b",
}  # fmt: skip
"""The colours at night."""
