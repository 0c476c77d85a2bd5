"""Words of a column as values, and the role of the column."""
