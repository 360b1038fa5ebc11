"""Solvers on the sequence form: one shared loop, local updates, the linear program, best responses."""
