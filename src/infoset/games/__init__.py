"""The native games; those that OpenSpiel has, too, follow its rules and order of moves."""
