"""Run competitions between teams: tournaments, ratings, and the processes that play the games."""
