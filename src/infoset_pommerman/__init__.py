"""Pommerman (Resnick et al. 2018): the rules for four agents with bombs, their observations, and agents that play."""
