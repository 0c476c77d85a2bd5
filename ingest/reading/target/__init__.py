"""The column to predict, and its values."""
