"""The server of the page behind ``infoset serve``: play, watch, explore, compete (extra ``web``)."""
