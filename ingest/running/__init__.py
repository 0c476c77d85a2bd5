"""Runs of our own: limited processes, cross-validation, plans of experiments, and rows for the warehouse."""
