"""Files as tables of words or of typed columns."""
