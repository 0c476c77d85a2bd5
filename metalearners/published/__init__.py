"""Published meta-learners that the default path does not use, imported by name only.

thesis_neighbours   nearest datasets as in van Hoof's thesis, chapter 6
factorization       probabilistic matrix factorization (Fusi et al. 2018, extended)
"""
