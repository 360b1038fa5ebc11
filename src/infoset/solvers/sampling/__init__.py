"""Solvers for games whose positions fit into memory while their histories do not: sampling, and exact evaluation."""
