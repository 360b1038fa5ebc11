"""Play games between agents: single games, series, deadlines and replays."""
