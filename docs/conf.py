"""Sphinx configuration: Markdown by myst, furo, and every example run as a doctest."""

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

doctest_global_setup = "import infoset"
doctest_test_doctest_blocks = ""  # those of docstrings run one by one, in tests/test_reference.py

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!infoset\b).*"),  # other libraries' names lead nowhere
    # what signatures mention and only the library itself uses
    ("py:class", r"infoset\..*\.(AnyMethod|Bomber|GdlGame|Group|HidingArrays|InformationStates|InfosetTable|Past|Played|Pommerman)"),
]
