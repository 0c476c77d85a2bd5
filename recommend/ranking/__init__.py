"""Ranking of configurations, step by step; each step is a function of the results of earlier steps.

`task` is the question, `knowledge` the relevant runs and model, `candidates` the configurations to choose
from, `choice` their forecasts and the chosen ones.
"""
