"""Agents on other machines: the protocols of both sides, and their time limits."""
