"""An agent.  Try it: infoset match kuhn_poker python:agent.py:MyAgent random --seconds-per-move 1

It is told the rules, and beyond them only what its player may know.
"""

from __future__ import annotations


class MyAgent:
    """Plays at random, until you teach it better."""

    name = "my-agent"

    def begin(self, game, player, rng, deadline):
        """A game begins: ``player`` is your seat, ``rng`` your source of randomness (the same seed, the same game).

        Raise ``infoset.errors.UnsupportedGameError`` for a game that you do not play.
        """
        self.rng = rng
        self.known = []  # your information state

    def observe(self, own_move, observation):
        """A step was played: your own move as it was executed, or ``None``, and what you see of it."""
        self.known.append((own_move, observation))
        # in kuhn_poker: [(None, "K"), ("pass", None), (None, "bet")] is a king that passed and faces a bet

    def act(self, legal, deadline):
        """One of the moves ``legal``, before ``deadline`` (a moment of ``time.monotonic()``, or ``None``)."""
        return legal[int(self.rng.integers(len(legal)))]

    def end(self, returns):
        """The game is over; ``returns`` holds every player's payoff."""
