"""A recorded game of Pommerman to look at: a page that plays it, stills, moving pictures, text."""
