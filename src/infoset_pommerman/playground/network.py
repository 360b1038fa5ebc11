"""Placeholders for the playground's unfinished match-making over a network, which is not offered."""

from infoset_pommerman.playground.absent import absent

INSTEAD = "infoset tournament lets agents meet"
__path__: list[str] = []
client = absent("network.client", INSTEAD)
server = absent("network.server", INSTEAD)
