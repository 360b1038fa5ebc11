"""Placeholders for the playground's commands, which are not offered: ``infoset`` has its own."""

from infoset_pommerman.playground.absent import absent

__path__: list[str] = []
run = main = run_battle = absent("cli.run_battle", "infoset match and infoset tournament let agents play")
train_with_tensorforce = absent("cli.train_with_tensorforce", "see infoset train pommerman:NAME")
