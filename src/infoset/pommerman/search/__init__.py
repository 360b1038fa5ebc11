"""Agents that search: what they believe, pessimistic scenarios, and the tree above them."""
