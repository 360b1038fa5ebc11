"""Views of a recorded game of Pommerman: a page that plays it, stills, animations, text."""
