"""Choose the column to predict, and read its values."""
