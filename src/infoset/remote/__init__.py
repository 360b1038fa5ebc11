"""Agents on other machines: what both sides say, and how long they may take for it."""
