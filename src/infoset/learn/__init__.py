"""Networks that learn to play by playing against themselves (extra ``learn``)."""
