"""Sphinx configuration: Markdown by myst, furo, and every example run as a doctest."""

from typing import Any

from sphinx.application import Sphinx
from sphinx.util.inspect import TypeAliasForwardRef

from infoset import __version__

project = "infoset"
author = "the infoset developers"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"infoset {version}"
html_show_copyright = False

# the examples of a page write their files into a folder that goes with them
doctest_global_setup = """
import os, tempfile
import infoset
_home, _folder = os.getcwd(), tempfile.TemporaryDirectory()
os.chdir(_folder.name)
"""
doctest_global_cleanup = """
os.chdir(_home)
_folder.cleanup()
"""
doctest_test_doctest_blocks = ""  # those of docstrings run one by one, in tests/test_reference.py

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
autodoc_type_aliases = {name: f"infoset.{name}" for name in ("Action", "JointMove", "Observation")} | {
    name: name for name in ("BoolArray", "FloatArray", "IndexArray", "IntArray", "LongArray")
}
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!infoset\b).*"),  # other libraries' names lead nowhere
    ("py:class", r"infoset\.\w+\..*"),  # signatures also mention what only the library itself uses
]


TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # inside of other types too


def setup(app: Sphinx) -> None:
    app.connect("autodoc-skip-member", without_aliases)
    app.connect("builder-inited", with_defaults_as_written)


def without_aliases(*event: Any) -> bool | None:
    """Fields of named tuples are in the signature; what Python says of them adds nothing."""
    return str(event[3].__doc__).startswith("Alias for field") or None


def with_defaults_as_written(app: Sphinx) -> None:
    """Not where examples run: autodoc writes such defaults into the functions themselves."""
    app.config.autodoc_preserve_defaults = app.builder.format == "html"
