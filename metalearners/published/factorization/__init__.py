"""Probabilistic matrix factorization (Fusi, Sheth and Elibol 2018) and what it lacks."""
