"""Which configurations come first, step by step; each step is a function of the values of those before it.

`task` is the question, `knowledge` what the warehouse and the meta-learner know for it, `candidates` the
configurations to choose from, `choice` their forecast and the chosen ones.
"""
