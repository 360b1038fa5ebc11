"""Games whose positions fit while their histories do not: sampling, and exact figures of what it finds."""
