"""Views of recorded Pommerman games: a page that plays them, still pictures, animations, text."""
