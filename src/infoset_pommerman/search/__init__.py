"""Searching agents: their beliefs, pessimistic scenarios, and tree search on them."""
