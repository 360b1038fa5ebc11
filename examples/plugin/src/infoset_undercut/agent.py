"""The agent: it always undercuts the highest number."""


class Undercutter:
    """Undercut: chooses the second highest number."""

    name = "undercutter"
    made_for = "undercut"

    def begin(self, game, player, rng, deadline): ...

    def observe(self, own_action, observation): ...

    def act(self, legal_actions, deadline):
        return legal_actions[-2]

    def end(self, returns): ...
