"""Native games, with OpenSpiel's names, parameters, rules and orders of moves."""
