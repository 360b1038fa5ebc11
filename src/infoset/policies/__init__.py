"""Policies for all players: tables, trees, factored and public pieces, saved and loaded."""
