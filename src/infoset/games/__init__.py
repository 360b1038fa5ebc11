"""Native games; those that OpenSpiel has too have its rules and orders of moves."""
