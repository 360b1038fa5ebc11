"""Every question that the page may ask, and which worker answers it."""

from __future__ import annotations

from infoset.web.browsing import BROWSING

ROUTES = (*BROWSING,)
