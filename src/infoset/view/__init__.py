"""Views of games and results: text, pictures of trees, curves."""
