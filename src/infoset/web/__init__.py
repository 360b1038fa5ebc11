"""The page that ``infoset serve`` serves: play, watch, explore, compete (extra ``web``)."""
