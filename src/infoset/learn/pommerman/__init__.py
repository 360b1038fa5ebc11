"""Pommerman's agents that learn: what they see, whom they meet, and one file a method."""
