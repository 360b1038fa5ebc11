"""Policies: what everybody plays, as tables, trees and pieces, saved and loaded."""
