"""Methods for players who share a payoff: exact optima, progressive hiding, annealing."""
