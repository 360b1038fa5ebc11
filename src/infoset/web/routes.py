"""All routes of the page's interface."""

from __future__ import annotations

from infoset.web.browsing import BROWSING
from infoset.web.explore_routes import EXPLORE
from infoset.web.play_routes import PLAY

ROUTES = (*BROWSING, *PLAY, *EXPLORE)
