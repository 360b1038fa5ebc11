"""Games written as text: GDL and GDL-II (game descriptions of general game playing)."""
