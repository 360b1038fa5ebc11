"""Agents and games meet: one game, many games, deadlines, replays."""
