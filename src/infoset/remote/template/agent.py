"""An agent for infoset.

Try it: infoset match kuhn_poker python:agent.py:MyAgent random --seconds-per-move 1

It receives the rules, and otherwise only what its player may observe.
"""

from __future__ import annotations


class MyAgent:
    """Plays at random: replace the moves in ``act`` by your own."""

    name = "my-agent"

    def begin(self, game, player, rng, deadline):
        """Prepare for a game: ``player`` is your seat, ``rng`` your random generator (the same seed, the same game).

        Raise ``infoset.errors.UnsupportedGameError`` for a game that you do not play.
        """
        self.rng = rng
        self.infostate = []  # your information state

    def observe(self, own_action, observation):
        """Record a step: your own move as it was executed, or ``None``, and your observation of it."""
        self.infostate.append((own_action, observation))
        # in kuhn_poker: [(None, "K"), ("pass", None), (None, "bet")] is a king that passed and now faces a bet

    def act(self, legal_actions, deadline):
        """Return one of ``legal_actions``, before ``deadline`` (a time of ``time.monotonic()``, or ``None``)."""
        return legal_actions[int(self.rng.integers(len(legal_actions)))]

    def end(self, returns):
        """End the game; ``returns`` holds every player's payoff."""
