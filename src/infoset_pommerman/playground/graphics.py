"""Placeholders for the playground's windows, which are not offered."""

from infoset_pommerman.playground.absent import absent

INSTEAD = "there are no windows here; infoset watch shows a recorded game as a page, pictures or text"
Viewer = absent("graphics.Viewer", INSTEAD)
PixelViewer = absent("graphics.PixelViewer", INSTEAD)
PommeViewer = absent("graphics.PommeViewer", INSTEAD)
ResourceManager = absent("graphics.ResourceManager", INSTEAD)
