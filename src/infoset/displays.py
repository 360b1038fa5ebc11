"""Displays of results: the functions of ``infoset.view`` that draw them, found by name.

The classes of results stand below ``infoset.view``, which imports them.  They name their display, and its module is
imported when a notebook or a script first asks for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

DISPLAYS = {
    "convergence": "infoset.view.curves:plot_convergence",
    "convergence_picture": "infoset.view.curves:draw_convergence",
    "efg": "infoset.view.html:efg_html",
    "evaluation": "infoset.view.html:evaluation_html",
    "flop_report": "infoset.view.flop_report_page:flop_report_html",
    "flop_report_page": "infoset.view.flop_report_page:flop_report_page",
    "game": "infoset.view.html:game_html",
    "learning": "infoset.view.curves:plot_learning",
    "learning_picture": "infoset.view.curves:draw_learning",
    "logit_path_picture": "infoset.view.curves:draw_logit_path",
    "match": "infoset.view.html:match_html",
    "policy": "infoset.view.html:policy_html",
    "policy_plot": "infoset.view.plots:plot_policy",
    "rules": "infoset.view.question:rules_text",
    "series": "infoset.view.html:series_html",
    "series_plot": "infoset.view.plots:plot_series",
    "situation": "infoset.view.question:situation_text",
    "solution": "infoset.view.html:solution_html",
    "standings": "infoset.view.html:standings_html",
    "standings_plot": "infoset.view.plots:plot_standings",
    "state": "infoset.view.html:state_html",
    "training": "infoset.view.html:training_html",
    "tree": "infoset.view.tree_picture:tree_svg",
}
"""The place of each display, ``module:attribute``."""


def render(name: str, *shown: object) -> str:
    """Return the text, HTML or SVG, of the display called ``name``, of what is ``shown``."""
    return str(draw(name, *shown))


def draw(name: str, *shown: object) -> Any:
    """Call the display called ``name``, which plots on axes or writes a file, and return its result."""
    module, _, attribute = DISPLAYS[name].partition(":")
    return getattr(import_module(module), attribute)(*shown)
