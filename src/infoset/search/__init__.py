"""Search at decision time: beliefs, the subgames that begin in them, and agents that search these."""
