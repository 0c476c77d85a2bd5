"""Convert text columns to values, and detect the role of a column."""
