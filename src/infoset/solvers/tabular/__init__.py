"""Regret minimisation, replicator dynamics and the linear program, on the sequence form."""
