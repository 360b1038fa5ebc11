"""Pommerman (Resnick et al. 2018): four agents, bombs, and what they can see of each other."""
