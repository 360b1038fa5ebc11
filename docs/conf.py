"""Sphinx configuration: Markdown by myst, furo, and every example run as a doctest."""

from infoset import __version__

project = "infoset"
author = "the infoset developers"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.doctest", "sphinx.ext.mathjax"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"infoset {version}"
html_show_copyright = False

doctest_global_setup = "import infoset"
