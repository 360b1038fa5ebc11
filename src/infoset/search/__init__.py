"""Search at decision time: what may be, the game from there on, and agents that look at both."""
