"""Evaluation of learners: accuracy, importance of inputs, and significance of differences."""
