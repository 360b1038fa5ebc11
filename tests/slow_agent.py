"""An agent that thinks for a while, for tests that end processes meanwhile."""

import time


class Slow:
    """Plays the first move after a tenth of a second."""

    def begin(self, game, player, rng, deadline): ...

    def observe(self, own_action, observation): ...

    def act(self, legal_actions, deadline):
        time.sleep(0.1)
        return legal_actions[0]

    def end(self, returns): ...
