"""Ranking of configurations, step by step; each step is a function of the results of earlier steps.

`task` is the question, `knowledge` what the warehouse and the meta-learner know for it, `candidates` the
configurations to choose from, `choice` their forecast and the chosen ones.
"""
