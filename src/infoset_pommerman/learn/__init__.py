"""Learning agents of Pommerman: their observations, their rivals, and one file for each training method."""
