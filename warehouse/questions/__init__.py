"""Queries on a warehouse for learners and recommendations."""
