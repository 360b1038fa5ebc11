"""Games from elsewhere: Gambit's extensive-form files and OpenSpiel."""
