"""A game enumerated once into flat arrays: its position graph, its tree and its sequence form."""
