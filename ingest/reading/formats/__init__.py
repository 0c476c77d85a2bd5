"""Read files as tables of words or of typed columns."""
