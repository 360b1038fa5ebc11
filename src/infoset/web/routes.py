"""Every question that the page may ask, room by room."""

from __future__ import annotations

from infoset.web.browsing import BROWSING
from infoset.web.explore_routes import EXPLORE
from infoset.web.play_routes import PLAY

ROUTES = (*BROWSING, *PLAY, *EXPLORE)
