"""Teams compete: tournaments, ratings, and the processes that play the games."""
