"""Games from other sources: Gambit's files, tables of payoffs, OpenSpiel, nashpy and pygambit."""
